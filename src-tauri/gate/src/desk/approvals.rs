//! Approvals at the desk: what waits, one of them whole, and the answers.

use std::sync::Arc;

use placet_domain::{
    AgentName, Approval, ApprovalId, ApprovalState, CancelReason, Command, Digest, Refusal, RefusalCode, Scope,
    Selection, SessionId,
    command::Selection as Which,
    decide::{Changed, Outcome, already},
};
use placet_ipc::ErrorBody;
use placet_store::{ApprovalFilter, HistoryFilter};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Answer, Desk, Seat, say,
    shapes::{Alike, ApprovalDetail, ApprovalItem, List, OutcomeItem, Outcomes, Process, Recent, explained},
};
use crate::{
    Gate, corridor, ids, masking,
    writer::{Roots, With},
};

/// What a person said within this time is shown beside the like.
const ALIKE_MS: i64 = 7 * 24 * 60 * 60 * 1_000;
/// How many earlier calls of the session are shown.
const RECENT: usize = 5;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListParams {
    state: Option<String>,
    session: Option<SessionId>,
    agent: Option<AgentName>,
    after: Option<ApprovalId>,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IdParams {
    id: ApprovalId,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShownParams {
    id: ApprovalId,
    digest: Digest,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PreviewParams {
    id: ApprovalId,
    input: Value,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ApproveParams {
    id: ApprovalId,
    digest: Digest,
    grant: Option<Scope>,
    input: Option<Value>,
    note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DenyParams {
    id: ApprovalId,
    note: Option<String>,
    grant: Option<Scope>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CancelParams {
    ids: Option<Vec<String>>,
    session: Option<SessionId>,
    agent: Option<AgentName>,
    all: Option<bool>,
    note: Option<String>,
}

impl Desk {
    pub(super) async fn approvals_list(&self, params: ListParams) -> Answer {
        let ListParams { state, session, agent, after, limit } = params;
        let limit = limit.unwrap_or(placet_store::PAGE).clamp(1, placet_store::PAGE_AT_MOST);
        let open = matches!(state.as_deref(), Some("pending" | "approved"));
        if open {
            // What is open is in memory, with who is connected.
            return say(&self.gate.look(|now| {
                let mut found = now
                    .approvals
                    .values()
                    .filter(|a| {
                        state.as_deref() == Some(a.state.word())
                            && session.is_none_or(|s| a.session == s)
                            && after.is_none_or(|after| a.id > after)
                            && agent
                                .as_ref()
                                .is_none_or(|name| now.sessions.get(&a.session).is_some_and(|s| s.agent == *name))
                    })
                    .map(|a| ApprovalItem::of(a, now.sessions.get(&a.session), now.attended.contains(&a.id)));
                let items: Vec<ApprovalItem> = found.by_ref().take(limit).collect();
                let next = found.next().and_then(|_| items.last()).map(|last| json!(last.id));
                List { items, next }
            }));
        }
        if let Some(word) = &state
            && !["consumed", "lapsed", "void", "denied", "expired", "cancelled"].contains(&word.as_str())
        {
            return Err(ErrorBody::invalid_params(format!("there is no state {word:?}")));
        }
        let filter = ApprovalFilter { state, session, agent, after, limit };
        let page = self.read(move |reader| reader.approvals(&filter)).await?;
        let items = self.gate.look(|now| {
            page.items
                .iter()
                .map(|a| ApprovalItem::of(a, now.sessions.get(&a.session), now.attended.contains(&a.id)))
                .collect()
        });
        say(&List { items, next: page.next.map(|next| json!(next)) })
    }

    /// The card is looked at anew before it is shown, so that what is seen is what is there.
    pub(super) async fn approvals_get(&self, params: IdParams) -> Answer {
        let id = params.id;
        if let Err(refusal) = self.gate.refresh(id).await {
            tracing::debug!(%refusal, "shown as it was last seen");
        }
        let approval = self.gate.find(id).await?;
        say(&self.detail(approval).await?)
    }

    async fn detail(&self, approval: Approval) -> Result<ApprovalDetail, ErrorBody> {
        let facts = approval.judged.facts.clone();
        let (session, waiting) =
            self.gate.look(|now| (now.sessions.get(&approval.session).cloned(), now.attended.contains(&approval.id)));
        let since = approval.asked_at_ms.plus_ms(-ALIKE_MS);
        let of_session =
            HistoryFilter { session: Some(approval.session), limit: RECENT + 1, ..HistoryFilter::default() };
        let action_digest = facts.action_digest;
        let (alike, recent) =
            self.read(move |reader| Ok((reader.alike(action_digest, since)?, reader.history(&of_session)?))).await?;
        let recent = recent
            .items
            .into_iter()
            .filter(|row| row.approval != Some(approval.id))
            .take(RECENT)
            .map(|row| Recent {
                at_ms: row.at_ms,
                action: row.action,
                decision: row.decision.word(),
                main: placet_subject::show(&row.subject_text),
            })
            .collect();
        let note = match &approval.state {
            ApprovalState::Approved { note, .. }
            | ApprovalState::Denied { note, .. }
            | ApprovalState::Cancelled { note, .. } => note.clone(),
            ApprovalState::Void { changed, .. } => Some(changed.join(" ")),
            ApprovalState::Pending
            | ApprovalState::Consumed { .. }
            | ApprovalState::Lapsed { .. }
            | ApprovalState::Expired { .. } => None,
        };
        Ok(ApprovalDetail {
            item: ApprovalItem::of(&approval, session.as_ref(), waiting),
            card: (*approval.judged.card).clone(),
            input: (*approval.judged.input).clone(),
            cwd: facts.cwd.clone(),
            call_id: facts.call_id.clone(),
            parent: facts.parent.clone(),
            rule: approval.rule.clone(),
            rule_reason: approval.reason.clone(),
            flags_explained: explained(&facts),
            process: approval.waiter.map(|waiter| Process { pid: waiter.pid, name: name_of(waiter.pid) }),
            session_started_at_ms: session.as_ref().map(|s| s.started_at_ms),
            client_session: session.and_then(|s| s.client_session),
            recent,
            alike: Alike { approved: alike.approved, denied: alike.denied, last_at_ms: alike.last_at_ms },
            grantable: facts.grantable,
            can_edit: approval.can_edit,
            note,
            settled_at_ms: approval.state.at(),
        })
    }

    /// The window tells which card came on the screen: the guard of the desk counts from then.
    pub(super) fn approvals_shown(&self, params: &ShownParams) {
        self.gate.inner.armed.shown(params.id, params.digest);
    }

    /// The item as it would be with another input.
    pub(super) async fn approvals_preview(&self, params: PreviewParams) -> Answer {
        let approval = self.gate.open_approval(params.id).await?;
        let judged = self.gate.judge(&with_input(&approval, &params.input)?).await?;
        let refused = judged.facts.refused.clone();
        let edited = Approval { judged, ..approval };
        let mut shape = serde_json::to_value(self.detail(edited).await?)
            .map_err(|error| ErrorBody::invalid_params(error.to_string()))?;
        shape["refused"] = json!(refused);
        Ok(shape)
    }

    pub(super) async fn approvals_approve(&self, params: ApproveParams) -> Answer {
        let ApproveParams { id, digest, grant, input, note } = params;
        let approval = self.gate.open_approval(id).await?;
        if self.seat == Seat::Window {
            self.gate.inner.armed.check(id, digest, approval.judged.card.grave)?;
        }
        // What would run is looked at once more: the person may have looked at the card for an hour.
        if input.is_none() {
            self.gate.refresh(id).await?;
        }
        let (edited, bodies) = match &input {
            None => (None, Vec::new()),
            Some(input) => {
                let judged = self.gate.judge(&with_input(&approval, input)?).await?;
                let (judged, card, bodies) = masking::card(judged)?;
                (Some((Box::new(judged), card)), bodies)
            }
        };
        let roots = roots_of(grant.as_ref());
        let command = Command::Approve {
            approval: id,
            digest,
            by: self.by(),
            note: clean(note),
            grant: grant.map(|scope| (ids::grant(), scope)),
            edited,
        };
        let settled = self.gate.writer().decide_with(command, With { bodies, roots, ..With::default() }).await;
        self.settled(settled).await
    }

    pub(super) async fn approvals_deny(&self, params: DenyParams) -> Answer {
        let DenyParams { id, note, grant } = params;
        if self.seat == Seat::Window && self.gate.look(|state| state.approvals.contains_key(&id)) {
            self.gate.inner.armed.check_seen(id)?;
        }
        let roots = roots_of(grant.as_ref());
        let command = Command::Deny {
            approval: id,
            by: self.by(),
            note: clean(note),
            grant: grant.map(|scope| (ids::grant(), scope)),
        };
        let settled = match self.gate.writer().decide_with(command, With { roots, ..With::default() }).await {
            Err(refusal) => Err(self.gate.remembering(id, refusal).await),
            settled => settled,
        };
        self.settled(settled).await
    }

    async fn settled(&self, settled: Result<Outcome, Refusal>) -> Answer {
        let Outcome::Settled { approval, grant } = settled? else {
            return Err(RefusalCode::NoSuchApproval.because("This approval was not settled.").into());
        };
        self.gate.inner.armed.hidden(approval);
        let approval = self.gate.find(approval).await?;
        let grant = match grant {
            Some(id) => Some(self.grant_shape(id).await?),
            None => None,
        };
        let waiting = self.gate.look(|now| now.attended.contains(&approval.id));
        let item = self.gate.look(|now| ApprovalItem::of(&approval, now.sessions.get(&approval.session), waiting));
        let mut answer = json!({ "approval": item });
        if let Some(grant) = grant {
            answer["grant"] = grant;
        }
        Ok(answer)
    }

    pub(super) async fn approvals_cancel(&self, params: Value) -> Answer {
        let CancelParams { ids, session, agent, all, note } =
            serde_json::from_value(params).map_err(|error| ErrorBody::invalid_params(error.to_string()))?;
        let note = clean(note);
        let chosen = usize::from(ids.is_some())
            + usize::from(session.is_some())
            + usize::from(agent.is_some())
            + usize::from(all == Some(true));
        if chosen != 1 {
            return Err(ErrorBody::invalid_params("one of ids, session, agent or all: true is needed"));
        }
        let selection = match (&ids, session, agent) {
            (Some(ids), ..) => Which::Ids(ids.iter().filter_map(|id| id.parse().ok()).collect()),
            (None, Some(session), _) => Which::Session(session),
            (None, None, Some(agent)) => Which::Agent(agent),
            (None, None, None) => Which::All,
        };
        let reason = match &selection {
            Selection::Ids(ids) if ids.len() == 1 => CancelReason::User,
            Selection::Ids(_) | Selection::Session(_) | Selection::Agent(_) | Selection::All => CancelReason::Batch,
        };
        let command = Command::Cancel { selection, reason, by: Some(self.by()), note };
        let Outcome::Each(each) = self.gate.writer().decide(command).await? else {
            return Err(RefusalCode::NotWritten.because("The selection was not cancelled.").into());
        };
        let outcomes = match ids {
            Some(ids) => self.in_order(ids, each).await,
            None => each.into_iter().map(outcome).collect(),
        };
        say(&Outcomes { outcomes })
    }

    /// An outcome for each id as it was sent; one that is long settled is looked up, one that is none has no state.
    async fn in_order(&self, ids: Vec<String>, each: Vec<Changed>) -> Vec<OutcomeItem> {
        let mut each = each.into_iter();
        let mut outcomes = Vec::with_capacity(ids.len());
        for id in ids {
            let Ok(approval) = id.parse::<ApprovalId>() else {
                outcomes.push(OutcomeItem { id, state: None, changed: false });
                continue;
            };
            let mut item = each.next().map_or(OutcomeItem { id: id.clone(), state: None, changed: false }, outcome);
            item.id = id;
            if item.state.is_none() {
                item.state = self.gate.state_word(approval).await;
            }
            outcomes.push(item);
        }
        outcomes
    }
}

impl Gate {
    /// An approval in any state.
    pub(crate) async fn find(&self, id: ApprovalId) -> Result<Approval, ErrorBody> {
        if let Some(open) = self.look(|now| now.approvals.get(&id).cloned()) {
            return Ok(open);
        }
        self.desk(Seat::Agents)
            .read(move |reader| reader.approval(id))
            .await?
            .ok_or_else(|| RefusalCode::NoSuchApproval.because("There is no approval of this id.").into())
    }

    /// An approval that can still be answered, or who was faster.
    async fn open_approval(&self, id: ApprovalId) -> Result<Approval, ErrorBody> {
        let approval = self.find(id).await?;
        if approval.state == ApprovalState::Pending { Ok(approval) } else { Err(already(&approval.state).into()) }
    }

    /// A refusal about an approval that the state has forgotten, said as the store remembers it.
    async fn remembering(&self, id: ApprovalId, refusal: Refusal) -> Refusal {
        if refusal.code != RefusalCode::NoSuchApproval {
            return refusal;
        }
        match self.find(id).await {
            Ok(approval) if approval.state != ApprovalState::Pending => already(&approval.state),
            _ => refusal,
        }
    }

    /// The state of an approval in a word; none if there is no such approval.
    pub(crate) async fn state_word(&self, id: ApprovalId) -> Option<String> {
        self.find(id).await.ok().map(|approval| approval.state.word().to_owned())
    }
}

/// The folder that a scope is given for, as it is now: the grant ends should it be replaced.
fn roots_of(scope: Option<&Scope>) -> Roots {
    let folder = scope.and_then(|scope| scope.on.folder());
    folder.map(|folder| (folder.clone(), corridor::inode_of(folder))).into_iter().collect()
}

fn outcome(changed: Changed) -> OutcomeItem {
    OutcomeItem { id: changed.id, state: changed.state.map(str::to_owned), changed: changed.changed }
}

fn with_input(approval: &Approval, input: &Value) -> Result<crate::Ask, ErrorBody> {
    let bytes = serde_json::to_vec(input).map_err(|error| ErrorBody::invalid_params(error.to_string()))?;
    Ok(corridor::again(approval, Arc::from(bytes)))
}

/// Words for the agent; blank ones are none.
fn clean(note: Option<String>) -> Option<String> {
    note.map(|note| note.trim().to_owned()).filter(|note| !note.is_empty())
}

fn name_of(pid: i32) -> Option<Vec<placet_domain::Span>> {
    let name = std::fs::read(format!("/proc/{pid}/comm")).ok()?;
    Some(placet_subject::show_bytes(name.strip_suffix(b"\n").unwrap_or(&name)))
}
