//! `codecell-shipping`: the gateway with the shipping plugin linked in. Everything else is as in `codecell`.
use std::process::ExitCode;

fn main() -> ExitCode {
    codecell_gateway::cli::main_with(std::env::args_os(), vec![codecell_shipping_plugin::plugin()])
}
