//! Hooks in any language: a program gets JSON on its standard input and answers with JSON and its exit code.
//!
//! For `PreToolUse`, `PostToolUse` and `Stop` the payload and the answer are those that Claude Code documents, so the
//! hooks people have can be brought along. `BeforeTurn`, `BeforeProvider` and `AfterTurn` are ours, in the same style.
//! Where Claude Code lets a call pass because its hook broke, the run ends here: a check that did not run is no pass.

use std::{process::Stdio, time::Duration};

use regex::Regex;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use super::{Call, Cost, Decided, Fate, Hook, HookError, Moment, Names, Pre};
use crate::{Later, context::Context, machine::Point, summary::Summary, tools::Output};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// More than this from a hook is cut: 1 MiB.
const MAX_ANSWER_BYTES: u64 = 1 << 20;

/// An executable as a hook.
#[derive(Clone, Debug)]
pub struct External {
    name: String,
    command: Vec<String>,
    events: Vec<String>,
    matcher: Option<Regex>,
    timeout: Duration,
    names: Names,
}

/// Why a hook cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum NoHook {
    /// Nothing to run.
    #[error("the hook {0} names no command")]
    NoCommand(String),
    /// An event that there is not.
    #[error("the hook {0} names the event {1}; there are {events}", events = EVENTS.join(", "))]
    UnknownEvent(String, String),
    /// The matcher is no regular expression.
    #[error("the matcher of the hook {0} cannot be used: {1}")]
    Matcher(String, regex::Error),
}

const EVENTS: [&str; 6] = ["BeforeTurn", "BeforeProvider", "PreToolUse", "PostToolUse", "AfterTurn", "Stop"];

/// A hook as the configuration names it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExternalConfig {
    /// Its name.
    pub name: String,
    /// The program and its arguments; no shell is between.
    pub command: Vec<String>,
    /// At which events it is called.
    pub events: Vec<String>,
    /// Which tools it is for: a regular expression over the whole name. All, where there is none.
    #[serde(default)]
    pub matcher: Option<String>,
    /// How long it may take, in milliseconds; 60,000 where it does not say.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// Whose names of tools and fields it is given, and gives back: `own` or `claude-code`.
    #[serde(default)]
    pub names: Names,
}

impl TryFrom<ExternalConfig> for External {
    type Error = NoHook;
    fn try_from(config: ExternalConfig) -> Result<Self, NoHook> {
        let ExternalConfig { name, command, events, matcher, timeout_ms, names } = config;
        if command.is_empty() {
            return Err(NoHook::NoCommand(name));
        }
        if let Some(unknown) = events.iter().find(|event| !EVENTS.contains(&event.as_str())) {
            return Err(NoHook::UnknownEvent(name, unknown.clone()));
        }
        let whole = matcher.filter(|text| !text.is_empty() && text != "*").map(|text| format!("^(?:{text})$"));
        let matcher = whole.map(|text| Regex::new(&text)).transpose();
        let matcher = matcher.map_err(|error| NoHook::Matcher(name.clone(), error))?;
        let timeout = timeout_ms.map_or(DEFAULT_TIMEOUT, Duration::from_millis);
        Ok(Self { name, command, events, matcher, timeout, names })
    }
}

/// What a hook answered.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Answer {
    decision: Option<String>,
    reason: Option<String>,
    #[serde(rename = "continue")]
    goes_on: Option<bool>,
    #[serde(rename = "stopReason")]
    stop_reason: Option<String>,
    #[serde(rename = "hookSpecificOutput")]
    specific: Specific,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Specific {
    permission_decision: Option<String>,
    permission_decision_reason: Option<String>,
    updated_input: Option<Value>,
    additional_context: Option<String>,
    updated_tool_output: Option<Value>,
}

/// How the program ended.
enum Said {
    /// Exit 0.
    Answer(Answer),
    /// Exit 2: its standard error is the reason.
    Blocked(String),
}

impl External {
    fn listens(&self, event: &str, tool: Option<&str>) -> bool {
        let fits = match (&self.matcher, tool) {
            (Some(matcher), Some(tool)) => matcher.is_match(tool),
            (None, _) | (_, None) => true,
        };
        fits && self.events.iter().any(|known| known == event)
    }

    /// A call as this hook is told of it.
    fn named(&self, call: &Call) -> Value {
        let workspace = call.context.workspace().lossy();
        json!({
            "tool_name": self.names.tool(&call.tool), "tool_use_id": call.id,
            "tool_input": self.names.input(&call.tool, &call.input, &workspace),
        })
    }

    async fn ask(&self, context: &Context, event: &str, more: Value) -> Result<Said, HookError> {
        let mut payload = json!({
            "session_id": context.session(), "transcript_path": Value::Null,
            "cwd": context.workspace().lossy(), "permission_mode": "default", "hook_event_name": event,
            "agent": context.agent(), "parent_session_id": context.parent(), "attributes": context.attributes(),
        });
        if let (Some(fields), Value::Object(more)) = (payload.as_object_mut(), more) {
            fields.extend(more);
        }
        let wrong = |what: String| HookError(format!("{}: {what}", self.command[0]));
        let mut command = tokio::process::Command::new(&self.command[0]);
        command
            .args(&self.command[1..])
            .env("CLAUDE_PROJECT_DIR", context.workspace().lossy())
            .env("PLACET_WORKSPACE", context.workspace().lossy())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = command.spawn().map_err(|error| wrong(format!("it could not be started: {error}")))?;
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(wrong("its output could not be read".to_owned()));
        };
        let group = crate::tools::Group::of(&child);
        let text = payload.to_string();
        let talk = async move {
            // A hook need not read what it is given.
            let write = async {
                let _ = stdin.write_all(text.as_bytes()).await;
                drop(stdin);
            };
            let (status, (), out, err) = tokio::join!(child.wait(), write, capped(stdout), capped(stderr));
            (status, out, err)
        };
        let Ok((status, out, err)) = tokio::time::timeout(self.timeout, talk).await else {
            drop(group);
            return Err(wrong(format!("it did not answer within {} ms", self.timeout.as_millis())));
        };
        let status = status.map_err(|error| wrong(error.to_string()))?;
        match status.code() {
            Some(0) => answer(&out).map(Said::Answer).map_err(wrong),
            Some(2) => Ok(Said::Blocked(or(err.trim(), "It gave no reason."))),
            _ => Err(wrong(format!("{status}: {}", err.trim()))),
        }
    }
}

impl Hook for External {
    fn name(&self) -> &str {
        &self.name
    }

    fn cost(&self) -> Cost {
        Cost::Process
    }

    fn at<'a>(&'a self, moment: Moment<'a>) -> Later<'a, Result<(), HookError>> {
        let event = match moment.point {
            Point::BeforeTurn => "BeforeTurn",
            Point::BeforeProvider => "BeforeProvider",
            Point::AfterTurn => "AfterTurn",
        };
        if !self.listens(event, None) {
            return Box::pin(std::future::ready(Ok(())));
        }
        Box::pin(async move {
            let more = json!({"turn": moment.turn, "messages": moment.messages});
            match self.ask(moment.context, event, more).await? {
                Said::Blocked(reason) => Err(HookError(reason)),
                Said::Answer(answer) if answer.goes_on == Some(false) || is_block(answer.decision.as_deref()) => Err(
                    HookError(answer.stop_reason.or(answer.reason).unwrap_or_else(|| "It said to stop.".to_owned())),
                ),
                Said::Answer(_) => Ok(()),
            }
        })
    }

    fn before_tool<'a>(&'a self, call: &'a Call) -> Later<'a, Result<Pre, HookError>> {
        if !self.listens("PreToolUse", Some(self.names.tool(&call.tool))) {
            return Box::pin(std::future::ready(Ok(Pre::Pass)));
        }
        Box::pin(async move {
            match self.ask(&call.context, "PreToolUse", self.named(call)).await? {
                Said::Blocked(reason) => Ok(Pre::Deny(reason)),
                Said::Answer(answer) => Ok(match pre(answer)? {
                    Pre::Rewrite(input) => Pre::Rewrite(self.names.back(&call.tool, &input)),
                    said @ (Pre::Pass | Pre::Deny(_) | Pre::Ask(_) | Pre::Answer(_)) => said,
                }),
            }
        })
    }

    fn after_tool<'a>(
        &'a self,
        call: &'a Call,
        fate: &'a Fate,
        output: Output,
    ) -> Later<'a, Result<Output, HookError>> {
        if !self.listens("PostToolUse", Some(self.names.tool(&call.tool))) {
            return Box::pin(std::future::ready(Ok(output)));
        }
        Box::pin(async move {
            let mut more = self.named(call);
            more["tool_response"] = json!({"text": output.text, "is_error": output.is_error});
            more["duration_ms"] = json!(fate.duration_ms);
            more["denied"] = json!(fate.decision != Decided::Allowed);
            match self.ask(&call.context, "PostToolUse", more).await? {
                Said::Blocked(reason) => Ok(with_words(output, &reason)),
                Said::Answer(answer) => Ok(post(answer, output)),
            }
        })
    }

    fn at_stop<'a>(&'a self, context: &'a Context, summary: &'a Summary) -> Later<'a, Result<(), HookError>> {
        if !self.listens("Stop", None) {
            return Box::pin(std::future::ready(Ok(())));
        }
        Box::pin(async move {
            let more = json!({
                "stop_hook_active": false, "last_assistant_message": summary.last_words, "summary": summary.line(context),
            });
            // The session is over: a stop hook may record, it cannot make it go on.
            self.ask(context, "Stop", more).await.map(|_| ())
        })
    }
}

fn pre(answer: Answer) -> Result<Pre, HookError> {
    let specific = answer.specific;
    let reason = specific.permission_decision_reason.or(answer.reason);
    let reason = |otherwise: &str| reason.clone().unwrap_or_else(|| otherwise.to_owned());
    if answer.goes_on == Some(false) {
        return Err(HookError(answer.stop_reason.unwrap_or_else(|| "It said to stop.".to_owned())));
    }
    match (specific.permission_decision.as_deref(), answer.decision.as_deref()) {
        (Some("deny"), _) | (None, Some("block" | "deny")) => Ok(Pre::Deny(reason("It gave no reason."))),
        (Some("ask" | "defer"), _) | (None, Some("ask")) => Ok(Pre::Ask(reason("A hook wants a person to look."))),
        (Some("allow") | None, None | Some("approve" | "allow")) => {
            Ok(specific.updated_input.map_or(Pre::Pass, Pre::Rewrite))
        }
        (Some(word), _) | (None, Some(word)) => {
            Err(HookError(format!("It answered with an unknown decision: {word:?}")))
        }
    }
}

fn post(answer: Answer, output: Output) -> Output {
    let mut output = match answer.specific.updated_tool_output {
        Some(Value::String(text)) => Output { text, ..output },
        Some(other) => Output { text: other.to_string(), ..output },
        None => output,
    };
    if is_block(answer.decision.as_deref()) {
        output = with_words(output, answer.reason.as_deref().unwrap_or("A hook objects to this result."));
    }
    if let Some(context) = answer.specific.additional_context {
        output = with_words(output, &context);
    }
    output
}

fn with_words(mut output: Output, words: &str) -> Output {
    if !output.text.ends_with('\n') {
        output.text.push('\n');
    }
    output.text.push_str(words);
    output
}

fn is_block(decision: Option<&str>) -> bool {
    matches!(decision, Some("block" | "deny"))
}

/// Text that is no JSON object is talk, as with Claude Code; what begins like one must be one.
fn answer(out: &str) -> Result<Answer, String> {
    if out.trim_start().starts_with('{') {
        serde_json::from_str(out).map_err(|error| format!("its answer cannot be read: {error}"))
    } else {
        Ok(Answer::default())
    }
}

fn or(text: &str, otherwise: &str) -> String {
    if text.is_empty() { otherwise.to_owned() } else { text.to_owned() }
}

async fn capped(from: impl tokio::io::AsyncRead + Unpin) -> String {
    use tokio::io::AsyncReadExt as _;
    let mut bytes = Vec::new();
    let mut from = from.take(MAX_ANSWER_BYTES);
    let _ = from.read_to_end(&mut bytes).await;
    // What a hook says beyond the cap is read and dropped, so that it need not wait.
    let _ = tokio::io::copy(from.get_mut(), &mut tokio::io::sink()).await;
    String::from_utf8_lossy(&bytes).into_owned()
}
