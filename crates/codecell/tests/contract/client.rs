//! Tools of the application on the other side.

use codecell::tools::{AnswerError, ClientCall, ClientNews};
use serde_json::json;
use tokio::sync::broadcast::Receiver;

use crate::world::{World, completed};

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
    let (caught, ()) = tokio::join!(world.caught("tools.select_file({})"), answer);
    let expected = json!({ "error": true, "name": "Error", "code": "tool_error", "message": "the user closed the dialog" });
    assert_eq!(caught, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unanswered_call_is_withdrawn_when_its_session_ends() {
    let world = World::new("client-ended");
    let mut news = world.client.subscribe();
    let first = world
        .exec("const file = tools.select_file({}); await yield_control(); return await file")
        .await;
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
    let (result, ()) = tokio::join!(world.exec("return await tools.select_file({})"), abort);
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
    let (value, ()) = tokio::join!(world.value(code), answer);
    assert_eq!(value, json!([1, "the application's", "undefined", false]));
    let caught = world.caught("tools.callValue('bump', { key: 'k' })").await;
    let told = "ambiguous tool name `bump`; use an exact tool id: `openclaw:core:bump`, `client:app:bump`";
    assert_eq!(
        caught,
        json!({ "error": true, "name": "Error", "code": "invalid_input", "message": told })
    );
}
