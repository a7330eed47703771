//! Calls that a person has to approve, and the person at another terminal.
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};

use serde_json::{Value, json};

use super::door::Door;
use super::place::{Place, id_of, shop, writable};

const ECHO: &str = "return (await tools.callValue('openclaw:core:exec', { command: 'echo yes' })).stdout";

/// A program that is told why its call did not run. The call would leave a file.
const TOUCH: &str =
    "try { await tools.callValue('openclaw:core:exec', { command: 'touch made' }); return 'it ran'; }
catch ({ code, message, details }) { return { code, message, details }; }";

/// A shell that asks first.
fn asking(approvals: &Value) -> Place {
    Place::new(&json!({ "tools": { "fs": writable(), "exec": true, "approvals": approvals } }))
}

/// What a program catches when its call was not let through.
fn blocked(reason: &str) -> Value {
    json!({
        "code": "blocked",
        "message": format!("Tool \"openclaw:core:exec\" was blocked before execution: {reason}"),
        "details": { "status": "blocked", "deniedReason": "plugin-approval", "reason": reason },
    })
}

#[test]
fn a_person_finds_the_question_reads_it_and_allows_it_by_the_beginning_of_its_id() {
    let place = asking(&json!({ "ask": ["bash"] }));
    let running = place.start_exec(ECHO);
    let mut question = place.question();
    let id = id_of(&question);
    let bare = id.strip_prefix("policy:").unwrap();

    let listing = place.run(&["approvals"]).stdout;
    assert_eq!(
        listing,
        format!(
            "{id}  openclaw:core:exec  warning\n  Call exec?\n  {{\"command\":\"echo yes\"}}\n\n\
             `codecell approvals show ID`, then `allow ID` or `deny ID`; the beginning of an id will do.\n"
        )
    );

    let shown = place.run(&["approvals", "show", bare]).stdout;
    let session = question["session"].as_str().unwrap();
    let (before, rest) = shown.split_once("expires   in ").unwrap();
    let (seconds, after) = rest.split_once(" s\n").unwrap();
    assert!(seconds.parse::<u32>().unwrap() <= 120, "{shown}");
    assert_eq!(
        before,
        format!(
            "{id}\nCall exec?\nThe configuration asks before `openclaw:core:exec` is called, by `bash`.\n\n\
             tool      openclaw:core:exec\nasked by  bash\nagent     main (session {session})\nseverity  warning\n"
        )
    );
    assert_eq!(
        after,
        format!(
            "answers   allow-once, allow-always, deny\n\n\
             arguments\n{{\n  \"command\": \"echo yes\"\n}}\n\nthe program (javascript)\n{ECHO}\n"
        )
    );
    assert_eq!(place.run(&["approvals", "show", &id, "--json"]).json(), question);

    let asked = question["createdAtMs"].as_u64().unwrap();
    assert_eq!(question["expiresAtMs"].as_u64().unwrap() - asked, 120_000);
    for volatile in ["id", "session", "run", "createdAtMs", "expiresAtMs"] {
        question.as_object_mut().unwrap().remove(volatile);
    }
    question["cell"].as_object_mut().unwrap().remove("id");
    assert_eq!(
        question,
        json!({
            "title": "Call exec?",
            "description": "The configuration asks before `openclaw:core:exec` is called, by `bash`.",
            "askedBy": "bash",
            "severity": "warning",
            "tool": "openclaw:core:exec",
            "arguments": { "command": "echo yes" },
            "cell": { "language": "javascript", "source": ECHO, "call": 1 },
            "agent": "main",
            "allowedDecisions": ["allow-once", "allow-always", "deny"],
        })
    );

    let allowed = place.run(&["approvals", "allow", &bare[..6]]);
    assert_eq!(
        (allowed.code, allowed.stdout),
        (0, format!("{id}: allow-once (openclaw:core:exec)\n"))
    );
    let ended = running.end();
    assert_eq!((ended.code, &ended.json()["value"]), (0, &json!("yes\n")));

    assert_eq!(
        place.run(&["approvals"]).stdout,
        "Nothing waits for an approval.\n"
    );
    assert_eq!(
        fs::read_dir(place.sockets()).unwrap().count(),
        0,
        "the socket is gone"
    );
}

#[test]
fn a_no_is_an_error_that_the_program_can_catch() {
    let place = asking(&json!({ "ask": ["openclaw:core:exec"] }));
    let running = place.start_exec(TOUCH);
    place.answer(&["deny"]);
    assert_eq!(running.end().json()["value"], blocked("Denied by user"));
    assert!(!place.path("files/made").exists());
}

#[test]
fn a_no_that_nobody_catches_fails_the_cell() {
    let place = asking(&json!({ "ask": ["group:runtime"] }));
    let running = place.start_exec(ECHO);
    place.answer(&["deny"]);
    let ended = running.end();
    let error = ended.json()["error"].as_str().unwrap().to_owned();
    assert!(
        error.contains("was blocked before execution: Denied by user"),
        "{error}"
    );
    assert_eq!((ended.code, &ended.json()["status"]), (1, &json!("failed")));
}

#[test]
fn nobody_who_answers_is_a_no() {
    let place = asking(&json!({ "ask": ["exec"], "timeoutSeconds": 1 }));
    assert_eq!(
        place.start_exec(TOUCH).end().json()["value"],
        blocked("Approval timed out")
    );
    assert!(!place.path("files/made").exists());
}

#[test]
fn the_first_answer_counts() {
    let place = asking(&json!({ "ask": ["exec"] }));
    let two = "const call = (command) => tools.callValue('openclaw:core:exec', { command }).then(() => 'ran', () => 'blocked');
               return [await call('touch one'), await call('touch two')];";
    let running = place.start_exec(two);
    let first = id_of(&place.question());
    assert_eq!(place.run(&["approvals", "deny", &first]).code, 0);
    // The process goes on, so that it can be asked about a question it has settled.
    place.until(|questions| questions.iter().all(|question| id_of(question) != first));
    let late = place.run(&["approvals", "allow", &first]);
    assert_eq!(
        (late.code, late.stdout.as_str(), late.stderr),
        (
            1,
            "",
            format!("error: no approval `{first}` is waiting; `codecell approvals` lists those that are\n")
        )
    );
    // Two people who both saw it: the process itself decides who was first.
    let socket = fs::read_dir(place.sockets()).unwrap().next().unwrap().unwrap();
    let mut stream = UnixStream::connect(socket.path()).unwrap();
    let request = json!({ "op": "decide", "id": first, "decision": "allow-once" });
    stream.write_all(format!("{request}\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let refused = format!("approval `{first}` is already settled: Denied by user");
    assert_eq!(
        serde_json::from_str::<Value>(&answer).unwrap(),
        json!({ "refused": refused })
    );

    place.answer(&["allow"]);
    assert_eq!(running.end().json()["value"], json!(["blocked", "ran"]));
    assert!(!place.path("files/one").exists() && place.path("files/two").exists());
}

#[test]
fn an_id_that_names_none_or_several_questions_decides_nothing() {
    let place = asking(&json!({ "ask": ["exec"] }));
    let both = "return (await Promise.all(['one', 'two'].map((word) =>
        tools.callValue('openclaw:core:exec', { command: `echo ${word}` })))).map((done) => done.stdout)";
    let running = place.start_exec(both);
    let ids: Vec<String> = place.wait_for(2).iter().map(id_of).collect();
    for (asked, message) in [
        (
            "policy:",
            format!("`policy:` is the beginning of several: {}, {}", ids[0], ids[1]),
        ),
        (
            "",
            "no approval `` is waiting; `codecell approvals` lists those that are".to_owned(),
        ),
        (
            "plugin:",
            "no approval `plugin:` is waiting; `codecell approvals` lists those that are".to_owned(),
        ),
    ] {
        let refused = place.run(&["approvals", "allow", asked]);
        assert_eq!((refused.code, refused.stderr), (1, format!("error: {message}\n")));
    }
    assert_eq!(place.questions().len(), 2);
    for id in ids {
        assert_eq!(place.run(&["approvals", "allow", &id]).code, 0);
    }
    assert_eq!(running.end().json()["value"], json!(["one\n", "two\n"]));
}

#[test]
fn always_asks_once_and_once_asks_again() {
    let place = asking(&json!({ "ask": ["exec"] }));
    let three = "const seen = [];
        for (const word of ['one', 'two', 'three'])
            seen.push((await tools.callValue('openclaw:core:exec', { command: `echo ${word}` })).stdout);
        return seen;";
    let running = place.start_exec(three);
    let first = place.question();
    assert_eq!(first["arguments"], json!({ "command": "echo one" }));
    assert_eq!(place.run(&["approvals", "allow", &id_of(&first)]).code, 0);
    place.until(|questions| !questions.contains(&first));
    let second = place.question();
    assert_eq!(second["arguments"], json!({ "command": "echo two" }));
    let id = id_of(&second);
    let always = place.run(&["approvals", "allow", "--always", &id]);
    assert_eq!(
        always.stdout,
        format!("{id}: allow-always (openclaw:core:exec)\n")
    );
    // Nobody answers the third.
    assert_eq!(
        running.end().json()["value"],
        json!(["one\n", "two\n", "three\n"])
    );
}

#[test]
fn only_what_the_rule_names_asks() {
    let place = asking(&json!({ "ask": ["exec", "hint:destructive"] }));
    place.write("files/a.txt", "one");
    let read = place.exec("return (await tools.read({ path: 'a.txt' })).text");
    assert_eq!(read["value"], "one");
    let running = place.start_exec("return (await tools.write({ path: 'b.txt', text: 'two' })).created");
    let question = place.question();
    assert_eq!(
        (&question["tool"], &question["askedBy"]),
        (&json!("openclaw:core:write"), &json!("hint:destructive"))
    );
    place.answer(&["allow"]);
    assert_eq!(running.end().json()["value"], true);
}

#[test]
fn a_tool_of_a_server_asks_as_well_and_a_no_reaches_the_program() {
    let approvals = json!({ "ask": ["mcp:shop:refund_order"] });
    let place = Place::new(&json!({ "tools": { "approvals": approvals }, "mcp": shop() }));
    let code = "const refund = () => MCP.shop.refundOrder({ order_id: 'o-1001', reason: 'broken' });
        const error = await refund().catch(({ code, message }) => ({ code, message }));
        const { status } = (await MCP.shop.getOrder({ order_id: 'o-1001' })).structuredContent;
        return [error, status === 'refunded'];";
    let running = place.start_exec(code);
    let question = place.question();
    assert_eq!(
        (&question["title"], &question["tool"], &question["arguments"]),
        (
            &json!("Call refund_order?"),
            &json!("mcp:shop:refund_order"),
            &json!({ "order_id": "o-1001", "reason": "broken" }),
        )
    );
    place.answer(&["deny"]);
    let message = "Tool \"mcp:shop:refund_order\" was blocked before execution: Denied by user";
    assert_eq!(
        running.end().json()["value"],
        json!([{ "code": "blocked", "message": message }, false])
    );
}

#[test]
fn reading_from_a_server_can_ask() {
    let approvals = json!({ "ask": ["mcp:shop:resources/*"] });
    let place = Place::new(&json!({ "tools": { "approvals": approvals }, "mcp": shop() }));
    let code = "return (await MCP.shop.resources.read({ uri: 'shop://policies/returns' })).contents.length";
    let running = place.start_exec(code);
    let question = place.question();
    assert_eq!(
        (&question["tool"], &question["arguments"]),
        (
            &json!("mcp:shop:resources/read"),
            &json!({ "uri": "shop://policies/returns" })
        )
    );
    place.answer(&["allow"]);
    assert_eq!(running.end().json()["value"], 1);
}

#[test]
fn the_questions_of_all_processes_are_found_oldest_first() {
    let place = asking(&json!({ "ask": ["exec"] }));
    let first = place.start_exec(ECHO);
    let one = place.question();
    let second = place.start_exec(TOUCH);
    let both = place.wait_for(2);
    assert_eq!(both[0], one);
    assert_eq!(both[1]["cell"]["source"], TOUCH);
    assert_ne!(both[0]["session"], both[1]["session"]);
    assert_eq!(place.run(&["approvals", "deny", &id_of(&both[1])]).code, 0);
    assert_eq!(second.end().json()["value"], blocked("Denied by user"));
    assert_eq!(place.questions(), [one], "the other process still asks");
    place.answer(&["allow"]);
    assert_eq!(first.end().json()["value"], "yes\n");
}

#[test]
fn a_socket_without_a_process_is_cleared_away() {
    let place = asking(&json!({ "ask": ["exec"] }));
    let folder = place.sockets();
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let stale = folder.join("0123456789ab.sock");
    drop(UnixListener::bind(&stale).unwrap());
    fs::write(folder.join("notes.txt"), "somebody else's").unwrap();
    assert_eq!(
        place.run(&["approvals"]).stdout,
        "Nothing waits for an approval.\n"
    );
    assert!(!stale.exists());
    assert!(
        folder.join("notes.txt").exists(),
        "what is no socket of ours stays"
    );
}

#[test]
fn a_folder_that_others_can_open_is_not_used() {
    let place = asking(&json!({ "ask": ["exec"] }));
    let folder = place.sockets();
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let listed = place.run(&["approvals"]);
    let message = format!(
        "error: cannot look for approvals: `{}` must be a folder of this user that nobody else can open (mode 700)\n",
        folder.display()
    );
    assert_eq!((listed.code, listed.stderr), (1, message));
    // Nobody can be asked, so nothing runs.
    assert_eq!(
        place.start_exec(TOUCH).end().json()["value"],
        blocked("Plugin approval unavailable (no approval route)")
    );
    assert!(!place.path("files/made").exists());
}

#[test]
fn over_mcp_a_cell_waits_for_its_approval_and_goes_on_after_it() {
    let place = Place::new(&json!({ "tools": {
        "codeMode": { "timeoutMs": 1500 }, "fs": writable(), "exec": true, "approvals": { "ask": ["exec"] },
    } }));
    let mut door = Door::open(&place, &json!({}));
    let waiting = door.exec(ECHO);
    let pending =
        json!([{ "id": "bridge:callValue:1", "method": "callValue", "tool": "openclaw:core:exec" }]);
    assert_eq!(
        (
            &waiting["status"],
            &waiting["reason"],
            &waiting["pendingToolCalls"]
        ),
        (&json!("waiting"), &json!("pending_tools"), &pending)
    );
    // Still nobody has said anything.
    let waiting = door.wait(&waiting);
    assert_eq!(
        (&waiting["status"], &waiting["pendingToolCalls"]),
        (&json!("waiting"), &pending)
    );
    place.answer(&["allow"]);
    let done = door.wait(&waiting);
    assert_eq!(
        (&done["status"], &done["value"]),
        (&json!("completed"), &json!("yes\n"))
    );
}

#[test]
fn the_end_of_a_connection_takes_its_questions_back() {
    let place = Place::new(&json!({ "tools": {
        "codeMode": { "timeoutMs": 1000 }, "fs": writable(), "exec": true, "approvals": { "ask": ["exec"] },
    } }));
    let mut door = Door::open(&place, &json!({}));
    assert_eq!(door.exec(TOUCH)["status"], "waiting");
    assert_eq!(place.questions().len(), 1);
    assert_eq!(door.close(), Some(0));
    assert_eq!(place.questions(), Vec::<Value>::new());
    assert_eq!(fs::read_dir(place.sockets()).unwrap().count(), 0);
    assert!(!place.path("files/made").exists());
}
