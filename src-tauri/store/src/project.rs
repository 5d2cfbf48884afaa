//! What a fact changes in the tables. The same as `State::apply` does in memory: a test holds the two together.

use placet_domain::{ApprovalId, By, DeniedBy, Entry, Fact, grant::GrantState};

use crate::{StoreError, approval, call, definition, grant, session, store::Projecting};

/// What decisions rest on, in the transaction of the fact.
pub(crate) fn at_once(p: &mut Projecting<'_>, entry: &Entry) -> Result<(), StoreError> {
    let at_ms = entry.at_ms;
    match &entry.fact {
        Fact::SessionStarted { .. } => session::started(p, entry),
        Fact::SessionResumed { session } => session::resumed(p, *session),
        Fact::SessionStopped { session, summary } => session::stopped(p, *session, summary.as_deref(), at_ms),
        Fact::CallAllowed { session, grants, .. } => {
            session::agent_of(p.conn, p.known, *session)?;
            grants.iter().try_for_each(|id| grant::used(p, *id, entry.seq, at_ms))
        }
        Fact::CallDenied { session, by, .. } => {
            session::agent_of(p.conn, p.known, *session)?;
            if let DeniedBy::Grant { grant } = by { grant::answered(p, *grant, entry.seq) } else { Ok(()) }
        }
        Fact::CallRan { session, .. } => session::agent_of(p.conn, p.known, *session).map(drop),
        Fact::ApprovalAsked { .. } => approval::asked(p, entry),
        Fact::ApprovalAttached { approval, waiter } => approval::attached(p, *approval, *waiter),
        Fact::ApprovalRefreshed { approval, card_sha256, .. } => approval::refreshed(p, *approval, *card_sha256, entry),
        Fact::ApprovalApproved { approval, .. }
        | Fact::ApprovalDenied { approval, .. }
        | Fact::ApprovalExpired { approval }
        | Fact::ApprovalCancelled { approval, .. }
        | Fact::ApprovalConsumed { approval }
        | Fact::ApprovalLapsed { approval }
        | Fact::ApprovalVoided { approval, .. } => {
            approval::settled(p, *approval, entry)?;
            answered_by_grant(p, *approval, entry)
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

/// A grant that answers what waited is used like one that answers at once.
fn answered_by_grant(p: &mut Projecting<'_>, approval: ApprovalId, entry: &Entry) -> Result<(), StoreError> {
    if let Fact::ApprovalApproved { by: By::Grant { grant }, also, .. } = &entry.fact {
        let call = approval::asked_seq(p.conn, approval)?;
        std::iter::once(grant).chain(also).try_for_each(|grant| grant::used(p, *grant, call, entry.at_ms))
    } else if let Fact::ApprovalDenied { by: By::Grant { grant }, .. }
    | Fact::ApprovalCancelled { by: Some(By::Grant { grant }), .. } = &entry.fact
    {
        let call = approval::asked_seq(p.conn, approval)?;
        grant::answered(p, *grant, call)
    } else {
        Ok(())
    }
}

/// What calls are only found by: their rows, places, texts and figures; and how tools were described, which decisions rest
/// on after a restart only, and by then it has followed. All of it can be made anew from the facts.
pub(crate) fn later(p: &mut Projecting<'_>, entry: &Entry) -> Result<(), StoreError> {
    match &entry.fact {
        Fact::CallAllowed { .. } => call::allowed(p, entry).and_then(|()| definition::let_through(p, entry)),
        Fact::CallDenied { .. } => call::denied(p, entry),
        Fact::CallRan { .. } => call::ran(p, entry),
        Fact::ApprovalAsked { .. } => call::asked(p, entry),
        Fact::ApprovalRefreshed { approval, call, .. } => call::refreshed(p, *approval, call, entry),
        Fact::ApprovalAttached { approval, .. }
        | Fact::ApprovalApproved { approval, .. }
        | Fact::ApprovalDenied { approval, .. }
        | Fact::ApprovalExpired { approval }
        | Fact::ApprovalCancelled { approval, .. }
        | Fact::ApprovalLapsed { approval }
        | Fact::ApprovalVoided { approval, .. } => call::moved(p, *approval, entry),
        Fact::ApprovalConsumed { approval } => {
            call::moved(p, *approval, entry).and_then(|()| definition::let_through(p, entry))
        }
        Fact::SessionStarted { .. }
        | Fact::SessionResumed { .. }
        | Fact::SessionStopped { .. }
        | Fact::GrantIssued { .. }
        | Fact::GrantEnded { .. }
        | Fact::GrantRevoked { .. }
        | Fact::GrantShortened { .. }
        | Fact::Paused { .. }
        | Fact::Resumed { .. }
        | Fact::AppStarted { .. }
        | Fact::AppStopped {}
        | Fact::PolicyLoaded { .. }
        | Fact::PolicyRefused { .. }
        | Fact::HookFailed { .. }
        | Fact::AlertRaised { .. } => Ok(()),
    }
}
