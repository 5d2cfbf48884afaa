//! What both HTTP providers share: the key, the request, the failures, and reading a stream beside the other tasks.

use std::{fmt, io::BufReader, os::unix::fs::PermissionsExt as _, path::Path, time::Duration};

use serde_json::Value;
use tokio::sync::mpsc;

use super::{OnText, ProviderError, ProviderErrorKind, sse};
use crate::message::Reply;

/// How long a connection may take to be made.
const CONNECT: Duration = Duration::from_secs(20);
/// How long a provider may think before the first byte, and between two.
const SILENCE: Duration = Duration::from_secs(300);

/// An API key. It is sent and never shown.
#[derive(Clone)]
pub struct Key(String);

impl Key {
    /// Reads a key from a file that its owner alone may read.
    pub fn from_file(path: &Path) -> std::io::Result<Self> {
        let mode = std::fs::metadata(path)?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(std::io::Error::other(format!(
                "{} may be read by others (mode {:03o}); run chmod 600 on it",
                path.display(),
                mode & 0o777
            )));
        }
        Ok(Self::new(std::fs::read_to_string(path)?))
    }

    /// Takes a key, for instance from a keyring.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into().trim().to_owned())
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// What reads the events of one answer.
pub(super) trait Reading: Send + 'static {
    /// Takes one event; gives a piece of the model's words, if it is one.
    fn take(&mut self, data: &str) -> Result<Option<String>, ProviderError>;
    /// Whether nothing more will come.
    fn is_over(&self) -> bool;
    /// Whether the answer is whole, should the stream end here.
    fn is_whole(&self) -> bool;
    /// The answer.
    fn reply(self) -> Reply;
}

/// Posts a request and reads the streamed answer. Dropped, it lets the connection go at the next event.
pub(super) async fn stream<R: Reading>(
    url: String,
    headers: Vec<(&'static str, String)>,
    body: Value,
    reading: R,
    on_text: OnText<'_>,
) -> Result<Reply, ProviderError> {
    let (tell, mut hear) = mpsc::channel::<String>(64);
    let mut whole = tokio::task::spawn_blocking(move || read(&url, &headers, &body, reading, &tell));
    loop {
        tokio::select! {
            Some(text) = hear.recv() => on_text(&text),
            reply = &mut whole => {
                while let Ok(text) = hear.try_recv() {
                    on_text(&text);
                }
                return reply.unwrap_or_else(|error| Err(ProviderErrorKind::Unreadable.because(error.to_string())));
            }
        }
    }
}

fn read<R: Reading>(
    url: &str,
    headers: &[(&'static str, String)],
    body: &Value,
    mut reading: R,
    tell: &mpsc::Sender<String>,
) -> Result<Reply, ProviderError> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .timeout_connect(Some(CONNECT))
        .timeout_recv_response(Some(SILENCE))
        .timeout_per_read(Some(SILENCE))
        .build()
        .into();
    let mut request = agent.post(url);
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    let mut response = request
        .send_json(body)
        .map_err(|error| ProviderErrorKind::Network.because(format!("{url} cannot be reached: {error}")))?;
    let status = response.status().as_u16();
    if status != 200 {
        let retry_after = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let retry_after = retry_after.and_then(|text| text.parse().ok()).map(Duration::from_secs);
        let body = response.body_mut().with_config().limit(64 << 10).read_to_string().unwrap_or_default();
        return Err(refusal(status, &body, retry_after));
    }
    let mut lines = BufReader::new(response.body_mut().with_config().limit(256 << 20).reader());
    loop {
        let data = sse::next_data(&mut lines).map_err(|error| {
            ProviderErrorKind::BrokenStream.because(format!("The provider's answer broke off: {error}"))
        })?;
        let Some(data) = data else { break };
        if let Some(text) = reading.take(&data)?
            && tell.blocking_send(text).is_err()
        {
            return Err(ProviderErrorKind::Network.because("The run was stopped."));
        }
        if reading.is_over() {
            break;
        }
    }
    if reading.is_whole() {
        Ok(reading.reply())
    } else {
        Err(ProviderErrorKind::BrokenStream.because("The provider's answer ended in its middle."))
    }
}

fn refusal(status: u16, body: &str, retry_after: Option<Duration>) -> ProviderError {
    let said = serde_json::from_str::<Value>(body).ok();
    let said = said.as_ref().and_then(|body| body["error"]["message"].as_str().or(body["error"].as_str()));
    let said: String = said.unwrap_or(body).chars().take(500).collect();
    let (kind, advice) = match status {
        401 | 403 => (ProviderErrorKind::Unauthorized, "Check the key."),
        429 => (ProviderErrorKind::RateLimited, "It will be asked again."),
        408 | 500..=599 => (ProviderErrorKind::Overloaded, "It will be asked again."),
        404 => (ProviderErrorKind::Refused, "Check the base URL and the model's name."),
        _ => (ProviderErrorKind::Refused, "The request was not taken."),
    };
    ProviderError { kind, message: format!("The provider answered {status}: {said} {advice}"), retry_after }
}

/// Reads an event as JSON, and an error that comes as an event.
pub(super) fn event(data: &str) -> Result<Value, ProviderError> {
    let value: Value = serde_json::from_str(data).map_err(|error| {
        ProviderErrorKind::BrokenStream.because(format!("An event of the answer is no JSON: {error}"))
    })?;
    if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
        let message = error["message"].as_str().unwrap_or("without a reason").to_owned();
        let kind = match error["type"].as_str().or(error["code"].as_str()) {
            Some("overloaded_error" | "api_error" | "server_error") => ProviderErrorKind::Overloaded,
            Some("rate_limit_error" | "rate_limit_exceeded") => ProviderErrorKind::RateLimited,
            _ => ProviderErrorKind::Refused,
        };
        return Err(kind.because(format!("The provider broke off: {message}")));
    }
    Ok(value)
}
