use std::{
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, PoisonError, RwLock},
    time::Duration,
};

use serde_json::value::RawValue;
use tokio::{
    sync::watch,
    task::JoinSet,
    time::{Instant, timeout, timeout_at},
};
use tokio_util::sync::CancellationToken;

use super::{
    cache::{self, Cache},
    call,
    error::{CallError, Phase},
    message::{Fields, raw},
    peer::{Peer, ProgressSink},
    process::Guardian,
    server::{Making, Server, Standing},
    snapshot::Snapshot,
    state::{State, ToolDump},
};
use crate::config::ServerConfig;

/// Largest message in either direction: an order of magnitude above the largest answers that are of use, and
/// a few of them still fit into memory.
const MAX_MESSAGE_BYTES: u64 = 64 * 1024 * 1024;

/// How long a server may be silent before it is greeted the old way as well.
const PROBE_PATIENCE: Duration = Duration::from_secs(5);

/// Time for all servers together to end. One takes at most 2.5 s.
const SHUTDOWN_LIMIT: Duration = Duration::from_secs(5);

/// How the servers are run.
#[derive(Debug, Clone)]
pub struct UpstreamOptions {
    /// Folder of the cached catalogs; `None` remembers nothing.
    pub cache: Option<PathBuf>,
    /// How long a server may be silent before it is greeted the old way as well.
    pub probe_patience: Duration,
    /// Largest message in either direction.
    pub max_message_bytes: u64,
}

impl Default for UpstreamOptions {
    /// The user's cache folder (`CODECELL_CACHE_DIR` overrides it) and limits that fit real servers.
    fn default() -> Self {
        Self {
            cache: cache::default_folder(),
            probe_patience: PROBE_PATIENCE,
            max_message_bytes: MAX_MESSAGE_BYTES,
        }
    }
}

/// How one call is made.
#[derive(Clone, Default)]
pub struct CallOptions {
    /// Ends the call here and at the server.
    pub cancel: CancellationToken,
    /// Takes the server's progress reports; each one also prolongs the call's time limit.
    pub progress: Option<ProgressSink>,
    /// The call changes nothing, so it may be made again if the server dies over it.
    ///
    /// A tool with `readOnlyHint` is treated so in any case.
    pub read_only: bool,
}

/// Which servers to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitFor {
    /// All of them.
    All,
    /// Those of which nothing was cached.
    Uncached,
}

/// All servers of one configuration. A cheap handle; the servers end with [`Upstreams::shutdown`], or when
/// the last handle is dropped.
#[derive(Clone)]
pub struct Upstreams(Arc<Shared>);

struct Shared {
    hub: Arc<Hub>,
    guardian: Arc<Guardian>,
    stop: CancellationToken,
    tasks: Mutex<Option<JoinSet<()>>>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The tasks see the stop and take their children down; nobody waits for them here.
        self.stop.cancel();
        if let Some(mut tasks) = self.tasks.lock().unwrap_or_else(PoisonError::into_inner).take() {
            tasks.detach_all();
        }
    }
}

/// The servers and the snapshot made from them.
#[derive(Default)]
pub(super) struct Hub {
    servers: OnceLock<Vec<Arc<Server>>>,
    snapshot: RwLock<Arc<Snapshot>>,
    generation: watch::Sender<u64>,
    /// Keeps generations in order when several servers change at once.
    publishing: Mutex<()>,
}

impl Hub {
    fn servers(&self) -> &[Arc<Server>] {
        self.servers.get().map(Vec::as_slice).unwrap_or_default()
    }

    fn find(&self, name: &str) -> Result<&Arc<Server>, CallError> {
        self.servers()
            .iter()
            .find(|server| server.config.name == name)
            .ok_or_else(|| CallError::UnknownServer {
                server: name.to_owned(),
                known: self
                    .servers()
                    .iter()
                    .map(|server| server.config.name.clone())
                    .collect(),
            })
    }

    pub(super) fn publish(&self) {
        let _order = self.publishing.lock().unwrap_or_else(PoisonError::into_inner);
        let generation = *self.generation.borrow() + 1;
        let servers = self.servers().iter().map(|server| server.snapshot()).collect();
        *self.snapshot.write().unwrap_or_else(PoisonError::into_inner) =
            Arc::new(Snapshot { generation, servers });
        self.generation.send_replace(generation);
    }
}

impl Upstreams {
    /// Starts every server that is not disabled, in the background, and returns at once.
    ///
    /// Must be called inside a tokio runtime.
    #[must_use]
    pub fn start(servers: Vec<ServerConfig>, options: UpstreamOptions) -> Self {
        let hub = Arc::new(Hub::default());
        let guardian = Arc::new(Guardian::default());
        let stop = CancellationToken::new();
        let servers: Vec<Arc<Server>> = servers
            .into_iter()
            .map(|config| {
                let making = Making {
                    cache: options.cache.as_deref().map(|folder| Cache::new(folder, &config)),
                    patience: options.probe_patience,
                    limit: options.max_message_bytes,
                    guardian: Arc::clone(&guardian),
                    hub: Arc::downgrade(&hub),
                };
                Arc::new(Server::new(config, making))
            })
            .collect();
        let mut tasks = JoinSet::new();
        // Set once, right here, before anything can read it.
        let servers = hub.servers.get_or_init(|| servers);
        hub.publish();
        for server in servers {
            tasks.spawn(Arc::clone(server).run(stop.clone()));
        }
        Self(Arc::new(Shared {
            hub,
            guardian,
            stop,
            tasks: Mutex::new(Some(tasks)),
        }))
    }

    /// All servers as they are now.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.0.hub.snapshot.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Tells each new generation of the snapshot.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.0.hub.generation.subscribe()
    }

    /// Waits until the servers are ready with all their tools or have failed, at most `limit`.
    pub async fn settled(&self, which: WaitFor, limit: Duration) {
        let mut generation = self.watch();
        let all = async {
            loop {
                generation.borrow_and_update();
                let settled =
                    |server: &Arc<Server>| server.settled() || (which == WaitFor::Uncached && server.cached);
                if self.0.hub.servers().iter().all(settled) || generation.changed().await.is_err() {
                    return;
                }
            }
        };
        // Running out of time is an answer too: the caller goes on with what there is.
        let _ = timeout(limit, all).await;
    }

    /// Calls a tool and gives its result as the JSON text it arrived as, less the protocol's own fields.
    ///
    /// A server that is connecting is waited for, within its request time limit. Dropping the future, or
    /// `options.cancel`, cancels the call at the server.
    ///
    /// # Errors
    ///
    /// See [`CallError`]. A result with `isError` is not one.
    pub async fn call_tool(
        &self,
        server: &str,
        tool: &str,
        arguments: &RawValue,
        mut options: CallOptions,
    ) -> Result<Box<RawValue>, CallError> {
        let found = self.0.hub.find(server)?;
        if !found.config.permits(tool) {
            return Err(CallError::Excluded {
                server: server.to_owned(),
                tool: tool.to_owned(),
            });
        }
        options.read_only |= found.tool(tool, ToolDump::says_read_only).unwrap_or(false);
        let mut params = Fields::default();
        params.set("name", raw(tool));
        params.set("arguments", arguments.to_owned());
        self.carry(found, "tools/call", params, &options).await
    }

    /// Makes any other request, such as `resources/read`; `params` is an object or nothing.
    ///
    /// # Errors
    ///
    /// See [`CallError`].
    pub async fn request(
        &self,
        server: &str,
        method: &str,
        params: Option<&RawValue>,
        mut options: CallOptions,
    ) -> Result<Box<RawValue>, CallError> {
        let found = self.0.hub.find(server)?;
        let params = match params {
            None => Fields::default(),
            Some(params) => Fields::parse(params).ok_or_else(|| CallError::Malformed {
                server: server.to_owned(),
                method: method.to_owned(),
                reason: "the parameters of the request are not an object".to_owned(),
            })?,
        };
        options.read_only |= method.ends_with("/list") || matches!(method, "resources/read" | "prompts/get");
        self.carry(found, method, params, &options).await
    }

    /// Makes the request, and once more if the connection ended in a way that makes this safe.
    async fn carry(
        &self,
        server: &Arc<Server>,
        method: &str,
        params: Fields,
        options: &CallOptions,
    ) -> Result<Box<RawValue>, CallError> {
        let limit = server.config.request_timeout;
        let deadline = Instant::now() + limit;
        let mut again = true;
        loop {
            let peer = ready(server, method, deadline, &options.cancel).await?;
            let mirrors = match method {
                "tools/call" => params
                    .text("name")
                    .map(|tool| server.mirrors(&peer, &tool))
                    .unwrap_or_default(),
                _ => Vec::new(),
            };
            let outcome = call::make(&peer, method, params.clone(), &mirrors, limit, options).await;
            match outcome {
                Err(CallError::Disconnected { phase, .. })
                    if again && (phase == Phase::Sending || options.read_only) =>
                {
                    again = false;
                }
                Err(CallError::Disconnected {
                    server,
                    method,
                    phase,
                    reason,
                    stderr,
                    in_doubt,
                }) => {
                    // A call that changes nothing leaves no doubt behind.
                    let in_doubt = in_doubt && !options.read_only;
                    return Err(CallError::Disconnected {
                        server,
                        method,
                        phase,
                        reason,
                        stderr,
                        in_doubt,
                    });
                }
                other => return other,
            }
        }
    }

    /// Ends every server and waits, within bounds, until all their processes are gone.
    pub async fn shutdown(&self) {
        self.0.stop.cancel();
        let tasks = self.0.tasks.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut tasks) = tasks {
            let _ = timeout(SHUTDOWN_LIMIT, async {
                while tasks.join_next().await.is_some() {}
            })
            .await;
        }
        let guardian = Arc::clone(&self.0.guardian);
        // Waiting for a process blocks, if only for a moment.
        let _ = tokio::task::spawn_blocking(move || guardian.dismiss()).await;
    }
}

/// Waits for a connection that takes requests.
async fn ready(
    server: &Arc<Server>,
    method: &str,
    deadline: Instant,
    cancel: &CancellationToken,
) -> Result<Peer, CallError> {
    let name = || server.config.name.clone();
    let mut standing = server.standing();
    loop {
        let now = standing.borrow_and_update().clone();
        let waiting_for = match now {
            Standing::Up(peer) if !peer.is_closed() => return Ok(peer),
            // Between its end and the server's noticing it.
            Standing::Up(_) => State::Restarting {
                reason: "closed the connection".to_owned(),
            },
            Standing::Coming(state) => {
                server.want();
                state
            }
            Standing::Down(state) => {
                server.want();
                return Err(CallError::NotReady {
                    server: name(),
                    state,
                });
            }
        };
        tokio::select! {
            () = cancel.cancelled() => {
                return Err(CallError::Cancelled { server: name(), method: method.to_owned() });
            }
            changed = timeout_at(deadline, standing.changed()) => match changed {
                Ok(Ok(())) => {}
                Ok(Err(_)) | Err(_) => return Err(CallError::NotReady { server: name(), state: waiting_for }),
            }
        }
    }
}
