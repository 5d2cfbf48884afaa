//! Arguments that are held within bounds before anything is judged.

use serde::Deserialize;
use serde_json::Value;

use super::{Call, Hook, HookError, Pre};
use crate::Later;

/// The highest value of one number in the input of one tool.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clamp {
    /// Which tool.
    pub tool: String,
    /// Which field of its input.
    pub field: String,
    /// At most.
    pub most: u64,
}

/// Clamps numbers. A field that is missing or no number is left to the tool.
#[derive(Clone, Debug)]
pub struct Clamps(pub Vec<Clamp>);

impl Hook for Clamps {
    fn name(&self) -> &'static str {
        "clamps"
    }

    fn before_tool<'a>(&'a self, call: &'a Call) -> Later<'a, Result<Pre, HookError>> {
        let mut input = call.input.clone();
        let mut changed = false;
        for clamp in self.0.iter().filter(|clamp| clamp.tool == call.tool) {
            if let Some(value) = input.get_mut(&clamp.field)
                && value.as_f64().is_some_and(|number| number > as_float(clamp.most))
            {
                *value = Value::from(clamp.most);
                changed = true;
            }
        }
        Box::pin(std::future::ready(Ok(if changed { Pre::Rewrite(input) } else { Pre::Pass })))
    }
}

/// Bounds are small numbers; one beyond 2^53 is compared as the nearest float.
#[expect(clippy::cast_precision_loss, reason = "bounds are small, and the nearest float is near enough")]
fn as_float(most: u64) -> f64 {
    most as f64
}
