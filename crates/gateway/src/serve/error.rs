//! Errors as clients of this API know them: a status, and `{ "error": { message, type, param, code } }`.
use axum::Json;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Value, json};

/// What OpenAI's clients go by before they repeat a request that failed, which by themselves they do after every 5xx.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// An error that a client is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ApiError {
    pub(super) status: StatusCode,
    pub(super) body: ErrorBody,
    /// Seconds after which it may be tried again.
    pub(super) retry_after: Option<u64>,
    /// Whether the same request would do things a second time. Clients that repeat failed requests are told not to.
    pub(super) has_effects: bool,
}

/// The inner object of an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct ErrorBody {
    pub(super) message: String,
    pub(super) r#type: &'static str,
    pub(super) param: Option<String>,
    pub(super) code: Option<&'static str>,
}

impl ApiError {
    /// The kind of error follows from the status.
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        let r#type = match status.as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            429 => "rate_limit_error",
            400..500 => "invalid_request_error",
            502..=504 => "upstream_error",
            _ => "server_error",
        };
        Self {
            status,
            body: ErrorBody {
                message: message.into(),
                r#type,
                param: None,
                code: Some(code),
            },
            retry_after: None,
            has_effects: false,
        }
    }

    /// The request is wrong, and cannot succeed as it is.
    pub(super) fn bad_request(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message)
    }

    /// Names the field that is wrong, as `messages[1].content`.
    #[must_use]
    pub(super) fn at(mut self, param: impl Into<String>) -> Self {
        self.body.param = Some(param.into());
        self
    }

    /// Says that something was done before this went wrong, if it was.
    #[must_use]
    pub(super) fn after_effects(mut self, has_effects: bool) -> Self {
        self.has_effects = has_effects;
        self
    }

    /// The error as the data of an event in a stream that has begun.
    pub(super) fn to_value(&self) -> Value {
        json!({ "error": self.body })
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.to_value())).into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.has_effects {
            headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

pub(super) async fn unknown_route(uri: axum::http::Uri) -> ApiError {
    ApiError::new(
        StatusCode::NOT_FOUND,
        "unknown_route",
        format!("there is nothing at `{}`", uri.path()),
    )
}

pub(super) async fn wrong_method(method: axum::http::Method, uri: axum::http::Uri) -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "wrong_method",
        format!("`{}` does not take {method}", uri.path()),
    )
}
