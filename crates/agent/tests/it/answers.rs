//! What becomes of what the model says.

use codecell_agent::TurnEnd;
use codecell_llm::{Block, Message, StopReason, ToolCall, ToolChoice, ToolResult, Usage};

use crate::script::{Answer, COST, calls, nothing, says, thinks};
use crate::world::{World, show_messages, show_stop};

/// Checks the stop, the final text, the messages and the rounds.
fn check(end: &TurnEnd, stop: &str, text: &str, said: &[&str], rounds: u32) {
    let is = (
        show_stop(&end.stop),
        end.text.clone(),
        show_messages(&end.messages),
        end.rounds,
    );
    let said = said.iter().map(|line| (*line).to_owned()).collect();
    assert_eq!(is, (stop.to_owned(), text.to_owned(), said, rounds));
}

#[tokio::test(start_paused = true)]
async fn an_answer_ends_the_turn_as_it_stopped() {
    let refused = || StopReason::Refused("safety".into());
    let reset = "failed: the answer broke off: reset";
    let silent = "failed: the answer broke off: it ended without a last word";
    let cases: Vec<(Answer, &str, &str, &[&str])> = vec![
        (says("hi"), "done", "hi", &["model: hi"]),
        (nothing(), "done", "", &[]),
        (says(" \n"), "done", " \n", &[]),
        (thinks("hm"), "done", "", &[]),
        (
            says("hi").stops(StopReason::ToolUse),
            "done",
            "hi",
            &["model: hi"],
        ),
        (
            says("hi").stops(StopReason::Length),
            "length",
            "hi",
            &["model: hi"],
        ),
        (
            says("no").stops(refused()),
            "refused: safety",
            "no",
            &["model: no"],
        ),
        (nothing().stops(refused()), "refused: safety", "", &[]),
        (says("so f").lost(), reset, "so f", &["model: so f"]),
        (thinks("hm").lost(), reset, "", &[]),
        (says("so f").silent(), silent, "so f", &["model: so f"]),
    ];
    for (answer, stop, text, said) in cases {
        let rounds = u32::from(!stop.starts_with("failed"));
        let world = World::new();
        check(&world.play([answer]).await.end, stop, text, said, rounds);
    }
}

#[tokio::test(start_paused = true)]
async fn calls_run_only_when_the_answer_stopped_for_them() {
    let reset = "failed: the answer broke off: reset";
    let cases: Vec<(Answer, &str, &[&str])> = vec![
        (
            says("hi").call("c1", "echo").stops(StopReason::Length),
            "length",
            &["model: hi"],
        ),
        (
            says("hi").call("c1", "echo").stops(StopReason::Stop),
            "done",
            &["model: hi"],
        ),
        // Reasoning that led to a call is refused without it.
        (
            says("hi")
                .thinks("a")
                .call("c1", "echo")
                .stops(StopReason::Length),
            "length",
            &["model: hi"],
        ),
        (
            thinks("a")
                .text("hi")
                .call("c1", "echo")
                .stops(StopReason::Length),
            "length",
            &["model: (a) + hi"],
        ),
        (
            thinks("a").call("c1", "echo").stops(StopReason::Length),
            "length",
            &[],
        ),
        (says("hi").call("c1", "echo").lost(), reset, &["model: hi"]),
    ];
    for (answer, stop, said) in cases {
        let world = World::new();
        let played = world.play([answer]).await;
        assert_eq!(show_stop(&played.end.stop), stop);
        assert_eq!(show_messages(&played.end.messages), said);
        assert_eq!(world.log.lines_with("starts"), Vec::<String>::new());
        let kept = world.log.lines_with("kept model");
        assert!(kept.iter().all(|line| !line.contains("call")), "{kept:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_final_text_is_what_was_said_after_the_last_calls() {
    for (last, text) in [(says("done"), "done"), (nothing(), "")] {
        let answers = [says("let me see").call("c1", "echo"), last];
        assert_eq!(World::new().play(answers).await.end.text, text);
    }
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_the_model_had_the_last_word_in_is_not_answered() {
    let refused =
        "failed: there is nothing to answer: the last message must be the user's, or a tool's result";
    let assistant = Message::Assistant(vec![Block::Text("hi".into())]);
    for messages in [Vec::new(), vec![Message::user("go"), assistant]] {
        let mut world = World::new();
        world.request.messages = messages;
        let played = world.play([says("never")]).await;
        played.check(&[&format!("ended {refused}")], &[]);
        assert_eq!(world.log.lines(), Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_ends_with_results_goes_on() {
    let mut world = World::new();
    world.request.messages.extend([call("c1"), result("c1")]);
    check(
        &world.play([says("hi")]).await.end,
        "done",
        "hi",
        &["model: hi"],
        1,
    );
}

#[tokio::test(start_paused = true)]
async fn an_id_that_is_used_again_names_another_call() {
    let mut world = World::new();
    world
        .request
        .messages
        .extend([call("c"), result("c"), Message::user("again")]);
    let answers = [
        nothing()
            .call_with("c", "echo", r#"{"n":1}"#)
            .call_with("c", "echo", r#"{"n":2}"#),
        nothing()
            .call_with("c", "echo", r#"{"n":3}"#)
            .call_with("", "echo", r#"{"n":4}"#),
    ];
    let played = world.play(answers).await;
    let expected = [
        "model: call c_2 + call c_3",
        r#"result c_2: {"n":1}"#,
        r#"result c_3: {"n":2}"#,
        "model: call c_4 + call call",
        r#"result c_4: {"n":3}"#,
        r#"result call: {"n":4}"#,
    ];
    assert_eq!(show_messages(&played.end.messages), expected);
    let told: Vec<_> = played
        .heard
        .iter()
        .filter(|line| line.starts_with("call"))
        .collect();
    assert_eq!(
        told,
        [
            "call c_2 echo",
            "call c_3 echo",
            "call c_4 echo",
            "call call echo"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_body_that_the_surface_refuses_is_not_sent() {
    let mut world = World::new();
    world.guard = Err("a hosted tool is in it".into());
    let played = world.play([says("never")]).await;
    played.check(&["round 1", "ended failed: a hosted tool is in it"], &[]);
    assert_eq!(world.log.lines(), ["checked anthropic-messages with 10 tools"]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_must_call_a_tool_must_do_so_once() {
    let mut world = World::new();
    world.request.tool_choice = ToolChoice::Required;
    world.play([calls("c1", "echo"), says("ok")]).await;
    assert_eq!(
        world.log.lines_with("asked"),
        ["asked with \"any\"", "asked with \"auto\""]
    );
}

#[tokio::test(start_paused = true)]
async fn costs_are_added_those_of_an_answer_that_broke_off_too() {
    let played = World::new()
        .play([calls("c1", "echo"), says("so f").lost()])
        .await;
    let twice = Usage {
        input: 2 * COST.input,
        output: 2 * COST.output,
        cache_read: 2 * COST.cache_read,
        cache_write: 0,
    };
    assert_eq!((played.end.usage, played.end.rounds), (twice, 1));
}

fn call(id: &str) -> Message {
    Message::Assistant(vec![Block::ToolCall(ToolCall {
        id: id.into(),
        name: "echo".into(),
        arguments: String::new(),
        signature: None,
    })])
}

fn result(id: &str) -> Message {
    Message::ToolResult(ToolResult {
        call_id: id.into(),
        name: "echo".into(),
        text: "{}".into(),
        images: Vec::new(),
        is_error: false,
    })
}
