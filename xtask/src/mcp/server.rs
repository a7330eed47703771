//! A stdio MCP server of both eras that answers from a recorded dump, or as the built-in probe.

use std::{
    collections::HashSet,
    fs::{File, OpenOptions},
    io::{self, BufRead, Write},
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use super::{LEGACY, MODERN, VERSION_KEY, probe, sample};

/// How the server behaves.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// A recorded server (JSON with `initialize`, `tools`, …); without it, the built-in probe.
    dump: Option<PathBuf>,
    /// Which eras of the protocol are answered.
    #[arg(long, value_enum, default_value_t = Era::Dual)]
    era: Era,
    /// Whether anything useful happens at all.
    #[arg(long, value_enum, default_value_t = Health::Good)]
    health: Health,
    /// Milliseconds before the first answer.
    #[arg(long, default_value_t = 0)]
    delay: u64,
    /// Entries per page of a list; 0 means one page.
    #[arg(long, default_value_t = 0)]
    page: usize,
    /// Appends one JSON line per event to this file.
    #[arg(long)]
    log: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Era {
    Dual,
    Legacy,
    Modern,
}

/// The ways a server can be unwell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Health {
    /// Answers.
    Good,
    /// Answers, between lines that are no JSON.
    Noisy,
    /// Reads everything and answers nothing.
    Silent,
    /// Answers every line with something that is no JSON.
    Garbage,
    /// Says why on standard error and exits.
    Exits,
}

/// What a call came to.
pub(super) type Outcome = Result<Value, Failure>;

/// Why a request has no result.
pub(super) enum Failure {
    /// An error answer.
    Rpc {
        code: i64,
        message: String,
        data: Option<Value>,
    },
    /// Cancelled by the client: no answer at all.
    Cancelled,
    /// The process ends before it answers.
    Exit(i32),
}

/// A `tools/call` in progress.
pub(super) struct Call<'a> {
    pub(super) tool: &'a str,
    pub(super) arguments: &'a Value,
    id: &'a Value,
    token: Option<&'a Value>,
    wire: &'a Wire,
}

impl Call<'_> {
    /// Waits; true as soon as the client cancels.
    pub(super) fn cancelled_within(&self, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        let id = self.id.to_string();
        let mut cancelled = lock(&self.wire.cancelled);
        loop {
            if cancelled.contains(&id) {
                return true;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            cancelled = self
                .wire
                .woken
                .wait_timeout(cancelled, left)
                .map_or_else(|poison| poison.into_inner().0, |(guard, _)| guard);
        }
    }

    /// Reports progress if the client asked for it.
    pub(super) fn progress(&self, done: u64, total: u64) {
        if let Some(token) = self.token {
            let params = json!({ "progressToken": token, "progress": done, "total": total });
            self.wire
                .send(&json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params }));
        }
    }
}

/// What the threads of a server share.
struct Wire {
    out: Mutex<io::Stdout>,
    log: Option<Mutex<File>>,
    cancelled: Mutex<HashSet<String>>,
    woken: Condvar,
    noisy: bool,
}

impl Wire {
    fn send(&self, message: &Value) {
        let mut out = lock(&self.out);
        let noise = if self.noisy {
            "INFO sending {something}\n"
        } else {
            ""
        };
        // The client has gone when this fails, and the end of standard input says so too.
        let _ = writeln!(out, "{noise}{message}").and_then(|()| out.flush());
    }

    fn event(&self, event: Value) {
        if let Some(log) = &self.log {
            // One write per line, so that two servers can share a file.
            let _ = lock(log).write_all(format!("{event}\n").as_bytes());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Server {
    dump: Value,
    replayed: bool,
    era: Era,
    page: usize,
    effects: probe::Effects,
}

/// Serves standard input until it ends.
pub(crate) fn run(options: Options) -> Result<()> {
    let log = options.log.as_ref().map(|path| {
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map(Mutex::new)
    });
    let wire = Arc::new(Wire {
        out: Mutex::new(io::stdout()),
        log: log.transpose().context("opening the log")?,
        cancelled: Mutex::default(),
        woken: Condvar::new(),
        noisy: options.health == Health::Noisy,
    });
    wire.event(json!({ "event": "started", "pid": std::process::id() }));
    let dump = match &options.dump {
        Some(path) => {
            let text =
                std::fs::read_to_string(path).with_context(|| format!("reading `{}`", path.display()))?;
            serde_json::from_str(&text).with_context(|| format!("`{}` is not JSON", path.display()))?
        }
        None => probe::dump(),
    };
    if options.health == Health::Exits {
        anyhow::bail!("the probe was told not to start");
    }
    thread::sleep(Duration::from_millis(options.delay));
    let server = Arc::new(Server {
        dump,
        replayed: options.dump.is_some(),
        era: options.era,
        page: options.page,
        effects: probe::Effects::default(),
    });
    for line in io::stdin().lock().lines() {
        let line = line.context("reading standard input")?;
        match options.health {
            Health::Silent => continue,
            Health::Garbage => {
                println!("{{this is not JSON");
                continue;
            }
            Health::Good | Health::Noisy | Health::Exits => {}
        }
        match serde_json::from_str(&line) {
            Ok(message) => server.receive(message, &wire),
            Err(_) => wire.send(&json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32700, "message": "parse error" } })),
        }
    }
    wire.event(json!({ "event": "ended", "pid": std::process::id() }));
    Ok(())
}

impl Server {
    fn receive(self: &Arc<Self>, message: Value, wire: &Arc<Wire>) {
        let Some(method) = message["method"].as_str().map(str::to_owned) else {
            return;
        };
        if method == "notifications/cancelled" {
            let id = &message["params"]["requestId"];
            wire.event(json!({ "event": "cancelled", "id": id }));
            lock(&wire.cancelled).insert(id.to_string());
            wire.woken.notify_all();
        }
        if message.get("id").is_none() {
            return;
        }
        if method == "tools/call" {
            let (server, wire) = (Arc::clone(self), Arc::clone(wire));
            thread::spawn(move || server.answer(&method, &message, &wire));
        } else {
            self.answer(&method, &message, wire);
        }
    }

    fn answer(&self, method: &str, message: &Value, wire: &Wire) {
        let id = &message["id"];
        let body = match self.handle(method, message, wire) {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(Failure::Rpc { code, message, data }) => {
                let mut error = json!({ "code": code, "message": message });
                if let Some(data) = data {
                    error["data"] = data;
                }
                json!({ "jsonrpc": "2.0", "id": id, "error": error })
            }
            Err(Failure::Cancelled) => return,
            Err(Failure::Exit(code)) => std::process::exit(code),
        };
        wire.send(&body);
    }

    fn handle(&self, method: &str, message: &Value, wire: &Wire) -> Outcome {
        let params = &message["params"];
        let modern = params["_meta"][VERSION_KEY] == MODERN;
        let unknown = || Failure::Rpc {
            code: -32601,
            message: format!("method `{method}` not found"),
            data: None,
        };
        match self.era {
            Era::Legacy if modern || method == "server/discover" => return Err(unknown()),
            Era::Modern if !modern => {
                return Err(Failure::Rpc {
                    code: -32022,
                    message: "unsupported protocol version".into(),
                    data: Some(json!({ "supported": [MODERN] })),
                });
            }
            _ => {}
        }
        let mut result = match method {
            "initialize" => self.initialize(params),
            "server/discover" => self.discover(),
            "ping" => json!({}),
            "tools/list" => self.page("tools", params),
            "prompts/list" => self.page("prompts", params),
            "resources/list" => self.page("resources", params),
            "resources/templates/list" => self.page("resourceTemplates", params),
            "tools/call" => self.call(message, wire)?,
            _ => return Err(unknown()),
        };
        if modern {
            result["resultType"] = json!("complete");
            result["_meta"] =
                json!({ "io.modelcontextprotocol/serverInfo": self.dump["initialize"]["serverInfo"] });
            if method.ends_with("/list") {
                result["ttlMs"] = json!(0);
                result["cacheScope"] = json!("private");
            }
        }
        Ok(result)
    }

    fn capabilities(&self) -> Value {
        let declared = self.dump["initialize"]["capabilities"].as_object();
        let answered = ["tools", "prompts", "resources"];
        let kept: Map<String, Value> = declared
            .into_iter()
            .flatten()
            .filter(|(key, _)| answered.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        if kept.is_empty() {
            json!({ "tools": {} })
        } else {
            Value::Object(kept)
        }
    }

    fn initialize(&self, params: &Value) -> Value {
        let recorded = &self.dump["initialize"];
        let asked = params["protocolVersion"].as_str().unwrap_or_default();
        let newest = LEGACY.last().copied().unwrap_or_default();
        let version = if LEGACY.contains(&asked) { asked } else { newest };
        let mut result = json!({ "protocolVersion": version, "capabilities": self.capabilities(), "serverInfo": recorded["serverInfo"] });
        if let Some(text) = recorded.get("instructions") {
            result["instructions"] = text.clone();
        }
        result
    }

    fn discover(&self) -> Value {
        let older = if self.era == Era::Modern { &[] } else { LEGACY };
        let versions: Vec<&str> = std::iter::once(MODERN)
            .chain(older.iter().rev().copied())
            .collect();
        let mut result = json!({ "supportedVersions": versions, "capabilities": self.capabilities(), "ttlMs": 0, "cacheScope": "private" });
        if let Some(text) = self.dump["initialize"].get("instructions") {
            result["instructions"] = text.clone();
        }
        result
    }

    fn page(&self, key: &str, params: &Value) -> Value {
        let all: &[Value] = self.dump[key].as_array().map_or(&[], Vec::as_slice);
        let size = if self.page == 0 {
            all.len().max(1)
        } else {
            self.page
        };
        let cursor = params["cursor"]
            .as_str()
            .and_then(|cursor| cursor.strip_prefix("from:"));
        let start = cursor.and_then(|start| start.parse().ok()).unwrap_or(0_usize);
        let entries: Vec<&Value> = all.iter().skip(start).take(size).collect();
        let end = start.saturating_add(size);
        let mut result = json!({ key: entries });
        if end < all.len() {
            result["nextCursor"] = json!(format!("from:{end}"));
        }
        result
    }

    fn call(&self, message: &Value, wire: &Wire) -> Outcome {
        let params = &message["params"];
        let name = params["name"].as_str().unwrap_or_default();
        let arguments = &params["arguments"];
        let tools = self.dump["tools"].as_array();
        let Some(tool) = tools.into_iter().flatten().find(|tool| tool["name"] == name) else {
            return Err(Failure::Rpc {
                code: -32602,
                message: format!("unknown tool `{name}`"),
                data: None,
            });
        };
        wire.event(json!({ "event": "call", "tool": name, "arguments": arguments, "id": message["id"] }));
        if !self.replayed {
            let token = params["_meta"].get("progressToken");
            return probe::call(
                &Call {
                    tool: name,
                    arguments,
                    id: &message["id"],
                    token,
                    wire,
                },
                &self.effects,
            );
        }
        let text = json!({ "tool": name, "arguments": arguments }).to_string();
        let mut result = json!({ "content": [{ "type": "text", "text": text }] });
        if let Some(schema) = tool.get("outputSchema") {
            result["structuredContent"] = sample::value(schema);
        }
        Ok(result)
    }
}
