//! The shipments. A real plugin would have a client of some service here.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};

/// The heaviest shipment that is taken.
pub(crate) const MAX_TONS: f64 = 40.0;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Shipment {
    pub(crate) id: u64,
    pub(crate) paid: bool,
    pub(crate) tons: f64,
    /// Changes when the shipment is promoted; the list does not show it.
    #[serde(skip)]
    pub(crate) status: Status,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    Booked,
    Loaded,
    Shipped,
}

pub(crate) struct Ledger(Mutex<BTreeMap<u64, Shipment>>);

impl Ledger {
    pub(crate) fn new() -> Self {
        let shipments = [
            (1, true, 12.5),
            (2, false, 30.0),
            (3, false, 4.0),
            (4, true, 21.0),
        ];
        let shipments = shipments.map(|(id, paid, tons)| {
            let status = Status::Booked;
            (
                id,
                Shipment {
                    id,
                    paid,
                    tons,
                    status,
                },
            )
        });
        Self(Mutex::new(BTreeMap::from(shipments)))
    }

    /// All shipments, by id.
    pub(crate) fn all(&self) -> Vec<Shipment> {
        self.lock().values().cloned().collect()
    }

    pub(crate) fn get(&self, id: u64) -> Option<Shipment> {
        self.lock().get(&id).cloned()
    }

    /// Gives a shipment a new status, and tells the one it had.
    pub(crate) fn promote(&self, id: u64, status: Status) -> Option<Status> {
        let mut shipments = self.lock();
        let shipment = shipments.get_mut(&id)?;
        Some(std::mem::replace(&mut shipment.status, status))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Shipment>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
