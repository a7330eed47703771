use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::{RunId, Scope};

/// What the store holds at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreLimits {
    /// Runs that may be suspended or in the middle of a resume at once.
    pub runs: usize,
}

/// A suspended run: its image, and what the caller needs beside it to go on.
#[derive(Debug)]
pub struct Parked<C> {
    /// The VM's bytes, opaque here.
    pub image: Vec<u8>,
    /// The caller's own state of the run, opaque here.
    pub companion: C,
    /// How long the run may stay parked.
    pub ttl: Duration,
}

/// Why a run was not parked: the store is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too many suspended code mode runs.")]
pub struct StoreFull;

/// Why a suspended run was not handed back. A refusal changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TakeError {
    /// Never stored, already finished, or past its deadline: the caller starts over.
    #[error("code mode run is unavailable or expired. Start over with a new exec.")]
    Unavailable,
    /// Suspended by another agent or another run of it, which is not named.
    #[error("code mode run belongs to a different agent run.")]
    OtherRun,
    /// Suspended by another session, which is not named.
    #[error("code mode run belongs to a different session.")]
    OtherSession,
    /// Another caller is resuming it right now.
    #[error("code mode run is already being resumed. Wait for that call's result.")]
    Busy,
}

/// Holds suspended runs in this process until somebody resumes them or they expire.
///
/// Cloning gives another handle to the same store.
#[derive(Debug)]
pub struct SnapshotStore<C> {
    inner: Arc<Inner<C>>,
}

#[derive(Debug)]
struct Inner<C> {
    limits: StoreLimits,
    slots: Mutex<HashMap<RunId, Slot<C>>>,
}

#[derive(Debug)]
struct Slot<C> {
    scope: Scope,
    state: SlotState<C>,
}

#[derive(Debug)]
enum SlotState<C> {
    Parked { parked: Parked<C>, expires: Instant },
    Resuming,
}

impl<C> SnapshotStore<C> {
    /// An empty store.
    #[must_use]
    pub fn new(limits: StoreLimits) -> Self {
        Self {
            inner: Arc::new(Inner {
                limits,
                slots: Mutex::default(),
            }),
        }
    }

    /// Parks a run that was not parked before and gives it its name.
    ///
    /// # Errors
    ///
    /// The store is full; `parked` comes back untouched.
    pub fn put(
        &self,
        scope: Scope,
        parked: Parked<C>,
        now: Instant,
    ) -> Result<RunId, (StoreFull, Parked<C>)> {
        let mut slots = self.inner.lock();
        if slots.len() >= self.inner.limits.runs {
            return Err((StoreFull, parked));
        }
        let id = RunId::fresh();
        let expires = now + parked.ttl;
        slots.insert(
            id.clone(),
            Slot {
                scope,
                state: SlotState::Parked { parked, expires },
            },
        );
        Ok(id)
    }

    /// Hands a parked run to the one caller who resumes it.
    ///
    /// # Errors
    ///
    /// See [`TakeError`]; the checks are made in the order of its variants.
    pub fn take(&self, scope: &Scope, id: &str, now: Instant) -> Result<(Lease<C>, Parked<C>), TakeError> {
        let id = RunId::from_text(id);
        let mut slots = self.inner.lock();
        let slot = slots.get_mut(&id).ok_or(TakeError::Unavailable)?;
        if let SlotState::Parked { expires, .. } = slot.state
            && expires <= now
        {
            let expired = slots.remove(&id);
            // Dropped outside the lock: a companion may have much to give up.
            drop(slots);
            drop(expired);
            return Err(TakeError::Unavailable);
        }
        if slot.scope.agent != scope.agent || slot.scope.run != scope.run {
            return Err(TakeError::OtherRun);
        }
        if slot.scope.session != scope.session {
            return Err(TakeError::OtherSession);
        }
        match std::mem::replace(&mut slot.state, SlotState::Resuming) {
            SlotState::Parked { parked, .. } => Ok((
                Lease {
                    inner: Arc::clone(&self.inner),
                    id,
                    settled: false,
                },
                parked,
            )),
            SlotState::Resuming => Err(TakeError::Busy),
        }
    }

    /// Removes the runs whose time is over and hands them to the caller.
    pub fn expire(&self, now: Instant) -> Vec<Parked<C>> {
        self.inner.remove_parked(|slot| match &slot.state {
            SlotState::Parked { expires, .. } => *expires <= now,
            SlotState::Resuming => false,
        })
    }

    /// Removes every parked run of these scopes and hands them to the caller.
    pub fn end(&self, of: impl Fn(&Scope) -> bool) -> Vec<Parked<C>> {
        self.inner.remove_parked(|slot| of(&slot.scope))
    }

    /// Removes every parked run and hands them to the caller.
    pub fn clear(&self) -> Vec<Parked<C>> {
        self.inner.remove_parked(|_| true)
    }

    /// Removes every parked run with such a companion and hands them to the caller.
    pub fn remove(&self, of: impl Fn(&C) -> bool) -> Vec<Parked<C>> {
        self.inner.remove_parked(|slot| match &slot.state {
            SlotState::Parked { parked, .. } => of(&parked.companion),
            SlotState::Resuming => false,
        })
    }

    /// Looks at the companion of every run that is parked and not past its deadline. The store is locked meanwhile.
    pub fn look<T>(&self, now: Instant, at: impl FnMut(&C) -> T) -> Vec<T> {
        let slots = self.inner.lock();
        let parked = slots.values().filter_map(|slot| match &slot.state {
            SlotState::Parked { parked, expires } if *expires > now => Some(&parked.companion),
            _ => None,
        });
        parked.map(at).collect()
    }

    /// Runs that hold a slot, parked or in the middle of a resume.
    #[must_use]
    pub fn len(&self) -> usize {
        self.inner.lock().len()
    }

    /// Whether no run holds a slot.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<C> Clone for SnapshotStore<C> {
    fn clone(&self) -> Self {
        Self {
            inner: Arc::clone(&self.inner),
        }
    }
}

impl<C> Inner<C> {
    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Slot<C>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remove_parked(&self, doomed: impl Fn(&Slot<C>) -> bool) -> Vec<Parked<C>> {
        let removed = self
            .lock()
            .extract_if(|_, slot| matches!(slot.state, SlotState::Parked { .. }) && doomed(slot))
            .collect::<Vec<_>>();
        removed
            .into_iter()
            .filter_map(|(_, slot)| match slot.state {
                SlotState::Parked { parked, .. } => Some(parked),
                SlotState::Resuming => None,
            })
            .collect()
    }
}

/// The right to resume one run. It keeps the run's name and its slot.
///
/// Dropping it ends the run and frees the slot.
#[derive(Debug)]
#[must_use]
pub struct Lease<C> {
    inner: Arc<Inner<C>>,
    id: RunId,
    settled: bool,
}

impl<C> Lease<C> {
    /// The run's name.
    #[must_use]
    pub fn id(&self) -> &RunId {
        &self.id
    }

    /// Parks the run again, under the same name and in the same slot.
    pub fn park(mut self, parked: Parked<C>, now: Instant) {
        self.settled = true;
        let expires = now + parked.ttl;
        if let Some(slot) = self.inner.lock().get_mut(&self.id) {
            slot.state = SlotState::Parked { parked, expires };
        }
    }
}

impl<C> Drop for Lease<C> {
    fn drop(&mut self) {
        if !self.settled {
            let removed = self.inner.lock().remove(&self.id);
            drop(removed);
        }
    }
}
