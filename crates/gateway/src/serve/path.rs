//! The name at the end of a path.
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;

use super::error::ApiError;

/// The one name in a path, its `%`-escapes resolved: keys of sessions have colons and slashes in them.
pub(super) struct Named(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Named {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let named: Result<Path<String>, PathRejection> = Path::from_request_parts(parts, state).await;
        match named {
            Ok(Path(name)) => Ok(Self(name)),
            Err(rejected) => Err(ApiError::bad_request("invalid_path", rejected.body_text())),
        }
    }
}
