//! The command line of `placet hook`, read by hand: what is started for every call starts nothing that it can do
//! without.

use std::{ffi::OsString, path::PathBuf, time::Duration};

use placet_ipc::Flags;

use super::dialect::Client;

/// What the command line says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Arguments {
    /// The client, by the name that was given.
    pub(crate) client: Option<String>,
    /// The event, for clients whose payload does not name it.
    pub(crate) event: Option<String>,
    /// How long the client waits for its hook.
    pub(crate) client_timeout: Option<Duration>,
    /// Where the gate is.
    pub(crate) places: Flags,
    /// The first thing that is wrong.
    pub(crate) wrong: Option<String>,
}

impl Arguments {
    /// Reads it; what is wrong is kept, so that a known client still gets its denial.
    pub(crate) fn read(arguments: impl Iterator<Item = OsString>, places: Flags) -> Self {
        let mut read = Self { places, ..Self::default() };
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            if let Err(wrong) = read.take(&argument, &mut arguments) {
                read.wrong.get_or_insert(wrong);
            }
        }
        read
    }

    /// How long the client will wait, all in all.
    pub(crate) fn patience_of(&self, client: Client) -> Duration {
        let said = self.client_timeout.unwrap_or(client.default_timeout());
        client.hard_cap().map_or(said, |cap| said.min(cap))
    }

    fn take(&mut self, argument: &OsString, rest: &mut dyn Iterator<Item = OsString>) -> Result<(), String> {
        let text = argument.to_str().ok_or_else(|| format!("{} is no text", argument.display()))?;
        if !text.starts_with("--") {
            return match self.client.replace(text.to_owned()) {
                None => Ok(()),
                Some(first) => Err(format!("one client at a time: {first} and {text}")),
            };
        }
        let (flag, inline) = match text.split_once('=') {
            Some((flag, value)) => (flag, Some(OsString::from(value))),
            None => (text, None),
        };
        let mut value = || inline.clone().or_else(|| rest.next()).ok_or_else(|| format!("{flag} needs a value"));
        let text = |value: OsString| value.into_string().map_err(|_| format!("the value of {flag} is no text"));
        match flag {
            "--event" => self.event = Some(text(value()?)?),
            "--client-timeout-ms" => {
                let given = text(value()?)?;
                let ms = given.parse().map_err(|_| format!("{flag} needs whole milliseconds, not {given:?}"))?;
                self.client_timeout = Some(Duration::from_millis(ms));
            }
            "--data-dir" => self.places.data_dir = Some(PathBuf::from(value()?)),
            "--config-dir" => self.places.config_dir = Some(PathBuf::from(value()?)),
            "--socket" => self.places.socket = Some(PathBuf::from(value()?)),
            // The answer is the client's JSON in any case.
            "--json" => {}
            other => return Err(format!("there is no option {other}")),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn read(line: &str) -> Arguments {
        Arguments::read(line.split_whitespace().map(OsString::from), Flags::default())
    }

    #[test]
    fn both_spellings_of_a_value() {
        let arguments = read("claude-code --event=PreToolUse --client-timeout-ms 1500 --data-dir /d");
        assert_eq!(arguments.client.as_deref(), Some("claude-code"));
        assert_eq!(arguments.event.as_deref(), Some("PreToolUse"));
        assert_eq!(arguments.client_timeout, Some(Duration::from_millis(1500)));
        assert_eq!(arguments.places.data_dir, Some("/d".into()));
        assert_eq!(arguments.wrong, None);
    }

    #[test]
    fn what_is_wrong_is_kept_beside_the_client() {
        for line in [
            "codex --client-timeout-ms soon",
            "codex --client-timeout-ms",
            "codex --fast",
            "codex gemini-cli",
            "codex --client-timeout-ms -1",
        ] {
            let arguments = read(line);
            assert!(arguments.wrong.is_some() && arguments.client.is_some(), "{line}");
        }
    }

    #[test]
    fn qwen_gives_up_after_a_minute_whatever_it_is_told() {
        let arguments = read("qwen-code --client-timeout-ms 600000");
        assert_eq!(arguments.patience_of(Client::QwenCode), Duration::from_secs(60));
        assert_eq!(arguments.patience_of(Client::GeminiCli), Duration::from_secs(600));
        assert_eq!(read("").patience_of(Client::Copilot), Duration::from_secs(30));
    }
}
