//! Making text from strangers harmless inside TypeScript: quoting, keys and comments.

use std::fmt::Write as _;

/// Words that TypeScript refuses as the name of a declared function, or that strict mode reserves.
const RESERVED: &[&str] = &[
    "arguments",
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "globalThis",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// Whether `text` is an ASCII JavaScript identifier (reserved words included: they are fine as keys).
#[must_use]
pub fn is_identifier(text: &str) -> bool {
    let mut chars = text.chars();
    chars
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_' || first == '$')
        && chars.all(|ch| ch.is_ascii_alphanumeric() || ch == '_' || ch == '$')
}

/// Whether `word` cannot be declared as a function or variable.
#[must_use]
pub fn is_reserved_word(word: &str) -> bool {
    RESERVED.binary_search(&word).is_ok()
}

/// A double-quoted literal that reads the same in JSON, JavaScript and TypeScript.
///
/// Line separators, control, bidirectional and invisible characters are written as escapes, so that what a
/// reader sees is what the literal holds.
#[must_use]
pub fn quote(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for ch in text.chars() {
        match ch {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ch if is_deceptive(ch) => {
                let mut units = [0_u16; 2];
                for unit in ch.encode_utf16(&mut units) {
                    // Writing to a `String` cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            ch => out.push(ch),
        }
    }
    out.push('"');
    out
}

/// A property name as it stands in a type: bare when it is an identifier, quoted otherwise.
#[must_use]
pub fn property_key(name: &str) -> String {
    if is_identifier(name) {
        name.to_owned()
    } else {
        quote(name)
    }
}

/// One line of comment text: whitespace collapsed, nothing in it that ends the comment, hides, reorders or
/// counts as a tag, and at most `max_chars` characters, the last of them `…` when something was cut.
#[must_use]
pub fn comment(text: &str, max_chars: usize) -> String {
    let mut out = String::new();
    let mut left = max_chars;
    let mut space = false;
    for ch in text.chars() {
        if ch.is_whitespace() || ch.is_control() {
            space = !out.is_empty();
            continue;
        }
        if is_deceptive(ch) {
            continue;
        }
        let needed = 1 + usize::from(space);
        if left < needed {
            while left == 0 && out.pop().is_some() {
                left += 1;
            }
            out.truncate(out.trim_end().len());
            out.push('…');
            return out.replace("*/", "*\\/");
        }
        if space {
            out.push(' ');
            space = false;
        }
        // `@ts-ignore`, `@deprecated` and the like are instructions to a compiler or an editor.
        if out.is_empty() && ch == '@' {
            out.push('\\');
        }
        out.push(ch);
        left -= needed;
    }
    out.replace("*/", "*\\/")
}

/// As [`comment`], but rather one whole sentence than two cut short; ends in `…` when something is missing.
#[must_use]
pub fn brief(text: &str, max_chars: usize) -> String {
    let cut = comment(text, max_chars);
    if !cut.ends_with('…') {
        return cut;
    }
    match first_sentence(&cut) {
        Some(sentence) => format!("{sentence} …"),
        None => cut,
    }
}

/// The first sentence of `text` as [`comment`] text; ends in `…` when something is missing.
#[must_use]
pub fn sentence(text: &str, max_chars: usize) -> String {
    let cut = comment(text, max_chars);
    match first_sentence(&cut) {
        Some(sentence) => format!("{sentence} …"),
        None => cut,
    }
}

/// The first sentence of `text`, if another begins behind it and it is long enough to mean something.
fn first_sentence(text: &str) -> Option<&str> {
    const MIN_BYTES: usize = 16;
    const ABBREVIATIONS: &[&str] = &[
        "e.g.", "i.e.", "etc.", "vs.", "cf.", "approx.", "max.", "min.", "no.",
    ];
    text.match_indices(". ")
        .filter_map(|(at, _)| text.get(..=at))
        .filter(|sentence| sentence.len() >= MIN_BYTES)
        .find(|sentence| {
            let last = sentence
                .rsplit([' ', '('])
                .next()
                .unwrap_or_default()
                .to_lowercase();
            !ABBREVIATIONS.contains(&last.as_str())
                && sentence.matches('(').count() == sentence.matches(')').count()
        })
}

/// Characters that a reader cannot see or that change how the text around them is read.
fn is_deceptive(ch: char) -> bool {
    ch.is_control()
        || matches!(ch,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_words_are_sorted_for_the_binary_search() {
        assert!(RESERVED.is_sorted());
        assert!(is_reserved_word("delete"));
        assert!(!is_reserved_word("deleteIt"));
    }

    #[test]
    fn identifiers_are_ascii_names() {
        for name in ["a", "$select", "_x9", "delete"] {
            assert!(is_identifier(name), "{name}");
        }
        for name in ["", "1st", "a-b", "ключ", "a b"] {
            assert!(!is_identifier(name), "{name}");
        }
    }

    #[test]
    fn quoting_leaves_no_line_break_and_nothing_invisible() {
        assert_eq!(quote("a\"b\\c\n"), r#""a\"b\\c\n""#);
        assert_eq!(
            quote("\u{2028}\u{202e}\u{0}\u{e0041}"),
            r#""\u2028\u202e\u0000\udb40\udc41""#
        );
        assert_eq!(property_key("If-Match"), "\"If-Match\"");
        assert_eq!(property_key("__proto__"), "__proto__");
    }

    #[test]
    fn brief_texts_end_with_a_sentence() {
        for (text, max, expected) in [
            ("Short. Both stay.", 40, "Short. Both stay."),
            (
                "The first one is kept whole. The second is cut.",
                40,
                "The first one is kept whole. …",
            ),
            (
                "Takes paths, e.g. of files. And more than that.",
                40,
                "Takes paths, e.g. of files. …",
            ),
            (
                "One sentence that is longer than there is room",
                20,
                "One sentence that i…",
            ),
            (
                "In (see a. b or c) brackets. Then a lot more text",
                40,
                "In (see a. b or c) brackets. …",
            ),
        ] {
            assert_eq!(brief(text, max), expected);
        }
    }

    #[test]
    fn comments_stay_one_harmless_line() {
        for (text, max, expected) in [
            ("ends */ here", 99, "ends *\\/ here"),
            ("  a\r\n\tb\u{2028}c\u{0}d ", 99, "a b c d"),
            ("right\u{202e}left\u{200b}", 99, "rightleft"),
            ("@ts-ignore me", 99, "\\@ts-ignore me"),
            ("mail a@b", 99, "mail a@b"),
            ("abcdef", 6, "abcdef"),
            ("abcdefg", 6, "abcde…"),
            ("abcde fg", 6, "abcde…"),
            ("*\u{200b}/", 99, "*\\/"),
            ("", 5, ""),
        ] {
            assert_eq!(comment(text, max), expected, "{text:?}");
        }
    }
}
