//! `codecell decls`: the declarations that programs read with `API.read`.
use std::fs;
use std::path::{Component, Path};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail};
use codecell_plugins::Plugin;

use super::args::DeclsArgs;
use super::output::{complain, print};
use super::setup::{Setup, stop_signal};
use crate::wiring::{Channel, View};

/// Runs the command.
pub(super) async fn run(args: DeclsArgs, plugins: &[Arc<dyn Plugin>]) -> anyhow::Result<ExitCode> {
    let stop = stop_signal();
    let setup = Setup::read(&args.config);
    setup.complain();
    let app = setup.app(&args.config, Channel::Cli, plugins)?;
    stop.run_until_cancelled(app.shared.await_all_servers()).await;
    let written = files(&app.view(), args.server.as_deref()).and_then(|files| match &args.out {
        Some(folder) => write(&files, folder),
        None => show(&files),
    });
    app.shared.shutdown().await;
    written?;
    Ok(ExitCode::SUCCESS)
}

/// Path and text of every wanted declaration file.
fn files(view: &View, server: Option<&str>) -> anyhow::Result<Vec<(String, String)>> {
    let mcp = view.surface.mcp();
    let identifier = match server {
        None => None,
        Some(wanted) => {
            let found = mcp
                .servers()
                .find(|server| server.server_name == wanted || server.identifier == wanted);
            let Some(found) = found else {
                let known: Vec<&str> = mcp.servers().map(|server| server.server_name).collect();
                bail!("no server is named `{wanted}`; configured: {}", known.join(", "));
            };
            Some(format!("mcp/{}.d.ts", found.identifier))
        }
    };
    let listed = mcp.files().list(None);
    let paths = listed
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|file| file.get("path")?.as_str());
    let wanted =
        paths.filter(|path| path.ends_with(".d.ts") && identifier.as_ref().is_none_or(|only| only == path));
    wanted
        .map(|path| Ok((path.to_owned(), mcp.files().read(path)?)))
        .collect()
}

fn show(files: &[(String, String)]) -> anyhow::Result<()> {
    if files.is_empty() {
        complain("codecell: no MCP servers are configured, so there are no declarations");
    }
    let many = files.len() > 1;
    for (path, text) in files {
        if many {
            print(&format!("// {path}"))?;
        }
        print(text)?;
    }
    Ok(())
}

fn write(files: &[(String, String)], folder: &Path) -> anyhow::Result<()> {
    for (path, text) in files {
        let path = Path::new(path);
        if !path.components().all(|part| matches!(part, Component::Normal(_))) {
            bail!("`{}` would leave the folder", path.display());
        }
        let target = folder.join(path);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot create `{}`", parent.display()))?;
        }
        fs::write(&target, text).with_context(|| format!("cannot write `{}`", target.display()))?;
        print(&target.display().to_string())?;
    }
    Ok(())
}
