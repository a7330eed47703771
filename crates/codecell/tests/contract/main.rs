//! The contract of guarded calls, namespaces, client tools and the edges, played against the real guest and a toolbox
//! whose tools keep count.
#![expect(
    clippy::unwrap_used,
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
mod outer;
mod restart_safe;
mod shop;
mod tools;
mod watching;
mod world;
