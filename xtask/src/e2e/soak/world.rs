//! What everybody in the long load shares.

use std::{
    collections::{HashSet, VecDeque},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use super::{
    front::{Front, Visitor},
    ledger::Ledger,
    servers::Servers,
};

/// Cells that may be suspended at once; a process keeps 64.
const BERTHS: usize = 44;

/// Of these so many may be left behind between two looks at what is held.
const ADRIFT: usize = 20;

/// Events that are told when something is wrong.
const RECENT: usize = 60;

/// What everybody shares.
pub(super) struct World {
    pub(super) front: Front,
    pub(super) servers: Servers,
    pub(super) ledger: Ledger,
    pub(super) gate: Gate,
    /// Cells may be left behind, and fall out of time before the next look.
    pub(super) may_abandon: AtomicBool,
    berths: Arc<AtomicUsize>,
    adrift: Mutex<Vec<Berth>>,
    /// Visitors who went without a word. Their sessions last for half an hour, so somebody ends them.
    gone: Mutex<Vec<Visitor>>,
    numbers: AtomicU64,
    began: Instant,
    recent: Mutex<VecDeque<String>>,
}

/// Room for one suspended cell.
pub(super) struct Berth(Arc<AtomicUsize>);

impl Drop for Berth {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl World {
    pub(super) fn new(front: Front, servers: Servers) -> World {
        World {
            front,
            servers,
            ledger: Ledger::default(),
            gate: Gate::default(),
            may_abandon: AtomicBool::new(false),
            berths: Arc::new(AtomicUsize::new(BERTHS)),
            adrift: Mutex::default(),
            gone: Mutex::default(),
            numbers: AtomicU64::new(0),
            began: Instant::now(),
            recent: Mutex::default(),
        }
    }

    /// A number that nothing had before.
    pub(super) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::SeqCst)
    }

    /// Room for a cell that will be suspended, if there is some.
    pub(super) fn berth(&self) -> Option<Berth> {
        let took = self
            .berths
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |free| free.checked_sub(1));
        took.ok().map(|_| Berth(Arc::clone(&self.berths)))
    }

    /// Room for a cell that will be left behind, if it may be. It is taken until nothing is suspended any more.
    pub(super) fn abandon(&self) -> bool {
        let mut adrift = lock(&self.adrift);
        if !self.may_abandon.load(Ordering::SeqCst) || adrift.len() >= ADRIFT {
            return false;
        }
        let berth = self.berth();
        let took = berth.is_some();
        adrift.extend(berth);
        took
    }

    /// Nothing is suspended any more.
    pub(super) fn nothing_adrift(&self) {
        lock(&self.adrift).clear();
    }

    /// A visitor goes without a word.
    pub(super) fn forsake(&self, visitor: Visitor) {
        lock(&self.gone).push(visitor);
    }

    /// Those who went without a word since this was asked the last time.
    pub(super) fn take_gone(&self) -> Vec<Visitor> {
        std::mem::take(&mut lock(&self.gone))
    }

    /// Notes what was done, for whoever has to find out why something went wrong.
    pub(super) fn note(&self, event: &str) {
        let at = self.began.elapsed().as_secs_f64();
        let mut recent = lock(&self.recent);
        if recent.len() == RECENT {
            recent.pop_front();
        }
        recent.push_back(format!("  {at:9.3} s  {event}\n"));
    }

    /// What was noted last.
    pub(super) fn recent(&self) -> String {
        lock(&self.recent).iter().map(String::as_str).collect()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets the load through, or holds it back.
#[derive(Default)]
pub(super) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    open: bool,
    over: bool,
    inside: HashSet<u64>,
    next: u64,
}

/// Something that goes on behind the gate.
pub(super) struct Pass<'a> {
    gate: &'a Gate,
    number: u64,
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        self.gate.change(|state| {
            state.inside.remove(&self.number);
        });
    }
}

impl Gate {
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut lock(&self.state));
        self.changed.notify_all();
        changed
    }

    /// Waits until the gate is open; `None` once all is over.
    pub(super) fn enter(&self) -> Option<Pass<'_>> {
        let mut state = lock(&self.state);
        while !state.open && !state.over {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.over {
            return None;
        }
        state.next += 1;
        let number = state.next;
        state.inside.insert(number);
        Some(Pass { gate: self, number })
    }

    /// Waits for so long, or until the gate is closed.
    pub(super) fn pause(&self, time: Duration) {
        let end = Instant::now() + time;
        let mut state = lock(&self.state);
        while state.open {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            state = self
                .changed
                .wait_timeout(state, left)
                .map_or_else(|poison| poison.into_inner().0, |(state, _)| state);
        }
    }

    pub(super) fn open(&self) {
        self.change(|state| state.open = true);
    }

    /// Holds back what comes, and waits for what is inside; false if that takes longer than `limit`.
    pub(super) fn close(&self, limit: Duration) -> bool {
        self.change(|state| state.open = false);
        let end = Instant::now() + limit;
        let mut state = lock(&self.state);
        while !state.inside.is_empty() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self
                .changed
                .wait_timeout(state, left)
                .map_or_else(|poison| poison.into_inner().0, |(state, _)| state);
        }
        true
    }

    /// Everybody goes home.
    pub(super) fn end(&self) {
        self.change(|state| {
            state.open = false;
            state.over = true;
        });
    }
}
