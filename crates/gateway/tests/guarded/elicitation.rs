//! Questions to the person in front of the caller's host.
use serde_json::{Value, json};

use super::door::Door;
use super::place::{Place, id_of, writable};

const WRITE: &str = "return (await tools.write({ path: 'a.txt', text: 'one' })).created";

/// Files that are not written without a question.
fn asking(code_mode: &Value) -> Place {
    Place::new(
        &json!({ "tools": { "codeMode": code_mode, "fs": writable(), "approvals": { "ask": ["write"] } } }),
    )
}

fn can_ask() -> Value {
    json!({ "elicitation": {} })
}

/// Runs the program that writes before a host that can ask: its call, and the question that it leads to.
fn asked(place: &Place) -> (Door, u64, Value) {
    let mut door = Door::open(place, &can_ask());
    let call = door.start("exec", json!({ "code": WRITE }));
    let question = door.asked();
    (door, call, question)
}

/// The person chooses.
fn accept(decision: &str) -> Value {
    json!({ "action": "accept", "content": { "decision": decision } })
}

/// The result of the program that writes, of which the call was not let through.
fn assert_denied(result: &Value) {
    let error = result["error"].as_str().unwrap();
    assert!(
        error.contains("Tool \"openclaw:core:write\" was blocked before execution: Denied by user"),
        "{result}"
    );
}

#[test]
fn the_host_is_shown_the_tool_its_arguments_and_the_program() {
    let place = asking(&json!({}));
    let (mut door, call, mut question) = asked(&place);
    // The number under which the host may tell how far it is.
    question["params"].as_object_mut().unwrap().remove("_meta");
    let message = format!(
        "Call write?\nThe configuration asks before `openclaw:core:write` is called, by `write`.\n\n\
         Tool: openclaw:core:write\nArguments: {{\"path\":\"a.txt\",\"text\":\"one\"}}\n\n\
         Program (javascript):\n{WRITE}"
    );
    let decision = json!({
        "type": "string", "title": "Decision", "enum": ["allow-once", "allow-always", "deny"],
    });
    assert_eq!(
        question["params"],
        json!({
            "mode": "form",
            "message": message,
            "requestedSchema": {
                "type": "object", "properties": { "decision": decision }, "required": ["decision"],
            },
        })
    );
    door.reply(&question, accept("allow-once"));
    assert_eq!(door.result(call)["structuredContent"]["value"], true);
    assert_eq!(place.read("files/a.txt"), "one");
    assert_eq!(place.questions(), Vec::<Value>::new());
}

#[test]
fn every_answer_but_a_clear_yes_refuses_the_call() {
    for answer in [json!({ "action": "decline" }), accept("deny"), accept("sure")] {
        let place = asking(&json!({}));
        let (mut door, call, question) = asked(&place);
        door.reply(&question, answer);
        assert_denied(&door.result(call)["structuredContent"]);
        assert!(!place.path("files/a.txt").exists());
    }
}

#[test]
fn always_is_remembered_for_the_connection() {
    let place = asking(&json!({}));
    let (mut door, call, question) = asked(&place);
    door.reply(&question, accept("allow-always"));
    assert_eq!(door.result(call)["structuredContent"]["value"], true);
    assert_eq!(
        door.exec(WRITE)["value"],
        false,
        "written again without a question"
    );
    assert!(!door.was_asked());
}

#[test]
fn a_closed_window_leaves_the_question_open_for_another_terminal() {
    let place = asking(&json!({}));
    let (mut door, call, question) = asked(&place);
    door.reply(&question, json!({ "action": "cancel" }));
    assert!(!door.was_asked(), "the person is not asked again");
    place.answer(&["allow"]);
    assert_eq!(door.result(call)["structuredContent"]["value"], true);
}

#[test]
fn a_question_that_is_settled_elsewhere_is_withdrawn() {
    let place = asking(&json!({}));
    let (mut door, call, question) = asked(&place);
    place.answer(&["deny"]);
    assert_eq!(
        door.withdrawn(),
        json!({ "requestId": question["id"], "reason": "settled elsewhere" })
    );
    assert_denied(&door.result(call)["structuredContent"]);
    // An answer that comes too late changes nothing.
    door.reply(&question, accept("allow-always"));
    let call = door.start("exec", json!({ "code": WRITE }));
    let question = door.asked();
    door.reply(&question, json!({ "action": "decline" }));
    assert_denied(&door.result(call)["structuredContent"]);
    assert!(!place.path("files/a.txt").exists());
}

#[test]
fn a_host_that_cannot_show_forms_is_not_asked() {
    for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
        let place = asking(&json!({}));
        let mut door = Door::open(&place, &capabilities);
        let call = door.start("exec", json!({ "code": WRITE }));
        let question = id_of(&place.question());
        assert!(!door.was_asked(), "{capabilities}");
        assert_eq!(place.run(&["approvals", "deny", &question]).code, 0);
        assert_denied(&door.result(call)["structuredContent"]);
    }
}

#[test]
fn a_cell_that_waits_goes_on_after_the_answer() {
    let place = asking(&json!({ "timeoutMs": 1000 }));
    let mut door = Door::open(&place, &can_ask());
    let waiting = door.exec(WRITE);
    assert_eq!(
        (&waiting["status"], &waiting["reason"]),
        (&json!("waiting"), &json!("pending_tools"))
    );
    let question = door.asked();
    door.reply(&question, accept("allow-once"));
    assert_eq!(door.wait(&waiting)["value"], true);
}

#[test]
fn a_tool_that_the_model_calls_itself_asks_as_well() {
    let place = asking(&json!(false));
    let mut door = Door::open(&place, &can_ask());
    let call = door.start("write", json!({ "path": "a.txt", "text": "one" }));
    let question = door.asked();
    let message = "Call write?\nThe configuration asks before `openclaw:core:write` is called, by `write`.\n\n\
                   Tool: openclaw:core:write\nArguments: {\"path\":\"a.txt\",\"text\":\"one\"}";
    assert_eq!(question["params"]["message"], message);
    door.reply(&question, json!({ "action": "decline" }));
    let text = "Tool \"openclaw:core:write\" was blocked before execution: Denied by user";
    assert_eq!(
        door.result(call),
        json!({ "content": [{ "type": "text", "text": text }], "isError": true })
    );
}
