//! Signals at the wrong moment: whatever the server behind it is doing, both end.
use rustix::process::Signal;
use serde_json::json;

use crate::client::{Client, called};
use crate::place::Place;
use crate::scripted::Scripted;
use crate::server::{Server, gone};

/// What the server does, how, and the line of its log that says that it does it.
const PHASES: &[(&str, &str, &str)] = &[
    ("starts", "start() { sleep 1000; }", "start"),
    ("is greeted", "discover() { :; }\ninitialize() { :; }", "discover"),
    ("lists", "list() { sleep 1000; }", "list"),
    ("is called", "fault() { sleep 1000; }", "call"),
    ("is called and does not listen", "start() { trap '' TERM INT HUP; }\nfault() { while :; do sleep 1000; done; }", "call"),
];

#[tokio::test(flavor = "multi_thread")]
async fn whatever_its_server_does_a_signal_ends_both() {
    for (name, script, line) in PHASES {
        for signal in [Signal::TERM, Signal::INT, Signal::KILL] {
            let scripted = Scripted::new(script);
            let place = Place::new(&json!({ "mcp": { "servers": { "fake": scripted.entry() } } }));
            let mut server = Server::start(&place, &[]).await;
            let client = Client::modern(&server);
            let caller = (*line == "call").then(|| {
                client.begin("tools/call", called("exec", json!({ "code": "await MCP.fake.echo({})" })))
            });
            match *line {
                "start" => crate::support::eventually(name, || !scripted.processes().is_empty()).await,
                line => scripted.until(line).await,
            }
            server.signal(signal);
            if signal != Signal::KILL && *line == "call" {
                // What runs may finish, and this never does: asking twice ends it.
                crate::server::until("it is stopping", async || server.get("/readyz").await.status == 503).await;
                server.signal(signal);
            }
            let (code, stderr) = server.ended().await;
            let expected = (signal != Signal::KILL).then_some(0);
            assert_eq!(code, expected, "{name}, {signal:?}: {stderr}");
            gone(&scripted.processes()).await;
            drop(caller);
        }
    }
}
