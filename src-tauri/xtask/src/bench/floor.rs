//! The floor of every durable decision: eight kilobytes written over themselves and synced.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const BYTES: usize = 8192;
const BLOCKS: u64 = 64;

/// A file that is already as long as it will be, so that a sync has no length to write.
pub(super) struct Floor {
    file: Mutex<(File, u64)>,
}

impl Floor {
    pub(super) fn new(folder: &Path) -> Result<Self, String> {
        let path = folder.join("floor");
        let make = || {
            let mut file = File::create(&path)?;
            for _ in 0..BLOCKS {
                file.write_all(&[1; BYTES])?;
            }
            file.sync_all()?;
            Ok(Self { file: Mutex::new((file, 0)) })
        };
        make().map_err(|error: std::io::Error| format!("{}: {error}", path.display()))
    }

    /// One write and one sync; others who want the same wait their turn.
    pub(super) fn once(&self) -> Result<(), String> {
        let mut held = self.file.lock().map_err(|_| "another thread failed")?;
        let (file, at) = &mut *held;
        let mut write = || {
            file.seek(SeekFrom::Start(*at * BYTES as u64))?;
            file.write_all(&[2; BYTES])?;
            file.sync_data()
        };
        write().map_err(|error| format!("the floor's file: {error}"))?;
        *at = (*at + 1) % BLOCKS;
        Ok(())
    }

    /// Microseconds of each one within a slice of time.
    pub(super) fn slice(&self, length: Duration) -> Result<Vec<f64>, String> {
        let started = Instant::now();
        let mut taken = Vec::new();
        while started.elapsed() < length {
            let one = Instant::now();
            self.once()?;
            taken.push(one.elapsed().as_secs_f64() * 1e6);
        }
        Ok(taken)
    }
}
