//! Asks hooks one after another and merges what they say.

use std::sync::Arc;
use std::time::Duration;

use codecell_bridge::Json;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::event::{AfterEvent, AfterOutcome, BeforeEvent, HookFailure, HookedCall};
use super::registry::Hooks;
use crate::approvals::ApprovalAsk;
use crate::executor::ToolResult;
use crate::path::CallError;

/// What is told when a hook gave no decision.
pub(crate) const HOOK_FAILED: &str = "Tool call blocked because before_tool_call hook failed";

/// What is told when a hook blocked without a reason.
const BLOCKED_BY_HOOK: &str = "Tool call blocked by plugin hook";

/// What the hooks before a call came to.
pub(crate) enum Merged {
    /// The call goes on with these params, after the approval if one is asked for.
    Go {
        params: Json,
        ask: Option<(String, ApprovalAsk)>,
    },
    /// A hook blocked it, or failed.
    Blocked(String),
    /// What a hook wrote cannot be used.
    Unusable(CallError),
    /// Nobody wants the answer any more.
    Aborted,
}

impl Hooks {
    pub(crate) fn has_before(&self) -> bool {
        self.before_chain().is_some()
    }

    /// Asks every before hook in turn. `settle` takes the params before and after a hook's rewrite and gives those
    /// that count, or why there are none.
    pub(crate) async fn ask_before(
        &self,
        call: impl FnOnce() -> HookedCall,
        mut params: Json,
        cancel: &CancellationToken,
        settle: impl Fn(&Json, Json) -> Result<Json, CallError> + Send,
    ) -> Merged {
        let Some(chain) = self.before_chain() else {
            return Merged::Go { params, ask: None };
        };
        let call = call();
        let mut ask: Option<(String, ApprovalAsk)> = None;
        for hook in chain.iter() {
            let event = BeforeEvent {
                call: call.clone(),
                params: params.clone(),
            };
            let run = Arc::clone(&hook.run);
            let decided = contained(hook.time_limit, async move { run.before(event).await });
            let decided = tokio::select! {
                biased;
                () = cancel.cancelled() => return Merged::Aborted,
                decided = decided => decided,
            };
            let decision = match decided {
                Ok(decision) => decision,
                Err(failure) => {
                    tracing::warn!(plugin = &*hook.owner, tool = call.tool, %failure, "before_tool_call hook failed");
                    return Merged::Blocked(HOOK_FAILED.to_owned());
                }
            };
            if let Some(reason) = decision.block {
                let told = if reason.trim().is_empty() {
                    BLOCKED_BY_HOOK.to_owned()
                } else {
                    reason
                };
                return Merged::Blocked(told);
            }
            // From the first question on, the params are what the question shows.
            if ask.is_some() {
                continue;
            }
            if let Some(rewritten) = decision.params {
                match settle(&params, rewritten) {
                    Ok(settled) => params = settled,
                    Err(error) => return Merged::Unusable(error),
                }
            }
            ask = decision.require_approval.map(|ask| (hook.owner.to_string(), ask));
        }
        Merged::Go { params, ask }
    }

    /// Shows every after hook the outcome in turn; gives the replaced result, if any hook replaced one.
    pub(crate) async fn ask_after(
        &self,
        call: impl FnOnce() -> HookedCall,
        params: &Json,
        outcome: impl FnOnce() -> AfterOutcome,
        took: Duration,
        cancel: &CancellationToken,
    ) -> Option<ToolResult> {
        let chain = self.after_chain()?;
        let (call, mut outcome) = (call(), outcome());
        let mut replaced = None;
        for hook in chain.iter() {
            let event = AfterEvent {
                call: call.clone(),
                params: params.clone(),
                outcome: outcome.clone(),
                took,
            };
            let run = Arc::clone(&hook.run);
            let looked = contained(hook.time_limit, async move { run.after(event).await });
            let looked = tokio::select! {
                biased;
                () = cancel.cancelled() => break,
                looked = looked => looked,
            };
            match (looked, &outcome) {
                (Ok(Some(result)), AfterOutcome::Returned(_)) => {
                    outcome = AfterOutcome::Returned(result.clone());
                    replaced = Some(result);
                }
                (Ok(Some(_)), AfterOutcome::Failed { .. }) => {
                    tracing::warn!(
                        plugin = &*hook.owner,
                        tool = call.tool,
                        "after_tool_call hook replaces no failure"
                    );
                }
                (Ok(None), _) => {}
                (Err(failure), _) => {
                    tracing::warn!(plugin = &*hook.owner, tool = call.tool, %failure, "after_tool_call hook failed");
                }
            }
        }
        replaced
    }
}

/// Runs a handler in a task of its own, so that its panic is its own. The limit ends the wait; the task goes on.
async fn contained<T: Send + 'static>(
    time_limit: Duration,
    handler: impl Future<Output = Result<T, HookFailure>> + Send + 'static,
) -> Result<T, HookFailure> {
    match timeout(time_limit, tokio::spawn(handler.in_current_span())).await {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) => Err(HookFailure::new("the handler panicked")),
        Err(_) => Err(HookFailure::new(format!(
            "no answer within {} ms",
            time_limit.as_millis()
        ))),
    }
}
