//! OpenAI-compatible chat completions, at any base URL.

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

/// An OpenAI-compatible provider.
#[derive(Clone, Debug)]
pub struct OpenAi {
    /// Up to and without `/chat/completions`, for instance `https://api.openai.com/v1`.
    pub base_url: String,
    /// The model's name.
    pub model: String,
    /// Local servers need none.
    pub key: Option<Key>,
}

impl Provider for OpenAi {
    fn name(&self) -> &str {
        &self.model
    }

    fn reply<'a>(&'a self, request: &'a Request, on_text: OnText<'a>) -> Later<'a, Result<Reply, ProviderError>> {
        let url = format!("{}/chat/completions", self.base_url.trim_end_matches('/'));
        let headers = self.key.iter().map(|key| ("authorization", format!("Bearer {}", key.text()))).collect();
        Box::pin(http::stream(url, headers, body(&self.model, request), Chunks::default(), on_text))
    }
}

/// The request's body.
pub fn body(model: &str, request: &Request) -> Value {
    let mut messages = vec![json!({"role": "system", "content": request.system})];
    for message in &request.messages {
        match message {
            Message::User { text } => messages.push(json!({"role": "user", "content": text})),
            Message::Assistant { text, calls } => {
                let mut said = json!({"role": "assistant", "content": text});
                if !calls.is_empty() {
                    said["tool_calls"] = calls.iter().map(call).collect();
                }
                messages.push(said);
            }
            Message::Results { results } => messages.extend(
                results
                    .iter()
                    .map(|result| json!({"role": "tool", "tool_call_id": result.call_id, "content": result.text})),
            ),
        }
    }
    let mut body = json!({
        "model": model, "messages": messages, "stream": true, "stream_options": {"include_usage": true},
    });
    if !request.tools.is_empty() {
        body["tools"] = request
            .tools
            .iter()
            .map(|tool| {
                json!({"type": "function", "function": {
                    "name": tool.name, "description": tool.description, "parameters": tool.schema,
                }})
            })
            .collect();
    }
    body
}

/// Arguments that are no JSON object are sent back as an empty one: servers refuse what they cannot read.
fn call(call: &ModelCall) -> Value {
    let arguments = match call.input() {
        Ok(_) if !call.arguments.trim().is_empty() => call.arguments.as_str(),
        Ok(_) | Err(_) => "{}",
    };
    json!({"id": call.id, "type": "function", "function": {"name": wire_name(&call.tool), "arguments": arguments}})
}

/// An answer as its chunks come.
#[derive(Default)]
struct Chunks {
    text: String,
    calls: Vec<ModelCall>,
    usage: Usage,
    finished: bool,
    done: bool,
}

impl Reading for Chunks {
    fn take(&mut self, data: &str) -> Result<Option<String>, ProviderError> {
        if data.trim() == "[DONE]" {
            self.done = true;
            return Ok(None);
        }
        let chunk = http::event(data)?;
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            self.usage = Usage {
                input_tokens: usage["prompt_tokens"].as_u64().unwrap_or(0),
                output_tokens: usage["completion_tokens"].as_u64().unwrap_or(0),
            };
        }
        let choice = &chunk["choices"][0];
        if choice["finish_reason"].is_string() {
            self.finished = true;
        }
        for piece in choice["delta"]["tool_calls"].as_array().into_iter().flatten() {
            self.piece_of_call(piece);
        }
        let text = choice["delta"]["content"].as_str().filter(|text| !text.is_empty());
        if let Some(text) = text {
            self.text.push_str(text);
        }
        Ok(text.map(str::to_owned))
    }

    fn is_over(&self) -> bool {
        self.done
    }

    fn is_whole(&self) -> bool {
        self.done || self.finished
    }

    fn reply(self) -> Reply {
        Reply { text: self.text, calls: self.calls, usage: self.usage }
    }
}

impl Chunks {
    fn piece_of_call(&mut self, piece: &Value) {
        let last = self.calls.len().saturating_sub(1);
        let at = piece["index"].as_u64().and_then(|at| usize::try_from(at).ok()).unwrap_or(last);
        // A server that skips numbers would have us hold calls that nobody made.
        let at = at.min(self.calls.len());
        if at == self.calls.len() {
            self.calls.push(ModelCall { id: String::new(), tool: String::new(), arguments: String::new() });
        }
        let call = &mut self.calls[at];
        if let Some(id) = piece["id"].as_str().filter(|_| call.id.is_empty()) {
            id.clone_into(&mut call.id);
        }
        call.tool.push_str(piece["function"]["name"].as_str().unwrap_or_default());
        call.arguments.push_str(piece["function"]["arguments"].as_str().unwrap_or_default());
    }
}
