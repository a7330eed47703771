//! The project's own chores: `cargo xtask tidy`, `e2e`, `guest`, `bench`, `soak` and `search-eval`.

#![expect(
    clippy::print_stdout,
    reason = "a command line tool reports on standard output"
)]
#![expect(
    clippy::indexing_slicing,
    reason = "a JSON value answers a missing key with null"
)]

mod bench;
mod e2e;
mod guest;
mod http;
mod mcp;
mod model;
mod process;
mod search_eval;
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "The project's own chores")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Checks the layers between crates and the house rules that no lint knows.
    Tidy,
    /// Plays the product end to end against the built binary.
    E2e(e2e::Options),
    /// Rebuilds the guest: the WebAssembly that cells run in.
    Guest {
        /// Changes nothing: proves that the committed guest belongs to its sources, and tests a rebuilt one.
        #[arg(long)]
        check: bool,
    },
    /// Measures the release build, and another engine beside it; without a group, then puts it under load.
    Bench(bench::Options),
    /// Measures how many of the needed tools the search finds, and how fast.
    SearchEval(search_eval::Options),
    /// Many turns at once against a scripted model: nothing fails, and nothing grows.
    Soak(e2e::soak::Options),
    /// A stdio MCP server for tests: a recorded one, or a probe.
    #[command(hide = true)]
    McpServer(mcp::Options),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().chore {
        Chore::Tidy => tidy::run(),
        Chore::E2e(options) => e2e::run(options),
        Chore::Guest { check: true } => guest::check(),
        Chore::Guest { check: false } => guest::build(),
        Chore::Bench(options) => bench::run(&options),
        Chore::SearchEval(options) => search_eval::run(options),
        Chore::Soak(options) => e2e::soak::run(&options),
        Chore::McpServer(options) => mcp::run(options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::FAILURE
        }
    }
}

#[expect(
    clippy::print_stderr,
    reason = "the one place where an error reaches the terminal"
)]
fn report(error: &anyhow::Error) {
    eprintln!("error: {error:#}");
}
