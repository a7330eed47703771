//! `codecell doctor`: is everything well, and what does it cost.
mod advice;
mod render;
mod report;
mod turns;

use std::process::ExitCode;
use std::sync::Arc;

use codecell_plugins::Plugin;

use super::args::DoctorArgs;
use super::output::{Paint, complain, print};
use super::setup::{Setup, default_places, stop_signal};
use crate::wiring::Channel;

/// Runs the command.
pub(super) async fn run(args: DoctorArgs, plugins: &[Arc<dyn Plugin>]) -> anyhow::Result<ExitCode> {
    let stop = stop_signal();
    let setup = Setup::read(&args.config);
    let (files, problems) = (setup.files.clone(), setup.loaded.problems.clone());
    let config = setup.loaded.config.clone();
    // As a host would start it: that is the door where the sandbox matters.
    let app = match setup.app(&args.config, Channel::Mcp, plugins) {
        Ok(app) => app,
        Err(error) if args.json => {
            print(&serde_json::to_string(&report::NoStart::new(
                files, problems, &error,
            ))?)?;
            return Ok(ExitCode::FAILURE);
        }
        Err(error) => {
            for problem in &problems {
                complain(&format!("codecell: {problem}"));
            }
            return Err(error);
        }
    };
    stop.run_until_cancelled(app.shared.await_all_servers()).await;
    let report = report::Report::new(&app, &config, files, problems).await;
    app.shared.shutdown().await;
    if args.json {
        print(&serde_json::to_string(&report)?)?;
    } else {
        print(render::text(&report, &default_places(), Paint::of_stdout()).trim_end())?;
    }
    Ok(if report.ok {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
