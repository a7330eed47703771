//! A small world behind the wall: a few tools, one MCP server, one plugin namespace.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use codecell_bridge::{
    Answer, Call, CallId, Json, Output, OutputFull, Reply, Request, Stop, Thrown, WallHost,
};
use codecell_guest_runtime::{Engine, EngineOptions};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// One engine for all programs of this process.
pub(crate) static ENGINE: LazyLock<Engine> = LazyLock::new(|| engine_of(24));

/// An engine of its own; the compiled guest is shared by all of them and kept between runs.
pub(crate) fn engine_of(max_instances: u32) -> Engine {
    let module_cache = Some(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("modules"));
    Engine::new(EngineOptions {
        threads: 2,
        max_instances,
        module_cache,
    })
    .unwrap()
}

pub(crate) fn stop_after(budget: Duration) -> Stop {
    Stop {
        deadline: Instant::now() + budget,
        cancel: CancellationToken::new(),
    }
}

pub(crate) fn soon() -> Stop {
    stop_after(Duration::from_secs(60))
}

/// What happened at the wall.
#[derive(Clone, Default)]
pub(crate) struct World(Arc<Mutex<Log>>);

#[derive(Default)]
struct Log {
    waiting: Vec<Call>,
    calls: Vec<String>,
    output: Vec<Value>,
    output_room: Option<usize>,
}

impl World {
    pub(crate) fn with_output_room(entries: usize) -> Self {
        let world = Self::default();
        world.0.lock().unwrap().output_room = Some(entries);
        world
    }

    pub(crate) fn host(&self) -> Box<dyn WallHost> {
        Box::new(self.clone())
    }

    /// Every request so far, in order, as `method target args`.
    pub(crate) fn calls(&self) -> Vec<String> {
        self.0.lock().unwrap().calls.clone()
    }

    pub(crate) fn output(&self) -> Vec<Value> {
        self.0.lock().unwrap().output.clone()
    }

    /// The answer to the request that is due next: calls in order, then timers by their delay.
    pub(crate) fn next_reply(&self) -> Option<Reply> {
        let mut log = self.0.lock().unwrap();
        let due = |call: &Call| match call.request {
            Request::Timer { ms } => ms,
            _ => -1.0,
        };
        let next =
            (0..log.waiting.len()).min_by(|&a, &b| due(&log.waiting[a]).total_cmp(&due(&log.waiting[b])))?;
        let call = log.waiting.remove(next);
        Some(Reply {
            id: call.id,
            answer: answer(&call.request),
        })
    }
}

fn answer(request: &Request) -> Answer {
    match request {
        Request::CallValue { target, args } => match target.as_str() {
            "openclaw:core:fail" => Answer::Error(Thrown {
                details: Some(Json::from(json!({ "path": "$.x" }))),
                ..Thrown::error("tool_error", "it broke")
            }),
            "openclaw:core:range" => Answer::Error(Thrown {
                name: "RangeError".into(),
                message: "too far".into(),
                ..Thrown::default()
            }),
            "openclaw:core:odd" => Answer::Error(Thrown {
                name: "QuotaError".into(),
                message: "no more".into(),
                ..Thrown::default()
            }),
            "openclaw:core:raw" => {
                // Answers with the JSON text it is given.
                let text: String = args.as_ref().unwrap().read().unwrap();
                Answer::Ok(Json::parse(&text).unwrap())
            }
            "openclaw:core:deep" => {
                Answer::Ok(Json::parse(&format!("{}{}", "[".repeat(5000), "]".repeat(5000))).unwrap())
            }
            _ => Answer::Ok(args.clone().unwrap_or_else(Json::null)),
        },
        Request::Call { target, args } => Answer::Ok(Json::from(json!({
            "tool": { "id": target },
            "result": args.as_ref().map(|args| args.read::<Value>().unwrap()),
        }))),
        Request::Namespace { path, args } => Answer::Ok(Json::from(json!({
            "path": path,
            "args": args.iter().map(|args| args.read::<Value>().unwrap()).collect::<Vec<_>>(),
        }))),
        Request::Timer { .. } => Answer::Ok(Json::null()),
        Request::Yield { reason } => Answer::Ok(Json::from(json!({ "status": "yielded", "reason": reason }))),
    }
}

impl WallHost for World {
    fn query(&mut self, question: &str) -> Result<String, Thrown> {
        let question: Value = serde_json::from_str(question).unwrap();
        let op = question["op"].as_str().unwrap();
        if op != "ns.list" {
            self.0.lock().unwrap().calls.push(format!("? {question}"));
        }
        let entry =
            |name: &str| json!({ "id": format!("openclaw:core:{name}"), "name": name, "source": "openclaw" });
        let answer = match op {
            "ns.list" => json!([{ "name": "MCP", "kind": "mcp" }, { "name": "Issues", "kind": "tree" }]),
            "tools.search" if question["query"].is_string() => json!([entry("echo")]),
            "tools.search" => return Err(Thrown::type_error("the query must be a string")),
            "tools.describe" => json!({ "id": question["id"], "parameters": {} }),
            "tools.all" => json!([entry("echo"), entry("fail")]),
            "tools.names" => json!(["echo", "fail", "then", "toJSON"]),
            "tools.resolve" => match question["name"].as_str().unwrap() {
                name @ ("echo" | "fail" | "then" | "toJSON") => json!(format!("openclaw:core:{name}")),
                _ => Value::Null,
            },
            "api.list" => json!([{ "path": "mcp/index.d.ts", "description": "all servers", "bytes": 10 }]),
            "api.read" => json!("declare const MCP: unknown;"),
            "ns.tree" => json!({ "object": {
                "create": { "call": true },
                "nested": { "object": { "close": { "call": true }, "limit": { "value": 5 } } },
                "list": { "array": [{ "call": true }, { "value": { "a": 1 } }] },
            }}),
            "mcp.servers" => json!(["github", "docs"]),
            "mcp.server" if question["server"] == "github" => json!({
                "serverName": "GitHub!", "resources": true, "prompts": false,
                "methods": ["createIssue", "then", "toJSON", "toString", "constructor", "__proto__"],
            }),
            "mcp.server" => {
                json!({ "serverName": "docs", "resources": false, "prompts": true, "methods": [] })
            }
            "mcp.api" => json!({ "asked": question }),
            "mcp.search" => json!([{ "path": "MCP.github.createIssue" }]),
            other => panic!("unexpected question {other}"),
        };
        Ok(answer.to_string())
    }

    fn call(&mut self, call: Call) -> Result<(), Thrown> {
        let mut log = self.0.lock().unwrap();
        let target = call.request.target().unwrap_or_default();
        if target == "openclaw:core:refused" {
            return Err(Thrown::error("invalid_input", "that one may not be called"));
        }
        let place = call
            .line
            .zip(call.column)
            .map_or(String::new(), |(line, column)| format!(" @{line}:{column}"));
        let args = match &call.request {
            Request::Call { args, .. } | Request::CallValue { args, .. } => {
                args.as_ref().map_or(String::new(), |args| format!(" {args}"))
            }
            Request::Namespace { args, .. } => args.iter().map(|args| format!(" {args}")).collect(),
            Request::Timer { ms } => format!("{ms}"),
            Request::Yield { reason } => reason.clone().unwrap_or_default(),
        };
        log.calls
            .push(format!("{} {target}{args}{place}", call.request.method()));
        if target != "openclaw:core:never" {
            log.waiting.push(call);
        }
        Ok(())
    }

    fn withdraw(&mut self, id: CallId) {
        let mut log = self.0.lock().unwrap();
        log.calls.push("withdraw".into());
        log.waiting.retain(|call| call.id != id);
    }

    fn output(&mut self, output: Output) -> Result<(), OutputFull> {
        let mut log = self.0.lock().unwrap();
        if log.output_room.is_some_and(|room| log.output.len() >= room) {
            return Err(OutputFull);
        }
        log.output.push(match output {
            Output::Text { text } => Value::String(text),
            Output::Json { value } => json!({ "json": value.read::<Value>().unwrap() }),
        });
        Ok(())
    }

    fn overflow(&mut self, head: String, more: usize) {
        let overflow = json!({ "overflow": head.len(), "more": more });
        self.0.lock().unwrap().output.push(overflow);
    }
}
