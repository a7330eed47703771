//! Tells shell commands from programs. Models type commands into anything that is called `exec`.
//!
//! The text is shell only if nothing speaks for a program: the parser has the last word where it accepts the text,
//! and a name that the program binds is never a command.

mod words;

use oxc_semantic::Scoping;

use self::words::{is_command, is_keyword_or_global, is_misspelt_keyword};

/// Longest part of a command that is quoted back, in characters.
const MAX_QUOTED: usize = 80;

/// The first line of a text that begins with `#!`, whatever the rest is.
pub(crate) fn hashbang(source: &str) -> Option<String> {
    source.trim_start().starts_with("#!").then(|| quote(source))
}

/// The first line of `source` if it is a shell command. `scoping` is that of the program if it parses as one.
pub(crate) fn command(source: &str, scoping: Option<&Scoping>) -> Option<String> {
    let text = without_comments(source);
    let shell = match scoping {
        None => !is_module_export(text) && (is_control(text) || is_unparsable_command(text)),
        Some(scoping) => is_parsable_command(text, scoping),
    };
    shell.then(|| quote(text))
}

fn quote(text: &str) -> String {
    let line = text.trim_start().lines().next().unwrap_or_default().trim_end();
    match line.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// The text behind leading blank lines and comments of JavaScript and of the shell.
fn without_comments(source: &str) -> &str {
    let mut text = source.trim_start();
    loop {
        let rest = if text.starts_with("//") || text.starts_with('#') {
            text.split_once('\n').map_or("", |(_, rest)| rest)
        } else if let Some(body) = text.strip_prefix("/*") {
            body.split_once("*/").map_or("", |(_, rest)| rest)
        } else {
            return text;
        };
        text = rest.trim_start();
    }
}

/// `export` as JavaScript has it, not as the shell has it.
fn is_module_export(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("export") else {
        return false;
    };
    let rest = rest.trim_start();
    let word = word_of(rest);
    rest.starts_with(['{', '*'])
        || matches!(
            word,
            "const"
                | "let"
                | "var"
                | "function"
                | "class"
                | "default"
                | "async"
                | "type"
                | "interface"
                | "enum"
                | "declare"
                | "abstract"
                | "namespace"
                | "import"
        )
}

/// `if [ … ]`, `for x in …`, `case x in`, `while read …`, `function f {`: shell where JavaScript wants parentheses.
fn is_control(text: &str) -> bool {
    let line = text.lines().next().unwrap_or_default();
    let mut words = line.split_whitespace();
    let head = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    let third = words.next().unwrap_or_default();
    match head {
        "if" | "while" | "until" | "elif" => matches!(second, "[" | "[[" | "!") || is_command(second),
        "for" | "select" => third == "in" && !second.starts_with('('),
        "case" => third == "in",
        "function" => third == "{" && !second.contains('('),
        "[" | "[[" => second.starts_with('-') && line.contains(" ]"),
        _ => false,
    }
}

/// The text without `NAME=value` in front, as the shell sets variables for one command.
fn without_assignments(text: &str) -> &str {
    let mut text = text;
    loop {
        let name = text
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .unwrap_or(0);
        let Some(value) = text.get(name..).and_then(|rest| rest.strip_prefix('=')) else {
            return text;
        };
        if name == 0 || value.starts_with(['=', '>']) {
            return text;
        }
        let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''));
        let end = match quote {
            Some(quote) => value
                .get(1..)
                .and_then(|rest| rest.find(quote))
                .map(|end| end + 2),
            None => value.find(char::is_whitespace),
        };
        let Some(rest) = end.and_then(|end| value.get(end..)) else {
            return text;
        };
        let Some(rest) = rest.strip_prefix(' ') else {
            return text;
        };
        text = rest.trim_start_matches(' ');
    }
}

/// The first word and what follows it on any line.
struct Head<'a> {
    word: &'a str,
    known: bool,
    path: bool,
    rest: &'a str,
}

impl<'a> Head<'a> {
    fn of(text: &'a str) -> Option<Self> {
        let text = without_assignments(text);
        let path = ["./", "../", "~/", "/"]
            .iter()
            .any(|start| text.starts_with(start))
            || matches!(text.as_bytes(), [drive, b':', b'\\', ..] if drive.is_ascii_alphabetic());
        let end = text
            .find(|c: char| !(c.is_alphanumeric() || "_-.+/~:\\".contains(c)))
            .unwrap_or(text.len());
        let whole = text.get(..end).unwrap_or_default();
        let word = if path { whole } else { word_of(text) };
        let rest = text.get(word.len()..).unwrap_or_default();
        let bare = ["/bin/", "/usr/bin/", "/usr/local/bin/", "/sbin/", "/usr/sbin/"]
            .iter()
            .find_map(|directory| word.strip_prefix(directory))
            .unwrap_or(word);
        (!word.is_empty()).then(|| Self {
            word,
            known: is_command(bare),
            path,
            rest,
        })
    }

    fn alone(&self) -> bool {
        // Comments make no program of a command.
        let rest = without_comments(self.rest);
        rest.strip_prefix(';').map_or(rest, without_comments).is_empty()
    }

    /// An option or a path follows, as it would behind a command. `- 1` is a subtraction.
    fn takes_arguments(&self) -> bool {
        let Some(next) = self.rest.strip_prefix([' ', '\t']) else {
            return false;
        };
        let next = next.trim_start_matches([' ', '\t']);
        let option = next
            .strip_prefix("--")
            .or_else(|| next.strip_prefix('-'))
            .is_some_and(|name| name.starts_with(|c: char| c.is_ascii_alphabetic()));
        option
            || ["./", "../", "~/"].iter().any(|start| next.starts_with(start))
            || (next.starts_with('/')
                && next
                    .get(1..)
                    .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic())))
    }

    /// What follows separates commands or joins them.
    fn is_separated(&self) -> bool {
        self.rest
            .trim_start_matches([' ', '\t', '\r'])
            .starts_with([';', '\n', '&', '|'])
    }

    fn is_redirected(&self) -> bool {
        self.rest.trim_start_matches([' ', '\t']).starts_with(['<', '>'])
    }
}

fn word_of(text: &str) -> &str {
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || "_-+$".contains(c)))
        .unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

/// A text that no parser took for a program.
fn is_unparsable_command(text: &str) -> bool {
    let Some(head) = Head::of(text) else { return false };
    if head.alone() {
        return head.known;
    }
    if head.known {
        return head.is_separated()
            || head.is_redirected()
            || (head.rest.starts_with([' ', '\t']) && !looks_like_code(head.word, head.rest));
    }
    if is_keyword_or_global(head.word) || is_misspelt_keyword(head.word) {
        return false;
    }
    let line = head.rest.lines().next().unwrap_or_default();
    if head.path {
        return line.is_empty() || line.starts_with(' ');
    }
    // `foo bar`, `foo --bar`: words with spaces between, and nothing that only a program has.
    line.starts_with(' ')
        && !line.contains(['(', ')', '{', '}', ';', '=', ','])
        && !looks_like_code(head.word, line)
}

/// A text that is a valid program, and yet is a command: `ls`, `date -u`, `head | tail`.
fn is_parsable_command(text: &str, scoping: &Scoping) -> bool {
    let Some(head) = Head::of(text) else { return false };
    if scoping.symbol_names().any(|name| name == head.word) {
        return false;
    }
    if head.known {
        return head.alone() || head.is_separated() || head.is_redirected() || head.takes_arguments();
    }
    !is_keyword_or_global(head.word) && !head.path && head.takes_arguments()
}

/// Whether what follows a word continues an expression or declaration: `find = …`, `sort (x)`, `test => …`.
fn looks_like_code(word: &str, rest: &str) -> bool {
    let rest = rest.trim_start();
    let operator = [
        "=", "=>", "+=", "-=", "*=", "==", "===", "?", ":", "*", "%", "+", ",",
    ]
    .iter()
    .any(|operator| rest.split_whitespace().next() == Some(operator));
    let word_operator = matches!(
        rest.split_whitespace().next(),
        Some("in" | "of" | "instanceof" | "as" | "satisfies")
    );
    let declaration = word == "type" && rest.contains('=');
    operator || word_operator || declaration || rest.starts_with(['(', '{', ')', '}'])
}
