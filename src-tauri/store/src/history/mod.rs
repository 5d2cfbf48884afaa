//! Searching the history. Whatever is asked for, some index is walked from the newest on, and no more of it is read
//! than a page needs.

#[cfg(test)]
mod steps;

use std::{borrow::Cow, fmt::Write as _};

use placet_domain::{AgentName, GrantId, SessionId};
use rusqlite::{Connection, OptionalExtension as _, ToSql, types::Value};

use crate::{
    CallDecision, CallRow, HistoryFilter, Page, Reader, StoreError,
    call::{COLUMNS, read_row},
    chain,
    filter::page_size,
    place::{self, Place},
    stats, text,
};

impl Reader {
    /// Calls, newest first.
    pub fn history(&self, filter: &HistoryFilter) -> Result<Page<CallRow, u64>, StoreError> {
        self.with_calls(|conn| search(conn, filter))
    }
}

/// One page. `conn` shows one state of the file.
pub(crate) fn search(conn: &Connection, filter: &HistoryFilter) -> Result<Page<CallRow, u64>, StoreError> {
    let limit = page_size(filter.limit);
    let nothing = Page { items: Vec::new(), next: None };
    let Some((filter, only)) = named(conn, filter)? else { return Ok(nothing) };
    let Some(query) = Query::new(conn, &filter, only, limit + 1)? else { return Ok(nothing) };
    let rows = query.run(conn)?;
    Ok(Page::cut(rows, limit, |row| row.seq))
}

/// A filter in which no id stands as text, and the one call that it can only mean, where it is known.
type Named<'a> = (Cow<'a, HistoryFilter>, Option<u64>);

/// A text that is an id stands for the calls of that session, the calls of that grant, or the call of that approval.
/// None where it is the id of nothing, or of something else than the filter asks for already.
fn named<'a>(conn: &Connection, filter: &'a HistoryFilter) -> Result<Option<Named<'a>>, StoreError> {
    let text = filter.text.as_deref().unwrap_or_default().trim().to_ascii_lowercase();
    let (36, Ok(session), Ok(grant)) = (text.len(), text.parse::<SessionId>(), text.parse::<GrantId>()) else {
        return Ok(Some((Cow::Borrowed(filter), None)));
    };
    let exists = |sql: &str| conn.prepare_cached(sql)?.exists([&text]);
    let mut named = HistoryFilter { text: None, ..filter.clone() };
    if exists("SELECT 1 FROM sessions WHERE id = ?1")? {
        let same = named.session.replace(session).is_none_or(|asked| asked == session);
        return Ok(same.then_some((Cow::Owned(named), None)));
    }
    if exists("SELECT 1 FROM grants WHERE id = ?1")? {
        let same = named.grant.replace(grant).is_none_or(|asked| asked == grant);
        return Ok(same.then_some((Cow::Owned(named), None)));
    }
    let call: Option<i64> = conn
        .prepare_cached("SELECT seq FROM calls WHERE approval = ?1")?
        .query_row([&text], |row| row.get(0))
        .optional()?;
    Ok(call.map(|seq| (Cow::Owned(named), Some(chain::seq_of(seq)))))
}

/// What is asked for, made ready: numbers instead of names, and the range in which it can lie.
struct Query<'a> {
    filter: &'a HistoryFilter,
    /// Numbers of calls that can match: from the first, before the second.
    first: u64,
    before: u64,
    places: Vec<i64>,
    words: Words,
    rows: usize,
}

/// What the text of a filter means.
enum Words {
    /// Nothing.
    None,
    /// Each of these occurs.
    All(Vec<String>),
    /// The digest or the action digest begins with these hexadecimal digits.
    Digest(String),
}

impl Words {
    fn new(text: Option<&str>) -> Self {
        let text = text.unwrap_or_default().trim().replace('\0', " ");
        if let Some(hex) = text.strip_prefix("sha256:")
            && hex.len() <= 64
            && hex.bytes().all(|b| b.is_ascii_hexdigit())
        {
            return Self::Digest(hex.to_ascii_lowercase());
        }
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        if words.is_empty() { Self::None } else { Self::All(words) }
    }
}

/// SQL under construction, with its values in order.
#[derive(Default)]
struct Sql {
    text: String,
    values: Vec<Value>,
}

impl Sql {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds a value and gives its name in the text.
    fn value(&mut self, value: impl Into<Value>) -> String {
        self.values.push(value.into());
        format!("?{}", self.values.len())
    }

    fn and(&mut self, column: &str, operator: &str, value: impl Into<Value>) {
        let name = self.value(value);
        let _ = write!(self.text, " AND {column} {operator} {name}");
    }
}

impl<'a> Query<'a> {
    /// None where nothing can match. `only` is the one call that can, where it is known.
    fn new(
        conn: &Connection,
        filter: &'a HistoryFilter,
        only: Option<u64>,
        rows: usize,
    ) -> Result<Option<Self>, StoreError> {
        let (mut first, mut before) = (0, filter.after.unwrap_or(u64::MAX));
        if filter.from_ms.is_some() || filter.to_ms.is_some() {
            let Some((from, to)) = stats::range(conn, filter.from_ms, filter.to_ms)? else { return Ok(None) };
            (first, before) = (from, before.min(to.saturating_add(1)));
        }
        if let Some(seq) = only {
            (first, before) = (first.max(seq), before.min(seq.saturating_add(1)));
        }
        let asked: [Option<Place>; 2] =
            [filter.under.as_ref().map(place::path), filter.host.as_deref().map(place::host)];
        let mut places = Vec::new();
        for place in asked.iter().flatten() {
            let Some(no) = place::find(conn, place)? else { return Ok(None) };
            places.push(no);
        }
        let words = Words::new(filter.text.as_deref());
        Ok(Some(Self { filter, first, before, places, words, rows }))
    }

    fn run(&self, conn: &Connection) -> Result<Vec<CallRow>, StoreError> {
        match &self.words {
            Words::Digest(hex) => self.by_digest(conn, hex),
            Words::All(words) if self.narrow() || words.iter().all(|word| trigrams(word).is_empty()) => {
                self.walk(conn, words)
            }
            Words::All(words) => self.by_words(conn, words),
            Words::None => self.walk(conn, &[]),
        }
    }

    /// Whether there is a better way to go than through the text.
    fn narrow(&self) -> bool {
        self.filter.session.is_some() || self.filter.grant.is_some()
    }

    /// Walks calls by grant, place, session, or agent, tool and decision, whichever is narrowest.
    fn walk(&self, conn: &Connection, words: &[String]) -> Result<Vec<CallRow>, StoreError> {
        let mut sql = Sql::default();
        let mut places = self.places.as_slice();
        if let Some(grant) = self.filter.grant {
            select(&mut sql, "call_grants d CROSS JOIN calls c ON c.seq = d.call", !words.is_empty());
            sql.and("d.grant_id", "=", grant.to_string());
            self.within(&mut sql, "d.call");
        } else if let (Some(first), None) = (self.places.first(), self.filter.session) {
            places = &places[1..];
            select(&mut sql, "call_places d CROSS JOIN calls c ON c.seq = d.call", !words.is_empty());
            sql.and("d.place", "=", *first);
            self.within(&mut sql, "d.call");
        } else if let Some(session) = self.filter.session {
            select(&mut sql, "calls c INDEXED BY calls_by_session", !words.is_empty());
            sql.and("c.session", "=", session.to_string());
            self.within(&mut sql, "c.seq");
        } else if words.is_empty() && self.branches().is_some() {
            return self.by_branches(conn);
        } else {
            select(&mut sql, "calls c NOT INDEXED", !words.is_empty());
            self.within(&mut sql, "c.seq");
        }
        self.also(&mut sql, places);
        like(&mut sql, words);
        let order = if self.filter.grant.is_some() || (places.len() < self.places.len()) { "d.call" } else { "c.seq" };
        let _ = write!(sql.text, " ORDER BY {order} DESC LIMIT {}", self.rows);
        read(conn, &sql)
    }

    /// Walks several stretches of an index at once, one for each decision, and takes the newest of all.
    fn by_branches(&self, conn: &Connection) -> Result<Vec<CallRow>, StoreError> {
        let Some(index) = self.branches() else { return Ok(Vec::new()) };
        let mut sql = Sql::default();
        let _ = write!(sql.text, "SELECT {COLUMNS} FROM (");
        let decisions: &[CallDecision] =
            if self.filter.decisions.is_empty() { &CallDecision::ALL } else { &self.filter.decisions };
        for (n, decision) in decisions.iter().enumerate() {
            sql.push(if n == 0 { "" } else { " UNION " });
            let _ = write!(sql.text, "SELECT seq FROM (SELECT c.seq FROM calls c INDEXED BY {index} WHERE TRUE");
            if let Some(agent) = &self.filter.agent {
                sql.and("c.agent", "=", agent.as_str().to_owned());
            }
            if let Some(tool) = &self.filter.tool {
                sql.and("c.tool", "=", tool.clone());
            }
            sql.and("c.decision", "=", decision.word().to_owned());
            self.within(&mut sql, "c.seq");
            self.in_time(&mut sql);
            let _ = write!(sql.text, " ORDER BY c.seq DESC LIMIT {})", self.rows);
        }
        let _ = write!(
            sql.text,
            ") d CROSS JOIN calls c ON c.seq = d.seq CROSS JOIN sessions s ON s.id = c.session
             ORDER BY d.seq DESC LIMIT {}",
            self.rows
        );
        read(conn, &sql)
    }

    /// The index that serves what is asked of agent, tool and decision.
    fn branches(&self) -> Option<&'static str> {
        match (&self.filter.agent, &self.filter.tool, self.filter.decisions.as_slice()) {
            (Some(_), Some(_), _) => Some("calls_by_agent_and_tool"),
            (Some(_), None, _) => Some("calls_by_agent"),
            (None, Some(_), _) => Some("calls_by_tool"),
            (None, None, []) => None,
            (None, None, _) => Some("calls_by_decision"),
        }
    }

    /// Through the search index, and by reading what it has not come to yet.
    fn by_words(&self, conn: &Connection, words: &[String]) -> Result<Vec<CallRow>, StoreError> {
        let through = text::through(conn)?;
        let mut found = self.unindexed(conn, words, through)?;
        if found.len() < self.rows {
            found.extend(self.changed(conn, words)?);
            found.extend(self.indexed(conn, words, through)?);
        }
        found.sort_unstable_by_key(|row| std::cmp::Reverse(row.seq));
        found.dedup_by_key(|row| row.seq);
        found.truncate(self.rows);
        Ok(found)
    }

    fn indexed(&self, conn: &Connection, words: &[String], through: u64) -> Result<Vec<CallRow>, StoreError> {
        let mut sql = Sql::default();
        select(&mut sql, "search d CROSS JOIN calls c ON c.seq = d.rowid", true);
        let all: Vec<String> = words.iter().flat_map(|word| trigrams(word)).collect();
        sql.and("d.search", "MATCH", all.join(" AND "));
        self.within(&mut sql, "d.rowid");
        sql.and("d.rowid", "<=", chain::row_id(through));
        self.also(&mut sql, &self.places);
        like(&mut sql, words);
        let _ = write!(sql.text, " ORDER BY d.rowid DESC LIMIT {}", self.rows);
        read(conn, &sql)
    }

    fn unindexed(&self, conn: &Connection, words: &[String], through: u64) -> Result<Vec<CallRow>, StoreError> {
        let mut sql = Sql::default();
        select(&mut sql, "calls c NOT INDEXED", true);
        self.within(&mut sql, "c.seq");
        sql.and("c.seq", ">", chain::row_id(through));
        self.also(&mut sql, &self.places);
        like(&mut sql, words);
        let _ = write!(sql.text, " ORDER BY c.seq DESC LIMIT {}", self.rows);
        read(conn, &sql)
    }

    /// Calls whose text changed after it was indexed.
    fn changed(&self, conn: &Connection, words: &[String]) -> Result<Vec<CallRow>, StoreError> {
        let mut sql = Sql::default();
        select(&mut sql, "unsearched d CROSS JOIN calls c ON c.seq = d.call", true);
        self.within(&mut sql, "d.call");
        self.also(&mut sql, &self.places);
        like(&mut sql, words);
        let _ = write!(sql.text, " ORDER BY d.call DESC LIMIT {}", self.rows);
        read(conn, &sql)
    }

    fn by_digest(&self, conn: &Connection, hex: &str) -> Result<Vec<CallRow>, StoreError> {
        let (low, high) = key_range(hex);
        let mut sql = Sql::default();
        let from = "(SELECT seq FROM calls INDEXED BY calls_by_digest WHERE digest_key BETWEEN ?1 AND ?2
             UNION SELECT seq FROM calls INDEXED BY calls_by_action WHERE action_key BETWEEN ?1 AND ?2) d
             CROSS JOIN calls c ON c.seq = d.seq";
        sql.values = vec![low.into(), high.into()];
        select(&mut sql, from, false);
        let name = sql.value(hex.to_owned());
        let _ = write!(
            sql.text,
            " AND (substr(lower(hex(c.digest)), 1, length({name})) = {name}
               OR substr(lower(hex(c.action_digest)), 1, length({name})) = {name})"
        );
        self.within(&mut sql, "c.seq");
        self.also(&mut sql, &self.places);
        if let Some(grant) = self.filter.grant {
            let name = sql.value(grant.to_string());
            let _ = write!(
                sql.text,
                " AND EXISTS (SELECT 1 FROM call_grants g WHERE g.grant_id = {name} AND g.call = c.seq)"
            );
        }
        let _ = write!(sql.text, " ORDER BY d.seq DESC LIMIT {}", self.rows);
        read(conn, &sql)
    }

    fn within(&self, sql: &mut Sql, column: &str) {
        sql.and(column, "<", chain::row_id(self.before));
        if self.first > 0 {
            sql.and(column, ">=", chain::row_id(self.first));
        }
    }

    fn in_time(&self, sql: &mut Sql) {
        if let Some(from) = self.filter.from_ms {
            sql.and("c.at_ms", ">=", from.0);
        }
        if let Some(to) = self.filter.to_ms {
            sql.and("c.at_ms", "<", to.0);
        }
    }

    /// Every condition that the way taken does not see to. One too many does no harm.
    fn also(&self, sql: &mut Sql, places: &[i64]) {
        self.in_time(sql);
        if let Some(agent) = self.filter.agent.as_ref().map(AgentName::as_str) {
            sql.and("c.agent", "=", agent.to_owned());
        }
        if let Some(tool) = &self.filter.tool {
            sql.and("c.tool", "=", tool.clone());
        }
        if !self.filter.decisions.is_empty() {
            let words: Vec<String> = self.filter.decisions.iter().map(|d| format!("'{}'", d.word())).collect();
            let _ = write!(sql.text, " AND c.decision IN ({})", words.join(", "));
        }
        if let Some(session) = self.filter.session {
            sql.and("c.session", "=", session.to_string());
        }
        for no in places {
            let name = sql.value(*no);
            let _ =
                write!(sql.text, " AND EXISTS (SELECT 1 FROM call_places p WHERE p.place = {name} AND p.call = c.seq)");
        }
    }
}

/// Begins the statement. CROSS JOIN keeps SQLite to the order that is written.
fn select(sql: &mut Sql, from: &str, with_text: bool) {
    let texts = if with_text { " CROSS JOIN texts t ON t.call = c.seq" } else { "" };
    let _ =
        write!(sql.text, "SELECT {COLUMNS} FROM {from}{texts} CROSS JOIN sessions s ON s.id = c.session WHERE TRUE");
}

/// Each word has to occur, whatever characters it has.
fn like(sql: &mut Sql, words: &[String]) {
    for word in words {
        let escaped = word.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
        let name = sql.value(format!("%{escaped}%"));
        let _ = write!(sql.text, " AND t.text LIKE {name} ESCAPE '\\'");
    }
}

/// What the index has to contain for a word to occur: at most sixteen of its runs of three characters, each as a
/// quoted term. Empty for a shorter word.
fn trigrams(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let runs = letters.windows(3).map(|run| format!("\"{}\"", run.iter().collect::<String>().replace('"', "\"\"")));
    runs.take(16).collect()
}

/// The keys that a digest with this beginning can have.
fn key_range(hex: &str) -> (i64, i64) {
    let digits = hex.get(..hex.len().min(16)).unwrap_or_default();
    let missing = u32::try_from(16 - digits.len()).unwrap_or(0) * 4;
    let low = u64::from_str_radix(digits, 16).unwrap_or(0).checked_shl(missing).unwrap_or(0);
    let high = low | 1_u64.checked_shl(missing).map_or(u64::MAX, |bit| bit - 1);
    ((low >> 1).cast_signed(), (high >> 1).cast_signed())
}

fn read(conn: &Connection, sql: &Sql) -> Result<Vec<CallRow>, StoreError> {
    let mut statement = conn.prepare_cached(&sql.text)?;
    let values: Vec<&dyn ToSql> = sql.values.iter().map(|v| v as &dyn ToSql).collect();
    let mut rows = statement.query(values.as_slice())?;
    let mut calls = Vec::new();
    while let Some(row) = rows.next()? {
        calls.push(read_row(row)?);
    }
    drop(rows);
    #[cfg(test)]
    steps::note(&statement);
    Ok(calls)
}
