//! What the table was measured on, without naming anybody's machine.

use std::fs;
use std::path::Path;

use crate::program::Program;

/// One line: cores, processor, memory, kernel, file system, load.
pub(super) fn describe(folder: &Path) -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let processor = line_of("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    let memory = line_of("/proc/meminfo", "MemTotal").unwrap_or_default();
    let gigabytes = memory.split_whitespace().next().and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) >> 20;
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let folder = folder.to_str().unwrap_or_default();
    let disk = Program::new(&["stat", "--file-system", "--format=%T", folder]).output().unwrap_or_default();
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    format!(
        "{cores} cores, {processor}, {gigabytes} GB, Linux {}, {}; load {} at the end of the run.",
        kernel.trim().split('-').next().unwrap_or_default(),
        disk.trim(),
        load.split(' ').next().unwrap_or_default(),
    )
}

fn line_of(file: &str, key: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(key))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
