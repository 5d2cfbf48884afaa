//! The tray's pictures.

use tauri::image::Image;

/// What the tray says at a glance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    /// Nothing waits.
    Idle,
    /// Something waits.
    Waiting,
    /// Everything is denied.
    Paused,
    /// The policy is broken, or the gate is not open.
    Trouble,
}

impl Mood {
    pub(crate) fn picture(self) -> Image<'static> {
        match self {
            Self::Idle => tauri::include_image!("icons/tray-idle.png"),
            Self::Waiting => tauri::include_image!("icons/tray-waiting.png"),
            Self::Paused => tauri::include_image!("icons/tray-paused.png"),
            Self::Trouble => tauri::include_image!("icons/tray-trouble.png"),
        }
    }
}
