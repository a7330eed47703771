//! Strings between the engine, UTF-8 and JSON.

use core::fmt::Write;

use rquickjs::{Result, Value};

use crate::js;

/// UTF-8 out of what the engine hands over, which encodes a lone surrogate as three bytes of its own.
pub(crate) fn from_engine(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut rest = bytes;
    loop {
        match core::str::from_utf8(rest) {
            Ok(valid) => {
                text.push_str(valid);
                return text;
            }
            Err(error) => {
                let (valid, after) = rest.split_at(error.valid_up_to());
                text.push_str(core::str::from_utf8(valid).unwrap_or_default());
                text.push(char::REPLACEMENT_CHARACTER);
                let skip = if after.first() == Some(&0xED) { 3 } else { 1 };
                rest = after.get(skip..).unwrap_or_default();
            }
        }
    }
}

/// Appends `text` as a JSON string.
pub(crate) fn push_json(out: &mut String, text: &str) {
    out.push('"');
    let mut plain = 0;
    for (index, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x08 => "\\b",
            0x0C => "\\f",
            0..0x20 => "",
            _ => continue,
        };
        out.push_str(text.get(plain..index).unwrap_or_default());
        if escape.is_empty() {
            let _ = write!(out, "\\u{byte:04x}");
        } else {
            out.push_str(escape);
        }
        plain = index + 1;
    }
    out.push_str(text.get(plain..).unwrap_or_default());
    out.push('"');
}

/// The longest head of `text` that has at most `limit` bytes, with a mark where something was left out.
pub(crate) fn bounded(mut text: String, limit: usize) -> String {
    let whole = text.len();
    if whole > limit {
        cut(&mut text, limit);
        let left_out = whole - text.len();
        let _ = write!(text, "… ({left_out} more bytes)");
    }
    text
}

/// The head of a string that has at most `limit` bytes, with a mark where something was left out. A string that is far
/// longer is not copied whole for that.
pub(crate) fn begin(string: &Value<'_>, limit: usize) -> Result<String> {
    /// Shorter strings are copied, so that what is left out is counted exactly.
    const SHORT_UNITS: usize = 256 * 1024;
    let units = js::units(string)?;
    if units <= SHORT_UNITS {
        return js::text(string).map(|text| bounded(text, limit));
    }
    let mut text = js::head(string, limit)?;
    cut(&mut text, limit);
    let left_out = units - text.encode_utf16().count();
    let _ = write!(text, "… (at least {left_out} more bytes)");
    Ok(text)
}

/// Cuts a text to `limit` bytes.
fn cut(text: &mut String, limit: usize) {
    let mut end = limit.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
}

/// How many bytes at the end of `bytes` may be the beginning of a character.
pub(crate) fn unfinished(bytes: &[u8]) -> usize {
    match core::str::from_utf8(bytes.get(bytes.len().saturating_sub(3)..).unwrap_or_default()) {
        Ok(_) => 0,
        Err(_) => (1..=bytes.len().min(3))
            .find(|&length| {
                let tail = bytes.get(bytes.len() - length..).unwrap_or_default();
                let is_lead = tail.first().is_some_and(|&byte| byte >= 0xC0);
                is_lead && core::str::from_utf8(tail).is_err_and(|error| error.error_len().is_none())
            })
            .unwrap_or(0),
    }
}
