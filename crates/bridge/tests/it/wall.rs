//! The loop between a guest and its calls.

use std::sync::Arc;
use std::time::Duration;

use codecell_bridge::{
    Answer, CallId, Json, Leg, MAX_QUEUED_CALLS, Notice, NoticeKind, Output, Parking, Replay, Reply, Report,
    Request, Thrown, Wake,
};

use crate::{Script, Tools, call, cell, completed, done, ids, request, stop_after, wall};

#[tokio::test(start_paused = true)]
async fn answers_reach_the_guest_one_by_one_in_the_order_in_which_they_settle() {
    let mut wall = wall(&Arc::default(), Replay::Ordinary);
    let calls = vec![call(1, "after:300"), call(2, "after:20")];
    let mut guest = Script::new(
        &wall,
        [
            (calls, Report::Pending),
            (vec![], Report::Pending),
            (vec![], completed()),
        ],
    );
    assert_eq!(wall.start(&mut guest, &cell(), &stop_after(10_000)).await, done());
    assert_eq!(ids(&guest.delivered), [2, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_call_begins_where_it_is_made_and_ends_there_if_it_need_not_wait() {
    let tools = Arc::<Tools>::default();
    let mut wall = wall(&tools, Replay::Ordinary);
    let mut port = wall.port();
    for made in [call(1, "after:20"), call(2, "now")] {
        port.call(made).unwrap();
    }
    assert_eq!(*tools.started.lock().unwrap(), ["after:20", "now"]);
    let mut guest = Script::new(&wall, [(vec![], Report::Pending), (vec![], Report::Pending)]);
    // The runtime comes round to nothing before the first answer is delivered.
    let leg = wall.start(&mut guest, &cell(), &stop_after(10)).await;
    assert_eq!(leg, Leg::Parked(Parking::PendingTools));
    assert_eq!(ids(&guest.delivered), [2]);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_crashes_is_answered_like_any_other() {
    let mut wall = wall(&Arc::default(), Replay::Ordinary);
    let calls = vec![call(1, "crash"), call(2, "crash:10")];
    let entries = [
        (calls, Report::Pending),
        (vec![], Report::Pending),
        (vec![], completed()),
    ];
    let mut guest = Script::new(&wall, entries);
    assert_eq!(wall.start(&mut guest, &cell(), &stop_after(10_000)).await, done());
    let crashed = Thrown::error("internal_error", "the call crashed; its effect is unknown");
    let crashed = |id| Reply {
        id: CallId(id),
        answer: Answer::Error(crashed.clone()),
    };
    assert_eq!(guest.delivered, [crashed(1), crashed(2)]);
}

#[tokio::test(start_paused = true)]
async fn at_most_the_configured_number_of_calls_run_at_once_and_the_rest_queue_in_order() {
    let tools = Arc::<Tools>::default();
    let mut wall = wall(&tools, Replay::Ordinary);
    let calls = (1..=5).map(|n| call(n, &format!("after:{}", 100 + n))).collect();
    let mut guest = Script::new(&wall, [(calls, Report::Pending)]);
    let leg = wall.start(&mut guest, &cell(), &stop_after(50)).await;
    assert_eq!(leg, Leg::Parked(Parking::PendingTools));
    assert_eq!(*tools.started.lock().unwrap(), ["after:101", "after:102"]);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let all = ["after:101", "after:102", "after:103", "after:104", "after:105"];
    assert_eq!(
        *tools.started.lock().unwrap(),
        all,
        "calls go on while the run is parked"
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_beyond_the_queue_is_rejected_and_the_others_are_not() {
    let mut wall = wall(&Arc::default(), Replay::Ordinary);
    let calls = (0..=MAX_QUEUED_CALLS as u32 + 2)
        .map(|n| call(n, "never"))
        .collect();
    let mut guest = Script::new(
        &wall,
        [(
            calls,
            Report::Failed {
                error: Thrown::default(),
            },
        )],
    );
    let _ = wall.start(&mut guest, &cell(), &stop_after(1_000)).await;
    let codes: Vec<_> = guest
        .refused
        .iter()
        .map(|thrown| thrown.code.as_deref())
        .collect();
    assert_eq!(codes, [Some("queue_full")]);
    assert_eq!(wall.outstanding().len(), MAX_QUEUED_CALLS + 2);
}

#[tokio::test(start_paused = true)]
async fn a_program_that_waits_for_nothing_is_stuck_at_once() {
    let mut wall = wall(&Arc::default(), Replay::Ordinary);
    let mut guest = Script::new(&wall, [(vec![], Report::Pending)]);
    assert_eq!(
        wall.start(&mut guest, &cell(), &stop_after(1_000)).await,
        Leg::Stuck
    );
}

#[tokio::test(start_paused = true)]
async fn why_a_run_parks_depends_on_what_it_waits_for() {
    let yields = || {
        request(
            1,
            Request::Yield {
                reason: Some("look".into()),
            },
        )
    };
    let timer = || request(2, Request::Timer { ms: 60_000.0 });
    let cases = [
        (vec![yields()], Parking::Yield),
        (vec![yields(), call(3, "never")], Parking::PendingTools),
        (vec![timer()], Parking::PendingTools),
        (vec![call(3, "never")], Parking::PendingTools),
    ];
    for (calls, parking) in cases {
        let mut wall = wall(&Arc::default(), Replay::Ordinary);
        let mut guest = Script::new(&wall, [(calls.clone(), Report::Pending)]);
        let leg = wall.start(&mut guest, &cell(), &stop_after(500)).await;
        assert_eq!(leg, Leg::Parked(parking), "{calls:?}");
        assert_eq!(wall.outstanding(), calls);
    }
}

#[tokio::test(start_paused = true)]
async fn a_resume_answers_the_yield_and_whatever_settled_meanwhile() {
    let mut wall = wall(&Arc::default(), Replay::Ordinary);
    let calls = vec![
        request(
            1,
            Request::Yield {
                reason: Some("look".into()),
            },
        ),
        call(2, "after:40"),
    ];
    let mut guest = Script::new(&wall, [(calls, Report::Pending)]);
    assert_eq!(
        wall.start(&mut guest, &cell(), &stop_after(500)).await,
        Leg::Parked(Parking::PendingTools)
    );
    tokio::time::sleep(Duration::from_millis(100)).await;

    let mut restored = Script::new(&wall, [(vec![], completed())]);
    assert_eq!(wall.wake(&stop_after(500)).await, Wake::Ready);
    assert_eq!(wall.resume(&mut restored, &stop_after(500)).await, done());
    let expected = [
        Reply {
            id: CallId(1),
            answer: Answer::Ok(Json::parse(r#"{"status":"yielded","reason":"look"}"#).unwrap()),
        },
        Reply {
            id: CallId(2),
            answer: Answer::Ok(Json::parse(r#""after:40""#).unwrap()),
        },
    ];
    assert_eq!(restored.delivered, expected);
}

#[tokio::test(start_paused = true)]
async fn a_parked_run_wakes_for_an_answer_a_cancellation_or_not_at_all() {
    let mut wall = wall(&Arc::default(), Replay::Ordinary);
    let mut guest = Script::new(&wall, [(vec![call(1, "after:1000")], Report::Pending)]);
    let _ = wall.start(&mut guest, &cell(), &stop_after(100)).await;
    assert_eq!(wall.wake(&stop_after(100)).await, Wake::NotYet);
    let cancelled = stop_after(100);
    cancelled.cancel.cancel();
    assert_eq!(wall.wake(&cancelled).await, Wake::Cancelled);
    assert_eq!(wall.wake(&stop_after(5_000)).await, Wake::Ready);
    assert_eq!(
        wall.wake(&stop_after(100)).await,
        Wake::Ready,
        "an answer is kept until it is delivered"
    );
}

#[tokio::test(start_paused = true)]
async fn what_a_finished_program_left_behind_is_drained_for_two_seconds_and_then_cancelled() {
    let tools = Arc::<Tools>::default();
    let mut wall = wall(&tools, Replay::Ordinary);
    let calls = vec![
        call(1, "after:1900"),
        call(2, "never"),
        request(3, Request::Timer { ms: 1e9 }),
    ];
    let mut guest = Script::new(&wall, [(calls, completed()), (vec![], Report::Idle)]);
    let start = tokio::time::Instant::now();
    let leg = wall.start(&mut guest, &cell(), &stop_after(10_000)).await;
    let Leg::Completed { notices, .. } = leg else {
        panic!("{leg:?}")
    };
    let told: Vec<_> = notices
        .iter()
        .map(|notice| (notice.kind, notice.tool.as_deref(), notice.position))
        .collect();
    assert_eq!(told, [(NoticeKind::Cancelled, Some("never"), Some((2, 1)))]);
    assert_eq!(ids(&guest.delivered), [1]);
    assert!(start.elapsed() <= Duration::from_millis(2_001));
    tokio::task::yield_now().await;
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(*tools.cancelled.lock().unwrap(), ["never"]);
}

#[tokio::test(start_paused = true)]
async fn an_unawaited_failure_names_its_tool_and_another_rejection_does_not() {
    let mut wall = wall(&Arc::default(), Replay::Ordinary);
    let mut guest = Script::new(
        &wall,
        [(vec![call(7, "fail:10")], completed()), (vec![], Report::Idle)],
    );
    guest.unhandled = vec![Thrown::error("tool_error", "fail:10"), Thrown::type_error("mine")];
    let leg = wall.start(&mut guest, &cell(), &stop_after(10_000)).await;
    let expected = vec![
        Notice {
            kind: NoticeKind::UnawaitedFailure,
            tool: Some("fail:10".into()),
            message: "fail:10".into(),
            position: Some((7, 1)),
        },
        Notice {
            kind: NoticeKind::UnhandledRejection,
            tool: None,
            message: "TypeError: mine".into(),
            position: None,
        },
    ];
    assert_eq!(
        leg,
        Leg::Completed {
            value: Json::null(),
            notices: expected
        }
    );
}

#[tokio::test(start_paused = true)]
async fn a_restart_safe_cell_is_judged_before_any_call_starts_and_never_drained() {
    let tools = Arc::<Tools>::default();
    let mut refused = wall(&tools, Replay::SafeOnly);
    let calls = vec![call(1, "after:1"), call(2, "fail:1")];
    let mut guest = Script::new(&refused, [(calls, Report::Pending)]);
    let leg = refused.start(&mut guest, &cell(), &stop_after(1_000)).await;
    assert_eq!(leg, Leg::Refused("fail:1 is not replay-safe".into()));
    assert!(tools.started.lock().unwrap().is_empty());

    let mut safe = wall(&tools, Replay::SafeOnly);
    let mut guest = Script::new(&safe, [(vec![call(1, "after:1")], Report::Pending)]);
    let leg = safe.start(&mut guest, &cell(), &stop_after(1_000)).await;
    assert_eq!(leg, Leg::Parked(Parking::PendingTools));
    let mut restored = Script::new(&safe, [(vec![], completed())]);
    assert_eq!(safe.wake(&stop_after(1_000)).await, Wake::Ready);
    assert_eq!(safe.resume(&mut restored, &stop_after(1_000)).await, done());
}

#[tokio::test(start_paused = true)]
async fn dropping_the_wall_cancels_its_calls() {
    let tools = Arc::<Tools>::default();
    let mut wall = wall(&tools, Replay::Ordinary);
    let mut guest = Script::new(&wall, [(vec![call(1, "never")], Report::Pending)]);
    let _ = wall.start(&mut guest, &cell(), &stop_after(100)).await;
    drop((wall, guest));
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(*tools.cancelled.lock().unwrap(), ["never"]);
}

#[tokio::test(start_paused = true)]
async fn a_value_that_does_not_fit_beside_the_output_fails_and_the_output_stays() {
    let mut wall = wall(&Arc::default(), Replay::Ordinary);
    let value = Json::of(&"v".repeat(900)).unwrap();
    let mut guest = Script::new(&wall, [(vec![], Report::Completed { value })]);
    guest
        .port
        .output(Output::Text {
            text: "o".repeat(200),
        })
        .unwrap();
    assert_eq!(
        wall.start(&mut guest, &cell(), &stop_after(100)).await,
        Leg::OutputLimit
    );
    let taken = wall.take_output();
    assert_eq!((taken.entries.len(), taken.left_out, taken.limit), (2, 902, 1024));
}
