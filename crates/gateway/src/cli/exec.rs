//! `codecell exec`: one cell, one line of JSON, one exit code.
use std::io::{IsTerminal, Read};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::CommandFactory;
use clap::error::ErrorKind;
use codecell::{CellResult, ErrorCode, Observer, RunContext, Unobserved};
use codecell_plugins::Plugin;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::args::{Cli, ExecArgs, Language};
use super::output;
use super::setup::{Setup, stop_signal};
use crate::config::Switch;
use crate::wiring::{App, Channel, Record, failed};

/// Longest program that is read, in bytes; the engine's own limit is below it and says so better.
const MAX_PROGRAM_BYTES: u64 = 64 * 1024 * 1024;

/// Runs the command.
pub(super) async fn run(args: ExecArgs, plugins: &[Arc<dyn Plugin>]) -> anyhow::Result<ExitCode> {
    let stop = stop_signal();
    let setup = Setup::read(&args.config);
    setup.complain();
    let program = match read_program(&args) {
        Ok(Some(program)) => program,
        Ok(None) => {
            let message = "no program: name a FILE, give --code TEXT, or pipe the program in";
            return Ok(super::usage(
                &Cli::command().error(ErrorKind::MissingRequiredArgument, message),
            ));
        }
        Err(message) => return finish(&refused(message)),
    };
    let app = match setup.app(&args.config, Channel::Cli, plugins) {
        Ok(app) => app,
        Err(error) => return finish(&refused(format!("{error:#}"))),
    };
    let _desk = app.shared.open_desk();
    let caller = app.caller();
    let record = match app.shared.record(&caller) {
        Ok(record) => record,
        Err(error) => {
            app.shared.shutdown().await;
            return finish(&refused(format!("{error:#}")));
        }
    };
    let result = if app.has_code_mode() {
        let mut settings = app.settings;
        settings.timeout = args.timeout.map_or(settings.timeout, Duration::from_millis);
        let observer: Arc<dyn Observer> = match &record {
            Some(record) => Arc::<Record>::clone(record),
            None => Arc::new(Unobserved),
        };
        let context = || RunContext {
            caller: caller.clone(),
            surface: Arc::clone(&app.view().surface),
            settings: settings.clamped(),
            cancel: stop.clone(),
            observer: Arc::clone(&observer),
        };
        run_cell(&app, program, Resume::from_flag(args.wait), context, &stop).await
    } else if app.agent().code_mode.enabled == Switch::Off {
        refused("code mode is switched off: `tools.codeMode` is false in the configuration".into())
    } else {
        refused("an empty `allow` list in the configuration asks for a run without tools, so there is no code mode".into())
    };
    app.shared.shutdown().await;
    if let Some(record) = record {
        record.close().await;
    }
    finish(&result)
}

struct Program {
    source: String,
    language: Option<Language>,
}

/// The program, or `None` when none was given and a person sits at the terminal.
fn read_program(args: &ExecArgs) -> Result<Option<Program>, String> {
    let stdin = Path::new("-");
    let (source, language) = match (&args.code, args.program.as_deref()) {
        (Some(code), _) => (code.clone(), None),
        (None, Some(file)) if file != stdin => {
            let source =
                read_file(file).map_err(|error| format!("cannot read `{}`: {error}", file.display()))?;
            (source, language_of(file))
        }
        (None, None) if std::io::stdin().is_terminal() => return Ok(None),
        (None, _) => {
            let source = read_all(std::io::stdin().lock())
                .map_err(|error| format!("cannot read standard input: {error}"))?;
            (source, None)
        }
    };
    Ok(Some(Program {
        source,
        language: args.language.or(language),
    }))
}

fn read_file(file: &Path) -> std::io::Result<String> {
    read_all(std::fs::File::open(file)?)
}

fn read_all(reader: impl Read) -> std::io::Result<String> {
    let mut text = String::new();
    reader.take(MAX_PROGRAM_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

fn language_of(file: &Path) -> Option<Language> {
    let extension = file.extension()?.to_str()?;
    ["ts", "mts", "cts"]
        .contains(&extension)
        .then_some(Language::Typescript)
}

/// What happens when the program waits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Resume {
    Never,
    UntilSettled,
}

impl Resume {
    fn from_flag(wait: bool) -> Self {
        if wait { Self::UntilSettled } else { Self::Never }
    }
}

async fn run_cell(
    app: &App,
    program: Program,
    resume: Resume,
    context: impl Fn() -> RunContext,
    stop: &CancellationToken,
) -> CellResult {
    // Loading the engine and connecting to the servers take their time together.
    stop.run_until_cancelled(async { tokio::join!(app.shared.await_all_servers(), app.shared.engine()) })
        .await;
    let mut arguments = Map::new();
    arguments.insert("code".into(), program.source.into());
    if let Some(language) = program.language {
        arguments.insert("language".into(), language.name().into());
    }
    let mut result = app.shared.exec(&Value::Object(arguments), context()).await;
    if resume == Resume::Never {
        return result;
    }
    let mut printed = Vec::new();
    while let CellResult::Waiting { run_id, output, .. } = &mut result {
        printed.append(output);
        let arguments = json!({ "runId": run_id });
        result = app.shared.wait(&arguments, context()).await;
    }
    if let CellResult::Completed { output, .. } | CellResult::Failed { output, .. } = &mut result {
        // One result stands for the whole run, so it shows all that the run printed.
        printed.append(output);
        *output = printed;
    }
    result
}

fn refused(error: String) -> CellResult {
    failed(ErrorCode::InvalidInput, error)
}

fn finish(result: &CellResult) -> anyhow::Result<ExitCode> {
    output::print(&result.to_json_text())?;
    Ok(match result {
        CellResult::Completed { .. } => ExitCode::SUCCESS,
        CellResult::Waiting { .. } => ExitCode::from(2),
        CellResult::Failed { .. } => ExitCode::FAILURE,
    })
}
