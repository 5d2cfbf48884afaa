//! Codex's patch text, taken apart: enough to do what the demo's patches say.

/// One change that a patch makes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Change {
    Write { path: String, content: String },
    Delete { path: String },
    Edit { path: String, old: String, new: String },
}

/// The changes of a patch in order; none where it is no patch.
pub(super) fn changes(patch: &str) -> Option<Vec<Change>> {
    let body = patch.trim().strip_prefix("*** Begin Patch\n")?.strip_suffix("*** End Patch")?;
    let mut changes = Vec::new();
    let mut hunks_of = None;
    for line in body.lines() {
        if let Some(path) = line.strip_prefix("*** Add File: ") {
            changes.push(Change::Write { path: path.to_owned(), content: String::new() });
        } else if let Some(path) = line.strip_prefix("*** Delete File: ") {
            changes.push(Change::Delete { path: path.to_owned() });
        } else if let Some(path) = line.strip_prefix("*** Update File: ") {
            hunks_of = Some(path.to_owned());
        } else if line.starts_with("@@") {
            changes.push(Change::Edit { path: hunks_of.clone()?, old: String::new(), new: String::new() });
        } else {
            let (mark, rest) = line.split_at_checked(1).unwrap_or((" ", ""));
            match (changes.last_mut()?, mark) {
                (Change::Write { content, .. }, "+") => push_line(content, rest),
                (Change::Edit { old, .. }, "-") => push_line(old, rest),
                (Change::Edit { new, .. }, "+") => push_line(new, rest),
                (Change::Edit { old, new, .. }, " ") => {
                    push_line(old, rest);
                    push_line(new, rest);
                }
                (Change::Write { .. } | Change::Delete { .. } | Change::Edit { .. }, _) => return None,
            }
        }
    }
    Some(changes)
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_patch_is_taken_apart() {
        let patch = "*** Begin Patch\n*** Add File: a\n+one\n*** Update File: b\n@@ f\n x\n-y\n+z\n*** Delete File: c\n*** End Patch\n";
        assert_eq!(
            changes(patch).unwrap(),
            [
                Change::Write { path: "a".into(), content: "one\n".into() },
                Change::Edit { path: "b".into(), old: "x\ny\n".into(), new: "x\nz\n".into() },
                Change::Delete { path: "c".into() },
            ]
        );
        assert_eq!(changes("rm -rf /"), None);
        assert_eq!(changes("*** Begin Patch\n+stray\n*** End Patch"), None);
    }
}
