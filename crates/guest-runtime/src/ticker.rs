//! The clock that makes running guests look up: one thread that advances the engine's epoch.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use wasmtime::Engine;

/// How often running guests look at their deadline. A shorter tick costs throughput, a longer one punctuality.
const TICK: Duration = Duration::from_millis(2);
/// Idle ticks before the thread goes to sleep, so that a burst of short cells does not wake it for each.
const IDLE_TICKS: u32 = 100;

#[derive(Default)]
struct State {
    running: usize,
    asleep: bool,
    closed: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    wake: Condvar,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is a few flags that are valid after every statement.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Owns the thread; it ends when this is dropped.
pub(crate) struct Ticker(Arc<Shared>);

impl Ticker {
    /// Starts the thread.
    pub(crate) fn start(engine: Engine) -> std::io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let ours = Arc::clone(&shared);
        thread::Builder::new()
            .name("codecell-epoch".into())
            .spawn(move || run(&ours, &engine))?;
        Ok(Self(shared))
    }

    /// Keeps the clock going until the returned guard is dropped.
    pub(crate) fn running(&self) -> Running {
        let mut state = self.0.lock();
        state.running += 1;
        if state.asleep {
            self.0.wake.notify_one();
        }
        drop(state);
        Running(Arc::clone(&self.0))
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.0.lock().closed = true;
        self.0.wake.notify_one();
    }
}

/// While this lives, epochs advance.
pub(crate) struct Running(Arc<Shared>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.lock().running -= 1;
    }
}

fn run(shared: &Shared, engine: &Engine) {
    let mut idle = 0;
    loop {
        thread::sleep(TICK);
        engine.increment_epoch();
        let mut state = shared.lock();
        idle = if state.running == 0 { idle + 1 } else { 0 };
        while idle >= IDLE_TICKS && state.running == 0 && !state.closed {
            state.asleep = true;
            state = shared.wake.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.asleep = false;
        }
        if state.closed {
            return;
        }
    }
}
