//! The command line of everything but the hook.

use std::{ffi::OsString, path::PathBuf, process::ExitCode, time::Duration};

use clap::{Args, Parser, Subcommand};
use placet_ipc::{Flags, Places};

use crate::{
    acp, autostart, exit, explain, history, hook, install, keys, mcp, policy, run,
    say::{self, Form},
    serve, supervise,
    take_away::{self, Kind},
    views,
};

#[derive(Debug, Parser)]
#[command(name = "placet", version, about = "Approvals for AI agents' tool calls", max_term_width = 100)]
struct Line {
    /// Where the history and the socket lie, instead of ~/.local/share/placet
    #[arg(long, global = true, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Where policy.toml lies, instead of ~/.config/placet
    #[arg(long, global = true, value_name = "DIR")]
    config_dir: Option<PathBuf>,
    /// Where the gate listens, instead of DATA/run/gate.sock
    #[arg(long, global = true, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Say it as JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// One hook call of a client: its JSON on stdin, its answer on stdout
    #[command(disable_help_flag = true)]
    Hook {
        /// CLIENT [--event E] [--client-timeout-ms N]
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "CLIENT")]
        arguments: Vec<OsString>,
    },
    /// Put the hook into a client's settings
    Install(Install),
    /// Take the hook out of a client's settings
    Uninstall(Install),
    /// Whether each client's hook really blocks
    Doctor {
        /// Look at this project's settings rather than your own
        #[arg(long, value_name = "DIR")]
        project: Option<PathBuf>,
    },
    /// Before a stdio MCP server: every tools/call walks the corridor
    Mcp {
        /// What you call the server, in place of the name that it gives itself
        #[arg(long, conflicts_with = "permission_prompt")]
        name: Option<String>,
        /// How long a call is held while you are asked, in milliseconds; then the agent is told to call again
        #[arg(
            long,
            value_name = "N",
            default_value_t = 50_000,
            value_parser = clap::value_parser!(u64).range(1..=50_000),
            conflicts_with = "permission_prompt"
        )]
        hold_ms: u64,
        /// Be the server that Claude Code asks in place of its own prompt, with the one tool `approve`
        #[arg(long, conflicts_with = "command")]
        permission_prompt: bool,
        /// The server's command, after --
        #[arg(last = true, required_unless_present = "permission_prompt", value_name = "COMMAND")]
        command: Vec<OsString>,
    },
    /// Between an editor and an agent that speaks ACP: the gate answers what the agent asks
    Acp {
        /// The agent's command, after --
        #[arg(last = true, required = true, value_name = "COMMAND")]
        command: Vec<OsString>,
    },
    /// The gate without a window
    Serve {
        /// Take answers on stdin, JSON-RPC a line; needs --data-dir
        #[arg(long)]
        supervise: bool,
        /// Apart from whoever started it, and behind a window where there is a screen: how hooks start it
        #[arg(long, hide = true, conflicts_with = "supervise")]
        detached: bool,
    },
    /// What Placet makes of a call given on stdin as {tool, input, cwd, agent?, workspace?}
    Explain,
    /// How the gate is
    Status,
    /// What waits for an answer
    Pending(Pending),
    /// What was granted
    Grants(Grants),
    /// What happened
    #[command(args_conflicts_with_subcommands = true)]
    History {
        #[command(subcommand)]
        command: Option<History>,
        #[command(flatten)]
        filter: Search,
    },
    /// The built-in agent in the terminal
    Run(run::Run),
    /// Whether the window starts, in the tray, when you log in
    Autostart {
        /// What to do about it
        #[arg(value_enum, default_value = "status")]
        wanted: autostart::Wanted,
    },
    /// Keys of the built-in agent's providers, in the keyring of your session
    Keys {
        #[command(subcommand)]
        what: keys::Keys,
    },
    /// Say no to what waits
    Deny(TakeAway),
    /// Take back what waits
    Cancel(TakeAway),
    /// End grants
    Revoke(TakeAway),
    /// Deny everything from now on; only the window lifts it
    Pause,
    /// Look at a policy
    Policy {
        #[command(subcommand)]
        command: Policy,
    },
}

#[derive(Debug, Args)]
struct Install {
    /// claude-code, codex, gemini-cli, qwen-code, copilot, opencode or cursor
    #[arg(value_parser = client)]
    client: hook::Client,
    /// In this project's settings rather than your own
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// How long the client shall wait for you, in milliseconds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(11_000..=86_400_000))]
    client_timeout_ms: Option<u64>,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// Only if the settings are still those of this digest, as shown with --dry-run --json
    #[arg(long, value_name = "DIGEST")]
    expect: Option<placet_domain::Digest>,
}

impl Install {
    fn order(self, places: Flags) -> install::Order {
        install::Order {
            client: self.client,
            project: self.project,
            patience: self.client_timeout_ms.map(Duration::from_millis),
            dry_run: self.dry_run,
            expect: self.expect,
            places,
        }
    }
}

fn client(name: &str) -> Result<hook::Client, String> {
    let known = || hook::Client::ALL.map(hook::Client::name).join(", ");
    hook::Client::named(name).ok_or_else(|| format!("the clients are {}", known()))
}

#[derive(Debug, Args)]
struct TakeAway {
    /// Which
    #[arg(required = true)]
    ids: Vec<String>,
    /// Words for the agent, or for the record
    #[arg(long)]
    note: Option<String>,
}

#[derive(Debug, Args)]
struct Pending {
    /// Only of this session
    #[arg(long)]
    session: Option<String>,
    /// Only of this agent
    #[arg(long)]
    agent: Option<String>,
    #[command(flatten)]
    page: Page,
}

#[derive(Debug, Args)]
struct Grants {
    /// Only in this state: active, expired, exhausted, revoked, dead
    #[arg(long)]
    state: Option<String>,
    #[command(flatten)]
    page: Page,
}

#[derive(Debug, Args)]
struct Page {
    /// What the last page gave as `next`
    #[arg(long)]
    after: Option<String>,
    /// How many, at most 1000
    #[arg(long)]
    limit: Option<u32>,
}

#[derive(Debug, Args)]
struct Search {
    /// Words that occur
    text: Option<String>,
    /// Only of this agent
    #[arg(long)]
    agent: Option<String>,
    /// Only of this tool
    #[arg(long)]
    tool: Option<String>,
    /// Only with this decision
    #[arg(long)]
    decision: Option<String>,
    /// Only under this folder
    #[arg(long)]
    under: Option<String>,
    /// Only with this host
    #[arg(long)]
    host: Option<String>,
    /// From this moment, in Unix milliseconds
    #[arg(long)]
    from_ms: Option<i64>,
    /// To this moment, in Unix milliseconds
    #[arg(long)]
    to_ms: Option<i64>,
    #[command(flatten)]
    page: Page,
}

#[derive(Debug, Subcommand)]
enum History {
    /// Walk the chain and name the first broken fact
    Verify {
        /// From this fact
        #[arg(long)]
        from: Option<u64>,
    },
    /// Write it out
    Export {
        /// In which form
        #[arg(long, value_enum, default_value = "jsonl")]
        format: history::Format,
        /// Into this new file rather than to stdout
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Where its key is kept; or move it, while no gate runs
    Key {
        /// Into the file beside the history, or into the keyring of your session
        #[arg(long, value_enum)]
        to: Option<history::KeyPlace>,
    },
    /// Copy it into a new file, also while a gate runs; the key is not in the copy
    Backup {
        /// The new file
        file: PathBuf,
    },
    /// Put a copy in its place while no gate runs; grants in the copy end, and what waited is cancelled
    Restore {
        /// The copy
        file: PathBuf,
    },
}

#[derive(Debug, Subcommand)]
enum Policy {
    /// Whether a policy is valid; without FILE, the one that is in place
    Check {
        /// The file
        file: Option<PathBuf>,
    },
    /// Which rule decides a call given on stdin, and why
    Try,
}

/// Reads the command line and does what it says.
pub(crate) fn carry_out() -> ExitCode {
    let line = Line::parse();
    let form = Form::of(line.json);
    let flags = Flags { data_dir: line.data_dir, config_dir: line.config_dir, socket: line.socket };
    if let Command::Hook { arguments } = line.command {
        return hook::main(arguments.into_iter(), flags);
    }
    let places = match Places::new(&flags) {
        Ok(places) => places,
        Err(error) => {
            say::trouble(error);
            return exit::usage();
        }
    };
    match line.command {
        // Dispatched above: the hook answers in its client's words even where the places are wrong.
        Command::Hook { arguments } => hook::main(arguments.into_iter(), flags),
        Command::Install(what) => install::install(&what.order(flags), form),
        Command::Uninstall(what) => install::uninstall(&what.order(flags), form),
        Command::Doctor { project } => install::doctor(&places, project, form),
        Command::Mcp { permission_prompt: true, .. } => mcp::permission_prompt(places),
        Command::Mcp { name, hold_ms, command, .. } => {
            mcp::before(places, &mcp::Order { command, name, hold: Duration::from_millis(hold_ms) })
        }
        Command::Acp { command } => acp::run(places, &command),
        Command::Serve { supervise: false, detached } => serve::run(places, form, detached),
        Command::Serve { supervise: true, .. } => supervise::run(places, flags.data_dir.is_some()),
        Command::Explain => explain::run(&places, Form::of_terminal(line.json)),
        Command::Status => views::status(&places, form),
        Command::Pending(filter) => views::pending(&places, form, &filter.into()),
        Command::Grants(filter) => views::grants(&places, form, &filter.into()),
        Command::History { command: None, filter } => views::history(&places, form, &filter.into()),
        Command::History { command: Some(History::Verify { from }), .. } => history::verify(&places, form, from),
        Command::History { command: Some(History::Export { format, output }), .. } => {
            history::export(&places, form, format, output)
        }
        Command::History { command: Some(History::Key { to }), .. } => history::key(&places, form, to),
        Command::History { command: Some(History::Backup { file }), .. } => history::backup(&places, form, &file),
        Command::History { command: Some(History::Restore { file }), .. } => history::restore(&places, form, &file),
        Command::Run(what) => run::run(&places, what, form),
        Command::Autostart { wanted } => autostart::run(&places, wanted, form),
        Command::Keys { what } => keys::run(&what, form),
        Command::Deny(TakeAway { ids, note }) => take_away::run(&places, form, Kind::Deny, ids, note),
        Command::Cancel(TakeAway { ids, note }) => take_away::run(&places, form, Kind::Cancel, ids, note),
        Command::Revoke(TakeAway { ids, note }) => take_away::run(&places, form, Kind::Revoke, ids, note),
        Command::Pause => take_away::pause(&places, form),
        Command::Policy { command: Policy::Check { file } } => policy::check(&places, form, file),
        Command::Policy { command: Policy::Try } => policy::try_call(&places, Form::of_terminal(line.json)),
    }
}

impl From<Pending> for views::Filter {
    fn from(filter: Pending) -> Self {
        Self::default()
            .with("session", filter.session)
            .with("agent", filter.agent)
            .with("after", filter.page.after)
            .with("limit", filter.page.limit)
    }
}

impl From<Grants> for views::Filter {
    fn from(filter: Grants) -> Self {
        Self::default().with("state", filter.state).with("after", filter.page.after).with("limit", filter.page.limit)
    }
}

impl From<Search> for views::Filter {
    fn from(filter: Search) -> Self {
        // A page of the history goes on after a number.
        let after = filter
            .page
            .after
            .map(|after| after.parse::<u64>().map_or_else(|_| serde_json::Value::from(after), serde_json::Value::from));
        Self::default()
            .with("text", filter.text)
            .with("agent", filter.agent)
            .with("tool", filter.tool)
            .with("decision", filter.decision)
            .with("under", filter.under)
            .with("host", filter.host)
            .with("from_ms", filter.from_ms)
            .with("to_ms", filter.to_ms)
            .with("after", after)
            .with("limit", filter.page.limit)
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_sound_and_can_only_take_away() {
        let line = super::Line::command();
        line.clone().debug_assert();
        for verb in ["approve", "grant", "allow", "resume"] {
            assert!(line.find_subcommand(verb).is_none(), "{verb}");
        }
    }
}
