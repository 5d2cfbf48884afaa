//! The live files `audit_log.jsonl` (one line a call) and `session_summaries.jsonl` (one line a session).
//!
//! The history is the gate's and needs neither; these are for people who follow a run with other tools. Lines are
//! whole: each is written by one append, and secrets are masked as they are for the model.

use std::{
    fs::OpenOptions,
    io::Write as _,
    os::unix::fs::OpenOptionsExt as _,
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
};

use placet_domain::redact::redact_json;
use serde_json::{Value, json};

use super::{Call, Fate, Hook, HookError};
use crate::{Later, context::Context, summary::Summary, tools::Output};

/// The audit hook. It counts what went through it; it writes files only where they are wanted.
#[derive(Debug, Default)]
pub struct Audit {
    /// Where calls are written.
    pub log: Option<PathBuf>,
    /// Where sessions are written.
    pub summaries: Option<PathBuf>,
    seen: AtomicU32,
}

impl Audit {
    /// An audit that writes these files.
    pub fn new(log: Option<PathBuf>, summaries: Option<PathBuf>) -> Self {
        Self { log, summaries, seen: AtomicU32::new(0) }
    }

    /// How many calls it has seen.
    pub fn seen(&self) -> u32 {
        self.seen.load(Ordering::Relaxed)
    }
}

impl Hook for Audit {
    fn name(&self) -> &'static str {
        "audit"
    }

    fn after_tool<'a>(
        &'a self,
        call: &'a Call,
        fate: &'a Fate,
        output: Output,
    ) -> Later<'a, Result<Output, HookError>> {
        self.seen.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move {
            if let Some(path) = &self.log {
                let mut line = json!({
                    "session": call.context.session(), "agent": call.context.agent(), "call_id": call.id,
                    "tool": call.tool, "input": call.input, "result": output.text, "is_error": output.is_error,
                    "decision": fate.decision.word(), "duration_ms": fate.duration_ms,
                    "at_ms": fate.at_ms,
                });
                if call.input != call.original {
                    line["original"] = call.original.clone();
                }
                redact_json(&mut line);
                append(path.clone(), line).await?;
            }
            Ok(output)
        })
    }

    fn at_stop<'a>(&'a self, context: &'a Context, summary: &'a Summary) -> Later<'a, Result<(), HookError>> {
        Box::pin(async move {
            if let Some(path) = &self.summaries {
                let mut line = summary.line(context);
                redact_json(&mut line);
                append(path.clone(), line).await?;
            }
            Ok(())
        })
    }
}

async fn append(path: PathBuf, line: Value) -> Result<(), HookError> {
    let write = move || {
        let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(&path)?;
        file.write_all(format!("{line}\n").as_bytes())
    };
    match tokio::task::spawn_blocking(write).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(HookError(error.to_string())),
        Err(error) => Err(HookError(error.to_string())),
    }
}
