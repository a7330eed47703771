//! What a request is told that gets no further than the transport: a status, and a JSON-RPC error, which is what
//! clients of this protocol read.
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use rmcp::ErrorData;
use rmcp::model::{ErrorCode, RequestId, ServerJsonRpcMessage};

use super::answer::json;
use crate::doors::encode;

/// Why a request was not taken.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    /// Boxed, because it is large and rare.
    error: Box<ErrorData>,
    id: Option<RequestId>,
    header: Option<(header::HeaderName, HeaderValue)>,
}

impl Refusal {
    /// The error of the protocol under this status.
    pub(super) fn new(status: StatusCode, error: ErrorData) -> Self {
        Self {
            status,
            error: Box::new(error),
            id: None,
            header: None,
        }
    }

    /// Something about the request is wrong, and cannot succeed as it is.
    pub(super) fn bad_request(message: impl Into<String>) -> Self {
        Self::of_status(StatusCode::BAD_REQUEST, message)
    }

    /// What the status says is said in a sentence as well.
    pub(super) fn of_status(status: StatusCode, message: impl Into<String>) -> Self {
        Self::new(status, ErrorData::invalid_request(message.into(), None))
    }

    /// What the headers say is not what the body says.
    pub(super) fn mismatch(message: impl Into<String>) -> Self {
        Self::new(
            StatusCode::BAD_REQUEST,
            ErrorData::header_mismatch(message.into(), None),
        )
    }

    /// There is too much of something for now.
    pub(super) fn busy(status: StatusCode, message: impl Into<String>) -> Self {
        let error = ErrorData::new(ErrorCode(-32_000), message.into(), None);
        Self {
            header: Some((header::RETRY_AFTER, HeaderValue::from_static("5"))),
            ..Self::new(status, error)
        }
    }

    /// The body could not be read.
    pub(super) fn unread(rejected: &BytesRejection) -> Self {
        if rejected.status() == StatusCode::PAYLOAD_TOO_LARGE {
            return Self::of_status(
                StatusCode::PAYLOAD_TOO_LARGE,
                "the body is too large: `serve.maxBodyBytes` of the configuration is the limit",
            );
        }
        Self::bad_request(rejected.body_text())
    }

    /// The session that was named is not there: it ended, or never was.
    pub(super) fn no_session() -> Self {
        Self::of_status(
            StatusCode::NOT_FOUND,
            "there is no such session, or not any more: begin another with `initialize`",
        )
    }

    /// No session was named.
    pub(super) fn session_needed() -> Self {
        Self::bad_request(
            "the header Mcp-Session-Id is missing: begin a session with `initialize` and send the id it gives",
        )
    }

    /// The process is about to end.
    pub(super) fn closing() -> Self {
        let error = ErrorData::internal_error("the server is shutting down", None);
        Self::new(StatusCode::SERVICE_UNAVAILABLE, error)
    }

    /// Something failed that no request should be able to make fail.
    pub(super) fn internal(error: &anyhow::Error) -> Self {
        tracing::error!(error = format!("{error:#}"), "a request at /mcp cannot be served");
        let error = ErrorData::internal_error("the server cannot write what it has to", None);
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, error)
    }

    /// This revision has no such method of HTTP.
    pub(super) fn method() -> Self {
        Self {
            header: Some((header::ALLOW, HeaderValue::from_static("POST"))),
            ..Self::of_status(
                StatusCode::METHOD_NOT_ALLOWED,
                "revisions since 2026-07-28 know POST only",
            )
        }
    }

    /// Says which request is meant, if one is and that is not said yet.
    #[must_use]
    pub(super) fn about(mut self, id: Option<RequestId>) -> Self {
        self.id = self.id.or(id);
        self
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let message = ServerJsonRpcMessage::error(*self.error, self.id);
        let mut response = json(self.status, encode(&message).unwrap_or_default());
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, value);
        }
        response
    }
}
