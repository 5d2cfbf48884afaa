//! What Placet makes of a call, as JSON for programs: the fields are fixed and may only grow.

use placet_domain::Subject;
use serde_json::{Value, json};

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
        "flags": facts.flags,
        "grantable": facts.grantable,
        "refused": facts.refused,
        "shown": judged.card.shown,
    })
}

/// A subject in its form for programs. Which inode it has is this moment's and this machine's.
fn subject(subject: &Subject) -> Value {
    let mut value = json!(subject);
    if let Some(object) = value.as_object_mut() {
        object.remove("inode");
    }
    value
}
