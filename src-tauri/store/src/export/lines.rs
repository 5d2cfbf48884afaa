//! `audit_log.jsonl`: a line for each call.

use std::io::Write;

use serde::Serialize;

use crate::{CallRow, StoreError};

#[derive(Serialize)]
struct Line<'a> {
    seq: u64,
    time: String,
    at_ms: i64,
    session: String,
    agent: &'a str,
    workspace: String,
    tool: &'a str,
    action: &'static str,
    subject: &'a str,
    decision: &'static str,
    by: Option<&'a str>,
    reason: Option<&'a str>,
    rule: Option<&'a str>,
    grant: Option<String>,
    approval: Option<String>,
    waited_ms: Option<i64>,
    outcome: Option<&'a str>,
    duration_ms: Option<u64>,
    digest: Option<String>,
    action_digest: String,
    flags: Vec<&'static str>,
}

pub(super) fn write(out: &mut dyn Write, row: &CallRow) -> Result<(), StoreError> {
    let line = Line {
        seq: row.seq,
        time: super::time(row.at_ms),
        at_ms: row.at_ms.0,
        session: row.session.to_string(),
        agent: row.agent.as_str(),
        workspace: row.workspace.lossy(),
        tool: &row.tool,
        action: row.action.word(),
        subject: &row.subject_text,
        decision: row.decision.word(),
        by: row.by.as_deref(),
        reason: row.note.as_deref(),
        rule: row.rule.as_deref(),
        grant: row.grant.map(|g| g.to_string()),
        approval: row.approval.map(|a| a.to_string()),
        waited_ms: row.waited_ms,
        outcome: row.outcome.as_deref(),
        duration_ms: row.duration_ms,
        digest: row.digest.map(|d| d.to_string()),
        action_digest: row.action_digest.to_string(),
        flags: row.flags.iter().map(|f| f.word()).collect(),
    };
    super::line(out, &line)
}
