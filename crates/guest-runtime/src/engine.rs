use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use codecell_bridge::{Fault, Stop, WallHost};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use wasmtime::{
    Config, Enabled, InstanceAllocationStrategy, InstancePre, Linker, PoolingAllocationConfig, Store,
};

use crate::error::{EngineError, RestoreError, StartError};
use crate::image::Image;
use crate::pagemap::Pagemap;
use crate::ticker::{Running, Ticker};
use crate::vm::{Body, Slot, Vm};
use crate::wall::{self, Wall};
use crate::{cache, delta};

/// Native stack of a running guest. QuickJS watches only its own stack inside the memory; recursion through some of
/// its C paths (nested source text, `JSON.parse`, proxies, callbacks of `replace`) takes far more of this one, and at
/// 8 MiB it still ends in a trap before QuickJS notices.
const NATIVE_STACK_BYTES: usize = 32 * 1024 * 1024;
/// Stack of the fiber that a guest runs on: the guest's own and room for our functions. Touched pages alone are real.
const FIBER_STACK_BYTES: usize = 2 * NATIVE_STACK_BYTES;
/// Largest memory any configuration can ask for. Only address space is reserved.
const MAX_MEMORY_BYTES: usize = 1024 * 1024 * 1024;
/// So much of a VM's memory is wiped in place when it ends, which is faster than giving the pages back: a fresh memory
/// fits. It is also what an unused place keeps of the system's memory.
const KEEP_RESIDENT_BYTES: usize = 2 * 1024 * 1024;

/// How an [`Engine`] is set up.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Threads of [`Engine::run`], at least two.
    pub threads: usize,
    /// VMs that may live at once; [`Engine::start`] waits when they are all in use.
    pub max_instances: u32,
    /// Where the compiled guest is kept between processes. Without it every process compiles for about a second.
    pub module_cache: Option<PathBuf>,
}

impl Default for EngineOptions {
    /// A thread for each processor, 64 VMs, the user's own cache folder.
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(2, usize::from),
            max_instances: 64,
            module_cache: cache::default_cache_folder(),
        }
    }
}

/// What one VM may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VmLimits {
    /// Largest memory in bytes, engine included. A fresh VM has about 2 MiB of it; a smaller limit is raised to
    /// what a fresh VM has and one MiB more, so that it can run at all.
    pub memory_bytes: usize,
}

impl Default for VmLimits {
    /// 64 MiB.
    fn default() -> Self {
        Self {
            memory_bytes: 64 * 1024 * 1024,
        }
    }
}

/// Makes VMs. One is enough for a process; clones share everything.
#[derive(Clone)]
pub struct Engine(Arc<Shared>);

struct Shared {
    guest: InstancePre<Wall>,
    slots: Arc<Semaphore>,
    live: Arc<AtomicUsize>,
    ticker: Ticker,
    /// Present until this is dropped.
    threads: Option<Runtime>,
    handle: Handle,
    /// The memory of a VM that has not run, once somebody needed it.
    fresh: OnceLock<Arc<[u8]>>,
    /// Held by whoever makes it.
    making_fresh: Mutex<()>,
    fresh_bytes: usize,
    pagemap: Pagemap,
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The last engine may go away inside another runtime, where waiting for threads is not allowed.
        if let Some(threads) = self.threads.take() {
            threads.shutdown_background();
        }
    }
}

impl Engine {
    /// Loads the guest, from the cache if it is there, and starts the threads.
    ///
    /// # Errors
    ///
    /// Fails when the platform has no WebAssembly engine, or the system refuses threads or address space.
    pub fn new(options: EngineOptions) -> Result<Self, EngineError> {
        let wasm = |error: wasmtime::Error| EngineError::Wasm(format!("{error:#}"));
        let engine = wasmtime::Engine::new(&config(options.max_instances)).map_err(wasm)?;
        let module = cache::load(&engine, options.module_cache.as_deref())?;
        let mut linker = Linker::new(&engine);
        wall::link(&mut linker).map_err(wasm)?;
        let fresh_bytes = module
            .exports()
            .find_map(|export| {
                export
                    .ty()
                    .memory()
                    .map(|memory| memory.minimum() as usize * 64 * 1024)
            })
            .unwrap_or(0);
        let guest = linker.instantiate_pre(&module).map_err(wasm)?;
        let threads = Builder::new_multi_thread()
            .worker_threads(options.threads.max(2))
            .thread_name("codecell-guest")
            .enable_time()
            .build()?;
        let handle = threads.handle().clone();
        Ok(Self(Arc::new(Shared {
            guest,
            slots: Arc::new(Semaphore::new(options.max_instances as usize)),
            live: Arc::default(),
            ticker: Ticker::start(engine)?,
            threads: Some(threads),
            handle,
            fresh: OnceLock::new(),
            making_fresh: Mutex::default(),
            fresh_bytes,
            pagemap: Pagemap::open(),
        })))
    }

    /// VMs that exist now. A suspended program is not one of them.
    #[must_use]
    pub fn live_instances(&self) -> usize {
        self.0.live.load(Ordering::Relaxed)
    }

    /// Carries `work` to its end on the engine's own threads, which are there for guests. Dropping the future ends the
    /// work where it next waits, or where the guest next gives its thread back.
    ///
    /// # Errors
    ///
    /// Fails when the work panicked: it is gone then, with every VM in it.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Result<T, Fault> {
        let task = self.0.handle.spawn(work);
        let guard = AbortOnDrop(task.abort_handle());
        let ended = task.await;
        drop(guard);
        ended.map_err(|error| Fault::Engine(format!("the guest's thread ended: {error}")))
    }

    /// A fresh VM. Waits while all are in use, until `stop`.
    ///
    /// # Errors
    ///
    /// Fails when no VM became free in time, or none could be made.
    pub async fn start(
        &self,
        limits: VmLimits,
        host: Box<dyn WallHost>,
        stop: &Stop,
    ) -> Result<Vm, StartError> {
        Ok(Vm::new(self.clone(), self.body(limits, host, stop).await?))
    }

    /// A VM that goes on where the image was taken. The image stays as it is.
    ///
    /// # Errors
    ///
    /// Fails when the bytes are no image of this build, are damaged, or do not fit the limits.
    pub async fn restore(
        &self,
        image: &[u8],
        limits: VmLimits,
        host: Box<dyn WallHost>,
        stop: &Stop,
    ) -> Result<Vm, RestoreError> {
        let delta = Image::unpack(image, self.memory_limit(limits))?;
        let mut body = self.body(limits, host, stop).await?;
        body.fill(&delta)?;
        Ok(Vm::new(self.clone(), body))
    }

    async fn body(&self, limits: VmLimits, host: Box<dyn WallHost>, stop: &Stop) -> Result<Body, StartError> {
        let slot = Slot::new(&self.0.live, self.permit(stop).await?);
        let mut store = self.store(host, self.memory_limit(limits));
        let instance = self.0.guest.instantiate(&mut store);
        let instance = instance.map_err(|error| StartError::Engine(format!("{error:#}")))?;
        Body::new(store, &instance, slot)
    }

    /// A place for a VM, waiting for one if need be.
    async fn permit(&self, stop: &Stop) -> Result<OwnedSemaphorePermit, StartError> {
        let slots = Arc::clone(&self.0.slots);
        if let Ok(permit) = Arc::clone(&slots).try_acquire_owned() {
            return Ok(permit);
        }
        let deadline = {
            // The caller's runtime may have no timers; ours has.
            let _ours = self.0.handle.enter();
            tokio::time::sleep_until(stop.deadline.into())
        };
        tokio::select! {
            biased;
            () = stop.cancel.cancelled() => Err(StartError::Stopped(Fault::Cancelled)),
            permit = slots.acquire_owned() => permit.map_err(|error| StartError::Engine(error.to_string())),
            () = deadline => Err(StartError::Stopped(Fault::Deadline)),
        }
    }

    fn store(&self, host: Box<dyn WallHost>, limit: usize) -> Store<Wall> {
        let mut store = Store::new(self.0.guest.module().engine(), Wall::new(host, limit));
        store.limiter(|wall| wall);
        store.epoch_deadline_callback(|mut context| context.data_mut().tick());
        store
    }

    fn memory_limit(&self, limits: VmLimits) -> usize {
        /// What a cell of a few lines needs beyond a fresh VM.
        const SMALLEST_HEAP_BYTES: usize = 1024 * 1024;
        limits
            .memory_bytes
            .clamp(self.0.fresh_bytes + SMALLEST_HEAP_BYTES, MAX_MEMORY_BYTES)
    }

    /// The memory of a VM that has not run.
    pub(crate) fn fresh_memory(&self) -> Result<Arc<[u8]>, String> {
        if let Some(fresh) = self.0.fresh.get() {
            return Ok(Arc::clone(fresh));
        }
        // One at a time: beside those of cells there is a place for one instance.
        let _only = self.0.making_fresh.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fresh) = self.0.fresh.get() {
            return Ok(Arc::clone(fresh));
        }
        let mut store = self.store(Box::new(Nobody), MAX_MEMORY_BYTES);
        let instance = self
            .0
            .guest
            .instantiate(&mut store)
            .map_err(|error| format!("{error:#}"))?;
        let memory = instance
            .get_memory(&mut store, "memory")
            .ok_or("the guest exports no memory")?;
        let bytes = memory.data(&store);
        debug_assert_eq!(bytes.len() % delta::PAGE_BYTES, 0);
        Ok(Arc::clone(self.0.fresh.get_or_init(|| bytes.into())))
    }

    pub(crate) fn pagemap(&self) -> &Pagemap {
        &self.0.pagemap
    }

    pub(crate) fn threads(&self) -> &Handle {
        &self.0.handle
    }

    pub(crate) fn running(&self) -> Running {
        self.0.ticker.running()
    }
}

/// Ends the work whose future was dropped.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine")
            .field("live_instances", &self.live_instances())
            .finish_non_exhaustive()
    }
}

fn config(max_instances: u32) -> Config {
    let mut pool = PoolingAllocationConfig::new();
    // One more than cells may use: the instance whose memory images are compared with.
    let places = max_instances.saturating_add(1);
    pool.total_core_instances(places)
        .total_memories(places)
        .total_tables(places)
        .total_stacks(places)
        .table_elements(wall::MAX_TABLE_ELEMENTS)
        .max_memory_size(MAX_MEMORY_BYTES)
        .linear_memory_keep_resident(KEEP_RESIDENT_BYTES)
        .table_keep_resident(KEEP_RESIDENT_BYTES)
        // Where the system can tell which pages were touched, only those are wiped: a third of the time.
        .pagemap_scan(Enabled::Auto);
    let mut config = Config::new();
    config
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool))
        .memory_init_cow(true)
        .epoch_interruption(true)
        .max_wasm_stack(NATIVE_STACK_BYTES)
        .async_stack_size(FIBER_STACK_BYTES)
        // A trap after deep recursion would collect a backtrace of all of it.
        .wasm_backtrace_max_frames(None);
    config
}

/// The host of a guest that never runs.
struct Nobody;

impl WallHost for Nobody {
    fn query(&mut self, _question: &str) -> Result<String, codecell_bridge::Thrown> {
        Err(codecell_bridge::Thrown::default())
    }

    fn call(&mut self, _call: codecell_bridge::Call) -> Result<(), codecell_bridge::Thrown> {
        Err(codecell_bridge::Thrown::default())
    }

    fn withdraw(&mut self, _id: codecell_bridge::CallId) {}

    fn output(&mut self, _output: codecell_bridge::Output) -> Result<(), codecell_bridge::OutputFull> {
        Err(codecell_bridge::OutputFull)
    }

    fn overflow(&mut self, _head: String, _more: usize) {}
}
