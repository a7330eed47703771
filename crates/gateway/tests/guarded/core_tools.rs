//! The product's own tools: what there is, what it reaches, and how it looks with and without code mode.
use serde_json::{Value, json};

use super::door::Door;
use super::place::{Place, writable};

const IDS: &str = "return ALL_TOOLS.map((tool) => tool.id)";

/// The ids of the tools that programs see.
fn ids(tools: &Value) -> Value {
    Place::new(&json!({ "tools": tools })).value(IDS)
}

#[test]
fn a_program_reads_writes_and_searches_inside_its_root() {
    let place = Place::new(&json!({ "tools": { "fs": writable() } }));
    let written = place.value(
        "const call = (tool, input) => tools.callValue(`openclaw:core:${tool}`, input);
         const written = await call('write', { path: 'notes/a.txt', text: 'one\\ntwo\\n', createDirs: true });
         const found = await tools.grep({ pattern: 't.o' });
         const { result } = await tools.call('openclaw:core:read', { path: 'notes/a.txt', offset: 2 });
         return { written, found, content: result.content };",
    );
    let read =
        r#"{"path":"notes/a.txt","text":"two\n","startLine":2,"lines":1,"totalLines":2,"truncated":false}"#;
    let expected = json!({
        "written": { "path": "notes/a.txt", "bytes": 8, "created": true },
        "found": { "matches": [{ "path": "notes/a.txt", "line": 2, "text": "two" }], "truncated": false },
        "content": [{ "type": "text", "text": read }],
    });
    assert_eq!(written, expected);
    assert_eq!(place.read("files/notes/a.txt"), "one\ntwo\n");
}

#[test]
fn nothing_outside_the_root_is_reached() {
    let place = Place::new(&json!({ "tools": { "fs": writable() } }));
    place.write("secret.txt", "hunter2");
    std::os::unix::fs::symlink("../secret.txt", place.path("files/link")).unwrap();
    let outside = place.path("secret.txt");
    let paths = json!(["../secret.txt", "link", outside, "a/../../secret.txt"]);
    let code = format!(
        "const codes = [];
         for (const path of {paths})
             for (const [tool, input] of [['read', {{}}], ['grep', {{ pattern: '.' }}], ['write', {{ text: 'x' }}]])
                 await tools[tool]({{ path, ...input }}).catch((error) => codes.push(error.code));
         return codes;"
    );
    let mut expected = vec!["outside_roots"; 12];
    // Writing to a link is refused wherever it leads.
    expected[5] = "symlink";
    assert_eq!(place.value(&code), json!(expected));
    assert_eq!(place.read("secret.txt"), "hunter2");
}

#[test]
fn there_are_the_tools_that_the_configuration_gives_and_no_others() {
    let id = |name: &&str| format!("openclaw:core:{name}");
    for (tools, expected) in [
        (json!({}), &[][..]),
        (
            json!({ "fs": { "roots": ["files"] } }),
            &["glob", "grep", "ls", "read"],
        ),
        (
            json!({ "fs": { "roots": ["files"] }, "exec": { "timeoutMs": 1000 } }),
            &["glob", "grep", "ls", "read"],
        ),
        (
            json!({ "fs": writable(), "exec": true, "web": { "fetch": true } }),
            &[
                "apply_patch",
                "edit",
                "exec",
                "glob",
                "grep",
                "ls",
                "read",
                "web_fetch",
                "write",
            ],
        ),
        (
            json!({ "fs": writable(), "exec": true, "allow": ["write", "ls"] }),
            &["apply_patch", "ls", "write"],
        ),
        (
            json!({ "fs": writable(), "exec": true, "deny": ["group:fs"] }),
            &["exec"],
        ),
        (
            json!({ "fs": writable(), "exec": true, "deny": ["hint:destructive"] }),
            &["glob", "grep", "ls", "read"],
        ),
    ] {
        let expected: Vec<String> = expected.iter().map(id).collect();
        assert_eq!(ids(&tools), json!(expected), "{tools}");
    }
}

#[test]
fn a_denied_tool_is_nowhere_and_cannot_be_called() {
    let place = Place::new(&json!({ "tools": { "fs": writable(), "deny": ["write"] } }));
    let seen = place.value(
        "const found = (await tools.search('write a file', { limit: 50 })).map((tool) => tool.name);
         const error = await tools.callValue('openclaw:core:write', { path: 'a', text: 'b' }).catch((error) => error);
         return [typeof tools.write, found.includes('write'), error.message];",
    );
    let message = seen[2].as_str().unwrap();
    assert!(
        message.starts_with("unknown tool id `openclaw:core:write`"),
        "{message}"
    );
    assert_eq!((&seen[0], &seen[1]), (&json!("undefined"), &json!(false)));
    assert!(!place.path("files/a").exists());
}

#[test]
fn the_shell_is_called_by_id_and_the_visible_exec_is_code_modes() {
    let place = Place::new(&json!({ "tools": { "fs": writable(), "exec": true } }));
    let mut door = Door::open(&place, &json!({}));
    assert_eq!(door.tools(), ["exec", "wait"]);
    let result =
        door.exec("return await tools.callValue('openclaw:core:exec', { command: 'echo $((6 * 7))' })");
    let expected = json!({
        "exitCode": 0, "stdout": "42\n", "stderr": "", "truncated": false, "timedOut": false,
    });
    assert_eq!(result["value"], expected, "{result}");
    let shell = door.exec("ls -la && pwd");
    assert_eq!(shell["code"], "invalid_input", "{shell}");
}

#[test]
fn without_code_mode_they_are_listed_and_called_directly() {
    let config = json!({ "tools": { "codeMode": false, "fs": writable(), "exec": true, "deny": ["edit"] } });
    let place = Place::new(&config);
    place.write("files/a.txt", "one\n");
    let mut door = Door::open(&place, &json!({}));
    assert_eq!(
        door.tools(),
        ["apply_patch", "exec", "glob", "grep", "ls", "read", "write"]
    );
    let text = r#"{"path":"a.txt","text":"one\n","startLine":1,"lines":1,"totalLines":1,"truncated":false}"#;
    assert_eq!(
        door.call("read", json!({ "path": "a.txt" })),
        json!({
            "content": [{ "type": "text", "text": text }],
            "structuredContent": serde_json::from_str::<Value>(text).unwrap(),
        })
    );
    let shell = door.call("exec", json!({ "command": "cat a.txt; exit 3" }));
    assert_eq!(
        shell["structuredContent"],
        json!({ "exitCode": 3, "stdout": "one\n", "stderr": "", "truncated": false, "timedOut": false })
    );
    let refused = door.call("read", json!({ "path": "../codecell.json5" }));
    let message =
        "`../codecell.json5` leads outside the folders that may be used, directly or through a symbolic link";
    assert_eq!(
        refused,
        json!({ "content": [{ "type": "text", "text": message }], "isError": true })
    );
    let unfit = door.call("read", json!({ "file": "a.txt" }));
    assert_eq!(unfit["isError"], true, "{unfit}");
}

#[test]
fn a_listed_tool_of_our_own_says_what_a_host_has_to_know() {
    let place = Place::new(&json!({ "tools": { "codeMode": false, "fs": { "roots": ["files"] } } }));
    let mut door = Door::open(&place, &json!({}));
    let list = door.request("tools/list", json!({}));
    let read = list["tools"].as_array().unwrap().last().unwrap();
    let keys: Vec<&String> = read.as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["name", "title", "description", "inputSchema", "annotations"]
    );
    assert_eq!(
        (
            &read["title"],
            &read["inputSchema"]["required"],
            &read["annotations"]
        ),
        (
            &json!("Read a file"),
            &json!(["path"]),
            &json!({ "readOnlyHint": true, "destructiveHint": false, "openWorldHint": false }),
        )
    );
}

#[test]
fn a_run_that_repeats_itself_is_stopped_where_that_is_wanted() {
    let code = "for (let n = 1; n <= 200; n += 1)
            try { await tools.callValue('openclaw:core:ls', {}); } catch ({ code, details }) { return [n, code, details.deniedReason]; }
        return 'never stopped';";
    let tools = |on: bool| json!({ "tools": { "fs": { "roots": ["files"] }, "loopDetection": on } });
    assert_eq!(Place::new(&tools(false)).value(code), "never stopped");
    assert_eq!(
        Place::new(&tools(true)).value(code),
        json!([20, "blocked", "tool-loop"])
    );
}
