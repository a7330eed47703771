use std::sync::Arc;

use codecell_catalog::Tool;
use codecell_tools::{
    AnswerError, CallContext, CallError, ClientCall, ClientNews, ClientToolProblem, ClientTools, Delivered,
    ExecutionPath, ToolDefinition, Toolbox,
};
use serde_json::json;
use tokio::task::JoinHandle;

use crate::{context, soon, text};

fn ask() -> ToolDefinition {
    ToolDefinition::new("ask", "Asks the user", json!({ "type": "object" }))
}

/// Makes a call and waits until the application hears of it.
async fn calling(
    client: &ClientTools,
    context: CallContext,
) -> (ClientCall, JoinHandle<Result<Delivered, CallError>>) {
    let mut news = client.subscribe();
    let toolbox = Toolbox::builder().client(client.clone()).build().unwrap();
    let tool = Arc::new(Tool::alone(toolbox.specs().remove(0)));
    let path = ExecutionPath::bare(Arc::new(toolbox));
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
