//! What is remembered: facts in a keyed hash chain, their projections, and search over them. The only room with SQL.
//!
//! One writer appends; whatever a fact decides is written in the same transaction, and every step of it is a
//! compare-and-set, so that the database itself refuses a late or second answer. What calls are only found by follows
//! when nothing else is to do, or before a reader looks. Readers have connections of their own. Nothing here decides anything, and nothing here knows the time.

mod approval;
mod backup;
mod body;
mod call;
mod chain;
mod chain_key;
mod definition;
mod error;
mod export;
mod files;
mod filter;
mod grant;
mod history;
mod later;
mod load;
mod opened;
mod place;
mod plain;
mod project;
mod prune;
mod reader;
mod recent;
mod schema;
mod session;
mod stats;
mod store;
mod text;
mod verify;

pub use call::{CallDecision, CallLife, CallRow, ChainedEntry};
pub use chain::Stub;
pub use chain_key::ChainKey;
pub use error::StoreError;
pub use export::Format;
pub use filter::{ApprovalFilter, GrantFilter, HistoryFilter, PAGE, PAGE_AT_MOST, Page, SessionFilter};
pub use grant::{GrantRow, Revoked};
pub use opened::{Head, IgnoredGrant, Opened};
pub use prune::Pruned;
pub use reader::Reader;
pub use recent::RecentCall;
pub use stats::{Alike, Bucket, Counted, Stats};
pub use store::{Body, Store};
pub use verify::{Break, Broken, Verified};
