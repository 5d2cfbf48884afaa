//! The tray: how many wait, the pause switch, and the way out. It takes away and it opens; it approves nothing.

use std::sync::{Arc, Mutex};

use placet_gate::Gate;
use tauri::{
    AppHandle, Manager as _, async_runtime,
    menu::{Menu, MenuEvent, MenuItem, PredefinedMenuItem},
    tray::{TrayIcon, TrayIconBuilder},
};

use crate::{icon::Mood, opened::Opened, window};

const ID: &str = "placet";

/// The parts of the tray that change.
struct Parts {
    waiting: MenuItem<tauri::Wry>,
    pause: MenuItem<tauri::Wry>,
    last: Mutex<Option<(Mood, usize, bool)>>,
}

/// Makes the tray. Where there is no tray the window works all the same.
pub(crate) fn build(app: &AppHandle) -> tauri::Result<TrayIcon> {
    let waiting = MenuItem::with_id(app, "show", "Nothing waits", true, None::<&str>)?;
    let pause = MenuItem::with_id(app, "pause", "Pause everything", true, None::<&str>)?;
    let quit = MenuItem::with_id(app, "quit", "Quit Placet", true, None::<&str>)?;
    let menu = Menu::with_items(app, &[&waiting, &PredefinedMenuItem::separator(app)?, &pause, &quit])?;
    app.manage(Parts { waiting, pause, last: Mutex::new(None) });
    TrayIconBuilder::with_id(ID)
        .icon(Mood::Idle.picture())
        .tooltip("Placet")
        .menu(&menu)
        .on_menu_event(|app, event: MenuEvent| clicked(app, event.id().as_ref()))
        .build(app)
}

/// Shows how things stand.
pub(crate) fn update(app: &AppHandle, gate: &Gate) {
    let (paused, waiting) = gate.look(|state| (state.paused, state.pending()));
    let mood = match (paused, gate.policy_is_broken(), waiting) {
        (true, ..) => Mood::Paused,
        (false, true, _) => Mood::Trouble,
        (false, false, 0) => Mood::Idle,
        (false, false, _) => Mood::Waiting,
    };
    let (Some(tray), Some(parts)) = (app.tray_by_id(ID), app.try_state::<Parts>()) else { return };
    {
        let Ok(mut last) = parts.last.lock() else { return };
        if last.replace((mood, waiting, paused)) == Some((mood, waiting, paused)) {
            return;
        }
    }
    let words = match waiting {
        0 => "Nothing waits".to_owned(),
        1 => "1 call waits".to_owned(),
        many => format!("{many} calls wait"),
    };
    let title = if waiting == 0 { None } else { Some(waiting.to_string()) };
    let results = [
        tray.set_icon(Some(mood.picture())),
        tray.set_title(title),
        tray.set_tooltip(Some(format!("Placet: {}", words.to_lowercase()))),
        parts.waiting.set_text(words),
        // Only the window lifts a pause.
        parts.pause.set_text(if paused { "Paused: lift it in the window…" } else { "Pause everything" }),
    ];
    for error in results.into_iter().filter_map(Result::err) {
        tracing::debug!(%error, "the tray was not changed");
    }
}

fn clicked(app: &AppHandle, id: &str) {
    match id {
        "show" => window::show_at(app, None),
        "pause" => pause(app),
        "quit" => window::quit(app),
        _ => {}
    }
}

fn pause(app: &AppHandle) {
    let opened = Arc::clone(&app.state::<Arc<Opened>>());
    if opened.gate().is_some_and(|gate| gate.look(|state| state.paused)) {
        window::show_at(app, None);
        return;
    }
    async_runtime::spawn(async move {
        if let Err(error) = opened.call("pause", None).await {
            tracing::error!(%error, "not paused");
        }
    });
}
