//! Where the window was, kept beside the history so that it comes back there.

use std::{fs, path::PathBuf};

use serde::{Deserialize, Serialize};
use tauri::{AppHandle, Manager as _, PhysicalPosition, PhysicalSize};

use crate::keys::Keys;

/// The window's place on the screen, in physical pixels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Placement {
    x: i32,
    y: i32,
    width: u32,
    height: u32,
    maximized: bool,
}

/// Where it is kept.
pub(crate) struct PlacementFile(pub(crate) PathBuf);

/// Puts the window where it was, if that is still on a screen.
pub(crate) fn restore(window: &tauri::WebviewWindow) {
    let file = &window.state::<PlacementFile>().0;
    let Some(placement) = fs::read(file).ok().and_then(|bytes| serde_json::from_slice::<Placement>(&bytes).ok()) else {
        return;
    };
    let on_a_screen = window.available_monitors().unwrap_or_default().iter().any(|monitor| {
        let (at, size) = (monitor.position(), monitor.size());
        let right = at.x.saturating_add_unsigned(size.width);
        let bottom = at.y.saturating_add_unsigned(size.height);
        (at.x..right - 80).contains(&placement.x) && (at.y..bottom - 80).contains(&placement.y)
    });
    if on_a_screen {
        let _ = window.set_size(PhysicalSize::new(placement.width, placement.height));
        let _ = window.set_position(PhysicalPosition::new(placement.x, placement.y));
        if placement.maximized {
            let _ = window.maximize();
        }
    }
}

/// Keeps where the window is.
pub(crate) fn keep(app: &AppHandle) {
    let Some(window) = app.get_webview_window(Keys::of(app).label()) else { return };
    let (Ok(at), Ok(size), Ok(maximized)) = (window.outer_position(), window.inner_size(), window.is_maximized())
    else {
        return;
    };
    let placement = Placement { x: at.x, y: at.y, width: size.width, height: size.height, maximized };
    if let Ok(bytes) = serde_json::to_vec(&placement)
        && let Err(error) = fs::write(&app.state::<PlacementFile>().0, bytes)
    {
        tracing::warn!(%error, "the window's place was not kept");
    }
}
