//! What a yes is bound to.
//!
//! `digest` covers tool, canonical input, cwd, subjects, the state of what would be changed or run, and the versions of
//! normalizer and display, and nothing else: equal calls have equal digests, whoever makes them. `action_digest` leaves
//! out the state and the fields of mere talk, which the tools' table lists: it tells whether the same is asked again.

use placet_domain::{Digest, PathText, Subject};
use serde_json::{Value, json};

use crate::canonical::digest_of;
use crate::show::DISPLAY_VERSION;

/// Changes whenever subjects are found in another way than before; part of every digest.
pub const NORMALIZER_VERSION: &str = "n/1";

/// What the two digests cover.
pub(crate) struct Covered<'a> {
    pub(crate) tool: &'a str,
    pub(crate) input: &'a Value,
    /// The input without mere talk, where that differs.
    pub(crate) action_input: &'a Value,
    pub(crate) cwd: &'a PathText,
    pub(crate) subjects: &'a [Subject],
    /// The state of each path subject, in their order.
    pub(crate) preimages: &'a [Value],
    /// Files that would be run, with their digests.
    pub(crate) operands: &'a [Value],
}

impl Covered<'_> {
    /// What would run.
    pub(crate) fn digest(&self) -> Digest {
        let subjects = Value::Array(self.subjects.iter().map(comparable).collect());
        digest_of(&[
            ("v", &json!("call/1")),
            ("tool", &json!(self.tool)),
            ("input", self.input),
            ("cwd", &json!(self.cwd)),
            ("subjects", &subjects),
            ("preimages", &json!(self.preimages)),
            ("operands", &json!(self.operands)),
            ("normalizer", &json!(NORMALIZER_VERSION)),
            ("display", &json!(DISPLAY_VERSION)),
        ])
    }

    /// What is asked for.
    pub(crate) fn action_digest(&self) -> Digest {
        let subjects = Value::Array(self.subjects.iter().map(comparable).collect());
        digest_of(&[
            ("v", &json!("action/1")),
            ("tool", &json!(self.tool)),
            ("input", self.action_input),
            ("cwd", &json!(self.cwd)),
            ("subjects", &subjects),
            ("normalizer", &json!(NORMALIZER_VERSION)),
            ("display", &json!(DISPLAY_VERSION)),
        ])
    }
}

/// A subject without what depends on the session's workspace, on settings of Placet, or on the state of the disk; that
/// stands under the pre-images.
fn comparable(subject: &Subject) -> Value {
    match subject {
        Subject::Path(path) => json!({
            "kind": "path",
            "action": path.action,
            "asked": path.asked,
            "normalized": path.normalized,
            "resolved": path.resolved,
        }),
        Subject::Url(_) | Subject::Command(_) | Subject::Mcp(_) | Subject::Tool(_) => json!(subject),
    }
}
