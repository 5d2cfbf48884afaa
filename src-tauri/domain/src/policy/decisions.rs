//! What a policy says of calls: a table, so that a change of meaning is seen as a change of text.
#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;

use serde_json::json;

use crate::{
    Action, At, Judged, PathText, Policy, Ruling, Session, State, Subject,
    judge::judge_by,
    subject::{PathSubject, SimpleCommand},
    testing::{
        T0, bash, call, call_with, command, fetch, link, mcp, only_tool, part, path, policy, read, session,
        uninspectable, url, write,
    },
};

/// Judges each call by a policy; one line for each.
fn table(text: &str, cases: &[(&str, Judged)]) -> String {
    table_in(&policy(text), &session(), T0, cases)
}

fn table_in(policy: &Policy, session: &Session, now: At, cases: &[(&str, Judged)]) -> String {
    cases.iter().fold(String::new(), |mut table, (what, judged)| {
        let ruling = match judge_by(policy, &State::default(), judged, session, now) {
            Ruling::Allow { rules, .. } => format!("allow  {}", rules.join(" + ")),
            Ruling::Ask { rule, timeout_ms, .. } => {
                format!("ask    {} ({} s)", rule.unwrap_or_else(|| "(no rule)".to_owned()), timeout_ms / 1_000)
            }
            Ruling::Deny { reason, .. } => format!("deny   {reason}"),
        };
        let _ = writeln!(table, "{what:<58} {ruling}");
        table
    })
}

fn rule(rest: &str) -> String {
    format!("[[rule]]\nname = \"r\"\n{rest}\n")
}

fn reads(words: &str, at: &str) -> SimpleCommand {
    SimpleCommand { reads: vec![PathText::from(at)], ..part(Action::Read, words) }
}

fn piped(part: SimpleCommand) -> SimpleCommand {
    SimpleCommand { operator: "|".to_owned(), ..part }
}

fn carrying(words: &str, inner: &str) -> SimpleCommand {
    let inner = inner.split(' ').map(str::to_owned).collect();
    SimpleCommand { carrier_of: Some(inner), prefix_grantable: false, ..part(Action::Execute, words) }
}

#[test]
fn the_default_policy() {
    let with = |tool: &str, subject: PathSubject| call(tool, vec![Subject::Path(subject)]);
    let cat = |at: &str| {
        let parts = vec![reads(&format!("cat {at}"), at)];
        call("Bash", vec![Subject::Command(command(parts)), Subject::Path(path(Action::Read, at))])
    };
    let cases = [
        ("a to-do list", call("TodoWrite", vec![Subject::Tool(only_tool(Action::None, "TodoWrite"))])),
        ("read in the workspace", read("/w/src/a.rs")),
        ("list the workspace itself", with("LS", path(Action::List, "/w"))),
        ("search in the workspace", with("Grep", path(Action::Search, "/w/src"))),
        ("read outside", read("/etc/passwd")),
        ("read beside, with the workspace's name as beginning", read("/w-evil/a.rs")),
        ("read a secret", read("/w/.env")),
        ("read a secret in other letters", read("/w/.ENV")),
        ("read a key", read("/w/deploy/id_rsa")),
        ("read a file that is named like a secret", read("/w/src/my_secrets.rs")),
        ("read through a link that leads out", with("Read", link(Action::Read, "/w/link", "/etc/passwd"))),
        ("read through a link that leads to a secret", with("Read", link(Action::Read, "/w/a", "/w/.env"))),
        (
            "read a name that is no text",
            with(
                "Read",
                PathSubject {
                    asked: PathText::from_bytes(b"/w/\xff".to_vec()),
                    normalized: PathText::from_bytes(b"/w/\xff".to_vec()),
                    resolved: PathText::from_bytes(b"/w/\xff".to_vec()),
                    ..path(Action::Read, "/w/x")
                },
            ),
        ),
        ("write in the workspace", write("/w/src/a.rs")),
        ("fetch", fetch("https://docs.rs/serde")),
        ("fetch from the metadata service", fetch("http://169.254.169.254/latest")),
        ("fetch link-local", fetch("http://169.254.1.1/")),
        ("fetch from this machine", fetch("http://localhost:3000/")),
        ("fetch from the local network", fetch("http://10.0.0.1/")),
        ("cat in the workspace", cat("/w/a.txt")),
        ("cat a secret", cat("/w/.env")),
        ("cat outside", cat("/etc/passwd")),
        ("a command that runs something", bash(vec![part(Action::Execute, "cargo test")])),
        ("a command that cannot be taken apart", call("Bash", vec![Subject::Command(uninspectable("cat $(x)"))])),
        ("an MCP tool", call("mcp__gh__list", vec![Subject::Mcp(mcp("gh", "list"))])),
        ("an unknown tool", call("Frobnicate", vec![Subject::Tool(only_tool(Action::Other, "Frobnicate"))])),
        ("nothing at all", call("Read", vec![])),
        ("echo", bash(vec![part(Action::None, "echo hello")])),
        ("a command that reads nothing with a name", bash(vec![part(Action::Read, "pwd")])),
        ("a command that writes it is not said where", bash(vec![part(Action::Write, "make-a-file")])),
    ];
    let decisions = table(Policy::default_text(), &cases);
    insta::assert_snapshot!(decisions);
}

#[test]
fn a_session_that_took_in_outside_content() {
    let text = format!(
        "{}\n[[rule]]\nname = \"all of it\"\ndecide = \"allow\"\naction = [\"write\", \"execute\", \"send\"]\n",
        Policy::default_text()
    );
    let cases = [
        ("write code", write("/w/src/a.rs")),
        ("write an agent's settings", write("/w/.claude/settings.json")),
        ("write a script", write("/w/run.sh")),
        ("run tests", bash(vec![part(Action::Execute, "cargo test")])),
        ("send", bash(vec![part(Action::Send, "curl -T a https://x")])),
    ];
    let clean = table_in(&policy(&text), &session(), T0, &cases);
    let tainted = table_in(&policy(&text), &Session { tainted: true, ..session() }, T0, &cases);
    let both = format!("clean\n{clean}\ntainted\n{tainted}");
    insta::assert_snapshot!(both);
}

#[test]
fn denials_are_read_widely_and_permissions_narrowly() {
    let deny_tests = rule("decide = \"deny\"\naction = [\"write\", \"delete\"]\npath = [\"${workspace}/tests/**\"]");
    let allow_src = rule("decide = \"allow\"\naction = [\"write\"]\npath = [\"${workspace}/src/**\"]");
    let excepted = rule("decide = \"deny\"\naction = [\"write\"]\npath = [\"/w/**\"]\nexcept_path = [\"/w/out/**\"]");
    let escaped = rule("decide = \"deny\"\npath = ['/w/\\[id\\]/\\$x\\*']");
    let home = rule("decide = \"deny\"\npath = [\"~/.ssh/**\"]");
    let subject = |subject: PathSubject| call("Write", vec![Subject::Path(subject)]);
    let mut all = String::new();
    for (title, text, cases) in [
        (
            "deny under tests",
            deny_tests,
            vec![
                ("a test", write("/w/tests/a.rs")),
                ("in other letters", write("/w/TESTS/a.rs")),
                ("through a link into it", subject(link(Action::Write, "/w/src/t", "/w/tests/a.rs"))),
                ("a link in it that leads out", subject(link(Action::Write, "/w/tests/l", "/tmp/x"))),
                ("the folder itself", subject(path(Action::Delete, "/w/tests"))),
                ("the workspace around it", subject(path(Action::Delete, "/w"))),
                ("read a test", read("/w/tests/a.rs")),
                ("another folder that begins so", write("/w/tests2/a.rs")),
                ("in another workspace", write("/v/tests/a.rs")),
            ],
        ),
        (
            "allow under src",
            allow_src,
            vec![
                ("a source", write("/w/src/a.rs")),
                ("in other letters", write("/w/SRC/a.rs")),
                ("through a link out", subject(link(Action::Write, "/w/src/l", "/etc/x"))),
                ("through a link in", subject(link(Action::Write, "/w/l", "/w/src/a.rs"))),
                ("delete it", subject(path(Action::Delete, "/w/src/a.rs"))),
                ("a protected name", subject(PathSubject { protected: true, ..path(Action::Write, "/w/src/.envrc") })),
                (
                    "two files, one elsewhere",
                    call(
                        "Edit",
                        vec![
                            Subject::Path(path(Action::Write, "/w/src/a.rs")),
                            Subject::Path(path(Action::Write, "/w/b.rs")),
                        ],
                    ),
                ),
            ],
        ),
        (
            "deny but for",
            excepted,
            vec![
                ("the exception", write("/w/out/a")),
                ("the exception in other letters", write("/w/OUT/a")),
                ("a link from the exception", subject(link(Action::Write, "/w/out/a", "/w/b"))),
            ],
        ),
        ("names with signs", escaped, vec![("that name", read("/w/[id]/$x*")), ("another", read("/w/i/$xy"))]),
        (
            "accents",
            rule("decide = \"deny\"\npath = [\"/w/café\"]"),
            vec![("composed", read("/w/café")), ("apart", read("/w/cafe\u{301}"))],
        ),
        ("home", home, vec![("a key", read("/home/ann/.ssh/id")), ("the folder", read("/home/ann/.ssh"))]),
    ] {
        let _ = write!(all, "{title}\n{}\n", table(&text, &cases));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn addresses() {
    let mut all = String::new();
    let odd = {
        let mut odd = url(Action::Fetch, "https://docs.rs/x");
        odd.odd = true;
        call("WebFetch", vec![Subject::Url(odd)])
    };
    for (title, text, cases) in [
        (
            "allow two hosts",
            rule("decide = \"allow\"\nhost = [\"docs.rs\", \"*.python.org\"]"),
            vec![
                ("the host", fetch("https://docs.rs/serde?x=1")),
                ("beneath it", fetch("https://a.docs.rs/")),
                ("what ends so", fetch("https://evildocs.rs/")),
                ("what begins so", fetch("https://docs.rs.evil.com/")),
                ("beneath the wildcard", fetch("https://docs.python.org/3")),
                ("the wildcard's own name", fetch("https://python.org/")),
                ("spelled oddly", odd.clone()),
            ],
        ),
        (
            "allow any",
            rule("decide = \"allow\"\naction = [\"fetch\"]"),
            vec![("spelled oddly", odd), ("plain", fetch("http://a.b/"))],
        ),
        (
            "deny but one",
            rule("decide = \"deny\"\nhost = [\"*.b.com\"]\nexcept_host = [\"a.b.com\"]"),
            vec![("the exception", fetch("https://a.b.com/")), ("another", fetch("https://c.b.com/"))],
        ),
        (
            "a prefix",
            rule("decide = \"allow\"\nurl_prefix = [\"https://x.y/docs/\", \"http://z:8080\"]"),
            vec![
                ("beneath", fetch("https://x.y/docs/a")),
                ("itself", fetch("https://x.y/docs")),
                ("a longer segment", fetch("https://x.y/docsecret")),
                ("not encrypted", fetch("http://x.y/docs/a")),
                ("another port", fetch("https://x.y:444/docs/a")),
                ("the other host", fetch("http://z:8080/any")),
            ],
        ),
    ] {
        let _ = write!(all, "{title}\n{}\n", table(&text, &cases));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn commands() {
    let allow = rule("decide = \"allow\"\naction = [\"execute\"]\ncommand = [\"cargo test\", \"npx jest\", \"sudo\"]");
    let deny = rule("decide = \"deny\"\ncommand = [\"git push\"]");
    let any = rule("decide = \"allow\"\ntool = [\"Bash\"]");
    let dark = |text: &str| call("Bash", vec![Subject::Command(uninspectable(text))]);
    let linked = {
        let mut part = part(Action::Execute, "p serve");
        part.exe = Some(PathText::from("/usr/bin/placet"));
        bash(vec![part])
    };
    let mut all = String::new();
    for (title, text, cases) in [
        (
            "allow by words",
            allow,
            vec![
                ("the words", bash(vec![part(Action::Execute, "cargo test")])),
                ("more words", bash(vec![part(Action::Execute, "cargo test --all")])),
                ("a longer word", bash(vec![part(Action::Execute, "cargo tests")])),
                ("with a folder before it", bash(vec![part(Action::Execute, "./cargo test")])),
                (
                    "followed by another",
                    bash(vec![part(Action::Execute, "cargo test"), part(Action::Execute, "rm -rf /")]),
                ),
                (
                    "piped into a filter",
                    bash(vec![part(Action::Execute, "cargo test"), piped(part(Action::Read, "tail"))]),
                ),
                ("stronger than allowed", bash(vec![part(Action::Send, "cargo test")])),
                ("a carrier with what it carries", bash(vec![carrying("npx jest --ci", "jest --ci")])),
                ("a carrier alone", bash(vec![carrying("sudo rm x", "rm x")])),
                ("a carrier of what is allowed", bash(vec![carrying("sudo cargo test", "cargo test")])),
                ("not taken apart", dark("cargo test $(x)")),
                (
                    "writing where nothing is said",
                    call(
                        "Bash",
                        vec![
                            Subject::Command(command(vec![SimpleCommand {
                                writes: vec![PathText::from("/w/a")],
                                ..part(Action::Write, "touch a")
                            }])),
                            Subject::Path(path(Action::Write, "/w/a")),
                        ],
                    ),
                ),
            ],
        ),
        (
            "deny by words",
            deny,
            vec![
                ("the words", bash(vec![part(Action::Send, "git push origin")])),
                ("with options between", bash(vec![part(Action::Send, "git -C /w push")])),
                ("with a folder, in other letters", bash(vec![part(Action::Send, "/usr/bin/GIT push")])),
                ("later in a list", bash(vec![part(Action::Read, "ls"), part(Action::Send, "git push")])),
                ("carried", bash(vec![carrying("nohup git push", "git push")])),
                ("not taken apart", dark("if true; then git push $X; fi")),
                ("another", bash(vec![part(Action::Read, "git status push")])),
                ("as another's operand", bash(vec![part(Action::None, "echo git push")])),
            ],
        ),
        (
            "any command of the tool",
            any,
            vec![
                ("plain", bash(vec![part(Action::Execute, "make")])),
                ("not taken apart", dark("eval x")),
                ("placet serve", bash(vec![part(Action::Execute, "placet --json serve")])),
                (
                    "placet install, carried",
                    bash(vec![carrying("setsid placet install codex", "placet install codex")]),
                ),
                ("placet-desktop", bash(vec![part(Action::Execute, "/opt/placet-desktop")])),
                ("placet serve under another name", linked),
                ("placet history restore", bash(vec![part(Action::Execute, "placet history --data-dir d restore x")])),
                ("placet history key", bash(vec![part(Action::Execute, "placet history key --to file")])),
                ("placet keys", bash(vec![part(Action::Execute, "placet keys remove mine")])),
                ("placet autostart", bash(vec![part(Action::Execute, "placet autostart off")])),
                ("placet uninstall, not taken apart", dark("$(which placet) ; placet uninstall codex")),
                ("placet status", bash(vec![part(Action::Execute, "placet status")])),
            ],
        ),
    ] {
        let _ = write!(all, "{title}\n{}\n", table(&text, &cases));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn what_several_contexts_set_comes_together_and_the_last_in_the_file_stands() {
    let policy = policy(
        "[[context]]\nagent = [\"*\"]\nset = { user = \"u_004\", tier = \"free\" }\n\
         [[context]]\nagent = [\"codex\"]\nset = { tier = \"team\" }\n\
         [[context]]\nagent = [\"claude-code\", \"codex\"]\nset = { region = \"eu\" }\n",
    );
    for (agent, expected) in [
        ("codex", vec![("region", "eu"), ("tier", "team"), ("user", "u_004")]),
        ("claude-code", vec![("region", "eu"), ("tier", "free"), ("user", "u_004")]),
        ("gemini-cli", vec![("tier", "free"), ("user", "u_004")]),
    ] {
        let known = policy.context_for(&agent.parse().unwrap());
        let found: Vec<(&str, &str)> = known.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        assert_eq!(found, expected, "{agent}");
    }
}

#[test]
fn conditions_hours_and_the_rest() {
    let lookup = |input| call_with("lookup_user", vec![Subject::Tool(only_tool(Action::Other, "lookup_user"))], input);
    let own = rule("decide = \"deny\"\ntool = [\"lookup_user\"]\nwhen = 'input.user_id != context.user'");
    let context = "[[context]]\nagent = [\"*\"]\nset = { user = \"u_004\" }\n".to_owned();
    let mut all = String::new();
    let mut add = |title: &str, table: String| {
        let _ = write!(all, "{title}\n{table}\n");
    };
    let mut known = session();
    known.context = policy(&context).context_for(&known.agent);
    add(
        "a condition",
        table_in(
            &policy(&own),
            &known,
            T0,
            &[
                ("one's own", lookup(json!({"user_id": "u_004"}))),
                ("another's", lookup(json!({"user_id": "u_005"}))),
                ("without the field: an error is a denial", lookup(json!({}))),
                ("of another type", lookup(json!({"user_id": 4}))),
                ("another tool", read("/w/a")),
            ],
        ),
    );
    add(
        "a failing condition of an allow rule",
        table(
            &rule("decide = \"allow\"\nwhen = 'input.n < 3'"),
            &[
                ("fails", read("/w/a")),
                ("holds", call_with("Read", vec![Subject::Path(path(Action::Read, "/w/a"))], json!({"n": 2}))),
            ],
        ),
    );
    add(
        "over the subject, in a macro",
        table(
            &rule(
                "decide = \"deny\"\nwhen = 'subject.kind == \"path\" && [\"/a\", \"/b\"].exists(x, subject.normalized.startsWith(x))'",
            ),
            &[("one", read("/b/x")), ("none", read("/c"))],
        ),
    );
    add(
        "an input",
        table(
            &rule("decide = \"deny\"\ninput = { force = true, options = { depth = 3 } }"),
            &[
                (
                    "the same and more",
                    call_with(
                        "T",
                        vec![Subject::Tool(only_tool(Action::Other, "T"))],
                        json!({"force": true, "options": {"depth": 3.0, "x": 1}}),
                    ),
                ),
                ("less", call_with("T", vec![Subject::Tool(only_tool(Action::Other, "T"))], json!({"force": true}))),
            ],
        ),
    );
    // 2027-01-15 is a Friday; Berlin is an hour ahead of UTC.
    let at = |hour: i64, minute: i64| At(1_799_971_200_000 + (hour * 60 + minute) * 60_000);
    let night = rule("decide = \"deny\"\ndays = [\"fri\"]\nbetween = \"22:00-02:00\"");
    for (when, now) in [
        ("Friday 21:59 in Berlin", at(20, 59)),
        ("Friday 22:00", at(21, 0)),
        ("Saturday 01:59", at(24, 59)),
        ("Saturday 02:00", at(25, 0)),
        ("Saturday 22:30", at(45, 30)),
    ] {
        add(when, table_in(&policy(&night), &session(), now, &[("a call", read("/w/a"))]));
    }
    let by_hour = rule("decide = \"deny\"\nzone = \"UTC\"\nwhen = 'now.weekday == \"fri\" && now.hour >= 18'");
    add("now", table_in(&policy(&by_hour), &session(), at(18, 0), &[("Friday evening", read("/w/a"))]));
    add("now", table_in(&policy(&by_hour), &session(), at(17, 59), &[("before", read("/w/a"))]));
    let other = Session { workspace: PathText::from("/v"), agent: crate::testing::agent("codex"), ..session() };
    let only = rule("decide = \"deny\"\nagent = [\"cod*\"]\nworkspace = [\"/v\"]\nmcp_server = [\"gh*\"]");
    let list = || [("a tool", call("mcp__gh__x", vec![Subject::Mcp(mcp("GH", "x"))]))];
    add("of another agent", table(&only, &list()));
    add("of this agent there", table_in(&policy(&only), &other, T0, &list()));
    add(
        "the strictest of three, and the shortest time",
        table(
            "timeout = \"1h\"\n[[rule]]\nname=\"z\"\ndecide=\"ask\"\ntimeout=\"10s\"\naction=[\"read\"]\n[[rule]]\nname=\"a\"\ndecide=\"ask\"\naction=[\"read\"]\n[[rule]]\nname=\"m\"\ndecide=\"allow\"\n[[rule]]\nname=\"d\"\ndecide=\"deny\"\npath=[\"/w/no\"]\n",
            &[("read", read("/w/a")), ("write", write("/w/a")), ("denied", read("/w/no"))],
        ),
    );
    add(
        "a default of deny",
        table(
            "default = \"deny\"\n[[rule]]\nname = \"a\"\ndecide = \"ask\"\naction = [\"write\"]\n",
            &[("what no rule matches", read("/w/a")), ("what a rule asks about", write("/w/a"))],
        ),
    );
    insta::assert_snapshot!(all);
}

#[test]
fn what_others_add_can_only_tighten() {
    let own = "timeout = \"1h\"\n[[rule]]\nname = \"all\"\ndecide = \"allow\"\n";
    let theirs = "default = \"deny\"\ntimeout = \"5m\"\n[[rule]]\nname = \"they allow\"\ndecide = \"allow\"\n[[rule]]\nname = \"no\"\ndecide = \"deny\"\npath = [\"**/no\"]\n[[rule]]\nname = \"hm\"\ndecide = \"ask\"\npath = [\"**/hm\"]\n[[rewrite]]\nname = \"rw\"\ntool = [\"T\"]\nset = { a = 1 }\nclamp = { n = 2 }\n";
    let parse = |text: &str| Policy::parse(text, crate::testing::digest_of(text)).unwrap();
    let cases = || [("plain", read("/w/a")), ("denied", read("/w/no")), ("asked", read("/w/hm"))];
    let everywhere = parse(own).with_tightening(vec![parse(theirs)]);
    let here = parse(own).with_workspace(&PathText::from("/w"), parse(theirs));
    let elsewhere = Session { workspace: PathText::from("/v"), ..session() };
    let empty = parse("default = \"ask\"\n").with_workspace(&PathText::from("/w"), parse(theirs));
    let mut all = String::new();
    for (title, policy, session) in [
        ("everywhere", &everywhere, &session()),
        ("in its workspace", &here, &session()),
        ("in another workspace", &here, &elsewhere),
        ("a person's policy that allows nothing", &empty, &session()),
    ] {
        let _ = write!(all, "{title}\n{}\n", table_in(policy, session, T0, &cases()));
    }
    insta::assert_snapshot!(all);
    let judged = call_with("T", vec![Subject::Tool(only_tool(Action::Other, "T"))], json!({"n": 9}));
    let rewritten = everywhere.rewrite(&judged, &session()).unwrap();
    assert_eq!(rewritten.input, json!({"n": 2}), "a clamp tightens; a set does not");
}

#[test]
fn rewrites_compose_in_the_order_of_the_file() {
    let text = "[[rewrite]]\nname = \"first\"\ntool = [\"list_*\"]\nset = { sort = \"name\", opt = { deep = false } }\ndrop = [\"secret\"]\n[[rewrite]]\nname = \"second\"\ninput = { sort = \"name\" }\nclamp = { max = 10, opt = { n = 3 } }\n[[rewrite]]\nname = \"third\"\nagent = [\"codex\"]\ndrop = [\"max\"]\n";
    let policy = policy(text);
    let listed = |input| call_with("list_files", vec![Subject::Path(path(Action::List, "/w"))], input);
    let rewritten = policy.rewrite(&listed(json!({"secret": 1, "max": 50, "opt": {"n": 2}})), &session()).unwrap();
    assert_eq!(rewritten.input, json!({"max": 10, "sort": "name", "opt": {"deep": false, "n": 2}}));
    assert_eq!(rewritten.names, ["first", "second"]);
    assert!(rewritten.reason_to_deny().contains("“first”, “second”"));
    let within = listed(json!({"max": 3, "sort": "name", "opt": {"deep": false, "n": 1}}));
    assert_eq!(policy.rewrite(&within, &session()), None, "what is within the bounds stays as it is");
    let missing = policy.rewrite(&listed(json!({"max": "many"})), &session()).unwrap();
    assert_eq!(missing.input, json!({"max": 10, "sort": "name", "opt": {"deep": false, "n": 3}}));
}
