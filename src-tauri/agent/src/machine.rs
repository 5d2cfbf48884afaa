//! The turn machine: what happened goes in, what is to be done comes out. It reads no clock, no disk and no network.
//!
//! Whatever ends a run, and wherever, the conversation it leaves is whole: every call of the model has exactly one
//! result, in order, so that the next request is valid for any provider.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::message::{Message, ModelCall, Reply, ToolResult, Usage, last_words};

/// How far a run may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Budget {
    /// Turns; one is a request to the provider and the calls that follow from it.
    pub max_turns: u32,
    /// Tokens read and written, as the provider counts them.
    pub max_tokens: u64,
    /// Wall time in milliseconds, waiting for a person included.
    pub max_ms: u64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { max_turns: 50, max_tokens: 2_000_000, max_ms: 24 * 60 * 60 * 1_000 }
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The run begins, or goes on after a crash.
    Begun,
    /// Every hook of this point has run.
    Passed(Point),
    /// The provider answered.
    Replied(Reply),
    /// The calls were run or refused. A call without a result is given one that says so.
    Answered(Vec<ToolResult>),
    /// The run is cut short.
    Cut {
        /// Why.
        ending: Ending,
        /// What came of the calls that were under way.
        results: Vec<ToolResult>,
    },
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Run the hooks of this point.
    RunHooks(Point),
    /// Ask the provider with the conversation as it stands.
    AskProvider,
    /// Run these calls, each through the chain.
    RunCalls(Vec<ModelCall>),
    /// Keep this for good before going on: it was just added to the conversation.
    Remember(Message),
    /// It is over.
    End(Ending),
}

/// The points of the loop beside those around each tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// Before a turn.
    BeforeTurn,
    /// Before a request to the provider.
    BeforeProvider,
    /// After a turn.
    AfterTurn,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ending", rename_all = "snake_case")]
pub enum Ending {
    /// The model has nothing more to do.
    Done,
    /// As many turns as allowed.
    MaxTurns,
    /// As many tokens as allowed.
    MaxTokens,
    /// As long as allowed.
    TimeOver,
    /// The person stopped it.
    Aborted,
    /// The gate closed: nothing is lost, the run can be taken up again.
    Suspended,
    /// A check before something did not run, so that thing did not happen either.
    HookFailed {
        /// Which hook.
        hook: String,
        /// What it said.
        message: String,
    },
    /// The provider gave no answer.
    ProviderFailed {
        /// Why, and what to do.
        message: String,
    },
}

impl Ending {
    /// What a call that did not run is told.
    fn of_a_call(&self) -> String {
        let why = match self {
            Self::Done | Self::MaxTurns | Self::MaxTokens => "the run ended",
            Self::TimeOver => "the run's time is over",
            Self::Aborted => "the person stopped the run",
            Self::Suspended => "Placet is closing",
            Self::HookFailed { hook, message } => {
                return format!("BLOCKED: the check {hook} failed ({message}). This call did not run.");
            }
            Self::ProviderFailed { .. } => "the provider failed",
        };
        format!("This call has no result: {why}.")
    }
}

/// Where the run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    At(Point),
    AtProvider,
    AtTools(Vec<ModelCall>),
    Over,
}

/// The machine. Its conversation only grows.
#[derive(Clone, Debug)]
pub struct Machine {
    budget: Budget,
    phase: Phase,
    turn: u32,
    usage: Usage,
    messages: Vec<Message>,
}

impl Machine {
    /// A run that has not begun.
    pub fn new(budget: Budget, task: String) -> Self {
        Self::resumed(budget, vec![Message::User { text: task }], 0, Usage::default())
    }

    /// A run that is taken up where its conversation ends.
    pub fn resumed(budget: Budget, messages: Vec<Message>, turn: u32, usage: Usage) -> Self {
        Self { budget, phase: Phase::Idle, turn, usage, messages }
    }

    /// The conversation so far.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The turn, from 1.
    pub fn turn(&self) -> u32 {
        self.turn
    }

    /// What was counted so far.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// What the model said last.
    pub fn last_words(&self) -> &str {
        last_words(&self.messages)
    }

    /// Takes what happened and says what is to be done. An event that does not fit where the run stands changes
    /// nothing: it is a late one.
    pub fn step(&mut self, event: Event) -> Vec<Effect> {
        match (std::mem::replace(&mut self.phase, Phase::Over), event) {
            (Phase::Over, _) => vec![],
            (phase, Event::Cut { ending, results }) => self.cut(phase, ending, results),
            (Phase::Idle, Event::Begun) => self.begin(),
            (Phase::At(Point::BeforeTurn), Event::Passed(Point::BeforeTurn)) => self.at(Point::BeforeProvider),
            (Phase::At(Point::BeforeProvider), Event::Passed(Point::BeforeProvider)) => {
                self.phase = Phase::AtProvider;
                vec![Effect::AskProvider]
            }
            (Phase::AtProvider, Event::Replied(reply)) => self.replied(reply),
            (Phase::AtTools(calls), Event::Answered(results)) => {
                let mut effects = vec![self.remember(answered(&calls, results, &Ending::Aborted))];
                effects.extend(self.at(Point::AfterTurn));
                effects
            }
            (Phase::At(Point::AfterTurn), Event::Passed(Point::AfterTurn)) => self.turned(),
            (phase, Event::Begun | Event::Passed(_) | Event::Replied(_) | Event::Answered(_)) => {
                self.phase = phase;
                vec![]
            }
        }
    }

    /// Begins, or goes on from where the conversation ends.
    fn begin(&mut self) -> Vec<Effect> {
        match self.messages.last() {
            Some(Message::Assistant { calls, .. }) if calls.is_empty() => self.end(Ending::Done),
            Some(Message::Assistant { calls, .. }) => {
                let calls = calls.clone();
                self.phase = Phase::AtTools(calls.clone());
                vec![Effect::RunCalls(calls)]
            }
            Some(Message::Results { .. }) if self.turn >= self.budget.max_turns => self.end(Ending::MaxTurns),
            Some(Message::Results { .. }) if self.usage.total() >= self.budget.max_tokens => {
                self.end(Ending::MaxTokens)
            }
            Some(Message::User { .. } | Message::Results { .. }) | None => {
                self.turn += 1;
                self.at(Point::BeforeTurn)
            }
        }
    }

    fn replied(&mut self, reply: Reply) -> Vec<Effect> {
        self.usage = self.usage.plus(reply.usage);
        let calls = self.with_ids(reply.calls);
        let remember = self.remember(Message::Assistant { text: reply.text, calls: calls.clone() });
        if calls.is_empty() {
            let mut effects = vec![remember];
            effects.extend(self.at(Point::AfterTurn));
            return effects;
        }
        self.phase = Phase::AtTools(calls.clone());
        vec![remember, Effect::RunCalls(calls)]
    }

    /// Every call of a conversation has an id of its own that any provider takes back. Some servers give none, or the
    /// same in every answer.
    fn with_ids(&self, mut calls: Vec<ModelCall>) -> Vec<ModelCall> {
        let mut taken: HashSet<String> = self.messages.iter().flat_map(Message::call_ids).map(str::to_owned).collect();
        for (at, call) in calls.iter_mut().enumerate() {
            let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
            let is_id = (1..=64).contains(&call.id.len()) && call.id.bytes().all(fits);
            if !is_id || taken.contains(&call.id) {
                call.id = format!("call_{}_{at}", self.turn);
                while taken.contains(&call.id) {
                    call.id.push('_');
                }
            }
            taken.insert(call.id.clone());
        }
        calls
    }

    fn turned(&mut self) -> Vec<Effect> {
        let is_done = matches!(self.messages.last(), Some(Message::Assistant { .. }));
        if is_done {
            self.end(Ending::Done)
        } else if self.usage.total() >= self.budget.max_tokens {
            self.end(Ending::MaxTokens)
        } else if self.turn >= self.budget.max_turns {
            self.end(Ending::MaxTurns)
        } else {
            self.turn += 1;
            self.at(Point::BeforeTurn)
        }
    }

    fn cut(&mut self, phase: Phase, ending: Ending, results: Vec<ToolResult>) -> Vec<Effect> {
        let mut effects = Vec::new();
        // A suspended run keeps its open calls: they are taken up again.
        if let Phase::AtTools(calls) = phase
            && ending != Ending::Suspended
        {
            effects.push(self.remember(answered(&calls, results, &ending)));
        }
        effects.extend(self.end(ending));
        effects
    }

    fn at(&mut self, point: Point) -> Vec<Effect> {
        self.phase = Phase::At(point);
        vec![Effect::RunHooks(point)]
    }

    fn end(&mut self, ending: Ending) -> Vec<Effect> {
        self.phase = Phase::Over;
        vec![Effect::End(ending)]
    }

    fn remember(&mut self, message: Message) -> Effect {
        self.messages.push(message.clone());
        Effect::Remember(message)
    }
}

/// One result for each call, in the order asked, whatever is missing.
pub(crate) fn answered(calls: &[ModelCall], mut results: Vec<ToolResult>, ending: &Ending) -> Message {
    let results = calls
        .iter()
        .map(|call| match results.iter().position(|result| result.call_id == call.id) {
            Some(at) => results.remove(at),
            None => ToolResult { call_id: call.id.clone(), text: ending.of_a_call(), is_error: true },
        })
        .collect();
    Message::Results { results }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn call(id: &str) -> ModelCall {
        ModelCall { id: id.into(), tool: "read_file".into(), arguments: "{}".into() }
    }

    fn reply(calls: &[&str]) -> Event {
        let calls = calls.iter().map(|id| call(id)).collect();
        Event::Replied(Reply { text: "so".into(), calls, usage: Usage { input_tokens: 10, output_tokens: 1 } })
    }

    fn result(id: &str) -> ToolResult {
        ToolResult { call_id: id.into(), text: "ok".into(), is_error: false }
    }

    fn cut(ending: Ending) -> Event {
        Event::Cut { ending, results: vec![] }
    }

    fn at_provider(budget: Budget) -> Machine {
        let mut machine = Machine::new(budget, "do it".into());
        assert_eq!(machine.step(Event::Begun), [Effect::RunHooks(Point::BeforeTurn)]);
        assert_eq!(machine.step(Event::Passed(Point::BeforeTurn)), [Effect::RunHooks(Point::BeforeProvider)]);
        assert_eq!(machine.step(Event::Passed(Point::BeforeProvider)), [Effect::AskProvider]);
        machine
    }

    fn results_of(machine: &Machine) -> Vec<(String, bool)> {
        match machine.messages().last().unwrap() {
            Message::Results { results } => results.iter().map(|r| (r.call_id.clone(), r.is_error)).collect(),
            other @ (Message::User { .. } | Message::Assistant { .. }) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_turn_goes_through_its_points_in_order_and_the_run_ends_with_the_last_word() {
        let mut machine = at_provider(Budget::default());
        assert!(matches!(machine.step(reply(&["a"]))[..], [Effect::Remember(_), Effect::RunCalls(_)]));
        let effects = machine.step(Event::Answered(vec![result("a")]));
        assert!(matches!(effects[..], [Effect::Remember(_), Effect::RunHooks(Point::AfterTurn)]));
        assert_eq!(machine.step(Event::Passed(Point::AfterTurn)), [Effect::RunHooks(Point::BeforeTurn)]);
        machine.step(Event::Passed(Point::BeforeTurn));
        machine.step(Event::Passed(Point::BeforeProvider));
        machine.step(reply(&[]));
        assert_eq!(machine.step(Event::Passed(Point::AfterTurn)), [Effect::End(Ending::Done)]);
        assert_eq!((machine.turn(), machine.usage().total()), (2, 22));
    }

    #[test]
    fn every_call_has_one_result_in_the_order_asked_however_the_run_is_cut() {
        let mut machine = at_provider(Budget::default());
        machine.step(reply(&["a", "b", "c"]));
        machine.step(Event::Answered(vec![result("c"), result("a")]));
        assert_eq!(results_of(&machine), [("a".into(), false), ("b".into(), true), ("c".into(), false)]);
        for ending in [
            Ending::Aborted,
            Ending::TimeOver,
            Ending::HookFailed { hook: "h".into(), message: "m".into() },
            Ending::ProviderFailed { message: "m".into() },
        ] {
            let mut machine = at_provider(Budget::default());
            machine.step(reply(&["a", "b"]));
            let effects = machine.step(cut(ending.clone()));
            assert_eq!(effects.last(), Some(&Effect::End(ending)));
            assert_eq!(results_of(&machine), [("a".into(), true), ("b".into(), true)]);
        }
    }

    #[test]
    fn a_suspended_run_keeps_its_open_calls_and_takes_them_up_again() {
        let mut machine = at_provider(Budget::default());
        machine.step(reply(&["a"]));
        assert_eq!(machine.step(cut(Ending::Suspended)), [Effect::End(Ending::Suspended)]);
        let mut again =
            Machine::resumed(Budget::default(), machine.messages().to_vec(), machine.turn(), machine.usage());
        assert_eq!(again.step(Event::Begun), [Effect::RunCalls(vec![call("a")])]);
    }

    #[test]
    fn every_call_of_a_conversation_has_an_id_of_its_own_whatever_the_provider_gives() {
        let mut machine = at_provider(Budget::default());
        for ids in [&["", "", "a", "a", "call_1_1", "b c", "ä"][..], &["a", "", "call_2_1", &"x".repeat(65)]] {
            let effects = machine.step(reply(ids));
            let Effect::RunCalls(calls) = &effects[1] else { panic!("{effects:?}") };
            machine.step(Event::Answered(calls.iter().map(|call| result(&call.id)).collect()));
            assert!(results_of(&machine).iter().all(|(_, is_error)| !is_error), "each answer finds its call");
            for point in [Point::AfterTurn, Point::BeforeTurn, Point::BeforeProvider] {
                machine.step(Event::Passed(point));
            }
        }
        let ids: Vec<&str> = machine.messages().iter().flat_map(Message::call_ids).collect();
        let apart: HashSet<&str> = ids.iter().copied().collect();
        assert_eq!((ids.len(), apart.len()), (11, 11), "{ids:?}");
        assert!(ids.iter().all(|id| !id.is_empty() && id.len() <= 64 && id.is_ascii() && !id.contains(' ')), "{ids:?}");
        assert!(ids.contains(&"a"), "what can stay stays: {ids:?}");
    }

    #[test]
    fn turns_and_tokens_are_bounded() {
        for (budget, ending) in [
            (Budget { max_turns: 1, ..Budget::default() }, Ending::MaxTurns),
            (Budget { max_tokens: 11, ..Budget::default() }, Ending::MaxTokens),
        ] {
            let mut machine = at_provider(budget);
            machine.step(reply(&["a"]));
            machine.step(Event::Answered(vec![result("a")]));
            assert_eq!(machine.step(Event::Passed(Point::AfterTurn)), [Effect::End(ending)]);
        }
    }

    #[test]
    fn a_late_event_changes_nothing() {
        let mut machine = at_provider(Budget::default());
        assert_eq!(machine.step(Event::Answered(vec![result("a")])), []);
        machine.step(cut(Ending::Aborted));
        assert_eq!(machine.step(reply(&["a"])), []);
        assert_eq!(machine.messages().len(), 1);
    }
}
