//! Programs in the words of sed, awk and jq: whether they do more than turn input into output.
//!
//! Each check knows less than the language; what it does not know is not harmless.

/// `Some` where the sed program writes no file, reads no further file and runs nothing.
pub(crate) fn sed(text: &str) -> Option<()> {
    if text.is_empty() {
        // `sed -i '' …` of BSD, where the next word is the program.
        return None;
    }
    let mut sed = Sed { text: text.as_bytes(), at: 0 };
    let mut depth = 0_u32;
    loop {
        sed.skip(|b| matches!(b, b' ' | b'\t' | b'\n' | b';'));
        let Some(first) = sed.peek() else { break };
        if first == b'#' {
            sed.skip(|b| b != b'\n');
            continue;
        }
        if sed.address()? {
            sed.blanks();
            if sed.peek() == Some(b',') {
                sed.at += 1;
                sed.blanks();
                if matches!(sed.peek(), Some(b'+' | b'~')) {
                    sed.at += 1;
                }
                if !sed.address()? {
                    return None;
                }
            }
        }
        sed.skip(|b| matches!(b, b' ' | b'\t' | b'!'));
        let command = sed.peek()?;
        sed.at += 1;
        match command {
            b'{' => {
                depth += 1;
                continue;
            }
            b'}' => depth = depth.checked_sub(1)?,
            b'p' | b'd' | b'D' | b'=' | b'n' | b'N' | b'g' | b'G' | b'h' | b'H' | b'x' | b'P' | b'F' | b'z' => {}
            b'q' | b'Q' | b'l' => {
                sed.blanks();
                sed.skip(|b| b.is_ascii_digit());
            }
            b'b' | b't' | b'T' | b':' => {
                sed.blanks();
                sed.skip(|b| b.is_ascii_alphanumeric() || b == b'_');
            }
            b's' => {
                let delimiter = sed.delimiter()?;
                sed.until(delimiter, true)?;
                sed.until(delimiter, false)?;
                sed.skip(|b| matches!(b, b'g' | b'p' | b'i' | b'I' | b'm' | b'M') || b.is_ascii_digit());
            }
            b'y' => {
                let delimiter = sed.delimiter()?;
                sed.until(delimiter, true)?;
                sed.until(delimiter, false)?;
            }
            b'a' | b'i' | b'c' => {
                let line_end = text[sed.at..].find('\n').map_or(text.len(), |n| sed.at + n);
                if text[sed.at..line_end].ends_with('\\') {
                    return None;
                }
                sed.at = line_end;
                continue;
            }
            _ => return None,
        }
        sed.blanks();
        match sed.peek() {
            None | Some(b';' | b'\n' | b'}' | b'#') => {}
            Some(_) => return None,
        }
    }
    (depth == 0).then_some(())
}

struct Sed<'t> {
    text: &'t [u8],
    at: usize,
}

impl Sed<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip(&mut self, of: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&of) {
            self.at += 1;
        }
    }

    fn blanks(&mut self) {
        self.skip(|b| matches!(b, b' ' | b'\t'));
    }

    /// Whether an address stands here.
    fn address(&mut self) -> Option<bool> {
        match self.peek() {
            Some(b'$') => self.at += 1,
            Some(b) if b.is_ascii_digit() => {
                self.skip(|b| b.is_ascii_digit());
                if self.peek() == Some(b'~') {
                    self.at += 1;
                    self.skip(|b| b.is_ascii_digit());
                }
            }
            Some(b'/') => {
                self.at += 1;
                self.until(b'/', true)?;
                self.skip(|b| matches!(b, b'I' | b'M'));
            }
            Some(b'\\') => return None,
            _ => return Some(false),
        }
        Some(true)
    }

    fn delimiter(&mut self) -> Option<u8> {
        let delimiter = self.peek().filter(|b| b.is_ascii_punctuation() && *b != b'\\')?;
        self.at += 1;
        Some(delimiter)
    }

    /// To behind the next delimiter. One inside a bracket expression is read differently by different programs.
    fn until(&mut self, delimiter: u8, pattern: bool) -> Option<()> {
        let mut bracket = false;
        loop {
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                b if b == delimiter && bracket => return None,
                b if b == delimiter => return Some(()),
                // Inside brackets a backslash escapes the delimiter for some programs only.
                b'\\' if bracket && self.peek() == Some(delimiter) => return None,
                b'\\' => {
                    self.peek()?;
                    self.at += 1;
                }
                b'\n' if pattern => return None,
                b'[' if pattern && !bracket => {
                    bracket = true;
                    if self.peek() == Some(b'^') {
                        self.at += 1;
                    }
                    if self.peek() == Some(b']') {
                        self.at += 1;
                    }
                }
                b'[' if bracket && matches!(self.peek(), Some(b':' | b'.' | b'=')) => {
                    // A class such as `[:alpha:]` has a bracket of its own.
                    let class = self.peek()?;
                    self.at += 1;
                    loop {
                        let byte = self.peek()?;
                        self.at += 1;
                        if byte == delimiter || byte == b'\n' {
                            return None;
                        }
                        if byte == class && self.peek() == Some(b']') {
                            self.at += 1;
                            break;
                        }
                    }
                }
                b']' if bracket => bracket = false,
                _ => {}
            }
        }
    }
}

/// `Some` where the awk program writes no file, opens no pipe and reads only the files it is given.
pub(crate) fn awk(text: &str) -> Option<()> {
    let bytes = text.as_bytes();
    let (mut at, mut braces) = (0, 0_u32);
    // What the token before was decides whether “/” begins a pattern.
    let mut before = Before::Operator;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b' ' | b'\t' => {
                at += 1;
            }
            b'#' => at += text[at..].find('\n').unwrap_or(text.len() - at),
            b'"' => {
                at = closed(bytes, at, b'"')?;
                before = Before::Operand;
            }
            b'/' => match before {
                Before::Operator => {
                    at = closed(bytes, at, b'/')?;
                    before = Before::Operand;
                }
                Before::Operand => {
                    at += 1;
                    before = Before::Operator;
                }
                Before::Either => return None,
            },
            b if b.is_ascii_alphabetic() || b == b'_' => {
                while bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') {
                    at += 1;
                }
                before = match &text[start..at] {
                    "system" | "getline" | "close" | "fflush" | "ARGV" | "ARGC" | "ENVIRON" | "PROCINFO"
                    | "function" | "func" | "extension" | "switch" | "SYMTAB" | "FUNCTAB" => return None,
                    "print" | "printf" | "return" | "in" | "else" | "do" | "case" => Before::Either,
                    "BEGIN" | "END" | "if" | "while" | "for" => Before::Operator,
                    _ => Before::Operand,
                };
            }
            b if b.is_ascii_digit() || b == b'.' => {
                while bytes.get(at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'.') {
                    at += 1;
                }
                before = Before::Operand;
            }
            b'|' if text[at..].starts_with("||") => {
                at += 2;
                before = Before::Operator;
            }
            b'>' if text[at..].starts_with(">=") => {
                at += 2;
                before = Before::Operator;
            }
            // Outside braces nothing is printed, so this compares.
            b'>' if braces == 0 && !text[at..].starts_with(">>") => {
                at += 1;
                before = Before::Operator;
            }
            b'{' => {
                braces += 1;
                at += 1;
                before = Before::Operator;
            }
            b'}' => {
                braces = braces.checked_sub(1)?;
                at += 1;
                before = Before::Operator;
            }
            b']' => {
                at += 1;
                before = Before::Operand;
            }
            b')' | b'$' => {
                at += 1;
                before = if bytes[start] == b'$' { Before::Operand } else { Before::Either };
            }
            b'+' | b'-' if bytes.get(at + 1) == Some(&bytes[at]) => {
                at += 2;
                before = Before::Either;
            }
            b',' | b';' | b'\n' | b'(' | b'[' | b'!' | b'~' | b'=' | b'<' | b'&' | b'+' | b'-' | b'*' | b'%' | b'^'
            | b'?' | b':' => {
                at += 1;
                before = Before::Operator;
            }
            // A pipe, a redirection, an indirect call, or what is no awk.
            _ => return None,
        }
    }
    (braces == 0).then_some(())
}

#[derive(Clone, Copy)]
enum Before {
    Operator,
    Operand,
    Either,
}

/// Behind the closing delimiter of what begins at `start`.
fn closed(bytes: &[u8], start: usize, delimiter: u8) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'\n' => return None,
            b'[' if delimiter == b'/' => at = bracket_end(bytes, at)?,
            b if *b == delimiter => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// Behind the bracket expression at `start`. `None` for one that programs could end at different places.
fn bracket_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    if bytes.get(at) == Some(&b'^') {
        at += 1;
    }
    if bytes.get(at) == Some(&b']') {
        return None;
    }
    loop {
        match *bytes.get(at)? {
            b'/' | b'\\' | b'\n' => return None,
            b']' => return Some(at + 1),
            b'[' if matches!(bytes.get(at + 1), Some(b':' | b'.' | b'=')) => {
                let class = bytes[at + 1];
                let inner = bytes[at + 2..].windows(2).position(|pair| pair == [class, b']'])?;
                if !bytes[at + 2..at + 2 + inner].iter().all(u8::is_ascii_alphanumeric) {
                    return None;
                }
                at += inner + 4;
            }
            _ => at += 1,
        }
    }
}

/// `Some` where the jq (or yq) program uses its input only.
pub(crate) fn jq(text: &str) -> Option<()> {
    let mut before = ' ';
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let word_end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        if word_end > 0 {
            let word = &rest[..word_end];
            let elsewhere = matches!(
                word,
                "env"
                    | "ENV"
                    | "import"
                    | "include"
                    | "modulemeta"
                    | "get_search_list"
                    | "load"
                    | "strload"
                    | "load_str"
                    | "envsubst"
                    | "strenv"
                    | "system"
                    | "eval"
                    | "exec"
                    | "load_xml"
                    | "load_props"
                    | "load_base64"
            );
            if elsewhere && before != '.' {
                return None;
            }
            before = 'a';
            rest = &rest[word_end..];
        } else {
            before = c;
            rest = &rest[c.len_utf8()..];
        }
    }
    Some(())
}

/// Whether `git -c` with this setting changes only how output looks.
pub(crate) fn harmless_git_setting(text: &str) -> bool {
    let Some((key, value)) = text.split_once('=') else { return false };
    let key = key.to_ascii_lowercase();
    let looks = ["color.", "column.", "advice."].iter().any(|start| key.starts_with(start));
    let exact = matches!(
        key.as_str(),
        "core.quotepath"
            | "core.abbrev"
            | "core.safecrlf"
            | "core.autocrlf"
            | "log.showsignature"
            | "log.date"
            | "log.decorate"
            | "diff.renames"
            | "diff.noprefix"
            | "diff.algorithm"
            | "diff.context"
            | "user.name"
            | "user.email"
            | "init.defaultbranch"
            | "commit.gpgsign"
            | "tag.gpgsign"
            | "pull.rebase"
            | "safe.directory"
            | "status.short"
            | "status.relativepaths"
            | "grep.linenumber"
    );
    let no_pager = key == "core.pager" && matches!(value, "cat" | "");
    looks || (exact && !(key == "log.showsignature" && value != "false")) || no_pager
}
