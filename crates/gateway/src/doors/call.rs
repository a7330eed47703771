//! Carries out the requests about tools.
use std::sync::Arc;
use std::time::Instant;

use codecell::tools::Progress;
use codecell::{Caller, RunContext};
use rmcp::model::CustomResult;
use rmcp::service::RequestContext;
use rmcp::{ErrorData as McpError, RoleServer};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::answer::{cell_answer, direct_answer, tool_list};
use super::door::Handler;
use super::progress::{CellProgress, Listener, WaitingCell, narrate};
use crate::debug;
use crate::wiring::{View, VisibleKind};

impl Handler {
    pub(super) async fn list(&self, context: &RequestContext<RoleServer>) -> Result<CustomResult, McpError> {
        if !self.app.has_code_mode() {
            // Without exec there is nothing to show until the servers are there.
            self.await_servers(&context.ct).await;
        }
        let view = self.app.view();
        let tools: Vec<&Value> = view.visible.iter().map(|tool| &tool.listing).collect();
        debug::tool_list(&tools);
        tool_list(tools, context)
    }

    /// The first cell waits for servers that were never seen before: without their tools it could only fail.
    async fn await_servers(&self, cancel: &CancellationToken) {
        let awaited = self
            .servers_awaited
            .get_or_init(|| self.app.shared.await_unknown_servers());
        cancel.run_until_cancelled(awaited).await;
    }

    pub(super) async fn call(
        &self,
        params: Value,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, McpError> {
        let Some(name) = params.get("name").and_then(Value::as_str) else {
            return Err(McpError::invalid_params(
                "`name` must be a string: the tool to call",
                None,
            ));
        };
        let view = self.app.view();
        let Some(tool) = view.visible.iter().find(|tool| tool.name == name) else {
            return Err(McpError::invalid_params(unknown_tool(name, &view), None));
        };
        let arguments = params
            .get("arguments")
            .cloned()
            .unwrap_or_else(|| Value::Object(Map::new()));
        let known = match &tool.kind {
            VisibleKind::Wait => self.waiting.of(&arguments),
            VisibleKind::Exec | VisibleKind::Direct(_) => None,
        };
        let WaitingCell { caller, progress } = known.unwrap_or_else(|| WaitingCell {
            caller: self.runs.next(&self.caller),
            progress: Arc::default(),
        });
        let messages = progress.listen();
        let listener = context.meta.get_progress_token().map(|token| Listener {
            peer: context.peer.clone(),
            token,
            gone: self.gone.clone(),
            cancelled: context.ct.clone(),
        });
        let cancel = self.abort.child_token();
        let work = async {
            match &tool.kind {
                VisibleKind::Exec => {
                    self.await_servers(&cancel).await;
                    let run = self.run_context(&caller, &progress, &cancel);
                    let cell = self.app.shared.exec(&arguments, run).await;
                    self.waiting.note(&cell, &caller, &progress);
                    cell_answer(&cell, &context)
                }
                VisibleKind::Wait => {
                    let run = self.run_context(&caller, &progress, &cancel);
                    let cell = self.app.shared.wait(&arguments, run).await;
                    self.waiting.note(&cell, &caller, &progress);
                    cell_answer(&cell, &context)
                }
                VisibleKind::Direct(target) => {
                    let heard = Arc::clone(&progress);
                    let progress = Progress::to(Arc::new(move |message| heard.say(message)));
                    let start = Instant::now();
                    let noted = self.record.as_ref().map(|record| {
                        let id = Uuid::new_v4().simple().to_string();
                        (record, record.direct_call(id, target.id().as_str(), &arguments))
                    });
                    let answer = self
                        .app
                        .view()
                        .call_direct(target, &arguments, &caller, 0, cancel.clone(), progress)
                        .await;
                    if let Some((record, call)) = noted {
                        record.direct_result(&call, &answer, start.elapsed());
                    }
                    Ok(direct_answer(answer, &context))
                }
            }
        };
        let work = cancelling(&context.ct, &cancel, work);
        narrate(work, &progress, messages, listener).await
    }

    fn run_context(
        &self,
        caller: &Caller,
        progress: &Arc<CellProgress>,
        cancel: &CancellationToken,
    ) -> RunContext {
        RunContext {
            caller: caller.clone(),
            surface: Arc::clone(&self.app.view().surface),
            settings: self.app.settings,
            cancel: cancel.clone(),
            observer: match &self.record {
                Some(record) => Arc::new((Arc::clone(progress), Arc::clone(record))),
                None => Arc::<CellProgress>::clone(progress),
            },
        }
    }
}

/// Passes a cancellation of the request on to the work, and still waits for the work to end.
async fn cancelling<T>(from: &CancellationToken, to: &CancellationToken, work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    tokio::select! {
        result = &mut work => result,
        () = from.cancelled() => {
            to.cancel();
            work.await
        }
    }
}

fn unknown_tool(name: &str, view: &View) -> String {
    let known: Vec<String> = view
        .visible
        .iter()
        .map(|tool| format!("`{}`", tool.name))
        .collect();
    format!(
        "no tool is named `{name}`; this server has {}. Tools of other servers are called from a program given to `exec`",
        known.join(", ")
    )
}
