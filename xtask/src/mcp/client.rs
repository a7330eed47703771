//! A blocking JSON-RPC client over the pipes of a child process.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::process::{Tail, end_group, finish};

/// One line that the server wrote to standard output.
#[derive(Debug, Clone, PartialEq)]
enum Message {
    /// A JSON-RPC message.
    Protocol(Value),
    /// Anything else: over stdio, standard output belongs to the protocol.
    Noise(String),
}

/// An error answer.
#[derive(Debug)]
pub(crate) struct RpcError(pub(crate) Value);

impl std::fmt::Display for RpcError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the server answered with an error: {}", self.0)
    }
}

impl std::error::Error for RpcError {}

/// A running server and everything it has said.
pub(crate) struct Client {
    /// Taken by whoever ends it: a collected child's id may belong to somebody else.
    child: Option<Child>,
    pid: u32,
    stdin: Option<ChildStdin>,
    incoming: Receiver<Message>,
    stderr: Tail,
    /// Messages nobody has asked for yet.
    waiting: VecDeque<Value>,
    noise: Arc<Mutex<Vec<String>>>,
    last_id: u64,
    limit: Duration,
}

impl Client {
    /// Starts `command` in a process group of its own; each answer may take `limit`.
    pub(crate) fn start(command: &mut Command, limit: Duration) -> Result<Client> {
        use std::os::unix::process::CommandExt;
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .with_context(|| format!("starting {command:?}"))?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().context("no standard output")?;
        let stderr = Tail::of(child.stderr.take().context("no standard error")?);
        let (sender, incoming) = mpsc::channel();
        let noise = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&noise);
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let message = match serde_json::from_str::<Value>(&line) {
                    Ok(value) if value["jsonrpc"] == "2.0" => Message::Protocol(value),
                    _ => Message::Noise(line),
                };
                if let Message::Noise(line) = &message {
                    heard
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push(line.clone());
                }
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Ok(Client {
            pid: child.id(),
            child: Some(child),
            stdin,
            incoming,
            stderr,
            waiting: VecDeque::new(),
            noise,
            last_id: 0,
            limit,
        })
    }

    /// The process id of the server.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// The last lines of standard error.
    pub(crate) fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Lines of standard output that were no protocol.
    pub(crate) fn noise(&self) -> Vec<String> {
        self.noise.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sends a request and returns its id at once.
    pub(crate) fn send(&mut self, method: &str, params: Value) -> Result<u64> {
        self.last_id += 1;
        let id = self.last_id;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        Ok(id)
    }

    /// Sends a request and waits for its result.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value> {
        let id = self.send(method, params)?;
        self.answer(id)
    }

    /// Waits for the result of an earlier [`send`](Self::send).
    ///
    /// An error answer is an [`RpcError`].
    pub(crate) fn answer(&mut self, id: u64) -> Result<Value> {
        let mut message = self.await_message(&format!("the answer to request {id}"), |m| {
            m["id"] == id && m.get("method").is_none()
        })?;
        if let Some(error) = message.get("error") {
            return Err(RpcError(error.clone()).into());
        }
        Ok(message["result"].take())
    }

    /// Sends a notification.
    pub(crate) fn notify(&mut self, method: &str, params: Value) -> Result<()> {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
    }

    /// Waits for a notification of one kind and returns its parameters.
    pub(crate) fn notification(&mut self, method: &str) -> Result<Value> {
        let mut message = self.await_message(&format!("a `{method}`"), |m| m["method"] == method)?;
        Ok(message["params"].take())
    }

    /// Writes one raw line.
    pub(crate) fn write_line(&mut self, line: &str) -> Result<()> {
        let stdin = self.stdin.as_mut().context("standard input is already closed")?;
        writeln!(stdin, "{line}")
            .and_then(|()| stdin.flush())
            .with_context(|| format!("writing to the server; it said:\n{}", self.stderr.text()))
    }

    fn write(&mut self, message: &Value) -> Result<()> {
        self.write_line(&message.to_string())
    }

    fn await_message(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        if let Some(index) = self.waiting.iter().position(&wanted) {
            return self.waiting.remove(index).context("a message vanished");
        }
        let end = Instant::now() + self.limit;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.incoming.recv_timeout(left) {
                Ok(Message::Protocol(message)) if wanted(&message) => return Ok(message),
                Ok(Message::Protocol(message)) => self.waiting.push_back(message),
                Ok(Message::Noise(_)) => {}
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    bail!(
                        "{what} did not come within {:?}; standard error:\n{}",
                        self.limit,
                        self.stderr.text()
                    )
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    bail!(
                        "the server closed its output before {what}; standard error:\n{}",
                        self.stderr.text()
                    )
                }
            }
        }
    }

    /// Closes standard input and waits for the server to end; its exit code is `None` after a signal.
    pub(crate) fn close(mut self, limit: Duration) -> Result<Option<i32>> {
        self.stdin = None;
        let end = Instant::now() + limit;
        // The reader sees the end of the output; only then is waiting for the process short.
        while Instant::now() < end {
            match self
                .incoming
                .recv_timeout(end.saturating_duration_since(Instant::now()))
            {
                Ok(_) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    let child = self.child.take().context("the server has already been ended")?;
                    return Ok(finish(child, end)?.code());
                }
                Err(mpsc::RecvTimeoutError::Timeout) => break,
            }
        }
        bail!(
            "the server did not end within {limit:?} of its input; standard error:\n{}",
            self.stderr.text()
        )
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.stdin = None;
        if let Some(child) = self.child.take() {
            end_group(child);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Long enough that no test ever reaches it.
    const AMPLE: Duration = Duration::from_secs(60);

    /// A server that says these lines once it has read one.
    fn script(lines: &[&str], then: &str) -> Client {
        let said: String = lines.iter().map(|line| format!("echo '{line}'\n")).collect();
        let mut command = Command::new("sh");
        command.args(["-c", &format!("read line\n{said}{then}")]);
        Client::start(&mut command, AMPLE).unwrap()
    }

    #[test]
    fn an_answer_is_found_among_everything_else() {
        let mut client = script(
            &[
                "Server ready.",
                r#"{"jsonrpc":"2.0","method":"note","params":{"n":1}}"#,
                r#"{"jsonrpc":"2.0","id":2,"result":"second"}"#,
                r#"{"jsonrpc":"2.0","id":1,"result":"first"}"#,
            ],
            "read line",
        );
        assert_eq!(client.request("a", json!({})).unwrap(), "first");
        assert_eq!(client.answer(2).unwrap(), "second");
        assert_eq!(client.notification("note").unwrap(), json!({ "n": 1 }));
        assert_eq!(client.noise(), ["Server ready."]);
        assert_eq!(
            client.close(AMPLE).unwrap(),
            Some(1),
            "`read` fails at the end of the input"
        );
    }

    #[test]
    fn an_error_answer_is_told_from_a_lost_server() {
        let mut client = script(
            &[r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1}}"#],
            "echo farewell >&2",
        );
        assert!(client.request("a", json!({})).unwrap_err().is::<RpcError>());
        let lost = client.answer(2).unwrap_err();
        assert!(
            !lost.is::<RpcError>() && lost.to_string().contains("closed its output"),
            "{lost}"
        );
    }
}
