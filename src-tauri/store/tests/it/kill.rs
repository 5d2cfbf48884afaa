//! What was acknowledged is there, whenever the process is killed.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    ops::ControlFlow,
    process::{Command, Stdio},
    time::Duration,
};

use placet_domain::{Entry, Fact};
use placet_store::{Store, StoreError};

use crate::world::*;

const FILE: &str = "PLACET_STORE_TEST_FILE";

/// Not a test by itself: what the test below starts and kills.
#[test]
#[ignore = "runs in a process of its own"]
fn child() {
    let Ok(file) = std::env::var(FILE) else { return };
    let mut opened = Store::open(file.as_ref(), key()).unwrap();
    if opened.head.seq == 0 {
        let entry = Entry { seq: 1, at_ms: START, fact: started(1, "claude-code", "/w") };
        opened.store.append(&[entry], &[]).unwrap();
    }
    loop {
        let seq = opened.store.head().seq;
        let call = call("Read", vec![path(placet_domain::Action::Read, "/w/a.txt")], seq);
        let facts = [allowed(1, call, vec![]), Fact::AppStopped {}];
        let entries: Vec<Entry> = (seq + 1..).zip(facts).map(|(seq, fact)| Entry { seq, at_ms: START, fact }).collect();
        let head = opened.store.append(&entries, &[]).unwrap();
        opened.store.index_some(50).unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "written {}", head.seq).and_then(|()| out.flush()).unwrap();
    }
}

#[test]
fn every_acknowledged_fact_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("placet.db");
    let mut acknowledged = 0;
    for round in 0..6 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kill::child", "--ignored", "--nocapture"])
            .env(FILE, &file)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.by_ref().map(Result::unwrap).find_map(|line| seq_in(&line)).unwrap();
        assert!(first > acknowledged);
        acknowledged = first;
        std::thread::sleep(Duration::from_millis(20 + 17 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        acknowledged = lines.map_while(Result::ok).filter_map(|line| seq_in(&line)).last().unwrap_or(acknowledged);
        let opened = Store::open(&file, key()).unwrap();
        assert!(opened.head.seq >= acknowledged, "{} < {acknowledged}", opened.head.seq);
        assert_eq!(opened.broken, None);
        // A transaction is there whole or not at all.
        assert_eq!(opened.head.seq % 2, 1);
        let verified = opened.reader.verify(None, &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!((verified.intact, verified.rows), (true, opened.head.seq));
    }
    assert!(acknowledged > 10);
}

fn seq_in(line: &str) -> Option<u64> {
    line.rsplit_once("written ")?.1.parse().ok()
}

#[test]
fn a_second_writer_waits_and_is_refused_what_it_did_not_see() {
    let w = World::new();
    let mut first = w.opened;
    let mut second = Store::open(&w.folder.path().join("data/placet.db"), key()).unwrap();
    let entry = Entry { seq: 1, at_ms: START, fact: Fact::AppStopped {} };
    first.store.append(std::slice::from_ref(&entry), &[]).unwrap();
    assert!(matches!(second.store.append(&[entry], &[]), Err(StoreError::Conflict { .. })));
}
