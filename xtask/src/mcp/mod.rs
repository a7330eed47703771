//! Both ends of a stdio MCP connection, small enough to be trusted as measuring instruments.
//!
//! Nothing here is shared with the product: an error there must not be answered by the same error here.

mod client;
mod probe;
mod sample;
mod server;

pub(crate) use client::{Client, RpcError};
pub(crate) use probe::PIXEL;
pub(crate) use server::{Options, run};

/// The newest revision, spoken without a handshake.
pub(crate) const MODERN: &str = "2026-07-28";

/// Revisions that begin with `initialize`, oldest first.
pub(crate) const LEGACY: &[&str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// Key under which a modern request names its revision.
pub(crate) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
