//! Answers as HTTP has them: one message, or a stream of them.
use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;

use super::count::Counted;
use super::events::{Event, Kind, Reader};

/// Longest silence of a stream. A comment is sent then, so that nobody on the way takes the connection for dead, and so
/// that we find out if it is.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How long a client waits before it comes back for a stream that broke.
const RETRY: Duration = Duration::from_secs(3);

/// One message as the whole answer.
pub(super) fn json(status: StatusCode, text: impl Into<Body>) -> Response {
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))];
    (status, kind, text.into()).into_response()
}

/// The messages of a stream as they come. `first` was read from it before.
pub(super) fn stream(first: Option<Event>, reader: Reader, held: Option<Counted>) -> Response {
    let state = (first, reader, held);
    let body = unfold(state, |(first, mut reader, held)| async move {
        let text = match first {
            Some(event) => framed(reader.stream(), &event),
            None => match tokio::time::timeout(KEEP_ALIVE, reader.next()).await {
                Ok(event) => framed(reader.stream(), &event?),
                Err(_silence) => Bytes::from_static(b": still here\n\n"),
            },
        };
        Some((Ok::<_, Infallible>(text), (None, reader, held)))
    });
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/event-stream"),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        // Asks proxies to pass on every event at once.
        (
            HeaderName::from_static("x-accel-buffering"),
            HeaderValue::from_static("no"),
        ),
    ];
    (headers, Body::from_stream(body)).into_response()
}

/// An event as text. Messages are one line each.
fn framed(stream: Option<u64>, event: &Event) -> Bytes {
    let mut text = Vec::with_capacity(event.text.len() + 64);
    if let Some(stream) = stream {
        text.extend_from_slice(format!("id: {stream}-{}\n", event.number).as_bytes());
    }
    if let Kind::Greeting = event.kind {
        text.extend_from_slice(format!("retry: {}\n", RETRY.as_millis()).as_bytes());
    } else {
        text.extend_from_slice(b"event: message\n");
    }
    text.extend_from_slice(b"data: ");
    text.extend_from_slice(&event.text);
    text.extend_from_slice(b"\n\n");
    text.into()
}
