//! `placet hook <client>`: one hook call. The client's JSON on stdin, the client's answer on stdout.
//!
//! Whatever goes wrong here is a denial in that client's own words, at the latest ten seconds before the client stops
//! waiting, since most clients take a hook that fails for a hook that has nothing to say. This is started for every
//! call, so it uses no runtime and reads no more than it must.

mod arguments;
mod bell;
mod claude_code;
mod codex;
mod copilot;
#[cfg(test)]
mod cost;
mod cursor;
mod dialect;
mod gemini_cli;
#[cfg(test)]
mod golden;
mod opencode;
mod openhands;
mod qwen_code;
mod unknown;

use std::{
    ffi::OsString,
    io::Write as _,
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use placet_ipc::{Flags, MAX_LINE_BYTES, Moment, Places, message::Decision};

pub(crate) use self::arguments::Arguments;
use self::dialect::{Event, Output, Place, Said};
pub(crate) use self::{
    bell::{Bell, NoPayload},
    dialect::{Call, Caller, Client, Report},
};
use crate::ask::{self, Asker, Asking, Memory, Outcome, Rung};

/// How long before the client's own limit our answer is out.
const MARGIN: Duration = Duration::from_secs(10);
/// The exit code that blocks where no JSON can be made.
const BLOCK: u8 = 2;

/// Runs one hook call with the arguments after `hook`.
pub(crate) fn main(arguments: impl Iterator<Item = OsString>, places: Flags) -> ExitCode {
    let arguments = Arguments::read(arguments, places);
    let Some(client) = arguments.client.as_deref().and_then(Client::named) else {
        return unknown_client(arguments.client.as_deref());
    };
    let event = arguments.event.clone().unwrap_or_else(|| client.asking_event().to_owned());
    let place = Arc::new(Mutex::new(Place { event, tool: String::new() }));
    let hook = Hook { client, arguments, place: Arc::clone(&place) };
    // A panic has no words for the client; the denial below has.
    std::panic::set_hook(Box::new(|_| {}));
    let done = catch_unwind(AssertUnwindSafe(|| hook.run()));
    done.unwrap_or_else(|_| {
        let place = place.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let reason = "Placet denied this call because its hook failed. Report this, with what was called.";
        deliver(&client.render(&place, None, &Said::Deny { reason }))
    })
}

struct Hook {
    client: Client,
    arguments: Arguments,
    /// Where the answer will stand, as far as it is known: kept outside so that it outlives a panic.
    place: Arc<Mutex<Place>>,
}

impl Hook {
    fn run(&self) -> ExitCode {
        let patience = self.arguments.patience_of(self.client);
        let deadline = Moment::in_(patience.saturating_sub(MARGIN));
        let bell = match Bell::hang() {
            Ok(bell) => bell,
            Err(error) => return self.deny(&format!("Placet denied this call: {error}.")),
        };
        let payload = match bell.read_stdin(MAX_LINE_BYTES, deadline.max(Moment::in_(MARGIN / 10))) {
            Ok(payload) => payload,
            Err(no_payload) => return self.no_payload(&no_payload),
        };
        let event = match self.read(&payload) {
            Ok(event) => event,
            Err(error) => {
                return self.deny(&format!("Placet denied this call because it could not be read: {error}."));
            }
        };
        drop(payload);
        if let Some(wrong) = &self.arguments.wrong {
            return self.deny(&format!("Placet denied this call because its hook is installed wrongly: {wrong}."));
        }
        let places = match Places::new(&self.arguments.places) {
            Ok(places) => places,
            Err(error) => return self.deny(&format!("Placet denied this call: {error}.")),
        };
        match event {
            Event::Ask(caller, call) => self.ask(&places, &caller, &call, &bell, deadline),
            // What these tell changes nothing for the client, so it is not held up and hears nothing.
            Event::Report(caller, report) => quietly(ask::report(&places, self.client.name(), &caller, report)),
            Event::Begin(caller) => quietly(ask::begin(&places, self.client.name(), &caller)),
            Event::End(caller, summary) => quietly(ask::end(&places, self.client.name(), &caller, summary)),
            Event::Nothing => ExitCode::SUCCESS,
            Event::Unknown => deliver(&unknown::block(self.client, &self.place().event)),
        }
    }

    /// The payload's own word for the event goes before the command line's.
    fn read(&self, payload: &[u8]) -> Result<Event, String> {
        if let Some(event) = Client::event_in(payload)? {
            self.set_place(Place { event, tool: String::new() });
        }
        self.client.read(&self.place().event, payload)
    }

    fn ask(&self, places: &Places, caller: &Caller, call: &Call, bell: &Bell, deadline: Moment) -> ExitCode {
        let event = self.place().event;
        self.set_place(Place { event, tool: call.tool.clone() });
        if deadline.left().is_zero() {
            return self.deny(&format!(
                "Placet denied this call because {} waits too short a time for its hook: more than {} seconds are \
                 needed to ask a person. Run `placet install {0}` again.",
                self.client.name(),
                MARGIN.as_secs()
            ));
        }
        let asker = Asker {
            agent: self.client.name().to_owned(),
            gives_time_for: "its hook",
            comes_back: self.client.hard_cap().is_some(),
        };
        let memory = Memory::default();
        let mut asking = Asking { places, asker: &asker, caller, watch: bell, deadline, memory };
        match asking.ask(call) {
            Outcome::Answered(answer) => {
                let said = match answer.decision {
                    Decision::Allow => Said::Allow { reason: &answer.reason, input: answer.input.as_deref() },
                    Decision::Deny => Said::Deny { reason: &answer.reason },
                };
                deliver(&self.client.render(&self.place(), Some(call), &said))
            }
            Outcome::LeftToClient => deliver(&Output::silence()),
            Outcome::Failed(reason) => {
                let code = self.deny(&reason);
                asking.withdraw();
                code
            }
            Outcome::Rung(Rung::Signal) => {
                let code = self.deny("The client ended its hook before anybody answered, so Placet denied the call.");
                asking.withdraw();
                code
            }
            Outcome::Rung(Rung::ClientGone) => {
                asking.withdraw();
                ExitCode::FAILURE
            }
        }
    }

    fn no_payload(&self, why: &NoPayload) -> ExitCode {
        let why = match why {
            NoPayload::Rung(Rung::ClientGone) => return ExitCode::FAILURE,
            NoPayload::Rung(Rung::Signal) => "the client ended its hook before it had said what it wants".to_owned(),
            NoPayload::Late => "the client did not say in time what it wants".to_owned(),
            NoPayload::TooLarge => format!("it is larger than {MAX_LINE_BYTES} bytes"),
            NoPayload::Unreadable(error) => format!("it could not be read: {error}"),
        };
        self.deny(&format!("Placet denied this call: {why}."))
    }

    fn deny(&self, reason: &str) -> ExitCode {
        deliver(&self.client.render(&self.place(), None, &Said::Deny { reason }))
    }

    fn place(&self) -> Place {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_place(&self, place: Place) {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }
}

/// Writes an answer. An answer that could not be written whole blocks by the exit code.
fn deliver(output: &Output) -> ExitCode {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(output.stdout.as_bytes()).and_then(|()| stdout.flush());
    let _ = std::io::stderr().write_all(output.stderr.as_bytes());
    match written {
        Ok(()) => ExitCode::from(output.code),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "Placet's answer could not be written: {error}");
            ExitCode::from(BLOCK)
        }
    }
}

fn quietly(outcome: Result<(), placet_ipc::ClientError>) -> ExitCode {
    if let Err(error) = outcome {
        let _ = writeln!(std::io::stderr(), "Placet could not be told: {error}");
    }
    ExitCode::SUCCESS
}

fn unknown_client(name: Option<&str>) -> ExitCode {
    let known = Client::ALL.map(Client::name).join(", ");
    let named = name.map_or_else(|| "no client is named".to_owned(), |name| format!("there is no client {name:?}"));
    let _ = writeln!(std::io::stderr(), "placet hook: {named}; the clients are {known}");
    ExitCode::from(BLOCK)
}
