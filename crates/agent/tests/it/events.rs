//! What a listener hears, and what it may do to a turn.

use std::time::Duration;

use codecell_agent::Limits;

use crate::script::{calls, says, thinks};
use crate::world::{When, World, pass, show_messages, show_stop};

#[tokio::test(start_paused = true)]
async fn a_turn_is_told_from_its_first_round_to_its_end() {
    let answers = [
        thinks("hm")
            .text("Let me see.")
            .call("c1", "echo")
            .call("c2", "fail"),
        says("Done ").text("that."),
    ];
    let played = World::new().play(answers).await;
    played.check(
        &[
            "round 1",
            "thinking hm",
            "text Let me see.",
            "call c1 echo",
            "call c2 fail",
            "result c1: {}",
            "error c2: it failed",
            "round 1 over",
            "round 2",
            "text Done ",
            "text that.",
            "round 2 over",
            "ended done",
        ],
        &[
            "model: (hm) + Let me see. + call c1 + call c2",
            "result c1: {}",
            "error c2: it failed",
            "model: Done  + that.",
        ],
    );
    assert_eq!((played.end.text.as_str(), played.end.rounds), ("Done that.", 2));
}

#[tokio::test(start_paused = true)]
async fn calls_that_come_all_at_once_are_told_before_they_end() {
    let mut world = World::new();
    world.tells_calls = false;
    let played = world.play([calls("c1", "echo"), says("ok")]).await;
    assert_eq!(played.heard[..3], ["round 1", "call c1 echo", "result c1: {}"]);
}

#[tokio::test(start_paused = true)]
async fn a_thing_is_kept_before_it_is_acted_upon_or_told() {
    let world = World::new();
    world.play([calls("c1", "echo"), says("ok")]).await;
    assert_eq!(
        world.log.lines(),
        [
            "checked anthropic-messages with 10 tools",
            "asked with \"auto\"",
            "said",
            "kept model: call c1",
            "looked at echo",
            "c1 starts",
            "kept result c1: {} after 0 ms",
            "checked anthropic-messages with 10 tools",
            "asked with \"auto\"",
            "said",
            "kept model: ok",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_slow_listener_slows_the_turn_and_misses_nothing() {
    let mut world = World::new();
    world.room = 1;
    let answers = [says("a").text("b").call("c1", "echo"), says("done")];
    let mut playing = world.start(answers.clone());
    pass(60).await;
    assert_eq!(
        world.log.lines_with("said"),
        ["said"],
        "one event is in the channel, the next one waits"
    );
    playing.hear("ended done").await;
    let slow = playing.end().await;
    let fast = World::new().play(answers).await;
    assert_eq!(slow.heard, fast.heard);
}

#[tokio::test(start_paused = true)]
async fn a_listener_that_leaves_ends_nothing() {
    let mut world = World::new();
    world.room = 1;
    let mut playing = world.start([says("a").call("c1", "held"), says("done")]);
    playing.hear("call c1 held").await;
    playing.leave();
    world.gates.release("c1");
    let end = playing.returned().await;
    assert_eq!(
        (show_stop(&end.stop).as_str(), end.text.as_str()),
        ("done", "done")
    );
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_has_to_stop_waits_for_no_listener_and_tells_it_all_the_same() {
    let late = Limits {
        time: Some(Duration::from_secs(5)),
        ..Limits::default()
    };
    let too_late = "limit: the turn took longer than its limit of 5s: raise `timeoutSeconds` to allow more";
    for (limits, stop) in [(Limits::default(), "aborted"), (late, too_late)] {
        let mut world = World::new().with_limits(limits);
        world.room = 1;
        let mut playing = world.start([says("a").text("b").call("c1", "held")]);
        pass(1).await;
        if stop == "aborted" {
            world.cancel.cancel();
        }
        let end = playing.returned().await;
        assert_eq!(show_stop(&end.stop), stop);
        assert_eq!(
            show_messages(&end.messages),
            ["model: a + b + call c1", "error c1: Operation aborted"]
        );
        let ended = format!("ended {stop}");
        assert_eq!(
            playing.rest().await,
            [
                "round 1",
                "text a",
                "text b",
                "call c1 held",
                "error c1: Operation aborted",
                "round 1 over",
                ended.as_str(),
            ]
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_told_late_is_told_in_order() {
    let mut world = World::new();
    world.room = 1;
    let mut playing = world.start([calls("c1", "echo").call("c2", "deaf").call("c3", "echo")]);
    playing.hear("call c3 echo").await;
    pass(1).await;
    world.cancel.cancel();
    pass(1).await;
    // Now there is room, while the call that does not stop has a second left.
    playing.hear("result c1: {}").await;
    let played = playing.end().await;
    assert_eq!(
        played.heard[4..],
        [
            "result c1: {}",
            "result c3: {}",
            "error c2: Operation aborted",
            "round 1 over",
            "ended aborted",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_model_is_not_asked_after_the_listener_took_too_long_to_hear_of_it() {
    let mut world = World::new();
    world.room = 1;
    let mut playing = world.start([calls("c1", "echo"), says("never")]);
    playing.hear("result c1: {}").await;
    pass(1).await;
    world.cancel.cancel();
    let played = playing.end().await;
    assert_eq!(played.heard[3..], ["round 1 over", "round 2", "ended aborted"]);
    assert_eq!(world.log.lines_with("asked").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_end_that_is_told_is_the_one_that_is_returned() {
    let world = World::new().cancel_when(When::Line("c1 starts"));
    let (events, mut listener) = tokio::sync::mpsc::channel(100);
    let end = world.turn([calls("c1", "held")]).run(events).await;
    let mut told = Vec::new();
    while let Some(event) = listener.recv().await {
        told.push(event);
    }
    let Some(codecell_agent::Event::Ended(last)) = told.pop() else {
        panic!("{told:#?}");
    };
    assert_eq!(format!("{last:?}"), format!("{end:?}"));
}
