//! Providers: who answers the conversation.

pub mod anthropic;
pub mod http;
pub mod openai;
pub mod scripted;
mod sse;

use std::time::Duration;

use crate::{
    Later,
    message::{Message, Reply},
    tools::ToolSpec,
};

/// What a provider is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The system's words.
    pub system: String,
    /// The conversation.
    pub messages: Vec<Message>,
    /// What may be called.
    pub tools: Vec<ToolSpec>,
}

/// Takes a piece of the model's words as it comes.
pub type OnText<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// A model to talk to.
pub trait Provider: Send + Sync {
    /// Its name, for messages.
    fn name(&self) -> &str;
    /// One whole answer. Words are told as they come; what counts is the answer.
    fn reply<'a>(&'a self, request: &'a Request, on_text: OnText<'a>) -> Later<'a, Result<Reply, ProviderError>>;
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// To branch on.
    pub kind: ProviderErrorKind,
    /// What happened and what to do.
    pub message: String,
    /// When to ask again, where the provider says.
    pub retry_after: Option<Duration>,
}

/// The closed set of a provider's failures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProviderErrorKind {
    /// Too many requests.
    RateLimited,
    /// The provider is in trouble.
    Overloaded,
    /// No connection, or it broke before the answer.
    Network,
    /// The answer ended in its middle.
    BrokenStream,
    /// The key is missing or wrong.
    Unauthorized,
    /// The request is refused.
    Refused,
    /// The answer cannot be read.
    Unreadable,
}

impl ProviderErrorKind {
    /// The kind with its sentence.
    pub fn because(self, message: impl Into<String>) -> ProviderError {
        ProviderError { kind: self, message: message.into(), retry_after: None }
    }

    /// Whether asking again may help.
    pub fn may_pass(self) -> bool {
        match self {
            Self::RateLimited | Self::Overloaded | Self::Network | Self::BrokenStream => true,
            Self::Unauthorized | Self::Refused | Self::Unreadable => false,
        }
    }
}

/// A tool's name as every provider takes it back: models call tools that there are not, by names that are none.
fn wire_name(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let name: String = name.chars().take(64).map(|c| if fits(c) { c } else { '_' }).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

/// How often a provider is asked again, and how long is waited before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// Before the second try; doubled each time.
    pub first: Duration,
    /// At most, also where the provider says more.
    pub most: Duration,
    /// All in all.
    pub tries: u32,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: Duration::from_millis(500), most: Duration::from_secs(60), tries: 6 }
    }
}

impl Backoff {
    /// How long to wait after this many tries have failed; none where it is enough.
    pub fn after(&self, tries: u32, error: &ProviderError) -> Option<Duration> {
        if tries >= self.tries || !error.kind.may_pass() {
            return None;
        }
        let doubled = self.first.saturating_mul(2_u32.saturating_pow(tries.saturating_sub(1)));
        Some(error.retry_after.unwrap_or(doubled).min(self.most))
    }
}
