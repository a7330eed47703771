//! One tool at a time.

use codecell_mcp_decls::{ServerMeta, ToolMeta, server_file};
use serde_json::{Value, json};

/// The declaration of one tool as it stands in its server's file.
fn declared(tool: ToolMeta<'_>) -> String {
    let server = ServerMeta {
        tools: vec![tool],
        ..ServerMeta::new("s", "s")
    };
    let text = server_file(&server);
    let (_, tools) = text.split_once("Promise<McpApiHeader>;\n").unwrap();
    tools.strip_suffix("}\n").unwrap().to_owned()
}

#[test]
fn tools_without_arguments_take_none() {
    let closed = json!({ "type": "object", "additionalProperties": false });
    for schema in [
        json!({}),
        json!({ "type": "object" }),
        json!({ "type": "object", "properties": {} }),
        json!({ "type": "object", "properties": {}, "additionalProperties": false, "$schema": "x" }),
        closed,
    ] {
        assert_eq!(
            declared(ToolMeta::new("f", "f", "", &schema)),
            "  function f(input?: Record<string, never>): Promise<McpToolResult>;\n",
            "{schema}"
        );
    }
}

#[test]
fn arguments_are_optional_when_none_is_required() {
    for (schema, expected) in [
        (json!({ "properties": { "a": {} } }), "input?: { a?: unknown }"),
        (
            json!({ "properties": { "a": {} }, "required": ["a"] }),
            "input: { a: unknown }",
        ),
        (
            json!({ "type": "object", "additionalProperties": true }),
            "input?: Record<string, unknown>",
        ),
        (json!(true), "input?: Record<string, unknown>"),
        (Value::Null, "input?: unknown /* not a schema */"),
        (
            json!({ "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] }),
            "input: { a: unknown } | { b: unknown }",
        ),
    ] {
        assert_eq!(
            declared(ToolMeta::new("f", "f", "", &schema)),
            format!("  function f({expected}): Promise<McpToolResult>;\n"),
            "{schema}"
        );
    }
}

#[test]
fn results_carry_the_declared_type() {
    let none = json!({});
    for (schema, expected) in [
        (
            json!({ "type": "array", "items": { "type": "string" } }),
            "<string[]>",
        ),
        (
            json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }),
            "<string | null>",
        ),
        (
            json!({ "properties": { "result": { "type": "string" } }, "required": ["result"] }),
            "<{ result: string }>",
        ),
    ] {
        let tool = ToolMeta {
            output_schema: Some(&schema),
            ..ToolMeta::new("f", "f", "", &none)
        };
        assert!(
            declared(tool).ends_with(&format!("Promise<McpToolResult{expected}>;\n")),
            "{schema}"
        );
    }
}

#[test]
fn descriptions_are_cut_and_say_so() {
    let none = json!({});
    let hints = json!({ "destructiveHint": true });
    let tool = |description, title| ToolMeta {
        title,
        ..ToolMeta::new("f", "f", description, &none)
    };
    let long = "word ".repeat(100);
    for (tool, expected) in [
        (tool("Does it.", None), "/** Does it. */"),
        (
            tool("Does it.\nIn two lines.\n\nSecond paragraph.", None),
            "/** Does it. In two lines. … */",
        ),
        (tool("", Some("Title */")), "/** Title *\\/ */"),
        (
            ToolMeta {
                annotations: Some(&hints),
                ..tool("Deletes it.", None)
            },
            "/** [destructive] Deletes it. */",
        ),
        (
            ToolMeta {
                method: "delete2",
                mcp_name: "delete",
                ..tool("Gone.", None)
            },
            "/** Gone. (tool \"delete\") */",
        ),
        (
            ToolMeta {
                method: "createIssue",
                mcp_name: "create_issue",
                ..tool("New.", None)
            },
            "/** New. */",
        ),
    ] {
        let text = declared(tool);
        assert!(text.starts_with(&format!("  {expected}\n")), "{text}");
    }
    let text = declared(tool(&long, None));
    let first = text.lines().next().unwrap();
    assert!(first.ends_with("… */") && first.chars().count() < 260, "{first}");
}

#[test]
fn definitions_are_shared_by_the_tools_of_a_server() {
    let schema = |extra: &str| {
        json!({
            "properties": { "left": { "$ref": "#/$defs/user" }, "right": { "$ref": "#/$defs/user" } },
            "$defs": { "user": { "type": "object", "properties": { "id": {}, "friends": { "items": { "$ref": "#/$defs/user" } }, extra: {} } } },
        })
    };
    let (same, other) = (schema("name"), schema("age"));
    let server = ServerMeta {
        tools: vec![
            ToolMeta::new("a", "a", "", &same),
            ToolMeta::new("b", "b", "", &same),
            ToolMeta::new("c", "c", "", &other),
        ],
        ..ServerMeta::new("s", "s")
    };
    let text = server_file(&server);
    let types: Vec<&str> = text
        .lines()
        .filter(|line| line.trim_start().starts_with("type "))
        .collect();
    assert_eq!(
        types,
        [
            "  type User = { id?: unknown; friends?: User[]; name?: unknown };",
            "  type User_2 = { id?: unknown; friends?: User_2[]; age?: unknown };",
        ]
    );
    assert!(
        text.contains("function b(input?: { left?: User; right?: User })"),
        "{text}"
    );
}
