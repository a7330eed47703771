//! The gateway with the plugin linked in, as a user starts it.

use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

const BINARY: &str = env!("CARGO_BIN_EXE_codecell-shipping");

/// What the program does in a folder of its own, whose configuration may say something.
struct Place(TempDir);

impl Place {
    fn new(configuration: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("codecell.json5"), configuration.to_string()).unwrap();
        Self(folder)
    }

    /// What the program prints; its end must be a good one.
    fn run(&self, arguments: &[&str], input: &str) -> String {
        let output = Command::new(BINARY)
            .args(arguments)
            .current_dir(self.0.path())
            .env("HOME", self.0.path())
            .env("XDG_CONFIG_HOME", self.0.path().join("config"))
            .env("CODECELL_RUNTIME_DIR", self.0.path().join("runtime"))
            .env(
                "CODECELL_CACHE_DIR",
                Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli-cache"),
            )
            .env_remove("CODECELL_LOG")
            .write_stdin(input)
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The value of a program that completes.
    fn value(&self, code: &str) -> Value {
        let printed: Value = serde_json::from_str(&self.run(&["exec", "--code", code], "")).unwrap();
        printed["value"].clone()
    }

    /// The ids of the tools that the command line lists.
    fn tools(&self) -> Vec<String> {
        let listed: Vec<Value> = serde_json::from_str(&self.run(&["tools", "--json"], "")).unwrap();
        let ids = listed.iter().map(|tool| tool["id"].as_str().unwrap().to_owned());
        ids.collect()
    }

    /// What the model reads of `exec`.
    fn description(&self) -> String {
        let client = json!({ "name": "test", "version": "1" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let input: String = [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
        ]
        .iter()
        .map(|message| format!("{message}\n"))
        .collect();
        let printed = self.run(&["mcp"], &input);
        let answers = printed
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let listed = answers.into_iter().find(|answer| answer["id"] == 2).unwrap();
        let exec = listed["result"]["tools"]
            .as_array()
            .unwrap()
            .iter()
            .find(|tool| tool["name"] == "exec");
        exec.unwrap()["description"].as_str().unwrap().to_owned()
    }
}

const TOOLS: [&str; 4] = [
    "openclaw:shipping:shipping_list",
    "openclaw:shipping:shipping_log",
    "openclaw:shipping:shipping_promote",
    "openclaw:shipping:shipping_quote",
];

#[test]
fn a_program_reaches_the_plugin_and_meets_its_rule() {
    let place = Place::new(&json!({}));
    assert_eq!(
        place.value(
            "let refused; try { await Shipping.promote(2, 'loaded') } catch (error) { refused = error.message } \
             return { heavy: await Shipping.unpaidOver(10), refused, log: await Shipping.log() }",
        ),
        json!({
            "heavy": [{ "id": 2, "paid": false, "tons": 30 }],
            "refused":
                "Tool \"openclaw:shipping:shipping_promote\" was blocked before execution: shipment 2 is not paid",
            "log": [{ "shipment": 2, "event": "refused", "fromCell": true }],
        })
    );
}

#[test]
fn the_model_is_told_of_the_plugin() {
    let place = Place::new(&json!({}));
    let description = place.description();
    for words in ["Use Shipping.list({ paid?, overTons? })", TOOLS[3]] {
        assert!(description.contains(words), "{words} in {description}");
    }
    assert_eq!(place.tools(), TOOLS);
}

#[test]
fn a_plugin_that_is_switched_off_leaves_nothing() {
    let place = Place::new(&json!({ "plugins": { "entries": { "shipping": { "enabled": false } } } }));
    assert_eq!(
        place.value(
            "let called; try { called = await tools.callValue('openclaw:shipping:shipping_list', {}) } catch { called = 'refused' } \
             return [typeof Shipping, Object.keys(namespaces), ALL_TOOLS.length, called]",
        ),
        json!(["undefined", ["MCP"], 0, "refused"])
    );
    assert!(!place.description().to_lowercase().contains("shipping"));
    assert_eq!(place.tools(), Vec::<String>::new());
}
