//! Names, and what they mean.

use codecell::{Owner, ToolSpec};
use serde_json::{Value, json};

use crate::play::{all_twice, completed, twice};
use crate::source::{client, core, mcp, named, ready, tool};
use crate::tools::Bench;

/// Calls everything that is listed anywhere, by every name it is listed under, and gives the id behind each.
const CALL_ALL: &str = "
    const reached = {};
    for (const entry of ALL_TOOLS) reached[entry.id] = await tools.callValue(entry.id, {});
    for (const name of Object.keys(tools)) {
      if (['search', 'describe', 'call', 'callValue'].includes(name)) continue;
      reached[`tools.${name}`] = await tools[name]({});
    }
//park
    for (const server of Object.keys(MCP)) for (const name of Object.keys(MCP[server])) {
      if (name.startsWith('$') || name === 'resources' || name === 'prompts') continue;
      reached[`MCP.${server}.${name}`] = (await MCP[server][name]({})).structuredContent;
    }
    return reached";

#[tokio::test(flavor = "multi_thread")]
async fn n1_a_tool_of_a_client_takes_no_name_from_a_core_tool() {
    let (bench, source) = named(vec![core("read"), client("read"), core("write")], Vec::new());
    let ambiguous = "`read` is ambiguous";
    all_twice(
        &bench,
        [
            (
                "return await tools.callValue('openclaw:core:read')",
                completed("openclaw:core:read"),
            ),
            (
                "return await tools.callValue('client:app:read')",
                completed("client:app:read"),
            ),
            (
                "return [typeof tools.read, typeof tools.write]",
                completed(json!(["undefined", "function"])),
            ),
        ],
    )
    .await;
    let before = source.calls().len();
    let code = "try { return await tools.callValue('read') } catch (e) { return [e.code, e.message] }";
    let result = twice(&bench, code).await;
    let message = result["value"][1].as_str().unwrap();
    for says in ["read", "openclaw:core:read", "client:app:read"] {
        assert!(message.contains(says), "{message} ({ambiguous})");
    }
    assert_eq!(source.calls().len(), before, "nothing is called instead");
}

#[tokio::test(flavor = "multi_thread")]
async fn n3_names_that_differ_in_case_only_are_both_callable() {
    let tools = vec![
        core("getUser"),
        core("getuser"),
        core("GETUSER"),
        mcp("users", "getUser"),
        mcp("users", "getuser"),
    ];
    let (bench, _) = named(tools, ready(&["users"]));
    let expected = json!({
        "openclaw:core:getUser": "openclaw:core:getUser",
        "openclaw:core:getuser": "openclaw:core:getuser",
        "openclaw:core:GETUSER": "openclaw:core:GETUSER",
        "tools.getUser": "openclaw:core:getUser",
        "tools.getuser": "openclaw:core:getuser",
        "tools.GETUSER": "openclaw:core:GETUSER",
        "MCP.users.getUser": "mcp:users:getUser",
        "MCP.users.getuser": "mcp:users:getuser",
    });
    assert_eq!(twice(&bench, CALL_ALL).await, completed(expected));
}

#[tokio::test(flavor = "multi_thread")]
async fn n5_another_server_renames_nothing() {
    let github = || {
        vec![
            mcp("github", "create_issue"),
            mcp("github", "delete"),
            core("message"),
        ]
    };
    let (alone, _) = named(github(), ready(&["github"]));
    let before = twice(&alone, CALL_ALL).await["value"].clone();
    for other in ["gitlab", "git-hub", "git_hub", "GitHub", "message", "a"] {
        let mut tools = github();
        tools.extend([
            mcp(other, "create_issue"),
            mcp(other, "delete"),
            mcp(other, "message"),
        ]);
        let (both, _) = named(tools, ready(&["github", other]));
        let after = twice(&both, CALL_ALL).await["value"].clone();
        for (name, id) in before.as_object().unwrap() {
            assert_eq!(after.get(name), Some(id), "beside `{other}`");
        }
        assert_eq!(
            after.as_object().unwrap().len(),
            before.as_object().unwrap().len() + 3,
            "{after:#}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn n6_servers_that_would_share_a_name_are_both_there() {
    for names in [
        ["my-server", "my_server"],
        ["my server", "myServer"],
        ["constructor", "Constructor"],
    ] {
        let tools = names.map(|name| mcp(name, "find")).to_vec();
        let (bench, _) = named(tools.clone(), ready(&names));
        let first = twice(&bench, CALL_ALL).await;
        let mut ids: Vec<Value> = first["value"].as_object().unwrap().values().cloned().collect();
        ids.sort_by_key(Value::to_string);
        let mut expected = names
            .map(|name| json!(codecell::ToolId::new(&Owner::Mcp(name.into()), "find")))
            .to_vec();
        expected.sort_by_key(Value::to_string);
        assert_eq!(ids, expected, "{first:#}");
        let (again, _) = named(tools.into_iter().rev().collect(), ready(&names));
        assert_eq!(
            twice(&again, CALL_ALL).await,
            first,
            "the order of the tools changes nothing"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn n7_whatever_is_listed_is_callable_under_the_name_it_is_listed_under() {
    let odd = [
        "plain",
        "with-dash",
        "with.dot",
        "with space",
        "9lives",
        "delete",
        "then",
        "toJSON",
        "constructor",
        "__proto__",
        "exec",
        "wait",
        "search",
        "call",
        "läsa",
        "読む",
        "x; touch y",
        "a:b",
        "%41",
        "$api",
        "resources",
        "prompts",
    ];
    let owners = [
        Owner::Core,
        Owner::ExternalPlugin("plug:in".into()),
        Owner::Mcp("Odd Server".into()),
        Owner::Client("app".into()),
    ];
    let tools: Vec<ToolSpec> = owners
        .iter()
        .flat_map(|owner| odd.map(|name| tool(owner.clone(), name)))
        .chain(["unique-one", "unique.two"].map(core))
        .collect();
    let (bench, _) = named(tools.clone(), ready(&["Odd Server"]));
    let (result, waits) = crate::play::to_the_end(
        &bench,
        json!({ "code": CALL_ALL.replace("//park", "await yield_control();"), "language": "javascript" }),
    )
    .await;
    assert_eq!(waits, 1, "{result:#}");
    let reached = result["value"].as_object().unwrap();
    for (name, id) in reached {
        if !name.starts_with("tools.") && !name.starts_with("MCP.") {
            assert_eq!(id, name);
        }
    }
    let of = |spec: &ToolSpec| json!(codecell::ToolId::new(&spec.owner, &spec.name));
    for spec in &tools {
        assert!(
            reached.values().any(|id| *id == of(spec)),
            "{} of {:?} is reached",
            spec.name,
            spec.owner
        );
    }
    assert_eq!(reached["tools.unique_one"], "openclaw:core:unique-one");

    let found = "const paths = (await MCP.$search('odd server', {limit: 50})).map(hit => hit.path);
        const reached = await Promise.all(paths.map(path => eval(path)({})));
        return reached.map(one => one.structuredContent).sort()";
    let found = twice(&bench, found).await;
    let mut listed: Vec<String> = odd
        .iter()
        .map(|name| codecell::ToolId::new(&Owner::Mcp("Odd Server".into()), name).to_string())
        .collect();
    listed.sort();
    assert_eq!(
        found,
        completed(json!(listed)),
        "paths of hits are callable as they stand"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn n9_a_hint_leads_to_a_call_that_works_here() {
    let (bench, _) = named(
        vec![core("create_note"), mcp("jira", "create_issue")],
        ready(&["jira"]),
    );
    // What the message of a failure names is called as it stands there.
    let obeyed = |call: &str, hint: &str| {
        format!(
            "let message; try {{ await {call} }} catch (e) {{ message = e.message }}
             const hint = '{hint}';
             if (!message.includes(hint)) return message;
             const reached = hint.includes(':') ? await tools.callValue(hint) : await eval(hint)({{}});
             return reached.structuredContent ?? reached"
        )
    };
    for (call, hint, id) in [
        (
            "tools.callValue('mcp:jira:create_issue', {})",
            "MCP.jira.createIssue",
            "mcp:jira:create_issue",
        ),
        (
            "tools.callValue('create_issue', {})",
            "MCP.jira.createIssue",
            "mcp:jira:create_issue",
        ),
        (
            "tools.callValue('create_nota', {})",
            "openclaw:core:create_note",
            "openclaw:core:create_note",
        ),
    ] {
        assert_eq!(twice(&bench, &obeyed(call, hint)).await, completed(id), "{call}");
    }
    let found = "const [hit] = await tools.search('create note'); return await tools.callValue(hit.id)";
    assert_eq!(twice(&bench, found).await, completed("openclaw:core:create_note"));
    let shell = bench.exec("ls -la && echo hi").await["error"]
        .as_str()
        .unwrap()
        .to_owned();
    let advised = "return [typeof tools.search, typeof tools.callValue]";
    assert_eq!(bench.value(advised).await, json!(["function", "function"]));
    assert!(shell.contains("tools.search"), "{shell}");
}

#[tokio::test(flavor = "multi_thread")]
async fn n10_the_model_is_told_of_nothing_that_is_not_there() {
    let told = |bench: &Bench| {
        bench
            .context
            .surface
            .exec_descriptor(&bench.context.settings)
            .description
    };
    let (own, _) = named(vec![core("create_note")], Vec::new());
    let (servers, _) = named(vec![mcp("jira", "create_issue")], ready(&["jira"]));
    assert!(!told(&own).contains("MCP"), "{}", told(&own));
    assert!(told(&own).contains("openclaw:core:create_note"));
    assert!(
        told(&servers).contains("MCP.jira") || told(&servers).contains("jira"),
        "{}",
        told(&servers)
    );
    assert!(!told(&servers).contains("create_issue") && !told(&servers).contains("createIssue"));
    for bench in [&own, &servers] {
        for control in ["tool_search", "tool_describe", "tool_call"] {
            assert!(!told(bench).contains(control));
        }
    }
}
