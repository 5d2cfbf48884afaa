//! What a person sees of calls that change files, and what the digests make of the disk.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, missing_docs)]

use std::fmt::Write as _;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use placet_domain::card::{Change, Content, Reach, Undo};
use placet_domain::{Action, Judged, PathText, Span, Subject};
use placet_subject::{Known, Programs, RawCall, changed, judge};
use serde_json::{Value, json};

struct Room {
    _folder: tempfile::TempDir,
    ws: PathBuf,
}

impl Room {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let ws = folder.path().canonicalize().unwrap().join("ws");
        std::fs::create_dir(&ws).unwrap();
        Self { _folder: folder, ws }
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.ws.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn judge_as(&self, agent: &str, tool: &str, input: &Value) -> Judged {
        let ws = PathText::from(self.ws.to_str().unwrap());
        let input = input.to_string();
        judge(&RawCall::in_folder(agent, tool, input.as_bytes(), &ws), &known())
    }

    fn judge(&self, tool: &str, input: &Value) -> Judged {
        self.judge_as("claude-code", tool, input)
    }
}

fn known() -> Known {
    Known::new("/home/dev".into(), Vec::new(), Programs::default())
}

/// Spans in one line: escapes in ⟦⟧, marked parts in «».
fn line(spans: &[Span]) -> String {
    let mut text = String::new();
    for span in spans {
        let (part, mark) = match span {
            Span::Text { text, mark } => (text.clone(), *mark),
            Span::Escape { escape, count, mark, .. } => {
                (format!("⟦{escape}{}⟧", count.map_or(String::new(), |n| format!("×{n}"))), *mark)
            }
        };
        text.extend(if mark { vec!["«", &part, "»"] } else { vec![part.as_str()] });
    }
    text
}

/// The card as a text, the workspace's own folder left out.
fn text(room: &Room, judged: &Judged) -> String {
    let card = &judged.card;
    let mut text = format!("{} {}\n", judged.facts.action.word(), card.headline);
    for subject in &card.subjects {
        let _ = writeln!(text, "really {}|{}|{}", line(&subject.lead), line(&subject.main), line(&subject.rest));
        if !subject.asked.is_empty() {
            let _ = writeln!(text, "written {}", line(&subject.asked));
        }
        for note in &subject.notes {
            let _ = writeln!(text, "note {note}");
        }
    }
    for content in &card.content {
        match content {
            Content::Diff { title, added, removed, lines } => {
                let _ = writeln!(text, "diff {} +{added} -{removed}", line(title));
                for diff in lines {
                    let sign = match diff.change {
                        Change::Same => ' ',
                        Change::Added => '+',
                        Change::Removed => '-',
                    };
                    let number = |n: Option<u32>| n.map_or(String::new(), |n| n.to_string());
                    let _ =
                        writeln!(text, "{:>2} {:>2} {sign}{}", number(diff.old), number(diff.new), line(&diff.spans));
                }
            }
            Content::Text { title, language, lines } => {
                let _ = writeln!(text, "text {} ({language})", line(title));
                for shown in lines {
                    let _ = writeln!(text, "  {}", line(shown));
                }
            }
            Content::Binary { title, size, media_type } => {
                let _ = writeln!(text, "binary {} {size} {media_type}", line(title));
            }
        }
    }
    for command in &card.commands {
        let _ = writeln!(text, "{} {} ({})", command.operator, line(&command.words), command.effect.word());
        for effect in &command.effects {
            let _ = writeln!(text, "  {} {}", effect.verb, line(&effect.target));
        }
        if let Some(why_not) = &command.why_not {
            let _ = writeln!(text, "  why not: {why_not}");
        }
    }
    if !card.says.is_empty() {
        let _ = writeln!(text, "says {}", line(&card.says));
    }
    text.replace(room.ws.parent().unwrap().to_str().unwrap(), "")
}

#[test]
fn an_edit_through_a_link() {
    let room = Room::new();
    room.write("config/live/server.toml", "[pool]\nmin = 2\nmax = 10\n\nverify = true\n");
    symlink("live", room.ws.join("config/current")).unwrap();
    let judged = room.judge("Edit", &json!({"file_path": "config/current/server.toml", "old_string": "max = 10\n\nverify = true", "new_string": "max = 40\n\nverify = false\n# for the load test only"}));
    insta::assert_snapshot!(text(&room, &judged));
    assert_eq!((judged.card.undo, judged.card.reach, judged.card.grave), (Undo::WithEffort, Reach::ThisFile, false));
}

#[test]
fn a_new_file_and_what_the_agent_says_of_it() {
    let room = Room::new();
    let judged = room.judge(
        "Write",
        &json!({"file_path": room.ws.join("src/new.rs"), "content": "fn main() {\n\tx();  \u{202e}\n}\n", "mode": 7}),
    );
    insta::assert_snapshot!(text(&room, &judged));
    assert_eq!(judged.card.undo, Undo::Yes);
}

#[test]
fn an_edit_that_does_not_fit_says_so() {
    let room = Room::new();
    room.write("a.txt", "one\ntwo\none\n");
    for (old, all) in [("three", false), ("one", false), ("one", true)] {
        let judged = room
            .judge("Edit", &json!({"file_path": "a.txt", "old_string": old, "new_string": "1", "replace_all": all}));
        insta::assert_snapshot!(text(&room, &judged));
    }
}

#[test]
fn several_edits_in_one() {
    let room = Room::new();
    room.write("a.txt", "one\ntwo\n");
    let judged = room.judge("MultiEdit", &json!({"file_path": "a.txt", "edits": [{"old_string": "one", "new_string": "1"}, {"old_string": "1\ntwo", "new_string": "1\n2"}]}));
    insta::assert_snapshot!(text(&room, &judged));
}

#[test]
fn a_patch_over_several_files() {
    let room = Room::new();
    room.write("src/a.rs", "fn a() {\n    one();\n}\n");
    room.write("old.txt", "gone\n");
    room.write("b.txt", "x\ny\n");
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@ fn a() {\n-    one();\n+    two();\n*** Add File: new.md\n+# New\n*** Delete File: old.txt\n*** Update File: b.txt\n*** Move to: c/b.txt\n@@\n x\n-y\n+z\n*** End Patch\n";
    let judged = room.judge_as("codex", "apply_patch", &json!({"command": patch}));
    insta::assert_snapshot!(text(&room, &judged));
    assert_eq!(judged.facts.action, Action::Delete);
    assert_eq!(judged.facts.subjects.len(), 5);
    assert_eq!(serde_json::to_value(&judged.facts.grantable).unwrap(), json!(["exact", "folder"]));
}

#[test]
fn binary_files_are_shown_by_size_and_kind() {
    let room = Room::new();
    room.write("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\0");
    let judged = room.judge("Write", &json!({"file_path": "logo.png", "content": "text now\n"}));
    insta::assert_snapshot!(text(&room, &judged));
}

#[test]
fn addresses_with_marks() {
    let room = Room::new();
    let mut all = String::new();
    for url in [
        "https://docs.example.org/pool/limits",
        "https://pkgs.\u{435}xample.com\\@pkgs.example.com/left-pad",
        "http://2130706433:8080/admin?x=1",
        "https://user:pw@evil.example/",
        "no address",
    ] {
        all.push_str(&text(&room, &room.judge("WebFetch", &json!({"url": url, "prompt": "?"}))));
        all.push('\n');
    }
    insta::assert_snapshot!(all);
}

#[test]
fn tools_that_are_not_known_show_all() {
    let room = Room::new();
    let judged = room.judge("mcp__tracker__create_comment", &json!({"issue": 418, "body": "Fixed.\n\u{200b}cc"}));
    insta::assert_snapshot!(text(&room, &judged));
    let judged = room.judge("prepare_case_file", &json!({"id": "u_1"}));
    insta::assert_snapshot!(text(&room, &judged));
}

#[test]
fn commands_down_to_the_files_they_touch() {
    let room = Room::new();
    room.write("src/main.rs", "fn main() {}\n");
    room.write("notes/run.md", "# Old\n");
    room.write("build.sh", "echo build\n");
    let known =
        Known::new("/home/dev".into(), vec!["/home/dev/.local/share/placet".into()], Programs::builtin().unwrap());
    let ws = PathText::from(room.ws.to_str().unwrap());
    let run = |command: &str| {
        let input = json!({"command": command, "description": "Look"}).to_string();
        judge(&RawCall::in_folder("claude-code", "Bash", input.as_bytes(), &ws), &known)
    };
    for command in [
        "cat src/main.rs | head -20",
        "cat > notes/run.md <<'EOF'\n# New\nEOF",
        "git fetch origin main && rm -r dist",
        "bash build.sh",
        "echo $(curl -fsSL https://get.example.net/setup.sh)",
        "curl -fsSL https://example.com/a?x=1 -o out",
        "cat /proc/self/environ ~/x",
    ] {
        let judged = run(command);
        let shown = format!("{:?} {:?}\n{}", judged.facts.grantable, judged.facts.flags, text(&room, &judged));
        insta::assert_snapshot!(shown);
        assert_eq!(run(command).facts, judged.facts, "{command}");
    }
    // The script's content is part of what runs, not of what is asked for.
    let before = run("bash build.sh");
    room.write("build.sh", "echo other\n");
    let after = run("bash build.sh");
    assert_eq!(before.facts.action_digest, after.facts.action_digest);
    assert_ne!(before.facts.digest, after.facts.digest);
    for command in [
        "placet serve --supervise",
        "cd /tmp && placet install codex",
        "placet-desktop",
        "env placet uninstall codex",
        "cat /home/dev/.local/share/placet/placet.db",
    ] {
        let refused = run(command).facts.refused;
        assert_eq!(refused.map(|r| r.code), Some(placet_domain::RefusedCode::SelfProtection), "{command}");
    }
    assert_eq!(run("placet status").facts.refused, None);
}

#[test]
fn equal_calls_have_equal_digests_whoever_makes_them_wherever_they_belong() {
    let room = Room::new();
    room.write("a.txt", "one\n");
    let cwd = PathText::from(room.ws.to_str().unwrap());
    let with = |input: &str, workspace: &str, call_id: Option<&str>| {
        let workspace = PathText::from(workspace);
        let call = RawCall {
            agent: "claude-code",
            tool: "Write",
            input: input.as_bytes(),
            cwd: &cwd,
            workspace: &workspace,
            call_id,
            definition: None,
        };
        judge(&call, &known()).facts
    };
    let one = with(r#"{"file_path":"a.txt","content":"x"}"#, room.ws.to_str().unwrap(), Some("1"));
    let other = with(r#"{ "content": "\u0078", "file_path": "a.txt" }"#, "/elsewhere", None);
    assert_eq!((one.digest, one.action_digest), (other.digest, other.action_digest));
    assert_ne!(one.raw_sha256, other.raw_sha256);
    // The same fields under another client's name of the tool are another call.
    let third = with(r#"{"file_path":"a.txt","content":"y"}"#, room.ws.to_str().unwrap(), None);
    assert!(third.digest != one.digest && third.action_digest != one.action_digest);
}

#[test]
fn what_changed_is_said() {
    let room = Room::new();
    room.write("config/x", "one\n");
    room.write("d/y", "y\n");
    let edit = || room.judge("Write", &json!({"file_path": "config/x", "content": "three\n"})).facts;
    let before = edit();
    assert_eq!(edit(), before);
    let said =
        |after: &placet_domain::CallFacts| changed(&before, after).join(" ").replace(room.ws.to_str().unwrap(), "");
    room.write("config/x", "two\n");
    let after = edit();
    assert_ne!(after.digest, before.digest);
    assert_eq!(after.action_digest, before.action_digest);
    assert_eq!(said(&after), "The file /config/x was edited.");
    // Another time of change is no change.
    room.write("config/x", "one\n");
    assert_eq!(edit(), before);
    std::fs::write(room.ws.join("config/z"), "one\n").unwrap();
    std::fs::rename(room.ws.join("config/z"), room.ws.join("config/x")).unwrap();
    assert_eq!(said(&edit()), "The file /config/x was replaced.");
    std::fs::remove_file(room.ws.join("config/x")).unwrap();
    assert_eq!(said(&edit()), "The file /config/x is gone.");
    symlink("../d/y", room.ws.join("config/x")).unwrap();
    assert_eq!(said(&edit()), "The path leads elsewhere now: /d/y.");
    std::fs::remove_file(room.ws.join("config/x")).unwrap();
    symlink("/dev/zero", room.ws.join("config/x")).unwrap();
    assert!(said(&edit()).contains("can no longer be allowed"), "{}", said(&edit()));
}

#[test]
fn a_large_file_is_not_bound_and_not_granted() {
    let room = Room::new();
    let file = std::fs::File::create(room.ws.join("big")).unwrap();
    file.set_len(17 * 1024 * 1024).unwrap();
    let judged = room.judge("Write", &json!({"file_path": "big", "content": "x"}));
    assert!(judged.facts.refused.is_none() && judged.facts.grantable.is_empty());
    assert!(judged.card.subjects[0].notes.iter().any(|note| note.contains("16 MiB")));
}

#[test]
fn searching_from_nowhere_is_searching_here() {
    let room = Room::new();
    room.write("src/a", "");
    let path = |judged: &Judged| match &judged.facts.subjects[0] {
        Subject::Path(path) => path.resolved.lossy().replace(room.ws.to_str().unwrap(), "."),
        other => panic!("{other:?}"),
    };
    assert_eq!(path(&room.judge("Grep", &json!({"pattern": "x"}))), ".");
    assert_eq!(path(&room.judge("Glob", &json!({"pattern": "**/*.rs", "path": "src"}))), "./src");
    // A pattern can leave the folder it is given.
    // What stands before the first wildcard is looked at, in the folder that is searched.
    for (tool, input, named) in [
        ("Glob", json!({"pattern": "src/*"}), "./src"),
        ("Glob", json!({"pattern": "b/*.rs", "path": "src"}), "src/b"),
        ("Grep", json!({"pattern": "x", "glob": ".env"}), "./.env"),
        ("Grep", json!({"pattern": "x", "glob": ".env", "path": "src"}), "src/.env"),
    ] {
        let judged = room.judge(tool, &input);
        let found = judged
            .facts
            .subjects
            .iter()
            .any(|subject| matches!(subject, Subject::Path(path) if path.asked == PathText::from(named)));
        assert!(found, "{input}: {:?}", judged.facts.subjects);
    }
    let judged = room.judge("Glob", &json!({"pattern": "/etc/**/*.conf"}));
    assert_eq!(judged.facts.subjects.len(), 2);
    assert!(
        matches!(&judged.facts.subjects[1], Subject::Path(path) if path.resolved.lossy() == "/etc" && !path.inside_workspace)
    );
    for pattern in ["src/*/../../../x", "{/etc/passwd,src/a}", "{src,~}/x"] {
        assert!(room.judge("Glob", &json!({"pattern": pattern})).facts.refused.is_some(), "{pattern}");
    }
}

#[test]
fn git_in_a_folder_shaped_like_a_repository_runs_what_its_files_say() {
    let room = Room::new();
    for file in ["trap/HEAD", "trap/objects/x", "trap/refs/x", "trap/config", "trap/sub/a", "plain/HEAD"] {
        room.write(file, "");
    }
    room.write("trap/nested/.git/HEAD", "");
    let known = Known::new("/home/dev".into(), Vec::new(), Programs::builtin().unwrap());
    let ws = PathText::from(room.ws.to_str().unwrap());
    let effect = |command: &str| {
        let input = json!({"command": command}).to_string();
        let raw = RawCall::in_folder("claude-code", "Bash", input.as_bytes(), &ws);
        judge(&raw, &known).facts.action
    };
    for command in
        ["git status", "git -C plain status", "cd plain && git log", "git -C trap/nested status", "cat trap/HEAD"]
    {
        assert!(effect(command).strength() < Action::Execute.strength(), "{command}");
    }
    for command in [
        "git -C trap status",
        "git -C trap/sub log --oneline",
        "git -C plain -C ../trap diff",
        "cd trap && git status",
        "cd trap && cd sub && git status",
        "cd plain; cd ../trap; git log",
    ] {
        assert_eq!(effect(command), Action::Execute, "{command}");
    }
}
