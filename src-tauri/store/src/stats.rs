//! Figures over the history, from counters that are kept as it grows.

use placet_domain::{At, Digest};
use rusqlite::{Connection, params};

use crate::{CallDecision, Reader, StoreError, call, chain};

/// Milliseconds of an hour.
const HOUR_MS: i64 = 60 * 60 * 1_000;
/// How many answers, or like calls, are looked at.
const LOOK_BACK: u32 = 1_000;

/// How wide a bar of the timeline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bucket {
    /// 3,600,000 ms.
    Hour,
    /// 86,400,000 ms, from midnight UTC.
    Day,
}

impl Bucket {
    fn ms(self) -> i64 {
        match self {
            Self::Hour => HOUR_MS,
            Self::Day => 24 * HOUR_MS,
        }
    }
}

/// How many calls of a time had a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// Where the bucket begins.
    pub at_ms: At,
    /// What became of them.
    pub decision: CallDecision,
    /// How many.
    pub calls: u64,
}

/// Figures of a time, counted in whole hours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// By bucket and decision, oldest first; empty ones are left out.
    pub timeline: Vec<Counted>,
    /// By agent, the busiest first.
    pub agents: Vec<(String, u64)>,
    /// By tool, the busiest first, at most 100.
    pub tools: Vec<(String, u64)>,
    /// All calls.
    pub calls: u64,
    /// How many of them were put to a person.
    pub asked: u64,
    /// The median time a person took, in milliseconds, over at most the last 1,000 answers; none without one.
    pub median_wait_ms: Option<i64>,
}

/// What a person said to the like of a call before, among its last 1,000.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alike {
    /// Yes.
    pub approved: u64,
    /// No.
    pub denied: u64,
    /// When last.
    pub last_at_ms: Option<At>,
}

/// A call came: its hour reaches to it.
pub(crate) fn opened(conn: &Connection, at_ms: At, seq: u64) -> Result<(), StoreError> {
    conn.prepare_cached(
        "INSERT INTO hours (hour_ms, first, last) VALUES (?1, ?2, ?2)
         ON CONFLICT (hour_ms) DO UPDATE SET first = min(first, ?2), last = max(last, ?2)",
    )?
    .execute([hour_of(at_ms), chain::row_id(seq)])?;
    Ok(())
}

/// A call of that time got a decision, perhaps in place of another.
pub(crate) fn count(
    conn: &Connection,
    at_ms: At,
    agent: &str,
    tool: &str,
    (from, to): (Option<CallDecision>, CallDecision),
) -> Result<(), StoreError> {
    let hour = hour_of(at_ms);
    if let Some(from) = from {
        conn.prepare_cached(
            "UPDATE counters SET calls = calls - 1 WHERE hour_ms = ?1 AND decision = ?2 AND agent = ?3 AND tool = ?4",
        )?
        .execute(params![hour, from.word(), agent, tool])?;
    }
    conn.prepare_cached(
        "INSERT INTO counters (hour_ms, decision, agent, tool, calls) VALUES (?1, ?2, ?3, ?4, 1)
         ON CONFLICT (hour_ms, decision, agent, tool) DO UPDATE SET calls = calls + 1",
    )?
    .execute(params![hour, to.word(), agent, tool])?;
    Ok(())
}

/// The numbers of the first and the last call between two times; none where there was none.
pub(crate) fn range(conn: &Connection, from: Option<At>, to: Option<At>) -> Result<Option<(u64, u64)>, StoreError> {
    let from = from.map_or(i64::MIN, hour_of);
    let to = to.map_or(i64::MAX, |to| to.0.saturating_sub(1));
    let (first, last): (Option<i64>, Option<i64>) = conn
        .prepare_cached("SELECT min(first), max(last) FROM hours WHERE hour_ms BETWEEN ?1 AND ?2")?
        .query_row([from, to], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(first.zip(last).map(|(first, last)| (chain::seq_of(first), chain::seq_of(last))))
}

pub(crate) fn hour_of(at_ms: At) -> i64 {
    at_ms.0.div_euclid(HOUR_MS).saturating_mul(HOUR_MS)
}

impl Reader {
    /// How many calls had which decision between two times (the second not included), by hour or day (UTC), and by
    /// agent and tool. Counted in whole hours.
    pub fn stats(&self, from_ms: At, to_ms: At, bucket: Bucket) -> Result<Stats, StoreError> {
        let hours = (hour_of(from_ms), to_ms.0);
        self.with_calls(|conn| {
            let timeline = timeline(conn, hours, bucket)?;
            Ok(Stats {
                agents: busiest(conn, "agent", hours)?,
                tools: busiest(conn, "tool", hours)?,
                calls: timeline.iter().map(|c| c.calls).sum(),
                asked: timeline.iter().filter(|c| c.decision.was_asked()).map(|c| c.calls).sum(),
                median_wait_ms: median_wait(conn, from_ms, to_ms)?,
                timeline,
            })
        })
    }

    /// What the person said to the same action since then.
    pub fn alike(&self, action_digest: Digest, since_ms: At) -> Result<Alike, StoreError> {
        self.with_calls(|conn| {
            let mut statement = conn.prepare_cached(
                "SELECT decision, at_ms FROM (
                     SELECT * FROM calls WHERE action_key = ?1 ORDER BY seq DESC LIMIT ?4
                 ) WHERE action_digest = ?2 AND at_ms >= ?3 AND decided_by IN ('user', 'supervisor')",
            )?;
            let mut rows =
                statement.query(params![call::key(&action_digest), action_digest.bytes(), since_ms.0, LOOK_BACK])?;
            let mut alike = Alike::default();
            while let Some(row) = rows.next()? {
                let (word, at_ms): (String, i64) = (row.get(0)?, row.get(1)?);
                match CallDecision::of_word(&word) {
                    Some(
                        CallDecision::Approved | CallDecision::Consumed | CallDecision::Lapsed | CallDecision::Void,
                    ) => alike.approved += 1,
                    Some(CallDecision::Denied) => alike.denied += 1,
                    Some(_) | None => continue,
                }
                alike.last_at_ms = alike.last_at_ms.max(Some(At(at_ms)));
            }
            Ok(alike)
        })
    }
}

fn timeline(conn: &Connection, (from, to): (i64, i64), bucket: Bucket) -> Result<Vec<Counted>, StoreError> {
    let mut statement = conn.prepare_cached(
        "SELECT (hour_ms - (hour_ms % ?3 + ?3) % ?3) AS bucket, decision, sum(calls) FROM counters
         WHERE hour_ms >= ?1 AND hour_ms < ?2 GROUP BY bucket, decision HAVING sum(calls) > 0
         ORDER BY bucket, decision",
    )?;
    let mut rows = statement.query([from, to, bucket.ms()])?;
    let mut timeline = Vec::new();
    while let Some(row) = rows.next()? {
        let word: String = row.get(1)?;
        let decision = CallDecision::of_word(&word)
            .ok_or_else(|| StoreError::corrupt("counters", &word, "an unknown decision"))?;
        timeline.push(Counted { at_ms: At(row.get(0)?), decision, calls: chain::seq_of(row.get(2)?) });
    }
    Ok(timeline)
}

fn busiest(conn: &Connection, column: &str, (from, to): (i64, i64)) -> Result<Vec<(String, u64)>, StoreError> {
    let sql = format!(
        "SELECT {column}, sum(calls) AS n FROM counters WHERE hour_ms >= ?1 AND hour_ms < ?2
         GROUP BY {column} HAVING n > 0 ORDER BY n DESC, {column} LIMIT 100"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let rows = statement.query_map([from, to], |row| Ok((row.get(0)?, chain::seq_of(row.get(1)?))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The median of the last answers of a person, walking back from the end of the time asked for.
fn median_wait(conn: &Connection, from: At, to: At) -> Result<Option<i64>, StoreError> {
    let Some((first, last)) = range(conn, Some(from), Some(to))? else { return Ok(None) };
    let mut statement = conn.prepare_cached(
        "SELECT c.waited_ms FROM approvals a JOIN calls c ON c.seq = a.asked_seq
         WHERE a.asked_seq BETWEEN ?1 AND ?2 AND c.decided_by IN ('user', 'supervisor')
         ORDER BY a.asked_seq DESC LIMIT ?3",
    )?;
    let rows = statement
        .query_map(params![chain::row_id(first), chain::row_id(last), LOOK_BACK], |row| row.get::<_, Option<i64>>(0))?;
    let mut waits: Vec<i64> = rows.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    waits.sort_unstable();
    Ok(waits.get(waits.len() / 2).copied())
}
