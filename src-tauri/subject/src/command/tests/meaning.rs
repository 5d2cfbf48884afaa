//! What single commands mean, down to the files.

use super::*;

#[test]
fn builtin_tables_load_and_are_all_there() {
    assert!(programs().len() >= 300, "{}", programs().len());
    let folder = format!("{}/commands", env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().to_str().unwrap().strip_suffix(".toml").map(str::to_owned))
        .collect();
    files.sort();
    let mut listed: Vec<String> = table::BUILTIN.iter().map(|(name, _)| (*name).to_owned()).collect();
    listed.sort();
    assert_eq!(files, listed);
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Meaning {
    command: String,
    effect: Action,
    #[serde(default)]
    reads: Vec<String>,
    #[serde(default)]
    writes: Vec<String>,
    #[serde(default)]
    deletes: Vec<String>,
    #[serde(default)]
    hosts: Vec<String>,
    #[serde(default)]
    operands: Vec<String>,
    #[serde(default)]
    uninspectable: bool,
}

#[test]
fn commands_touch_what_the_table_of_cases_says() {
    let mut wrong = Vec::new();
    for case in lines::<Meaning>("commands/meaning.jsonl") {
        let understood = read(&case.command);
        let of = |select: fn(&Part) -> &Vec<PathText>| -> Vec<String> {
            let mut all: Vec<String> = understood.all_parts().iter().flat_map(|part| paths(select(part))).collect();
            all.sort();
            all.dedup();
            all
        };
        let hosts: Vec<String> =
            understood.subject(&case.command, &shell()).commands.into_iter().flat_map(|c| c.hosts).collect();
        let found = (
            understood.effect(),
            of(|p| &p.reads),
            of(|p| &p.writes),
            of(|p| &p.deletes),
            hosts,
            of(|p| &p.operands),
            !understood.inspectable,
        );
        let expected =
            (case.effect, case.reads, case.writes, case.deletes, case.hosts, case.operands, case.uninspectable);
        if found != expected {
            wrong.push(format!("{}\n  found    {found:?}\n  expected {expected:?}", case.command));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_here_document_is_literal_and_knows_its_file() {
    let understood = read("cat > src/a.rs <<'EOF'\nlet x = \"$y\";\nEOF\n");
    assert!(understood.inspectable, "{:?}", understood.why_not);
    let document = understood.commands[0].heredoc.clone().unwrap();
    assert_eq!(document.text, "let x = \"$y\";\n");
    assert_eq!(document.written_to, Some(PathText::from("/ws/src/a.rs")));
    assert!(!document.appended);
}

#[test]
fn a_here_document_is_said_to_be_written_only_where_it_is() {
    for (text, written) in [
        ("cat >> f <<'E'\nx\nE", true),
        ("cat 1> f 0<<'E'\nx\nE", true),
        ("tee f <<'E' > /dev/null\nx\nE", true),
        ("cat 2> f <<'E'\nx\nE", false),
        ("cat > f >&2 <<'E'\nx\nE", false),
        ("tee -a 2> f <<'E'\nx\nE", false),
    ] {
        let understood = read(text);
        assert!(understood.inspectable, "{text:?} {:?}", understood.why_not);
        let document = understood.commands[0].heredoc.as_ref().unwrap();
        assert_eq!(document.written_to == Some(PathText::from("/ws/f")), written, "{text:?}");
    }
    // The file would get something else.
    for text in ["cat > f 3<<'E'\nx\nE", "cat > f <<'E' < g\nx\nE", "cat > f <<'E' 0<&2\nx\nE"] {
        assert!(!read(text).inspectable, "{text:?}");
    }
}

#[test]
fn a_commit_message_from_a_here_document_is_one_word() {
    let understood = read("git commit -m \"$(cat <<'EOF'\nFix it\n\nIt's (really) done.\nEOF\n)\"");
    assert!(understood.inspectable, "{:?}", understood.why_not);
    assert_eq!(understood.commands[0].argv, ["git", "commit", "-m", "Fix it\n\nIt's (really) done."]);
}

#[test]
fn a_here_document_that_an_older_shell_ends_elsewhere_is_not_inspectable() {
    let understood = read("echo \"$(cat <<'EOF'\n)\"; touch pwn; echo \"\nEOF\n)\"");
    assert!(!understood.inspectable);
}

#[test]
fn carriers_are_looked_through() {
    let understood = read("timeout 5 nice -n 5 bash -c 'rm -rf x; ls'");
    assert!(understood.inspectable, "{:?}", understood.why_not);
    let words: Vec<Vec<String>> = understood.all_parts().into_iter().map(|part| part.argv.clone()).collect();
    assert!(words.contains(&["rm", "-rf", "x"].map(str::to_owned).to_vec()), "{words:?}");
    assert_eq!(understood.effect(), Action::Delete);
    assert!(understood.flags.contains(&Flag::Carrier));
}

#[test]
fn a_folder_that_is_changed_by_another_name_is_not_followed_but_counts_for_denying() {
    for text in [
        "command cd /etc && rm x",
        "builtin cd /etc; rm x",
        "cd -P /etc; rm x",
        "pushd /etc; rm x",
        "chdir /etc && rm x",
    ] {
        let understood = read(text);
        assert!(!understood.inspectable, "{text}");
        let deleted = understood.commands.last().unwrap().deletes.clone();
        assert!(deleted.contains(&PathText::from("/etc/x")), "{text}: {deleted:?}");
    }
    // Neither changes the folder of the shell that goes on.
    for text in ["bash -c 'cd /etc'; rm x", "env -C /etc true; rm x"] {
        assert_eq!(read(text).commands.last().unwrap().deletes, [PathText::from("/ws/x")], "{text}");
    }
    assert!(!read("printf -v PATH /evil; ls").inspectable);
}

#[test]
fn prefix_grants_are_for_one_simple_command() {
    for (text, grantable) in [
        ("git log", true),
        ("cargo test -p x", true),
        ("npm test", true),
        ("make", true),
        ("git log | head", false),
        ("git log > f", false),
        ("git log && ls", false),
        ("python x.py", false),
        ("make -f x", false),
        ("sed p f", false),
        ("awk 1 f", false),
        ("jq . f", false),
        ("env ls", false),
        ("xargs ls", false),
        ("bash -c ls", false),
        ("./x.sh", false),
        ("ls $X", false),
    ] {
        let understood = read(text);
        assert_eq!(understood.commands[0].prefix_grantable, grantable, "{text}");
    }
}

#[test]
fn a_program_of_the_project_is_not_the_one_in_the_table() {
    struct Only(&'static str);
    impl Lookup for Only {
        fn is_executable(&self, path: &PathText) -> bool {
            path.as_str() == Some(self.0)
        }
    }
    let shell = Shell { path: vec![PathText::from("bin"), PathText::from("/usr/bin")], ..shell() };
    let shadowed = understand_with("cat x", &shell, programs(), &Only("/ws/bin/cat"));
    assert_eq!(shadowed.commands[0].exe, Some(PathText::from("/ws/bin/cat")));
    assert_eq!(shadowed.effect(), Action::Execute);
    let proper = understand_with("cat x", &shell, programs(), &Only("/usr/bin/cat"));
    assert_eq!(proper.commands[0].exe, Some(PathText::from("/usr/bin/cat")));
    assert_eq!(proper.effect(), Action::Read);
}

#[test]
fn other_shells_are_not_inspectable_and_zsh_only_without_its_patterns() {
    let with =
        |name: &str, text: &str| understand(text, &Shell { name: name.to_owned(), ..shell() }, programs()).inspectable;
    assert!(with("bash", "git diff HEAD~1"));
    assert!(with("zsh", "git diff"));
    assert!(!with("zsh", "git diff HEAD^"));
    assert!(!with("zsh", "=ls"));
    assert!(!with("fish", "ls"));
    assert!(!with("pwsh", "ls"));
}

#[test]
fn budgets_are_kept() {
    let long = "echo ".to_owned() + &"x".repeat(MOST_BYTES);
    let many = vec!["true"; MOST_PARTS + 1].join("; ");
    let mut deep = "ls".to_owned();
    for _ in 0..MOST_DEPTH + 2 {
        deep = format!("timeout 5 {deep}");
    }
    for text in [long, many, deep] {
        let understood = read(&text);
        assert!(understood.budget_exceeded && !understood.inspectable, "{}", &text[..40]);
        assert!(understood.effect().strength() >= Action::Execute.strength());
    }
}

#[test]
fn what_cannot_be_inspected_is_still_taken_apart_for_denying() {
    for (text, words) in [
        ("FOO=bar rm -rf x", ["rm", "-rf", "x"]),
        ("(cd x; rm -rf x)", ["rm", "-rf", "x"]),
        ("echo $(rm -rf x)", ["rm", "-rf", "x"]),
        ("for i in 1; do rm -rf x; done", ["rm", "-rf", "x"]),
        ("rm -rf x &", ["rm", "-rf", "x"]),
        ("{rm,-rf,x}", ["rm", "-rf", "x"]),
        ("ls\rrm -rf x", ["rm", "-rf", "x"]),
    ] {
        let understood = read(text);
        assert!(!understood.inspectable, "{text}");
        assert!(understood.commands.iter().any(|part| part.argv == words), "{text}: {:?}", understood.commands);
    }
}

#[test]
fn the_reason_names_the_place() {
    let understood = read("ls && cat $HOME/x");
    let why_not = understood.why_not.unwrap();
    assert_eq!(why_not.range, 10..15);
    assert_eq!(why_not.flag, Flag::Expansion);
}

#[test]
fn tables_that_cannot_be_meant_are_refused_with_a_reason() {
    for (text, part) in [
        ("[[program]]\neffect = \"read\"", "needs “names”"),
        ("[[program]]\nnames = [\"x\"]\nefect = \"read\"", "efect"),
        ("[[program]]\nnames = [\"x\"]\noperands = [\"raed\"]", "no role “raed”"),
        ("[[program]]\nnames = [\"x\"]\nflags = \"-a -a\"", "there twice"),
        ("[[program]]\nnames = [\"x\"]\neffect = \"write\"", "what it writes"),
        ("[[program]]\nnames = [\"x\"]\neffect = \"fetch\"", "whom it contacts"),
        ("[[program]]\nnames = [\"x\"]\neffect = \"delete\"\nplace = \".\"\nany_words = true", "any_words"),
        ("[[program]]\nnames = [\"x/y\"]", "no program's name"),
        (
            "[[program]]\nnames = [\"x\"]\n[program.options]\n\"-o\" = { value = \"write\", effect = \"read\" }",
            "weaker",
        ),
        ("[[program]]\nnames = [\"x\"]\n[[program.sub]]\nwhen = \"-q\"", "not among"),
    ] {
        let error = Programs::default().add("x.toml", text).unwrap_err().to_string();
        assert!(error.contains(part) && error.contains("x.toml"), "{error}");
    }
}

#[test]
fn people_add_programs_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine.toml"), "[[program]]\nnames = [\"mine\"]\neffect = \"read\"\n").unwrap();
    let programs = Programs::builtin().unwrap().with_folder(folder.path()).unwrap();
    assert_eq!(understand("mine", &shell(), &programs).effect(), Action::Read);
    assert_eq!(understand("mine --other", &shell(), &programs).effect(), Action::Execute);
    assert_eq!(understand("ls", &shell(), &programs).effect(), Action::List);
}
