//! `cargo xtask bench`: what Placet costs, side by side with what others cost, measured in one run.
//!
//! Ratios, not seconds: the machine may be slow, and both sides of a ratio are measured on it in turn, in short slices.
//! Processes are compared by their CPU time, since wall time on a busy machine measures the others.

mod desk;
mod durability;
mod floor;
mod idle;
mod machine;
mod page;
mod peers;
mod processes;
mod rooms;
mod row;
mod window;
mod wire;

use crate::program::Program;
use crate::{house, package, system};

/// Measures everything, prints the table, and puts it into `docs/performance.md`.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    if let [what @ ("--history" | "--window"), calls] = words {
        return alone(what, calls);
    }
    let (keep, quick, calls) = match words {
        [] => (true, false, 100_000),
        ["--large"] => (true, false, 1_000_000),
        ["--huge"] => (true, false, 5_000_000),
        ["--dry"] => (false, false, 100_000),
        ["--quick"] => (false, true, 10_000),
        _ => {
            return Err(
                "usage: cargo xtask bench [--dry | --quick | --large | --huge | --history CALLS | --window CALLS]"
                    .into(),
            );
        }
    };
    system::set_up_to_test()?;
    let measure = package::build_static_measure()?;
    let placet = package::build_static_command()?;
    // On the disk that the target folder is on: a temporary folder may be memory.
    let folder = house::target().join("bench");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("config")).map_err(|error| format!("{}: {error}", folder.display()))?;
    let desk = desk::Desk::open(&placet, &folder)?;

    let effort = if quick { 1 } else { 8 };
    let mut rows = processes::measure(&placet, &folder, effort)?;
    let mut commits = rooms::Commits::start(&measure, &folder)?;
    rows.extend(durability::measure(&desk, &mut commits, &folder, effort)?);
    drop(commits);
    rows.extend(peers::measure(&desk, &folder, if quick { 2 } else { 6 })?);
    rows.extend(idle::measure(&desk, if quick { 60 } else { 600 })?);
    drop(desk);
    rows.extend(window::measure(!quick, &measure, calls)?);
    rows.extend(rooms::measure(&measure, &folder, calls)?);

    let machine = machine::describe(&folder);
    let table = row::table(&rows);
    println!("\n{machine}\n\n{table}");
    if keep {
        page::write(&machine, &table)?;
    }
    let missed: Vec<&str> = rows.iter().filter(|row| row.is_missed()).map(|row| row.what.as_str()).collect();
    if missed.is_empty() { Ok(()) } else { Err(format!("bars missed: {}", missed.join("; "))) }
}

/// The rooms alone, or the window, with a history of so many calls; prints the table and keeps nothing.
fn alone(what: &str, calls: &str) -> Result<(), String> {
    let calls = calls.parse().map_err(|_| format!("{calls:?} is no number of calls"))?;
    system::set_up_to_test()?;
    let measure = package::build_static_measure()?;
    let folder = house::target().join("bench");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let rows = match what {
        "--window" => window::measure(true, &measure, calls)?,
        _ => rooms::measure(&measure, &folder, calls)?,
    };
    println!("\n{}\n\n{}", machine::describe(&folder), row::table(&rows));
    Ok(())
}

/// A C program of a few lines, linked statically: what starting a process costs at least.
fn compile_c(folder: &std::path::Path, name: &str, source: &str, flags: &[&str]) -> Result<std::path::PathBuf, String> {
    let (from, to) = (folder.join(format!("{name}.c")), folder.join(name));
    std::fs::write(&from, source).map_err(|error| format!("{}: {error}", from.display()))?;
    let paths = [from.to_str().unwrap_or_default(), "-o", to.to_str().unwrap_or_default()];
    Program::new(&[&["cc", "-O2", "-static"], flags, &paths].concat()).run()?;
    Ok(to)
}
