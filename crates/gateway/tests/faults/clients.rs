//! Clients that go, stop reading, or send half of what they announce.
use std::io::Write;
use std::process::Stdio;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::client::Client;
use crate::place::{PATIENCE, Place};
use crate::raw::{self, connect};
use crate::scripted::Scripted;
use crate::server::{Server, gone, until};

/// `codecell serve` in front of a server.
async fn serve(scripted: &Scripted) -> (Place, Server) {
    let place = Place::new(&json!({
        "tools": { "codeMode": { "enabled": true, "timeoutMs": 60_000 } },
        "mcp": { "servers": { "fake": scripted.entry() } },
    }));
    let server = Server::start(&place, &[]).await;
    until("the server is ready", async || {
        server.get("/readyz").await.json()["servers"][0]["state"] == "ready"
    })
    .await;
    (place, server)
}

async fn idle(server: &Server) {
    until("nothing runs", async || {
        let runs = server.get("/runs").await.json();
        runs["liveVms"] == 0 && runs["suspendedCells"] == 0
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_stops_reading_holds_up_neither_its_cell_nor_others() {
    // Every bit of news names the tool, so that little work makes more news than the system holds for a reader.
    let tool = "e".repeat(100);
    let list = format!(r#"list() {{ answer '{{"tools":[{{"name":"{tool}","inputSchema":{{}}}}]}}'; }}"#);
    let scripted = Scripted::new(&list);
    let (_place, server) = serve(&scripted).await;
    let mut slow = raw::connect_narrow(&server).await;
    let code =
        format!("for (let i = 0; i < 9000; i++) await MCP.fake['{tool}']({{}}); return 'x'.repeat(60000)");
    slow.write_all(raw::exec(&code).as_bytes()).await.unwrap();
    scripted.until("call").await;
    let client = Client::modern(&server);
    assert_eq!(client.exec("return 1").await["value"], 1);
    idle(&server).await;
    let calls = scripted.log().iter().filter(|line| *line == "call").count();
    assert_eq!(calls, 9000, "the cell did not wait for its reader");
    let mut text = String::new();
    let all = tokio::time::timeout(PATIENCE, slow.read_to_string(&mut text)).await;
    all.unwrap().unwrap();
    let answer = "x".repeat(60000);
    assert!(
        text.contains(&answer),
        "the answer is there for whoever reads at last"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_at_any_point_leaves_nothing_behind() {
    let scripted = Scripted::new("well() { sleep 1000; }\nfault() { sleep 1000; }");
    let (_place, server) = serve(&scripted).await;
    let whole = raw::exec("await MCP.fake.echo({})");
    let body = whole.find("\r\n\r\n").unwrap() + 4;
    for sent in [0, 4, body - 20, body, body + 10, whole.len() - 1] {
        let mut client = connect(&server).await;
        client.write_all(&whole.as_bytes()[..sent]).await.unwrap();
        client.shutdown().await.unwrap();
        drop(client);
        idle(&server).await;
        assert!(!scripted.log().contains(&"call".to_owned()), "{sent}");
    }
    let mut client = connect(&server).await;
    client.write_all(whole.as_bytes()).await.unwrap();
    scripted.until("call").await;
    drop(client);
    idle(&server).await;
    assert_eq!(Client::modern(&server).exec("return 1").await["value"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_http_or_too_much_of_it_is_refused_and_the_next_client_is_served() {
    let scripted = Scripted::new("");
    let (_place, server) = serve(&scripted).await;
    let long = format!(
        "GET /{} HTTP/1.1\r\nhost: localhost\r\n\r\n",
        "x".repeat(1_000_000)
    );
    let many: String = (0..1000).map(|n| format!("x-{n}: 1\r\n")).collect();
    let many = format!("GET /healthz HTTP/1.1\r\nhost: localhost\r\n{many}\r\n");
    for (name, text) in [
        ("another protocol", "EHLO mail.test\r\n\r\n"),
        ("a handshake of TLS", "\u{16}\u{3}\u{1}\0\u{1}\0\r\n\r\n"),
        ("a path of a megabyte", long.as_str()),
        ("a thousand headers", many.as_str()),
        (
            "no length that is one",
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n",
        ),
        (
            "two lengths",
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab",
        ),
    ] {
        let mut client = connect(&server).await;
        // It may hang up before it has read all of this.
        let _refused = client.write_all(text.as_bytes()).await;
        let mut answer = Vec::new();
        let read = tokio::time::timeout(PATIENCE, client.read_to_end(&mut answer)).await;
        let _reset = read.unwrap_or_else(|_| panic!("{name}: the connection is kept"));
        let status = String::from_utf8_lossy(&answer)
            .split(' ')
            .nth(1)
            .map(str::to_owned);
        assert!(
            status.is_none_or(|status| status.starts_with('4')),
            "{name}: {}",
            String::from_utf8_lossy(&answer)
        );
        assert_eq!(server.get("/healthz").await.status, 200, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_host_that_reads_no_answer_any_more_leaves_no_process_behind() {
    let scripted = Scripted::new("");
    let place = Place::new(&json!({ "mcp": { "servers": { "fake": scripted.entry() } } }));
    let mut gateway = place
        .command(&["mcp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    scripted.until("list").await;
    drop(gateway.stdout.take());
    let mut stdin = gateway.stdin.take().unwrap();
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" }
    } });
    let exec = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "exec", "arguments": { "code": "return 1" }
    } });
    // It may have gone already.
    let _gone = writeln!(stdin, "{hello}\n{exec}");
    drop(stdin);
    let ended = tokio::task::spawn_blocking(move || gateway.wait().unwrap());
    tokio::time::timeout(PATIENCE, ended).await.unwrap().unwrap();
    gone(&scripted.processes()).await;
}
