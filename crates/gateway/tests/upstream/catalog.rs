//! What becomes of the lists of tools.
use codecell_gateway::{
    config::Globs,
    upstream::{Era, Quarantined, State, UpstreamOptions, Upstreams},
};
use serde_json::json;

use crate::support::*;

#[tokio::test]
async fn one_bad_tool_costs_one_tool() {
    let stage = Stage::new(json!({ "tools": [
        { "name": "bad", "description": 5, "inputSchema": {} },
        { "name": "echo", "inputSchema": {} },
        { "inputSchema": {} },
        { "name": "good", "inputSchema": { "type": "object", "properties": { "b": {}, "a": {} } }, "x-extra": 1 },
    ] }));
    let upstreams = settled(vec![stage.server("fake")], options()).await;
    let server = view(&upstreams, "fake");
    assert_eq!(server.tools.len(), 12);
    let good = server.tools.last().unwrap();
    assert_eq!(
        good.raw.to_string(),
        r#"{"name":"good","inputSchema":{"type":"object","properties":{"b":{},"a":{}}},"x-extra":1}"#
    );
    assert_eq!(
        *server.quarantined,
        [
            Quarantined {
                name: "bad".into(),
                reason: "its description is a number, not a string".into()
            },
            Quarantined {
                name: "#14".into(),
                reason: "it has no name".into()
            },
        ]
    );
    assert_eq!(
        *server.notes,
        ["lists `echo` more than once; the first entry counts"]
    );
    upstreams.shutdown().await;
}

#[tokio::test]
async fn all_pages_are_read() {
    let stage = Stage::new(json!({ "page": 2, "instructions": "be kind" }));
    let upstreams = settled(vec![stage.server("fake")], options()).await;
    let server = view(&upstreams, "fake");
    assert_eq!(
        (server.tools.len(), server.notes.len(), stage.count("tools/list")),
        (11, 0, 6)
    );
    assert_eq!(
        (
            server.instructions.as_deref(),
            server.has_resources,
            server.has_prompts
        ),
        (Some("be kind"), true, false)
    );
    upstreams.shutdown().await;
}

#[tokio::test]
async fn a_cursor_that_repeats_ends_the_reading() {
    let stage = Stage::new(json!({ "page": 5, "loop_cursor": true }));
    let upstreams = settled(vec![stage.server("fake")], options()).await;
    let server = view(&upstreams, "fake");
    assert_eq!((server.tools.len(), server.state.clone()), (5, State::Ready));
    assert!(
        server
            .notes
            .contains(&"tools/list repeats the cursor `0`; reading stopped there".to_owned()),
        "{server:?}"
    );
    upstreams.shutdown().await;
}

#[tokio::test]
async fn a_broken_page_keeps_the_pages_before_it() {
    let stage = Stage::new(json!({ "page": 5, "broken_page": 1 }));
    let upstreams = settled(vec![stage.server("fake")], options()).await;
    let server = view(&upstreams, "fake");
    assert_eq!((server.tools.len(), server.state), (5, State::Ready));
    assert_eq!(
        *server.notes,
        [
            "its tools were not read to the end: MCP server `fake` refused `tools/list`: page is broken (code -32603)"
        ]
    );
    upstreams.shutdown().await;
}

#[tokio::test]
async fn the_first_pages_are_usable_while_the_last_is_slow() {
    let stage = Stage::new(json!({ "page": 5, "slow_page": 2 }));
    let upstreams = Upstreams::start(vec![stage.server("fake")], options());
    let server = until(&upstreams, "fake", |server| server.tools.len() == 10).await;
    assert!(server.listing && server.state == State::Ready);
    upstreams.shutdown().await;
}

#[tokio::test]
async fn announced_changes_are_read_in_both_eras() {
    for era in ["legacy", "modern"] {
        let stage = Stage::new(json!({ "era": era, "list_changed": true }));
        let upstreams = settled(vec![stage.server("fake")], options()).await;
        call(&upstreams, "mutate", "{}").await.unwrap();
        let server = until(&upstreams, "fake", |server| server.tools.len() == 12).await;
        assert_eq!(
            tool_names(&server).last().map(String::as_str),
            Some("new_tool"),
            "{era}"
        );
        if era == "modern" {
            assert_eq!(stage.count("subscriptions/listen"), 1);
        }
        upstreams.shutdown().await;
    }
}

#[tokio::test]
async fn the_last_known_tools_serve_at_once_and_are_replaced() {
    let stage = Stage::new(json!({}));
    let folder = tempfile::tempdir().unwrap();
    let with_cache = || UpstreamOptions {
        cache: Some(folder.path().into()),
        ..options()
    };
    let upstreams = settled(vec![stage.server("fake")], with_cache()).await;
    eventually("the cache", || {
        std::fs::read_dir(folder.path()).unwrap().next().is_some()
    })
    .await;
    upstreams.shutdown().await;

    stage.play(json!({ "tools": [{ "name": "later", "inputSchema": {} }] }));
    let upstreams = Upstreams::start(vec![stage.server("fake")], with_cache());
    let at_once = view(&upstreams, "fake");
    assert_eq!(
        (at_once.state, at_once.stale, at_once.tools.len()),
        (State::Connecting, true, 11)
    );
    assert_eq!(at_once.era, Some(Era::Legacy));
    let server = until(&upstreams, "fake", |server| !server.stale).await;
    assert_eq!(server.tools.len(), 12);
    assert_eq!(
        stage.count("server/discover"),
        1,
        "a known legacy server is not probed again"
    );
    upstreams.shutdown().await;
}

#[tokio::test]
async fn a_damaged_cache_is_a_note_and_nothing_more() {
    let stage = Stage::new(json!({}));
    let folder = tempfile::tempdir().unwrap();
    let with_cache = || UpstreamOptions {
        cache: Some(folder.path().into()),
        ..options()
    };
    let upstreams = settled(vec![stage.server("fake")], with_cache()).await;
    eventually("the cache", || {
        std::fs::read_dir(folder.path()).unwrap().next().is_some()
    })
    .await;
    upstreams.shutdown().await;

    let file = std::fs::read_dir(folder.path())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    std::fs::write(&file, "{").unwrap();
    let upstreams = Upstreams::start(vec![stage.server("fake")], with_cache());
    let at_once = view(&upstreams, "fake");
    assert!(
        at_once.tools.is_empty() && at_once.notes[0].contains("are ignored: not readable"),
        "{at_once:?}"
    );
    until(&upstreams, "fake", |server| server.tools.len() == 11).await;
    upstreams.shutdown().await;
}

#[tokio::test]
async fn denied_tools_are_neither_listed_nor_called() {
    let stage = Stage::new(json!({}));
    let mut server = stage.server("fake");
    server.allow = Some(Globs::new(vec!["e*".into(), "bump".into()]));
    server.deny = Globs::new(vec!["env".into()]);
    let upstreams = settled(vec![server], options()).await;
    assert_eq!(tool_names(&view(&upstreams, "fake")), ["echo", "bump"]);
    let error = call(&upstreams, "env", "{}").await.unwrap_err().to_string();
    assert_eq!(
        error,
        "tool `env` of MCP server `fake` is excluded by its `allow` or `deny` list"
    );
    assert_eq!(stage.count("call"), 0);
    upstreams.shutdown().await;
}

#[tokio::test]
async fn noise_on_standard_output_is_skipped_and_counted() {
    let stage = Stage::new(json!({ "noise": true, "bom": true }));
    let upstreams = settled(vec![stage.server("fake")], options()).await;
    let server = view(&upstreams, "fake");
    assert_eq!(
        (server.state, server.tools.len(), server.noise_lines),
        (State::Ready, 11, 4)
    );
    upstreams.shutdown().await;
}
