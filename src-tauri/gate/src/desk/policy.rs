//! The policy at the desk: read, checked, put by the person.

use std::{collections::BTreeMap, fs, io::Write as _, sync::Arc};

use placet_domain::{AgentName, DeniedBy, Digest, PathText, RefusalCode, Ruling, Session};
use placet_ipc::ErrorBody;
use placet_subject::RawCall;
use serde::Deserialize;
use serde_json::json;

use super::{
    Answer, Desk, Seat, say,
    shapes::{PolicyProblem, PolicyState},
};
use crate::{Gate, ids, policy_file::Problem, sha256};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoParams {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckParams {
    text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PutParams {
    pub(super) text: String,
    /// The digest of the text it replaces: who edits an older one is told.
    pub(super) digest: Digest,
}

/// A call to try the rules on. Nothing is asked and nothing is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TryParams {
    tool: String,
    input: Box<serde_json::value::RawValue>,
    cwd: PathText,
    agent: Option<AgentName>,
    workspace: Option<PathText>,
    /// Another policy than the one in force: the text in the editor.
    text: Option<String>,
}

impl Desk {
    /// Which rule decides a call, and why.
    pub(super) async fn policy_try(&self, params: TryParams) -> Answer {
        let TryParams { tool, input, cwd, agent, workspace, text } = params;
        let policy = match &text {
            None => self.gate.look(|state| Arc::clone(&state.policy)),
            Some(text) => Arc::new(self.gate.inner.policy.parse(text).map_err(|problem| {
                let place = problem.line.map_or_else(String::new, |line| format!(" (line {line})"));
                ErrorBody::invalid_params(format!("{}{place}", problem.message))
            })?),
        };
        let session = Session {
            id: ids::session(),
            agent: agent.unwrap_or_else(unnamed),
            client_session: None,
            workspace: workspace.unwrap_or_else(|| cwd.clone()),
            parent: None,
            context: BTreeMap::new(),
            started_at_ms: self.gate.writer().clock.now(),
            stopped_at_ms: None,
            calls: 0,
            tainted: false,
        };
        let session = Session { context: policy.context_for(&session.agent), ..session };
        let known = self.gate.known();
        let (agent, folder) = (session.agent.clone(), session.workspace.clone());
        let judged = self.gate.runtime().spawn_blocking(move || {
            let call = RawCall {
                agent: agent.as_str(),
                tool: &tool,
                input: input.get().as_bytes(),
                cwd: &cwd,
                workspace: &folder,
                call_id: None,
                definition: None,
            };
            placet_subject::judge(&call, &known)
        });
        let judged = judged.await.map_err(|error| ErrorBody::invalid_params(error.to_string()))?;
        if let Some(refused) = &judged.facts.refused {
            let rules: [&str; 0] = [];
            return say(&json!({ "ruling": "deny", "reason": refused.reason, "rules": rules, "refused": refused }));
        }
        let now = self.gate.writer().clock.now();
        let ruling = self.gate.look(|state| placet_domain::judge::judge_by(&policy, state, &judged, &session, now));
        say(&match ruling {
            Ruling::Allow { rules, grants, reason } => {
                json!({ "ruling": "allow", "rule": rules.first(), "rules": rules, "grants": grants, "reason": reason })
            }
            Ruling::Deny { by, reason } => {
                let rule = match &by {
                    DeniedBy::Policy { rule } => Some(rule.clone()),
                    DeniedBy::Default
                    | DeniedBy::Grant { .. }
                    | DeniedBy::Pause
                    | DeniedBy::Refused { .. }
                    | DeniedBy::NobodyToAsk
                    | DeniedBy::RepeatedDenial
                    | DeniedBy::TooManyWaiting => None,
                };
                json!({ "ruling": "deny", "rule": rule, "rules": rule.iter().collect::<Vec<_>>(), "reason": reason })
            }
            Ruling::Ask { rule, reason, timeout_ms } => json!({
                "ruling": "ask",
                "rule": rule,
                "rules": rule.iter().collect::<Vec<_>>(),
                "reason": reason,
                "timeout_ms": timeout_ms,
            }),
        })
    }

    pub(super) fn policy_get(&self, _: &NoParams) -> Answer {
        say(&self.gate.policy_state())
    }

    pub(super) fn policy_check(&self, params: &CheckParams) -> Answer {
        match self.gate.inner.policy.parse(&params.text) {
            Ok(policy) => say(&json!({ "ok": true, "digest": policy.digest() })),
            Err(problem) => say(&json!({ "ok": false, "error": shape(problem) })),
        }
    }

    /// Only the person at the window puts a policy; it is checked first and written as a whole.
    pub(super) async fn policy_put(&self, params: PutParams) -> Answer {
        if self.seat != Seat::Window && self.seat != Seat::Supervisor {
            return Err(ErrorBody::unknown_method("policy.put"));
        }
        let seen = self.gate.inner.policy.seen();
        if seen.digest != Some(params.digest) {
            let digest = seen.digest.unwrap_or_else(|| sha256(b""));
            return Err(RefusalCode::StaleDigest { digest }
                .because("The policy file has changed since it was read. Read it again, then change it.")
                .into());
        }
        if let Err(problem) = self.gate.inner.policy.parse(&params.text) {
            let place = problem.line.map_or_else(String::new, |line| format!(" (line {line})"));
            return Err(ErrorBody::invalid_params(format!("{}{place} Nothing was changed.", problem.message)));
        }
        let path = self.gate.inner.policy.path().to_path_buf();
        let written = self.gate.runtime().spawn_blocking(move || -> std::io::Result<()> {
            let temporary = path.with_extension("toml.new");
            let mut file = fs::File::create(&temporary)?;
            file.write_all(params.text.as_bytes())?;
            file.sync_all()?;
            fs::rename(&temporary, &path)
        });
        written
            .await
            .map_err(std::io::Error::other)
            .and_then(|written| written)
            .map_err(|error| RefusalCode::NotWritten.because(format!("The policy was not written: {error}")))?;
        self.gate.reload_policy().await;
        say(&self.gate.policy_state())
    }
}

impl Gate {
    pub(crate) fn policy_state(&self) -> PolicyState {
        let seen = self.inner.policy.seen();
        PolicyState {
            text: seen.text,
            path: self.inner.policy.path().display().to_string(),
            digest: seen.digest,
            in_force: seen.in_force,
            ok: seen.problem.is_none(),
            error: seen.problem.map(shape),
        }
    }
}

#[expect(clippy::expect_used, reason = "the literal is a valid name")]
fn unnamed() -> AgentName {
    "any".parse().expect("a valid name")
}

fn shape(problem: Problem) -> PolicyProblem {
    PolicyProblem { message: problem.message, line: problem.line, column: problem.column }
}
