//! The surroundings of one step: fresh folders, a marked environment, and the ways into the product.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::{
    mcp::{Client, LEGACY},
    process::{self, Finished},
};

/// Longest that any single answer or program may take.
pub(crate) const LIMIT: Duration = Duration::from_secs(40);

/// Variable that marks every process of a room.
const MARKER: &str = "CODECELL_E2E_ROOM";

static ROOMS: AtomicU32 = AtomicU32::new(0);

/// Fresh folders for one step; nothing of the machine's own configuration or caches is seen.
pub(crate) struct Room {
    binary: PathBuf,
    folder: tempfile::TempDir,
    marker: String,
}

impl Room {
    /// A room whose cache holds what `warm` left in its own: compiled guests, but no catalog of a server.
    pub(super) fn new(binary: &Path, warm: Option<&Room>) -> Result<Room> {
        let folder = tempfile::Builder::new().prefix("codecell-e2e-").tempdir()?;
        for name in ["home", "cache", "config", "files"] {
            fs::create_dir(folder.path().join(name))?;
        }
        if let Some(warm) = warm {
            copy_files(&warm.folder.path().join("cache"), &folder.path().join("cache"))?;
        }
        let number = ROOMS.fetch_add(1, Ordering::Relaxed);
        let marker = format!("{MARKER}={}-{number}", std::process::id());
        Ok(Room {
            binary: binary.to_owned(),
            folder,
            marker,
        })
    }

    /// The environment entry that all processes of this room carry.
    pub(crate) fn marker(&self) -> &str {
        &self.marker
    }

    /// Where the step may keep files.
    pub(crate) fn files(&self) -> PathBuf {
        self.folder.path().join("files")
    }

    /// Writes a file of the step.
    pub(crate) fn file(&self, name: &str, text: &str) -> Result<PathBuf> {
        let path = self.files().join(name);
        fs::write(&path, text).with_context(|| format!("writing `{name}`"))?;
        Ok(path)
    }

    /// Any program, in this room's environment.
    pub(crate) fn program(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.files());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("LANG", "C.UTF-8");
        for (variable, folder) in [
            ("HOME", "home"),
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_CONFIG_HOME", "config"),
            // Created by the product, for its user alone.
            ("CODECELL_RUNTIME_DIR", "runtime"),
        ] {
            command.env(variable, self.folder.path().join(folder));
        }
        if let Some((name, value)) = self.marker.split_once('=') {
            command.env(name, value);
        }
        command
    }

    /// The binary under test.
    pub(crate) fn codecell<S: AsRef<std::ffi::OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = self.program(&self.binary);
        command.args(arguments);
        command
    }

    /// The path of the binary under test.
    pub(crate) fn binary(&self) -> &Path {
        &self.binary
    }

    /// An entry of a configuration file that starts `command` as a marked process.
    pub(crate) fn server(&self, command: &str, arguments: &[&str]) -> Value {
        let (name, value) = self.marker.split_once('=').unwrap_or_default();
        json!({ "command": command, "args": arguments, "env": { name: value } })
    }

    /// An entry that starts the probe, whose events go to [`events`](Self::events) of `log`.
    pub(crate) fn probe(&self, log: &str, arguments: &[&str]) -> Result<Value> {
        let xtask = std::env::current_exe().context("where is this program?")?;
        let log = self.files().join(log);
        let mut all = vec![
            "mcp-server",
            "--log",
            log.to_str().context("a path that is no text")?,
        ];
        all.extend(arguments);
        Ok(self.server(xtask.to_str().context("a path that is no text")?, &all))
    }

    /// What a probe has logged so far.
    pub(crate) fn events(&self, log: &str) -> Vec<Value> {
        let text = fs::read_to_string(self.files().join(log)).unwrap_or_default();
        text.lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect()
    }

    /// Waits for an event of a probe.
    pub(crate) fn event(&self, log: &str, what: &str, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        process::until(LIMIT, what, || self.events(log).into_iter().find(&wanted))
    }

    /// Writes our own configuration file and returns the arguments that name it.
    pub(crate) fn config(&self, code_mode: &Value, servers: &Value) -> Result<Vec<String>> {
        self.configuration(&json!({ "tools": { "codeMode": code_mode }, "mcp": { "servers": servers } }))
    }

    /// Writes `document` as our own configuration file and returns the arguments that name it.
    pub(crate) fn configuration(&self, document: &Value) -> Result<Vec<String>> {
        let path = self.file(
            "codecell.json5",
            &format!("// written by the end-to-end test\n{document:#}\n"),
        )?;
        Ok(vec!["--config".into(), path.display().to_string()])
    }

    /// Runs a command of the binary to its end.
    pub(crate) fn run<S: AsRef<std::ffi::OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        input: &str,
    ) -> Result<Finished> {
        process::run(&mut self.codecell(arguments), input, LIMIT)
    }

    /// Runs one cell with `codecell exec` and returns the exit code and the one result on standard output.
    pub(crate) fn exec(&self, arguments: &[&str], input: &str) -> Result<(Option<i32>, Value)> {
        let finished = self.run(std::iter::once("exec").chain(arguments.iter().copied()), input)?;
        let result = serde_json::from_str(finished.stdout.trim()).with_context(|| {
            format!(
                "standard output is not one JSON value:\n{}\nstandard error:\n{}",
                finished.stdout, finished.stderr
            )
        })?;
        Ok((finished.code, result))
    }

    /// Opens `codecell mcp` with a handshake of the newest legacy revision.
    pub(crate) fn door(&self, arguments: &[String]) -> Result<Door> {
        let mut door = self.closed_door(arguments)?;
        door.initialize(LEGACY.last().copied().unwrap_or_default())?;
        Ok(door)
    }

    /// Opens `codecell mcp` and says nothing yet.
    pub(crate) fn closed_door(&self, arguments: &[String]) -> Result<Door> {
        let mut command = self.codecell(std::iter::once("mcp".to_owned()).chain(arguments.iter().cloned()));
        Ok(Door {
            client: Client::start(&mut command, LIMIT)?,
        })
    }
}

/// Copies a folder and everything in it, permissions included.
fn copy_files(from: &Path, to: &Path) -> Result<()> {
    let mut folders = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = folders.pop() {
        if !to.exists() {
            fs::create_dir(&to)?;
        }
        fs::set_permissions(&to, fs::metadata(&from)?.permissions())?;
        for entry in fs::read_dir(&from)? {
            let entry = entry?;
            let (source, target) = (entry.path(), to.join(entry.file_name()));
            if source.is_dir() {
                folders.push((source, target));
            } else {
                fs::copy(&source, &target)?;
            }
        }
    }
    Ok(())
}

/// `codecell mcp` as its client sees it.
pub(crate) struct Door {
    pub(crate) client: Client,
}

impl Door {
    /// The handshake of the legacy era; returns the server's answer.
    pub(crate) fn initialize(&mut self, version: &str) -> Result<Value> {
        let client = json!({ "name": "codecell-e2e", "version": "1" });
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
        let answer = self.client.request("initialize", params)?;
        self.client.notify("notifications/initialized", json!({}))?;
        Ok(answer)
    }

    /// The names of the listed tools.
    pub(crate) fn tools(&mut self) -> Result<Vec<String>> {
        let listed = self.client.request("tools/list", json!({}))?;
        let tools = listed["tools"].as_array().context("`tools/list` has no tools")?;
        Ok(tools
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .map(str::to_owned)
            .collect())
    }

    /// The entry of the listed tool of this name.
    pub(crate) fn listing(&mut self, name: &str) -> Result<Value> {
        let mut listed = self.client.request("tools/list", json!({}))?;
        let tools = listed["tools"]
            .as_array_mut()
            .context("`tools/list` has no tools")?;
        let found = tools.iter_mut().find(|tool| tool["name"] == name);
        Ok(found.with_context(|| format!("`{name}` is not listed"))?.take())
    }

    /// Runs a JavaScript cell that may only do what can be done again.
    pub(crate) fn exec_restart_safe(&mut self, code: &str) -> Result<Value> {
        self.call("exec", json!({ "code": code, "restartSafe": true }))
    }

    /// Runs a JavaScript cell.
    pub(crate) fn exec(&mut self, code: &str) -> Result<Value> {
        self.call("exec", json!({ "code": code }))
    }

    /// Runs a TypeScript cell.
    pub(crate) fn exec_typescript(&mut self, code: &str) -> Result<Value> {
        self.call("exec", json!({ "code": code, "language": "typescript" }))
    }

    /// Continues a run.
    pub(crate) fn wait(&mut self, run: &Value) -> Result<Value> {
        self.call("wait", json!({ "runId": run }))
    }

    /// Continues a run until it is settled.
    pub(crate) fn settle(&mut self, mut result: Value) -> Result<Value> {
        // Each turn takes at least the cell's time limit unless the run is over.
        for _ in 0..100 {
            if result["status"] != "waiting" {
                return Ok(result);
            }
            result = self.wait(&result["runId"].clone())?;
        }
        anyhow::bail!("still waiting after 100 turns: {result}")
    }

    /// Runs a cell that must complete, and returns its value.
    pub(crate) fn value(&mut self, code: &str) -> Result<Value> {
        let mut result = self.exec(code)?;
        ensure!(result["status"] == "completed", "`{code}` came to {result}");
        Ok(result["value"].take())
    }

    /// Calls one of the two tools and returns its result, checked for the promises every result keeps.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Result<Value> {
        let answer = self
            .client
            .request("tools/call", json!({ "name": tool, "arguments": arguments }))?;
        Door::result(answer)
    }

    /// Opens the envelope of a `tools/call` answer.
    pub(crate) fn result(mut answer: Value) -> Result<Value> {
        let text = answer["content"][0]["text"]
            .as_str()
            .context("no text in the result")?;
        let as_text: Value =
            serde_json::from_str(text).with_context(|| format!("the text is not JSON: {text}"))?;
        ensure!(
            as_text == answer["structuredContent"],
            "text and structured content differ: {answer}"
        );
        let failed = answer["structuredContent"]["status"] == "failed";
        ensure!(
            answer["isError"].as_bool().unwrap_or(false) == failed,
            "`isError` must be true exactly for `failed`: {answer}"
        );
        Ok(answer["structuredContent"].take())
    }

    /// Ends the gateway by closing its input, and checks that it only ever spoke the protocol.
    pub(crate) fn close(self) -> Result<()> {
        let noise = self.client.noise();
        ensure!(
            noise.is_empty(),
            "standard output held lines that are no protocol: {noise:?}"
        );
        let code = self.client.close(LIMIT)?;
        ensure!(code == Some(0), "the gateway ended with {code:?}");
        Ok(())
    }
}

/// How often a server was asked for `tool`, by the events it logged.
pub(crate) fn calls(room: &Room, log: &str, tool: &str) -> usize {
    let events = room.events(log);
    let asked = |event: &&Value| event["event"] == "call" && event["tool"] == tool;
    events.iter().filter(asked).count()
}

/// Fails unless `result` has this status.
pub(crate) fn expect_status(result: &Value, status: &str) -> Result<()> {
    ensure!(result["status"] == status, "expected `{status}`: {result}");
    Ok(())
}

/// Fails unless `result` is a failure with this code.
pub(crate) fn expect_code(result: &Value, code: &str) -> Result<()> {
    expect_status(result, "failed")?;
    ensure!(result["code"] == code, "expected the code `{code}`: {result}");
    Ok(())
}

/// Fails unless both values are equal.
pub(crate) fn expect_equal(actual: &Value, expected: &Value) -> Result<()> {
    ensure!(actual == expected, "expected {expected}, got {actual}");
    Ok(())
}
