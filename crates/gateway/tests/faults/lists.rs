//! Servers whose list of tools breaks, never ends, or changes while it is used.
use std::time::Duration;

use codecell_gateway::upstream::{ServerSnapshot, State, UpstreamOptions, Upstreams};
use serde_json::json;

use crate::{
    client::Client,
    place::Place,
    scripted::{Scripted, call, told},
    server::{Server, until as eventually},
    support::{LONG, options, settled, tool_names, until, view},
};

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_cannot_be_read_is_told_and_the_server_can_be_called_all_the_same() {
    let lists = [
        (
            "has no tools",
            r#"list() { answer '{}'; }"#,
            "answered `tools/list` with something that is no MCP result: it has no `tools`",
        ),
        (
            "has a number for tools",
            r#"list() { answer '{"tools":5}'; }"#,
            "answered `tools/list` with something that is no MCP result: `tools` is not an array",
        ),
        (
            "is refused",
            "list() { refuse; }",
            "refused `tools/list`: no (code -32000)",
        ),
        (
            "never comes",
            "list() { :; }",
            "did not answer `tools/list` within 3000 ms; it was told to cancel",
        ),
        (
            "goes to somebody else",
            "list() { id=4711; answer '{\"tools\":[]}'; }",
            "did not answer `tools/list` within 3000 ms; it was told to cancel",
        ),
        (
            "is 2 MB of nothing",
            r#"list() { printf '{"jsonrpc":"2.0","id":%s,"result":"' "$id"; flood 2000000; echo '"}'; }"#,
            "",
        ),
    ];
    let servers: Vec<Scripted> = lists.iter().map(|(_, script, _)| Scripted::new(script)).collect();
    let configs = lists
        .iter()
        .zip(&servers)
        .map(|((name, ..), server)| server.hasty(name, Duration::from_secs(3)));
    let options = UpstreamOptions {
        max_message_bytes: 1_000_000,
        ..options()
    };
    let upstreams = settled(configs.collect(), options).await;
    for (name, _, reason) in lists {
        let server = view(&upstreams, name);
        let note = match name {
            "is 2 MB of nothing" => format!(
                "its tools were not read to the end: the answer for `tools/list` of MCP server `{name}` has 2000036 bytes, at most 1000000 are taken"
            ),
            _ => format!("its tools were not read to the end: MCP server `{name}` {reason}"),
        };
        assert_eq!(
            (server.state, &*server.notes),
            (State::Ready, &[note][..]),
            "{name}"
        );
        assert_eq!(told(call(&upstreams, name).await), r#"{"content":[]}"#, "{name}");
    }
    upstreams.shutdown().await;
}

/// One tool a page, and always another page.
const ENDLESS: &str = r#"
list() { n=$((n+1)); answer "{\"tools\":[{\"name\":\"t$n\",\"inputSchema\":{}}],\"nextCursor\":\"c$n\"}"; }
"#;

/// Pages with nothing on them, and always another page.
const EMPTY: &str = r#"
list() { n=$((n+1)); answer "{\"tools\":[],\"nextCursor\":\"c$n\"}"; }
"#;

/// As many tools as `ALL` says, a thousand a page.
const MANY: &str = r#"
list() {
  from=${line#*\"cursor\":\"}
  if [ "$from" = "$line" ]; then from=0; else from=${from%%\"*}; fi
  until=$((from + 1000))
  next=",\"nextCursor\":\"$until\""
  if [ "$until" -ge "$ALL" ]; then until=$ALL; next=; fi
  tools=$(seq -f '{"name":"t%g","inputSchema":{"type":"object"}}' $((from + 1)) "$until" | paste -sd , -)
  answer "{\"tools\":[$tools]$next}"
}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_list_without_end_ends() {
    let many = |all: u32| format!("ALL={all}\n{MANY}");
    let lists = [
        (
            "endless",
            ENDLESS.to_owned(),
            5_000,
            vec!["tools/list has more than 5000 pages; the rest is left out"],
        ),
        (
            "empty",
            EMPTY.to_owned(),
            0,
            vec!["tools/list has more than 5000 pages; the rest is left out"],
        ),
        ("five thousand", many(5_000), 5_000, vec![]),
        (
            "thirty thousand",
            many(30_000),
            20_000,
            vec!["lists more than 20000 tools; the rest is left out"],
        ),
    ];
    for (name, script, tools, notes) in lists {
        let server = Scripted::new(&script);
        let mut config = server.config(name);
        // A shell takes its time for thousands of pages where machines are busy.
        config.startup_timeout = LONG;
        let upstreams = settled(vec![config], options()).await;
        let seen = view(&upstreams, name);
        let expected: Vec<String> = (1..=tools).map(|n| format!("t{n}")).collect();
        assert_eq!(
            (seen.state.clone(), seen.listing),
            (State::Ready, false),
            "{name}"
        );
        assert!(
            tool_names(&seen) == expected,
            "{name}: {} tools",
            seen.tools.len()
        );
        assert_eq!(*seen.notes, notes, "{name}");
        upstreams.shutdown().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_over_every_list_is_not_started_in_a_loop() {
    let (bad, good) = (Scripted::new("list() { exit 3; }"), Scripted::new(""));
    let upstreams = settled(vec![bad.config("bad"), good.config("good")], options()).await;
    let down = State::Restarting {
        reason: "exited with status 3".to_owned(),
    };
    let server = until(&upstreams, "bad", |server| server.state == down).await;
    assert!(server.tools.is_empty() && !server.listing);
    for _ in 0..200 {
        assert_eq!(told(call(&upstreams, "good").await), r#"{"content":[]}"#);
    }
    assert!(bad.processes().len() <= 5, "{:?}", bad.log());
    upstreams.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_dies_between_its_list_and_a_call_is_back_for_the_call() {
    let leaves = r#"
        answered() { answer '{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}'; }
        list() { answered; if first listed; then exit 0; fi; }
    "#;
    let server = Scripted::new(leaves);
    let upstreams = settled(vec![server.config("fake")], options()).await;
    // A call that is made before anybody knows of the death is in doubt.
    let noticed = |seen: &ServerSnapshot| seen.state != State::Ready || server.processes().len() == 2;
    until(&upstreams, "fake", noticed).await;
    assert_eq!(told(call(&upstreams, "fake").await), r#"{"content":[]}"#);
    let calls = server.log().iter().filter(|line| *line == "call").count();
    assert_eq!((server.processes().len(), calls), (2, 1));
    upstreams.shutdown().await;
}

/// Announces another list with every list, and that list has one more tool.
const RESTLESS: &str = r#"
list() {
  n=$((n+1))
  answer "{\"tools\":[{\"name\":\"t$n\",\"inputSchema\":{}}]}"
  say '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_changes_whenever_it_is_read_delays_no_call() {
    let (restless, good) = (Scripted::new(RESTLESS), Scripted::new(""));
    let upstreams = Upstreams::start(vec![restless.config("restless"), good.config("good")], options());
    until(&upstreams, "restless", |server| tool_names(server) == ["t5"]).await;
    for name in ["restless", "good"] {
        assert_eq!(told(call(&upstreams, name).await), r#"{"content":[]}"#, "{name}");
    }
    upstreams.shutdown().await;
}

/// Calling `swap` takes that tool away and puts another in its place.
const SWAPS: &str = r#"
one() { answer "{\"tools\":[{\"name\":\"$1\",\"inputSchema\":{\"type\":\"object\"}}]}"; }
list() { if [ -e called ]; then one other; else one swap; fi; }
call() {
  case $line in
    *'"name":"swap"'*)
      if first called; then well; else refuse; fi
      say '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}' ;;
    *) well ;;
  esac
}
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_keeps_the_tools_it_began_with_and_the_next_one_has_the_new_ones() {
    let scripted = Scripted::new(SWAPS);
    let place = Place::new(&json!({ "mcp": { "servers": { "fake": scripted.entry() } } }));
    let server = Server::start(&place, &[]).await;
    let client = Client::modern(&server);
    let program = "
        await MCP.fake.swap({});
        const second = await MCP.fake.swap({}).catch(error => error.message);
        return [second, typeof MCP.fake.other];
    ";
    let result = client.exec(program).await;
    assert_eq!(
        result["value"],
        json!([
            "MCP server `fake` refused `tools/call`: no (code -32000)",
            "undefined"
        ]),
        "{result}"
    );
    let program = "return [typeof MCP.fake.swap, typeof MCP.fake.other]";
    eventually("the new list", async || {
        client.exec(program).await["value"] == json!(["undefined", "function"])
    })
    .await;
}
