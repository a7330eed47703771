//! What a turn may use.

use std::time::Duration;

use codecell_agent::Limits;

use crate::script::{calls, says};
use crate::world::{World, pass};

#[tokio::test(start_paused = true)]
async fn calls_of_the_last_round_are_refused() {
    let world = World::new().with_limits(Limits {
        rounds: 2,
        ..Limits::default()
    });
    let answers = [
        calls("c1", "echo"),
        calls("c2", "echo").call("c3", "no such tool"),
    ];
    world.play(answers).await.check(
        &[
            "round 1",
            "call c1 echo",
            "result c1: {}",
            "round 1 over",
            "round 2",
            "call c2 echo",
            "call c3 no such tool",
            "error c2: not run: the turn reached its limit of rounds (2, `maxRounds`)",
            "error c3: not run: the turn reached its limit of rounds (2, `maxRounds`)",
            "round 2 over",
            "ended limit: the turn reached its limit of rounds (2): raise `maxRounds` to allow more",
        ],
        &[
            "model: call c1",
            "result c1: {}",
            "model: call c2 + call c3",
            "error c2: not run: the turn reached its limit of rounds (2, `maxRounds`)",
            "error c3: not run: the turn reached its limit of rounds (2, `maxRounds`)",
        ],
    );
    assert_eq!(world.log.lines_with("starts"), ["c1 starts"]);
    assert_eq!(world.log.lines_with("kept error").len(), 2);
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_the_last_round_is_an_answer() {
    for (rounds, heard) in [
        (2, "ended done"),
        (
            0,
            "ended limit: the turn reached its limit of rounds (0): raise `maxRounds` to allow more",
        ),
    ] {
        let world = World::new().with_limits(Limits {
            rounds,
            ..Limits::default()
        });
        let played = world.play([calls("c1", "echo"), says("ok")]).await;
        assert_eq!(
            (played.heard.last().unwrap().as_str(), played.end.rounds),
            (heard, rounds)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn tokens_are_counted_after_each_round() {
    // Each answer costs ten.
    let used_up = "ended limit: the turn used 20 of 20 tokens: raise `maxTurnTokens` to allow more";
    let over = "ended limit: the turn used 20 of 11 tokens: raise `maxTurnTokens` to allow more";
    for (tokens, end, rounds) in [
        (Some(30), "ended done", 3),
        (Some(21), "ended done", 3),
        (Some(20), used_up, 2),
        (Some(11), over, 2),
        (None, "ended done", 3),
    ] {
        let world = World::new().with_limits(Limits {
            tokens,
            ..Limits::default()
        });
        let played = world
            .play([calls("c1", "echo"), calls("c2", "echo"), says("ok")])
            .await;
        assert_eq!(
            (played.heard.last().unwrap().as_str(), played.end.rounds),
            (end, rounds)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn time_that_is_up_stops_what_runs() {
    let late =
        "ended limit: the turn took longer than its limit of 10s: raise `timeoutSeconds` to allow more";
    let limits = Limits {
        time: Some(Duration::from_secs(10)),
        ..Limits::default()
    };
    let world = World::new().with_limits(limits);
    let played = world.play([calls("c1", "held").call("c2", "echo")]).await;
    played.check(
        &[
            "round 1",
            "call c1 held",
            "call c2 echo",
            "result c2: {}",
            "error c1: stopped in time",
            "round 1 over",
            late,
        ],
        &[
            "model: call c1 + call c2",
            "error c1: stopped in time",
            "result c2: {}",
        ],
    );

    let world = World::new().with_limits(limits);
    let played = world.play([says("so f").held()]).await;
    played.check(&["round 1", "text so f", late], &["model: so f"]);
    assert_eq!(played.end.text, "so f");
}

#[tokio::test(start_paused = true)]
async fn a_turn_within_its_time_is_not_stopped() {
    let world = World::new().with_limits(Limits {
        time: Some(Duration::from_secs(10)),
        ..Limits::default()
    });
    let mut playing = world.start([calls("c1", "held"), says("ok")]);
    playing.hear("call c1 held").await;
    pass(9).await;
    world.gates.release("c1");
    assert_eq!(playing.end().await.heard.last().unwrap(), "ended done");
}
