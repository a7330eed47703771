//! The record of a session: what is in it, what is not, and who can read it.
use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::door::Door;
use super::place::{Place, id_of, shop, writable};

/// The events of a record, without what differs from run to run. Ids are named in the order they come up: `call-1` is
/// the first call of the model, `call-1.2` the second of its program.
fn events(place: &Place, questions: &[String]) -> Vec<Value> {
    let text = place.read("t.jsonl");
    let mut events: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let session = events[0]["sessionId"].as_str().unwrap().to_owned();
    let mut names: Vec<(String, String)> = Vec::new();
    for event in &events {
        let data = &event["data"];
        if event["type"] == "tool.call" && data.get("parentToolCallId").is_none() {
            let id = data["toolCallId"].as_str().unwrap().to_owned();
            names.push((id, format!("call-{}", names.len() + 1)));
        }
    }
    names.extend(questions.iter().map(|id| (id.clone(), "question".to_owned())));
    for (number, event) in (1..).zip(&mut events) {
        let mut fixed = event.as_object().unwrap().clone();
        assert!(fixed.remove("ts").unwrap().is_string());
        assert_eq!(fixed.remove("seq"), Some(json!(number)));
        assert_eq!(fixed.remove("schemaVersion"), Some(json!(1)));
        assert_eq!(fixed.remove("traceSchema"), Some(json!("openclaw-trajectory")));
        for key in ["traceId", "sessionId"] {
            assert_eq!(fixed.remove(key), Some(json!(session)));
        }
        if let Some(data) = fixed.get_mut("data").and_then(Value::as_object_mut)
            && let Some(took) = data.remove("tookMs")
        {
            assert!(took.is_u64());
        }
        let text = names
            .iter()
            .fold(Value::Object(fixed).to_string(), |text, (id, name)| {
                text.replace(id, name)
            });
        *event = serde_json::from_str(&text).unwrap();
    }
    events
}

/// Leaves out the result of a call of the model: it is tested where results are.
fn without_result(mut event: Value) -> Value {
    event["data"]["result"].take();
    event
}

#[test]
fn the_calls_of_a_program_are_recorded_under_its_exec() {
    let place = Place::new(&json!({ "tools": { "fs": writable() } }));
    place.write("files/a.txt", "one\n");
    let code = "await tools.read({ path: 'a.txt' });
await tools.callValue('openclaw:core:write', { path: 'b.txt', text: 'two' });
return await tools.read({ path: 'c.txt' }).catch((error) => error.code);";
    let ended = place.run(&["exec", "--trajectory", "t.jsonl", "--code", code]);
    assert_eq!(ended.json()["value"], "not_found");

    let call = |number: u32, id: &str, arguments: Value| {
        json!({ "source": "transcript", "type": "tool.call", "data": {
            "toolCallId": format!("call-1.{number}"), "parentToolCallId": "call-1", "catalogId": id, "name": id,
            "arguments": arguments,
        } })
    };
    let result = |number: u32, id: &str, outcome: Value| {
        let mut data = json!({
            "toolCallId": format!("call-1.{number}"), "parentToolCallId": "call-1", "catalogId": id, "name": id,
        });
        let fields = data.as_object_mut().unwrap();
        fields.extend(outcome.as_object().unwrap().clone());
        json!({ "source": "transcript", "type": "tool.result", "data": data })
    };
    let (read, write) = ("openclaw:core:read", "openclaw:core:write");
    let text = json!({
        "path": "a.txt", "text": "one\n", "startLine": 1, "lines": 1, "totalLines": 1, "truncated": false,
    });
    let written = json!({ "path": "b.txt", "bytes": 3, "created": true });
    let missing = "`c.txt` does not exist; `ls` and `glob` show what does";
    let mut seen = events(&place, &[]);
    let last = seen.len() - 2;
    seen[last] = without_result(seen[last].clone());
    let expected = [
        json!({ "source": "runtime", "type": "session.started" }),
        json!({ "source": "transcript", "type": "tool.call", "data": {
            "toolCallId": "call-1", "name": "exec", "toolKind": "code_mode_exec", "arguments": { "code": code },
        } }),
        call(1, read, json!({ "path": "a.txt" })),
        result(1, read, json!({ "isError": false, "result": text })),
        call(2, write, json!({ "path": "b.txt", "text": "two" })),
        result(2, write, json!({ "isError": false, "result": written })),
        call(3, read, json!({ "path": "c.txt" })),
        result(
            3,
            read,
            json!({
                "isError": true, "code": "not_found",
                "result": { "name": "Error", "message": missing, "code": "not_found" },
            }),
        ),
        json!({ "source": "transcript", "type": "tool.result", "data": {
            "toolCallId": "call-1", "name": "exec", "isError": false, "result": null,
        } }),
        json!({ "source": "runtime", "type": "session.ended" }),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn an_approval_and_a_wait_belong_to_the_exec_that_began_them() {
    let place = Place::new(&json!({ "tools": {
        "codeMode": { "timeoutMs": 1000 }, "fs": writable(), "approvals": { "ask": ["write"] },
    } }));
    let mut door = Door::open_with(&place, &["--trajectory", "t.jsonl"], &json!({}));
    let waiting = door.exec("return (await tools.write({ path: 'a.txt', text: 'one' })).bytes");
    assert_eq!(waiting["status"], "waiting");
    let question = id_of(&place.question());
    place.answer(&["allow"]);
    assert_eq!(door.wait(&waiting)["value"], 3);
    assert_eq!(door.close(), Some(0));

    let mut seen = events(&place, std::slice::from_ref(&question));
    for event in &mut seen {
        for key in ["arguments", "result"] {
            if let Some(data) = event.get_mut("data").and_then(Value::as_object_mut) {
                data.remove(key);
            }
        }
    }
    let of_model = |kind: &str, id: &str, rest: Value| {
        let mut data = json!({ "toolCallId": id });
        data.as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        json!({ "source": "transcript", "type": kind, "data": data })
    };
    let write = json!({ "parentToolCallId": "call-1", "catalogId": "openclaw:core:write", "name": "openclaw:core:write" });
    let mut written = write.clone();
    written["isError"] = false.into();
    // The call goes on as soon as it may, so its end and the next call of the model may come in either order.
    let (mut between, mut rest): (Vec<Value>, Vec<Value>) = seen
        .into_iter()
        .partition(|event| event["data"]["toolCallId"] == "call-1.1" && event["type"] == "tool.result");
    assert_eq!(between.pop(), Some(of_model("tool.result", "call-1.1", written)));
    let resolved = rest
        .iter()
        .position(|event| event["type"] == "approval.resolved")
        .unwrap();
    assert_eq!(
        rest.remove(resolved),
        json!({ "source": "runtime", "type": "approval.resolved", "data": {
            "approvalId": "question", "toolCallId": "call-1.1", "decision": "allowed-once",
        } })
    );
    let expected = [
        json!({ "source": "runtime", "type": "session.started" }),
        of_model(
            "tool.call",
            "call-1",
            json!({ "name": "exec", "toolKind": "code_mode_exec" }),
        ),
        of_model("tool.call", "call-1.1", write),
        json!({ "source": "runtime", "type": "approval.requested", "data": {
            "approvalId": "question", "toolCallId": "call-1.1", "title": "Call write?",
            "description": "The configuration asks before `openclaw:core:write` is called, by `write`.",
        } }),
        of_model(
            "tool.result",
            "call-1",
            json!({ "name": "exec", "isError": false }),
        ),
        of_model(
            "tool.call",
            "call-2",
            json!({ "name": "wait", "toolKind": "code_mode_wait" }),
        ),
        of_model(
            "tool.result",
            "call-2",
            json!({ "name": "wait", "isError": false }),
        ),
        json!({ "source": "runtime", "type": "session.ended" }),
    ];
    assert_eq!(rest, expected);
}

#[test]
fn a_call_of_the_model_itself_is_recorded() {
    let place = Place::new(&json!({ "tools": { "codeMode": false, "fs": { "roots": ["files"] } } }));
    let mut door = Door::open_with(&place, &["--trajectory", "t.jsonl"], &json!({}));
    door.call("read", json!({ "path": "none.txt" }));
    assert_eq!(door.close(), Some(0));
    let message = "`none.txt` does not exist; `ls` and `glob` show what does";
    assert_eq!(
        events(&place, &[])[1..3],
        [
            json!({ "source": "transcript", "type": "tool.call", "data": {
                "toolCallId": "call-1", "name": "openclaw:core:read", "arguments": { "path": "none.txt" },
            } }),
            json!({ "source": "transcript", "type": "tool.result", "data": {
                "toolCallId": "call-1", "name": "openclaw:core:read", "isError": true,
                "result": { "message": message },
            } }),
        ]
    );
}

#[test]
fn secrets_are_taken_out_and_nobody_else_can_read_the_file() {
    let place = Place::new(&json!({ "mcp": shop() }));
    let code =
        "const { structuredContent } = await MCP.shop.echo({ value: { token: 'hunter2', note: 'fine' } });
return structuredContent;";
    let ended = place.run(&["exec", "--trajectory", "t.jsonl", "--code", code]);
    assert_eq!(ended.json()["value"]["value"]["token"], "hunter2");
    assert!(!place.read("t.jsonl").contains("hunter2"));
    let seen = events(&place, &[]);
    let hidden = json!({ "value": { "token": "<redacted>", "note": "fine" } });
    assert_eq!(
        (&seen[2]["data"]["catalogId"], &seen[2]["data"]["arguments"]),
        (&json!("mcp:shop:echo"), &hidden)
    );
    assert_eq!(seen[3]["data"]["result"]["structuredContent"], hidden);
    assert_eq!(seen[4]["data"]["result"]["value"], hidden);
    let mode = fs::metadata(place.path("t.jsonl")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_second_session_is_appended() {
    let place = Place::new(&json!({}));
    for _ in 0..2 {
        place.run(&["exec", "--trajectory", "t.jsonl", "--code", "return 1"]);
    }
    let text = place.read("t.jsonl");
    let started: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|event| event["type"] == "session.started")
        .collect();
    assert_eq!(started.len(), 2);
    assert_ne!(started[0]["sessionId"], started[1]["sessionId"]);
}

#[test]
fn the_environment_names_a_file_and_zero_switches_off() {
    let flag = &["exec", "--code", "return 1", "--trajectory", "t.jsonl"][..];
    let plain = &flag[..3];
    for (variable, value, arguments, written) in [
        ("CODECELL_TRAJECTORY", "e.jsonl", plain, &["e.jsonl"][..]),
        ("CODECELL_TRAJECTORY", "e.jsonl", flag, &["t.jsonl"]),
        ("CODECELL_TRAJECTORY", "", flag, &["t.jsonl"]),
        ("CODECELL_TRAJECTORY", "", plain, &[]),
        ("CODECELL_TRAJECTORY", "0", flag, &[]),
        ("OPENCLAW_TRAJECTORY", "0", flag, &[]),
        ("UNRELATED", "0", plain, &[]),
    ] {
        let place = Place::new(&json!({}));
        let output = place.command(arguments).env(variable, value).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let found: Vec<&str> = ["0", "e.jsonl", "t.jsonl"]
            .into_iter()
            .filter(|name| place.path(name).exists())
            .collect();
        assert_eq!(found, written, "{variable}={value} {arguments:?}");
    }
}

#[test]
fn a_record_that_cannot_be_written_is_an_error() {
    let place = Place::new(&json!({}));
    let message = "cannot write the trajectory to `no/t.jsonl`: No such file or directory (os error 2)";
    let ended = place.run(&["exec", "--trajectory", "no/t.jsonl", "--code", "return 1"]);
    let result = ended.json();
    assert_eq!(
        (ended.code, &result["code"], &result["error"]),
        (1, &json!("invalid_input"), &json!(message))
    );
    let ended = place.run(&["mcp", "--trajectory", "no/t.jsonl"]);
    assert_eq!((ended.code, ended.stderr), (1, format!("error: {message}\n")));
}
