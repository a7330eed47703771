//! What the tests of the upstream side share: servers to start and ways to wait.
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use codecell_gateway::{
    config::{Secret, ServerConfig, Transport},
    upstream::{CallError, CallOptions, ServerSnapshot, UpstreamOptions, Upstreams, WaitFor},
};
use serde_json::{Value, json, value::RawValue};

/// Longest wait for something that must happen; generous, because machines are busy.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A folder with a scenario and the log of the server that plays it.
pub(crate) struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    pub(crate) fn new(scenario: Value) -> Self {
        let stage = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        stage.play(scenario);
        stage
    }

    /// Sets the scenario of the next start.
    pub(crate) fn play(&self, mut scenario: Value) {
        scenario["log"] = json!(self.path("log"));
        if scenario.get("era").is_none() {
            scenario["era"] = json!("legacy");
        }
        fs::write(self.scenario(), scenario.to_string()).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn scenario(&self) -> PathBuf {
        self.path("scenario.json")
    }

    /// A server that plays the scenario.
    pub(crate) fn server(&self, name: &str) -> ServerConfig {
        let transport = Transport::Stdio {
            command: fake_server().to_str().unwrap().to_owned(),
            args: vec![Secret::new(self.scenario().to_str().unwrap())],
            env: Default::default(),
            cwd: None,
        };
        ServerConfig::new(name, transport)
    }

    pub(crate) fn log(&self) -> Vec<String> {
        fs::read_to_string(self.path("log"))
            .unwrap_or_default()
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// How often the server saw this.
    pub(crate) fn count(&self, line: &str) -> usize {
        self.log()
            .iter()
            .filter(|seen| seen.split(' ').next() == Some(line) || *seen == line)
            .count()
    }

    /// The number behind the last line that starts with `word`.
    pub(crate) fn number(&self, word: &str) -> Option<u32> {
        self.log()
            .iter()
            .rev()
            .find_map(|line| line.strip_prefix(word)?.trim().parse().ok())
    }
}

pub(crate) fn fake_server() -> PathBuf {
    let exe = std::env::current_exe().unwrap();
    let folder = exe.parent().and_then(Path::parent).unwrap();
    let path = folder.join("examples").join("fake-server");
    assert!(
        path.exists(),
        "build it first: cargo build -p codecell-gateway --example fake-server"
    );
    path
}

pub(crate) fn options() -> UpstreamOptions {
    UpstreamOptions {
        cache: None,
        ..UpstreamOptions::default()
    }
}

/// Starts servers and waits until each is ready or has failed.
pub(crate) async fn settled(servers: Vec<ServerConfig>, options: UpstreamOptions) -> Upstreams {
    let upstreams = Upstreams::start(servers, options);
    upstreams.settled(WaitFor::All, LONG).await;
    upstreams
}

pub(crate) fn view(upstreams: &Upstreams, name: &str) -> ServerSnapshot {
    upstreams.snapshot().server(name).unwrap().clone()
}

/// A finished list of tools is not stale and not being read.
pub(crate) fn tool_names(server: &ServerSnapshot) -> Vec<String> {
    server.tools.iter().map(|tool| tool.name.clone()).collect()
}

pub(crate) async fn call(upstreams: &Upstreams, tool: &str, arguments: &str) -> Result<String, CallError> {
    call_with(upstreams, tool, arguments, CallOptions::default()).await
}

pub(crate) async fn call_with(
    upstreams: &Upstreams,
    tool: &str,
    arguments: &str,
    options: CallOptions,
) -> Result<String, CallError> {
    let arguments = RawValue::from_string(arguments.to_owned()).unwrap();
    upstreams
        .call_tool("fake", tool, &arguments, options)
        .await
        .map(|result| result.get().to_owned())
}

/// Waits until the servers look as wanted.
pub(crate) async fn until(
    upstreams: &Upstreams,
    name: &str,
    wanted: impl Fn(&ServerSnapshot) -> bool,
) -> ServerSnapshot {
    let mut generation = upstreams.watch();
    let waiting = async {
        loop {
            generation.borrow_and_update();
            let now = view(upstreams, name);
            if wanted(&now) {
                return now;
            }
            generation.changed().await.unwrap();
        }
    };
    match tokio::time::timeout(LONG, waiting).await {
        Ok(server) => server,
        Err(_) => panic!("never came about: {:?}", view(upstreams, name)),
    }
}

/// Waits for something outside this process, which nothing here can signal.
pub(crate) async fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let started = std::time::Instant::now();
    while !holds() {
        assert!(started.elapsed() < LONG, "never came about: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Whether a process exists and is more than a zombie nobody has collected.
pub(crate) fn alive(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = stat
        .rsplit(')')
        .next()
        .and_then(|rest| rest.trim_start().chars().next());
    state.is_some_and(|state| state != 'Z')
}

/// Progress reports, collected.
pub(crate) fn collector() -> (
    codecell_gateway::upstream::ProgressSink,
    Arc<std::sync::Mutex<Vec<f64>>>,
) {
    let seen = Arc::new(std::sync::Mutex::new(Vec::new()));
    let into = Arc::clone(&seen);
    (
        Arc::new(move |step: codecell_gateway::upstream::Progress| into.lock().unwrap().push(step.progress)),
        seen,
    )
}
