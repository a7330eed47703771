//! The body of a request, as JSON.
use std::sync::Arc;

use axum::body::{BodyDataStream, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use futures_util::StreamExt;
use serde_json::Value;

use super::super::Gateway;
use super::super::error::ApiError;

/// What is read of a body that is too large, so that its sender hears of that. One who is cut off while it still
/// sends hears nothing.
const DRAINED_BYTES: usize = 64 << 20;

/// A body that says it is JSON, or says nothing, and is.
pub(in crate::serve) struct JsonBody(pub(in crate::serve) Value);

impl FromRequest<Arc<Gateway>> for JsonBody {
    type Rejection = ApiError;

    async fn from_request(request: Request, gateway: &Arc<Gateway>) -> Result<Self, ApiError> {
        check_type(request.headers())?;
        let limit = gateway.front.max_body_bytes;
        let body = read(request.into_body().into_data_stream(), limit).await?;
        serde_json::from_slice(&body)
            .map(Self)
            .map_err(|error| ApiError::bad_request("invalid_json", format!("the body is no JSON: {error}")))
    }
}

fn check_type(headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(given) = headers.get(header::CONTENT_TYPE) else {
        return Ok(());
    };
    let given = given.to_str().unwrap_or_default();
    let essence = given
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    let is_json = essence == "application/json"
        || essence
            .strip_prefix("application/")
            .is_some_and(|kind| kind.ends_with("+json"));
    if is_json {
        return Ok(());
    }
    Err(ApiError::new(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        "unsupported_media_type",
        format!("the body must be `application/json`, not `{given}`"),
    ))
}

async fn read(mut pieces: BodyDataStream, limit: usize) -> Result<Vec<u8>, ApiError> {
    let mut body = Vec::new();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_| {
            ApiError::bad_request("invalid_body", "the body broke off: send the request again")
        })?;
        if body.len() + piece.len() > limit {
            drain(pieces, &piece).await;
            return Err(ApiError::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "request_too_large",
                format!("the body is larger than {limit} bytes: raise `serve.maxBodyBytes` to allow more"),
            ));
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

async fn drain(mut pieces: BodyDataStream, first: &Bytes) {
    let mut drained = first.len();
    while drained < DRAINED_BYTES {
        match pieces.next().await {
            Some(Ok(piece)) => drained += piece.len(),
            Some(Err(_)) | None => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn only_json_is_taken() {
        for (given, expected) in [
            (None, Ok(())),
            (Some("application/json"), Ok(())),
            (Some("Application/JSON; charset=utf-8"), Ok(())),
            (Some("application/vnd.api+json"), Ok(())),
            (Some("text/plain"), Err("text/plain")),
            (
                Some("application/x-www-form-urlencoded"),
                Err("application/x-www-form-urlencoded"),
            ),
            (Some(""), Err("")),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(given) = given {
                headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(given));
            }
            let checked = check_type(&headers).map_err(|error| error.body.message);
            let expected =
                expected.map_err(|given| format!("the body must be `application/json`, not `{given}`"));
            assert_eq!(checked, expected);
        }
    }

    #[tokio::test]
    async fn a_body_is_read_up_to_the_limit() {
        let read = |bytes: usize| read(Body::from(vec![b' '; bytes]).into_data_stream(), 1024);
        assert_eq!(read(1024).await, Ok(vec![b' '; 1024]));
        let error = read(1025).await.unwrap_err();
        assert_eq!(
            (error.status.as_u16(), error.body.message.as_str()),
            (
                413,
                "the body is larger than 1024 bytes: raise `serve.maxBodyBytes` to allow more"
            )
        );
    }
}
