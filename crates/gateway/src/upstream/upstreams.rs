use std::{
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, PoisonError, RwLock},
    time::Duration,
};

use codecell_core_tools::Guardian;
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
        let servers = self
            .servers()
            .iter()
            .map(|server| server.view().clone())
            .collect();
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

    /// Waits until the servers are ready with all their tools or have failed, at most `limit`. The snapshot shows it
    /// by then.
    pub async fn settled(&self, which: WaitFor, limit: Duration) {
        let mut generation = self.watch();
        let all = async {
            loop {
                generation.borrow_and_update();
                // The published state and no newer one: it is what the caller looks at next.
                let snapshot = self.snapshot();
                let mut servers = self.0.hub.servers().iter().zip(&snapshot.servers);
                let settled = servers
                    .all(|(server, shown)| shown.settled || (which == WaitFor::Uncached && server.cached));
                if settled || generation.changed().await.is_err() {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Secret, Transport};

    /// Servers that nobody runs: they change when the test says so.
    fn idle(names: &[&str]) -> Upstreams {
        let hub = Arc::new(Hub::default());
        let guardian = Arc::new(Guardian::default());
        let servers = names.iter().map(|name| {
            let transport = Transport::Http {
                url: Secret::new("http://127.0.0.1/"),
                headers: Default::default(),
            };
            let making = Making {
                cache: None,
                patience: PROBE_PATIENCE,
                limit: MAX_MESSAGE_BYTES,
                guardian: Arc::clone(&guardian),
                hub: Arc::downgrade(&hub),
            };
            Arc::new(Server::new(ServerConfig::new(*name, transport), making))
        });
        assert!(hub.servers.set(servers.collect()).is_ok());
        hub.publish();
        Upstreams(Arc::new(Shared {
            hub,
            guardian,
            stop: CancellationToken::new(),
            tasks: Mutex::new(None),
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn servers_have_settled_when_the_snapshot_shows_it_and_not_before() {
        let upstreams = idle(&["a", "b"]);
        let servers = upstreams.0.hub.servers();
        servers[0].change(|view| view.settled = true);
        // Between its change and its publishing another server may wake everybody.
        servers[1].view().settled = true;
        let begun = Instant::now();
        let limit = Duration::from_secs(9);
        upstreams.settled(WaitFor::All, limit).await;
        assert_eq!(begun.elapsed(), limit, "the snapshot does not show it yet");
        let waiting = tokio::spawn({
            let upstreams = upstreams.clone();
            async move {
                upstreams.settled(WaitFor::All, limit).await;
                let shown = upstreams.snapshot();
                shown
                    .servers
                    .iter()
                    .map(|server| server.settled)
                    .collect::<Vec<_>>()
            }
        });
        tokio::task::yield_now().await;
        upstreams.0.hub.publish();
        assert_eq!(waiting.await.unwrap(), [true, true]);
        assert_eq!(begun.elapsed(), limit, "it did not wait any longer");
    }
}
