//! The tools of one turn: exec and wait in front of everything, or every tool for itself.
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use codecell::tools::{ClientCall as WaitingCall, ClientTools, Progress};
use codecell::{
    ApprovedTools, Caller, CellResult, Observer, Output, RunContext, Tool, Unobserved, WireShape,
    guard_payload,
};
use codecell_agent::{Answer, BoxFuture, ClientCall, Step, SurfaceCall, Suspended, ToolSurface};
use codecell_llm::{Api, Image};
use serde_json::{Map, Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::scribe::Scribe;
use super::watch::{CellWatch, NestedNews};
use crate::debug;
use crate::wiring::{App, View, VisibleKind, VisibleTool, named_run};

/// The tools of one turn.
pub(super) struct TurnTools {
    inner: Arc<Inner>,
    approved: ApprovedTools,
}

struct Inner {
    app: Arc<App>,
    /// What there was when the turn began.
    view: Arc<View>,
    clients: Option<ClientTools>,
    caller: Caller,
    scribe: Scribe,
    /// Ends the turn.
    give_up: CancellationToken,
    news: Option<mpsc::Sender<NestedNews>>,
    /// The watch over each cell that waits, by run id.
    waiting: Mutex<HashMap<String, Arc<CellWatch>>>,
    direct_calls: AtomicU32,
}

/// What is needed for the tools of a turn.
pub(super) struct Parts {
    pub(super) app: Arc<App>,
    pub(super) view: Arc<View>,
    pub(super) clients: Option<ClientTools>,
    pub(super) caller: Caller,
    pub(super) scribe: Scribe,
    pub(super) give_up: CancellationToken,
    pub(super) news: Option<mpsc::Sender<NestedNews>>,
}

impl TurnTools {
    pub(super) fn new(parts: Parts) -> Self {
        let direct = parts.view.visible.iter();
        let direct = direct.filter(|tool| matches!(tool.kind, VisibleKind::Direct(_)));
        Self {
            approved: ApprovedTools::new(direct.map(|tool| tool.name.as_str())),
            inner: Arc::new(Inner {
                app: parts.app,
                view: parts.view,
                clients: parts.clients,
                caller: parts.caller,
                scribe: parts.scribe,
                give_up: parts.give_up,
                news: parts.news,
                waiting: Mutex::default(),
                direct_calls: AtomicU32::new(0),
            }),
        }
    }
}

impl ToolSurface for TurnTools {
    fn tools(&self) -> Vec<codecell_llm::Tool> {
        let visible = self.inner.view.visible.iter();
        visible
            .map(|tool| as_provider_tool(&tool.name, &tool.listing))
            .collect()
    }

    fn check_payload(&self, api: Api, body: &mut Value) -> Result<(), String> {
        if !self.inner.app.has_code_mode() {
            return Ok(());
        }
        let report = guard_payload(body, wire_shape(api), &self.approved)
            .map_err(|violation| violation.to_string())?;
        debug::payload_guard(&report);
        Ok(())
    }

    fn call(&self, call: SurfaceCall) -> BoxFuture<Step> {
        let inner = Arc::clone(&self.inner);
        Box::pin(async move {
            let Some(tool) = inner.view.visible.iter().find(|tool| tool.name == call.name) else {
                return Step::Done(Answer::error(format!("Tool {} not found", call.name)));
            };
            match &tool.kind {
                VisibleKind::Exec => inner.exec(call).await,
                VisibleKind::Wait => inner.wait(call).await,
                VisibleKind::Direct(target) => {
                    let target = Arc::clone(target);
                    inner.direct(call, target).await
                }
            }
        })
    }
}

impl Inner {
    async fn exec(self: Arc<Self>, call: SurfaceCall) -> Step {
        let watch = Arc::new(CellWatch::new(
            call.id.clone(),
            self.scribe.clone(),
            self.news.clone(),
        ));
        let run = self.run(Arc::<CellWatch>::clone(&watch), &call.cancel);
        let arguments = Value::Object(call.arguments);
        let cell = self.app.shared.exec(&arguments, run).await;
        self.settle(cell, Vec::new(), watch, call.cancel).await
    }

    async fn wait(self: Arc<Self>, call: SurfaceCall) -> Step {
        let arguments = Value::Object(call.arguments);
        let watch = named_run(&arguments).and_then(|run| self.waiting().get(run).cloned());
        let run = self.run(Arc::new(Unobserved), &call.cancel);
        let cell = self.app.shared.wait(&arguments, run).await;
        match watch {
            Some(watch) => self.settle(cell, Vec::new(), watch, call.cancel).await,
            None => Step::Done(cell_answer(&cell)),
        }
    }

    /// A cell that waits for the application is handed on; everything else the model is told.
    ///
    /// The model sees one result for all that happens until then, so it holds all that was printed meanwhile.
    fn settle(
        self: Arc<Self>,
        mut cell: CellResult,
        mut printed: Vec<Output>,
        watch: Arc<CellWatch>,
        cancel: CancellationToken,
    ) -> BoxFuture<Step> {
        Box::pin(async move {
            if let CellResult::Waiting { run_id, output, .. } = &mut cell {
                self.waiting().insert(run_id.clone(), Arc::clone(&watch));
                let calls = self.client_calls_of(&watch);
                if let Some(clients) = self.clients.clone()
                    && !calls.is_empty()
                {
                    printed.append(output);
                    let run_id = std::mem::take(run_id);
                    let ids: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
                    let resume = async move {
                        let moved = cancel.run_until_cancelled(any_answered(&clients, &ids)).await;
                        if moved == Some(false) {
                            // Its image has expired, and the turn waited for nothing else.
                            self.give_up.cancel();
                        }
                        if moved != Some(true) {
                            return Step::Done(Answer::error("Operation aborted"));
                        }
                        let run = self.run(Arc::new(Unobserved), &cancel);
                        let cell = self.app.shared.wait(&json!({ "runId": run_id }), run).await;
                        self.settle(cell, printed, watch, cancel).await
                    };
                    return Step::Suspended(Suspended {
                        calls: calls.into_iter().map(for_the_application).collect(),
                        resume: Box::pin(resume),
                    });
                }
            }
            let (CellResult::Completed { output, .. }
            | CellResult::Waiting { output, .. }
            | CellResult::Failed { output, .. }) = &mut cell;
            printed.append(output);
            *output = within(printed, self.app.settings.max_output_bytes);
            Step::Done(cell_answer(&cell))
        })
    }

    async fn direct(self: Arc<Self>, call: SurfaceCall, target: Arc<Tool>) -> Step {
        let number = self.direct_calls.fetch_add(1, Ordering::Relaxed);
        let watched = Arc::clone(&self);
        let cancel = call.cancel.clone();
        let mut work: BoxFuture<Step> = Box::pin(async move {
            let arguments = Value::Object(call.arguments);
            let answer = watched
                .view
                .call_direct(
                    &target,
                    &arguments,
                    &watched.caller,
                    number,
                    call.cancel,
                    Progress::default(),
                )
                .await;
            Step::Done(direct_answer(answer))
        });
        let Some(clients) = self.clients.clone() else {
            return work.await;
        };
        tokio::select! {
            step = &mut work => step,
            asked = reached(&clients, number) => {
                let resume = async move {
                    cancel.run_until_cancelled(work).await.unwrap_or_else(|| {
                        Step::Done(Answer::error("Operation aborted"))
                    })
                };
                Step::Suspended(Suspended {
                    calls: vec![for_the_application(asked)],
                    resume: Box::pin(resume),
                })
            }
        }
    }

    fn run(&self, observer: Arc<dyn Observer>, cancel: &CancellationToken) -> RunContext {
        RunContext {
            caller: self.caller.clone(),
            surface: Arc::clone(&self.view.surface),
            settings: self.app.settings,
            cancel: cancel.clone(),
            observer,
        }
    }

    fn client_calls_of(&self, watch: &CellWatch) -> Vec<WaitingCall> {
        match (&self.clients, watch.cell()) {
            (Some(clients), Some(cell)) => clients.pending_of(cell),
            _ => Vec::new(),
        }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<CellWatch>>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until one of these calls is answered; false if one is not wanted any more instead.
async fn any_answered(clients: &ClientTools, ids: &[String]) -> bool {
    let mut news = clients.subscribe();
    loop {
        let pending = clients.pending();
        let closed = |id: &&String| pending.iter().all(|call| call.id != **id);
        let closed: Vec<&String> = ids.iter().filter(closed).collect();
        if !closed.is_empty() {
            return closed.into_iter().any(|id| clients.was_answered(id));
        }
        if matches!(news.recv().await, Err(RecvError::Closed)) {
            return false;
        }
    }
}

/// Waits until the direct call of this number has reached the application.
async fn reached(clients: &ClientTools, number: u32) -> WaitingCall {
    let mut news = clients.subscribe();
    loop {
        let pending = clients.pending();
        let ours = pending
            .into_iter()
            .find(|call| call.cell.is_none() && call.number == number);
        if let Some(call) = ours {
            return call;
        }
        if matches!(news.recv().await, Err(RecvError::Closed)) {
            return std::future::pending().await;
        }
    }
}

fn for_the_application(call: WaitingCall) -> ClientCall {
    ClientCall {
        id: call.id,
        name: call.tool,
        arguments: call.arguments.as_str().to_owned(),
    }
}

fn cell_answer(cell: &CellResult) -> Answer {
    Answer {
        text: cell.to_json_text(),
        images: Vec::new(),
        is_error: cell.is_failed(),
    }
}

/// What a model reads and sees of a result in MCP's shape; what is neither text nor picture stays JSON.
fn direct_answer(answer: Result<String, String>) -> Answer {
    let result = match answer {
        Ok(result) => result,
        Err(message) => return Answer::error(message),
    };
    let parsed: Map<String, Value> = serde_json::from_str(&result).unwrap_or_default();
    let blocks = parsed.get("content").and_then(Value::as_array);
    let mut texts = Vec::new();
    let mut images = Vec::new();
    for block in blocks.into_iter().flatten() {
        let field = |name: &str| block.get(name).and_then(Value::as_str).map(str::to_owned);
        match (
            field("type").as_deref(),
            field("text"),
            field("data"),
            field("mimeType"),
        ) {
            (Some("text"), Some(text), ..) => texts.push(text),
            (Some("image"), _, Some(data), Some(mime_type)) => images.push(Image { mime_type, data }),
            _ => texts.push(block.to_string()),
        }
    }
    Answer {
        text: match (texts.is_empty(), parsed.get("structuredContent")) {
            (true, Some(value)) => value.to_string(),
            _ => texts.join("\n"),
        },
        images,
        is_error: matches!(parsed.get("isError"), Some(Value::Bool(true))),
    }
}

/// The head of what was printed that fits `bytes`, and how much was left out. Each result of a cell has that budget,
/// and several of them became one.
fn within(printed: Vec<Output>, bytes: usize) -> Vec<Output> {
    let size = |entry: &Output| serde_json::to_string(entry).map_or(0, |text| text.len());
    let mut room = bytes;
    let mut left_out = 0_usize;
    let mut kept = Vec::new();
    for entry in printed {
        let needed = size(&entry);
        if left_out == 0 && needed <= room {
            room -= needed;
            kept.push(entry);
        } else {
            left_out += needed;
        }
    }
    if left_out > 0 {
        kept.push(Output::Text {
            text: format!("[{left_out} bytes of output left out]"),
        });
    }
    kept
}

pub(super) fn as_provider_tool(name: &str, listing: &Value) -> codecell_llm::Tool {
    codecell_llm::Tool {
        name: name.to_owned(),
        description: listing
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        parameters: listing
            .get("inputSchema")
            .cloned()
            .unwrap_or_else(|| json!({ "type": "object", "properties": {} })),
    }
}

/// How the guard calls what the provider speaks.
fn wire_shape(api: Api) -> WireShape {
    match api {
        Api::OpenAiResponses => WireShape::OpenAiResponses,
        Api::OpenAiCompletions => WireShape::OpenAiCompletions,
        Api::AnthropicMessages => WireShape::AnthropicMessages,
        Api::GoogleGenerateContent => WireShape::GoogleGenerateContent,
    }
}

/// The visible tool that stands for the application's own tool `name`, where it stands for itself.
pub(super) fn visible_client_tool<'v>(view: &'v View, name: &str) -> Option<&'v VisibleTool> {
    view.visible.iter().find(|tool| match &tool.kind {
        VisibleKind::Direct(target) => {
            matches!(target.spec().owner, codecell::Owner::Client(_)) && target.spec().name == name
        }
        VisibleKind::Exec | VisibleKind::Wait => false,
    })
}
