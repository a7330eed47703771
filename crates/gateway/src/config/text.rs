//! From the text of a file to a JSON value, within bounds.
use serde_json::Value;

/// Largest configuration file that is read; real ones have a few kilobytes.
pub(super) const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

/// Deepest nesting that is parsed: configuration has about six levels, and the parser recurses.
const MAX_DEPTH: usize = 64;

/// Parses JSON, JSON with comments or JSON5.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let depth = depth(text);
    if depth > MAX_DEPTH {
        return Err(format!(
            "nested {depth} levels deep, at most {MAX_DEPTH} are read"
        ));
    }
    if text.trim().is_empty() {
        return Err("the file is empty, an object was expected".to_owned());
    }
    json5::from_str(text).map_err(|error| format!("is not JSON or JSON5: {error}"))
}

/// The deepest bracket nesting outside strings and comments; an unclosed string counts as closed at the end.
fn depth(text: &str) -> usize {
    let mut chars = text.chars().peekable();
    let (mut now, mut deepest) = (0_usize, 0);
    while let Some(char) = chars.next() {
        match char {
            '[' | '{' => {
                now += 1;
                deepest = deepest.max(now);
            }
            ']' | '}' => now = now.saturating_sub(1),
            '"' | '\'' => {
                while let Some(inner) = chars.next() {
                    if inner == '\\' {
                        chars.next();
                    } else if inner == char {
                        break;
                    }
                }
            }
            '/' if chars.peek() == Some(&'/') => while chars.next().is_some_and(|inner| !ends_line(inner)) {},
            '/' if chars.peek() == Some(&'*') => {
                let mut last = '/';
                chars.next();
                for inner in chars.by_ref() {
                    if last == '*' && inner == '/' {
                        break;
                    }
                    last = inner;
                }
            }
            _ => {}
        }
    }
    deepest
}

/// Where the parser takes a comment to end.
fn ends_line(char: char) -> bool {
    matches!(char, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// What a value is, in words for a message.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A value for a message: short, on one line.
pub(super) fn show(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = value.to_string();
    if text.chars().count() <= LONGEST {
        return text;
    }
    let head: String = text.chars().take(LONGEST).collect();
    format!("{head}…")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn comments_and_trailing_commas_are_fine() {
        let text = "\u{feff}// c\n{ /* [[[ */ a: 'x{', \"b\": [1,],\n}";
        assert_eq!(parse(text), Ok(json!({ "a": "x{", "b": [1] })));
        assert_eq!(depth(text), 2);
    }

    #[test]
    fn bottomless_nesting_is_refused_before_parsing() {
        // A comment hides brackets, but only up to where it ends.
        for before in ["", "//[\n", "//[\r", "//[\u{2028}", "//[\u{2029}", "/*[*/"] {
            let text = before.to_owned() + &"[".repeat(100_000);
            assert_eq!(
                parse(&text),
                Err("nested 100000 levels deep, at most 64 are read".to_owned()),
                "{before:?}"
            );
        }
    }
}
