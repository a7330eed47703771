//! How the calls of one answer are carried out.

use codecell_agent::Limits;
use codecell_llm::Message;

use crate::script::{calls, nothing, says};
use crate::world::{World, pass, picture, show_messages};

#[tokio::test(start_paused = true)]
async fn calls_end_as_they_end_and_their_results_stand_in_order() {
    let world = World::new();
    let answer = calls("c1", "held").call("c2", "held").call("c3", "held");
    let mut playing = world.start([answer, says("ok")]);
    playing.hear("call c3 held").await;
    for (seconds, id) in [(3, "c3"), (2, "c1"), (1, "c2")] {
        pass(seconds).await;
        world.gates.release(id);
        playing.hear(&format!("result {id}: held no more")).await;
    }
    let played = playing.end().await;
    assert_eq!(
        show_messages(&played.end.messages),
        [
            "model: call c1 + call c2 + call c3",
            "result c1: held no more",
            "result c2: held no more",
            "result c3: held no more",
            "model: ok",
        ]
    );
    assert_eq!(
        world.log.lines_with("kept"),
        [
            "kept model: call c1 + call c2 + call c3",
            "kept result c3: held no more after 3000 ms",
            "kept result c1: held no more after 5000 ms",
            "kept result c2: held no more after 6000 ms",
            "kept model: ok",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn one_call_that_wants_to_be_alone_puts_its_batch_in_order() {
    let world = World::new();
    let mut playing = world.start([calls("c1", "held").call("c2", "alone").call("c3", "held")]);
    playing.hear("call c3 held").await;
    for (at, id) in ["c1", "c2", "c3"].into_iter().enumerate() {
        pass(1).await;
        assert_eq!(world.log.lines_with("starts").len(), at + 1);
        world.gates.release(id);
    }
    playing.end().await;
    assert_eq!(
        world.log.lines_with("starts"),
        ["c1 starts", "c2 starts", "c3 starts"]
    );
}

#[tokio::test(start_paused = true)]
async fn no_more_calls_run_at_once_than_allowed() {
    for (parallel_calls, at_once) in [(0, 1), (1, 1), (2, 2), (3, 3)] {
        let world = World::new().with_limits(Limits {
            parallel_calls,
            ..Limits::default()
        });
        let mut playing = world.start([calls("c1", "held").call("c2", "held").call("c3", "held")]);
        playing.hear("call c3 held").await;
        pass(1).await;
        assert_eq!(world.log.lines_with("starts").len(), at_once);
        for id in ["c1", "c2", "c3"] {
            world.gates.release(id);
        }
        playing.end().await;
        assert_eq!(world.log.lines_with("starts").len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn calls_that_cannot_be_made_are_answered_and_do_not_run() {
    let cases = [
        (
            "echo",
            "{\"a\":",
            "the arguments of `echo` are not a JSON object (EOF while parsing a value at line 1 column 5): \
             call it again with one",
        ),
        (
            "echo",
            "[]",
            "the arguments of `echo` are not a JSON object (invalid type: sequence, expected a map at line 1 \
             column 0): call it again with one",
        ),
        (
            "ecko",
            "{}",
            "Tool ecko not found: there are echo, picture, fail, held, alone, deaf, crash, client, client_twice, \
             client_alone",
        ),
    ];
    for (name, arguments, text) in cases {
        let world = World::new();
        let answer = nothing().call_with("c1", name, arguments).call("c2", "echo");
        let played = world.play([answer, says("ok")]).await;
        let error = format!("error c1: {text}");
        assert_eq!(
            show_messages(&played.end.messages),
            [
                "model: call c1 + call c2",
                error.as_str(),
                "result c2: {}",
                "model: ok"
            ]
        );
        assert_eq!(world.log.lines_with("starts"), ["c2 starts"]);
        assert_eq!(world.log.lines_with("c1:"), [format!("kept {error} after 0 ms")]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_crashes_costs_its_own_call() {
    let world = World::new();
    let played = world
        .play([calls("c1", "crash").call("c2", "echo"), says("ok")])
        .await;
    assert_eq!(
        show_messages(&played.end.messages),
        [
            "model: call c1 + call c2",
            "error c1: the tool crashed: that is a mistake in the tool, not in the call",
            "result c2: {}",
            "model: ok",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn arguments_reach_the_tool_as_they_are() {
    let exact = r#"{"z":18446744073709551615,"a":[1.5,null]}"#;
    let played = World::new()
        .play([nothing().call_with("c1", "echo", exact)])
        .await;
    assert_eq!(
        show_messages(&played.end.messages)[1],
        format!("result c1: {exact}")
    );
}

#[tokio::test(start_paused = true)]
async fn pictures_reach_the_model_with_the_text() {
    let played = World::new().play([calls("c1", "picture")]).await;
    let Message::ToolResult(result) = &played.end.messages[1] else {
        panic!("{:#?}", played.end.messages);
    };
    assert_eq!((result.text.as_str(), &result.images), ("see", &vec![picture()]));
}
