//! However a run ends and whatever became of its calls, the conversation it leaves is one that both providers take: every
//! call has its result. Real runs over a real gate; what they leave in the journal must pass the strict validators.
#![allow(clippy::unwrap_used, missing_docs)]

mod house;
mod wire;

use std::{path::Path, sync::Arc};

use house::{House, told};
use placet_agent::{
    Budget, Bus, Ending, Later, Options, Stop, Watched,
    hooks::{Call, Hook, HookError, Pre},
    journal::Line,
    message::{Message, ModelCall, Reply},
    provider::{
        Backoff, OnText, Provider, ProviderError, ProviderErrorKind, Request, anthropic, openai,
        scripted::{Scripted, calls, says},
    },
    tools::Output,
};
use placet_gate::Host;
use serde_json::json;

/// Answers for one tool as it is told.
struct Says(&'static str, fn() -> Result<Pre, HookError>);

impl Hook for Says {
    fn name(&self) -> &'static str {
        "says"
    }
    fn before_tool<'a>(&'a self, call: &'a Call) -> Later<'a, Result<Pre, HookError>> {
        let answer = if call.tool == self.0 { (self.1)() } else { Ok(Pre::Pass) };
        Box::pin(std::future::ready(answer))
    }
}

/// Answers like another, and then fails for good.
struct Failing(Arc<Scripted>, ProviderErrorKind);

impl Provider for Failing {
    fn name(&self) -> &'static str {
        "failing"
    }
    fn reply<'a>(&'a self, request: &'a Request, on_text: OnText<'a>) -> Later<'a, Result<Reply, ProviderError>> {
        if self.0.asked().is_empty() {
            return self.0.reply(request, on_text);
        }
        Box::pin(std::future::ready(Err(self.1.because("no more"))))
    }
}

/// The conversation that a journal holds.
fn conversation(journal: &Path) -> Vec<Message> {
    let text = std::fs::read_to_string(journal).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let said = lines.filter_map(|line| if let Line::Said { message, .. } = line { Some(message) } else { None });
    said.collect()
}

/// Both providers would take it, and take it with another word of the person's behind.
fn is_taken(name: &str, messages: &[Message]) {
    let calls: usize = messages
        .iter()
        .map(|message| if let Message::Assistant { calls, .. } = message { calls.len() } else { 0 })
        .sum();
    assert!(calls > 0, "{name}: nothing was called");
    // A run that is told to go on says so in the person's name; after the model's own last word only that can follow.
    let mut messages = messages.to_vec();
    if matches!(messages.last(), Some(Message::Assistant { .. })) {
        messages.push(Message::User { text: "Go on.".to_owned() });
    }
    let request = Request { system: "s".to_owned(), messages, tools: vec![] };
    wire::openai(&openai::body("m", &request));
    wire::anthropic(&anthropic::body("m", 1_024, &request));
}

/// One call of each kind: allowed, denied, one that fails, one that is not offered, two that are malformed.
fn batch() -> Reply {
    let mut reply = calls(
        "c",
        &[
            ("read_file", json!({"path": "src/main.rs"})),
            ("write_file", json!({"path": "tests/main.rs", "content": "x"})),
            ("read_file", json!({"path": "src/nowhere.rs"})),
            ("no such tool!", json!({})),
        ],
    );
    for (id, arguments) in [("broken", "{\"path\": \"src/ma"), ("a list", "[1]"), ("", ""), ("c_0", "{}")] {
        reply.calls.push(ModelCall {
            id: id.to_owned(),
            tool: "list_files".to_owned(),
            arguments: arguments.to_owned(),
        });
    }
    "I try everything.".clone_into(&mut reply.text);
    reply
}

fn options(house: &House, replies: Vec<Reply>) -> (Options, Arc<Scripted>) {
    let (mut options, provider) = house.options(replies);
    options.journals = Some(house.journals());
    options.backoff = Backoff { tries: 1, ..Backoff::default() };
    (options, provider)
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_became_of_its_calls_the_next_request_is_valid_for_both_providers() {
    let answered = || Ok(Pre::Answer(Output { text: String::new(), is_error: false }));
    let cases: [(&str, Option<Says>, Ending); 4] = [
        ("as the policy says", None, Ending::Done),
        ("a hook denies", Some(Says("read_file", || Ok(Pre::Deny("no".into())))), Ending::Done),
        ("a hook answers with nothing", Some(Says("list_files", answered)), Ending::Done),
        (
            "a hook fails",
            Some(Says("read_file", || Err(HookError("broken".into())))),
            Ending::HookFailed { hook: "says".into(), message: "broken".into() },
        ),
    ];
    for (name, hook, ending) in cases {
        let house = House::new();
        let gate = house.open(Host::Serve).await;
        let (mut options, provider) = options(&house, vec![batch(), batch(), says("")]);
        options.hooks.extend(hook.map(|hook| Arc::new(hook) as Arc<dyn Hook>));
        let summary = house::run(&gate, options).await;
        assert_eq!(summary.ending, ending, "{name}");
        is_taken(name, &conversation(&house.journal()));
        for request in provider.asked() {
            wire::openai(&openai::body("m", &request));
            wire::anthropic(&anthropic::body("m", 1_024, &request));
        }
        gate.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_ends_a_run_between_two_requests_the_next_is_valid_for_both_providers() {
    let kinds = [ProviderErrorKind::RateLimited, ProviderErrorKind::BrokenStream, ProviderErrorKind::Refused];
    for kind in kinds {
        let house = House::new();
        let gate = house.open(Host::Serve).await;
        let (mut options, scripted) = options(&house, vec![batch()]);
        options.provider = Arc::new(Failing(scripted, kind));
        let summary = house::run(&gate, options).await;
        assert_eq!(summary.ending, Ending::ProviderFailed { message: "no more".to_owned() });
        is_taken("the provider fails", &conversation(&house.journal()));
        gate.close().await;
    }
    for (budget, ending) in [
        (Budget { max_turns: 1, ..Budget::default() }, Ending::MaxTurns),
        (Budget { max_tokens: 1, ..Budget::default() }, Ending::MaxTokens),
    ] {
        let house = House::new();
        let gate = house.open(Host::Serve).await;
        let (mut options, _) = options(&house, vec![batch(), says("never")]);
        options.budget = budget;
        assert_eq!(house::run(&gate, options).await.ending, ending);
        is_taken("a bound", &conversation(&house.journal()));
        gate.close().await;
    }
}

/// The batch, and among it one that waits for a person.
fn waiting_batch() -> Reply {
    let mut reply = batch();
    let waits = ModelCall {
        id: "waits".to_owned(),
        tool: "write_file".to_owned(),
        arguments: json!({"path": "src/new.rs", "content": "x"}).to_string(),
    };
    reply.calls.insert(2, waits);
    reply
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_cut_short_while_a_person_is_asked_leaves_a_result_for_every_call() {
    for (name, budget, ending) in [
        ("stopped", Budget::default(), Ending::Aborted),
        ("out of time", Budget { max_ms: 1_500, ..Budget::default() }, Ending::TimeOver),
    ] {
        let house = House::new();
        let gate = house.open(Host::Supervised).await;
        let (mut options, _) = options(&house, vec![waiting_batch(), says("never")]);
        options.budget = budget;
        let (bus, stop) = (Bus::default(), Stop::default());
        let mut watching = bus.watch();
        let running = tokio::spawn(placet_agent::run(gate.clone(), options, bus, stop.clone()));
        told(&mut watching, |told| matches!(told, Watched::ToolWaits { .. })).await;
        if ending == Ending::Aborted {
            stop.now();
        }
        assert_eq!(running.await.unwrap().unwrap().ending, ending);
        let messages = conversation(&house.journal());
        is_taken(name, &messages);
        let Some(Message::Results { results }) = messages.last() else { panic!("{messages:?}") };
        assert!(results[2].is_error && results[2].text.contains("no result"), "{results:?}");
        gate.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_is_suspended_and_taken_up_leaves_one_result_for_every_call() {
    let house = House::new();
    let gate = house.open(Host::Supervised).await;
    let (first, _) = options(&house, vec![waiting_batch(), says("done")]);
    let bus = Bus::default();
    let mut watching = bus.watch();
    let running = tokio::spawn(placet_agent::run(gate.clone(), first, bus, Stop::default()));
    told(&mut watching, |told| matches!(told, Watched::ToolWaits { .. })).await;
    gate.close().await;
    assert_eq!(running.await.unwrap().unwrap().ending, Ending::Suspended);

    let gate = house.open(Host::Supervised).await;
    house::deny(&gate, &house::wait_for(&gate, 1).await[0], "no").await;
    let (again, provider) = options(&house, vec![waiting_batch(), says("done")]);
    let journal = house.journal();
    let ended =
        placet_agent::resume(gate.clone(), again, None, &journal, Bus::default(), Stop::default()).await.unwrap();
    assert_eq!(ended.ending, Ending::Done);
    is_taken("taken up", &conversation(&journal));
    assert_eq!(provider.asked().len(), 1, "what it had said was not asked for again");
    gate.close().await;
}

#[test]
fn the_validators_refuse_what_a_server_would() {
    let refused = |check: fn(&serde_json::Value), body: &serde_json::Value| {
        let body = body.clone();
        std::panic::catch_unwind(move || check(&body)).is_err()
    };
    let call = |id: &str| ModelCall { id: id.into(), tool: "t".into(), arguments: "{}".into() };
    let said = |calls| Message::Assistant { text: String::new(), calls };
    let task = || Message::User { text: "go".into() };
    for messages in [
        vec![task(), said(vec![call("a")])],
        vec![task(), said(vec![call("a")]), Message::Results { results: vec![] }, task()],
        vec![task(), said(vec![call("a")]), task()],
    ] {
        let request = Request { system: "s".into(), messages, tools: vec![] };
        assert!(refused(wire::openai, &openai::body("m", &request)), "{request:?}");
        assert!(refused(wire::anthropic, &anthropic::body("m", 1, &request)), "{request:?}");
    }
}
