//! `session_summaries.jsonl`: a line for each session, with what became of its calls.

use std::{collections::BTreeMap, io::Write, ops::ControlFlow};

use placet_domain::Session;
use rusqlite::{Connection, OptionalExtension as _};
use serde::Serialize;

use crate::{CallDecision, HistoryFilter, PAGE_AT_MOST, Reader, SessionFilter, StoreError};

#[derive(Serialize)]
struct Summary {
    session: String,
    agent: String,
    client_session: Option<String>,
    workspace: String,
    parent: Option<String>,
    context: BTreeMap<String, String>,
    started: String,
    started_at_ms: i64,
    stopped: Option<String>,
    stopped_at_ms: Option<i64>,
    tainted: bool,
    calls: u32,
    allowed: u64,
    denied: u64,
    asked: u64,
    decisions: BTreeMap<String, u64>,
    tools: BTreeMap<String, u64>,
    #[serde(rename = "summary")]
    words: Option<String>,
}

pub(super) fn write(
    reader: &Reader,
    conn: &Connection,
    filter: &HistoryFilter,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<u64, StoreError> {
    let mut sessions = SessionFilter { agent: filter.agent.clone(), limit: PAGE_AT_MOST, ..SessionFilter::default() };
    let mut rows = 0;
    loop {
        let page = reader.sessions(&sessions)?;
        let wanted = page.items.iter().filter(|session| {
            filter.session.is_none_or(|id| id == session.id)
                && filter.from_ms.is_none_or(|from| session.started_at_ms >= from)
                && filter.to_ms.is_none_or(|to| session.started_at_ms < to)
        });
        for session in wanted {
            super::line(out, &summary(conn, session)?)?;
            rows += 1;
        }
        if progress(rows).is_break() || page.next.is_none() {
            return Ok(rows);
        }
        sessions.after = page.next;
    }
}

fn summary(conn: &Connection, session: &Session) -> Result<Summary, StoreError> {
    let id = session.id.to_string();
    let words: Option<Option<String>> = conn
        .prepare_cached("SELECT summary FROM sessions WHERE id = ?1")?
        .query_row([&id], |row| row.get(0))
        .optional()?;
    let mut summary = Summary {
        agent: session.agent.to_string(),
        client_session: session.client_session.clone(),
        workspace: session.workspace.lossy(),
        parent: session.parent.map(|p| p.to_string()),
        context: session.context.clone(),
        started: super::time(session.started_at_ms),
        started_at_ms: session.started_at_ms.0,
        stopped: session.stopped_at_ms.map(super::time),
        stopped_at_ms: session.stopped_at_ms.map(|at| at.0),
        tainted: session.tainted,
        calls: session.calls,
        allowed: 0,
        denied: 0,
        asked: 0,
        decisions: BTreeMap::new(),
        tools: BTreeMap::new(),
        words: words.flatten(),
        session: id,
    };
    count(conn, &mut summary)?;
    Ok(summary)
}

fn count(conn: &Connection, summary: &mut Summary) -> Result<(), StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT decision, tool, count(*) FROM calls INDEXED BY calls_by_session WHERE session = ?1
         GROUP BY decision, tool",
    )?;
    let mut rows = statement.query([&summary.session])?;
    while let Some(row) = rows.next()? {
        let (word, tool, calls): (String, String, u32) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let calls = u64::from(calls);
        let decision =
            CallDecision::of_word(&word).ok_or_else(|| StoreError::corrupt("calls", &word, "an unknown decision"))?;
        match decision.is_yes() {
            Some(true) => summary.allowed += calls,
            Some(false) => summary.denied += calls,
            None => {}
        }
        summary.asked += if decision.was_asked() { calls } else { 0 };
        *summary.decisions.entry(word).or_default() += calls;
        *summary.tools.entry(tool).or_default() += calls;
    }
    Ok(())
}
