//! JSON-RPC over standard input and output, one message a line.
//!
//! rmcp has such a transport; this one differs where a gateway must not be fragile: a line that is no message is
//! answered and never ends the connection, the connection outlives a failed handshake, and a result can be sent
//! as the exact text it was given in, integers of any size included.
use std::sync::Arc;

use rmcp::model::{
    CustomResult, ErrorCode, ErrorData, JsonRpcMessage, NumberOrString, RequestId, ServerJsonRpcMessage,
    ServerResult,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{ErrorData as McpError, RoleServer};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

/// Longest line that is accepted, in bytes.
///
/// A program and its arguments are small; without a limit a peer that never ends its line takes all memory.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// The key that marks a result which is written as text. No peer can forge it: only results pass this way.
const RAW_RESULT: &str = "codecell/raw-result";

/// Wraps the JSON text of a result, so that [`Stdio`] writes it byte for byte.
pub(crate) fn raw_result(text: String) -> CustomResult {
    CustomResult::new(json!({ RAW_RESULT: text }))
}

/// The length of a result wrapped by [`raw_result`], in bytes.
pub(crate) fn raw_len(result: &CustomResult) -> usize {
    let text = result.0.get(RAW_RESULT).and_then(Value::as_str);
    text.map_or(0, str::len)
}

/// One end of a connection. Clones share it, so a second handshake can follow a failed first one.
pub(crate) struct Stdio<R, W> {
    read: Arc<Mutex<Lines<R>>>,
    write: Arc<Mutex<W>>,
    /// Fires when the peer has closed its side.
    closed: CancellationToken,
}

impl<R, W> Clone for Stdio<R, W> {
    fn clone(&self) -> Self {
        Self {
            read: Arc::clone(&self.read),
            write: Arc::clone(&self.write),
            closed: self.closed.clone(),
        }
    }
}

impl<R: AsyncRead + Send + Unpin + 'static, W: AsyncWrite + Send + Unpin + 'static> Stdio<R, W> {
    pub(crate) fn new(read: R, write: W) -> Self {
        Self {
            read: Arc::new(Mutex::new(Lines {
                read: BufReader::new(read),
                line: Vec::new(),
                skipping: false,
            })),
            write: Arc::new(Mutex::new(write)),
            closed: CancellationToken::new(),
        }
    }

    /// Fires when the peer has closed its side; nothing is read any more.
    pub(crate) fn closed(&self) -> CancellationToken {
        self.closed.clone()
    }
}

impl<R: AsyncRead + Send + Unpin + 'static, W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer>
    for Stdio<R, W>
{
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let write = Arc::clone(&self.write);
        async move {
            let line = encode(&item)?;
            let mut write = write.lock().await;
            write.write_all(&line).await?;
            write.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        let read = Arc::clone(&self.read);
        loop {
            let refusal = match read.lock().await.next().await {
                Line::Text(line) => match decode(&line) {
                    Ok(Some(message)) => return Some(message),
                    Ok(None) => continue,
                    Err(refusal) => *refusal,
                },
                Line::TooLong => refuse(
                    ErrorCode::INVALID_REQUEST,
                    format!("the message is longer than {MAX_LINE_BYTES} bytes"),
                    None,
                ),
                Line::End => {
                    self.closed.cancel();
                    return None;
                }
            };
            // A peer that cannot be written to shows as the end of its input soon enough.
            let _unsent = self.send(refusal).await;
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.write.lock().await.flush().await
    }
}

/// Reads bounded lines. A read that is dropped half way loses nothing: the partial line stays here.
struct Lines<R> {
    read: BufReader<R>,
    line: Vec<u8>,
    skipping: bool,
}

enum Line {
    Text(Vec<u8>),
    TooLong,
    End,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    async fn next(&mut self) -> Line {
        loop {
            let available = match self.read.fill_buf().await {
                Ok(available) if !available.is_empty() => available,
                Ok(_) => return Line::End,
                Err(error) => {
                    tracing::warn!(%error, "standard input cannot be read");
                    return Line::End;
                }
            };
            let newline = available.iter().position(|byte| *byte == b'\n');
            let taken = newline.map_or(available.len(), |at| at + 1);
            let too_long = self.line.len() + taken > MAX_LINE_BYTES;
            if !self.skipping && !too_long {
                self.line.extend(available.iter().take(taken));
            }
            self.read.consume(taken);
            if self.skipping {
                self.skipping = newline.is_none();
            } else if too_long {
                self.line = Vec::new();
                self.skipping = newline.is_none();
                return Line::TooLong;
            } else if newline.is_some() {
                return Line::Text(std::mem::take(&mut self.line));
            }
        }
    }
}

/// What a line says: a message, nothing worth an answer, or the answer that tells the peer its mistake.
fn decode(line: &[u8]) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Box<ServerJsonRpcMessage>> {
    const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    let reason = match serde_json::from_slice(line) {
        Ok(message) => return Ok(Some(message)),
        Err(error) => error,
    };
    let Ok(value) = serde_json::from_slice::<Value>(line) else {
        return Err(Box::new(refuse(
            ErrorCode::PARSE_ERROR,
            format!("the line is not JSON: {reason}"),
            None,
        )));
    };
    let id = value.get("id").and_then(request_id);
    if id.is_none() && value.get("method").is_some() {
        tracing::debug!(%reason, "a notification that cannot be read is ignored");
        return Ok(None);
    }
    Err(Box::new(refuse(
        ErrorCode::INVALID_REQUEST,
        "the message is not a JSON-RPC request".into(),
        id,
    )))
}

fn request_id(value: &Value) -> Option<RequestId> {
    match value {
        Value::String(text) => Some(NumberOrString::String(text.as_str().into())),
        Value::Number(number) => number.as_i64().map(NumberOrString::Number),
        _ => None,
    }
}

fn refuse(code: ErrorCode, message: String, id: Option<RequestId>) -> ServerJsonRpcMessage {
    let error: ErrorData = McpError::new(code, message, None);
    ServerJsonRpcMessage::error(error, id)
}

fn encode(message: &ServerJsonRpcMessage) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = match raw_response(message) {
        Some((id, text)) => {
            #[derive(serde::Serialize)]
            struct Response<'a> {
                jsonrpc: &'a str,
                id: &'a RequestId,
                result: &'a RawValue,
            }
            let result: &RawValue = serde_json::from_str(text)?;
            serde_json::to_vec(&Response {
                jsonrpc: "2.0",
                id,
                result,
            })?
        }
        None => serde_json::to_vec(message)?,
    };
    line.push(b'\n');
    Ok(line)
}

fn raw_response(message: &ServerJsonRpcMessage) -> Option<(&RequestId, &str)> {
    let JsonRpcMessage::Response(response) = message else {
        return None;
    };
    let ServerResult::CustomResult(CustomResult(value)) = &response.result else {
        return None;
    };
    Some((&response.id, value.get(RAW_RESULT)?.as_str()?))
}

#[cfg(test)]
mod tests {
    use rmcp::model::{JsonRpcMessage, NumberOrString, ServerJsonRpcMessage, ServerResult};
    use rmcp::transport::Transport;

    use super::{MAX_LINE_BYTES, Stdio, encode, raw_result};

    /// Feeds `input` to a fresh connection; the methods of the messages that came through, and what was answered.
    async fn talk(input: &[u8]) -> (Vec<String>, String) {
        let (client, server) = tokio::io::duplex(4096);
        let (server_read, _server_write) = tokio::io::split(server);
        let (_client_read, mut client_write) = tokio::io::split(client);
        let mut stdio = Stdio::new(server_read, Vec::new());
        let feed = async {
            tokio::io::AsyncWriteExt::write_all(&mut client_write, input)
                .await
                .unwrap();
            tokio::io::AsyncWriteExt::shutdown(&mut client_write)
                .await
                .unwrap();
        };
        let listen = async {
            let mut methods = Vec::new();
            while let Some(message) = stdio.receive().await {
                let value = serde_json::to_value(&message).unwrap();
                methods.push(value["method"].as_str().unwrap_or("?").to_owned());
            }
            methods
        };
        let ((), methods) = tokio::join!(feed, listen);
        assert!(stdio.closed().is_cancelled());
        let answered = String::from_utf8(stdio.write.lock().await.clone()).unwrap();
        (methods, answered)
    }

    #[tokio::test]
    async fn noise_is_answered_and_the_next_message_arrives() {
        let cases: [(&[u8], &str); 7] = [
            (b"\n  \r\n", ""),
            (b"\xEF\xBB\xBF", ""),
            (b"hello\n", "-32700"),
            (b"\xFF\xFE\n", "-32700"),
            (b"42\n", "-32600"),
            (b"[]\n", "-32600"),
            (b"{\"jsonrpc\":\"2.0\",\"method\":7}\n", ""),
        ];
        for (noise, code) in cases {
            let mut input = noise.to_vec();
            input.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
            let (methods, answered) = talk(&input).await;
            assert_eq!(methods, ["ping"], "{noise:?}");
            if code.is_empty() {
                assert_eq!(answered, "", "{noise:?}");
            } else {
                assert!(
                    answered.contains(code) && answered.ends_with('\n'),
                    "{noise:?}: {answered}"
                );
            }
        }
    }

    #[tokio::test]
    async fn a_line_without_end_is_refused_with_the_limit() {
        let mut input = vec![b'x'; MAX_LINE_BYTES + 5];
        input.extend_from_slice(b"\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
        let (methods, answered) = talk(&input).await;
        assert_eq!(methods, ["ping"]);
        assert!(
            answered.contains("the message is longer than 16777216 bytes"),
            "{answered}"
        );
    }

    #[test]
    fn a_raw_result_is_written_byte_for_byte() {
        let text = r#"{"big":123456789012345678901234567890,"b":1,"a":1.0}"#;
        let message = ServerJsonRpcMessage::response(
            ServerResult::CustomResult(raw_result(text.to_owned())),
            NumberOrString::Number(3),
        );
        assert!(matches!(message, JsonRpcMessage::Response(_)));
        let line = String::from_utf8(encode(&message).unwrap()).unwrap();
        assert_eq!(
            line,
            format!("{{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{text}}}\n")
        );
    }
}
