//! A folder with a configuration and files, and the commands that are run in it.
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::BINARY;

/// Longest wait for something in another process: only broken code lets it pass.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The folder. Processes that run in it find each other's questions and those of nobody else.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    /// A place with this configuration, and a folder `files` for the file tools.
    pub(crate) fn new(config: &Value) -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        fs::create_dir(place.path("files")).unwrap();
        place.write("codecell.json5", &config.to_string());
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The binary, with nothing of the user's own in reach.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let folder = self.folder.path();
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guarded-cache");
        let mut command = Command::new(BINARY);
        command
            .args(arguments)
            .current_dir(folder)
            .env("HOME", folder)
            .env("XDG_CONFIG_HOME", folder.join("config"))
            .env("CODECELL_CACHE_DIR", cache)
            .env("CODECELL_RUNTIME_DIR", self.sockets())
            .stdin(Stdio::null());
        for name in ["CODECELL_LOG", "CODECELL_TRAJECTORY", "OPENCLAW_TRAJECTORY"] {
            command.env_remove(name);
        }
        command
    }

    /// Where processes can be reached by people.
    pub(crate) fn sockets(&self) -> PathBuf {
        self.path("run")
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        Ended::of(self.command(arguments).output().unwrap())
    }

    /// Runs a program; its result.
    pub(crate) fn exec(&self, code: &str) -> Value {
        self.run(&["exec", "--code", code]).json()
    }

    /// The value of a program that completes.
    pub(crate) fn value(&self, code: &str) -> Value {
        let result = self.exec(code);
        assert_eq!(result["status"], "completed", "{result}");
        result["value"].clone()
    }

    /// Starts a command that does not end by itself.
    pub(crate) fn start(&self, arguments: &[&str]) -> Running {
        let child = self
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Running(child)
    }

    /// Starts a program that is seen through to its end.
    pub(crate) fn start_exec(&self, code: &str) -> Running {
        self.start(&["exec", "--wait", "--code", code])
    }

    /// The questions that wait.
    pub(crate) fn questions(&self) -> Vec<Value> {
        let listed = self.run(&["approvals", "--json"]);
        serde_json::from_str(&listed.stdout).unwrap_or_else(|_| panic!("{listed:?}"))
    }

    /// The questions that wait, as soon as they are as wanted.
    pub(crate) fn until(&self, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let started = Instant::now();
        loop {
            let questions = self.questions();
            if wanted(&questions) {
                return questions;
            }
            assert!(started.elapsed() < PATIENCE, "never came about: {questions:?}");
        }
    }

    /// So many questions, as soon as they are asked.
    pub(crate) fn wait_for(&self, count: usize) -> Vec<Value> {
        self.until(|questions| questions.len() == count)
    }

    /// The question that waits, or will soon.
    pub(crate) fn question(&self) -> Value {
        self.wait_for(1).remove(0)
    }

    /// Answers the question that waits, or will soon: `allow` or `deny`, and perhaps more.
    pub(crate) fn answer(&self, answer: &[&str]) {
        let id = id_of(&self.question());
        let answered = self.run(&[&["approvals"], answer, &[&id]].concat());
        assert_eq!(answered.code, 0, "{answered:?}");
    }
}

/// The id of a question.
pub(crate) fn id_of(question: &Value) -> String {
    question["id"].as_str().unwrap().to_owned()
}

/// What a command printed and how it ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// The one line of JSON that was printed.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "{self:?}");
        serde_json::from_str(&self.stdout).unwrap()
    }
}

/// A command that runs beside the test, and no longer than it.
pub(crate) struct Running(Child);

impl Running {
    /// Its end.
    pub(crate) fn end(mut self) -> Ended {
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.0.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        self.0.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        let code = self.0.wait().unwrap().code().unwrap();
        Ended { code, stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _already_gone = self.0.kill();
        let _reaped = self.0.wait();
    }
}

/// The file tools, with a root that may be written to.
pub(crate) fn writable() -> Value {
    json!({ "roots": [{ "path": "files", "writable": true }] })
}

/// The demo's shop as a server.
pub(crate) fn shop() -> Value {
    json!({ "servers": { "shop": { "command": BINARY, "args": ["demo-server"] } } })
}
