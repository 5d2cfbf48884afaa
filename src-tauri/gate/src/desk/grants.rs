//! Grants at the desk: listed, previewed, taken back, made to end earlier.

use placet_domain::{
    ApprovalId, At, Command, Fact, GrantId, GrantState, RefusalCode, Scope,
    decide::Outcome,
    grant::{Past, preview},
};
use placet_ipc::ErrorBody;
use placet_store::{CallDecision, CallLife, GrantFilter, GrantRow, HistoryFilter};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Answer, Desk, say,
    shapes::{List, OutcomeItem, Outcomes},
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListParams {
    state: Option<GrantState>,
    after: Option<GrantId>,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RevokeParams {
    ids: Vec<String>,
    note: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ShortenParams {
    id: GrantId,
    expires_at_ms: At,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PreviewParams {
    approval: ApprovalId,
    scope: Scope,
}

/// How far back a preview looks.
const PREVIEW_MS: i64 = 7 * 24 * 60 * 60 * 1_000;

impl Desk {
    /// What a scope would say, what it would have matched in the last seven days (of the last thousand calls), and
    /// what else it would answer now.
    pub(super) async fn grants_preview(&self, params: PreviewParams) -> Answer {
        let PreviewParams { approval, scope } = params;
        let now = self.gate.writer().clock.now();
        let filter = HistoryFilter {
            from_ms: Some(now.plus_ms(-PREVIEW_MS)),
            limit: placet_store::PAGE_AT_MOST,
            ..HistoryFilter::default()
        };
        let lives = self
            .read(move |reader| {
                let rows = reader.history(&filter)?.items;
                rows.iter().rev().map(|row| reader.call(row.seq)).collect::<Result<Vec<_>, _>>()
            })
            .await?;
        let lives: Vec<CallLife> = lives.into_iter().flatten().collect();
        let past: Vec<Past> = lives.iter().filter_map(past).collect();
        let seen = self.gate.look(|state| preview(state, approval, &scope, &past, now))?;
        let examples: Vec<Value> = seen
            .examples
            .iter()
            .filter_map(|example| lives.iter().find(|life| past_of(life) == (example.at_ms, example.session)))
            .map(|life| {
                json!({
                    "at_ms": life.row.at_ms,
                    "action": life.row.action,
                    "decision": life.row.decision.word(),
                    "main": placet_subject::show(&life.row.subject_text),
                })
            })
            .collect();
        say(&json!({
            "sentence": seen.sentence,
            "matched": seen.matched,
            "examples": examples,
            "also_pending": seen.also_pending.len(),
        }))
    }

    pub(super) async fn grants_list(&self, params: ListParams) -> Answer {
        let limit = params.limit.unwrap_or(placet_store::PAGE).clamp(1, placet_store::PAGE_AT_MOST);
        let filter = GrantFilter { state: params.state, after: params.after, limit };
        let page = self.read(move |reader| reader.grants(&filter)).await?;
        let items = page.items.iter().map(shape).collect();
        say(&List::<Value> { items, next: page.next.map(|next| json!(next)) })
    }

    pub(super) async fn grants_revoke(&self, params: RevokeParams) -> Answer {
        let RevokeParams { ids, note } = params;
        let grants: Vec<GrantId> = ids.iter().filter_map(|id| id.parse().ok()).collect();
        let Outcome::Each(each) = self.gate.writer().decide(Command::Revoke { grants, by: self.by(), note }).await?
        else {
            return Err(RefusalCode::NotWritten.because("The grants were not revoked.").into());
        };
        let mut each = each.into_iter();
        let mut outcomes = Vec::with_capacity(ids.len());
        for id in ids {
            let Ok(grant) = id.parse::<GrantId>() else {
                outcomes.push(OutcomeItem { id, state: None, changed: false });
                continue;
            };
            let changed = each.next();
            let state = match changed.as_ref().and_then(|c| c.state) {
                Some(state) => Some(state.to_owned()),
                None => self.read(move |reader| reader.grant(grant)).await?.map(|row| state_word(row.grant.state)),
            };
            outcomes.push(OutcomeItem { id, state, changed: changed.is_some_and(|c| c.changed) });
        }
        say(&Outcomes { outcomes })
    }

    pub(super) async fn grants_shorten(&self, params: ShortenParams) -> Answer {
        let ShortenParams { id, expires_at_ms } = params;
        self.gate.writer().decide(Command::Shorten { grant: id, expires_at_ms }).await?;
        self.grant_shape(id).await
    }

    pub(super) async fn grant_shape(&self, id: GrantId) -> Answer {
        let row = self.read(move |reader| reader.grant(id)).await?;
        row.as_ref()
            .map(shape)
            .ok_or_else(|| ErrorBody::from(RefusalCode::NoSuchGrant.because("There is no grant of this id.")))
    }
}

/// A call of the past. What still waits is none: it is told as what would be answered beside.
fn past(life: &CallLife) -> Option<Past> {
    if life.row.decision == CallDecision::Pending {
        return None;
    }
    let call = life.facts.iter().find_map(|chained| {
        if let Fact::ApprovalAsked { call, .. } | Fact::CallAllowed { call, .. } | Fact::CallDenied { call, .. } =
            &chained.entry.fact
        {
            Some(call)
        } else {
            None
        }
    })?;
    let (at_ms, session) = past_of(life);
    Some(Past { at_ms, session, call: call.clone() })
}

fn past_of(life: &CallLife) -> (At, placet_domain::SessionId) {
    (life.row.at_ms, life.row.session)
}

fn shape(row: &GrantRow) -> Value {
    let grant = &row.grant;
    let mut shape = json!({
        "id": grant.id,
        "sentence": grant.sentence,
        "effect": grant.effect,
        "scope": grant.scope,
        "state": grant.state,
        "from_approval": grant.from_approval,
        "issued_at_ms": grant.issued_at_ms,
        "expires_at_ms": grant.expires_at_ms,
        "used": grant.used,
        "by": grant.by.word(),
    });
    if let Some(left) = grant.uses_left {
        shape["uses_left"] = json!(left);
    }
    if let Some(at) = grant.last_used_at_ms {
        shape["last_used_at_ms"] = json!(at);
    }
    if let Some(revoked) = &row.revoked {
        shape["revoked"] = json!({ "at_ms": revoked.at_ms, "by": revoked.by, "note": revoked.note });
    }
    shape
}

fn state_word(state: GrantState) -> String {
    match state {
        GrantState::Active => "active",
        GrantState::Expired => "expired",
        GrantState::Exhausted => "exhausted",
        GrantState::Revoked => "revoked",
        GrantState::Dead => "dead",
    }
    .to_owned()
}
