//! Calls as a table (RFC 4180).

use std::io::Write;

use crate::{CallRow, StoreError};

const HEAD: &str = "seq,time,session,agent,workspace,tool,action,subject,decision,by,note,rule,grant,approval,\
                    waited_ms,outcome,duration_ms,digest,flags";

pub(super) fn write_head(out: &mut dyn Write) -> Result<(), StoreError> {
    write!(out, "{HEAD}\r\n").map_err(StoreError::Output)
}

pub(super) fn write(out: &mut dyn Write, row: &CallRow) -> Result<(), StoreError> {
    let text = |value: Option<String>| value.unwrap_or_default();
    let cells = [
        row.seq.to_string(),
        super::time(row.at_ms),
        row.session.to_string(),
        row.agent.to_string(),
        row.workspace.lossy(),
        row.tool.clone(),
        row.action.word().to_owned(),
        row.subject_text.clone(),
        row.decision.word().to_owned(),
        text(row.by.clone()),
        text(row.note.clone()),
        text(row.rule.clone()),
        text(row.grant.map(|g| g.to_string())),
        text(row.approval.map(|a| a.to_string())),
        text(row.waited_ms.map(|ms| ms.to_string())),
        text(row.outcome.clone()),
        text(row.duration_ms.map(|ms| ms.to_string())),
        text(row.digest.map(|d| d.to_string())),
        row.flags.iter().map(|f| f.word()).collect::<Vec<_>>().join(" "),
    ];
    let cells: Vec<String> = cells.iter().map(|text| cell(text)).collect();
    write!(out, "{}\r\n", cells.join(",")).map_err(StoreError::Output)
}

/// A cell that a spreadsheet shows as the text it is: what begins like a formula gets an apostrophe (OWASP, CSV
/// injection), and everything is quoted.
fn cell(text: &str) -> String {
    let formula =
        text.trim_start_matches(' ').starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    format!("\"{}{}\"", if formula { "'" } else { "" }, text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::cell;

    #[test]
    fn a_cell_is_never_a_formula() {
        for (text, want) in [
            ("plain", "\"plain\""),
            ("say \"hi\", twice", "\"say \"\"hi\"\", twice\""),
            ("=1+1", "\"'=1+1\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            ("-rf", "\"'-rf\""),
            ("\t=1", "\"'\t=1\""),
            ("  =1", "\"'  =1\""),
            ("", "\"\""),
        ] {
            assert_eq!(cell(text), want);
        }
    }
}
