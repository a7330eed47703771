//! Reads characters: where strings, comments, templates and regular expressions end.

use super::level::Levels;

/// What lay between two tokens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Trivia {
    WithinLine,
    WithLineBreak,
}

pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    in_substitution: bool,
}

/// Punctuators of more than one character, longest first.
const PUNCTUATORS: [&str; 38] = [
    ">>>=", "<!--", "...", "===", "!==", "**=", "<<=", ">>=", ">>>", "&&=", "||=", "??=", "=>", "==", "!=",
    "++", "--", "&&", "||", "??", "?.", "**", "<<", ">>", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "&=",
    "|=", "^=", "=", "<", ">", "!",
];

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            in_substitution: false,
        }
    }

    pub(super) fn text(&self) -> &'a str {
        self.text
    }

    pub(super) fn offset(&self) -> usize {
        self.at
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    /// Passes `bytes` bytes of ASCII.
    pub(super) fn bump(&mut self, bytes: usize) {
        self.at = (self.at + bytes).min(self.text.len());
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn char(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Passes white space and comments.
    pub(super) fn skip_trivia(&mut self) -> Trivia {
        let mut trivia = Trivia::WithinLine;
        while let Some(c) = self.char() {
            match c {
                '/' if self.peek_at(1) == Some(b'/') => self.skip_line(),
                '/' if self.peek_at(1) == Some(b'*') => {
                    let rest = self.rest();
                    let end = rest
                        .get(2..)
                        .and_then(|body| body.find("*/"))
                        .map_or(rest.len(), |end| end + 4);
                    if rest
                        .get(..end)
                        .is_some_and(|comment| comment.contains(is_line_break))
                    {
                        trivia = Trivia::WithLineBreak;
                    }
                    self.at += end;
                }
                c if is_line_break(c) => {
                    trivia = Trivia::WithLineBreak;
                    self.at += c.len_utf8();
                }
                c if is_space(c) => self.at += c.len_utf8(),
                _ => break,
            }
        }
        trivia
    }

    fn skip_line(&mut self) {
        let rest = self.rest();
        self.at += rest.find(is_line_break).unwrap_or(rest.len());
    }

    pub(super) fn at_name(&self) -> bool {
        self.char()
            .is_some_and(|c| is_name_part(c) || c == '#' || c == '@')
    }

    pub(super) fn name(&mut self) -> &'a str {
        let rest = self.rest();
        // `#private` and `@decorator` are names here, and `\u0061` is one with braces in it at times.
        let mut end = rest.chars().next().map_or(0, char::len_utf8);
        if rest.starts_with('\\') {
            end = 0;
        }
        while let Some(c) = rest.get(end..).and_then(|rest| rest.chars().next()) {
            let tail = rest.get(end..).unwrap_or_default();
            if tail.starts_with("\\u{") {
                end += tail.find('}').map_or(tail.len(), |close| close + 1);
            } else if is_name_part(c) {
                end += c.len_utf8();
            } else {
                break;
            }
        }
        self.at += end;
        rest.get(..end).unwrap_or_default()
    }

    pub(super) fn number(&mut self) {
        let rest = self.rest();
        self.at += rest
            .find(|c: char| !is_name_part(c) && c != '.')
            .unwrap_or(rest.len());
    }

    /// Passes a string literal. An unfinished one ends with its line, where the parser stops.
    pub(super) fn string(&mut self, quote: u8) {
        self.bump(1);
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' => self.escape(),
                b'\n' | b'\r' => return,
                _ => {
                    self.at += 1;
                    if byte == quote {
                        return;
                    }
                }
            }
        }
    }

    /// Passes a backslash and what it escapes, a line break of two characters included.
    fn escape(&mut self) {
        self.bump(1);
        match self.peek() {
            Some(b'\r') if self.peek_at(1) == Some(b'\n') => self.bump(2),
            _ => self.at += self.char().map_or(0, char::len_utf8),
        }
    }

    /// Passes the characters of a template up to its end, or up to a substitution, which it opens.
    pub(super) fn template_chars(&mut self, levels: &mut Levels) {
        self.in_substitution = false;
        while let Some(byte) = self.peek() {
            match byte {
                b'\\' => self.escape(),
                b'`' => {
                    self.bump(1);
                    return;
                }
                b'$' if self.peek_at(1) == Some(b'{') => {
                    self.bump(2);
                    levels.push_substitution();
                    self.in_substitution = true;
                    return;
                }
                _ => self.at += 1,
            }
        }
    }

    /// Whether the last [`template_chars`](Self::template_chars) ended at a substitution.
    pub(super) fn in_substitution(&self) -> bool {
        self.in_substitution
    }

    /// Passes a regular expression and returns how deep its own parser may recurse in it.
    pub(super) fn regex(&mut self) -> u32 {
        let body = self.regex_body();
        let brackets = body.bytes().filter(|byte| matches!(byte, b'(' | b'[')).count();
        self.bump(1);
        self.at += body.len();
        if self.peek() == Some(b'/') {
            self.bump(1);
        }
        u32::try_from(brackets).unwrap_or(u32::MAX)
    }

    /// What stands between the `/` here and the one that would close a regular expression, or the end of the line.
    fn regex_body(&self) -> &'a str {
        let body = self.text.get(self.at + 1..).unwrap_or_default();
        let mut class = false;
        let mut chars = body.char_indices();
        while let Some((offset, c)) = chars.next() {
            match c {
                '\\' => {
                    if chars.clone().next().is_some_and(|(_, next)| is_line_break(next)) {
                        return body.get(..offset).unwrap_or_default();
                    }
                    chars.next();
                }
                '[' => class = true,
                ']' => class = false,
                '/' if !class => return body.get(..offset).unwrap_or_default(),
                c if is_line_break(c) => return body.get(..offset).unwrap_or_default(),
                _ => {}
            }
        }
        body
    }

    /// Whether the text would mean something else from here on if the `/` here began a regular expression, in a way
    /// that reading it as a division would hide.
    pub(super) fn regex_would_hide_code(&self) -> bool {
        let body = self.regex_body();
        let after = self.text.get(self.at + 1 + body.len()..).unwrap_or_default();
        if !after.starts_with('/') {
            return false;
        }
        let mut open = Vec::new();
        for c in body.chars() {
            match c {
                '\'' | '"' | '`' => return true,
                '(' => open.push(')'),
                '[' => open.push(']'),
                '{' => open.push('}'),
                ')' | ']' | '}' if open.pop() != Some(c) => return true,
                _ => {}
            }
        }
        after.starts_with("//") || after.starts_with("/*")
    }

    /// Passes an operator or another single character.
    pub(super) fn punctuator(&mut self) -> &'a str {
        let rest = self.rest();
        let long = PUNCTUATORS
            .iter()
            .find(|text| rest.starts_with(**text))
            .map(|text| text.len());
        let mut len = long.unwrap_or_else(|| self.char().map_or(1, char::len_utf8));
        // `a?.5:b` is a conditional.
        if rest.starts_with("?.") && self.peek_at(2).is_some_and(|next| next.is_ascii_digit()) {
            len = 1;
        }
        self.at += len;
        rest.get(..len).unwrap_or_default()
    }
}

pub(super) fn is_line_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

fn is_space(c: char) -> bool {
    matches!(c, '\t' | '\u{B}' | '\u{C}' | ' ' | '\u{A0}' | '\u{FEFF}')
        || (!c.is_ascii() && c.is_whitespace())
}

fn is_name_part(c: char) -> bool {
    c.is_ascii_alphanumeric()
        || matches!(c, '_' | '$' | '\\')
        || (!c.is_ascii() && !is_line_break(c) && !is_space(c))
}
