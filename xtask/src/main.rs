//! The project's own chores: `cargo xtask tidy`, `e2e`, `guest`, `bench`, `soak`, `search-eval` and `fuzz`.

#![expect(
    clippy::print_stdout,
    reason = "a command line tool reports on standard output"
)]
#![expect(
    clippy::indexing_slicing,
    reason = "a JSON value answers a missing key with null"
)]

mod bench;
mod decls;
mod e2e;
mod fuzz;
mod guest;
mod http;
mod mcp;
mod model;
mod process;
mod search_eval;
mod test262;
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
    /// Counts what declarations cost, and has a compiler prove that they mean what the schemas mean.
    Decls(decls::Options),
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
    /// Load against a scripted model, with `--minutes` also everything else that clients do and faults on every side:
    /// every answer is the right one, and nothing grows.
    Soak(e2e::soak::Options),
    /// An MCP server for the soak: its driver can have it misbehave.
    #[command(hide = true)]
    SoakServer(e2e::soak::server::Options),
    /// Feeds what reads hostile bytes with inputs that somebody would have to think of.
    Fuzz(fuzz::Options),
    /// Runs the relevant parts of the language's conformance suite in the guest; keeps the list of failures exact.
    Test262(test262::Options),
    /// A stdio MCP server for tests: a recorded one, or a probe.
    #[command(hide = true)]
    McpServer(mcp::Options),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().chore {
        Chore::Tidy => tidy::run(),
        Chore::Decls(options) => decls::run(&options),
        Chore::E2e(options) => e2e::run(options),
        Chore::Guest { check: true } => guest::check(),
        Chore::Guest { check: false } => guest::build(),
        Chore::Bench(options) => bench::run(&options),
        Chore::SearchEval(options) => search_eval::run(options),
        Chore::Test262(options) => test262::run(options),
        Chore::Soak(options) => e2e::soak::run(&options),
        Chore::SoakServer(options) => e2e::soak::server::run(&options),
        Chore::Fuzz(options) => fuzz::run(&options),
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
