//! Servers that break over a call.
use std::time::Duration;

use codecell_gateway::upstream::{CallError, CallOptions, State, UpstreamOptions, Upstreams};
use futures_util::{StreamExt, future::join_all, stream::FuturesUnordered};
use rustix::process::{Pid, Signal, kill_process};
use tokio_util::sync::CancellationToken;

use crate::{
    scripted::{Scripted, call, call_with, told},
    support::{alive, collector, eventually, options, settled, until, view},
};

const WELL: &str = r#"{"content":[]}"#;

/// Time for calls that nothing ends but time.
const HASTY: Duration = Duration::from_millis(500);

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_answered_wrongly_ends_as_it_must_and_the_next_one_is_fine() {
    let late = "in doubt: MCP server `%` did not answer `tools/call` within 3000 ms; it was told to cancel";
    let faults = [
        (
            "answers twice",
            r#"fault() { answer '{"content":["a"]}'; answer '{"content":["b"]}'; }"#,
            r#"{"content":["a"]}"#,
        ),
        (
            "answers with result and error",
            r#"fault() { say "{\"id\":$id,\"result\":{},\"error\":{\"code\":1,\"message\":\"both\"}}"; }"#,
            "MCP server `%` refused `tools/call`: both (code 1)",
        ),
        (
            "fails without a code",
            r#"fault() { say "{\"id\":$id,\"error\":\"oops\"}"; }"#,
            "MCP server `%` refused `tools/call`: \"oops\" (code 0)",
        ),
        (
            "writes the number as a text",
            r#"fault() { id="\"$id\""; well; }"#,
            WELL,
        ),
        (
            "answers in a batch",
            r#"fault() { say "[{\"id\":4711,\"result\":{}},{\"id\":$id,\"result\":{\"content\":[]}}]"; }"#,
            WELL,
        ),
        ("answers nothing", "fault() { :; }", late),
        ("answers somebody else", "fault() { id=4711; well; }", late),
        ("answers nobody", "fault() { id=null; well; }", late),
        (
            "answers a number that is none",
            "fault() { id=1e999; well; }",
            late,
        ),
        ("answers with garbage", "fault() { say '<html>'; }", late),
        (
            "answers with half a message",
            r#"fault() { say "{\"id\":$id,\"result\":"; }"#,
            late,
        ),
        (
            "answers with neither result nor error",
            r#"fault() { say "{\"id\":$id}"; }"#,
            late,
        ),
    ];
    let servers: Vec<Scripted> = faults
        .iter()
        .map(|(_, script, _)| Scripted::new(script))
        .collect();
    let configs = faults.iter().zip(&servers);
    let configs = configs.map(|((name, ..), server)| server.hasty(name, Duration::from_secs(3)));
    let upstreams = settled(configs.collect(), options()).await;
    let first = join_all(faults.map(|(name, ..)| call(&upstreams, name))).await;
    for (((name, _, expected), server), outcome) in faults.iter().zip(&servers).zip(first) {
        assert_eq!(told(outcome), expected.replace('%', name), "{name}");
        if *expected == late {
            server.until("cancelled").await;
        }
        assert_eq!(told(call(&upstreams, name).await), WELL, "{name}");
        assert_eq!(server.processes().len(), 1, "{name}: the connection is fine");
    }
    upstreams.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_breaks_over_a_call_is_told_at_once_and_back_for_the_next() {
    let faults = [
        ("dies", "fault() { exit 3; }", "exited with status 3"),
        ("is killed", "fault() { kill -9 $$; }", "was killed by signal 9"),
        (
            "dies in the middle of its answer",
            r#"fault() { printf '{"jsonrpc":"2.0","id":'; exit 0; }"#,
            "exited with status 0",
        ),
        (
            "closes its output and stays",
            "fault() { exec >&-; }",
            "closed its output",
        ),
        (
            "dies while a child of it holds its output",
            "fault() { sleep 1000 & exit 4; }",
            "exited with status 4",
        ),
    ];
    let servers: Vec<Scripted> = faults
        .iter()
        .map(|(_, script, _)| Scripted::new(script))
        .collect();
    let configs = faults
        .iter()
        .zip(&servers)
        .map(|((name, ..), server)| server.config(name));
    let upstreams = settled(configs.collect(), options()).await;
    for ((name, _, reason), server) in faults.iter().zip(&servers) {
        let expected = format!(
            "in doubt: MCP server `{name}` {reason} while the request was running (`tools/call`); its effect is in doubt, so check before repeating it"
        );
        assert_eq!(told(call(&upstreams, name).await), expected, "{name}");
        assert_eq!(told(call(&upstreams, name).await), WELL, "{name}");
        let processes = server.processes();
        assert_eq!(processes.len(), 2, "{name}");
        eventually(name, || !alive(processes[0])).await;
    }
    upstreams.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn floods_are_drained_and_only_their_end_is_kept() {
    let floods = [
        (
            "20 MiB on standard error",
            "fault() { flood 20971520 >&2; well; }",
        ),
        (
            "a million lines on standard error",
            "fault() { yes 'a line of no use' | head -n 1000000 >&2; well; }",
        ),
        (
            "a line of 20 MiB on standard output",
            "fault() { flood 20971520; echo; well; }",
        ),
        (
            "ten thousand lines on standard output",
            "fault() { yes 'no message' | head -n 10000; well; }",
        ),
    ];
    for (name, script) in floods {
        let server = Scripted::new(script);
        let upstreams = settled(vec![server.config(name)], options()).await;
        assert_eq!(told(call(&upstreams, name).await), WELL, "{name}");
        assert!(view(&upstreams, name).stderr_tail.len() < 3_000, "{name}");
        upstreams.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_line_over_the_limit_that_names_no_call_fails_those_that_wait_and_no_later_one() {
    let server = Scripted::new("fault() { flood 2000000; echo; }");
    let options = UpstreamOptions {
        max_message_bytes: 1_000_000,
        ..options()
    };
    let upstreams = settled(vec![server.config("fake")], options).await;
    assert_eq!(
        told(call(&upstreams, "fake").await),
        "in doubt: the answer for `tools/call` of MCP server `fake` has 2000000 bytes, at most 1000000 are taken"
    );
    assert_eq!(told(call(&upstreams, "fake").await), WELL);
    assert_eq!(server.processes().len(), 1, "the connection is fine");
    upstreams.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_without_end_prolongs_a_call_ten_times_at_most() {
    let script = r#"
        fault() {
          while :; do
            say "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":$id,\"progress\":1}}"
          done
        }
    "#;
    let server = Scripted::new(script);
    let upstreams = settled(vec![server.hasty("fake", HASTY)], options()).await;
    let (progress, seen) = collector();
    let options = CallOptions {
        progress: Some(progress),
        ..CallOptions::default()
    };
    let error = call_with(&upstreams, "fake", "{}", options).await.unwrap_err();
    assert!(matches!(error, CallError::TimedOut { .. }), "{error}");
    assert!(!seen.lock().unwrap().is_empty());
    upstreams.shutdown().await;
}

/// The text of an argument that is far more than a pipe holds.
fn long(bytes: usize) -> String {
    format!(r#"{{"text":"{}"}}"#, "x".repeat(bytes))
}

/// Without the number of bytes, which depends on who was first.
fn unnumbered(told: &str) -> String {
    told.replace(|c: char| c.is_ascii_digit(), "")
}

const UNREAD: &str = "MCP server `deaf` does not read its input, where  bytes wait: `tools/call` was not sent; it may be busy, so try again later, and end its process if it stays like this, since it is started anew then";

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_reading_costs_its_callers_their_limit_and_nobody_else() {
    let (deaf, good) = (Scripted::new("fault() { sleep 1000; }"), Scripted::new(""));
    let configs = vec![deaf.hasty("deaf", HASTY), good.config("good")];
    let upstreams = settled(configs, options()).await;
    let (first, ()) = tokio::join!(call(&upstreams, "deaf"), deaf.until("call"));
    let late = "in doubt: MCP server `deaf` did not answer `tools/call` within 500 ms; it was told to cancel";
    assert_eq!(told(first), late);
    // It reads no more: one of these is being written, the others wait behind it.
    let arguments = long(200_000);
    let callers = join_all((0..3).map(|_| call_with(&upstreams, "deaf", &arguments, CallOptions::default())));
    let (outcomes, well) = tokio::join!(callers, call(&upstreams, "good"));
    assert_eq!(told(well), WELL);
    let mut outcomes: Vec<String> = outcomes.into_iter().map(told).collect();
    outcomes.sort();
    assert_eq!(unnumbered(&outcomes[0]), UNREAD);
    assert_eq!(unnumbered(&outcomes[1]), UNREAD);
    assert_eq!(outcomes[2], late);
    upstreams.shutdown().await;
    assert!(deaf.processes().iter().all(|process| !alive(*process)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_a_server_that_does_not_read_is_bounded_and_can_be_cancelled() {
    let deaf = Scripted::new("fault() { sleep 1000; }");
    let options = UpstreamOptions {
        max_message_bytes: 1_000_000,
        ..options()
    };
    let upstreams = settled(vec![deaf.config("deaf")], options).await;
    let cancel = CancellationToken::new();
    let with = || CallOptions {
        cancel: cancel.clone(),
        ..CallOptions::default()
    };
    let arguments = long(400_000);
    let mut calls = FuturesUnordered::new();
    calls.push(call_with(&upstreams, "deaf", "{}", with()));
    tokio::select! {
        ended = calls.next() => panic!("{ended:?}"),
        () = deaf.until("call") => {}
    }
    calls.extend((0..10).map(|_| call_with(&upstreams, "deaf", &arguments, with())));
    // One may be on its way and two may wait; all others hear of it at once.
    for _ in 0..7 {
        let outcome = calls.next().await.unwrap();
        assert_eq!(unnumbered(&told(outcome)), UNREAD);
    }
    cancel.cancel();
    let cancelled = "in doubt: `tools/call` to MCP server `deaf` was cancelled";
    let rest: Vec<String> = calls.map(told).collect().await;
    let (refused, cut): (Vec<String>, Vec<String>) = rest.into_iter().partition(|told| told != cancelled);
    assert!(refused.len() <= 1 && cut.len() >= 3, "{refused:?} {cut:?}");
    // As it says: whoever ends the process has a fresh one.
    let process = Pid::from_raw(deaf.processes()[0].cast_signed()).unwrap();
    kill_process(process, Signal::KILL).unwrap();
    until(&upstreams, "deaf", |server| {
        server.state != State::Ready || deaf.processes().len() == 2
    })
    .await;
    assert_eq!(
        told(call_with(&upstreams, "deaf", &arguments, CallOptions::default()).await),
        WELL
    );
    upstreams.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_will_not_go_is_gone_after_the_end() {
    let stubborn = [
        ("ignores the end of its input", "finish() { sleep 1000; }"),
        (
            "ignores SIGTERM as well",
            "start() { trap '' TERM HUP INT; }\nfinish() { while :; do sleep 1000; done; }",
        ),
        (
            "is in the middle of a call",
            "start() { trap '' TERM; }\nfault() { while :; do sleep 1000; done; }",
        ),
        (
            "never reads its input",
            "start() { trap '' TERM; while :; do sleep 1000; done; }",
        ),
    ];
    for (name, script) in stubborn {
        let server = Scripted::new(script);
        let upstreams = Upstreams::start(vec![server.config(name)], options());
        eventually(name, || !server.processes().is_empty()).await;
        if name == "is in the middle of a call" {
            tokio::select! {
                _ = call(&upstreams, name) => panic!("answered"),
                () = server.until("call") => {}
            }
        }
        upstreams.shutdown().await;
        assert!(
            server.processes().iter().all(|process| !alive(*process)),
            "{name}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_closes_its_input_and_stays_is_started_again() {
    let server = Scripted::new("fault() { well; exec <&-; echo closed >> log; sleep 1000; }");
    let upstreams = settled(vec![server.config("fake")], options()).await;
    assert_eq!(told(call(&upstreams, "fake").await), WELL);
    // What is written before that is lost in the pipe without anybody knowing.
    server.until("closed").await;
    let expected = [
        "in doubt: MCP server `fake` closed its input while the request was running (`tools/call`); its effect is in doubt, so check before repeating it",
        WELL,
    ];
    for expected in expected {
        assert_eq!(told(call(&upstreams, "fake").await), expected);
    }
    let processes = server.processes();
    assert_eq!(processes.len(), 2);
    eventually("the first one is gone", || !alive(processes[0])).await;
    upstreams.shutdown().await;
}
