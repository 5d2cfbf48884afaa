//! "Make this a rule": a rule made from an approval or a grant, shown as a diff of the policy. Only the person puts it.

use placet_domain::{ApprovalId, GrantId, RefusalCode, Session, SessionId, policy::Decide};
use placet_ipc::ErrorBody;
use serde::Deserialize;
use serde_json::json;

use super::{Answer, Desk, say};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProposeParams {
    approval: Option<ApprovalId>,
    grant: Option<GrantId>,
    /// For an approval: whether the rule allows (as it is unless said) or denies.
    #[serde(default)]
    deny: bool,
}

impl Desk {
    /// The rule's text, the whole policy with it, the diff to what is in the file now, and the digest of that.
    pub(super) async fn policy_propose(&self, params: ProposeParams) -> Answer {
        let policy = self.gate.look(|state| std::sync::Arc::clone(&state.policy));
        let proposal = match (params.approval, params.grant) {
            (Some(approval), None) => {
                let approval = self.gate.find(approval).await?;
                let session = self.session_of(approval.session).await?;
                let decide = if params.deny { Decide::Deny } else { Decide::Allow };
                policy.propose_for_call(&approval.judged.facts, &session, decide)
            }
            (None, Some(grant)) => {
                let row = self.read(move |reader| reader.grant(grant)).await?;
                let row = row.ok_or_else(|| RefusalCode::NoSuchGrant.because("There is no grant of this id."))?;
                let given_with = self.gate.find(row.grant.from_approval).await?;
                let session = self.session_of(given_with.session).await?;
                policy.propose_for_grant(&row.grant, &session)
            }
            _ => return Err(ErrorBody::invalid_params("one of approval or grant is needed")),
        };
        let Some(proposal) = proposal else {
            return Err(RefusalCode::NotGrantable
                .because("No rule can say this and nothing else. Write one by hand if you want it.")
                .into());
        };
        let seen = self.gate.inner.policy.seen();
        let text = format!("{}\n\n{}", seen.text.trim_end(), proposal.text.trim_start());
        if let Err(problem) = self.gate.inner.policy.parse(&text) {
            return Err(RefusalCode::NotGrantable
                .because(format!("No rule can be made of this: {}", problem.message))
                .into());
        }
        let diff = similar::TextDiff::from_lines(&seen.text, &text).unified_diff().context_radius(2).to_string();
        say(&json!({
            "names": proposal.names,
            "rule": proposal.text,
            "text": text,
            "diff": diff,
            "digest": seen.digest,
        }))
    }

    async fn session_of(&self, id: SessionId) -> Result<Session, ErrorBody> {
        if let Some(session) = self.gate.look(|state| state.sessions.get(&id).cloned()) {
            return Ok(session);
        }
        self.read(move |reader| reader.session(id))
            .await?
            .ok_or_else(|| RefusalCode::NoSuchSession.because("Its session is not known any more.").into())
    }
}
