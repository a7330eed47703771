//! Calls that need a person's yes.

use std::time::Duration;

use codecell::tools::{
    ApprovalAsk, ApprovalNews, DecideError, Decision, HookDecision, PendingApproval, PendingCell, Resolution,
};
use codecell::{Codecell, EngineOptions};
use serde_json::{Value, json};
use tokio::sync::broadcast::Receiver;

use crate::hooks::on;
use crate::world::{World, blocked, catching, completed};

pub(crate) const CALL: &str = "tools.callValue('openclaw:core:bump', { key: 'paid' })";

/// A world in which somebody is asked before `bump`, and the questions and closings from now on.
pub(crate) fn asking(session: &str) -> (World, Receiver<ApprovalNews>) {
    let mut world = World::new(session);
    world.ask_about(&["openclaw:core:bump"]);
    let news = world.approvals.subscribe();
    (world, news)
}

pub(crate) async fn asked(news: &mut Receiver<ApprovalNews>) -> PendingApproval {
    loop {
        if let ApprovalNews::Opened { approval } = news.recv().await.unwrap() {
            return *approval;
        }
    }
}

pub(crate) async fn closed(news: &mut Receiver<ApprovalNews>) -> Resolution {
    loop {
        if let ApprovalNews::Closed { resolution, .. } = news.recv().await.unwrap() {
            return resolution;
        }
    }
}

/// A program that is suspended while it makes `call`.
fn parked(call: &str) -> String {
    format!(
        "const answer = (async () => {{ {} }})(); await yield_control(); return await answer",
        catching(call)
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_waits_for_a_yes_suspends_its_cell_until_the_budget_ends_and_is_then_made_once() {
    let (mut world, _) = asking("approvals-yes");
    let _route = world.approvals.add_route();
    world.settings.timeout = Duration::from_millis(1_000);
    let code = "text('before'); const n = await tools.callValue('openclaw:core:bump', { key: 'paid' }); return { n }";
    let first = world.exec(code).await;
    assert_eq!(
        (&first["status"], &first["reason"]),
        (&json!("waiting"), &json!("pending_tools")),
        "{first:#}"
    );
    let pending = &first["pendingToolCalls"];
    assert_eq!(
        (&pending[0]["method"], &pending[0]["tool"]),
        (&json!("callValue"), &json!("openclaw:core:bump"))
    );
    assert_eq!(world.effects.count("paid"), 0);

    let questions = world.approvals.list();
    assert_eq!(questions.len(), 1);
    let question = questions[0].clone();
    let cell = question.cell.clone().unwrap();
    let expected = PendingApproval {
        id: question.id.clone(),
        title: "Call bump?".into(),
        description: "The configuration asks before `openclaw:core:bump` is called, by `openclaw:core:bump`."
            .into(),
        asked_by: "openclaw:core:bump".into(),
        severity: question.severity,
        tool: "openclaw:core:bump".into(),
        arguments: json!({ "key": "paid" }).into(),
        cell: Some(PendingCell {
            id: cell.id.clone(),
            call: 1,
            language: "javascript".into(),
            source: code.into(),
        }),
        agent: "agent".into(),
        session: "approvals-yes".into(),
        run: "run".into(),
        created_at_ms: question.created_at_ms,
        expires_at_ms: question.created_at_ms + 120_000,
        allowed_decisions: Decision::ALL.to_vec(),
    };
    assert_eq!(question, expected);

    world.approvals.decide(&question.id, Decision::AllowOnce).unwrap();
    let second = world.approvals.decide(&question.id, Decision::Deny).unwrap_err();
    let settled = DecideError::Settled {
        id: question.id,
        resolution: Resolution::AllowedOnce,
    };
    assert_eq!(second, settled, "the first answer counts");
    assert_eq!(completed(world.wait(&first["runId"]).await), json!({ "n": 1 }));
    assert_eq!(
        (world.effects.count("paid"), world.approvals.list().len()),
        (1, 0)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_a_missed_time_and_nobody_to_ask_are_caught_by_the_program() {
    let refused = |reason: &str| blocked("openclaw:core:bump", reason, "plugin-approval");

    let (world, _) = asking("approvals-nobody");
    let expected = refused("Plugin approval unavailable (no approval route)");
    assert_eq!(world.caught(CALL).await, expected);

    let (world, mut news) = asking("approvals-no");
    let _route = world.approvals.add_route();
    let answer = async {
        let question = asked(&mut news).await;
        world.approvals.decide(&question.id, Decision::Deny).unwrap();
    };
    let (caught, ()) = tokio::join!(world.caught(CALL), answer);
    assert_eq!(caught, refused("Denied by user"));

    let (mut world, _) = asking("approvals-late");
    let _route = world.approvals.add_route();
    world.ask_rules[0].timeout = Some(Duration::from_millis(20));
    assert_eq!(world.caught(CALL).await, refused("Approval timed out"));
    assert_eq!(world.approvals.list(), []);
    assert_eq!(world.effects.count("paid"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_reaches_a_suspended_cell_when_it_is_resumed() {
    let (world, mut news) = asking("approvals-no-later");
    let _route = world.approvals.add_route();
    let first = world.exec(&parked(CALL)).await;
    assert_eq!(first["status"], "waiting", "{first:#}");
    let question = asked(&mut news).await;
    world.approvals.decide(&question.id, Decision::Deny).unwrap();
    let value = completed(world.wait(&first["runId"]).await);
    assert_eq!(
        value,
        blocked("openclaw:core:bump", "Denied by user", "plugin-approval")
    );
    assert_eq!(world.effects.count("paid"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_calls_of_one_cell_are_two_questions() {
    let (world, mut news) = asking("approvals-two");
    let _route = world.approvals.add_route();
    let code = format!(
        "const both = Promise.allSettled([{CALL}, {CALL}]); await yield_control();
                        return (await both).map(one => one.status)"
    );
    let first = world.exec(&code).await;
    let (one, other) = (asked(&mut news).await, asked(&mut news).await);
    let cells = [one.cell.unwrap(), other.cell.unwrap()];
    assert_eq!(cells[0].id, cells[1].id);
    assert_eq!(
        cells.map(|cell| cell.call).iter().sum::<u32>(),
        1 + 2,
        "each is its own call"
    );
    world.approvals.decide(&one.id, Decision::AllowOnce).unwrap();
    world.approvals.decide(&other.id, Decision::Deny).unwrap();
    let mut statuses: Vec<Value> = completed(world.wait(&first["runId"]).await)
        .as_array()
        .unwrap()
        .clone();
    statuses.sort_by_key(ToString::to_string);
    assert_eq!(
        (json!(statuses), world.effects.count("paid")),
        (json!(["fulfilled", "rejected"]), 1)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn always_is_remembered_for_a_rule_and_not_for_a_hook() {
    let (world, mut news) = asking("approvals-always");
    let _route = world.approvals.add_route();
    let decide = async {
        let question = asked(&mut news).await;
        world
            .approvals
            .decide(&question.id, Decision::AllowAlways)
            .unwrap();
    };
    let (caught, ()) = tokio::join!(world.caught(CALL), decide);
    assert_eq!(caught, json!({ "value": 1 }));
    assert_eq!(
        world.caught(CALL).await,
        json!({ "value": 2 }),
        "nobody is asked again"
    );

    let world = World::new("approvals-always-hook");
    let (_route, mut news) = (world.approvals.add_route(), world.approvals.subscribe());
    on(&world, "bump", |_| {
        HookDecision::ask(ApprovalAsk::new("Really?", "It costs money."))
    });
    for count in 1..=2 {
        let decide = async {
            let question = asked(&mut news).await;
            assert_eq!((&*question.title, &*question.asked_by), ("Really?", "guard"));
            world
                .approvals
                .decide(&question.id, Decision::AllowAlways)
                .unwrap();
        };
        let (caught, ()) = tokio::join!(world.caught(CALL), decide);
        assert_eq!(caught, json!({ "value": count }));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_aborted_cell_takes_its_question_back() {
    let (world, mut news) = asking("approvals-abort");
    let _route = world.approvals.add_route();
    let code = format!("return await {CALL}");
    let abort = async {
        asked(&mut news).await;
        world.cancel.cancel();
    };
    let (result, ()) = tokio::join!(world.exec(&code), abort);
    assert_eq!(result["code"], "aborted", "{result:#}");
    assert_eq!(closed(&mut news).await, Resolution::Cancelled);
    assert_eq!(
        (world.approvals.list().len(), world.effects.count("paid")),
        (0, 0)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_the_session_takes_back_the_question_of_a_suspended_cell() {
    let (world, mut news) = asking("approvals-session");
    let _route = world.approvals.add_route();
    let first = world.exec(&parked(CALL)).await;
    assert_eq!(first["status"], "waiting", "{first:#}");
    let question = asked(&mut news).await;
    world.codecell.abort_session("approvals-session");
    assert_eq!(closed(&mut news).await, Resolution::Cancelled);
    let late = world
        .approvals
        .decide(&question.id, Decision::AllowOnce)
        .unwrap_err();
    assert_eq!(
        late,
        DecideError::Settled {
            id: question.id,
            resolution: Resolution::Cancelled
        }
    );
    assert_eq!(world.wait(&first["runId"]).await["code"], "invalid_input");
    assert_eq!(world.effects.count("paid"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_takes_back_every_question() {
    let mut world = World::new("approvals-shutdown");
    world.codecell = Codecell::new(EngineOptions::default()).unwrap();
    world.ask_about(&["openclaw:core:bump"]);
    let (_route, mut news) = (world.approvals.add_route(), world.approvals.subscribe());
    let parked = world.exec(&parked(CALL)).await;
    assert_eq!(parked["status"], "waiting", "{parked:#}");
    asked(&mut news).await;
    let code = format!("return await {CALL}");
    let stop = async {
        asked(&mut news).await;
        world.codecell.shutdown();
        (closed(&mut news).await, closed(&mut news).await)
    };
    let (running, resolutions) = tokio::join!(world.exec(&code), stop);
    assert_eq!(running["code"], "aborted", "{running:#}");
    assert_eq!(resolutions, (Resolution::Cancelled, Resolution::Cancelled));
    assert_eq!(
        (world.approvals.list().len(), world.effects.count("paid")),
        (0, 0)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn every_form_of_call_is_asked_about_under_the_id_of_its_tool() {
    let mut world = World::new("approvals-forms");
    crate::shop::load_shop(&world);
    world.ask_about(&[
        "openclaw:core:echo",
        "openclaw:shop:list_orders",
        "mcp:Files:read_file",
        "client:app:select_file",
    ]);
    let (_route, mut news) = (world.approvals.add_route(), world.approvals.subscribe());
    for (call, id, arguments) in [
        ("tools.echo({ x: 1 })", "openclaw:core:echo", json!({ "x": 1 })),
        (
            "tools.callValue('openclaw:core:echo', { x: 1 })",
            "openclaw:core:echo",
            json!({ "x": 1 }),
        ),
        (
            "tools.call('openclaw:core:echo', { x: 1 })",
            "openclaw:core:echo",
            json!({ "x": 1 }),
        ),
        (
            "Shop.list({ open: true })",
            "openclaw:shop:list_orders",
            json!({ "open": true }),
        ),
        ("namespaces.Shop.list()", "openclaw:shop:list_orders", json!({})),
        (
            "MCP.files.readFile({ path: 'p' })",
            "mcp:Files:read_file",
            json!({ "path": "p" }),
        ),
        ("tools.select_file()", "client:app:select_file", json!({})),
    ] {
        let people = async {
            let question = asked(&mut news).await;
            assert_eq!(
                (&*question.tool, &question.arguments),
                (id, &arguments.into()),
                "{call}"
            );
            world.approvals.decide(&question.id, Decision::Deny).unwrap();
        };
        let (caught, ()) = tokio::join!(world.caught(call), people);
        assert_eq!(caught, blocked(id, "Denied by user", "plugin-approval"), "{call}");
    }
    assert!(world.effects.all().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_shows_the_program_as_it_was_written() {
    let (world, mut news) = asking("approvals-typescript");
    let _route = world.approvals.add_route();
    let code = format!("const n: unknown = await {CALL};\nreturn n as number");
    let people = async {
        let question = asked(&mut news).await;
        world.approvals.decide(&question.id, Decision::AllowOnce).unwrap();
        question.cell.map(|cell| (cell.language, cell.source))
    };
    let cell = json!({ "code": code, "language": "typescript" });
    let (result, shown) = tokio::join!(world.exec_with(cell), people);
    assert_eq!(
        (completed(result), shown),
        (json!(1), Some(("typescript".into(), code)))
    );
}
