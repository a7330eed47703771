//! Declarations of MCP tools, read from inside a cell.

use codecell::tools::{ClientTools, ToolDefinition};
use codecell::{Catalog, Owner, ToolSpec};
use serde_json::{Value, json};

use crate::play::{completed, twice};
use crate::source::{core, named, ready, shaped};

/// The declaration file of a server with these tools, as a cell reads it, also after a suspension.
async fn declared(tools: Vec<ToolSpec>) -> String {
    let (bench, _) = named(tools, ready(&["s"]));
    let read = twice(&bench, "return await API.read('mcp/s.d.ts')").await;
    let text = read["value"].as_str().unwrap().to_owned();
    // The engine's own parser has to accept it.
    let parsed = bench
        .exec_with(json!({ "code": text, "language": "typescript" }))
        .await;
    assert_eq!(parsed["status"], "completed", "{parsed:#}\n{text}");
    text
}

fn of(name: &str, parameters: Value) -> ToolSpec {
    shaped(Owner::Mcp("s".into()), name, parameters)
}

/// The line that declares the function.
fn line<'a>(text: &'a str, function: &str) -> &'a str {
    let start = format!("function {function}(");
    text.lines()
        .map(str::trim)
        .find(|line| line.starts_with(&start))
        .unwrap_or_else(|| panic!("{text}"))
}

/// The declared type of one property called `it`.
async fn type_of(schema: Value) -> String {
    let parameters = json!({ "type": "object", "properties": { "it": schema }, "required": ["it"] });
    let text = declared(vec![of("f", parameters)]).await;
    let line = line(&text, "f");
    let line = line
        .strip_prefix("function f(input: { it: ")
        .unwrap_or_else(|| panic!("{line}"));
    line.strip_suffix(" }): Promise<McpToolResult>;")
        .unwrap()
        .to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn d1_an_array_of_a_union_has_brackets() {
    for (schema, expected) in [
        (
            json!({ "type": "array", "items": { "type": ["string", "null"] } }),
            "(string | null)[]",
        ),
        (
            json!({ "type": "array", "items": { "anyOf": [{ "type": "string" }, { "type": "number" }] } }),
            "(string | number)[]",
        ),
        (
            json!({ "type": "array", "items": { "enum": ["a", "b"] } }),
            "(\"a\" | \"b\")[]",
        ),
        (
            json!({ "type": "array", "items": { "type": "array", "items": { "type": ["string", "null"] } } }),
            "(string | null)[][]",
        ),
        (
            json!({ "type": ["array", "null"], "items": { "type": "string" } }),
            "string[] | null",
        ),
    ] {
        assert_eq!(type_of(schema).await, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d4_recursive_and_hostile_schemas_end_and_stay_small() {
    let node = json!({ "type": "object", "properties": { "next": { "$ref": "#/$defs/node" }, "value": { "type": "string" } },
        "required": ["value"], "additionalProperties": false });
    let tree = json!({ "type": "object", "properties": { "root": { "$ref": "#/$defs/node" } }, "required": ["root"],
        "$defs": { "node": node } });
    let text = declared(vec![of("tree", tree.clone())]).await;
    let declared_line = line(&text, "tree");
    let name = declared_line
        .strip_prefix("function tree(input: { root: ")
        .unwrap()
        .split(' ')
        .next()
        .unwrap();
    assert!(
        text.contains(&format!("next?: {name}")),
        "a named type that refers to itself: {text}"
    );

    let mut deep = json!({ "type": "string" });
    for _ in 0..1_000 {
        deep = json!({ "type": "object", "properties": { "a": deep } });
    }
    let circle = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } });
    let itself = json!({ "type": "object", "properties": { "me": { "$ref": "#" } } });
    let wide: serde_json::Map<String, Value> = (0..5_000)
        .map(|n| (format!("p{n}"), json!({ "type": "string" })))
        .collect();
    let hostile = vec![
        of("deep", deep),
        of("circle", circle),
        of("itself", itself),
        of("wide", json!({ "type": "object", "properties": wide })),
    ];
    let text = declared(hostile).await;
    assert!(text.len() < 200_000, "{} bytes", text.len());
    for tool in ["deep", "circle", "itself", "wide"] {
        line(&text, tool);
    }
    // They are checked too, and the calls come back.
    let (bench, _) = named(vec![of("tree", tree)], ready(&["s"]));
    let code = "try { await MCP.s.tree({root: {value: 'a', next: {value: 7}}}) } catch (e) { return e.message.split('\\n')[1] }";
    assert_eq!(
        twice(&bench, code).await,
        completed("root.next.value: expected string, got number (7)")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn d5_names_that_are_no_identifiers_are_quoted_or_renamed() {
    let odd = json!({ "type": "object", "required": ["x-y", "9", "class", "a b", "it's", "new\nline"],
        "properties": {
            "x-y": { "$ref": "#/$defs/a-b.c" }, "9": { "type": "string" }, "class": { "type": "string" },
            "a b": { "type": "string" }, "it's": { "type": "string" }, "new\nline": { "type": "string" },
        },
        "$defs": { "a-b.c": { "type": "object", "properties": { "again": { "$ref": "#/$defs/a-b.c" } } } } });
    let text = declared(vec![of("odd", odd.clone()), of("dash-ed.tool", odd)]).await;
    for quoted in ["\"x-y\": ", "\"a b\": ", "class: ", "\"new\\nline\": "] {
        assert!(text.contains(quoted), "{quoted}: {text}");
    }
    assert!(line(&text, "dashEdTool").contains("\"x-y\""));
    let (bench, source) = named(
        vec![of("dash-ed.tool", json!({ "type": "object" }))],
        ready(&["s"]),
    );
    assert_eq!(
        twice(
            &bench,
            "return (await MCP.s.dashEdTool({'x-y': 1})).structuredContent"
        )
        .await,
        completed("mcp:s:dash-ed.tool")
    );
    assert_eq!(source.calls()[0], r#"mcp:s:dash-ed.tool {"x-y":1}"#);
}

/// The text with its comments taken out, as a compiler reads it.
fn without_comments(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("/*").into_iter().chain(rest.find("//")).min() {
        code.push_str(&rest[..start]);
        let line = rest[start..].starts_with("//");
        let end = if line { "\n" } else { "*/" };
        let comment = &rest[start + 2..];
        rest = comment.find(end).map_or("", |at| &comment[at + end.len()..]);
    }
    code + rest
}

#[tokio::test(flavor = "multi_thread")]
async fn d6_no_description_leaves_its_comment() {
    for description in [
        "danger */ declare const x",
        "*/}; declare const x: 1; /*",
        "line\n*/ declare const x",
        "// @ts-nocheck",
        "\u{2028}*/ declare const x",
        "**/ declare const x",
    ] {
        let parameters = json!({ "type": "object", "properties": { "a": { "type": "string", "description": description } } });
        let mut tool = of("f", parameters);
        tool.description = description.into();
        tool.label = Some(description.into());
        let text = declared(vec![tool]).await;
        assert!(!without_comments(&text).contains("declare const x"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d8_what_a_schema_says_without_meaning_becomes_unknown_and_says_so() {
    for schema in [json!({ "type": "asd" }), json!({ "type": 7 })] {
        let shown = type_of(schema).await;
        let (kind, comment) = shown.split_once(' ').unwrap_or_else(|| panic!("{shown}"));
        assert_eq!(kind, "unknown");
        assert!(comment.starts_with("/* ") && comment.ends_with(" */"), "{shown}");
    }
    for (schema, expected) in [
        (json!({}), "unknown"),
        (json!(true), "unknown"),
        (json!(false), "never"),
    ] {
        assert_eq!(type_of(schema).await, expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d9_what_a_short_form_hides_is_one_call_away_and_said_so() {
    let properties: serde_json::Map<String, Value> = (0..60)
        .map(|n| {
            (
                format!("option_with_a_long_name_{n}"),
                json!({ "type": "string" }),
            )
        })
        .collect();
    let schema =
        json!({ "type": "object", "properties": properties, "required": ["option_with_a_long_name_59"] });
    let (bench, _) = named(
        vec![
            shaped(Owner::Core, "many", schema.clone()),
            of("many", schema.clone()),
        ],
        ready(&["s"]),
    );
    let code = "const [entry] = ALL_TOOLS; const whole = await tools.describe(entry.id);
        return [entry.input, Object.keys(whole.parameters.properties).length]";
    let result = twice(&bench, code).await;
    let hint = result["value"][0].as_str().unwrap();
    let shown = hint.matches("option_with_a_long_name_").count();
    assert!(
        hint.contains("option_with_a_long_name_59: string"),
        "what is required is never hidden: {hint}"
    );
    assert!(
        shown < 60 && hint.ends_with("; ... }"),
        "the hint says that it is cut: {hint}"
    );
    assert_eq!(result["value"][1], 60);
    let text = declared(vec![of("few", json!({ "type": "object",
        "properties": (0..20).map(|n| (format!("p{n}"), json!({ "type": "string" }))).collect::<serde_json::Map<_, _>>() }))]).await;
    assert_eq!(text.matches("?: string;").count(), 20, "{text}");
    let schemas = twice(&bench, "return JSON.parse(await API.read('mcp/s.schema.json'))").await;
    assert!(
        schemas["value"]
            .to_string()
            .contains("option_with_a_long_name_58")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn d11_an_output_that_is_a_union_at_its_root_is_shown() {
    let union = json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] });
    for (schema, expected) in [
        (union, "string | null"),
        (
            json!({ "oneOf": [{ "type": "number" }, { "type": "array", "items": { "type": "string" } }] }),
            "number | string[]",
        ),
        (json!({ "type": ["string", "null"] }), "string | null"),
    ] {
        let given = |owner: Owner| {
            let mut tool = shaped(owner, "get", json!({ "type": "object" }));
            tool.output_schema = Some(schema.clone());
            tool
        };
        let text = declared(vec![given(Owner::Mcp("s".into()))]).await;
        assert!(
            line(&text, "get").ends_with(&format!("Promise<McpToolResult<{expected}>>;")),
            "{text}"
        );
        let (bench, _) = named(vec![given(Owner::Core)], Vec::new());
        // Hints spell an array out.
        let hint = expected.replace("string[]", "Array<string>");
        assert_eq!(twice(&bench, "return ALL_TOOLS[0].output").await, completed(hint));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d13_a_bad_tool_costs_itself_and_is_named() {
    let mut definitions: Vec<ToolDefinition> = (0..19)
        .map(|n| ToolDefinition::new(format!("good_{n}"), "", json!({ "type": "object" })))
        .collect();
    definitions.insert(7, ToolDefinition::new("bad", "", json!({ "type": "string" })));
    let (application, refused) = ClientTools::new("app", definitions);
    let told: Vec<String> = refused
        .iter()
        .map(|one| format!("{}: {}", one.name, one.problem))
        .collect();
    assert_eq!(told, ["bad: `parameters` is no JSON Schema of an object"]);
    let (bench, _) = named(application.specs(), Vec::new());
    let called = "return (await Promise.all(ALL_TOOLS.map(tool => tools.callValue(tool.id, {})))).length";
    assert_eq!(twice(&bench, called).await, completed(19));

    let catalog = Catalog::build(vec![core("good"), core("")]);
    let notices: Vec<String> = catalog.notices().iter().map(ToString::to_string).collect();
    assert_eq!(
        (catalog.len(), notices),
        (
            1,
            vec!["a tool of `openclaw:core:` has no name and is left out".to_owned()]
        )
    );
}
