//! Runs guests: QuickJS compiled to WebAssembly, one VM for each cell, in a process that no cell can hurt.
//!
//! This crate knows nothing of tools, catalogs or sessions: a guest asks its [`WallHost`](codecell_bridge::WallHost),
//! and whoever runs the guest answers. It gives every cell a deadline and a memory limit that need no cooperation,
//! and turns a waiting VM into an [`Image`] and back.
//!
//! ```
//! use codecell_bridge::{Call, CallId, Cell, Guest, Output, OutputFull, Report, Stop, Thrown, WallHost};
//! use codecell_guest_runtime::{Engine, EngineOptions, VmLimits};
//!
//! struct Alone;
//!
//! impl WallHost for Alone {
//!     fn query(&mut self, _question: &str) -> Result<String, Thrown> {
//!         Ok("[]".into())
//!     }
//!     fn call(&mut self, _call: Call) -> Result<(), Thrown> {
//!         Err(Thrown::error("unavailable", "nobody is here"))
//!     }
//!     fn withdraw(&mut self, _id: CallId) {}
//!     fn output(&mut self, _output: Output) -> Result<(), OutputFull> {
//!         Ok(())
//!     }
//!     fn overflow(&mut self, _head: String, _more: usize) {}
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let engine = Engine::new(EngineOptions::default())?;
//! let stop = Stop {
//!     deadline: std::time::Instant::now() + std::time::Duration::from_secs(10),
//!     cancel: tokio_util::sync::CancellationToken::new(),
//! };
//! let mut vm = engine.start(VmLimits::default(), Box::new(Alone), &stop).await?;
//! let cell = Cell { code: "return [1, 2, 3].map((n) => n * 2)".into(), seed: [1, 2], output_bytes: 65_536 };
//! let Report::Completed { value } = vm.eval(&cell, &stop).await? else { panic!("it returns at once") };
//! assert_eq!(value.as_str(), "[2,4,6]");
//! # Ok(())
//! # }
//! ```
mod artefact;
mod cache;
mod checksum;
mod delta;
mod engine;
mod error;
mod image;
mod pagemap;
mod ticker;
mod vm;
mod wall;
mod wire;

pub use crate::{
    cache::default_cache_folder,
    engine::{Engine, EngineOptions, VmLimits},
    error::{EngineError, RestoreError, StartError, SuspendError},
    image::Image,
    vm::Vm,
};
