use codecell_catalog::{Catalog, Exposure, Owner, Reach, Replay, SourceCounts, ToolSpec};
use serde_json::json;

use crate::{client, core, ids, mcp, plugin};

fn mixed() -> Vec<ToolSpec> {
    vec![
        client("app", "select_file"),
        mcp("github", "create_issue"),
        plugin("weather", "forecast"),
        ToolSpec::new(
            Owner::BundledPlugin("browser".into()),
            "browser_request",
            "",
            json!({ "type": "object" }),
        ),
        core("message"),
        mcp("docs", "find"),
        core("exec"),
    ]
}

#[test]
fn order_is_core_bundled_external_mcp_client_whatever_came_first() {
    let expected = [
        "openclaw:core:exec",
        "openclaw:core:message",
        "openclaw:browser:browser_request",
        "openclaw:weather:forecast",
        "mcp:docs:find",
        "mcp:github:create_issue",
        "client:app:select_file",
    ];
    let mut specs = mixed();
    for _ in 0..specs.len() {
        specs.rotate_left(1);
        let catalog = Catalog::build(specs.clone());
        assert_eq!(ids(catalog.tools()), expected);
        assert_eq!(
            catalog.sources(),
            SourceCounts {
                openclaw: 4,
                mcp: 2,
                client: 1
            }
        );
        assert_eq!(catalog.notices(), []);
    }
}

#[test]
fn all_tools_has_no_mcp_entries() {
    let catalog = Catalog::build(mixed());
    let names: Vec<&str> = catalog.guest_entries().map(|entry| entry.name.as_str()).collect();
    assert_eq!(
        names,
        ["exec", "message", "browser_request", "forecast", "select_file"]
    );
}

#[test]
fn controls_are_dropped_and_direct_only_tools_kept_aside() {
    let mut image = core("image");
    image.exposure = Exposure::DirectOnly;
    let controls = ["tool_search_code", "tool_search", "tool_describe", "tool_call"].map(core);
    let specs = [
        vec![image.clone(), core("read"), mcp("odd", "tool_call")],
        controls.to_vec(),
    ]
    .concat();
    let catalog = Catalog::build(specs);
    assert_eq!(ids(catalog.tools()), ["openclaw:core:read", "mcp:odd:tool_call"]);
    assert_eq!(catalog.direct_only(), [image]);
}

#[test]
fn of_two_tools_with_one_id_the_last_counts_and_a_notice_says_so() {
    let mut second = core("read");
    second.description = "the second".into();
    let bundled = ToolSpec::new(Owner::BundledPlugin("p".into()), "x", "bundled", json!({}));
    let external = ToolSpec::new(Owner::ExternalPlugin("p".into()), "x", "external", json!({}));
    let catalog = Catalog::build(vec![core("read"), second.clone(), second, external, bundled]);
    assert_eq!(ids(catalog.tools()), ["openclaw:core:read", "openclaw:p:x"]);
    assert_eq!(
        catalog.get("openclaw:core:read").unwrap().entry().description,
        "the second"
    );
    assert_eq!(
        catalog.get("openclaw:p:x").unwrap().entry().description,
        "bundled"
    );
    let notices: Vec<String> = catalog.notices().iter().map(ToString::to_string).collect();
    assert_eq!(
        notices,
        [
            "tool id `openclaw:core:read` was given more than once; the last one counts",
            "tool id `openclaw:p:x` was given more than once; the last one counts",
        ]
    );
}

#[test]
fn a_client_tool_does_not_shadow_a_core_tool_of_its_name() {
    let catalog = Catalog::build(vec![
        core("read"),
        client("app", "read"),
        core("my-tool"),
        core("my_tool"),
    ]);
    assert_eq!(ids(catalog.by_callable_name("read")), Vec::<String>::new());
    assert_eq!(ids(catalog.by_callable_name("my_tool")), Vec::<String>::new());
    assert_eq!(
        ids(catalog.lookup("openclaw:core:read", Reach::Guest)),
        ["openclaw:core:read"]
    );
    let notices: Vec<String> = catalog.notices().iter().map(ToString::to_string).collect();
    assert_eq!(
        notices,
        [
            "no tool is `tools.my_tool`, because 2 would be: `openclaw:core:my-tool` `openclaw:core:my_tool`",
            "no tool is `tools.read`, because 2 would be: `openclaw:core:read` `client:app:read`",
        ]
    );
}

#[test]
fn mcp_tools_neither_get_nor_take_a_convenience_name() {
    let catalog = Catalog::build(vec![
        core("getUser"),
        core("getuser"),
        mcp("a", "getUser"),
        mcp("a", "other"),
        core("then"),
    ]);
    assert_eq!(
        catalog.callable_names().collect::<Vec<_>>(),
        ["getUser", "getuser"]
    );
    assert_eq!(
        ids(catalog.by_callable_name("getUser")),
        ["openclaw:core:getUser"]
    );
    assert_eq!(catalog.get("openclaw:core:then").unwrap().callable_name(), None);
}

#[test]
fn a_second_server_changes_nothing_about_the_first() {
    let alone = Catalog::build(vec![mcp("my-server", "read")]);
    let both = Catalog::build(vec![
        mcp("my_server", "read"),
        mcp("my-server", "read"),
        mcp("a", "read"),
    ]);
    let id = "mcp:my-server:read";
    assert_eq!(alone.get(id).unwrap().entry(), both.get(id).unwrap().entry());
    assert_eq!(ids(both.tools()), ["mcp:a:read", id, "mcp:my_server:read"]);
}

#[test]
fn only_trusted_tools_have_hints_before_they_are_described() {
    let schema = json!({ "type": "object", "properties": { "q": { "type": "string" } }, "required": ["q"] });
    let output = json!({ "type": "object", "properties": { "n": { "type": "number" } }, "required": ["n"], "additionalProperties": false });
    let spec = |owner| {
        let mut spec = ToolSpec::new(owner, "t", "Counts.", schema.clone());
        spec.output_schema = Some(output.clone());
        spec.label = Some("Counter".into());
        spec
    };
    let catalog = Catalog::build(vec![spec(Owner::Core), spec(Owner::Mcp("s".into()))]);
    let [core, mcp] = catalog.tools().collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(
        serde_json::to_value(core.entry()).unwrap(),
        json!({ "id": "openclaw:core:t", "name": "t", "label": "Counter", "description": "Counts.", "source": "openclaw",
                "input": "{ q: string }", "output": "{ n: number }" })
    );
    assert_eq!(
        serde_json::to_value(mcp.entry()).unwrap(),
        json!({ "id": "mcp:s:t", "name": "t", "label": "Counter", "description": "Counts.", "source": "mcp",
                "sourceName": "s", "input": "unknown" })
    );
    assert_eq!(
        catalog.describe(mcp),
        json!({ "id": "mcp:s:t", "name": "t", "label": "Counter", "description": "Counts.", "source": "mcp",
                "sourceName": "s", "input": "{ q: string }", "parameters": schema, "outputSchema": output })
    );
}

#[test]
fn only_core_and_plugins_are_believed_to_be_replay_safe() {
    let safe = |mut spec: ToolSpec| {
        spec.replay = Replay::Safe;
        spec
    };
    let catalog = Catalog::build(vec![
        safe(core("a")),
        safe(plugin("p", "b")),
        safe(mcp("s", "c")),
        safe(client("x", "d")),
    ]);
    let replay: Vec<Replay> = catalog.tools().map(|tool| tool.replay()).collect();
    assert_eq!(
        replay,
        [Replay::Safe, Replay::Safe, Replay::Unsafe, Replay::Unsafe]
    );
}

#[test]
fn a_nameless_tool_is_left_out_with_a_notice() {
    let catalog = Catalog::build(vec![mcp("s", "")]);
    assert!(catalog.is_empty());
    assert_eq!(
        catalog.notices()[0].to_string(),
        "a tool of `mcp:s:` has no name and is left out"
    );
}
