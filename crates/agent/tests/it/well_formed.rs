//! Whatever happens, a provider takes the conversation back.

use std::time::Duration;

use codecell_agent::{Limits, Stop, TurnEnd, TurnError};
use codecell_llm::{Block, Message, StopReason};
use proptest::prelude::*;

use crate::script::{Answer, nothing};
use crate::world::{Gates, TOOLS, When, World};

/// Ids of which some come twice.
const IDS: [&str; 4] = ["a", "b", "call_0", ""];

fn answer() -> impl Strategy<Value = Answer> {
    let call = (0..IDS.len(), 0..=TOOLS.len(), prop::bool::weighted(0.9));
    let calls = prop::collection::vec(call, 0..5);
    let end = prop_oneof![
        12 => Just(None),
        1 => Just(Some("length")),
        1 => Just(Some("refused")),
        1 => Just(Some("held")),
        1 => Just(Some("deaf")),
        1 => Just(Some("lost")),
        1 => Just(Some("silent")),
    ];
    (any::<bool>(), calls, end).prop_map(|(text, calls, end)| {
        let mut answer = if text { nothing().text("hm") } else { nothing() };
        for (id, name, valid) in calls {
            let name = TOOLS.get(name).unwrap_or(&"none");
            answer = answer.call_with(IDS[id], name, if valid { "{}" } else { "{" });
        }
        match end {
            Some("length") => answer.stops(StopReason::Length),
            Some("refused") => answer.stops(StopReason::Refused(String::new())),
            Some("held") => answer.held(),
            Some("deaf") => answer.deaf(),
            Some("lost") => answer.lost(),
            Some("silent") => answer.silent(),
            _ => answer,
        }
    })
}

fn limits() -> impl Strategy<Value = Limits> {
    let tokens = prop::option::of(1..100_u64);
    (0..6_u32, tokens, 0..4_usize).prop_map(|(rounds, tokens, parallel_calls)| Limits {
        rounds,
        tokens,
        // Some tools and models never stop by themselves.
        time: Some(Duration::from_secs(60)),
        parallel_calls,
    })
}

/// Each call is followed by its result, in order, and its id is used once; no result is without its call.
fn check(end: &TurnEnd) {
    let mut ids = std::collections::HashSet::new();
    let mut messages = end.messages.iter();
    while let Some(message) = messages.next() {
        let Message::Assistant(blocks) = message else {
            panic!("{message:?} does not belong there");
        };
        assert!(!blocks.is_empty());
        for block in blocks {
            let Block::ToolCall(call) = block else { continue };
            assert!(ids.insert(&call.id), "{} names two calls", call.id);
            let Some(Message::ToolResult(result)) = messages.next() else {
                panic!("no result of {}", call.id);
            };
            assert_eq!((&result.call_id, &result.name), (&call.id, &call.name));
        }
    }
}

/// `Ended` is the last event, and each call that is told to end was told to start.
fn check_events(heard: &[String], end: &TurnEnd) {
    let ends = heard.iter().filter(|line| line.starts_with("ended")).count();
    assert_eq!(ends, 1);
    assert!(heard.last().is_some_and(|last| last.starts_with("ended")));
    let results = end
        .messages
        .iter()
        .filter(|message| matches!(message, Message::ToolResult(_)));
    let told = heard
        .iter()
        .filter(|line| line.starts_with("result ") || line.starts_with("error "));
    assert_eq!(told.count(), results.count());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_call_is_followed_by_its_result_whatever_happens(
        answers in prop::collection::vec(answer(), 0..6),
        limits in limits(),
        cancelled_at in prop::option::of(1..60_usize),
        keeps in prop_oneof![3 => Just(usize::MAX), 1 => 0..12_usize],
        open in any::<bool>(),
        tells_calls in any::<bool>(),
        room in prop_oneof![Just(1_usize), Just(1000)],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        runtime.unwrap().block_on(async {
            let mut world = World::new().with_limits(limits);
            if let Some(count) = cancelled_at {
                world = world.cancel_when(When::Count(count));
            }
            world.keeps = keeps;
            world.tells_calls = tells_calls;
            world.room = room;
            if open {
                world.gates = Gates::open();
            }
            // A turn that waits for an application which never answers ends when it is cancelled.
            let late = world.cancel.clone();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_secs(3600)).await;
                late.cancel();
            });
            let played = world.play(answers).await;
            check(&played.end);
            check_events(&played.heard, &played.end);
            let not_kept = matches!(played.end.stop, Stop::Failed(TurnError::Journal(_)));
            prop_assert_eq!(not_kept, !world.log.lines_with("not kept").is_empty());
            Ok(())
        })?;
    }
}
