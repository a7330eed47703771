//! The numbers that an operator watches.
use serde_json::json;

use super::place::{Place, shop};
use super::provider::{Provider, Reply};
use super::server::{Server, until};

#[tokio::test(flavor = "multi_thread")]
async fn what_happened_is_counted() {
    let code =
        "await MCP.shop.listProducts({}); try { await MCP.shop.getOrder({ order_id: 'none' }) } catch {}";
    let provider = Provider::start([
        Reply::Call("exec", json!({ "code": code })),
        Reply::Text(vec!["Done."]),
        Reply::Status(400, json!({ "error": { "message": "no" } })),
        Reply::Held("A", "B"),
    ])
    .await;
    let place = Place::new(&provider.config(json!({ "tools": { "codeMode": true }, "mcp": shop() })));
    let server = Server::start(&place, &[]).await;
    server.turn("s", "one", &[]).await.unwrap().unwrap();
    server.turn("s", "two", &[]).await.unwrap().unwrap();
    server.get("/sessions/a%20made%20up%20name").await;
    server.get("/nowhere").await;
    let turn = server.turn("s", "three", &[]);
    provider.asked(4).await;
    let page = server.get("/metrics").await;
    assert_eq!(
        page.headers["content-type"],
        "text/plain; version=0.0.4; charset=utf-8"
    );
    let lines: Vec<&str> = page.body.lines().collect();
    for expected in [
        "# TYPE codecell_turns_total counter",
        "codecell_turns_total{outcome=\"done\"} 1",
        "codecell_turns_total{outcome=\"failed\"} 1",
        "codecell_turns_total{outcome=\"aborted\"} 0",
        "codecell_turns_active 1",
        "codecell_turns_waiting 0",
        "codecell_turn_duration_seconds_count 2",
        "codecell_cells_suspended 0",
        "codecell_vms_live 0",
        "codecell_nested_calls_total{outcome=\"ok\"} 1",
        "codecell_nested_calls_total{outcome=\"tool_error\"} 1",
        "codecell_provider_requests_total{api=\"openai-completions\",outcome=\"ok\"} 2",
        "codecell_provider_requests_total{api=\"openai-completions\",outcome=\"refused\"} 1",
        "codecell_http_requests_total{route=\"/v1/chat/completions\",status=\"200\"} 1",
        "codecell_http_requests_total{route=\"/v1/chat/completions\",status=\"400\"} 1",
        "codecell_http_requests_total{route=\"/sessions/{key}\",status=\"404\"} 1",
        "codecell_http_requests_total{route=\"none\",status=\"404\"} 1",
        "codecell_http_request_duration_seconds_count{route=\"/sessions/{key}\"} 1",
        "codecell_upstream_servers{state=\"ready\"} 1",
        "codecell_upstream_servers{state=\"failed\"} 0",
    ] {
        assert!(lines.contains(&expected), "{expected} is not in\n{}", page.body);
    }
    assert!(page.body.contains("\ncodecell_process_resident_bytes "));
    assert!(
        !page.body.contains("made"),
        "no name that a caller made up is a label"
    );
    // A client that goes away is counted as well, and so is what it had asked for.
    turn.abort();
    let aborted = "codecell_turns_total{outcome=\"aborted\"} 1";
    let cancelled = "codecell_provider_requests_total{api=\"openai-completions\",outcome=\"cancelled\"} 1";
    until("the turn is counted", async || {
        let page = server.get("/metrics").await.body;
        page.contains(aborted) && page.contains(cancelled)
    })
    .await;
}
