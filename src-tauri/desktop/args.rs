//! The command line of the window.

use std::path::PathBuf;

use clap::Parser;
use placet_gate::Flags;

use crate::keys::Keys;

/// Approvals for AI agents' tool calls, in a window.
#[derive(Debug, Parser)]
#[command(name = "placet-desktop", version)]
pub(crate) struct Args {
    /// Start scripted demo agents in a temporary workspace, with a history and a policy of their own.
    #[arg(long)]
    pub(crate) demo: bool,
    /// Start without showing the window; it waits in the tray.
    #[arg(long)]
    pub(crate) hidden: bool,
    /// What this window may do; each can do what the ones before it can.
    #[arg(long, value_enum, default_value = "all")]
    pub(crate) keys: Keys,
    /// Put exports into this folder instead of asking where to.
    #[arg(long, value_name = "DIR")]
    pub(crate) export_to: Option<PathBuf>,
    /// Keep history, socket and log here instead of ~/.local/share/placet.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Read the policy from here instead of ~/.config/placet.
    #[arg(long, value_name = "DIR")]
    config_dir: Option<PathBuf>,
    /// Listen for agents here instead of in the data directory.
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
}

impl Args {
    /// Whether this is a demo that keeps its data in a folder of its own, gone when it ends.
    pub(crate) fn leaves_nothing(&self) -> bool {
        self.demo && self.data_dir.is_none()
    }

    /// Where the person wants things to lie, as far as they say.
    pub(crate) fn flags(&self) -> Flags {
        Flags { data_dir: self.data_dir.clone(), config_dir: self.config_dir.clone(), socket: self.socket.clone() }
    }
}
