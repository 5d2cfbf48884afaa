//! The web platform tests' URL parsing data: every address is read as the standard reads it, and shown byte for byte.
#![allow(clippy::unwrap_used, missing_docs)]

use std::path::Path;

use placet_domain::{PathText, RefusedCode, Subject};
use placet_subject::{Known, Programs, RawCall, judge, unshow};
use serde_json::{Value, json};

#[test]
fn every_address_is_read_as_the_standard_reads_it() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/urltestdata.json");
    let cases: Vec<Value> = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let (mut read, mut refused, mut shown) = (0, 0, 0);
    for case in cases.iter().filter(|case| case.is_object()) {
        let Some(asked) = case["input"].as_str() else { continue };
        let judged = fetch(asked);
        assert_eq!(unshow(&judged.card.shown).unwrap(), asked.as_bytes(), "{asked:?}");
        shown += 1;
        let Subject::Url(url) = &judged.facts.subjects[0] else { panic!("{asked:?}") };
        let code = judged.facts.refused.as_ref().map(|refused| refused.code);
        // An agent's call has no base; what would need one is no address here. So is an empty one.
        if asked.trim().is_empty() {
            assert_eq!(code, Some(RefusedCode::EmptySubject), "{asked:?}");
        } else if case["base"].is_null() && case["failure"] == json!(true) {
            assert_eq!(code, Some(RefusedCode::UrlUnparseable), "{asked:?}");
            refused += 1;
        } else if case["base"].is_null() && matches!(case["protocol"].as_str(), Some("http:" | "https:")) {
            let expected = expected(case);
            assert_eq!(url.normalized, expected, "{asked:?}");
            let again = fetch(&url.normalized);
            if code.is_none() {
                let Subject::Url(twice) = &again.facts.subjects[0] else { panic!("{asked:?}") };
                assert_eq!(
                    (&twice.normalized, &twice.host),
                    (&url.normalized, &url.host),
                    "normalizing twice: {asked:?}"
                );
            }
            read += 1;
        } else if case["base"].is_null() {
            assert_eq!(code, Some(RefusedCode::SchemeNotAllowed), "{asked:?}");
            refused += 1;
        }
    }
    assert!(read > 100 && refused > 100 && shown > 800, "{read} {refused} {shown}");
}

fn fetch(asked: &str) -> placet_domain::Judged {
    let cwd = PathText::from("/nowhere");
    let input = json!({"url": asked, "prompt": ""}).to_string();
    let call = RawCall::in_folder("claude-code", "WebFetch", input.as_bytes(), &cwd);
    judge(&call, &Known::new("/home/dev".into(), Vec::new(), Programs::default()))
}

/// The standard's serialization, less what a subject leaves out: userinfo, fragment and one trailing dot of the host.
fn expected(case: &Value) -> String {
    let text = |key: &str| case[key].as_str().unwrap().to_owned();
    let (name, port) = (text("hostname"), text("port"));
    let name =
        name.strip_suffix('.').filter(|rest| !rest.is_empty() && !rest.ends_with('.')).unwrap_or(&name).to_owned();
    let port = if port.is_empty() { String::new() } else { format!(":{port}") };
    let mut whole = format!("{}//{name}{port}{}{}", text("protocol"), text("pathname"), text("search"));
    // An empty query leaves its mark in the serialization only.
    let before_fragment = text("href").split('#').next().unwrap().to_owned();
    if text("search").is_empty() && before_fragment.ends_with('?') {
        whole.push('?');
    }
    whole
}
