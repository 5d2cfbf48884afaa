//! The one window: made here, shown and hidden here. It loads nothing but what was built in.

use std::sync::Arc;

use placet_domain::ApprovalId;
use placet_gate::Places;
use signal_hook::{
    consts::{SIGINT, SIGTERM, SIGUSR1},
    iterator::Signals,
};
use tauri::{App, AppHandle, Emitter as _, Manager as _, WebviewUrl, WebviewWindowBuilder, WindowEvent};

use crate::{
    args::Args,
    clients::Clients,
    commands,
    export::Exporter,
    facts,
    follow::Follower,
    keys::Keys,
    opened::Opened,
    placement::{self, PlacementFile},
    tray,
    walk::Walker,
};

/// Makes the app with its window and tray. It runs when `run` is called on it.
pub(crate) fn build(args: &Args, places: &Places, opened: Arc<Opened>) -> tauri::Result<App> {
    let keys = args.keys;
    let (hidden, leaves_nothing) = (args.hidden, args.leaves_nothing());
    let webview_data = places.data.join("webview");
    let placement_file = PlacementFile(places.data.join("window.json"));
    let gate = opened.gate().cloned();
    tauri::Builder::default()
        .plugin(tauri_plugin_dialog::init())
        .manage(opened)
        .manage(placement_file)
        .manage(keys)
        .manage(Follower::default())
        .manage(Exporter::new(args.export_to.clone()))
        .manage(Walker::default())
        .manage(Clients::of(args.demo, &args.flags()))
        .invoke_handler(commands::handler())
        .setup(move |app| {
            let window = WebviewWindowBuilder::new(app, keys.label(), WebviewUrl::default())
                .title("Placet")
                .inner_size(1_280.0, 820.0)
                .min_inner_size(640.0, 480.0)
                .data_directory(webview_data)
                // A demo leaves nothing behind: its web view keeps nothing on the disk.
                .incognito(leaves_nothing)
                .visible(false)
                .on_navigation(is_own)
                .devtools(cfg!(debug_assertions))
                .build()?;
            placement::restore(&window);
            if !hidden {
                window.show()?;
            }
            if let Err(error) = tray::build(app.handle()) {
                tracing::warn!(%error, "there is no tray here");
            }
            if let Some(gate) = gate {
                facts::follow(app.handle().clone(), gate);
            }
            heed_signals(app.handle().clone())?;
            Ok(())
        })
        .on_window_event(|window, event| {
            if let WindowEvent::CloseRequested { api, .. } = event {
                // The agents still wait: the window goes, Placet stays in the tray.
                api.prevent_close();
                placement::keep(window.app_handle());
                let _ = window.hide();
            }
        })
        .build(tauri::generate_context!())
}

/// Only what was built in is ever loaded.
fn is_own(url: &tauri::Url) -> bool {
    let built_in = url.scheme() == "tauri" && url.host_str() == Some("localhost");
    let being_developed = cfg!(debug_assertions) && url.host_str() == Some("localhost") && url.port() == Some(1420);
    built_in || being_developed
}

/// Shows the window, at an approval if one is given. It is asked for by the person: a click or a second start.
pub(crate) fn show_at(app: &AppHandle, approval: Option<ApprovalId>) {
    let label = Keys::of(app).label();
    let Some(window) = app.get_webview_window(label) else { return };
    let _ = window.show();
    let _ = window.unminimize();
    let _ = window.set_focus();
    if let Err(error) = app.emit_to(label, "show", serde_json::json!({ "approval": approval })) {
        tracing::warn!(%error, "the window did not hear where to go");
    }
}

/// Whether the person has the window before them.
pub(crate) fn is_looked_at(app: &AppHandle) -> bool {
    app.get_webview_window(Keys::of(app).label())
        .is_some_and(|window| window.is_visible().unwrap_or(false) && window.is_focused().unwrap_or(false))
}

/// Ends Placet; what waits keeps.
pub(crate) fn quit(app: &AppHandle) {
    app.exit(0);
}

/// SIGUSR1 shows the window (a second start sends it); SIGTERM and SIGINT end in order.
fn heed_signals(app: AppHandle) -> std::io::Result<()> {
    let mut signals = Signals::new([SIGUSR1, SIGTERM, SIGINT])?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for signal in signals.forever() {
            if signal == SIGUSR1 {
                let shown = app.clone();
                let _ = app.run_on_main_thread(move || show_at(&shown, None));
            } else {
                quit(&app);
                return;
            }
        }
    })?;
    Ok(())
}
