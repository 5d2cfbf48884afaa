//! What a fact changes in the tables. The same as `State::apply` does in memory: a test holds the two together.

use placet_domain::{Entry, Fact, grant::GrantState};

use crate::{StoreError, approval, call, grant, session, store::Projecting};

pub(crate) fn project(p: &mut Projecting<'_>, entry: &Entry) -> Result<(), StoreError> {
    let at_ms = entry.at_ms;
    match &entry.fact {
        Fact::SessionStarted { .. } => session::started(p, entry),
        Fact::SessionResumed { session } => session::resumed(p, *session),
        Fact::SessionStopped { session, summary } => session::stopped(p, *session, summary.as_deref(), at_ms),
        Fact::CallAllowed { .. } => call::allowed(p, entry),
        Fact::CallDenied { .. } => call::denied(p, entry),
        Fact::CallRan { .. } => call::ran(p, entry),
        Fact::ApprovalAsked { .. } => {
            call::asked(p, entry)?;
            approval::asked(p, entry)
        }
        Fact::ApprovalAttached { approval, waiter } => {
            call::moved(p, *approval, entry)?;
            approval::attached(p, *approval, *waiter)
        }
        Fact::ApprovalRefreshed { approval, call, card_sha256, .. } => {
            call::refreshed(p, *approval, call, entry)?;
            approval::refreshed(p, *approval, *card_sha256, entry)
        }
        Fact::ApprovalApproved { approval, .. }
        | Fact::ApprovalDenied { approval, .. }
        | Fact::ApprovalExpired { approval }
        | Fact::ApprovalCancelled { approval, .. }
        | Fact::ApprovalConsumed { approval }
        | Fact::ApprovalLapsed { approval }
        | Fact::ApprovalVoided { approval, .. } => {
            approval::settled(p, *approval, entry)?;
            call::moved(p, *approval, entry)
        }
        Fact::GrantIssued { grant } => grant::issued(p, grant, entry.seq),
        Fact::GrantEnded { grant, how } => grant::ended(p, *grant, *how, None, at_ms),
        Fact::GrantRevoked { grant, by, note } => {
            grant::ended(p, *grant, GrantState::Revoked, Some((by, note.as_deref())), at_ms)
        }
        Fact::GrantShortened { grant, expires_at_ms } => grant::shortened(p, *grant, *expires_at_ms),
        Fact::Paused { .. } => {
            *p.paused = true;
            Ok(())
        }
        Fact::Resumed { .. } => {
            *p.paused = false;
            Ok(())
        }
        Fact::AppStarted { .. }
        | Fact::AppStopped {}
        | Fact::PolicyLoaded { .. }
        | Fact::PolicyRefused { .. }
        | Fact::HookFailed { .. }
        | Fact::AlertRaised { .. } => Ok(()),
    }
}
