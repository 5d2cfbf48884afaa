//! What a session called before, for the policy's limits.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use crate::{At, CallFacts, Subject};

/// How many calls of a tool are remembered of a session: as many as the largest limit.
pub(crate) const MAX_COUNTED: usize = 10_000;
/// For how long they are: 24 hours, the longest time of a limit.
pub(crate) const COUNTED_FOR_MS: i64 = 24 * 60 * 60 * 1_000;
/// What a call acts on is remembered up to so many bytes of names and words.
const MOST_BYTES: usize = 8 * 1_024;

/// The calls of one session by tool and action, the latest last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted(BTreeMap<(String, &'static str), Kind>);

#[derive(Clone, Debug, Default)]
struct Kind {
    calls: VecDeque<(At, Acts)>,
    /// When the latest call was made that is not remembered any more though it is younger than a day.
    forgotten: Option<At>,
}

/// What a call acted on; nothing where that was too long to be remembered.
type Acts = Option<Arc<[Subject]>>;

impl Counted {
    pub(crate) fn add(&mut self, call: &CallFacts, at: At) {
        let kind = self.0.entry((call.tool.clone(), call.action.word())).or_default();
        let bytes: usize = call.subjects.iter().map(weight).sum();
        // An agent that does the same again and again is remembered once.
        let same = kind.calls.back().and_then(|(_, acts)| acts.clone()).filter(|acts| **acts == *call.subjects);
        let acts = same.or_else(|| (bytes <= MOST_BYTES).then(|| call.subjects.clone().into()));
        kind.calls.push_back((at, acts));
        while kind.calls.front().is_some_and(|(front, _)| at.ms_since(*front) > COUNTED_FOR_MS) {
            kind.calls.pop_front();
        }
        if kind.calls.len() > MAX_COUNTED {
            kind.forgotten = kind.calls.pop_front().map(|(at, _)| at);
        }
    }

    /// How many of the calls after this moment a limit counts: of the tools that `is_of` names, those that act on
    /// something that `is_about` says. Where that is not remembered the call is counted, and where calls are forgotten
    /// there were more than any limit lets through: who calls often enough cannot call himself free.
    pub(crate) fn since(&self, since: At, is_of: impl Fn(&str) -> bool, is_about: impl Fn(&Subject) -> bool) -> usize {
        let counts = |acts: &Acts| acts.as_ref().is_none_or(|acts| acts.iter().any(&is_about));
        self.0
            .iter()
            .filter(|((tool, _), _)| is_of(tool))
            .map(|(_, kind)| {
                if kind.forgotten.is_some_and(|at| at > since) {
                    return usize::MAX;
                }
                let from = kind.calls.partition_point(|(at, _)| *at <= since);
                kind.calls.range(from..).filter(|(_, acts)| counts(acts)).count()
            })
            .fold(0, usize::saturating_add)
    }
}

fn weight(subject: &Subject) -> usize {
    match subject {
        Subject::Path(path) => [&path.asked, &path.normalized, &path.resolved].iter().map(|p| p.bytes().len()).sum(),
        Subject::Url(url) => url.asked.len() + url.normalized.len() + url.host.len() + url.path.len(),
        Subject::Command(command) => {
            let words =
                command.commands.iter().flat_map(|part| part.argv.iter().chain(part.carrier_of.iter().flatten()));
            command.asked.len() + words.map(String::len).sum::<usize>()
        }
        Subject::Mcp(mcp) => mcp.server.len() + mcp.tool.len(),
        Subject::Tool(tool) => tool.tool.len(),
    }
}
