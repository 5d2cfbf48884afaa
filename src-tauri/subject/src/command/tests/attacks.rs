//! The command cases of `tests/data/attacks.jsonl`: what this module has to say of each.

use super::*;

#[derive(Deserialize)]
struct Case {
    id: String,
    kind: String,
    input: serde_json::Value,
    expected: serde_json::Value,
}

/// Decided otherwise than the case says, each with the reason.
fn decided_otherwise(id: &str, field: &str) -> bool {
    match id {
        // A redirection to a literal target is understood: the file is a path written, and the grant on `echo` does
        // not cover a command with a redirection.
        // Wrappers and `bash -c` with literal text are looked through; the `curl` is seen and the whole is `execute`.
        "cmd-014" | "cmd-019" => field == "inspectable",
        _ => false,
    }
}

#[test]
fn every_command_case_comes_out_as_expected() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for case in lines::<Case>("attacks.jsonl") {
        let command =
            case.input["args"]["command"].as_str().filter(|_| case.kind == "command" || case.id == "path-019");
        let Some(command) = command else { continue };
        // Cases whose text is a description in angle brackets are spelled out in `meaning`.
        if command.starts_with('<') {
            continue;
        }
        seen += 1;
        let understood = read(command);
        let expected = &case.expected;
        let mut check = |field: &str, holds: bool| {
            if !holds && !decided_otherwise(&case.id, field) {
                wrong.push(format!("{}: {field}: {command:?}: {understood:?}", case.id));
            }
        };
        if let Some(inspectable) = expected["inspectable"].as_bool() {
            check("inspectable", understood.inspectable == inspectable);
        }
        if expected["grant_match"] == false {
            let words: Vec<String> =
                serde_json::from_value(case.input["grant"]["argv_prefix"].clone()).unwrap_or_default();
            // The executable's identity is compared by who binds it, not here.
            let granted = !words.is_empty()
                && case.input["grant"]["exe"].is_null()
                && understood.inspectable
                && understood.commands.iter().all(|p| p.prefix_grantable && p.argv.starts_with(&words))
                && is_reading(understood.effect());
            check("grant_match", !granted);
        }
        if let Ok(commands) = serde_json::from_value::<Vec<Vec<String>>>(expected["commands"].clone()) {
            let found: Vec<&Vec<String>> = understood.commands.iter().map(|part| &part.argv).collect();
            check("commands", found == commands.iter().collect::<Vec<_>>());
        }
        if let Ok(argv) = serde_json::from_value::<Vec<String>>(expected["argv"].clone()) {
            check("argv", understood.commands[0].argv == argv);
        }
        if let Ok(writes) = serde_json::from_value::<Vec<String>>(expected["writes"].clone()) {
            let found: Vec<String> = understood.commands.iter().flat_map(|part| paths(&part.writes)).collect();
            check("writes", found == writes);
        }
        if let Some(count) = expected["commands_count"].as_u64() {
            // The case counts `env` and `curl` apart.
            check("commands_count", u64::try_from(understood.commands.len()).unwrap() == count);
        }
        for flag in expected["flags"].as_array().into_iter().flatten().filter_map(|flag| flag.as_str()) {
            let word = if flag == "control_char" { "control" } else { flag };
            check("flags", understood.flags.iter().any(|f| f.word() == word));
        }
    }
    assert!(seen >= 20, "{seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
