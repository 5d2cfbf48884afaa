//! The demo: scripted agents on a temporary workspace, so that a new person has something to answer.
//!
//! Nothing is pretended beyond the script itself: every call walks the real corridor, what is approved is really
//! done in the temporary workspace, and each session's own id begins with `demo-`.

mod hands;
mod home;
mod patch;
mod script;
mod terminal;
mod workspace;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use placet_domain::{AgentName, Refusal, SessionId};
use tempfile::TempDir;
use tokio::{sync::watch, task::JoinSet, time::Instant};

use crate::{
    corridor::{Ask, Gate, Ran, Verdict},
    tools::{Toolbox, Workspace},
};
pub use home::Home;
use script::{Script, Scripted};
pub use terminal::{play, terminal};

/// A rule that the demo's last session runs into, for whoever opens the demo with a policy of its own: append it to
/// the default one. Without it, that call is asked about like any other change.
pub const POLICY_ADDITION: &str = r#"
[[rule]]
name = "tests are the yardstick"
decide = "deny"
action = ["write", "delete"]
path = ["${workspace}/tests/**"]
reason = "Tests are protected: change the code, not the tests."
"#;

/// Between two calls of one session, so that a person can follow.
const PAUSE: Duration = Duration::from_millis(400);

/// Why the demo could not begin.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The workspace could not be made.
    #[error("the demo's workspace could not be made: {0}")]
    Workspace(#[from] std::io::Error),
    /// The gate took no session.
    #[error("the demo's sessions could not be started: {0}")]
    Refused(#[from] Refusal),
    /// The demo's own gate could not be opened.
    #[error("the demo's own gate could not be opened: {0}")]
    Gate(#[from] placet_gate::OpenError),
    /// The run could not begin.
    #[error(transparent)]
    Run(#[from] crate::RunError),
}

/// A running demo. Dropped, it stops acting and its folder is removed; `stop` also ends its sessions.
#[derive(Debug)]
pub struct DemoHandle {
    gate: Gate,
    sessions: Vec<SessionId>,
    agents: JoinSet<()>,
    stop: watch::Sender<bool>,
    folder: TempDir,
    workspace: Arc<Workspace>,
}

impl DemoHandle {
    /// Where the demo's agents work.
    pub fn workspace(&self) -> &Path {
        self.workspace.path()
    }

    /// Its sessions, in the order of the script.
    pub fn sessions(&self) -> &[SessionId] {
        &self.sessions
    }

    /// Ends the sessions, which withdraws what still waits, and removes the folder.
    pub async fn stop(self) {
        let Self { gate, sessions, mut agents, stop, folder, workspace } = self;
        let _ = stop.send(true);
        for session in sessions {
            if let Err(refusal) = gate.end_session(session, Some("The demo was ended.".to_owned())).await {
                tracing::debug!(%refusal, "a demo session had ended already");
            }
        }
        agents.shutdown().await;
        drop(workspace);
        if let Err(error) = folder.close() {
            tracing::warn!(%error, "the demo's folder could not be removed");
        }
    }
}

/// Starts the demo: makes a workspace in a new temporary folder and lets its agents run until they are stopped.
pub async fn start(gate: Gate) -> Result<DemoHandle, DemoError> {
    let (folder, root) = make_workspace()?;
    let workspace = Arc::new(Workspace::open(&root)?);
    let (stop, stopped) = watch::channel(false);
    let mut agents = JoinSet::new();
    let mut sessions = Vec::new();
    // The same client id would find the session of an earlier demo again, in a folder that is gone.
    let run = crate::tools::workspace::random_hex()?;
    for script in script::scripts() {
        let session = begin(&gate, &script, &run[..6], &workspace).await?;
        sessions.push(session);
        let agent = Agent { gate: gate.clone(), session, toolbox: Toolbox::new(Arc::clone(&workspace)) };
        let mut stopped = stopped.clone();
        agents.spawn(async move {
            tokio::select! {
                () = agent.play(script) => {}
                _ = stopped.wait_for(|stop| *stop) => {}
            }
        });
    }
    Ok(DemoHandle { gate, sessions, agents, stop, folder, workspace })
}

fn make_workspace() -> std::io::Result<(TempDir, PathBuf)> {
    let folder = tempfile::Builder::new().prefix("placet-demo-").tempdir()?;
    let root = folder.path().join("orders");
    std::fs::create_dir(&root)?;
    workspace::make(&root)?;
    Ok((folder, root))
}

async fn begin(gate: &Gate, script: &Script, run: &str, workspace: &Workspace) -> Result<SessionId, DemoError> {
    let agent: AgentName =
        script.agent.parse().map_err(|_| std::io::ErrorKind::InvalidInput).map_err(std::io::Error::from)?;
    Ok(gate.session(agent, Some(format!("{}-{run}", script.session)), workspace.path_text(), None).await?)
}

/// One scripted agent.
struct Agent {
    gate: Gate,
    session: SessionId,
    toolbox: Toolbox,
}

impl Agent {
    async fn play(&self, script: Script) {
        let mut number = 0;
        for call in &script.asks {
            number += 1;
            self.call(call, number, 1).await;
        }
        if script.goes_on.is_empty() {
            if let Err(refusal) =
                self.gate.end_session(self.session, Some("The demo's script is through.".to_owned())).await
            {
                tracing::debug!(%refusal, "a demo session could not be ended");
            }
            return;
        }
        for round in 1.. {
            for call in &script.goes_on {
                if self.gate.is_closing() {
                    return;
                }
                number += 1;
                self.call(call, number, round).await;
            }
        }
    }

    async fn call(&self, scripted: &Scripted, number: u32, round: u32) {
        let workspace = self.toolbox.workspace();
        let input = script::filled(&scripted.input, &workspace.path().to_string_lossy(), round);
        let call_id = format!("demo_call_{number}");
        let ask = Ask {
            session: self.session,
            call_id: Some(call_id.clone()),
            parent: None,
            tool: scripted.tool.to_owned(),
            input: input.to_string().into_bytes().into(),
            definition: None,
            cwd: workspace.path_text(),
            again: None,
            deadline_ms: None,
            hold_ms: None,
            waiter: None,
            can_edit: true,
            can_rewrite: true,
            confirms: false,
            doubt: None,
        };
        match self.gate.ask(ask, None).await {
            Verdict::Denied { reason, .. } => {
                tracing::debug!(tool = scripted.tool, reason, "the demo's call was denied");
            }
            Verdict::Allowed(cleared) => {
                let began = Instant::now();
                let output = hands::act(&self.toolbox, &cleared).await;
                let ran = Ran {
                    session: self.session,
                    call_id: Some(call_id),
                    tool: scripted.tool.to_owned(),
                    input: cleared.input().to_string().into_bytes().into(),
                    cwd: cleared.cwd().clone(),
                    outcome: if output.is_error { "error" } else { "ok" }.to_owned(),
                    output: Some(output.text.into_bytes()),
                    duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
                };
                if let Err(refusal) = self.gate.report(ran).await {
                    tracing::warn!(%refusal, "what became of a demo call was not written");
                }
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}
