//! One line of the table.

use std::fmt::Write;

/// What a ratio must keep to.
pub(super) enum Bar {
    AtMost(f64),
    AtLeast(f64),
    /// Shown for what it is.
    None,
}

pub(super) struct Row {
    /// What was measured.
    pub(super) what: String,
    /// What it took.
    pub(super) ours: String,
    /// What it is compared with.
    pub(super) against: String,
    /// What that took.
    pub(super) theirs: String,
    pub(super) ratio: f64,
    pub(super) bar: Bar,
}

impl Row {
    pub(super) fn is_missed(&self) -> bool {
        match self.bar {
            Bar::AtMost(bar) => self.ratio > bar,
            Bar::AtLeast(bar) => self.ratio < bar,
            Bar::None => false,
        }
    }
}

/// A Markdown table.
pub(super) fn table(rows: &[Row]) -> String {
    let mut text =
        String::from("| Placet | takes | compared with | takes | ratio | bar |\n|---|--:|---|--:|--:|--:|\n");
    for row in rows {
        let bar = match row.bar {
            Bar::AtMost(bar) => format!("≤ {}", ratio(bar)),
            Bar::AtLeast(bar) => format!("≥ {}", ratio(bar)),
            Bar::None => String::new(),
        };
        let missed = if row.is_missed() { " **missed**" } else { "" };
        let Row { what, ours, against, theirs, .. } = row;
        let measured = ratio(row.ratio);
        writeln!(text, "| {what} | {ours} | {against} | {theirs} | {measured} | {bar}{missed} |")
            .expect("memory holds");
    }
    text
}

/// As `12 ×` or, where it is much less than one, as `1/12`.
fn ratio(value: f64) -> String {
    if value >= 10.0 {
        format!("{value:.0} ×")
    } else if value >= 0.2 || value == 0.0 {
        format!("{value:.2} ×")
    } else {
        format!("1/{:.0}", 1.0 / value)
    }
}

/// Nanoseconds, microseconds or milliseconds, whichever reads better.
pub(super) fn time(us: f64) -> String {
    if us >= 10_000.0 {
        format!("{:.0} ms", us / 1000.0)
    } else if us >= 10.0 {
        format!("{us:.0} µs")
    } else {
        format!("{:.0} ns", us * 1000.0)
    }
}

/// The middle value.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The least value.
pub(super) fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}
