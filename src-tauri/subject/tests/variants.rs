//! Every line of `tests/data/variants.jsonl`: hostile spellings of addresses, paths, texts and inputs, each with what must
//! come out. `refused` is a code, `any` or null; `once` says that no grant but of the very call may come of it.
#![allow(clippy::unwrap_used, missing_docs)]

use std::path::Path;

use placet_domain::{Judged, PathText, Span, Subject};
use placet_subject::{Known, Programs, RawCall, judge, unshow};
use serde_json::Value;

fn word(value: impl serde::Serialize) -> String {
    serde_json::to_value(value).unwrap().as_str().unwrap_or_default().to_owned()
}

/// The characters that are drawn as themselves.
fn drawn(judged: &Judged) -> String {
    let parts = judged.card.subjects.iter().flat_map(|s| [&s.lead, &s.main, &s.rest, &s.asked]);
    let spans = parts.chain([&judged.card.shown]).flatten();
    spans.filter_map(|span| if let Span::Text { text, .. } = span { Some(text.as_str()) } else { None }).collect()
}

/// What is wrong with what came out, in words.
fn faults(case: &Value, judged: &Judged) -> Vec<String> {
    let facts = &judged.facts;
    let mut faults = Vec::new();
    let mut must = |holds: bool, what: String| {
        if !holds {
            faults.push(what);
        }
    };
    let refused = facts.refused.as_ref().map(|refused| word(refused.code));
    match case.get("refused").and_then(Value::as_str) {
        Some("any") => must(refused.is_some(), "is not refused".to_owned()),
        Some(code) => must(refused.as_deref() == Some(code), format!("refused as {refused:?}")),
        None if case.get("refused").is_some() => must(refused.is_none(), format!("refused as {refused:?}")),
        None => {}
    }
    let grantable: Vec<String> = facts.grantable.iter().map(word).collect();
    if case["once"] == true {
        let wider = grantable.iter().any(|scope| scope != "exact");
        must(refused.is_some() || !wider, format!("may be granted {grantable:?}"));
    }
    for scope in case["grantable_lacks"].as_array().into_iter().flatten() {
        must(!grantable.iter().any(|had| had == scope), format!("may be granted {grantable:?}"));
    }
    let flags: Vec<_> = facts.flags.iter().map(|flag| flag.word().to_owned()).collect();
    for flag in case["flags"].as_array().into_iter().flatten() {
        must(flags.iter().any(|had| had == flag), format!("flags {flags:?}"));
    }
    if let Some(hidden) = case["shown_lacks"].as_str() {
        must(!drawn(judged).contains(hidden), "is drawn as itself".to_owned());
    }
    match facts.subjects.first() {
        Some(Subject::Url(url)) => {
            for (key, had) in [("host", &url.host), ("normalized", &url.normalized)] {
                must(case[key].as_str().is_none_or(|wanted| wanted == had), format!("{key} {had}"));
            }
            let network = url.network.map(word);
            let wanted = case.get("network").map(Value::as_str);
            must(wanted.is_none_or(|wanted| wanted == network.as_deref()), format!("network {network:?}"));
        }
        Some(Subject::Path(path)) => {
            must(
                case["protected"].as_bool().is_none_or(|p| p == path.protected),
                format!("protected {}", path.protected),
            );
            let plain = refused.is_none() && facts.flags.is_empty();
            must(case["not_plain"] != true || !plain, "taken for a plain path".to_owned());
        }
        Some(_) | None => {}
    }
    faults
}

#[test]
fn every_spelling_comes_out_as_it_must() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().to_str().unwrap().to_owned();
    std::fs::create_dir(folder.path().join("ws")).unwrap();
    let known = Known::new(format!("{root}/home/u").as_str().into(), vec![], Programs::builtin().unwrap());
    let ws = PathText::from(format!("{root}/ws").as_str());
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/variants.jsonl");
    let cases = std::fs::read_to_string(data).unwrap();
    let mut all = Vec::new();
    for line in cases.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let place = |text: &str| match text {
            _ if case["absolute"] == true => text.to_owned(),
            _ if text.starts_with("/ws") || text.starts_with("/home/u") => format!("{root}{text}"),
            _ => text.to_owned(),
        };
        let input = case["raw"].as_str().map_or_else(
            || {
                let mut input = case["input"].clone();
                if let Some(path) = input.get_mut("file_path") {
                    *path = Value::from(place(path.as_str().unwrap()));
                }
                input.to_string()
            },
            str::to_owned,
        );
        let tool = case["tool"].as_str().unwrap();
        let judged = judge(&RawCall::in_folder("claude-code", tool, input.as_bytes(), &ws), &known);
        if let Some(asked) = case["input"]["command"].as_str() {
            assert_eq!(unshow(&judged.card.shown).unwrap(), asked.as_bytes(), "{line}");
        }
        all.extend(faults(&case, &judged).into_iter().map(|fault| format!("{fault}: {line:.200}")));
    }
    assert!(cases.lines().count() > 200 && all.is_empty(), "{}", all.join("\n"));
}
