//! What the gate takes while nothing happens.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::desk::Desk;
use super::row::{Bar, Row};

/// Time for what the load before has left to do: the index of the history, the file's checkpoint.
const SETTLE: Duration = Duration::from_secs(5);

/// Memory, wake-ups and CPU time of the gate over so many seconds in which nobody asks anything.
pub(super) fn measure(desk: &Desk, seconds: u32) -> Result<Vec<Row>, String> {
    std::thread::sleep(SETTLE);
    let mut peer = Command::new("python3");
    peer.args(["-c", "import time\nprint(end='', flush=True)\ntime.sleep(3600)"]).stdin(Stdio::null());
    let mut peer = peer.spawn().map_err(|error| format!("python3: {error}"))?;
    let before = Seen::of(desk.pid())?;
    std::thread::sleep(Duration::from_secs(seconds.into()));
    let after = Seen::of(desk.pid());
    let theirs = Seen::of(peer.id());
    let _ = peer.kill();
    let _ = peer.wait();
    let (after, theirs) = (after?, theirs?);

    let wakes = after.wakes - before.wakes;
    let cpu_ms = (after.ticks - before.ticks) * 10.0;
    let each_second = f64::from(seconds);
    Ok(vec![
        Row {
            what: format!("idle for {seconds} s, after all the above: wake-ups of all threads"),
            ours: format!("{wakes:.0}"),
            against: "asking once a second whether there is something".to_owned(),
            theirs: format!("{each_second:.0}"),
            ratio: wakes / each_second,
            bar: Bar::AtMost(0.2),
        },
        Row {
            what: format!("idle for {seconds} s: CPU"),
            ours: format!("{cpu_ms:.0} ms"),
            against: "a thousandth of one core".to_owned(),
            theirs: format!("{each_second:.0} ms"),
            ratio: cpu_ms / each_second,
            bar: Bar::AtMost(1.0),
        },
        Row {
            what: "memory of the gate after all the above".to_owned(),
            ours: format!("{:.0} MB", after.memory_mb),
            against: "a python3 that only sleeps".to_owned(),
            theirs: format!("{:.0} MB", theirs.memory_mb),
            ratio: after.memory_mb / theirs.memory_mb,
            bar: Bar::None,
        },
    ])
}

/// What the kernel says of a process.
struct Seen {
    /// How often any of its threads, of those that still live, gave up the processor to wait.
    wakes: f64,
    /// CPU time in hundredths of a second.
    ticks: f64,
    memory_mb: f64,
}

impl Seen {
    fn of(pid: u32) -> Result<Self, String> {
        let read = |path: String| fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"));
        let status = read(format!("/proc/{pid}/status"))?;
        let mut wakes = 0.0;
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).map_err(|error| format!("threads of {pid}: {error}"))?;
        for task in tasks.flatten() {
            // A thread may end while we look.
            let text = fs::read_to_string(task.path().join("status")).unwrap_or_default();
            wakes += field(&text, "voluntary_ctxt_switches:").unwrap_or(0.0);
        }
        let stat = read(format!("/proc/{pid}/stat"))?;
        // The name of the program stands in parentheses and may hold spaces; user and system time are 12th and 13th
        // of what follows it.
        let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        let ticks = after_name.split_whitespace().skip(11).take(2).filter_map(|word| word.parse::<f64>().ok()).sum();
        let memory_kb = field(&status, "VmRSS:").ok_or_else(|| format!("no memory in the status of {pid}"))?;
        Ok(Self { wakes, ticks, memory_mb: memory_kb / 1024.0 })
    }
}

fn field(text: &str, name: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}
