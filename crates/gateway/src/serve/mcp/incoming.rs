//! What a POST brings, and of which era it is.
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode, header};
use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, GetMeta, JsonRpcMessage, JsonRpcRequest, ProtocolVersion,
};
use serde_json::value::RawValue;

use super::refusal::Refusal;
use crate::doors::decode;

/// The header that names the revision.
const VERSION: &str = "mcp-protocol-version";

/// Messages in one batch.
const MAX_BATCH: usize = 64;

/// What came.
pub(super) enum Incoming {
    One(Box<ClientJsonRpcMessage>),
    /// Revision 2025-03-26 has them, and no other.
    Batch(Vec<ClientJsonRpcMessage>),
    /// A notification that cannot be read, which is nothing to complain about.
    Nothing,
}

/// The eras of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Era {
    /// There is a handshake, and a session after it.
    Legacy,
    /// Every request says all there is to say.
    Modern,
}

/// Whether the headers of a POST are those of the protocol: what it brings and what it takes.
pub(super) fn check_types(headers: &HeaderMap) -> Result<(), Refusal> {
    let json = "application/json";
    let kind = headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(|kind| essence(kind).eq_ignore_ascii_case(json)) {
        return Err(Refusal::of_status(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "send messages as `Content-Type: application/json`",
        ));
    }
    if !accepts(headers, json) || !accepts(headers, "text/event-stream") {
        return Err(Refusal::of_status(
            StatusCode::NOT_ACCEPTABLE,
            "an answer may be one message or a stream: send `Accept: application/json, text/event-stream`",
        ));
    }
    Ok(())
}

/// Whether a client takes answers of this type.
pub(super) fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    let (family, _) = kind.split_once('/').unwrap_or((kind, ""));
    let mut ranges = headers
        .get_all(header::ACCEPT)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','));
    ranges.any(|range| {
        let refused = range
            .split(';')
            .skip(1)
            .any(|parameter| matches!(parameter.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
        let range = essence(range);
        let whole_family = range
            .strip_suffix("/*")
            .is_some_and(|of| of.eq_ignore_ascii_case(family));
        !refused && (range == "*/*" || whole_family || range.eq_ignore_ascii_case(kind))
    })
}

/// A media type without its parameters.
fn essence(kind: &str) -> &str {
    kind.split(';').next().unwrap_or_default().trim()
}

/// Reads the body of a POST.
pub(super) fn read(body: &Bytes) -> Result<Incoming, Refusal> {
    let text = body.trim_ascii();
    if text.is_empty() {
        return Err(Refusal::new(
            StatusCode::BAD_REQUEST,
            ErrorData::parse_error("the body is empty", None),
        ));
    }
    if text.first() == Some(&b'[') {
        return read_batch(text);
    }
    Ok(match one(text)? {
        Some(message) => Incoming::One(Box::new(message)),
        None => Incoming::Nothing,
    })
}

fn one(text: &[u8]) -> Result<Option<ClientJsonRpcMessage>, Refusal> {
    decode(text).map_err(|error| Refusal::new(StatusCode::BAD_REQUEST, error.error).about(error.id))
}

fn read_batch(text: &[u8]) -> Result<Incoming, Refusal> {
    let parts: Vec<&RawValue> = serde_json::from_slice(text).map_err(|error| {
        let error = ErrorData::parse_error(format!("the message is not JSON: {error}"), None);
        Refusal::new(StatusCode::BAD_REQUEST, error)
    })?;
    if parts.is_empty() || parts.len() > MAX_BATCH {
        return Err(Refusal::bad_request(format!(
            "a batch holds 1 to {MAX_BATCH} messages, not {}",
            parts.len()
        )));
    }
    let mut messages = Vec::new();
    for part in parts {
        messages.extend(one(part.get().as_bytes())?);
    }
    Ok(Incoming::Batch(messages))
}

/// The era of a request without a message.
pub(super) fn era_of_headers(headers: &HeaderMap) -> Result<Era, Refusal> {
    let named = known(version(headers)?)?;
    Ok(named.map_or(Era::Legacy, |version| era(&version)))
}

/// The era of a message, if what it says of itself is the same everywhere.
pub(super) fn era_of(headers: &HeaderMap, message: &ClientJsonRpcMessage) -> Result<Era, Refusal> {
    match message {
        JsonRpcMessage::Request(request) => era_of_request(headers, request),
        _ => era_of_headers(headers),
    }
}

fn era_of_request(headers: &HeaderMap, request: &JsonRpcRequest<ClientRequest>) -> Result<Era, Refusal> {
    let named = version(headers)?;
    if let ClientRequest::InitializeRequest(initialize) = &request.request {
        let asked = initialize.params.protocol_version.as_str();
        // The handshake settles the revision, so the header is not needed yet; but it must not say something else.
        return match named {
            Some(named) if named != asked => Err(Refusal::bad_request(format!(
                "the header MCP-Protocol-Version says `{named}`, `params.protocolVersion` says `{asked}`"
            ))),
            _ => Ok(Era::Legacy),
        };
    }
    let meta = request.request.get_meta();
    let missing = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28);
    let Some(inner) = meta.protocol_version() else {
        let era = known(named)?.map_or(Era::Legacy, |version| era(&version));
        let discovers = matches!(request.request, ClientRequest::DiscoverRequest(_));
        if era == Era::Modern || discovers {
            let message = format!("`params._meta` lacks {}", missing.join(" and "));
            return Err(Refusal::new(
                StatusCode::BAD_REQUEST,
                ErrorData::invalid_params(message, None),
            ));
        }
        return Ok(era);
    };
    match named {
        None => Err(Refusal::mismatch(
            "`params._meta` names a revision, so the header MCP-Protocol-Version has to name it too",
        )),
        Some(named) if named != inner.as_str() => Err(Refusal::mismatch(format!(
            "the header MCP-Protocol-Version says `{named}`, `params._meta` says `{inner}`"
        ))),
        Some(_) if missing.is_empty() => Ok(Era::Modern),
        Some(_) => Ok(era(&inner)),
    }
}

fn era(version: &ProtocolVersion) -> Era {
    if version.has_initialize() {
        Era::Legacy
    } else {
        Era::Modern
    }
}

/// Whether the request is of a revision that mirrors parts of the body in headers.
pub(super) fn has_mirrors(headers: &HeaderMap) -> bool {
    let named = version(headers).ok().flatten();
    named.is_some_and(|version| version >= ProtocolVersion::STANDARD_HEADERS.as_str())
}

fn version(headers: &HeaderMap) -> Result<Option<&str>, Refusal> {
    let Some(value) = headers.get(VERSION) else {
        return Ok(None);
    };
    let text = value.to_str();
    text.map(Some)
        .map_err(|_| Refusal::bad_request("the header MCP-Protocol-Version is no text"))
}

/// Before there was the header, there was this revision and an older one that had no such transport.
fn known(version: Option<&str>) -> Result<Option<ProtocolVersion>, Refusal> {
    let Some(version) = version else {
        return Ok(None);
    };
    let versions = ProtocolVersion::KNOWN_VERSIONS;
    let found = versions.iter().find(|known| known.as_str() == version);
    found.cloned().map(Some).ok_or_else(|| {
        let names: Vec<&str> = versions.iter().map(ProtocolVersion::as_str).collect();
        Refusal::bad_request(format!(
            "the header MCP-Protocol-Version says `{version}`; this server knows {}",
            names.join(", ")
        ))
    })
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue, header};

    use super::accepts;

    #[test]
    fn a_type_is_taken_if_a_range_names_it() {
        for (accept, json, stream) in [
            ("application/json, text/event-stream", true, true),
            ("text/event-stream,application/json", true, true),
            ("APPLICATION/JSON;q=0.1", true, false),
            ("text/*", false, true),
            ("application/*;q=0", false, false),
            ("*/*", true, true),
            ("*/*;q=0.0", false, false),
            ("application/jsonp, text/event", false, false),
            ("*", false, false),
            ("", false, false),
        ] {
            let mut headers = HeaderMap::new();
            headers.append(header::ACCEPT, HeaderValue::from_static(accept));
            let found = (
                accepts(&headers, "application/json"),
                accepts(&headers, "text/event-stream"),
            );
            assert_eq!(found, (json, stream), "{accept}");
        }
        assert!(!accepts(&HeaderMap::new(), "application/json"));
    }
}
