//! Shell commands, understood down to the files they touch.
//!
//! A command is taken apart by a strict grammar (`split`), read a second time by another parser (`second`), and each
//! simple command is looked up in a table (`table`, `apply`) that says what its words mean. Whatever is not certain
//! makes the whole uninspectable, with the reason and its place; what could be taken apart is listed all the same,
//! so that it can be denied. Nothing here looks at this process's own folder or environment.

mod apply;
mod exe;
mod extent;
mod form;
mod meaning;
mod place;
mod reader;
mod role;
mod rough;
mod script;
mod second;
mod split;
mod table;
mod tokens;
mod torn;
mod unquote;
mod why;
mod words;

#[cfg(test)]
mod tests;

use std::ops::Range;

use placet_domain::subject::{CommandSubject, SimpleCommand};
use placet_domain::{Action, Flag, PathText};

pub use exe::{Disk, Lookup};
pub use table::{Programs, ProgramsError};
pub use why::WhyNot;

use place::Folders;
use reader::Reader;

/// The shell that will run a command, as far as the client told.
#[derive(Clone, Debug)]
pub struct Shell {
    /// The folder it starts in, absolute.
    pub cwd: PathText,
    /// Its name, `bash` unless known.
    pub name: String,
    /// The folders in which it looks for programs; empty where that is not known.
    pub path: Vec<PathText>,
}

/// What a command does.
#[derive(Clone, Debug)]
pub struct Understood {
    /// Whether every part was understood.
    pub inspectable: bool,
    /// The first reason why not.
    pub why_not: Option<WhyNot>,
    /// Its simple commands, in order.
    pub commands: Vec<Part>,
    /// Oddities of the whole.
    pub flags: Vec<Flag>,
    /// It is too long, too deep or has too many parts; not all of them are listed.
    pub budget_exceeded: bool,
}

/// One simple command.
#[derive(Clone, Debug)]
pub struct Part {
    /// `&&`, `||`, `;`, `|`, a newline, or nothing for the first.
    pub operator: String,
    /// The words, quotes removed; as written where a word is not literal.
    pub argv: Vec<String>,
    /// Where it stands in the text; of a carried command, where its carrier stands.
    pub source: Range<usize>,
    /// The file that the first word names, where the PATH is known; links not followed.
    pub exe: Option<PathText>,
    /// What it does at most, what it carries included.
    pub effect: Action,
    /// Paths read, absolute; `..` is kept, since only the disk knows where it leads. `/` stands for any path.
    pub reads: Vec<PathText>,
    /// Paths written.
    pub writes: Vec<PathText>,
    /// Paths removed.
    pub deletes: Vec<PathText>,
    /// Hosts contacted. A name under `.invalid` is one that only the program's own configuration knows.
    pub hosts: Vec<String>,
    /// URLs fetched or sent to.
    pub urls: Vec<String>,
    /// The words of the command it runs, where it runs another.
    pub carrier_of: Option<Vec<String>>,
    /// What it runs, taken apart.
    pub inner: Vec<Part>,
    /// Script and program files, whose content is part of what runs.
    pub operands: Vec<PathText>,
    /// Literal text fed to it.
    pub heredoc: Option<HereDocument>,
    /// Whether a `command_prefix` grant may cover it.
    pub prefix_grantable: bool,
    /// Oddities of this part.
    pub flags: Vec<Flag>,
    /// Why it cannot be inspected, where it cannot.
    pub why_not: Option<WhyNot>,
    /// Why it is `execute`, where the tables do not know more.
    pub not_known: Option<String>,
}

/// A here-document, which is literal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HereDocument {
    /// Its text, with the last newline.
    pub text: String,
    /// The file that gets exactly this text, where there is one (`cat > file <<'EOF'`).
    pub written_to: Option<PathText>,
    /// Whether it is added to the file rather than replacing it.
    pub appended: bool,
}

/// Bytes of a command that are looked at.
pub const MOST_BYTES: usize = 8 * 1024;
/// Commands within commands.
pub const MOST_DEPTH: usize = 8;
/// Simple commands, those within others included.
pub const MOST_PARTS: usize = 50;

/// What `text` does when `shell` runs it. Programs are looked for on the disk if the shell's PATH is given.
pub fn understand(text: &str, shell: &Shell, programs: &Programs) -> Understood {
    understand_with(text, shell, programs, &Disk)
}

/// As `understand`, with files looked up by `lookup`.
pub fn understand_with(text: &str, shell: &Shell, programs: &Programs, lookup: &dyn Lookup) -> Understood {
    let mut reader = Reader { shell, programs, lookup, parts: 0, exceeded: false };
    let mut folders = Folders::new(shell.cwd.clone());
    let (mut commands, why_not) = reader.text(text, &shell.name, &mut folders, 0);
    let mut flags = Vec::new();
    for part in &commands {
        gather_flags(part, &mut flags);
    }
    if let Some(why_not) = &why_not {
        add_flag(&mut flags, why_not.flag);
        add_flag(&mut flags, Flag::Uninspectable);
    }
    if text.trim_end_matches('\n').contains('\n') {
        add_flag(&mut flags, Flag::MultiLine);
    }
    if commands.len() > 5 {
        add_flag(&mut flags, Flag::ManyCommands);
    }
    let alone = commands.len() == 1 && why_not.is_none();
    for part in &mut commands {
        part.prefix_grantable &= alone;
    }
    Understood { inspectable: why_not.is_none(), why_not, commands, flags, budget_exceeded: reader.exceeded }
}

impl Understood {
    /// The strongest effect of its parts; at least `execute` where it cannot be inspected.
    pub fn effect(&self) -> Action {
        let floor = if self.inspectable { Action::None } else { Action::Execute };
        Action::strongest(std::iter::once(floor).chain(self.commands.iter().map(|part| part.effect)))
    }

    /// Every part, those within others after the one that carries them.
    pub fn all_parts(&self) -> Vec<&Part> {
        fn add<'a>(parts: &'a [Part], all: &mut Vec<&'a Part>) {
            for part in parts {
                all.push(part);
                add(&part.inner, all);
            }
        }
        let mut all = Vec::new();
        add(&self.commands, &mut all);
        all
    }

    /// The subject of a call that runs this command; `asked` is its text.
    pub fn subject(&self, asked: &str, shell: &Shell) -> CommandSubject {
        CommandSubject {
            action: self.effect(),
            asked: asked.to_owned(),
            inspectable: self.inspectable,
            why_not: self.why_not.as_ref().map(|why| why.sentence.clone()),
            shell: shell.name.clone(),
            commands: self.all_parts().into_iter().map(Part::simple).collect(),
        }
    }
}

impl Part {
    fn simple(&self) -> SimpleCommand {
        SimpleCommand {
            operator: self.operator.clone(),
            argv: self.argv.clone(),
            exe: self.exe.clone(),
            effect: self.effect,
            reads: self.reads.clone(),
            writes: self.writes.iter().chain(&self.deletes).cloned().collect(),
            hosts: self.hosts.iter().cloned().chain(self.urls.iter().filter_map(|url| host_of(url))).collect(),
            carrier_of: self.carrier_of.clone(),
            why_not: self.why_not.as_ref().map(|why| why.sentence.clone()),
            prefix_grantable: self.prefix_grantable,
        }
    }
}

fn host_of(url: &str) -> Option<String> {
    url::Url::parse(url).ok()?.host_str().map(|host| host.trim_matches(['[', ']']).to_owned())
}

fn add_flag(flags: &mut Vec<Flag>, flag: Flag) {
    if !flags.contains(&flag) {
        flags.push(flag);
    }
}

fn gather_flags(part: &Part, flags: &mut Vec<Flag>) {
    for flag in &part.flags {
        add_flag(flags, *flag);
    }
    for inner in &part.inner {
        gather_flags(inner, flags);
    }
}
