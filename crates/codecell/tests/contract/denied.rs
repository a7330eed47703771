//! Tools that the policy takes away.

use codecell::tools::{Policy, Step, ToolLists};
use serde_json::json;

use crate::world::{World, blocked};

const DENIED: &[&str] = &[
    "openclaw:core:bump",
    "mcp:Files:write_file",
    "client:app:select_file",
    "openclaw:shop:list_orders",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_tool_is_in_no_list_and_no_search() {
    let mut world = World::new("denied-lists");
    let looks = "
        const found = await tools.search('bump counts select file', { limit: 50 });
        const mcp = await MCP.$search('write file', { limit: 50 });
        return { all: ALL_TOOLS.map(t => t.id).filter(id => /:bump$|select_file$/.test(id)),
                 found: found.map(t => t.id).filter(id => /:bump$|select_file$/.test(id)).sort(),
                 names: Object.keys(tools).filter(name => name === 'select_file'),
                 server: Object.keys(MCP.files).filter(name => name === 'writeFile'),
                 mcp: mcp.map(t => t.path).filter(path => path === 'MCP.files.writeFile'),
                 declared: (await API.read('mcp/files.d.ts')).includes('writeFile') }";
    let everything = json!({
        "all": ["openclaw:core:bump", "client:app:bump", "client:app:select_file"],
        "found": ["client:app:bump", "client:app:select_file", "openclaw:core:bump"],
        "names": ["select_file"], "server": ["writeFile"], "mcp": ["MCP.files.writeFile"], "declared": true,
    });
    assert_eq!(world.value(looks).await, everything);
    world.deny(DENIED);
    let the_rest = json!({
        "all": ["client:app:bump"], "found": ["client:app:bump"],
        "names": [], "server": [], "mcp": [], "declared": false,
    });
    assert_eq!(world.value(looks).await, the_rest);
    let prompt = world.surface().exec_descriptor(&world.settings).description;
    assert!(prompt.contains("openclaw:core:echo"), "{prompt}");
    assert!(!prompt.contains("openclaw:core:bump"), "{prompt}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_tool_is_not_reached_by_a_guessed_id() {
    let mut world = World::new("denied-guessed");
    world.deny(DENIED);
    let guesses = [
        (
            "tools.describe('openclaw:core:bump')",
            "unknown tool id `openclaw:core:bump`",
        ),
        (
            "tools.callValue('openclaw:core:bump', { key: 'k' })",
            "unknown tool id `openclaw:core:bump`",
        ),
        (
            "tools.call('openclaw:core:bump', { key: 'k' })",
            "unknown tool id `openclaw:core:bump`",
        ),
        (
            "tools.callValue('client:app:select_file')",
            "unknown tool id `client:app:select_file`",
        ),
        (
            "tools.callValue('mcp:Files:write_file', { path: 'p' })",
            "unknown tool id `mcp:Files:write_file`",
        ),
    ];
    for (guess, told) in guesses {
        let caught = world.caught(guess).await;
        assert_eq!(caught["code"], "invalid_input", "{guess}: {caught}");
        assert!(
            caught["message"].as_str().unwrap().starts_with(told),
            "{guess}: {caught}"
        );
    }
    let through = world.caught("MCP.files.writeFile({ path: 'p' })").await;
    assert_eq!(
        through["name"], "TypeError",
        "there is no such function: {through}"
    );
    assert!(world.effects.all().is_empty());
    assert_eq!(world.client.pending(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_path_refuses_a_denied_tool_that_a_stale_surface_still_lists() {
    let mut world = World::new("denied-stale");
    crate::shop::load_shop(&world);
    world.stale = true;
    world.deny(DENIED);
    let cases = [
        ("tools.callValue('openclaw:core:bump', { key: 'k' })", "bump", 0),
        ("tools.call('openclaw:core:bump', { key: 'k' })", "bump", 0),
        ("MCP.files.writeFile({ path: 'p' })", "write_file", 1),
        ("tools.select_file()", "select_file", 2),
        ("Shop.list()", "list_orders", 3),
        ("namespaces.Shop.list()", "list_orders", 3),
    ];
    for (call, name, rule) in cases {
        let id = DENIED[rule];
        let reason = format!("Tool \"{name}\" blocked by global tool policy (`{id}` in tools.deny)");
        assert_eq!(world.caught(call).await, blocked(id, &reason, "policy"), "{call}");
    }
    assert!(world.effects.all().is_empty());
    assert_eq!(world.client.pending(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_uncaught_refusal_fails_the_cell_with_its_place() {
    let mut world = World::new("denied-uncaught");
    world.stale = true;
    world.deny(&["openclaw:core:bump"]);
    let result = world
        .exec("text('first');\nawait tools.callValue('openclaw:core:bump', { key: 'k' })")
        .await;
    assert_eq!(
        (&result["status"], &result["code"]),
        (&json!("failed"), &json!("internal_error"))
    );
    let error = result["error"].as_str().unwrap();
    assert!(
        error.contains("was blocked before execution") && error.contains("cell:2:"),
        "{error}"
    );
    assert_eq!(result["output"], json!([{ "type": "text", "text": "first" }]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sandboxed_agent_reaches_servers_and_plugins_only_where_the_sandbox_says_so() {
    let also = |entries: &[&str]| {
        let also_allow = entries.iter().map(|entry| (*entry).to_owned()).collect();
        Policy::new(vec![
            Step::sandbox(&ToolLists {
                also_allow,
                ..ToolLists::default()
            })
            .unwrap(),
        ])
    };
    let read = "MCP.files.readFile({ path: 'p' })";
    let mut world = World::new("denied-sandbox");
    world.stale = true;
    world.policy = also(&[]);
    assert_eq!(
        world.caught(read).await["value"]["structuredContent"],
        json!({ "path": "p" }),
        "outside"
    );
    world.caller.sandboxed = true;
    let reason = "Tool \"read_file\" blocked by sandbox tool policy (not in tools.sandbox.tools.allow)";
    assert_eq!(
        world.caught(read).await,
        blocked("mcp:Files:read_file", reason, "policy")
    );
    world.policy = also(&["bundle-mcp"]);
    assert_eq!(
        world.caught(read).await["value"]["structuredContent"],
        json!({ "path": "p" }),
        "let in"
    );
    assert_eq!(world.effects.count("mcp read_file"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_serves_beside_tools_is_denied_with_its_tools() {
    let mut world = World::new("denied-resources");
    let list = "MCP.files.resources.list()";
    assert_eq!(world.caught(list).await, json!({ "value": { "resources": [] } }));
    world.deny(&["bundle-mcp"]);
    let reason = "Tool \"resources/list\" blocked by global tool policy (`bundle-mcp` in tools.deny)";
    assert_eq!(
        world.caught(list).await,
        blocked("mcp:Files:resources/list", reason, "policy")
    );
    assert_eq!(world.effects.all(), [("resources/list".to_owned(), 1)].into());
}
