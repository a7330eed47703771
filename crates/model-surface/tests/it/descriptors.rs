use codecell_catalog::Catalog;
use codecell_model_surface::{ExecPrompt, Languages, exec_descriptor, wait_descriptor};
use serde_json::{Value, json};

fn exec(languages: Languages) -> Value {
    let catalog = Catalog::build(vec![]);
    let prompt = ExecPrompt {
        catalog: &catalog,
        languages,
        mcp_servers: &[],
        namespaces: &[],
    };
    serde_json::to_value(exec_descriptor(&prompt)).unwrap()
}

/// Every schema has a type of its own and no combinator, all the way down.
fn assert_flat(schema: &Value, path: &str) {
    for keyword in ["oneOf", "anyOf", "allOf", "not", "$ref", "if", "const"] {
        assert!(schema.get(keyword).is_none(), "{path} has {keyword}");
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        assert!(property["type"].is_string(), "{path}/{name} has no type");
        assert_flat(property, &format!("{path}/{name}"));
    }
}

#[test]
fn inputs_are_flat_objects() {
    for languages in [
        Languages::Both,
        Languages::JavaScriptOnly,
        Languages::TypeScriptOnly,
    ] {
        assert_flat(&exec(languages)["inputSchema"], "exec");
    }
    assert_flat(
        &serde_json::to_value(wait_descriptor()).unwrap()["inputSchema"],
        "wait",
    );
}

#[test]
fn only_enabled_languages_are_offered() {
    let language = |languages| exec(languages)["inputSchema"]["properties"]["language"].clone();
    assert_eq!(
        language(Languages::Both),
        json!({ "type": "string", "enum": ["javascript", "typescript"], "default": "javascript" })
    );
    assert_eq!(
        language(Languages::JavaScriptOnly),
        json!({ "type": "string", "enum": ["javascript"], "default": "javascript" })
    );
    assert_eq!(language(Languages::TypeScriptOnly)["enum"], json!(["typescript"]));
    assert_eq!(language(Languages::TypeScriptOnly)["default"], Value::Null);
}

#[test]
fn the_two_tools_look_like_this() {
    insta::assert_json_snapshot!("exec", exec(Languages::Both));
    insta::assert_json_snapshot!("wait", wait_descriptor());
}
