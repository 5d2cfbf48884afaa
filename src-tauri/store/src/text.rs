//! What is searched of a call, and the index over it. Texts are written with the call; the index follows when nothing
//! else is to do, and what it has not come to yet is scanned.

use std::collections::BTreeSet;

use placet_domain::{AgentName, CallFacts, Subject};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    Store, StoreError, chain,
    store::{Known, Projecting},
};

/// Bytes that are kept of a call's text.
const AT_MOST: usize = 8_000;

/// Everything in a call that somebody may search for.
pub(crate) fn of_call(agent: &AgentName, facts: &CallFacts, words: &[&str]) -> String {
    let mut parts = BTreeSet::new();
    let mut text = String::new();
    let mut add = |part: &str| {
        if text.len() < AT_MOST && !part.is_empty() && parts.insert(part.to_owned()) {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(part);
        }
    };
    add(agent.as_str());
    add(&facts.tool);
    for word in words {
        add(word);
    }
    for subject in &facts.subjects {
        match subject {
            Subject::Path(path) => {
                add(&path.resolved.lossy());
                add(&path.normalized.lossy());
                add(&path.asked.lossy());
            }
            Subject::Url(url) => {
                add(&url.normalized);
                add(&url.asked);
                add(url.host_unicode.as_deref().unwrap_or_default());
            }
            Subject::Command(command) => add(&command.asked),
            Subject::Mcp(mcp) => add(&format!("{}/{}", mcp.server, mcp.tool)),
            Subject::Tool(tool) => add(&tool.tool),
        }
    }
    cut(&mut text);
    text
}

fn cut(text: &mut String) {
    let mut end = AT_MOST.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    // SQLite's text functions stop at a NUL.
    *text = text.replace('\0', " ");
}

/// Writes a call's text.
pub(crate) fn write(p: &Projecting<'_>, call: u64, text: &str) -> Result<(), StoreError> {
    p.conn
        .prepare_cached("INSERT INTO texts (call, text) VALUES (?1, ?2)")?
        .execute(params![chain::row_id(call), text])?;
    Ok(())
}

/// Adds to a call's text. If the index has come to it already, it is noted what the index knows of it.
pub(crate) fn extend(p: &mut Projecting<'_>, call: u64, more: &str) -> Result<(), StoreError> {
    if more.is_empty() {
        return Ok(());
    }
    let old: Option<String> = p
        .conn
        .prepare_cached("SELECT text FROM texts WHERE call = ?1")?
        .query_row([chain::row_id(call)], |row| row.get(0))
        .optional()?;
    let Some(old) = old else { return Ok(()) };
    if call <= searched_through(p.conn, p.known)? {
        p.conn
            .prepare_cached("INSERT OR IGNORE INTO unsearched (call, indexed) VALUES (?1, ?2)")?
            .execute(params![chain::row_id(call), old])?;
    }
    let mut text = format!("{old}\n{more}");
    cut(&mut text);
    p.conn.prepare_cached("UPDATE texts SET text = ?2 WHERE call = ?1")?.execute(params![chain::row_id(call), text])?;
    Ok(())
}

fn searched_through(conn: &Connection, known: &mut Known) -> Result<u64, StoreError> {
    if let Some(through) = known.searched_through {
        return Ok(through);
    }
    let through = through(conn)?;
    known.searched_through = Some(through);
    Ok(through)
}

/// Up to which call the index has come.
pub(crate) fn through(conn: &Connection) -> Result<u64, StoreError> {
    let through = conn
        .prepare_cached("SELECT through FROM searched WHERE one = 1")?
        .query_row([], |row| row.get(0))
        .optional()?
        .ok_or_else(|| StoreError::corrupt("searched", 1, "its one row is missing"))?;
    Ok(chain::seq_of(through))
}

impl Store {
    /// Makes up to `max` more facts findable, and once all are, indexes up to `max` more calls for text search; whether
    /// there are more. For when nothing else is to do: a hundred at a time or more is worth its commit, and what is not
    /// indexed yet is found all the same.
    pub fn index_some(&mut self, max: usize) -> Result<bool, StoreError> {
        if self.behind() > 0 && self.follow_some(max.max(1) as u64)? {
            return Ok(true);
        }
        if !self.anything_to_index()? {
            return Ok(false);
        }
        self.transact(|conn, _, known| {
            let limit = i64::try_from(max.max(1)).unwrap_or(i64::MAX);
            let again: Vec<(i64, String, String)> = conn
                .prepare_cached(
                    "SELECT u.call, u.indexed, t.text FROM unsearched u JOIN texts t USING (call) LIMIT ?1",
                )?
                .query_map([limit], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
                .collect::<Result<_, _>>()?;
            for (call, indexed, text) in &again {
                conn.prepare_cached("INSERT INTO search (search, rowid, text) VALUES ('delete', ?1, ?2)")?
                    .execute(params![call, indexed])?;
                conn.prepare_cached("INSERT INTO search (rowid, text) VALUES (?1, ?2)")?
                    .execute(params![call, text])?;
                conn.prepare_cached("DELETE FROM unsearched WHERE call = ?1")?.execute([call])?;
            }
            let through = chain::row_id(through(conn)?);
            let last: Option<i64> = conn
                .prepare_cached(
                    "SELECT max(call) FROM (SELECT call FROM texts WHERE call > ?1 ORDER BY call LIMIT ?2)",
                )?
                .query_row([through, limit], |row| row.get(0))?;
            let last = last.unwrap_or(through);
            conn.prepare_cached(
                "INSERT INTO search (rowid, text) SELECT call, text FROM texts WHERE call > ?1 AND call <= ?2",
            )?
            .execute([through, last])?;
            conn.prepare_cached("UPDATE searched SET through = ?1 WHERE one = 1")?.execute([last])?;
            known.searched_through = Some(chain::seq_of(last));
            Ok(())
        })?;
        self.anything_to_index()
    }

    fn anything_to_index(&self) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM texts WHERE call > (SELECT through FROM searched WHERE one = 1))
                       OR EXISTS (SELECT 1 FROM unsearched)";
        Ok(self.conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
    }
}
