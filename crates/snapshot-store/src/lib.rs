//! Keeps suspended cells until someone resumes them or they expire.
//!
//! An image is opaque bytes: this crate never decodes one. It never reads the clock either; callers pass `now`,
//! so expiry is testable. Beside each image lies a companion of the caller's own type, dropped with it.
//!
//! ```
//! use std::time::{Duration, Instant};
//!
//! use codecell_snapshot_store::{Parked, Scope, SnapshotStore, StoreLimits, TakeError};
//!
//! # let now = Instant::now();
//! # let scope = Scope { agent: "a".into(), session: "s".into(), run: "r".into() };
//! let store = SnapshotStore::new(StoreLimits { runs: 64 });
//! let parked = Parked { image: vec![7; 16], companion: "pending calls", ttl: Duration::from_secs(900) };
//! let id = store.put(scope.clone(), parked, now).expect("the store is empty");
//!
//! let (lease, parked) = store.take(&scope, id.as_str(), now)?;
//! assert_eq!(parked.image, [7; 16]);
//! assert_eq!(store.take(&scope, id.as_str(), now).unwrap_err(), TakeError::Busy);
//!
//! drop(lease); // the run has ended
//! assert_eq!(store.take(&scope, id.as_str(), now).unwrap_err(), TakeError::Unavailable);
//! # Ok::<(), TakeError>(())
//! ```
mod run_id;
mod scope;
mod store;

pub use crate::{
    run_id::RunId,
    scope::Scope,
    store::{Lease, Parked, SnapshotStore, StoreFull, StoreLimits, TakeError},
};
