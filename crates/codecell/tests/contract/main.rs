//! The contract of guarded calls, namespaces, client tools and the edges, played against the real guest and a toolbox
//! whose tools keep count.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod approvals;
mod client;
mod contracts;
mod denied;
mod edges;
mod hooks;
mod lifecycle;
mod names;
mod namespaces;
mod restart_safe;
mod watching;
mod world;
