//! The era without sessions: every request says all there is to say.
use axum::http::Method;
use serde_json::{Value, json};

use super::client::{Client, Gateway, LEGACY, MODERN, called};

/// What is sent instead of, or beside, the headers that a client sends.
type Headers = &'static [(&'static str, &'static str)];

/// Headers, the parameters of a call, and the error that comes of them.
type Case = (Headers, Value, Option<(u16, i64)>);

#[tokio::test(flavor = "multi_thread")]
async fn requests_of_one_client_find_each_others_cells() {
    let gateway = Gateway::plain().await;
    let client = Client::modern(&gateway.server);
    let about = client.request("server/discover", json!({})).await;
    assert!(!about.headers.contains_key("mcp-session-id"));
    let about = about.result();
    assert_eq!(about["resultType"], "complete");
    let versions = about["supportedVersions"].as_array().unwrap();
    assert!(
        versions.contains(&json!(MODERN)) && versions.contains(&json!(LEGACY)),
        "{about}"
    );
    let list = client.request("tools/list", json!({})).await.result();
    assert_eq!(
        (&list["resultType"], &list["ttlMs"], &list["cacheScope"]),
        (&json!("complete"), &json!(300_000), &json!("private"))
    );
    let waiting = client
        .exec("const later = await MCP.fake.sleep({ ms: 200 }); await yield_control(); return 7")
        .await;
    assert_eq!(waiting["status"], "waiting");
    assert_eq!(Client::modern(&gateway.server).wait(&waiting).await["value"], 7);
    gateway.until_runs(0, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_headers_say_has_to_be_what_the_body_says() {
    let tool = json!({ "name": "mirrored", "inputSchema": { "type": "object", "properties": {
        "region": { "type": "string", "x-mcp-header": "Region" }
    } } });
    let gateway = Gateway::playing(
        json!({ "tools": [tool] }),
        &json!({ "directOnly": ["mirrored"] }),
        json!({}),
    )
    .await;
    let client = Client::modern(&gateway.server);
    let mirrored = |arguments: Value| called("mirrored", arguments);
    let exec = called("exec", json!({ "code": "return 1" }));
    // The server knows no such tool, which is an answer: the request got there.
    let there = None;
    let mismatch = Some((400, -32020));
    let cases: [Case; 12] = [
        (&[], exec.clone(), there),
        (&[("mcp-name", "=?base64?ZXhlYw==?=")], exec.clone(), there),
        (&[("mcp-name", "wait")], exec.clone(), mismatch),
        (&[("mcp-name", "=?base64?ZXhlYw?=")], exec.clone(), mismatch),
        (&[("mcp-method", "tools/list")], exec.clone(), mismatch),
        (&[("mcp-protocol-version", LEGACY)], exec, mismatch),
        (&[], mirrored(json!({})), there),
        (
            &[("mcp-param-region", "eu")],
            mirrored(json!({ "region": "eu" })),
            there,
        ),
        (
            &[("mcp-param-region", "us")],
            mirrored(json!({ "region": "eu" })),
            mismatch,
        ),
        (&[], mirrored(json!({ "region": "eu" })), mismatch),
        (&[("mcp-param-region", "eu")], mirrored(json!({})), mismatch),
        (
            &[("mcp-param-region", "eu")],
            mirrored(json!({ "region": null })),
            mismatch,
        ),
    ];
    for (headers, params, expected) in cases {
        let answer = client.request_with(headers, "tools/call", params.clone()).await;
        let refused = (answer.status != 200).then(|| answer.error());
        assert_eq!(refused, expected, "{headers:?} {params}");
        assert_eq!(answer.message()["id"], 1);
    }
    // A header that is not there at all, and one that is there twice.
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}
    } } });
    assert_eq!(client.post(body.clone()).await.error(), (400, -32020));
    let twice = client
        .build(Method::POST)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-method", "tools/list")
        .header("mcp-method", "tools/call")
        .body(body.to_string());
    assert_eq!(twice.send().await.unwrap().status(), 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_request_lacks_and_what_there_is_not_is_said_with_a_status() {
    let gateway = Gateway::plain().await;
    let client = Client::modern(&gateway.server);
    let meta = |version: &str| json!({ "io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {} });
    let posted = |version: &'static str, method: &'static str, params: Value| {
        let mut client = client.clone();
        client.version = Some(version);
        async move {
            let request = client
                .build(Method::POST)
                .header("content-type", "application/json");
            let request = request
                .header("accept", "application/json, text/event-stream")
                .header("mcp-method", method);
            let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
            let response = request.body(body.to_string()).send().await.unwrap();
            let status = response.status().as_u16();
            let body: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
            (
                status,
                body["error"]["code"].as_i64(),
                body["error"]["data"].clone(),
            )
        }
    };
    for (version, method, params, expected) in [
        (MODERN, "tools/list", json!({}), (400, -32602)),
        (
            MODERN,
            "tools/list",
            json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": MODERN } }),
            (400, -32602),
        ),
        (MODERN, "server/discover", json!({}), (400, -32602)),
        (
            "2077-07-07",
            "tools/list",
            json!({ "_meta": meta("2077-07-07") }),
            (400, -32022),
        ),
        ("2077-07-07", "tools/list", json!({}), (400, -32600)),
        (
            MODERN,
            "no/such/method",
            json!({ "_meta": meta(MODERN) }),
            (404, -32601),
        ),
        (MODERN, "ping", json!({ "_meta": meta(MODERN) }), (404, -32601)),
        (
            MODERN,
            "prompts/list",
            json!({ "_meta": meta(MODERN) }),
            (404, -32601),
        ),
    ] {
        let (status, code, data) = posted(version, method, params.clone()).await;
        assert_eq!(
            (status, code),
            (expected.0, Some(expected.1)),
            "{version} {method} {params}"
        );
        if expected.1 == -32022 {
            assert!(
                data["supported"].as_array().unwrap().contains(&json!(MODERN)),
                "{data}"
            );
        }
    }
    // An error of the tool's own is in the answer, not in the status.
    let unknown = client.request("tools/call", called("nothing", json!({}))).await;
    assert_eq!(unknown.error(), (200, -32602));
    for (method, allowed) in [(Method::GET, "POST"), (Method::DELETE, "POST")] {
        let response = client
            .build(method)
            .header("accept", "text/event-stream")
            .send()
            .await
            .unwrap();
        assert_eq!(response.status(), 405);
        assert_eq!(response.headers()["allow"], allowed);
    }
    // There is nothing that one could say or answer.
    let told = client
        .post(json!({ "jsonrpc": "2.0", "id": 1, "result": {} }))
        .await;
    assert_eq!(told.error(), (400, -32600));
}
