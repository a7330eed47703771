//! Signals at the wrong moment: whatever the server behind it is doing, both end.
use rustix::process::Signal;
use serde_json::json;
use tokio::io::AsyncWriteExt;

use crate::place::{Place, writable};
use crate::raw;
use crate::scripted::Scripted;
use crate::server::{Server, gone, until};
use crate::support::eventually;

/// What the server does, how, and what it has logged by then.
const PHASES: &[(&str, &str, &str)] = &[
    ("starts", "start() { sleep 1000; }", "start"),
    ("is greeted", "discover() { :; }\ninitialize() { :; }", "discover"),
    ("lists", "list() { sleep 1000; }", "list"),
    ("is called", "fault() { sleep 1000; }", "call"),
    (
        "is called and does not listen",
        "start() { trap '' TERM INT HUP; }\nfault() { while :; do sleep 1000; done; }",
        "call",
    ),
];

async fn check(phase: &(&str, &str, &str), signal: Signal) {
    let (name, script, logged) = phase;
    let scripted = Scripted::new(script);
    let place = Place::new(&json!({ "mcp": { "servers": { "fake": scripted.entry() } } }));
    let mut server = Server::start(&place, &[]).await;
    let mut client = raw::connect(&server).await;
    if *logged == "call" {
        let request = raw::exec("await MCP.fake.echo({})");
        client.write_all(request.as_bytes()).await.unwrap();
    }
    let there = || {
        scripted
            .log()
            .iter()
            .any(|line| line.split(' ').next() == Some(logged))
    };
    eventually(name, there).await;
    server.signal(signal);
    if signal != Signal::KILL && *logged == "call" {
        // What runs may finish, and this never does: whoever asks twice ends it.
        until("it is stopping", async || {
            server.get("/readyz").await.status == 503
        })
        .await;
        server.signal(signal);
    }
    let (code, stderr) = server.ended().await;
    let expected = (signal != Signal::KILL).then_some(0);
    assert_eq!(code, expected, "{name}, {signal:?}: {stderr}");
    gone(&scripted.processes()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_to_end_is_followed_whatever_the_server_behind_is_doing() {
    for phase in PHASES {
        check(phase, Signal::TERM).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_leaves_no_process_behind_whatever_the_server_behind_is_doing() {
    // Not before its first message: a process that has hardly begun may not be watched yet.
    for phase in &PHASES[1..] {
        check(phase, Signal::KILL).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kill_leaves_no_command_of_the_shell_behind() {
    let place = Place::new(&json!({ "tools": { "fs": writable(), "exec": true } }));
    let mut server = Server::start(&place, &[]).await;
    // The shell and a child of it, neither of which listens.
    let command = "trap '' TERM HUP INT; (while :; do sleep 1000; done) & echo $$ $! > new; mv new ids; wait";
    let program = format!(
        "await tools.callValue('openclaw:core:exec', {})",
        json!({ "command": command })
    );
    let mut client = raw::connect(&server).await;
    client.write_all(raw::exec(&program).as_bytes()).await.unwrap();
    eventually("the command runs", || place.path("files/ids").exists()).await;
    server.signal(Signal::KILL);
    server.ended().await;
    let ids = place.read("files/ids");
    let processes: Vec<u32> = ids.split_whitespace().map(|id| id.parse().unwrap()).collect();
    assert_eq!(processes.len(), 2, "{ids}");
    gone(&processes).await;
}
