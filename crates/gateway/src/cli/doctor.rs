//! `codecell doctor`: is everything well, and what does it cost.
mod render;
mod report;

use std::process::ExitCode;

use super::args::DoctorArgs;
use super::output::{Paint, print};
use super::setup::{Setup, default_places, stop_signal};
use crate::config::Loaded;
use crate::upstream::UpstreamOptions;
use crate::wiring::App;

/// Runs the command.
pub(super) async fn run(args: DoctorArgs) -> anyhow::Result<ExitCode> {
    let stop = stop_signal();
    let Setup {
        files,
        loaded: Loaded { config, problems },
    } = Setup::read(&args.config);
    let app = App::start(config, UpstreamOptions::default());
    stop.run_until_cancelled(app.await_all_servers()).await;
    let report = report::Report::new(&app, files, problems).await;
    app.shutdown().await;
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
