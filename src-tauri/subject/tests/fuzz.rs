//! Fuzzing without coverage, on stable Rust: the committed corpus, and thousands of mutations of it.
//!
//! What comes out is the same on every run. `PLACET_FUZZ_SEED` gives another series and `PLACET_FUZZ_TIMES` so many
//! times more of it; a failure prints the seed and the input. `fuzz/` has the same targets for `cargo fuzz`.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use placet_subject::command::{Part, Understood};

#[path = "fuzz/bash.rs"]
mod bash;
#[path = "fuzz/mutations.rs"]
mod mutations;
#[path = "fuzz/targets.rs"]
mod targets;

use bash::Ran;
use mutations::Series;

/// Prints what was being looked at if that ends in a panic.
struct Looked<'a> {
    seed: u64,
    input: &'a [u8],
}

impl Drop for Looked<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("PLACET_FUZZ_SEED={} gave {:?}", self.seed, String::from_utf8_lossy(self.input));
            eprintln!("in bytes: {:?}", self.input);
        }
    }
}

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().map_or(otherwise, |value| value.parse().unwrap())
}

/// Files of `fuzz-corpus/NAME`, in order.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fuzz-corpus").join(name);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|file| std::fs::read(file).unwrap()).collect()
}

/// Hands the corpus and `count` mutations of it to `look`.
fn each(name: &str, words: &[&str], count: u64, mut look: impl FnMut(&[u8])) {
    let seed = setting("PLACET_FUZZ_SEED", 1);
    let corpus = corpus(name);
    assert!(corpus.len() >= 10, "{name} has too little to begin with");
    let mut series = Series::new(seed);
    let mutations = count * setting("PLACET_FUZZ_TIMES", 1);
    for n in 0..corpus.len() as u64 + mutations {
        let kept = usize::try_from(n).ok().and_then(|n| corpus.get(n));
        let input = kept.cloned().unwrap_or_else(|| series.mutated(&corpus, words));
        let looked = Looked { seed, input: &input };
        look(&input);
        drop(looked);
    }
}

#[test]
fn strict_json_reads_what_the_usual_reader_reads_or_says_why_not() {
    let words = [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"a\":",
        "\"a\":1",
        ",\"a\":2",
        "\"\\u0061\":",
        "\"\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\\ud83d\\ude00",
        "\\u0000",
        "\\",
        "\"",
        "0",
        "-0",
        "1e999",
        "1.0",
        "1e-7",
        "0.1",
        "9007199254740991",
        "9007199254740993",
        "18446744073709551616",
        "-",
        "+1",
        "01",
        ".5",
        "5.",
        "1E+2",
        "true",
        "null",
        "NaN",
        " ",
        "\n",
        "\u{feff}",
        "é",
        "[[[[[[[[[[[[[[[[",
        "]]]]]]]]]]]]]]]]",
        "/**/",
        "\0",
    ];
    let (mut taken, mut seen) = (0, 0);
    each("json", &words, 20_000, |input| {
        seen += 1;
        taken += u32::from(targets::json(input));
    });
    assert!(taken > 500, "only {taken} of {seen} were taken, so that little was compared");
}

#[test]
fn whatever_is_shown_parses_back_and_hides_nothing() {
    let words = [
        "\u{202e}",
        "\u{2066}",
        "\u{200b}",
        "\u{e0041}",
        "\u{1b}[2K",
        "\u{9b}",
        "\u{301}",
        "\u{301}\u{301}\u{301}",
        "\t",
        "\n",
        "\r\n",
        "        ",
        "         ",
        "\\u{202E}",
        "U+202E",
        "0xFF",
        "×3",
        "文",
        "е",
        "ﬁ",
        "\u{a0}",
        "\u{2028}",
        "\u{2044}",
        "⟦",
        "🦀",
        "שלום",
        "\0",
        "a",
    ];
    let mut before = Vec::new();
    each("show", &words, 12_000, |input| {
        targets::shown(input);
        targets::shown_apart(&before, input);
        before = input.to_vec();
    });
}

#[test]
fn commands_are_read_as_bash_runs_them() {
    let words = [
        " ",
        " ",
        "\n",
        ";",
        "&&",
        "||",
        "|",
        "&",
        "'",
        "\"",
        "\\",
        "\\\n",
        "$",
        "$(",
        "${",
        ")",
        "(",
        "`",
        "{",
        "}",
        "{}",
        "<<E",
        "<<'E'",
        "<<\"E\"",
        "<<\\E",
        "<<-E",
        "<<<",
        "\nE\n",
        "\n\tE\n",
        "E",
        ">",
        ">>",
        ">f",
        "> f",
        ">|f",
        "&>f",
        "2>&1",
        ">&2",
        "2>f",
        "12>f",
        "#",
        " #",
        "*",
        "?",
        "[",
        "~",
        "=",
        "A=b ",
        "!",
        "^",
        "@",
        "%",
        "a",
        "b",
        "cmd",
        "git",
        "-x",
        "ä",
        "\u{a0}",
        "\r",
        "\"$(cat <<'E'\n",
        "\nE\n)\"",
        "if",
        "then",
        "time ",
        "[[ ",
        "export ",
        "cd ",
        ":",
        "\t",
    ];
    let mut compared: Vec<(String, Vec<Ran>)> = Vec::new();
    let most = usize::try_from(600 * setting("PLACET_FUZZ_TIMES", 1)).unwrap();
    let mut understood = 0;
    each("command", &words, 15_000, |input| {
        let text = String::from_utf8_lossy(input);
        let read = targets::command(&text);
        understood += u32::from(read.inspectable);
        if compared.len() < most
            && read.inspectable
            && runs_apart(&text, &read)
            && compared.iter().all(|(known, _)| *known != text)
        {
            compared.push((text.into_owned(), read.commands.iter().map(will_run).collect()));
        }
    });
    assert!(understood > 500 && compared.len() > 250, "{understood} understood, {} compared", compared.len());
    let texts: Vec<&str> = compared.iter().map(|(text, _)| text.as_str()).collect();
    for ((text, mut read), mut ran) in compared.iter().cloned().zip(bash::run(&texts)) {
        if text.contains('|') {
            // The programs of a pipe run at the same time.
            read.sort();
            ran.sort();
        }
        assert_eq!(ran, read, "bash runs {text:?} otherwise");
    }
    for text in &texts {
        assert!(bash::takes(text), "bash does not take {text:?}");
    }
}

/// Whether a text can be run with stand-ins for its programs, in an empty folder, and every part of it will.
fn runs_apart(text: &str, read: &Understood) -> bool {
    // Nothing outside the folder, no descriptors but its own, no file that must be there, nothing that waits on failure.
    let own = |after: &str| after.starts_with(['1', '2']) && !after[1..].starts_with(|c: char| !" \n;|".contains(c));
    let descriptors = text.split(">&").skip(1).all(own);
    let documents = read.commands.iter().filter(|part| part.heredoc.is_some()).count();
    let reads = text.matches('<').count() != 2 * documents;
    let odd = text.contains('/') || text.contains("||") || !descriptors || reads;
    !odd && read.commands.iter().all(|part| {
        let stand_in = part.argv.first().is_some_and(|name| bash::STAND_INS.contains(&name.as_str()));
        let plain = |path: &placet_domain::PathText| {
            let path = path.lossy();
            let name = path.rsplit('/').next().unwrap_or_default();
            !matches!(name, "" | "." | ".." | "ws") && name.len() < 200
        };
        stand_in && part.reads.iter().chain(&part.writes).all(plain)
    })
}

fn will_run(part: &Part) -> Ran {
    let input = part.heredoc.as_ref().map(|document| document.text.clone()).unwrap_or_default();
    Ran { argv: part.argv.clone(), input }
}
