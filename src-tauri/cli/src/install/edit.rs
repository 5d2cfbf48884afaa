//! Changes to a client's settings as text: our entries come and go, everything else stays byte for byte, comments and
//! the order of keys included.

use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstObject, CstRootNode},
};
use serde_json::{Map, Value};

use super::{cut, hook_line, plugin};
use crate::hook::Client;

/// JSON as clients read their settings: with comments and commas behind the last.
pub(super) const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_loose_object_property_names: false,
    allow_trailing_commas: true,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// How a client's settings hold its hooks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `hooks.EVENT[].{matcher?, hooks: [HOOK]}`
    Grouped,
    /// `{"version": 1, "hooks": {EVENT: [HOOK]}}`
    Flat,
    /// A plugin that is ours as a whole.
    Plugin,
}

/// One entry.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// At which event.
    pub(crate) event: &'static str,
    /// For which tools, where the shape asks.
    pub(crate) matcher: Option<&'static str>,
    /// The hook's fields, in the order they are written.
    pub(crate) hook: Vec<(&'static str, Value)>,
}

/// An entry of ours as it is found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    /// At which event.
    pub(crate) event: String,
    /// For which tools.
    pub(crate) matcher: Option<String>,
    /// The hook's fields.
    pub(crate) hook: Map<String, Value>,
}

impl Found {
    /// The command line that the client runs.
    pub(crate) fn command(&self) -> &str {
        command_of(&self.hook).unwrap_or("")
    }
}

/// Why settings cannot be changed: they are left as they are.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EditError {
    /// No JSON, with or without comments.
    #[error("it is no JSON that can be understood: {0}")]
    Unparseable(String),
    /// Something is where hooks belong.
    #[error("{0} has not the shape that hooks have; nothing was changed")]
    Shape(String),
}

/// The text with our entries in it: unchanged if they are there already, and nothing else of ours.
pub(crate) fn installed(text: &str, client: Client, shape: Shape, entries: &[Entry]) -> Result<String, EditError> {
    if shape == Shape::Plugin {
        plugin::found(text)?;
        return Ok(plugin::text(entries));
    }
    if same(&found(text, client, shape)?, entries) {
        return Ok(text.to_owned());
    }
    let text = removed(text, client, shape)?;
    let root = parse(if text.trim().is_empty() { "{}\n" } else { &text })?;
    let top = root.object_value_or_create().ok_or_else(|| EditError::Shape("the file".to_owned()))?;
    top.ensure_multiline();
    if shape == Shape::Flat && top.get("version").is_none() {
        top.append("version", CstInputValue::from(1_usize));
    }
    let hooks = top.object_value_or_create("hooks").ok_or_else(|| EditError::Shape("\"hooks\"".to_owned()))?;
    for entry in entries {
        let list = hooks
            .array_value_or_create(entry.event)
            .ok_or_else(|| EditError::Shape(format!("\"hooks\".\"{}\"", entry.event)))?;
        let hook = CstInputValue::Object(entry.hook.iter().map(|(key, v)| ((*key).to_owned(), input(v))).collect());
        list.append(match shape {
            Shape::Flat | Shape::Plugin => hook,
            Shape::Grouped => {
                let mut group = Vec::new();
                if let Some(matcher) = entry.matcher {
                    group.push(("matcher".to_owned(), CstInputValue::from(matcher)));
                }
                group.push(("hooks".to_owned(), CstInputValue::Array(vec![hook])));
                CstInputValue::Object(group)
            }
        });
    }
    Ok(root.to_string())
}

/// The text without our entries, and without what would be left empty by that.
pub(crate) fn removed(text: &str, client: Client, shape: Shape) -> Result<String, EditError> {
    if shape == Shape::Plugin {
        return plugin::found(text).map(|_| String::new());
    }
    if found(text, client, shape)?.is_empty() {
        return Ok(text.to_owned());
    }
    cut::without(text, shape, &|hook| {
        let hook = parse(hook).ok().and_then(|hook| hook.to_serde_value());
        matches!(hook, Some(Value::Object(hook)) if is_ours(&hook, client))
    })
}

/// Our entries, as they stand.
pub(crate) fn found(text: &str, client: Client, shape: Shape) -> Result<Vec<Found>, EditError> {
    let mut all = hooks(text, shape)?;
    all.retain(|found| is_ours(&found.hook, client));
    Ok(all)
}

/// The lines that run our hook among other things: they are somebody's own, and neither run nor changed here.
pub(crate) fn altered(text: &str, client: Client, shape: Shape) -> Result<Vec<String>, EditError> {
    let of = |found: Found| (!is_ours(&found.hook, client)).then(|| found.command().to_owned());
    let lines = hooks(text, shape)?.into_iter().filter_map(of);
    Ok(lines.filter(|line| hook_line::mentions(line, client)).collect())
}

/// Whether the settings switch all hooks off, by which key.
pub(crate) fn off(text: &str, shape: Shape) -> Option<&'static str> {
    let settings = (shape != Shape::Plugin).then(|| parse(text).ok()?.to_serde_value())??;
    // Claude Code and Qwen Code; Gemini CLI.
    if settings["disableAllHooks"] == true {
        Some("disableAllHooks")
    } else {
        (settings["hooksConfig"]["enabled"] == false).then_some("hooksConfig.enabled")
    }
}

/// Every hook in the settings.
fn hooks(text: &str, shape: Shape) -> Result<Vec<Found>, EditError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    if shape == Shape::Plugin {
        return plugin::found(text);
    }
    let root = parse(text)?;
    let Some(top) = root.object_value() else { return Err(EditError::Shape("the file".to_owned())) };
    // Of a key that stands twice a client takes one and this would change the other.
    let twice = |object: &CstObject, name: &str| {
        object.properties().iter().filter(|prop| prop.decoded_name().as_deref() == Some(name)).count() > 1
    };
    if twice(&top, "hooks") {
        return Err(EditError::Shape("\"hooks\", which stands there twice,".to_owned()));
    }
    let Some(hooks) = top.get("hooks") else { return Ok(Vec::new()) };
    let hooks = hooks.object_value().ok_or_else(|| EditError::Shape("\"hooks\"".to_owned()))?;
    let mut all = Vec::new();
    for prop in hooks.properties() {
        let Some(event) = prop.decoded_name() else { continue };
        if twice(&hooks, &event) {
            return Err(EditError::Shape(format!("\"hooks\".\"{event}\", which stands there twice,")));
        }
        let Some(Value::Array(list)) = prop.value().and_then(|value| value.to_serde_value()) else { continue };
        for element in list {
            let matcher = element.get("matcher").and_then(Value::as_str).map(str::to_owned);
            let hooks = match shape {
                Shape::Flat | Shape::Plugin => vec![element],
                Shape::Grouped => match element.get("hooks") {
                    Some(Value::Array(hooks)) => hooks.clone(),
                    Some(_) | None => Vec::new(),
                },
            };
            for hook in hooks {
                if let Value::Object(hook) = hook {
                    all.push(Found { event: event.clone(), matcher: matcher.clone(), hook });
                }
            }
        }
    }
    Ok(all)
}

fn is_ours(hook: &Map<String, Value>, client: Client) -> bool {
    command_of(hook).is_some_and(|command| hook_line::read(command, client).is_some())
}

fn command_of(hook: &Map<String, Value>) -> Option<&str> {
    ["command", "bash"].into_iter().find_map(|key| hook.get(key)).and_then(Value::as_str)
}

fn same(found: &[Found], entries: &[Entry]) -> bool {
    let wanted: Vec<Found> = entries
        .iter()
        .map(|entry| Found {
            event: entry.event.to_owned(),
            matcher: entry.matcher.map(str::to_owned),
            hook: entry.hook.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect(),
        })
        .collect();
    found.len() == wanted.len() && wanted.iter().all(|entry| found.contains(entry))
}

fn parse(text: &str) -> Result<CstRootNode, EditError> {
    CstRootNode::parse(text, &OPTIONS).map_err(|error| EditError::Unparseable(error.to_string()))
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => CstInputValue::Object(fields.iter().map(|(k, v)| (k.clone(), input(v))).collect()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const CLIENT: Client = Client::ClaudeCode;

    fn entries(program: &str) -> Vec<Entry> {
        let hook = |event: &str| {
            let command = format!("{program} hook claude-code --event {event} --client-timeout-ms 3600000");
            vec![("type", json!("command")), ("command", json!(command)), ("timeout", json!(3600))]
        };
        vec![
            Entry { event: "PreToolUse", matcher: Some("*"), hook: hook("PreToolUse") },
            Entry { event: "SessionEnd", matcher: None, hook: hook("SessionEnd") },
        ]
    }

    fn install(text: &str) -> String {
        installed(text, CLIENT, Shape::Grouped, &entries("/usr/bin/placet")).unwrap()
    }

    #[test]
    fn a_new_file_holds_our_entries_alone() {
        insta::assert_snapshot!(install(""));
    }

    #[test]
    fn everything_else_stays_byte_for_byte() {
        let text = "{\n\t// mine\n\t\"model\":   \"opus\",\n\t\"hooks\": {\n\t\t\"PreToolUse\": [\n\t\t\t{\"matcher\": \"Bash\", \"hooks\": [{\"type\":\"command\",\"command\":\"./lint.sh\"}]}\n\t\t]\n\t},\n\t\"z\": 1.0, \"a\": [1,2 ],\n}\n";
        let with = install(text);
        insta::assert_snapshot!(with);
        assert_eq!(removed(&with, CLIENT, Shape::Grouped).unwrap(), text);
    }

    #[test]
    fn what_was_put_in_comes_out_again() {
        for text in [
            "{}\n",
            "{\n}\n",
            "{\n  \"model\": \"x\"\n}\n",
            "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}",
            "{\r\n    \"a\": 1\r\n}\r\n",
            "{\n  \"a\": {\"b\": \"\\u00e9\"} // end\n}\n",
        ] {
            let with = install(text);
            assert_eq!(install(&with), with, "not twice: {text}");
            let without = removed(&with, CLIENT, Shape::Grouped).unwrap();
            let plain = |text: &str| serde_json::from_str::<Value>(&text.replace("// end", "")).unwrap();
            assert_eq!(plain(&without), plain(text));
            assert!(
                without.replace([' ', '\n', '\r'], "") == text.replace([' ', '\n', '\r'], ""),
                "{text:?} {without:?}"
            );
        }
    }

    /// Settings as people leave them: on one line or many, with comments, blanks, commas behind the last, other hooks.
    fn settings() -> impl Strategy<Value = String> {
        let gap = prop::sample::select(vec!["", " ", "\n", "\n  ", "\n\t", "\r\n  ", " /* x */ ", " // y\n  "]);
        let value = prop::sample::select(vec!["1", "\"a\\u00e9\"", "[1,2 ]", "{\"hooks\": {}}", "null", "{ }"]);
        let other = r#"{"matcher":"Bash","hooks":[{"type":"command","command":"./lint.sh"}]}"#;
        let lists =
            prop::sample::select(vec!["[]".to_owned(), format!("[{other}]"), format!("[\n {other},\n {other}\n]")]);
        let events =
            prop::collection::vec((prop::sample::select(vec!["PreToolUse", "Stop", "SessionEnd"]), lists), 0..3);
        let hooks = (events, gap.clone(), prop::bool::ANY).prop_map(|(events, gap, there)| {
            let mut seen = std::collections::BTreeMap::new();
            seen.extend(events);
            let all: Vec<String> = seen.into_iter().map(|(event, list)| format!("{gap}\"{event}\": {list}")).collect();
            there.then(|| format!("{{{}{gap}}}", all.join(",")))
        });
        let before = prop::collection::vec((gap.clone(), value.clone()), 0..3);
        (before, hooks, gap.clone(), prop::bool::ANY, gap).prop_map(|(before, hooks, end, comma, outside)| {
            let mut all: Vec<String> =
                before.iter().enumerate().map(|(i, (gap, value))| format!("{gap}\"k{i}\":{value}")).collect();
            all.extend(hooks.map(|hooks| format!("{end}\"hooks\": {hooks}")));
            let comma = if comma && !all.is_empty() { "," } else { "" };
            format!("{}{{{}{comma}{end}}}{}", outside.replace("// y", "//y"), all.join(","), outside)
        })
    }

    proptest! {
        #[test]
        fn nothing_of_anybody_elses_is_changed_by_coming_and_going(text in settings()) {
            let with = install(&text);
            prop_assert_eq!(&install(&with), &with, "once");
            let without = removed(&with, CLIENT, Shape::Grouped).unwrap();
            prop_assert_eq!(bare(&without), bare(&text));
            prop_assert_eq!(comments(&without), comments(&text));
            prop_assert_eq!(removed(&without, CLIENT, Shape::Grouped).unwrap(), without, "once");
        }
    }

    /// What the settings say, in their order. A list of hooks with nothing in it says nothing.
    fn bare(text: &str) -> Vec<(String, Value)> {
        let top = parse(text).unwrap().object_value().unwrap();
        let entry = |prop: jsonc_parser::cst::CstObjectProp| {
            let mut value = prop.value().unwrap().to_serde_value().unwrap();
            let name = prop.decoded_name().unwrap();
            if name == "hooks" {
                value.as_object_mut().unwrap().retain(|_, list| *list != json!([]));
            }
            (name, value)
        };
        let entries = top.properties().into_iter().map(entry);
        entries.filter(|(name, value)| name != "hooks" || *value != json!({})).collect()
    }

    fn comments(text: &str) -> Vec<&str> {
        text.match_indices("/* x */")
            .map(|(_, comment)| comment)
            .chain(text.match_indices("// y").map(|(_, c)| c))
            .collect()
    }

    #[test]
    fn entries_of_another_place_are_replaced_also_after_they_were_edited_by_hand() {
        let with = install("{\"model\": \"x\"}");
        let edited = with.replace("3600000", "5").replace("\"matcher\": \"*\"", "\"matcher\": \"Bash\"");
        assert_ne!(with, edited);
        let again = installed(&edited, CLIENT, Shape::Grouped, &entries("'/opt/my tools/placet'")).unwrap();
        let all = found(&again, CLIENT, Shape::Grouped).unwrap();
        assert!(same(&all, &entries("'/opt/my tools/placet'")), "{again}");
        assert!(!again.contains("/usr/bin/placet"));
    }

    #[test]
    fn other_hooks_of_a_shared_group_stay() {
        let text = "{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"*\",\"hooks\":[{\"type\":\"command\",\"command\":\"/x/placet hook claude-code\"},{\"type\":\"command\",\"command\":\"placeton hook claude-code\"}]}]}}";
        let without = removed(text, CLIENT, Shape::Grouped).unwrap();
        assert!(without.contains("placeton") && !without.contains("/x/placet"), "{without}");
    }

    #[test]
    fn settings_that_cannot_be_understood_are_refused() {
        for text in ["{", "[]", "{\"hooks\": []}", "{\"hooks\": {}, \"hooks\": {}}", "{'hooks': {}}", "null"] {
            assert!(installed(text, CLIENT, Shape::Grouped, &entries("/usr/bin/placet")).is_err(), "{text}");
        }
        let twice = "{\"hooks\": {\"PreToolUse\": [], \"PreToolUse\": []}}";
        assert!(installed(twice, CLIENT, Shape::Grouped, &entries("/usr/bin/placet")).is_err());
    }

    #[test]
    fn a_flat_file_names_its_version() {
        let entry = Entry { event: "preToolUse", matcher: None, hook: vec![("bash", json!("/p/placet hook copilot"))] };
        let with = installed("", Client::Copilot, Shape::Flat, &[entry]).unwrap();
        insta::assert_snapshot!(with);
        assert_eq!(removed(&with, Client::Copilot, Shape::Flat).unwrap(), "{\n  \"version\": 1\n}\n");
    }
}
