//! Reading calls, one by one with their whole life.

use placet_domain::{Action, AgentName, ApprovalId, At, Card, Digest, Fact, Flag, PathText};
use rusqlite::{Connection, OptionalExtension as _, Row};

use crate::{
    CallDecision, CallLife, CallRow, ChainedEntry, Reader, StoreError, body, chain,
    reader::{corrupt_at, id},
};

/// The columns of `calls c` and `sessions s` that `read_row` takes.
pub(crate) const COLUMNS: &str = "c.seq, c.at_ms, c.session, c.agent, s.workspace, c.tool, c.action, c.subject, c.cwd,
    c.decision, c.decided_by, c.note, c.rule, c.grant_id, c.approval, c.number, c.waited_ms, c.digest, c.action_digest,
    c.outcome, c.duration_ms, c.flags";

/// Reads a call.
pub(crate) fn read_row(row: &Row<'_>) -> Result<CallRow, StoreError> {
    let seq = chain::seq_of(row.get(0)?);
    let corrupt = |what: &str| StoreError::corrupt("calls", seq, what);
    let (action, decision, flags): (String, String, String) = (row.get(6)?, row.get(9)?, row.get(21)?);
    let (grant, approval): (Option<String>, Option<String>) = (row.get(13)?, row.get(14)?);
    Ok(CallRow {
        seq,
        at_ms: At(row.get(1)?),
        session: id("calls", &row.get::<_, String>(2)?)?,
        agent: AgentName::try_from(row.get::<_, String>(3)?).map_err(|_| corrupt("its agent has no name"))?,
        workspace: PathText::from_bytes(row.get::<_, Vec<u8>>(4)?),
        tool: row.get(5)?,
        action: Action::ALL.into_iter().find(|a| a.word() == action).ok_or_else(|| corrupt("an unknown action"))?,
        subject_text: row.get(7)?,
        cwd: PathText::from_bytes(row.get::<_, Vec<u8>>(8)?),
        decision: CallDecision::of_word(&decision).ok_or_else(|| corrupt("an unknown decision"))?,
        by: row.get(10)?,
        note: row.get(11)?,
        rule: row.get(12)?,
        grant: grant.map(|g| id("calls", &g)).transpose()?,
        approval: approval.map(|a| id("calls", &a)).transpose()?,
        number: row.get(15)?,
        waited_ms: row.get(16)?,
        digest: row.get::<_, Option<[u8; 32]>>(17)?.map(Digest::new),
        action_digest: Digest::new(row.get(18)?),
        outcome: row.get(19)?,
        duration_ms: row.get::<_, Option<i64>>(20)?.map(chain::seq_of),
        flags: flags
            .split_ascii_whitespace()
            .map(|word| Flag::ALL.iter().copied().find(|f| f.word() == word).ok_or_else(|| corrupt("an unknown flag")))
            .collect::<Result<_, _>>()?,
    })
}

impl Reader {
    /// The whole life of the call that the fact `seq` opened, or belongs to.
    pub fn call(&self, seq: u64) -> Result<Option<CallLife>, StoreError> {
        self.with_calls(|conn| {
            let sql = "SELECT seq FROM calls WHERE seq = ?1 UNION ALL SELECT call FROM call_facts WHERE seq = ?1";
            let call: Option<i64> =
                conn.prepare_cached(sql)?.query_row([chain::row_id(seq)], |row| row.get(0)).optional()?;
            call.map_or(Ok(None), |call| life(conn, call))
        })
    }

    /// The whole life of the call that this approval is about.
    pub fn call_of(&self, approval: ApprovalId) -> Result<Option<CallLife>, StoreError> {
        self.with_calls(|conn| {
            let sql = "SELECT seq FROM calls WHERE approval = ?1";
            let call: Option<i64> =
                conn.prepare_cached(sql)?.query_row([approval.to_string()], |row| row.get(0)).optional()?;
            call.map_or(Ok(None), |call| life(conn, call))
        })
    }
}

fn life(conn: &Connection, call: i64) -> Result<Option<CallLife>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM calls c JOIN sessions s ON s.id = c.session WHERE c.seq = ?1");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query([call])?;
    let Some(row) = rows.next()?.map(read_row).transpose()? else { return Ok(None) };
    let sql = "SELECT seq, at_ms, kind, body, prev, hash FROM facts
               WHERE seq IN (SELECT ?1 UNION ALL SELECT seq FROM call_facts WHERE call = ?1) ORDER BY seq";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query([call])?;
    let mut facts = Vec::new();
    while let Some(row) = rows.next()? {
        let row = chain::Row::read(row, 0).map_err(|e| corrupt_at("facts", call, e))?;
        facts.push(ChainedEntry { entry: row.entry()?, hash: Digest::new(row.hash) });
    }
    let card = card_of(conn, &facts)?;
    Ok(Some(CallLife { row, facts, card }))
}

/// The card that the person saw last.
fn card_of(conn: &Connection, facts: &[ChainedEntry]) -> Result<Option<Card>, StoreError> {
    let card = facts.iter().rev().find_map(|chained| {
        if let Fact::ApprovalAsked { card_sha256, call, .. } | Fact::ApprovalRefreshed { card_sha256, call, .. } =
            &chained.entry.fact
        {
            Some(call.masked.as_ref().and_then(|masked| masked.card).unwrap_or(*card_sha256))
        } else {
            None
        }
    });
    card.map_or(Ok(None), |sha256| body::card(conn, &sha256))
}
