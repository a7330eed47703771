//! `agents` and `plugins`: what is understood, and what is said of what is not.
use std::collections::BTreeMap;

use codecell::tools::ToolLists;
use serde_json::{Value, json};

use super::super::*;
use super::policy::{lists, own};
use super::problems;

/// An agent of a sound configuration.
pub(super) fn agent(loaded: &Loaded, id: &str) -> Result<AgentSettings, String> {
    let Config {
        agents,
        code_mode,
        tools,
        ..
    } = &loaded.config;
    agents
        .agent(id, code_mode, &tools.sandbox)
        .map_err(|error| error.to_string())
}

#[test]
fn an_agent_is_read_over_the_defaults_and_the_global_settings() {
    let loaded = own(r#"{
            agents: {
                defaults: { model: "anthropic/large", sandbox: { mode: "non-main" } },
                entries: {
                    box: {
                        model: "ollama/small",
                        sandbox: { mode: "all" },
                        tools: {
                            codeMode: { timeoutMs: 500 },
                            allow: ["read"],
                            deny: ["exec"],
                            sandbox: { tools: { alsoAllow: ["bundle-mcp"] } },
                        },
                    },
                    plain: { tools: { codeMode: false } },
                },
                list: [{ id: "old", sandbox: { mode: "off" }, tools: { alsoAllow: ["x"] } }],
            },
            tools: { codeMode: { enabled: true, timeoutMs: 3000, maxSearchLimit: 9 }, sandbox: { tools: { deny: ["ls"] } } },
        }"#);
    assert_eq!(problems(&loaded), Vec::<String>::new());
    let global = CodeModeSettings {
        enabled: Switch::On,
        timeout_ms: 3000,
        max_search_limit: 9,
        ..CodeModeSettings::default()
    };
    let main = AgentSettings {
        id: "main".into(),
        code_mode: global.clone(),
        lists: ToolLists::default(),
        sandbox: lists(None, &[], Some(&["ls"])),
        sandbox_mode: SandboxMode::NonMain,
        model: Some("anthropic/large".into()),
        turn: TurnSettings::default(),
        overrides: ModelOverrides::default(),
    };
    let expected = [
        AgentSettings {
            id: "box".into(),
            code_mode: CodeModeSettings {
                timeout_ms: 500,
                ..global.clone()
            },
            lists: lists(Some(&["read"]), &[], Some(&["exec"])),
            sandbox: lists(None, &["bundle-mcp"], None),
            sandbox_mode: SandboxMode::All,
            model: Some("ollama/small".into()),
            ..main.clone()
        },
        AgentSettings {
            id: "old".into(),
            lists: lists(None, &["x"], None),
            sandbox_mode: SandboxMode::Off,
            ..main.clone()
        },
        AgentSettings {
            id: "plain".into(),
            code_mode: CodeModeSettings {
                enabled: Switch::Off,
                ..global
            },
            ..main.clone()
        },
        main,
    ];
    for settings in expected {
        assert_eq!(agent(&loaded, &settings.id), Ok(settings));
    }
    assert_eq!(loaded.config.agents.ids(), ["main", "box", "old", "plain"]);
    assert_eq!(
        agent(&loaded, "x"),
        Err("no agent is named `x`; configured are main, box, old, plain".to_owned())
    );
}

#[test]
fn without_agents_there_is_main() {
    let loaded = own("{}");
    let main = AgentSettings {
        id: DEFAULT_AGENT.into(),
        code_mode: CodeModeSettings::default(),
        lists: ToolLists::default(),
        sandbox: ToolLists::default(),
        sandbox_mode: SandboxMode::Off,
        model: None,
        turn: TurnSettings::default(),
        overrides: ModelOverrides::default(),
    };
    assert_eq!(agent(&loaded, "main"), Ok(main));
    assert_eq!(
        agent(&loaded, "box"),
        Err("no agent is named `box`; configured are main".to_owned())
    );
    let own_main = own("{ agents: { entries: { main: { model: 'a/b' }, b: {} } } }");
    assert_eq!(own_main.config.agents.ids(), ["b", "main"]);
    assert_eq!(
        agent(&own_main, "main").map(|agent| agent.model),
        Ok(Some("a/b".to_owned()))
    );
}

#[test]
fn what_an_agent_cannot_have_is_named() {
    let loaded = own(r#"{ agents: {
            defaults: { tools: {}, model: 7 },
            entries: { a: { name: "A", sandbox: { scope: "agent" }, tools: { exec: true, codeMode: { mode: "also" } } } },
            main: {},
        } }"#);
    assert_eq!(
        problems(&loaded),
        [
            "warning agents.defaults.model: expected a string, got a number `7`",
            "warning agents.defaults.tools: unknown setting, ignored; known are model, systemPrompt, temperature, maxTokens, maxRounds, maxTurnTokens, timeoutSeconds, models, sandbox",
            "warning agents.entries.a.sandbox.scope: unknown setting, ignored; known are mode",
            "warning agents.entries.a.tools.codeMode.mode: the only value is `only`, got a string `\"also\"`",
            "warning agents.entries.a.tools.exec: unknown setting, ignored; known are codeMode, allow, alsoAllow, deny, sandbox",
            "warning agents.entries.a.name: unknown setting, ignored; known are id, model, systemPrompt, temperature, maxTokens, maxRounds, maxTurnTokens, timeoutSeconds, models, sandbox, tools",
            "warning agents.main: unknown setting, ignored; known are defaults, entries, list",
        ]
    );
}

#[test]
fn plugins_are_loaded_unless_they_are_switched_off() {
    let loaded = own(r#"{ plugins: { entries: {
            shipping: { config: { carrier: "dhl" } },
            off: { enabled: false },
            on: { enabled: true, config: [1], version: 2 },
        }, paths: [] } }"#);
    let entry = |enabled: bool, config: Value| PluginEntry { enabled, config };
    let expected = BTreeMap::from([
        ("off".to_owned(), entry(false, Value::Null)),
        ("on".to_owned(), entry(true, json!([1]))),
        ("shipping".to_owned(), entry(true, json!({ "carrier": "dhl" }))),
    ]);
    assert_eq!(loaded.config.plugins, expected);
    assert_eq!(
        problems(&loaded),
        [
            "warning plugins.entries.on.version: unknown setting, ignored; known are enabled, config",
            "warning plugins.paths: unknown setting, ignored; known are entries",
        ]
    );
}
