//! The tools of the built-in agent. A tool checks only its own arguments; who may call it is the hooks' matter.

mod command;
pub mod error;
mod fetch;
mod files;
pub mod spec;
pub(crate) mod workspace;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use placet_domain::{Digest, SessionId, Subject, subject::PathSubject};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) use command::Group;
pub use error::{ToolError, ToolErrorCode};
pub(crate) use files::capped;
pub use spec::ToolSpec;
pub use workspace::Workspace;

use crate::{Later, corridor::Cleared};
use error::Trouble;
use workspace::Target;

/// What a tool gives back to the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Text for the model.
    pub text: String,
    /// Whether it is about a failure.
    pub is_error: bool,
}

impl From<ToolError> for Output {
    fn from(error: ToolError) -> Self {
        let text = serde_json::to_string(&error).unwrap_or_else(|_| error.to_string());
        Self { text, is_error: true }
    }
}

/// A tool that is not built in: one of an MCP server, or a sub-agent.
pub trait ExtraTool: Send + Sync {
    /// What the model is told of it.
    fn spec(&self) -> ToolSpec;
    /// Runs one call that was cleared.
    fn run(&self, cleared: Cleared) -> Later<'_, Output>;
    /// Goes on with what a call began that a crash broke off, where that can be gone on with; else a person is asked
    /// whether the call may run again.
    fn take_up<'a>(&'a self, session: SessionId, call_id: &'a str) -> Option<Later<'a, Output>> {
        let _ = (session, call_id);
        None
    }
    /// For a tool of an MCP server: SHA-256 over the canonical form of its definition.
    fn definition(&self) -> Option<Digest> {
        None
    }
}

/// The tools a session is offered. What is not offered cannot be called.
#[derive(Clone)]
pub struct Toolbox {
    workspace: Arc<Workspace>,
    offered: BTreeMap<String, ToolSpec>,
    extra: BTreeMap<String, Arc<dyn ExtraTool>>,
}

impl Toolbox {
    /// All built-in tools in a workspace.
    pub fn new(workspace: Arc<Workspace>) -> Self {
        let offered = spec::BUILT_IN.iter().map(|spec| (spec.name.clone(), spec.clone())).collect();
        Self { workspace, offered, extra: BTreeMap::new() }
    }

    /// Adds a tool beside the built-in ones. One of the same name replaces it.
    pub fn add(&mut self, tool: Arc<dyn ExtraTool>) {
        let spec = tool.spec();
        self.extra.insert(spec.name.clone(), tool);
        self.offered.insert(spec.name.clone(), spec);
    }

    /// Keeps only the tools that a profile names.
    pub fn only(&mut self, names: &[String]) {
        self.offered.retain(|name, _| names.contains(name));
    }

    /// What the model is told.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.offered.values().cloned().collect()
    }

    /// The tool's description, where it is offered.
    pub fn offered(&self, name: &str) -> Option<&ToolSpec> {
        self.offered.get(name)
    }

    /// See [`ExtraTool::take_up`].
    pub(crate) fn take_up<'a>(&'a self, tool: &str, session: SessionId, call_id: &'a str) -> Option<Later<'a, Output>> {
        self.extra.get(tool).filter(|_| self.offered.contains_key(tool))?.take_up(session, call_id)
    }

    /// See [`ExtraTool::definition`].
    pub(crate) fn definition(&self, tool: &str) -> Option<Digest> {
        self.extra.get(tool)?.definition()
    }

    /// The workspace the tools act in.
    pub fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    /// Runs one call that the gate cleared. Nothing else runs a tool.
    pub async fn run(&self, cleared: Cleared) -> Output {
        if !self.offered.contains_key(cleared.tool()) {
            return ToolErrorCode::UnknownTool
                .because(format!("There is no tool {} here.", cleared.tool()))
                .of(cleared.tool())
                .into();
        }
        if let Some(tool) = self.extra.get(cleared.tool()) {
            return tool.run(cleared).await;
        }
        let act = Act { tool: cleared.tool(), input: cleared.input(), subjects: &cleared.call().subjects };
        self.act(&act).await
    }

    pub(crate) async fn act(&self, act: &Act<'_>) -> Output {
        self.perform(act).await.unwrap_or_else(|trouble| trouble.of(act.tool).into())
    }

    async fn perform(&self, act: &Act<'_>) -> Result<Output, Trouble> {
        use files::{DeleteFile, EditFile, ListFiles, ReadFile, Search, WriteFile};
        match act.tool {
            "read_file" => {
                let tool: ReadFile = act.arguments()?;
                self.on_file(act.path(&tool.path)?, move |w, t| tool.run(w, t)).await
            }
            "list_files" => {
                let tool: ListFiles = act.arguments()?;
                self.on_file(act.path(&tool.path)?, move |w, t| tool.run(w, t)).await
            }
            "search" => {
                let tool: Search = act.arguments()?;
                self.on_file(act.path(&tool.path)?, move |w, t| tool.run(w, t)).await
            }
            "edit_file" => {
                let tool: EditFile = act.arguments()?;
                self.on_file(act.path(&tool.path)?, move |w, t| tool.run(w, t)).await
            }
            "write_file" => {
                let tool: WriteFile = act.arguments()?;
                self.on_file(act.path(&tool.path)?, move |w, t| tool.run(w, t)).await
            }
            "delete_file" => {
                let tool: DeleteFile = act.arguments()?;
                self.on_file(act.path(&tool.path)?, move |w, t| tool.run(w, t)).await
            }
            "run_command" | "run_tests" => {
                let tool: command::RunCommand = act.arguments()?;
                tool.run(&self.workspace, &PathBuf::new()).await
            }
            "fetch_url" => {
                let tool: fetch::FetchUrl = act.arguments()?;
                let judged = act.url(&tool.url)?;
                blocking(move || tool.run(&judged)).await
            }
            other => Err(ToolErrorCode::UnknownTool.because(format!("There is no tool {other}."))),
        }
    }

    async fn on_file(
        &self,
        judged: &PathSubject,
        run: impl FnOnce(&Workspace, &Target) -> Result<String, Trouble> + Send + 'static,
    ) -> Result<Output, Trouble> {
        let target = self.workspace.target(judged)?;
        let workspace = Arc::clone(&self.workspace);
        blocking(move || run(&workspace, &target).map(|text| Output { text, is_error: false })).await
    }
}

/// A cleared call as the tools see it: the input to act on, and what was judged of it.
pub(crate) struct Act<'a> {
    pub(crate) tool: &'a str,
    pub(crate) input: &'a Value,
    pub(crate) subjects: &'a [Subject],
}

impl Act<'_> {
    fn arguments<T: DeserializeOwned>(&self) -> Result<T, Trouble> {
        T::deserialize(self.input)
            .map_err(|error| ToolErrorCode::BadArguments.because(format!("The arguments do not fit: {error}.")))
    }

    /// The judged path of what the input calls `asked`.
    fn path(&self, asked: &str) -> Result<&PathSubject, Trouble> {
        let found = self.subjects.iter().find_map(|subject| match subject {
            Subject::Path(path) if path.asked.bytes() == asked.as_bytes() => Some(path),
            Subject::Path(_) | Subject::Url(_) | Subject::Command(_) | Subject::Mcp(_) | Subject::Tool(_) => None,
        });
        found.ok_or_else(|| ToolErrorCode::NotJudged.because("The call that was judged does not name this path."))
    }

    fn url(&self, asked: &str) -> Result<placet_domain::subject::UrlSubject, Trouble> {
        let found = self.subjects.iter().find_map(|subject| match subject {
            Subject::Url(url) if url.asked == asked => Some(url.clone()),
            Subject::Path(_) | Subject::Url(_) | Subject::Command(_) | Subject::Mcp(_) | Subject::Tool(_) => None,
        });
        found.ok_or_else(|| ToolErrorCode::NotJudged.because("The call that was judged does not name this address."))
    }
}

async fn blocking<T: Send + 'static>(run: impl FnOnce() -> Result<T, Trouble> + Send + 'static) -> Result<T, Trouble> {
    tokio::task::spawn_blocking(run)
        .await
        .unwrap_or_else(|_| Err(ToolErrorCode::Failed.because("The tool broke off. Nothing more is known.")))
}
