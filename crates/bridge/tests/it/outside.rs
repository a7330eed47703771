//! Runs that wait for somebody outside, who answers only once they are handed back.

use std::sync::Arc;
use std::time::Duration;

use codecell_bridge::{Call, Leg, NoticeKind, Parking, Replay, Report, Request, Wake};

use crate::{Script, Tools, call, cell, completed, ids, request, stop_after, wall};

const HOUR: u64 = 3_600_000;

/// Who hands a run back that makes these calls. Two of them run at once.
async fn check(calls: Vec<Call>, at_once: bool) {
    let mut wall = wall(&Arc::default(), Replay::Ordinary);
    let mut guest = Script::new(&wall, [(calls.clone(), Report::Pending)]);
    let start = tokio::time::Instant::now();
    let leg = wall.start(&mut guest, &cell(), &stop_after(HOUR)).await;
    assert_eq!(leg, Leg::Parked(Parking::PendingTools), "{calls:?}");
    assert_eq!(
        start.elapsed() < Duration::from_millis(HOUR / 2),
        at_once,
        "{calls:?}"
    );
    assert_eq!(wall.outstanding(), calls);
}

fn timer() -> Call {
    request(9, Request::Timer { ms: 1e9 })
}

#[tokio::test(start_paused = true)]
async fn a_run_that_waits_for_calls_outside_only_is_parked_at_once() {
    let cases = [
        vec![call(1, "outside")],
        vec![call(1, "outside"), call(2, "outside")],
        vec![call(1, "leaves:50")],
        vec![call(1, "leaves:50"), call(2, "leaves:70")],
        // The last ones get no slot before somebody outside answers.
        vec![call(1, "outside"), call(2, "outside"), call(3, "never")],
        vec![
            call(1, "outside"),
            call(2, "leaves:50"),
            call(3, "outside"),
            call(4, "after:1"),
        ],
        vec![call(1, "outside"), request(2, Request::Yield { reason: None })],
    ];
    for calls in cases {
        check(calls, true).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_something_here_can_wake_is_parked_at_the_deadline() {
    let cases = [
        vec![call(1, "never")],
        vec![call(1, "outside"), call(2, "never")],
        vec![call(1, "never"), call(2, "outside"), call(3, "outside")],
        vec![call(1, "outside"), timer()],
        vec![call(1, "outside"), call(2, "outside"), timer()],
    ];
    for calls in cases {
        check(calls, false).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_done_here_is_delivered_before_the_run_is_parked() {
    let tools = Arc::<Tools>::default();
    let mut wall = wall(&tools, Replay::Ordinary);
    // The third starts when the second has ended, and the program then makes a fourth.
    let first = vec![call(1, "outside"), call(2, "after:50"), call(3, "outside:50")];
    let mut guest = Script::new(
        &wall,
        [
            (first, Report::Pending),
            (vec![call(4, "after:1")], Report::Pending),
        ],
    );
    let leg = wall.start(&mut guest, &cell(), &stop_after(HOUR)).await;
    assert_eq!(leg, Leg::Parked(Parking::PendingTools));
    assert_eq!(ids(&guest.delivered), [2]);
    let left = [call(1, "outside"), call(3, "outside:50"), call(4, "after:1")];
    assert_eq!(wall.outstanding(), left);

    // An answer from outside wakes it, and frees the slot for what is here.
    assert_eq!(wall.wake(&stop_after(HOUR)).await, Wake::Ready);
    let mut restored = Script::new(&wall, [(vec![], Report::Pending), (vec![], Report::Pending)]);
    let leg = wall.resume(&mut restored, &stop_after(HOUR)).await;
    assert_eq!(leg, Leg::Parked(Parking::PendingTools));
    assert_eq!(ids(&restored.delivered), [3, 4]);
    assert_eq!(wall.outstanding(), [call(1, "outside")]);
}

#[tokio::test(start_paused = true)]
async fn the_last_timer_to_ring_parks_the_run() {
    let mut wall = wall(&Arc::default(), Replay::Ordinary);
    let calls = vec![call(1, "outside"), request(2, Request::Timer { ms: 50.0 })];
    let mut guest = Script::new(&wall, [(calls, Report::Pending), (vec![], Report::Pending)]);
    let start = tokio::time::Instant::now();
    let leg = wall.start(&mut guest, &cell(), &stop_after(HOUR)).await;
    assert_eq!(leg, Leg::Parked(Parking::PendingTools));
    assert_eq!(ids(&guest.delivered), [2]);
    assert!(start.elapsed() < Duration::from_millis(HOUR / 2));
}

#[tokio::test(start_paused = true)]
async fn a_call_outside_that_a_finished_program_left_behind_keeps_its_two_seconds() {
    let mut wall = wall(&Arc::default(), Replay::Ordinary);
    let calls = vec![call(1, "outside:1900"), call(2, "outside")];
    let mut guest = Script::new(&wall, [(calls, completed()), (vec![], Report::Idle)]);
    let leg = wall.start(&mut guest, &cell(), &stop_after(HOUR)).await;
    let Leg::Completed { notices, .. } = leg else {
        panic!("{leg:?}")
    };
    let told: Vec<_> = notices
        .iter()
        .map(|notice| (notice.kind, notice.tool.as_deref()))
        .collect();
    assert_eq!(told, [(NoticeKind::Cancelled, Some("outside"))]);
    assert_eq!(ids(&guest.delivered), [1]);
}

/// Real threads, so that answers come in every moment of the decision to park.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_answer_that_comes_while_the_run_is_being_parked_is_not_lost() {
    for _ in 0..2_000 {
        let mut wall = wall(&Arc::default(), Replay::Ordinary);
        let calls = (1..=4).map(|n| call(n, "outside:0")).collect();
        let waits = || std::iter::repeat_n((vec![], Report::Pending), 4);
        let mut guest = Script::new(&wall, std::iter::once((calls, Report::Pending)).chain(waits()));
        let stop = stop_after(HOUR);
        let mut leg = wall.start(&mut guest, &cell(), &stop).await;
        let mut delivered = guest.delivered;
        while leg == Leg::Parked(Parking::PendingTools) {
            assert_eq!(wall.wake(&stop).await, Wake::Ready);
            let mut restored = Script::new(&wall, waits());
            leg = wall.resume(&mut restored, &stop).await;
            delivered.append(&mut restored.delivered);
        }
        let mut ids = ids(&delivered);
        ids.sort_unstable();
        assert_eq!((leg, ids), (Leg::Stuck, vec![1, 2, 3, 4]));
    }
}
