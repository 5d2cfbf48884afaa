//! Grants: each row with a MAC of its own, and all active ones in a sum that the seal holds.

use placet_domain::{ApprovalId, At, By, Fact, Grant, GrantId, grant::GrantState};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{
    ChainKey, GrantFilter, IgnoredGrant, Page, Reader, StoreError,
    chain::{self, Sum},
    filter::{page_size, rows_for},
    store::{Projecting, one},
};

/// A grant with how it was taken back, if it was.
#[derive(Clone, Debug, PartialEq)]
pub struct GrantRow {
    /// The grant as it stands.
    pub grant: Grant,
    /// How it was taken back.
    pub revoked: Option<Revoked>,
}

/// How a grant was taken back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revoked {
    /// When.
    pub at_ms: At,
    /// On whose word.
    pub by: By,
    /// Words.
    pub note: Option<String>,
}

/// A grant was given.
pub(crate) fn issued(p: &mut Projecting<'_>, grant: &Grant, seq: u64) -> Result<(), StoreError> {
    if grant.state != GrantState::Active {
        return Err(StoreError::Conflict { table: "grants", id: grant.id.to_string(), expected: "active when issued" });
    }
    let body = serde_json::to_string(grant)?;
    let mac = chain::grant_mac(p.key, &body);
    p.conn
        .prepare_cached("INSERT INTO grants (id, state, issued_seq, body, row_mac) VALUES (?1, 'active', ?2, ?3, ?4)")?
        .execute(params![grant.id.to_string(), chain::row_id(seq), body, mac])?;
    p.grants.add(mac);
    asked_with(p, grant.from_approval, grant.id)
}

/// The call that a grant was given with counts among the grant's calls.
fn asked_with(p: &Projecting<'_>, approval: ApprovalId, grant: GrantId) -> Result<(), StoreError> {
    p.conn
        .prepare_cached(
            "INSERT OR IGNORE INTO call_grants (grant_id, call) SELECT ?1, asked_seq FROM approvals WHERE id = ?2",
        )?
        .execute(params![grant.to_string(), approval.to_string()])?;
    Ok(())
}

/// It let a call through: it has to be active, in time and not used up.
pub(crate) fn used(p: &mut Projecting<'_>, id: GrantId, call: u64, at_ms: At) -> Result<(), StoreError> {
    change(p, id, "active, in time and with uses left", |grant| {
        let fits = at_ms < grant.expires_at_ms && grant.uses_left != Some(0);
        grant.used = grant.used.saturating_add(1);
        grant.last_used_at_ms = Some(at_ms);
        grant.uses_left = grant.uses_left.map(|left| left.saturating_sub(1));
        fits
    })?;
    answered(p, id, call)
}

/// It answered a call, which counts among its calls.
pub(crate) fn answered(p: &Projecting<'_>, id: GrantId, call: u64) -> Result<(), StoreError> {
    p.conn
        .prepare_cached("INSERT OR IGNORE INTO call_grants (grant_id, call) VALUES (?1, ?2)")?
        .execute(params![id.to_string(), chain::row_id(call)])?;
    Ok(())
}

/// It was made to end earlier.
pub(crate) fn shortened(p: &mut Projecting<'_>, id: GrantId, expires_at_ms: At) -> Result<(), StoreError> {
    change(p, id, "active and ending later", |grant| {
        let earlier = expires_at_ms < grant.expires_at_ms;
        grant.expires_at_ms = expires_at_ms;
        earlier
    })
}

/// It ended: by itself, or taken back on somebody's word.
pub(crate) fn ended(
    p: &mut Projecting<'_>,
    id: GrantId,
    state: GrantState,
    revoked: Option<(&By, Option<&str>)>,
    at_ms: At,
) -> Result<(), StoreError> {
    let by = revoked.map(|(by, _)| serde_json::to_string(by)).transpose()?;
    let note = revoked.and_then(|(_, note)| note);
    let (mut grant, old) = active(p, id, "active")?;
    grant.state = state;
    let body = serde_json::to_string(&grant)?;
    let changed = p
        .conn
        .prepare_cached(
            "UPDATE grants SET state = ?2, body = ?3, row_mac = ?4, ended_at_ms = ?5, revoked_by = ?6, revoked_note = ?7
             WHERE id = ?1 AND state = 'active'",
        )?
        .execute(params![
            id.to_string(),
            word(state),
            body,
            chain::grant_mac(p.key, &body),
            at_ms.0,
            by,
            note
        ])?;
    one(changed, "grants", id, "active")?;
    p.grants.subtract(old);
    Ok(())
}

fn change(
    p: &mut Projecting<'_>,
    id: GrantId,
    expected: &'static str,
    change: impl FnOnce(&mut Grant) -> bool,
) -> Result<(), StoreError> {
    let (mut grant, old) = active(p, id, expected)?;
    if !change(&mut grant) {
        return Err(StoreError::Conflict { table: "grants", id: id.to_string(), expected });
    }
    let body = serde_json::to_string(&grant)?;
    let mac = chain::grant_mac(p.key, &body);
    let changed = p
        .conn
        .prepare_cached("UPDATE grants SET body = ?2, row_mac = ?3 WHERE id = ?1 AND state = 'active'")?
        .execute(params![id.to_string(), body, mac])?;
    one(changed, "grants", id, expected)?;
    p.grants.subtract(old);
    p.grants.add(mac);
    Ok(())
}

/// An active grant, if its row is as we left it.
fn active(p: &Projecting<'_>, id: GrantId, expected: &'static str) -> Result<(Grant, [u8; 32]), StoreError> {
    let row: Option<(String, [u8; 32])> = p
        .conn
        .prepare_cached("SELECT body, row_mac FROM grants WHERE id = ?1 AND state = 'active'")?
        .query_row([id.to_string()], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let (body, mac) = row.ok_or_else(|| StoreError::Conflict { table: "grants", id: id.to_string(), expected })?;
    if chain::grant_mac(p.key, &body) != mac {
        return Err(StoreError::corrupt("grants", id, "its row was changed by somebody else"));
    }
    let grant = serde_json::from_str(&body).map_err(|e| StoreError::corrupt("grants", id, e))?;
    Ok((grant, mac))
}

/// The active grants that are vouched for, the others with what is wrong, and what all active ones add up to.
pub(crate) struct Loaded {
    pub(crate) grants: Vec<Grant>,
    pub(crate) ignored: Vec<IgnoredGrant>,
    pub(crate) sum: Sum,
}

/// Loads what is active: the row's MAC has to be right, and a fact of the chain has to have issued the like.
pub(crate) fn load(conn: &Connection, key: &ChainKey) -> Result<Loaded, StoreError> {
    let mut loaded = Loaded { grants: Vec::new(), ignored: Vec::new(), sum: Sum::default() };
    let mut statement =
        conn.prepare("SELECT id, body, row_mac, issued_seq FROM grants WHERE state = 'active' ORDER BY id")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (id, body, mac): (String, String, [u8; 32]) = (row.get(0)?, row.get(1)?, row.get(2)?);
        loaded.sum.add(mac);
        let id = id.parse().ok();
        match vouched(conn, key, id, &body, mac, chain::seq_of(row.get(3)?))? {
            Ok(grant) => loaded.grants.push(grant),
            Err(why) => loaded.ignored.push(IgnoredGrant { id, why: why.to_owned() }),
        }
    }
    Ok(loaded)
}

/// Takes what is not vouched for out of the active rows, so that it stays out. What it was remains to be seen.
pub(crate) fn quarantine(
    conn: &Connection,
    key: &ChainKey,
    ignored: &[IgnoredGrant],
    at_ms: At,
) -> Result<(), StoreError> {
    for id in ignored.iter().filter_map(|ignored| ignored.id) {
        let body: Option<String> =
            conn.query_row("SELECT body FROM grants WHERE id = ?1", [id.to_string()], |row| row.get(0)).optional()?;
        let Some(Ok(mut grant)) = body.map(|body| serde_json::from_str::<Grant>(&body)) else { continue };
        grant.id = id;
        grant.state = GrantState::Dead;
        let body = serde_json::to_string(&grant)?;
        conn.execute(
            "UPDATE grants SET state = 'dead', body = ?2, row_mac = ?3, ended_at_ms = ?4 WHERE id = ?1",
            params![id.to_string(), body, chain::grant_mac(key, &body), at_ms.0],
        )?;
    }
    // What cannot even be read is of no use to anybody.
    let mut statement = conn.prepare("SELECT id, body FROM grants WHERE state = 'active'")?;
    let rows: Vec<(String, String)> =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?;
    for (id, body) in rows {
        let readable = serde_json::from_str::<Grant>(&body).is_ok_and(|grant| grant.id.to_string() == id);
        if !readable {
            conn.execute("DELETE FROM grants WHERE id = ?1", [id])?;
        }
    }
    Ok(())
}

fn vouched(
    conn: &Connection,
    key: &ChainKey,
    id: Option<GrantId>,
    body: &str,
    mac: [u8; 32],
    issued_seq: u64,
) -> Result<Result<Grant, &'static str>, StoreError> {
    if chain::grant_mac(key, body) != mac {
        return Ok(Err("its row was changed by somebody else"));
    }
    let Ok(grant) = serde_json::from_str::<Grant>(body) else { return Ok(Err("its row cannot be read")) };
    if Some(grant.id) != id || grant.state != GrantState::Active {
        return Ok(Err("its row contradicts itself"));
    }
    let fact = chain::row(conn, issued_seq)?.filter(|row| row.is_true(key));
    let Some(Fact::GrantIssued { grant: issued }) = fact.map(|row| row.entry()).transpose()?.map(|e| e.fact) else {
        return Ok(Err("no fact of the history vouches for it"));
    };
    // Only its end can have come nearer and its uses gone down since.
    let same = Grant {
        expires_at_ms: grant.expires_at_ms,
        uses_left: grant.uses_left,
        used: grant.used,
        last_used_at_ms: grant.last_used_at_ms,
        ..issued.clone()
    } == grant;
    let narrower = grant.expires_at_ms <= issued.expires_at_ms
        && match (grant.uses_left, issued.uses_left) {
            (Some(left), Some(given)) => left <= given,
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
    Ok(if same && narrower { Ok(grant) } else { Err("the fact that issued it says otherwise") })
}

/// The word in the database.
pub(crate) fn word(state: GrantState) -> &'static str {
    match state {
        GrantState::Active => "active",
        GrantState::Expired => "expired",
        GrantState::Exhausted => "exhausted",
        GrantState::Revoked => "revoked",
        GrantState::Dead => "dead",
    }
}

const COLUMNS: &str = "id, body, ended_at_ms, revoked_by, revoked_note, state";

fn read(row: &Row<'_>) -> Result<GrantRow, StoreError> {
    let id: String = row.get(0)?;
    let corrupt = |what: String| StoreError::corrupt("grants", &id, what);
    let grant: Grant = serde_json::from_str(&row.get::<_, String>(1)?).map_err(|e| corrupt(e.to_string()))?;
    if grant.id.to_string() != id || word(grant.state) != row.get::<_, String>(5)? {
        return Err(corrupt("it contradicts its own body".to_owned()));
    }
    let by: Option<String> = row.get(3)?;
    let by = by.map(|by| serde_json::from_str::<By>(&by).map_err(|e| corrupt(e.to_string()))).transpose()?;
    let (at_ms, note): (Option<i64>, Option<String>) = (row.get(2)?, row.get(4)?);
    let revoked = by.zip(at_ms).map(|(by, at_ms)| Revoked { at_ms: At(at_ms), by, note });
    Ok(GrantRow { grant, revoked })
}

impl Reader {
    /// A grant in any state.
    pub fn grant(&self, id: GrantId) -> Result<Option<GrantRow>, StoreError> {
        self.with(|conn| {
            let mut statement = conn.prepare_cached(&format!("SELECT {COLUMNS} FROM grants WHERE id = ?1"))?;
            let mut rows = statement.query([id.to_string()])?;
            rows.next()?.map(read).transpose()
        })
    }

    /// Grants, oldest first.
    pub fn grants(&self, filter: &GrantFilter) -> Result<Page<GrantRow, GrantId>, StoreError> {
        let limit = page_size(filter.limit);
        let state = if filter.state.is_some() { "state = ?3 AND" } else { "" };
        self.with(|conn| {
            let sql = format!("SELECT {COLUMNS} FROM grants WHERE {state} id > ?1 ORDER BY id LIMIT ?2");
            let mut statement = conn.prepare_cached(&sql)?;
            let after = filter.after.map(|id| id.to_string()).unwrap_or_default();
            let mut rows = match filter.state {
                Some(state) => statement.query(params![after, rows_for(limit), word(state)])?,
                None => statement.query(params![after, rows_for(limit)])?,
            };
            let mut grants = Vec::new();
            while let Some(row) = rows.next()? {
                grants.push(read(row)?);
            }
            Ok(Page::cut(grants, limit, |row| row.grant.id))
        })
    }
}
