//! Hooks and people that are asked about the program itself, before it runs.

use std::sync::Arc;
use std::time::Duration;

use codecell::tools::{ApprovalAsk, Decision, HookDecision, HookedCall, Json, Resolution};
use serde_json::{Value, json};

use crate::approvals::{CALL, asked, asking, closed};
use crate::hooks::{Witness, on};
use crate::world::{World, bare, blocked, completed};

#[tokio::test(flavor = "multi_thread")]
async fn hooks_see_the_outer_exec_with_its_kind_and_both_spellings() {
    for (arguments, kind) in [
        (
            json!({ "code": "return 1", "language": "javascript" }),
            "javascript",
        ),
        (
            json!({ "command": "return 1", "language": "typescript" }),
            "typescript",
        ),
        (json!({ "code": "return 1" }), "javascript"),
    ] {
        let world = World::new("hooks-outer");
        let witness = Witness::of(&world);
        assert_eq!(completed(world.exec_with(arguments.clone()).await), 1);
        let mut params = arguments.clone();
        params["code"] = json!("return 1");
        params["command"] = json!("return 1");
        let seen = witness.before.lock().unwrap().clone();
        let call = HookedCall {
            tool: "exec".into(),
            id: None,
            tool_kind: Some("code_mode_exec"),
            tool_input_kind: Some(kind),
            caller: Arc::new(world.caller.clone()),
            cell: None,
            number: 0,
        };
        assert_eq!(seen.len(), 1, "{arguments}");
        assert_eq!(
            (&seen[0].call, seen[0].params.read::<Value>().unwrap()),
            (&call, params),
            "{arguments}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_shell_tool_of_the_same_name_is_told_apart_from_the_outer_exec() {
    let world = World::new("hooks-shell");
    let witness = Witness::of(&world);
    assert_eq!(
        world
            .value("return await tools.callValue('openclaw:core:exec', { command: 'ls' })")
            .await,
        "ran"
    );
    let seen: Vec<_> = witness
        .before
        .lock()
        .unwrap()
        .iter()
        .map(|event| event.call.clone())
        .collect();
    let kinds: Vec<_> = seen
        .iter()
        .map(|call| (&*call.tool, call.tool_kind, call.id.is_some()))
        .collect();
    assert_eq!(
        kinds,
        [("exec", Some("code_mode_exec"), false), ("exec", None, true)]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_rewrites_the_program_in_either_spelling() {
    for spelling in ["code", "command"] {
        let world = World::new("hooks-program");
        on(&world, "exec", move |event| {
            let mut params: Value = event.params.read().unwrap();
            params[spelling] = json!("return 'rewritten'");
            HookDecision::rewrite(Json::from(params))
        });
        for given in ["code", "command"] {
            let result = world.exec_with(json!({ given: "return 'given'" })).await;
            assert_eq!(completed(result), "rewritten", "{given} rewritten in {spelling}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hook_that_blocks_the_outer_exec_refuses_the_cell() {
    let world = World::new("hooks-no-programs");
    on(&world, "exec", |_| HookDecision::block("no programs today"));
    let result = world
        .exec("return await tools.callValue('openclaw:core:bump', { key: 'k' })")
        .await;
    let expected = json!({
        "status": "failed", "code": "invalid_input", "output": [],
        "error": "Tool \"exec\" was blocked before execution: no programs today",
    });
    assert_eq!(bare(result), expected);
    assert!(world.effects.all().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_hook_makes_of_a_program_is_checked_like_any_program() {
    for (program, told) in [
        ("import 'fs'", "module"),
        ("return (", "cell:1:"),
        ("ls -la && pwd", "shell"),
        ("", "code or command must be a non-empty string"),
    ] {
        let world = World::new("hooks-bad-program");
        on(&world, "exec", move |event| {
            let mut params: Value = event.params.read().unwrap();
            params["code"] = json!(program);
            HookDecision::rewrite(Json::from(params))
        });
        let result = world.exec("return 1").await;
        let error = result["error"].as_str().unwrap();
        assert!(
            result["code"] == "invalid_input" && error.contains(told),
            "{program}: {result:#}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_to_the_program_is_no_yes_to_its_calls() {
    let (world, mut news) = asking("approvals-outer");
    let _route = world.approvals.add_route();
    on(&world, "exec", |_| {
        HookDecision::ask(ApprovalAsk::new("Run this program?", ""))
    });
    let people = async {
        let outer = asked(&mut news).await;
        assert_eq!((&*outer.tool, &outer.cell), ("exec", &None));
        let shown: Value = outer.arguments.read().unwrap();
        assert_eq!(shown["code"], shown["command"]);
        world.approvals.decide(&outer.id, Decision::AllowAlways).unwrap();
        let inner = asked(&mut news).await;
        assert_eq!(inner.tool, "openclaw:core:bump");
        world.approvals.decide(&inner.id, Decision::Deny).unwrap();
    };
    let (caught, ()) = tokio::join!(world.caught(CALL), people);
    assert_eq!(
        caught,
        blocked("openclaw:core:bump", "Denied by user", "plugin-approval")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_to_the_program_refuses_the_cell() {
    let world = World::new("approvals-outer-no");
    let (_route, mut news) = (world.approvals.add_route(), world.approvals.subscribe());
    on(&world, "exec", |_| {
        HookDecision::ask(ApprovalAsk::new("Run this program?", ""))
    });
    let people = async {
        let outer = asked(&mut news).await;
        world.approvals.decide(&outer.id, Decision::Deny).unwrap();
    };
    let code = format!("return await {CALL}");
    let (result, ()) = tokio::join!(world.exec(&code), people);
    assert_eq!(
        (&result["code"], &result["error"]),
        (
            &json!("invalid_input"),
            &json!("Tool \"exec\" was blocked before execution: Denied by user")
        )
    );
    assert_eq!(world.effects.count("paid"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_time_a_person_takes_over_the_program_is_not_the_programs() {
    let mut world = World::new("approvals-outer-slow");
    world.settings.timeout = Duration::from_millis(1_000);
    let (_route, mut news) = (world.approvals.add_route(), world.approvals.subscribe());
    on(&world, "exec", |event| {
        let asks = event.params.as_str().contains("'answer'");
        if asks {
            HookDecision::ask(ApprovalAsk::new("Run this program?", ""))
        } else {
            HookDecision::pass()
        }
    });
    let people = async {
        let outer = asked(&mut news).await;
        // Ends with its budget, so by then the other cell's would be used up as well.
        let endless = world.exec("while (true) {}").await;
        assert_eq!(endless["code"], "timeout", "{endless:#}");
        world.approvals.decide(&outer.id, Decision::AllowOnce).unwrap();
    };
    let (result, ()) = tokio::join!(world.exec("return 'answer'"), people);
    assert_eq!(completed(result), "answer");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_session_takes_back_the_question_about_a_program() {
    let world = World::new("approvals-session-outer");
    let (_route, mut news) = (world.approvals.add_route(), world.approvals.subscribe());
    on(&world, "exec", |_| {
        let mut ask = ApprovalAsk::new("Run this program?", "");
        ask.timeout = Some(Duration::from_secs(5));
        HookDecision::ask(ask)
    });
    let end = async {
        asked(&mut news).await;
        world.codecell.abort_session("approvals-session-outer");
        closed(&mut news).await
    };
    let (result, resolution) = tokio::join!(world.exec("return 1"), end);
    assert_eq!(
        (&result["code"], resolution),
        (&json!("aborted"), Resolution::Cancelled),
        "{result:#}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_aborted_exec_takes_back_the_question_about_its_program() {
    let world = World::new("approvals-abort-outer");
    let (_route, mut news) = (world.approvals.add_route(), world.approvals.subscribe());
    on(&world, "exec", |_| {
        HookDecision::ask(ApprovalAsk::new("Run this program?", ""))
    });
    let abort = async {
        asked(&mut news).await;
        world.cancel.cancel();
        closed(&mut news).await
    };
    let (result, resolution) = tokio::join!(world.exec("return 1"), abort);
    assert_eq!(
        (&result["code"], resolution),
        (&json!("aborted"), Resolution::Cancelled),
        "{result:#}"
    );
}
