//! `codecell mcp`: JSON-RPC over standard input and output, one message a line.
//!
//! rmcp has such a transport; with this one a line that is no message is answered and never ends the connection, and
//! the connection outlives a failed handshake.
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{JsonRpcError, JsonRpcMessage};
use rmcp::service::{QuitReason, RxJsonRpcMessage, ServerInitializeError, ServiceExt, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::{ErrorData as McpError, RoleServer};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;

use super::door::Door;
use super::visit::Visit;
use super::wire::{decode, encode};
use crate::wiring::App;

/// Longest line that is accepted, in bytes.
///
/// A program and its arguments are small; without a limit a peer that never ends its line takes all memory.
const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// How long running cells may go on after the caller closed its side.
///
/// Long enough for `echo … | codecell mcp` to see its answer, shorter than any host waits before it kills us.
const END_GRACE: Duration = Duration::from_secs(2);

/// Serves one connection until its peer closes it or `stop` fires, then ends everything that was started for it.
///
/// # Errors
///
/// Fails when the connection's task died, which no input should be able to cause.
pub(crate) async fn serve_stdio<R, W>(
    app: &Arc<App>,
    stdio: Stdio<R, W>,
    stop: CancellationToken,
) -> anyhow::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let visit = Visit::begin(app)?;
    let (closed, gone, abort) = (stdio.closed(), visit.gone(), visit.aborted());
    let stopping = tokio::spawn({
        let stop = stop.clone();
        async move {
            tokio::select! {
                () = stop.cancelled() => gone.cancel(),
                () = closed.cancelled() => {
                    gone.cancel();
                    stop.run_until_cancelled(tokio::time::sleep(END_GRACE)).await;
                }
            }
            abort.cancel();
        }
    });
    let ended = serve(visit.door(), stdio, stop).await;
    stopping.abort();
    visit.end().await;
    ended
}

async fn serve<R, W>(door: Door, stdio: Stdio<R, W>, stop: CancellationToken) -> anyhow::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    loop {
        match door.clone().serve_with_ct(stdio.clone(), stop.clone()).await {
            Ok(service) => {
                return match service.waiting().await? {
                    QuitReason::JoinError(error) => Err(error.into()),
                    _ => Ok(()),
                };
            }
            Err(ServerInitializeError::Cancelled | ServerInitializeError::ConnectionClosed(_)) => {
                return Ok(());
            }
            Err(ServerInitializeError::TransportError { error, .. }) => {
                tracing::warn!(%error, "the caller cannot be written to");
                return Ok(());
            }
            // The handshake was refused or skipped. The peer was told; it may do better next time.
            Err(error) => tracing::warn!(%error, "the handshake failed, waiting for another"),
        }
    }
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
            let mut line = encode(&item)?;
            line.push(b'\n');
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
                Line::TooLong => {
                    let message = format!("the message is longer than {MAX_LINE_BYTES} bytes");
                    JsonRpcError::new(None, McpError::invalid_request(message, None))
                }
                Line::End => {
                    self.closed.cancel();
                    return None;
                }
            };
            // A peer that cannot be written to shows as the end of its input soon enough.
            let _unsent = self.send(JsonRpcMessage::Error(refusal)).await;
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

#[cfg(test)]
mod tests {
    use rmcp::transport::Transport;

    use super::{MAX_LINE_BYTES, Stdio};

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
}
