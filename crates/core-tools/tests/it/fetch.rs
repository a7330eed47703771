//! `web_fetch` against a server on loopback.

use std::sync::Arc;
use std::time::Duration;

use codecell_core_tools::{CoreToolsConfig, WebFetchConfig, core_tools};
use codecell_tools::Tool;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::call;

struct Server {
    port: u16,
    /// Rings when the answer that never ends has begun.
    begun: Arc<Notify>,
}

impl Server {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let begun = Arc::new(Notify::new());
        let bell = Arc::clone(&begun);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // A client that goes away in the middle is no failure.
                tokio::spawn(serve(stream, port, Arc::clone(&bell)));
            }
        });
        Self { port, begun }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// A fetcher that may reach the server.
    fn friend(&self, limit: Duration) -> Vec<Arc<dyn Tool>> {
        fetcher(WebFetchConfig {
            allowed_hosts: vec![format!("127.0.0.1:{}", self.port)],
            max_bytes: 100_000,
            limit,
        })
    }
}

fn fetcher(config: WebFetchConfig) -> Vec<Arc<dyn Tool>> {
    core_tools(CoreToolsConfig {
        web_fetch: Some(config),
        ..CoreToolsConfig::default()
    })
    .unwrap()
}

async fn serve(mut stream: TcpStream, port: u16, begun: Arc<Notify>) -> std::io::Result<()> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await?);
    }
    let request = String::from_utf8(request).unwrap();
    let path = request.split(' ').nth(1).unwrap();
    let body = |status: &str, kind: &str, body: &str| {
        format!(
            "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            body.len()
        )
    };
    let redirect = |to: &str| {
        format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    };
    let endless = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n";
    let answer = match path {
        "/hello" => body("200 OK", "text/html; charset=utf-8", "<p>hällo</p>"),
        "/missing" => body("404 Not Found", "text/plain", "no"),
        "/picture" => body("200 OK", "image/png", "12345"),
        "/lies" => body("200 OK", "text/plain", "a\0b"),
        "/hop" => redirect("/hello#there"),
        "/loop" => redirect("/loop"),
        "/inward" => redirect("http://10.0.0.1/secret"),
        "/elsewhere" => redirect(&format!("http://localhost:{port}/hello")),
        "/metadata" => redirect("http://169.254.169.254/latest/meta-data/"),
        "/file" => redirect("file:///etc/passwd"),
        "/huge" => {
            stream.write_all(endless.as_bytes()).await?;
            loop {
                stream.write_all(&[b'x'; 4096]).await?;
            }
        }
        "/slow" => {
            stream.write_all(endless.as_bytes()).await?;
            stream.write_all(b"begin").await?;
            begun.notify_one();
            // Says nothing more, and waits until the other side has gone.
            return stream.read_u8().await.map(drop);
        }
        _ => body("200 OK", "application/json", &json!(request).to_string()),
    };
    stream.write_all(answer.as_bytes()).await
}

async fn fetch(tools: &[Arc<dyn Tool>], arguments: Value) -> Result<Value, (&'static str, String)> {
    call(tools, "web_fetch", arguments, CancellationToken::new()).await
}

const LIMIT: Duration = Duration::from_secs(60);

#[tokio::test]
async fn texts_are_fetched_and_redirects_followed() {
    let server = Server::start().await;
    let tools = server.friend(LIMIT);
    let hello = json!({
        "url": server.url("/hello"),
        "status": 200,
        "contentType": "text/html; charset=utf-8",
        "text": "<p>hällo</p>",
        "truncated": false,
    });
    let missing = json!({
        "url": server.url("/missing"), "status": 404, "contentType": "text/plain", "text": "no", "truncated": false,
    });
    let cut = json!({
        "url": server.url("/hello"),
        "status": 200,
        "contentType": "text/html; charset=utf-8",
        "text": "<p>h",
        "truncated": true,
    });
    let huge = json!({
        "url": server.url("/huge"),
        "status": 200,
        "contentType": "text/plain",
        "text": "x".repeat(100_000),
        "truncated": true,
    });
    let cases = [
        (json!({ "url": server.url("/hello#part") }), hello.clone()),
        (json!({ "url": server.url("/hop") }), hello),
        (json!({ "url": server.url("/missing") }), missing),
        (json!({ "url": server.url("/hello"), "maxBytes": 5 }), cut),
        (json!({ "url": server.url("/huge"), "maxBytes": 1_000_000 }), huge),
    ];
    for (arguments, expected) in cases {
        assert_eq!(fetch(&tools, arguments).await, Ok(expected));
    }
}

#[tokio::test]
async fn nothing_but_the_public_internet_and_allowed_hosts_is_reached() {
    let server = Server::start().await;
    let tools = server.friend(LIMIT);
    let port = server.port;
    let cases = [
        (server.url("/inward"), "denied_address"),
        (server.url("/metadata"), "denied_address"),
        // A name is looked up, and all it leads to is checked.
        (server.url("/elsewhere"), "denied_address"),
        (format!("http://localhost:{port}/hello"), "denied_address"),
        (format!("http://127.0.0.2:{port}/hello"), "denied_address"),
        (
            format!("http://[::ffff:127.0.0.1]:{port}/hello"),
            "denied_address",
        ),
        (
            format!("http://2130706433:{port}/hello"),
            "not the number but what it means",
        ),
        ("http://127.0.0.1:1/".to_owned(), "denied_address"),
        (format!("http://me:secret@127.0.0.1:{port}/hello"), "invalid_url"),
        (server.url("/file"), "invalid_url"),
        ("nonsense".to_owned(), "invalid_url"),
        ("ftp://example.com/".to_owned(), "invalid_url"),
        (server.url("/loop"), "too_many_redirects"),
    ];
    for (url, code) in cases {
        let answer = fetch(&tools, json!({ "url": url })).await;
        match answer {
            // The number is another spelling of the host that is allowed.
            Ok(value) => assert_eq!(
                (value["url"].clone(), code),
                (json!(server.url("/hello")), "not the number but what it means")
            ),
            Err((seen, message)) => assert_eq!(seen, code, "{url}: {message}"),
        }
    }
    let strangers = fetcher(WebFetchConfig::default());
    let refused = fetch(&strangers, json!({ "url": server.url("/hello") })).await;
    let message = "`127.0.0.1` is not on the public internet; only configured hosts may be reached there";
    assert_eq!(refused, Err(("denied_address", message.to_owned())));
}

#[tokio::test]
async fn an_allowed_name_is_reached_whatever_it_leads_to() {
    let server = Server::start().await;
    let tools = fetcher(WebFetchConfig {
        allowed_hosts: vec!["LocalHost".into()],
        ..WebFetchConfig::default()
    });
    let url = format!("http://localhost:{}/hello", server.port);
    let answer = fetch(&tools, json!({ "url": url })).await.unwrap();
    assert_eq!((&answer["status"], &answer["url"]), (&json!(200), &json!(url)));
}

#[tokio::test]
async fn what_is_no_text_is_refused_with_its_size() {
    let server = Server::start().await;
    let tools = server.friend(LIMIT);
    let cases = [
        ("/picture", "the answer is `image/png` (5 bytes), not text"),
        ("/lies", "the answer is binary data, not text"),
    ];
    for (path, message) in cases {
        let refused = fetch(&tools, json!({ "url": server.url(path) })).await;
        assert_eq!(refused, Err(("not_text", message.to_owned())));
    }
}

#[tokio::test]
async fn requests_say_nothing_but_what_they_want() {
    let server = Server::start().await;
    let answer = fetch(&server.friend(LIMIT), json!({ "url": server.url("/echo?q=1") }))
        .await
        .unwrap();
    let request: String = serde_json::from_str(answer["text"].as_str().unwrap()).unwrap();
    let expected = format!(
        "GET /echo?q=1 HTTP/1.1\r\naccept: text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.5\r\n\
         user-agent: codecell/{}\r\nhost: 127.0.0.1:{}\r\n\r\n",
        env!("CARGO_PKG_VERSION"),
        server.port
    );
    assert_eq!(request, expected);
}

#[tokio::test]
async fn an_answer_that_does_not_end_is_given_up() {
    let server = Server::start().await;
    let slow = json!({ "url": server.url("/slow") });
    let late = fetch(&server.friend(Duration::from_millis(200)), slow.clone()).await;
    let message = "the answer did not come within 200 ms".to_owned();
    assert_eq!(late, Err(("timed_out", message)));

    server.begun.notified().await;
    let cancel = CancellationToken::new();
    let tools = server.friend(LIMIT);
    let calling = call(&tools, "web_fetch", slow, cancel.clone());
    let cancelling = async {
        server.begun.notified().await;
        cancel.cancel();
    };
    let (answer, ()) = tokio::join!(calling, cancelling);
    assert_eq!(answer, Err(("cancelled", "the call was cancelled".to_owned())));
}
