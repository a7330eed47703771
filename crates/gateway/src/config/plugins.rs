//! `plugins` of our own configuration: which of the linked plugins are loaded, and with what.
use std::collections::BTreeMap;

use serde_json::Value;

use super::block::{Block, Wrong, complain};
use super::problem::{Report, join};

/// What is configured of one plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginEntry {
    /// Whether it is loaded.
    pub enabled: bool,
    /// What it is given, as it stands in the file.
    pub config: Value,
}

/// Reads the block.
pub(super) fn read(
    value: &Value,
    path: &str,
    entries: &mut BTreeMap<String, PluginEntry>,
    report: &mut Report<'_>,
) {
    let Some(mut block) = Block::open(value, path, Wrong::Fatal, report) else {
        return;
    };
    if let Some((path, value)) = block.get("entries") {
        match value {
            Value::Object(map) => {
                for (id, value) in map {
                    let path = join(&path, id);
                    if let Some(entry) = entry(value, &path, block.report()) {
                        entries.insert(id.clone(), entry);
                    }
                }
            }
            other => complain(
                Wrong::Fatal,
                &path,
                "an object of plugins by id",
                other,
                block.report(),
            ),
        }
    }
    block.finish();
}

fn entry(value: &Value, path: &str, report: &mut Report<'_>) -> Option<PluginEntry> {
    let mut block = Block::open(value, path, Wrong::Fatal, report)?;
    let entry = PluginEntry {
        enabled: block.switch("enabled", Wrong::Fatal).unwrap_or(true),
        config: block
            .get("config")
            .map_or(Value::Null, |(_, value)| value.clone()),
    };
    block.finish();
    Some(entry)
}
