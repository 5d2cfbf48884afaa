//! What is true: calls, subjects, policy, approvals, grants, facts, and the one pure function that decides.
//!
//! Nothing here asks for the time, an id or the disk; they are handed in. The same state, command and time give
//! the same facts. What a call really touches is found out by the room `subject`; what has happened is kept by
//! `store`; who is told, by `gate`.

pub mod action;
pub mod approval;
pub mod call;
pub mod card;
pub mod command;
mod counted;
pub mod decide;
mod definitions;
pub mod digest;
pub mod fact;
#[cfg(test)]
mod fact_tests;
pub mod flag;
pub mod grant;
pub mod id;
pub mod judge;
pub mod path_text;
pub mod policy;
#[cfg(test)]
mod properties;
pub mod redact;
pub mod redacted;
pub mod refusal;
pub mod session;
#[cfg(test)]
mod simulation;
pub mod state;
pub mod subject;
#[cfg(test)]
mod testing;
pub mod time;

pub use action::Action;
pub use approval::{Approval, ApprovalState, By, CancelReason, Waiter};
pub use call::{CallFacts, Judged, Masked, Refused, RefusedCode, RewrittenFrom};
pub use card::{Card, Span};
pub use command::{Answer, Check, Command, Selection};
pub use decide::decide;
pub use definitions::{KnownDefinition, definitions_in};
pub use digest::Digest;
pub use fact::{DeniedBy, Entry, Fact};
pub use flag::Flag;
pub use grant::{Grant, GrantState, Scope};
pub use id::{ApprovalId, GrantId, SessionId};
pub use judge::{OWN_COMMANDS, Ruling, judge, judge_asked, judge_by};
pub use path_text::PathText;
pub use policy::{Bindings, Policy, PolicyError, Rewritten};
pub use refusal::{Refusal, RefusalCode};
pub use session::{AgentName, Session};
pub use state::State;
pub use subject::Subject;
pub use time::At;
