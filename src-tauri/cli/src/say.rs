//! What is said on a terminal. Texts that came from an agent are shown with everything invisible made visible, so that
//! no call can draw on the person's screen.

use std::{
    fmt::Display,
    io::{IsTerminal as _, Write as _},
};

use placet_domain::Span;
use serde::Serialize;
use serde_json::Value;

/// Whether a program reads what is said: it asked for JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// JSON.
    Json,
    /// Sentences.
    Text,
}

impl Form {
    /// As the flag says.
    pub(crate) fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }

    /// As the flag says, and JSON in any case where no terminal reads it.
    pub(crate) fn of_terminal(json: bool) -> Self {
        Self::of(json || !std::io::stdout().is_terminal())
    }
}

/// A line on stdout. Who closes the other end early has read enough.
pub(crate) fn line(text: impl Display) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// A value as one line of JSON on stdout.
pub(crate) fn json(value: &impl Serialize) {
    match serde_json::to_string(value) {
        Ok(text) => line(text),
        Err(error) => trouble(format_args!("no JSON: {error}")),
    }
}

/// What went wrong, on stderr.
pub(crate) fn trouble(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "placet: {text}");
}

/// A text from outside, with everything invisible made visible.
pub(crate) fn visible(text: &str) -> String {
    spans(&placet_subject::show(text))
}

/// A line of a diff from outside, with everything invisible but its mark and its indentation made visible.
pub(crate) fn visible_line(line: &str) -> String {
    match line.split_at_checked(1) {
        Some((mark @ ("+" | "-" | " "), rest)) => format!("{mark}{}", spans(&placet_subject::show_line(rest))),
        Some(_) | None => visible(line),
    }
}

/// Spans as they are shown on a terminal: `⟨U+202E⟩`.
pub(crate) fn spans(spans: &[Span]) -> String {
    use std::fmt::Write as _;
    spans.iter().fold(String::new(), |mut text, span| {
        let _ = match span {
            Span::Text { text: plain, .. } => write!(text, "{plain}"),
            Span::Escape { escape, count: None | Some(1), .. } => write!(text, "⟨{escape}⟩"),
            Span::Escape { escape, count: Some(count), .. } => write!(text, "⟨{escape}×{count}⟩"),
        };
        text
    })
}

/// Spans that came as JSON.
pub(crate) fn spans_in(value: &Value) -> String {
    serde_json::from_value::<Vec<Span>>(value.clone()).map_or_else(|_| String::new(), |list| spans(&list))
}

/// A text field of an object that came as JSON; empty where there is none.
pub(crate) fn field(value: &Value, name: &str) -> String {
    match &value[name] {
        Value::Null => String::new(),
        Value::String(text) => visible(text),
        other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => visible(&other.to_string()),
    }
}

/// How far away a moment is, in the two largest units: `4 min 10 s`.
pub(crate) fn span_of(ms: i64) -> String {
    let seconds = ms.max(0) / 1_000;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, _, _) => format!("{hours} h {minutes} min"),
        (_, _, _) => format!("{days} d {hours} h"),
    }
}

/// Unix milliseconds by the wall clock: to say how long something still takes, never to decide by.
pub(crate) fn now_ms() -> i64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    now.tv_sec * 1_000 + now.tv_nsec / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_draws_on_the_terminal() {
        assert_eq!(visible("a\u{1b}[2Jb\u{202e}c"), "a⟨U+001B⟩[2Jb⟨U+202E⟩c");
    }

    #[test]
    fn two_units_are_enough() {
        assert_eq!(span_of(-5), "0 s");
        assert_eq!(span_of(250_000), "4 min 10 s");
        assert_eq!(span_of(3 * 3_600_000 + 61_000), "3 h 1 min");
        assert_eq!(span_of(90_000_000), "1 d 1 h");
    }
}
