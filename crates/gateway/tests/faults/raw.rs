//! A client of `codecell serve` at the level of bytes.
use serde_json::{Value, json};
use tokio::net::{TcpSocket, TcpStream};

use crate::server::Server;

pub(crate) async fn connect(server: &Server) -> TcpStream {
    let address = server.url.strip_prefix("http://").unwrap();
    TcpStream::connect(address).await.unwrap()
}

/// A connection that holds little of what is not read.
pub(crate) async fn connect_narrow(server: &Server) -> TcpStream {
    let address = server.url.strip_prefix("http://").unwrap();
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(64 * 1024).unwrap();
    socket.connect(address.parse().unwrap()).await.unwrap()
}

/// A request to run a program, of the era without sessions, as it goes over the wire.
pub(crate) fn exec(code: &str) -> String {
    let meta = json!({
        "progressToken": "t",
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "exec", "arguments": { "code": code }, "_meta": meta });
    let body: Value = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let body = body.to_string();
    format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: tools/call\r\nmcp-name: exec\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}
