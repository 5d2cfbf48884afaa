//! Anthropic's messages.

use serde_json::{Value, json};

use super::{
    OnText, Provider, ProviderError, Request,
    http::{self, Key, Reading},
    wire_name,
};
use crate::{
    Later,
    message::{Message, ModelCall, Reply, Usage},
};

/// Anthropic's API, or one that speaks like it.
#[derive(Clone, Debug)]
pub struct Anthropic {
    /// Up to and without `/v1/messages`, for instance `https://api.anthropic.com`.
    pub base_url: String,
    /// The model's name.
    pub model: String,
    /// The key.
    pub key: Option<Key>,
    /// The most tokens of one answer.
    pub max_tokens: u32,
}

impl Provider for Anthropic {
    fn name(&self) -> &str {
        &self.model
    }

    fn reply<'a>(&'a self, request: &'a Request, on_text: OnText<'a>) -> Later<'a, Result<Reply, ProviderError>> {
        let url = format!("{}/v1/messages", self.base_url.trim_end_matches('/'));
        let mut headers = vec![("anthropic-version", "2023-06-01".to_owned())];
        headers.extend(self.key.iter().map(|key| ("x-api-key", key.text().to_owned())));
        Box::pin(http::stream(url, headers, body(&self.model, self.max_tokens, request), Events::default(), on_text))
    }
}

/// The request's body.
pub fn body(model: &str, max_tokens: u32, request: &Request) -> Value {
    let messages: Vec<Value> = request.messages.iter().map(message).collect();
    let mut body = json!({
        "model": model, "max_tokens": max_tokens, "system": request.system, "messages": messages, "stream": true,
    });
    if !request.tools.is_empty() {
        body["tools"] = request
            .tools
            .iter()
            .map(|tool| json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema}))
            .collect();
    }
    body
}

fn message(message: &Message) -> Value {
    match message {
        Message::User { text } => json!({"role": "user", "content": [{"type": "text", "text": text}]}),
        Message::Assistant { text, calls } => {
            let mut content = Vec::new();
            // An empty text block is refused; so is a message without any block.
            if !text.trim().is_empty() || calls.is_empty() {
                let text = if text.trim().is_empty() { "(nothing)" } else { text };
                content.push(json!({"type": "text", "text": text}));
            }
            content.extend(calls.iter().map(|call| {
                let input = call.input().map_or_else(|_| json!({}), Value::Object);
                json!({"type": "tool_use", "id": call.id, "name": wire_name(&call.tool), "input": input})
            }));
            json!({"role": "assistant", "content": content})
        }
        Message::Results { results } => {
            let content: Vec<Value> = results
                .iter()
                .map(|result| {
                    json!({
                        "type": "tool_result", "tool_use_id": result.call_id, "content": result.text,
                        "is_error": result.is_error,
                    })
                })
                .collect();
            json!({"role": "user", "content": content})
        }
    }
}

/// An answer as its events come.
#[derive(Default)]
struct Events {
    text: String,
    calls: Vec<(u64, ModelCall)>,
    usage: Usage,
    stopped: bool,
}

impl Reading for Events {
    fn take(&mut self, data: &str) -> Result<Option<String>, ProviderError> {
        let event = http::event(data)?;
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => {
                let usage = &event["message"]["usage"];
                let count = |field: &str| usage[field].as_u64().unwrap_or(0);
                self.usage.input_tokens =
                    count("input_tokens") + count("cache_read_input_tokens") + count("cache_creation_input_tokens");
            }
            "content_block_start" => self.begin(&event),
            "content_block_delta" => {
                let delta = &event["delta"];
                if let Some(piece) = delta["partial_json"].as_str()
                    && let Some((_, call)) = self.calls.iter_mut().find(|(at, _)| Some(*at) == event["index"].as_u64())
                {
                    call.arguments.push_str(piece);
                }
                if let Some(text) = delta["text"].as_str() {
                    self.text.push_str(text);
                    return Ok(Some(text.to_owned()));
                }
            }
            "message_delta" => {
                self.usage.output_tokens = event["usage"]["output_tokens"].as_u64().unwrap_or(self.usage.output_tokens);
            }
            "message_stop" => self.stopped = true,
            _ => {}
        }
        Ok(None)
    }

    fn is_over(&self) -> bool {
        self.stopped
    }

    fn is_whole(&self) -> bool {
        self.stopped
    }

    fn reply(self) -> Reply {
        Reply { text: self.text, calls: self.calls.into_iter().map(|(_, call)| call).collect(), usage: self.usage }
    }
}

impl Events {
    fn begin(&mut self, event: &Value) {
        let block = &event["content_block"];
        if block["type"] == "tool_use" {
            let text = |field: &str| block[field].as_str().unwrap_or_default().to_owned();
            let call = ModelCall { id: text("id"), tool: text("name"), arguments: String::new() };
            self.calls.push((event["index"].as_u64().unwrap_or(u64::MAX), call));
        }
    }
}
