//! `[[rewrite]]`: a call's input made smaller before it is judged. What comes out is judged like any other input.

use serde_json::{Map, Value};

use super::{Policy, Reading, glob::NameGlobs, rule::has_parts};
use crate::{Judged, PathText, Session};

/// One rewrite. In one rewrite, drops come before sets and sets before clamps.
#[derive(Debug)]
pub(super) struct Rewrite {
    pub(super) name: String,
    pub(super) tools: NameGlobs,
    pub(super) agents: NameGlobs,
    pub(super) input: Option<Value>,
    pub(super) clamp: Map<String, Value>,
    pub(super) set: Map<String, Value>,
    pub(super) drop: Vec<String>,
    /// Where it came with a workspace: only there.
    pub(super) only_in: Option<PathText>,
}

/// An input that rewrites have changed. The caller keeps the original.
#[derive(Clone, Debug, PartialEq)]
pub struct Rewritten {
    /// As it would run.
    pub input: Value,
    /// The rewrites that changed it, in order.
    pub names: Vec<String>,
}

impl Rewritten {
    /// For a client that takes no changed input: why its call is denied.
    pub fn reason_to_deny(&self) -> String {
        format!(
            "The policy changes this call (“{}”), and this agent takes no changed input. Call again with: {}",
            self.names.join("”, “"),
            self.input
        )
    }
}

impl Policy {
    /// The call's input after every rewrite that applies, each given what the one before it left; none where nothing
    /// changes. The caller makes a new call of it and judges that.
    pub fn rewrite(&self, judged: &Judged, session: &Session) -> Option<Rewritten> {
        let mut input = judged.input.as_ref().clone();
        let mut names = Vec::new();
        for rewrite in &self.rewrites {
            let applies = rewrite.tools.covers(&judged.facts.tool, Reading::Wide)
                && rewrite.agents.covers(session.agent.as_str(), Reading::Wide)
                && rewrite.only_in.as_ref().is_none_or(|root| session.workspace.is_within(root))
                && rewrite.input.as_ref().is_none_or(|wanted| has_parts(&input, wanted));
            if !applies {
                continue;
            }
            let before = input.clone();
            rewrite.change(&mut input);
            if input != before {
                names.push(rewrite.name.clone());
            }
        }
        (!names.is_empty()).then_some(Rewritten { input, names })
    }
}

impl Rewrite {
    fn change(&self, input: &mut Value) {
        let Value::Object(fields) = input else { return };
        for key in &self.drop {
            fields.remove(key);
        }
        set(fields, &self.set);
        clamp(fields, &self.clamp);
    }
}

fn set(fields: &mut Map<String, Value>, values: &Map<String, Value>) {
    for (key, value) in values {
        match (fields.get_mut(key), value) {
            (Some(Value::Object(fields)), Value::Object(values)) => set(fields, values),
            _ => {
                fields.insert(key.clone(), value.clone());
            }
        }
    }
}

/// No number stays above its bound. One that is missing is set to the bound, since what the tool takes for it then is
/// not known; so is what is no number.
fn clamp(fields: &mut Map<String, Value>, bounds: &Map<String, Value>) {
    for (key, bound) in bounds {
        match (fields.get_mut(key), bound) {
            (Some(Value::Object(fields)), Value::Object(bounds)) => clamp(fields, bounds),
            (None, Value::Object(bounds)) => {
                let mut inner = Map::new();
                clamp(&mut inner, bounds);
                fields.insert(key.clone(), Value::Object(inner));
            }
            (present, bound) => {
                let within = present.and_then(|v| v.as_f64()).zip(bound.as_f64()).is_some_and(|(v, most)| v <= most);
                if !within {
                    fields.insert(key.clone(), bound.clone());
                }
            }
        }
    }
}
