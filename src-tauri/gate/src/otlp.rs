//! The history told to a collector as OpenTelemetry log records, one for each fact (OTLP over HTTP with JSON bodies,
//! <https://opentelemetry.io/docs/specs/otlp/>). Only where the person turned it on, only what is in the history, only
//! there. A collector that was away misses nothing: what it took last is put down, and what it did not take is sent again.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use placet_domain::{Command, Entry, Fact};
use placet_store::Reader;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{broadcast, oneshot};
use ureq::http::Uri;

use crate::Gate;

/// So long after a fact it is sent, together with those that came meanwhile.
const GATHER: Duration = Duration::from_secs(1);
/// A collector that does not answer is tried again after this, then after twice as long, and so on.
const AGAIN: Duration = Duration::from_secs(1);
const AGAIN_AT_MOST: Duration = Duration::from_secs(300);
/// A request takes no longer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Facts in one request.
const AT_ONCE: usize = 200;
/// What the collector took last, in the data directory.
const SENT: &str = "otlp.sent";

/// `[history]` in `settings.toml`, as far as it is about a collector.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
struct Collector {
    /// Where its logs go, for example `http://localhost:4318/v1/logs`; none is sent without it.
    #[serde(rename = "otlp")]
    url: Option<String>,
    /// Headers of each request, for example what it knows us by.
    #[serde(rename = "otlp_headers", default)]
    headers: BTreeMap<String, String>,
}

/// How a round ended.
enum Round {
    /// There is no collector.
    Off,
    /// It has everything.
    Done,
    /// In words: it did not take it.
    Failed(String),
}

/// Runs until the gate closes.
pub(crate) async fn run(gate: Gate) {
    let mut facts = gate.facts();
    let mut again = AGAIN;
    let mut told = false;
    loop {
        match round(&gate).await {
            Round::Off | Round::Done => {
                again = AGAIN;
                if matches!(facts.recv().await, Err(broadcast::error::RecvError::Closed)) {
                    return;
                }
                tokio::time::sleep(GATHER).await;
                // What came meanwhile is sent with it.
                facts = facts.resubscribe();
            }
            Round::Failed(why) => {
                tracing::warn!(why, "the collector did not take the history");
                if !std::mem::replace(&mut told, true) {
                    let message =
                        format!("The collector does not take the history: {why} Nothing is lost; it is tried again.");
                    let alert = Command::Alert { alert: "otlp_failed".to_owned(), message };
                    if let Err(refusal) = gate.writer().decide(alert).await {
                        tracing::warn!(%refusal, "the alert was not written");
                    }
                }
                tokio::time::sleep(again).await;
                again = (again * 2).min(AGAIN_AT_MOST);
            }
        }
    }
}

/// A thread of its own: a collector that hangs must not keep a gate from closing.
async fn round(gate: &Gate) -> Round {
    let (config, data) = (gate.inner.places.config.clone(), gate.inner.places.data.clone());
    let (reader, version) = (gate.reader(), gate.inner.version.clone());
    let (send, ended) = oneshot::channel();
    let sending = thread::Builder::new().name("otlp".to_owned()).spawn(move || {
        let _ = send.send(send_what_is_new(&config, &data, &reader, &version));
    });
    match sending {
        Ok(_) => ended.await.unwrap_or_else(|_| Round::Failed("sending broke off.".to_owned())),
        Err(error) => Round::Failed(format!("no thread could be started ({error}).")),
    }
}

fn send_what_is_new(config: &Path, data: &Path, reader: &Reader, version: &str) -> Round {
    let sent = Sent(data.join(SENT));
    let collector = match Collector::read(config) {
        Ok(collector) => collector,
        Err(why) => return Round::Failed(why),
    };
    let Some(url) = &collector.url else {
        // What happens while it is off is nobody's but the history's, also when it is turned on again.
        sent.forget();
        return Round::Off;
    };
    let all = || -> Result<(), String> {
        let url = allowed(url)?;
        let head = reader.head().map_err(|error| format!("the history cannot be read ({error})."))?.seq;
        // A history that was restored may end before what was sent.
        let mut after = sent.read().filter(|seq| *seq <= head).unwrap_or(head);
        sent.write(after)?;
        let mut at_once = AT_ONCE;
        loop {
            let entries =
                reader.facts(after, at_once).map_err(|error| format!("the history cannot be read ({error})."))?;
            let Some(last) = entries.last() else { return Ok(()) };
            let status = post(&url, &collector.headers, &request(&entries, version))?;
            match status {
                200..300 => {}
                // It says that it will never take this: a smaller part, and what is not taken even alone is left out.
                400 | 413 if entries.len() > 1 => {
                    at_once = (entries.len() / 4).max(1);
                    continue;
                }
                400 | 413 => tracing::error!(seq = last.seq, status, "the collector refused a fact; it is left out"),
                _ => return Err(format!("it answered with status {status}.")),
            }
            after = last.seq;
            sent.write(after)?;
        }
    };
    all().map_or_else(Round::Failed, |()| Round::Done)
}

impl Collector {
    fn read(config: &Path) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Settings {
            #[serde(default)]
            history: Collector,
        }
        let text = match fs::read_to_string(config.join("settings.toml")) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(format!("settings.toml cannot be read ({error}).")),
        };
        let settings = toml::from_str::<Settings>(&text);
        settings.map(|settings| settings.history).map_err(|error| format!("settings.toml has a mistake: {error}."))
    }
}

/// Encrypted, or to this machine: the history tells what you work on.
fn allowed(url: &str) -> Result<Uri, String> {
    let uri: Uri = url.parse().map_err(|_| format!("{url:?} is no address."))?;
    let host = uri.host().unwrap_or_default();
    let here = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
    match uri.scheme_str() {
        Some("https") if !host.is_empty() => Ok(uri),
        Some("http") if here => Ok(uri),
        _ => Err(format!("{url:?} is neither https nor an http address of this machine.")),
    }
}

/// The status that it answered with.
fn post(url: &Uri, headers: &BTreeMap<String, String>, body: &Value) -> Result<u16, String> {
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .timeout_global(Some(PATIENCE))
        .build()
        .into();
    let mut request = agent.post(url).header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let response = request.send(body.to_string()).map_err(|error| format!("{url} cannot be reached ({error})."))?;
    Ok(response.status().as_u16())
}

/// `ExportLogsServiceRequest` in OTLP's JSON, in which 64-bit numbers are texts.
fn request(entries: &[Entry], version: &str) -> Value {
    let resource = [("service.name", "placet"), ("service.version", version)].map(|(key, value)| text(key, value));
    let records: Vec<Value> = entries.iter().map(record).collect();
    json!({"resourceLogs": [{
        "resource": {"attributes": resource},
        "scopeLogs": [{"scope": {"name": "placet.history"}, "logRecords": records}],
    }]})
}

fn record(entry: &Entry) -> Value {
    let nanoseconds = format!("{}000000", entry.at_ms.0.max(0));
    let (number, word) = severity(&entry.fact);
    let fact = serde_json::to_value(&entry.fact).unwrap_or_default();
    let mut attributes = vec![json!({"key": "placet.seq", "value": {"intValue": entry.seq.to_string()}})];
    let named = [
        ("placet.session", &fact["session"]),
        ("placet.approval", &fact["approval"]),
        ("placet.grant", &fact["grant"]),
        ("placet.by", &fact["by"]),
        ("placet.reason", &fact["reason"]),
        ("placet.action", &fact["call"]["action"]),
        ("placet.digest", &fact["call"]["digest"]),
        ("gen_ai.tool.name", &fact["call"]["tool"]),
        ("gen_ai.tool.call.id", &fact["call"]["call_id"]),
    ];
    attributes.extend(named.iter().filter_map(|(key, value)| value.as_str().map(|value| text(key, value))));
    json!({
        "timeUnixNano": nanoseconds,
        "observedTimeUnixNano": nanoseconds,
        "severityNumber": number,
        "severityText": word,
        "eventName": format!("placet.{}", entry.fact.kind()),
        "body": {"stringValue": fact.to_string()},
        "attributes": attributes,
    })
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

/// `WARN` where something was stopped or went wrong.
fn severity(fact: &Fact) -> (u8, &'static str) {
    let stopped = ["call_denied", "approval_denied", "approval_expired", "approval_lapsed", "approval_voided"];
    let wrong = ["policy_refused", "hook_failed", "alert_raised"];
    if stopped.contains(&fact.kind()) || wrong.contains(&fact.kind()) { (13, "WARN") } else { (9, "INFO") }
}

/// The number of the fact that was taken last.
struct Sent(PathBuf);

impl Sent {
    fn read(&self) -> Option<u64> {
        fs::read_to_string(&self.0).ok()?.trim().parse().ok()
    }

    fn write(&self, seq: u64) -> Result<(), String> {
        let new = self.0.with_extension("sent.new");
        let written = fs::write(&new, format!("{seq}\n")).and_then(|()| fs::rename(&new, &self.0));
        written.map_err(|error| format!("{} cannot be written ({error}).", self.0.display()))
    }

    fn forget(&self) {
        if let Err(error) = fs::remove_file(&self.0)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(%error, "what a collector took last could not be forgotten");
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{
        io::{BufRead as _, BufReader, Read as _, Write as _},
        net::TcpListener,
        sync::mpsc,
    };

    use placet_domain::At;
    use placet_store::{ChainKey, Opened, Store};

    use super::*;

    /// Answers each request with the next status, and hands over what was asked: head and body.
    fn collector(statuses: Vec<u16>) -> (String, mpsc::Receiver<(String, Value)>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1/logs", listener.local_addr().unwrap());
        let (send, asked) = mpsc::channel();
        thread::spawn(move || {
            for status in statuses {
                let (mut stream, _) = listener.accept().unwrap();
                let mut lines = BufReader::new(stream.try_clone().unwrap());
                let mut head = String::new();
                while !head.ends_with("\r\n\r\n") {
                    lines.read_line(&mut head).unwrap();
                }
                let length = head.lines().find_map(|line| {
                    let (name, value) = line.split_once(':')?;
                    name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
                });
                let mut body = vec![0; length.unwrap()];
                lines.read_exact(&mut body).unwrap();
                let answer = format!("HTTP/1.1 {status} x\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{{}}");
                stream.write_all(answer.as_bytes()).unwrap();
                send.send((head, serde_json::from_slice(&body).unwrap())).unwrap();
            }
        });
        (url, asked)
    }

    struct House {
        folder: tempfile::TempDir,
        opened: Opened,
        last: u64,
    }

    impl House {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let opened = Store::open(&folder.path().join("history.db"), ChainKey::new([7; 32])).unwrap();
            Self { folder, opened, last: 0 }
        }

        fn settings(&self, text: &str) {
            fs::write(self.folder.path().join("settings.toml"), text).unwrap();
        }

        fn happen(&mut self, times: u64) {
            let seqs = self.last + 1..=self.last + times;
            self.last += times;
            let alert = Fact::AlertRaised { alert: "a".to_owned(), message: "m".to_owned() };
            let entries: Vec<_> =
                seqs.map(|seq| Entry { seq, at_ms: At(1_790_000_000_123), fact: alert.clone() }).collect();
            self.opened.store.append(&entries, &[]).unwrap();
        }

        fn round(&self) -> Round {
            send_what_is_new(self.folder.path(), self.folder.path(), &self.opened.reader, "0.1.0")
        }
    }

    fn seqs(request: &Value) -> Vec<u64> {
        let records = request["resourceLogs"][0]["scopeLogs"][0]["logRecords"].as_array().unwrap();
        records.iter().map(|r| r["attributes"][0]["value"]["intValue"].as_str().unwrap().parse().unwrap()).collect()
    }

    #[test]
    fn what_happens_while_it_is_on_is_sent_once_and_again_where_it_was_not_taken() {
        let mut house = House::new();
        house.happen(3);
        assert!(matches!(house.round(), Round::Off));
        let (url, asked) = collector(vec![200, 503, 200]);
        house
            .settings(&format!("[history]\notlp = {url:?}\notlp_headers = {{ authorization = \"Bearer of ours\" }}\n"));
        // What was before it was turned on is not sent.
        assert!(matches!(house.round(), Round::Done));
        house.happen(2);
        assert!(matches!(house.round(), Round::Done));
        assert!(matches!(house.round(), Round::Done));
        house.happen(1);
        assert!(matches!(house.round(), Round::Failed(why) if why.contains("503")));
        house.happen(1);
        assert!(matches!(house.round(), Round::Done));
        let asked: Vec<_> = asked.try_iter().collect();
        assert_eq!(asked.iter().map(|(_, body)| seqs(body)).collect::<Vec<_>>(), [vec![4, 5], vec![6], vec![6, 7]]);
        let (head, body) = &asked[0];
        assert!(head.starts_with("POST /v1/logs ") && head.contains("authorization: Bearer of ours"), "{head}");
        assert!(head.contains("content-type: application/json"), "{head}");
        let resource = &body["resourceLogs"][0];
        assert_eq!(
            resource["resource"]["attributes"][0],
            json!({"key": "service.name", "value": {"stringValue": "placet"}})
        );
        let record = &resource["scopeLogs"][0]["logRecords"][0];
        assert_eq!(
            (&record["timeUnixNano"], &record["eventName"], &record["severityText"], &record["body"]["stringValue"]),
            (
                &json!("1790000000123000000"),
                &json!("placet.alert_raised"),
                &json!("WARN"),
                &json!(r#"{"alert":"a","kind":"alert_raised","message":"m"}"#)
            )
        );
        // What happens while it is off is not sent later.
        house.settings("");
        assert!(matches!(house.round(), Round::Off));
        house.happen(1);
        let (url, asked) = collector(vec![200]);
        house.settings(&format!("[history]\notlp = {url:?}\n"));
        assert!(matches!(house.round(), Round::Done));
        house.happen(1);
        assert!(matches!(house.round(), Round::Done));
        assert_eq!(seqs(&asked.recv().unwrap().1), [9]);
    }

    #[test]
    fn what_is_too_much_goes_in_parts_and_what_is_never_taken_holds_up_nothing() {
        let mut house = House::new();
        let (url, asked) = collector(vec![413, 413, 200, 400, 200]);
        house.settings(&format!("[history]\notlp = {url:?}\n"));
        assert!(matches!(house.round(), Round::Done));
        house.happen(7);
        // Seven are too many, the first is so even alone, the third is no good; then the collector is gone.
        assert!(matches!(house.round(), Round::Failed(_)));
        let sent: Vec<_> = asked.try_iter().map(|(_, body)| seqs(&body)).collect();
        assert_eq!(sent, [vec![1, 2, 3, 4, 5, 6, 7], vec![1], vec![2], vec![3], vec![4]]);
    }

    #[test]
    fn the_history_goes_nowhere_in_the_clear() {
        for url in [
            "http://collector.example/v1/logs",
            "ftp://localhost/",
            "localhost:4318",
            "",
            "http://127.0.0.1.example/",
            "https://",
        ] {
            assert!(allowed(url).is_err(), "{url}");
        }
        for url in [
            "https://collector.example/v1/logs",
            "http://localhost:4318/v1/logs",
            "http://[::1]:4318/",
            "http://127.0.0.1/",
        ] {
            assert!(allowed(url).is_ok(), "{url}");
        }
    }
}
