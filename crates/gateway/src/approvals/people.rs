//! The person's side: asks every process of this user.
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use codecell::tools::{Decision, PendingApproval};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use super::folder;
use super::wire::{MAX_LINE_BYTES, Request, Response};

/// Longest wait for one process: it only has to look something up.
const PATIENCE: Duration = Duration::from_secs(5);

/// A question, and the process that asks it.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) approval: PendingApproval,
    socket: PathBuf,
}

/// Why a question cannot be answered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AskError {
    #[error("no approval `{0}` is waiting; `codecell approvals` lists those that are")]
    Unknown(String),
    #[error("`{asked}` is the beginning of several: {}", .ids.join(", "))]
    Ambiguous { asked: String, ids: Vec<String> },
    #[error("{0}")]
    Refused(String),
    #[error("the process that asks cannot be reached: {0}")]
    Gone(#[from] io::Error),
}

/// Everything that waits, oldest first.
///
/// # Errors
///
/// Fails when the folder cannot be read or is not this user's alone. A process that does not answer is left out.
pub(crate) async fn list() -> io::Result<Vec<Waiting>> {
    let folder = folder::path();
    match folder::check(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        checked => checked?,
    }
    let mut waiting = Vec::new();
    for entry in std::fs::read_dir(&folder)? {
        let socket = entry?.path();
        if socket
            .extension()
            .is_none_or(|extension| extension != folder::EXTENSION)
        {
            continue;
        }
        match ask(&socket, &Request::List).await {
            Ok(Response::Pending(approvals)) => {
                waiting.extend(approvals.into_iter().map(|approval| Waiting {
                    approval,
                    socket: socket.clone(),
                }));
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                // Its process has ended without a farewell.
                let _left_behind = std::fs::remove_file(&socket);
            }
            Ok(_) | Err(_) => tracing::warn!(socket = %socket.display(), "a process does not answer"),
        }
    }
    waiting.sort_by(|a, b| {
        let key = |waiting: &Waiting| (waiting.approval.created_at_ms, waiting.approval.id.clone());
        key(a).cmp(&key(b))
    });
    Ok(waiting)
}

/// The question that `asked` names: its id, or the beginning of it, with or without its kind.
///
/// # Errors
///
/// Fails when none or more than one is meant.
pub(crate) async fn find(asked: &str) -> Result<Waiting, AskError> {
    let mut meant = list().await?;
    if let Some(exact) = meant.iter().position(|waiting| waiting.approval.id == asked) {
        return Ok(meant.swap_remove(exact));
    }
    meant.retain(|waiting| {
        let id = &waiting.approval.id;
        let bare = id.split_once(':').map_or(id.as_str(), |(_, bare)| bare);
        !asked.is_empty() && (id.starts_with(asked) || bare.starts_with(asked))
    });
    match meant.pop() {
        None => Err(AskError::Unknown(asked.to_owned())),
        Some(only) if meant.is_empty() => Ok(only),
        Some(last) => Err(AskError::Ambiguous {
            asked: asked.to_owned(),
            ids: meant
                .iter()
                .chain([&last])
                .map(|waiting| waiting.approval.id.clone())
                .collect(),
        }),
    }
}

/// Settles a question.
///
/// # Errors
///
/// Fails when the process is gone or somebody else was faster.
pub(crate) async fn decide(waiting: &Waiting, decision: Decision) -> Result<(), AskError> {
    let id = waiting.approval.id.clone();
    match ask(&waiting.socket, &Request::Decide { id, decision }).await? {
        Response::Decided => Ok(()),
        Response::Refused(reason) => Err(AskError::Refused(reason)),
        Response::Pending(_) => Err(AskError::Refused("the process answers something else".into())),
    }
}

async fn ask(socket: &Path, request: &Request) -> io::Result<Response> {
    let exchange = async {
        let mut stream = UnixStream::connect(socket).await?;
        let mut line = serde_json::to_vec(request)?;
        line.push(b'\n');
        stream.write_all(&line).await?;
        let mut answer = String::new();
        BufReader::new(stream.take(MAX_LINE_BYTES))
            .read_line(&mut answer)
            .await?;
        Ok(serde_json::from_str(&answer)?)
    };
    tokio::time::timeout(PATIENCE, exchange)
        .await
        .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}
