//! The heart: a state, a command and a moment give the facts that follow, and what the asker is told. Pure.

mod answer;
mod check;
mod clock;
mod grants;
mod session;

pub use answer::already;
pub use check::spoken;
pub(crate) use grants::would_answer;

use crate::{Answer, ApprovalId, At, Command, Fact, GrantId, Refusal, SessionId, State};

/// What follows from a command.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// To be written, in this order, before anybody is told.
    pub facts: Vec<Fact>,
    /// What the asker is told once they are on disk.
    pub outcome: Outcome,
}

/// What the asker is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It is done.
    Done,
    /// The session to go on with.
    Session(SessionId),
    /// A final answer to a call.
    Answered(Answer),
    /// The call waits for this approval.
    Waits(ApprovalId),
    /// The approval is approved already; its answer can be handed over.
    Ready(ApprovalId),
    /// The approval was answered; with it perhaps a grant.
    Settled {
        /// Which.
        approval: ApprovalId,
        /// The grant given with it.
        grant: Option<GrantId>,
    },
    /// One line for each item of a selection.
    Each(Vec<Changed>),
    /// Not carried out, though time may have moved something on.
    Refused(Refusal),
}

/// What became of one item of a selection.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// As it was given.
    pub id: String,
    /// The state it is in now; none for an id that does not exist.
    pub state: Option<&'static str>,
    /// Whether this command changed it.
    pub changed: bool,
}

impl Decided {
    fn done(facts: Vec<Fact>) -> Self {
        Self { facts, outcome: Outcome::Done }
    }

    fn nothing(outcome: Outcome) -> Self {
        Self { facts: Vec::new(), outcome }
    }
}

/// Decides. `Err` is a refusal from which no fact follows.
pub fn decide(state: &State, command: &Command, now: At) -> Result<Decided, Refusal> {
    match command {
        Command::StartApp { version, host, clock_behind_ms } => {
            Ok(clock::start_app(state, version, host, *clock_behind_ms, now))
        }
        Command::StopApp => Ok(Decided::done(vec![Fact::AppStopped {}])),
        Command::StartSession { session, agent, client_session, workspace, parent } => {
            Ok(session::start(state, *session, agent, client_session.as_deref(), workspace, *parent))
        }
        Command::StopSession { session, summary } => session::stop(state, *session, summary.as_deref()),
        Command::Check(check) => check::check(state, check, now),
        Command::Refresh { approval, judged, card_sha256, changed } => {
            answer::refresh(state, *approval, judged, *card_sha256, changed)
        }
        Command::Approve { approval, digest, by, note, grant, edited } => answer::approve(
            state,
            &answer::Yes {
                approval: *approval,
                digest: *digest,
                by,
                note: note.as_deref(),
                grant: grant.as_ref(),
                edited: edited.as_ref().map(|(judged, card)| (&**judged, *card)),
            },
            now,
        ),
        Command::Deny { approval, by, note, grant } => {
            answer::deny(state, *approval, by, note.as_deref(), grant.as_ref(), now)
        }
        Command::Cancel { selection, reason, by, note } => {
            Ok(answer::cancel(state, selection, *reason, by.as_ref(), note.as_deref(), now))
        }
        Command::Consume { approval } => answer::consume(state, *approval, now),
        Command::Leave { approval } => answer::leave(state, *approval),
        Command::Void { approval, changed } => answer::void(state, *approval, changed),
        Command::Tick => Ok(Decided::done(clock::due(state, now))),
        Command::Revoke { grants, by, note } => Ok(grants::revoke(state, grants, by, note.as_deref(), now)),
        Command::Bury { grants } => Ok(grants::bury(state, grants)),
        Command::Shorten { grant, expires_at_ms } => grants::shorten(state, *grant, *expires_at_ms, now),
        Command::Report { session, call, outcome, duration_ms, output_sha256 } => {
            session::report(state, *session, call, outcome, *duration_ms, *output_sha256)
        }
        Command::LoadPolicy(policy) => Ok(grants::load_policy(state, policy, now)),
        Command::RefusePolicy { message, line, column } => {
            Ok(Decided::done(vec![Fact::PolicyRefused { message: message.clone(), line: *line, column: *column }]))
        }
        Command::Pause { by } => Ok(if state.paused {
            Decided::nothing(Outcome::Done)
        } else {
            Decided::done(vec![Fact::Paused { by: by.clone() }])
        }),
        Command::Resume { by } => Ok(if state.paused {
            Decided::done(vec![Fact::Resumed { by: by.clone() }])
        } else {
            Decided::nothing(Outcome::Done)
        }),
        Command::Alert { alert, message } => {
            Ok(Decided::done(vec![Fact::AlertRaised { alert: alert.clone(), message: message.clone() }]))
        }
    }
}

#[cfg(test)]
mod tests;
