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
    let mut bytes = text.bytes().peekable();
    let (mut now, mut deepest) = (0_usize, 0);
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => {
                now += 1;
                deepest = deepest.max(now);
            }
            b']' | b'}' => now = now.saturating_sub(1),
            b'"' | b'\'' => {
                while let Some(inner) = bytes.next() {
                    if inner == b'\\' {
                        bytes.next();
                    } else if inner == byte {
                        break;
                    }
                }
            }
            b'/' if bytes.peek() == Some(&b'/') => while bytes.next().is_some_and(|inner| inner != b'\n') {},
            b'/' if bytes.peek() == Some(&b'*') => {
                let mut last = 0;
                bytes.next();
                for inner in bytes.by_ref() {
                    if last == b'*' && inner == b'/' {
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
        let text = "[".repeat(100_000);
        assert_eq!(
            parse(&text),
            Err("nested 100000 levels deep, at most 64 are read".to_owned())
        );
    }
}
