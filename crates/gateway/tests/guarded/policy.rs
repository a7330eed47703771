//! Who may use which tools: of servers, in a sandbox, and what `doctor` says of it.
use serde_json::{Value, json};

use super::door::Door;
use super::place::{Place, shop, writable};

/// In the order in which the server lists them.
const ALL: [&str; 12] = [
    "list_customers",
    "get_customer",
    "list_orders",
    "get_order",
    "list_products",
    "stock_level",
    "shipping_quote",
    "refund_order",
    "build_report",
    "product_photo",
    "flaky_payment_status",
    "echo",
];

/// A place with the shop and these tool settings and agents.
fn place(tools: Value, agents: Value) -> Place {
    Place::new(&json!({ "tools": tools, "agents": agents, "mcp": shop() }))
}

/// The names of the tools of all servers, as this agent has them at a terminal: in alphabetical order.
fn names(place: &Place, agent: &str) -> Vec<String> {
    let listed = place.run(&["tools", "--json", "--agent", agent]).json();
    let tools = listed.as_array().unwrap().iter();
    tools
        .filter(|tool| tool["source"] == "mcp")
        .map(|tool| tool["name"].as_str().unwrap().to_owned())
        .collect()
}

fn sorted(names: &[&str]) -> Vec<String> {
    let mut names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    names.sort();
    names
}

/// What `doctor` finds out for an agent.
fn doctor(place: &Place, agent: &str) -> Value {
    place.run(&["doctor", "--json", "--agent", agent]).json()
}

fn ids(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| format!("mcp:shop:{name}")).collect()
}

#[test]
fn tools_of_servers_are_denied_and_allowed_by_every_spelling() {
    let none: &[&str] = &[];
    let rest: Vec<&str> = ALL
        .iter()
        .copied()
        .filter(|name| *name != "refund_order")
        .collect();
    for (lists, expected) in [
        (json!({}), &ALL[..]),
        (json!({ "deny": ["mcp:shop:*"] }), none),
        (json!({ "deny": ["shop__*"] }), none),
        (json!({ "deny": ["bundle-mcp"] }), none),
        (json!({ "deny": ["group:plugins"] }), none),
        (json!({ "deny": ["mcp:other:*", "sho__*", "group:core"] }), &ALL),
        (json!({ "deny": ["mcp:shop:refund_order"] }), &rest),
        (json!({ "deny": ["shop__refund_order"] }), &rest),
        (json!({ "deny": ["refund_order"] }), &rest),
        (json!({ "deny": ["hint:destructive"] }), &rest),
        (json!({ "deny": ["hint:not-read-only"] }), &rest),
        (json!({ "allow": ["bundle-mcp"] }), &ALL),
        (
            json!({ "allow": ["shop__get_*"] }),
            &["get_customer", "get_order"],
        ),
        (json!({ "allow": ["mcp:shop:echo"] }), &["echo"]),
        // A server does not get through a gate by what it calls its tool.
        (json!({ "allow": ["echo", "shop__get_order"] }), &["get_order"]),
    ] {
        let place = place(lists.clone(), json!({}));
        assert_eq!(names(&place, "main"), sorted(expected), "{lists}");
    }
}

#[test]
fn a_denied_tool_of_a_server_is_neither_found_nor_called() {
    let place = place(json!({ "deny": ["shop__refund_order"] }), json!({}));
    let seen = place.value(
        "const found = (await MCP.$search('refund an order', { limit: 50 })).map((tool) => tool.tool);
         const declared = (await API.read('mcp/shop.d.ts')).includes('refundOrder');
         const attempt = async () => MCP.shop.refundOrder({ order_id: 'o-1001', reason: 'none' });
         const by_path = await attempt().then(() => 'called', () => 'failed');
         const by_id = await tools.callValue('mcp:shop:refund_order', { order_id: 'o-1001', reason: 'none' })
             .then(() => 'called', () => 'failed');
         const { status } = (await MCP.shop.getOrder({ order_id: 'o-1001' })).structuredContent;
         return [found.includes('refund_order'), declared, by_path, by_id, status === 'refunded'];",
    );
    assert_eq!(seen, json!([false, false, "failed", "failed", false]));
    assert_eq!(
        doctor(&place, "main")["removed"],
        json!([{ "configKey": "tools.deny", "tools": ["mcp:shop:refund_order"] }])
    );
}

#[test]
fn a_server_of_which_nothing_is_left_is_not_named() {
    let seen = "return [Object.keys(globalThis.MCP ?? {}), (await API.list()).map(({ path }) => path)]";
    for lists in [
        json!({ "deny": ["bundle-mcp"] }),
        json!({ "allow": ["group:core"] }),
    ] {
        let place = place(lists.clone(), json!({}));
        assert_eq!(place.value(seen), json!([[], []]), "{lists}");
    }
}

#[test]
fn reading_from_a_server_is_a_call_like_others() {
    let read = "return MCP.shop.resources.read({ uri: 'shop://policies/returns' })
        .then(({ contents }) => contents.length, ({ code, message }) => [code, message])";
    let blocked = |why: &str| {
        let reason = format!("Tool \"resources/read\" blocked by global tool policy ({why})");
        let message = format!("Tool \"mcp:shop:resources/read\" was blocked before execution: {reason}");
        json!(["blocked", message])
    };
    let denied = blocked("`mcp:shop:resources/*` in tools.deny");
    let missing = blocked("not in tools.allow");
    for (lists, expected) in [
        (json!({}), json!(1)),
        (json!({ "deny": ["mcp:shop:resources/*"] }), denied),
        (json!({ "deny": ["hint:destructive"] }), json!(1)),
        (json!({ "allow": ["shop__get_*"] }), missing),
        (
            json!({ "allow": ["shop__get_*", "shop__resources/read"] }),
            json!(1),
        ),
    ] {
        assert_eq!(place(lists.clone(), json!({})).value(read), expected, "{lists}");
    }
}

#[test]
fn without_code_mode_the_policy_counts_as_well() {
    let config =
        json!({ "codeMode": false, "deny": ["shop__*"], "fs": { "roots": ["files"] }, "alsoAllow": ["x"] });
    let place = place(config, json!({}));
    let mut door = Door::open(&place, &json!({}));
    assert_eq!(door.tools(), ["glob", "grep", "ls", "read"]);
}

#[test]
fn what_an_agent_may_is_what_all_its_lists_let_through() {
    let agents = json!({ "entries": { "reader": { "tools": { "allow": ["shop__get_*", "read"] } } } });
    let place = place(json!({ "deny": ["get_customer"], "fs": writable() }), agents);
    assert_eq!(names(&place, "reader"), ["get_order"]);
    let own = place.run(&[
        "exec",
        "--agent",
        "reader",
        "--code",
        "return ALL_TOOLS.map((tool) => tool.name)",
    ]);
    assert_eq!(own.json()["value"], json!(["read"]));
    let everybody: Vec<&str> = ALL
        .iter()
        .copied()
        .filter(|name| *name != "get_customer")
        .collect();
    assert_eq!(names(&place, "main"), sorted(&everybody));
    let others: Vec<&str> = ALL
        .iter()
        .copied()
        .filter(|name| !name.starts_with("get_"))
        .collect();
    let mut by_agent = ids(&others);
    let own = ["apply_patch", "edit", "glob", "grep", "ls", "write"];
    by_agent.splice(0..0, own.map(|name| format!("openclaw:core:{name}")));
    assert_eq!(
        doctor(&place, "reader")["removed"],
        json!([
            { "configKey": "agents.entries.reader.tools.allow", "tools": by_agent },
            { "configKey": "tools.deny", "tools": ["mcp:shop:get_customer"] },
        ])
    );
}

#[test]
fn a_sandboxed_agent_has_no_tools_of_servers_until_they_are_allowed() {
    let agents = json!({ "entries": {
        "box": { "sandbox": { "mode": "all" } },
        "open": { "sandbox": { "mode": "all" }, "tools": { "sandbox": { "tools": { "alsoAllow": ["bundle-mcp"] } } } },
    } });
    let place = place(json!({ "fs": { "roots": ["files"] } }), agents);
    assert_eq!(names(&place, "main"), sorted(&ALL));
    assert_eq!(names(&place, "box"), Vec::<String>::new());
    assert_eq!(names(&place, "open"), sorted(&ALL));

    let report = doctor(&place, "box");
    let advice = "agent `box` is sandboxed and the sandbox's policy takes away all 12 tools of the MCP servers; add \
                  `alsoAllow: [\"bundle-mcp\"]` if they are meant to be used";
    assert_eq!(
        (&report["ok"], &report["advice"], &report["removed"]),
        (
            &json!(true),
            &json!([{ "path": "tools.sandbox.tools", "message": advice }]),
            &json!([{ "configKey": "tools.sandbox.tools.allow", "tools": ids(&ALL) }]),
        )
    );
    let report = doctor(&place, "open");
    assert_eq!((&report["advice"], &report["removed"]), (&json!([]), &json!([])));

    let core = place.run(&["exec", "--agent", "box", "--code", "return ALL_TOOLS.length"]);
    assert_eq!(core.json()["value"], 4, "the file tools stay");
}

#[test]
fn a_sandbox_for_other_programs_leaves_the_terminal_alone() {
    let place = place(
        json!({}),
        json!({ "defaults": { "sandbox": { "mode": "non-main" } } }),
    );
    assert_eq!(names(&place, "main"), sorted(&ALL));
    let mut door = Door::open(&place, &json!({}));
    assert_eq!(
        door.exec("return Object.keys(globalThis.MCP ?? {})")["value"],
        json!([])
    );
    assert_eq!(doctor(&place, "main")["removed"][0]["tools"], json!(ids(&ALL)));
}

#[test]
fn a_run_without_tools_on_purpose_has_no_code_mode_either() {
    let place = place(json!({ "allow": [] }), json!({}));
    let mut door = Door::open(&place, &json!({}));
    assert_eq!(door.tools(), Vec::<String>::new());
    let report = doctor(&place, "main");
    assert_eq!(
        (&report["ok"], &report["engine"], &report["advice"]),
        (&json!(true), &json!({ "state": "off" }), &json!([]))
    );
    assert_eq!(place.exec("return 1")["code"], "invalid_input");
}

#[test]
fn doctor_advises_where_a_small_model_has_to_write_programs() {
    let agents = json!({ "entries": {
        "small": { "model": "Ollama/llama3" },
        "direct": { "model": "ollama/llama3", "tools": { "codeMode": false } },
        "large": { "model": "anthropic/large" },
        "odd": { "model": "ollama" },
    } });
    let place = Place::new(&json!({ "agents": agents }));
    let message = "`Ollama/llama3` runs locally; small models often fail to write programs reliably. If this one does, set \
                   `tools.codeMode: false` for the agent";
    assert_eq!(
        doctor(&place, "small")["advice"],
        json!([{ "path": "agents.entries.small.model", "message": message }])
    );
    for agent in ["direct", "large", "odd", "main"] {
        assert_eq!(doctor(&place, agent)["advice"], json!([]), "{agent}");
    }
}

#[test]
fn doctor_names_what_the_allow_lists_ask_for_in_vain() {
    let agents = json!({ "entries": { "b": { "tools": { "allow": ["read", "wrote"] } } } });
    let place = place(
        json!({ "allow": ["read", "shop__nope", "group:memory"], "fs": writable() }),
        agents,
    );
    let global = json!({
        "path": "tools (global)",
        "message": "tools: global allowlist contains unknown entries (shop__nope); no tool of this run matches them",
    });
    let own = json!({
        "path": "tools (agent)",
        "message": "tools: agent allowlist contains unknown entries (wrote); no tool of this run matches them",
    });
    assert_eq!(doctor(&place, "main")["advice"], json!([global]));
    assert_eq!(doctor(&place, "b")["advice"], json!([global, own]));
}

#[test]
fn doctor_says_when_lists_with_entries_leave_nothing() {
    let place = place(json!({ "allow": ["nope"] }), json!({}));
    let emptied = "no tool is left: nothing passes tools.allow; correct the entries, or use an empty list for a run \
                   without tools";
    assert_eq!(
        doctor(&place, "main")["advice"][1],
        json!({ "path": "tools.allow", "message": emptied })
    );
    let text = place.run(&["doctor"]).stdout;
    assert!(
        text.contains(&format!("  advice  tools.allow: {emptied}\n")),
        "{text}"
    );
    assert!(
        text.contains("  policy  tools.allow takes away 12: mcp:shop:"),
        "{text}"
    );
}
