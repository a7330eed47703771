//! How both hooks tell a promotion from everything else.

use codecell_plugins::{HookFailure, HookedCall, Json};
use serde::Deserialize;

/// The id of the tool that promotes. Every call of the process comes by the hooks, and another owner's tool may have
/// the same name: the id decides.
const PROMOTE: &str = "openclaw:shipping:shipping_promote";

/// What the hooks read of the tool's argument.
#[derive(Deserialize)]
pub(crate) struct Promotion {
    pub(crate) id: u64,
}

impl Promotion {
    /// The promotion that `call` asks for, if it asks for one.
    pub(crate) fn asked_by(call: &HookedCall, params: &Json) -> Result<Option<Self>, HookFailure> {
        if call.id.as_ref().is_none_or(|id| id.as_str() != PROMOTE) {
            return Ok(None);
        }
        let promotion = params.read();
        promotion
            .map(Some)
            .map_err(|error| HookFailure::new(error.to_string()))
    }
}
