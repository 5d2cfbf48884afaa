//! The policy at the desk: read, checked, put by the person.

use std::{fs, io::Write as _};

use placet_domain::{Digest, RefusalCode};
use placet_ipc::ErrorBody;
use serde::Deserialize;
use serde_json::json;

use super::{
    Answer, Desk, Seat, say,
    shapes::{PolicyProblem, PolicyState},
};
use crate::{Gate, policy_file::Problem, sha256};

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
    text: String,
    /// The digest of the text it replaces: who edits an older one is told.
    digest: Digest,
}

impl Desk {
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

fn shape(problem: Problem) -> PolicyProblem {
    PolicyProblem { message: problem.message, line: problem.line, column: problem.column }
}
