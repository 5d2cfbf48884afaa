//! Policies of others than the person: an administrator's, and a workspace's own `.placet.toml`. Agents can write the
//! latter, so neither can give anything: only its denials, questions, clamps, shorter time-outs and stricter default
//! count.

use super::{Decide, Otherwise, Policy, near::Near};
use crate::{Digest, PathText};

impl Policy {
    /// This policy made stricter by others that hold everywhere, an administrator's for example.
    #[must_use]
    pub fn with_tightening(mut self, others: Vec<Self>) -> Self {
        for other in others {
            self.tighten(other, None);
        }
        self.in_order()
    }

    /// This policy made stricter for the sessions in a workspace by the file that lies there.
    #[must_use]
    pub fn with_workspace(mut self, workspace: &PathText, other: Self) -> Self {
        self.tighten(other, Some(workspace));
        self.in_order()
    }

    /// The same under the digest of all the texts it was made from, which the caller took.
    #[must_use]
    pub fn with_digest(mut self, digest: Digest) -> Self {
        self.digest = Some(digest);
        self
    }

    fn tighten(&mut self, other: Self, workspace: Option<&PathText>) {
        for mut rule in other.rules {
            if rule.decide != Decide::Allow {
                rule.only_in = workspace.cloned().or(rule.only_in);
                self.rules.push(rule);
            }
        }
        for mut rewrite in other.rewrites {
            rewrite.set.clear();
            rewrite.drop.clear();
            rewrite.only_in = workspace.cloned().or(rewrite.only_in);
            self.rewrites.push(rewrite);
        }
        match workspace {
            None => {
                if other.otherwise == Otherwise::Deny {
                    self.otherwise = Otherwise::Deny;
                }
                self.timeout_ms = self.timeout_ms.min(other.timeout_ms);
                self.bounds.per_session = self.bounds.per_session.min(other.bounds.per_session);
                self.bounds.in_all = self.bounds.in_all.min(other.bounds.in_all);
            }
            Some(workspace) => {
                self.local.push((workspace.clone(), other.otherwise, other.timeout_ms));
            }
        }
    }

    fn in_order(mut self) -> Self {
        self.rules.sort_by(|a, b| (a.decide, &a.name).cmp(&(b.decide, &b.name)));
        self.near = Near::new(&self.rules);
        self
    }
}
