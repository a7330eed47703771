//! An MCP server that misbehaves on request, for the tests of the gateway.
//!
//! `fake-server SCENARIO.json` speaks over its standard streams as the file says; the file is read anew at
//! every start. Everything it sees goes as lines into the scenario's `log`, so that tests can prove what
//! happened how often. `fake-server host SCENARIO.json` is a gateway instead, with that server behind it.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test tool: it fails by panicking and talks over its standard streams"
)]
use std::{
    fs,
    io::{BufRead, Write},
    path::PathBuf,
    process::{Command, exit},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use codecell_gateway::{
    config::{Secret, ServerConfig, Transport},
    upstream::{UpstreamOptions, Upstreams, WaitFor},
};
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

const MODERN: &str = "2026-07-28";

#[derive(Deserialize, Default, Clone)]
#[serde(default, deny_unknown_fields)]
struct Scenario {
    /// `legacy` refuses the probe, `silent-probe` ignores it, `closes-on-probe` leaves over it,
    /// `poisoned` refuses everything after it; `modern` knows nothing else, `dual` both.
    era: String,
    log: PathBuf,
    delay_ms: u64,
    silent: bool,
    bom: bool,
    noise: bool,
    asks: bool,
    exit_at_start: Option<i32>,
    page: usize,
    loop_cursor: bool,
    broken_page: Option<usize>,
    slow_page: Option<usize>,
    grandchild: bool,
    tools: Vec<Box<RawValue>>,
    instructions: Option<String>,
    list_changed: bool,
}

#[derive(Deserialize)]
struct Message {
    id: Option<Box<RawValue>>,
    method: Option<String>,
    params: Option<Params>,
    result: Option<Box<RawValue>>,
    error: Option<Box<RawValue>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Params {
    name: Option<String>,
    arguments: Option<Box<RawValue>>,
    cursor: Option<String>,
    request_id: Option<Box<RawValue>>,
    input_responses: Option<Box<RawValue>>,
    request_state: Option<Box<RawValue>>,
    #[serde(rename = "_meta")]
    meta: Option<Value>,
}

struct Server {
    scenario: Scenario,
    extra: Mutex<Vec<Box<RawValue>>>,
    probed: Mutex<bool>,
    subscription: Mutex<Option<String>>,
}

fn main() {
    let mut args = std::env::args().skip(1);
    let Some(first) = args.next() else { return };
    if first == "host" {
        host(&args.next().unwrap());
    } else {
        serve(&first);
    }
}

/// A gateway that lives until it is killed.
fn host(scenario: &str) {
    let transport = Transport::Stdio {
        command: std::env::current_exe().unwrap().to_str().unwrap().to_owned(),
        args: vec![Secret::new(scenario)],
        env: Default::default(),
        cwd: None,
    };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let options = UpstreamOptions {
            cache: None,
            ..UpstreamOptions::default()
        };
        let upstreams = Upstreams::start(vec![ServerConfig::new("fake", transport)], options);
        upstreams.settled(WaitFor::All, Duration::from_secs(20)).await;
        println!("{}", upstreams.snapshot().servers[0].state.label());
        std::future::pending::<()>().await;
    });
}

fn serve(file: &str) {
    let scenario: Scenario = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let server = Arc::new(Server {
        scenario,
        extra: Mutex::default(),
        probed: Mutex::new(false),
        subscription: Mutex::default(),
    });
    server.start();
    for line in std::io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Message>(&line.unwrap()) else {
            continue;
        };
        let server = Arc::clone(&server);
        // Lists and greetings in order, calls beside each other.
        if message.method.as_deref() == Some("tools/call") {
            thread::spawn(move || server.take(message));
        } else {
            server.take(message);
        }
    }
    server.log("input closed");
}

impl Server {
    fn log(&self, line: &str) {
        let file = fs::OpenOptions::new()
            .append(true)
            .create(true)
            .open(&self.scenario.log);
        file.unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn send(&self, value: &str) {
        let mut out = std::io::stdout().lock();
        // A reader that is gone is not this server's problem.
        let _ = writeln!(out, "{value}").and_then(|()| out.flush());
    }

    #[expect(
        clippy::zombie_processes,
        reason = "that nobody waits for the grandchild is its point"
    )]
    fn start(&self) {
        let scenario = &self.scenario;
        self.log(&format!("start {}", std::process::id()));
        if scenario.grandchild {
            let child = Command::new("/bin/sh")
                .args(["-c", "trap '' TERM; sleep 1000"])
                .spawn()
                .unwrap();
            self.log(&format!("grandchild {}", child.id()));
        }
        if let Some(code) = scenario.exit_at_start {
            eprintln!("cannot read the database");
            exit(code);
        }
        if scenario.bom {
            print!("\u{feff}");
        }
        if scenario.noise {
            println!("Starting up...\n\n{{not json}}\n[1, 2]\n\"text\"");
        }
        thread::sleep(Duration::from_millis(scenario.delay_ms));
    }

    fn take(&self, message: Message) {
        let Message {
            id,
            method,
            params,
            result,
            error,
        } = message;
        let params = params.unwrap_or_default();
        let Some(method) = method else {
            let body = result
                .or(error)
                .map(|body| body.get().to_owned())
                .unwrap_or_default();
            return self.log(&format!("reply {body}"));
        };
        match &method[..] {
            "notifications/cancelled" => {
                return self.log(&format!("cancelled {}", params.request_id.unwrap()));
            }
            "tools/call" => self.log(&format!("call {}", params.name.as_deref().unwrap_or("?"))),
            other => self.log(other),
        }
        let modern = params
            .meta
            .as_ref()
            .and_then(|meta| meta.get("io.modelcontextprotocol/protocolVersion"))
            == Some(&json!(MODERN));
        if method == "notifications/initialized" && self.scenario.asks {
            self.send(r#"{"jsonrpc":"2.0","id":"p1","method":"ping"}"#);
            self.send(r#"{"jsonrpc":"2.0","id":2,"method":"roots/list"}"#);
        }
        let Some(id) = id else { return };
        if self.scenario.silent {
            return;
        }
        let body = match self.answer(&id, &method, &params, modern) {
            None => return,
            Some(Ok(result)) => {
                let result = match result.strip_prefix('{') {
                    Some(rest) if modern && !rest.starts_with(r#""resultType""#) => {
                        format!(
                            r#"{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"fake"}}}},{rest}"#
                        )
                    }
                    _ => result,
                };
                format!(r#""result":{result}"#)
            }
            Some(Err((code, text))) => format!(r#""error":{}"#, json!({ "code": code, "message": text })),
        };
        self.send(&format!(r#"{{{body},"jsonrpc":"2.0","id":{id}}}"#));
    }

    fn answer(
        &self,
        id: &RawValue,
        method: &str,
        params: &Params,
        modern: bool,
    ) -> Option<Result<String, (i64, String)>> {
        let era = &self.scenario.era[..];
        let unknown = || Some(Err((-32601, format!("Method not found: {method}"))));
        if method == "server/discover" {
            *self.probed.lock().unwrap() = true;
            match era {
                "modern" | "dual" => {}
                "silent-probe" => return None,
                "closes-on-probe" => {
                    eprintln!("protocol error");
                    exit(1);
                }
                _ => return unknown(),
            }
        } else if era == "modern" && !modern {
            return Some(Err((-32022, "Unsupported protocol version".to_owned())));
        } else if era == "poisoned" && *self.probed.lock().unwrap() {
            return Some(Err((-32600, "the first message was not initialize".to_owned())));
        }
        let capabilities = json!({ "tools": { "listChanged": self.scenario.list_changed }, "resources": {} });
        let about = json!({
            "capabilities": capabilities, "instructions": self.scenario.instructions,
            "serverInfo": { "name": "fake", "version": "1" },
        });
        Some(Ok(match method {
            "server/discover" => {
                let mut about = about;
                about["supportedVersions"] = json!([MODERN]);
                about.to_string()
            }
            "initialize" => {
                let mut about = about;
                about["protocolVersion"] = json!("2025-06-18");
                about.to_string()
            }
            "tools/list" => return self.list(params),
            "tools/call" => return self.call(id, params),
            "resources/list" => json!({ "resources": [{ "uri": "fake://a", "name": "a" }] }).to_string(),
            "subscriptions/listen" => {
                *self.subscription.lock().unwrap() = Some(id.get().to_owned());
                self.send(
                    r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}}"#,
                );
                return None;
            }
            _ => return unknown(),
        }))
    }

    fn list(&self, params: &Params) -> Option<Result<String, (i64, String)>> {
        let scenario = &self.scenario;
        let mut tools: Vec<Value> = [
            "echo", "sleep", "crash", "crash_once", "bump", "big", "mutate", "progress", "fail", "ask", "env",
        ]
        .map(|name| json!({ "name": name, "description": format!("does {name}"), "inputSchema": { "type": "object" } }))
        .to_vec();
        tools[3]["annotations"] = json!({ "readOnlyHint": true });
        let mut all: Vec<String> = tools.iter().map(ToString::to_string).collect();
        all.extend(scenario.tools.iter().map(|tool| tool.get().to_owned()));
        all.extend(
            self.extra
                .lock()
                .unwrap()
                .iter()
                .map(|tool| tool.get().to_owned()),
        );
        let size = if scenario.page == 0 {
            all.len()
        } else {
            scenario.page
        };
        let from: usize = params
            .cursor
            .as_deref()
            .map_or(0, |cursor| cursor.parse().unwrap());
        let number = from / size;
        if scenario.broken_page == Some(number) {
            return Some(Err((-32603, "page is broken".to_owned())));
        }
        if scenario.slow_page == Some(number) {
            thread::sleep(Duration::from_secs(1000));
        }
        let until = (from + size).min(all.len());
        let next = match (until < all.len(), scenario.loop_cursor) {
            (true, true) => r#","nextCursor":"0""#.to_owned(),
            (true, false) => format!(r#","nextCursor":"{until}""#),
            (false, _) => String::new(),
        };
        Some(Ok(format!(
            r#"{{"tools":[{}]{next}}}"#,
            all[from..until].join(",")
        )))
    }

    fn call(&self, id: &RawValue, params: &Params) -> Option<Result<String, (i64, String)>> {
        let text = params.arguments.as_deref().map_or("{}", RawValue::get);
        let arguments: Value = serde_json::from_str(text).unwrap();
        let number = |key: &str| arguments[key].as_u64().unwrap_or(0);
        Some(Ok(match params.name.as_deref().unwrap_or("") {
            "echo" => format!(r#"{{"content":[],"structuredContent":{text}}}"#),
            "sleep" => {
                thread::sleep(Duration::from_millis(number("ms")));
                r#"{"content":[]}"#.to_owned()
            }
            "crash" => {
                eprintln!("about to crash\nout of cheese");
                exit(3);
            }
            "crash_once" => {
                let log = fs::read_to_string(&self.scenario.log).unwrap();
                if log.matches("call crash_once").count() == 1 {
                    exit(4);
                }
                r#"{"content":[]}"#.to_owned()
            }
            "bump" => r#"{"content":[]}"#.to_owned(),
            "big" => {
                let bytes = usize::try_from(number("bytes")).unwrap();
                format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "x".repeat(bytes))
            }
            "mutate" => {
                let tool = r#"{"name":"new_tool","inputSchema":{}}"#;
                self.extra.lock().unwrap().push(RawValue::from_string(tool.to_owned()).unwrap());
                self.send(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
                r#"{"content":[]}"#.to_owned()
            }
            "progress" => {
                let token = &params.meta.as_ref().unwrap()["progressToken"];
                for step in 1..=number("steps") {
                    self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/progress",
                        "params": { "progressToken": token, "progress": step, "total": number("steps"), "message": "on it" } }).to_string());
                    thread::sleep(Duration::from_millis(number("ms")));
                }
                r#"{"content":[]}"#.to_owned()
            }
            "ask" => match (&params.input_responses, &params.request_state) {
                (Some(answers), Some(state)) => {
                    format!(r#"{{"content":[],"structuredContent":{{"answers":{answers},"state":{state}}}}}"#)
                }
                _ => r#"{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{}}},"requestState":"st\u0061te"}"#.to_owned(),
            },
            "env" => {
                let names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
                json!({ "content": [], "structuredContent": { "names": names } }).to_string()
            }
            other => return Some(Err((-32602, format!("no tool {other} for request {id}")))),
        }))
    }
}
