//! Which session a request belongs to, and how its answer says so.
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use uuid::Uuid;

use super::super::error::ApiError;
use super::part::Part;

const HEADER: HeaderName = HeaderName::from_static("x-codecell-session");

/// Longest key that an application may choose.
const MAX_CHARS: usize = 200;

/// The session that the request names: in its header, or else in its metadata.
pub(super) fn named(headers: &HeaderMap, body: &Part<'_>) -> Result<Option<String>, ApiError> {
    let metadata = body.get("metadata").map(Part::object).transpose()?;
    if let Some(value) = headers.get(HEADER) {
        let key = std::str::from_utf8(value.as_bytes()).ok();
        return match key.filter(|key| is_sound(key)) {
            Some(key) => Ok(Some(key.to_owned())),
            None => Err(unsound(&format!("the header `{HEADER}`")).at(HEADER.as_str())),
        };
    }
    let Some(key) = metadata.and_then(|metadata| metadata.get("session")) else {
        return Ok(None);
    };
    let text = key.text()?;
    if is_sound(text) {
        Ok(Some(text.to_owned()))
    } else {
        Err(unsound(&format!("`{}`", key.path())).at(key.path()))
    }
}

fn is_sound(key: &str) -> bool {
    !key.is_empty()
        && key.trim() == key
        && key.chars().count() <= MAX_CHARS
        && !key.chars().any(char::is_control)
}

fn unsound(what: &str) -> ApiError {
    let message = format!(
        "{what} must be 1 to {MAX_CHARS} printable characters, without blanks at its beginning and end"
    );
    ApiError::bad_request("invalid_session", message)
}

/// A session for a request that names none.
pub(super) fn new(agent: &str) -> String {
    format!("agent:{agent}:http:{}", Uuid::new_v4())
}

/// The response, with the session it belongs to as far as that is known.
pub(super) fn told(mut response: Response, session: Option<&str>) -> Response {
    // A key that came from elsewhere than a request may hold anything.
    if let Some(value) = session.and_then(|key| HeaderValue::from_bytes(key.as_bytes()).ok()) {
        response.headers_mut().insert(HEADER, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_header_goes_before_the_metadata() {
        let long = "ä".repeat(MAX_CHARS);
        let too_long = "a".repeat(MAX_CHARS + 1);
        for (header, metadata, expected) in [
            (None, json!(null), Ok(None)),
            (None, json!({ "other": 1 }), Ok(None)),
            (Some("a:b"), json!({ "session": "c" }), Ok(Some("a:b"))),
            (None, json!({ "session": "c d" }), Ok(Some("c d"))),
            (None, json!({ "session": long }), Ok(Some(long.as_str()))),
            (None, json!("x"), Err("metadata")),
            (None, json!({ "session": 1 }), Err("metadata.session")),
            (None, json!({ "session": "" }), Err("metadata.session")),
            (None, json!({ "session": " a" }), Err("metadata.session")),
            (None, json!({ "session": "a\nb" }), Err("metadata.session")),
            (None, json!({ "session": too_long }), Err("metadata.session")),
            (Some(too_long.as_str()), json!(null), Err("x-codecell-session")),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(header) = header {
                headers.insert(HEADER, header.parse().unwrap());
            }
            let body = json!({ "metadata": metadata });
            let found = named(&headers, &Part::body(&body).unwrap());
            let found = found.map_err(|error| error.body.param.unwrap());
            let expected = expected.map(|key| key.map(str::to_owned)).map_err(str::to_owned);
            assert_eq!(found, expected, "{header:?} {metadata}");
        }
    }
}
