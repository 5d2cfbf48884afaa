//! The file's mistakes, and the default as it ships.
#![allow(clippy::unwrap_used)]

use super::{Bindings, Policy, PolicyError};
use crate::{Digest, PathText};

fn refused(text: &str) -> PolicyError {
    Policy::parse(text, Digest::new([1; 32])).expect_err("this policy has a mistake")
}

#[test]
fn the_default_is_a_policy() {
    let policy = Policy::parse(Policy::default_text(), Digest::new([1; 32])).unwrap();
    assert_eq!(policy.rules().len(), 6);
    assert_eq!(policy.timeout_ms(&crate::testing::session()), 30 * 60 * 1_000);
}

#[test]
fn the_example_of_the_documentation_with_a_home() {
    let text = "[[rule]]\nname = \"a\"\ndecide = \"deny\"\npath = [\"~/.ssh/**\"]\n";
    let bindings = Bindings { home: Some(PathText::from("/home/ann")), zone: None };
    assert!(Policy::parse_for(text, Digest::new([1; 32]), &bindings).is_ok());
    assert!(refused(text).message.contains("home"));
}

/// Every mistake a person can make in the file, with the place and the advice they get.
#[test]
fn mistakes_have_a_place_and_a_hint() {
    let rule = |line: &str| format!("[[rule]]\nname = \"a\"\ndecide = \"deny\"\n{line}\n");
    let asking = |line: &str| format!("[[rule]]\nname = \"a\"\ndecide = \"ask\"\n{line}\n");
    let texts = [
        String::new(),
        "# only words\n".to_owned(),
        "default = \"allow\"\n".to_owned(),
        "defualt = \"ask\"\n".to_owned(),
        "default = ask\n".to_owned(),
        "timeout = \"4s\"\n".to_owned(),
        "timeout = \"25h\"\n".to_owned(),
        "timeout = \"soon\"\n".to_owned(),
        "timeout = 30\n".to_owned(),
        "[[rule]]\ndecide = \"deny\"\n".to_owned(),
        "[[rule]]\nname = \" \"\ndecide = \"deny\"\n".to_owned(),
        "[[rule]]\nname = \"a\"\n".to_owned(),
        "[[rule]]\nname = \"a\"\ndecide = \"forbid\"\n".to_owned(),
        rule("tools = [\"Bash\"]"),
        rule("tool = \"Bash\""),
        rule("tool = []"),
        rule("tool = [\"a\", \"b[\"]"),
        rule("action = [\"reed\"]"),
        rule("action = []"),
        rule("path = [\"tests/**\"]"),
        rule("path = [\"${workspce}/x\"]"),
        rule("path = [\"/home/$USER/x\"]"),
        rule("path = [\"/a/../b\"]"),
        rule("path = [\"/a/[b\"]"),
        rule("path = [\"${workspace}x\"]"),
        rule("host = [\"https://docs.rs\"]"),
        rule("host = [\"münchen.de\"]"),
        rule("url_prefix = [\"docs.rs/serde\"]"),
        rule("url_prefix = [\"https://user@docs.rs/\"]"),
        rule("network = [\"public\"]"),
        rule("command = [\"rm -rf *\"]"),
        rule("command = [\"\"]"),
        rule("path = [\"/a\"]\nhost = [\"b.c\"]"),
        rule("timeout = \"30m\""),
        asking("timeout = \"1s\""),
        rule("reason = \"two\\nlines\""),
        rule("") + &rule(""),
        "[[rule]]\nname = \"a\"\nname = \"b\"\n".to_owned(),
        "default = \"ask\"\n[[rule]\n".to_owned(),
        "[[context]]\nset = { user = \"u\" }\n".to_owned(),
        rule("when = 'input.a ='"),
        rule("when = 'inputs.a == 1'"),
        rule("when = 'size(inptu.a) > 1'"),
        rule("days = [\"tuesday\"]"),
        rule("days = []"),
        rule("between = \"2-4\""),
        rule("between = \"02:00-24:30\""),
        rule("zone = \"Europe/Berln\""),
        rule("limit = { calls = 0, per = \"1h\" }"),
        rule("limit = { calls = 5, per = \"2d\" }"),
        rule("limit = { calls = 5 }"),
        "[[rule]]\nname = \"a\"\ndecide = \"allow\"\nlimit = { calls = 5, per = \"1h\" }\n".to_owned(),
        "[[rule]]\nname = \"a\"\ndecide = \"allow\"\nprotected = true\n".to_owned(),
        "[[rewrite]]\nname = \"r\"\n".to_owned(),
        "[[rewrite]]\nname = \"r\"\nclamp = { a = \"x\" }\n".to_owned(),
        "waiting_per_session = 0\n".to_owned(),
    ];
    let mut table = String::new();
    for text in texts {
        table.push_str(&refused(&text).report(&text, "policy.toml"));
        table.push('\n');
    }
    insta::assert_snapshot!(table);
}
