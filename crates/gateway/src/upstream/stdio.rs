//! The transport over a child's standard streams.
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use codecell_core_tools::Guardian;
use tokio::{
    io::{AsyncWriteExt, BufReader},
    process::{ChildStdin, ChildStdout},
    sync::{mpsc, watch},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::{
    lines::{Line, id_of_oversized, next_line},
    message,
    outbox::Outbox,
    peer::{Inner, Link, Peer},
    process::{self, Group},
    stderr::Tail,
};
use crate::config::{ServerConfig, Transport};

/// Time a child gets to exit after it closed its output or input, so that its status can be told.
const EXIT_GRACE: Duration = Duration::from_millis(500);

/// Time to read what an exited child still left in its pipes. A grandchild may hold them open for ever.
const DRAIN_GRACE: Duration = Duration::from_millis(300);

/// Lines of noise on standard output that are logged; the rest is only counted.
const LOGGED_NOISE: u64 = 5;

/// Longest part of a noisy line that is logged.
const NOISE_CHARS: usize = 200;

/// Buffer for reading: answers of megabytes should not take thousands of reads.
const READ_BUFFER: usize = 64 * 1024;

pub(super) struct Stdio {
    pub(super) outbox: Outbox,
    pub(super) stderr: Arc<Tail>,
    pub(super) noise: AtomicU64,
    stop: CancellationToken,
    gone: watch::Sender<bool>,
}

impl Stdio {
    /// A link to nobody yet.
    pub(super) fn new(limit: u64, stderr: Arc<Tail>) -> Self {
        Self {
            outbox: Outbox::new(limit),
            stderr,
            noise: AtomicU64::new(0),
            stop: CancellationToken::new(),
            gone: watch::Sender::new(false),
        }
    }

    /// Starts the child and its tasks.
    pub(super) fn start(
        config: &ServerConfig,
        guardian: &Arc<Guardian>,
        limit: u64,
        list_changed: mpsc::Sender<()>,
    ) -> Result<Peer, String> {
        let Transport::Stdio {
            command,
            args,
            env,
            cwd,
        } = &config.transport
        else {
            return Err("is no stdio server".to_owned());
        };
        let (mut child, group) = process::start(command, args, env, cwd.as_deref().map(Path::new), guardian)?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err("has no standard streams".to_owned());
        };
        let tail = Arc::new(Tail::default());
        let link = Link::Stdio(Self::new(limit, Arc::clone(&tail)));
        let inner = Arc::new(Inner::new(config, link, limit, list_changed));
        tokio::spawn(supervise(
            Arc::clone(&inner),
            Streams {
                child,
                group,
                stdin,
                stdout,
                stderr,
            },
            tail,
        ));
        Ok(Peer(inner))
    }

    /// Ends the child's whole group and waits until it is gone.
    pub(super) async fn stop(&self) {
        self.stop.cancel();
        let mut gone = self.gone.subscribe();
        let _ = gone.wait_for(|gone| *gone).await;
    }
}

struct Streams {
    child: tokio::process::Child,
    group: Group,
    stdin: ChildStdin,
    stdout: ChildStdout,
    stderr: tokio::process::ChildStderr,
}

/// Owns the child from start to end. The order at the end matters: first everyone who waits is told why,
/// then the group is taken down.
async fn supervise(inner: Arc<Inner>, streams: Streams, tail: Arc<Tail>) {
    let Streams {
        mut child,
        group,
        stdin,
        stdout,
        stderr,
    } = streams;
    let Link::Stdio(link) = &inner.link else { return };
    let mut errors = tokio::spawn(async move { tail.follow(stderr).await });
    let mut writer = tokio::spawn(write(stdin, Arc::clone(&inner)));
    let mut reader = tokio::spawn(read(stdout, Arc::clone(&inner)));
    let reason = tokio::select! {
        _ = &mut reader => end_of(&mut child, "closed its output").await,
        _ = &mut writer => {
            let reason = end_of(&mut child, "closed its input").await;
            let _ = timeout(DRAIN_GRACE, &mut reader).await;
            reason
        }
        status = child.wait() => {
            let _ = timeout(DRAIN_GRACE, &mut reader).await;
            status.map_or_else(|_| "exited".to_owned(), process::describe)
        }
        () = link.stop.cancelled() => "was stopped".to_owned(),
    };
    if !link.stop.is_cancelled() {
        // What it said last is the best explanation there is.
        let _ = timeout(DRAIN_GRACE, &mut errors).await;
    }
    inner.close(&reason);
    // Ends the writer, which closes the child's input.
    if !writer.is_finished() {
        writer.abort();
        let _ = writer.await;
    }
    link.outbox.end();
    group.end(child).await;
    reader.abort();
    errors.abort();
    link.gone.send_replace(true);
}

/// How a child ended that stopped listening or talking; `otherwise` if it stays.
async fn end_of(child: &mut tokio::process::Child, otherwise: &str) -> String {
    match timeout(EXIT_GRACE, child.wait()).await {
        Ok(Ok(status)) => process::describe(status),
        Ok(Err(_)) | Err(_) => otherwise.to_owned(),
    }
}

/// Ends when the child takes no more: it never will again.
async fn write(mut stdin: ChildStdin, inner: Arc<Inner>) {
    let Link::Stdio(link) = &inner.link else { return };
    loop {
        let mut text = link.outbox.next().await;
        text.push('\n');
        if stdin.write_all(text.as_bytes()).await.is_err() || stdin.flush().await.is_err() {
            break;
        }
    }
    link.outbox.end();
}

async fn read(stdout: ChildStdout, inner: Arc<Inner>) {
    let mut reader = BufReader::with_capacity(READ_BUFFER, stdout);
    while let Ok(Some(line)) = next_line(&mut reader, inner.limit).await {
        match line {
            Line::Whole(bytes) => take(&inner, &bytes),
            Line::Oversized { head, tail, length } => {
                inner.oversized(id_of_oversized(&head, &tail), length);
            }
        }
    }
}

fn take(inner: &Arc<Inner>, bytes: &[u8]) {
    // Not every server writes UTF-8; a damaged text is better than a call that waits for ever.
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return;
    }
    let messages = message::parse_all(text);
    if messages.is_empty() {
        noise(inner, text);
    }
    for incoming in messages {
        inner.deliver(incoming);
    }
}

fn noise(inner: &Inner, text: &str) {
    let Link::Stdio(link) = &inner.link else { return };
    let before = link.noise.fetch_add(1, Ordering::Relaxed);
    if before < LOGGED_NOISE {
        tracing::warn!(
            server = inner.server,
            line = message::clip(text, NOISE_CHARS),
            "skipped a line on standard output that is no protocol message"
        );
    }
}
