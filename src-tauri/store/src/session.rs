//! Sessions: their rows, written and read.

use placet_domain::{AgentName, At, Entry, Fact, PathText, Session, SessionId};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{
    Page, Reader, SessionFilter, StoreError,
    filter::{page_size, rows_for},
    reader::id,
    store::{Known, Projecting, one},
};

/// A session began.
pub(crate) fn started(p: &Projecting<'_>, entry: &Entry) -> Result<(), StoreError> {
    let Fact::SessionStarted { session, agent, client_session, workspace, parent, context } = &entry.fact else {
        return Ok(());
    };
    p.conn
        .prepare_cached(
            "INSERT INTO sessions (id, agent, client_session, workspace, parent, context, started_at_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            session.to_string(),
            agent.as_str(),
            client_session,
            workspace.bytes(),
            parent.map(|p| p.to_string()),
            serde_json::to_string(context)?,
            entry.at_ms.0
        ])?;
    Ok(())
}

/// It came back.
pub(crate) fn resumed(p: &Projecting<'_>, session: SessionId) -> Result<(), StoreError> {
    let changed = p
        .conn
        .prepare_cached("UPDATE sessions SET stopped_at_ms = NULL WHERE id = ?1 AND stopped_at_ms IS NOT NULL")?
        .execute([session.to_string()])?;
    one(changed, "sessions", session, "stopped")
}

/// It ended.
pub(crate) fn stopped(
    p: &Projecting<'_>,
    session: SessionId,
    summary: Option<&str>,
    at_ms: At,
) -> Result<(), StoreError> {
    let changed = p
        .conn
        .prepare_cached("UPDATE sessions SET stopped_at_ms = ?2, summary = ?3 WHERE id = ?1 AND stopped_at_ms IS NULL")?
        .execute(params![session.to_string(), at_ms.0, summary])?;
    one(changed, "sessions", session, "running")
}

/// It made a call; whose it is.
pub(crate) fn called(p: &mut Projecting<'_>, session: SessionId) -> Result<AgentName, StoreError> {
    let changed =
        p.conn.prepare_cached("UPDATE sessions SET calls = calls + 1 WHERE id = ?1")?.execute([session.to_string()])?;
    one(changed, "sessions", session, "known")?;
    agent_of(p.conn, p.known, session)
}

/// It has taken in content from outside.
pub(crate) fn tainted(p: &Projecting<'_>, session: SessionId) -> Result<(), StoreError> {
    p.conn
        .prepare_cached("UPDATE sessions SET tainted = 1 WHERE id = ?1 AND tainted = 0")?
        .execute([session.to_string()])?;
    Ok(())
}

/// Whose a session is.
pub(crate) fn agent_of(conn: &Connection, known: &mut Known, session: SessionId) -> Result<AgentName, StoreError> {
    if let Some(agent) = known.agents.get(&session) {
        return Ok(agent.clone());
    }
    let agent: Option<String> = conn
        .prepare_cached("SELECT agent FROM sessions WHERE id = ?1")?
        .query_row([session.to_string()], |row| row.get(0))
        .optional()?;
    let expected = "known";
    let agent = agent.ok_or_else(|| StoreError::Conflict { table: "sessions", id: session.to_string(), expected })?;
    let agent = AgentName::try_from(agent).map_err(|e| StoreError::corrupt("sessions", session, e))?;
    if known.agents.len() >= Known::AT_MOST {
        known.agents.clear();
    }
    known.agents.insert(session, agent.clone());
    Ok(agent)
}

const COLUMNS: &str =
    "id, agent, client_session, workspace, parent, context, started_at_ms, stopped_at_ms, calls, tainted";

fn read(row: &Row<'_>) -> Result<Session, StoreError> {
    let text: String = row.get(0)?;
    let corrupt = |what: String| StoreError::corrupt("sessions", &text, what);
    let parent: Option<String> = row.get(4)?;
    Ok(Session {
        id: id("sessions", &text)?,
        agent: AgentName::try_from(row.get::<_, String>(1)?).map_err(|e| corrupt(e.to_string()))?,
        client_session: row.get(2)?,
        workspace: PathText::from_bytes(row.get::<_, Vec<u8>>(3)?),
        parent: parent.map(|p| id("sessions", &p)).transpose()?,
        context: serde_json::from_str(&row.get::<_, String>(5)?).map_err(|e| corrupt(e.to_string()))?,
        started_at_ms: At(row.get(6)?),
        stopped_at_ms: row.get::<_, Option<i64>>(7)?.map(At),
        calls: row.get(8)?,
        tainted: row.get(9)?,
    })
}

/// Every session, oldest first.
pub(crate) fn all(conn: &Connection) -> Result<Vec<Session>, StoreError> {
    let mut statement = conn.prepare(&format!("SELECT {COLUMNS} FROM sessions ORDER BY id"))?;
    let mut rows = statement.query([])?;
    let mut sessions = Vec::new();
    while let Some(row) = rows.next()? {
        sessions.push(read(row)?);
    }
    Ok(sessions)
}

impl Reader {
    /// A session.
    pub fn session(&self, id: SessionId) -> Result<Option<Session>, StoreError> {
        self.with_calls(|conn| {
            let mut statement = conn.prepare_cached(&format!("SELECT {COLUMNS} FROM sessions WHERE id = ?1"))?;
            let mut rows = statement.query([id.to_string()])?;
            rows.next()?.map(read).transpose()
        })
    }

    /// Sessions, oldest first.
    pub fn sessions(&self, filter: &SessionFilter) -> Result<Page<Session, SessionId>, StoreError> {
        let limit = page_size(filter.limit);
        self.with_calls(|conn| {
            let sql = format!(
                "SELECT {COLUMNS} FROM sessions
                 WHERE id > ?1 AND (?2 IS NULL OR agent = ?2) AND (?3 IS NULL OR (stopped_at_ms IS NULL) = ?3)
                 ORDER BY id LIMIT ?4"
            );
            let mut statement = conn.prepare_cached(&sql)?;
            let after = filter.after.map(|id| id.to_string()).unwrap_or_default();
            let agent = filter.agent.as_ref().map(AgentName::as_str);
            let mut rows = statement.query(params![after, agent, filter.running, rows_for(limit)])?;
            let mut sessions = Vec::new();
            while let Some(row) = rows.next()? {
                sessions.push(read(row)?);
            }
            Ok(Page::cut(sessions, limit, |session| session.id))
        })
    }
}
