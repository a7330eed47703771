//! `codecell mcp` over real pipes, and a client that can be asked questions.
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};

use super::place::{PATIENCE, Place};

/// A running server and the test's end of its pipes.
pub(crate) struct Door {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    last_id: u64,
    /// What came while something else was waited for.
    heard: VecDeque<Value>,
}

impl Door {
    /// Starts the server; the client declares these capabilities.
    pub(crate) fn open(place: &Place, capabilities: &Value) -> Self {
        Self::open_with(place, &[], capabilities)
    }

    /// As [`open`](Self::open), with more arguments.
    pub(crate) fn open_with(place: &Place, arguments: &[&str], capabilities: &Value) -> Self {
        let mut child = place
            .command(&[&["mcp"], arguments].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in stdout.lines() {
                if sender.send(line.unwrap()).is_err() {
                    break;
                }
            }
        });
        let mut door = Self {
            child,
            stdin,
            lines,
            last_id: 0,
            heard: VecDeque::new(),
        };
        let client = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": capabilities,
            "clientInfo": { "name": "t", "version": "1" },
        });
        door.request("initialize", client);
        door.say(json!({ "method": "notifications/initialized" }));
        door
    }

    fn say(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{message}\n").as_bytes()).unwrap();
        stdin.flush().unwrap();
    }

    /// Sends a request; gives its id.
    fn send(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.say(json!({ "id": id, "method": method, "params": params }));
        id
    }

    /// The first message that fits, heard before or yet to come.
    fn first(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(position) = self.heard.iter().position(&fits) {
            return self.heard.remove(position).unwrap();
        }
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap();
            let message: Value = serde_json::from_str(&line).unwrap();
            if fits(&message) {
                return message;
            }
            self.heard.push_back(message);
        }
    }

    fn answer(&mut self, id: u64) -> Value {
        // The server numbers its own requests from where it likes.
        self.first(|message| message["id"] == id && message.get("method").is_none())
    }

    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)["result"].clone()
    }

    /// Calls a tool without waiting for it.
    pub(crate) fn start(&mut self, tool: &str, arguments: Value) -> u64 {
        self.send("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// The result of a call that was started.
    pub(crate) fn result(&mut self, call: u64) -> Value {
        self.answer(call)["result"].clone()
    }

    /// Calls a tool; its result.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let call = self.start(tool, arguments);
        self.result(call)
    }

    /// Runs a program; its cell result.
    pub(crate) fn exec(&mut self, code: &str) -> Value {
        self.call("exec", json!({ "code": code }))["structuredContent"].clone()
    }

    /// Goes on with a suspended cell; its cell result.
    pub(crate) fn wait(&mut self, waiting: &Value) -> Value {
        let run = json!({ "runId": waiting["runId"] });
        self.call("wait", run)["structuredContent"].clone()
    }

    /// The names of the listed tools.
    pub(crate) fn tools(&mut self) -> Vec<String> {
        let list = self.request("tools/list", json!({}));
        let tools = list["tools"].as_array().unwrap();
        tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// The next question to the person in front of the client.
    pub(crate) fn asked(&mut self) -> Value {
        self.first(|message| message["method"] == "elicitation/create")
    }

    /// What the person says to it.
    pub(crate) fn reply(&mut self, question: &Value, result: Value) {
        self.say(json!({ "id": question["id"], "result": result }));
    }

    /// The notification that a request is not wanted any more.
    pub(crate) fn withdrawn(&mut self) -> Value {
        self.first(|message| message["method"] == "notifications/cancelled")["params"].clone()
    }

    /// Whether a question came in so far; everything that was sent before the answer to a ping has.
    pub(crate) fn was_asked(&mut self) -> bool {
        self.request("ping", json!({}));
        let mut heard = self.heard.iter();
        heard.any(|message| message["method"] == "elicitation/create")
    }

    /// Closes the server's input and waits for its end.
    pub(crate) fn close(mut self) -> Option<i32> {
        drop(self.stdin.take());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let _already_gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}
