use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use codecell_bridge::{Cell, Fault, Leg, Outside, Parking, Replay, Stop, Wake, Wall, WallLimits};
use codecell_guest_runtime::{Engine, EngineError, EngineOptions, RestoreError, StartError, SuspendError};
use codecell_model_surface::Languages;
use codecell_snapshot_store::{Lease, Parked, Scope, SnapshotStore, StoreLimits};
use codecell_tools::{Caller, CellRequest, ParentCell};
use codecell_ts_transform::{Language, PositionMap, Prepared, prepare};
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::going::{CellInfo, CellState, Executing, Going};
use crate::leg::{self, Rest, Terms};
use crate::nested::CellHost;
use crate::observer::{CellLeg, Observer};
use crate::report::{Failure, warnings};
use crate::request::{ExecRequest, run_id};
use crate::result::{CellResult, ErrorCode, WaitReason};
use crate::run::{Run, refused};
use crate::settings::Settings;
use crate::surface::Surface;

/// Runs that may be suspended at once in this process.
const MAX_SUSPENDED_RUNS: usize = 64;

/// Sources longer than this are checked off the async threads: parsing them takes longer than a scheduler likes.
const INLINE_SOURCE_BYTES: usize = 16 << 10;

/// Runs cells: the whole engine behind the two tools.
///
/// One per process; clones share engine and suspended runs. Both methods always give a result: every refusal is a
/// failed one.
#[derive(Clone)]
pub struct Codecell {
    inner: Arc<Inner>,
}

struct Inner {
    engine: Engine,
    store: SnapshotStore<Suspended>,
    /// Cells that are being executed, so that the end of a session reaches them.
    going: Arc<Going>,
}

/// For whom and with what a cell runs.
#[derive(Clone)]
pub struct RunContext {
    /// On whose behalf. Agent, session and run together are the scope in which it can be resumed.
    pub caller: Caller,
    /// What it can reach.
    pub surface: Arc<Surface>,
    /// What it may use.
    pub settings: Settings,
    /// Fires when the caller no longer wants the result.
    pub cancel: CancellationToken,
    /// Watches it. Nested calls are told to the observer of `exec`, also when a later `wait` carries them on.
    pub observer: Arc<dyn Observer>,
}

/// What is kept of a run beside its image.
struct Suspended {
    run: Run,
    wall: Wall,
}

impl Codecell {
    /// Loads the guest. The first start on a machine compiles it, later ones load it from a cache.
    ///
    /// # Errors
    ///
    /// Fails when the guest cannot be loaded; there is no fallback that exposes tools in another way.
    pub fn new(options: EngineOptions) -> Result<Self, EngineError> {
        let inner = Inner {
            engine: Engine::new(options)?,
            store: SnapshotStore::new(StoreLimits {
                runs: MAX_SUSPENDED_RUNS,
            }),
            going: Arc::default(),
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// Runs one cell until it ends, yields, waits for the application alone, or its time is up. `arguments` are those of
    /// the `exec` tool.
    pub async fn exec(&self, arguments: &Value, context: RunContext) -> CellResult {
        let span = tracing::info_span!("cell", tool = "exec", session = %context.caller.session);
        let id = format!("cell_{}", uuid::Uuid::new_v4().simple());
        let observer = Arc::clone(&context.observer);
        let leg = CellLeg {
            id: &id,
            tool: "exec",
            arguments,
        };
        observed(&*observer, &leg, self.exec_cell(&id, arguments, context))
            .instrument(span)
            .await
    }

    /// Continues a suspended cell. `arguments` are those of the `wait` tool.
    ///
    /// The cell goes on with the surface, the settings and the observer it started with; of `context` only the scope
    /// and the cancellation count, and its observer is told of this call itself.
    pub async fn wait(&self, arguments: &Value, context: RunContext) -> CellResult {
        let span = tracing::info_span!("cell", tool = "wait", session = %context.caller.session);
        let id = format!("wait_{}", uuid::Uuid::new_v4().simple());
        let observer = Arc::clone(&context.observer);
        let leg = CellLeg {
            id: &id,
            tool: "wait",
            arguments,
        };
        observed(&*observer, &leg, self.wait_cell(arguments, context))
            .instrument(span)
            .await
    }

    /// Ends every cell of a session, of whatever agent: suspended ones are dropped with their calls, running ones are
    /// aborted.
    pub fn abort_session(&self, session: &str) {
        self.abort(|scope| scope.session == session);
    }

    /// Ends every cell of one run of a session, as [`abort_session`](Self::abort_session) does for all its runs.
    pub fn abort_run(&self, session: &str, run: &str) {
        self.abort(|scope| scope.session == session && scope.run == run);
    }

    fn abort(&self, of: impl Fn(&Scope) -> bool) {
        self.inner.going.cancel(|executing| of(&executing.scope));
        // After the running ones were told: one that parks now is here, and one that parks later finds out itself.
        drop(self.inner.store.end(of));
    }

    /// Ends one cell, suspended or running; false if none of this id is going on.
    #[must_use]
    pub fn abort_cell(&self, id: &str) -> bool {
        let is_it = |executing: &Executing| executing.about.as_ref().is_some_and(|about| about.id == id);
        let found = self.inner.going.cancel(is_it);
        // In this order, as in `abort`.
        let removed = self.inner.store.remove(|suspended| suspended.run.about.id == id);
        found || !removed.is_empty()
    }

    /// The cells that have not ended, oldest first.
    #[must_use]
    pub fn cells(&self) -> Vec<CellInfo> {
        let mut cells = self.inner.store.look(Instant::now(), |suspended| CellInfo {
            state: CellState::Suspended,
            ..CellInfo::clone(&suspended.run.about)
        });
        // One that is being parked just now is in both places.
        let parked: HashSet<String> = cells.iter().map(|cell| cell.id.clone()).collect();
        let running = self.inner.going.cells();
        cells.extend(running.into_iter().filter(|cell| !parked.contains(&cell.id)));
        cells.sort_by_key(|cell| cell.started_at);
        cells
    }

    /// Ends every cell of the process and refuses new ones.
    pub fn shutdown(&self) {
        self.inner.going.close();
        drop(self.inner.store.clear());
    }

    /// Suspended runs, those that are being resumed included.
    #[must_use]
    pub fn suspended_runs(&self) -> usize {
        self.inner.store.len()
    }

    /// Live VMs. A suspended run has none.
    #[must_use]
    pub fn live_vms(&self) -> usize {
        self.inner.engine.live_instances()
    }

    async fn exec_cell(&self, id: &str, arguments: &Value, context: RunContext) -> CellResult {
        let settings = context.settings.clamped();
        let cancel = context.cancel.child_token();
        let caller = Arc::new(context.caller);
        let about = Arc::new(CellInfo {
            id: id.to_owned(),
            agent: caller.agent.clone(),
            session: caller.session.clone(),
            channel: caller.channel.clone(),
            started_at: SystemTime::now(),
            state: CellState::Running,
        });
        let executing = Executing {
            scope: scope(&caller),
            cancel: cancel.clone(),
            about: Some(Arc::clone(&about)),
        };
        let Some(_place) = self.inner.going.enter(executing) else {
            return refused(&context.surface, Failure::aborted());
        };
        let rewritten =
            match before_cell(&context.surface, arguments, settings.languages, &caller, &cancel).await {
                Ok(rewritten) => rewritten,
                Err(failure) => return refused(&context.surface, failure),
            };
        // Only now: what hooks and people take is not the program's time.
        let stop = stop(&settings, cancel);
        let arguments = rewritten.as_ref().unwrap_or(arguments);
        let request = match ExecRequest::read(arguments, settings.languages) {
            Ok(request) => request,
            Err(refusal) => return refused(&context.surface, Failure::invalid(refusal)),
        };
        let outside = Outside::default();
        let cell = ParentCell {
            id: id.to_owned(),
            language: request.language.name(),
            source: request.source.as_str().into(),
            outside: outside.clone(),
        };
        let scope = scope(&caller);
        let host = Arc::new(CellHost::new(
            Arc::clone(&context.surface),
            settings,
            context.observer,
            caller,
            cell,
        ));
        let mut run = Run {
            scope,
            about,
            surface: context.surface,
            settings,
            host,
            map: Arc::new(PositionMap::identity()),
            replay: Replay::Ordinary,
        };
        if request.restart_safe {
            run.replay = Replay::SafeOnly;
        }
        let (code, map) = match check(request.source, request.language).await {
            Ok(prepared) => prepared.into_parts(),
            Err(failure) => return run.refused(failure),
        };
        run.map = Arc::new(map);
        let limits = WallLimits {
            output_bytes: settings.max_output_bytes,
            running_calls: settings.max_pending_tool_calls,
        };
        let host: Arc<CellHost> = Arc::clone(&run.host);
        let wall = Wall::new(host, limits, run.replay, outside);
        let cell = Cell {
            code,
            seed: seed(),
            output_bytes: settings.max_output_bytes,
        };
        let leg = leg::start(wall, cell, self.terms(&run, &stop));
        match self.inner.engine.run(leg).await {
            Ok(Ok((wall, rest))) => self.conclude(Suspended { run, wall }, rest, None, &stop.cancel),
            Ok(Err(error)) => run.refused(run.not_started(&error)),
            Err(fault) => run.refused(run.failure(Leg::Faulted(fault))),
        }
    }

    fn terms(&self, run: &Run, stop: &Stop) -> Terms {
        Terms {
            engine: self.inner.engine.clone(),
            limits: run.vm_limits(),
            snapshot_bytes: run.settings.max_snapshot_bytes,
            stop: stop.clone(),
        }
    }

    async fn wait_cell(&self, arguments: &Value, context: RunContext) -> CellResult {
        let refused = |failure| refused(&context.surface, failure);
        let id = match run_id(arguments) {
            Ok(id) => id,
            Err(refusal) => return refused(Failure::invalid(refusal)),
        };
        let cancel = context.cancel.child_token();
        // Before the run is taken: while it is neither parked nor on the list, the end of a session would miss it.
        let executing = Executing {
            scope: scope(&context.caller),
            cancel: cancel.clone(),
            about: None,
        };
        let Some(place) = self.inner.going.enter(executing) else {
            return refused(Failure::aborted());
        };
        let (lease, parked) = match self.inner.store.take(&scope(&context.caller), id, Instant::now()) {
            Ok(taken) => taken,
            Err(refusal) => return refused(Failure::invalid(refusal)),
        };
        let Parked {
            image,
            companion: Suspended { run, mut wall },
            ttl,
        } = parked;
        place.is_of(&run.about);
        let stop = stop(&run.settings, cancel);
        match wall.wake(&stop).await {
            Wake::Ready => {}
            Wake::Cancelled => return run.failed(&wall, Failure::aborted()),
            Wake::NotYet => {
                // Still nothing to deliver: the image stays as it is, no VM is needed to say so.
                let parked = Parked {
                    image,
                    companion: Suspended { run, wall },
                    ttl,
                };
                return self.park(lease, parked, WaitReason::PendingTools, &stop.cancel);
            }
        }
        let leg = leg::resume(wall, image, self.terms(&run, &stop));
        match self.inner.engine.run(leg).await {
            Ok(Ok((wall, rest))) => self.conclude(Suspended { run, wall }, rest, Some(lease), &stop.cancel),
            Ok(Err((wall, image, RestoreError::Start(StartError::Stopped(Fault::Deadline))))) => {
                // Every VM is in use: nothing is lost, the caller asks again.
                let parked = Parked {
                    image,
                    companion: Suspended { run, wall },
                    ttl,
                };
                self.park(lease, parked, WaitReason::PendingTools, &stop.cancel)
            }
            Ok(Err((wall, _, RestoreError::Start(error)))) => run.failed(&wall, run.not_started(&error)),
            Ok(Err((wall, _, error))) => {
                let failure = Failure::new(ErrorCode::RuntimeUnavailable, error.to_string());
                run.failed(&wall, failure)
            }
            Err(fault) => run.refused(run.failure(Leg::Faulted(fault))),
        }
    }

    /// Makes the result of a leg, and parks the run if it goes on.
    fn conclude(
        &self,
        suspended: Suspended,
        rest: Rest,
        lease: Option<Lease<Suspended>>,
        cancel: &CancellationToken,
    ) -> CellResult {
        let Suspended { run, wall } = &suspended;
        let (parking, image) = match rest {
            Rest::Parked(parking, image) => (parking, image),
            Rest::Ended(Leg::Completed { value, notices }) => {
                let output = wall.take_output().entries;
                return CellResult::Completed {
                    value,
                    output,
                    telemetry: run.telemetry(wall.calls_made()),
                    warnings: warnings(notices, &run.map),
                    replay_safe: run.replay == Replay::SafeOnly,
                };
            }
            Rest::Ended(leg) => return run.failed(wall, run.failure(leg)),
        };
        let image = match image {
            Ok(image) => image.into_bytes(),
            Err(error @ SuspendError::TooLarge { .. }) => {
                let message = format!(
                    "code mode snapshot limit exceeded: {error}. Keep less data alive while the program waits."
                );
                return run.failed(wall, Failure::new(ErrorCode::SnapshotLimitExceeded, message));
            }
            Err(error) => {
                return run.failed(
                    wall,
                    Failure::new(ErrorCode::RuntimeUnavailable, error.to_string()),
                );
            }
        };
        if cancel.is_cancelled() {
            return run.failed(wall, Failure::aborted());
        }
        let reason = match parking {
            Parking::PendingTools => WaitReason::PendingTools,
            Parking::Yield => WaitReason::Yield,
        };
        let ttl = run.settings.snapshot_ttl;
        let scope = run.scope.clone();
        let surface = Arc::clone(&run.surface);
        let parked = |suspended| Parked {
            image,
            companion: suspended,
            ttl,
        };
        if let Some(lease) = lease {
            return self.park(lease, parked(suspended), reason, cancel);
        }
        let waiting = run.waiting(wall, "", reason);
        match self
            .inner
            .store
            .put(scope.clone(), parked(suspended), Instant::now())
        {
            Ok(id) => {
                self.expire_after(ttl);
                self.unless_aborted(waiting.with_run_id(id.as_str()), &scope, &surface, cancel)
            }
            Err((
                full,
                Parked {
                    companion: Suspended { run, wall },
                    ..
                },
            )) => {
                let message =
                    format!("{full} Resume or let expire some of them with `wait`, then try again.");
                run.failed(&wall, Failure::new(ErrorCode::InvalidInput, message))
            }
        }
    }

    /// Parks a run again, and says so.
    fn park(
        &self,
        lease: Lease<Suspended>,
        parked: Parked<Suspended>,
        reason: WaitReason,
        cancel: &CancellationToken,
    ) -> CellResult {
        let Suspended { run, wall } = &parked.companion;
        let waiting = run.waiting(wall, lease.id().as_str(), reason);
        let (scope, surface, ttl) = (run.scope.clone(), Arc::clone(&run.surface), parked.ttl);
        lease.park(parked, Instant::now());
        self.expire_after(ttl);
        self.unless_aborted(waiting, &scope, &surface, cancel)
    }

    /// Takes a run back that was parked while its session ended: those who ended it looked before it was there.
    fn unless_aborted(
        &self,
        waiting: CellResult,
        scope: &Scope,
        surface: &Surface,
        cancel: &CancellationToken,
    ) -> CellResult {
        if !cancel.is_cancelled() {
            return waiting;
        }
        if let Some(id) = waiting.run_id() {
            drop(self.inner.store.take(scope, id, Instant::now()));
        }
        refused(surface, Failure::aborted())
    }

    /// Frees what has expired when the time comes, so that an abandoned run does not hold its calls until somebody
    /// happens to ask.
    fn expire_after(&self, ttl: Duration) {
        let inner = Arc::downgrade(&self.inner);
        tokio::spawn(async move {
            tokio::time::sleep(ttl).await;
            if let Some(inner) = inner.upgrade() {
                drop(inner.store.expire(Instant::now()));
            }
        });
    }
}

fn scope(caller: &Caller) -> Scope {
    Scope {
        agent: caller.agent.clone(),
        session: caller.session.clone(),
        run: caller.run.clone(),
    }
}

/// Asks the hooks about the program; gives its arguments if they may have become others.
async fn before_cell(
    surface: &Surface,
    arguments: &Value,
    languages: Languages,
    caller: &Arc<Caller>,
    cancel: &CancellationToken,
) -> Result<Option<Value>, Failure> {
    if !surface.path().watches_cells() {
        return Ok(None);
    }
    let request = CellRequest {
        arguments: arguments.clone(),
        language: ExecRequest::language(arguments, languages),
        caller: Arc::clone(caller),
        cancel: cancel.clone(),
    };
    match surface.path().before_cell(request).await {
        Ok(arguments) => Ok(Some(arguments)),
        // A question that was taken back with its cell is no refusal.
        Err(_) if cancel.is_cancelled() => Err(Failure::aborted()),
        Err(error) => Err(Failure::invalid(error)),
    }
}

/// Tells an observer of one `exec` or `wait`.
async fn observed(
    observer: &dyn Observer,
    leg: &CellLeg<'_>,
    work: impl Future<Output = CellResult>,
) -> CellResult {
    let start = Instant::now();
    observer.leg_started(leg);
    let result = work.await;
    observer.leg_finished(leg, start.elapsed(), &result);
    result
}

/// Checks a program and brings it into the form the guest runs.
async fn check(source: String, language: Language) -> Result<Prepared, Failure> {
    let inline = language == Language::JavaScript && source.len() <= INLINE_SOURCE_BYTES;
    let checked = if inline {
        prepare(&source, language)
    } else {
        match tokio::task::spawn_blocking(move || prepare(&source, language)).await {
            Ok(checked) => checked,
            Err(error) => {
                let message = format!("the program could not be checked: {error}");
                return Err(Failure::new(ErrorCode::InternalError, message));
            }
        }
    };
    checked.map_err(Failure::invalid)
}

fn stop(settings: &Settings, cancel: CancellationToken) -> Stop {
    Stop {
        deadline: Instant::now() + settings.timeout,
        cancel,
    }
}

/// A seed that no other run has.
fn seed() -> [u64; 2] {
    let (high, low) = uuid::Uuid::new_v4().as_u64_pair();
    [high, low]
}
