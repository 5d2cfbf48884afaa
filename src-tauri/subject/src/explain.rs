//! What Placet makes of a call, as JSON for programs: the fields are fixed and may only grow.

use placet_domain::Subject;
use serde_json::{Map, Value, json};

use crate::call::{Known, RawCall, judge};

/// Explains a call: reads the disk, asks nobody, changes nothing.
pub fn explain(call: &RawCall<'_>, known: &Known) -> Value {
    let judged = judge(call, known);
    let facts = &judged.facts;
    json!({
        "tool": facts.tool,
        "action": facts.action,
        "subjects": facts.subjects.iter().map(subject).collect::<Vec<_>>(),
        "digest": facts.digest,
        "action_digest": facts.action_digest,
        "raw_sha256": facts.raw_sha256,
        "flags": facts.flags,
        "grantable": facts.grantable,
        "refused": facts.refused,
        "shown": judged.card.shown,
    })
}

/// A subject in its form for programs: marks that are not set are written out where a reader would ask for them.
fn subject(subject: &Subject) -> Value {
    let mut value = json!(subject);
    if let Some(object) = value.as_object_mut() {
        // Whose program it is, and what is nowhere set, stays out.
        object.remove("inode");
        if matches!(subject, Subject::Path(_)) {
            fill(object, &["via_symlink", "protected"]);
        }
    }
    value
}

fn fill(object: &mut Map<String, Value>, fields: &[&str]) {
    for field in fields {
        object.entry((*field).to_owned()).or_insert(Value::Bool(false));
    }
}
