//! Tools whose names mean something to the language, to code mode, or to nobody.

use std::sync::Arc;

use codecell::tools::{ClientToolProblem, ClientTools, ToolDefinition, Toolbox, ToolboxError};
use codecell::{Owner, ToolSpec};
use codecell_plugins::LoadError;
use serde_json::{Value, json};

use crate::client::called;
use crate::shop::{load, try_load};
use crate::tools::noting;
use crate::world::World;

const ODD: &[&str] = &[
    "tools",
    "text",
    "json",
    "JSON",
    "constructor",
    "__proto__",
    "prototype",
    "then",
    "toJSON",
    "toString",
    "valueOf",
    "hasOwnProperty",
    "wait",
    "search",
    "describe",
    "call",
    "callValue",
    "$api",
    "$search",
    "MCP",
    "API",
    "ALL_TOOLS",
    "namespaces",
    "globalThis",
    "resources",
    "prompts",
    "two words",
    "🦀",
    "line\nbreak",
    "a:b:c",
    "\"quoted\"",
    "`${x}`",
];

/// Uses everything a cell has, and looks at its objects in every way the language has.
const LOOKS: &str = "
    const kinds = [typeof tools.search, typeof tools.describe, typeof tools.call, typeof tools.callValue, typeof text,
        typeof json, typeof JSON.stringify, typeof yield_control, typeof API.list, typeof MCP.$search, typeof MCP.files.$api,
        typeof tools.then, typeof tools.toJSON, typeof tools.constructor];
    for (const object of [tools, MCP, namespaces, MCP.files, MCP.files.resources, API, ALL_TOOLS]) {
        await object; `${object}`; object + ''; object == 1; JSON.stringify(object); JSON.stringify({ object }); text(object);
        json(object); console.log(object); Object.keys(object); 'then' in object; Object.prototype.toString.call(object);
        await Promise.all([object, Promise.resolve(object)]);
    }
    const found = await tools.search('echo', { limit: 50 });
    return [kinds.filter(kind => kind === 'function').length, kinds.slice(-3), found.length > 0, ALL_TOOLS.length > 10]";

/// Nothing above may have called a tool.
async fn look(world: &World) {
    let result = world.exec(LOOKS).await;
    assert_eq!(result["status"], "completed", "{result:#}");
    assert_eq!(
        result["value"],
        json!([11, ["undefined", "undefined", "undefined"], true, true])
    );
    assert!(world.effects.all().is_empty(), "{:?}", world.effects.all());
    assert_eq!(world.client.pending(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn core_tools_of_any_name_are_called_by_their_exact_ids() {
    let mut world = World::new("names-core");
    world.more = ODD
        .iter()
        .map(|name| noting(&world.effects, name, json!(format!("odd {name}"))))
        .collect();
    look(&world).await;
    for name in ODD {
        let id = json!(format!("openclaw:core:{name}"));
        let code = format!(
            "return [await tools.callValue({id}), (await tools.call({id}, {{}})).tool.id, (await tools.describe({id})).name]"
        );
        assert_eq!(
            world.value(&code).await,
            json!([format!("odd {name}"), id, name]),
            "{name:?}"
        );
        assert_eq!(world.effects.count(name), 2, "{name:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn plugin_tools_of_any_name_are_called_by_their_exact_ids() {
    let world = World::new("names-plugin");
    let effects = world.effects.clone();
    load(&world, "odd", move |api| {
        ODD.iter()
            .chain(&["exec"])
            .for_each(|name| api.tool(noting(&effects, name, json!(format!("odd {name}")))));
        Ok(())
    });
    look(&world).await;
    for name in ODD.iter().chain(&["exec"]) {
        let id = json!(format!("openclaw:odd:{name}"));
        assert_eq!(
            world.value(&format!("return await tools.callValue({id})")).await,
            json!(format!("odd {name}"))
        );
        assert_eq!(world.effects.count(name), 1, "{name:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mcp_tools_of_any_name_are_called_through_their_namespace() {
    let mut world = World::new("names-mcp");
    let names: Vec<&str> = ODD.iter().copied().chain(["exec"]).collect();
    let odd = |name: &&str| {
        ToolSpec::new(
            Owner::Mcp("Files".into()),
            *name,
            "An odd one",
            json!({ "type": "object" }),
        )
    };
    world.served = names.iter().map(odd).collect();
    world.more = vec![noting(&world.effects, "odd", json!(null))];
    look(&world).await;
    let surface = world.surface();
    for name in &names {
        let path = surface.mcp().path_of(&format!("mcp:Files:{name}")).unwrap();
        let code = format!(
            "return (await {path}({{ n: {} }})).structuredContent",
            json!(name)
        );
        assert_eq!(world.value(&code).await, json!({ "n": name }), "{path}");
        assert_eq!(world.effects.count(&format!("mcp {name}")), 1, "{path}");
    }
    let listed: usize = names.len() + 4;
    let methods = world
        .value("return Object.keys(MCP.files).filter(name => typeof MCP.files[name] === 'function').length")
        .await;
    assert_eq!(methods, json!(listed), "each has a name of its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn client_tools_of_any_name_are_called_by_their_exact_ids_or_refused_at_the_door() {
    let mut world = World::new("names-client");
    let names: Vec<&str> = ODD
        .iter()
        .copied()
        .chain([" around ", "exec", "", "odd"])
        .collect();
    let any = |name: &&str| ToolDefinition::new(*name, "An odd one", json!({ "type": "object" }));
    let (client, refused) = ClientTools::new("app", names.iter().map(any).collect());
    let refused: Vec<(&str, &ClientToolProblem)> =
        refused.iter().map(|one| (&*one.name, &one.problem)).collect();
    let name = &ClientToolProblem::Name;
    assert_eq!(refused, [("line\nbreak", name), (" around ", name), ("", name)]);
    world.client = client;
    look(&world).await;
    let mut news = world.client.subscribe();
    for name in names
        .iter()
        .filter(|name| !matches!(**name, " around " | "line\nbreak" | ""))
    {
        let answer = async {
            let call = called(&mut news).await;
            world
                .client
                .answer(&call.id, Ok(json!(call.tool).into()))
                .unwrap();
        };
        let code = format!(
            "return await tools.callValue({})",
            json!(format!("client:app:{name}"))
        );
        let (result, ()) = tokio::join!(world.run(&code), answer);
        assert_eq!(result["value"], json!(name), "{result:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_without_a_name_is_refused_with_its_owner() {
    let world = World::new("names-none");
    for blank in ["", " ", "\n"] {
        let core = Toolbox::builder()
            .core(noting(&world.effects, blank, json!(null)))
            .build();
        assert_eq!(
            core.err(),
            Some(ToolboxError::Unnamed { plugin: None }),
            "{blank:?}"
        );
        let nameless = noting(&world.effects, blank, json!(null));
        let error = try_load(&world, "blank", move |api| {
            api.tool(Arc::clone(&nameless));
            Ok(())
        });
        assert!(matches!(error, Err(LoadError::UnnamedTool { .. })), "{error:?}");
    }
    let mut world = World::new("names-none-mcp");
    world.served = vec![ToolSpec::new(
        Owner::Mcp("Files".into()),
        "",
        "",
        json!({ "type": "object" }),
    )];
    let value: Value = world.value("return Object.keys(MCP.files)").await;
    assert_eq!(
        value,
        json!(["resources", "lie", "readFile", "waitFor", "writeFile"]),
        "it costs no other tool"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_of_any_name_are_reached_under_a_name_of_their_own() {
    let mut world = World::new("names-servers");
    let tool = |name: &&str| {
        ToolSpec::new(
            Owner::Mcp((*name).into()),
            "odd_tool",
            "An odd one",
            json!({ "type": "object" }),
        )
    };
    world.served = ODD.iter().map(tool).collect();
    look(&world).await;
    let surface = world.surface();
    for name in ODD {
        let tool = surface
            .catalog()
            .tools()
            .find(|tool| tool.spec().owner == Owner::Mcp((*name).into()))
            .unwrap();
        let path = surface.mcp().path_of(tool.id().as_str()).unwrap();
        let code = format!("return (await {path}({{ n: 1 }})).structuredContent");
        assert_eq!(world.value(&code).await, json!({ "n": 1 }), "{name:?} is {path}");
    }
    assert_eq!(
        world.effects.count("mcp odd_tool"),
        u32::try_from(ODD.len()).unwrap()
    );
    let count = world.value("return Object.keys(MCP).length").await;
    assert_eq!(count, json!(ODD.len() + 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn blanks_around_a_name_are_part_of_it() {
    let mut world = World::new("names-blanks");
    let names = [" around ", "\ttab", "line\n", "around"];
    world.more = names
        .iter()
        .map(|name| noting(&world.effects, name, json!(name)))
        .collect();
    for name in names {
        let id = json!(format!("openclaw:core:{name}"));
        let code = format!(
            "return [(await tools.describe({id})).name, await tools.callValue({id}), (await tools.call({id})).result.details]"
        );
        assert_eq!(world.value(&code).await, json!([name, name, name]), "{name:?}");
    }
}
