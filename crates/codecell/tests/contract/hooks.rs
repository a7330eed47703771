//! Hooks before and after the calls of a cell, and before the cell itself.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use codecell::BoxFuture;
use codecell::tools::{
    AfterEvent, AfterOutcome, AfterToolCall, BeforeEvent, BeforeToolCall, HookDecision, HookFailure,
    HookedCall, Json, ToolResult,
};
use serde_json::{Value, json};

use crate::world::{World, blocked, completed};

/// A hook made of a function.
pub(crate) struct Before<F>(pub(crate) F);

impl<F> BeforeToolCall for Before<F>
where
    F: Fn(BeforeEvent) -> Result<HookDecision, HookFailure> + Send + Sync + 'static,
{
    fn before(&self, event: BeforeEvent) -> BoxFuture<Result<HookDecision, HookFailure>> {
        let decision = self.0(event);
        Box::pin(async move { decision })
    }
}

/// Has a function decide on the calls of one tool.
pub(crate) fn on(
    world: &World,
    tool: &'static str,
    decide: impl Fn(BeforeEvent) -> HookDecision + Send + Sync + 'static,
) {
    let hook = Before(move |event: BeforeEvent| {
        Ok(if event.call.tool == tool {
            decide(event)
        } else {
            HookDecision::pass()
        })
    });
    world.hooks.before("guard", 0, None, Arc::new(hook));
}

#[derive(Clone, Default)]
pub(crate) struct Witness {
    pub(crate) before: Arc<Mutex<Vec<BeforeEvent>>>,
    after: Arc<Mutex<Vec<AfterEvent>>>,
}

impl Witness {
    pub(crate) fn of(world: &World) -> Self {
        let witness = Self::default();
        world.hooks.before("witness", 0, None, Arc::new(witness.clone()));
        world.hooks.after("witness", 0, None, Arc::new(witness.clone()));
        witness
    }

    /// The calls of tools, the outer one left out, sorted by number.
    fn nested(&self) -> Vec<HookedCall> {
        let before = self.before.lock().unwrap();
        let mut calls: Vec<HookedCall> = before.iter().map(|event| event.call.clone()).collect();
        calls.retain(|call| call.tool_kind.is_none());
        calls.sort_by_key(|call| call.number);
        calls
    }

    fn after(&self) -> Vec<AfterEvent> {
        self.after.lock().unwrap().clone()
    }
}

impl BeforeToolCall for Witness {
    fn before(&self, event: BeforeEvent) -> BoxFuture<Result<HookDecision, HookFailure>> {
        self.before.lock().unwrap().push(event);
        Box::pin(async { Ok(HookDecision::pass()) })
    }
}

impl AfterToolCall for Witness {
    fn after(&self, event: AfterEvent) -> BoxFuture<Result<Option<ToolResult>, HookFailure>> {
        self.after.lock().unwrap().push(event);
        Box::pin(async { Ok(None) })
    }
}

fn ids(calls: &[HookedCall]) -> Vec<&str> {
    calls
        .iter()
        .map(|call| call.id.as_ref().unwrap().as_str())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_form_of_call_meets_the_hooks_once_under_its_own_name() {
    let world = World::new("hooks-once");
    crate::shop::load_shop(&world);
    let witness = Witness::of(&world);
    let code = "
        await Promise.all([1, 2, 3].map(x => tools.echo({ x })));
        await tools.callValue('openclaw:core:echo', { x: 4 });
        await tools.call('openclaw:core:echo', { x: 5 });
        await MCP.files.readFile({ path: 'p' });
        await MCP.files.resources.list();
        await Shop.list({});
        await namespaces.Shop.list({});
        try { await tools.fail() } catch {}
        return 'done'";
    assert_eq!(world.value(code).await, "done");
    let calls = witness.nested();
    let echo = "openclaw:core:echo";
    let list = "openclaw:shop:list_orders";
    let expected = [
        echo,
        echo,
        echo,
        echo,
        echo,
        "mcp:Files:read_file",
        "mcp:Files:resources/list",
        list,
        list,
        "openclaw:core:fail",
    ];
    assert_eq!(ids(&calls), expected);
    let names: Vec<&str> = calls.iter().map(|call| &*call.tool).collect();
    let expected = [
        "echo",
        "echo",
        "echo",
        "echo",
        "echo",
        "read_file",
        "resources/list",
        "list_orders",
        "list_orders",
        "fail",
    ];
    assert_eq!(names, expected);
    let mut numbers: Vec<u32> = calls.iter().map(|call| call.number).collect();
    numbers.dedup();
    assert_eq!(numbers.len(), calls.len(), "every call has a number of its own");
    let after = witness.after();
    let tools = calls.iter().filter(|call| call.tool != "resources/list").count();
    assert_eq!(after.len(), tools, "after hooks once for each tool");
    let failed: Vec<&AfterOutcome> = after
        .iter()
        .map(|event| &event.outcome)
        .filter(|outcome| matches!(outcome, AfterOutcome::Failed { .. }))
        .collect();
    let teapot = AfterOutcome::Failed {
        code: "teapot",
        message: "no coffee here".into(),
    };
    assert_eq!(failed, [&teapot]);
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_and_tools_know_the_caller_and_the_parent_cell() {
    let mut world = World::new("hooks-caller");
    world.caller.channel = Some("mcp".into());
    world.caller.sender = Some("ann".into());
    world.caller.sandboxed = true;
    let witness = Witness::of(&world);
    let seen_by_tool = world.value("await tools.who(); return await tools.who()").await;
    assert_eq!(
        seen_by_tool,
        json!(["agent", "hooks-caller", "run", "mcp", "ann", true])
    );
    let calls = witness.nested();
    let cells: Vec<&str> = calls.iter().map(|call| call.cell.as_deref().unwrap()).collect();
    assert!(cells[0].starts_with("cell_") && cells[0] == cells[1], "{cells:?}");
    for call in &calls {
        assert_eq!(*call.caller, world.caller);
    }
    let other = Witness::of(&world);
    world.value("return await tools.who()").await;
    assert_ne!(
        other.nested()[0].cell,
        calls[0].cell,
        "another cell has another name"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspension_neither_repeats_nor_skips_a_hook() {
    let world = World::new("hooks-suspended");
    let witness = Witness::of(&world);
    let code = "const slow = tools.gate({ key: 'a' }); await yield_control();
                return [await slow, await tools.echo({ x: 1 }), await MCP.files.waitFor({ key: 'b' })]";
    let first = world.exec(code).await;
    assert_eq!(first["status"], "waiting", "{first:#}");
    world.effects.reached("at gate a", 1).await;
    world.gates.open("a");
    world.gates.open("b");
    let value = completed(world.wait(&first["runId"]).await);
    assert_eq!(value[0], "passed a");
    let calls = witness.nested();
    assert_eq!(
        ids(&calls),
        ["openclaw:core:gate", "openclaw:core:echo", "mcp:Files:wait_for"]
    );
    assert!(
        calls.iter().all(|call| call.cell == calls[0].cell),
        "the exec is the parent, also of calls in a wait"
    );
    assert_eq!(witness.after().len(), 3);
    assert_eq!(world.effects.count("at gate a"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_rewrites_the_arguments_and_the_schema_is_checked_again() {
    let world = World::new("hooks-rewrite");
    on(&world, "bump", |event| {
        let given: Value = event.params.read().unwrap();
        HookDecision::rewrite(Json::from(match given["key"].as_str() {
            Some("good") => json!({ "key": "rewritten" }),
            _ => json!({ "key": 7 }),
        }))
    });
    let bump = |key: &str| format!("tools.callValue('openclaw:core:bump', {{ key: '{key}' }})");
    assert_eq!(world.caught(&bump("good")).await, json!({ "value": 1 }));
    let refused = world.caught(&bump("bad")).await;
    let reason = "Tool call blocked because before_tool_call hook failed: it rewrote the arguments to unusable ones: \
                  invalid arguments for `openclaw:core:bump`:\nkey: expected string, got number (7)\n\
                  expected input: { key: string }";
    assert_eq!(
        refused,
        blocked("openclaw:core:bump", reason, "plugin-before-tool-call")
    );
    assert_eq!(world.effects.all(), [("rewritten".to_owned(), 1)].into());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_blocks_fails_panics_or_hangs_is_caught_by_the_program_and_costs_that_call_alone() {
    struct Hangs;
    impl BeforeToolCall for Hangs {
        fn before(&self, event: BeforeEvent) -> BoxFuture<Result<HookDecision, HookFailure>> {
            Box::pin(async move {
                if event.call.tool == "bump" {
                    std::future::pending::<()>().await;
                }
                Ok(HookDecision::pass())
            })
        }
    }
    fn only_bump(event: &BeforeEvent) -> bool {
        event.call.tool == "bump"
    }
    let failed = "Tool call blocked because before_tool_call hook failed";
    let hooks: [(&str, Arc<dyn BeforeToolCall>); 4] = [
        (
            "not on a Sunday",
            Arc::new(Before(|event: BeforeEvent| {
                Ok(if only_bump(&event) {
                    HookDecision::block("not on a Sunday")
                } else {
                    HookDecision::pass()
                })
            })),
        ),
        (
            failed,
            Arc::new(Before(|event: BeforeEvent| {
                if only_bump(&event) {
                    Err(HookFailure::new("database is down"))
                } else {
                    Ok(HookDecision::pass())
                }
            })),
        ),
        (
            failed,
            Arc::new(Before(|event: BeforeEvent| {
                assert!(!only_bump(&event), "a defect of the plugin");
                Ok(HookDecision::pass())
            })),
        ),
        (failed, Arc::new(Hangs)),
    ];
    for (reason, hook) in hooks {
        let world = World::new("hooks-failing");
        world
            .hooks
            .before("guard", 0, Some(Duration::from_millis(1_000)), hook);
        let caught = world
            .caught("tools.callValue('openclaw:core:bump', { key: 'k' })")
            .await;
        assert_eq!(
            caught,
            blocked("openclaw:core:bump", reason, "plugin-before-tool-call")
        );
        assert_eq!(
            world.value("return await tools.echo({ x: 1 })").await,
            1,
            "{reason}"
        );
        assert!(world.effects.all().is_empty(), "{reason}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_after_hook_replaces_is_what_the_program_gets() {
    struct Redacts;
    impl AfterToolCall for Redacts {
        fn after(&self, event: AfterEvent) -> BoxFuture<Result<Option<ToolResult>, HookFailure>> {
            let redacted =
                (event.call.tool == "echo").then(|| ToolResult::of_value(json!("redacted").into()));
            Box::pin(async { Ok(redacted) })
        }
    }
    let world = World::new("hooks-after");
    world.hooks.after("guard", 0, None, Arc::new(Redacts));
    let code = "return [await tools.echo({ x: 'secret' }), (await tools.call('openclaw:core:echo', { x: 'secret' })).result.details]";
    assert_eq!(world.value(code).await, json!(["redacted", "redacted"]));
}
