//! The `codecell` command.
use std::process::ExitCode;

fn main() -> ExitCode {
    codecell_gateway::cli::main(std::env::args_os())
}
