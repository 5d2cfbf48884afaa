//! How long the window takes: measured in the real one, under a driver, on a screen in memory.

use serde_json::Value;

use super::row::{Bar, Row, time};
use crate::program::Program;
use crate::{front_end, house, test};

/// What feels like at once.
const AT_ONCE_MS: f64 = 100.0;

/// Of the release build, or of the debug build, which is there after any test. No rows where no window can be opened.
pub(super) fn measure(release: bool) -> Result<Vec<Row>, String> {
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
    let only = ["--", "--ignored", "--nocapture", "--exact", "measure::loading_and_round_trip"];
    let kept = Program::cargo(&[&test[..], &only].concat()).run_and_keep(&house::logs()?.join("bench-window.log"))?;
    if let Some(reason) = kept.failed {
        return Err(reason);
    }
    rows(&kept.text, if release { "" } else { ", debug build" })
}

fn rows(text: &str, build: &str) -> Result<Vec<Row>, String> {
    let line = text.lines().find_map(|line| line.split_once("measured {")).map(|(_, rest)| format!("{{{rest}"));
    let line = line.ok_or("the window's test said nothing that was measured")?;
    let said: Value = serde_json::from_str(&line).map_err(|error| format!("{line}: {error}"))?;
    let number = |name: &str| said[name].as_f64().ok_or_else(|| format!("no {name} in {line}"));
    let (loaded, invoke, frame) = (number("loaded_ms")?, number("invoke_us")?, number("frame_us")?);
    Ok(vec![
        Row {
            what: format!("a command from the page to the gate and back{build}"),
            ours: time(invoke),
            against: "one frame of the screen".to_owned(),
            theirs: time(frame),
            ratio: invoke / frame,
            bar: Bar::AtMost(1.0),
        },
        Row {
            what: format!("the window's page, loaded{build}"),
            ours: time(loaded * 1e3),
            against: "what feels like at once".to_owned(),
            theirs: time(AT_ONCE_MS * 1e3),
            ratio: loaded / AT_ONCE_MS,
            bar: Bar::None,
        },
    ])
}

#[cfg(test)]
mod tests {
    use super::rows;

    #[test]
    fn what_the_windows_test_measured_is_found_in_its_output() {
        let text = "running 1 test\ntest a ... measured {\"frame_us\":16400,\"invoke_us\":1640,\"loaded_ms\":50}\nok\n";
        let rows = rows(text, "").unwrap_or_default();
        assert_eq!(rows.len(), 2);
        assert!((rows[0].ratio - 0.1).abs() < 1e-9 && (rows[1].ratio - 0.5).abs() < 1e-9);
    }

    #[test]
    fn output_without_a_measurement_is_an_error() {
        assert!(rows("ok\n", "").is_err());
    }
}
