//! Whether an answer is text, and which.

use codecell_tools::ToolError;

use crate::content::binary_kind;

/// Types beside `text/*` that are text.
const TEXTUAL: [&str; 10] = [
    "application/json",
    "application/xml",
    "application/javascript",
    "application/ecmascript",
    "application/yaml",
    "application/x-yaml",
    "application/toml",
    "application/x-ndjson",
    "application/x-www-form-urlencoded",
    "image/svg+xml",
];

/// Whether a content type names text. An absent one may be anything.
pub(super) fn is_textual(content_type: &str) -> bool {
    let kind = essence(content_type);
    kind.is_empty()
        || kind.starts_with("text/")
        || kind.ends_with("+json")
        || kind.ends_with("+xml")
        || TEXTUAL.contains(&kind.as_str())
}

fn essence(content_type: &str) -> String {
    let kind = content_type.split(';').next().unwrap_or_default();
    kind.trim().to_ascii_lowercase()
}

/// Decodes a body. Everything but Latin-1 is taken for UTF-8, with U+FFFD for what is not.
pub(super) fn decode(content_type: &str, body: &[u8], cut: bool) -> Result<String, ToolError> {
    if let Some(kind) = binary_kind(body) {
        let message = format!("the answer is {kind}, not text");
        return Err(ToolError::new("not_text", message));
    }
    if is_latin1(content_type) {
        return Ok(body.iter().map(|byte| char::from(*byte)).collect());
    }
    let mut body = body;
    // A cut may go through a character, which is then left out.
    if cut
        && let Err(error) = std::str::from_utf8(body)
        && error.error_len().is_none()
    {
        body = body.get(..error.valid_up_to()).unwrap_or(body);
    }
    Ok(String::from_utf8_lossy(body).into_owned())
}

fn is_latin1(content_type: &str) -> bool {
    let parameters = content_type.split(';').skip(1);
    let charset = parameters
        .filter_map(|parameter| parameter.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
    charset.is_some_and(|(_, value)| {
        let value = value.trim().trim_matches('"');
        value.eq_ignore_ascii_case("iso-8859-1") || value.eq_ignore_ascii_case("latin1")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_told_from_the_rest_by_its_type() {
        let cases = [
            ("", true),
            ("text/html; charset=utf-8", true),
            ("Application/JSON", true),
            ("application/problem+json;x=y", true),
            ("image/svg+xml", true),
            ("image/png", false),
            ("application/octet-stream", false),
            ("application/pdf", false),
        ];
        for (content_type, expected) in cases {
            assert_eq!(is_textual(content_type), expected, "{content_type}");
        }
    }

    #[test]
    fn bodies_are_decoded() {
        let cases: [(&str, &[u8], bool, &str); 5] = [
            ("text/plain", "äb".as_bytes(), false, "äb"),
            ("text/plain", b"a\xc3", true, "a"),
            ("text/plain", b"a\xc3", false, "a\u{fffd}"),
            ("text/plain; charset=\"ISO-8859-1\"", b"\xe4b", false, "äb"),
            ("text/plain", b"a\xffb", true, "a\u{fffd}b"),
        ];
        for (content_type, body, cut, expected) in cases {
            assert_eq!(decode(content_type, body, cut).unwrap(), expected);
        }
        assert_eq!(
            decode("text/plain", b"\0\x01", false).unwrap_err().code,
            "not_text"
        );
    }
}
