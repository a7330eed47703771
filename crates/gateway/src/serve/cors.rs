//! Lets browsers show answers to the pages that may call. Which pages those are is settled at the door.
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, header};

/// What pages may send.
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");

/// What pages may read of the answers' headers.
const EXPOSED: HeaderValue = HeaderValue::from_static("x-codecell-session, mcp-session-id, retry-after");

/// How long a browser need not ask again, in seconds.
const MAX_AGE: HeaderValue = HeaderValue::from_static("600");

/// Whether a browser asks what a page may send. It asks without the page's token.
pub(super) fn is_preflight(request: &Request) -> bool {
    let headers = request.headers();
    request.method() == Method::OPTIONS
        && headers.contains_key(header::ORIGIN)
        && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Tells the browser that pages of `origin` may call and may see the answer.
pub(super) fn allow(origin: HeaderValue, headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(
        header::ACCESS_CONTROL_ALLOW_HEADERS,
        // Any but this one, which has to be named.
        HeaderValue::from_static("*, authorization"),
    );
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
}
