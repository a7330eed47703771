//! One tool at a time.

use codecell_mcp_decls::{ServerMeta, ToolMeta, server_file, tool_header};
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
fn no_definition_is_called_like_a_keyword() {
    for (name, expected) in [
        ("1class", "Class"),
        ("2string", "String"),
        ("3-d point", "DPoint"),
        ("4", "FInput"),
    ] {
        let schema = json!({
            "properties": { "a": { "$ref": format!("#/$defs/{name}") } },
            "$defs": { name: { "properties": { "next": { "$ref": format!("#/$defs/{name}") } } } },
        });
        let text = declared(ToolMeta::new("f", "f", "", &schema));
        let declaration = format!("  type {expected} = {{ next?: {expected} }};");
        assert_eq!(text.lines().next(), Some(declaration.as_str()), "{name}");
    }
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

/// The lines of a file with these tools, without those that every file has.
fn lines(tools: Vec<ToolMeta<'_>>) -> Vec<String> {
    let server = ServerMeta {
        tools,
        ..ServerMeta::new("s", "s")
    };
    let text = server_file(&server);
    let (_, tools) = text.split_once("Promise<McpApiHeader>;\n").unwrap();
    let tools = tools.strip_suffix("}\n").unwrap();
    tools.lines().map(str::to_owned).collect()
}

#[test]
fn a_property_is_not_described_twice_in_a_row_in_the_same_words() {
    let schema = |described: &str, default: i32| json!({ "properties": { "page": { "type": "number", "description": described, "default": default } } });
    let (first, again, other) = (
        schema("Which page", 1),
        schema("Which page", 2),
        schema("Of the book", 1),
    );
    assert_eq!(
        lines(vec![
            ToolMeta::new("a", "a", "", &first),
            ToolMeta::new("b", "b", "", &again),
            ToolMeta::new("c", "c", "", &other),
            ToolMeta::new("d", "d", "", &first),
        ]),
        [
            "  function a(input?: {",
            "    page?: number; // Which page (default 1)",
            "  }): Promise<McpToolResult>;",
            "  function b(input?: {",
            // What a type cannot say is said at every place.
            "    page?: number; // default 2",
            "  }): Promise<McpToolResult>;",
            "  function c(input?: {",
            "    page?: number; // Of the book (default 1)",
            "  }): Promise<McpToolResult>;",
            "  function d(input?: {",
            "    page?: number; // Which page (default 1)",
            "  }): Promise<McpToolResult>;",
        ]
    );
}

#[test]
fn a_single_tool_comes_with_words_that_its_file_has_said_before() {
    let schema = json!({ "properties": { "page": { "type": "number", "description": "Which page" } } });
    let server = ServerMeta {
        tools: vec![
            ToolMeta::new("a", "a", "", &schema),
            ToolMeta::new("b", "b", "", &schema),
        ],
        ..ServerMeta::new("s", "s")
    };
    assert_eq!(
        tool_header(&server, &server.tools[1]),
        "declare namespace MCP.s {\n  function b(input?: {\n    page?: number; // Which page\n  }): Promise<McpToolResult>;\n}\n"
    );
}

#[test]
fn what_tools_have_in_common_gets_a_name() {
    let place = |described: &str| {
        json!({
            "type": "object",
            "description": described,
            "properties": { "street": {}, "city": {}, "zip": {}, "country": { "type": "string", "description": "Two letters" } },
            "required": ["city"],
        })
    };
    let (here, there) = (place("Leave at"), place("Go there"));
    let one = json!({ "properties": { "from": here, "to": there } });
    let many = json!({ "properties": { "stops": { "type": "array", "items": here } } });
    let small =
        json!({ "properties": { "a": { "properties": { "x": {} } }, "b": { "properties": { "x": {} } } } });
    assert_eq!(
        lines(vec![
            ToolMeta::new("one", "one", "", &one),
            ToolMeta::new("many", "many", "", &many),
            ToolMeta::new("small", "small", "", &small),
        ]),
        [
            "  type From = {",
            "    city: unknown;",
            "    street?: unknown;",
            "    zip?: unknown;",
            "    country?: string; // Two letters",
            "  };",
            "  function one(input?: {",
            "    from?: From; // Leave at",
            "    to?: From; // Go there",
            "  }): Promise<McpToolResult>;",
            "  function many(input?: { stops?: From[] }): Promise<McpToolResult>;",
            "  function small(input?: { a?: { x?: unknown }; b?: { x?: unknown } }): Promise<McpToolResult>;",
        ]
    );
}
