//! `placet`, the command line: the hook that agents' clients start for every call, the gate without a window, and what
//! looks and takes away.
//!
//! A hook is dispatched before anything else is touched, so that it pays for nothing that it does not use. No command
//! here approves or grants.

mod acp;
mod arguments;
mod ask;
mod autostart;
mod exit;
mod explain;
mod history;
mod hook;
mod install;
mod keys;
mod mcp;
mod policy;
mod run;
mod say;
mod serve;
mod start;
mod supervise;
mod take_away;
mod views;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_some_and(|first| first == "hook") {
        return hook::main(arguments, placet_ipc::Flags::default());
    }
    arguments::carry_out()
}
