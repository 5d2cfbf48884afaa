//! What all clients' dialects have in common: what is read, what is said, and which client is which.

use std::time::Duration;

use placet_domain::Digest;
use serde_json::value::RawValue;

use super::{claude_code, codex, copilot, cursor, gemini_cli, opencode, openhands, qwen_code, unknown};

/// A client whose hooks are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Client {
    /// Claude Code.
    ClaudeCode,
    /// Codex.
    Codex,
    /// Gemini CLI.
    GeminiCli,
    /// Qwen Code.
    QwenCode,
    /// GitHub Copilot CLI.
    Copilot,
    /// opencode, through the plugin that `placet install` writes.
    Opencode,
    /// Cursor.
    Cursor,
    /// `OpenHands`.
    Openhands,
}

/// What a payload says.
#[derive(Debug)]
pub(crate) enum Event {
    /// A call wants to run and waits for the answer.
    Ask(Caller, Call),
    /// A call has run.
    Report(Caller, Report),
    /// A session begins.
    Begin(Caller),
    /// A session ends.
    End(Caller, Option<String>),
    /// Nothing that Placet listens to.
    Nothing,
    /// Something that the dialect does not know and at which a call may wait.
    Unknown,
}

/// Whose session it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    /// The client's own id of it.
    pub(crate) session: Option<String>,
    /// The folder the client says it is in; none where the payload does not say.
    pub(crate) cwd: Option<String>,
}

/// A call that wants to run.
#[derive(Debug)]
pub(crate) struct Call {
    /// The tool.
    pub(crate) tool: String,
    /// Its input, byte for byte.
    pub(crate) input: Box<RawValue>,
    /// SHA-256 of the tool's definition, where a server listed it.
    pub(crate) definition: Option<Digest>,
    /// The client's own id of the call.
    pub(crate) id: Option<String>,
    /// The sub-agent that calls.
    pub(crate) parent: Option<String>,
    /// Whether this client, at this event, runs an input that was changed.
    pub(crate) can_edit: bool,
    /// Whether the client asks by its own rules, about a call that its other hook may have asked about a moment ago.
    pub(crate) confirms: bool,
}

impl Call {
    /// A call of which no more is known than its tool and input, and whose client runs nothing that was changed.
    pub(crate) fn of(tool: String, input: Box<RawValue>) -> Self {
        Self { tool, input, definition: None, id: None, parent: None, can_edit: false, confirms: false }
    }
}

/// A call that has run.
#[derive(Debug)]
pub(crate) struct Report {
    /// The tool.
    pub(crate) tool: String,
    /// Its input, byte for byte.
    pub(crate) input: Box<RawValue>,
    /// The client's own id of the call.
    pub(crate) id: Option<String>,
    /// `ok`, `error` or `interrupted`.
    pub(crate) outcome: &'static str,
    /// What it gave.
    pub(crate) output: Option<Box<RawValue>>,
    /// How long it took; 0 where the client does not say.
    pub(crate) duration_ms: u64,
}

/// Where an answer will stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The event by the client's own name for it; empty where it could not be read.
    pub(crate) event: String,
    /// The tool; empty where it could not be read.
    pub(crate) tool: String,
}

/// What is answered.
#[derive(Debug)]
pub(crate) enum Said<'a> {
    /// It may run.
    Allow {
        /// Why.
        reason: &'a str,
        /// With this input in place of the one that was asked about.
        input: Option<&'a RawValue>,
    },
    /// It may not.
    Deny {
        /// Why.
        reason: &'a str,
    },
}

/// An answer in the client's own syntax.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Output {
    /// For the client to parse; nothing else is ever written there.
    pub(crate) stdout: String,
    /// For people, or the reason where `code` is 2.
    pub(crate) stderr: String,
    /// The exit code.
    pub(crate) code: u8,
}

impl Output {
    /// JSON and exit code 0.
    pub(crate) fn json(value: &serde_json::Value) -> Self {
        Self { stdout: value.to_string(), stderr: String::new(), code: 0 }
    }

    /// Nothing and exit code 0: the client goes on as if there were no hook.
    pub(crate) fn silence() -> Self {
        Self { stdout: String::new(), stderr: String::new(), code: 0 }
    }
}

impl Client {
    /// Every client.
    pub(crate) const ALL: [Self; 8] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::GeminiCli,
        Self::QwenCode,
        Self::Copilot,
        Self::Opencode,
        Self::Cursor,
        Self::Openhands,
    ];

    /// By its name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|client| client.name() == name)
    }

    /// Its name, which is the agent's name in the history too.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini-cli",
            Self::QwenCode => "qwen-code",
            Self::Copilot => "copilot",
            Self::Opencode => "opencode",
            Self::Cursor => "cursor",
            Self::Openhands => "openhands",
        }
    }

    /// How long it waits for a hook when nothing is configured.
    pub(crate) fn default_timeout(self) -> Duration {
        let seconds = match self {
            Self::ClaudeCode | Self::Codex => 600,
            Self::GeminiCli | Self::QwenCode | Self::Openhands | Self::Cursor => 60,
            Self::Copilot => 30,
            // Its plugins may take as long as they like; ours gives a person half an hour.
            Self::Opencode => 1_810,
        };
        Duration::from_secs(seconds)
    }

    /// How long it waits whatever is configured: Qwen Code's message bus gives up after a minute and runs the tool.
    pub(crate) fn hard_cap(self) -> Option<Duration> {
        match self {
            Self::QwenCode => Some(Duration::from_secs(60)),
            Self::ClaudeCode
            | Self::Codex
            | Self::GeminiCli
            | Self::Copilot
            | Self::Opencode
            | Self::Cursor
            | Self::Openhands => None,
        }
    }

    /// The event that is assumed where none can be read: the one whose answer blocks a call.
    pub(crate) fn asking_event(self) -> &'static str {
        match self {
            Self::ClaudeCode | Self::Codex | Self::QwenCode | Self::Openhands => "PreToolUse",
            Self::GeminiCli => "BeforeTool",
            Self::Copilot | Self::Cursor => "preToolUse",
            Self::Opencode => "tool.execute.before",
        }
    }

    /// The event in a payload, where it names one; it is looked for on its own, so that it is known even where the
    /// rest is not understood.
    ///
    /// # Errors
    /// A sentence on why the payload is no object of JSON, or names it twice.
    pub(crate) fn event_in(payload: &[u8]) -> Result<Option<String>, String> {
        #[derive(serde::Deserialize)]
        struct Named {
            #[serde(alias = "hookName", alias = "event_type")]
            hook_event_name: Option<String>,
        }
        let named: Named = serde_json::from_slice(payload).map_err(|error| error.to_string())?;
        Ok(named.hook_event_name)
    }

    /// What a payload says, at this event.
    ///
    /// # Errors
    /// A sentence on what is wrong with it.
    pub(crate) fn read(self, event: &str, payload: &[u8]) -> Result<Event, String> {
        let text = std::str::from_utf8(payload).map_err(|_| "it is not UTF-8".to_owned())?;
        let read = match self {
            Self::ClaudeCode => claude_code::read(event, text),
            Self::Codex => codex::read(event, text),
            Self::GeminiCli => gemini_cli::read(event, text),
            Self::QwenCode => qwen_code::read(event, text),
            Self::Copilot => copilot::read(event, text),
            Self::Opencode => opencode::read(event, text),
            Self::Cursor => cursor::read(event, text),
            Self::Openhands => openhands::read(event, text),
        };
        match read {
            Ok(Event::Nothing) if unknown::may_ask(self, event, text) => Ok(Event::Unknown),
            read => read.map_err(|error| error.to_string()),
        }
    }

    /// An answer in this client's syntax. At an event that asks nothing it is silence.
    pub(crate) fn render(self, place: &Place, call: Option<&Call>, said: &Said<'_>) -> Output {
        match self {
            Self::ClaudeCode => claude_code::render(place, said),
            Self::Codex => codex::render(place, said),
            Self::GeminiCli => gemini_cli::render(place, call, said),
            Self::QwenCode => qwen_code::render(place, said),
            Self::Copilot => copilot::render(place, said),
            Self::Opencode => opencode::render(place, said),
            Self::Cursor => cursor::render(place, said),
            Self::Openhands => openhands::render(place, said),
        }
    }
}

/// A text cut to at most `most` characters, saying so.
pub(super) fn cut(text: &str, most: usize) -> std::borrow::Cow<'_, str> {
    const MARK: &str = " … (cut)";
    if text.char_indices().nth(most).is_none() {
        return text.into();
    }
    let kept: String = text.chars().take(most.saturating_sub(MARK.chars().count())).collect();
    (kept + MARK).into()
}

/// An input that some clients send as a text holding JSON: the JSON in it, else as it is.
pub(super) fn unquoted(input: Box<RawValue>) -> Box<RawValue> {
    let inner = serde_json::from_str::<String>(input.get()).ok();
    inner.and_then(|text| RawValue::from_string(text).ok()).unwrap_or(input)
}
