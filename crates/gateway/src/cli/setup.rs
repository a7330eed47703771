//! From the arguments to a running [`App`].
use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use codecell_plugins::{Origin, Plugin, PluginHost};
use codecell_sessions::{Limits, Sessions};
use tokio_util::sync::CancellationToken;

use super::args::ConfigArgs;
use super::output::complain;
use crate::config::{Config, Loaded, Problem, Severity, Shape, Source, load};
use crate::upstream::UpstreamOptions;
use crate::wiring::{App, Channel, Setting, Shared};

/// The name of our own configuration, wherever it lies.
const OWN_FILE: &str = "codecell.json5";

/// The configuration and where it came from.
pub(crate) struct Setup {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) loaded: Loaded,
}

impl Setup {
    /// Reads the files that were named, or the one that lies where ours are looked for.
    pub(crate) fn read(args: &ConfigArgs) -> Self {
        let sources = sources(args);
        let loaded = load(&sources);
        Self {
            files: sources.into_iter().map(|source| source.file).collect(),
            loaded,
        }
    }

    /// What forbids to go on, if anything does: a file that could not be used at all would look like a configuration
    /// without servers, and a policy that could not be read like one that allows. `needed` says which paths beside
    /// those the command cannot do without.
    pub(crate) fn fatal(&self, needed: impl Fn(&str) -> bool) -> Option<&Problem> {
        self.loaded
            .problems
            .iter()
            .filter(|problem| problem.severity == Severity::Error)
            .find(|problem| {
                let block = block(&problem.path);
                matches!(block, "" | "tools" | "agents" | "plugins") || needed(&problem.path)
            })
    }

    /// Starts everything for the agent that `args` name.
    ///
    /// # Errors
    ///
    /// Fails when the configuration forbids to go on, and when it does not know the agent.
    pub(crate) fn app(
        self,
        args: &ConfigArgs,
        channel: Channel,
        linked: &[Arc<dyn Plugin>],
    ) -> anyhow::Result<App> {
        if let Some(problem) = self.fatal(|_| false) {
            anyhow::bail!("the configuration cannot be used: {problem}");
        }
        let config = &self.loaded.config;
        let agent = config
            .agents
            .agent(&args.agent, &config.code_mode, &config.tools.sandbox)?;
        App::new(self.shared(args, linked)?, agent, channel)
    }

    /// Starts what all agents share.
    ///
    /// # Errors
    ///
    /// Fails when a plugin or a tool of this process cannot be had as configured.
    pub(crate) fn shared(
        &self,
        args: &ConfigArgs,
        linked: &[Arc<dyn Plugin>],
    ) -> anyhow::Result<Arc<Shared>> {
        let config = &self.loaded.config;
        let setting = Setting {
            plugins: Arc::new(load_plugins(linked, config)?),
            options: UpstreamOptions::default(),
            trajectory: trajectory(args),
        };
        Shared::start(config, setting)
    }

    /// Says on standard error what is wrong; mere notes are for `doctor`.
    pub(crate) fn complain(&self) {
        for problem in self
            .loaded
            .problems
            .iter()
            .filter(|problem| problem.severity > Severity::Note)
        {
            complain(&format!("codecell: {problem}"));
        }
    }
}

/// The file of the trajectory: the one that was named, or that of the environment. `CODECELL_TRAJECTORY=0` (or
/// `OPENCLAW_TRAJECTORY=0`) switches it off whatever was named.
fn trajectory(args: &ConfigArgs) -> Option<PathBuf> {
    let variable = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let ours = variable("CODECELL_TRAJECTORY");
    let off = |value: &std::ffi::OsString| value == "0";
    if ours.as_ref().is_some_and(off) || variable("OPENCLAW_TRAJECTORY").as_ref().is_some_and(off) {
        return None;
    }
    args.trajectory.clone().or_else(|| ours.map(PathBuf::from))
}

/// Loads the linked plugins that the configuration does not switch off. One that fails stops the start: its hooks may
/// have been there to forbid something.
fn load_plugins(linked: &[Arc<dyn Plugin>], config: &Config) -> anyhow::Result<PluginHost> {
    let host = PluginHost::new();
    for plugin in linked {
        let id = plugin.id();
        if config.plugins.get(id).is_some_and(|entry| !entry.enabled) {
            continue;
        }
        host.load(Arc::clone(plugin), Origin::External).with_context(|| {
            format!(
                "plugin `{id}` cannot be loaded; correct it, or switch it off with `plugins.entries.{id}.enabled: false`"
            )
        })?;
    }
    for id in config.plugins.keys() {
        if linked.iter().all(|plugin| plugin.id() != id) {
            complain(&format!(
                "codecell: warning: plugins.entries.{id}: no plugin of this id is linked into this program"
            ));
        }
    }
    Ok(host)
}

/// Named files exclude the default places: what a command does should not depend on the folder it runs in unless
/// nothing else was said.
fn sources(args: &ConfigArgs) -> Vec<Source> {
    let own = args.config.iter().map(|file| Source {
        file: file.clone(),
        shape: Shape::Own,
    });
    let theirs = args.mcp_config.iter().map(|file| Source {
        file: file.clone(),
        shape: Shape::Host,
    });
    let named: Vec<Source> = own.chain(theirs).collect();
    if !named.is_empty() {
        return named;
    }
    default_places()
        .into_iter()
        .find(|file| file.is_file())
        .map(|file| Source {
            file,
            shape: Shape::Own,
        })
        .into_iter()
        .collect()
}

/// Where our own configuration is looked for when none is named: here, then in the user's configuration folder.
pub(crate) fn default_places() -> Vec<PathBuf> {
    let variable = |name: &str| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let user = variable("XDG_CONFIG_HOME")
        .filter(|folder| folder.is_absolute())
        .or_else(|| variable("HOME").map(|home| home.join(".config")))
        .or_else(|| variable("APPDATA"));
    let here = PathBuf::from(OWN_FILE);
    [
        Some(here),
        user.map(|folder| folder.join("codecell").join(OWN_FILE)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The block of the configuration that a path is in.
pub(super) fn block(path: &str) -> &str {
    path.split(['.', '[']).next().unwrap_or_default()
}

/// Whether nothing that stands under a path of `models` can be used. A provider that is wrong costs only itself.
pub(super) fn costs_all_models(path: &str) -> bool {
    matches!(path, "models" | "models.providers")
}

/// Opens the transcripts: in the folder that was named, or the one of the environment, or the user's own. Only this
/// user can read them.
///
/// # Errors
///
/// Fails when there is no such folder and none can be made, or when the file is not ours, damaged or newer.
pub(crate) async fn open_sessions(named: Option<&Path>) -> anyhow::Result<Sessions> {
    let folder = named.map(Path::to_owned).or_else(state_folder).context(
        "there is no place for transcripts: name a folder with --state, or set CODECELL_STATE_DIR, XDG_STATE_HOME or HOME",
    )?;
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder
        .create(&folder)
        .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    let file = folder.join("sessions.sqlite");
    private_file(&file).with_context(|| format!("cannot open `{}`", file.display()))?;
    Ok(Sessions::open(&file, Limits::default()).await?)
}

fn state_folder() -> Option<PathBuf> {
    let variable = |name: &str| {
        env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    variable("CODECELL_STATE_DIR").or_else(|| {
        variable("XDG_STATE_HOME")
            .filter(|folder| folder.is_absolute())
            .or_else(|| variable("HOME").map(|home| home.join(".local/state")))
            .or_else(|| variable("LOCALAPPDATA"))
            .map(|folder| folder.join("codecell"))
    })
}

/// Makes the file before anybody else does, so that it is never readable by others.
fn private_file(file: &Path) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map(drop)
}

/// A token that fires when the user presses Ctrl-C or the process is asked to end, and one that fires when it is asked
/// again.
pub(crate) fn stop_signals() -> (CancellationToken, CancellationToken) {
    let (stop, hurry) = (CancellationToken::new(), CancellationToken::new());
    let (first, second) = (stop.clone(), hurry.clone());
    // Here and not in the task, so that a signal is caught from now on and the second one is not missed.
    let mut requests = StopRequests::new();
    tokio::spawn(async move {
        requests.next().await;
        first.cancel();
        requests.next().await;
        second.cancel();
    });
    (stop, hurry)
}

/// A token that fires when the user presses Ctrl-C or the process is asked to end.
pub(crate) fn stop_signal() -> CancellationToken {
    stop_signals().0
}

/// What asks the process to end.
#[cfg(unix)]
struct StopRequests(Option<[tokio::signal::unix::Signal; 3]>);

#[cfg(unix)]
impl StopRequests {
    fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let signals = (
            signal(SignalKind::interrupt()),
            signal(SignalKind::terminate()),
            signal(SignalKind::hangup()),
        );
        let (Ok(interrupt), Ok(terminate), Ok(hangup)) = signals else {
            tracing::warn!("signals cannot be caught: the process ends without a farewell to its servers");
            return Self(None);
        };
        Self(Some([interrupt, terminate, hangup]))
    }

    async fn next(&mut self) {
        let Some([interrupt, terminate, hangup]) = &mut self.0 else {
            return std::future::pending().await;
        };
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}

/// What asks the process to end.
#[cfg(not(unix))]
struct StopRequests;

#[cfg(not(unix))]
impl StopRequests {
    fn new() -> Self {
        Self
    }

    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
