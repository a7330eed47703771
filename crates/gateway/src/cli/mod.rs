//! The command line: what can be asked for, and what each command prints and exits with.
mod agent;
mod approvals;
mod args;
mod decls;
mod doctor;
mod exec;
mod mcp;
pub(crate) mod output;
mod serve;
mod setup;
mod tools;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use codecell_plugins::Plugin;
use tracing_subscriber::EnvFilter;

use self::args::{Cli, Command};
use crate::{debug, demo};

/// Wrong usage, as `sysexits.h` numbers it.
const EXIT_USAGE: u8 = 64;

/// How long unfinished background work (a blocked read of standard input) may delay the end of the process.
const RUNTIME_SHUTDOWN: Duration = Duration::from_millis(100);

/// Runs the command that `arguments` ask for and says how it ended. The first argument is the program's name.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    main_with(arguments, Vec::new())
}

/// As [`main`], with plugins: the whole of a program of your own that has them linked in.
pub fn main_with(arguments: impl IntoIterator<Item = OsString>, plugins: Vec<Arc<dyn Plugin>>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    log_to_stderr(default_log(&cli.command));
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&anyhow::Error::from(error).context("cannot start the async runtime")),
    };
    let outcome = runtime.block_on(dispatch(cli.command, &plugins));
    runtime.shutdown_timeout(RUNTIME_SHUTDOWN);
    outcome.unwrap_or_else(|error| fail(&error))
}

async fn dispatch(command: Command, plugins: &[Arc<dyn Plugin>]) -> anyhow::Result<ExitCode> {
    match command {
        Command::Agent(args) => agent::run(args, plugins).await,
        Command::Exec(args) => exec::run(args, plugins).await,
        Command::Mcp(args) => mcp::run(args, plugins).await,
        Command::Serve(args) => serve::run(args, plugins).await,
        Command::Tools(args) => tools::run(args, plugins).await,
        Command::Decls(args) => decls::run(args, plugins).await,
        Command::Doctor(args) => doctor::run(args, plugins).await,
        Command::Approvals(args) => approvals::run(args).await,
        Command::Demo => demo::run().await,
        Command::DemoServer => mcp::demo_server().await,
    }
}

/// Prints help where help belongs, and a complaint with the exit code of wrong usage.
fn usage(error: &clap::Error) -> ExitCode {
    // A closed terminal is no reason to fail differently, so failures to print are ignored.
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _unprinted = Cli::command().print_help();
        return ExitCode::SUCCESS;
    }
    let _unprinted = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
        _ => ExitCode::from(EXIT_USAGE),
    }
}

fn fail(error: &anyhow::Error) -> ExitCode {
    if is_broken_pipe(error) {
        // `codecell tools | head` ends early on purpose.
        return ExitCode::SUCCESS;
    }
    output::complain(&format!("error: {error:#}"));
    ExitCode::FAILURE
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}

/// What is logged unless `CODECELL_LOG` says otherwise.
fn default_log(command: &Command) -> &'static str {
    match command {
        // They show the state of every server themselves.
        Command::Tools(_) | Command::Doctor(_) | Command::Demo | Command::Approvals(_) => "error",
        // rmcp reports the ordinary end of a connection, and every cancelled request, as something to look at.
        _ => "warn,rmcp=error",
    }
}

/// Standard output carries results and the protocol, so every log line goes to standard error.
fn log_to_stderr(default: &str) {
    let mut filter = EnvFilter::try_from_env("CODECELL_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    for directive in debug::directives() {
        if let Ok(directive) = directive.parse() {
            filter = filter.add_directive(directive);
        }
    }
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .compact()
        .init();
}
