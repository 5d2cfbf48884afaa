//! The history as a file, where the person says in a dialog of the system. The page never names a path: what runs there
//! could otherwise write anywhere.

use std::{
    fs::{self, File},
    io::{self, BufWriter},
    ops::ControlFlow,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use placet_domain::RefusalCode;
use placet_gate::{ErrorBody, Export};
use serde::Serialize;
use tauri::{AppHandle, Emitter as _};
use tauri_plugin_dialog::DialogExt as _;
use tokio::time::Instant;

use crate::{keys::Keys, turn::Turns};

/// The window is told of progress no more often.
const PROGRESS: Duration = Duration::from_millis(200);

/// Writes one file at a time.
pub(crate) struct Exporter {
    /// Instead of the dialog: the folder that the command line names.
    folder: Option<PathBuf>,
    turns: Turns,
}

/// What came of it.
#[derive(Debug, Serialize)]
pub(crate) struct Exported {
    /// None where the person dismissed the dialog, or said stop: then nothing is left of it.
    file: Option<String>,
    lines: u64,
    stopped: bool,
}

/// How far it is.
#[derive(Clone, Copy, Serialize)]
struct Progress {
    lines: u64,
}

impl Exporter {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, turns: Turns::default() }
    }

    /// Asks where to, writes, and tells the window how far it is.
    pub(crate) async fn export(&self, app: &AppHandle, export: Export) -> Result<Exported, ErrorBody> {
        let Some(turn) = self.turns.begin() else {
            return Err(ErrorBody::invalid_params("An export is under way. Wait for its end, or stop it."));
        };
        let Some(file) = self.file(app, &export).await else {
            return Ok(Exported { file: None, lines: 0, stopped: false });
        };
        let (app, stop, to) = (app.clone(), turn.stop.clone(), file.clone());
        let written = tauri::async_runtime::spawn_blocking(move || {
            let mut told = Instant::now();
            write(&export, &to, &mut |lines| {
                if told.elapsed() >= PROGRESS {
                    told = Instant::now();
                    tell(&app, lines);
                }
                stop.asked()
            })
        });
        let written = written.await.map_err(|error| not_written(&file, &error))?;
        let (lines, whole) = written.map_err(|error| not_written(&file, &error))?;
        let file = whole.then(|| file.display().to_string());
        Ok(Exported { stopped: file.is_none(), file, lines })
    }

    /// Stops the one that is under way, if there is one.
    pub(crate) fn stop(&self) {
        self.turns.stop();
    }

    async fn file(&self, app: &AppHandle, export: &Export) -> Option<PathBuf> {
        if let Some(folder) = &self.folder {
            return Some(folder.join(export.file_name()));
        }
        let (chosen, choice) = tokio::sync::oneshot::channel();
        let dialog = app.dialog().file().set_title("Export the history").set_file_name(export.file_name());
        dialog.save_file(move |file| {
            let _ = chosen.send(file);
        });
        choice.await.ok().flatten().and_then(|file| file.into_path().ok())
    }
}

fn tell(app: &AppHandle, lines: u64) {
    if let Err(error) = app.emit_to(Keys::of(app).label(), "export", Progress { lines }) {
        tracing::warn!(%error, "the window did not hear how far the export is");
    }
}

fn not_written(file: &Path, error: &dyn std::fmt::Display) -> ErrorBody {
    RefusalCode::NotWritten.because(format!("{} was not written: {error}", file.display())).into()
}

/// The whole file or none: it has its name once it is complete. How many lines, and whether it was let to its end.
fn write(export: &Export, to: &Path, progress: &mut dyn FnMut(u64) -> ControlFlow<()>) -> Result<(u64, bool), String> {
    let name = to.file_name().ok_or("it is no file's name")?.to_string_lossy();
    let part = to.with_file_name(format!(".{name}.part"));
    let written = write_part(export, &part, progress);
    let kept = match &written {
        Ok((_, true)) => fs::rename(&part, to).map_err(|error| error.to_string()),
        Ok((_, false)) | Err(_) => fs::remove_file(&part).map_err(|error| error.to_string()),
    };
    written.and_then(|written| kept.map(|()| written))
}

fn write_part(
    export: &Export,
    part: &Path,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> Result<(u64, bool), String> {
    let say = |error: io::Error| error.to_string();
    // What agents did is for nobody else to read.
    let file = File::options().write(true).create(true).truncate(true).mode(0o600).open(part).map_err(say)?;
    let mut out = BufWriter::new(file);
    let mut whole = true;
    let lines = export.write(&mut out, &mut |lines| {
        let on = progress(lines);
        whole &= on.is_continue();
        on
    })?;
    out.into_inner().map_err(|error| error.to_string())?.sync_all().map_err(say)?;
    Ok((lines, whole))
}
