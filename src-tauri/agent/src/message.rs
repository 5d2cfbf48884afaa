//! What is said between the person, the model and the tools.

use placet_domain::redact::redact;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// One entry of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// The person's task.
    User {
        /// Its words.
        text: String,
    },
    /// What the model said, and the calls it wants.
    Assistant {
        /// Its words.
        text: String,
        /// Its calls, in order.
        calls: Vec<ModelCall>,
    },
    /// What became of those calls: one result for each, in the same order.
    Results {
        /// The results.
        results: Vec<ToolResult>,
    },
}

impl Message {
    /// The ids of the calls in it.
    pub(crate) fn call_ids(&self) -> impl Iterator<Item = &str> {
        let calls = match self {
            Self::Assistant { calls, .. } => calls.as_slice(),
            Self::User { .. } | Self::Results { .. } => &[],
        };
        calls.iter().map(|call| call.id.as_str())
    }

    /// How many bytes its words take.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::User { text } => text.len(),
            Self::Assistant { text, calls } => {
                text.len() + calls.iter().map(|call| call.tool.len() + call.arguments.len()).sum::<usize>()
            }
            Self::Results { results } => results.iter().map(|result| result.text.len()).sum(),
        }
    }

    /// The same with secrets masked, to be shown.
    pub(crate) fn masked(&self) -> Self {
        let mask = |text: &str| redact(text).text.into_owned();
        match self {
            Self::User { text } => Self::User { text: mask(text) },
            Self::Assistant { text, calls } => {
                let masked = |call: &ModelCall| ModelCall { arguments: mask(&call.arguments), ..call.clone() };
                Self::Assistant { text: mask(text), calls: calls.iter().map(masked).collect() }
            }
            Self::Results { results } => {
                let masked = |result: &ToolResult| ToolResult { text: mask(&result.text), ..result.clone() };
                Self::Results { results: results.iter().map(masked).collect() }
            }
        }
    }
}

/// What the model said last.
pub(crate) fn last_words(messages: &[Message]) -> &str {
    let said = messages.iter().rev().find_map(|message| match message {
        Message::Assistant { text, .. } => Some(text.as_str()),
        Message::User { .. } | Message::Results { .. } => None,
    });
    said.unwrap_or_default()
}

/// A call as the model wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelCall {
    /// The model's id of it.
    pub id: String,
    /// Which tool.
    pub tool: String,
    /// The arguments' JSON as written; it need not be JSON at all.
    pub arguments: String,
}

impl ModelCall {
    /// The arguments, where they are a JSON object. No text at all stands for the empty one.
    pub fn input(&self) -> Result<Map<String, Value>, serde_json::Error> {
        if self.arguments.trim().is_empty() { Ok(Map::new()) } else { serde_json::from_str(&self.arguments) }
    }
}

/// What became of a call, as the model reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call's own id.
    pub call_id: String,
    /// Text for the model.
    pub text: String,
    /// Whether it is about a failure or a denial.
    pub is_error: bool,
}

/// What a provider counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

impl Usage {
    /// Both together.
    pub fn total(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// The sum of two.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
        }
    }
}

/// One whole answer of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// Its words.
    pub text: String,
    /// The calls it wants.
    pub calls: Vec<ModelCall>,
    /// What was counted.
    pub usage: Usage,
}
