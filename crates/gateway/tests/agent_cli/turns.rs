//! Turns that go well: what is printed and what the model is told.
use serde_json::{Value, json};

use super::fixed;
use super::place::{Ended, Place, shop, writable};
use super::provider::{Provider, Reply};

/// The messages of a request, as role and text.
fn said(request: &Value) -> Vec<(String, String)> {
    let messages = request["messages"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    messages
        .iter()
        .map(|message| (text(&message["role"]), text(&message["content"])))
        .collect()
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected
        .iter()
        .map(|(role, text)| ((*role).to_owned(), (*text).to_owned()))
        .collect()
}

fn check(ended: &Ended, code: i32, stdout: &str, stderr: &str) {
    assert_eq!(
        (ended.code, ended.stdout.as_str(), fixed(&ended.stderr).as_str()),
        (code, stdout, stderr)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_goes_to_standard_output_and_the_rest_to_standard_error() {
    let provider = Provider::start([Reply::Text(vec!["Hello", " there", "."])]).await;
    let place = Place::new(&provider.config(json!({ "agents": { "defaults": {
        "model": "fake/small", "systemPrompt": "Be brief.", "temperature": 0.5, "maxTokens": 100
    } } })));
    check(
        &place.run(&["agent", "hi"]),
        0,
        "Hello there.\n",
        "round 1  fake/small\ndone  rounds 1, tokens 12, session agent:main:cli:ID\n",
    );
    let request = &provider.seen()[0];
    assert_eq!(said(request), pairs(&[("system", "Be brief."), ("user", "hi")]));
    assert_eq!(
        (&request["model"], &request["temperature"], &request["tools"]),
        (&json!("small"), &json!(0.5), &Value::Null)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_calls_of_a_program_are_shown_one_a_line() {
    let code = "await MCP.shop.listProducts({});\n\
                try { await MCP.shop.getOrder({ order_id: 'none' }) } catch (error) {}";
    let provider = Provider::start([
        Reply::Call("exec", json!({ "code": code })),
        Reply::Call("exec", json!({ "code": "throw new Error('no \\u001b[31mluck')" })),
        Reply::Call("no\u{1b}[2Jsuch", json!({})),
        Reply::Text(vec!["Done.\n"]),
    ])
    .await;
    let place = Place::new(&provider.config(json!({ "tools": { "codeMode": true }, "mcp": shop() })));
    let ended = place.run(&["agent", "look", "--session", "s"]);
    check(
        &ended,
        0,
        "Done.\n",
        "round 1  fake/small\n    MCP.shop.listProducts  ok  N ms\n    MCP.shop.getOrder  error  N ms\n  exec  ok\n\
         round 2  fake/small\n  exec  failed  Error: no \\u{1b}[31mluck\n\
         round 3  fake/small\n  no\\u{1b}[2Jsuch  failed  Tool no\\u{1b}[2Jsuch not found: there are exec, wait\n\
         round 4  fake/small\ndone  rounds 4, tokens 48, session s\n",
    );
    let seen = provider.seen();
    let tools = seen[0]["tools"].as_array().unwrap().iter();
    let names: Vec<&Value> = tools.map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(names, ["exec", "wait"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_on_where_it_was() {
    let provider = Provider::start([
        Reply::Text(vec!["Blue."]),
        Reply::Text(vec!["Because."]),
        Reply::Text(vec!["What?"]),
    ])
    .await;
    let place = Place::new(&provider.config(json!({})));
    let ask = |prompt, session| place.run(&["agent", prompt, "--session", session, "--quiet"]);
    check(&ask("Which colour?", "a"), 0, "Blue.\n", "");
    check(&ask("Why?", "a"), 0, "Because.\n", "");
    check(&ask("Why?", "b"), 0, "What?\n", "");
    let seen = provider.seen();
    assert_eq!(
        said(&seen[1]),
        pairs(&[
            ("user", "Which colour?"),
            ("assistant", "Blue."),
            ("user", "Why?")
        ])
    );
    assert_eq!(said(&seen[2]), pairs(&[("user", "Why?")]));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_line_of_json_says_how_it_went() {
    let provider = Provider::start([Reply::Text(vec!["Hi", "."])]).await;
    let place = Place::new(&provider.config(json!({})));
    let ended = place.run(&[
        "agent",
        "--json",
        "--quiet",
        "--session",
        "s",
        "--model",
        "fake/big",
        "hi",
    ]);
    let mut told = ended.json();
    assert!(told["run"].take().as_str().unwrap().starts_with("turn_"));
    assert_eq!(
        (ended.code, ended.stderr.as_str(), told),
        (
            0,
            "",
            json!({
                "ok": true, "stop": "done", "text": "Hi.", "agent": "main", "model": "fake/big", "session": "s",
                "run": null, "rounds": 1,
                "usage": {
                    "inputTokens": 6, "outputTokens": 2, "cacheReadTokens": 4, "cacheWriteTokens": 0
                },
                "error": null,
            })
        )
    );
    assert_eq!(provider.seen()[0]["model"], "big");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_prompt_can_come_from_standard_input() {
    let provider = Provider::start([Reply::Text(vec!["Yes."])]).await;
    let place = Place::new(&provider.config(json!({})));
    place.write("prompt.txt", "Is it\nso?\n");
    let mut command = place.command(&["agent", "--quiet", "-"]);
    command.stdin(std::fs::File::open(place.path("prompt.txt")).unwrap());
    let output = command.output().unwrap();
    assert_eq!(
        (output.status.code(), String::from_utf8(output.stdout).unwrap()),
        (Some(0), "Yes.\n".into())
    );
    assert_eq!(said(&provider.seen()[0]), pairs(&[("user", "Is it\nso?\n")]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waits_for_a_person_is_answered_from_another_terminal() {
    let write = "return await tools.write({ path: 'a', text: 'x' })";
    let provider = Provider::start([
        Reply::Call("exec", json!({ "code": write })),
        Reply::Text(vec!["Written."]),
    ])
    .await;
    let tools = json!({ "codeMode": true, "fs": writable(), "approvals": { "ask": ["write"] } });
    let place = Place::new(&provider.config(json!({ "tools": tools })));
    let running = place.start(&["agent", "write", "--session", "s"]);
    place.answer(&["allow"]);
    let ended = running.end();
    check(
        &ended,
        0,
        "Written.\n",
        "round 1  fake/small\n    waits for you  openclaw:core:write: Call write?\n      \
         codecell approvals show policy:ID\n    openclaw:core:write  ok  N ms\n  exec  ok\n\
         round 2  fake/small\ndone  rounds 2, tokens 24, session s\n",
    );
    assert_eq!(place.read("files/a"), "x");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trajectory_gets_every_turn() {
    let secret = "sk-abcdefghijklmnopqrstuvwxyz0123456789";
    let code = format!("// {secret}\nreturn (await MCP.shop.listProducts({{}})) !== null");
    let provider = Provider::start([
        Reply::Call("exec", json!({ "code": code })),
        Reply::Text(vec!["One."]),
        Reply::Text(vec!["Two."]),
    ])
    .await;
    let place = Place::new(&provider.config(json!({ "tools": { "codeMode": true }, "mcp": shop() })));
    for prompt in ["look", "again"] {
        let ended = place.run(&[
            "agent",
            prompt,
            "--session",
            "s",
            "--quiet",
            "--trajectory",
            "t.jsonl",
        ]);
        assert_eq!(ended.code, 0, "{ended:?}");
    }
    let text = place.read("t.jsonl");
    assert!(!text.contains(secret), "{text}");
    let events: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let shape: Vec<Value> = events
        .iter()
        .map(|event| json!([event["seq"], event["type"], event["data"]["name"]]))
        .collect();
    assert_eq!(
        shape,
        [
            json!([1, "user.message", null]),
            json!([2, "tool.call", "exec"]),
            json!([3, "tool.call", "MCP.shop.listProducts"]),
            json!([4, "tool.result", "MCP.shop.listProducts"]),
            json!([5, "tool.result", "exec"]),
            json!([6, "assistant.message", null]),
            json!([7, "user.message", null]),
            json!([8, "assistant.message", null]),
        ]
    );
    assert_eq!(
        events[2]["data"]["parentToolCallId"],
        events[1]["data"]["toolCallId"]
    );
    let refused = place.run(&["agent", "hi", "--trajectory", "no/such/folder"]);
    assert_eq!(refused.code, 1);
    let message = "error: cannot write the trajectory to `no/such/folder`: ";
    assert!(refused.stderr.contains(message), "{refused:?}");
    assert_eq!(provider.seen().len(), 3, "nobody was asked");
}
