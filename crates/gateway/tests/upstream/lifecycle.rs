//! Starting, hanging, dying, restarting and ending.
use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    time::Duration,
};

use codecell_gateway::upstream::{State, Upstreams, WaitFor};
use serde_json::json;

use crate::support::*;

#[tokio::test]
async fn a_server_that_hangs_delays_nobody() {
    let (good, bad) = (Stage::new(json!({})), Stage::new(json!({ "silent": true })));
    let upstreams = Upstreams::start(vec![bad.server("hangs"), good.server("fake")], options());
    until(&upstreams, "fake", |server| {
        server.state == State::Ready && !server.listing
    })
    .await;
    call(&upstreams, "echo", "{}").await.unwrap();
    assert_eq!(view(&upstreams, "hangs").state, State::Connecting);
    upstreams.shutdown().await;
    assert_eq!(view(&upstreams, "hangs").state, State::Stopped);
}

#[tokio::test]
async fn a_server_that_never_answers_fails_after_its_own_limit() {
    let stage = Stage::new(json!({ "silent": true }));
    let mut server = stage.server("fake");
    server.startup_timeout = Duration::from_millis(300);
    let upstreams = settled(vec![server], options()).await;
    assert_eq!(
        view(&upstreams, "fake").state,
        State::Failed {
            reason: "did not answer the handshake within 300 ms (`startupTimeoutMs`)".into()
        }
    );
    let error = call(&upstreams, "echo", "{}").await.unwrap_err().to_string();
    assert_eq!(
        error,
        "MCP server `fake` is not available: it failed: did not answer the handshake within 300 ms (`startupTimeoutMs`)"
    );
    upstreams.shutdown().await;
}

#[tokio::test]
async fn a_server_that_dies_at_start_says_how_and_is_not_started_in_a_loop() {
    let stage = Stage::new(json!({ "exit_at_start": 7 }));
    let upstreams = settled(vec![stage.server("fake")], options()).await;
    assert_eq!(
        view(&upstreams, "fake").state,
        State::Failed {
            reason: "exited with status 7 during the handshake; last lines on its stderr:\ncannot read the database".into()
        }
    );
    for _ in 0..200 {
        let _ = call(&upstreams, "echo", "{}").await;
    }
    assert!(stage.count("start") <= 4, "{:?}", stage.log());
    upstreams.shutdown().await;
}

#[tokio::test]
async fn a_death_during_a_call_is_told_at_once_and_the_server_comes_back() {
    let stage = Stage::new(json!({}));
    let upstreams = settled(vec![stage.server("fake")], options()).await;
    let error = call(&upstreams, "crash", "{}").await.unwrap_err();
    assert!(error.in_doubt());
    assert_eq!(
        error.to_string(),
        "MCP server `fake` exited with status 3 while the request was running (`tools/call`); \
         its effect is in doubt, so check before repeating it; last lines on its stderr:\nabout to crash\nout of cheese"
    );
    assert_eq!(
        stage.count("call crash"),
        1,
        "an effect in doubt is never repeated"
    );
    // Waits for the restart.
    call(&upstreams, "echo", "{}").await.unwrap();
    assert_eq!(stage.count("start"), 2);
    upstreams.shutdown().await;
}

#[tokio::test]
async fn a_read_only_call_survives_one_death() {
    let stage = Stage::new(json!({}));
    let upstreams = settled(vec![stage.server("fake")], options()).await;
    call(&upstreams, "crash_once", "{}").await.unwrap();
    assert_eq!(stage.count("call crash_once"), 2);
    upstreams.shutdown().await;
}

#[tokio::test]
async fn a_killed_child_is_back_for_the_next_call() {
    let stage = Stage::new(json!({}));
    let upstreams = settled(vec![stage.server("fake")], options()).await;
    let killed = stage.number("start").unwrap();
    Command::new("kill")
        .args(["-9", &killed.to_string()])
        .status()
        .unwrap();
    let server = until(&upstreams, "fake", |server| server.state != State::Ready).await;
    assert_eq!(
        server.state,
        State::Restarting {
            reason: "was killed by signal 9".into()
        }
    );
    assert!(server.stale && !server.tools.is_empty(), "its tools stay, marked");
    call(&upstreams, "echo", "{}").await.unwrap();
    let server = until(&upstreams, "fake", |server| !server.stale).await;
    assert_eq!(server.state, State::Ready);
    upstreams.shutdown().await;
}

#[tokio::test]
async fn shutdown_leaves_no_process_behind() {
    let stage = Stage::new(json!({ "grandchild": true }));
    let upstreams = settled(vec![stage.server("fake")], options()).await;
    let (child, grandchild) = (
        stage.number("start").unwrap(),
        stage.number("grandchild").unwrap(),
    );
    assert!(alive(child) && alive(grandchild));
    upstreams.shutdown().await;
    assert!(
        !alive(child) && !alive(grandchild),
        "the grandchild ignores SIGTERM and goes all the same"
    );
    assert_eq!(view(&upstreams, "fake").state, State::Stopped);
    let error = call(&upstreams, "echo", "{}").await.unwrap_err().to_string();
    assert_eq!(
        error,
        "MCP server `fake` is not available: the gateway is shutting down"
    );
}

#[tokio::test]
async fn dropping_the_last_handle_ends_the_servers() {
    let stage = Stage::new(json!({ "grandchild": true }));
    let upstreams = settled(vec![stage.server("fake")], options()).await;
    let (child, grandchild) = (
        stage.number("start").unwrap(),
        stage.number("grandchild").unwrap(),
    );
    drop(upstreams);
    eventually("both gone", || !alive(child) && !alive(grandchild)).await;
}

#[tokio::test]
async fn a_gateway_that_is_killed_takes_its_servers_along() {
    let stage = Stage::new(json!({ "grandchild": true }));
    let mut gateway = Command::new(fake_server())
        .arg("host")
        .arg(stage.scenario())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(gateway.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "ready\n");
    let (child, grandchild) = (
        stage.number("start").unwrap(),
        stage.number("grandchild").unwrap(),
    );
    assert!(alive(child) && alive(grandchild));
    gateway.kill().unwrap();
    gateway.wait().unwrap();
    eventually("both gone", || !alive(child) && !alive(grandchild)).await;
}

#[tokio::test]
async fn a_disabled_server_is_listed_and_never_started() {
    let stage = Stage::new(json!({}));
    let mut server = stage.server("fake");
    server.disabled = true;
    let upstreams = settled(vec![server], options()).await;
    let error = call(&upstreams, "echo", "{}").await.unwrap_err().to_string();
    assert_eq!(
        error,
        "MCP server `fake` is not available: it is disabled in the configuration"
    );
    upstreams.shutdown().await;
    assert!(stage.log().is_empty());
}

#[tokio::test]
async fn a_child_gets_a_short_environment() {
    let stage = Stage::new(json!({}));
    let mut server = stage.server("fake");
    if let codecell_gateway::config::Transport::Stdio { env, .. } = &mut server.transport {
        env.insert("OWN_TOKEN".into(), codecell_gateway::config::Secret::new("x"));
    }
    let upstreams = settled(vec![server], options()).await;
    let names = call(&upstreams, "env", "{}").await.unwrap();
    assert!(
        names.contains("\"OWN_TOKEN\"") && names.contains("\"PATH\""),
        "{names}"
    );
    assert!(!names.contains("CARGO"), "{names}");
    upstreams.shutdown().await;
}

#[tokio::test]
async fn waiting_for_uncached_servers_skips_the_others() {
    let stage = Stage::new(json!({}));
    let folder = tempfile::tempdir().unwrap();
    let with_cache = || codecell_gateway::upstream::UpstreamOptions {
        cache: Some(folder.path().into()),
        ..options()
    };
    let upstreams = settled(vec![stage.server("fake")], with_cache()).await;
    eventually("the cache", || {
        std::fs::read_dir(folder.path()).unwrap().next().is_some()
    })
    .await;
    upstreams.shutdown().await;

    stage.play(json!({ "silent": true }));
    let upstreams = Upstreams::start(vec![stage.server("fake")], with_cache());
    // Returns although the server never settles.
    tokio::time::timeout(LONG, upstreams.settled(WaitFor::Uncached, LONG * 2))
        .await
        .unwrap();
    let server = view(&upstreams, "fake");
    assert_eq!(
        (server.state, server.stale, server.tools.len()),
        (State::Connecting, true, 11)
    );
    upstreams.shutdown().await;
}
