//! How long the window takes: measured in the real one, under a driver, on a screen in memory.

use std::path::Path;

use serde_json::Value;

use super::row::{Bar, Row, time};
use crate::program::Program;
use crate::{front_end, house, test};

/// What feels like at once.
const AT_ONCE_MS: f64 = 100.0;

/// So many calls wait in the window under load.
const WAITING: u64 = 10_000;

/// Of the release build, or of the debug build, which is there after any test: alone, and with a history of so many calls,
/// which the program of the single rooms writes. No rows where no window can be opened.
pub(super) fn measure(release: bool, fill: &Path, calls: u64) -> Result<Vec<Row>, String> {
    if let Some(why) = test::no_screen() {
        println!("No window in the table: {why}");
        return Ok(Vec::new());
    }
    front_end::install_packages()?;
    front_end::build_if_stale()?;
    let profile: &[&str] = if release { &["--release"] } else { &[] };
    let build = [&["build", "--locked", "--bin", "placet", "--bin", "placet-desktop"], profile].concat();
    Program::cargo(&build).run()?;
    let test = [&["test", "--locked", "--package", "placet-tests", "--test", "window"], profile].concat();
    let run = |name: &str| -> Result<String, String> {
        let only = ["--", "--ignored", "--nocapture", "--exact", name];
        let kept = Program::cargo(&[&test[..], &only].concat())
            .with("PLACET_BENCH_FILL", fill)
            .with("PLACET_BENCH_CALLS", calls.to_string())
            .with("PLACET_BENCH_WAITING", WAITING.to_string())
            .run_and_keep(&house::logs()?.join("bench-window.log"))?;
        kept.failed.map_or(Ok(kept.text), Err)
    };
    let build = if release { "" } else { ", debug build" };
    let mut rows = alone(&Measured::in_output(&run("measure::loading_and_round_trip")?)?, build)?;
    rows.extend(under_load(&Measured::in_output(&run("measure::under_load")?)?, calls, build)?);
    Ok(rows)
}

/// What a test of the window said.
struct Measured(Value);

impl Measured {
    fn in_output(text: &str) -> Result<Self, String> {
        let line = text.lines().find_map(|line| line.split_once("measured {")).map(|(_, rest)| format!("{{{rest}"));
        let line = line.ok_or("the window's test said nothing that was measured")?;
        serde_json::from_str(&line).map(Self).map_err(|error| format!("{line}: {error}"))
    }

    /// The number at this pointer (RFC 6901).
    fn number(&self, at: &str) -> Result<f64, String> {
        self.0.pointer(at).and_then(Value::as_f64).ok_or_else(|| format!("no {at} in {}", self.0))
    }
}

fn alone(said: &Measured, build: &str) -> Result<Vec<Row>, String> {
    let (invoke, frame) = (said.number("/invoke_us")?, said.number("/frame_us")?);
    Ok(vec![
        Row {
            bar: Bar::AtMost(1.0),
            ..row(
                format!("a command from the page to the gate and back{build}"),
                invoke,
                "one frame of the screen",
                frame,
            )
        },
        at_once(format!("the window's page, loaded{build}"), said.number("/loaded_ms")?),
    ])
}

fn under_load(said: &Measured, calls: u64, build: &str) -> Result<Vec<Row>, String> {
    let with = format!("{WAITING} waiting and {calls} calls in the history{build}");
    let mut rows = vec![
        at_once(format!("something painted, {with}"), said.number("/painted_ms")?),
        at_once(format!("all that waits listed, {with}"), said.number("/ready_ms")?),
    ];
    for list in ["queue", "history"] {
        let (frame, idle) = (said.number(&format!("/{list}/frame_us"))?, said.number(&format!("/{list}/idle_us"))?);
        let late = said.number(&format!("/{list}/late"))? * 100.0;
        let what = format!("a frame while the {list} is scrolled ({late:.0} % late), {with}");
        rows.push(row(what, frame, "a frame while nothing moves", idle));
        let typed = said.number(&format!("/{list}_typed_ms"))?;
        rows.push(at_once(format!("from typing to the {list} that was typed for, {with}"), typed));
    }
    Ok(rows)
}

/// One of the page beside another of the page, in microseconds.
fn row(what: String, ours: f64, against: &str, theirs: f64) -> Row {
    let against = against.to_owned();
    Row { what, ours: time(ours), against, theirs: time(theirs), ratio: ours / theirs, bar: Bar::None }
}

fn at_once(what: String, ms: f64) -> Row {
    row(what, ms * 1e3, "what feels like at once", AT_ONCE_MS * 1e3)
}

#[cfg(test)]
mod tests {
    use super::{Measured, alone, under_load};

    #[test]
    fn what_the_windows_tests_measured_is_found_in_their_output() -> Result<(), String> {
        let text = "running 1 test\ntest a ... measured {\"frame_us\":16400,\"invoke_us\":1640,\"loaded_ms\":50}\nok\n";
        let rows = alone(&Measured::in_output(text)?, "")?;
        assert_eq!(rows.len(), 2);
        assert!((rows[0].ratio - 0.1).abs() < 1e-9 && (rows[1].ratio - 0.5).abs() < 1e-9);
        let list = "{\"idle_us\":16000,\"frame_us\":24000,\"late\":0.25}";
        let text = format!(
            "measured {{\"painted_ms\":50,\"ready_ms\":200,\"queue\":{list},\"history\":{list},\"queue_typed_ms\":40,\"history_typed_ms\":90}}"
        );
        let rows = under_load(&Measured::in_output(&text)?, 5, "")?;
        assert_eq!(rows.len(), 6);
        assert!((rows[2].ratio - 1.5).abs() < 1e-9 && rows[2].what.contains("25 % late"), "{}", rows[2].what);
        Ok(())
    }

    #[test]
    fn output_without_a_measurement_is_an_error() {
        assert!(Measured::in_output("ok\n").is_err());
        assert!(Measured::in_output("measured {\"frame_us\":1}").is_ok_and(|said| alone(&said, "").is_err()));
    }
}
