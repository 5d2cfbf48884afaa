//! Names that take "once" only, by name even where nothing is there yet (CVE-2026-25725): agents' settings and hooks,
//! shell start-up files, what starts by itself, keys and credentials; and Placet's own files.
//!
//! Names are compared without regard to case and accent form: on a file system that folds them they are the same.

use std::{
    ffi::OsStr,
    os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _},
    path::Path,
};

use placet_domain::{Action, PathText};
use unicode_normalization::UnicodeNormalization as _;

use super::walk::{Leaf, walk};

/// Names in any folder that decide what may run: taken out of every folder grant for writing. `/**` means
/// everything beneath; the name itself is meant too.
const SETTINGS_ANYWHERE: &[&str] = &[
    ".git/config",
    ".git/config.worktree",
    ".git/hooks/**",
    ".git/info/attributes",
    ".git/modules/**",
    ".git/worktrees/**",
    ".gitmodules",
    ".githooks/**",
    ".husky/**",
    ".pre-commit-config.yaml",
    ".claude/**",
    ".claude.json",
    ".codex/**",
    ".cursor/**",
    ".cursorrules",
    ".gemini/**",
    ".qwen/**",
    ".copilot/**",
    ".opencode/**",
    "opencode.json",
    "opencode.jsonc",
    ".openhands/**",
    ".github/hooks/**",
    ".github/workflows/**",
    ".github/actions/**",
    ".github/copilot/**",
    ".placet.toml",
    ".mcp.json",
    "mcp.json",
    ".vscode/**",
    ".idea/**",
    ".zed/**",
    ".devcontainer/**",
    ".envrc",
    ".direnv/**",
    ".cargo/config",
    ".cargo/config.toml",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pnpmfile.cjs",
    "sitecustomize.py",
    "usercustomize.py",
];

/// The same, in the home folder.
const SETTINGS_AT_HOME: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".inputrc",
    ".pam_environment",
    ".xprofile",
    ".xinitrc",
    ".xsession",
    ".xsessionrc",
    ".vimrc",
    ".emacs",
    ".gdbinit",
    ".gitconfig",
    ".gitattributes",
    ".tmux.conf",
    ".bashrc.d/**",
    ".zsh/**",
    ".oh-my-zsh/**",
    ".config/git/**",
    ".config/fish/**",
    ".config/zsh/**",
    ".config/nvim/**",
    ".config/autostart/**",
    ".config/environment.d/**",
    ".config/systemd/**",
    ".config/opencode/**",
    ".config/code/**",
    ".config/cursor/**",
    ".config/pip/**",
    ".config/direnv/**",
    ".pip/**",
    ".config/plasma-workspace/**",
    ".local/share/systemd/**",
    ".local/share/applications/**",
    ".local/share/dbus-1/**",
    ".local/bin/**",
    "bin/**",
    "library/launchagents/**",
    "library/launchdaemons/**",
];

/// System folders that decide what runs, for whoever may write there.
const SETTINGS_OF_THE_SYSTEM: &[&str] = &[
    "etc/**",
    "boot/**",
    "usr/**",
    "bin/**",
    "sbin/**",
    "lib/**",
    "lib64/**",
    "var/spool/cron/**",
    "library/launchagents/**",
    "library/launchdaemons/**",
];

/// Keys and credentials in the home folder: protected whatever is done to them.
const KEYS_AT_HOME: &[&str] = &[
    ".ssh/**",
    ".gnupg/**",
    ".aws/**",
    ".azure/**",
    ".kube/**",
    ".docker/**",
    ".netrc",
    "_netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".vault-token",
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".local/share/fish/fish_history",
    ".terraform.d/**",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".config/gh/**",
    ".config/hub",
    ".config/gcloud/**",
    ".config/sops/**",
    ".config/rclone/**",
    ".password-store/**",
    ".local/share/keyrings/**",
    ".local/share/kwalletd/**",
    ".mozilla/**",
    ".config/google-chrome/**",
    ".config/chromium/**",
    "library/keychains/**",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".qwen/oauth_creds.json",
    ".local/share/opencode/auth.json",
];

/// The same, of the system.
const KEYS_OF_THE_SYSTEM: &[&str] =
    &["etc/shadow", "etc/gshadow", "etc/sudoers", "etc/sudoers.d/**", "etc/ssh/**", "root/.ssh/**"];

/// Whether a path takes "once" only for an action.
pub(super) fn is_protected(path: &PathText, action: Action, home: &PathText) -> bool {
    let names = folded(path);
    let home = folded(home);
    let at_home = if home.is_empty() { None } else { names.strip_prefix(home.as_slice()) };
    let is_key = at_home.is_some_and(|rest| any_matches(KEYS_AT_HOME, rest)) || any_matches(KEYS_OF_THE_SYSTEM, &names);
    if is_key {
        return true;
    }
    let changes = matches!(action, Action::Write | Action::Delete | Action::Execute | Action::Send | Action::Other);
    if !changes {
        return false;
    }
    let anywhere = (0..names.len()).any(|from| any_matches(SETTINGS_ANYWHERE, &names[from..]));
    // The folder itself: replacing or removing it replaces what is in it.
    let holds_settings = names.last().is_some_and(|name| name == ".git" || name == ".github")
        || at_home.is_some_and(<[String]>::is_empty);
    anywhere
        || holds_settings
        || at_home.is_some_and(|rest| any_matches(SETTINGS_AT_HOME, rest))
        || at_home.is_none() && any_matches(SETTINGS_OF_THE_SYSTEM, &names)
        || names.is_empty()
}

/// Whether a name looks like credentials.
pub(super) fn is_secret(path: &PathText) -> bool {
    let names = folded(path);
    let Some(name) = names.last() else { return false };
    let stem = name.split('.').next().unwrap_or_default();
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_example = matches!(extension, "example" | "sample" | "template" | "dist");
    let is_public = extension == "pub";
    let by_name = name == ".env"
        || name.starts_with(".env.") && !is_example
        || matches!(
            name.as_str(),
            ".netrc" | "_netrc" | ".npmrc" | ".pypirc" | ".pgpass" | ".git-credentials" | ".htpasswd" | "shadow"
        )
        || matches!(stem, "id_rsa" | "id_dsa" | "id_ecdsa" | "id_ed25519" | "credentials" | "secrets" | "passwords")
            && !is_public
        || name.contains("secret")
        || name.contains("credential");
    let by_extension = matches!(
        extension,
        "pem" | "key" | "p12" | "pfx" | "jks" | "keystore" | "kdbx" | "ppk" | "asc" | "gpg" | "age" | "env"
    );
    let by_folder = names
        .iter()
        .any(|folder| matches!(folder.as_str(), ".ssh" | ".gnupg" | ".aws" | ".kube" | "secrets" | ".secrets"));
    (by_name || by_extension || by_folder) && !is_public
}

/// Whether a path is one of Placet's own, beneath one, or (for what changes or removes) holds one.
pub(super) fn is_own(path: &PathText, action: Action, own: &[PathText]) -> bool {
    let names = folded(path);
    let takes_all_beneath = matches!(action, Action::Delete);
    own.iter().any(|own| {
        let own = folded(own);
        !own.is_empty() && (names.starts_with(&own) || takes_all_beneath && own.starts_with(&names))
    })
}

/// Whether a file is one of Placet's own, or one in a folder of Placet's own, under another name (a hard link).
pub(super) fn is_own_inode(inode: (u64, u64), own: &[PathText]) -> bool {
    own.iter().filter(|path| path.bytes().starts_with(b"/")).any(|path| {
        let Some(found) = walk(path.bytes(), Leaf::Follow).ok() else { return false };
        let Some(entry) = found.entry else { return false };
        entry.identity() == inode
            || entry.is_folder() && holds(Path::new(OsStr::from_bytes(&found.resolved)), inode, OWN_DEPTH)
    })
}

/// How deep Placet's own folders are: `DATA/run/gate.sock`, with one to spare.
const OWN_DEPTH: usize = 3;

/// Whether a folder has a file with this identity. What cannot be looked at counts as if it were there.
fn holds(folder: &Path, inode: (u64, u64), depth: usize) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return true };
    entries.into_iter().any(|entry| {
        let Ok(found) = entry.and_then(|entry| Ok((entry.path(), entry.metadata()?))) else { return true };
        let (path, facts) = found;
        (facts.dev(), facts.ino()) == inode || facts.is_dir() && depth > 1 && holds(&path, inode, depth - 1)
    })
}

fn any_matches(patterns: &[&str], names: &[String]) -> bool {
    patterns.iter().any(|pattern| {
        let (pattern, beneath) = pattern.strip_suffix("/**").map_or((*pattern, false), |folder| (folder, true));
        let mut wanted = pattern.split('/');
        let mut given = names.iter();
        loop {
            match (wanted.next(), given.next()) {
                (None, None) => return true,
                (None, Some(_)) => return beneath,
                (Some(_), None) => return false,
                (Some(wanted), Some(given)) if wanted != given => return false,
                (Some(_), Some(_)) => {}
            }
        }
    })
}

/// The names of a path without regard to case and accent form. Bytes that are no text match nothing.
pub(crate) fn folded(path: &PathText) -> Vec<String> {
    path.bytes()
        .split(|b| *b == b'/')
        .filter(|name| !name.is_empty())
        .map(|name| {
            std::str::from_utf8(name).map_or_else(
                |_| "\0".to_owned(),
                // Plain letters have one form, and most names have no others.
                |text| {
                    if text.is_ascii() {
                        text.to_ascii_lowercase()
                    } else {
                        text.nfc().collect::<String>().to_lowercase()
                    }
                },
            )
        })
        .collect()
}
