//! Patches in the format of Codex's `apply_patch`: several files added, updated, moved or deleted in one call.

/// What a patch does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum File {
    Add { path: String, text: String },
    Delete { path: String },
    Update { path: String, to: Option<String>, hunks: Vec<Hunk> },
}

/// One change within a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    /// The line behind `@@`, after which to look.
    pub(crate) context: Option<String>,
    pub(crate) lines: Vec<(Kind, String)>,
    /// The change must end where the file ends.
    pub(crate) at_end: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Same,
    Removed,
    Added,
}

impl Hunk {
    fn lines_of(&self, other: Kind) -> Vec<&str> {
        self.lines
            .iter()
            .filter(|(kind, _)| *kind == Kind::Same || *kind == other)
            .map(|(_, line)| line.as_str())
            .collect()
    }

    /// The lines that must be there.
    pub(crate) fn old(&self) -> String {
        joined(&self.lines_of(Kind::Removed))
    }

    /// The lines that take their place.
    pub(crate) fn new_text(&self) -> String {
        joined(&self.lines_of(Kind::Added))
    }
}

fn joined(lines: &[&str]) -> String {
    lines.iter().flat_map(|line| [*line, "\n"]).collect()
}

/// A text that is no such patch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("The patch cannot be read (line {line}: {what}).")]
pub(crate) struct NoPatch {
    line: usize,
    what: &'static str,
}

/// Parses a patch. Stricter than the client: what it might read in another way is no patch here.
pub(crate) fn parse(text: &str) -> Result<Vec<File>, NoPatch> {
    let text = text.trim();
    let lines: Vec<&str> = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    let wrong = |line: usize, what| Err(NoPatch { line: line + 1, what });
    if lines.first().map(|line| line.trim()) != Some("*** Begin Patch") {
        return wrong(0, "it must begin with “*** Begin Patch”");
    }
    let end = lines.len() - 1;
    if end == 0 || lines[end].trim() != "*** End Patch" {
        return wrong(end, "it must end with “*** End Patch”");
    }
    let mut files: Vec<File> = Vec::new();
    for (at, line) in lines.iter().enumerate().take(end).skip(1) {
        if let Some(path) = line.strip_prefix("*** Add File: ") {
            files.push(File::Add { path: path.to_owned(), text: String::new() });
        } else if let Some(path) = line.strip_prefix("*** Delete File: ") {
            files.push(File::Delete { path: path.to_owned() });
        } else if let Some(path) = line.strip_prefix("*** Update File: ") {
            files.push(File::Update { path: path.to_owned(), to: None, hunks: Vec::new() });
        } else if let Some(to) = line.strip_prefix("*** Move to: ") {
            match files.last_mut() {
                Some(File::Update { to: none @ None, hunks, .. }) if hunks.is_empty() => *none = Some(to.to_owned()),
                _ => return wrong(at, "“Move to” belongs right behind “Update File”"),
            }
        } else {
            match files.last_mut() {
                Some(File::Add { text, .. }) => {
                    let Some(added) = line.strip_prefix('+') else {
                        return wrong(at, "lines of a new file begin with “+”");
                    };
                    text.push_str(added);
                    text.push('\n');
                }
                Some(File::Update { hunks, .. }) => {
                    update_line(hunks, line).map_err(|what| NoPatch { line: at + 1, what })?;
                }
                Some(File::Delete { .. }) if line.trim().is_empty() => {}
                Some(File::Delete { .. }) => return wrong(at, "a deleted file has no lines"),
                None => return wrong(at, "a file must be named first"),
            }
        }
    }
    if files.is_empty() {
        return wrong(0, "it names no file");
    }
    Ok(files)
}

fn update_line(hunks: &mut Vec<Hunk>, line: &str) -> Result<(), &'static str> {
    if line == "*** End of File" {
        let last = hunks.last_mut().ok_or("nothing stands before “End of File”")?;
        last.at_end = true;
        return Ok(());
    }
    if let Some(context) = line.strip_prefix("@@") {
        let context = context.strip_prefix(' ').unwrap_or(context);
        hunks.push(Hunk { context: (!context.is_empty()).then(|| context.to_owned()), ..Hunk::default() });
        return Ok(());
    }
    if hunks.is_empty() {
        hunks.push(Hunk::default());
    }
    let Some(hunk) = hunks.last_mut() else { return Err("no change begins here") };
    let (kind, rest) = match line.chars().next() {
        None => (Kind::Same, ""),
        Some(' ') => (Kind::Same, &line[1..]),
        Some('-') => (Kind::Removed, &line[1..]),
        Some('+') => (Kind::Added, &line[1..]),
        Some(_) => return Err("lines of a change begin with “+”, “-” or a blank"),
    };
    hunk.lines.push((kind, rest.to_owned()));
    Ok(())
}

/// The file with the patch applied, where each change fits exactly one place looking downwards; nothing where it does
/// not, since the client then guesses.
pub(crate) fn apply(old: &str, hunks: &[Hunk]) -> Option<String> {
    let mut lines: Vec<&str> = old.split('\n').collect();
    if lines.last() == Some(&"") {
        lines.pop();
    }
    let mut result: Vec<&str> = Vec::new();
    let mut from = 0;
    for hunk in hunks {
        if let Some(context) = &hunk.context {
            let at = from + lines[from..].iter().position(|line| line == context)?;
            result.extend(&lines[from..=at]);
            from = at + 1;
        }
        // Several `@@` lines in a row only narrow down the place.
        if hunk.lines.is_empty() {
            continue;
        }
        let wanted = hunk.lines_of(Kind::Removed);
        let at = if hunk.at_end || wanted.is_empty() {
            lines.len().checked_sub(wanted.len())?
        } else {
            from + find(&lines[from..], &wanted)?
        };
        if at < from || lines.get(at..at + wanted.len())? != wanted.as_slice() {
            return None;
        }
        result.extend(&lines[from..at]);
        result.extend(hunk.lines_of(Kind::Added));
        from = at + wanted.len();
    }
    result.extend(&lines[from..]);
    Some(joined(&result))
}

fn find(lines: &[&str], wanted: &[&str]) -> Option<usize> {
    lines.windows(wanted.len()).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_kind_of_change_is_read() {
        let files = parse("*** Begin Patch\n*** Add File: a\n+x\n+\n*** Delete File: b\n*** Update File: c\n*** Move to: d\n@@ fn f\n a\n-b\n+B\n*** End of File\n*** End Patch\n").unwrap();
        assert_eq!(files[0], File::Add { path: "a".to_owned(), text: "x\n\n".to_owned() });
        assert_eq!(files[1], File::Delete { path: "b".to_owned() });
        let File::Update { path, to, hunks } = &files[2] else { panic!("{files:?}") };
        assert_eq!((path.as_str(), to.as_deref()), ("c", Some("d")));
        assert_eq!(hunks[0].context.as_deref(), Some("fn f"));
        assert_eq!(
            (hunks[0].old().as_str(), hunks[0].new_text().as_str(), hunks[0].at_end),
            ("a\nb\n", "a\nB\n", true)
        );
    }

    #[test]
    fn what_the_client_might_read_otherwise_is_no_patch() {
        for text in [
            "",
            "*** Begin Patch",
            "*** Begin Patch\n*** End Patch",
            "*** Begin Patch\n+x\n*** End Patch",
            "*** Begin Patch\n*** Add File: a\nx\n*** End Patch",
            "*** Begin Patch\n*** Delete File: a\n-x\n*** End Patch",
            "*** Begin Patch\n*** Add File: a\n*** Move to: b\n*** End Patch",
            "*** Begin Patch\n*** Update File: a\n%x\n*** End Patch",
        ] {
            assert!(parse(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_patch_fits_or_gives_nothing() {
        let hunks = |text: &str| match parse(&format!("*** Begin Patch\n*** Update File: f\n{text}\n*** End Patch"))
            .unwrap()
            .remove(0)
        {
            File::Update { hunks, .. } => hunks,
            other @ (File::Add { .. } | File::Delete { .. }) => panic!("{other:?}"),
        };
        assert_eq!(apply("a\nb\nc\n", &hunks("@@\n a\n-b\n+B")).unwrap(), "a\nB\nc\n");
        assert_eq!(apply("a\nb\na\nb\n", &hunks("@@ a\n@@ a\n-b\n+B")).unwrap(), "a\nb\na\nB\n");
        assert_eq!(apply("a\n", &hunks("+end")).unwrap(), "a\nend\n");
        assert_eq!(apply("a\nb\n", &hunks("@@\n-x\n+y")), None);
    }
}
