//! Who comes in: through the built binary what the unit tests of the door say of every case.
use axum::http::Method;
use serde_json::json;

use super::place::Place;
use super::server::{Send, Server};

#[tokio::test(flavor = "multi_thread")]
async fn a_token_opens_everything_but_the_probes() {
    let place = Place::new(&json!({ "serve": { "token": "of-the-configuration" } }));
    place.write("token", "of-the-file\n");
    let mut command = place.command(&["serve", "--listen", "127.0.0.1:0", "--state", "state"]);
    command.env("CODECELL_TOKEN", "of-the-environment");
    let by_environment = Server::from(command).await;
    let by_file = Server::start(&place, &["--token-file", "token"]).await;
    let by_configuration = Server::start(&place, &[]).await;
    for (server, token) in [
        (&by_environment, "of-the-environment"),
        (&by_file, "of-the-file"),
        (&by_configuration, "of-the-configuration"),
    ] {
        for path in [
            "/runs",
            "/sessions",
            "/approvals",
            "/metrics",
            "/v1/models",
            "/mcp",
            "/nowhere",
        ] {
            let refused = server.get(path).await;
            assert_eq!(refused.error(), (401, "invalid_api_key".into()), "{path}");
            assert_eq!(refused.headers["www-authenticate"], "Bearer");
        }
        assert_eq!(server.get("/healthz").await.status, 200);
        assert_eq!(server.get("/readyz").await.status, 200);
        let bearer = format!("Bearer {token}");
        let send = Send {
            headers: &[("authorization", &bearer)],
            body: None,
        };
        assert_eq!(
            server.send(Method::GET, "/runs", send).await.status,
            200,
            "{token}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_names_and_foreign_pages_are_kept_out() {
    let config = json!({ "serve": {
        "token": "t", "allowedHosts": ["gateway.example"], "allowedOrigins": ["https://app.example"]
    } });
    let server = Server::start(&Place::new(&config), &[]).await;
    for (headers, expected) in [
        (
            &[("host", "evil.example")] as &[(&str, &str)],
            Some((403, "forbidden_host")),
        ),
        (
            &[("origin", "https://evil.example")],
            Some((403, "forbidden_origin")),
        ),
        (&[("origin", "null")], Some((403, "forbidden_origin"))),
        (&[("host", "gateway.example")], None),
        (&[("origin", "https://app.example")], None),
    ] {
        let answer = server
            .send(Method::GET, "/healthz", Send { headers, body: None })
            .await;
        match expected {
            Some((status, code)) => assert_eq!(answer.error(), (status, code.into()), "{headers:?}"),
            None => assert_eq!(answer.status, 200, "{headers:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_is_told_that_a_page_may_call() {
    let config = json!({ "serve": { "token": "t", "allowedOrigins": ["https://app.example"] } });
    let server = Server::start(&Place::new(&config), &[]).await;
    let asks = |origin| {
        let headers = [
            ("origin", origin),
            ("access-control-request-method", "POST"),
            ("access-control-request-headers", "authorization,content-type"),
        ];
        let server = &server;
        async move {
            let send = Send {
                headers: &headers,
                body: None,
            };
            server.send(Method::OPTIONS, "/v1/chat/completions", send).await
        }
    };
    let allowed = asks("https://app.example").await;
    assert_eq!(
        (
            allowed.status.as_u16(),
            &allowed.headers["access-control-allow-origin"]
        ),
        (204, &"https://app.example".parse().unwrap())
    );
    assert_eq!(
        asks("https://evil.example").await.error(),
        (403, "forbidden_origin".into())
    );
    let send = Send {
        headers: &[("origin", "https://app.example")],
        body: None,
    };
    let refused = server.send(Method::GET, "/runs", send).await;
    assert_eq!(refused.error(), (401, "invalid_api_key".into()));
    assert_eq!(
        refused.headers["access-control-allow-origin"],
        "https://app.example"
    );
    assert_eq!(refused.headers["vary"], "origin");
}

#[test]
fn other_machines_are_let_in_only_with_a_token() {
    for (config, message) in [
        (
            json!({}),
            "error: listening on 0.0.0.0:0 lets other machines in, so a token is needed: give it with --token-file, \
             in CODECELL_TOKEN or as `serve.token`\n",
        ),
        (
            json!({ "serve": { "listen": "nowhere" } }),
            "error: the configuration cannot be used: ",
        ),
    ] {
        let ended = Place::new(&config).run(&["serve", "--listen", "0.0.0.0:0", "--state", "state"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (1, ""));
        assert!(ended.stderr.contains(message), "{ended:?}");
    }
}
