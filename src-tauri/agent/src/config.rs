//! `agent.toml` in the configuration directory: the provider, hooks, MCP servers, bounds and profiles of the built-in
//! agent. It is the operator's alone; nothing in a workspace is read as configuration.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use placet_domain::AgentName;
use placet_keyring::KeyringError;
use serde::Deserialize;

use crate::{
    Budget, Options,
    hooks::{
        Clamp, External, Hook,
        external::{ExternalConfig, NoHook},
    },
    mcp::{self, McpConfig, McpError},
    provider::{Provider, anthropic::Anthropic, http::Key, openai::OpenAi},
};

/// The file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Who answers.
    pub provider: Option<ProviderConfig>,
    /// How far a run may go.
    #[serde(default)]
    pub budget: BudgetConfig,
    /// What the operator vouches for, for the hooks: user, tier, …. The policy has its own.
    #[serde(default)]
    pub attributes: BTreeMap<String, String>,
    /// How deep sub-agents may go; 0 for none.
    #[serde(default)]
    pub sub_agents: u32,
    /// Where `audit_log.jsonl` is written live.
    pub audit_log: Option<PathBuf>,
    /// Where `session_summaries.jsonl` is written live.
    pub session_summaries: Option<PathBuf>,
    /// The person's hooks.
    #[serde(default, rename = "hook")]
    pub hooks: Vec<ExternalConfig>,
    /// MCP servers.
    #[serde(default, rename = "mcp")]
    pub mcp_servers: Vec<McpConfig>,
    /// Bounds of arguments.
    #[serde(default, rename = "clamp")]
    pub clamps: Vec<Clamp>,
    /// Which tools an agent profile is offered.
    #[serde(default, rename = "profile")]
    pub profiles: Vec<Profile>,
}

/// A provider to talk to.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum ProviderConfig {
    /// OpenAI-compatible chat completions.
    OpenAi {
        /// Up to and without `/chat/completions`.
        base_url: Option<String>,
        /// The model's name.
        model: String,
        /// A file with the key, readable by its owner alone. Local servers need none.
        key_file: Option<PathBuf>,
        /// Or its name in the keyring of the person's session.
        key_in_keyring: Option<String>,
    },
    /// Anthropic's messages.
    Anthropic {
        /// Up to and without `/v1/messages`.
        base_url: Option<String>,
        /// The model's name.
        model: String,
        /// A file with the key, readable by its owner alone.
        key_file: Option<PathBuf>,
        /// Or its name in the keyring of the person's session.
        key_in_keyring: Option<String>,
        /// The most tokens of one answer.
        max_tokens: Option<u32>,
    },
}

/// How far a run may go; what is left out is as always.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BudgetConfig {
    /// Turns.
    pub max_turns: Option<u32>,
    /// Tokens read and written.
    pub max_tokens: Option<u64>,
    /// Wall time in milliseconds.
    pub max_ms: Option<u64>,
}

/// The tools of a kind of agent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Its name.
    pub name: String,
    /// The tools it is offered; no others can be called.
    pub tools: Vec<String>,
}

/// What is wrong with the file, or with what it names.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It cannot be read.
    #[error("{path} cannot be read ({source}): it names the provider that answers the agent; see docs/agent.md")]
    NoFile {
        /// Where it was looked for.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Another provider is named.
    #[error("agent.toml names the provider {named}, not {wanted}")]
    OtherProvider {
        /// What stands there.
        named: &'static str,
        /// What was asked for.
        wanted: String,
    },
    /// It is no TOML, or not of this shape; the message names the line.
    #[error("agent.toml: {0}")]
    Unreadable(#[from] toml::de::Error),
    /// No provider is named.
    #[error("agent.toml names no provider: add [provider] with kind = \"anthropic\" or \"openai\" and a model")]
    NoProvider,
    /// The key cannot be read.
    #[error("the key file {path} cannot be used: {source}")]
    Key {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        source: std::io::Error,
    },
    /// The keyring does not give it.
    #[error("the provider's key: {0}")]
    Keyring(#[from] KeyringError),
    /// Both are named.
    #[error("agent.toml names both key_file and key_in_keyring; the key is in one of them")]
    TwoKeys,
    /// A hook cannot be taken.
    #[error(transparent)]
    Hook(#[from] NoHook),
    /// An MCP server cannot be used.
    #[error(transparent)]
    Mcp(#[from] McpError),
    /// No such profile.
    #[error("agent.toml has no profile {0}")]
    NoProfile(String),
}

impl Config {
    /// Reads the text of the file.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        Ok(toml::from_str(text)?)
    }

    /// Reads the file.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| ConfigError::NoFile { path: path.to_owned(), source })?;
        Self::parse(&text)
    }

    /// Whether the provider is of this kind: `openai` or `anthropic`.
    pub fn must_be(&self, kind: &str) -> Result<(), ConfigError> {
        let named = self.provider.as_ref().ok_or(ConfigError::NoProvider)?.kind();
        if named == kind { Ok(()) } else { Err(ConfigError::OtherProvider { named, wanted: kind.to_owned() }) }
    }

    /// The options of a run. Keys are read and MCP servers started now.
    pub async fn options(
        &self,
        agent: AgentName,
        workspace: PathBuf,
        task: String,
        profile: Option<&str>,
    ) -> Result<Options, ConfigError> {
        let provider = self.provider.as_ref().ok_or(ConfigError::NoProvider)?.open().await?;
        let mut options = Options::new(agent, workspace, task, provider);
        if let Some(name) = profile {
            let found = self.profiles.iter().find(|profile| profile.name == name);
            options.tools = Some(found.ok_or_else(|| ConfigError::NoProfile(name.to_owned()))?.tools.clone());
        }
        for hook in &self.hooks {
            options.hooks.push(Arc::new(External::try_from(hook.clone())?) as Arc<dyn Hook>);
        }
        for server in &self.mcp_servers {
            options.extra_tools.extend(mcp::connect(server).await?);
        }
        let usual = Budget::default();
        options.budget = Budget {
            max_turns: self.budget.max_turns.unwrap_or(usual.max_turns),
            max_tokens: self.budget.max_tokens.unwrap_or(usual.max_tokens),
            max_ms: self.budget.max_ms.unwrap_or(usual.max_ms),
        };
        options.clamps.clone_from(&self.clamps);
        options.attributes.clone_from(&self.attributes);
        options.sub_agents = self.sub_agents;
        options.audit_log.clone_from(&self.audit_log);
        options.session_summaries.clone_from(&self.session_summaries);
        Ok(options)
    }
}

impl ProviderConfig {
    /// As it is written in the file.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::OpenAi { .. } => "openai",
            Self::Anthropic { .. } => "anthropic",
        }
    }

    /// The provider, its key read. A keyring that is locked waits for the person.
    pub async fn open(&self) -> Result<Arc<dyn Provider>, ConfigError> {
        let or = |url: &Option<String>, usual: &str| url.clone().unwrap_or_else(|| usual.to_owned());
        Ok(match self {
            Self::OpenAi { base_url, model, key_file, key_in_keyring } => Arc::new(OpenAi {
                base_url: or(base_url, "https://api.openai.com/v1"),
                model: model.clone(),
                key: key(key_file.as_ref(), key_in_keyring.as_ref()).await?,
            }),
            Self::Anthropic { base_url, model, key_file, key_in_keyring, max_tokens } => Arc::new(Anthropic {
                base_url: or(base_url, "https://api.anthropic.com"),
                model: model.clone(),
                key: key(key_file.as_ref(), key_in_keyring.as_ref()).await?,
                max_tokens: max_tokens.unwrap_or(8_192),
            }),
        })
    }
}

async fn key(file: Option<&PathBuf>, in_keyring: Option<&String>) -> Result<Option<Key>, ConfigError> {
    match (file, in_keyring) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(ConfigError::TwoKeys),
        (Some(path), None) => {
            Key::from_file(path).map(Some).map_err(|source| ConfigError::Key { path: path.clone(), source })
        }
        (None, Some(name)) => {
            let name = name.clone();
            let read = tokio::task::spawn_blocking(move || placet_keyring::read(&name)).await;
            let read = read.map_err(|error| KeyringError::Failed(error.to_string()))??;
            Ok(Some(Key::new(read)))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    #[tokio::test]
    async fn the_file_makes_the_options_of_a_run() {
        let dir = tempfile::tempdir().unwrap();
        let key = dir.path().join("key");
        std::fs::write(&key, "k\n").unwrap();
        let text = format!(
            "sub_agents = 1\n[provider]\nkind = \"anthropic\"\nmodel = \"m\"\nkey_file = {key:?}\n\
             [budget]\nmax_turns = 3\n[attributes]\ntier = \"free\"\n\
             [[hook]]\nname = \"h\"\ncommand = [\"/bin/true\"]\nevents = [\"PreToolUse\"]\n\
             [[clamp]]\ntool = \"list_files\"\nfield = \"max_entries\"\nmost = 10\n\
             [[profile]]\nname = \"reader\"\ntools = [\"read_file\"]\n"
        );
        let config = Config::parse(&text).unwrap();
        let options = |profile| config.options("builtin".parse().unwrap(), dir.path().into(), "t".into(), profile);
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(options(None).await, Err(ConfigError::Key { .. })), "a key that others may read is refused");
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
        let made = options(Some("reader")).await.unwrap();
        assert_eq!((made.budget.max_turns, made.hooks.len(), made.sub_agents), (3, 1, 1));
        assert_eq!(made.attributes["tier"], "free");
        assert_eq!((made.tools.unwrap(), made.clamps[0].most), (vec!["read_file".to_owned()], 10));
        assert!(matches!(options(Some("writer")).await, Err(ConfigError::NoProfile(_))));
    }

    #[test]
    fn a_mistake_is_named() {
        let unknown = Config::parse("[provider]\nkind = \"openai\"\nmodel = \"m\"\nkey = \"sk\"\n").unwrap_err();
        assert!(unknown.to_string().contains("key"), "{unknown}");
    }
}
