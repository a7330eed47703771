//! Servers that break while they start.
use std::time::Duration;

use codecell_gateway::upstream::{State, UpstreamOptions};

use crate::{
    scripted::{Scripted, call, told},
    support::{options, settled, view},
};

/// A name for the fault, how it comes about, and the reason that is told.
type Fault = (&'static str, &'static str, &'static str);

const TOLD: &[Fault] = &[
    (
        "dies",
        "initialize() { echo 'no licence' >&2; exit 5; }",
        "exited with status 5 during the handshake; last lines on its stderr:\nno licence",
    ),
    (
        "is killed",
        "initialize() { kill -9 $$; }",
        "was killed by signal 9 during the handshake",
    ),
    (
        "dies over the probe and the greeting",
        "discover() { exit 1; }\ninitialize() { exit 2; }",
        "exited with status 2 during the handshake",
    ),
    (
        "dies in the middle of its answer",
        r#"initialize() { printf '{"jsonrpc":"2.0","id":'; exit 0; }"#,
        "exited with status 0 during the handshake",
    ),
    (
        "closes its output and stays",
        "initialize() { exec >&-; }",
        "closed its output during the handshake",
    ),
    (
        "refuses",
        "initialize() { refuse; }",
        "refused `initialize`: no (code -32000)",
    ),
    (
        "names no revision",
        r#"initialize() { answer '{"capabilities":{}}'; }"#,
        r#"answered `initialize` with no MCP result: `{"capabilities":{}}`"#,
    ),
    (
        "answers with a text",
        r#"initialize() { answer '"hello"'; }"#,
        r#"answered `initialize` with no MCP result: `"hello"`"#,
    ),
    (
        "answers with nothing",
        "initialize() { answer null; }",
        "answered `initialize` with no MCP result: `null`",
    ),
    (
        "answers with more than is taken",
        r#"initialize() { printf '{"jsonrpc":"2.0","id":%s,"result":"' "$id"; flood 2000000; echo '"}'; }"#,
        "the answer for `initialize` of MCP server `answers with more than is taken` has 2000036 bytes, at most 1000000 are taken",
    ),
];

const SILENT: &[(&str, &str)] = &[
    ("says nothing", "discover() { :; }\ninitialize() { :; }"),
    (
        "answers somebody else",
        "initialize() { id=4711; answer '{\"protocolVersion\":\"2025-06-18\"}'; }",
    ),
    (
        "answers nobody",
        "initialize() { id=null; answer '{\"protocolVersion\":\"2025-06-18\"}'; }",
    ),
    ("answers with garbage", "initialize() { say 'hello there'; }"),
    (
        "answers with neither result nor error",
        "initialize() { say \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":$id}\"; }",
    ),
    ("never ends its line", "initialize() { printf '{\"jsonrpc\":'; }"),
    (
        "asks instead of answering",
        "initialize() { say '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}'; }",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_breaks_over_its_greeting_is_failed_with_the_reason_and_costs_only_itself() {
    let good = Scripted::new("");
    let servers: Vec<Scripted> = TOLD.iter().map(|(_, script, _)| Scripted::new(script)).collect();
    let mut configs = vec![good.config("good")];
    configs.extend(
        TOLD.iter()
            .zip(&servers)
            .map(|((name, ..), server)| server.config(name)),
    );
    let options = UpstreamOptions {
        max_message_bytes: 1_000_000,
        ..options()
    };
    let upstreams = settled(configs, options).await;
    for (name, _, reason) in TOLD {
        let state = State::Failed {
            reason: (*reason).to_owned(),
        };
        assert_eq!(view(&upstreams, name).state, state, "{name}");
    }
    assert_eq!(told(call(&upstreams, "good").await), r#"{"content":[]}"#);
    upstreams.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_never_gets_to_its_greeting_is_failed_in_time() {
    let servers: Vec<Scripted> = SILENT.iter().map(|(_, script)| Scripted::new(script)).collect();
    let configs = SILENT.iter().zip(&servers).map(|((name, _), server)| {
        let mut config = server.config(name);
        config.startup_timeout = Duration::from_millis(1000);
        config
    });
    let upstreams = settled(configs.collect(), options()).await;
    for (name, _) in SILENT {
        let state = State::Failed {
            reason: "did not answer the handshake within 1000 ms (`startupTimeoutMs`)".to_owned(),
        };
        assert_eq!(view(&upstreams, name).state, state, "{name}");
    }
    upstreams.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_server_says_beside_its_greeting_does_no_harm() {
    let noisy = [
        ("20 MiB on standard error", "start() { flood 20971520 >&2; }", 0),
        (
            "20 MiB on standard output",
            "start() { flood 20971520; echo; }",
            1,
        ),
        (
            "every answer twice",
            "answer() { for _ in 1 2; do say \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":$id,\\\"result\\\":$1}\"; done; }",
            0,
        ),
        (
            "bytes that are no text",
            "start() { printf '\\377\\376\\n{\\n'; }",
            2,
        ),
        (
            "a nest of brackets",
            "start() { head -c 1000000 /dev/zero | tr '\\0' '['; echo; }",
            1,
        ),
    ];
    let servers: Vec<Scripted> = noisy.iter().map(|(_, script, _)| Scripted::new(script)).collect();
    let configs = noisy
        .iter()
        .zip(&servers)
        .map(|((name, ..), server)| server.config(name));
    let upstreams = settled(configs.collect(), options()).await;
    for (name, _, noise) in noisy {
        let server = view(&upstreams, name);
        assert_eq!(
            (server.state, server.noise_lines),
            (State::Ready, noise),
            "{name}"
        );
        assert_eq!(told(call(&upstreams, name).await), r#"{"content":[]}"#, "{name}");
        assert_eq!(told(call(&upstreams, name).await), r#"{"content":[]}"#, "{name}");
    }
    upstreams.shutdown().await;
}
