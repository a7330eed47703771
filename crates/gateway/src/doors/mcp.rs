//! `codecell mcp`: exec, wait and the direct-only tools as an MCP server over stdio.
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use codecell::tools::Progress;
use codecell::{Caller, CellResult, RunContext};
use rmcp::model::{
    ClientRequest, CustomRequest, CustomResult, ErrorCode, Implementation, ProtocolVersion,
    ServerCapabilities, ServerConfig, ServerResult, SubscriptionFilter,
};
use rmcp::service::{
    NotificationContext, QuitReason, RequestContext, ServerInitializeError, Service, ServiceExt, ServiceRole,
    SubscriptionContext,
};
use rmcp::{ErrorData as McpError, RoleServer, ServerHandler};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OnceCell, watch};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::elicit::{ask_the_host, can_ask};
use super::progress::{CellProgress, Listener, WaitingCells, narrate};
use super::stdio::{Stdio, raw_len, raw_result};
use crate::debug;
use crate::wiring::{App, Record, View, VisibleKind, VisibleTool};

/// How long running cells may go on after the caller closed its side.
///
/// Long enough for `echo … | codecell mcp` to see its answer, shorter than any host waits before it kills us.
const END_GRACE: Duration = Duration::from_millis(500);

/// How long a caller may rely on the tool list. It changes only when a server's direct-only tools do, and then
/// callers are told as well.
const LIST_TTL: Duration = Duration::from_secs(300);

const INSTRUCTIONS: &str = "Codecell stands in front of other MCP servers. Their tools are not listed here: call \
    `exec` with a small JavaScript or TypeScript program that finds and calls them and returns only what matters. \
    If the result says `waiting`, call `wait` with its runId.";

/// Serves one connection until its peer closes it or `stop` fires, then ends everything that was started for it.
///
/// # Errors
///
/// Fails when the connection's task died, which no input should be able to cause.
pub(crate) async fn serve_stdio<R, W>(
    app: Arc<App>,
    stdio: Stdio<R, W>,
    stop: CancellationToken,
) -> anyhow::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let abort = CancellationToken::new();
    let caller = app.caller();
    let door = Door {
        handler: Handler {
            app: Arc::clone(&app),
            record: app.record(&caller)?,
            caller,
            abort: abort.clone(),
            gone: CancellationToken::new(),
            servers_awaited: Arc::default(),
            waiting: Arc::default(),
        },
    };
    let session = door.handler.caller.session.clone();
    let record = door.handler.record.clone();
    let closed = stdio.closed();
    let stopping = tokio::spawn({
        let (abort, stop, gone) = (abort.clone(), stop.clone(), door.handler.gone.clone());
        async move {
            tokio::select! {
                () = stop.cancelled() => gone.cancel(),
                () = closed.cancelled() => {
                    gone.cancel();
                    stop.run_until_cancelled(tokio::time::sleep(END_GRACE)).await;
                }
            }
            abort.cancel();
        }
    });
    let ended = serve(door, stdio, stop).await;
    stopping.abort();
    abort.cancel();
    app.end_session(&session);
    if let Some(record) = record {
        record.close().await;
    }
    ended
}

async fn serve<R, W>(door: Door, stdio: Stdio<R, W>, stop: CancellationToken) -> anyhow::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    loop {
        match door.clone().serve_with_ct(stdio.clone(), stop.clone()).await {
            Ok(service) => {
                return match service.waiting().await? {
                    QuitReason::JoinError(error) => Err(error.into()),
                    _ => Ok(()),
                };
            }
            Err(ServerInitializeError::Cancelled | ServerInitializeError::ConnectionClosed(_)) => {
                return Ok(());
            }
            Err(ServerInitializeError::TransportError { error, .. }) => {
                tracing::warn!(%error, "the caller cannot be written to");
                return Ok(());
            }
            // The handshake was refused or skipped. The peer was told; it may do better next time.
            Err(error) => tracing::warn!(%error, "the handshake failed, waiting for another"),
        }
    }
}

/// Lets rmcp check every request, and answers the tool requests itself.
///
/// rmcp's typed requests and results would refuse odd arguments with a protocol error, drop fields it does not know,
/// and round large integers.
#[derive(Clone)]
struct Door {
    handler: Handler,
}

impl Service<RoleServer> for Door {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, McpError> {
        let request = match request {
            ClientRequest::ListToolsRequest(_) => {
                ClientRequest::CustomRequest(CustomRequest::new(TOOLS_LIST, None))
            }
            ClientRequest::CallToolRequest(request) => {
                let mut params = Map::new();
                params.insert("name".into(), request.params.name.into_owned().into());
                if let Some(arguments) = request.params.arguments {
                    params.insert("arguments".into(), Value::Object(arguments));
                }
                ClientRequest::CustomRequest(CustomRequest::new(TOOLS_CALL, Some(params.into())))
            }
            other => other,
        };
        self.handler.handle_request(request, context).await
    }

    async fn handle_notification(
        &self,
        notification: <RoleServer as ServiceRole>::PeerNot,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), McpError> {
        self.handler.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&self.handler)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ServerHandler::supported_protocol_versions(&self.handler)
    }
}

const TOOLS_LIST: &str = "tools/list";
const TOOLS_CALL: &str = "tools/call";

#[derive(Clone)]
struct Handler {
    app: Arc<App>,
    caller: Caller,
    /// The trajectory, if one is written.
    record: Option<Arc<Record>>,
    /// Fires when everything of this connection has to end.
    abort: CancellationToken,
    /// Fires when nothing but answers can be sent any more.
    gone: CancellationToken,
    /// Set once the first cell has waited for servers that were never seen before.
    servers_awaited: Arc<OnceCell<()>>,
    /// The suspended cells, so that a `wait` hears of the calls its cell goes on with.
    waiting: Arc<WaitingCells>,
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = if self.app.list_can_change() {
            ServerCapabilities::builder()
                .enable_tools()
                .enable_tool_list_changed()
                .build()
        } else {
            ServerCapabilities::builder().enable_tools().build()
        };
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("codecell", env!("CARGO_PKG_VERSION")).with_title("Codecell"),
            )
            .with_instructions(INSTRUCTIONS)
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, McpError> {
        match request.method.as_str() {
            TOOLS_LIST => told(TOOLS_LIST, None, self.list(&context)).await,
            TOOLS_CALL => {
                let params = request.params.unwrap_or_default();
                let tool = params.get("name").and_then(Value::as_str).map(str::to_owned);
                // On the heap: the layers above would move it from stack to stack, and it is large.
                let call = Box::pin(self.call(params, context));
                told(TOOLS_CALL, tool.as_deref(), call).await
            }
            method => Err(McpError::new(
                ErrorCode::METHOD_NOT_FOUND,
                method.to_owned(),
                None,
            )),
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if self.app.may_ask() && can_ask(&context.peer) {
            tokio::spawn(ask_the_host(
                context.peer.clone(),
                self.app.approvals.clone(),
                self.caller.session.clone(),
                self.gone.clone(),
            ));
        }
        if self.app.list_can_change() {
            let abort = self.abort.clone();
            let mut changes = ListChanges::of(&self.app);
            let tell = async move {
                while changes.next().await && context.peer.notify_tool_list_changed().await.is_ok() {}
            };
            tokio::spawn(async move {
                tokio::select! {
                    () = abort.cancelled() => {}
                    () = tell => {}
                }
            });
        }
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // rmcp cuts this down to what `get_info` advertises.
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), McpError> {
        let mut changes = ListChanges::of(&self.app);
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = self.abort.cancelled() => return Ok(()),
                changed = changes.next() => {
                    if !changed || context.sink().notify_tool_list_changed().await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
    }
}

/// Carries out a request and tells those who look on.
async fn told(
    method: &str,
    tool: Option<&str>,
    work: impl Future<Output = Result<CustomResult, McpError>>,
) -> Result<CustomResult, McpError> {
    let start = Instant::now();
    let answer = work.await;
    let bytes = answer.as_ref().map_or(0, raw_len);
    debug::request(method, tool, bytes, start.elapsed());
    answer
}

/// Waits for the tool list to become another.
struct ListChanges {
    app: Arc<App>,
    generation: watch::Receiver<u64>,
    known: Vec<VisibleTool>,
}

impl ListChanges {
    fn of(app: &Arc<App>) -> Self {
        Self {
            generation: app.upstreams.watch(),
            known: app.view().visible.clone(),
            app: Arc::clone(app),
        }
    }

    /// True when the list has changed, false when it cannot any more.
    async fn next(&mut self) -> bool {
        while self.generation.changed().await.is_ok() {
            let now = self.app.view();
            let same = now.visible.len() == self.known.len()
                && now
                    .visible
                    .iter()
                    .zip(&self.known)
                    .all(|(now, known)| now.looks_like(known));
            if !same {
                self.known = now.visible.clone();
                return true;
            }
        }
        false
    }
}

impl Handler {
    async fn list(&self, context: &RequestContext<RoleServer>) -> Result<CustomResult, McpError> {
        if !self.app.has_code_mode() {
            // Without exec there is nothing to show until the servers are there.
            self.await_servers(&context.ct).await;
        }
        let view = self.app.view();
        let tools: Vec<&Value> = view.visible.iter().map(|tool| &tool.listing).collect();
        debug::tool_list(&tools);
        result(&ToolList {
            tools,
            hints: ListHints::of(context),
        })
    }

    /// The first cell waits for servers that were never seen before: without their tools it could only fail.
    async fn await_servers(&self, cancel: &CancellationToken) {
        let awaited = self
            .servers_awaited
            .get_or_init(|| self.app.await_unknown_servers());
        cancel.run_until_cancelled(awaited).await;
    }

    async fn call(
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
        let progress = match &tool.kind {
            VisibleKind::Wait => self.waiting.of(&arguments),
            VisibleKind::Exec | VisibleKind::Direct(_) => Arc::default(),
        };
        let messages = progress.listen();
        let listener = context.meta.get_progress_token().map(|token| Listener {
            peer: context.peer.clone(),
            token,
            gone: self.gone.clone(),
        });
        let cancel = self.abort.child_token();
        let work = async {
            match &tool.kind {
                VisibleKind::Exec => {
                    self.await_servers(&cancel).await;
                    let run = self.run_context(&progress, &cancel);
                    let cell = self.app.exec(&arguments, run).await;
                    self.waiting.note(&cell, &progress);
                    cell_answer(&cell, &context)
                }
                VisibleKind::Wait => {
                    let run = self.run_context(&progress, &cancel);
                    let cell = self.app.wait(&arguments, run).await;
                    self.waiting.note(&cell, &progress);
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
                        .call_direct(target, &arguments, &self.caller, cancel.clone(), progress)
                        .await;
                    if let Some((record, call)) = noted {
                        record.direct_result(&call, &answer, start.elapsed());
                    }
                    Ok(raw_result(direct_answer(answer, &context)))
                }
            }
        };
        let work = cancelling(&context.ct, &cancel, work);
        narrate(work, &progress, messages, listener).await
    }

    fn run_context(&self, progress: &Arc<CellProgress>, cancel: &CancellationToken) -> RunContext {
        RunContext {
            caller: self.caller.clone(),
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

#[derive(Serialize)]
struct ToolList<'a> {
    tools: Vec<&'a Value>,
    #[serde(flatten)]
    hints: Option<ListHints>,
}

/// What a list says of itself since revision 2026-07-28.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListHints {
    result_type: &'static str,
    ttl_ms: u128,
    cache_scope: &'static str,
}

impl ListHints {
    fn of(context: &RequestContext<RoleServer>) -> Option<Self> {
        is_modern(context).then_some(Self {
            result_type: COMPLETE,
            ttl_ms: LIST_TTL.as_millis(),
            cache_scope: "private",
        })
    }
}

const COMPLETE: &str = "complete";

fn is_modern(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

fn result(value: &impl Serialize) -> Result<CustomResult, McpError> {
    match serde_json::to_string(value) {
        Ok(text) => Ok(raw_result(text)),
        Err(error) => Err(McpError::internal_error(
            format!("the result cannot be written: {error}"),
            None,
        )),
    }
}

/// A cell's result as MCP's result: the same JSON twice, structured and as text.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CellAnswer<'a> {
    content: [TextBlock<'a>; 1],
    structured_content: &'a RawValue,
    is_error: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    result_type: Option<&'static str>,
}

#[derive(Serialize)]
struct TextBlock<'a> {
    r#type: &'static str,
    text: &'a str,
}

fn cell_answer(cell: &CellResult, context: &RequestContext<RoleServer>) -> Result<CustomResult, McpError> {
    let text = cell.to_json_text();
    let structured_content = serde_json::from_str(&text)
        .map_err(|error| McpError::internal_error(format!("the result cannot be written: {error}"), None))?;
    result(&CellAnswer {
        content: [TextBlock {
            r#type: "text",
            text: &text,
        }],
        structured_content,
        is_error: cell.is_failed(),
        result_type: is_modern(context).then_some(COMPLETE),
    })
}

/// An upstream server's answer, unchanged but for the protocol field that this side of the gateway owns.
fn direct_answer(answer: Result<String, String>, context: &RequestContext<RoleServer>) -> String {
    let text = match answer {
        Ok(result) => result,
        Err(message) => {
            json!({ "content": [{ "type": "text", "text": message }], "isError": true }).to_string()
        }
    };
    match text.trim_start().strip_prefix('{') {
        Some(fields) if is_modern(context) => {
            let comma = if fields.trim_start().starts_with('}') {
                ""
            } else {
                ","
            };
            format!(r#"{{"resultType":"{COMPLETE}"{comma}{fields}"#)
        }
        _ => text,
    }
}
