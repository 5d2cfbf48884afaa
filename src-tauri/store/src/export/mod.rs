//! The history for others to read: as it stands in the chain, as a table, and as lines for other programs.

mod csv;
mod lines;
mod ocsf;
mod sessions;

use std::{io::Write, ops::ControlFlow};

use placet_domain::At;
use rusqlite::{Connection, params};

use crate::{
    CallRow, HistoryFilter, PAGE_AT_MOST, Reader, StoreError,
    chain::{self, Row, Stub},
    history,
};

/// In which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON Lines of the facts, oldest first, each as `{"prev":"…","hash":"…","fact":…}`, where the bytes between
    /// `"fact":` and the last `}` are those that were hashed: hash = HMAC-SHA256(key, "placet fact/1" 00 prev fact).
    /// After a pruning the first line is `{"stub":{…}}`. Of the filter only the times are looked at.
    Facts,
    /// A table of the calls, newest first; cells that a spreadsheet could take for formulas begin with `'`.
    Csv,
    /// `audit_log.jsonl`: a line for each call, newest first.
    AuditLog,
    /// `session_summaries.jsonl`: a line for each session, oldest first, with what became of its calls. Of the filter
    /// only agent, session and times (of its start) are looked at.
    SessionSummaries,
    /// OCSF 1.5 API Activity (class 6003), a line for each call, newest first.
    Ocsf,
}

impl Reader {
    /// Writes what the filter lets through. `progress` hears how many lines are written and can stop. How many there
    /// were.
    pub fn export(
        &self,
        format: Format,
        filter: &HistoryFilter,
        out: &mut dyn Write,
        progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<u64, StoreError> {
        self.follow()?;
        let conn = self.own_connection()?;
        let rows = match format {
            Format::Facts => facts(&conn, self.key(), filter, out, progress)?,
            Format::Csv => {
                csv::write_head(out)?;
                calls(&conn, filter, progress, &mut |row| csv::write(out, row))?
            }
            Format::AuditLog => calls(&conn, filter, progress, &mut |row| lines::write(out, row))?,
            Format::Ocsf => calls(&conn, filter, progress, &mut |row| ocsf::write(out, row))?,
            Format::SessionSummaries => sessions::write(self, &conn, filter, out, progress)?,
        };
        out.flush().map_err(StoreError::Output)?;
        Ok(rows)
    }
}

/// Page after page, so that the file is let go of in between.
fn calls(
    conn: &Connection,
    filter: &HistoryFilter,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
    write: &mut dyn FnMut(&CallRow) -> Result<(), StoreError>,
) -> Result<u64, StoreError> {
    let mut filter = HistoryFilter { limit: PAGE_AT_MOST, ..filter.clone() };
    let mut rows = 0;
    loop {
        let snapshot = conn.unchecked_transaction()?;
        let page = history::search(conn, &filter)?;
        snapshot.finish()?;
        page.items.iter().try_for_each(&mut *write)?;
        rows += page.items.len() as u64;
        if progress(rows).is_break() || page.next.is_none() {
            return Ok(rows);
        }
        filter.after = page.next;
    }
}

fn facts(
    conn: &Connection,
    key: &crate::ChainKey,
    filter: &HistoryFilter,
    out: &mut dyn Write,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<u64, StoreError> {
    if let Some((stub, _)) = Stub::latest(conn, key)? {
        write_stub(out, &stub)?;
    }
    let (from, to) = (filter.from_ms.unwrap_or(At(i64::MIN)), filter.to_ms.unwrap_or(At(i64::MAX)));
    let (mut rows, mut after) = (0, 0_i64);
    loop {
        let sql = "SELECT seq, at_ms, kind, body, prev, hash FROM facts WHERE seq > ?1 ORDER BY seq LIMIT ?2";
        let mut statement = conn.prepare_cached(sql)?;
        let mut page = statement.query(params![after, 5_000])?;
        let before = after;
        while let Some(row) = page.next()? {
            let row = Row::read(row, 0)?;
            after = chain::row_id(row.seq);
            if row.at_ms >= from && row.at_ms < to {
                write_fact(out, &row)?;
                rows += 1;
            }
        }
        if progress(rows).is_break() || after == before {
            return Ok(rows);
        }
    }
}

fn write_fact(out: &mut dyn Write, row: &Row) -> Result<(), StoreError> {
    let (prev, hash) = (hex(&row.prev), hex(&row.hash));
    writeln!(out, "{{\"prev\":\"{prev}\",\"hash\":\"{hash}\",\"fact\":{}}}", row.body).map_err(StoreError::Output)
}

fn write_stub(out: &mut dyn Write, stub: &Stub) -> Result<(), StoreError> {
    let line = serde_json::json!({"stub": {
        "through_seq": stub.through_seq,
        "through_ms": stub.through_ms,
        "hash": stub.hash.hex(),
        "rows": stub.rows,
        "pruned_at_ms": stub.pruned_at_ms,
    }});
    writeln!(out, "{line}").map_err(StoreError::Output)
}

fn hex(bytes: &[u8; 32]) -> String {
    placet_domain::Digest::new(*bytes).hex()
}

/// A moment as RFC 3339 says it, in UTC.
fn time(at_ms: At) -> String {
    jiff::Timestamp::from_millisecond(at_ms.0).map_or_else(|_| at_ms.0.to_string(), |at| at.to_string())
}

fn line(out: &mut dyn Write, line: &impl serde::Serialize) -> Result<(), StoreError> {
    serde_json::to_writer(&mut *out, line)
        .map_err(|error| StoreError::Output(error.into()))
        .and_then(|()| out.write_all(b"\n").map_err(StoreError::Output))
}
