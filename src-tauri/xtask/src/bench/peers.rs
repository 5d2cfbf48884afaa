//! A question, its answer, and going on, all of it on the disk: beside what other programs take for that.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::desk::Desk;
use super::row::{Bar, Row, median};
use super::wire::Asker;
use crate::house;
use crate::program::Program;

const SLICE: Duration = Duration::from_secs(2);
/// One who asks, and many at once.
const CROWDS: [usize; 2] = [1, 32];
/// The number of the next session: each slice has sessions of its own, since a call's id is known within its session.
static NEXT_SESSION: AtomicUsize = AtomicUsize::new(2000);
/// In pinned versions, from the package registry.
const PACKAGES: &[&str] = &[
    "agno==3.1.10",
    "greenlet==3.5.6",
    "langgraph==1.2.24",
    "langgraph-checkpoint-sqlite==3.1.2",
    "sqlalchemy==2.1.9",
    "tollgate==1.4.0",
];

/// What `peers.py` calls it, and what the table calls it.
const PEERS: [(&str, &str); 4] = [
    ("floor", "raw SQLite from Python at synchronous=FULL, three commits"),
    ("tollgate", "Tollgate 1.4.0, its SQLite store (Apache-2.0)"),
    ("langgraph", "LangGraph 1.2.24, its SQLite checkpointer (MIT)"),
    ("agno", "Agno 3.1.10, its SQLite approvals (Apache-2.0)"),
];

/// How it went in one slice.
struct Slice {
    per_second: f64,
    p99_ms: f64,
}

/// By turns, as many rounds as said. Without the peers, where their packages cannot be installed, there are no rows.
pub(super) fn measure(desk: &Desk, folder: &Path, rounds: usize) -> Result<Vec<Row>, String> {
    let python = match install() {
        Ok(python) => python,
        Err(reason) => {
            println!("No peers in the table: {reason}");
            return Ok(Vec::new());
        }
    };
    let mut rows = Vec::new();
    for crowd in CROWDS {
        let mut ours = Vec::new();
        let mut theirs: Vec<Vec<Slice>> = PEERS.iter().map(|_| Vec::new()).collect();
        for _ in 0..rounds {
            ours.push(a_slice_of_ours(desk, crowd)?);
            for ((name, _), slices) in PEERS.iter().zip(&mut theirs) {
                slices.push(a_slice_of(&python, name, folder, crowd)?);
            }
        }
        for ((short, name), slices) in PEERS.into_iter().zip(theirs) {
            rows.push(row(crowd, &ours, name, &slices, bar(short, crowd)));
        }
    }
    Ok(rows)
}

/// One alone waits for the disk, whoever asks it; it is where many ask that a peer must not be faster.
fn bar(short: &str, crowd: usize) -> Bar {
    if short == "floor" || crowd == 1 { Bar::None } else { Bar::AtLeast(1.0) }
}

fn row(crowd: usize, ours: &[Slice], name: &str, theirs: &[Slice], bar: Bar) -> Row {
    let rate = |slices: &[Slice]| median(slices.iter().map(|slice| slice.per_second).collect());
    let said = |slices: &[Slice]| {
        let p99 = median(slices.iter().map(|slice| slice.p99_ms).collect());
        format!("{:.0}/s, p99 {p99:.1} ms", rate(slices))
    };
    Row {
        what: format!("asked, approved and taken, {crowd} at once"),
        ours: said(ours),
        against: name.to_owned(),
        theirs: said(theirs),
        ratio: rate(ours) / rate(theirs),
        bar,
    }
}

/// Through the socket and the desk, as an agent and a person would.
fn a_slice_of_ours(desk: &Desk, crowd: usize) -> Result<Slice, String> {
    let connect = |_| {
        let number = NEXT_SESSION.fetch_add(1, Ordering::Relaxed);
        Asker::connect(&desk.socket(), number, &desk.workspace())
    };
    let mut askers = (0..crowd).map(connect).collect::<Result<Vec<_>, _>>()?;
    let running = AtomicUsize::new(crowd);
    let started = Instant::now();
    let taken = std::thread::scope(|scope| {
        let threads: Vec<_> = askers
            .iter_mut()
            .map(|asker| {
                let running = &running;
                scope.spawn(move || {
                    let taken = cycles(asker, started);
                    running.fetch_sub(1, Ordering::Relaxed);
                    taken
                })
            })
            .collect();
        let approved = desk.approve_while(|| running.load(Ordering::Relaxed) > 0);
        let mut all = Vec::new();
        for thread in threads {
            all.extend(thread.join().map_err(|_| "a thread failed".to_owned())??);
        }
        approved.map(|()| all)
    })?;
    let seconds = started.elapsed().as_secs_f64();
    Ok(slice(taken, seconds))
}

/// Seconds of each cycle.
fn cycles(asker: &mut Asker, started: Instant) -> Result<Vec<f64>, String> {
    let mut taken = Vec::new();
    while started.elapsed() < SLICE {
        let one = Instant::now();
        let answer = asker.check("Write")?;
        if answer["decision"] != "allow" {
            return Err(format!("an approved call was not allowed: {answer}"));
        }
        taken.push(one.elapsed().as_secs_f64());
    }
    Ok(taken)
}

fn slice(mut taken: Vec<f64>, seconds: f64) -> Slice {
    taken.sort_by(f64::total_cmp);
    let p99 = taken.get(taken.len() * 99 / 100).copied().unwrap_or(f64::NAN);
    let cycles = u32::try_from(taken.len()).unwrap_or(u32::MAX);
    Slice { per_second: f64::from(cycles) / seconds, p99_ms: p99 * 1e3 }
}

fn a_slice_of(python: &Path, name: &str, folder: &Path, crowd: usize) -> Result<Slice, String> {
    let seconds = SLICE.as_secs().to_string();
    let mut command = Command::new(python);
    command.arg(house::root().join("src-tauri/xtask/peers/peers.py")).arg(name).arg(folder);
    command.args([&seconds, &crowd.to_string()]).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    let said: Value = serde_json::from_slice(&output.stdout).map_err(|error| format!("{name}: {error}"))?;
    let number = |field: &str| said[field].as_f64().ok_or_else(|| format!("{name} said no {field}: {said}"));
    Ok(Slice { per_second: number("cycles")? / number("seconds")?, p99_ms: number("p99_ms")? })
}

/// Their packages in a virtual environment under the target folder.
fn install() -> Result<PathBuf, String> {
    let home = house::target().join("bench-peers");
    let python = home.join("bin/python");
    let (stamp, wanted) = (home.join(".installed"), PACKAGES.join(" "));
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    let text = |path: &Path| path.to_str().map(str::to_owned).ok_or("the path of the target folder is no text");
    Program::new(&["python3", "-m", "venv", &text(&home)?]).run()?;
    let pip = text(&python)?;
    let words = [&[pip.as_str(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"], PACKAGES].concat();
    Program::new(&words).run()?;
    std::fs::write(&stamp, wanted).map_err(|error| format!("{}: {error}", stamp.display()))?;
    Ok(python)
}
