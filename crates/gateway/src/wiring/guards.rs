//! From the configuration to the tools of this process and everything a call meets on its way to a tool.
use std::sync::Arc;

use anyhow::Context;
use codecell::ExecutionPath;
use codecell::tools::{
    Approvals, AskRule, LoopGuard, LoopLimits, Policy, Restrictions, Severity, Step, ToolExecutor, Toolbox,
    TracingAudit,
};
use codecell_core_tools::{CoreToolsConfig, ExecConfig, RootConfig, WebFetchConfig, core_tools};
use codecell_plugins::{Origin, PluginHost};

use crate::config::{AgentSettings, SandboxMode, ToolSettings};

/// Where a session comes from decides whether it is the agent's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// A command at a terminal.
    Cli,
    /// Another program, over MCP.
    Mcp,
    /// Agent turns at a terminal.
    Terminal,
    /// Agent turns over HTTP.
    Http,
}

impl Channel {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cli | Self::Terminal => "cli",
            Self::Mcp => "mcp",
            Self::Http => "http",
        }
    }

    /// Whether a configuration that does not say has code mode. Turns can do without it; the others have nothing to
    /// fall back to.
    pub(crate) fn has_code_mode_unless_told(self) -> bool {
        matches!(self, Self::Cli | Self::Mcp)
    }
}

/// Whether an agent's sessions of this channel meet the sandbox's policy.
pub(crate) fn is_sandboxed(agent: &AgentSettings, channel: Channel) -> bool {
    match agent.sandbox_mode {
        SandboxMode::Off => false,
        SandboxMode::NonMain => !matches!(channel, Channel::Cli | Channel::Terminal),
        SandboxMode::All => true,
    }
}

/// The steps that a tool has to pass, first to last.
///
/// # Errors
///
/// Fails for lists that mean nothing. A policy that cannot be read is not one that allows.
pub(crate) fn policy(tools: &ToolSettings, agent: &AgentSettings) -> anyhow::Result<Policy> {
    let key = format!("agents.entries.{}.tools", agent.id);
    let steps = [
        Step::new("global", "tools", &tools.lists)?,
        Step::new("agent", key, &agent.lists)?,
        Step::sandbox(&agent.sandbox)?,
    ];
    Ok(Policy::new(steps.into()))
}

/// The way to every tool, with all that stands along it.
pub(crate) fn path(
    toolbox: &Arc<Toolbox>,
    tools: &ToolSettings,
    policy: Policy,
    plugins: &PluginHost,
    approvals: &Approvals,
) -> anyhow::Result<ExecutionPath> {
    let mut rules = Vec::new();
    if !tools.ask.is_empty() {
        rules.push(AskRule {
            selectors: Restrictions::parse(&tools.ask).context("tools.approvals.ask")?,
            timeout: Some(tools.approval_time),
            severity: Severity::Warning,
        });
    }
    let toolbox: Arc<dyn ToolExecutor> = Arc::<Toolbox>::clone(toolbox);
    let mut path = ExecutionPath::bare(toolbox)
        .with_policy(policy)
        .with_hooks(plugins.hooks().clone())
        .with_approvals(approvals.clone())
        .with_ask_rules(rules)
        .with_audit(Arc::new(TracingAudit));
    if tools.loop_detection {
        path = path.with_loop_guard(LoopGuard::new(LoopLimits::default()));
    }
    Ok(path)
}

/// The product's own tools, those of the plugins, and the way to the servers.
pub(crate) fn toolbox(
    tools: &ToolSettings,
    plugins: &PluginHost,
    mcp: Arc<dyn ToolExecutor>,
) -> anyhow::Result<Toolbox> {
    let mut builder = Toolbox::builder().mcp(mcp);
    for tool in core_tools(core_config(tools)).context("tools")? {
        builder = builder.core(tool);
    }
    for loaded in plugins.tools() {
        let bundled = loaded.origin == Origin::Bundled;
        builder = builder.plugin(loaded.plugin_id, bundled, loaded.tool);
    }
    Ok(builder.build()?)
}

fn core_config(tools: &ToolSettings) -> CoreToolsConfig {
    let roots = tools.roots.iter().map(|root| RootConfig {
        path: root.path.clone(),
        writable: root.writable,
    });
    let defaults = ExecConfig::default();
    CoreToolsConfig {
        exec: tools.exec.as_ref().map(|exec| ExecConfig {
            default_limit: exec.timeout.unwrap_or(defaults.default_limit),
            max_limit: exec.timeout.unwrap_or(defaults.max_limit),
            env: exec.env.clone(),
            ..defaults
        }),
        web_fetch: tools.web_fetch.as_ref().map(|fetch| WebFetchConfig {
            allowed_hosts: fetch.private_hosts.clone(),
            ..WebFetchConfig::default()
        }),
        roots: roots.collect(),
    }
}
