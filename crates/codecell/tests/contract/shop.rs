//! A plugin with a namespace.

use std::sync::Arc;

use codecell::tools::ToolError;
use codecell_plugins::{
    LoadError, NamespaceTool, Origin, Plugin, PluginApi, PluginError, Registration, Scope, ScopeValue,
    define_tool,
};
use serde_json::{Value, json};

use crate::tools::{gate, noting, takes};
use crate::world::World;

/// A plugin that registers what its test says.
struct Scripted<F>(&'static str, F);

impl<F> Plugin for Scripted<F>
where
    F: Fn(&mut PluginApi) -> Result<(), PluginError> + Send + Sync + 'static,
{
    fn id(&self) -> &str {
        self.0
    }

    fn register(&self, api: &mut PluginApi) -> Result<(), PluginError> {
        (self.1)(api)
    }
}

pub(crate) fn try_load(
    world: &World,
    id: &'static str,
    register: impl Fn(&mut PluginApi) -> Result<(), PluginError> + Send + Sync + 'static,
) -> Result<(), LoadError> {
    world
        .plugins
        .load(Arc::new(Scripted(id, register)), Origin::External)
}

pub(crate) fn load(
    world: &World,
    id: &'static str,
    register: impl Fn(&mut PluginApi) -> Result<(), PluginError> + Send + Sync + 'static,
) {
    try_load(world, id, register).unwrap();
}

/// Loads a plugin with five tools, four of which its namespace stands on.
pub(crate) fn load_shop(world: &World) {
    let (effects, gates) = (world.effects.clone(), world.gates.clone());
    load(world, "shop", move |api| {
        api.tool(noting(&effects, "list_orders", json!([{ "id": 1 }, { "id": 2 }])));
        let cancels = effects.clone();
        let id = takes(json!({ "id": { "type": "integer" } }));
        api.tool(
            define_tool("cancel_order", "Cancels", id).run(move |order: Value| {
                cancels.add("cancel_order");
                async move { Ok(json!({ "cancelled": order["id"] })) }
            }),
        );
        let any = || json!({ "type": "object" });
        api.tool(
            define_tool("shop_fail", "Fails", any())
                .run(|_: Value| async { Err::<(), _>(ToolError::new("closed", "the shop is closed")) }),
        );
        api.tool(gate(&effects, &gates, "shop_gate"));
        api.tool(noting(&effects, "close_shop", json!("closed")));
        api.namespace(shop());
        Ok(())
    });
}

pub(crate) fn shop() -> Registration {
    let required = ["list_orders", "cancel_order", "shop_fail", "shop_gate"];
    Registration::new("shop", "Shop", "Orders of the shop.", required, |context| {
        let cancel = NamespaceTool::new("cancel_order").positional(["id"]);
        let shared: Arc<ScopeValue> =
            Arc::new(Scope::new().with("cancel", cancel).with("most", json!(9)).into());
        Ok(Scope::new()
            .with("list", NamespaceTool::new("list_orders"))
            .with("fail", NamespaceTool::new("shop_fail"))
            .with("wait", NamespaceTool::new("shop_gate").positional(["key"]))
            .with("close", NamespaceTool::new("close_shop"))
            .with(
                "run",
                json!([context.agent, context.session, context.run, context.config]),
            )
            .with("data", json!({ "deep": { "list": [1, { "two": 2 }] } }))
            .with("orders", Arc::clone(&shared))
            .with("again", shared))
    })
    .with_prompt("Use Shop.list(filter).")
}
