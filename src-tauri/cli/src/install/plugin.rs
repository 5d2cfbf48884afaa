//! The plugin for opencode, which has no command hooks: a file that is ours as a whole.

use serde_json::{Map, Value};

use super::edit::{EditError, Entry, Found};

const TEMPLATE: &str = include_str!("opencode.js");
/// Each event with the line that names its command.
const EVENTS: [(&str, &str, &str); 2] =
    [("tool.execute.before", "@BEFORE@", "const BEFORE = "), ("tool.execute.after", "@AFTER@", "const AFTER = ")];

/// The plugin that runs these entries.
pub(super) fn text(entries: &[Entry]) -> String {
    EVENTS.iter().fold(TEMPLATE.to_owned(), |text, (event, mark, _)| {
        let entry = entries.iter().find(|entry| entry.event == *event);
        let command = entry.and_then(|entry| entry.hook.iter().find(|(key, _)| *key == "command"));
        // A JSON text is a JavaScript text.
        command.map_or(text.clone(), |(_, command)| text.replace(&format!("\"{mark}\""), &command.to_string()))
    })
}

/// The commands in a plugin of ours; none in no text.
///
/// # Errors
/// It is somebody else's.
pub(super) fn found(text: &str) -> Result<Vec<Found>, EditError> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    if text.lines().next() != TEMPLATE.lines().next() {
        return Err(EditError::Shape("the file is not Placet's plugin and".to_owned()));
    }
    let commands = EVENTS.iter().filter_map(|(event, _, start)| {
        let value = text.lines().find_map(|line| line.strip_prefix(start))?;
        let command: Value = serde_json::from_str(value).ok()?;
        let hook = Map::from_iter([("command".to_owned(), command)]);
        Some(Found { event: (*event).to_owned(), matcher: None, hook })
    });
    Ok(commands.collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    #[test]
    fn the_plugin_names_its_commands() {
        let entry = |event, command: &str| Entry { event, matcher: None, hook: vec![("command", json!(command))] };
        let entries = [
            entry("tool.execute.before", "'/a \"b\"/placet' hook opencode --event tool.execute.before"),
            entry("tool.execute.after", "placet hook opencode --event tool.execute.after"),
        ];
        let text = text(&entries);
        assert!(!text.contains('@'), "{text}");
        let found = found(&text).unwrap();
        assert_eq!(found[0].command(), "'/a \"b\"/placet' hook opencode --event tool.execute.before");
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn somebody_elses_plugin_is_left_alone() {
        assert!(found("export const Other = async () => ({})\n").is_err());
        assert_eq!(found("").unwrap(), []);
    }
}
