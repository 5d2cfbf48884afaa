//! Git in a folder that is itself shaped like a repository.
//!
//! Git takes a folder with `HEAD`, `objects` and `refs` for a bare repository and obeys the `config` in it, which can
//! name programs to run (`core.fsmonitor`, `core.pager`, hooks). A `.git/config` is protected and is in no clone; such a
//! folder can lie in any project as plain files. Whatever git is asked there, it may run what these files say.

use placet_domain::{Action, Flag, PathText};

use crate::command::{Part, Understood};
use crate::path::{self, walk};

/// Git's parts run what the folder says, where one of the folders in which they may run is shaped so.
pub(super) fn mistrust(understood: &mut Understood, cwd: &PathText) {
    let mut folders = vec![cwd.clone()];
    mistrust_parts(&mut understood.commands, &mut folders, &mut understood.flags);
}

fn mistrust_parts(parts: &mut [Part], folders: &mut Vec<PathText>, flags: &mut Vec<Flag>) {
    for part in parts {
        let words: Vec<&str> = part.argv.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["cd" | "pushd", options @ .., target] if options.iter().all(|word| word.starts_with('-')) => {
                // Whether the folder was changed may hang on what came before, so that both count.
                folders.extend(joined(folders, target));
            }
            [program, rest @ ..] if program.rsplit('/').next() == Some("git") => {
                let mut within = folders.clone();
                for pair in rest.windows(2).filter(|pair| pair[0] == "-C") {
                    within.extend(joined(&within, pair[1]));
                }
                if within.iter().any(leads_to_a_bare_repository) {
                    part.effect = Action::strongest([part.effect, Action::Execute]);
                    part.prefix_grantable = false;
                    part.not_known.get_or_insert_with(|| {
                        "The folder is shaped like a repository of its own; git obeys what its files say.".to_owned()
                    });
                    if !flags.contains(&Flag::RunsProjectCode) {
                        flags.push(Flag::RunsProjectCode);
                    }
                }
            }
            _ => {}
        }
        mistrust_parts(&mut part.inner, folders, flags);
    }
}

fn joined(folders: &[PathText], target: &str) -> Vec<PathText> {
    let join = |folder: &PathText| [folder.bytes(), b"/", target.as_bytes()].concat();
    if target.starts_with('/') {
        return vec![path::normalize(target.as_bytes())];
    }
    folders.iter().map(|folder| path::normalize(&join(folder))).collect()
}

/// As git looks for its repository: in the folder itself and in those above it, a `.git` first.
fn leads_to_a_bare_repository(folder: &PathText) -> bool {
    let mut folder = folder.bytes();
    loop {
        let has = |name: &str| {
            walk::walk(&[folder, b"/", name.as_bytes()].concat(), walk::Leaf::Follow).is_ok_and(|at| at.entry.is_some())
        };
        if has(".git") {
            return false;
        }
        if has("HEAD") && has("objects") && has("refs") {
            return true;
        }
        match folder.iter().rposition(|byte| *byte == b'/') {
            Some(slash) if folder.len() > 1 => folder = &folder[..slash],
            Some(_) | None => return false,
        }
    }
}
