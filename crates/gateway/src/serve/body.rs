//! Bodies of requests.
use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use serde_json::Value;

use super::error::ApiError;

/// A body that is JSON, whatever its content type says: `curl -d` says something else.
pub(super) struct JsonBody(pub(super) Value);

impl<S: Send + Sync> FromRequest<S> for JsonBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let bytes = Bytes::from_request(request, state).await.map_err(unread)?;
        serde_json::from_slice(&bytes)
            .map(Self)
            .map_err(|error| ApiError::bad_request("invalid_json", format!("the body is no JSON: {error}")))
    }
}

fn unread(rejected: BytesRejection) -> ApiError {
    if rejected.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return ApiError::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "request_too_large",
            "the body is too large: `serve.maxBodyBytes` of the configuration is the limit",
        );
    }
    ApiError::bad_request("invalid_body", rejected.body_text())
}
