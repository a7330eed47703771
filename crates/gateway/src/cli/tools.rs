//! `codecell tools`: what there is, or what fits a question.
use std::process::ExitCode;
use std::sync::Arc;

use codecell::{Reach, Tool};
use codecell_plugins::Plugin;
use serde_json::Value;

use super::args::ToolsArgs;
use super::output::{Paint, one_line, print};
use super::setup::{Setup, stop_signal};
use crate::upstream::{ServerSnapshot, State};
use crate::wiring::{Channel, View};

/// Columns of a terminal that a listing may take.
const WIDTH: usize = 100;

/// Runs the command.
pub(super) async fn run(args: ToolsArgs, plugins: &[Arc<dyn Plugin>]) -> anyhow::Result<ExitCode> {
    let stop = stop_signal();
    let setup = Setup::read(&args.config);
    setup.complain();
    let app = setup.app(&args.config, Channel::Cli, plugins)?;
    stop.run_until_cancelled(app.shared.await_all_servers()).await;
    let view = app.view();
    let query = args.query.join(" ");
    let rows = rows(&view, &query, app.settings.max_search_limit);
    let printed = if args.json {
        let entries: Vec<&Value> = rows.iter().map(|row| &row.entry).collect();
        print(&serde_json::to_string(&entries)?)
    } else {
        print(text(&view, &rows, &query, Paint::of_stdout()).trim_end())
    };
    app.shared.shutdown().await;
    printed?;
    Ok(ExitCode::SUCCESS)
}

/// A catalog entry, with the path that programs call if it belongs to an MCP server.
struct Row {
    /// What a program calls, or the id where there is no path.
    name: String,
    description: String,
    entry: Value,
}

impl Row {
    fn new(tool: &Tool, path: Option<String>) -> Self {
        let mut entry = serde_json::to_value(tool.entry()).unwrap_or_default();
        if let (Some(fields), Some(path)) = (entry.as_object_mut(), &path) {
            fields.insert("path".into(), path.as_str().into());
        }
        Self {
            name: path.unwrap_or_else(|| tool.id().to_string()),
            description: tool.spec().description.clone(),
            entry,
        }
    }
}

/// All tools in the order of the catalog, or those that fit `query`, best first.
fn rows(view: &View, query: &str, limit: usize) -> Vec<Row> {
    let catalog = view.surface.catalog();
    let mcp = view.surface.mcp();
    let tools: Vec<&Tool> = if query.trim().is_empty() {
        catalog.tools().collect()
    } else {
        catalog.search(query, limit, Reach::All)
    };
    tools
        .into_iter()
        .map(|tool| Row::new(tool, mcp.path_of(tool.id().as_str())))
        .collect()
}

fn text(view: &View, rows: &[Row], query: &str, paint: Paint) -> String {
    let mut out = String::new();
    for server in &view.snapshot.servers {
        out.push_str(&server_line(server, paint));
        out.push('\n');
    }
    if view.snapshot.servers.is_empty() {
        out.push_str("No MCP servers are configured: see `codecell tools --help`.\n");
    }
    if !rows.is_empty() {
        out.push('\n');
    } else if !query.trim().is_empty() {
        out.push_str(&format!("\nNothing fits `{query}`.\n"));
    }
    let unmatched = view
        .surface
        .catalog()
        .search_report(query, 1, Reach::All)
        .unmatched;
    if !query.trim().is_empty() && !unmatched.is_empty() {
        let words: Vec<String> = unmatched.iter().map(|word| format!("`{word}`")).collect();
        out.push_str(&format!(
            "{}\n\n",
            paint.dim(&format!("No tool has the words {}.", words.join(", ")))
        ));
    }
    let width = rows
        .iter()
        .map(|row| row.name.chars().count())
        .max()
        .unwrap_or(0)
        .min(48);
    for row in rows {
        let name = &row.name;
        let padding = " ".repeat(width.saturating_sub(name.chars().count()));
        let room = WIDTH.saturating_sub(width + 2).max(20);
        out.push_str(&format!(
            "{}{padding}  {}\n",
            paint.bold(name),
            one_line(&row.description, room)
        ));
    }
    if query.trim().is_empty() {
        for tool in view.surface.direct_tools() {
            let server = tool.owner.name().unwrap_or("core");
            let place = paint.dim(&format!("({server}, direct-only: the model calls it itself)"));
            out.push_str(&format!("{}  {place}\n", paint.bold(&tool.name)));
        }
    }
    out
}

/// One line on one server: its name, its state, how many tools it has.
pub(super) fn server_line(server: &ServerSnapshot, paint: Paint) -> String {
    let label = server.state.label();
    let state = match &server.state {
        State::Ready => paint.green(label),
        State::Disabled | State::Stopped => paint.dim(label),
        State::Failed { .. } | State::NeedsAuth { .. } => paint.red(label),
        _ => paint.yellow(label),
    };
    let mut line = format!("{}  {state}", paint.bold(&server.name));
    if server.state != State::Disabled {
        line.push_str(&format!("  {} tools", server.tools.len()));
    }
    if server.stale && !server.tools.is_empty() {
        line.push_str(" as last seen");
    }
    if !server.quarantined.is_empty() {
        line.push_str(&format!(", {} left out", server.quarantined.len()));
    }
    if let State::Failed { reason } | State::NeedsAuth { reason } | State::Restarting { reason } =
        &server.state
    {
        line.push_str(&format!(": {}", one_line(reason, WIDTH)));
    }
    line
}
