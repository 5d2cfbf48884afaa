//! What a hook does for one call, counted in allocations rather than in seconds, so that a change which makes every
//! call of every agent dearer is seen on any machine. The bound is the count of today with a little room; who needs
//! more says why here.
#![allow(clippy::unwrap_used)]

use std::{
    cell::RefCell,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    os::unix::{fs::PermissionsExt as _, net::UnixListener},
    path::Path,
    time::Duration,
};

use placet_ipc::{Flags, Moment, Places, Waker, message::Decision};
use serde_json::json;

use super::dialect::{Client, Event, Place, Said};
use crate::ask::{Asker, Asking, Memory, Outcome, Rung, Watch};

const PAYLOAD: &[u8] = br#"{"session_id":"s-1","cwd":"/","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"echo hi"},"tool_use_id":"toolu_1"}"#;
/// Those of reading the payload, of the whole talk with the gate, and of the answer.
const MOST: u64 = 80;
/// A payload, its input, what is sent and what is received; the receiving buffer grows by steps.
const MOST_BYTES: u64 = 8_000;

struct Nobody;

impl Watch for Nobody {
    fn wakers(&self) -> Vec<Waker<'_>> {
        Vec::new()
    }

    fn rung(&self, _: usize) -> Rung {
        Rung::ClientGone
    }
}

/// A gate for one caller that allows what it is asked.
fn open_gate(dir: &Path) -> Places {
    let run = dir.join("d/run");
    fs::create_dir_all(&run).unwrap();
    for dir in [dir.join("d"), run.clone()] {
        fs::set_permissions(dir, fs::Permissions::from_mode(0o700)).unwrap();
    }
    let listener = UnixListener::bind(run.join("gate.sock")).unwrap();
    fs::set_permissions(run.join("gate.sock"), fs::Permissions::from_mode(0o600)).unwrap();
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut writer = stream.try_clone().unwrap();
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        let digest = format!("sha256:{}", "0".repeat(64));
        for (id, result) in [
            (1, json!({ "protocol": 1, "server": "placet", "version": "0" })),
            (2, json!({ "session": "01890000-0000-7000-8000-00000000000a" })),
            (3, json!({ "decision": "allow", "reason": "Allowed by the rule “x”.", "digest": digest })),
        ] {
            lines.next().unwrap();
            writeln!(writer, "{}", json!({ "jsonrpc": "2.0", "id": id, "result": result })).unwrap();
        }
    });
    let flags = Flags { data_dir: Some(dir.join("d")), config_dir: Some(dir.join("c")), socket: None };
    Places::new(&flags).unwrap()
}

#[test]
fn a_call_costs_a_hook_few_allocations() {
    // An answer may come in pieces when the machine is busy, each of them received anew: the least of some is the cost.
    let counted: Vec<(u64, u64)> = (0..8).map(|_| one_call()).collect();
    let least = counted.iter().map(|(calls, _)| *calls).min().unwrap();
    let least_bytes = counted.iter().map(|(_, bytes)| *bytes).min().unwrap();
    assert!(least <= MOST, "{counted:?} allocations and bytes");
    assert!(least_bytes <= MOST_BYTES, "{counted:?} allocations and bytes");
}

/// The allocations of one call and their bytes.
fn one_call() -> (u64, u64) {
    let dir = tempfile::tempdir().unwrap();
    let places = open_gate(dir.path());
    let said = RefCell::new(String::new());
    let counted = allocation_counter::measure(|| {
        let client = Client::ClaudeCode;
        let event = Client::event_in(PAYLOAD).unwrap().unwrap();
        let Event::Ask(caller, call) = client.read(&event, PAYLOAD).unwrap() else { panic!("it asks") };
        let asker = Asker { agent: client.name().to_owned(), gives_time_for: "its hook", comes_back: false };
        let deadline = Moment::in_(Duration::from_secs(60));
        let (caller, memory) = (&caller, Memory::default());
        let mut asking = Asking { places: &places, asker: &asker, caller, watch: &Nobody, deadline, memory };
        let Outcome::Answered(answer) = asking.ask(&call) else { panic!("it is answered") };
        assert_eq!(answer.decision, Decision::Allow);
        let place = Place { event, tool: call.tool.clone() };
        let allowed = Said::Allow { reason: &answer.reason, input: None };
        *said.borrow_mut() = client.render(&place, Some(&call), &allowed).stdout;
    });
    assert!(said.borrow().contains("\"allow\""), "{said:?}");
    (counted.count_total, counted.bytes_total)
}
