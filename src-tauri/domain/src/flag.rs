//! Oddities of a call, each in a word and a sentence a person understands.

use serde::{Deserialize, Serialize};

macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident $word:literal $label:literal $sentence:literal;)*) => {
        /// Something odd about a call, found by the room `subject`. The word goes on the wire and into the history.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Flag { $($(#[$doc])* #[doc = $sentence] #[serde(rename = $word)] $name,)* }

        impl Flag {
            /// Every flag there is.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word on the wire.
            pub fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// Two or three words for the window.
            pub fn label(self) -> &'static str {
                match self { $(Self::$name => $label,)* }
            }

            /// One line of explanation.
            pub fn sentence(self) -> &'static str {
                match self { $(Self::$name => $sentence,)* }
            }
        }
    };
}

flags! {
    Dotdot "dotdot" "dot-dot" "The path as written climbs with “..”; the path above is where it ends.";
    Symlink "symlink" "symlink" "The path goes through a symbolic link.";
    HardLinked "hard_linked" "hard link" "The file has other names too; a change shows under all of them.";
    OtherDevice "other_device" "other device" "The path crosses to another file system.";
    OutsideWorkspace "outside_workspace" "outside" "The file lies outside the agent's workspace.";
    Protected "protected" "protected" "Settings, keys or hooks that decide what may run; answered once only.";
    Secret "secret" "looks secret" "The name looks like credentials.";
    NotUtf8 "not_utf8" "not text" "The name has bytes that are no text.";
    Bidi "bidi" "hidden text" "Characters that change the direction of the text are shown as escapes.";
    Invisible "invisible" "hidden text" "Characters that cannot be seen are shown as escapes.";
    Control "control" "hidden text" "Control characters are shown as escapes.";
    MixedScript "mixed_script" "mixed letters" "Letters of different alphabets stand in one name.";
    Confusable "confusable" "lookalike" "The name looks like another file that is there.";
    NotNfc "not_nfc" "odd accents" "The name spells its accents in an unusual way.";
    Idn "idn" "lookalike host" "The host has letters that are not plain Latin; its real name is shown.";
    NonstandardSpelling "nonstandard_spelling" "odd spelling" "The address is spelled so that programs may read it differently.";
    ControlCharsRemoved "control_chars_removed" "hidden text" "Tabs or line breaks inside the address are dropped by some programs.";
    BackslashInAuthority "backslash_in_authority" "odd spelling" "A backslash in the address is read differently by different programs.";
    LoopbackHost "loopback" "this machine" "The address is this machine.";
    PrivateHost "private" "local network" "The address is in a private network.";
    LinkLocalHost "link_local" "link-local" "The address is link-local.";
    MetadataHost "metadata" "metadata" "The address hands out a cloud machine's credentials.";
    PlainHttp "plain_http" "not encrypted" "The address is not encrypted.";
    HasQuery "has_query" "carries data" "The part after “?” carries data to the host.";
    OddPort "odd_port" "odd port" "The port is not the usual one.";
    Uninspectable "uninspectable" "not inspectable" "What this command does cannot be told from its text.";
    CwdChange "cwd_change" "changes folder" "The command changes its folder first; what follows is resolved from there.";
    RunsProjectCode "runs_project_code" "runs project code" "The command runs code of the project.";
    RunsProgramText "runs_program_text" "runs code" "The command runs a program given in its words or in a file.";
    Carrier "carrier" "runs another" "The command runs another command.";
    Network "network" "reaches out" "The command may reach the network.";
    MultiLine "multi_line" "several lines" "The command has several lines.";
    Long "long" "long" "There is more than fits at once; all of it can be unfolded.";
    ManyCommands "many_commands" "many commands" "The command is made of many.";
    NonAsciiSpace "non_ascii_space" "hidden text" "A blank that is not a plain space is shown as an escape.";
    Expansion "expansion" "not inspectable" "The shell would replace part of the command.";
    ParseError "parse_error" "not inspectable" "The command cannot be taken apart with certainty.";
    UnknownTool "unknown_tool" "unknown tool" "Placet does not know this tool; its whole input is shown.";
    Binary "binary" "binary" "The content is no text.";
    ToolChanged "tool_changed" "tool changed" "The tool's description changed since it was last let through.";
}
