//! Carries the calls of one cell: path to exact tool, execution path, shape of the answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use codecell_bridge::{
    Answer, BoxFuture, Call, Json, Notice, NoticeKind, Outcome, Request, Thrown, ToolHost,
};
use codecell_catalog::{LookupError, Reach, Replay, Tool, ToolId};
use codecell_namespaces::{OpenNamespaces, Target as McpTarget};
use codecell_tools::{CallContext, Caller, ParentCell, Progress};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::answer::{
    Carried, envelope, mcp_result, thrown_by_call, thrown_by_namespace, thrown_by_path, value_of,
};
use crate::observer::{CallEnd, CallOutcome, NestedCall, Observer};
use crate::query::{Counted, Question};
use crate::settings::Settings;
use crate::surface::Surface;

/// The host of one run's cells.
pub(crate) struct CellHost {
    surface: Arc<Surface>,
    settings: Settings,
    observer: Arc<dyn Observer>,
    caller: Arc<Caller>,
    cell: Arc<ParentCell>,
    namespaces: OpenNamespaces,
    searches: AtomicUsize,
    describes: AtomicUsize,
    span: tracing::Span,
}

/// What a request turned out to ask for.
enum Target {
    /// A tool, and which form its answer takes.
    Tool {
        tool: Arc<Tool>,
        arguments: Option<Json>,
        form: Form,
    },
    /// A request to an MCP server that is no tool call.
    Mcp {
        server: String,
        method: &'static str,
        params: Option<Json>,
    },
}

/// What a program gets of a tool's answer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// The structured value.
    Value,
    /// `{ tool, result }`.
    Envelope,
    /// The result in MCP's shape.
    Mcp,
}

impl Target {
    fn tool_id(&self) -> Option<ToolId> {
        match self {
            Self::Tool { tool, .. } => Some(tool.id().clone()),
            Self::Mcp { .. } => None,
        }
    }
}

impl CellHost {
    pub(crate) fn new(
        surface: Arc<Surface>,
        settings: Settings,
        observer: Arc<dyn Observer>,
        caller: Arc<Caller>,
        cell: ParentCell,
    ) -> Self {
        Self {
            // Created before the program runs, so that all its legs see the same.
            namespaces: surface.open_namespaces(&caller),
            surface,
            settings,
            observer,
            caller,
            cell: Arc::new(cell),
            searches: AtomicUsize::new(0),
            describes: AtomicUsize::new(0),
            span: tracing::Span::current(),
        }
    }

    /// The id of the cell.
    pub(crate) fn cell(&self) -> &str {
        &self.cell.id
    }

    /// The submitted program.
    pub(crate) fn source(&self) -> &str {
        &self.cell.source
    }

    pub(crate) fn search_count(&self) -> usize {
        self.searches.load(Ordering::Relaxed)
    }

    pub(crate) fn describe_count(&self) -> usize {
        self.describes.load(Ordering::Relaxed)
    }

    /// Finds out what is asked for, before anything happens.
    fn target(&self, request: &Request) -> Result<Target, Thrown> {
        let (target, args, form) = match request {
            Request::CallValue { target, args } => (target, args, Form::Value),
            Request::Call { target, args } => (target, args, Form::Envelope),
            Request::Namespace { path, args } => return self.namespace(path, args),
            Request::Timer { .. } | Request::Yield { .. } => {
                return Err(Thrown::error("internal_error", "timers and yields are no calls"));
            }
        };
        Ok(Target::Tool {
            tool: self.guest_tool(target)?,
            arguments: args.clone(),
            form,
        })
    }

    fn guest_tool(&self, target: &str) -> Result<Arc<Tool>, Thrown> {
        let found = self.surface.catalog().lookup(target, Reach::Guest);
        let tool = found.map_err(|error| {
            let mut message = error.to_string();
            if let LookupError::McpOnly { id } = &error
                && let Some(path) = self.surface.mcp().path_of(id.as_str())
            {
                message = format!("`{id}` is an MCP tool: call `{path}({{ … }})`");
            }
            match self.surface.mcp().unavailable(target) {
                Some(unavailable) => thrown_by_path(&unavailable),
                None => Thrown::error("invalid_input", message),
            }
        })?;
        self.shared(tool.id())
    }

    fn shared(&self, id: &ToolId) -> Result<Arc<Tool>, Thrown> {
        self.surface.catalog().shared(id.as_str()).ok_or_else(|| {
            Thrown::error(
                "invalid_input",
                format!("tool `{}` is not in this run's catalog", id.as_str()),
            )
        })
    }

    fn namespace(&self, path: &[String], args: &[Json]) -> Result<Target, Thrown> {
        let Some(("MCP", rest)) = path.split_first().map(|(global, rest)| (global.as_str(), rest)) else {
            return self.plugin_namespace(path, args);
        };
        let segments: Vec<&str> = rest.iter().map(String::as_str).collect();
        let target = self
            .surface
            .mcp()
            .resolve(&segments)
            .map_err(|error| thrown_by_path(&error))?;
        let argument = object_argument(args)?.cloned();
        let (server, method) = match target {
            McpTarget::Tool(id) => {
                return Ok(Target::Tool {
                    tool: self.shared(&id)?,
                    arguments: argument,
                    form: Form::Mcp,
                });
            }
            McpTarget::ResourcesList { server } => (server, "resources/list"),
            McpTarget::ResourcesRead { server } => (server, "resources/read"),
            McpTarget::PromptsList { server } => (server, "prompts/list"),
            McpTarget::PromptsGet { server } => (server, "prompts/get"),
        };
        Ok(Target::Mcp {
            server,
            method,
            params: argument,
        })
    }

    fn plugin_namespace(&self, path: &[String], args: &[Json]) -> Result<Target, Thrown> {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        let args: Vec<&str> = args.iter().map(Json::as_str).collect();
        let (id, argument) = self
            .namespaces
            .resolve(&path, &args)
            .map_err(|error| thrown_by_namespace(&error))?;
        let argument = Json::parse(&argument)
            .map_err(|error| Thrown::error("internal_error", format!("the argument is no JSON: {error}")))?;
        Ok(Target::Tool {
            tool: self.shared(&id)?,
            arguments: Some(argument),
            form: Form::Value,
        })
    }

    /// Where the tool's own reports go: nowhere, unless somebody listens.
    fn progress(&self, seen: &NestedCall) -> Progress {
        if !self.observer.hears_progress() {
            return Progress::default();
        }
        let (observer, seen) = (Arc::clone(&self.observer), seen.clone());
        Progress::to(Arc::new(move |message: String| {
            observer.call_progress(&seen, &message);
        }))
    }

    async fn carry(
        &self,
        target: Target,
        seen: &NestedCall,
        cancel: CancellationToken,
    ) -> Result<Carried, Thrown> {
        let path = self.surface.path();
        let context = CallContext {
            caller: Arc::clone(&self.caller),
            cell: Some(Arc::clone(&self.cell)),
            number: seen.number,
            cancel,
            progress: self.progress(seen),
        };
        match target {
            Target::Tool {
                tool,
                arguments,
                form,
            } => {
                let delivered = path
                    .call(&tool, arguments.as_ref(), context)
                    .await
                    .map_err(thrown_by_call)?;
                match form {
                    Form::Value => value_of(&tool, delivered),
                    Form::Envelope => envelope(&tool, delivered),
                    Form::Mcp => Ok(mcp_result(&tool, delivered)),
                }
            }
            Target::Mcp {
                server,
                method,
                params,
            } => {
                let result = path
                    .mcp_request(&server, method, params.as_ref(), context)
                    .await
                    .map_err(thrown_by_call)?;
                Ok(Carried::plain(result))
            }
        }
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
        question.answer(&self.surface, &self.namespaces, &self.settings)
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
                let found = self.surface.catalog().lookup(target, Reach::Guest);
                found.is_ok_and(|tool| tool.replay() == Replay::Safe)
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
        let spelled = call.request.target().unwrap_or_default();
        let span =
            tracing::info_span!(parent: &self.span, "nested_call", tool = %spelled, number = call.id.0);
        let work = async move {
            let start = Instant::now();
            let target = self.target(&call.request);
            let seen = NestedCall {
                number: call.id.0,
                cell: self.cell.id.clone(),
                tool: spelled,
                id: target.as_ref().ok().and_then(Target::tool_id),
                arguments: first_argument(&call.request),
            };
            self.observer.call_started(&seen);
            let carried = match target {
                Ok(target) => self.carry(target, &seen, cancel).await,
                Err(thrown) => Err(thrown),
            };
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
                    let answer = Answer::Ok(value);
                    (Outcome { answer, warning }, end)
                }
                Err(thrown) => (Answer::Error(thrown).into(), CallOutcome::Failed),
            };
            let took = start.elapsed();
            tracing::info!(outcome = ?end, took_us = took.as_micros(), "nested call ended");
            let end = CallEnd {
                took,
                outcome: end,
                answer: &outcome.answer,
            };
            self.observer.call_finished(&seen, &end);
            outcome
        };
        Box::pin(work.instrument(span))
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

fn first_argument(request: &Request) -> Option<Json> {
    match request {
        Request::Call { args, .. } | Request::CallValue { args, .. } => args.clone(),
        Request::Namespace { args, .. } => args.first().cloned(),
        Request::Timer { .. } | Request::Yield { .. } => None,
    }
}
