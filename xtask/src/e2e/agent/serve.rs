//! `codecell serve` as its clients see it.

use std::{
    io::{BufRead, BufReader},
    net::{SocketAddr, TcpStream},
    os::unix::process::CommandExt,
    process::{Child, Stdio},
    sync::{
        Mutex, PoisonError,
        mpsc::{self, Receiver},
    },
    thread,
    time::Instant,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::{
    e2e::room::{LIMIT, Room},
    http::{Answer, Incoming, Request},
    process::{self, Tail, end_group, finish},
};

/// What clients show to be let in.
pub(in crate::e2e) const TOKEN: &str = "e2e-token-of-the-room";

/// What the gateway shows to its model.
pub(in crate::e2e) const MODEL_KEY: &str = "e2e-key-of-the-model";

/// Begins the one line on standard output.
const GREETING: &str = "codecell serves on http://";

/// A running gateway.
pub(in crate::e2e) struct Serve {
    /// Taken by whoever ends it.
    child: Option<Child>,
    /// What it says on standard output. Locked, because several clients may share a gateway.
    lines: Mutex<Receiver<String>>,
    stderr: Tail,
    address: SocketAddr,
}

impl Serve {
    /// Starts the room's binary on a port of its own, with these arguments and variables, and waits until it says where it listens.
    pub(in crate::e2e) fn start(
        room: &Room,
        arguments: &[String],
        environment: &[(&str, &str)],
    ) -> Result<Serve> {
        let mut command = room.codecell(["serve", "--listen", "127.0.0.1:0"]);
        command
            .args(arguments)
            .env("CODECELL_TOKEN", TOKEN)
            .env("MODEL_KEY", MODEL_KEY)
            .envs(environment.iter().copied());
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .with_context(|| format!("starting {command:?}"))?;
        let stdout = child.stdout.take().context("no standard output")?;
        let stderr = Tail::of(child.stderr.take().context("no standard error")?);
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut serve = Serve {
            child: Some(child),
            lines: Mutex::new(lines),
            stderr,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
        };
        let lines = serve.lines.get_mut().unwrap_or_else(PoisonError::into_inner);
        let said = lines.recv_timeout(LIMIT);
        let said = said.with_context(|| format!("no address; standard error:\n{}", serve.stderr.text()))?;
        let address = said.strip_prefix(GREETING).and_then(|rest| rest.parse().ok());
        serve.address = address.with_context(|| format!("`{said}` does not say where it listens"))?;
        Ok(serve)
    }

    /// Where it is, for clients of others.
    pub(in crate::e2e) fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The last lines of standard error.
    pub(in crate::e2e) fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Sends a request, with the token unless it carries another, and reads the head of the answer.
    pub(in crate::e2e) fn open(&self, request: Request) -> Result<Incoming> {
        let incoming = authorized(request).send(self.address, LIMIT);
        incoming.with_context(|| format!("standard error of the gateway:\n{}", self.stderr.text()))
    }

    /// Sends a request and reads nothing; dropping the connection is what a client that vanishes does.
    pub(in crate::e2e) fn begin(&self, request: Request) -> Result<TcpStream> {
        authorized(request).begin(self.address, LIMIT)
    }

    /// Sends a request and reads the whole answer.
    pub(in crate::e2e) fn ask(&self, request: Request) -> Result<Answer> {
        self.open(request)?.whole()
    }

    /// The JSON under a path.
    pub(in crate::e2e) fn get(&self, path: &str) -> Result<Value> {
        self.ask(Request::get(path))?.expect(200)
    }

    /// The turns that run or wait, with how many cells are suspended and how many VMs live.
    pub(in crate::e2e) fn runs(&self) -> Result<Runs> {
        let mut runs = self.get("/runs")?;
        let number = |key: &str| runs[key].as_u64().with_context(|| format!("no `{key}`: {runs}"));
        let (suspended, live) = (number("suspendedCells")?, number("liveVms")?);
        let Value::Array(runs) = runs["runs"].take() else {
            anyhow::bail!("no list of runs");
        };
        Ok(Runs {
            runs,
            suspended,
            live,
        })
    }

    /// Waits until nothing runs, is suspended or lives.
    pub(in crate::e2e) fn quiet(&self) -> Result<()> {
        let mut seen = None;
        process::until(LIMIT, "the end of every run", || {
            let runs = self.runs().ok()?;
            let quiet = runs.runs.is_empty() && runs.suspended == 0 && runs.live == 0;
            seen = Some(runs);
            quiet.then_some(())
        })
        .with_context(|| format!("there is still {seen:?}"))
    }

    /// The sum of the samples of a metric whose labels contain `label`.
    pub(in crate::e2e) fn metric(&self, name: &str, label: &str) -> Result<f64> {
        let answer = self.ask(Request::get("/metrics"))?;
        ensure!(answer.status == 200, "no metrics: {answer:?}");
        ensure!(
            answer.text.contains(&format!("# TYPE {name} ")),
            "`{name}` is not declared: {}",
            answer.text
        );
        let samples = answer.text.lines().filter_map(|line| {
            let (labels, value) = line.strip_prefix(name)?.rsplit_once(' ')?;
            // A longer name may begin with this one.
            let own = labels.is_empty() || labels.starts_with('{');
            (own && labels.contains(label)).then(|| value.parse::<f64>())
        });
        let sum: Result<f64, _> = samples.sum();
        sum.with_context(|| format!("`{name}` has a value that is no number"))
    }

    /// Names its process.
    pub(in crate::e2e) fn id(&self) -> Result<u32> {
        let child = self.child.as_ref();
        Ok(child.context("the gateway has already been ended")?.id())
    }

    /// Asks it to end, as a service manager does.
    pub(in crate::e2e) fn terminate(&self) -> Result<()> {
        let child = self
            .child
            .as_ref()
            .context("the gateway has already been ended")?;
        process::terminate(child.id())
    }

    /// Whether it takes no more connections, or says over them that it is not ready.
    pub(in crate::e2e) fn refuses(&self) -> bool {
        let ready = Request::get("/readyz").send(self.address, LIMIT);
        ready.map_or(true, |answer| answer.status == 503)
    }

    /// Ends it as a service manager does, and checks that it goes in peace.
    pub(in crate::e2e) fn stop(self) -> Result<()> {
        self.terminate()?;
        self.ended()
    }

    /// Waits for its end, and checks that it goes in peace and has only said where it was.
    pub(in crate::e2e) fn ended(mut self) -> Result<()> {
        let child = self.child.take().context("the gateway has already been ended")?;
        let status = finish(child, Instant::now() + LIMIT)?;
        ensure!(
            status.code() == Some(0),
            "the gateway ended with {status}; standard error:\n{}",
            self.stderr.text()
        );
        let lines = self.lines.get_mut().unwrap_or_else(PoisonError::into_inner);
        let more: Vec<String> = lines.iter().collect();
        ensure!(
            more.is_empty(),
            "standard output held more than one line: {more:?}"
        );
        Ok(())
    }
}

fn authorized(request: Request) -> Request {
    if request.has("authorization") {
        return request;
    }
    request.header("authorization", &format!("Bearer {TOKEN}"))
}

impl Drop for Serve {
    fn drop(&mut self) {
        if let Some(child) = self.child.take() {
            end_group(child);
        }
    }
}

/// What `/runs` says.
#[derive(Debug)]
pub(in crate::e2e) struct Runs {
    pub(in crate::e2e) runs: Vec<Value>,
    pub(in crate::e2e) suspended: u64,
    pub(in crate::e2e) live: u64,
}

impl Runs {
    /// The only run.
    pub(in crate::e2e) fn only(&self) -> Result<&Value> {
        let [run] = self.runs.as_slice() else {
            anyhow::bail!("expected one run: {self:?}");
        };
        Ok(run)
    }
}
