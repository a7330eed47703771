//! `agents` of our own configuration: what one agent has that differs from the others.
use std::collections::BTreeMap;

use codecell::tools::ToolLists;
use serde_json::Value;

use super::block::{Block, Wrong, complain};
use super::code_mode::{self, CodeModeSettings};
use super::overrides::ModelOverrides;
use super::problem::{Report, join};
use super::tools::{check_step, lists, sandbox};
use super::turn::{PartialTurn, TurnSettings};

/// Who acts when nobody is named.
pub const DEFAULT_AGENT: &str = "main";

/// Which sessions of an agent are sandboxed, so that the sandbox's policy counts too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SandboxMode {
    /// None.
    #[default]
    Off,
    /// All but the agent's own: those that other programs open.
    NonMain,
    /// All.
    All,
}

/// What one agent has, the defaults of all agents filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentSettings {
    /// Its id.
    pub id: String,
    /// `tools.codeMode`, the global values filled in.
    pub code_mode: CodeModeSettings,
    /// Its own `tools.allow`, `tools.alsoAllow` and `tools.deny`.
    pub lists: ToolLists,
    /// `tools.sandbox.tools`: its own, or the global one.
    pub sandbox: ToolLists,
    /// Which of its sessions are sandboxed.
    pub sandbox_mode: SandboxMode,
    /// The model it uses, as `provider/model`, if that is said.
    pub model: Option<String>,
    /// How it takes a turn.
    pub turn: TurnSettings,
    /// Code mode where it differs with the model; [`AgentSettings::code_mode_for`] answers from it.
    pub overrides: ModelOverrides,
}

impl AgentSettings {
    /// Code mode of this agent with a model, named as `provider/model`. Without one these are the agent's own settings,
    /// whatever its `model` is: who serves tools to another program does not know what model that program uses.
    #[must_use]
    pub fn code_mode_for(&self, model: Option<&str>) -> CodeModeSettings {
        match model {
            Some(model) => self.overrides.apply(&self.code_mode, model),
            None => self.code_mode.clone(),
        }
    }
}

/// All agents that the configuration names.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Agents {
    pub(super) defaults: Partial,
    pub(super) entries: BTreeMap<String, Partial>,
}

/// What is written down of one agent.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Partial {
    code_mode: Option<CodeModeSettings>,
    lists: ToolLists,
    sandbox: Option<ToolLists>,
    sandbox_mode: Option<SandboxMode>,
    model: Option<String>,
    turn: PartialTurn,
    overrides: ModelOverrides,
}

/// An agent that is not configured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no agent is named `{id}`; configured are {}", known.join(", "))]
pub struct UnknownAgent {
    id: String,
    known: Vec<String>,
}

impl Agents {
    /// The agents' ids; the default agent is one of them.
    #[must_use]
    pub fn ids(&self) -> Vec<String> {
        let mut ids: Vec<String> = self.entries.keys().cloned().collect();
        if !self.entries.contains_key(DEFAULT_AGENT) {
            ids.insert(0, DEFAULT_AGENT.to_owned());
        }
        ids
    }

    /// One agent, over the global settings.
    ///
    /// # Errors
    ///
    /// Fails when the configuration does not know it.
    pub fn agent(
        &self,
        id: &str,
        code_mode: &CodeModeSettings,
        sandbox: &ToolLists,
    ) -> Result<AgentSettings, UnknownAgent> {
        let nothing = Partial::default();
        let own = match self.entries.get(id) {
            Some(own) => own,
            None if id == DEFAULT_AGENT => &nothing,
            None => {
                return Err(UnknownAgent {
                    id: id.to_owned(),
                    known: self.ids(),
                });
            }
        };
        let defaults = &self.defaults;
        Ok(AgentSettings {
            id: id.to_owned(),
            code_mode: own.code_mode.as_ref().unwrap_or(code_mode).clone(),
            lists: own.lists.clone(),
            sandbox: own.sandbox.as_ref().unwrap_or(sandbox).clone(),
            sandbox_mode: own.sandbox_mode.or(defaults.sandbox_mode).unwrap_or_default(),
            model: own.model.clone().or_else(|| defaults.model.clone()),
            turn: own.turn.over(&defaults.turn),
            overrides: ModelOverrides::of_both(&defaults.overrides, &own.overrides),
        })
    }
}

/// Reads the block. `global` is `tools.codeMode`, over which an agent's own is read.
pub(super) fn read(
    value: &Value,
    path: &str,
    global: &CodeModeSettings,
    agents: &mut Agents,
    report: &mut Report<'_>,
) {
    let Some(mut block) = Block::open(value, path, Wrong::Fatal, report) else {
        return;
    };
    if let Some((path, value)) = block.get("defaults") {
        agents.defaults = defaults(value, &path, block.report());
    }
    if let Some((path, value)) = block.get("entries") {
        match value {
            Value::Object(entries) => {
                for (id, entry) in entries {
                    let path = join(&path, id);
                    let agent = partial(entry, &path, global, block.report());
                    agents.entries.insert(id.clone(), agent);
                }
            }
            other => complain(
                Wrong::Fatal,
                &path,
                "an object of agents by id",
                other,
                block.report(),
            ),
        }
    }
    if let Some((path, value)) = block.get("list") {
        list(value, &path, global, agents, block.report());
    }
    block.finish();
}

/// The older spelling: an array of agents that say their own `id`.
fn list(value: &Value, path: &str, global: &CodeModeSettings, agents: &mut Agents, report: &mut Report<'_>) {
    let Value::Array(items) = value else {
        return complain(Wrong::Fatal, path, "an array of agents", value, report);
    };
    for (index, item) in items.iter().enumerate() {
        let path = format!("{path}[{index}]");
        match item.get("id").and_then(Value::as_str) {
            Some(id) => {
                let agent = partial(item, &path, global, report);
                agents.entries.insert(id.to_owned(), agent);
            }
            None => report.error(&path, "an agent of the list needs an `id`"),
        }
    }
}

fn defaults(value: &Value, path: &str, report: &mut Report<'_>) -> Partial {
    let mut found = Partial::default();
    if let Some(mut block) = Block::open(value, path, Wrong::Fatal, report) {
        common(&mut block, &mut found);
        block.finish();
    }
    found
}

fn partial(value: &Value, path: &str, global: &CodeModeSettings, report: &mut Report<'_>) -> Partial {
    let mut found = Partial::default();
    let Some(mut block) = Block::open(value, path, Wrong::Fatal, report) else {
        return found;
    };
    let _in_the_older_spelling = block.get("id");
    common(&mut block, &mut found);
    if let Some((path, value)) = block.get("tools") {
        tools(value, &path, global, &mut found, block.report());
    }
    block.finish();
    found
}

/// What agents and their defaults have in common.
fn common(block: &mut Block<'_, '_, '_>, found: &mut Partial) {
    found.model = model(block);
    found.turn = PartialTurn::read(block);
    found.overrides = ModelOverrides::read(block);
    if let Some((path, value)) = block.get("sandbox")
        && let Some(mut block) = Block::open(value, &path, Wrong::Fatal, block.report())
    {
        if let Some((path, value)) = block.get("mode") {
            found.sandbox_mode = match value.as_str() {
                Some("off") => Some(SandboxMode::Off),
                Some("non-main") => Some(SandboxMode::NonMain),
                Some("all") => Some(SandboxMode::All),
                _ => {
                    complain(
                        Wrong::Fatal,
                        &path,
                        "`off`, `non-main` or `all`",
                        value,
                        block.report(),
                    );
                    None
                }
            };
        }
        block.finish();
    }
}

fn model(block: &mut Block<'_, '_, '_>) -> Option<String> {
    let model = block.text("model", Wrong::Ignored)?;
    if model
        .split_once('/')
        .is_none_or(|(provider, model)| provider.is_empty() || model.is_empty())
    {
        let path = block.at("model");
        block.report().warning(
            &path,
            format!("`{model}` names no provider: write `provider/model`"),
        );
    }
    Some(model)
}

fn tools(value: &Value, path: &str, global: &CodeModeSettings, found: &mut Partial, report: &mut Report<'_>) {
    let Some(mut block) = Block::open(value, path, Wrong::Fatal, report) else {
        return;
    };
    if let Some((path, value)) = block.get("codeMode") {
        let mut settings = global.clone();
        code_mode::read(value, &path, &mut settings, block.report());
        found.code_mode = Some(settings);
    }
    found.lists = lists(&mut block);
    check_step(&found.lists, path, block.report());
    if let Some((path, value)) = block.get("sandbox") {
        found.sandbox = Some(sandbox(value, &path, block.report()));
    }
    block.finish();
}
