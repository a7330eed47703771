//! Reads Rust source line by line, with string contents removed and comments set apart.
//!
//! Not a parser: just enough of the lexer that a rule about code is not fooled by text, and a rule about
//! tests knows where they are.

/// One line, split into what the compiler sees and what the reader is told.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// Code, with the contents of string and character literals removed.
    pub(crate) code: String,
    /// The text of comments, documentation included.
    pub(crate) comment: String,
    /// Whether the line belongs to a test item.
    pub(crate) test: bool,
}

enum Mode {
    Code,
    LineComment,
    BlockComment { depth: usize },
    Text,
    RawText { hashes: usize },
}

/// Splits `source` into its lines.
pub(crate) fn lines(source: &str) -> Vec<Line> {
    let chars: Vec<char> = source.chars().collect();
    let at = |index: usize| chars.get(index).copied().unwrap_or('\0');
    let mut out = Vec::new();
    let mut line = Line::default();
    let mut mode = Mode::Code;
    let mut index = 0;
    while index < chars.len() {
        let (here, next) = (at(index), at(index + 1));
        if here == '\n' {
            if matches!(mode, Mode::LineComment) {
                mode = Mode::Code;
            }
            out.push(std::mem::take(&mut line));
            index += 1;
            continue;
        }
        let mut step = 1;
        mode = match mode {
            Mode::Code => match (here, next) {
                ('/', '/') => {
                    step = 2;
                    Mode::LineComment
                }
                ('/', '*') => {
                    step = 2;
                    Mode::BlockComment { depth: 1 }
                }
                ('"', _) => {
                    line.code.push('"');
                    Mode::Text
                }
                ('r', '"' | '#') if !ends_in_word(&line.code) => {
                    let hashes = (index + 1..chars.len()).take_while(|&i| at(i) == '#').count();
                    if at(index + 1 + hashes) == '"' {
                        step = hashes + 2;
                        line.code.push('"');
                        Mode::RawText { hashes }
                    } else {
                        line.code.push(here);
                        Mode::Code
                    }
                }
                ('\'', _) => {
                    step = char_literal(&chars, index).unwrap_or(1);
                    line.code.push('\'');
                    Mode::Code
                }
                _ => {
                    line.code.push(here);
                    Mode::Code
                }
            },
            Mode::LineComment => {
                line.comment.push(here);
                Mode::LineComment
            }
            Mode::BlockComment { depth } => match (here, next) {
                ('/', '*') => {
                    step = 2;
                    Mode::BlockComment { depth: depth + 1 }
                }
                ('*', '/') => {
                    step = 2;
                    if depth == 1 {
                        Mode::Code
                    } else {
                        Mode::BlockComment { depth: depth - 1 }
                    }
                }
                _ => {
                    line.comment.push(here);
                    Mode::BlockComment { depth }
                }
            },
            Mode::Text => match here {
                // An escaped line end must still end the line.
                '\\' if next != '\n' => {
                    step = 2;
                    Mode::Text
                }
                '"' => {
                    line.code.push('"');
                    Mode::Code
                }
                _ => Mode::Text,
            },
            Mode::RawText { hashes } => {
                if here == '"' && (1..=hashes).all(|offset| at(index + offset) == '#') {
                    step = hashes + 1;
                    line.code.push('"');
                    Mode::Code
                } else {
                    Mode::RawText { hashes }
                }
            }
        };
        index += step;
    }
    out.push(line);
    mark_tests(&mut out);
    out
}

/// Whether the code so far ends inside an identifier, so that a following `r` is part of it.
///
/// A `b` alone is the prefix of a byte string, not a word.
fn ends_in_word(code: &str) -> bool {
    let word: String = code
        .chars()
        .rev()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    !word.is_empty() && word != "b"
}

/// How many characters the literal at `start` takes, or `None` when the quote starts a lifetime.
fn char_literal(chars: &[char], start: usize) -> Option<usize> {
    let at = |offset: usize| chars.get(start + offset).copied();
    match (at(1)?, at(2)?) {
        ('\\', _) => (3..12)
            .find(|&offset| at(offset) == Some('\''))
            .map(|offset| offset + 1),
        (_, '\'') => Some(3),
        _ => None,
    }
}

/// Marks the items behind `#[cfg(test)]` and `#[test]`-like attributes.
fn mark_tests(lines: &mut [Line]) {
    if lines
        .iter()
        .any(|line| line.code.trim().starts_with("#![cfg(test)]"))
    {
        lines.iter_mut().for_each(|line| line.test = true);
        return;
    }
    let mut start = 0;
    while let Some(offset) = lines
        .iter()
        .skip(start)
        .position(|line| is_test_attribute(&line.code))
    {
        let first = start + offset;
        let length = item_length(lines.iter().skip(first).map(|line| line.code.as_str()));
        lines
            .iter_mut()
            .skip(first)
            .take(length)
            .for_each(|line| line.test = true);
        start = first + length;
    }
}

fn is_test_attribute(code: &str) -> bool {
    let code = code.trim_start();
    code.starts_with("#[cfg(test)]")
        || code.starts_with("#[test]")
        || (code.starts_with("#[tokio::test") && code.contains(']'))
}

/// How many lines an item takes: to its closing brace, or to the semicolon of one that has no body.
fn item_length<'a>(codes: impl Iterator<Item = &'a str>) -> usize {
    let (mut braces, mut brackets, mut count) = (0_usize, 0_usize, 0);
    for code in codes {
        count += 1;
        for c in code.chars() {
            match c {
                '(' | '[' => brackets += 1,
                ')' | ']' => brackets = brackets.saturating_sub(1),
                '{' => braces += 1,
                '}' => {
                    braces = braces.saturating_sub(1);
                    if braces == 0 {
                        return count;
                    }
                }
                ';' if braces == 0 && brackets == 0 => return count,
                _ => {}
            }
        }
    }
    count.max(1)
}

/// Whether `word` stands in `text` on its own, not as a part of a longer identifier.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let part_of_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).any(|(start, _)| {
        let before = text.get(..start).and_then(|head| head.chars().next_back());
        let after = text
            .get(start + word.len()..)
            .and_then(|tail| tail.chars().next());
        !part_of_word(before) && !part_of_word(after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code_of(source: &str) -> Vec<String> {
        lines(source).into_iter().map(|line| line.code).collect()
    }

    #[test]
    fn literals_lose_their_contents_and_keep_their_lines() {
        let source = "let a = \"x // y\\\" z\"; // why\nlet b = r#\"un\"safe\"#;\nlet c = '\"'; let d: &'a str = b\"q\";\nvar(\"one\ntwo\")";
        assert_eq!(
            code_of(source),
            [
                "let a = \"\"; ",
                "let b = \"\";",
                "let c = '; let d: &'a str = b\"\";",
                "var(\"",
                "\")",
            ]
        );
    }

    #[test]
    fn comments_are_set_apart() {
        let read = lines("a /* b /* c */ d */ e // f\n/// g");
        let comments: Vec<&str> = read.iter().map(|line| line.comment.as_str()).collect();
        assert_eq!(comments, [" b  c  d  f", "/ g"]);
        assert_eq!(code_of("a /* b */ c"), ["a  c"]);
    }

    #[test]
    fn test_items_are_marked_to_their_closing_brace() {
        let source = "fn a() {}\n#[cfg(test)]\nuse x::{y, z};\n#[cfg(test)]\nmod tests {\n    fn b() { }\n}\nfn c() {}\n#[test]\nfn d() {\n}";
        let tests: Vec<bool> = lines(source).iter().map(|line| line.test).collect();
        assert_eq!(
            tests,
            [false, true, true, true, true, true, true, false, true, true, true]
        );
    }

    #[test]
    fn words_end_at_identifier_characters() {
        assert!(has_word("an unsafe { block }", "unsafe"));
        assert!(!has_word("#![deny(unsafe_code)]", "unsafe"));
        assert!(!has_word("XXXL", "XXX"));
    }
}
