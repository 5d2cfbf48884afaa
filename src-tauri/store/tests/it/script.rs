//! The export verifies without Placet, by `docs/verify-history.py` alone.

use std::{fs, ops::ControlFlow, path::Path, process::Command};

use placet_domain::{Action, At, Fact};
use placet_store::{Format, HistoryFilter};

use crate::world::*;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/verify-history.py");

/// Its exit code and what it said.
fn verify(folder: &Path, export: &[u8], anchors: Option<&str>) -> (i32, String) {
    let (file, key, anchored) = (folder.join("x.jsonl"), folder.join("x.key"), folder.join("x.anchors"));
    fs::write(&file, export).unwrap();
    fs::write(&key, [7; 32]).unwrap();
    let mut command = Command::new("python3");
    command.arg(SCRIPT).args([&file, &key]);
    if let Some(anchors) = anchors {
        fs::write(&anchored, anchors).unwrap();
        command.arg("--anchors").arg(&anchored);
    }
    let output = command.output().expect("python3, which the tests need");
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn an_export_verifies_without_placet_and_every_change_shows() {
    let mut w = World::new();
    w.write(vec![started(1, "claude-code", "/w")]).unwrap();
    for n in 0..8 {
        let odd = path(Action::Read, &format!("/w/\u{202e}\"fact\":é{n}.rs"));
        w.write(vec![allowed(1, call("Read", vec![odd], n), vec![])]).unwrap();
    }
    let folder = w.folder.path().to_owned();
    let export = |w: &World| {
        let mut out = Vec::new();
        let go_on = &mut |_| ControlFlow::Continue(());
        w.opened.reader.export(Format::Facts, &HistoryFilter::default(), &mut out, go_on).unwrap();
        String::from_utf8(out).unwrap()
    };
    let whole = export(&w);
    let (code, said) = verify(&folder, whole.as_bytes(), None);
    let intact = format!("intact: 9 facts, the last one is 9 with {}\n", w.head.hash.hex());
    assert_eq!((code, said), (0, intact.clone()));

    let lines: Vec<&str> = whole.lines().collect();
    let joined = |lines: &[&str]| format!("{}\n", lines.join("\n"));
    let changed = whole.replace("é3.rs", "é4.rs");
    let (code, said) = verify(&folder, changed.as_bytes(), None);
    assert_eq!((code, said.as_str()), (1, "BROKEN: line 5: it was changed\n"));
    let (code, said) = verify(&folder, joined(&[&lines[..3], &lines[4..]].concat()).as_bytes(), None);
    assert_eq!((code, said.as_str()), (1, "BROKEN: line 4: fact 4 is missing before it\n"));
    assert_eq!(verify(&folder, b"{\"prev\":\"no\"}\n", None).0, 1);

    // A tail that was cut off shows by an anchor alone.
    let anchor = format!("{{\"at_ms\":1,\"seq\":9,\"hash\":\"{}\"}}\n", w.head.hash);
    let cut = joined(&lines[..7]);
    assert_eq!(verify(&folder, cut.as_bytes(), None).0, 0);
    let (code, said) = verify(&folder, cut.as_bytes(), Some(&anchor));
    assert!(code == 1 && said.contains("ends at fact 7, but fact 9 was anchored"), "{said}");
    assert_eq!(verify(&folder, whole.as_bytes(), Some(&anchor)), (0, intact));

    // What is left after pruning verifies behind its stub.
    w.write(vec![Fact::AppStopped {}]).unwrap();
    w.opened.store.prune(At(i64::MAX), 4, w.now).unwrap().unwrap();
    let (code, said) = verify(&folder, export(&w).as_bytes(), None);
    assert!(code == 0 && said.starts_with("intact: 6 facts, the last one is 10"), "{said}");
}
