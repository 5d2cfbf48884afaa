//! Texts that are made to break a reader: deep, long, unfinished, full of here-documents. Whatever they are, they are
//! read within a small stack and one pass, and nothing panics: an agent's text must not be able to end the gate.

use proptest::prelude::*;

use super::*;
use crate::command::split::split;

/// What nests, repeats or does not end.
const MOTIFS: &[&str] = &[
    "(",
    "((",
    "( (",
    ")",
    "$(",
    "$((",
    "\"$(",
    "\"$(cat <<'E'\n",
    "`",
    "\"`",
    "${",
    "\"${x:-",
    "$[",
    "{",
    "{ ",
    "{a,",
    "<(",
    ">(",
    "'",
    "\"",
    "\\",
    "\\\n",
    "$",
    "$'",
    "<<A",
    "<<A\n",
    "<<'A' ",
    "<<-A ",
    "cat <<A\nA\n",
    "cat <<''\n\n",
    "<<<",
    "a <<A <<B\n",
    "bash -c \"",
    "eval \"$x ",
    "if ",
    "case a in b) ",
    "for x in ",
    "while ",
    "[[ ",
    "[ ",
    "f() {",
    "function f ",
    "! ",
    "a|",
    "a;",
    "a&&",
    "a||",
    "a&",
    "a\n",
    "\n",
    " ",
    ">a ",
    ">",
    "2>&1 ",
    "&>a ",
    "A=",
    "A=$(",
    "#",
    "#\n",
    "@{1}",
    "{}",
    "'a'",
    "\"a\"",
    "\\a",
    "\"\\$\"",
    "\"$ \"",
    "ä",
    "a",
    "*",
    "~/",
    "=",
    "?(",
    "$(#",
    "$(<<A",
    ";;",
    "\t",
];

/// Far less than any thread of the gate has.
const SMALL_STACK: usize = 192 * 1024;

fn within_a_small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(SMALL_STACK).spawn(work).unwrap().join().unwrap();
}

/// Everything that is said of a text points into it.
fn well_formed(text: &str) {
    let understood = read(text);
    let whole = understood.subject(text, &shell());
    assert_eq!(whole.inspectable, understood.why_not.is_none());
    for part in understood.all_parts() {
        assert!(text.get(part.source.clone()).is_some(), "{text:?} {:?}", part.source);
    }
    if let Some(why_not) = &understood.why_not {
        assert!(text.get(why_not.range.clone()).is_some(), "{text:?} {why_not:?}");
        assert!(whole.action.strength() >= Action::Execute.strength());
    }
}

#[test]
fn depth_costs_no_stack_and_length_only_its_length() {
    within_a_small_stack(|| {
        for motif in MOTIFS {
            for start in ["", "a ", "a \"$(", "cat <<A\n"] {
                // Far longer than what the gate looks at: anything worse than linear would not come to an end here.
                let text = start.to_owned() + &motif.repeat(24_000 / motif.len());
                let split = split(&text, "bash");
                assert!(
                    split.pieces.iter().all(|piece| text.get(piece.range.clone()).is_some()),
                    "{start:?} {motif:?}"
                );
            }
        }
    });
}

#[test]
fn as_much_as_is_looked_at_is_read_by_both_parsers_within_a_small_stack() {
    within_a_small_stack(|| {
        for motif in MOTIFS {
            for (start, end) in
                [("", ""), ("a ", ""), ("a \"", "\""), ("cat <<'A'\n", "\nA"), ("a \"$(cat <<'A'\n", "\nA\n)\"")]
            {
                let most = MOST_BYTES - start.len() - end.len();
                let text = start.to_owned() + &motif.repeat(most / motif.len()) + end;
                assert!(text.len() <= MOST_BYTES);
                well_formed(&text);
            }
        }
    });
}

/// Shell-like noise with more here-documents than anybody writes.
fn here_documents() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec!["<<", "<<-", "<<A", "<<'A'", "<<\"A\"", "<<\\A", "<<-'A'", "<<A<<B", "<<''", "<<$A", "<<$("]),
        4 => prop::sample::select(vec!["\n", "\nA\n", "\n\tA\n", "\nA", "A\n", "B\n", "\n\n", "\n)"]),
        3 => prop::sample::select(vec!["cat", " ", "\t", "A", "B", "x", ";", "|", "&&", "#", "-", "<", ">f"]),
        3 => prop::sample::select(vec!["'", "\"", "\\", "$", "$(", "\"$(cat <<'A'\n", ")", "`", "${", "}", "$x", "((", "ä"]),
    ];
    prop::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn here_documents_of_any_kind_are_read_or_refused(text in here_documents()) {
        well_formed(&text);
    }

    #[test]
    fn motifs_of_any_kind_are_read_or_refused(pieces in prop::collection::vec(prop::sample::select(MOTIFS), 0..16)) {
        well_formed(&pieces.concat());
    }
}

#[test]
fn a_shell_that_may_be_posix_puts_what_others_redirect_in_the_background() {
    let text = "echo &>f rm x";
    assert!(read(text).inspectable);
    // `dash` would run `echo` in the background and then `rm x`.
    let posix = understand(text, &Shell { name: "sh".to_owned(), ..shell() }, programs());
    assert!(!posix.inspectable);
    assert!(!read(&format!("sh -c '{text}'")).inspectable);
    // Of more than one digit, some shells make a word.
    assert!(read("ls 2>f").inspectable && !read("ls 12>f").inspectable);
}

#[test]
fn zsh_reads_some_redirections_otherwise() {
    for text in ["ls >!f", "rm <1-5>x", "ls >>!f"] {
        assert!(!understand(text, &Shell { name: "zsh".to_owned(), ..shell() }, programs()).inspectable, "{text}");
    }
}

/// A quote that is escaped opens nothing, and one inside the other kind closes nothing.
#[test]
fn marks_of_zsh_patterns_are_found_behind_any_quotes() {
    let zsh = |text: &str| understand(text, &Shell { name: "zsh".to_owned(), ..shell() }, programs());
    for mark in ["a#b", "x^y", "n~m", "##", "a==ls", "a=b:=ls", "=ls"] {
        for before in ["\\\"", "\\'", "\"\\\"\"", "'\\'", "\"'\"", "'\"'", "\\\\", "\"\\\\\"", "\\\"\"c\\\\d\"", "''"] {
            let text = format!("cmd {before}{mark}");
            // A sign that follows something is only itself.
            let itself = mark == "=ls" && !matches!(before, "''");
            assert_eq!(zsh(&text).inspectable, itself, "{text}");
            for (open, close) in [("'", "'"), ("\"", "\"")] {
                let text = format!("cmd {before}{open}{mark}{close}");
                assert!(zsh(&text).inspectable, "{text} {:?}", zsh(&text).why_not);
            }
        }
    }
}

/// What stands just before a redirection is a descriptor in one shell and a word in the other.
#[test]
fn numbers_and_names_before_any_redirection_are_not_taken_for_words() {
    for operator in ["&>", "&>>", ">&", ">|", ">>", ">", "<", "<>", "<<"] {
        for before in ["12", "{fd}", "{a1}", "1\\\n"] {
            let text = format!("cmd {before}{operator}f\nf\nf");
            assert!(!read(&text).inspectable, "{text:?}");
        }
    }
    for text in ["cmd 1&>f", "cmd 1&>>f", "cmd 2&>f", "cmd >1&>f", "cmd 0\\\n&>f"] {
        for name in ["bash", "zsh", "sh"] {
            let understood = understand(text, &Shell { name: name.to_owned(), ..shell() }, programs());
            assert!(!understood.inspectable, "{text:?} {name}");
        }
    }
    assert!(read("cmd 1 &>f").inspectable && read("cmd x1&>f").inspectable && read("cmd '1'&>f").inspectable);
}

#[test]
fn what_goes_on_in_the_next_line_is_not_put_together_otherwise() {
    for text in [
        "cat <\\\n<EOF\nEOF",
        "cat <<\\\n-A\nA",
        "ls >\\\n>f",
        "ls &\\\n& rm x",
        "A\\\n=1 ls",
        "i\\\nf true",
        "ls 2\\\n>f",
    ] {
        assert!(!read(text).inspectable, "{text:?}");
    }
    for text in ["ls &&\\\n rm x", "ls \\\n -a", "ls -\\\na", "ls |\\\n cat", "ls > \\\n f"] {
        assert!(read(text).inspectable, "{text:?} {:?}", read(text).why_not);
    }
}

#[test]
fn commands_are_found_wherever_they_hide() {
    let removed = ["rm", "-rf", "x"];
    for text in [
        "echo \"a `rm -rf x` b\"",
        "echo \"${a:-$(rm -rf x)}\"",
        "echo $(( $(rm -rf x) + 1 ))",
        "diff <(rm -rf x) y",
        "case a in a|b) rm -rf x ;; esac",
        "case a in (a) true;; (b) rm -rf x;; esac",
        "((rm -rf x); ls)",
        "f() { rm -rf x; }; f",
        "function f { rm -rf x; }",
        "if [ -f x ]; then rm -rf x; fi",
        "if [[ -f x && -d y ]]; then rm -rf x; fi",
        "while read a; do rm -rf x; done < f",
        "for ((i=0;i<3;i++)); do rm -rf x; done",
        "until false; do time ! rm -rf x; done",
        "A=1 B=$(true) rm -rf x",
        "A=$(rm -rf x)",
        "cat <<EOF\n$(rm -rf x)\nEOF",
        "cat <<EOF\n`rm -rf x`\nEOF\n",
        "bash <<EOF\nrm -rf x\necho $y\nEOF",
        "bash -c \"$y; rm -rf x\"",
        "sudo bash -c \"cd $y && rm -rf x\"",
        "eval \"rm -rf x; $y\"",
        "git commit -m \"$(rm -rf x)\"",
        "git commit -m \"$(cat <<'EOF'\n)\"; rm -rf x; echo \"\nEOF\n)\"",
        "echo $(echo $(echo $(rm -rf x)))",
        "echo \"it's $y\"; rm -rf x",
        "cat <<-'EOF'\n\tit's\n\tEOF\nrm -rf x",
        "echo 'unclosed; rm -rf x",
        "true & rm -rf x",
        "true |& rm -rf x",
        "coproc rm -rf x",
        "- rm -rf x",
        "noglob rm -rf x",
        "ls\\\n; { rm -rf x; } 2>/dev/null; echo $y",
    ] {
        let understood = read(text);
        assert!(!understood.inspectable, "{text}");
        assert!(understood.all_parts().iter().any(|part| part.argv == removed), "{text}: {:?}", understood.commands);
    }
}
