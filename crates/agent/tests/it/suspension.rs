//! Calls that wait for the application.

use std::time::Duration;

use codecell_agent::Limits;

use crate::script::{calls, says};
use crate::world::{World, pass};

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_the_application_and_goes_on() {
    let world = World::new();
    let mut playing = world.start([calls("c1", "client"), says("ok")]);
    playing.hear("suspended c1/1").await;
    pass(3).await;
    world.gates.release("c1");
    playing.end().await.check(
        &[
            "round 1",
            "call c1 client",
            "suspended c1/1",
            "resumed",
            "result c1: answered 1 times",
            "round 1 over",
            "round 2",
            "text ok",
            "round 2 over",
            "ended done",
        ],
        &["model: call c1", "result c1: answered 1 times", "model: ok"],
    );
    assert_eq!(
        world.log.lines_with("kept result"),
        ["kept result c1: answered 1 times after 3000 ms"]
    );
}

#[tokio::test(start_paused = true)]
async fn the_application_is_asked_when_nothing_else_runs_and_for_all_at_once() {
    let world = World::new().with_limits(Limits {
        parallel_calls: 1,
        ..Limits::default()
    });
    let answer = calls("c1", "client").call("c2", "held").call("c3", "client");
    let mut playing = world.start([answer, says("ok")]);
    playing.hear("call c3 client").await;
    pass(1).await;
    world.gates.release("c2");
    playing.hear("suspended c1/1 c3/1").await;
    for id in ["c3", "c1"] {
        world.gates.release(id);
        pass(1).await;
    }
    playing.end().await.check(
        &[
            "round 1",
            "call c1 client",
            "call c2 held",
            "call c3 client",
            "result c2: held no more",
            "suspended c1/1 c3/1",
            "resumed",
            "result c3: answered 1 times",
            "result c1: answered 1 times",
            "round 1 over",
            "round 2",
            "text ok",
            "round 2 over",
            "ended done",
        ],
        &[
            "model: call c1 + call c2 + call c3",
            "result c1: answered 1 times",
            "result c2: held no more",
            "result c3: answered 1 times",
            "model: ok",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_again_is_handed_over_when_all_others_have_moved() {
    let world = World::new();
    let mut playing = world.start([calls("c1", "client_twice").call("c2", "client_twice"), says("ok")]);
    playing.hear("suspended c1/1 c2/1").await;
    world.gates.release("c2");
    playing.hear("resumed").await;
    pass(1).await;
    world.gates.release("c1");
    playing.hear("suspended c1/2 c2/2").await;
    world.gates.release("c2");
    playing.hear("result c2: answered 2 times").await;
    world.gates.release("c1");
    playing.end().await.check(
        &[
            "round 1",
            "call c1 client_twice",
            "call c2 client_twice",
            "suspended c1/1 c2/1",
            "resumed",
            "suspended c1/2 c2/2",
            "resumed",
            "result c2: answered 2 times",
            "result c1: answered 2 times",
            "round 1 over",
            "round 2",
            "text ok",
            "round 2 over",
            "ended done",
        ],
        &[
            "model: call c1 + call c2",
            "result c1: answered 2 times",
            "result c2: answered 2 times",
            "model: ok",
        ],
    );
}

#[tokio::test(start_paused = true)]
async fn in_a_batch_in_order_a_call_that_waits_keeps_the_next_one_waiting() {
    let world = World::new();
    let mut playing = world.start([calls("c1", "client_alone").call("c2", "client"), says("ok")]);
    for (id, other) in [("c1", "c2"), ("c2", "c1")] {
        playing.hear(&format!("suspended {id}/1")).await;
        assert_eq!(
            world.log.lines().contains(&format!("{other} starts")),
            other == "c1"
        );
        world.gates.release(id);
    }
    let played = playing.end().await;
    assert_eq!(
        played.heard[3..10],
        [
            "suspended c1/1",
            "resumed",
            "result c1: answered 1 times",
            "suspended c2/1",
            "resumed",
            "result c2: answered 1 times",
            "round 1 over",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_waits_can_be_cancelled_at_once() {
    let world = World::new();
    let mut playing = world.start([calls("c1", "client").call("c2", "client_twice")]);
    playing.hear("suspended c1/1 c2/1").await;
    let before = tokio::time::Instant::now();
    world.cancel.cancel();
    playing.end().await.check(
        &[
            "round 1",
            "call c1 client",
            "call c2 client_twice",
            "suspended c1/1 c2/1",
            "error c1: Operation aborted",
            "error c2: Operation aborted",
            "round 1 over",
            "ended aborted",
        ],
        &[
            "model: call c1 + call c2",
            "error c1: Operation aborted",
            "error c2: Operation aborted",
        ],
    );
    assert_eq!(before.elapsed(), Duration::ZERO, "nobody is waited for");
    let mut dropped = world.log.lines_with("dropped");
    dropped.sort();
    assert_eq!(dropped, ["c1 is dropped", "c2 is dropped"]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_went_on_is_told_to_stop_like_any_other() {
    let world = World::new();
    let mut playing = world.start([calls("c1", "client").call("c2", "client")]);
    playing.hear("suspended c1/1 c2/1").await;
    world.gates.release("c1");
    playing.hear("result c1: answered 1 times").await;
    world.cancel.cancel();
    let played = playing.end().await;
    assert_eq!(
        played.heard[5..],
        [
            "result c1: answered 1 times",
            "error c2: Operation aborted",
            "round 1 over",
            "ended aborted"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn waiting_for_the_application_takes_none_of_the_time() {
    let world = World::new().with_limits(Limits {
        time: Some(Duration::from_secs(10)),
        ..Limits::default()
    });
    let mut playing = world.start([
        calls("c1", "client_twice").call("c2", "held"),
        calls("c3", "held"),
    ]);
    playing.hear("call c2 held").await;
    pass(6).await;
    world.gates.release("c2");
    for time in 1..=2 {
        playing.hear(&format!("suspended c1/{time}")).await;
        pass(3600).await;
        world.gates.release("c1");
    }
    playing.hear("call c3 held").await;
    let before = tokio::time::Instant::now();
    let played = playing.end().await;
    assert_eq!(
        before.elapsed(),
        Duration::from_secs(4),
        "six of ten seconds were gone"
    );
    assert_eq!(
        played.heard.last().unwrap(),
        "ended limit: the turn took longer than its limit of 10s: raise `timeoutSeconds` to allow more"
    );
}
