//! The shape of the file, as it is written. A stored format: keys may be added, never renamed.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::{Decide, hours::Day};
use crate::{Action, subject::NetworkClass};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) default: Option<Otherwise>,
    pub(super) timeout: Option<Spanned<String>>,
    pub(super) waiting_per_session: Option<Spanned<u32>>,
    pub(super) waiting_in_all: Option<Spanned<u32>>,
    #[serde(default)]
    pub(super) context: Vec<Context>,
    #[serde(default)]
    pub(super) rule: Vec<Rule>,
    #[serde(default)]
    pub(super) rewrite: Vec<Rewrite>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Otherwise {
    Ask,
    Deny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Context {
    pub(super) agent: Words,
    pub(super) set: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    pub(super) name: Spanned<String>,
    pub(super) decide: Decide,
    pub(super) reason: Option<Spanned<String>>,
    pub(super) timeout: Option<Spanned<String>>,
    pub(super) agent: Option<Words>,
    pub(super) workspace: Option<Words>,
    pub(super) tool: Option<Words>,
    pub(super) action: Option<Spanned<Vec<Action>>>,
    pub(super) path: Option<Words>,
    pub(super) except_path: Option<Words>,
    pub(super) host: Option<Words>,
    pub(super) except_host: Option<Words>,
    pub(super) network: Option<Spanned<Vec<NetworkClass>>>,
    pub(super) url_prefix: Option<Words>,
    pub(super) command: Option<Words>,
    pub(super) mcp_server: Option<Words>,
    pub(super) input: Option<Spanned<toml::Table>>,
    pub(super) protected: Option<Spanned<bool>>,
    pub(super) tainted: Option<bool>,
    pub(super) days: Option<Spanned<Vec<Day>>>,
    pub(super) between: Option<Spanned<String>>,
    pub(super) zone: Option<Spanned<String>>,
    pub(super) limit: Option<Spanned<Limit>>,
    pub(super) when: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Limit {
    pub(super) calls: Spanned<u32>,
    pub(super) per: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rewrite {
    pub(super) name: Spanned<String>,
    pub(super) agent: Option<Words>,
    pub(super) tool: Option<Words>,
    pub(super) input: Option<Spanned<toml::Table>>,
    pub(super) clamp: Option<Spanned<toml::Table>>,
    pub(super) set: Option<Spanned<toml::Table>>,
    pub(super) drop: Option<Vec<String>>,
}

/// A list of texts, each with its place.
pub(super) type Words = Spanned<Vec<Spanned<String>>>;
