//! Calls that were let through a moment ago, so that a client that asks again by its own rules gets the same answer.
//!
//! Some clients run a hook before the call and then, by rules of their own, ask once more about that very call. The
//! person has answered it; this answers the second question. Each call answers one, for a while, and none after a restart:
//! then it is asked as any other.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use placet_domain::{Answer, CallFacts, Digest, Refusal, Ruling, SessionId, command::Decision, judge_asked};

use crate::{
    Gate,
    clock::boot_ms,
    corridor::{Ask, Told},
};

/// Between the hook's answer and the client's own question lies no more than the client's thinking.
const LASTS_MS: i64 = 60_000;
/// Beyond this many at once the oldest is asked about again.
const MOST: usize = 1_024;

#[derive(Debug, Default)]
pub(crate) struct Agreed {
    calls: Mutex<VecDeque<(i64, SessionId, Digest)>>,
}

impl Agreed {
    /// A call was let through.
    pub(crate) fn put(&self, session: SessionId, call: &CallFacts) {
        self.put_at(boot_ms(), session, call.action_digest);
    }

    /// Whether this call was let through a moment ago; it answers no further question.
    pub(crate) fn take(&self, session: SessionId, call: &CallFacts) -> bool {
        self.take_at(boot_ms(), session, call.action_digest)
    }

    fn put_at(&self, now: i64, session: SessionId, action: Digest) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        while calls.len() >= MOST || calls.front().is_some_and(|(at, ..)| now - at > LASTS_MS) {
            calls.pop_front();
        }
        calls.push_back((now, session, action));
    }

    fn take_at(&self, now: i64, session: SessionId, action: Digest) -> bool {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let found = calls.iter().position(|(at, of, what)| now - at <= LASTS_MS && *of == session && *what == action);
        found.is_some_and(|at| calls.remove(at).is_some())
    }
}

impl Gate {
    /// The same yes for a call that was let through a moment ago, unless it would be denied by now.
    pub(crate) async fn confirmed(&self, ask: &Ask) -> Result<Option<Told>, Refusal> {
        let judged = self.judge(ask).await?;
        let (now, session) = (self.now(), ask.session);
        let stands = self.look(|state| {
            state.sessions.get(&session).is_some_and(|session| {
                !state.paused && !matches!(judge_asked(state, &judged, session, now), Ruling::Deny { .. })
            })
        });
        if judged.facts.refused.is_some() || !stands || !self.inner.agreed.take(session, &judged.facts) {
            return Ok(None);
        }
        let answer = Answer {
            decision: Decision::Allow,
            reason: "Let through a moment ago; the client asked again by its own rules.".to_owned(),
            rule: None,
            grant: None,
            approval: None,
            input: None,
            digest: judged.facts.digest,
        };
        Ok(Some(Told { answer, pending: false, judged, attending: None }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_answers_one_question_of_its_own_session_and_only_for_a_while() {
        let agreed = Agreed::default();
        let (mine, other) = (crate::ids::session(), crate::ids::session());
        let [call, another] = [1, 2].map(|byte| Digest::new([byte; 32]));
        agreed.put_at(0, mine, call);
        agreed.put_at(1, mine, call);
        assert!(!agreed.take_at(2, other, call) && !agreed.take_at(2, mine, another));
        assert!(agreed.take_at(2, mine, call) && agreed.take_at(2, mine, call));
        assert!(!agreed.take_at(2, mine, call));
        agreed.put_at(0, mine, call);
        assert!(!agreed.take_at(LASTS_MS + 1, mine, call));
    }

    #[test]
    fn it_holds_no_more_than_it_may() {
        let agreed = Agreed::default();
        let session = crate::ids::session();
        let call = Digest::new([1; 32]);
        (0..5_000).for_each(|at| agreed.put_at(at, session, call));
        assert_eq!(agreed.calls.lock().unwrap().len(), MOST);
        agreed.put_at(200_000, session, call);
        assert_eq!(agreed.calls.lock().unwrap().len(), 1);
    }
}
