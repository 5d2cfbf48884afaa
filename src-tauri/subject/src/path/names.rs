//! Names that could be taken for others: mixed alphabets, lookalikes of files that are there, unusual accents.

use std::os::fd::OwnedFd;

use placet_domain::{Flag, PathText};
use rustix::fs::{Dir, Mode, OFlags};
use unicode_normalization::is_nfc;

use crate::character::{is_mixed, label, lookalikes, text_flags};

/// Entries of a folder that are compared; in larger ones lookalikes are not looked for.
const MAX_SIBLINGS: usize = 10_000;

/// Adds what is odd about a path's names. `folder` is the resolved parent, where it is there.
pub(crate) fn name_flags(
    asked: &PathText,
    resolved: &PathText,
    folder: Option<&OwnedFd>,
    flags: &mut Vec<Flag>,
    notes: &mut Vec<String>,
) {
    for path in [asked, resolved] {
        let Some(text) = path.as_str() else {
            flags.push(Flag::NotUtf8);
            continue;
        };
        if text.is_ascii() && !text.bytes().any(|b| b.is_ascii_control()) {
            continue;
        }
        text_flags(text, flags);
        // In a name a line break or a tab is as odd as any other control character.
        if text.contains(['\n', '\t']) {
            flags.push(Flag::Control);
        }
        if text.split('/').any(is_mixed) {
            flags.push(Flag::MixedScript);
        }
        if !is_nfc(text) {
            flags.push(Flag::NotNfc);
        }
    }
    for (_, c) in asked.as_str().map(lookalikes).unwrap_or_default().into_iter().take(3) {
        notes.push(format!("U+{:04X} is a {}; it can be taken for a Latin one.", u32::from(c), label(c)));
    }
    let name = resolved.bytes().rsplit(|b| *b == b'/').next().unwrap_or_default();
    let Some(name) = std::str::from_utf8(name).ok().filter(|name| !name.is_ascii()) else { return };
    if folder.is_some_and(|folder| has_lookalike(folder, name)) {
        flags.push(Flag::Confusable);
        notes.push("Another file in this folder has a name that looks the same.".to_owned());
    }
}

fn has_lookalike(folder: &OwnedFd, name: &str) -> bool {
    let skeleton: String = unicode_security::skeleton(name).collect();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(open) = rustix::fs::openat(folder, ".", flags, Mode::empty()) else { return false };
    let Ok(entries) = Dir::new(open) else { return false };
    entries.take(MAX_SIBLINGS).filter_map(Result::ok).any(|entry| {
        std::str::from_utf8(entry.file_name().to_bytes())
            .is_ok_and(|other| other != name && unicode_security::skeleton(other).eq(skeleton.chars()))
    })
}
