//! The official conformance suite: as a client of `codecell serve`, and as the servers that a program meets.
//!
//! What is known not to pass is listed check by check in `e2e/conformance`. The suite fails over anything else that does
//! not pass, and over a listed check that passes.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::{
    Steps,
    real::tools::{NODE, npm, text},
    room::{LIMIT, Room},
};
use crate::{
    process::{self, Finished, Tail},
    workspace,
};

const SUITE: &str = "@modelcontextprotocol/conformance@0.2.0-alpha.12";

const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Longest that one run of the suite may take.
const SUITE_LIMIT: Duration = Duration::from_secs(180);

/// Installs the suite and plays with it.
pub(super) fn play(steps: &mut Steps) -> Result<()> {
    let name = |mode: &str, revision: &str| format!("conformance: {mode}, revision {revision}");
    let names = |mode: &'static str| REVISIONS.map(|revision| (name(mode, revision), revision));
    let (servers, clients) = (names("server"), names("client"));
    if !servers.iter().chain(&clients).any(|(name, _)| steps.wants(name)) {
        return Ok(());
    }
    let suite = Suite::install()?;
    for (name, revision) in servers {
        steps.play(&name, |room| server(room, &suite, revision));
    }
    for (name, revision) in clients {
        steps.play(&name, |room| client(room, &suite, revision));
    }
    Ok(())
}

/// The suite calls what the gateway serves: its own tools, and those that it passes on from a server behind it.
fn server(room: &Room, suite: &Suite, revision: &str) -> Result<()> {
    let mut fixture = room.server(text(&suite.node)?, &[text(&material("fixture.mjs"))?]);
    fixture["directOnly"] = json!(true);
    let serve = Serve::start(room, &room.config(&json!(true), &json!({ "fixture": fixture }))?)?;
    let mut run = suite.command(room, &["server", "--suite", "all"], revision)?;
    run.args(["--url", &format!("http://localhost:{}/mcp", serve.port)]);
    run.arg("--expected-failures")
        .arg(material(&format!("server-{revision}.yaml")));
    let told = suite.run(&mut run);
    serve.stop()?;
    tell(counts(&told?, "Total: "))
}

/// The suite plays a server, and a program meets it, once for each scenario that is not about OAuth.
fn client(room: &Room, suite: &Suite, revision: &str) -> Result<()> {
    let mut list = room.program(&suite.node);
    list.arg(&suite.script).args(["list", "--requirements", revision]);
    let scenarios = client_scenarios(&suite.run(&mut list)?);
    ensure!(
        scenarios.len() > 3,
        "the suite lists hardly anything: {scenarios:?}"
    );
    let mut sum = Counts::default();
    for scenario in &scenarios {
        let mut run = suite.command(room, &["client", "--scenario", scenario], revision)?;
        run.arg("--command").arg(material("drive.sh"));
        run.env("CODECELL", room.binary());
        let told = suite
            .run(&mut run)
            .with_context(|| format!("scenario `{scenario}`"))?;
        let counts = counts(&told, "Passed: ")?;
        sum.passed += counts.passed;
        sum.failed += counts.failed;
    }
    tell(Ok(sum))
}

/// What a revision asks of clients, and what was added later; not what is optional.
fn client_scenarios(list: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut heading = "";
    for line in list.lines() {
        match line.trim().strip_prefix("- ") {
            Some(entry) if heading.starts_with("Client scenarios") => found.push(entry),
            Some(entry) if heading.starts_with("added-after-release") => {
                found.extend(entry.strip_suffix(" [client]"));
            }
            None if !line.trim().is_empty() => heading = line.trim(),
            _ => {}
        }
    }
    found.retain(|scenario| !scenario.starts_with("auth/"));
    found.into_iter().map(str::to_owned).collect()
}

/// How many checks a run of the suite made.
#[derive(Default)]
struct Counts {
    passed: usize,
    failed: usize,
}

/// Reads `Total: 5 passed, 1 failed` or `Passed: 5/6, 1 failed, 0 warnings`.
fn counts(told: &str, lead: &str) -> Result<Counts> {
    let line = told.lines().find_map(|line| line.trim().strip_prefix(lead));
    let line = line.with_context(|| format!("no `{lead}` in:\n{told}"))?;
    let mut numbers = line.split(", ").map(|part| {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    });
    let mut next = || numbers.next().flatten();
    let found = next().zip(next());
    let (passed, failed) = found.with_context(|| format!("no counts in `{line}`"))?;
    Ok(Counts { passed, failed })
}

fn tell(counts: Result<Counts>) -> Result<()> {
    let Counts { passed, failed } = counts?;
    println!("      {passed} checks pass, {failed} are known not to");
    Ok(())
}

/// A file beside the lists of what is known not to pass.
fn material(name: &str) -> PathBuf {
    workspace::root().join("e2e/conformance").join(name)
}

/// The suite and the Node that runs it.
struct Suite {
    node: PathBuf,
    script: PathBuf,
}

impl Suite {
    /// Installs both, unless the pinned versions are already there.
    fn install() -> Result<Suite> {
        let folder = workspace::target_dir()?.join("e2e-conformance");
        let suite = Suite {
            node: folder.join("node/node_modules/node/bin/node"),
            script: folder.join("suite/node_modules/@modelcontextprotocol/conformance/dist/index.js"),
        };
        let pinned = format!("{NODE}\n{SUITE}\n");
        let stamp = folder.join("installed");
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == pinned) {
            return Ok(suite);
        }
        println!("installing {NODE} and {SUITE}");
        for (name, package) in [("node", NODE), ("suite", SUITE)] {
            npm(&folder.join(name), &[package], |_| {})?;
        }
        for program in [&suite.node, &suite.script] {
            ensure!(program.exists(), "`{}` was not installed", program.display());
        }
        fs::write(&stamp, pinned).context("writing the stamp")?;
        Ok(suite)
    }

    /// A run of the suite whose records stay in the room.
    fn command(&self, room: &Room, arguments: &[&str], revision: &str) -> Result<Command> {
        let mut command = room.program(&self.node);
        command.arg(&self.script).args(arguments);
        command.args(["--spec-version", revision, "--output-dir"]);
        command.arg(room.files().join("results"));
        Ok(command)
    }

    /// What the suite says, on whichever stream, when it is content.
    fn run(&self, command: &mut Command) -> Result<String> {
        let Finished {
            code, stdout, stderr, ..
        } = process::run(command, "", SUITE_LIMIT)?;
        let told = format!("{stderr}{stdout}");
        ensure!(code == Some(0), "the suite ended with {code:?}:\n{}", tail(&told));
        Ok(told)
    }
}

/// The last lines, where the suite says what it is not content with.
fn tail(text: &str) -> String {
    const LINES: usize = 60;
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(LINES);
    lines.iter().skip(from).map(|line| format!("{line}\n")).collect()
}

/// A gateway that asks for no token, since the suite has none.
struct Serve {
    child: Child,
    port: u16,
    stderr: Tail,
}

impl Serve {
    fn start(room: &Room, arguments: &[String]) -> Result<Serve> {
        let mut command = room.codecell(["serve", "--listen", "127.0.0.1:0"]);
        command
            .args(arguments)
            .arg("--state")
            .arg(room.files().join("state"));
        let mut child = std::os::unix::process::CommandExt::process_group(&mut command, 0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {command:?}"))?;
        let stdout = child.stdout.take().context("no standard output")?;
        let stderr = Tail::of(child.stderr.take().context("no standard error")?);
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            let first = BufReader::new(stdout).lines().next();
            // Nobody waits for it any more if it took too long.
            let _ = sender.send(first);
        });
        let said = lines
            .recv_timeout(LIMIT)
            .ok()
            .flatten()
            .transpose()?
            .unwrap_or_default();
        let port = said.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        match port {
            Some(port) => Ok(Serve { child, port, stderr }),
            None => {
                process::end_group(child);
                anyhow::bail!(
                    "`{said}` does not say where it listens; standard error:\n{}",
                    stderr.text()
                )
            }
        }
    }

    /// Ends it as a service manager does.
    fn stop(self) -> Result<()> {
        process::terminate(self.child.id())?;
        let status = process::finish(self.child, Instant::now() + LIMIT)?;
        ensure!(
            status.code() == Some(0),
            "the gateway ended with {status}; standard error:\n{}",
            self.stderr.text()
        );
        Ok(())
    }
}
