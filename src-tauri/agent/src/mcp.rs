//! MCP servers over standard input and output: their tools appear beside the built-in ones, and every call to them
//! walks the corridor first. What a server says of its own tools is shown to the model and decides nothing.

use std::{
    collections::{BTreeMap, HashMap},
    process::Stdio,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use placet_domain::Digest;
use placet_gate::Cleared;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdin, ChildStdout},
    sync::oneshot,
};

use crate::{
    Later,
    tools::{ExtraTool, Group, Output, ToolError, ToolErrorCode, ToolSpec},
};

const PROTOCOL: &str = "2025-11-25";
/// How long a server may take to say what it has.
const GREETING: Duration = Duration::from_secs(30);
/// How long one call may take.
const CALL: Duration = Duration::from_secs(600);
/// Of the person's environment a server gets these; more must be named in its configuration.
const PASSED_ON: [&str; 5] = ["PATH", "HOME", "LANG", "USER", "TMPDIR"];

/// An MCP server as the configuration names it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct McpConfig {
    /// Its name: letters, digits and dashes; tools are `mcp__NAME__TOOL`.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// More for its environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

/// Why a server cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    /// Its name does not fit into a tool's name.
    #[error("an MCP server cannot be called {0:?}; use letters, digits and dashes")]
    BadName(String),
    /// It could not be started.
    #[error("the MCP server {name} could not be started: {source}")]
    NotStarted {
        /// Which.
        name: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// It did not answer as it should.
    #[error("the MCP server {name} did not answer: {message}")]
    NoAnswer {
        /// Which.
        name: String,
        /// What happened.
        message: String,
    },
}

/// Starts a server and gives its tools. It ends when the last of them is dropped.
pub async fn connect(config: &McpConfig) -> Result<Vec<Arc<dyn ExtraTool>>, McpError> {
    let name = config.name.clone();
    let fits = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    if !fits || config.command.is_empty() {
        return Err(McpError::BadName(name));
    }
    let link = Arc::new(Link::start(config).map_err(|source| McpError::NotStarted { name: name.clone(), source })?);
    let listed = tokio::time::timeout(GREETING, link.greet()).await;
    let tools = listed
        .unwrap_or_else(|_| Err(format!("nothing within {} s", GREETING.as_secs())))
        .map_err(|message| McpError::NoAnswer { name: name.clone(), message })?;
    let tools = tools.into_iter().filter_map(|tool| McpTool::new(&name, &tool, &link));
    Ok(tools.map(|tool| Arc::new(tool) as Arc<dyn ExtraTool>).collect())
}

/// A tool of a server.
struct McpTool {
    spec: ToolSpec,
    own_name: String,
    definition: Option<Digest>,
    link: Arc<Link>,
}

impl McpTool {
    /// None where the tool's name cannot be one for a model.
    fn new(server: &str, tool: &Value, link: &Arc<Link>) -> Option<Self> {
        let own_name = tool["name"].as_str()?.to_owned();
        let name = format!("mcp__{server}__{own_name}");
        if name.len() > 64 || !name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-')) {
            tracing::warn!(server, tool = own_name, "the tool's name cannot be used");
            return None;
        }
        let spec = ToolSpec {
            name,
            description: tool["description"].as_str().unwrap_or_default().to_owned(),
            schema: tool.get("inputSchema").cloned().unwrap_or_else(|| json!({"type": "object"})),
            // A server's word that a tool only reads is a hint; it is not taken for running calls at the same time.
            reads_only: false,
        };
        let definition = placet_gate::definition_digest(tool.to_string().as_bytes());
        Some(Self { spec, own_name, definition, link: Arc::clone(link) })
    }

    async fn call(&self, cleared: Cleared) -> Output {
        let params = json!({"name": self.own_name, "arguments": cleared.input()});
        let answer = tokio::time::timeout(CALL, self.link.request("tools/call", params)).await;
        let failed = |code, message| ToolError { code, message, tool: self.spec.name.clone() }.into();
        match answer {
            Ok(Ok(result)) => Output {
                text: crate::tools::capped(text_of(&result)),
                is_error: result["isError"].as_bool().unwrap_or(false),
            },
            Ok(Err(message)) => failed(ToolErrorCode::Failed, message),
            Err(_) => {
                failed(ToolErrorCode::TimedOut, format!("The server gave no result within {} s.", CALL.as_secs()))
            }
        }
    }
}

impl ExtraTool for McpTool {
    fn spec(&self) -> ToolSpec {
        self.spec.clone()
    }

    fn run(&self, cleared: Cleared) -> Later<'_, Output> {
        Box::pin(self.call(cleared))
    }

    fn definition(&self) -> Option<Digest> {
        self.definition
    }
}

/// The texts of a result; of other content, what it is.
fn text_of(result: &Value) -> String {
    let pieces = result["content"].as_array().into_iter().flatten().map(|piece| match piece["text"].as_str() {
        Some(text) => text.to_owned(),
        None => format!("[{}]", piece["type"].as_str().unwrap_or("content")),
    });
    let text = pieces.collect::<Vec<_>>().join("\n");
    match result.get("structuredContent") {
        Some(structured) if text.is_empty() => structured.to_string(),
        Some(_) | None => text,
    }
}

type Waiting = Arc<Mutex<HashMap<u64, oneshot::Sender<Result<Value, String>>>>>;

/// The connection to one server.
struct Link {
    stdin: Arc<tokio::sync::Mutex<ChildStdin>>,
    waiting: Waiting,
    next: AtomicU64,
    listening: tokio::task::JoinHandle<()>,
    _child: Child,
    _group: Group,
}

impl Link {
    fn start(config: &McpConfig) -> std::io::Result<Self> {
        let passed_on = std::env::vars_os().filter(|(name, _)| PASSED_ON.iter().any(|passed| name == passed));
        let mut child = tokio::process::Command::new(&config.command[0])
            .args(&config.command[1..])
            .env_clear()
            .envs(passed_on)
            .envs(&config.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let group = Group::of(&child);
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        };
        let stdin = Arc::new(tokio::sync::Mutex::new(stdin));
        let waiting = Waiting::default();
        let listening = tokio::spawn(listen(stdout, Arc::clone(&stdin), Arc::clone(&waiting)));
        Ok(Self { stdin, waiting, next: AtomicU64::new(1), listening, _child: child, _group: group })
    }

    /// Says hello and asks for the tools, page by page.
    async fn greet(&self) -> Result<Vec<Value>, String> {
        let client = json!({"name": "placet", "version": env!("CARGO_PKG_VERSION")});
        let hello = json!({"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client});
        self.request("initialize", hello).await?;
        send(&self.stdin, &json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        let mut tools = Vec::new();
        let mut params = json!({});
        // A server that never ends its list is not listened to for ever.
        for _ in 0..100 {
            let page = self.request("tools/list", params).await?;
            tools.extend(page["tools"].as_array().cloned().unwrap_or_default());
            match page["nextCursor"].as_str() {
                Some(cursor) => params = json!({"cursor": cursor}),
                None => break,
            }
        }
        Ok(tools)
    }

    async fn request(&self, method: &str, params: Value) -> Result<Value, String> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (tell, hear) = oneshot::channel();
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(id, tell);
        send(&self.stdin, &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await?;
        hear.await.unwrap_or_else(|_| Err("The server ended.".to_owned()))
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// Reads what the server says until it ends, then lets go of who still waits.
async fn listen(stdout: ChildStdout, stdin: Arc<tokio::sync::Mutex<ChildStdin>>, waiting: Waiting) {
    let mut lines = BufReader::new(stdout).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        match (message.get("method").and_then(Value::as_str), message.get("id")) {
            (Some(method), Some(id)) => {
                let answer = if method == "ping" {
                    json!({"jsonrpc": "2.0", "id": id, "result": {}})
                } else {
                    json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "not offered here"}})
                };
                if send(&stdin, &answer).await.is_err() {
                    break;
                }
            }
            (None, Some(id)) => {
                let waiter =
                    id.as_u64().and_then(|id| waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&id));
                if let Some(waiter) = waiter {
                    let error = message["error"]["message"].as_str().map(str::to_owned);
                    let _ = waiter.send(error.map_or_else(|| Ok(message["result"].clone()), Err));
                }
            }
            (Some(_) | None, None) => {}
        }
    }
    waiting.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

async fn send(stdin: &tokio::sync::Mutex<ChildStdin>, message: &Value) -> Result<(), String> {
    let line = format!("{message}\n");
    let mut stdin = stdin.lock().await;
    stdin.write_all(line.as_bytes()).await.map_err(|error| format!("The server cannot be reached: {error}"))
}
