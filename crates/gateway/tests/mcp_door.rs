//! `codecell mcp` over real pipes, driven by a client of a hundred lines.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_codecell");
const LIST_CHANGED: &str = "notifications/tools/list_changed";
/// Longest wait for a line: only a broken server lets it pass.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running `codecell mcp` and the test's end of its pipes.
struct Door {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next_id: u64,
    _folder: TempDir,
}

/// The eras of the protocol.
#[derive(Clone, Copy)]
enum Era {
    Legacy,
    Modern,
}

impl Door {
    /// Starts the server with this `mcpServers` document and these settings of code mode.
    fn start(servers: Value, code_mode: Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let own = json!({ "tools": { "codeMode": code_mode }, "mcp": { "servers": servers } });
        fs::write(folder.path().join("codecell.json5"), own.to_string()).unwrap();
        let mut child = Command::new(BINARY)
            .arg("mcp")
            .current_dir(folder.path())
            .env("HOME", folder.path())
            .env(
                "CODECELL_CACHE_DIR",
                Path::new(env!("CARGO_TARGET_TMPDIR")).join("door-cache"),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in stdout.lines() {
                if sender.send(line.unwrap()).is_err() {
                    break;
                }
            }
        });
        Self {
            child,
            stdin,
            lines,
            next_id: 0,
            _folder: folder,
        }
    }

    /// A server in front of the demo's shop, after the handshake of that era.
    fn with_shop(era: Era) -> Self {
        let mut door = Self::start(shop(), json!({}));
        if let Era::Legacy = era {
            door.initialize();
        }
        door
    }

    fn initialize(&mut self) -> Value {
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let answer = self.request("initialize", params);
        self.notify("notifications/initialized", json!({}));
        answer
    }

    fn send_line(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
        stdin.flush().unwrap();
    }

    fn notify(&mut self, method: &str, params: Value) {
        self.send_line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string());
    }

    /// Sends a request and gives its id.
    fn send(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        self.send_line(
            &json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params }).to_string(),
        );
        self.next_id
    }

    /// The next line, which is always a message.
    fn next_message(&self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("not a message: {line}: {error}"))
    }

    /// The next message but for the one that may come at any time.
    fn next(&self) -> Value {
        loop {
            let message = self.next_message();
            if message["method"] != LIST_CHANGED {
                return message;
            }
        }
    }

    /// The answer to the request, and the notifications before it.
    fn answer(&self, id: u64) -> (Value, Vec<Value>) {
        let mut notifications = Vec::new();
        loop {
            let message = self.next();
            if message["id"] == id {
                return (message, notifications);
            }
            notifications.push(message);
        }
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id).0
    }

    /// Calls a tool; the result of the request.
    fn call(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({ "name": name, "arguments": arguments }));
        answer["result"].clone()
    }

    /// Runs a program; its cell result.
    fn exec(&mut self, code: &str) -> Value {
        self.call("exec", json!({ "code": code }))["structuredContent"].clone()
    }

    /// Closes the server's input and waits for its end.
    fn close(&mut self) -> Option<i32> {
        drop(self.stdin.take());
        self.child.wait().unwrap().code()
    }

    /// The processes that the server started.
    fn children(&self) -> Vec<u32> {
        let id = self.child.id();
        let tasks = fs::read_dir(format!("/proc/{id}/task")).unwrap();
        tasks
            .filter_map(|task| fs::read_to_string(task.ok()?.path().join("children")).ok())
            .flat_map(|list| {
                list.split_whitespace()
                    .map(|pid| pid.parse().unwrap())
                    .collect::<Vec<u32>>()
            })
            .collect()
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let _already_gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn shop() -> Value {
    json!({ "shop": { "command": BINARY, "args": ["demo-server"], "directOnly": ["product_photo"] } })
}

/// What every request of the stateless era carries.
fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

fn names(answer: &Value) -> Vec<&str> {
    answer["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

#[test]
fn a_legacy_client_sees_exec_wait_and_the_direct_only_tool() {
    let mut door = Door::start(shop(), json!({}));
    let greeting = door.initialize();
    assert_eq!(greeting["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(greeting["result"]["serverInfo"]["name"], "codecell");
    // The first cell waits for the shop; only then is its direct-only tool known for certain.
    door.exec("return 1");
    let list = door.request("tools/list", json!({}));
    assert_eq!(names(&list), ["exec", "wait", "product_photo"]);
    assert_eq!(list["result"].get("ttlMs"), None);

    let result = door.call("exec", json!({ "code": "text('hi'); return [1, 'two']" }));
    assert_eq!(result["isError"], false);
    assert_eq!(result["structuredContent"]["value"], json!([1, "two"]));
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"]);

    let failed = door.call("exec", json!({ "code": "throw new TypeError('no')" }));
    assert_eq!(
        (&failed["isError"], &failed["structuredContent"]["status"]),
        (&json!(true), &json!("failed"))
    );
    let waiting = door.call("exec", json!({ "code": "await yield_control()" }));
    assert_eq!(
        (&waiting["isError"], &waiting["structuredContent"]["status"]),
        (&json!(false), &json!("waiting"))
    );
}

#[test]
fn a_modern_client_needs_no_handshake() {
    let mut door = Door::with_shop(Era::Modern);
    let discovered = door.request("server/discover", modern(json!({})));
    assert!(
        discovered["result"]["supportedVersions"]
            .as_array()
            .unwrap()
            .contains(&json!("2026-07-28")),
        "{discovered}"
    );
    let called = door.request(
        "tools/call",
        modern(json!({ "name": "exec", "arguments": { "code": "return 2" } })),
    );
    assert_eq!(called["result"]["structuredContent"]["value"], 2);
    assert_eq!(called["result"]["resultType"], "complete");

    let list = door.request("tools/list", modern(json!({})));
    assert_eq!(names(&list), ["exec", "wait", "product_photo"]);
    assert_eq!(
        (&list["result"]["resultType"], &list["result"]["cacheScope"]),
        (&json!("complete"), &json!("private"))
    );
    assert!(list["result"]["ttlMs"].is_u64(), "{list}");

    let photo = door.request(
        "tools/call",
        modern(json!({ "name": "product_photo", "arguments": { "sku": "MUG-RED" } })),
    );
    assert_eq!(
        (
            &photo["result"]["resultType"],
            &photo["result"]["content"][0]["type"]
        ),
        (&json!("complete"), &json!("image"))
    );

    let refused = door.request("tools/list", json!({}));
    assert_eq!(
        refused["error"]["code"], -32602,
        "a request without its metadata: {refused}"
    );
}

#[test]
fn a_direct_only_tool_passes_through_unchanged() {
    let mut door = Door::with_shop(Era::Legacy);
    door.exec("return 1");
    let photo = door.call("product_photo", json!({ "sku": "MUG-RED" }));
    assert_eq!(
        (&photo["content"][0]["type"], &photo["content"][0]["mimeType"]),
        (&json!("image"), &json!("image/png"))
    );
    let unknown = door.call("product_photo", json!({ "sku": "MUG-GREEN" }));
    assert_eq!(unknown["isError"], true);
    assert!(
        unknown["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("MUG-GREEN"),
        "{unknown}"
    );
}

#[test]
fn a_client_is_told_when_the_direct_only_tools_change() {
    let folder = tempfile::tempdir().unwrap();
    let open = folder.path().join("open");
    let mut servers = shop();
    // Never seen before, since its arguments are new, and closed until somebody has listed what there is without it.
    servers["shop"]["command"] = json!("/bin/sh");
    let wait = "while [ ! -e \"$0\" ]; do sleep 0.02; done; exec \"$1\" demo-server";
    servers["shop"]["args"] = json!(["-c", wait, open, BINARY]);
    let mut door = Door::start(servers, json!({}));
    let listed = door.initialize()["result"]["capabilities"]["tools"]["listChanged"].clone();
    assert_eq!(listed, true);
    assert_eq!(names(&door.request("tools/list", json!({}))), ["exec", "wait"]);
    fs::write(&open, "").unwrap();
    // The shop's picture tool appears with the shop.
    while door.next_message()["method"] != LIST_CHANGED {}
    assert_eq!(
        names(&door.request("tools/list", json!({}))),
        ["exec", "wait", "product_photo"]
    );
}

#[test]
fn an_unknown_tool_is_an_error_that_names_the_right_ones() {
    let mut door = Door::with_shop(Era::Legacy);
    let answer = door.request("tools/call", json!({ "name": "list_orders", "arguments": {} }));
    assert_eq!(answer["error"]["code"], -32602);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("no tool is named `list_orders`; this server has `exec`, `wait`"),
        "{message}"
    );
}

#[test]
fn bad_arguments_are_a_failed_result_and_no_protocol_error() {
    let mut door = Door::with_shop(Era::Legacy);
    for params in [
        json!({ "name": "exec" }),
        json!({ "name": "exec", "arguments": null }),
        json!({ "name": "exec", "arguments": "return 1" }),
        json!({ "name": "exec", "arguments": [1] }),
        json!({ "name": "exec", "arguments": { "code": 5 } }),
        json!({ "name": "exec", "arguments": { "code": "a", "command": "b" } }),
        json!({ "name": "wait", "arguments": {} }),
        json!({ "name": "wait", "arguments": { "runId": "cm_unknown" } }),
    ] {
        let answer = door.request("tools/call", params.clone());
        let result = &answer["result"];
        assert_eq!(result["isError"], true, "{params}: {answer}");
        assert_eq!(
            result["structuredContent"]["code"], "invalid_input",
            "{params}: {answer}"
        );
    }
}

#[test]
fn an_integer_of_any_size_arrives_as_it_is() {
    let mut door = Door::with_shop(Era::Legacy);
    door.send(
        "tools/call",
        json!({ "name": "exec", "arguments": { "code": "return 123456789012345678901234567890n" } }),
    );
    let line = door
        .lines
        .iter()
        .find(|line| !line.contains(LIST_CHANGED))
        .unwrap();
    assert!(line.contains("\"structuredContent\":{"), "{line}");
    assert!(
        line.contains("\"value\":123456789012345678901234567890"),
        "{line}"
    );
}

#[test]
fn a_suspended_cell_belongs_to_its_connection() {
    let mut door = Door::with_shop(Era::Legacy);
    let waiting = door.exec("let n = 1; await yield_control(); return ++n");
    let run = json!({ "runId": waiting["runId"] });
    let mut stranger = Door::with_shop(Era::Legacy);
    assert_eq!(
        stranger.call("wait", run.clone())["structuredContent"]["code"],
        "invalid_input"
    );
    assert_eq!(door.call("wait", run.clone())["structuredContent"]["value"], 2);
    assert_eq!(
        door.call("wait", run)["structuredContent"]["code"],
        "invalid_input",
        "a run resumes once"
    );
}

#[test]
fn progress_tells_of_every_call_and_ends_with_the_answer() {
    let mut door = Door::with_shop(Era::Legacy);
    let code = "await MCP.shop.echo({ value: 1 }); await MCP.shop.echo({ value: 2 }); return 3";
    let id = door.send(
        "tools/call",
        json!({ "name": "exec", "arguments": { "code": code }, "_meta": { "progressToken": "p-1" } }),
    );
    let (answer, notifications) = door.answer(id);
    assert_eq!(answer["result"]["structuredContent"]["value"], 3);
    let mut last = 0.0;
    for notification in &notifications {
        assert_eq!(notification["method"], "notifications/progress");
        assert_eq!(notification["params"]["progressToken"], "p-1");
        let progress = notification["params"]["progress"].as_f64().unwrap();
        assert!(progress > last, "progress grows: {notifications:?}");
        last = progress;
    }
    let started = notifications
        .iter()
        .filter(|n| n["params"]["message"].as_str().unwrap().contains("started"))
        .count();
    assert_eq!(started, 2, "{notifications:?}");
    // Nothing comes after the answer: the next line is the next answer.
    let ping = door.send("ping", json!({}));
    assert_eq!(door.next()["id"], ping);
}

#[test]
fn a_long_cell_gives_signs_of_life_also_while_it_is_resumed() {
    let mut door = Door::start(shop(), json!({ "timeoutMs": 1500 }));
    door.initialize();
    let code = "await new Promise(done => setTimeout(done, 1200));\
        return (await MCP.shop.buildReport({ month: 1, seconds: 1.5 })).structuredContent.month";
    let meta = json!({ "progressToken": 7 });
    let id = door.send(
        "tools/call",
        json!({ "name": "exec", "arguments": { "code": code }, "_meta": meta }),
    );
    let (mut answer, first) = door.answer(id);
    assert_eq!(
        answer["result"]["structuredContent"]["status"], "waiting",
        "{answer}"
    );
    let mut second = Vec::new();
    // One resumption is enough, unless the machine is busy.
    while answer["result"]["structuredContent"]["status"] == "waiting" {
        let run = json!({ "runId": answer["result"]["structuredContent"]["runId"] });
        let params = json!({ "name": "wait", "arguments": run, "_meta": meta });
        let id = door.send("tools/call", params);
        let (next, notifications) = door.answer(id);
        answer = next;
        second.extend(notifications);
    }
    let value = &answer["result"]["structuredContent"]["value"];
    assert_eq!(value, "2026-01", "{answer}");
    let says = |notifications: &[Value], word: &str| {
        notifications
            .iter()
            .any(|n| n["params"]["message"].as_str().unwrap().contains(word))
    };
    assert!(says(&first, "running for"), "{first:?}");
    // What the server itself tells of the call is passed on.
    assert!(says(&second, "buildReport: adding up orders"), "{second:?}");
    assert!(says(&second, "finished"), "{second:?}");
}

#[test]
fn a_cancelled_cell_ends_without_an_answer_and_the_connection_goes_on() {
    let mut door = Door::with_shop(Era::Legacy);
    let code = "await MCP.shop.buildReport({ month: 1, seconds: 60 })";
    let id = door.send(
        "tools/call",
        json!({ "name": "exec", "arguments": { "code": code }, "_meta": { "progressToken": 1 } }),
    );
    assert_eq!(
        door.next()["method"],
        "notifications/progress",
        "the call has started"
    );
    door.notify(
        "notifications/cancelled",
        json!({ "requestId": id, "reason": "changed my mind" }),
    );
    let ping = door.send("ping", json!({}));
    let (_, before) = door.answer(ping);
    assert!(before.iter().all(|message| message["id"] != id), "{before:?}");
    assert_eq!(door.exec("return 5")["value"], 5);
}

#[test]
fn cells_run_beside_each_other() {
    let mut door = Door::start(shop(), json!({ "timeoutMs": 2000 }));
    door.initialize();
    let hostile = door.send(
        "tools/call",
        json!({ "name": "exec", "arguments": { "code": "while (true) {}" } }),
    );
    let friendly = door.send(
        "tools/call",
        json!({ "name": "exec", "arguments": { "code": "return 6" } }),
    );
    let (first, before) = door.answer(friendly);
    assert_eq!(first["result"]["structuredContent"]["value"], 6);
    assert!(before.is_empty(), "the endless loop is still running: {before:?}");
    assert_eq!(
        door.answer(hostile).0["result"]["structuredContent"]["code"],
        "timeout"
    );
}

#[test]
fn wrong_input_is_answered_and_ends_nothing() {
    let mut door = Door::start(json!({}), json!({}));
    door.send_line("hello");
    assert_eq!(door.next()["error"]["code"], -32700);
    door.send_line("[1, 2]");
    assert_eq!(door.next()["error"]["code"], -32600);
    door.notify("notifications/initialized", json!({}));
    door.send_line(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#);
    assert!(
        door.request("tools/list", json!({}))["error"].is_object(),
        "no handshake yet"
    );
    assert!(door.request("initialize", json!({ "protocolVersion": 5 }))["error"].is_object());
    assert_eq!(door.initialize()["result"]["serverInfo"]["name"], "codecell");
    assert_eq!(door.request("no/such/method", json!({}))["error"]["code"], -32601);
    assert!(door.request("tools/call", json!({}))["error"].is_object());
    door.send_line("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/unheard-of\"}");
    assert_eq!(door.exec("return 7")["value"], 7);
}

#[test]
fn a_silent_server_delays_neither_the_list_nor_the_others() {
    let mut servers = shop();
    servers["silent"] = json!({ "command": "sleep", "args": ["600"] });
    let mut door = Door::start(servers, json!({}));
    door.initialize();
    let list = door.request("tools/list", json!({}));
    assert_eq!(&names(&list)[..2], ["exec", "wait"]);
    let value = door.exec("return (await MCP.shop.echo({ value: 8 })).structuredContent.value");
    assert_eq!(value["value"], 8, "{value}");
}

#[test]
fn without_code_mode_the_tools_pass_unchanged() {
    let mut door = Door::start(shop(), json!(false));
    door.initialize();
    let list = door.request("tools/list", json!({}));
    let names = names(&list);
    assert_eq!(names.len(), 12, "{names:?}");
    assert!(
        names.contains(&"list_orders") && !names.contains(&"exec"),
        "{names:?}"
    );
    let echoed = door.call("echo", json!({ "value": { "a": 1 } }));
    assert_eq!(echoed["structuredContent"], json!({ "value": { "a": 1 } }));
}

#[cfg(target_os = "linux")]
#[test]
fn the_end_of_input_ends_everything_that_was_started() {
    let mut door = Door::with_shop(Era::Legacy);
    let code = "await MCP.shop.buildReport({ month: 1, seconds: 60 })";
    door.send(
        "tools/call",
        json!({ "name": "exec", "arguments": { "code": code }, "_meta": { "progressToken": 1 } }),
    );
    assert_eq!(
        door.next()["method"],
        "notifications/progress",
        "the call has started"
    );
    let children = door.children();
    assert!(!children.is_empty());
    assert_eq!(door.close(), Some(0));
    for child in children {
        assert!(
            !Path::new(&format!("/proc/{child}")).exists(),
            "{child} outlived the server"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_request_to_end_is_followed_while_a_cell_runs() {
    let mut door = Door::with_shop(Era::Legacy);
    let code = "await MCP.shop.buildReport({ month: 1, seconds: 60 })";
    door.send(
        "tools/call",
        json!({ "name": "exec", "arguments": { "code": code }, "_meta": { "progressToken": 1 } }),
    );
    assert_eq!(
        door.next()["method"],
        "notifications/progress",
        "the call has started"
    );
    let children = door.children();
    let told = Command::new("kill")
        .args(["-TERM", &door.child.id().to_string()])
        .status()
        .unwrap();
    assert!(told.success());
    assert_eq!(door.child.wait().unwrap().code(), Some(0));
    for child in children {
        assert!(
            !Path::new(&format!("/proc/{child}")).exists(),
            "{child} outlived the server"
        );
    }
}

#[test]
fn requests_that_are_piped_in_are_answered_before_the_end() {
    let mut door = Door::start(json!({}), json!({}));
    door.initialize();
    // The first program of a process takes its time where machines are busy, and the end does not wait for long.
    let params = json!({ "name": "exec", "arguments": { "code": "return 8" } });
    door.request("tools/call", params);
    let id = door.send(
        "tools/call",
        json!({ "name": "exec", "arguments": { "code": "return 9" } }),
    );
    drop(door.stdin.take());
    let (answer, _) = door.answer(id);
    assert_eq!(answer["result"]["structuredContent"]["value"], 9, "{answer}");
    assert_eq!(door.child.wait().unwrap().code(), Some(0));
}
