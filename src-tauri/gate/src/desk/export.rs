//! The history written out from the desk: what is filtered, in one of five forms, line by line.

use std::{io::Write, ops::ControlFlow};

use placet_ipc::ErrorBody;
use placet_store::{Format, HistoryFilter, Reader};
use serde::Deserialize;
use serde_json::Value;

use super::{Desk, history::SearchParams, read};

/// What is to be written out, and how.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExportParams {
    format: Form,
    #[serde(default)]
    filter: SearchParams,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Form {
    Facts,
    Csv,
    AuditLog,
    SessionSummaries,
    Ocsf,
}

/// An export that can begin.
#[derive(Debug)]
pub struct Export {
    reader: Reader,
    format: Format,
    filter: HistoryFilter,
}

impl Desk {
    /// Reads `{format: "facts" | "csv" | "audit_log" | "session_summaries" | "ocsf", filter?}`, where `filter` is what
    /// `history.search` takes, without its place in the list.
    ///
    /// # Errors
    /// `invalid_params`.
    pub fn export(&self, params: Value) -> Result<Export, ErrorBody> {
        let ExportParams { format, filter } = read(params)?;
        let format = match format {
            Form::Facts => Format::Facts,
            Form::Csv => Format::Csv,
            Form::AuditLog => Format::AuditLog,
            Form::SessionSummaries => Format::SessionSummaries,
            Form::Ocsf => Format::Ocsf,
        };
        let filter = HistoryFilter { after: None, ..filter.filter()? };
        Ok(Export { reader: self.gate.reader(), format, filter })
    }
}

impl Export {
    /// What a file of it is called where the person says nothing else.
    pub fn file_name(&self) -> &'static str {
        match self.format {
            Format::Facts => "placet-history.jsonl",
            Format::Csv => "placet-history.csv",
            Format::AuditLog => "audit_log.jsonl",
            Format::SessionSummaries => "session_summaries.jsonl",
            Format::Ocsf => "placet-history.ocsf.jsonl",
        }
    }

    /// Writes it. `progress` hears how many lines there are by now, and can stop. How many there were in the end. It
    /// takes as long as the history is: not for a thread that others wait for.
    ///
    /// # Errors
    /// In words: the history cannot be read, or `out` not be written.
    pub fn write(&self, out: &mut dyn Write, progress: &mut dyn FnMut(u64) -> ControlFlow<()>) -> Result<u64, String> {
        self.reader.export(self.format, &self.filter, out, progress).map_err(|error| error.to_string())
    }
}
