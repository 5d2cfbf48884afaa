//! The file tools: `read_file`, `list_files`, `search`, `edit_file`, `write_file`, `delete_file`.

use std::{
    fmt::Write as _,
    fs::File,
    io::Read as _,
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
};

use regex::bytes::{Regex, RegexBuilder};
use rustix::fs::{Dir, FileType, OFlags};
use serde::Deserialize;

use super::{
    error::{ToolErrorCode, Trouble},
    workspace::{Target, Workspace, open_beneath},
};

/// No file larger than this is read or edited: 4 MiB.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// Files larger than this are left out of a search: 1 MiB.
const MAX_SEARCHED_BYTES: u64 = 1 << 20;
/// As much text as one result may hold: 256 KiB.
pub(crate) const MAX_RESULT_BYTES: usize = 256 << 10;
const MAX_DEPTH: usize = 32;
const MAX_FOUND: usize = 200;
const MAX_LISTED: usize = 2_000;
const LEFT_OUT: [&str; 3] = [".git", "node_modules", "target"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadFile {
    pub(crate) path: String,
    #[serde(default)]
    offset: Option<usize>,
    #[serde(default)]
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListFiles {
    pub(crate) path: String,
    #[serde(default)]
    recursive: bool,
    #[serde(default)]
    max_entries: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    pattern: String,
    pub(crate) path: String,
    #[serde(default)]
    max_results: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditFile {
    pub(crate) path: String,
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteFile {
    pub(crate) path: String,
    content: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteFile {
    pub(crate) path: String,
}

impl ReadFile {
    pub(crate) fn run(&self, workspace: &Workspace, target: &Target) -> Result<String, Trouble> {
        let text = text_of(&workspace.file(target)?)?;
        if self.offset.is_none() && self.limit.is_none() {
            return Ok(capped(text));
        }
        let skipped = self.offset.unwrap_or(1).saturating_sub(1);
        let lines = text.split_inclusive('\n').skip(skipped).take(self.limit.unwrap_or(usize::MAX));
        Ok(capped(lines.collect()))
    }
}

impl ListFiles {
    pub(crate) fn run(&self, workspace: &Workspace, target: &Target) -> Result<String, Trouble> {
        let most = self.max_entries.unwrap_or(MAX_LISTED).min(MAX_LISTED);
        let mut listed = Vec::new();
        let mut more = 0_usize;
        let depth = if self.recursive { MAX_DEPTH } else { 1 };
        walk(&workspace.listed(target)?, Path::new(""), depth, &mut |path, kind, _| {
            if listed.len() < most {
                let slash = if kind == FileType::Directory { "/" } else { "" };
                listed.push(format!("{}{slash}\n", path.display()));
            } else {
                more += 1;
            }
            Ok(true)
        })?;
        let mut text = listed.concat();
        if more > 0 {
            let _ = writeln!(text, "… and {more} more");
        }
        Ok(capped(text))
    }
}

impl Search {
    pub(crate) fn run(&self, workspace: &Workspace, target: &Target) -> Result<String, Trouble> {
        let pattern = RegexBuilder::new(&self.pattern)
            .size_limit(1 << 20)
            .build()
            .map_err(|error| ToolErrorCode::BadArguments.because(format!("The pattern cannot be used: {error}")))?;
        let most = self.max_results.unwrap_or(MAX_FOUND).min(MAX_FOUND);
        let mut found = Vec::new();
        match workspace.listed(target) {
            Err(trouble) if trouble.code == ToolErrorCode::WrongKind => {
                let name = PathBuf::from(target.inner.file_name().unwrap_or_default());
                search_file(&workspace.file(target)?, &name, &pattern, most, &mut found)?;
            }
            Err(trouble) => return Err(trouble),
            Ok(folder) => {
                let mut left_out = 0_usize;
                walk(&folder, Path::new(""), MAX_DEPTH, &mut |path, kind, folder| {
                    if kind != FileType::RegularFile {
                        return Ok(true);
                    }
                    if looks_secret(path) {
                        left_out += 1;
                        return Ok(true);
                    }
                    let name = Path::new(path.file_name().unwrap_or_default());
                    if let Ok(file) = open_beneath(folder, name, OFlags::RDONLY | OFlags::NONBLOCK) {
                        search_file(&file.into(), path, &pattern, most, &mut found)?;
                    }
                    Ok(found.len() < most)
                })?;
                if left_out > 0 {
                    found.push(format!("({left_out} files that look like secrets were left out)\n"));
                }
            }
        }
        Ok(if found.is_empty() { "No line matches.\n".to_owned() } else { capped(found.concat()) })
    }
}

impl EditFile {
    pub(crate) fn run(&self, workspace: &Workspace, target: &Target) -> Result<String, Trouble> {
        if self.old_string.is_empty() {
            return Err(ToolErrorCode::BadArguments.because("old_string is empty; use write_file to make a file."));
        }
        let place = workspace.place(&target.inner, false)?;
        let before = place.existing(target)?.ok_or_else(|| Trouble::from(rustix::io::Errno::NOENT))?;
        let text = text_of(&before)?;
        target.must_hold(text.as_bytes())?;
        let times = text.matches(&self.old_string).count();
        match times {
            0 => return Err(ToolErrorCode::NoMatch.because("old_string is not in the file. Read it again.")),
            1 => {}
            _ if self.replace_all => {}
            _ => {
                return Err(ToolErrorCode::ManyMatches.because(format!(
                    "old_string is in the file {times} times. Give more of its surroundings, or set replace_all."
                )));
            }
        }
        place.replace(Some(&before), text.replace(&self.old_string, &self.new_string).as_bytes())?;
        Ok(format!("Replaced {times} {} in {}.\n", if times == 1 { "place" } else { "places" }, self.path))
    }
}

impl WriteFile {
    pub(crate) fn run(&self, workspace: &Workspace, target: &Target) -> Result<String, Trouble> {
        let place = workspace.place(&target.inner, true)?;
        let before = place.existing(target)?;
        if let Some(before) = &before {
            target.must_hold_still(before)?;
        }
        place.replace(before.as_ref(), self.content.as_bytes())?;
        Ok(format!("Wrote {} bytes to {}.\n", self.content.len(), self.path))
    }
}

impl DeleteFile {
    pub(crate) fn run(&self, workspace: &Workspace, target: &Target) -> Result<String, Trouble> {
        let place = workspace.place(&target.inner, false)?;
        let before = place.existing(target)?.ok_or_else(|| Trouble::from(rustix::io::Errno::NOENT))?;
        target.must_hold_still(&before)?;
        place.remove(&before)?;
        Ok(format!("Deleted {}.\n", self.path))
    }
}

/// Names that hold credentials by custom. A search leaves them out; to read one, it must be asked for by name.
pub(crate) fn looks_secret(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_bytes().to_ascii_lowercase();
    let name = String::from_utf8_lossy(&name).into_owned();
    let ending = Path::new(&name).extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_owned();
    name.starts_with(".env")
        || name.contains("secret")
        || name.contains("credential")
        || name.starts_with("id_rsa")
        || name.starts_with("id_ed25519")
        || matches!(name.as_str(), ".netrc" | ".npmrc" | ".pypirc" | ".git-credentials")
        || matches!(ending.as_str(), "pem" | "key" | "p12" | "pfx" | "kdbx")
}

/// The last place at or before `at` where a text can be cut.
pub(crate) fn cut_before(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Cuts a result at the cap, saying so.
pub(crate) fn capped(mut text: String) -> String {
    if text.len() <= MAX_RESULT_BYTES {
        return text;
    }
    let rest = text.len() - MAX_RESULT_BYTES;
    text.truncate(cut_before(&text, MAX_RESULT_BYTES));
    let _ = writeln!(text, "\n… {rest} bytes more");
    text
}

fn text_of(file: &File) -> Result<String, Trouble> {
    let bytes = bytes_of(file, MAX_FILE_BYTES)?;
    String::from_utf8(bytes).map_err(|_| ToolErrorCode::NotText.because("The file is no UTF-8 text."))
}

fn bytes_of(file: &File, most: u64) -> Result<Vec<u8>, Trouble> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(ToolErrorCode::TooLarge.because(format!("The file is larger than {most} bytes.")));
    }
    Ok(bytes)
}

fn search_file(file: &File, path: &Path, pattern: &Regex, most: usize, found: &mut Vec<String>) -> Result<(), Trouble> {
    let bytes = match bytes_of(file, MAX_SEARCHED_BYTES) {
        Ok(bytes) if !bytes.contains(&0) => bytes,
        Ok(_) => return Ok(()),
        Err(trouble) if trouble.code == ToolErrorCode::TooLarge => return Ok(()),
        Err(trouble) => return Err(trouble),
    };
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if found.len() >= most {
            return Ok(());
        }
        if pattern.is_match(line) {
            let line: String = String::from_utf8_lossy(line).chars().take(400).collect();
            found.push(format!("{}:{}: {line}\n", path.display(), number + 1));
        }
    }
    Ok(())
}

type Visit<'a> = dyn FnMut(&Path, FileType, &OwnedFd) -> Result<bool, Trouble> + 'a;

/// Visits what a folder holds in order of name, depth first, through handles only; links are seen, never followed.
/// The visitor says whether to go on.
fn walk(folder: &OwnedFd, prefix: &Path, depth: usize, visit: &mut Visit<'_>) -> Result<bool, Trouble> {
    let mut entries = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            entries.push((PathBuf::from(std::ffi::OsStr::from_bytes(name)), entry.file_type()));
        }
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    for (name, kind) in entries {
        let path = prefix.join(&name);
        if !visit(&path, kind, folder)? {
            return Ok(false);
        }
        let left_out = LEFT_OUT.iter().any(|out| name.as_os_str() == *out);
        if kind == FileType::Directory
            && depth > 1
            && !left_out
            && let Ok(inner) = open_beneath(folder, &name, OFlags::RDONLY | OFlags::DIRECTORY)
            && !walk(&inner, &path, depth - 1, visit)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}
