//! One server from its start to the gateway's end: connected, watched and connected again.
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use codecell_core_tools::Guardian;
use tokio::{
    sync::{Notify, mpsc, watch},
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    backoff::Backoff,
    cache::Cache,
    handshake::{self, Agreement, Disagreement, Opening},
    headers,
    http::Http,
    peer::{Inner, Link, Peer},
    snapshot::ServerSnapshot,
    state::{Era, State, ToolDump},
    stdio::Stdio,
    tools::{Collected, Rules},
    upstreams::Hub,
};
use crate::config::{ServerConfig, Transport};

/// The least time between two attempts, however much a server is in demand.
const LEAST_GAP: Duration = Duration::from_secs(2);

/// What a caller may do with the server now.
#[derive(Clone)]
pub(super) enum Standing {
    /// Wait: it is on its way.
    Coming(State),
    Up(Peer),
    Down(State),
}

pub(super) struct Server {
    pub(super) config: ServerConfig,
    /// Tools were known before anything was started.
    pub(super) cached: bool,
    pub(super) cache: Option<Cache>,
    patience: Duration,
    limit: u64,
    guardian: Arc<Guardian>,
    hub: Weak<Hub>,
    view: Mutex<ServerSnapshot>,
    standing: watch::Sender<Standing>,
    demand: Notify,
    opening: Mutex<Opening>,
}

/// What a server is made from besides its configuration.
pub(super) struct Making {
    pub(super) cache: Option<Cache>,
    pub(super) patience: Duration,
    pub(super) limit: u64,
    pub(super) guardian: Arc<Guardian>,
    pub(super) hub: Weak<Hub>,
}

impl Server {
    /// Makes a server with what the cache knows of it. Nothing is started.
    pub(super) fn new(config: ServerConfig, making: Making) -> Self {
        let Making {
            cache,
            patience,
            limit,
            guardian,
            hub,
        } = making;
        let state = if config.disabled {
            State::Disabled
        } else {
            State::Connecting
        };
        let mut snapshot = ServerSnapshot {
            name: config.name.clone(),
            state: state.clone(),
            settled: config.disabled,
            stale: false,
            listing: false,
            tools: Arc::from([]),
            quarantined: Arc::from([]),
            notes: Arc::from([]),
            instructions: None,
            has_resources: false,
            has_prompts: false,
            era: None,
            protocol_version: None,
            noise_lines: 0,
            stderr_tail: String::new(),
        };
        let mut opening = Opening::Probe;
        let mut cached = false;
        let remembered = match &cache {
            Some(cache) if !config.disabled => cache.load().unwrap_or_else(|note| {
                tracing::warn!(server = config.name, note);
                snapshot.notes = Arc::from([note]);
                None
            }),
            Some(_) | None => None,
        };
        if let Some(remembered) = remembered {
            let era = remembered.era();
            let rules = rules(&config, era);
            let mut collected = Collected::default();
            collected.add(remembered.tools, &config, rules);
            fill(&mut snapshot, &collected);
            snapshot.stale = true;
            snapshot.era = Some(era);
            snapshot.protocol_version = Some(remembered.version);
            snapshot.instructions = remembered.instructions.map(Arc::from);
            snapshot.has_resources = remembered.has_resources;
            snapshot.has_prompts = remembered.has_prompts;
            cached = true;
            if era == Era::Legacy {
                opening = Opening::Initialize;
            }
        }
        let standing = if config.disabled {
            Standing::Down(state)
        } else {
            Standing::Coming(state)
        };
        Self {
            config,
            cached,
            cache,
            patience,
            limit,
            guardian,
            hub,
            view: Mutex::new(snapshot),
            standing: watch::Sender::new(standing),
            demand: Notify::new(),
            opening: Mutex::new(opening),
        }
    }

    /// What the next snapshot will show. What others have been told is the hub's snapshot alone.
    pub(super) fn view(&self) -> MutexGuard<'_, ServerSnapshot> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn standing(&self) -> watch::Receiver<Standing> {
        self.standing.subscribe()
    }

    /// Asks for an attempt sooner than the back-off would make one.
    pub(super) fn want(&self) {
        self.demand.notify_one();
    }

    pub(super) fn tool<T>(&self, name: &str, read: impl FnOnce(&ToolDump) -> T) -> Option<T> {
        let tools = Arc::clone(&self.view().tools);
        tools.iter().find(|tool| tool.name == name).map(|tool| read(tool))
    }

    /// Changes the view and tells everyone.
    ///
    /// Where the standing changes as well, it does so afterwards: who learns from a call how the server stands finds it
    /// no different in the snapshot.
    pub(super) fn change(&self, change: impl FnOnce(&mut ServerSnapshot)) {
        change(&mut self.view());
        if let Some(hub) = self.hub.upgrade() {
            hub.publish();
        }
    }

    pub(super) fn stand(&self, standing: Standing) {
        self.standing.send_replace(standing);
    }

    /// Lives until `stop` fires.
    pub(super) async fn run(self: Arc<Self>, stop: CancellationToken) {
        if self.config.disabled {
            return;
        }
        let mut backoff = Backoff::default();
        while !stop.is_cancelled() {
            let begun = Instant::now();
            let (list_changed, changes) = mpsc::channel(1);
            match self.connect(list_changed, &stop).await {
                Ok((peer, agreement)) => {
                    let up = Instant::now();
                    self.serve(&peer, &agreement, changes, &stop).await;
                    backoff.served(up.elapsed());
                    self.fell(&peer, &stop);
                    peer.stop().await;
                }
                Err(state) => {
                    tracing::warn!(server = self.config.name, %state, "not connected");
                    self.change(|view| {
                        view.state = state.clone();
                        view.listing = false;
                        view.settled = true;
                    });
                    self.stand(Standing::Down(state));
                }
            }
            self.pause(begun, backoff.next(), &stop).await;
        }
        self.change(|view| {
            view.state = State::Stopped;
            view.listing = false;
            view.settled = true;
        });
        self.stand(Standing::Down(State::Stopped));
    }

    /// Waits out the back-off, or less if somebody wants the server; never less than the least gap.
    async fn pause(&self, begun: Instant, wait: Duration, stop: &CancellationToken) {
        let due = Instant::now() + wait;
        let earliest = (begun + LEAST_GAP).min(due);
        tokio::select! {
            () = stop.cancelled() => {}
            () = sleep_until(due) => {}
            () = async {
                self.demand.notified().await;
                sleep_until(earliest).await;
            } => {}
        }
    }

    /// Says that a connection that worked is gone.
    fn fell(&self, peer: &Peer, stop: &CancellationToken) {
        if stop.is_cancelled() {
            return;
        }
        let reason = peer
            .closed_reason()
            .unwrap_or_else(|| "closed the connection".to_owned());
        tracing::warn!(server = self.config.name, reason, "lost, restarting");
        let state = State::Restarting { reason };
        self.change(|view| {
            view.state = state.clone();
            view.stale = true;
            view.listing = false;
            view.stderr_tail = peer.0.stderr();
            view.noise_lines = peer.noise();
            view.settled = true;
        });
        self.stand(Standing::Coming(state));
    }

    /// Opens a connection and agrees on an era, with a second process if the first broke over the probe.
    async fn connect(
        &self,
        list_changed: mpsc::Sender<()>,
        stop: &CancellationToken,
    ) -> Result<(Peer, Agreement), State> {
        let opening = *self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        let first = self.attempt(opening, list_changed.clone(), stop).await;
        let outcome = match first {
            Err(Disagreement::BrokenByProbe(_)) => {
                self.attempt(Opening::Initialize, list_changed, stop).await
            }
            other => other,
        };
        let next = match &outcome {
            Ok((_, agreement)) if agreement.era == Era::Legacy => Opening::Initialize,
            Ok(_) => Opening::Probe,
            // What failed this way is tried the other way next time.
            Err(_) if opening == Opening::Probe => Opening::Initialize,
            Err(_) => Opening::Probe,
        };
        *self.opening.lock().unwrap_or_else(PoisonError::into_inner) = next;
        outcome.map_err(|disagreement| match disagreement {
            Disagreement::NeedsAuth(reason) => State::NeedsAuth { reason },
            Disagreement::Failed(reason) | Disagreement::BrokenByProbe(reason) => State::Failed { reason },
        })
    }

    async fn attempt(
        &self,
        opening: Opening,
        list_changed: mpsc::Sender<()>,
        stop: &CancellationToken,
    ) -> Result<(Peer, Agreement), Disagreement> {
        let peer = self.open(list_changed).map_err(Disagreement::Failed)?;
        let agreed = tokio::select! {
            biased;
            () = stop.cancelled() => Err(Disagreement::Failed("was stopped while connecting".to_owned())),
            agreed = handshake::shake(&peer, opening, self.patience, self.config.startup_timeout) => agreed,
        };
        match agreed {
            Ok(agreement) => Ok((peer, agreement)),
            Err(disagreement) => {
                self.change(|view| {
                    view.stderr_tail = peer.0.stderr();
                    view.noise_lines = peer.noise();
                });
                peer.stop().await;
                Err(disagreement)
            }
        }
    }

    fn open(&self, list_changed: mpsc::Sender<()>) -> Result<Peer, String> {
        match &self.config.transport {
            Transport::Stdio { .. } => Stdio::start(&self.config, &self.guardian, self.limit, list_changed),
            Transport::Http { url, headers } => {
                let http = Http::new(url, headers, self.limit)?;
                Ok(Peer(Arc::new(Inner::new(
                    &self.config,
                    Link::Http(http),
                    self.limit,
                    list_changed,
                ))))
            }
        }
    }

    /// The headers that mirror arguments of a tool, where the transport has headers.
    pub(super) fn mirrors(&self, peer: &Peer, tool: &str) -> Vec<headers::Mirror> {
        if !(peer.is_http() && peer.is_modern()) {
            return Vec::new();
        }
        self.tool(tool, |tool| {
            headers::mirrors(&tool.input_schema).unwrap_or_default()
        })
        .unwrap_or_default()
    }
}

fn rules(config: &ServerConfig, era: Era) -> Rules {
    match (&config.transport, era) {
        (Transport::Http { .. }, Era::Modern) => Rules::MirroredHeaders,
        _ => Rules::Plain,
    }
}

pub(super) fn fill(snapshot: &mut ServerSnapshot, collected: &Collected) {
    snapshot.tools = collected.tools.as_slice().into();
    snapshot.quarantined = collected.quarantined.as_slice().into();
    snapshot.notes = collected.notes.as_slice().into();
}
