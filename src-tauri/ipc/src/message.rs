//! What is said at the agents' door: JSON-RPC 2.0, one message a line, at most 16 MiB.
//!
//! Requests are strict: a field that is not known is refused, since a client that relies on it would otherwise be
//! misunderstood. Results may grow. The input of a call travels as the very bytes that the client sent, because a
//! digest is taken over them.

use placet_domain::{AgentName, ApprovalId, At, Digest, GrantId, PathText, Refusal, RefusalCode, SessionId};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

/// The version of what is said here. Another one is refused.
pub const PROTOCOL: u32 = 1;
/// The longest line, its end included.
pub const MAX_LINE_BYTES: usize = 16 << 20;
/// The code of every error on the wire; what to branch on is the word in its `data`.
pub const ERROR_CODE: i32 = -32000;

/// The names of the methods on the agents' side. There is none that approves, grants, edits the policy, sets a
/// context or lifts a pause.
pub mod method {
    /// Agree on the version. [`super::Hello`] → [`super::HelloBack`].
    pub const HELLO: &str = "hello";
    /// Begin a session or find it again. [`super::SessionStart`] → [`super::SessionStarted`].
    pub const SESSION_START: &str = "session.start";
    /// May this call run? [`super::CallCheck`] → [`super::CallChecked`]. Blocks while a person is asked.
    pub const CALL_CHECK: &str = "call.check";
    /// Take a question back. [`super::CallWithdraw`] → [`super::Done`].
    pub const CALL_WITHDRAW: &str = "call.withdraw";
    /// What became of a call. [`super::CallReport`] → [`super::Done`].
    pub const CALL_REPORT: &str = "call.report";
    /// End a session. [`super::SessionStop`] → [`super::Done`].
    pub const SESSION_STOP: &str = "session.stop";
    /// How the gate is. [`super::Nothing`] → [`super::Status`].
    pub const STATUS: &str = "status";
    /// What waits. [`super::PendingList`] → [`super::List`].
    pub const PENDING_LIST: &str = "pending.list";
    /// What was granted. [`super::GrantsList`] → [`super::List`].
    pub const GRANTS_LIST: &str = "grants.list";
    /// What happened. [`super::HistorySearch`] → [`super::List`].
    pub const HISTORY_SEARCH: &str = "history.search";
    /// Say no. [`super::TakeAway`] → [`super::Outcomes`].
    pub const APPROVAL_DENY: &str = "approval.deny";
    /// Take back. [`super::TakeAway`] → [`super::Outcomes`].
    pub const APPROVAL_CANCEL: &str = "approval.cancel";
    /// End a grant. [`super::TakeAway`] → [`super::Outcomes`].
    pub const GRANT_REVOKE: &str = "grant.revoke";
    /// Deny everything from now on. [`super::Nothing`] → [`super::Done`].
    pub const PAUSE: &str = "pause";
    /// A notification from the gate to who waits on a `call.check`: it has become a question to a person.
    /// [`super::CallPending`].
    pub const CALL_PENDING: &str = "call.pending";
}

/// `hello`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hello {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// What program: `placet hook`, `my-agent`, …
    pub client: String,
    /// Its version.
    pub version: String,
}

/// The answer to `hello`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HelloBack {
    /// [`PROTOCOL`].
    pub protocol: u32,
    /// `placet`.
    pub server: String,
    /// Its version.
    pub version: String,
}

/// `session.start`. The same agent and client session give the same session; the first values stand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionStart {
    /// Which agent.
    pub agent: AgentName,
    /// The client's own id of its session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_session: Option<String>,
    /// The folder it works in.
    pub workspace: PathText,
    /// The session that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<SessionId>,
}

/// The answer to `session.start`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionStarted {
    /// Its id.
    pub session: SessionId,
}

/// `call.check`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallCheck {
    /// Whose call; left out, the session that this connection began last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The client's own id of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The approval that was waited for before the connection was lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalId>,
    /// The tool's name.
    pub tool: String,
    /// Its input, byte for byte.
    pub input: Box<RawValue>,
    /// For a tool of an MCP server: SHA-256 of its definition as the server last listed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Digest>,
    /// The folder the client says it is in.
    pub cwd: PathText,
    /// How long the client can wait, in milliseconds from now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    /// How long this very request may block, in milliseconds: then `deny` with `pending`, and the approval lives on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_ms: Option<u64>,
    /// Whether the client can run an input that the person changed.
    #[serde(default)]
    pub can_edit: bool,
    /// Whether the client can run an input that a rule changed.
    #[serde(default)]
    pub can_rewrite: bool,
    /// Why the asker itself wants a person to look. Rules and grants do not answer for the person then; denials do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<String>,
    /// The call that this one is part of: the call id of a sub-agent's call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The client asks by its own rules: a call that was let through a moment ago is let through by the same yes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub confirms: bool,
}

/// The two words an agent can hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It may run, once.
    Allow,
    /// It may not.
    Deny,
}

/// The answer to `call.check`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CallChecked {
    /// May it run?
    pub decision: Decision,
    /// Why, for the agent to read.
    pub reason: String,
    /// With `deny`: nobody said no yet, the question still waits. Ask again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pending: bool,
    /// The approval behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalId>,
    /// The grant that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<GrantId>,
    /// The rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// With `allow`: the input to run in place of the one that was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Box<RawValue>>,
    /// What was judged.
    pub digest: Digest,
}

/// `call.pending`, a notification: the call of the request `request` waits for a person as `approval`. Who loses the
/// connection sends that id when it asks again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallPending {
    /// The id of the `call.check` request.
    pub request: Id,
    /// What waits.
    pub approval: ApprovalId,
    /// Until when.
    pub expires_at_ms: At,
}

/// `call.withdraw`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallWithdraw {
    /// Which.
    pub approval: ApprovalId,
}

/// `call.report`, from the post hook.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallReport {
    /// Whose call; left out, the session that this connection began last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// The client's own id of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The tool's name.
    pub tool: String,
    /// The input it ran with, byte for byte.
    pub input: Box<RawValue>,
    /// `ok`, `error`, `interrupted`, or the client's own word.
    pub outcome: String,
    /// What it gave, as the client tells it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Box<RawValue>>,
    /// How long it took.
    pub duration_ms: u64,
}

/// `session.stop`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionStop {
    /// Which.
    pub session: SessionId,
    /// What the client says at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// Parameters of a method that takes none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// The answer of a method that has nothing to say but that it was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {}

/// The answer to `status`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The version of the program.
    pub version: String,
    /// `window`, `serve` or `supervised`.
    pub host: String,
    /// Its process id.
    pub pid: i32,
    /// When it started.
    pub since_ms: At,
    /// Everything is denied.
    pub paused: bool,
    /// How many approvals wait.
    pub pending: u64,
    /// How many grants are active.
    pub grants: u64,
    /// How many sessions have not stopped.
    pub sessions: u64,
    /// The number of the last fact.
    pub head: u64,
    /// What is wrong with the policy file, where the last good one is in force in its stead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_error: Option<String>,
}

/// `pending.list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PendingList {
    /// Only of this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// Only of this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentName>,
    /// What the last page gave as `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// How many: 50 by default, at most 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// `grants.list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GrantsList {
    /// Only in this state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// What the last page gave as `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// How many: 50 by default, at most 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// `history.search`. Newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistorySearch {
    /// Words that occur.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Only of this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Only of this tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Only with this decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<String>,
    /// Only under this folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under: Option<String>,
    /// Only with this host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// From this moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_ms: Option<At>,
    /// To this moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_ms: Option<At>,
    /// What the last page gave as `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Value>,
    /// How many: 50 by default, at most 1,000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}

/// A page of a list. The items have the shapes of the desk's lists.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct List {
    /// The items.
    pub items: Vec<Value>,
    /// For `after`, where there is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Value>,
}

/// `approval.deny`, `approval.cancel`, `grant.revoke`: ids of approvals or of grants.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TakeAway<I> {
    /// Which.
    pub ids: Vec<I>,
    /// Words for the agent, or for the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What became of each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Outcomes {
    /// In the order of the ids.
    pub outcomes: Vec<Outcome>,
}

/// What became of one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Which.
    pub id: String,
    /// The state it is in now; none if there is no such thing.
    pub state: Option<String>,
    /// Whether this changed it.
    pub changed: bool,
}

/// The id of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Id {
    /// As our own clients number them.
    Number(i64),
    /// As others may.
    Text(String),
}

/// The only version of JSON-RPC there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum JsonRpc {
    /// `"2.0"`.
    #[default]
    #[serde(rename = "2.0")]
    V2,
}

/// A request; without an `id` it wants no answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// `"2.0"`.
    pub jsonrpc: JsonRpc,
    /// To find the answer by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Id>,
    /// What is wanted.
    pub method: String,
    /// With what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub params: Option<Box<RawValue>>,
}

/// An answer: one of `result` and `error`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Response {
    /// `"2.0"`.
    pub jsonrpc: JsonRpc,
    /// Of which request; null where it had none that could be read.
    pub id: Option<Id>,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Box<RawValue>>,
    /// Why nothing came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
}

/// Something told without being asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Notification {
    /// `"2.0"`.
    pub jsonrpc: JsonRpc,
    /// About what.
    pub method: String,
    /// What.
    pub params: Box<RawValue>,
}

/// A line that a client reads.
#[derive(Clone, Debug)]
pub enum Incoming {
    /// An answer.
    Response(Response),
    /// Something told.
    Notification(Notification),
}

/// An error on the wire: `message` is `<code>: <sentence>`, `data.code` is the word to branch on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[error("{message}")]
pub struct ErrorBody {
    /// [`ERROR_CODE`].
    pub code: i32,
    /// `<code>: <sentence>`.
    pub message: String,
    /// `{"code": "<code>", …}`.
    #[serde(default)]
    pub data: Value,
}

impl ErrorBody {
    /// The word to branch on.
    pub fn word(&self) -> &str {
        self.data.get("code").and_then(Value::as_str).unwrap_or("")
    }

    /// The sentence without the word.
    pub fn sentence(&self) -> &str {
        self.message.strip_prefix(self.word()).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&self.message)
    }

    /// Parameters that have not the right shape.
    pub fn invalid_params(sentence: impl Into<String>) -> Self {
        RefusalCode::InvalidParams.because(sentence).into()
    }

    /// There is no gate behind the window.
    pub fn not_open(message: &str) -> Self {
        RefusalCode::NotOpen.because(message).into()
    }

    /// A method that is not there.
    pub fn unknown_method(method: &str) -> Self {
        RefusalCode::UnknownMethod.because(format!("there is no method {method:?}")).into()
    }
}

impl From<Refusal> for ErrorBody {
    fn from(refusal: Refusal) -> Self {
        let message = format!("{}: {}", refusal.code.word(), refusal.message);
        let fallback = || serde_json::json!({ "code": refusal.code.word() });
        let data = serde_json::to_value(&refusal.code).unwrap_or_else(|_| fallback());
        Self { code: ERROR_CODE, message, data }
    }
}

impl Request {
    /// Reads a line.
    ///
    /// # Errors
    /// `invalid_params`: no JSON-RPC 2.0 request.
    pub fn parse(line: &[u8]) -> Result<Self, ErrorBody> {
        serde_json::from_slice(line).map_err(|e| ErrorBody::invalid_params(format!("not a JSON-RPC 2.0 request: {e}")))
    }

    /// The parameters, strictly; left out means `{}`.
    ///
    /// # Errors
    /// `invalid_params`.
    pub fn params<T: DeserializeOwned>(&self) -> Result<T, ErrorBody> {
        let text = self.params.as_ref().map_or("{}", |raw| raw.get());
        serde_json::from_str(text).map_err(|e| ErrorBody::invalid_params(format!("parameters of {}: {e}", self.method)))
    }
}

impl Response {
    /// An answer to `id`.
    pub fn new<T: Serialize>(id: Option<Id>, outcome: Result<T, ErrorBody>) -> Self {
        let outcome = outcome.and_then(|result| {
            serde_json::value::to_raw_value(&result).map_err(|e| ErrorBody::invalid_params(format!("no JSON: {e}")))
        });
        let (result, error) = match outcome {
            Ok(result) => (Some(result), None),
            Err(error) => (None, Some(error)),
        };
        Self { jsonrpc: JsonRpc::V2, id, result, error }
    }
}

impl Notification {
    /// Something to tell. None if it is no JSON.
    pub fn new<T: Serialize>(method: &str, params: &T) -> Option<Self> {
        let params = serde_json::value::to_raw_value(params).ok()?;
        Some(Self { jsonrpc: JsonRpc::V2, method: method.to_owned(), params })
    }
}

impl Incoming {
    /// Reads a line that a server wrote.
    pub fn parse(line: &[u8]) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Kind {
            method: Option<serde::de::IgnoredAny>,
        }
        let kind: Kind = serde_json::from_slice(line)?;
        match kind.method {
            Some(_) => serde_json::from_slice(line).map(Self::Notification),
            None => serde_json::from_slice(line).map(Self::Response),
        }
    }
}

/// A message as a line.
///
/// # Errors
/// What cannot be JSON: a map with keys that are no text.
pub fn line<T: Serialize>(message: &T) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_input_keeps_its_bytes() {
        let text = r#"{"jsonrpc":"2.0","id":1,"method":"call.check","params":{"session":"01890000-0000-7000-8000-000000000000","tool":"Bash","cwd":"/w","input":{ "b":1.0,  "a":"\u0041", "a":2 }}}"#;
        let request = Request::parse(text.as_bytes()).unwrap();
        let check: CallCheck = request.params().unwrap();
        assert_eq!(check.input.get(), r#"{ "b":1.0,  "a":"\u0041", "a":2 }"#);
        assert!(!check.can_edit && check.hold_ms.is_none());
        let again: CallCheck = serde_json::from_slice(&serde_json::to_vec(&check).unwrap()).unwrap();
        assert_eq!(again.input.get(), check.input.get());
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"pause","params":{},"more":1}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"pause"}"#,
            r#"{"id":1,"method":"pause"}"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"pause"}"#,
            r#"[{"jsonrpc":"2.0","id":1,"method":"pause"}]"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"pause","method":"status"}"#,
            "",
        ] {
            assert_eq!(Request::parse(text.as_bytes()).unwrap_err().word(), "invalid_params", "{text}");
        }
        let request = Request::parse(br#"{"jsonrpc":"2.0","id":1,"method":"pause","params":{"lift":true}}"#).unwrap();
        assert_eq!(request.params::<Nothing>().unwrap_err().word(), "invalid_params");
    }

    #[test]
    fn an_error_has_the_word_in_front_and_in_its_data() {
        let error: ErrorBody =
            RefusalCode::DeniedByPolicy { rule: "no".into() }.because("The rule \"no\" forbids it.").into();
        assert_eq!(
            serde_json::to_string(&error).unwrap(),
            r#"{"code":-32000,"message":"denied_by_policy: The rule \"no\" forbids it.","data":{"code":"denied_by_policy","rule":"no"}}"#
        );
        assert_eq!(error.word(), "denied_by_policy");
        assert_eq!(error.sentence(), "The rule \"no\" forbids it.");
    }

    #[test]
    fn a_client_tells_answers_from_news() {
        let told = Notification::new("fact", &serde_json::json!({"seq": 1})).unwrap();
        let text = line(&told).unwrap();
        assert_eq!(text, b"{\"jsonrpc\":\"2.0\",\"method\":\"fact\",\"params\":{\"seq\":1}}\n");
        assert!(matches!(Incoming::parse(&text).unwrap(), Incoming::Notification(_)));
        let answer = line(&Response::new(Some(Id::Number(3)), Ok(Done {}))).unwrap();
        assert_eq!(answer, b"{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n");
        assert!(matches!(Incoming::parse(&answer).unwrap(), Incoming::Response(_)));
    }

    #[test]
    fn no_method_on_this_side_widens_anything() {
        let source = include_str!("message.rs");
        let names = source.lines().filter_map(|l| l.trim().strip_prefix("pub const ")?.split_once(": &str = "));
        let names: Vec<&str> = names.map(|(_, value)| value.trim_matches(['"', ';'])).collect();
        assert!(names.len() > 10);
        for verb in ["approve", "issue", "resume", "put", "context", "shorten"] {
            assert!(!names.iter().any(|name| name.contains(verb)), "{verb}");
        }
    }
}
