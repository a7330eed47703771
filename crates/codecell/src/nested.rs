//! Carries the calls of one cell: path to exact tool, check, execute, shape of the answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use codecell_bridge::{
    Answer, BoxFuture, Call, Json, Notice, NoticeKind, Outcome, Request, Thrown, ToolHost,
};
use codecell_catalog::{LookupError, Reach, Replay, Tool};
use codecell_namespaces::{PathError, Target};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::executor::{CallOutcome, McpRequest, NestedCall, Observer, ToolCall, ToolError, ToolResult};
use crate::query::{Counted, Question};
use crate::settings::Settings;
use crate::surface::Surface;

/// Largest argument of one call, as JSON text; beyond it upstream transports fail late and unclearly.
const MAX_ARGUMENT_BYTES: usize = 4 << 20;

/// Longest error text taken over from a tool.
const MAX_TOOL_ERROR_CHARS: usize = 4_000;

/// The host of one run's cells.
pub(crate) struct CellHost {
    surface: Arc<Surface>,
    settings: Settings,
    observer: Arc<dyn Observer>,
    searches: AtomicUsize,
    describes: AtomicUsize,
    span: tracing::Span,
}

impl CellHost {
    pub(crate) fn new(surface: Arc<Surface>, settings: Settings, observer: Arc<dyn Observer>) -> Self {
        Self {
            surface,
            settings,
            observer,
            searches: AtomicUsize::new(0),
            describes: AtomicUsize::new(0),
            span: tracing::Span::current(),
        }
    }

    pub(crate) fn search_count(&self) -> usize {
        self.searches.load(Ordering::Relaxed)
    }

    pub(crate) fn describe_count(&self) -> usize {
        self.describes.load(Ordering::Relaxed)
    }

    async fn carry(&self, call: &Call, cancel: CancellationToken) -> Result<Carried, Thrown> {
        match &call.request {
            Request::CallValue { target, args } => {
                let tool = self.guest_tool(target)?;
                let result = self.execute(tool, args.as_ref(), cancel).await?;
                value_of(tool, result)
            }
            Request::Call { target, args } => {
                let tool = self.guest_tool(target)?;
                let result = self.execute(tool, args.as_ref(), cancel).await?;
                envelope(tool, &result)
            }
            Request::Namespace { path, args } => self.namespace(path, args, cancel).await,
            Request::Timer { .. } | Request::Yield { .. } => {
                Err(Thrown::error("internal_error", "timers and yields are no calls"))
            }
        }
    }

    fn guest_tool(&self, target: &str) -> Result<&Tool, Thrown> {
        self.surface
            .catalog()
            .lookup(target.trim(), Reach::Guest)
            .map_err(|error| {
                let mut message = error.to_string();
                if let LookupError::McpOnly { id } = &error
                    && let Some(path) = self.surface.mcp().path_of(id.as_str())
                {
                    message = format!("`{id}` is an MCP tool: call `{path}({{ … }})`");
                }
                match self.surface.mcp().unavailable(target.trim()) {
                    Some(unavailable) => thrown_by_path(&unavailable),
                    None => Thrown::error("invalid_input", message),
                }
            })
    }

    async fn namespace(
        &self,
        path: &[String],
        args: &[Json],
        cancel: CancellationToken,
    ) -> Result<Carried, Thrown> {
        let Some(("MCP", rest)) = path.split_first().map(|(global, rest)| (global.as_str(), rest)) else {
            let name = path.join(".");
            return Err(Thrown::error(
                "invalid_input",
                format!("unknown code mode namespace: {name}"),
            ));
        };
        let segments: Vec<&str> = rest.iter().map(String::as_str).collect();
        let target = self
            .surface
            .mcp()
            .resolve(&segments)
            .map_err(|error| thrown_by_path(&error))?;
        let argument = object_argument(args)?;
        let (server, method) = match target {
            Target::Tool(id) => {
                let tool = self.surface.catalog().get(id.as_str()).ok_or_else(|| {
                    Thrown::error(
                        "invalid_input",
                        format!("tool `{}` is not in this run's catalog", id.as_str()),
                    )
                })?;
                let result = self.execute(tool, argument, cancel).await?;
                return Ok(mcp_result(tool, result));
            }
            Target::ResourcesList { server } => (server, "resources/list"),
            Target::ResourcesRead { server } => (server, "resources/read"),
            Target::PromptsList { server } => (server, "prompts/list"),
            Target::PromptsGet { server } => (server, "prompts/get"),
        };
        let request = McpRequest {
            server,
            method,
            params: argument.cloned(),
            cancel,
        };
        match self.surface.executor().mcp_request(request).await {
            Ok(result) => Ok(Carried::plain(result)),
            Err(error) => Err(thrown_by_tool(error)),
        }
    }

    /// Checks the argument, runs the tool, checks what came back.
    async fn execute(
        &self,
        tool: &Tool,
        args: Option<&Json>,
        cancel: CancellationToken,
    ) -> Result<ToolResult, Thrown> {
        let arguments = match args {
            None => empty_object(),
            Some(args) if args.as_str() == "null" => empty_object(),
            Some(args) => args.clone(),
        };
        if arguments.len() > MAX_ARGUMENT_BYTES {
            return Err(Thrown {
                name: "RangeError".into(),
                message: format!(
                    "the argument of `{}` is {} bytes of JSON; the limit is {MAX_ARGUMENT_BYTES}. Pass less, or pass \
                     it in parts",
                    tool.id().as_str(),
                    arguments.len()
                ),
                code: Some("invalid_input".into()),
                ..Thrown::default()
            });
        }
        let parsed: Value = arguments.read().map_err(|error| {
            Thrown::error("invalid_input", format!("the argument cannot be read: {error}"))
        })?;
        tool.check_arguments(&parsed).map_err(|error| Thrown {
            name: "TypeError".into(),
            message: error.to_string(),
            code: Some("invalid_input".into()),
            ..Thrown::default()
        })?;
        tool.check_contract()
            .map_err(|error| Thrown::error("invalid_contract", error.to_string()))?;
        let spec = tool.spec();
        let call = ToolCall {
            tool: tool.id().clone(),
            owner: spec.owner.clone(),
            name: spec.name.clone(),
            arguments,
            read_only: says_read_only(spec.annotations.as_ref()),
            cancel,
        };
        self.surface
            .executor()
            .execute(call)
            .await
            .map_err(thrown_by_tool)
    }
}

impl ToolHost for CellHost {
    fn query(&self, question: &str) -> Result<String, Thrown> {
        let question = Question::read(question)?;
        match question.counted() {
            Counted::Search => self.searches.fetch_add(1, Ordering::Relaxed),
            Counted::Describe => self.describes.fetch_add(1, Ordering::Relaxed),
            Counted::Nothing => 0,
        };
        question.answer(&self.surface, &self.settings)
    }

    fn check_replay(&self, requests: &[&Request]) -> Result<(), String> {
        let namespaces = requests
            .iter()
            .filter(|request| matches!(request, Request::Namespace { .. }))
            .count();
        if namespaces > 0 && namespaces == requests.len() {
            return Err(
                "restart-safe code mode cannot call plugin namespaces. Run the cell without restartSafe."
                    .into(),
            );
        }
        let safe = |request: &&Request| match request {
            Request::Call { target, .. } | Request::CallValue { target, .. } => {
                self.surface.catalog().get(target.trim()).is_some_and(|tool| {
                    Reach::Guest.sees(tool.spec().owner.source()) && tool.replay() == Replay::Safe
                })
            }
            Request::Namespace { .. } => false,
            Request::Timer { .. } | Request::Yield { .. } => true,
        };
        if requests.iter().all(safe) {
            return Ok(());
        }
        Err("restart-safe code mode cannot call side-effecting tools. Call replay-safe tools by their exact id, or \
             run the cell without restartSafe."
            .into())
    }

    fn call(self: Arc<Self>, call: Call, cancel: CancellationToken) -> BoxFuture<Outcome> {
        let tool = call.request.target().unwrap_or_default();
        let span = tracing::info_span!(parent: &self.span, "nested_call", tool = %tool, number = call.id.0);
        let seen = NestedCall {
            number: call.id.0,
            tool,
            arguments: first_argument(&call.request),
        };
        let work = async move {
            let start = Instant::now();
            self.observer.call_started(&seen);
            let carried = self.carry(&call, cancel).await;
            let (outcome, end) = match carried {
                Ok(Carried { value, warning }) => {
                    let tool_error = warning
                        .as_ref()
                        .is_some_and(|(kind, _)| *kind == NoticeKind::ToolError);
                    let warning = warning.map(|(kind, message)| Notice {
                        kind,
                        tool: Some(seen.tool.clone()),
                        message,
                        position: None,
                    });
                    let end = if tool_error {
                        CallOutcome::ToolError
                    } else {
                        CallOutcome::Ok
                    };
                    (
                        Outcome {
                            answer: Answer::Ok(value),
                            warning,
                        },
                        end,
                    )
                }
                Err(thrown) => (Answer::Error(thrown).into(), CallOutcome::Failed),
            };
            let took = start.elapsed();
            tracing::info!(outcome = ?end, took_us = took.as_micros(), "nested call ended");
            self.observer.call_finished(&seen, took, end);
            outcome
        };
        Box::pin(work.instrument(span))
    }
}

/// A value for the guest, and what to say of it.
struct Carried {
    value: Json,
    warning: Option<(NoticeKind, String)>,
}

impl Carried {
    fn plain(value: Json) -> Self {
        Self { value, warning: None }
    }
}

/// The structured value of a tool; a tool that says it failed throws.
fn value_of(tool: &Tool, result: ToolResult) -> Result<Carried, Thrown> {
    if result.is_error {
        return Err(Thrown {
            details: Some(result.result.clone()),
            ..Thrown::error("tool_error", error_text(tool, &result.result))
        });
    }
    let warning = check_contract(tool, result.value.as_ref())?;
    Ok(Carried {
        value: result.value.unwrap_or(result.result),
        warning,
    })
}

/// `{ tool, result }`, error results included.
fn envelope(tool: &Tool, result: &ToolResult) -> Result<Carried, Thrown> {
    let warning = if result.is_error {
        Some((NoticeKind::ToolError, error_text(tool, &result.result)))
    } else {
        check_contract(tool, result.value.as_ref())?
    };
    let entry = serde_json::to_string(tool.entry())
        .map_err(|error| Thrown::error("internal_error", error.to_string()))?;
    let text = format!(r#"{{"tool":{entry},"result":{}}}"#, result.result);
    let value = Json::parse(&text).map_err(|error| Thrown::error("internal_error", error.to_string()))?;
    Ok(Carried { value, warning })
}

/// An MCP result as it came; MCP tools are never trusted, so a broken contract is only told.
fn mcp_result(tool: &Tool, result: ToolResult) -> Carried {
    let warning = if result.is_error {
        Some((NoticeKind::ToolError, error_text(tool, &result.result)))
    } else {
        check_contract(tool, result.value.as_ref()).unwrap_or_default()
    };
    Carried {
        value: result.result,
        warning,
    }
}

/// Checks a value against what its tool declares: a trusted tool fails, any other one is reported.
fn check_contract(tool: &Tool, value: Option<&Json>) -> Result<Option<(NoticeKind, String)>, Thrown> {
    if tool.spec().output_schema.is_none() {
        return Ok(None);
    }
    let parsed = match value.map(Json::read::<Value>) {
        Some(Ok(parsed)) => parsed,
        Some(Err(_)) | None => Value::Null,
    };
    match tool.check_output(&parsed) {
        Ok(()) => Ok(None),
        Err(error) if tool.spec().owner.is_trusted() => {
            Err(Thrown::error("output_contract", error.to_string()))
        }
        Err(error) => Ok(Some((NoticeKind::Contract, error.to_string()))),
    }
}

/// The one object that a namespace function takes.
fn object_argument(args: &[Json]) -> Result<Option<&Json>, Thrown> {
    match args {
        [] => Ok(None),
        [argument] if argument.as_str().trim_start().starts_with('{') => Ok(Some(argument)),
        [argument] if argument.as_str() == "null" => Ok(None),
        _ => Err(Thrown::type_error(
            "MCP namespace tools accept one object argument, for example `({ name: \"x\" })`.",
        )),
    }
}

/// What a tool that failed says of it: the text of its result, or the result.
fn error_text(tool: &Tool, result: &Json) -> String {
    #[derive(serde::Deserialize)]
    struct Texts {
        #[serde(default)]
        content: Vec<Value>,
    }
    let texts: Vec<String> = result
        .read::<Texts>()
        .map(|result| {
            result
                .content
                .iter()
                .filter_map(|block| block.get("text")?.as_str().map(str::to_owned))
                .collect()
        })
        .unwrap_or_default();
    let said = if texts.is_empty() {
        result.as_str().to_owned()
    } else {
        texts.join("\n")
    };
    bounded(format!("tool `{}` reported an error: {said}", tool.id().as_str()))
}

fn thrown_by_path(error: &PathError) -> Thrown {
    let code = match error {
        PathError::Unavailable { .. } => "unavailable",
        _ => "invalid_input",
    };
    Thrown::error(code, error.to_string())
}

fn thrown_by_tool(error: ToolError) -> Thrown {
    Thrown {
        details: error.details,
        ..Thrown::error(error.code, bounded(error.message))
    }
}

/// Keeps the head of a text that somebody else wrote.
fn bounded(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(MAX_TOOL_ERROR_CHARS) {
        let left_out = text.len() - end;
        text.truncate(end);
        text.push_str(&format!("… ({left_out} bytes left out)"));
    }
    text
}

fn first_argument(request: &Request) -> Option<Json> {
    match request {
        Request::Call { args, .. } | Request::CallValue { args, .. } => args.clone(),
        Request::Namespace { args, .. } => args.first().cloned(),
        Request::Timer { .. } | Request::Yield { .. } => None,
    }
}

fn empty_object() -> Json {
    Json::from(Value::Object(serde_json::Map::new()))
}

/// A hint, never a permission: it only decides whether a broken connection may repeat the call.
fn says_read_only(annotations: Option<&Value>) -> bool {
    annotations
        .and_then(|hints| hints.get("readOnlyHint"))
        .and_then(Value::as_bool)
        .unwrap_or(false)
}
