//! The gateway: configuration, the MCP servers behind it and the doors in front of it.
//!
//! It wires crates together and decides nothing about cells: what a program may do, how it is run and what
//! it gets back is settled in the crates below.
//!
//! ```
//! use std::process::ExitCode;
//!
//! let exit = codecell_gateway::cli::main(["codecell", "--version"].map(Into::into));
//! assert_eq!(exit, ExitCode::SUCCESS);
//! ```
mod approvals;
pub mod cli;
pub mod config;
mod debug;
mod demo;
mod doors;
mod histogram;
mod serve;
mod tokens;
mod turns;
pub mod upstream;
mod wiring;
