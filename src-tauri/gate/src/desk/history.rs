//! The history at the desk: searched, one call whole, figures, the chain walked.

use std::ops::ControlFlow;

use placet_domain::{AgentName, ApprovalId, At, GrantId, PathText, SessionId};
use placet_ipc::ErrorBody;
use placet_store::{Bucket, CallDecision, CallRow, HistoryFilter, StoreError};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Answer, Desk, read, say,
    shapes::{HistoryItem, List},
    unreadable,
};
use crate::{Gate, history_key, offline, upkeep::Retention};

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchParams {
    text: Option<String>,
    agent: Option<AgentName>,
    tool: Option<String>,
    decision: Option<String>,
    under: Option<PathText>,
    host: Option<String>,
    from_ms: Option<At>,
    to_ms: Option<At>,
    session: Option<SessionId>,
    grant: Option<GrantId>,
    after: Option<u64>,
    limit: Option<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GetParams {
    seq: Option<u64>,
    approval: Option<ApprovalId>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StatsParams {
    from_ms: At,
    to_ms: At,
    #[serde(default)]
    by: By,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "snake_case")]
enum By {
    #[default]
    Hour,
    Day,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VerifyParams {
    from: Option<u64>,
}

impl SearchParams {
    pub(super) fn filter(self) -> Result<HistoryFilter, ErrorBody> {
        let decisions = match &self.decision {
            None => Vec::new(),
            Some(word) => decisions(word)?,
        };
        Ok(HistoryFilter {
            text: self.text.filter(|text| !text.trim().is_empty()),
            agent: self.agent,
            tool: self.tool,
            decisions,
            under: self.under,
            host: self.host,
            from_ms: self.from_ms,
            to_ms: self.to_ms,
            session: self.session,
            grant: self.grant,
            after: self.after,
            limit: self.limit.unwrap_or(placet_store::PAGE).clamp(1, placet_store::PAGE_AT_MOST),
        })
    }
}

impl Desk {
    pub(super) async fn history_search(&self, params: SearchParams) -> Answer {
        let filter = params.filter()?;
        let page = self.read(move |reader| reader.history(&filter)).await?;
        let items = page.items.into_iter().map(item).collect();
        say(&List::<HistoryItem> { items, next: page.next.map(|next| json!(next)) })
    }

    pub(super) async fn history_get(&self, params: GetParams) -> Answer {
        let life = self
            .read(move |reader| match (params.seq, params.approval) {
                (Some(seq), _) => reader.call(seq),
                (None, Some(approval)) => reader.call_of(approval),
                (None, None) => Ok(None),
            })
            .await?
            .ok_or_else(|| ErrorBody::invalid_params("there is no such call: give the seq or the approval of one"))?;
        let facts: Vec<_> = life
            .facts
            .iter()
            .map(|chained| {
                let mut fact = json!(chained.entry);
                fact["hash"] = json!(chained.hash);
                fact
            })
            .collect();
        say(&json!({ "call": item(life.row), "facts": facts, "card": life.card }))
    }

    pub(super) async fn history_stats(&self, params: StatsParams) -> Answer {
        let bucket = match params.by {
            By::Hour => Bucket::Hour,
            By::Day => Bucket::Day,
        };
        let stats = self.read(move |reader| reader.stats(params.from_ms, params.to_ms, bucket)).await?;
        let timeline: Vec<_> = stats
            .timeline
            .iter()
            .map(|c| json!({ "at_ms": c.at_ms, "decision": c.decision.word(), "calls": c.calls }))
            .collect();
        let pairs = |list: &[(String, u64)]| -> Vec<_> {
            list.iter().map(|(name, calls)| json!({ "name": name, "calls": calls })).collect()
        };
        say(&json!({
            "timeline": timeline,
            "agents": pairs(&stats.agents),
            "tools": pairs(&stats.tools),
            "calls": stats.calls,
            "asked": stats.asked,
            "median_wait_ms": stats.median_wait_ms,
        }))
    }

    pub(super) async fn history_verify(&self, params: VerifyParams) -> Answer {
        let walk = Walk { gate: self.gate.clone(), from: params.from };
        let walked = self.gate.runtime().spawn_blocking(move || walk.walk(&mut |_, _| ControlFlow::Continue(()))).await;
        walked.map_err(|error| unreadable(&error))?
    }

    /// Reads the parameters of `history.verify`.
    ///
    /// # Errors
    /// `invalid_params`.
    pub fn walk(&self, params: Value) -> Result<Walk, ErrorBody> {
        let VerifyParams { from } = if params.is_null() { VerifyParams::default() } else { read(params)? };
        Ok(Walk { gate: self.gate.clone(), from })
    }
}

/// A walk of the chain that can begin.
#[derive(Debug)]
pub struct Walk {
    gate: Gate,
    from: Option<u64>,
}

impl Walk {
    /// Walks, and answers as `history.verify` does, with `stopped` where it was stopped. `progress` hears how many facts
    /// were walked and after how many it ends at the latest, and can stop it. It takes as long as the history is: not for
    /// a thread that others wait for.
    ///
    /// # Errors
    /// `not_read`.
    pub fn walk(&self, progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>) -> Result<Value, ErrorBody> {
        let (reader, places) = (self.gate.reader(), &self.gate.inner.places);
        let mut walk = || {
            let last = reader.head()?.seq;
            let anchors = Retention::read(&places.config).anchors();
            let mut answer =
                offline::verified(&reader, &anchors, self.from, &mut |rows| progress(rows, last.max(rows)))?;
            answer["key"] = json!(history_key::place(&places.data)?);
            Ok(answer)
        };
        walk().map_err(|error: StoreError| unreadable(&error))
    }
}

/// A decision's word, or one of the groups that a person thinks in.
fn decisions(word: &str) -> Result<Vec<CallDecision>, ErrorBody> {
    use CallDecision as D;
    Ok(match word {
        "allowed" => vec![D::AllowedByRule, D::AllowedByGrant],
        "refused_all" => vec![
            D::DeniedByRule,
            D::DeniedByGrant,
            D::DeniedByDefault,
            D::DeniedByPause,
            D::Refused,
            D::NobodyToAsk,
            D::RepeatedDenial,
            D::TooManyWaiting,
            D::Denied,
        ],
        "approved" => vec![D::Approved, D::Consumed, D::Lapsed, D::Void],
        word => {
            vec![D::of_word(word).ok_or_else(|| ErrorBody::invalid_params(format!("there is no decision {word:?}")))?]
        }
    })
}

fn item(row: CallRow) -> HistoryItem {
    HistoryItem {
        seq: row.seq,
        at_ms: row.at_ms,
        session: row.session,
        agent: row.agent,
        workspace: row.workspace,
        tool: row.tool,
        action: row.action,
        subject: placet_subject::show(&row.subject_text),
        decision: row.decision.word(),
        by: row.by,
        note: row.note,
        rule: row.rule,
        grant: row.grant,
        approval: row.approval,
        number: row.number,
        waited_ms: row.waited_ms,
        digest: row.digest,
        action_digest: row.action_digest,
        outcome: row.outcome,
        duration_ms: row.duration_ms,
        flags: row.flags,
    }
}
