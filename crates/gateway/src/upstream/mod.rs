//! The MCP servers behind the gateway: started, watched, asked.
//!
//! Starting returns at once. Every server connects on its own in the background, so one that hangs, dies or
//! talks garbage costs only its own tools; until it answers, the tools it had last time are served from disk
//! and marked stale. Results pass through as the text they arrived as: nothing here parses them, so no number
//! is rounded and no field is lost. Policy is not known here, beyond the user's own allow and deny lists.
//!
//! ```
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! use std::{collections::BTreeMap, time::Duration};
//! use codecell_gateway::{
//!     config::{ServerConfig, Transport},
//!     upstream::{State, UpstreamOptions, Upstreams, WaitFor},
//! };
//!
//! let transport = Transport::Stdio {
//!     command: "no-such-program".into(), args: vec![], env: BTreeMap::new(), cwd: None,
//! };
//! let options = UpstreamOptions { cache: None, ..UpstreamOptions::default() };
//! let upstreams = Upstreams::start(vec![ServerConfig::new("demo", transport)], options);
//! upstreams.settled(WaitFor::All, Duration::from_secs(10)).await;
//! assert_eq!(upstreams.snapshot().servers[0].state, State::Failed {
//!     reason: "program `no-such-program` was not found: is it installed and on the PATH?".into(),
//! });
//! upstreams.shutdown().await;
//! # });
//! # Ok::<(), std::io::Error>(())
//! ```
mod backoff;
mod cache;
mod call;
mod error;
mod handshake;
pub(crate) mod headers;
mod http;
mod lines;
mod listing;
mod message;
mod outbox;
mod pace;
mod peer;
mod process;
mod question;
mod server;
mod snapshot;
mod sse;
mod state;
mod stderr;
mod stdio;
mod subscribe;
mod tools;
mod upkeep;
mod upstreams;

pub(crate) use self::message::Fields;
pub use self::{
    error::{CallError, Message, Phase},
    peer::{Progress, ProgressSink},
    snapshot::{ServerSnapshot, Snapshot},
    state::{Era, Quarantined, State, ToolDump},
    upstreams::{CallOptions, UpstreamOptions, Upstreams, WaitFor},
};
