//! The one way to a tool.

mod cell;
mod check;
mod error;
mod question;
mod run;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

use codecell_bridge::Json;
use codecell_catalog::{Owner, Tool as CatalogTool, ToolSpec};
use futures_util::FutureExt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

pub use self::{
    cell::CellRequest,
    error::{CallError, DeniedReason},
};
use crate::approvals::{Approvals, AskRule};
use crate::audit::{Audit, Trail};
use crate::caller::{Caller, ParentCell};
use crate::executor::{McpRequest, Progress, ToolCall, ToolError, ToolExecutor, ToolResult};
use crate::hooks::{AfterOutcome, HOOK_FAILED, HookedCall, Hooks, Merged};
use crate::loop_guard::LoopGuard;
use crate::policy::{Policy, Verdict};
use crate::trusted::{BLOCKED_BY_POLICY, CallFacts, CallPolicy};

/// Largest argument of one call, as JSON text; beyond it upstream transports fail late and unclearly.
pub const MAX_ARGUMENT_BYTES: usize = 4 << 20;

/// The one way to a tool, for direct and for nested calls.
///
/// A call is checked, then meets in this order: loop guard, tool policy, trusted policies, before hooks, approval, the
/// trusted policies again if its argument was rewritten, the tool, the output contract, after hooks, and the contract
/// again if its value was replaced. It is no [`ToolExecutor`], so a path cannot be put on a path, and nothing on it
/// happens twice.
///
/// Cheap to clone; a run with a policy of its own takes a clone [`with_policy`](Self::with_policy).
#[derive(Clone)]
pub struct ExecutionPath {
    executor: Arc<dyn ToolExecutor>,
    loop_guard: Option<Arc<LoopGuard>>,
    policy: Option<Policy>,
    trusted: Arc<[Arc<dyn CallPolicy>]>,
    hooks: Option<Hooks>,
    approvals: Option<Approvals>,
    ask_rules: Arc<[AskRule]>,
    audit: Option<Arc<dyn Audit>>,
}

/// Everything about a call but the tool and its argument.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// On whose behalf.
    pub caller: Arc<Caller>,
    /// The cell that calls; none for a direct call.
    pub cell: Option<Arc<ParentCell>>,
    /// Number of the call within its cell, for people and for hooks.
    pub number: u32,
    /// Fires when nobody wants the answer any more.
    pub cancel: CancellationToken,
    /// Takes what the tool has to tell before it is done.
    pub progress: Progress,
}

/// A result, and what is to be said beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivered {
    /// What the tool answered.
    pub result: ToolResult,
    /// How the value breaks the schema that an MCP or client tool declares: told, not enforced.
    pub broken_contract: Option<String>,
}

impl ExecutionPath {
    /// A path with nothing on it but the checks that always hold.
    #[must_use]
    pub fn bare(executor: Arc<dyn ToolExecutor>) -> Self {
        Self {
            executor,
            loop_guard: None,
            policy: None,
            trusted: Arc::new([]),
            hooks: None,
            approvals: None,
            ask_rules: Arc::new([]),
            audit: None,
        }
    }

    /// The same with calls that end at another executor.
    #[must_use]
    pub fn with_executor(self, executor: Arc<dyn ToolExecutor>) -> Self {
        Self { executor, ..self }
    }

    /// Refuses tools that the policy removes, although they should not be in any catalog to begin with. The sandbox's
    /// step only counts for sandboxed callers.
    #[must_use]
    pub fn with_policy(self, policy: Policy) -> Self {
        let policy = Some(policy);
        Self { policy, ..self }
    }

    /// Asks trusted policies about every call, in this order.
    #[must_use]
    pub fn with_trusted_policies(self, policies: Vec<Arc<dyn CallPolicy>>) -> Self {
        let trusted = policies.into();
        Self { trusted, ..self }
    }

    /// Asks plugins before and after every call.
    #[must_use]
    pub fn with_hooks(self, hooks: Hooks) -> Self {
        let hooks = Some(hooks);
        Self { hooks, ..self }
    }

    /// Carries questions to people. Without it, whatever asks is refused.
    #[must_use]
    pub fn with_approvals(self, approvals: Approvals) -> Self {
        let approvals = Some(approvals);
        Self { approvals, ..self }
    }

    /// Asks a person about calls that a rule catches; the first rule counts, and a plugin's question replaces it.
    #[must_use]
    pub fn with_ask_rules(self, rules: Vec<AskRule>) -> Self {
        let ask_rules = rules.into();
        Self { ask_rules, ..self }
    }

    /// Keeps a record.
    #[must_use]
    pub fn with_audit(self, audit: Arc<dyn Audit>) -> Self {
        let audit = Some(audit);
        Self { audit, ..self }
    }

    /// Stops runs that repeat themselves.
    #[must_use]
    pub fn with_loop_guard(self, guard: LoopGuard) -> Self {
        let loop_guard = Some(Arc::new(guard));
        Self { loop_guard, ..self }
    }

    /// Carries one call from its argument to its checked result.
    ///
    /// # Errors
    ///
    /// Fails for every reason that [`CallError`] lists.
    pub async fn call(
        &self,
        tool: &Arc<CatalogTool>,
        arguments: Option<&Json>,
        context: CallContext,
    ) -> Result<Delivered, CallError> {
        let trail = Trail::start(self.audit.as_ref(), tool.id().as_str(), &context);
        let outcome = self.carry(tool, arguments, context, &trail).await;
        trail.finish(outcome.as_ref().map(|delivered| delivered.result.is_error));
        outcome
    }

    async fn carry(
        &self,
        tool: &Arc<CatalogTool>,
        arguments: Option<&Json>,
        context: CallContext,
        trail: &Trail,
    ) -> Result<Delivered, CallError> {
        not_cancelled(&context.cancel)?;
        let arguments = match arguments {
            Some(given) if given.as_str() != "null" => given.clone(),
            _ => empty_object(),
        };
        self.admit(tool, &arguments, &context)?;
        let arguments = self.negotiate(tool, arguments, &context, trail).await?;
        not_cancelled(&context.cancel)?;

        let started = Instant::now();
        let call = ToolCall {
            tool: Arc::clone(tool),
            arguments: arguments.clone(),
            caller: Arc::clone(&context.caller),
            cancel: context.cancel.clone(),
            progress: context.progress.clone(),
            cell: context.cell.as_ref().map(|cell| cell.id.clone()),
            number: context.number,
            outside: context
                .cell
                .as_ref()
                .map(|cell| cell.outside.clone())
                .unwrap_or_default(),
        };
        let mut outcome = match run::run(&self.executor, call).await {
            Err(CallError::Aborted) => return Err(CallError::Aborted),
            ran => ran.and_then(|result| deliver(tool, result)),
        };
        if let Some(hooks) = &self.hooks {
            let shown = || AfterOutcome::of(&outcome);
            let event = || hooked(tool, &context);
            let took = started.elapsed();
            let replaced = hooks
                .ask_after(event, &arguments, shown, took, &context.cancel)
                .await;
            not_cancelled(&context.cancel)?;
            if let Some(result) = replaced {
                outcome = deliver(tool, result);
            }
        }
        outcome
    }

    /// Everything that is decided without asking plugins or people.
    fn admit(&self, tool: &CatalogTool, arguments: &Json, context: &CallContext) -> Result<(), CallError> {
        let parsed = check::arguments(tool, arguments)?;
        tool.check_contract().map_err(CallError::Contract)?;
        if let Some(guard) = &self.loop_guard {
            guard
                .note(&context.caller, tool.id(), &parsed)
                .map_err(|reason| blocked(tool, reason, DeniedReason::ToolLoop))?;
        }
        if let Some(policy) = &self.policy
            && let Verdict::Removed(removed) = policy.decide_for(tool.spec(), &context.caller)
        {
            return Err(blocked(
                tool,
                removed.blocks(&tool.spec().name),
                DeniedReason::Policy,
            ));
        }
        self.ask_trusted(tool, arguments, context)
    }

    fn ask_trusted(
        &self,
        tool: &CatalogTool,
        arguments: &Json,
        context: &CallContext,
    ) -> Result<(), CallError> {
        let facts = CallFacts {
            tool,
            caller: &context.caller,
            cell: context.cell.as_deref(),
            number: context.number,
        };
        for policy in self.trusted.iter() {
            let reason = match catch_unwind(AssertUnwindSafe(|| policy.check(&facts, arguments))) {
                Ok(Ok(())) => continue,
                Ok(Err(refusal)) if !refusal.reason.trim().is_empty() => {
                    format!("{BLOCKED_BY_POLICY}: {}", refusal.reason)
                }
                // A policy that panics has not agreed.
                Ok(Err(_)) | Err(_) => BLOCKED_BY_POLICY.to_owned(),
            };
            return Err(blocked(tool, reason, DeniedReason::Policy));
        }
        Ok(())
    }

    /// Asks plugins, then a person if need be; gives the argument that everybody agreed to.
    async fn negotiate(
        &self,
        tool: &CatalogTool,
        arguments: Json,
        context: &CallContext,
        trail: &Trail,
    ) -> Result<Json, CallError> {
        let (params, ask) = match &self.hooks {
            None => (arguments.clone(), None),
            Some(hooks) => {
                let event = || hooked(tool, context);
                let any = |_: &Json, rewritten: Json| Ok(rewritten);
                match hooks
                    .ask_before(event, arguments.clone(), &context.cancel, any)
                    .await
                {
                    Merged::Go { params, ask } => (params, ask),
                    Merged::Blocked(reason) => {
                        return Err(blocked(tool, reason, DeniedReason::PluginBeforeToolCall));
                    }
                    Merged::Unusable(error) => return Err(error),
                    Merged::Aborted => return Err(CallError::Aborted),
                }
            }
        };
        let rewritten = params != arguments;
        if rewritten {
            // Nobody is asked about an argument that could not be used.
            check::arguments(tool, &params).map_err(|error| unusable(tool, &error))?;
        }
        let ask = ask.map(question::by_plugin).or_else(|| self.rule_for(tool));
        if let Some(ask) = ask {
            let subject = question::Subject {
                tool: tool.id().as_str(),
                arguments: &params,
                caller: &context.caller,
                cell: context.cell.as_ref(),
                number: context.number,
                cancel: &context.cancel,
            };
            self.settle(ask, subject, trail).await?;
        }
        if rewritten {
            self.ask_trusted(tool, &params, context)?;
        }
        Ok(params)
    }

    /// Carries a request to an MCP server that is no tool call, such as `resources/read`.
    ///
    /// It meets what a call of a tool of that server and that name would meet, up to the request itself: policy,
    /// hooks, approval, audit. Otherwise a server whose tools are denied could still be read.
    ///
    /// # Errors
    ///
    /// Fails when something on the way does not let it through, and when the server fails.
    pub async fn mcp_request(
        &self,
        server: &str,
        method: &'static str,
        params: Option<&Json>,
        context: CallContext,
    ) -> Result<Json, CallError> {
        let tool = request_as_tool(server, method);
        let trail = Trail::start(self.audit.as_ref(), tool.id().as_str(), &context);
        let outcome = self
            .carry_request(&tool, server, method, params, context, &trail)
            .await;
        trail.finish(outcome.as_ref().map(|_| false));
        outcome
    }

    async fn carry_request(
        &self,
        tool: &CatalogTool,
        server: &str,
        method: &'static str,
        params: Option<&Json>,
        context: CallContext,
        trail: &Trail,
    ) -> Result<Json, CallError> {
        not_cancelled(&context.cancel)?;
        let given = params.cloned().unwrap_or_else(empty_object);
        self.admit(tool, &given, &context)?;
        let agreed = self.negotiate(tool, given.clone(), &context, trail).await?;
        not_cancelled(&context.cancel)?;
        let request = McpRequest {
            server: server.to_owned(),
            method,
            params: (params.is_some() || agreed != given).then_some(agreed),
            cancel: context.cancel.clone(),
        };
        let running = AssertUnwindSafe(self.executor.mcp_request(request)).catch_unwind();
        tokio::select! {
            biased;
            () = context.cancel.cancelled() => Err(CallError::Aborted),
            ended = running => match ended {
                Ok(answer) => answer.map_err(CallError::Tool),
                Err(_) => {
                    let message = format!("`{method}` of server `{server}` crashed");
                    Err(ToolError::new("internal_error", message).into())
                }
            },
        }
    }
}

/// A request to a server as policies, hooks and people see it: a tool of that server, called like the method.
fn request_as_tool(server: &str, method: &str) -> CatalogTool {
    let owner = Owner::Mcp(server.to_owned());
    let anything = json!({ "type": "object" });
    let reads = json!({ "readOnlyHint": true });
    CatalogTool::alone(ToolSpec {
        annotations: Some(reads),
        ..ToolSpec::new(owner, method, "", anything)
    })
}

fn empty_object() -> Json {
    Json::from(Value::Object(serde_json::Map::new()))
}

fn not_cancelled(cancel: &CancellationToken) -> Result<(), CallError> {
    if cancel.is_cancelled() {
        return Err(CallError::Aborted);
    }
    Ok(())
}

fn blocked(tool: &CatalogTool, reason: String, denied: DeniedReason) -> CallError {
    CallError::Blocked {
        tool: tool.id().to_string(),
        reason,
        denied,
    }
}

/// The caller cannot correct what a hook wrote, so it is not told to correct its arguments.
fn unusable(tool: &CatalogTool, error: &CallError) -> CallError {
    let reason = format!("{HOOK_FAILED}: it rewrote the arguments to unusable ones: {error}");
    blocked(tool, reason, DeniedReason::PluginBeforeToolCall)
}

fn deliver(tool: &CatalogTool, result: ToolResult) -> Result<Delivered, CallError> {
    let broken_contract = check::output(tool, &result)?;
    Ok(Delivered {
        result,
        broken_contract,
    })
}

fn hooked(tool: &CatalogTool, context: &CallContext) -> HookedCall {
    HookedCall {
        tool: tool.spec().name.clone(),
        id: Some(tool.id().clone()),
        tool_kind: None,
        tool_input_kind: None,
        caller: Arc::clone(&context.caller),
        cell: context.cell.as_ref().map(|cell| cell.id.clone()),
        number: context.number,
    }
}

impl AfterOutcome {
    fn of(outcome: &Result<Delivered, CallError>) -> Self {
        match outcome {
            Ok(delivered) => Self::Returned(delivered.result.clone()),
            Err(error) => Self::Failed {
                code: error.code(),
                message: error.to_string(),
            },
        }
    }
}
