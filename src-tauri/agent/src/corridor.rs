//! The gate as this room uses it: one in this process, or one that runs elsewhere.

use placet_domain::{AgentName, ApprovalId, At, PathText, Refusal, SessionId};
use placet_gate::Remote;
use tokio::sync::oneshot;

pub(crate) use placet_gate::{Ask, Cleared, Gate, Ran, Verdict};

/// The gate that a run asks. Wherever it is, only what it cleared is run.
#[derive(Clone, Debug)]
pub enum Corridor {
    /// In this process.
    Here(Gate),
    /// In another one, asked through its socket.
    There(Remote),
}

impl From<Gate> for Corridor {
    fn from(gate: Gate) -> Self {
        Self::Here(gate)
    }
}

impl From<Remote> for Corridor {
    fn from(remote: Remote) -> Self {
        Self::There(remote)
    }
}

impl Corridor {
    pub(crate) async fn session(
        &self,
        agent: AgentName,
        client_session: Option<String>,
        workspace: PathText,
        parent: Option<SessionId>,
    ) -> Result<SessionId, Refusal> {
        match self {
            Self::Here(gate) => gate.session(agent, client_session, workspace, parent).await,
            Self::There(remote) => remote.session(agent, client_session, workspace, parent).await,
        }
    }

    pub(crate) async fn end_session(&self, session: SessionId, summary: Option<String>) -> Result<(), Refusal> {
        match self {
            Self::Here(gate) => gate.end_session(session, summary).await,
            Self::There(remote) => remote.end_session(session, summary).await,
        }
    }

    /// `waits` hears, if a person is asked, of the approval and its deadline.
    pub(crate) async fn ask(&self, ask: Ask, waits: Option<oneshot::Sender<(ApprovalId, At)>>) -> Verdict {
        match self {
            Self::Here(gate) => gate.ask(ask, waits).await,
            Self::There(remote) => remote.ask(ask, waits).await,
        }
    }

    pub(crate) async fn report(&self, ran: Ran) -> Result<(), Refusal> {
        match self {
            Self::Here(gate) => gate.report(ran).await,
            Self::There(remote) => remote.report(ran).await,
        }
    }

    /// Whether a denial is only that the gate closes. One elsewhere is looked for again until it is back.
    pub(crate) fn is_closing(&self) -> bool {
        match self {
            Self::Here(gate) => gate.is_closing(),
            Self::There(_) => false,
        }
    }

    pub(crate) fn now(&self) -> At {
        match self {
            Self::Here(gate) => gate.now(),
            Self::There(remote) => remote.now(),
        }
    }
}
