use codecell_catalog::{Catalog, Owner, ToolSpec};
use serde_json::{Value, json};

use crate::one;

/// Every schema must leave a call possible or refuse it, and come back.
fn survives(schema: &Value, arguments: &Value) {
    let mut spec = ToolSpec::new(Owner::Mcp("s".into()), "t", "", schema.clone());
    spec.output_schema = Some(schema.clone());
    let catalog = Catalog::build(vec![spec]);
    let tool = catalog.tools().next().unwrap();
    let _ = tool.check_arguments(arguments);
    let _ = tool.check_output(arguments);
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(
        json!({ "leaf": 1 }),
        |inner, _| json!({ "a": inner, "l": inner, "kids": [1] }),
    )
}

fn chain(levels: usize) -> Value {
    (0..levels).fold(json!({ "a": 1 }), |inner, _| json!({ "a": inner }))
}

#[test]
fn circles_bombs_and_depth_come_back() {
    let bomb = |join: fn(Value, Value) -> Value| {
        let mut definitions = serde_json::Map::new();
        definitions.insert("n0".into(), json!({ "type": "object" }));
        for level in 1..=40 {
            let below = json!({ "$ref": format!("#/$defs/n{}", level - 1) });
            definitions.insert(format!("n{level}"), join(below.clone(), below));
        }
        json!({ "$ref": "#/$defs/n40", "$defs": definitions })
    };
    let schemas = [
        json!({ "properties": { "a": { "$ref": "#" }, "kids": { "type": "array", "items": { "$ref": "#" } } } }),
        json!({ "properties": { "a": { "$ref": "#/$defs/A" } }, "$defs": { "A": { "$ref": "#/$defs/B" }, "B": { "$ref": "#/$defs/A" } } }),
        json!({ "$ref": "#" }),
        json!({ "allOf": [{ "$ref": "#" }, { "$ref": "#" }] }),
        json!({ "not": { "$ref": "#" } }),
        bomb(|l, r| json!({ "properties": { "l": l, "r": r } })),
        bomb(|l, r| json!({ "allOf": [l, r] })),
        bomb(|l, r| json!({ "oneOf": [l, r] })),
        json!({ "anyOf": [{ "properties": { "a": { "$ref": "#" } } }, { "properties": { "a": { "$ref": "#" } } }] }),
        json!({ "$id": "http://example.invalid/root", "properties": { "a": { "$ref": "item" } }, "$defs": { "i": { "$id": "item", "$ref": "root" } } }),
        json!({ "$dynamicRef": "#x", "$dynamicAnchor": "x", "properties": { "a": { "$dynamicRef": "#x" } } }),
        json!({ "$recursiveRef": "#", "$schema": "https://json-schema.org/draft/2019-09/schema" }),
        json!({ "properties": { "a": { "pattern": "^(a+)+$" } } }),
        json!({ "properties": { "a": { "pattern": "(x{1000}){1000}" } } }),
        json!(true),
        json!(false),
        json!(7),
        json!({ "$ref": "http://json-schema.org/draft-07/schema#" }),
        (0..120).fold(json!({}), |inner, _| json!({ "allOf": [inner] })),
        (0..120).fold(json!({}), |inner, _| json!({ "properties": { "a": inner } })),
    ];
    // A thread of the usual small size: what does not fit here would end a server.
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(move || {
            for schema in &schemas {
                survives(schema, &chain(120));
                survives(schema, &nested(12));
                survives(schema, &json!({ "a": "a".repeat(50_000) + "!" }));
                survives(schema, &chain(300));
            }
        })
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn recursive_schemas_still_check() {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" }, "child": { "$ref": "#" } }, "required": ["name"] });
    let catalog = one(Owner::Mcp("s".into()), schema);
    let tool = catalog.tools().next().unwrap();
    assert_eq!(
        tool.check_arguments(&json!({ "name": "a", "child": { "name": "b" } })),
        Ok(())
    );
    let error = tool
        .check_arguments(&json!({ "name": "a", "child": { "name": "b", "child": {} } }))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("child.child.name: expected string, got nothing"),
        "{error}"
    );
}
