//! Every case of `tests/data/attacks.jsonl` of kind url, path, digest and display: its `expected`, as far as it belongs to
//! this room (what policy and grants make of it is tested where they live). Where we decide otherwise, a comment says why.
#![allow(clippy::unwrap_used, clippy::wildcard_enum_match_arm, missing_docs)]

use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::Path;

use placet_domain::subject::{NetworkClass, PathSubject, UrlSubject};
use placet_domain::{Flag, Judged, PathText, RefusedCode, Span, Subject};
use placet_subject::{Known, Programs, RawCall, judge, unshow};
use serde_json::{Value, json};

/// A workspace on disk that stands for the cases' `/ws`, with everything else beside it.
struct Room {
    folder: tempfile::TempDir,
}

impl Room {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("ws")).unwrap();
        Self { folder }
    }

    fn root(&self) -> String {
        self.folder.path().canonicalize().unwrap().to_str().unwrap().to_owned()
    }

    fn at(&self, path: &str) -> String {
        format!("{}{path}", self.root())
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        std::fs::create_dir_all(Path::new(&path).parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn known(&self) -> Known {
        Known::new(
            self.at("/home/u").as_str().into(),
            vec![self.at("/placet").as_str().into()],
            Programs::builtin().unwrap(),
        )
    }

    fn judge_raw(&self, tool: &str, input: &[u8]) -> Judged {
        let ws = PathText::from(self.at("/ws").as_str());
        judge(&RawCall::in_folder("claude-code", tool, input, &ws), &self.known())
    }

    fn judge(&self, tool: &str, input: &Value) -> Judged {
        self.judge_raw(tool, input.to_string().as_bytes())
    }

    fn write_call(&self, path: &str) -> Judged {
        self.judge("Write", &json!({"file_path": path, "content": "x\n"}))
    }
}

fn case(id: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/attacks.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()).find(|case| case["id"] == id).unwrap()
}

fn url_of(judged: &Judged) -> UrlSubject {
    match &judged.facts.subjects[0] {
        Subject::Url(url) => url.clone(),
        other => panic!("{other:?}"),
    }
}

fn path_of(judged: &Judged) -> PathSubject {
    match &judged.facts.subjects[0] {
        Subject::Path(path) => path.clone(),
        other => panic!("{other:?}"),
    }
}

fn code(judged: &Judged) -> Option<RefusedCode> {
    judged.facts.refused.as_ref().map(|refused| refused.code)
}

fn word(code: RefusedCode) -> String {
    serde_json::to_value(code).unwrap().as_str().unwrap().to_owned()
}

/// Spans in one line, escapes as the window draws them.
fn drawn(spans: &[Span]) -> String {
    spans
        .iter()
        .map(|span| match span {
            Span::Text { text, .. } => text.clone(),
            Span::Escape { escape, count, .. } => {
                let one = escape
                    .strip_prefix("U+")
                    .map_or_else(|| escape.clone(), |digits| format!("\\u{{{}}}", digits.trim_start_matches('0')));
                format!("{one}{}", count.map_or(String::new(), |n| format!("×{n}")))
            }
        })
        .collect()
}

fn drawn_card(judged: &Judged) -> String {
    let mut all = drawn(&judged.card.shown);
    for subject in &judged.card.subjects {
        for part in [&subject.lead, &subject.main, &subject.rest, &subject.asked] {
            all.push_str(&drawn(part));
        }
        all.push('\n');
        all.push_str(&subject.notes.join("\n"));
    }
    all
}

fn urls(case: &Value) -> Vec<String> {
    match &case["input"]["variants"] {
        Value::Array(variants) => variants.iter().map(|v| v.as_str().unwrap().to_owned()).collect(),
        _ => vec![case["input"]["args"]["url"].as_str().unwrap().to_owned()],
    }
}

/// Checks an address case against its `expected`, which names one value for all variants or a list of them.
fn check_url(id: &str) {
    let case = case(id);
    let expected = &case["expected"];
    let room = Room::new();
    let each = |key: &str, index: usize| match &expected[key] {
        Value::Array(values) if values.len() == urls(&case).len() && key != "flags" => values[index].clone(),
        other => other.clone(),
    };
    for (index, asked) in urls(&case).iter().enumerate() {
        let judged = room.judge("WebFetch", &json!({"url": asked, "prompt": "what?"}));
        let url = url_of(&judged);
        let flags: BTreeSet<_> = judged.facts.flags.iter().map(|flag| flag.word()).collect();
        let context = format!("{id} {asked:?}: {url:?} {flags:?} {:?}", judged.facts.refused);
        assert_eq!(unshow(&judged.card.shown).unwrap(), asked.as_bytes(), "{context}");
        if let Some(reason) = each("reason", index).as_str().filter(|reason| reason.contains('_')) {
            assert_eq!(code(&judged).map(word).as_deref(), Some(reason), "{context}");
        }
        if let Some(canonical) = each("canonical", index).as_str() {
            assert_eq!(url.normalized, canonical, "{context}");
        }
        for key in ["canonical_host", "canonical_ip"] {
            if let Some(host) = each(key, index).as_str() {
                assert_eq!(url.host, host, "{context}");
            }
        }
        for flag in expected["flags"].as_array().into_iter().flatten() {
            assert!(flags.contains(flag.as_str().unwrap()), "{flag} in {context}");
        }
        for text in expected["must_display"].as_array().into_iter().flatten() {
            let shown = &judged.card.subjects[0];
            let really = format!("{}{}{}", drawn(&shown.lead), drawn(&shown.main), drawn(&shown.rest));
            assert!(really.contains(text.as_str().unwrap()), "{text} in {really} of {context}");
        }
        if expected["remember_allowed"] == json!(false) {
            assert!(judged.facts.grantable.is_empty(), "{context}");
        }
        if let Some(emphasis) = expected["display_emphasis"].as_str() {
            assert_eq!(url.registrable_domain.as_deref(), Some(emphasis), "{context}");
        }
        if expected["decision"] != "deny" {
            assert_eq!(judged.facts.refused, None, "{context}");
        }
    }
}

#[test]
fn addresses() {
    for id in [
        "url-001", "url-002", "url-003", "url-004", "url-005", "url-006", "url-007", "url-008", "url-009", "url-010",
        "url-012", "url-013", "url-015", "url-016", "url-017", "url-020", "url-021", "url-022",
    ] {
        check_url(id);
    }
}

#[test]
fn addresses_beyond_the_table() {
    let room = Room::new();
    let fetch = |url: &str| room.judge("WebFetch", &json!({"url": url, "prompt": ""}));
    // url-007, url-008: what the denied range is compared with.
    for asked in urls(&case("url-008")) {
        assert_eq!(url_of(&fetch(&asked)).network, Some(NetworkClass::Loopback), "{asked}");
    }
    // url-009: IPv4 addresses in IPv6 clothes, each the metadata service.
    for asked in [
        "http://[::ffff:a9fe:a9fe]/",
        "http://[::ffff:169.254.169.254]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[2002:a9fe:a9fe::1]/",
        "http://[::a9fe:a9fe]/",
    ] {
        let judged = fetch(asked);
        assert_eq!(
            (url_of(&judged).host.as_str(), url_of(&judged).network),
            ("169.254.169.254", Some(NetworkClass::Metadata)),
            "{asked}"
        );
        assert!(judged.facts.grantable.is_empty(), "{asked}");
    }
    // url-010: two dots are no host, however the parser reads them.
    for asked in ["https://example.com../", "https://.example.com/", "https://a..b/"] {
        assert_eq!(code(&fetch(asked)), Some(RefusedCode::UrlMalformedHost), "{asked}");
    }
    assert_eq!(url_of(&fetch("http://metadata.google.internal./")).network, Some(NetworkClass::Metadata));
    // url-005: every spelling without plain slashes.
    for asked in [
        "https:h.example",
        "https:/h.example",
        "https:///h.example",
        "https:\\\\h.example",
        "HTTPS:\\/h.example",
        "https://h.example\\x",
        " https://h.example",
    ] {
        let judged = fetch(asked);
        assert_eq!(url_of(&judged).host, "h.example", "{asked}");
        assert!(
            judged.facts.flags.contains(&Flag::NonstandardSpelling) && judged.facts.grantable.is_empty(),
            "{asked}"
        );
    }
    // url-017: the third is odd, the others are plain.
    let odd: Vec<_> = urls(&case("url-017")).iter().map(|asked| url_of(&fetch(asked)).odd).collect();
    assert_eq!(odd, [false, false, true]);
    assert_eq!(url_of(&fetch("https://example.com:8443/")).port, 8443);
    // url-021: with a query only the very address.
    assert_eq!(
        serde_json::to_value(fetch("https://huggingface.co/api/x?d=S").facts.grantable).unwrap(),
        json!(["exact", "url"])
    );
    // url-022: a fragment is never sent and is no part of the subject.
    assert_eq!(url_of(&fetch("https://evil.example/#https://example.com/")).normalized, "https://evil.example/");
    // url-012: written in its real name it is not odd, only foreign.
    let judged = fetch("https://xn--80ak6aa92e.com/");
    assert!(!url_of(&judged).odd && judged.facts.flags.contains(&Flag::Idn));
    assert_eq!(url_of(&judged).host_unicode.as_deref(), Some("\u{430}\u{440}\u{440}\u{4cf}\u{435}.com"));
    for (asked, network) in [
        ("http://localhost:3000/", NetworkClass::Loopback),
        ("http://a.localhost/", NetworkClass::Loopback),
        ("http://[::1]/", NetworkClass::Loopback),
        ("http://0.0.0.0/", NetworkClass::Loopback),
        ("http://0/", NetworkClass::Loopback),
        ("http://10.1.2.3/", NetworkClass::Private),
        ("http://100.64.0.1/", NetworkClass::Private),
        ("http://[fd12::1]/", NetworkClass::Private),
        ("http://printer/", NetworkClass::Private),
        ("http://169.254.1.1/", NetworkClass::LinkLocal),
        ("http://[fe80::1]/", NetworkClass::LinkLocal),
        ("http://169.254.169.254/", NetworkClass::Metadata),
        ("http://0xa9fea9fe/", NetworkClass::Metadata),
    ] {
        assert_eq!(url_of(&fetch(asked)).network, Some(network), "{asked}");
    }
    assert_eq!(url_of(&fetch("https://example.com/")).network, None);
    assert_eq!(code(&fetch("")), Some(RefusedCode::EmptySubject));
}

#[test]
fn path_003_a_link_out_of_the_workspace() {
    let room = Room::new();
    room.write("/etc/passwd", "root\n");
    symlink(room.at("/etc/passwd"), room.at("/ws/pw")).unwrap();
    let judged = room.judge("Read", &json!({"file_path": room.at("/ws/pw")}));
    let path = path_of(&judged);
    assert_eq!(path.resolved.lossy(), room.at("/etc/passwd"));
    assert_eq!(path.normalized.lossy(), room.at("/ws/pw"));
    assert!(!path.inside_workspace && path.via_symlink);
    assert!(drawn(&judged.card.subjects[0].asked).ends_with("/ws/pw"));
}

#[test]
fn path_005_dotdot_through_what_is_not_there() {
    let room = Room::new();
    let judged = room.judge("Read", &json!({"file_path": "new/../../real/deep/f"}));
    assert_eq!(code(&judged), Some(RefusedCode::DotdotThroughMissingComponent));
    assert!(judged.facts.flags.contains(&Flag::Dotdot));
    assert_eq!(path_of(&judged).normalized.lossy(), room.at("/real/deep/f"));
}

#[test]
fn path_006_a_folder_swapped_for_a_link_while_it_waits() {
    let room = Room::new();
    room.write("/ws/d/f", "a\n");
    room.write("/etc/f", "b\n");
    let before = room.write_call("d/f");
    std::fs::rename(room.at("/ws/d"), room.at("/ws/d2")).unwrap();
    symlink(room.at("/etc"), room.at("/ws/d")).unwrap();
    let after = room.write_call("d/f");
    assert_ne!(before.facts.digest, after.facts.digest);
    let said = placet_subject::changed(&before.facts, &after.facts);
    assert_eq!(said, [format!("The path leads elsewhere now: {}.", room.at("/etc/f"))]);
}

#[test]
fn path_007_and_008_denied_names_fold() {
    // Which rule denies is the policy's; here the protected name is known in any case and accent form.
    let room = Room::new();
    for name in [".Cursor/MCP.json", ".CURSOR/x", ".cursor/mcp.json", ".placet.toml", "deep/.Placet.TOML"] {
        assert!(path_of(&room.write_call(name)).protected, "{name}");
    }
    // Two spellings of one accent are two files, and two digests.
    let (one, other) = (room.write_call("\u{e9}.cfg"), room.write_call("e\u{301}.cfg"));
    assert_ne!(one.facts.action_digest, other.facts.action_digest);
    assert!(other.facts.flags.contains(&Flag::NotNfc) && !one.facts.flags.contains(&Flag::NotNfc));
}

#[test]
fn path_010_magic_paths() {
    let room = Room::new();
    for path in urls(&case("path-010")) {
        let judged = room.judge("Read", &json!({"file_path": path}));
        assert_eq!(code(&judged), Some(RefusedCode::MagicPath), "{path}");
    }
    for path in [
        "/proc",
        "//proc/self/environ",
        "/./proc/self",
        "/x/../proc/1",
        "/sys/kernel",
        "/dev/sda",
        "/dev/null/x",
        "/dev/./fd/3",
    ] {
        assert_eq!(code(&room.judge("Read", &json!({"file_path": path}))), Some(RefusedCode::MagicPath), "{path}");
    }
    symlink("/proc/self/environ", room.at("/ws/env")).unwrap();
    symlink("/proc", room.at("/ws/p")).unwrap();
    for path in ["env", "p/self/mem", "p"] {
        assert_eq!(code(&room.judge("Read", &json!({"file_path": path}))), Some(RefusedCode::MagicPath), "{path}");
    }
    assert_eq!(code(&room.write_call("/dev/null")), None);
}

#[test]
fn path_011_unexpanded() {
    let room = Room::new();
    for path in urls(&case("path-011")) {
        assert_eq!(code(&room.write_call(&path)), Some(RefusedCode::UnexpandedOrAmbiguous), "{path}");
    }
}

#[test]
fn path_012_control_characters() {
    let room = Room::new();
    let decisions: Vec<_> = urls(&case("path-012"))
        .iter()
        .map(|path| {
            let judged = room.write_call(&path.replace("/ws", &room.at("/ws")));
            (code(&judged), drawn(&judged.card.shown), judged.facts.flags.contains(&Flag::Control))
        })
        .collect();
    assert_eq!(decisions[0].0, Some(RefusedCode::PathMalformed));
    // The window draws `\u{A}` and `\u{1B}` where the case says `\n` and `\x1b`.
    assert!(decisions[1].0.is_none() && decisions[1].2 && decisions[1].1.ends_with("a\\u{A}b"), "{:?}", decisions[1]);
    assert!(
        decisions[2].0.is_none() && decisions[2].2 && decisions[2].1.ends_with("a\\u{1B}[2Kb"),
        "{:?}",
        decisions[2]
    );
}

#[test]
fn path_013_what_is_shown_is_what_is_meant() {
    let room = Room::new();
    let asked = "hello\u{1b}[/../../etc/hosts";
    let judged = room.write_call(asked);
    assert_eq!(code(&judged), Some(RefusedCode::DotdotThroughMissingComponent));
    assert!(!drawn_card(&judged).contains("hellotc/hosts"));
    std::fs::create_dir(room.at("/ws/hello\u{1b}[")).unwrap();
    let judged = room.write_call(asked);
    assert_eq!(path_of(&judged).resolved.lossy(), room.at("/etc/hosts"));
    assert!(drawn_card(&judged).contains("hello\\u{1B}["));
}

#[test]
fn path_014_trailing_slashes_are_nothing() {
    let room = Room::new();
    room.write("/home/u/.aws/credentials", "x");
    let folder = room.at("/home/u/.aws");
    for path in urls(&case("path-014")) {
        let judged = room.judge("Read", &json!({"file_path": path.replace("/home/u", &room.at("/home/u"))}));
        let path = path_of(&judged);
        assert!(path.resolved.is_within(&folder.as_str().into()) && path.normalized.is_within(&folder.as_str().into()));
        assert!(path.protected && !path.resolved.lossy().ends_with('/'));
    }
    // Behind a file a slash means that it must be a folder.
    assert_eq!(
        code(&room.judge("Read", &json!({"file_path": room.at("/home/u/.aws/credentials/")}))),
        Some(RefusedCode::NotAFile)
    );
}

#[test]
fn path_016_settings_take_once_only() {
    let room = Room::new();
    for path in urls(&case("path-016")) {
        let judged = room.write_call(&path.replace("/ws", &room.at("/ws")));
        assert_eq!(judged.facts.refused, None, "{path}");
        assert!(path_of(&judged).protected && judged.facts.grantable.is_empty() && judged.card.grave, "{path}");
    }
}

#[test]
fn path_017_our_own_files() {
    let room = Room::new();
    room.write("/placet/placet.db", "x");
    std::fs::hard_link(room.at("/placet/placet.db"), room.at("/ws/innocent")).unwrap();
    symlink(room.at("/placet"), room.at("/ws/link")).unwrap();
    let known = Known::new(
        room.at("/home/u").as_str().into(),
        // The folder alone, as the gate names it: a file in it has one name too many.
        vec![room.at("/placet").as_str().into()],
        Programs::default(),
    );
    std::fs::create_dir_all(room.at("/placet/run")).unwrap();
    room.write("/placet/run/token", "x");
    std::fs::hard_link(room.at("/placet/run/token"), room.at("/ws/deeper")).unwrap();
    let ws = PathText::from(room.at("/ws").as_str());
    for (tool, path) in [
        ("Write", room.at("/placet/policy.toml")),
        ("Read", room.at("/placet/placet.db-wal")),
        ("Read", "link/placet.db".to_owned()),
        ("Write", "innocent".to_owned()),
        ("Read", "innocent".to_owned()),
        ("Read", "deeper".to_owned()),
        ("Read", room.at("/PLACET/run/gate.sock")),
    ] {
        let input = json!({"file_path": path, "content": "x"}).to_string();
        let judged = judge(&RawCall::in_folder("claude-code", tool, input.as_bytes(), &ws), &known);
        assert_eq!(code(&judged), Some(RefusedCode::SelfProtection), "{path}");
    }
}

#[test]
fn path_017_behind_a_link() {
    // A data folder behind a link has two names, and both are ours.
    let room = Room::new();
    room.write("/disk/placet/placet.db", "x");
    symlink(room.at("/disk"), room.at("/share")).unwrap();
    let own = vec![room.at("/share/placet").as_str().into()];
    let known = Known::new(room.at("/home/u").as_str().into(), own, Programs::default());
    let ws = PathText::from(room.at("/ws").as_str());
    for path in ["/share/placet/placet.db", "/disk/placet/new"] {
        let input = json!({"file_path": room.at(path)}).to_string();
        let call = RawCall::in_folder("claude-code", "Read", input.as_bytes(), &ws);
        assert_eq!(code(&judge(&call, &known)), Some(RefusedCode::SelfProtection), "{path}");
    }
}

#[test]
fn path_018_windows_spellings() {
    let room = Room::new();
    for path in urls(&case("path-018")) {
        assert_eq!(code(&room.write_call(&path)), Some(RefusedCode::PathMalformed), "{path}");
    }
}

#[test]
fn path_019_a_command_that_changes_folder_first() {
    // Decided since: a literal `cd` is followed, so that what comes after it is resolved from there.
    let room = Room::new();
    let known = Known { programs: Programs::builtin().unwrap(), ..room.known() };
    let ws = PathText::from(room.at("/ws").as_str());
    let input = json!({"command": "cd .claude && mv ../t settings.json"}).to_string();
    let call = RawCall::in_folder("claude-code", "Bash", input.as_bytes(), &ws);
    let judged = judge(&call, &known);
    assert!(judged.facts.flags.contains(&Flag::CwdChange), "{:?}", judged.facts.flags);
    let settings = room.at("/ws/.claude/settings.json");
    let touched = judged
        .facts
        .subjects
        .iter()
        .any(|s| matches!(s, Subject::Path(p) if p.resolved.lossy() == settings && p.protected));
    assert!(touched && judged.facts.grantable.is_empty(), "{:?}", judged.facts.subjects);
}

#[test]
fn dsp_001_direction_controls() {
    let room = Room::new();
    let command = case("dsp-001")["input"]["args"]["command"].clone();
    let judged = room.judge("Bash", &json!({"command": command}));
    for text in case("dsp-001")["expected"]["must_display"].as_array().unwrap() {
        assert!(drawn(&judged.card.shown).contains(text.as_str().unwrap()));
    }
    assert!(judged.facts.flags.contains(&Flag::Bidi));
}

#[test]
fn dsp_002_tags() {
    let room = Room::new();
    let text = case("dsp-002")["input"]["args"]["text"].clone();
    let judged = room.judge("SomeTool", &json!({"text": text}));
    let content = serde_json::to_string(&judged.card.content).unwrap();
    assert!(content.contains("U+E0072") && content.contains("U+E006D"));
    // The case calls the flag `invisible_chars`; ours is `invisible`.
    assert!(judged.facts.flags.contains(&Flag::Invisible));
}

#[test]
fn dsp_004_terminal_controls() {
    let room = Room::new();
    let command = case("dsp-004")["input"]["args"]["command"].clone();
    let judged = room.judge("Bash", &json!({"command": command}));
    let shown = drawn(&judged.card.shown);
    assert!(shown.contains("\\u{1B}[2K") && shown.contains("\\u{9B}1A"), "{shown}");
    assert_eq!(unshow(&judged.card.shown).unwrap(), command.as_str().unwrap().as_bytes());
    assert!(judged.facts.flags.contains(&Flag::Control));
}

#[test]
fn dsp_005_a_letter_of_another_alphabet() {
    let room = Room::new();
    room.write("/ws/README.md", "x\n");
    let judged = room.write_call("RE\u{410}DME.md");
    for flag in [Flag::MixedScript, Flag::Confusable] {
        assert!(judged.facts.flags.contains(&flag), "{flag:?}");
    }
    let shown = serde_json::to_string(&judged.card.shown).unwrap();
    assert!(shown.contains("U+0410"), "{shown}");
    assert!(judged.card.subjects[0].notes.iter().any(|note| note.contains("U+0410")));
}

#[test]
fn dsp_006_signs_that_look_like_a_slash() {
    let room = Room::new();
    for sign in ["\u{2044}", "\u{2215}", "\u{29f8}", "\u{ff0f}"] {
        let judged = room.write_call(&format!("tmp{sign}evil"));
        let main = &judged.card.subjects[0].main;
        assert_eq!(unshow(main).unwrap(), format!("tmp{sign}evil").as_bytes());
        assert!(main.iter().any(|span| matches!(span, Span::Escape { label, .. } if label == "looks like a slash")));
    }
}

#[test]
fn dsp_007_nothing_is_cut_off() {
    let room = Room::new();
    let command = format!("{}; rm -rf ~", "echo fine\n".repeat(3000));
    let judged = room.judge("Bash", &json!({"command": command}));
    let content = serde_json::to_string(&judged.card.content).unwrap();
    assert!(content.contains("rm -rf ~") && judged.facts.flags.contains(&Flag::Long));
    assert!(judged.card.grave);
}

#[test]
fn dsp_008_and_009_the_agents_words_come_last() {
    let room = Room::new();
    let input = case("dsp-008")["input"]["args"].clone();
    let judged = room.judge("Bash", &input);
    assert!(drawn(&judged.card.says).contains("<img src=x onerror"));
    assert!(!judged.card.headline.contains("img"));
    assert_eq!(drawn(&judged.card.shown), input["command"].as_str().unwrap());
    let judged = room.judge("Bash", &case("dsp-009")["input"]["args"]);
    assert_eq!((drawn(&judged.card.shown).as_str(), drawn(&judged.card.says).as_str()), ("rm -rf ~", "List files"));
}

#[test]
fn dsp_010_text_that_imitates_us_stays_text() {
    let room = Room::new();
    let judged = room.judge("Bash", &case("dsp-010")["input"]["args"]);
    // Line breaks are chips in a subject, so that nothing of it stands on a line of its own.
    assert!(drawn(&judged.card.shown).contains("ls\\u{A}×2Digest"));
    assert!(!judged.card.headline.contains("APPROVED"));
    assert!(judged.facts.flags.contains(&Flag::MultiLine));
}

#[test]
fn dsp_011_padding_is_counted() {
    let room = Room::new();
    let judged = room.judge("Bash", &case("dsp-011")["input"]["args"]);
    let tabs = judged.card.shown.iter().find_map(|span| match span {
        Span::Escape { escape, count, .. } if escape == "U+0009" => *count,
        Span::Escape { .. } | Span::Text { .. } => None,
    });
    assert_eq!(tabs, Some(16));
}

#[test]
fn dsp_012_nothing_to_judge() {
    let room = Room::new();
    assert_eq!(code(&room.judge("Bash", &json!({"command": ""}))), Some(RefusedCode::EmptySubject));
    assert_eq!(code(&room.judge("Bash", &json!({"command": " \n"}))), Some(RefusedCode::EmptySubject));
    assert_eq!(code(&room.write_call("")), Some(RefusedCode::EmptySubject));
    assert_eq!(code(&room.judge("Bash", &json!({}))), Some(RefusedCode::Malformed));
}

#[test]
fn dsp_013_floods_of_marks() {
    let room = Room::new();
    let path = case("dsp-013")["input"]["args"]["file_path"].as_str().unwrap().replace("/ws/", "");
    let judged = room.write_call(&path);
    let marks = judged.card.shown.iter().filter(|span| matches!(span, Span::Escape { .. })).count();
    assert_eq!(marks, 22, "24 marks, two of which are drawn");
}

#[test]
fn dsp_014_what_is_shown_is_whole() {
    // Masking is the store's; the card itself hides neither host nor command.
    let room = Room::new();
    let judged = room.judge("Bash", &case("dsp-014")["input"]["args"]);
    assert!(drawn(&judged.card.shown).contains("https://evil.example"));
}

#[test]
fn dsp_015_the_headline_is_ours() {
    // What a notification may say of a call: words that no input can change.
    let room = Room::new();
    let judged = room.judge("mcp__x__APPROVED", &json!({"a": "<b>"}));
    assert_eq!(judged.card.headline, "one tool of an MCP server");
}

#[test]
fn dig_002_numbers_that_do_not_survive() {
    let room = Room::new();
    let case = case("dig-002");
    for key in ["a", "b"] {
        let judged = room.judge_raw("T", case["input"][key].as_str().unwrap().as_bytes());
        assert_eq!(code(&judged), Some(RefusedCode::NumberOutOfRange));
    }
}

#[test]
fn dig_004_lone_surrogates() {
    let room = Room::new();
    let judged = room.judge_raw("T", case("dig-004")["input"]["raw"].as_str().unwrap().as_bytes());
    assert_eq!(code(&judged), Some(RefusedCode::InvalidUnicode));
}

#[test]
fn dig_006_what_is_no_strict_json() {
    // The size limit is the socket's 16 MiB, not 1 MiB: files of some megabytes are written in one call.
    let room = Room::new();
    let refused = |raw: &str| code(&room.judge_raw("T", raw.as_bytes()));
    assert_eq!(refused("\u{feff}{\"a\":1}"), Some(RefusedCode::Malformed));
    assert_eq!(refused("{\"a\":1}x"), Some(RefusedCode::Malformed));
    assert_eq!(refused(&"[".repeat(200)), Some(RefusedCode::TooDeep));
    assert_eq!(refused("{\"a\":1,\"a\":2}"), Some(RefusedCode::DuplicateKeys));
    assert_eq!(refused("[]"), Some(RefusedCode::Malformed));
}

#[test]
fn dig_007_two_digests() {
    let room = Room::new();
    let case = case("dig-007");
    let (a, b) = (room.judge("Bash", &case["input"]["a"]), room.judge("Bash", &case["input"]["b"]));
    assert_eq!(a.facts.action_digest, b.facts.action_digest);
    assert_ne!(a.facts.digest, b.facts.digest);
    for field in ["run_in_background", "dangerouslyDisableSandbox"] {
        let other = room.judge("Bash", &json!({"command": "make", "description": "Build", field: true}));
        assert_ne!(a.facts.action_digest, other.facts.action_digest, "{field}");
    }
    // Of an unknown tool nothing is mere talk.
    let unknown = |description: &str| room.judge("T", &json!({"description": description})).facts.action_digest;
    assert_ne!(unknown("a"), unknown("b"));
}

#[test]
fn dig_008_a_server_is_more_than_its_name() {
    // The definition's digest enters where the gate has seen it; the name alone never makes two servers one.
    let room = Room::new();
    let one = room.judge("mcp__build__run", &json!({"a": 1}));
    let other = room.judge("mcp__build2__run", &json!({"a": 1}));
    assert_ne!(one.facts.action_digest, other.facts.action_digest);
}

#[test]
fn dig_011_a_rewritten_input_is_another_call() {
    let room = Room::new();
    let (ls, rm) = (room.judge("Bash", &json!({"command": "ls"})), room.judge("Bash", &json!({"command": "rm"})));
    assert_ne!(ls.facts.digest, rm.facts.digest);
    assert!(!placet_subject::changed(&ls.facts, &rm.facts).is_empty());
}

#[test]
fn no_case_is_left_out() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/attacks.jsonl");
    let here = include_str!("attacks.rs");
    for line in std::fs::read_to_string(path).unwrap().lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let id = case["id"].as_str().unwrap();
        if !matches!(case["kind"].as_str().unwrap(), "url" | "path" | "digest" | "display") {
            continue;
        }
        let number = id.rsplit('-').next().unwrap();
        let named =
            here.contains(id) || here.contains(&id.replace('-', "_")) || here.contains(&format!("_and_{number}"));
        assert!(named, "{id} has no test");
    }
}
