//! What needs no gate, and what is said where there is none.
#![allow(clippy::unwrap_used)]

use std::{
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    sync::LazyLock,
};

use serde_json::{Value, json};

fn run(dir: &Path, arguments: &[&str], stdin: &str) -> Output {
    run_as(Path::new(env!("CARGO_BIN_EXE_placet")), dir, arguments, stdin)
}

/// The program where a person keeps programs: the repository may itself lie in a temporary folder, from which nothing
/// is installed.
fn installed() -> &'static Path {
    static INSTALLED: LazyLock<PathBuf> = LazyLock::new(|| {
        let all = placet_ipc::home().unwrap().join(".cache/placet-tests");
        // What earlier runs left.
        for left in fs::read_dir(&all).into_iter().flatten().flatten() {
            if !Path::new("/proc").join(left.file_name()).exists() {
                fs::remove_dir_all(left.path()).unwrap();
            }
        }
        let folder = all.join(std::process::id().to_string());
        fs::create_dir_all(&folder).unwrap();
        let copy = folder.join("placet");
        // Another process copies: a file that is open for writing here could not be started by a test beside this one.
        assert!(Command::new("cp").args([Path::new(env!("CARGO_BIN_EXE_placet")), &copy]).status().unwrap().success());
        copy
    });
    &INSTALLED
}

fn run_as(program: &Path, dir: &Path, arguments: &[&str], stdin: &str) -> Output {
    let mut command = Command::new(program);
    command.args(arguments).arg("--data-dir").arg(dir.join("d")).arg("--config-dir").arg(dir.join("c"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
}

#[test]
fn without_a_gate_the_views_say_so_with_their_own_exit_code() {
    let dir = tempfile::tempdir().unwrap();
    for command in [&["status"][..], &["pending"], &["grants"], &["history"], &["deny", "x"], &["pause"]] {
        let output = run(dir.path(), &[command, &["--json"]].concat(), "");
        assert_eq!(output.status.code(), Some(3), "{command:?}");
        assert_eq!(json_of(&output)["error"]["code"], "unreachable");
    }
    assert!(!dir.path().join("d").exists(), "looking makes nothing");
}

#[test]
fn no_command_says_yes() {
    let dir = tempfile::tempdir().unwrap();
    for command in ["approve", "allow", "grant", "resume"] {
        assert_eq!(run(dir.path(), &[command, "x"], "").status.code(), Some(2), "{command}");
    }
}

#[test]
fn a_data_directory_too_deep_for_a_socket_is_told() {
    let deep = Path::new("/tmp").join("x".repeat(120));
    let output = run(&deep, &["status"], "");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("socket path is too long"), "{output:?}");
}

/// The recorded payloads of a real client, explained.
#[test]
fn recorded_calls_are_explained() {
    let dir = tempfile::tempdir().unwrap();
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/clients/claude-code");
    for (file, action, kind) in [
        ("PreToolUse-Write", "write", "path"),
        ("PreToolUse-Edit", "write", "path"),
        ("PreToolUse-Bash", "write", "command"),
        ("PreToolUse-WebFetch", "fetch", "url"),
    ] {
        let payload: Value = serde_json::from_slice(&fs::read(clients.join(format!("{file}.json"))).unwrap()).unwrap();
        let call = json!({ "tool": payload["tool_name"], "input": payload["tool_input"], "cwd": payload["cwd"],
            "agent": "claude-code", "workspace": payload["cwd"] });
        let output = run(dir.path(), &["explain"], &call.to_string());
        let explained = json_of(&output);
        assert_eq!(explained["tool"], payload["tool_name"]);
        assert_eq!(explained["action"], action, "{file} {explained}");
        assert_eq!(explained["subjects"][0]["kind"], kind, "{file}");
        assert!(explained["digest"].as_str().unwrap().starts_with("sha256:"));
        let again = json_of(&run(dir.path(), &["explain"], &call.to_string()));
        assert_eq!(explained, again, "equal calls have equal digests");
    }
}

#[test]
fn a_refused_call_and_no_call_have_their_own_exit_codes() {
    let dir = tempfile::tempdir().unwrap();
    let call = json!({ "tool": "WebFetch", "input": { "url": "https://a:b@example.org/", "prompt": "x" }, "cwd": "/" });
    let output = run(dir.path(), &["explain"], &call.to_string());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(json_of(&output)["refused"]["code"], "url_userinfo_forbidden");
    for stdin in ["", "{}", "[]", "{\"tool\": \"Bash\", \"cwd\": \"/\"}"] {
        let output = run(dir.path(), &["explain"], stdin);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{stdin}");
    }
}

#[test]
fn a_policy_is_checked_and_tried() {
    let dir = tempfile::tempdir().unwrap();
    let policy = dir.path().join("policy.toml");
    let path = policy.to_str().unwrap();
    let rule = "[[rule]]\nname = \"no a\"\ndecide = \"deny\"\naction = [\"write\"]\npath = [\"**/a.txt\"]\n";
    fs::write(&policy, rule).unwrap();
    let output = run(dir.path(), &["policy", "check", path, "--json"], "");
    assert_eq!((output.status.code(), &json_of(&output)["ok"]), (Some(0), &json!(true)), "{output:?}");
    fs::write(&policy, rule.replace("deny", "dent")).unwrap();
    let output = run(dir.path(), &["policy", "check", path, "--json"], "");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(json_of(&output)["error"]["line"], 3);
    assert_eq!(run(dir.path(), &["policy", "check"], "").status.code(), Some(2));

    fs::create_dir(dir.path().join("c")).unwrap();
    fs::write(dir.path().join("c/policy.toml"), rule).unwrap();
    let call = |file: &str| {
        json!({ "tool": "Write", "input": { "file_path": file, "content": "" }, "cwd": "/tmp", "agent": "claude-code" })
            .to_string()
    };
    let denied = run(dir.path(), &["policy", "try"], &call("/tmp/a.txt"));
    assert_eq!(denied.status.code(), Some(1));
    assert_eq!(json_of(&denied)["rules"], json!(["no a"]));
    let asked = json_of(&run(dir.path(), &["policy", "try"], &call("/tmp/b.txt")));
    assert_eq!((&asked["decision"], &asked["by"]), (&json!("ask"), &json!("default")));
}

fn install(dir: &Path, arguments: &[&str]) -> Output {
    let project = dir.join("w");
    run_as(installed(), dir, &[arguments, &["--project", project.to_str().unwrap(), "--json"]].concat(), "")
}

#[test]
fn a_client_gets_its_hook_once_and_loses_it_again() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("w/.claude")).unwrap();
    let settings = dir.path().join("w/.claude/settings.json");
    let text = "{\n  \"model\":  \"opus\",\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n";
    fs::write(&settings, text).unwrap();

    let shown = install(dir.path(), &["install", "claude-code", "--dry-run"]);
    assert_eq!((&json_of(&shown)["changed"], &json_of(&shown)["written"]), (&json!(true), &json!(false)), "{shown:?}");
    assert_eq!(fs::read_to_string(&settings).unwrap(), text);

    let done = json_of(&install(dir.path(), &["install", "claude-code", "--client-timeout-ms", "900000"]));
    assert!(done["diff"].as_str().unwrap().contains('+'), "{done}");
    assert_eq!(fs::read_to_string(done["backup"].as_str().unwrap()).unwrap(), text);
    let with = fs::read_to_string(&settings).unwrap();
    assert!(with.contains("\"model\":  \"opus\"") && with.contains("\"timeout\": 900"), "{with}");
    let parsed: Value = serde_json::from_str(&with).unwrap();
    let command = parsed["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap();
    assert!(command.starts_with('/') && command.contains("--client-timeout-ms 900000"), "{command}");

    let again = json_of(&install(dir.path(), &["install", "claude-code", "--client-timeout-ms", "900000"]));
    assert_eq!((&again["changed"], &again["backup"]), (&json!(false), &Value::Null));

    // What stands there is run as the client runs it: with no gate it denies, too.
    let doctor = install(dir.path(), &["doctor"]);
    let said = json_of(&doctor);
    assert_eq!(doctor.status.code(), Some(0), "{said}");
    let claude = said["clients"].as_array().unwrap().iter().find(|c| c["client"] == "claude-code").unwrap();
    assert_eq!(claude["state"], "blocked", "{said}");
    let codex = said["clients"].as_array().unwrap().iter().find(|c| c["client"] == "codex").unwrap();
    assert_eq!(codex["state"], "not_installed");

    fs::write(&settings, with.replace(installed().to_str().unwrap(), "/nowhere/placet")).unwrap();
    let doctor = install(dir.path(), &["doctor"]);
    assert_eq!(doctor.status.code(), Some(1), "{doctor:?}");

    install(dir.path(), &["uninstall", "claude-code"]);
    assert_eq!(
        fs::read_to_string(&settings).unwrap().replace("\n    \n", "\n"),
        "{\n  \"model\":  \"opus\",\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n"
    );
}

/// The settings of Claude Code in a project, as a test wants them.
fn settings_of(dir: &Path) -> PathBuf {
    fs::create_dir_all(dir.join("w/.claude")).unwrap();
    dir.join("w/.claude/settings.json")
}

/// What doctor says of one client, and its exit code.
fn doctored(dir: &Path, client: &str) -> (Value, Option<i32>) {
    let output = install(dir, &["doctor"]);
    let said = json_of(&output);
    let all = said["clients"].as_array().unwrap();
    (all.iter().find(|one| one["client"] == client).unwrap().clone(), output.status.code())
}

/// Settings come with projects that people clone: whatever stands there, doctor runs this program or nothing.
#[test]
fn doctor_runs_nothing_that_stands_in_settings() {
    #[derive(serde::Deserialize)]
    struct Case {
        why: String,
        command: String,
        state: String,
    }
    let dir = tempfile::tempdir().unwrap();
    let settings = settings_of(dir.path());
    let mark = dir.path().join("mark");
    let other = dir.path().join("elsewhere/placet");
    fs::create_dir_all(other.parent().unwrap()).unwrap();
    // A stranger that answers as the gate would.
    let script = format!("#!/bin/sh\ntouch '{}'\necho '{{}}'\n", mark.display());
    fs::write(&other, script).unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
    let cases: Vec<Case> = include_str!("data/doctored.jsonl")
        .lines()
        .map(|line| {
            let line =
                line.replace("@OURS@", installed().to_str().unwrap()).replace("@OTHER@", other.to_str().unwrap());
            let line = line.replace("@DIR@", dir.path().to_str().unwrap()).replace("@MARK@", mark.to_str().unwrap());
            serde_json::from_str(&line).unwrap()
        })
        .collect();
    assert!(cases.len() >= 12);
    for Case { why, command, state } in cases {
        let hook = json!([{ "matcher": "*", "hooks": [{ "type": "command", "command": command, "timeout": 1820 }] }]);
        fs::write(&settings, json!({ "hooks": { "PreToolUse": hook } }).to_string()).unwrap();
        let (said, code) = doctored(dir.path(), "claude-code");
        assert_eq!(said["state"], state, "{why}: {said}");
        assert_eq!(code, Some(i32::from(state != "not_installed")), "{why}");
        assert!(!mark.exists(), "{why}: something was run");
    }
}

#[test]
fn doctor_names_what_is_not_as_it_was_installed() {
    let dir = tempfile::tempdir().unwrap();
    let settings = settings_of(dir.path());
    let differs = |change: &dyn Fn(&mut Value)| {
        fs::write(&settings, "{}").unwrap();
        install(dir.path(), &["install", "claude-code"]);
        let mut now: Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
        change(&mut now);
        fs::write(&settings, now.to_string()).unwrap();
        let (said, code) = doctored(dir.path(), "claude-code");
        assert_eq!(code, Some(i32::from(said["state"] != "blocked")), "{said}");
        said
    };
    assert_eq!(differs(&|_| {})["state"], "blocked");
    let said = differs(&|now| now["hooks"]["PreToolUse"][0]["matcher"] = json!("Bash"));
    assert_eq!(
        (&said["state"], &said["differs"][0]),
        (&json!("partial"), &json!("PreToolUse: matcher is Bash and should be *"))
    );
    let said = differs(&|now| now["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] = json!(5));
    assert_eq!(said["differs"][0], "PreToolUse: timeout is 5 and should be 1820");
    let said = differs(&|now| drop(now["hooks"].as_object_mut().unwrap().remove("SessionEnd")));
    assert_eq!((&said["state"], &said["differs"][0]), (&json!("partial"), &json!("SessionEnd is missing")));
    let said = differs(&|now| now["disableAllHooks"] = json!(true));
    assert_eq!(said["state"], "off");
    let said = differs(&|now| drop(now.as_object_mut().unwrap().remove("hooks")));
    assert_eq!((&said["state"], &said["vanished"]), (&json!("not_installed"), &json!(true)));
}

/// Whatever there was, down to the last blank, comes back if nobody touched it since.
#[test]
fn uninstalling_gives_back_the_file_that_was_there() {
    let dir = tempfile::tempdir().unwrap();
    let settings = settings_of(dir.path());
    for text in
        ["{}", "{\"hooks\":{}}", "{\"hooks\": {\"PreToolUse\": []}, \"a\":[1,2 ]}", "// mine\n{ \"z\":1.0, }\n\n"]
    {
        fs::write(&settings, text).unwrap();
        assert_eq!(json_of(&install(dir.path(), &["install", "claude-code"]))["written"], true);
        assert_ne!(fs::read_to_string(&settings).unwrap(), text);
        // With another time-out over the first.
        install(dir.path(), &["install", "claude-code", "--client-timeout-ms", "900000"]);
        install(dir.path(), &["uninstall", "claude-code"]);
        assert_eq!(fs::read_to_string(&settings).unwrap(), text);
    }
    for (client, file) in [("claude-code", ".claude/settings.json"), ("copilot", ".github/hooks/placet.json")] {
        let file = dir.path().join("w").join(file);
        let _ = fs::remove_file(&file);
        install(dir.path(), &["install", client]);
        assert!(file.exists());
        install(dir.path(), &["uninstall", client]);
        assert!(!file.exists(), "{client}");
    }
}

#[test]
fn a_change_that_was_shown_is_made_to_the_settings_that_it_was_shown_for_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("w/.claude")).unwrap();
    let settings = dir.path().join("w/.claude/settings.json");
    let shown = json_of(&install(dir.path(), &["install", "claude-code", "--dry-run"]));
    let digest = shown["digest"].as_str().unwrap();
    fs::write(&settings, "{\"model\": \"opus\"}\n").unwrap();
    let late = install(dir.path(), &["install", "claude-code", "--expect", digest]);
    assert_eq!((late.status.code(), &json_of(&late)["error"]["code"]), (Some(1), &json!("changed")));
    assert_eq!(fs::read_to_string(&settings).unwrap(), "{\"model\": \"opus\"}\n");

    let shown = json_of(&install(dir.path(), &["install", "claude-code", "--dry-run"]));
    let done = install(dir.path(), &["install", "claude-code", "--expect", shown["digest"].as_str().unwrap()]);
    assert_eq!(json_of(&done)["written"], true, "{done:?}");
    let out = install(dir.path(), &["uninstall", "claude-code", "--expect", shown["digest"].as_str().unwrap()]);
    assert_eq!(json_of(&out)["error"]["code"], "changed", "{out:?}");
    let shown = json_of(&install(dir.path(), &["uninstall", "claude-code", "--dry-run"]));
    let out = install(dir.path(), &["uninstall", "claude-code", "--expect", shown["digest"].as_str().unwrap()]);
    assert_eq!(json_of(&out)["written"], true, "{out:?}");
}

#[test]
fn settings_that_cannot_be_understood_are_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("w/.claude")).unwrap();
    let settings = dir.path().join("w/.claude/settings.json");
    fs::write(&settings, "{\"hooks\": [").unwrap();
    let output = install(dir.path(), &["install", "claude-code"]);
    assert_eq!((output.status.code(), &json_of(&output)["error"]["code"]), (Some(1), &json!("not_understood")));
    assert_eq!(fs::read_to_string(&settings).unwrap(), "{\"hooks\": [");
    assert_eq!(fs::read_dir(settings.parent().unwrap()).unwrap().count(), 1);
}

#[test]
fn a_program_that_an_agent_can_exchange_is_not_installed() {
    let dir = tempfile::tempdir().unwrap();
    let copy = dir.path().join("placet");
    fs::copy(env!("CARGO_BIN_EXE_placet"), &copy).unwrap();
    let output = Command::new(&copy)
        .args(["install", "claude-code", "--json", "--project"])
        .arg(dir.path().join("w"))
        .output()
        .unwrap();
    assert_eq!((output.status.code(), &json_of(&output)["error"]["code"]), (Some(1), &json!("unfit_program")));
    assert!(!dir.path().join("w").exists());
}

#[test]
fn the_demo_in_the_terminal_ends_with_its_tally() {
    let dir = tempfile::tempdir().unwrap();
    let output = run(dir.path(), &["run", "--provider", "demo", "--json"], "");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    let last: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    let expected = json!({ "calls": 6, "allowed": 3, "denied": 3, "asked": 2, "blocked_protected": 1, "clamped": 1,
        "masked": 1, "audited": 6 });
    assert_eq!(last, json!({ "tally": expected }));
    let text = run(dir.path(), &["run", "--provider", "demo"], "");
    assert!(String::from_utf8_lossy(&text.stdout).contains("A person would have been asked"), "{text:?}");
    assert!(!dir.path().join("d").exists(), "the person's own gate is left alone");
}

/// The plugin run by node as opencode runs it, where there is a node: an answer that is no yes throws.
#[test]
fn the_plugin_of_opencode_throws_what_the_hook_denies() {
    let dir = tempfile::tempdir().unwrap();
    let done = json_of(&install(dir.path(), &["install", "opencode"]));
    let plugin = dir.path().join("w/.opencode/plugin/placet.js");
    assert_eq!(done["written"], true, "{done}");
    assert_eq!(json_of(&install(dir.path(), &["install", "opencode"]))["changed"], false);
    let said = json_of(&install(dir.path(), &["doctor"]));
    let opencode = said["clients"].as_array().unwrap().iter().find(|c| c["client"] == "opencode").unwrap();
    assert_eq!(opencode["state"], "blocked", "{said}");

    let script = r#"
        const { Placet } = await import(process.argv[1])
        const hooks = await Placet({ directory: "/" })
        const output = { args: { command: "echo hi" } }
        try {
            await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, output)
            console.log("ran")
        } catch (error) {
            console.log("threw " + error.message)
        }
    "#;
    let module = dir.path().join("w/.opencode/plugin/placet.mjs");
    fs::copy(&plugin, &module).unwrap();
    let node = Command::new("node").args(["--input-type=module", "-e", script]).arg(&module).output();
    if let Ok(node) = node {
        let said = String::from_utf8_lossy(&node.stdout);
        assert!(said.starts_with("threw Placet denied this call"), "{node:?}");
    }

    fs::write(&plugin, "export const Mine = 1").unwrap();
    assert_eq!(install(dir.path(), &["install", "opencode"]).status.code(), Some(1));
    assert_eq!(install(dir.path(), &["uninstall", "opencode"]).status.code(), Some(1));
    fs::copy(&module, &plugin).unwrap();
    assert_eq!(install(dir.path(), &["uninstall", "opencode"]).status.code(), Some(0));
    assert!(!plugin.exists());
}
