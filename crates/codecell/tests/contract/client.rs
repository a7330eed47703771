//! Tools of the application on the other side.

use std::time::Duration;

use codecell::tools::{AnswerError, ClientCall, ClientNews};
use codecell::{CellResult, Codecell, EngineOptions, Settings, WaitReason};
use serde_json::{Value, json};
use tokio::sync::broadcast::Receiver;

use crate::world::{World, bare, catching, completed};

/// The next call that the application is told of.
pub(crate) async fn called(news: &mut Receiver<ClientNews>) -> ClientCall {
    loop {
        if let ClientNews::Called { call } = news.recv().await.unwrap() {
            return call;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_tool_is_listed_with_an_unknown_input_and_described_in_full() {
    let world = World::new("client-listed");
    let code = "return [ALL_TOOLS.filter(t => t.source === 'client'), (await tools.describe('client:app:select_file')).parameters]";
    let entry = |name: &str, description: &str| {
        json!({ "id": format!("client:app:{name}"), "name": name, "description": description, "source": "client",
                "sourceName": "app", "input": "unknown" })
    };
    let expected = json!([
        [
            entry("bump", "Not the tool of that name"),
            entry("lie_too", "Promises one thing and gives another"),
            entry("select_file", "Lets the user select a file"),
        ],
        { "type": "object" },
    ]);
    assert_eq!(world.value(code).await, expected);
    let prompt = world.surface().exec_descriptor(&world.settings).description;
    assert!(
        !prompt.contains("Lets the user select"),
        "an application's words do not reach the prompt"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_waits_for_the_application_while_its_cell_is_suspended() {
    let world = World::new("client-suspended");
    let mut news = world.client.subscribe();
    let code =
        "const file = tools.callValue('client:app:select_file', { filter: '*.md' }); await yield_control();
                return await file";
    let first = world.exec(code).await;
    assert_eq!(
        (&first["status"], &first["reason"]),
        (&json!("waiting"), &json!("pending_tools"))
    );
    let call = called(&mut news).await;
    let expected = ClientCall {
        id: call.id.clone(),
        tool: "select_file".into(),
        arguments: json!({ "filter": "*.md" }).into(),
        cell: call.cell.clone(),
        number: 1,
    };
    assert_eq!(world.client.pending(), [expected]);
    world
        .client
        .answer(&call.id, Ok(json!({ "path": "README.md" }).into()))
        .unwrap();
    assert_eq!(
        completed(world.wait(&first["runId"]).await),
        json!({ "path": "README.md" })
    );
    let again = world.client.answer(&call.id, Ok(json!(1).into()));
    assert_eq!(again, Err(AnswerError::Answered { id: call.id }));
    assert_eq!(world.client.pending(), []);
}

/// A world with an engine of its own, in which nothing comes about by a deadline.
fn patient(session: &str) -> World {
    World {
        codecell: Codecell::new(EngineOptions::default()).unwrap(),
        settings: Settings {
            timeout: Duration::from_secs(60),
            ..Settings::default()
        },
        ..World::new(session)
    }
}

/// What comes before any deadline.
async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), work).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_waits_for_the_application_alone_is_suspended_at_once() {
    let world = patient("client-outside");
    let code = "const [file, bumped] = await Promise.all([
                    tools.select_file({ filter: '*.md' }), tools.callValue('client:app:bump', {})]);
                return { file, bumped, core: await tools.echo({ x: 1 }) }";
    let program = json!({ "code": code });
    let first = soon(world.codecell.exec(&program, world.context())).await;
    let CellResult::Waiting {
        run_id, cell, reason, ..
    } = &first
    else {
        panic!("{first:?}")
    };
    assert_eq!(*reason, WaitReason::PendingTools);
    assert_eq!(
        (world.codecell.suspended_runs(), world.codecell.live_vms()),
        (1, 0)
    );
    let calls = world.client.pending_of(cell);
    let told: Vec<(&str, u32)> = calls.iter().map(|call| (&*call.tool, call.number)).collect();
    assert_eq!(told, [("select_file", 1), ("bump", 2)]);
    let run_id = json!(run_id);
    let first = serde_json::to_value(&first).unwrap();
    let pending = |n: u32, tool: &str| json!({ "id": format!("bridge:callValue:{n}"), "method": "callValue", "tool": tool });
    let waits_for = |calls: &[Value]| json!({ "status": "waiting", "runId": run_id, "reason": "pending_tools", "pendingToolCalls": calls, "output": [] });
    let (select, bump) = (
        pending(1, "client:app:select_file"),
        pending(2, "client:app:bump"),
    );
    assert_eq!(bare(first), waits_for(&[select.clone(), bump.clone()]));

    world.client.answer(&calls[1].id, Ok(json!(7).into())).unwrap();
    let second = soon(world.wait(&run_id)).await;
    assert_eq!(bare(second), waits_for(&[select]));
    assert_eq!(
        (world.client.pending_of(cell), world.codecell.live_vms()),
        (vec![calls[0].clone()], 0)
    );

    world
        .client
        .answer(&calls[0].id, Ok(json!("a.md").into()))
        .unwrap();
    let third = soon(world.wait(&run_id)).await;
    assert_eq!(
        completed(third),
        json!({ "file": "a.md", "bumped": 7, "core": 1 })
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_something_else_can_wake_is_not() {
    let world = patient("client-race");
    let code = "const file = tools.select_file({});
                text(await Promise.race([file, new Promise(done => setTimeout(done, 50, 'rang'))]));
                text(await Promise.race([file, tools.gate({ key: 'a' })]));
                return await file";
    let open = async {
        world.effects.reached("at gate a", 1).await;
        world.gates.open("a");
    };
    let (first, ()) = soon(async { tokio::join!(world.exec(code), open) }).await;
    assert_eq!(
        (&first["status"], &first["output"]),
        (
            &json!("waiting"),
            &json!([{ "type": "text", "text": "rang" }, { "type": "text", "text": "passed a" }])
        ),
        "{first:#}"
    );
    let call = world.client.pending().remove(0);
    world.client.answer(&call.id, Ok(json!("a.md").into())).unwrap();
    assert_eq!(completed(soon(world.wait(&first["runId"])).await), json!("a.md"));
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_without_a_slot_do_not_keep_a_cell_running() {
    let mut world = patient("client-queue");
    world.settings.max_pending_tool_calls = 2;
    let code = "return await Promise.all([1, 2, 3, 4].map(n => n < 4 ? tools.select_file({ n }) : tools.echo({ x: n })))";
    let mut result = soon(world.exec(code)).await;
    let mut rounds = Vec::new();
    while result["status"] == "waiting" {
        let calls = world.client.pending();
        rounds.push(calls.len());
        let answers = calls.into_iter().map(|call| (call.id, Ok(call.arguments)));
        world.client.answer_all(answers.collect()).unwrap();
        result = soon(world.wait(&result["runId"])).await;
    }
    assert_eq!(rounds, [2, 1]);
    assert_eq!(completed(result), json!([{ "n": 1 }, { "n": 2 }, { "n": 3 }, 4]));
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_come_together_are_delivered_in_one_go() {
    let world = patient("client-together");
    let code = "return await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(n => tools.select_file({ n })))";
    for _ in 0..50 {
        let first = soon(world.exec(code)).await;
        let calls = world.client.pending().into_iter();
        let answers = calls.map(|call| (call.id, Ok(json!(1).into())));
        world.client.answer_all(answers.collect()).unwrap();
        assert_eq!(
            completed(soon(world.wait(&first["runId"])).await),
            json!([1, 1, 1, 1, 1, 1, 1, 1])
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_of_the_application_is_caught_by_the_program() {
    let world = World::new("client-error");
    let mut news = world.client.subscribe();
    let answer = async {
        let call = called(&mut news).await;
        world
            .client
            .answer(&call.id, Err("the user closed the dialog".into()))
            .unwrap();
    };
    let code = catching("tools.select_file({})");
    let (result, ()) = tokio::join!(world.run(&code), answer);
    let expected = json!({ "error": true, "name": "Error", "code": "tool_error", "message": "the user closed the dialog" });
    assert_eq!(completed(result), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unanswered_call_is_withdrawn_when_its_session_ends() {
    let world = World::new("client-ended");
    let mut news = world.client.subscribe();
    let first = world.exec("return await tools.select_file({})").await;
    assert_eq!(first["status"], "waiting", "{first:#}");
    let call = called(&mut news).await;
    world.codecell.abort_session("client-ended");
    assert_eq!(
        news.recv().await.unwrap(),
        ClientNews::Closed { id: call.id.clone() }
    );
    assert_eq!(world.client.pending(), []);
    let late = world.client.answer(&call.id, Ok(json!(1).into()));
    assert_eq!(late, Err(AnswerError::Unknown { id: call.id }));
    assert_eq!(world.wait(&first["runId"]).await["code"], "invalid_input");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_aborted_cell_withdraws_its_call() {
    let world = World::new("client-aborted");
    let mut news = world.client.subscribe();
    let abort = async {
        let call = called(&mut news).await;
        world.cancel.cancel();
        assert_eq!(news.recv().await.unwrap(), ClientNews::Closed { id: call.id });
    };
    // The other call keeps it running.
    let code = "return await Promise.all([tools.select_file({}), tools.gate({ key: 'a' })])";
    let (result, ()) = tokio::join!(world.exec(code), abort);
    assert_eq!(result["code"], "aborted", "{result:#}");
    assert_eq!(world.client.pending(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_tool_named_like_a_core_tool_takes_nothing_from_it() {
    let world = World::new("client-shadow");
    let mut news = world.client.subscribe();
    let answer = async {
        let call = called(&mut news).await;
        assert_eq!(call.tool, "bump");
        world
            .client
            .answer(&call.id, Ok(json!("the application's").into()))
            .unwrap();
    };
    let code = "return [await tools.callValue('openclaw:core:bump', { key: 'k' }), await tools.callValue('client:app:bump', {}),
                        typeof tools.bump, 'bump' in tools]";
    let (result, ()) = tokio::join!(world.run(code), answer);
    assert_eq!(
        completed(result),
        json!([1, "the application's", "undefined", false])
    );
    let caught = world.caught("tools.callValue('bump', { key: 'k' })").await;
    let told = "ambiguous tool name `bump`; use an exact tool id: `openclaw:core:bump`, `client:app:bump`";
    assert_eq!(
        caught,
        json!({ "error": true, "name": "Error", "code": "invalid_input", "message": told })
    );
}
