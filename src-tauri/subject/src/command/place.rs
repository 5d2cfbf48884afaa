//! Where a path in a command leads: the folders that may be in force, and what is joined to them.

use placet_domain::PathText;

/// The folders in which the next command may run: one, or several after a `cd` that may have failed.
#[derive(Clone, Debug)]
pub(crate) struct Folders {
    now: Vec<PathText>,
    /// Those that count again when the list of `&&` ends.
    after_list: Vec<PathText>,
    /// There was an `||` in this list, so that a `cd` before may not have been run.
    uncertain: bool,
}

/// More folders than this are not kept apart.
const MOST: usize = 8;

impl Folders {
    pub(crate) fn new(cwd: PathText) -> Self {
        Self::of(vec![cwd])
    }

    /// Any of several.
    pub(crate) fn of(now: Vec<PathText>) -> Self {
        Self { now, after_list: Vec::new(), uncertain: false }
    }

    pub(crate) fn now(&self) -> &[PathText] {
        &self.now
    }

    /// An operator was passed.
    pub(crate) fn pass(&mut self, operator: &str) {
        match operator {
            "&&" | "|" | "" => {}
            "||" => {
                self.uncertain = true;
                self.forget();
            }
            _ => {
                self.uncertain = false;
                self.forget();
            }
        }
    }

    fn forget(&mut self) {
        let before = std::mem::take(&mut self.after_list);
        for folder in before {
            if !self.now.contains(&folder) {
                self.now.push(folder);
            }
        }
    }

    /// A literal `cd`. False where there are too many possibilities.
    pub(crate) fn change(&mut self, target: &str) -> bool {
        let changed: Vec<PathText> = self.now.iter().map(|from| logical(from, target)).collect();
        let before = std::mem::replace(&mut self.now, changed);
        for folder in before {
            if !self.after_list.contains(&folder) {
                self.after_list.push(folder);
            }
        }
        self.now.dedup();
        if self.uncertain {
            self.forget();
        }
        self.now.len() + self.after_list.len() <= MOST
    }
}

/// `target` from `folder`, absolute; `..` is kept, since only the disk knows where it leads behind a link.
pub(crate) fn join(folder: &PathText, target: &str) -> PathText {
    let mut path = Vec::new();
    if !target.starts_with('/') {
        path.extend_from_slice(folder.bytes());
    }
    for part in target.split('/') {
        if !part.is_empty() && part != "." {
            while path.last() == Some(&b'/') {
                path.pop();
            }
            path.push(b'/');
            path.extend_from_slice(part.as_bytes());
        }
    }
    if path.is_empty() {
        path.push(b'/');
    }
    PathText::from_bytes(path)
}

/// Where `cd` goes: it takes `..` off the text of the path, as `cd -L` does.
fn logical(folder: &PathText, target: &str) -> PathText {
    let joined = join(folder, target);
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in joined.bytes().split(|b| *b == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut path = Vec::new();
    for part in parts {
        path.push(b'/');
        path.extend_from_slice(part);
    }
    if path.is_empty() {
        path.push(b'/');
    }
    PathText::from_bytes(path)
}
