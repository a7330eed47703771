//! The outer `exec`: hooks and approval for a program, before it runs.

use std::sync::Arc;

use codecell_bridge::Json;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::error::{CallError, DeniedReason};
use super::{ExecutionPath, not_cancelled, question};
use crate::audit::Trail;
use crate::caller::Caller;
use crate::hooks::{HOOK_FAILED, HookedCall, Hooks, Merged};

/// The name of the outer call, for hooks and approvals.
const EXEC: &str = "exec";

/// The two spellings of a program.
const CODE: &str = "code";
const COMMAND: &str = "command";

/// A program that is about to run.
#[derive(Clone, Debug)]
pub struct CellRequest<'a> {
    /// The arguments of `exec`.
    pub arguments: Value,
    /// The language, if it is known.
    pub language: Option<&'a str>,
    /// On whose behalf.
    pub caller: Arc<Caller>,
    /// Fires when nobody wants the answer any more.
    pub cancel: CancellationToken,
}

impl ExecutionPath {
    /// Whether a program has to be shown to [`before_cell`](Self::before_cell) at all.
    #[must_use]
    pub fn watches_cells(&self) -> bool {
        self.hooks.as_ref().is_some_and(Hooks::has_before)
    }

    /// Asks hooks, and a person if a hook says so, about the outer `exec`; gives the arguments as they then are.
    /// Hooks see the program as both `code` and `command`, and what they write to one of them goes to both.
    ///
    /// Costs nothing while there are no hooks. Says nothing about the calls the program makes: each has its own
    /// hooks and its own approval.
    ///
    /// # Errors
    ///
    /// Fails when the call is blocked or aborted, or when `code` and `command` differ.
    pub async fn before_cell(&self, request: CellRequest<'_>) -> Result<Value, CallError> {
        let Some(hooks) = self.hooks.as_ref().filter(|hooks| hooks.has_before()) else {
            return Ok(request.arguments);
        };
        not_cancelled(&request.cancel)?;
        let Value::Object(mut members) = request.arguments else {
            return Ok(request.arguments);
        };
        if !mirror(&mut members)? {
            // There is no program; that is for the one who reads the arguments to say.
            return Ok(Value::Object(members));
        }
        let call = || HookedCall {
            tool: EXEC.to_owned(),
            id: None,
            tool_kind: Some("code_mode_exec"),
            tool_input_kind: match request.language {
                Some("javascript") => Some("javascript"),
                Some("typescript") => Some("typescript"),
                _ => None,
            },
            caller: Arc::clone(&request.caller),
            cell: None,
            number: 0,
        };
        let arguments = Json::from(Value::Object(members));
        let (params, ask) = match hooks.ask_before(call, arguments, &request.cancel, follow).await {
            Merged::Go { params, ask } => (params, ask),
            Merged::Blocked(reason) => return Err(blocked(reason)),
            Merged::Unusable(error) => return Err(error),
            Merged::Aborted => return Err(CallError::Aborted),
        };
        if let Some(ask) = ask {
            let subject = question::Subject {
                tool: EXEC,
                arguments: &params,
                caller: &request.caller,
                cell: None,
                number: 0,
                cancel: &request.cancel,
            };
            let trail = Trail::of_cell(self.audit.as_ref(), EXEC, &request.caller);
            self.settle(question::by_plugin(ask), subject, &trail).await?;
        }
        not_cancelled(&request.cancel)?;
        params
            .read()
            .map_err(|error| CallError::Unreadable(error.to_string()))
    }
}

fn blocked(reason: String) -> CallError {
    CallError::Blocked {
        tool: EXEC.to_owned(),
        reason,
        denied: DeniedReason::PluginBeforeToolCall,
    }
}

/// Writes a program to both spellings; false if there is none.
fn mirror(members: &mut Map<String, Value>) -> Result<bool, CallError> {
    match (members.get(CODE).cloned(), members.get(COMMAND).cloned()) {
        (None, None) => return Ok(false),
        (Some(code), None) => members.insert(COMMAND.to_owned(), code),
        (None, Some(command)) => members.insert(CODE.to_owned(), command),
        (Some(code), Some(command)) if code == command => None,
        (Some(_), Some(_)) => return Err(CallError::CodeAndCommand),
    };
    Ok(true)
}

/// Lets the spelling that a hook did not touch follow the one that it did, so that the next hook sees them agree. One
/// that the hook left out counts as untouched.
fn follow(before: &Json, after: Json) -> Result<Json, CallError> {
    let program = before
        .read::<Map<String, Value>>()
        .ok()
        .and_then(|mut members| members.remove(CODE));
    let Ok(mut members) = after.read::<Map<String, Value>>() else {
        return Err(blocked(format!(
            "{HOOK_FAILED}: it rewrote the arguments to no object"
        )));
    };
    let changed = |name: &str| {
        let now = members.get(name).filter(|now| program.as_ref() != Some(*now));
        now.cloned()
    };
    let settled = match (changed(CODE), changed(COMMAND)) {
        (Some(code), Some(command)) if code != command => return Err(CallError::CodeAndCommand),
        (Some(code), _) => Some(code),
        (None, Some(command)) => Some(command),
        (None, None) => program,
    };
    for name in [CODE, COMMAND] {
        members.insert(name.to_owned(), settled.clone().unwrap_or_default());
    }
    Ok(Json::from(Value::Object(members)))
}
