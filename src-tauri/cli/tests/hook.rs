//! The hook as a process, against a gate that does what the test wants.
#![allow(clippy::unwrap_used)]

mod common;

use std::{fs, io::Write as _, os::unix::fs::PermissionsExt as _, process::Stdio, time::Duration};

use common::{APPROVAL, BASH, Gate, SESSION, digest, finish, start};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const TWO_SECONDS: Duration = Duration::from_secs(2);

fn signal(child: &std::process::Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

#[test]
fn an_allowed_call_is_allowed_in_the_clients_words() {
    let gate = Gate::that(|_, talk| {
        let check = talk.hear_check().unwrap();
        talk.decide(&check, "allow", "Allowed by the rule \"x\".");
    });
    let said = gate.run("claude-code", BASH, &[]);
    assert_eq!(said.decision(), ("allow".into(), "Allowed by the rule \"x\".".into()));
    assert_eq!(said.stderr, "");
    let start = gate.heard("session.start");
    assert_eq!(start["agent"], "claude-code");
    assert_eq!(start["client_session"], "s-1");
    assert_eq!(start["workspace"], fs::canonicalize("/tmp").unwrap().to_str().unwrap());
    let check = gate.heard("call.check");
    assert_eq!(check["session"], Value::Null, "it is sent before the session's id is known");
    assert_eq!(check["call_id"], "toolu_1");
    assert_eq!(check["tool"], "Bash");
    assert_eq!(check["cwd"], "/tmp");
    assert_eq!(check["can_edit"], true);
    let deadline = check["deadline_ms"].as_u64().unwrap();
    assert!((570_000..590_000).contains(&deadline), "{deadline}");
}

#[test]
fn everything_is_said_before_anything_is_answered() {
    let gate = Gate::that(|_, talk| {
        let [hello, start, check] = [talk.hear().unwrap(), talk.hear().unwrap(), talk.hear().unwrap()];
        talk.answer(&hello, &json!({ "protocol": 1, "server": "placet", "version": "0" }));
        talk.answer(&start, &json!({ "session": SESSION }));
        talk.decide(&check, "allow", "yes");
    });
    assert_eq!(gate.run("claude-code", BASH, &[]).decision().0, "allow");
}

#[test]
fn a_large_call_is_sent_to_a_gate_that_answers_only() {
    let large = json!({ "session_id": "s", "cwd": "/tmp", "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": { "file_path": "/tmp/a", "content": "x".repeat(3_000_000) }, "tool_use_id": "toolu_1" });
    let gate = Gate::that(|_, talk| {
        let check = talk.hear_check().unwrap();
        talk.decide(&check, "allow", "yes");
    });
    assert_eq!(gate.run("claude-code", &large.to_string(), &[]).decision().0, "allow");
    let mute = Gate::that(|_, talk| while talk.hear().is_some() {});
    let said = mute.run("claude-code", &large.to_string(), &[]);
    said.denial();
    assert!(!mute.has_heard("call.check"));
}

#[test]
fn an_answer_before_the_version_is_agreed_counts_for_nothing() {
    let gate = Gate::that(|_, talk| {
        let [hello, start, check] = [talk.hear().unwrap(), talk.hear().unwrap(), talk.hear().unwrap()];
        talk.decide(&check, "allow", "yes");
        talk.answer(&start, &json!({ "session": SESSION }));
        talk.answer(&hello, &json!({ "protocol": 2, "server": "placet", "version": "0" }));
    });
    assert!(gate.run("claude-code", BASH, &[]).denial().contains("does not speak protocol"));
}

#[test]
fn a_session_that_cannot_begin_is_a_denial_whatever_else_is_answered() {
    let gate = Gate::that(|_, talk| {
        let [hello, start, check] = [talk.hear().unwrap(), talk.hear().unwrap(), talk.hear().unwrap()];
        talk.answer(&hello, &json!({ "protocol": 1, "server": "placet", "version": "0" }));
        let error = json!({ "code": -32000, "message": "not_written: no.", "data": { "code": "not_written" } });
        talk.say(&json!({ "jsonrpc": "2.0", "id": start["id"], "error": error }));
        talk.decide(&check, "allow", "yes");
    });
    assert_eq!(gate.run("claude-code", BASH, &[]).denial(), "Placet denied this call: no.");
}

#[test]
fn a_gate_that_wants_the_session_by_its_id_gets_it() {
    let gate = Gate::that(|_, talk| {
        let check = talk.hear_check().unwrap();
        let error = json!({ "code": -32602, "message": "invalid_params: missing field `session`",
            "data": { "code": "invalid_params" } });
        talk.say(&json!({ "jsonrpc": "2.0", "id": check["id"], "error": error }));
        let again = talk.hear().unwrap();
        assert_eq!(again["params"]["session"], SESSION);
        talk.decide(&again, "allow", "yes");
    });
    assert_eq!(gate.run("claude-code", BASH, &[]).decision().0, "allow");
}

#[test]
fn the_input_reaches_the_gate_byte_for_byte() {
    let (teller, told) = std::sync::mpsc::channel();
    let teller = std::sync::Mutex::new(teller);
    let gate = Gate::that(move |_, talk| {
        let check = talk.hear_check().unwrap();
        teller.lock().unwrap().send(talk.last_line.clone()).unwrap();
        talk.decide(&check, "deny", "no");
    });
    gate.run("claude-code", BASH, &[]);
    let line: String = told.recv().unwrap();
    assert!(line.contains(r#""input":{ "command":"echo \u0068i" }"#), "{line}");
}

#[test]
fn a_denied_call_is_denied_with_the_reason() {
    let gate = Gate::that(|_, talk| {
        let check = talk.hear_check().unwrap();
        talk.decide(&check, "deny", "Denied by the person: not on \"main\".");
    });
    assert_eq!(gate.run("claude-code", BASH, &[]).denial(), "Denied by the person: not on \"main\".");
}

#[test]
fn an_edited_call_runs_as_edited() {
    let gate = Gate::that(|_, talk| {
        let check = talk.hear_check().unwrap();
        let input = json!({ "command": "echo less" });
        talk.answer(&check, &json!({ "decision": "allow", "reason": "Edited.", "input": input, "digest": digest() }));
    });
    let said = gate.run("claude-code", BASH, &[]);
    let answer: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["updatedInput"], json!({ "command": "echo less" }));
    assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "allow");
}

#[test]
fn without_a_gate_a_call_is_denied_within_two_seconds() {
    let said = Gate::absent().run("claude-code", BASH, &[]);
    assert!(said.denial().contains("gate cannot be asked"), "{said:?}");
    assert!(said.took < TWO_SECONDS, "{said:?}");
}

#[test]
fn a_gate_that_opens_a_moment_later_is_found() {
    let gate = Gate::absent();
    let child = start(&mut gate.hook("claude-code", &[]), BASH);
    std::thread::sleep(Duration::from_millis(300));
    gate.open(|_, talk| {
        let check = talk.hear_check().unwrap();
        talk.decide(&check, "allow", "yes");
    });
    assert_eq!(finish(child).decision().0, "allow");
}

#[test]
fn a_gate_that_says_nothing_is_no_gate() {
    let gate = Gate::that(|_, talk| while talk.hear().is_some() {});
    let said = gate.run("claude-code", BASH, &[]);
    said.denial();
    assert!(said.took < TWO_SECONDS, "{said:?}");
}

#[test]
fn a_socket_or_a_folder_that_others_may_open_is_not_believed() {
    let yes = |_: usize, talk: &mut common::Talk| {
        let check = talk.hear_check().unwrap();
        talk.decide(&check, "allow", "yes");
    };
    let gate = Gate::that(yes);
    fs::set_permissions(gate.data().join("run"), fs::Permissions::from_mode(0o755)).unwrap();
    let said = gate.run("claude-code", BASH, &[]);
    assert!(said.denial().contains("open to other users"), "{said:?}");
    assert!(!gate.has_heard("hello"));

    let gate = Gate::that(yes);
    fs::set_permissions(gate.data().join("run/gate.sock"), fs::Permissions::from_mode(0o666)).unwrap();
    assert!(gate.run("claude-code", BASH, &[]).denial().contains("not this user's gate"));

    let gate = Gate::that(yes);
    let elsewhere = gate.data().with_file_name("e");
    fs::rename(gate.data().join("run"), &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, gate.data().join("run")).unwrap();
    assert!(gate.run("claude-code", BASH, &[]).denial().contains("links are not followed"));
}

#[test]
fn a_reply_that_is_no_reply_is_a_denial() {
    for reply in [
        &b"yes\n"[..],
        b"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"decision\":\"allow\"}}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"decision\":\"maybe\",\"reason\":\"\",\"digest\":\"\"}}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":3}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32000,\"message\":\"paused: All is denied.\",\"data\":{\"code\":\"paused\"}}}\n",
        b"\xff\xfe\n",
    ] {
        let gate = Gate::that(move |_, talk| {
            talk.hear_check().unwrap();
            talk.raw(reply);
            while talk.hear().is_some() {}
        });
        let said = gate.run("claude-code", BASH, &[]);
        said.denial();
        assert!(said.took < TWO_SECONDS, "{said:?}");
    }
}

#[test]
fn an_answer_to_another_question_is_no_answer() {
    let gate = Gate::that(|_, talk| {
        let check = talk.hear_check().unwrap();
        let mut other = check.clone();
        other["id"] = json!(99);
        talk.decide(&other, "allow", "yes");
        other["id"] = json!("3");
        talk.decide(&other, "allow", "yes");
        talk.decide(&check, "deny", "the right one");
    });
    assert_eq!(gate.run("claude-code", BASH, &[]).denial(), "the right one");
}

#[test]
fn another_version_of_the_protocol_is_a_denial() {
    let gate = Gate::that(|_, talk| {
        let hello = talk.hear().unwrap();
        talk.answer(&hello, &json!({ "protocol": 2, "server": "placet", "version": "9" }));
        while talk.hear().is_some() {}
    });
    assert!(gate.run("claude-code", BASH, &[]).denial().contains("protocol 1"));
}

fn waits_for_ever(_: usize, talk: &mut common::Talk) {
    if let Some(check) = talk.hear_check() {
        talk.pend(&check);
        talk.oblige();
    }
}

#[test]
fn a_hook_that_its_client_ends_denies_and_withdraws() {
    for (which, word) in [(Signal::TERM, "TERM"), (Signal::INT, "INT")] {
        let gate = Gate::that(waits_for_ever);
        let child = start(&mut gate.hook("claude-code", &[]), BASH);
        gate.heard("call.check");
        std::thread::sleep(Duration::from_millis(100));
        signal(&child.0, which);
        assert!(finish(child).denial().contains("ended its hook"), "{word}");
        assert_eq!(gate.heard("call.withdraw"), json!({ "approval": APPROVAL }), "{word}");
    }
}

#[test]
fn a_hook_whose_client_was_killed_withdraws() {
    let gate = Gate::that(waits_for_ever);
    let mut hook = gate.hook("claude-code", &[]);
    let mut line = std::process::Command::new("sh");
    line.arg("-c").arg("\"$0\" \"$@\"; true").arg(hook.get_program()).args(hook.get_args());
    line.stdin(Stdio::piped()).stdout(Stdio::piped());
    hook = line;
    let (mut client, _) = start(&mut hook, BASH);
    gate.heard("call.check");
    std::thread::sleep(Duration::from_millis(100));
    client.kill().unwrap();
    assert_eq!(gate.heard("call.withdraw"), json!({ "approval": APPROVAL }));
    let said = client.wait_with_output().unwrap();
    assert_eq!(said.stdout, b"");
}

#[test]
fn a_hook_that_nobody_reads_any_more_withdraws() {
    let gate = Gate::that(waits_for_ever);
    let (mut child, _) = start(&mut gate.hook("claude-code", &[]), BASH);
    gate.heard("call.check");
    std::thread::sleep(Duration::from_millis(100));
    drop(child.stdout.take());
    assert_eq!(gate.heard("call.withdraw"), json!({ "approval": APPROVAL }));
    assert!(!child.wait().unwrap().success());
}

#[test]
fn a_connection_that_is_lost_is_made_again_with_the_approval() {
    let gate = Gate::that(|number, talk| {
        let Some(check) = talk.hear_check() else { return };
        match number {
            0 => talk.pend(&check),
            // Killed in the middle of it.
            1 => talk.raw(b"{\"jsonrpc\":\"2.0\",\"id\":3,\"resu"),
            2 => talk.say(&json!({ "jsonrpc": "2.0", "id": check["id"],
                "error": { "code": -32000, "message": "closing: later", "data": { "code": "closing" } } })),
            _ => talk.decide(&check, "allow", "Approved once."),
        }
    });
    let said = gate.run("claude-code", BASH, &[]);
    assert_eq!(said.decision(), ("allow".into(), "Approved once.".into()));
    assert_eq!(gate.heard("call.check")["approval"], Value::Null);
    for _ in 0..3 {
        assert_eq!(gate.heard("call.check")["approval"], APPROVAL);
    }
}

#[test]
fn a_gate_that_goes_away_for_a_while_is_waited_for() {
    let gate = Gate::that(|_, talk| {
        let check = talk.hear_check().unwrap();
        talk.pend(&check);
    });
    let child = start(&mut gate.hook("claude-code", &[]), BASH);
    gate.heard("call.check");
    fs::remove_dir_all(gate.data()).unwrap();
    // Longer than a gate that was never reached is tried.
    std::thread::sleep(Duration::from_millis(2_500));
    gate.open(|_, talk| {
        let check = talk.hear_check().unwrap();
        talk.decide(&check, "allow", "Approved once.");
    });
    assert_eq!(finish(child).decision().0, "allow");
    assert_eq!(gate.heard("call.check")["approval"], APPROVAL);
}

#[test]
fn at_the_deadline_the_call_is_denied_and_withdrawn() {
    let gate = Gate::that(waits_for_ever);
    let said = gate.run("claude-code", BASH, &["--client-timeout-ms", "11500"]);
    assert!(said.denial().contains("not a person's no"), "{said:?}");
    assert!(said.took >= Duration::from_millis(1_500) && said.took < Duration::from_millis(3_500), "{said:?}");
    assert_eq!(gate.heard("call.withdraw"), json!({ "approval": APPROVAL }));
}

#[test]
fn a_client_that_waits_too_short_a_time_is_told_so() {
    let gate = Gate::that(waits_for_ever);
    let said = gate.run("claude-code", BASH, &["--client-timeout-ms", "5000"]);
    assert!(said.denial().contains("too short a time"), "{said:?}");
    assert!(!gate.has_heard("hello"));
}

#[test]
fn a_wrong_option_is_a_denial_for_a_client_that_is_known() {
    let said = Gate::absent().run("claude-code", BASH, &["--client-timeout-ms", "soon"]);
    assert!(said.denial().contains("installed wrongly"), "{said:?}");
    let said = Gate::absent().run("clod-code", BASH, &[]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""));
    assert!(said.stderr.contains("claude-code"), "{said:?}");
}

#[test]
fn a_payload_that_cannot_be_read_is_denied() {
    for payload in [
        "",
        "not json",
        "[]",
        "{\"hook_event_name\":\"PreToolUse\"}",
        "{\"hook_event_name\":\"PreToolUse\",\"hook_event_name\":\"Stop\",\"tool_name\":\"Bash\",\"tool_input\":{}}",
        &BASH[..BASH.len() - 2],
    ] {
        let said = Gate::absent().run("claude-code", payload, &[]);
        assert!(said.denial().contains("could not be read"), "{payload}: {said:?}");
    }
    let said = Gate::absent().run("claude-code", &" ".repeat((16 << 20) + 1), &[]);
    assert!(said.denial().contains("larger than"), "{:?}", said.code);
}

#[test]
fn a_payload_that_never_ends_is_denied_at_the_deadline() {
    let gate = Gate::absent();
    let mut child = gate.hook("claude-code", &["--client-timeout-ms", "11000"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(BASH.as_bytes()).unwrap();
    let said = finish((child, placet_ipc::Moment::now()));
    assert!(said.denial().contains("did not say in time"), "{said:?}");
    drop(stdin);
}

#[test]
fn what_asks_nothing_is_told_to_the_gate_and_hears_nothing() {
    let gate = Gate::that(|_, talk| {
        let told = talk.hear_check();
        if let Some(told) = told {
            talk.answer(&told, &json!({}));
        }
    });
    let post = r#"{"session_id":"s-1","cwd":"/tmp","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"true"},"tool_response":{"stdout":"x"},"tool_use_id":"toolu_1","duration_ms":38}"#;
    let said = gate.run("claude-code", post, &[]);
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), ""));
    let report = gate.heard("call.report");
    assert_eq!((&report["outcome"], &report["duration_ms"]), (&json!("ok"), &json!(38)));
    assert_eq!(report["output"], json!({ "stdout": "x" }));

    let end = r#"{"session_id":"s-1","cwd":"/tmp","hook_event_name":"SessionEnd","reason":"other"}"#;
    assert_eq!(gate.run("claude-code", end, &[]).stdout, "");
    assert_eq!(gate.heard("session.stop")["summary"], "other");
}

#[test]
fn what_asks_nothing_never_blocks() {
    let gate = Gate::absent();
    for event in ["PostToolUse", "Stop", "SessionStart", "SessionEnd", "Notification", "PostSomethingNew"] {
        let payload = format!(
            r#"{{"session_id":"s","cwd":"/tmp","hook_event_name":"{event}","tool_name":"Bash","tool_input":{{}}}}"#
        );
        let said = gate.run("claude-code", &payload, &[]);
        assert_eq!((said.code, said.stdout.as_str()), (Some(0), ""), "{event}");
        assert!(said.took < TWO_SECONDS, "{event} {said:?}");
    }
}

#[test]
fn an_event_that_is_not_known_blocks_where_a_call_may_wait_and_only_there() {
    let gate = Gate::absent();
    for client in ["claude-code", "codex", "gemini-cli", "qwen-code", "copilot", "cursor", "openhands"] {
        let about = |event: &str, more: &str| {
            gate.run(client, &format!(r#"{{"session_id":"s","cwd":"/tmp","hook_event_name":"{event}"{more}}}"#), &[])
        };
        let said = about("SomethingNew", r#","tool_name":"Bash","tool_input":{}"#);
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{client}");
        assert!(said.stderr.contains("does not know the event \"SomethingNew\""), "{client} {said:?}");
        let said = about("SomethingNew", r#","prompt":"hello""#);
        assert_eq!((said.code, said.stdout.as_str(), said.stderr.as_str()), (Some(0), "", ""), "{client}");
    }
}

#[test]
fn a_client_that_cannot_wait_keeps_its_question_open() {
    let gate = Gate::that(|_, talk| {
        let check = talk.hear_check().unwrap();
        let reason = "Still waiting for the person: call again.";
        talk.answer(&check, &json!({ "decision": "deny", "reason": reason, "pending": true, "digest": digest() }));
    });
    let said = gate.run("qwen-code", BASH, &["--client-timeout-ms", "600000"]);
    assert_eq!(said.denial(), "Still waiting for the person: call again.");
    let check = gate.heard("call.check");
    assert_eq!(check["deadline_ms"], Value::Null);
    let hold = check["hold_ms"].as_u64().unwrap();
    assert!((40_000..50_000).contains(&hold), "{hold}");
}
