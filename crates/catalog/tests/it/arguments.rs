use codecell_catalog::{ArgumentError, Catalog, ContractSide, OutputError, Owner, ToolSpec};
use serde_json::{Value, json};

use crate::one;

/// Problems of `arguments` under `schema`, for a tool nobody vouches for.
fn problems(schema: Value, arguments: Value) -> Vec<String> {
    let catalog = one(Owner::Mcp("s".into()), schema);
    match catalog.tools().next().unwrap().check_arguments(&arguments) {
        Ok(()) => Vec::new(),
        Err(ArgumentError::Invalid { problems, .. }) => problems,
        Err(other) => panic!("{other}"),
    }
}

#[track_caller]
fn check(schema: Value, arguments: Value, expected: &[&str]) {
    assert_eq!(problems(schema, arguments), expected);
}

fn issue() -> Value {
    json!({
        "type": "object",
        "properties": {
            "title": { "type": "string", "minLength": 1 },
            "state": { "enum": ["open", "closed"] },
            "labels": { "type": "array", "items": { "type": "object", "properties": { "name": { "type": "string" } } } },
            "count": { "type": "integer", "minimum": 1 },
        },
        "required": ["title"],
        "additionalProperties": false,
    })
}

#[test]
fn what_fits_passes() {
    check(
        issue(),
        json!({ "title": "t", "state": "open", "labels": [{ "name": "x" }], "count": 5.0 }),
        &[],
    );
}

#[test]
fn every_problem_is_one_line_with_path_expected_and_got() {
    check(
        issue(),
        json!({ "title": 5, "state": "opne", "labels": [{ "name": "x" }, { "name": null }], "count": 0 }),
        &[
            "title: expected string, got number (5)",
            "state: expected \"open\" | \"closed\", got string (\"opne\")",
            "labels[1].name: expected string, got null",
            "count: expected at least 1, got number (0)",
        ],
    );
    check(issue(), json!({}), &["title: expected string, got nothing"]);
    check(
        issue(),
        json!([1, 2]),
        &["(root): expected object, got array of 2"],
    );
    check(
        json!({ "properties": { "a b": { "type": "object", "properties": { "x-y": { "const": 1 } } } } }),
        json!({ "a b": { "x-y": 2 } }),
        &["[\"a b\"][\"x-y\"]: expected 1, got number (2)"],
    );
}

#[test]
fn the_whole_message_names_the_tool_and_its_signature() {
    let catalog = one(Owner::Mcp("s".into()), issue());
    let error = catalog
        .tools()
        .next()
        .unwrap()
        .check_arguments(&json!({ "title": 5 }))
        .unwrap_err();
    let signature = codecell_catalog::schema::input_hint(&issue());
    assert_eq!(
        error.to_string(),
        format!(
            "invalid arguments for `mcp:s:t`:\ntitle: expected string, got number (5)\nexpected input: {signature}"
        )
    );
}

#[test]
fn text_of_a_value_is_refused_and_said_to_be_text() {
    let advice = "; pass the value itself, not JSON text of it";
    check(
        issue(),
        json!({ "title": "t", "count": "5" }),
        &[&format!("count: expected integer, got string (\"5\"){advice}")],
    );
    check(
        issue(),
        json!({ "title": "t", "labels": "[{\"name\":\"a\"}]" }),
        &[&format!(
            "labels: expected array, got string (\"[{{\\\"name\\\":\\\"a\\\"}}]\"){advice}"
        )],
    );
    check(
        issue(),
        json!({ "title": "t", "count": "five" }),
        &["count: expected integer, got string (\"five\")"],
    );
}

#[test]
fn an_unknown_property_suggests_the_one_that_was_meant() {
    check(
        issue(),
        json!({ "tittle": "x" }),
        &[
            "tittle: expected no such property, got string (\"x\"); did you mean `title`?",
            "title: expected string, got nothing",
        ],
    );
    check(
        issue(),
        json!({ "title": "t", "zzz": 1 }),
        &["zzz: expected no such property, got number (1)"],
    );
}

#[test]
fn of_a_union_the_branch_that_was_meant_is_told() {
    let shapes = json!({
        "type": "object",
        "properties": { "shape": { "oneOf": [
            { "type": "object", "properties": { "kind": { "const": "circle" }, "r": { "type": "number" } }, "required": ["kind", "r"] },
            { "type": "object", "properties": { "kind": { "const": "square" }, "a": { "type": "number" } }, "required": ["kind", "a"] },
            { "type": "string" },
        ] } },
    });
    check(
        shapes.clone(),
        json!({ "shape": { "kind": "square", "a": "1" } }),
        &["shape.a: expected number, got string (\"1\"); pass the value itself, not JSON text of it"],
    );
    check(
        shapes,
        json!({ "shape": 7 }),
        &[
            "shape: expected { kind: \"circle\"; r: number } | { a: number; kind: \"square\" } | string, got number (7)",
        ],
    );
}

#[test]
fn problems_and_values_are_bounded() {
    let schema = json!({ "type": "object", "properties": { "xs": { "type": "array", "items": { "type": "string" } } } });
    let found = problems(schema, json!({ "xs": (0..10_000).collect::<Vec<_>>() }));
    assert_eq!(found.len(), 11);
    assert_eq!(found[9], "xs[9]: expected string, got number (9)");
    assert_eq!(found[10], "and 9990 more");

    let long = problems(issue(), json!({ "title": "t", "count": "x".repeat(1 << 20) }));
    assert_eq!(
        long,
        [format!(
            "count: expected integer, got string (\"{}…\")",
            "x".repeat(80)
        )]
    );
}

#[test]
fn defaults_and_formats_are_left_to_the_server() {
    check(
        json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": { "a": { "type": "string", "format": "uri", "default": "x" }, "b": { "type": "string", "format": "x" } },
        }),
        json!({ "a": "not a uri" }),
        &[],
    );
}

#[test]
fn older_dialects_and_openapi_habits_are_understood() {
    check(
        json!({ "properties": { "a": { "type": "string", "nullable": true } } }),
        json!({ "a": null }),
        &[],
    );
    check(
        json!({ "properties": { "a": { "enum": ["x"], "type": "string", "nullable": true } } }),
        json!({ "a": null }),
        &[],
    );
    let tuple = json!({ "properties": { "t": { "type": "array", "items": [{ "type": "string" }, { "type": "number" }], "additionalItems": false } } });
    check(tuple.clone(), json!({ "t": ["a", 1] }), &[]);
    check(
        tuple,
        json!({ "t": [1] }),
        &["t[0]: expected string, got number (1)"],
    );
    check(
        json!({ "$schema": "http://json-schema.org/draft-04/schema#", "properties": { "n": { "minimum": 1, "exclusiveMinimum": true } } }),
        json!({ "n": 1 }),
        &["n: expected more than 1, got number (1)"],
    );
}

#[test]
fn definitions_may_have_names_that_no_uri_has() {
    for name in ["Page<Item>", "Größe", "a b", "100%"] {
        let reference = format!("#/$defs/{}", name.replace('%', "%25"));
        let schema =
            json!({ "properties": { "n": { "$ref": reference } }, "$defs": { name: { "type": "number" } } });
        check(
            schema,
            json!({ "n": "x" }),
            &["n: expected number, got string (\"x\")"],
        );
    }
}

#[test]
fn what_means_nothing_is_ignored_and_the_rest_still_counts() {
    let number = |broken: Value| json!({ "type": "object", "properties": { "broken": broken, "n": { "type": "number" } } });
    for broken in [
        json!({ "type": "file" }),
        json!({ "type": ["string", "string", "file"] }),
        json!({ "oneOf": [] }),
        json!({ "$ref": "#/$defs/None" }),
        json!({ "$ref": "http://127.0.0.1:9/schema.json" }),
        json!({ "pattern": "^(?!x)[a-z]+$" }),
        json!({ "pattern": "(" }),
        json!({ "required": true, "type": "string" }),
        json!({ "minimum": "1" }),
        json!("string"),
    ] {
        check(number(broken.clone()), json!({ "broken": "abc", "n": 1 }), &[]);
        assert_eq!(
            problems(number(broken.clone()), json!({ "broken": "abc", "n": "x" })),
            ["n: expected number, got string (\"x\")"],
            "{broken}"
        );
    }
    check(
        json!({ "$schema": "https://example.com/mine", "properties": { "n": { "type": "number" } } }),
        json!({ "n": "x" }),
        &["n: expected number, got string (\"x\")"],
    );
}

#[test]
fn a_trusted_tool_with_an_unusable_schema_is_not_called() {
    let mut spec = ToolSpec::new(Owner::Core, "t", "", json!({ "type": "object" }));
    spec.output_schema = Some(json!({ "type": "file" }));
    let catalog = Catalog::build(vec![spec]);
    let error = catalog.tools().next().unwrap().check_contract().unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("tool `openclaw:core:t` has an invalid outputSchema: "),
        "{error}"
    );
    assert_eq!(error.side, ContractSide::Output);
}

#[test]
fn an_unusable_schema_of_a_server_blocks_nothing_and_says_so() {
    let mut deep = json!({ "type": "string" });
    for _ in 0..200 {
        deep = json!({ "properties": { "a": deep } });
    }
    let catalog = one(Owner::Mcp("s".into()), deep);
    let tool = catalog.tools().next().unwrap();
    assert_eq!(tool.check_contract(), Ok(()));
    assert_eq!(tool.check_arguments(&json!({ "a": 1 })), Ok(()));
    assert_eq!(
        tool.unchecked(ContractSide::Input),
        Some("more than 128 levels or 100000 values".to_owned())
    );
    assert_eq!(tool.unchecked(ContractSide::Output), None);
}

#[test]
fn a_broken_promise_is_told_without_the_value() {
    let mut spec = ToolSpec::new(Owner::Core, "t", "", json!({}));
    spec.output_schema = Some(json!({
        "type": "object",
        "properties": { "n": { "type": "number" }, "by": { "additionalProperties": { "type": "number" } } },
        "additionalProperties": false,
    }));
    let catalog = Catalog::build(vec![spec]);
    let tool = catalog.tools().next().unwrap();
    assert_eq!(tool.check_output(&json!({ "n": 1, "by": { "ann": 2 } })), Ok(()));
    let error = tool
        .check_output(&json!({ "n": "secret", "by": { "ann@x.org": "secret" }, "hidden": "secret" }))
        .unwrap_err();
    let OutputError::Mismatch { problems, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(
        problems,
        &[
            "n: expected number, got string",
            "by[*]: expected number, got string",
            "(root): expected no undeclared properties, got 1",
        ]
    );
    assert!(
        error
            .to_string()
            .starts_with("tool `openclaw:core:t` was called, and its value does not match"),
        "{error}"
    );
}
