//! The window: thin commands over the desk, facts as events, a tray, and notifications that only open it.
//!
//! Nothing is decided here. This is the only room that knows Tauri.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

mod args;
mod clients;
mod commands;
mod export;
mod facts;
mod follow;
mod gathering;
mod icon;
mod keys;
mod notification;
mod opened;
mod placement;
mod tray;
mod turn;
mod walk;
mod window;

use std::{process::ExitCode, sync::Arc};

use clap::Parser as _;
use placet_agent::demo::Home;
use placet_gate::Places;

use crate::{args::Args, opened::Opened};

fn main() -> ExitCode {
    if let Err(code) = without_automation() {
        return code;
    }
    let args = Args::parse();
    let (places, home) = match places(&args) {
        Ok(found) => found,
        Err(error) => return failed(&*error),
    };
    if opened::show_the_first(&places) {
        return ExitCode::SUCCESS;
    }
    match run(&args, &places, home) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&*error),
    }
}

/// Where everything lies. A demo has a home of its own for what the flags leave open: it never touches the person's
/// own history and policy.
fn places(args: &Args) -> Result<(Places, Option<Home>), Box<dyn std::error::Error>> {
    let flags = args.flags();
    if !args.demo {
        return Ok((Places::new(&flags)?, None));
    }
    let home = Home::new()?;
    Ok((home.places(&flags)?, Some(home)))
}

fn run(args: &Args, places: &Places, home: Option<Home>) -> Result<(), Box<dyn std::error::Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_name("placet").build()?;
    tauri::async_runtime::set(runtime.handle().clone());
    let opened = Arc::new(runtime.block_on(Opened::open(places.clone())));
    let demo = match (args.demo, opened.gate()) {
        (true, Some(gate)) => Some(runtime.block_on(placet_agent::demo::start(gate.clone()))?),
        _ => None,
    };
    let app = window::build(args, places, Arc::clone(&opened))?;
    let closing = Arc::clone(&opened);
    let handle = runtime.handle().clone();
    let (mut demo, mut home) = (demo, home);
    app.run(move |app, event| {
        if let tauri::RunEvent::Exit = event {
            placement::keep(app);
            if let Some(demo) = demo.take() {
                handle.block_on(demo.stop());
            }
            handle.block_on(closing.close());
            if let Some(home) = home.take() {
                home.remove();
            }
        }
    });
    Ok(())
}

/// A released program takes no automation of its web view from the environment: it starts itself again without.
#[cfg(not(debug_assertions))]
fn without_automation() -> Result<(), ExitCode> {
    use std::os::unix::process::CommandExt as _;
    const AUTOMATION: [&str; 3] = ["TAURI_WEBVIEW_AUTOMATION", "TAURI_AUTOMATION", "WEBKIT_INSPECTOR_SERVER"];
    if AUTOMATION.iter().all(|name| std::env::var_os(name).is_none()) {
        return Ok(());
    }
    let Ok(myself) = std::env::current_exe() else { return Err(ExitCode::FAILURE) };
    let mut again = std::process::Command::new(myself);
    again.args(std::env::args_os().skip(1));
    for name in AUTOMATION {
        again.env_remove(name);
    }
    Err(failed(&again.exec()))
}

#[cfg(debug_assertions)]
#[expect(clippy::unnecessary_wraps, reason = "the released program may fail here")]
fn without_automation() -> Result<(), ExitCode> {
    Ok(())
}

#[expect(clippy::print_stderr, reason = "there is no window to say it in")]
fn failed(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("placet-desktop: {error}");
    ExitCode::FAILURE
}
