//! Facts and cards as they are kept: their secrets masked, all that decides or proves as it is.
//!
//! Digests stay those of what was judged, so that what is kept still proves what was seen. Paths, hosts and names are
//! never masked: without them a history says nothing.

use serde_json::Value;

use crate::{
    CallFacts, Card, Fact, Span, Subject,
    card::{Content, ShownCommand},
    redact::{Line, Lines, may_hold_secrets, redact, redact_json},
};

/// A call with its secrets masked; none where it has none.
pub fn call(facts: &CallFacts) -> Option<CallFacts> {
    if !holds_secrets(facts) {
        return None;
    }
    let mut kept = facts.clone();
    let mut masked = kept.doubt.as_mut().map_or(0, text);
    masked += kept.refused.as_mut().map_or(0, |refused| text(&mut refused.reason));
    masked += kept.subjects.iter_mut().map(subject).sum::<usize>();
    (masked > 0).then_some(kept)
}

/// A fact with its secrets masked; none where it has none.
pub fn fact(fact: &Fact) -> Option<Fact> {
    let mut kept = fact.clone();
    let masked = match &mut kept {
        Fact::CallAllowed { call, .. } => in_call(call),
        Fact::CallDenied { call, reason, .. } | Fact::ApprovalAsked { call, reason, .. } => {
            in_call(call) + text(reason)
        }
        Fact::ApprovalRefreshed { call, changed, .. } => in_call(call) + changed.iter_mut().map(text).sum::<usize>(),
        Fact::ApprovalVoided { changed, .. } => changed.iter_mut().map(text).sum(),
        Fact::ApprovalApproved { note, .. }
        | Fact::ApprovalDenied { note, .. }
        | Fact::ApprovalCancelled { note, .. }
        | Fact::GrantRevoked { note, .. } => note.as_mut().map_or(0, text),
        Fact::SessionStopped { summary, .. } => summary.as_mut().map_or(0, text),
        Fact::HookFailed { message, .. } | Fact::AlertRaised { message, .. } => text(message),
        Fact::AppStarted { .. }
        | Fact::AppStopped {}
        | Fact::SessionStarted { .. }
        | Fact::SessionResumed { .. }
        | Fact::ApprovalAttached { .. }
        | Fact::ApprovalExpired { .. }
        | Fact::ApprovalConsumed { .. }
        | Fact::ApprovalLapsed { .. }
        | Fact::GrantIssued { .. }
        | Fact::GrantEnded { .. }
        | Fact::GrantShortened { .. }
        | Fact::CallRan { .. }
        | Fact::PolicyLoaded { .. }
        | Fact::PolicyRefused { .. }
        | Fact::Paused { .. }
        | Fact::Resumed { .. } => 0,
    };
    (masked > 0).then_some(kept)
}

/// A card with its secrets masked; none where it has none.
pub fn card(card: &Card) -> Option<Card> {
    let mut kept = card.clone();
    let mut masked = line(&mut kept.shown) + line(&mut kept.says);
    for subject in &mut kept.subjects {
        masked += line(&mut subject.rest) + line(&mut subject.main) + line(&mut subject.asked);
        masked += subject.notes.iter_mut().map(text).sum::<usize>();
    }
    masked += kept.commands.iter_mut().map(shown_command).sum::<usize>();
    masked += kept.content.iter_mut().map(content).sum::<usize>();
    (masked > 0).then_some(kept)
}

/// An input's JSON, or whatever came in its place, with its secrets masked; none where it has none.
pub fn input(bytes: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(bytes);
    if !may_hold_secrets(&text) {
        return None;
    }
    // What is no JSON is kept as a JSON text, so that whatever is kept can be read.
    let (masked, kept) = serde_json::from_str::<Value>(&text).map_or_else(
        |_| {
            let redacted = redact(&text);
            (redacted.masked, Value::from(redacted.text))
        },
        |mut value| (redact_json(&mut value), value),
    );
    (masked > 0).then(|| kept.to_string().into_bytes())
}

fn in_call(facts: &mut CallFacts) -> usize {
    call(facts).map_or(0, |kept| {
        *facts = kept;
        1
    })
}

fn holds_secrets(facts: &CallFacts) -> bool {
    let command = |asked: &str| may_hold_secrets(asked);
    facts.doubt.as_deref().is_some_and(may_hold_secrets)
        || facts.refused.as_ref().is_some_and(|refused| may_hold_secrets(&refused.reason))
        || facts.subjects.iter().any(|subject| match subject {
            // Its words are in it.
            Subject::Command(shell) => command(&shell.asked),
            Subject::Url(url) => may_hold_secrets(&url.asked),
            Subject::Path(_) | Subject::Mcp(_) | Subject::Tool(_) => false,
        })
}

fn subject(subject: &mut Subject) -> usize {
    match subject {
        Subject::Command(command) => {
            let mut masked = text(&mut command.asked) + command.why_not.as_mut().map_or(0, text);
            for part in &mut command.commands {
                masked += words(&mut part.argv) + part.carrier_of.as_mut().map_or(0, |inner| words(inner));
                masked += part.why_not.as_mut().map_or(0, text);
            }
            masked
        }
        Subject::Url(url) => text(&mut url.asked) + text(&mut url.normalized),
        Subject::Path(_) | Subject::Mcp(_) | Subject::Tool(_) => 0,
    }
}

/// Words that a program is given: a secret may stand behind the flag that it belongs to.
fn words(words: &mut [String]) -> usize {
    let mut masked: usize = words.iter_mut().map(text).sum();
    for at in 1..words.len() {
        let (flag, value) = (&words[at - 1], &words[at]);
        if !flag.starts_with('-') || value.contains(char::is_whitespace) {
            continue;
        }
        let pair = format!("{flag} {value}");
        let redacted = redact(&pair);
        if redacted.masked > 0
            && let Some(value) = redacted.text.strip_prefix(&format!("{flag} "))
        {
            value.clone_into(&mut words[at]);
            masked += 1;
        }
    }
    masked
}

fn shown_command(command: &mut ShownCommand) -> usize {
    let mut masked = line(&mut command.words) + command.why_not.as_mut().map_or(0, text);
    for effect in &mut command.effects {
        masked += line(&mut effect.target);
    }
    masked
}

fn content(content: &mut Content) -> usize {
    let mut state = Lines::default();
    match content {
        Content::Diff { lines, .. } => lines.iter_mut().map(|one| next(&mut state, &mut one.spans)).sum(),
        Content::Text { lines, .. } => lines.iter_mut().map(|one| next(&mut state, one)).sum(),
        Content::Binary { .. } => 0,
    }
}

fn line(spans: &mut Vec<Span>) -> usize {
    next(&mut Lines::default(), spans)
}

/// A line is looked at as a whole: what differs may be marked within a secret.
fn next(lines: &mut Lines, spans: &mut Vec<Span>) -> usize {
    let mut whole = String::new();
    for span in &*spans {
        match span {
            Span::Text { text, .. } => whole.push_str(text),
            Span::Escape { escape, .. } => {
                whole.push('‹');
                whole.push_str(escape);
                whole.push('›');
            }
        }
    }
    let (text, masked) = match lines.next(&whole) {
        Line::Same => return 0,
        Line::Masked(text, masked) => (text, masked),
        Line::Gone => ("[masked]".to_owned(), 1),
    };
    *spans = vec![Span::text(text)];
    masked
}

fn text(text: &mut String) -> usize {
    let redacted = redact(text);
    let masked = redacted.masked;
    if masked > 0 {
        *text = redacted.text.into_owned();
    }
    masked
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;
    use crate::card::{Change, DiffLine};

    const SECRET: &str = "hunter-22-and-more";

    fn command(line: &str, argv: &[&str]) -> CallFacts {
        let mut facts = crate::testing::write("/w/a").facts;
        facts.subjects = vec![
            serde_json::from_value(json!({
                "kind": "command", "action": "execute", "asked": line, "inspectable": true, "shell": "bash",
                "commands": [{ "argv": argv, "effect": "execute", "reads": [], "writes": [], "hosts": [],
                    "carrier_of": argv }],
            }))
            .unwrap(),
        ];
        facts
    }

    #[test]
    fn a_call_is_kept_without_its_secrets_and_with_its_digests() {
        for (line, argv) in [
            ("login --password hunter-22-and-more", &["login", "--password", SECRET][..]),
            ("API_TOKEN=hunter-22-and-more run", &["API_TOKEN=hunter-22-and-more", "run"]),
            ("curl -u me:hunter-22-and-more https://h/", &["curl", "-u", "me:hunter-22-and-more", "https://h/"]),
        ] {
            let facts = command(line, argv);
            let kept = call(&facts).unwrap();
            let text = serde_json::to_string(&kept).unwrap();
            assert!(!text.contains(SECRET), "{text}");
            assert_eq!((kept.digest, kept.raw_sha256, &kept.cwd), (facts.digest, facts.raw_sha256, &facts.cwd));
            assert_eq!(call(&kept), None, "once");
        }
        assert_eq!(call(&command("cargo test", &["cargo", "test"])), None);
    }

    #[test]
    fn words_of_people_and_agents_are_masked_in_every_fact() {
        let says = "push with API_TOKEN=hunter-22-and-more";
        for kind in [
            json!({ "kind": "session_stopped", "session": crate::testing::session_id(1), "summary": says }),
            json!({ "kind": "alert_raised", "alert": "x", "message": says }),
            json!({ "kind": "hook_failed", "hook": "h", "message": says }),
        ] {
            let kept = fact(&serde_json::from_value(kind).unwrap()).unwrap();
            assert!(!serde_json::to_string(&kept).unwrap().contains(SECRET));
        }
    }

    #[test]
    fn a_secret_is_found_across_the_marks_of_a_diff_and_over_the_lines_of_a_key() {
        let line = |texts: &[&str]| DiffLine {
            change: Change::Added,
            old: None,
            new: Some(1),
            spans: texts.iter().map(|text| Span::Text { text: (*text).to_owned(), mark: text.len() > 3 }).collect(),
        };
        let mut diff = Content::Diff {
            title: Vec::new(),
            added: 1,
            removed: 0,
            lines: vec![
                line(&["API_TOKEN=hun", "ter-22-and-more"]),
                line(&["-----BEGIN RSA PRIVATE KEY-----"]),
                line(&["abc"]),
                line(&["-----END RSA PRIVATE KEY-----"]),
                line(&["after"]),
            ],
        };
        assert_eq!(content(&mut diff), 4);
        let text = serde_json::to_string(&diff).unwrap();
        assert!(!text.contains("ter-22") && !text.contains("abc") && text.contains("after"), "{text}");
    }

    #[test]
    fn inputs_are_masked_as_json_and_what_is_none_as_text() {
        let kept = |bytes: &str| input(bytes.as_bytes()).map(|kept| String::from_utf8(kept).unwrap());
        assert_eq!(kept(r#"{"a":1}"#), None);
        assert_eq!(kept(r#"{"api_key":"abcdef"}"#).unwrap(), r#"{"api_key":"[masked: 6 characters]"}"#);
        assert_eq!(kept(r#"{"api_key":"abcdef""#).unwrap(), r#""{\"api_key\":\"[masked: 6 characters]\"""#);
    }
}
