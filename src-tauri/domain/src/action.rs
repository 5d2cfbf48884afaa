//! What a call does to what it acts on.

use serde::{Deserialize, Serialize};

/// The effect of a call on one subject, weakest first: the order is the order of strength, and a call's own action
/// is the strongest among its subjects. `search`, `list` and `read` are equally strong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Inside the client; touches nothing: to-do lists, plans, questions to the person.
    None,
    /// Finds files or lines.
    Search,
    /// Lists a folder.
    List,
    /// Reads a file.
    Read,
    /// Gets something from a URL.
    Fetch,
    /// Changes or makes a file.
    Write,
    /// Removes a file.
    Delete,
    /// Runs a program.
    Execute,
    /// Gives something to somebody outside.
    Send,
    /// Unknown: asked about, whole.
    Other,
}

impl Action {
    /// Every action, weakest first.
    pub const ALL: [Self; 10] = [
        Self::None,
        Self::Search,
        Self::List,
        Self::Read,
        Self::Fetch,
        Self::Write,
        Self::Delete,
        Self::Execute,
        Self::Send,
        Self::Other,
    ];

    /// 0 for `none` up to 7 for `other`; `search`, `list` and `read` share one strength.
    pub fn strength(self) -> u8 {
        match self {
            Self::None => 0,
            Self::Search | Self::List | Self::Read => 1,
            Self::Fetch => 2,
            Self::Write => 3,
            Self::Delete => 4,
            Self::Execute => 5,
            Self::Send => 6,
            Self::Other => 7,
        }
    }

    /// The word used in the policy file, on the wire and in the database.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Search => "search",
            Self::List => "list",
            Self::Read => "read",
            Self::Fetch => "fetch",
            Self::Write => "write",
            Self::Delete => "delete",
            Self::Execute => "execute",
            Self::Send => "send",
            Self::Other => "other",
        }
    }

    /// The strongest of several; `none` where there are none. Of equals the first wins.
    pub fn strongest(actions: impl IntoIterator<Item = Self>) -> Self {
        actions.into_iter().fold(Self::None, |a, b| if b.strength() > a.strength() { b } else { a })
    }
}
