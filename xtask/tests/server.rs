//! The probe and the replay server, line for line: what the end-to-end test measures with must be right.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::{
    io::Write,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

/// Feeds `input` to the server, ends its input, and compares everything it said.
fn check(arguments: &[&str], input: &[Value], expected: &[Value]) {
    let mut server = Command::new(env!("CARGO_BIN_EXE_xtask"))
        .arg("mcp-server")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines: String = input.iter().map(|message| format!("{message}\n")).collect();
    server.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = server.wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let answers: Vec<Value> = said
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers, expected, "{arguments:?}");
}

fn request(method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

fn answer(result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "result": result })
}

fn refusal(code: i64, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": code, "message": message } })
}

fn modern() -> Value {
    json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } })
}

/// A recorded server of two tools, in a file of its own.
fn dump() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    let document = json!({
        "initialize": { "serverInfo": { "name": "recorded", "version": "1" }, "capabilities": { "tools": {}, "logging": {} } },
        "tools": [
            { "name": "one", "inputSchema": {} },
            { "name": "two", "inputSchema": {}, "outputSchema": { "type": "object", "properties": { "n": { "type": "integer" } } } }
        ]
    });
    std::fs::write(file.path(), document.to_string()).unwrap();
    file
}

#[test]
fn a_recorded_server_answers_in_pages() {
    let dump = dump();
    check(
        &[dump.path().to_str().unwrap(), "--page", "1"],
        &[
            request("initialize", json!({ "protocolVersion": "2025-03-26" })),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            request("tools/list", json!({})),
            request("tools/list", json!({ "cursor": "from:1" })),
        ],
        &[
            answer(json!({
                "protocolVersion": "2025-03-26",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "recorded", "version": "1" }
            })),
            answer(json!({ "tools": [{ "name": "one", "inputSchema": {} }], "nextCursor": "from:1" })),
            answer(json!({ "tools": [{
                "name": "two",
                "inputSchema": {},
                "outputSchema": { "type": "object", "properties": { "n": { "type": "integer" } } }
            }] })),
        ],
    );
}

#[test]
fn each_era_refuses_the_other() {
    let discover = || request("server/discover", modern());
    check(
        &["--era", "legacy"],
        &[discover()],
        &[refusal(-32601, "method `server/discover` not found")],
    );
    let unsupported = json!({
        "jsonrpc": "2.0", "id": 1,
        "error": { "code": -32022, "message": "unsupported protocol version", "data": { "supported": ["2026-07-28"] } }
    });
    check(
        &["--era", "modern"],
        &[request("tools/list", json!({}))],
        &[unsupported],
    );
    let dump = dump();
    let info = json!({ "io.modelcontextprotocol/serverInfo": { "name": "recorded", "version": "1" } });
    check(
        &[dump.path().to_str().unwrap(), "--era", "modern"],
        &[discover(), request("prompts/list", modern())],
        &[
            answer(json!({
                "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} },
                "ttlMs": 0, "cacheScope": "private", "resultType": "complete", "_meta": info
            })),
            answer(
                json!({ "prompts": [], "resultType": "complete", "_meta": info, "ttlMs": 0, "cacheScope": "private" }),
            ),
        ],
    );
}

#[test]
fn a_cancelled_call_is_not_answered() {
    let call = json!({
        "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": { "name": "slow_value", "arguments": { "ms": 3_600_000 } }
    });
    let cancel =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
    check(
        &[],
        &[call, cancel, request("ping", json!({}))],
        &[answer(json!({}))],
    );
}

#[test]
fn what_is_no_request_is_no_trouble() {
    check(
        &[],
        &[
            json!([]),
            json!({ "jsonrpc": "2.0", "id": 3, "result": {} }),
            request("no/such", json!({})),
            request("ping", json!({})),
        ],
        &[refusal(-32601, "method `no/such` not found"), answer(json!({}))],
    );
}
