use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use codecell_bridge::{Cell, Fault, Guest, Reply, Report, Stop, Thrown};
use tokio::sync::OwnedSemaphorePermit;
use wasmtime::{Global, Instance, Memory, Store, TypedFunc};

use crate::delta::{Delta, PAGE_BYTES};
use crate::engine::Engine;
use crate::error::{StartError, SuspendError};
use crate::image::Image;
use crate::pagemap::Pagemap;
use crate::wall::{self, Wall};
use crate::wire;

/// Memories with at most so many touched pages are packed where they are: it takes less than a guest may run between
/// two looks at the clock.
const SMALL_PAGES: usize = 512;

/// A live VM. Dropping it ends it; so does dropping the future of a running entry.
///
/// Guest code runs on the thread that polls an entry, and gives that thread back every few milliseconds. Whoever has
/// other things to do on its threads puts all of it behind [`Engine::run`].
pub struct Vm {
    engine: Engine,
    /// Absent while an entry runs, and for good once the VM has ended.
    body: Option<Body>,
}

/// What runs: instance and store, with the slot they occupy.
pub(crate) struct Body {
    store: Store<Wall>,
    entries: Entries,
    memory: Memory,
    stack: Global,
    _slot: Slot,
}

/// A place among the engine's instances.
pub(crate) struct Slot {
    live: Arc<AtomicUsize>,
    _permit: OwnedSemaphorePermit,
}

impl Slot {
    pub(crate) fn new(live: &Arc<AtomicUsize>, permit: OwnedSemaphorePermit) -> Self {
        live.fetch_add(1, Ordering::Relaxed);
        Self {
            live: Arc::clone(live),
            _permit: permit,
        }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.live.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Clone)]
struct Entries {
    eval: TypedFunc<u32, u64>,
    settle: TypedFunc<u32, u64>,
    unhandled: TypedFunc<u32, u64>,
}

#[derive(Clone, Copy)]
enum Entry {
    Eval,
    Settle,
    Unhandled,
}

impl Body {
    pub(crate) fn new(mut store: Store<Wall>, instance: &Instance, slot: Slot) -> Result<Self, StartError> {
        let mut entry = |name: &str| {
            instance
                .get_typed_func::<u32, u64>(&mut store, name)
                .map_err(|error| StartError::Engine(format!("`{name}`: {error}")))
        };
        let entries = Entries {
            eval: entry("eval")?,
            settle: entry("settle")?,
            unhandled: entry("unhandled")?,
        };
        let missing = |name: &str| StartError::Engine(format!("the guest exports no `{name}`"));
        let memory = instance
            .get_memory(&mut store, "memory")
            .ok_or_else(|| missing("memory"))?;
        let stack = instance
            .get_global(&mut store, "__stack_pointer")
            .ok_or_else(|| missing("__stack_pointer"))?;
        store.data_mut().memory = Some(memory);
        Ok(Self {
            store,
            entries,
            memory,
            stack,
            _slot: slot,
        })
    }

    /// Runs one entry to its end.
    async fn enter(&mut self, entry: Entry, input: Vec<u8>, stop: &Stop) -> Result<String, Fault> {
        if let Some(fault) = wall::passed(stop) {
            return Err(fault);
        }
        let size = u32::try_from(input.len())
            .map_err(|_| Fault::Engine("the input is larger than a guest's memory can be".into()))?;
        self.store.data_mut().begin(input, stop);
        self.store.set_epoch_deadline(1);
        let function = match entry {
            Entry::Eval => &self.entries.eval,
            Entry::Settle => &self.entries.settle,
            Entry::Unhandled => &self.entries.unhandled,
        };
        match function.call_async(&mut self.store, size).await {
            Ok(place) => {
                self.store.data_mut().end();
                self.answer(place)
            }
            Err(error) => {
                let fault = self.store.data_mut().take_fault();
                Err(fault.unwrap_or_else(|| Fault::Engine(format!("{error:#}"))))
            }
        }
    }

    /// The text an entry left behind: its address in the upper half of `place`, its length in the lower.
    fn answer(&self, place: u64) -> Result<String, Fault> {
        let (at, len) = ((place >> 32) as usize, (place & 0xFFFF_FFFF) as usize);
        let bytes = self.memory.data(&self.store).get(at..at + len);
        let text = bytes.and_then(|bytes| std::str::from_utf8(bytes).ok());
        text.map(str::to_owned)
            .ok_or_else(|| Fault::Engine("the guest's answer cannot be read".into()))
    }

    /// The pages that the program may have written. What lies below the empty stack is left over and no part of it.
    fn touched(&mut self, pagemap: &Pagemap) -> Vec<u32> {
        let empty_stack = self.stack.get(&mut self.store).i32().unwrap_or(0);
        let memory = self.memory.data(&self.store);
        let page = |bytes: usize| (bytes / PAGE_BYTES) as u32;
        let pages = page(usize::try_from(empty_stack).unwrap_or(0))..page(memory.len());
        pagemap.touched(memory.as_ptr() as usize, pages)
    }

    /// Copies a suspended memory into this fresh one.
    pub(crate) fn fill(&mut self, delta: &Delta) -> Result<(), StartError> {
        /// The unit in which a memory grows.
        const WASM_PAGE_BYTES: usize = 64 * 1024;
        let missing = delta
            .memory_bytes()
            .saturating_sub(self.memory.data_size(&self.store));
        self.memory
            .grow(&mut self.store, missing.div_ceil(WASM_PAGE_BYTES) as u64)
            .map_err(|error| StartError::Engine(format!("{error:#}")))?;
        delta
            .apply(self.memory.data_mut(&mut self.store))
            .ok_or_else(|| StartError::Engine("the image does not fit the memory".into()))
    }
}

impl Vm {
    pub(crate) fn new(engine: Engine, body: Body) -> Self {
        Self {
            engine,
            body: Some(body),
        }
    }

    /// Runs an entry. After a fault the VM is gone.
    async fn run(&mut self, entry: Entry, input: Vec<u8>, stop: &Stop) -> Result<String, Fault> {
        // Not put back unless the entry ends well: a future that is dropped takes the VM with it.
        let Some(mut body) = self.body.take() else {
            return Err(Fault::Engine("the VM has ended before".into()));
        };
        let running = self.engine.running();
        let text = body.enter(entry, input, stop).await?;
        drop(running);
        self.body = Some(body);
        Ok(text)
    }

    /// Turns the VM into bytes. The VM is gone afterwards, whatever the result.
    ///
    /// `limit` counts the bytes of the image, compressed as they are kept.
    ///
    /// # Errors
    ///
    /// Fails when the image is larger than `limit`, or when the VM had ended before.
    pub async fn suspend(mut self, limit: usize) -> Result<Image, SuspendError> {
        let mut body = self.body.take().ok_or(SuspendError::Ended)?;
        let fresh = self.engine.fresh_memory().map_err(SuspendError::Engine)?;
        let touched = body.touched(self.engine.pagemap());
        let small = touched.len() <= SMALL_PAGES;
        let pack = move || {
            let delta = Delta::between(&fresh, body.memory.data(&body.store), touched);
            drop(body);
            Image::pack(&delta, limit)
        };
        if small {
            return pack();
        }
        // Comparing and compressing a large memory takes a while.
        let packing = self.engine.threads().spawn_blocking(pack);
        packing
            .await
            .map_err(|error| SuspendError::Engine(error.to_string()))?
    }
}

impl Guest for Vm {
    async fn eval(&mut self, cell: &Cell, stop: &Stop) -> Result<Report, Fault> {
        let mut input = Vec::with_capacity(20 + cell.code.len());
        for word in cell.seed {
            input.extend_from_slice(&word.to_le_bytes());
        }
        let output_bytes = u32::try_from(cell.output_bytes).unwrap_or(u32::MAX);
        input.extend_from_slice(&output_bytes.to_le_bytes());
        input.extend_from_slice(cell.code.as_bytes());
        let text = self.run(Entry::Eval, input, stop).await?;
        wire::report(&text).map_err(Fault::Engine)
    }

    async fn settle(&mut self, replies: &[Reply], stop: &Stop) -> Result<Report, Fault> {
        let input = wire::replies(replies).map_err(Fault::Engine)?;
        let text = self.run(Entry::Settle, input.into_bytes(), stop).await?;
        wire::report(&text).map_err(Fault::Engine)
    }

    async fn unhandled(&mut self, stop: &Stop) -> Result<Vec<Thrown>, Fault> {
        let text = self.run(Entry::Unhandled, Vec::new(), stop).await?;
        serde_json::from_str(&text).map_err(|error| Fault::Engine(error.to_string()))
    }
}

impl std::fmt::Debug for Vm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.body.is_some() {
            "Vm(live)"
        } else {
            "Vm(ended)"
        })
    }
}
