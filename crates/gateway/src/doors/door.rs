//! What an MCP host meets, whatever it came in by: exec, wait and the direct-only tools.
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use codecell::Caller;
use rmcp::model::{
    ClientRequest, CustomRequest, CustomResult, ErrorCode, Implementation, ProtocolVersion,
    ServerCapabilities, ServerConfig, ServerResult, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, Service, ServiceRole, SubscriptionContext};
use rmcp::{ErrorData as McpError, RoleServer, ServerHandler};
use serde_json::{Map, Value};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::changes::ListChanges;
use super::elicit::{ask_the_host, can_ask};
use super::progress::WaitingCells;
use super::visit::Runs;
use super::wire::raw_len;
use crate::debug;
use crate::wiring::{App, Record};

const INSTRUCTIONS: &str = "Codecell stands in front of other MCP servers. Their tools are not listed here: call \
    `exec` with a small JavaScript or TypeScript program that finds and calls them and returns only what matters. \
    If the result says `waiting`, call `wait` with its runId.";

/// Lets rmcp check every request, and answers the tool requests itself.
///
/// rmcp's typed requests and results would refuse odd arguments with a protocol error, drop fields it does not know,
/// and round large integers.
#[derive(Clone)]
pub(crate) struct Door {
    pub(super) handler: Handler,
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

/// What is known of a caller while its requests are answered.
#[derive(Clone)]
pub(super) struct Handler {
    pub(super) app: Arc<App>,
    pub(super) caller: Caller,
    pub(super) runs: Runs,
    /// The trajectory, if one is written.
    pub(super) record: Option<Arc<Record>>,
    /// Fires when everything of this caller has to end.
    pub(super) abort: CancellationToken,
    /// Fires when nothing but answers can be sent any more.
    pub(super) gone: CancellationToken,
    /// Set once the first cell has waited for servers that were never seen before.
    pub(super) servers_awaited: Arc<OnceCell<()>>,
    /// Set once the caller said that it is ready to be told and asked.
    pub(super) initialized: Arc<AtomicBool>,
    /// The suspended cells, so that a `wait` hears of the calls its cell goes on with.
    pub(super) waiting: Arc<WaitingCells>,
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
        // Said again, it would have every question asked again.
        if self.initialized.swap(true, Ordering::Relaxed) {
            return;
        }
        if self.app.may_ask() && can_ask(&context.peer) {
            tokio::spawn(ask_the_host(
                context.peer.clone(),
                self.app.shared.approvals.clone(),
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
