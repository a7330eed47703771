use std::sync::Arc;

use codecell_bridge::CallId;
use codecell_catalog::Tool;
use codecell_tools::{
    AnswerError, Approvals, AskRule, CallContext, CallError, ClientCall, ClientNews, ClientToolProblem,
    ClientTools, Decision, Delivered, ExecutionPath, Restrictions, Severity, ToolDefinition, Toolbox,
};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::{context, nested, soon, text};

fn ask() -> ToolDefinition {
    ToolDefinition::new("ask", "Asks the user", json!({ "type": "object" }))
}

/// A path with nothing on it, and the application's first tool.
fn path_to(client: &ClientTools) -> (ExecutionPath, Arc<Tool>) {
    let toolbox = Toolbox::builder().client(client.clone()).build().unwrap();
    let tool = Arc::new(Tool::alone(toolbox.specs().remove(0)));
    (ExecutionPath::bare(Arc::new(toolbox)), tool)
}

/// Makes a call and waits until the application hears of it.
async fn calling(
    client: &ClientTools,
    context: CallContext,
) -> (ClientCall, JoinHandle<Result<Delivered, CallError>>) {
    let mut news = client.subscribe();
    let (path, tool) = path_to(client);
    let call = tokio::spawn(async move { path.call(&tool, Some(&text(json!({ "q": 1 }))), context).await });
    match news.recv().await.unwrap() {
        ClientNews::Called { call: asked } => (asked, call),
        ClientNews::Closed { id } => panic!("{id}"),
    }
}

#[tokio::test]
async fn a_call_waits_for_the_application_and_the_first_answer_counts() {
    let (client, refused) = ClientTools::new("app", vec![ask()]);
    assert_eq!(refused, []);
    let (asked, call) = calling(&client, context()).await;
    assert_eq!(
        (&*asked.tool, asked.arguments.as_str(), client.pending()),
        ("ask", r#"{"q":1}"#, vec![asked.clone()])
    );
    client.answer(&asked.id, Ok(text(json!(42)))).unwrap();
    let twice = client.answer(&asked.id, Ok(text(json!(43))));
    assert_eq!(twice, Err(AnswerError::Answered { id: asked.id.clone() }));
    assert_eq!(call.await.unwrap().unwrap().result.value, Some(text(json!(42))));
    assert_eq!(client.pending(), []);
    let unknown = client.answer("client_x", Ok(text(json!(1))));
    assert_eq!(
        unknown,
        Err(AnswerError::Unknown {
            id: "client_x".into()
        })
    );
}

#[tokio::test]
async fn an_application_may_say_that_it_failed() {
    let (client, _) = ClientTools::new("app", vec![ask()]);
    let (asked, call) = calling(&client, context()).await;
    client.answer(&asked.id, Err("the user left".into())).unwrap();
    let error = call.await.unwrap().unwrap_err();
    assert_eq!(
        (error.code(), error.to_string()),
        ("tool_error", "the user left".into())
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_nobody_wants_is_taken_back() {
    let (client, _) = ClientTools::new("app", vec![ask()]);
    let context = context();
    let mut news = client.subscribe();
    let (asked, call) = calling(&client, context.clone()).await;
    context.cancel.cancel();
    assert!(matches!(call.await.unwrap(), Err(CallError::Aborted)));
    assert_eq!(
        news.recv().await.unwrap(),
        ClientNews::Called { call: asked.clone() }
    );
    assert_eq!(
        soon(news.recv()).await.unwrap(),
        ClientNews::Closed { id: asked.id.clone() }
    );
    let late = client.answer(&asked.id, Ok(text(json!(1))));
    assert_eq!(late, Err(AnswerError::Unknown { id: asked.id }));
}

#[tokio::test]
async fn a_call_of_a_cell_names_it_and_is_outside_until_it_is_answered() {
    let (client, _) = ClientTools::new("app", vec![ask()]);
    let (direct, _waits) = calling(&client, context()).await;
    let context = nested();
    let outside = context.cell.as_ref().unwrap().outside.clone();
    let (asked, call) = calling(&client, context).await;
    let expected = ClientCall {
        id: asked.id.clone(),
        tool: "ask".into(),
        arguments: text(json!({ "q": 1 })),
        cell: Some("cell-1".into()),
        number: 3,
    };
    assert_eq!(client.pending(), [direct.clone(), expected.clone()]);
    assert_eq!(client.pending_of("cell-1"), [expected]);
    assert_eq!(client.pending_of("cell-2"), []);
    assert_eq!((direct.cell, direct.number), (None, 0));

    assert_eq!(outside.calls(), [CallId(3)]);
    client.answer(&asked.id, Ok(text(json!(1)))).unwrap();
    assert_eq!(outside.calls(), [], "before its caller has seen the answer");
    call.await.unwrap().unwrap();
}

#[tokio::test]
async fn the_calls_of_a_cell_are_told_in_the_order_of_its_program() {
    let (client, _) = ClientTools::new("app", vec![ask()]);
    let mut waiting = Vec::new();
    for number in [5, 3, 4] {
        waiting.push(calling(&client, CallContext { number, ..nested() }).await);
    }
    let numbers: Vec<u32> = client
        .pending_of("cell-1")
        .iter()
        .map(|call| call.number)
        .collect();
    assert_eq!(numbers, [3, 4, 5]);
    let came: Vec<ClientCall> = waiting.into_iter().map(|(call, _)| call).collect();
    assert_eq!(client.pending(), came);
}

#[tokio::test]
async fn a_call_that_a_person_is_asked_about_is_not_outside_yet() {
    let (client, _) = ClientTools::new("app", vec![ask()]);
    let (approvals, mut news) = (Approvals::new(), client.subscribe());
    let (_route, mut questions) = (approvals.add_route(), approvals.subscribe());
    let (path, tool) = path_to(&client);
    let path = path
        .with_approvals(approvals.clone())
        .with_ask_rules(vec![AskRule {
            selectors: Restrictions::parse(&["client:app:ask"]).unwrap(),
            timeout: None,
            severity: Severity::Info,
        }]);
    let context = nested();
    let outside = context.cell.as_ref().unwrap().outside.clone();
    let call = tokio::spawn(async move { path.call(&tool, None, context).await });
    questions.recv().await.unwrap();
    assert_eq!((outside.calls(), client.pending()), (vec![], vec![]));
    let question = approvals.list().remove(0);
    approvals.decide(&question.id, Decision::AllowOnce).unwrap();
    news.recv().await.unwrap();
    assert_eq!(outside.calls(), [CallId(3)]);
    call.abort();
}

#[tokio::test]
async fn ids_are_random_and_safe_on_any_wire() {
    let (client, _) = ClientTools::new("app", vec![ask()]);
    let (first, _call) = calling(&client, context()).await;
    let (second, _call) = calling(&client, context()).await;
    for call in [&first, &second] {
        let digits = call.id.strip_prefix("call_").unwrap();
        assert!(
            digits.len() == 32 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()),
            "{digits}"
        );
    }
    assert_ne!(first.id, second.id);
}

#[tokio::test]
async fn several_calls_are_answered_together_or_not_at_all() {
    let (client, _) = ClientTools::new("app", vec![ask()]);
    let (done, call) = calling(&client, context()).await;
    client.answer(&done.id, Ok(text(json!(0)))).unwrap();
    call.await.unwrap().unwrap();
    let (first, one) = calling(&client, context()).await;
    let (second, two) = calling(&client, context()).await;
    let answers = |ids: &[&str]| {
        let answers = ids.iter().zip(1..);
        answers
            .map(|(id, n)| ((*id).to_owned(), Ok(text(json!(n)))))
            .collect()
    };
    let unknown = |id: &str| AnswerError::Unknown { id: id.into() };
    let answered = |id: &str| AnswerError::Answered { id: id.into() };
    let (a, b) = (&*first.id, &*second.id);
    for (ids, error) in [
        (&[a, "call_x"][..], unknown("call_x")),
        (&[a, &done.id, "call_x"], answered(&done.id)),
        (&[a, b, a], answered(a)),
        (&[""], unknown("")),
    ] {
        assert_eq!(client.answer_all(answers(ids)), Err(error), "{ids:?}");
        assert_eq!(client.pending(), [first.clone(), second.clone()], "{ids:?}");
    }
    client.answer_all(Vec::new()).unwrap();
    client.answer_all(answers(&[b, a])).unwrap();
    let value =
        async |call: JoinHandle<Result<Delivered, CallError>>| call.await.unwrap().unwrap().result.value;
    assert_eq!(
        (value(one).await, value(two).await),
        (Some(text(json!(2))), Some(text(json!(1))))
    );
    assert_eq!(client.answer_all(answers(&[a])), Err(answered(a)));
}

#[tokio::test]
async fn once_the_application_is_gone_its_calls_fail_as_aborted() {
    let (client, _) = ClientTools::new("app", vec![ask()]);
    let (asked, call) = calling(&client, context()).await;
    let mut news = client.subscribe();
    client.clone().close();
    assert_eq!(call.await.unwrap().unwrap_err().code(), "aborted");
    assert_eq!(
        news.recv().await.unwrap(),
        ClientNews::Closed { id: asked.id.clone() }
    );
    let late = client.answer(&asked.id, Ok(text(json!(1))));
    assert_eq!(late, Err(AnswerError::Unknown { id: asked.id }));
    let (path, tool) = path_to(&client);
    let refused = path.call(&tool, None, context()).await.unwrap_err();
    assert_eq!((refused.code(), client.pending()), ("aborted", vec![]));
    client.close();
}

#[test]
fn bad_definitions_are_refused_one_by_one() {
    let named = |name: &str| ToolDefinition {
        name: name.into(),
        ..ask()
    };
    let with = |change: fn(&mut ToolDefinition)| {
        let mut tool = named("odd");
        change(&mut tool);
        tool
    };
    for (bad, problem) in [
        (named(""), ClientToolProblem::Name),
        (named(" a"), ClientToolProblem::Name),
        (named("a\nb"), ClientToolProblem::Name),
        (named(&"x".repeat(129)), ClientToolProblem::LongName),
        (named("ask"), ClientToolProblem::Duplicate),
        (
            with(|tool| tool.description = "x".repeat(16_385)),
            ClientToolProblem::LongDescription,
        ),
        (
            with(|tool| tool.parameters = json!([])),
            ClientToolProblem::Parameters,
        ),
        (
            with(|tool| tool.parameters = json!({ "type": "string" })),
            ClientToolProblem::Parameters,
        ),
        (
            with(|tool| tool.output_schema = Some(json!("x"))),
            ClientToolProblem::OutputSchema,
        ),
        (
            with(|tool| tool.annotations = Some(json!([]))),
            ClientToolProblem::Annotations,
        ),
    ] {
        let (client, refused) = ClientTools::new("app", vec![ask(), bad, named("last")]);
        let problems: Vec<_> = refused.into_iter().map(|refused| refused.problem).collect();
        assert_eq!(problems, std::slice::from_ref(&problem));
        let names: Vec<String> = client.specs().into_iter().map(|spec| spec.name).collect();
        assert_eq!(names, ["ask", "last"], "{problem}");
    }
    let many = (0..513).map(|number| named(&number.to_string())).collect();
    let (client, refused) = ClientTools::new("app", many);
    assert_eq!(
        (client.specs().len(), refused[0].problem.clone()),
        (512, ClientToolProblem::TooMany)
    );
}
