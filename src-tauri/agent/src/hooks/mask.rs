//! Masks secrets in what the model and the conversation see. The disk keeps what it has.

use std::sync::atomic::{AtomicU32, Ordering};

use placet_domain::redact::redact;

use super::{Call, Fate, Hook, HookError};
use crate::{Later, tools::Output};

/// The redaction hook. It counts the results in which it masked something.
#[derive(Debug, Default)]
pub struct Mask {
    results: AtomicU32,
}

impl Mask {
    /// In how many results something was masked.
    pub fn results(&self) -> u32 {
        self.results.load(Ordering::Relaxed)
    }
}

impl Hook for Mask {
    fn name(&self) -> &'static str {
        "redaction"
    }

    fn after_tool<'a>(&'a self, _: &'a Call, _: &'a Fate, output: Output) -> Later<'a, Result<Output, HookError>> {
        let redacted = redact(&output.text);
        if redacted.masked > 0 {
            self.results.fetch_add(1, Ordering::Relaxed);
        }
        let output = Output { text: redacted.text.into_owned(), is_error: output.is_error };
        Box::pin(std::future::ready(Ok(output)))
    }
}
