//! How tools of MCP servers were described when they were last let through, for as long as the history is.

use placet_domain::{AgentName, CallFacts, Digest, Entry, Fact, KnownDefinition, PathText, SessionId, definitions_in};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    ChainKey, StoreError,
    chain::{self, row_id, seq_of},
    store::Projecting,
};

/// A call was let through, or a yes to it handed over.
pub(crate) fn let_through(p: &Projecting<'_>, entry: &Entry) -> Result<(), StoreError> {
    let Some((session, call)) = call_of(p.conn, &entry.fact)? else { return Ok(()) };
    for (tool, definition) in definitions_in(&call) {
        p.conn
            .prepare_cached(
                "INSERT INTO definitions (agent, workspace, tool, definition, seq)
                 SELECT agent, workspace, ?2, ?3, ?4 FROM sessions WHERE id = ?1
                 ON CONFLICT DO UPDATE SET definition = excluded.definition, seq = excluded.seq",
            )?
            .execute(params![session.to_string(), tool, definition.bytes(), row_id(entry.seq)])?;
    }
    Ok(())
}

/// Whose call a fact lets through, and what it is. Only calls of MCP servers are looked up.
fn call_of(conn: &Connection, fact: &Fact) -> Result<Option<(SessionId, CallFacts)>, StoreError> {
    if let Fact::CallAllowed { session, call, .. } = fact {
        return Ok(Some((*session, call.clone())));
    }
    let Fact::ApprovalConsumed { approval } = fact else { return Ok(None) };
    let asked: Option<(String, i64)> = conn
        .prepare_cached("SELECT session, call_seq FROM approvals WHERE id = ?1")?
        .query_row([approval.to_string()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((session, seq)) = asked else { return Ok(None) };
    let session = session.parse().map_err(|error| StoreError::corrupt("approvals", approval, error))?;
    let Some(row) = chain::row(conn, seq_of(seq))? else { return Ok(None) };
    if let Fact::ApprovalAsked { call, .. } | Fact::ApprovalRefreshed { call, .. } = row.entry()?.fact {
        return Ok(Some((session, call)));
    }
    Ok(None)
}

/// All of them. One whose fact is there and does not bear it out was not written by us, and is none.
pub(crate) fn all(conn: &Connection, key: &ChainKey) -> Result<Vec<KnownDefinition>, StoreError> {
    let mut statement = conn.prepare("SELECT agent, workspace, tool, definition, seq FROM definitions")?;
    let mut rows = statement.query([])?;
    let mut known = Vec::new();
    while let Some(row) = rows.next()? {
        let (agent, tool): (String, String) = (row.get(0)?, row.get(2)?);
        let Ok(agent) = AgentName::try_from(agent) else { continue };
        let definition = Digest::new(row.get(3)?);
        if borne_out(conn, key, seq_of(row.get(4)?), &tool, definition)? {
            known.push(KnownDefinition {
                agent,
                workspace: PathText::from_bytes(row.get::<_, Vec<u8>>(1)?),
                tool,
                definition,
            });
        }
    }
    Ok(known)
}

fn borne_out(conn: &Connection, key: &ChainKey, seq: u64, tool: &str, definition: Digest) -> Result<bool, StoreError> {
    // What was pruned can say nothing any more, neither for it nor against it.
    let Some(row) = chain::row(conn, seq)? else { return Ok(true) };
    if !row.is_true(key) {
        return Ok(false);
    }
    let call = call_of(conn, &row.entry()?.fact)?.map(|(_, call)| definitions_in(&call)).unwrap_or_default();
    Ok(call.iter().any(|(named, then)| named == tool && *then == definition))
}
