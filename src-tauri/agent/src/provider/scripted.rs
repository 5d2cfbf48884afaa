//! A provider that says what it was told to say. It needs no network and no key.

use std::sync::{Mutex, PoisonError};

use super::{OnText, Provider, ProviderError, ProviderErrorKind, Request};
use crate::{
    Later,
    message::{Message, ModelCall, Reply, Usage},
};

/// Answers in order, one each time it is asked. The turn is found from the conversation, so a run that is taken up
/// again goes on where it was.
pub struct Scripted {
    replies: Vec<Reply>,
    asked: Mutex<Vec<Request>>,
}

impl Scripted {
    /// A provider with these answers.
    pub fn new(replies: Vec<Reply>) -> Self {
        Self { replies, asked: Mutex::default() }
    }

    /// What it was asked, in order.
    pub fn asked(&self) -> Vec<Request> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// An answer with calls of `(tool, arguments)`. Their ids are made of `name` and their place.
pub fn calls(name: &str, calls: &[(&str, serde_json::Value)]) -> Reply {
    let calls = calls.iter().enumerate().map(|(at, (tool, input))| ModelCall {
        id: format!("{name}_{at}"),
        tool: (*tool).to_owned(),
        arguments: input.to_string(),
    });
    Reply { text: String::new(), calls: calls.collect(), usage: Usage { input_tokens: 100, output_tokens: 20 } }
}

/// A last answer.
pub fn says(text: &str) -> Reply {
    Reply { text: text.to_owned(), calls: vec![], usage: Usage { input_tokens: 100, output_tokens: 20 } }
}

impl Provider for Scripted {
    fn name(&self) -> &'static str {
        "scripted"
    }

    fn reply<'a>(&'a self, request: &'a Request, on_text: OnText<'a>) -> Later<'a, Result<Reply, ProviderError>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
        let said = request.messages.iter().filter(|message| matches!(message, Message::Assistant { .. })).count();
        let reply = self.replies.get(said).cloned();
        if let Some(reply) = &reply {
            on_text(&reply.text);
        }
        let reply = reply.ok_or_else(|| ProviderErrorKind::Refused.because("The script is at its end."));
        Box::pin(std::future::ready(reply))
    }
}
