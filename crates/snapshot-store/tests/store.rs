//! What the store promises to whoever parks and resumes runs.

use std::time::{Duration, Instant};

use codecell_snapshot_store::{Parked, Scope, SnapshotStore, StoreFull, StoreLimits, TakeError};

const TTL: Duration = Duration::from_secs(900);

fn scope(agent: &str, session: &str, run: &str) -> Scope {
    Scope {
        agent: agent.into(),
        session: session.into(),
        run: run.into(),
    }
}

fn parked(companion: &'static str) -> Parked<&'static str> {
    Parked {
        image: companion.as_bytes().to_vec(),
        companion,
        ttl: TTL,
    }
}

#[test]
fn every_field_of_the_scope_must_match_and_an_absent_one_is_no_wildcard() {
    let now = Instant::now();
    let cases = [
        (scope("a", "s", "r"), None),
        (scope("", "s", "r"), Some(TakeError::OtherRun)),
        (scope("b", "s", "r"), Some(TakeError::OtherRun)),
        (scope("a", "s", ""), Some(TakeError::OtherRun)),
        (scope("a", "", "r"), Some(TakeError::OtherSession)),
        (scope("a", "t", "r"), Some(TakeError::OtherSession)),
    ];
    for (caller, refusal) in cases {
        let store = SnapshotStore::new(StoreLimits { runs: 1 });
        let id = store.put(scope("a", "s", "r"), parked("x"), now).unwrap();
        let taken = store
            .take(&caller, id.as_str(), now)
            .map(|(_, parked)| parked.companion);
        assert_eq!(taken.as_ref().err(), refusal.as_ref(), "{caller:?}");
        let again = store.take(&scope("a", "s", "r"), id.as_str(), now);
        assert_eq!(
            again.is_ok(),
            refusal.is_some(),
            "a refused take changes nothing: {caller:?}"
        );
    }
}

#[test]
fn what_is_parked_can_be_looked_at_and_removed_by_its_companion() {
    let store = SnapshotStore::new(StoreLimits { runs: 3 });
    let (mine, start) = (scope("a", "s", "r"), Instant::now());
    let ids = ["x", "y", "z"].map(|companion| store.put(mine.clone(), parked(companion), start).unwrap());
    let seen = |now: Instant| {
        let mut seen = store.look(now, |companion| *companion);
        seen.sort_unstable();
        seen
    };
    assert_eq!(seen(start), ["x", "y", "z"]);
    assert!(
        seen(start + TTL).is_empty(),
        "an expired run is not there any more"
    );
    let (lease, taken) = store.take(&mine, ids[0].as_str(), start).unwrap();
    assert_eq!(seen(start), ["y", "z"], "one that is resumed is with its caller");
    let removed = |which: &str| -> Vec<&str> {
        let removed = store.remove(|companion| *companion == which);
        removed.into_iter().map(|parked| parked.companion).collect()
    };
    assert!(removed("x").is_empty());
    assert_eq!(removed("y"), ["y"]);
    lease.park(taken, start);
    assert_eq!(seen(start), ["x", "z"]);
}

#[test]
fn a_run_expires_at_its_deadline_and_not_before() {
    let store = SnapshotStore::new(StoreLimits { runs: 2 });
    let (mine, start) = (scope("a", "s", "r"), Instant::now());
    let id = store.put(mine.clone(), parked("x"), start).unwrap();
    assert!(store.expire(start + TTL - Duration::from_nanos(1)).is_empty());
    assert_eq!(
        store.take(&mine, id.as_str(), start + TTL).unwrap_err(),
        TakeError::Unavailable
    );
    assert!(store.is_empty(), "an expired run does not keep its slot");

    store.put(mine, parked("y"), start).unwrap();
    let expired: Vec<_> = store
        .expire(start + TTL)
        .into_iter()
        .map(|parked| parked.companion)
        .collect();
    assert_eq!(expired, ["y"]);
}

#[test]
fn a_resume_keeps_its_name_and_its_slot_at_the_cap() {
    let store = SnapshotStore::new(StoreLimits { runs: 2 });
    let (mine, now) = (scope("a", "s", "r"), Instant::now());
    let first = store.put(mine.clone(), parked("1"), now).unwrap();
    store.put(mine.clone(), parked("2"), now).unwrap();

    let (lease, taken) = store.take(&mine, first.as_str(), now).unwrap();
    let (refusal, back) = store.put(mine.clone(), parked("3"), now).unwrap_err();
    assert_eq!((refusal, back.companion), (StoreFull, "3"));
    assert_eq!(
        store.take(&mine, first.as_str(), now).unwrap_err(),
        TakeError::Busy
    );
    assert_eq!(lease.id(), &first);
    lease.park(taken, now);

    let (lease, taken) = store.take(&mine, first.as_str(), now).unwrap();
    assert_eq!(taken.companion, "1");
    drop(lease);
    assert_eq!(store.len(), 1);
    store.put(mine, parked("4"), now).unwrap();
}

#[test]
fn of_fifty_callers_who_resume_one_run_exactly_one_wins() {
    let store = SnapshotStore::new(StoreLimits { runs: 64 });
    let (mine, now) = (scope("a", "s", "r"), Instant::now());
    let id = store.put(mine.clone(), parked("x"), now).unwrap();
    let outcomes: Vec<_> = std::thread::scope(|threads| {
        let callers: Vec<_> = (0..50)
            .map(|_| threads.spawn(|| store.take(&mine, id.as_str(), now).map(|(lease, _)| lease)))
            .collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    });
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1);
    for refusal in outcomes.into_iter().filter_map(Result::err) {
        assert_eq!(refusal, TakeError::Busy);
    }
}

#[test]
fn the_end_of_a_session_removes_its_parked_runs_and_no_others() {
    let store = SnapshotStore::new(StoreLimits { runs: 64 });
    let now = Instant::now();
    store.put(scope("a", "mine", "1"), parked("mine"), now).unwrap();
    store.put(scope("a", "other", "1"), parked("other"), now).unwrap();
    let ended: Vec<_> = store
        .end(|scope| scope.session == "mine")
        .into_iter()
        .map(|parked| parked.companion)
        .collect();
    assert_eq!(ended, ["mine"]);
    let rest: Vec<_> = store.clear().into_iter().map(|parked| parked.companion).collect();
    assert_eq!(rest, ["other"]);
}
