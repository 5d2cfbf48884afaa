//! Runs against a real HTTP server on loopback, scripted, for each provider; what is sent must pass a strict validator.
#![allow(clippy::unwrap_used, missing_docs)]

mod house;
mod wire;

use std::{sync::Arc, time::Duration};

use house::House;
use placet_agent::{
    Bus, Ending, Options, Stop, Summary,
    message::{Message, ModelCall, ToolResult},
    provider::{
        Backoff, Provider, Request,
        anthropic::{self, Anthropic},
        http::Key,
        openai::{self, OpenAi},
    },
};
use placet_gate::Host;
use serde_json::{Value, json};
use wire::server::{Server, stream};

/// How often a provider is asked, all in all.
const TRIES: u32 = 7;

fn failure(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

fn openai_call(arguments: [&str; 2]) -> String {
    let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
    stream(
        &[
            delta(json!({"role": "assistant", "content": "I look"})),
            delta(
                json!({"tool_calls": [{"index": 0, "id": "call_A", "type": "function", "function": {"name": "read_file", "arguments": arguments[0]}}]}),
            ),
            delta(json!({"tool_calls": [{"index": 0, "function": {"arguments": arguments[1]}}]})),
            delta(
                json!({"tool_calls": [{"index": 1, "id": "call_B", "type": "function", "function": {"name": "write_file", "arguments": "{\"path\":\"tests/x\",\"content\":\"\"}"}}]}),
            ),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
            json!({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}),
        ],
        "data: [DONE]\n\n",
    )
}

fn openai_says(text: &str) -> String {
    stream(
        &[json!({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]})],
        "data: [DONE]\n\n",
    )
}

fn anthropic_call() -> String {
    let delta = |index: u32, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    stream(
        &[
            json!({"type": "message_start", "message": {"usage": {"input_tokens": 7, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            delta(0, json!({"type": "text_delta", "text": "I look"})),
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "toolu_A", "name": "read_file", "input": {}}}),
            delta(1, json!({"type": "input_json_delta", "partial_json": "{\"path\":"})),
            delta(1, json!({"type": "input_json_delta", "partial_json": "\"src/main.rs\"}"})),
            json!({"type": "content_block_stop", "index": 1}),
            json!({"type": "content_block_start", "index": 2, "content_block": {"type": "tool_use", "id": "toolu_B", "name": "write_file", "input": {}}}),
            delta(2, json!({"type": "input_json_delta", "partial_json": "{\"path\":\"tests/x\",\"content\":\"\"}"})),
            json!({"type": "content_block_stop", "index": 2}),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}}),
            json!({"type": "message_stop"}),
        ],
        "",
    )
}

fn anthropic_says(text: &str) -> String {
    stream(
        &[
            json!({"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": 1}}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 2}}),
            json!({"type": "message_stop"}),
        ],
        "",
    )
}

async fn run(house: &House, provider: Arc<dyn Provider>) -> Summary {
    let gate = house.open(Host::Serve).await;
    let mut options = Options::new("builtin".parse().unwrap(), house.workspace.clone(), "do it".to_owned(), provider);
    options.backoff = Backoff { first: Duration::from_millis(1), most: Duration::from_millis(20), tries: TRIES };
    options.journals = Some(house.journals());
    let summary = placet_agent::run(gate.clone(), options, Bus::default(), Stop::default()).await.unwrap();
    gate.close().await;
    summary
}

fn openai(server: &Server) -> Arc<dyn Provider> {
    Arc::new(OpenAi { base_url: server.url.clone(), model: "m".into(), key: Some(Key::new("sk-very-secret-key")) })
}

fn anthropic(server: &Server) -> Arc<dyn Provider> {
    let key = Some(Key::new("sk-very-secret-key"));
    Arc::new(Anthropic { base_url: server.url.clone(), model: "m".into(), key, max_tokens: 4096 })
}

#[tokio::test(flavor = "multi_thread")]
async fn openai_streams_calls_and_gets_their_results() {
    let house = House::new();
    let server = Server::start(vec![openai_call(["{\"path\":", "\"src/main.rs\"}"]), openai_says("done")]);
    let summary = run(&house, openai(&server)).await;
    assert_eq!((summary.ending, summary.last_words.as_str()), (Ending::Done, "done"));
    assert_eq!((summary.usage.input_tokens, summary.usage.output_tokens), (7, 3));
    assert_eq!((summary.tally.allowed, summary.tally.denied), (1, 1));
    let heard = server.heard();
    assert!(heard[0].0.contains("POST /chat/completions"), "{}", heard[0].0);
    assert!(heard[0].0.to_lowercase().contains("authorization: bearer sk-very-secret-key"));
    for (_, body) in &heard {
        wire::openai(body);
    }
    let messages = heard[1].1["messages"].as_array().unwrap();
    assert_eq!(messages[3]["content"], "fn main() {}\n");
    assert!(messages[4]["content"].as_str().unwrap().starts_with("BLOCKED: "));
    assert!(!std::fs::read_to_string(house.journal()).unwrap().contains("very-secret"), "no key in the history");
}

#[tokio::test(flavor = "multi_thread")]
async fn anthropic_streams_calls_and_gets_their_results() {
    let house = House::new();
    let server = Server::start(vec![anthropic_call(), anthropic_says("done")]);
    let summary = run(&house, anthropic(&server)).await;
    assert_eq!((summary.ending, summary.last_words.as_str()), (Ending::Done, "done"));
    assert_eq!((summary.usage.input_tokens, summary.usage.output_tokens), (16, 5));
    let heard = server.heard();
    assert!(heard[0].0.contains("POST /v1/messages"), "{}", heard[0].0);
    assert!(heard[0].0.to_lowercase().contains("x-api-key: sk-very-secret-key"));
    for (_, body) in &heard {
        wire::anthropic(body);
    }
    let results = heard[1].1["messages"][2]["content"].as_array().unwrap();
    assert_eq!((&results[0]["content"], &results[0]["is_error"]), (&json!("fn main() {}\n"), &json!(false)));
    assert_eq!(results[1]["is_error"], true);
}

type Making = fn(&Server) -> Arc<dyn Provider>;

/// Everything up to the first time that `what` occurs.
fn cut_before(answer: &str, what: &str) -> String {
    answer[..answer.find(what).unwrap()].to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rate_limit_an_overload_and_a_broken_stream_are_tried_again_whoever_the_provider_is() {
    let slow_down = || failure("429 Too Many Requests", "retry-after: 0\r\n", r#"{"error":{"message":"slow down"}}"#);
    let overloaded =
        stream(&[json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})], "");
    let limited = stream(&[json!({"error": {"code": "rate_limit_exceeded", "message": "slow down"}})], "");
    let openai_answers = [
        slow_down(),
        failure("503 Service Unavailable", "", "busy"),
        cut_before(&openai_call(["{\"pa", ""]), "finish_reason\":\"tool_calls"),
        limited,
        // A server that dies before it says anything, and one that says what is no event.
        String::new(),
        stream(&[], "data: {\"choi\n\n"),
        openai_says("done"),
    ];
    let anthropic_answers = [
        slow_down(),
        failure("529 Overloaded", "", r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
        cut_before(&anthropic_call(), "{\"type\":\"message_stop"),
        overloaded,
        String::new(),
        stream(&[], "data: {\"type\n\n"),
        anthropic_says("done"),
    ];
    for (answers, provider) in [(openai_answers, openai as Making), (anthropic_answers, anthropic as Making)] {
        let house = House::new();
        let all = answers.len();
        let server = Server::start(answers.to_vec());
        let summary = run(&house, provider(&server)).await;
        assert_eq!((summary.ending, server.heard().len()), (Ending::Done, all));
        assert_eq!((summary.last_words.as_str(), summary.tally.calls), ("done", 0), "half an answer is no answer");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_provider_that_stays_in_trouble_is_given_up_after_some_tries_with_its_own_words() {
    let slow_down = || failure("429 Too Many Requests", "retry-after: 0\r\n", r#"{"error":{"message":"slow down"}}"#);
    for provider in [openai, anthropic] {
        let house = House::new();
        let server = Server::start((0..TRIES).map(|_| slow_down()).collect());
        let Ending::ProviderFailed { message } = run(&house, provider(&server)).await.ending else { panic!() };
        assert_eq!(message, "The provider answered 429: slow down It will be asked again.");
        assert_eq!(server.heard().len(), TRIES as usize);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_is_said_clearly_and_not_tried_again() {
    let house = House::new();
    let server = Server::start(vec![failure("401 Unauthorized", "", r#"{"error":{"message":"invalid x-api-key"}}"#)]);
    let summary = run(&house, anthropic(&server)).await;
    let Ending::ProviderFailed { message } = summary.ending else { panic!("{:?}", summary.ending) };
    assert_eq!(message, "The provider answered 401: invalid x-api-key Check the key.");
    assert_eq!(server.heard().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_not_there_is_tried_and_given_up_with_its_address() {
    let house = House::new();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let provider = Arc::new(OpenAi { base_url: format!("http://{nobody}"), model: "m".into(), key: None });
    let Ending::ProviderFailed { message } = run(&house, provider).await.ending else { panic!() };
    assert!(message.contains(&nobody.to_string()), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_arguments_run_nothing_and_the_next_request_is_valid() {
    let house = House::new();
    let server = Server::start(vec![openai_call(["{\"path\": \"src/mai", ""]), openai_says("done")]);
    let summary = run(&house, openai(&server)).await;
    assert_eq!((summary.ending, summary.tally.allowed), (Ending::Done, 0));
    let body = &server.heard()[1].1;
    wire::openai(body);
    assert!(body["messages"][3]["content"].as_str().unwrap().contains("bad_arguments"), "{body}");

    let house = House::new();
    let broken = anthropic_call().replace(r#""partial_json":"\"src/main.rs\"}""#, r#""partial_json":"\"src/mai""#);
    assert_ne!(broken, anthropic_call());
    let server = Server::start(vec![broken, anthropic_says("done")]);
    let summary = run(&house, anthropic(&server)).await;
    assert_eq!((summary.ending, summary.tally.allowed), (Ending::Done, 0));
    let body = &server.heard()[1].1;
    wire::anthropic(body);
    let result = &body["messages"][2]["content"][0];
    assert!(result["is_error"] == true && result["content"].as_str().unwrap().contains("bad_arguments"), "{body}");
}

#[test]
fn every_branch_leaves_a_conversation_that_both_providers_take() {
    let call = |id: &str, arguments: &str| ModelCall { id: id.into(), tool: "t".into(), arguments: arguments.into() };
    let result = |id: &str, text: &str| ToolResult { call_id: id.into(), text: text.into(), is_error: true };
    let request = Request {
        system: "s".into(),
        messages: vec![
            Message::User { text: "go".into() },
            Message::Assistant {
                text: String::new(),
                calls: vec![call("a", ""), call("b", "{broken"), call("c", "[1]")],
            },
            Message::Results { results: vec![result("a", "BLOCKED: no"), result("b", ""), result("c", "cut")] },
            Message::Assistant { text: " ".into(), calls: vec![] },
        ],
        tools: vec![],
    };
    wire::openai(&openai::body("m", &request));
    wire::anthropic(&anthropic::body("m", 1, &request));
}
