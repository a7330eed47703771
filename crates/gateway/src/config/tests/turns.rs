//! `agents`: how they take a turn, and what differs with the model.
use std::time::Duration;

use super::super::*;
use super::agents::agent;
use super::policy::own;
use super::problems;

fn turn(loaded: &Loaded, id: &str) -> TurnSettings {
    agent(loaded, id).unwrap().turn
}

#[test]
fn an_agent_takes_turns_by_its_own_settings_then_by_the_defaults() {
    let loaded = own(r#"{ agents: {
            defaults: { systemPrompt: "all", temperature: 0.2, maxTokens: 8192, maxRounds: 7, maxTurnTokens: 9000,
                timeoutSeconds: 60 },
            entries: {
                own: { systemPrompt: "mine", temperature: 1, maxTokens: 5, maxRounds: 1000, maxTurnTokens: 1,
                    timeoutSeconds: 1 },
                free: { maxTurnTokens: 0, timeoutSeconds: 0 },
            },
        } }"#);
    assert_eq!(problems(&loaded), Vec::<String>::new());
    let defaults = TurnSettings {
        system_prompt: Some("all".into()),
        temperature: Some(0.2),
        max_tokens: Some(8192),
        max_rounds: 7,
        max_turn_tokens: Some(9000),
        timeout: Some(Duration::from_secs(60)),
    };
    let mine = TurnSettings {
        system_prompt: Some("mine".into()),
        temperature: Some(1.0),
        max_tokens: Some(5),
        max_rounds: 1000,
        max_turn_tokens: Some(1),
        timeout: Some(Duration::from_secs(1)),
    };
    let free = TurnSettings {
        max_turn_tokens: None,
        timeout: None,
        ..defaults.clone()
    };
    for (id, expected) in [("main", defaults), ("own", mine), ("free", free)] {
        assert_eq!(turn(&loaded, id), expected, "{id}");
    }
}

#[test]
fn a_turn_of_which_nothing_is_said_has_fifty_rounds_and_two_days() {
    let expected = TurnSettings {
        system_prompt: None,
        temperature: None,
        max_tokens: None,
        max_rounds: 50,
        max_turn_tokens: None,
        timeout: Some(Duration::from_secs(172_800)),
    };
    assert_eq!(turn(&own("{}"), "main"), expected);
    assert_eq!(expected, TurnSettings::default());
}

#[test]
fn what_a_turn_cannot_have_is_named_and_a_limit_is_never_lifted_by_mistake() {
    let no_limit = "expected 0 for no limit, or a number from 1 to";
    for (text, expected) in [
        (
            "maxRounds: 0",
            "note agents.defaults.maxRounds: 0 is outside 1 to 1000, so 1 is used".to_owned(),
        ),
        (
            "maxRounds: 1e9",
            "note agents.defaults.maxRounds: 1000000000 is outside 1 to 1000, so 1000 is used".to_owned(),
        ),
        (
            "temperature: 2.5",
            "note agents.defaults.temperature: 2.5 is outside 0 to 2, so 2 is used".to_owned(),
        ),
        (
            "temperature: 'hot'",
            "warning agents.defaults.temperature: expected a number from 0 to 2, got a string `\"hot\"`".to_owned(),
        ),
        (
            "maxTokens: 0",
            "note agents.defaults.maxTokens: 0 is outside 1 to 1000000000, so 1 is used".to_owned(),
        ),
        (
            "systemPrompt: ['a']",
            "warning agents.defaults.systemPrompt: expected a string, got an array `[\"a\"]`".to_owned(),
        ),
        (
            "maxTurnTokens: '100k'",
            format!("error agents.defaults.maxTurnTokens: {no_limit} 1000000000, got a string `\"100k\"`"),
        ),
        (
            "maxTurnTokens: -5",
            format!("error agents.defaults.maxTurnTokens: {no_limit} 1000000000, got a number `-5`"),
        ),
        (
            "maxTurnTokens: 0.5",
            format!("error agents.defaults.maxTurnTokens: {no_limit} 1000000000, got a number `0.5`"),
        ),
        (
            "timeoutSeconds: -1",
            format!("warning agents.defaults.timeoutSeconds: {no_limit} 31536000, got a number `-1`"),
        ),
        (
            "model: 'small'",
            "warning agents.defaults.model: `small` names no provider: write `provider/model`".to_owned(),
        ),
        (
            "models: ['a/b']",
            "error agents.defaults.models: expected an object by `provider/model`, got an array `[\"a/b\"]`".to_owned(),
        ),
        (
            "models: { small: {} }",
            "error agents.defaults.models.small: names no model: write `provider/model`, or `provider/*` for all"
                .to_owned(),
        ),
        (
            "models: { 'a/b': true }",
            "error agents.defaults.models.\"a/b\": expected an object, got a boolean `true`".to_owned(),
        ),
        (
            "models: { 'a/b': { alias: 'B', tools: {} } }",
            "note agents.defaults.models.\"a/b\".alias: belongs to another host and is ignored; \
             warning agents.defaults.models.\"a/b\".tools: unknown setting, ignored; known are codeMode"
                .to_owned(),
        ),
        (
            "models: { 'a/b': { codeMode: { timeoutMs: 5, mode: 'also' } } }",
            "note agents.defaults.models.\"a/b\".codeMode.timeoutMs: 5 is outside 100 to 60000, so 100 is used; \
             warning agents.defaults.models.\"a/b\".codeMode.mode: the only value is `only`, got a string `\"also\"`"
                .to_owned(),
        ),
    ] {
        let loaded = own(&format!("{{ agents: {{ defaults: {{ {text} }} }} }}"));
        assert_eq!(problems(&loaded).join("; "), expected, "{text}");
    }
}

#[test]
fn code_mode_is_chosen_by_model_the_nearest_setting_last() {
    let loaded = own(r#"{
            tools: { codeMode: { enabled: true, timeoutMs: 1000 } },
            agents: {
                defaults: { models: {
                    "Ollama/*": { codeMode: false },
                    "ollama/big/one": { codeMode: true },
                    "openai/small": { codeMode: { timeoutMs: 2000, maxSearchLimit: 4 } },
                } },
                entries: { own: {
                    tools: { codeMode: { timeoutMs: 500, maxOutputBytes: 2048 } },
                    models: {
                        "ollama/*": { codeMode: { maxPendingToolCalls: 2 } },
                        "openai/small": { codeMode: { timeoutMs: 3000 } },
                    },
                } },
            },
        }"#);
    assert_eq!(problems(&loaded), Vec::<String>::new());
    let main = CodeModeSettings {
        enabled: Switch::On,
        timeout_ms: 1000,
        ..CodeModeSettings::default()
    };
    let mine = CodeModeSettings {
        timeout_ms: 500,
        max_output_bytes: 2048,
        ..main.clone()
    };
    let off = |settings: &CodeModeSettings| CodeModeSettings {
        enabled: Switch::Off,
        ..settings.clone()
    };
    let of_openai = |settings: &CodeModeSettings, timeout_ms| CodeModeSettings {
        timeout_ms,
        max_search_limit: 4,
        search_default_limit: 4,
        ..settings.clone()
    };
    let few = |settings: CodeModeSettings| CodeModeSettings {
        max_pending_tool_calls: 2,
        ..settings
    };
    for (id, model, expected) in [
        ("main", None, main.clone()),
        ("main", Some("openai/large"), main.clone()),
        ("main", Some("small"), main.clone()),
        ("main", Some("ollama/tiny"), off(&main)),
        ("main", Some("ollama/big/one"), main.clone()),
        ("main", Some("ollama/big/One"), off(&main)),
        ("main", Some("OpenAI/small"), of_openai(&main, 2000)),
        ("own", None, mine.clone()),
        ("own", Some("ollama/tiny"), few(off(&mine))),
        ("own", Some("ollama/big/one"), few(mine.clone())),
        ("own", Some("openai/small"), of_openai(&mine, 3000)),
    ] {
        let settings = agent(&loaded, id).unwrap();
        assert_eq!(settings.code_mode_for(model), expected, "{id} with {model:?}");
    }
}
