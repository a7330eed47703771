//! The process's side: answers people who ask what waits.
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use codecell::tools::{Approvals, RouteGuard};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::folder;
use super::wire::{MAX_LINE_BYTES, Request, Response};

/// Longest time a person's program may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(5);

/// An open socket. Dropping it closes the route; questions that are open then wait for another one.
pub(crate) struct Desk {
    socket: PathBuf,
    closed: CancellationToken,
    _route: RouteGuard,
}

impl Desk {
    /// Opens the socket of this process.
    ///
    /// # Errors
    ///
    /// Fails when the folder is not this user's alone, or no socket can be made in it.
    pub(crate) fn open(approvals: &Approvals) -> io::Result<Self> {
        let folder = folder::path();
        folder::create(&folder)?;
        let name = Uuid::new_v4().simple().to_string();
        let socket = folder.join(format!(
            "{}.{}",
            name.get(..12).unwrap_or(&name),
            folder::EXTENSION
        ));
        let listener = UnixListener::bind(&socket)?;
        let closed = CancellationToken::new();
        tokio::spawn(serve(listener, approvals.clone(), closed.clone()));
        Ok(Self {
            socket,
            closed,
            _route: approvals.add_route(),
        })
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.closed.cancel();
        // One that stays behind is removed by whoever finds that nobody answers it.
        let _left_behind = std::fs::remove_file(&self.socket);
    }
}

async fn serve(listener: UnixListener, approvals: Approvals, closed: CancellationToken) {
    while let Some(accepted) = closed.run_until_cancelled(listener.accept()).await {
        match accepted {
            Ok((stream, _)) => {
                tokio::spawn(tokio::time::timeout(PATIENCE, answer(stream, approvals.clone())));
            }
            Err(error) => {
                tracing::warn!(%error, "the approvals socket fails");
                tokio::time::sleep(PATIENCE).await;
            }
        }
    }
}

async fn answer(mut stream: UnixStream, approvals: Approvals) -> io::Result<()> {
    // The folder keeps others out; this holds as well where its mode was changed under us.
    if stream.peer_cred()?.uid() != folder::user() {
        return Ok(());
    }
    let mut line = String::new();
    let (read, mut write) = stream.split();
    BufReader::new(read.take(MAX_LINE_BYTES))
        .read_line(&mut line)
        .await?;
    let response = match serde_json::from_str(&line) {
        Ok(Request::List) => Response::Pending(approvals.list()),
        Ok(Request::Decide { id, decision }) => match approvals.decide(&id, decision) {
            Ok(()) => Response::Decided,
            Err(error) => Response::Refused(error.to_string()),
        },
        Err(error) => Response::Refused(format!("the request was not understood: {error}")),
    };
    let mut text = serde_json::to_vec(&response)?;
    text.push(b'\n');
    write.write_all(&text).await
}
