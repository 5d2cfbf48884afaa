//! More than a thousand commands, each labelled as harmless, as changing something, or as running another program.

use super::*;

#[derive(Deserialize)]
struct Labelled {
    command: String,
    label: Label,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Label {
    Harmless,
    Changes,
    Runs,
}

#[test]
fn not_one_that_changes_something_or_runs_another_program_reads() {
    let wrong: Vec<String> = lines::<Labelled>("commands/labelled.jsonl")
        .into_iter()
        .filter(|case| case.label != Label::Harmless)
        .filter(|case| {
            let understood = read(&case.command);
            is_reading(understood.effect()) || understood.effect() == Action::Fetch
        })
        .map(|case| case.command)
        .collect();
    assert!(wrong.is_empty(), "{} come out as reads:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn most_harmless_commands_read() {
    let harmless: Vec<Labelled> =
        lines::<Labelled>("commands/labelled.jsonl").into_iter().filter(|case| case.label == Label::Harmless).collect();
    let missed: Vec<String> = harmless
        .iter()
        .filter_map(|case| {
            let understood = read(&case.command);
            let why = understood.why_not.as_ref().map(|why| why.sentence.clone());
            let unknown = understood.all_parts().iter().find_map(|part| part.not_known.clone());
            (!is_reading(understood.effect())).then(|| format!("{:?}: {:?}", case.command, why.or(unknown)))
        })
        .collect();
    let share = 100 - 100 * missed.len() / harmless.len();
    assert!(share >= 95, "only {share} % of {} come out as reads:\n{}", harmless.len(), missed.join("\n"));
}
