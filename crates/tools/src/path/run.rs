//! The call itself: cancelled when nobody wants it, contained when it panics.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use codecell_bridge::BoxFuture;
use futures_util::FutureExt;
use tracing::Instrument;

use super::error::CallError;
use crate::executor::{ToolCall, ToolError, ToolExecutor, ToolResult};

/// How long a cancelled tool may take to stop what it does: to tell a server, to end a process.
const CLEAN_UP: Duration = Duration::from_secs(5);

/// Carries a call to its tool. Returns at once when the call is cancelled; a result that comes later is lost.
pub(super) async fn run(executor: &Arc<dyn ToolExecutor>, call: ToolCall) -> Result<ToolResult, CallError> {
    let cancel = call.cancel.clone();
    let tool = Arc::clone(&call.tool);
    let executor = Arc::clone(executor);
    let running = AssertUnwindSafe(async move { executor.execute(call).await }).catch_unwind();
    let mut running: BoxFuture<_> = Box::pin(running);
    tokio::select! {
        biased;
        () = cancel.cancelled() => {
            // Dropping it here would stop it in the middle of its own clean-up.
            tokio::spawn(tokio::time::timeout(CLEAN_UP, running).in_current_span());
            Err(CallError::Aborted)
        }
        ended = &mut running => match ended {
            // A tool that stopped because of the abort has no say in how the call ended.
            Ok(_) if cancel.is_cancelled() => Err(CallError::Aborted),
            Ok(outcome) => outcome.map_err(CallError::Tool),
            Err(_) => {
                let message = format!("tool `{}` crashed; its effect is unknown", tool.id());
                Err(ToolError::new("internal_error", message).into())
            }
        },
    }
}
