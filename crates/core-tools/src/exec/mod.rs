//! `exec`: a shell command with limits.
//!
//! A command is confined by time and output only: it can read, change and reach what this process can. Whatever stays
//! in its process group is ended with it, also when this process is killed; a program that makes itself a session of its own (`setsid`) is not.

mod capped;
mod group;

use std::collections::BTreeMap;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use codecell_tools::{BoxFuture, Tool, ToolCall, ToolDefinition, ToolError, ToolResult};
use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use self::capped::Capped;
use self::group::{Ended, Group};
use crate::CoreToolsError;
use crate::adapter::{Effect, arguments, check, closed, define, value};
use crate::guardian::Guardian;
use crate::problem;
use crate::roots::{Place, Roots};

/// Time that a command gets between SIGTERM and SIGKILL.
const TERM_GRACE: Duration = Duration::from_secs(1);

/// How long output is still taken after the shell has ended: something it left in the background may hold the pipes
/// open for ever.
const DRAIN: Duration = Duration::from_millis(500);

/// What a command inherits. Everything else of the environment, tokens above all, has to be configured by name.
const INHERITED: [&str; 4] = ["PATH", "HOME", "LANG", "TERM"];

/// Waits for a word before it becomes the shell of the command: until then the command is not guarded, and a process
/// that is killed before it gives the word leaves nothing behind.
const STARTER: &str = r#"read -r word && exec /bin/sh -c "$1" </dev/null"#;

/// The limits of the shell tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecConfig {
    /// Time for a command that asks for none of its own.
    pub default_limit: Duration,
    /// Most time that a command may ask for.
    pub max_limit: Duration,
    /// Most bytes that are kept of standard output, and as many of standard error: the beginning and the end.
    pub max_output_bytes: usize,
    /// Names of variables that commands inherit beside `PATH`, `HOME`, `LANG` and `TERM`.
    pub env: Vec<String>,
}

impl Default for ExecConfig {
    /// Two minutes, at most ten; 64 KiB of each stream; no further variables.
    fn default() -> Self {
        Self {
            default_limit: Duration::from_secs(120),
            max_limit: Duration::from_secs(600),
            max_output_bytes: 64 << 10,
            env: Vec::new(),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    command: String,
    cwd: Option<String>,
    timeout_ms: Option<u64>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<String>,
    stdout: String,
    stderr: String,
    truncated: bool,
    timed_out: bool,
}

pub(crate) struct Exec {
    definition: ToolDefinition,
    config: Arc<ExecConfig>,
    roots: Arc<Roots>,
    guardian: Arc<Guardian>,
}

pub(crate) fn tool(config: ExecConfig, roots: &Arc<Roots>) -> Result<Exec, CoreToolsError> {
    if roots.is_empty() {
        return Err(CoreToolsError::ExecWithoutRoot);
    }
    if let Some(name) = config.env.iter().find(|name| !is_variable(name)) {
        return Err(CoreToolsError::Variable(name.clone()));
    }
    let max = u64::try_from(config.max_limit.as_millis()).unwrap_or(u64::MAX);
    let default = config.default_limit.min(config.max_limit).as_millis();
    let description = format!(
        "Run a command with `sh -c` in the root folder, or in `cwd` beneath it. No input, a short environment, {default} ms \
         unless `timeoutMs` says otherwise. When the shell ends, or time is up (`timedOut`), everything it started is \
         ended. Of long output the middle is left out (`truncated`). `exitCode` is null when a signal ended the shell."
    );
    let definition = define(
        "exec",
        "Run a command",
        &description,
        [
            closed(
                json!({
                    "command": { "type": "string" },
                    "cwd": { "type": "string", "description": "Folder inside the roots" },
                    "timeoutMs": { "type": "integer", "minimum": 1, "maximum": max },
                    "env": { "type": "object", "additionalProperties": { "type": "string" } },
                }),
                &["command"],
            ),
            closed(
                json!({
                    "exitCode": { "type": ["integer", "null"] },
                    "signal": { "type": "string" },
                    "stdout": { "type": "string" },
                    "stderr": { "type": "string" },
                    "truncated": { "type": "boolean" },
                    "timedOut": { "type": "boolean" },
                }),
                &["exitCode", "stdout", "stderr", "truncated", "timedOut"],
            ),
        ],
        Effect::Acts,
    );
    Ok(Exec {
        definition,
        config: Arc::new(config),
        roots: Arc::clone(roots),
        guardian: Arc::default(),
    })
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

impl Tool for Exec {
    fn definition(&self) -> ToolDefinition {
        self.definition.clone()
    }

    fn call(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
        let (config, roots) = (Arc::clone(&self.config), Arc::clone(&self.roots));
        let guardian = Arc::clone(&self.guardian);
        Box::pin(async move {
            let given: Arguments = arguments(&call)?;
            check(&call.cancel)?;
            let limit = given
                .timeout_ms
                .map_or(config.default_limit, Duration::from_millis)
                .min(config.max_limit);
            let output = config.max_output_bytes;
            // Starting a program looks up folders and waits for the system.
            let started = tokio::task::spawn_blocking(move || start(&config, &roots, &guardian, &given))
                .await
                .map_err(|_| ToolError::new("internal_error", "the shell could not be started"))??;
            let answer = run(started, limit, output, &call.cancel).await?;
            value(&answer)
        })
    }
}

/// A shell that runs.
struct Started {
    group: Group,
    ended: oneshot::Receiver<Ended>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
}

fn start(
    config: &ExecConfig,
    roots: &Roots,
    guardian: &Arc<Guardian>,
    given: &Arguments,
) -> Result<Started, ToolError> {
    if given.command.contains('\0') {
        let message = "a command cannot contain a NUL character";
        return Err(ToolError::new("invalid_arguments", message));
    }
    let place = match &given.cwd {
        Some(path) => roots.place(path)?,
        None => roots.all().next().ok_or_else(|| problem::outside("."))?,
    };
    let folder = place.open_folder()?;
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", STARTER, "/bin/sh"])
        .arg(&given.command)
        .current_dir(spell(&place, &folder))
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    let configured = config.env.iter().map(String::as_str);
    for name in INHERITED.into_iter().chain(configured) {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    for (name, value) in &given.env {
        if !is_variable(name) || value.contains('\0') {
            let message = format!("`{}` cannot be an environment variable", problem::shown(name));
            return Err(ToolError::new("invalid_arguments", message));
        }
        command.env(name, value);
    }
    guardian.stand_by();
    let mut child = command.spawn().map_err(|error| {
        let message = format!("the shell cannot be started: {error}");
        ToolError::new("unavailable", message)
    })?;
    drop(folder);
    let (word, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    // From here on the group is ended on every way out.
    let (group, ended) = Group::lead(child, guardian);
    if let Some(mut word) = word {
        // Fails only if the shell has gone already, which is told like any other end.
        let _ = word.write_all(b"\n");
    }
    let unreadable = |error| ToolError::new("io_error", format!("the output cannot be read: {error}"));
    Ok(Started {
        group,
        ended,
        stdout: stdout
            .map(ChildStdout::from_std)
            .transpose()
            .map_err(unreadable)?,
        stderr: stderr
            .map(ChildStderr::from_std)
            .transpose()
            .map_err(unreadable)?,
    })
}

/// The folder in words that the child changes to. Where it can, it takes the very folder that was opened, not
/// whatever its path may lead to a moment later.
fn spell(place: &Place<'_>, folder: &OwnedFd) -> PathBuf {
    let opened = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()));
    if cfg!(target_os = "linux") && opened.exists() {
        opened
    } else {
        place.root.path.join(&place.rel)
    }
}

/// Why a command is no longer waited for.
enum Outcome {
    Ended(Ended),
    TimedOut,
    Cancelled,
}

async fn run(
    started: Started,
    limit: Duration,
    output: usize,
    cancel: &CancellationToken,
) -> Result<Answer, ToolError> {
    let Started {
        group,
        mut ended,
        stdout,
        stderr,
    } = started;
    let kept = [Mutex::new(Capped::new(output)), Mutex::new(Capped::new(output))];
    let [out, err] = &kept;
    let mut reading = std::pin::pin!(async {
        tokio::join!(keep(stdout, out), keep(stderr, err));
    });
    let mut read = false;
    let outcome = {
        let mut time = std::pin::pin!(sleep(limit));
        loop {
            tokio::select! {
                how = &mut ended => break Outcome::Ended(how.unwrap_or(Ended::Unknown)),
                () = cancel.cancelled() => break Outcome::Cancelled,
                () = &mut time => break Outcome::TimedOut,
                () = &mut reading, if !read => read = true,
            }
        }
    };
    let (how, timed_out) = match outcome {
        Outcome::Ended(how) => (how, false),
        Outcome::TimedOut | Outcome::Cancelled => {
            group.signal(Signal::TERM);
            let how = leave(&mut ended, reading.as_mut(), &mut read).await;
            group.signal(Signal::KILL);
            let how = match how {
                Some(how) => how,
                // Nothing survives SIGKILL, but a process that waits for a broken disk takes its time.
                None => match timeout(TERM_GRACE, ended).await {
                    Ok(how) => how.unwrap_or(Ended::Unknown),
                    Err(_) => Ended::Unknown,
                },
            };
            if matches!(outcome, Outcome::Cancelled) {
                return Err(problem::cancelled());
            }
            (how, true)
        }
    };
    if !read {
        let _ = timeout(DRAIN, reading.as_mut()).await;
    }
    drop(group);
    let [stdout, stderr] = [out, err].map(|kept| {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *kept, Capped::new(0))
    });
    let (exit_code, signal) = match how {
        Ended::Exited(code) => (Some(code), None),
        Ended::Killed(signal) => (None, Some(group::name(signal))),
        Ended::Unknown => (None, None),
    };
    Ok(Answer {
        exit_code,
        signal,
        truncated: stdout.is_cut() || stderr.is_cut(),
        stdout: stdout.into_text(),
        stderr: stderr.into_text(),
        timed_out,
    })
}

/// Waits for a command that was asked to leave: until the shell has ended and nobody holds its pipes, or the grace is
/// over.
async fn leave(
    ended: &mut oneshot::Receiver<Ended>,
    mut reading: std::pin::Pin<&mut impl Future<Output = ()>>,
    read: &mut bool,
) -> Option<Ended> {
    let mut how = None;
    let both = async {
        while how.is_none() || !*read {
            tokio::select! {
                end = &mut *ended, if how.is_none() => how = Some(end.unwrap_or(Ended::Unknown)),
                () = reading.as_mut(), if !*read => *read = true,
            }
        }
    };
    let _ = timeout(TERM_GRACE, both).await;
    how
}

/// Reads a stream to its end.
async fn keep(stream: Option<impl AsyncRead + Unpin>, kept: &Mutex<Capped>) {
    let Some(mut stream) = stream else { return };
    let mut buffer = vec![0; 16 << 10];
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        let bytes = buffer.get(..count).unwrap_or_default();
        kept.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
    }
}
