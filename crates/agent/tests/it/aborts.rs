//! A turn that is cancelled, and one that cannot be kept.

use std::time::Duration;

use crate::script::{Answer, calls, nothing, says, thinks};
use crate::world::{When, World, show_messages};

const CALLS: &str = "model: call c1 + call c2";
const C1: &str = "error c1: Operation aborted";
const INVALID: &str = "error c1: the arguments of `echo` are not a JSON object (invalid type: sequence, \
                       expected a map at line 1 column 0): call it again with one";
const KEPT_INVALID: &str = "kept error c1: the arguments of `echo` are not a JSON object (invalid type: sequence, \
                            expected a map at line 1 column 0): call it again with one after 0 ms";
const C2: &str = "error c2: Operation aborted";

/// When something happens, what the model says, which messages there are then, and a list of log lines.
type Case<When> = (
    When,
    Vec<Answer>,
    &'static [&'static str],
    &'static [&'static str],
);

#[tokio::test(start_paused = true)]
async fn a_cancelled_turn_stops_at_the_next_boundary() {
    let two = || nothing().call_with("c1", "echo", "[]").call("c2", "echo");
    let cases: Vec<Case<&str>> = vec![
        // While the answer arrives, it comes to its end; its calls are not looked at.
        (
            "said",
            vec![calls("c1", "echo").call("c2", "echo")],
            &[CALLS, C1, C2],
            &["looked", "starts"],
        ),
        // Before the first call is looked at.
        (
            "kept model: call c1 + call c2",
            vec![two()],
            &[CALLS, C1, C2],
            &["looked", "starts"],
        ),
        // Before the second call is looked at.
        (
            KEPT_INVALID,
            vec![two()],
            &[CALLS, INVALID, C2],
            &["looked", "starts"],
        ),
        // Before anything is carried out.
        (
            "looked at echo",
            vec![calls("c1", "echo").call("c2", "fail")],
            &[CALLS, C1, C2],
            &["starts"],
        ),
        // Between two calls that run one after the other.
        (
            "kept result c1: held no more after 0 ms",
            vec![calls("c1", "alone").call("c2", "echo")],
            &[CALLS, "result c1: held no more", C2],
            &["c2 starts"],
        ),
        // After the results, before the model is asked again.
        (
            "kept result c1: {} after 0 ms",
            vec![calls("c1", "echo"), says("never")],
            &["model: call c1", "result c1: {}"],
            &["kept model: never"],
        ),
    ];
    for (line, answers, said, never) in cases {
        let world = World::new().cancel_when(When::Line(line));
        world.gates.release("c1");
        let played = world.play(answers).await;
        assert_eq!(show_messages(&played.end.messages), said, "{line}");
        assert_eq!(played.heard.last().unwrap(), "ended aborted", "{line}");
        let after = world.log.lines();
        let after: Vec<_> = after.iter().skip_while(|other| *other != line).skip(1).collect();
        for word in never {
            assert!(
                after.iter().all(|other| !other.contains(word)),
                "{line}: {after:?}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_cancelled_before_it_begins_asks_nobody() {
    let world = World::new();
    world.cancel.cancel();
    world.play([says("never")]).await.check(&["ended aborted"], &[]);
    assert_eq!(world.log.lines(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_complete_counts_although_the_turn_is_cancelled() {
    let world = World::new().cancel_when(When::Line("said"));
    let played = world.play([says("done")]).await;
    played.check(
        &["round 1", "text done", "round 1 over", "ended done"],
        &["model: done"],
    );
}

#[tokio::test(start_paused = true)]
async fn what_was_said_before_the_turn_was_cancelled_is_kept_as_text() {
    for answer in [
        thinks("hm").text("so f").call("c1", "echo").held(),
        thinks("hm").text("so f").call("c1", "echo").deaf(),
    ] {
        let world = World::new().cancel_when(When::Line("holds on"));
        let before = tokio::time::Instant::now();
        let played = world.play([answer]).await;
        played.check(
            &[
                "round 1",
                "thinking hm",
                "text so f",
                "call c1 echo",
                "ended aborted",
            ],
            &["model: so f"],
        );
        assert_eq!((played.end.text.as_str(), played.end.rounds), ("so f", 0));
        assert_eq!(world.log.lines().last().unwrap(), "kept model: so f");
        assert!(
            before.elapsed() <= Duration::from_secs(3),
            "a deaf model is not waited for"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_stops_in_time_has_the_last_word_and_one_that_does_not_is_dropped() {
    let world = World::new();
    let mut playing = world.start([calls("c1", "deaf").call("c2", "held").call("c3", "echo")]);
    playing.hear("result c3: {}").await;
    world.cancel.cancel();
    let played = playing.end().await;
    assert_eq!(
        show_messages(&played.end.messages),
        [
            "model: call c1 + call c2 + call c3",
            C1,
            "error c2: stopped in time",
            "result c3: {}",
        ]
    );
    let lines = world.log.lines();
    let since = lines.iter().position(|line| line == "c2 starts").unwrap();
    assert_eq!(
        lines[since..],
        [
            "c2 starts",
            "c3 starts",
            "kept result c3: {} after 0 ms",
            "c2 is cancelled",
            "kept error c2: stopped in time after 0 ms",
            "c1 is dropped",
            "kept error c1: Operation aborted after 2000 ms",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_kept_ends_the_turn() {
    let full = "ended failed: the transcript cannot be written: disk full";
    let both = || calls("c1", "held").call("c2", "echo");
    let cases: Vec<Case<usize>> = vec![
        (0, vec![says("hi")], &["model: hi"], &[]),
        (0, vec![both()], &[CALLS, C1, C2], &[]),
        (0, vec![says("so f").lost()], &["model: so f"], &[]),
        (
            1,
            vec![both(), says("never")],
            &[CALLS, "error c1: stopped in time", "result c2: {}"],
            &["c1 starts", "c2 starts"],
        ),
    ];
    for (keeps, answers, said, starts) in cases {
        let mut world = World::new();
        world.keeps = keeps;
        let played = world.play(answers).await;
        assert_eq!(show_messages(&played.end.messages), said);
        assert_eq!(played.heard.last().unwrap(), full);
        assert_eq!(world.log.lines_with("starts"), starts);
        assert_eq!(world.log.lines_with("not kept").len(), 1, "it is not tried again");
    }
}
