//! What it costs that every decision is on the disk before it is spoken.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use super::desk::Desk;
use super::floor::Floor;
use super::rooms::Commits;
use super::row::{Bar, Row, least, median, time};
use super::wire::Asker;

const SLICE: Duration = Duration::from_millis(250);
/// How many ask at once, and how many times as fast as a commit a call they must be served.
const CROWDS: [(usize, Bar); 4] = [(1, Bar::None), (8, Bar::None), (64, Bar::AtLeast(12.0)), (512, Bar::AtLeast(40.0))];

pub(super) fn measure(
    desk: &Desk,
    commits: &mut Commits,
    folder: &std::path::Path,
    effort: usize,
) -> Result<Vec<Row>, String> {
    let floor = Floor::new(folder)?;
    let mut rows = vec![one_decision(desk, &floor, effort)?, one_answer(desk, &floor, effort)?];
    for (crowd, bar) in CROWDS {
        rows.push(a_crowd(desk, commits, crowd, bar, effort)?);
    }
    Ok(rows)
}

/// One call that a rule allows, on a connection that is there: judged, written, synced, answered.
fn one_decision(desk: &Desk, floor: &Floor, effort: usize) -> Result<Row, String> {
    let mut asker = Asker::connect(&desk.socket(), 0, &desk.workspace())?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..2 * effort {
        theirs.extend(floor.slice(SLICE)?);
        ours.extend(asker.slice(SLICE)?);
    }
    Ok(against_the_floor("one call that a rule allows, least", least(&ours), least(&theirs), Bar::AtMost(1.6)))
}

/// From the person's word to the agent's ear.
fn one_answer(desk: &Desk, floor: &Floor, effort: usize) -> Result<Row, String> {
    let mut asker = Asker::connect(&desk.socket(), 1, &desk.workspace())?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..2 * effort {
        theirs.extend(floor.slice(SLICE / 4)?);
        for _ in 0..20 {
            let (given, heard) = std::thread::scope(|scope| {
                let answered = scope.spawn(|| asker.check("Write").map(|answer| (answer, Instant::now())));
                let given = desk.approve_next();
                (given, answered.join().map_err(|_| "the asker failed".to_owned()))
            });
            let (answer, heard) = heard??;
            if answer["decision"] != "allow" {
                return Err(format!("an approved call was not allowed: {answer}"));
            }
            ours.push(heard.duration_since(given?).as_secs_f64() * 1e6);
        }
    }
    Ok(against_the_floor(
        "from approving to the agent's hearing it, least",
        least(&ours),
        least(&theirs),
        Bar::AtMost(2.5),
    ))
}

fn against_the_floor(what: &str, ours: f64, theirs: f64, bar: Bar) -> Row {
    Row {
        what: what.to_owned(),
        ours: time(ours),
        against: "8 kB overwritten and synced on the same disk, least".to_owned(),
        theirs: time(theirs),
        ratio: ours / theirs,
        bar,
    }
}

/// Many who ask at once, against as many threads that write their calls one by one, each in a commit of its own.
fn a_crowd(desk: &Desk, commits: &mut Commits, crowd: usize, bar: Bar, effort: usize) -> Result<Row, String> {
    let connect = |number| Asker::connect(&desk.socket(), 10 + number, &desk.workspace());
    let mut askers = (0..crowd).map(connect).collect::<Result<Vec<_>, _>>()?;
    let (mut ours, mut theirs, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..effort {
        let alone = commits.rate(crowd, SLICE)?;
        let together = a_slice(&mut askers)?;
        ratios.push(together / alone);
        ours.push(together);
        theirs.push(alone);
    }
    Ok(Row {
        what: format!("{crowd} asking at once"),
        ours: format!("{:.0}/s", median(ours)),
        against: format!("{crowd} threads under a lock, a commit for each call"),
        theirs: format!("{:.0}/s", median(theirs)),
        ratio: median(ratios),
        bar,
    })
}

/// Calls a second that all of them together made within one slice.
fn a_slice(all: &mut [Asker]) -> Result<f64, String> {
    let start = Barrier::new(all.len() + 1);
    std::thread::scope(|scope| {
        let running: Vec<_> = all
            .iter_mut()
            .map(|asker| {
                scope.spawn(|| {
                    start.wait();
                    asker.slice(SLICE)
                })
            })
            .collect();
        start.wait();
        let started = Instant::now();
        let mut calls = 0_u32;
        for thread in running {
            let taken = thread.join().map_err(|_| "a thread failed".to_owned())??;
            calls += u32::try_from(taken.len()).unwrap_or(u32::MAX);
        }
        Ok(f64::from(calls) / started.elapsed().as_secs_f64())
    })
}
