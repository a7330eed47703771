//! What works as written and is still worth a second look.
use codecell::tools::Policy;
use codecell::{ToolSpec, tools::Verdict};

use crate::config::Switch;
use crate::wiring::App;

/// Providers whose models run on the user's own machine.
const LOCAL_PROVIDERS: [&str; 8] = [
    "ollama",
    "lmstudio",
    "lm-studio",
    "llamacpp",
    "llama.cpp",
    "vllm",
    "mlx",
    "local",
];

/// The advice for one agent, each with the key that it concerns.
pub(super) fn advice(app: &App) -> Vec<(String, String)> {
    let view = app.view();
    let all = app.all_tools(&view.snapshot);
    let mut found = Vec::new();
    found.extend(vanished_servers(app, &all));
    found.extend(local_model(app));
    for unknown in app.policy().unknown_entries(&all) {
        found.push((format!("tools ({})", unknown.label), unknown.to_string()));
    }
    let kept: Vec<ToolSpec> = all
        .iter()
        .filter(|tool| passes(app.policy(), tool))
        .cloned()
        .collect();
    if let Some(emptied) = app.policy().emptied(&kept) {
        found.push((emptied.lists.join(", "), emptied.to_string()));
    }
    found
}

fn passes(policy: &Policy, tool: &ToolSpec) -> bool {
    matches!(policy.decide(tool), Verdict::Allowed)
}

/// The servers are configured and load, and the sandbox's policy takes all their tools away.
fn vanished_servers(app: &App, all: &[ToolSpec]) -> Option<(String, String)> {
    let view = app.view();
    let by_sandbox = view
        .removed
        .iter()
        .filter(|tool| tool.is_mcp && tool.step == "sandbox")
        .count();
    let of_servers = all
        .iter()
        .filter(|tool| matches!(tool.owner, codecell::Owner::Mcp(_)))
        .count();
    (by_sandbox > 0 && by_sandbox == of_servers).then(|| {
        (
            "tools.sandbox.tools".to_owned(),
            format!(
                "agent `{}` is sandboxed and the sandbox's policy takes away all {of_servers} tools of the MCP \
                 servers; add `alsoAllow: [\"bundle-mcp\"]` if they are meant to be used",
                app.agent().id
            ),
        )
    })
}

fn local_model(app: &App) -> Option<(String, String)> {
    let model = app.agent().model.as_deref()?;
    let (provider, _) = model.split_once('/')?;
    let local = LOCAL_PROVIDERS
        .iter()
        .any(|known| provider.eq_ignore_ascii_case(known));
    (local && app.agent().code_mode.enabled != Switch::Off).then(|| {
        (
            format!("agents.entries.{}.model", app.agent().id),
            format!(
                "`{model}` runs locally; small models often fail to write programs reliably. If this one does, set \
                 `tools.codeMode: false` for the agent"
            ),
        )
    })
}
