//! Plugins' namespaces in a running guest.

use codecell_plugins::{NamespaceTool, PluginApi, Registration, Scope};
use serde_json::json;

use crate::shop::{load, load_shop, shop, try_load};
use crate::tools::noting;
use crate::world::{World, completed};

#[tokio::test(flavor = "multi_thread")]
async fn a_namespace_is_a_global_and_a_member_of_namespaces_with_data_functions_and_shared_parts() {
    let world = World::new("ns-shape");
    load_shop(&world);
    let code = "
        return { same: Shop === namespaces.Shop, keys: Object.keys(Shop), all: Object.keys(namespaces),
                 run: Shop.run, data: Shop.data.deep.list[1].two, most: [Shop.orders.most, Shop.again.most],
                 list: await Shop.list({}), cancelled: [await Shop.orders.cancel(7), await namespaces.Shop.again.cancel(8)] }";
    let expected = json!({
        "same": true, "keys": ["list", "fail", "wait", "close", "run", "data", "orders", "again"],
        "all": ["MCP", "Shop"],
        "run": ["agent", "ns-shape", "run", { "repository": "octo/cat" }], "data": 2, "most": [9, 9],
        "list": [{ "id": 1 }, { "id": 2 }], "cancelled": [{ "cancelled": 7 }, { "cancelled": 8 }],
    });
    assert_eq!(world.value(code).await, expected);
    let counts = [("list_orders".to_owned(), 1), ("cancel_order".to_owned(), 2)];
    assert_eq!(world.effects.all(), counts.into());
}

#[tokio::test(flavor = "multi_thread")]
async fn no_part_of_a_namespace_can_be_changed_and_looking_at_it_calls_nothing() {
    let world = World::new("ns-frozen");
    load_shop(&world);
    let code = "
        'use strict';
        const attempts = [() => { Shop.list = 1 }, () => { Shop.data.deep.list[1].two = 3 }, () => { Shop.more = 1 },
            () => { Shop.orders.cancel = 1 }, () => { delete Shop.list }, () => { namespaces.Shop = 1 },
            () => { Shop.data.deep.list.push(1) }, () => { Object.setPrototypeOf(Shop, { a: 1 }) }];
        const thrown = attempts.map(attempt => { try { attempt(); return 'changed' } catch (e) { return e.name } });
        await Shop; await Shop.orders; await namespaces; `${Shop} ${namespaces}`; JSON.stringify(Shop); console.log(Shop);
        return [thrown, Shop.data.deep.list[1].two, Object.keys(Shop).length]";
    assert_eq!(world.value(code).await, json!([vec!["TypeError"; 8], 2, 8]));
    assert!(world.effects.all().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failure_and_a_wrong_argument_are_caught_by_the_program() {
    let world = World::new("ns-failures");
    load_shop(&world);
    let caught = world.caught("Shop.fail()").await;
    assert_eq!(
        caught,
        json!({ "error": true, "name": "Error", "code": "closed", "message": "the shop is closed" })
    );
    let caught = world.caught("Shop.orders.cancel('seven')").await;
    assert_eq!(
        (&caught["name"], &caught["code"]),
        (&json!("TypeError"), &json!("invalid_input"))
    );
    assert!(
        caught["message"]
            .as_str()
            .unwrap()
            .contains("id: expected integer, got string"),
        "{caught}"
    );
    let caught = world.caught("Shop.orders.cancel(1, 2)").await;
    let told = "Code mode namespace call Shop.orders.cancel was refused: there are 2 arguments; it takes at most 1 (id)";
    let expected = json!({ "error": true, "name": "TypeError", "code": "invalid_input", "message": told });
    assert_eq!(caught, expected);
    assert_eq!(world.effects.count("cancel_order"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_cannot_target_a_tool_that_the_registration_does_not_require() {
    let world = World::new("ns-undeclared");
    load_shop(&world);
    let caught = world.caught("Shop.close()").await;
    let expected = json!({
        "error": true, "name": "Error", "code": "invalid_input",
        "message": "Code mode namespace path targets undeclared tool: close_shop",
    });
    assert_eq!(caught, expected);
    assert_eq!(world.effects.count("close_shop"), 0);
    assert_eq!(
        world.value("return await tools.close_shop()").await,
        "closed",
        "by its id it is a tool like any"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_names_and_paths_through_prototypes_lead_nowhere() {
    let world = World::new("ns-forged");
    load_shop(&world);
    let forged = [
        "namespaces['Issues'].list()",
        "Shop['__proto__'].list()",
        "Shop.constructor('return 1')()",
        "Shop.orders['..'].list()",
        "Shop['orders.cancel'](1)",
        "Shop.run.list()",
        "Object.getPrototypeOf(Shop).list()",
        "namespaces.constructor.list()",
        "namespaces['MCP']['Shop'].list()",
        "MCP.Shop.list()",
        "tools.callValue('Shop.list')",
        "tools.callValue('openclaw:Shop:list')",
        "tools.callValue('openclaw:core:list_orders')",
    ];
    for path in forged {
        let caught = world.caught(path).await;
        assert_eq!(caught["error"], true, "{path}: {caught}");
    }
    assert!(world.effects.all().is_empty());
    assert_eq!(
        world
            .value("return [typeof Issues, typeof namespaces.Issues]")
            .await,
        json!(["undefined", "undefined"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_function_of_a_namespace_keeps_its_path_whatever_it_is_called_on() {
    let world = World::new("ns-this");
    load_shop(&world);
    let code =
        "const { cancel } = Shop.orders; const other = { cancel, path: ['MCP', 'files', 'writeFile'] };
                return [await cancel(1), await other.cancel(2), await cancel.call(MCP.files, 3)]";
    let expected = json!([{ "cancelled": 1 }, { "cancelled": 2 }, { "cancelled": 3 }]);
    assert_eq!(world.value(code).await, expected);
    assert_eq!(world.effects.all(), [("cancel_order".to_owned(), 3)].into());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspended_call_of_a_namespace_is_resumed_by_wait_also_when_its_plugin_is_gone() {
    let world = World::new("ns-suspended");
    load_shop(&world);
    let code = "const slow = Shop.wait('a'); await yield_control(); return [await slow, await Shop.list(), Shop.data.deep.list[0]]";
    let first = world.exec(code).await;
    assert_eq!(first["reason"], "pending_tools", "{first:#}");
    let pending = &first["pendingToolCalls"][0];
    assert_eq!(
        (&pending["method"], &pending["tool"]),
        (&json!("namespace"), &json!("Shop.wait"))
    );
    assert!(world.plugins.unload("shop"));
    world.gates.open("a");
    let value = completed(world.wait(&first["runId"]).await);
    assert_eq!(value, json!(["passed a", [{ "id": 1 }, { "id": 2 }], 1]));
    assert_eq!(world.effects.count("at gate a"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unloaded_plugin_is_gone_from_the_next_cell() {
    let world = World::new("ns-unloaded");
    load_shop(&world);
    let look =
        "return [typeof globalThis.Shop, 'Shop' in namespaces, ALL_TOOLS.some(t => t.sourceName === 'shop')]";
    assert_eq!(world.value(look).await, json!(["object", true, true]));
    let prompt = || world.surface().exec_descriptor(&world.settings).description;
    assert!(prompt().contains("Use Shop.list(filter)."));
    world.plugins.unload("shop");
    assert_eq!(world.value(look).await, json!(["undefined", false, false]));
    assert!(!prompt().contains("Shop"));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_one_required_tool_there_is_neither_the_namespace_nor_a_word_of_it() {
    let mut world = World::new("ns-hidden");
    load_shop(&world);
    world.deny(&["openclaw:shop:cancel_order"]);
    let look = "return [typeof globalThis.Shop, Object.keys(namespaces), ALL_TOOLS.filter(t => t.sourceName === 'shop').length]";
    assert_eq!(world.value(look).await, json!(["undefined", ["MCP"], 4]));
    let prompt = world.surface().exec_descriptor(&world.settings).description;
    assert!(
        !prompt.contains("Shop.list") && !prompt.contains("Orders of the shop"),
        "{prompt}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_the_same_names_from_anybody_else_do_not_expose_a_namespace() {
    let mut world = World::new("ns-impostor");
    let names = ["list_orders", "cancel_order", "shop_fail", "shop_gate"];
    let effects = world.effects.clone();
    load(&world, "impostor", move |api| {
        names
            .iter()
            .for_each(|name| api.tool(noting(&effects, name, json!(null))));
        Ok(())
    });
    world.more = names
        .iter()
        .map(|name| noting(&world.effects, name, json!(null)))
        .collect();
    load(&world, "shop", |api| {
        api.namespace(shop());
        Ok(())
    });
    assert_eq!(
        world
            .value("return [typeof globalThis.Shop, Object.keys(namespaces)]")
            .await,
        json!(["undefined", ["MCP"]])
    );
    assert!(
        !world
            .surface()
            .exec_descriptor(&world.settings)
            .description
            .contains("Shop")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scope_that_is_refused_says_why_at_first_touch_and_leaves_the_others() {
    let refused: [(Registration, &str); 4] = [
        (
            Registration::new("bad", "Bad", "", ["bad_tool"], |_| Err("no token is set".into())),
            "Code mode namespace \"bad\" createScope failed: no token is set",
        ),
        (
            Registration::new("bad", "Bad", "", ["bad_tool"], |context| {
                assert!(context.run.is_empty(), "a defect of the plugin");
                Ok(Scope::new())
            }),
            "Code mode namespace \"bad\" createScope failed: it panicked",
        ),
        (
            Registration::new("bad", "Bad", "", ["bad_tool"], |_| {
                Ok(Scope::new().with("inner", Scope::new().with("__proto__", json!(1))))
            }),
            "Invalid code mode namespace path segment: __proto__ (in inner)",
        ),
        (
            Registration::new("bad", "Bad", "", ["bad_tool"], |_| {
                Ok(Scope::new().with("", json!(1)))
            }),
            "Invalid code mode namespace path segment: (empty)",
        ),
    ];
    for (registration, told) in refused {
        let world = World::new("ns-refused");
        load_shop(&world);
        let effects = world.effects.clone();
        load(&world, "bad", move |api| {
            api.tool(noting(&effects, "bad_tool", json!(null)));
            api.namespace(registration.clone());
            Ok(())
        });
        let code =
            "const told = () => { try { return typeof Bad } catch (e) { return [e.code, e.message] } };
                    const before = await Shop.list();
                    return [told(), told(), before.length, (await Shop.orders.cancel(1)).cancelled]";
        let expected = json!([["invalid_input", told], ["invalid_input", told], 2, 1]);
        assert_eq!(world.value(code).await, expected);
        assert_eq!(world.value("return 'never touched'").await, "never touched");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plugin_that_fails_to_load_leaves_no_namespace() {
    let world = World::new("ns-rollback");
    let effects = world.effects.clone();
    let register = move |api: &mut PluginApi| {
        api.tool(noting(&effects, "list_orders", json!(null)));
        api.namespace(Registration::new("one", "One", "", ["list_orders"], |_| {
            Ok(Scope::new())
        }));
        api.namespace(Registration::new("two", "tools", "", ["list_orders"], |_| {
            Ok(Scope::new())
        }));
        Ok(())
    };
    let error = try_load(&world, "half", register).unwrap_err();
    let told = "plugin `half` has a namespace that cannot be registered: Code mode namespace globalName \"tools\" is \
                reserved.";
    assert_eq!(error.to_string(), told);
    let look = "return [typeof globalThis.One, Object.keys(namespaces), typeof tools.search]";
    assert_eq!(world.value(look).await, json!(["undefined", ["MCP"], "function"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn members_that_the_language_calls_on_its_own_are_reachable_and_harmless() {
    let world = World::new("ns-thenable");
    let effects = world.effects.clone();
    load(&world, "odd", move |api| {
        api.tool(noting(&effects, "odd_tool", json!("called")));
        api.namespace(Registration::new("odd", "Odd", "", ["odd_tool"], |_| {
            let names = ["then", "toJSON", "toString", "valueOf", "hasOwnProperty", "call"];
            let inner = names.iter().fold(Scope::new(), |scope, name| {
                scope.with(*name, NamespaceTool::new("odd_tool"))
            });
            Ok(names
                .iter()
                .fold(Scope::new(), |scope, name| {
                    scope.with(*name, NamespaceTool::new("odd_tool"))
                })
                .with("inner", inner))
        }));
        Ok(())
    });
    let look = "for (const object of [Odd, Odd.inner, namespaces]) {
                    await object; `${object}`; object + ''; object == 1; JSON.stringify(object); json(object); console.log(object);
                    await Promise.all([object]);
                }
                return Object.keys(Odd).length";
    assert_eq!(world.value(look).await, 7);
    assert!(world.effects.all().is_empty(), "{:?}", world.effects.all());
    for name in ["then", "toJSON", "toString", "valueOf", "hasOwnProperty", "call"] {
        let code = format!(
            "return [await Odd[{0}]({{}}), await Odd.inner[{0}]({{}})]",
            json!(name)
        );
        assert_eq!(world.value(&code).await, json!(["called", "called"]), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn namespaces_are_opened_for_each_run_with_its_own_context() {
    let mut world = World::new("ns-context");
    load_shop(&world);
    for agent in ["one", "two"] {
        world.caller.agent = agent.into();
        let expected = json!([agent, "ns-context", "run", { "repository": "octo/cat" }]);
        assert_eq!(world.value("return Shop.run").await, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_named_as_on_a_server_does_not_break_one_named_then() {
    let world = World::new("ns-api");
    let effects = world.effects.clone();
    load(&world, "odd", move |api| {
        api.tool(noting(&effects, "odd_tool", json!("called")));
        api.namespace(Registration::new("odd", "Odd", "", ["odd_tool"], |_| {
            let call = || NamespaceTool::new("odd_tool");
            Ok(Scope::new()
                .with("then", call())
                .with("$api", call())
                .with("$serverName", json!("mine")))
        }));
        Ok(())
    });
    let code = "const odd = await Odd; return [Object.keys(odd), odd.$serverName, await odd.$api()]";
    assert_eq!(
        world.value(code).await,
        json!([["$api", "$serverName"], "mine", "called"])
    );
}
