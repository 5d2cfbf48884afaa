//! Paths against the kernel: what is called inside is what `openat2` opens beneath, and normalizing is idempotent.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, missing_docs)]

use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;

use placet_domain::subject::PathSubject;
use placet_domain::{Flag, Judged, PathText, Subject};
use placet_subject::{Known, Programs, RawCall, judge};
use proptest::prelude::*;
use rustix::fs::{Mode, OFlags, ResolveFlags};
use serde_json::json;

fn call(tool: &str, path: &str, workspace: &str) -> Judged {
    let ws = PathText::from(workspace);
    let input = json!({"file_path": path, "content": "x"}).to_string();
    let call = RawCall::in_folder("claude-code", tool, input.as_bytes(), &ws);
    judge(&call, &Known::new("/home/dev".into(), Vec::new(), Programs::default()))
}

fn path_of(judged: &Judged) -> &PathSubject {
    match &judged.facts.subjects[0] {
        Subject::Path(path) => path,
        other => panic!("{other:?}"),
    }
}

/// A workspace with every kind of way out of it.
fn maze() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let ws = root.join("ws");
    for path in ["ws/a/b", "ws/c", "out/deep/er"] {
        std::fs::create_dir_all(root.join(path)).unwrap();
    }
    for path in ["ws/f", "ws/a/f", "ws/a/b/f", "out/f", "out/deep/f"] {
        std::fs::write(root.join(path), path).unwrap();
    }
    for (target, link) in [
        ("../out", "ws/up"),
        ("../../out/deep", "ws/a/far"),
        ("a/b", "ws/near"),
        ("../f", "ws/a/file"),
        ("../../ws/c", "ws/a/round"),
        ("self", "ws/self"),
        ("missing/x", "ws/dangling"),
    ] {
        symlink(target, root.join(link)).unwrap();
    }
    symlink(root.join("out"), ws.join("abs")).unwrap();
    symlink(&ws, ws.join("home")).unwrap();
    let ws = ws.to_str().unwrap().to_owned();
    (folder, ws)
}

fn crooked_path() -> impl Strategy<Value = String> {
    let names = [
        "a", "b", "c", "f", "far", "near", "up", "abs", "home", "file", "round", "self", "dangling", "new", "..", "..",
        ".", "", "ws", "out", "deep",
    ];
    prop::collection::vec(prop::sample::select(names.to_vec()), 1..8)
        .prop_map(|names| names.join("/"))
        .prop_filter("relative", |p| !p.is_empty() && !p.starts_with('/'))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Where the kernel opens a path freely, we resolved it to that very file; where it may not leave the workspace,
    /// inside is what it still opens.
    #[test]
    fn inside_is_what_the_kernel_opens_beneath(path in crooked_path()) {
        let (_folder, ws) = maze();
        let judged = call("Read", &path, &ws);
        let subject = path_of(&judged);
        let root = rustix::fs::open(&ws, OFlags::PATH | OFlags::DIRECTORY, Mode::empty()).unwrap();
        let open = |resolve| rustix::fs::openat2(&root, &path, OFlags::PATH, Mode::empty(), resolve);
        match open(ResolveFlags::NO_MAGICLINKS) {
            Ok(handle) => {
                let real = rustix::fs::fstat(&handle).unwrap();
                prop_assert_eq!(&judged.facts.refused, &None, "{}", path);
                prop_assert_eq!(subject.inode, Some((real.st_dev, real.st_ino)), "{}", path);
                let resolved = Path::new(std::ffi::OsStr::from_bytes(subject.resolved.bytes()));
                let meta = std::fs::symlink_metadata(resolved).unwrap();
                prop_assert_eq!(meta.ino(), real.st_ino);
                prop_assert_eq!(resolved.canonicalize().unwrap(), resolved);
                if subject.inside_workspace {
                    prop_assert!(resolved.starts_with(&ws));
                }
                // Beneath by the kernel's own account means inside by ours, in the resolved form.
                if open(ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS).is_ok() {
                    prop_assert!(resolved.starts_with(&ws), "{}", path);
                } else {
                    let leaves = !resolved.starts_with(&ws) || path.split('/').any(|n| matches!(n, ".." | "home" | "abs" | "round"));
                    prop_assert!(leaves, "{}", path);
                }
            }
            Err(_) => prop_assert!(!subject.exists || judged.facts.refused.is_some(), "{}", path),
        }
    }

    #[test]
    fn a_resolved_path_resolves_to_itself(path in crooked_path()) {
        let (_folder, ws) = maze();
        let first = call("Write", &path, &ws);
        if first.facts.refused.is_none() {
            let once = path_of(&first);
            let again = call("Write", once.resolved.as_str().unwrap(), &ws);
            let twice = path_of(&again);
            prop_assert_eq!(&twice.resolved, &once.resolved);
            prop_assert_eq!(&twice.normalized, &once.resolved);
            prop_assert!(!twice.via_symlink);
            prop_assert_eq!(twice.exists, once.exists);
        }
    }

    #[test]
    fn any_text_is_judged(path in any::<String>(), tool in "[A-Za-z_]{0,12}") {
        let judged = call(&tool, &path, "/nowhere");
        prop_assert_eq!(judged.facts.subjects.len(), 1);
        let judged = call("Write", &path, "/nowhere");
        prop_assert_eq!(placet_subject::unshow(&judged.card.shown).unwrap(), path.as_bytes());
    }
}

#[test]
fn a_dangling_link_is_a_new_file_where_it_leads() {
    let (_folder, ws) = maze();
    let judged = call("Write", "dangling", &ws);
    let path = path_of(&judged);
    assert_eq!(path.resolved.lossy(), format!("{ws}/missing/x"));
    assert!(!path.exists && path.via_symlink && path.inside_workspace);
}

#[test]
fn links_in_circles_are_refused() {
    let (_folder, ws) = maze();
    assert!(call("Read", "self", &ws).facts.refused.is_some());
}

#[test]
fn names_that_are_no_text_are_kept_as_bytes() {
    let (_folder, ws) = maze();
    let name = std::ffi::OsStr::from_bytes(b"na\xffme");
    std::fs::write(Path::new(&ws).join(name), "x").unwrap();
    symlink(name, Path::new(&ws).join("odd")).unwrap();
    let judged = call("Read", "odd", &ws);
    let path = path_of(&judged);
    assert!(path.resolved.bytes().ends_with(b"/na\xffme") && judged.facts.flags.contains(&Flag::NotUtf8));
    assert_eq!(placet_subject::unshow(&judged.card.subjects[0].main).unwrap(), b"na\xffme");
}

#[test]
fn a_sibling_with_the_same_beginning_is_outside() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir_all(root.join("ws-evil")).unwrap();
    std::fs::create_dir_all(root.join("ws")).unwrap();
    let ws = root.join("ws").to_str().unwrap().to_owned();
    assert!(!path_of(&call("Write", &format!("{ws}-evil/x"), &ws)).inside_workspace);
    assert!(path_of(&call("Write", &format!("{ws}/x"), &ws)).inside_workspace);
}

#[test]
fn a_workspace_named_by_a_link_is_the_folder_it_leads_to() {
    let (folder, ws) = maze();
    let link = folder.path().canonicalize().unwrap().join("link");
    symlink(&ws, &link).unwrap();
    let link = link.to_str().unwrap();
    assert!(path_of(&call("Read", "f", link)).inside_workspace);
    assert!(path_of(&call("Read", &format!("{ws}/f"), link)).inside_workspace);
    assert!(!path_of(&call("Read", "up/f", link)).inside_workspace);
}

#[test]
fn hard_links_pipes_and_sockets() {
    let (_folder, ws) = maze();
    std::fs::hard_link(format!("{ws}/f"), format!("{ws}/g")).unwrap();
    let judged = call("Write", "g", &ws);
    assert!(
        path_of(&judged).hard_linked
            && judged.facts.grantable.is_empty()
            && judged.facts.flags.contains(&Flag::HardLinked)
    );
    // Reading it changes nothing under its other name.
    assert!(!call("Read", "g", &ws).facts.grantable.is_empty());
    rustix::fs::mknodat(rustix::fs::CWD, format!("{ws}/pipe"), rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(format!("{ws}/sock")).unwrap();
    for name in ["pipe", "sock", "pipe/x"] {
        let refused = call("Read", name, &ws).facts.refused.unwrap();
        assert_eq!(serde_json::to_value(refused.code).unwrap(), "not_a_file", "{name}");
    }
}
