//! A text in a file exchanged for another, as clients' edit tools do it.

/// One exchange.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    pub(crate) old: String,
    pub(crate) new: String,
    /// In every place, not just the one.
    pub(crate) all: bool,
}

/// What exchanges make of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Applied {
    pub(crate) text: String,
    /// Whether a client can only come to this text.
    pub(crate) is_certain: bool,
    pub(crate) notes: Vec<String>,
}

/// Applies exchanges one after the other.
pub(crate) fn apply(text: &str, edits: &[Edit]) -> Applied {
    let mut applied = Applied { text: text.to_owned(), is_certain: true, notes: Vec::new() };
    for (index, edit) in edits.iter().enumerate() {
        let which = if edits.len() == 1 {
            "The text to replace".to_owned()
        } else {
            format!("The text to replace of edit {}", index + 1)
        };
        if edit.old.is_empty() {
            if applied.text.is_empty() {
                applied.text.clone_from(&edit.new);
            } else {
                applied.is_certain = false;
                applied.notes.push(format!(
                    "{which} is empty, but the file is not; the client will refuse or do something of its own."
                ));
            }
            continue;
        }
        match applied.text.matches(&edit.old).count() {
            0 => {
                applied.is_certain = false;
                applied
                    .notes
                    .push(format!("{which} is not in the file; the client may refuse, or find something like it."));
            }
            1 => applied.text = applied.text.replacen(&edit.old, &edit.new, 1),
            places if edit.all => {
                applied.notes.push(format!("{which} is in the file {places} times; every one is replaced."));
                applied.text = applied.text.replace(&edit.old, &edit.new);
            }
            places => {
                applied.is_certain = false;
                applied
                    .notes
                    .push(format!("{which} is in the file {places} times and the call does not say which is meant."));
            }
        }
    }
    applied
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(old: &str, new: &str, all: bool) -> Edit {
        Edit { old: old.to_owned(), new: new.to_owned(), all }
    }

    #[test]
    fn only_what_is_certain_is_called_certain() {
        let applied = apply("a b a", &[edit("b", "c", false)]);
        assert_eq!((applied.text.as_str(), applied.is_certain), ("a c a", true));
        assert!(!apply("a b a", &[edit("a", "c", false)]).is_certain);
        assert_eq!(apply("a b a", &[edit("a", "c", true)]).text, "c b c");
        assert!(!apply("a", &[edit("x", "c", false)]).is_certain);
        assert_eq!(apply("", &[edit("", "new", false)]).text, "new");
        assert!(!apply("a", &[edit("", "new", false)]).is_certain);
    }

    #[test]
    fn later_edits_see_what_earlier_ones_made() {
        assert_eq!(apply("a", &[edit("a", "b", false), edit("b", "c", false)]).text, "c");
    }
}
