//! `when`: a condition in CEL over the call and its session.
//!
//! <https://cel.dev>. What cannot be evaluated is an error, never false: a condition that is skipped would switch a
//! denial off.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
};

use cel::{Context, Program, Value, common::ast::Expr};
use serde_json::Value as Json;

use super::{error::nearest, hours::Local, rule::View};
use crate::Subject;

/// What a condition may name.
const NAMES: [&str; 6] = ["input", "context", "subject", "agent", "workspace", "now"];
/// Longer conditions are a mistake, and deeper ones could exhaust the stack.
const MAX_LEN: usize = 2_000;
const MAX_DEPTH: usize = 32;

/// A condition that was compiled.
#[derive(Debug)]
pub(super) struct When {
    program: Program,
}

/// Why a text is no condition: what, the advice, and how far into the text, in bytes.
pub(super) struct NotACondition {
    pub(super) message: String,
    pub(super) hint: String,
}

impl When {
    pub(super) fn new(text: &str) -> Result<Self, NotACondition> {
        let wrong = |message: String, hint: &str| NotACondition { message, hint: hint.to_owned() };
        if text.len() > MAX_LEN || deepest(text) > MAX_DEPTH {
            return Err(wrong("The condition is too long or too deep.".to_owned(), "Split it into several rules."));
        }
        let compiled = catch_unwind(|| Program::compile(text)).map_err(|_| {
            wrong("The condition cannot be read.".to_owned(), "See https://cel.dev for how to write one.")
        })?;
        let program = compiled.map_err(|errors| {
            let first = errors.errors.first();
            let place = first.map_or(0, |e| e.pos.1);
            let what = first.map_or_else(String::new, |e| e.msg.lines().next().unwrap_or_default().to_owned());
            wrong(
                format!("The condition is no CEL: {what} (at its character {}).", place.max(0) + 1),
                "Write for example: input.user_id != context.user",
            )
        })?;
        if let Some(unknown) = first_unknown(&program.expression().expr, &mut Vec::new()) {
            let hint = match nearest(unknown, NAMES) {
                Some(near) => format!("Did you mean “{near}”?"),
                None => format!("Known are {}.", NAMES.join(", ")),
            };
            return Err(wrong(format!("Nothing is named “{unknown}” in a condition."), &hint));
        }
        Ok(Self { program })
    }

    /// Whether it holds for this subject of the call, or why that cannot be said.
    pub(super) fn holds(&self, view: &View<'_>, subject: &Subject, local: &Local) -> Result<bool, String> {
        let run = || -> Result<Value, String> {
            let mut names = Context::default();
            names.add_variable_from_value("input", view.input_value().clone());
            names.add_variable_from_value("context", text_map(&view.session.context));
            names.add_variable_from_value(
                "subject",
                value_of(&serde_json::to_value(subject).map_err(|e| e.to_string())?),
            );
            names.add_variable_from_value("agent", Value::from(view.session.agent.as_str()));
            names.add_variable_from_value("workspace", Value::from(view.session.workspace.lossy()));
            names.add_variable_from_value("now", now_value(local));
            self.program.execute(&names).map_err(|e| e.to_string())
        };
        // The library is another's; a panic in it must be a denial, not the end of the gate.
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(Value::Bool(holds))) => Ok(holds),
            Ok(Ok(_)) => Err("the condition is neither true nor false".to_owned()),
            Ok(Err(error)) => Err(error),
            Err(_) => Err("the condition could not be evaluated".to_owned()),
        }
    }
}

/// JSON as CEL sees it: whole numbers are `int`, so that they compare with the numbers one writes.
pub(super) fn value_of(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(n) => match (n.as_i64(), n.as_u64()) {
            (Some(int), _) => Value::Int(int),
            (None, Some(large)) => Value::UInt(large),
            (None, None) => Value::Float(n.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::from(items.iter().map(value_of).collect::<Vec<_>>()),
        Json::Object(items) => {
            Value::from(items.iter().map(|(key, item)| (key.clone(), value_of(item))).collect::<HashMap<_, _>>())
        }
    }
}

fn text_map(map: &std::collections::BTreeMap<String, String>) -> Value {
    Value::from(map.iter().map(|(key, text)| (key.clone(), Value::from(text.as_str()))).collect::<HashMap<_, _>>())
}

/// The moment by the rule's zone: `now.hour >= 18`, `now.weekday == "sat"`, `now.date == "2027-01-01"`.
fn now_value(local: &Local) -> Value {
    Value::from(HashMap::from([
        ("unix_ms".to_owned(), Value::Int(local.at_ms)),
        ("hour".to_owned(), Value::Int(i64::from(local.minute_of_day / 60))),
        ("minute".to_owned(), Value::Int(i64::from(local.minute_of_day % 60))),
        ("weekday".to_owned(), Value::from(local.day.word())),
        ("date".to_owned(), Value::from(local.date.as_str())),
    ]))
}

fn deepest(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// The first name that is neither known nor bound by a macro around it.
fn first_unknown<'a>(expr: &'a Expr, bound: &mut Vec<&'a str>) -> Option<&'a str> {
    match expr {
        Expr::Ident(name) => {
            let known = name.starts_with('@') || NAMES.contains(&name.as_str()) || bound.contains(&name.as_str());
            (!known).then_some(name.as_str())
        }
        Expr::Call(call) => {
            let target = call.target.as_deref().into_iter();
            target.chain(&call.args).find_map(|e| first_unknown(&e.expr, bound))
        }
        Expr::Comprehension(it) => {
            let found = first_unknown(&it.iter_range.expr, bound).or_else(|| first_unknown(&it.accu_init.expr, bound));
            let before = bound.len();
            bound.push(&it.iter_var);
            bound.extend(it.iter_var2.as_deref());
            bound.push(&it.accu_var);
            let found = found.or_else(|| {
                [&it.loop_cond, &it.loop_step, &it.result].into_iter().find_map(|e| first_unknown(&e.expr, bound))
            });
            bound.truncate(before);
            found
        }
        Expr::List(list) => list.elements.iter().find_map(|e| first_unknown(&e.expr, bound)),
        Expr::Select(select) => first_unknown(&select.operand.expr, bound),
        Expr::Map(_) | Expr::Struct(_) | Expr::Literal(_) | Expr::Unspecified => None,
    }
}
