//! `models` of an agent: what is different when it uses one of them.
use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    block::{Block, Wrong, complain},
    code_mode::{self, CodeModeSettings},
    problem::{Report, join},
};

/// Keys that other products keep at a model of an agent.
const FOREIGN: &[&str] = &["agentRuntime", "alias", "streaming"];

/// Code mode settings by model, each still as it was written: what it is read over differs from agent to agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelOverrides(BTreeMap<String, Vec<Value>>);

impl ModelOverrides {
    pub(super) fn read(block: &mut Block<'_, '_, '_>) -> Self {
        let mut found = Self::default();
        let Some((path, value)) = block.get("models") else {
            return found;
        };
        let Value::Object(models) = value else {
            let expected = "an object by `provider/model`";
            complain(Wrong::Fatal, &path, expected, value, block.report());
            return found;
        };
        for (name, value) in models {
            found.add(name, value, &join(&path, name), block.report());
        }
        found
    }

    fn add(&mut self, name: &str, value: &Value, path: &str, report: &mut Report<'_>) {
        let Some(key) = key(name) else {
            return report.error(
                path,
                "names no model: write `provider/model`, or `provider/*` for all",
            );
        };
        let Some(mut block) = Block::open(value, path, Wrong::Fatal, report) else {
            return;
        };
        block.foreign(FOREIGN);
        if let Some((path, value)) = block.get("codeMode") {
            code_mode::read(value, &path, &mut CodeModeSettings::default(), block.report());
            self.0.entry(key).or_default().push(value.clone());
        }
        block.finish();
    }

    /// Those of the defaults, and after them those of the agent.
    pub(super) fn of_both(defaults: &Self, own: &Self) -> Self {
        let mut both = defaults.clone();
        for (key, values) in &own.0 {
            both.0.entry(key.clone()).or_default().extend_from_slice(values);
        }
        both
    }

    /// The settings for one model: what is said of its provider is read over `settings`, and over that what is said
    /// of the model itself.
    pub(super) fn apply(&self, settings: &CodeModeSettings, model: &str) -> CodeModeSettings {
        let Some(exact) = key(model) else {
            return settings.clone();
        };
        let all = exact.split_once('/').map(|(provider, _)| format!("{provider}/*"));
        all.iter()
            .chain([&exact])
            .filter_map(|key| self.0.get(key))
            .flatten()
            .fold(settings.clone(), |settings, value| {
                code_mode::over(&settings, value)
            })
    }
}

/// A reference in the form in which they are compared: the case of a provider's id does not count.
fn key(name: &str) -> Option<String> {
    let (provider, model) = name.split_once('/')?;
    (!provider.is_empty() && !model.is_empty()).then(|| format!("{}/{model}", provider.to_ascii_lowercase()))
}
