//! Schemas in, TypeScript out.

use serde_json::{Value, json};

use super::{Detail, Extent, Model, Printer, input_hint, output_hint};

/// The type of a schema, and its definitions on lines of their own.
fn rendered(schema: &Value) -> String {
    rendered_with(
        schema,
        Detail {
            extent: Extent::Text,
            docs: 60,
            nested_docs: 30,
        },
    )
}

fn rendered_with(schema: &Value, detail: Detail) -> String {
    let model = Model::read(schema, detail);
    let plain = |name: &str| {
        name.chars()
            .filter(char::is_ascii_alphanumeric)
            .collect::<String>()
    };
    let names: Vec<String> = model
        .definitions
        .iter()
        .map(|definition| format!("T{}", plain(&definition.name)))
        .collect();
    let printer = Printer { names: &names };
    let mut lines = vec![printer.print(&model.body, 0)];
    for (name, definition) in names.iter().zip(&model.definitions) {
        lines.push(format!("type {name} = {}", printer.print(&definition.ty, 0)));
    }
    lines.join("\n")
}

fn check(cases: &[(Value, &str)]) {
    for (schema, expected) in cases {
        assert_eq!(rendered(schema), *expected, "{schema}");
    }
}

/// As [`check`], for the type of a property and without comments.
fn check_property(cases: &[(Value, &str)]) {
    for (schema, expected) in cases {
        let whole = json!({ "type": "object", "properties": { "v": schema } });
        let text = rendered_with(
            &whole,
            Detail {
                extent: Extent::Text,
                docs: 0,
                nested_docs: 0,
            },
        );
        assert_eq!(text, format!("{{ v?: {expected} }}"), "{schema}");
    }
}

#[test]
fn scalars_and_unions_are_faithful() {
    check_property(&[
        (json!({ "type": "string" }), "string"),
        (json!({ "type": "integer" }), "number"),
        (json!({ "type": ["string", "null"] }), "string | null"),
        (json!({ "type": "string", "nullable": true }), "string | null"),
        (
            json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }),
            "string | null",
        ),
        (
            json!({ "oneOf": [{ "type": "string" }, { "type": "integer" }, { "type": "number" }] }),
            "string | number",
        ),
        (json!({ "anyOf": [{ "type": "string" }, {}] }), "unknown"),
        (json!({ "anyOf": [] }), "unknown"),
        (
            json!({ "type": "integer", "minimum": -9_223_372_036_854_775_808_i64 }),
            "number | bigint",
        ),
        (
            json!({ "type": ["object", "array", "null"] }),
            "Record<string, unknown> | unknown[] | null",
        ),
        (
            json!({ "type": "string", "anyOf": [{ "type": "string" }, { "type": "null" }] }),
            "string",
        ),
        (json!(true), "unknown"),
        (json!(false), "never"),
        (json!({}), "unknown"),
        (json!({ "type": "asd" }), "unknown /* unknown type \"asd\" */"),
        (json!("text"), "unknown /* not a schema */"),
    ]);
}

#[test]
fn constants_of_every_kind_become_literals() {
    check_property(&[
        (
            json!({ "enum": ["a", 1, 2.5, true, null] }),
            "\"a\" | 1 | 2.5 | true | null",
        ),
        (json!({ "enum": [true, false, "x"] }), "boolean | \"x\""),
        (json!({ "const": { "a": [1] } }), "{ a: [1] }"),
        (json!({ "const": 9_007_199_254_740_993_i64 }), "9007199254740993n"),
        (json!({ "const": -0.0 }), "0"),
        (
            json!({ "type": "integer", "enum": [9_007_199_254_740_993_i64] }),
            "9007199254740993n",
        ),
        (json!({ "type": "string", "enum": ["a", null] }), "\"a\""),
        (
            json!({ "type": ["string", "null"], "enum": ["a", null] }),
            "\"a\" | null",
        ),
        (
            json!({ "type": "string", "enum": [true, false] }),
            "boolean /* contradicts its type in the schema */",
        ),
        (json!({ "enum": [] }), "never /* no value is allowed */"),
        (
            json!({ "oneOf": [{ "const": "a", "title": "A" }, { "const": "b" }] }),
            "\"a\" | \"b\"",
        ),
    ]);
    let many: Vec<String> = (0..300).map(|number| format!("v{number}")).collect();
    check_property(&[(
        json!({ "enum": many }),
        "string /* one of 300 values: \"v0\", \"v1\", \"v2\", \"v3\", \"v4\", … */",
    )]);
}

#[test]
fn arrays_bracket_unions_and_know_tuples() {
    let number = json!({ "type": "number" });
    check_property(&[
        (
            json!({ "type": "array", "items": { "type": ["string", "null"] } }),
            "(string | null)[]",
        ),
        (json!({ "type": "array" }), "unknown[]"),
        (
            json!({ "type": "array", "items": { "type": "array", "items": number } }),
            "number[][]",
        ),
        (
            json!({ "type": "array", "items": [number, number], "additionalItems": false }),
            "[number?, number?]",
        ),
        (
            json!({ "type": "array", "items": [number], "minItems": 1 }),
            "[number, ...unknown[]]",
        ),
        (
            json!({ "type": "array", "prefixItems": [number, { "type": ["string", "null"] }], "items": false, "minItems": 1 }),
            "[number, (string | null)?]",
        ),
        (
            json!({ "type": "array", "prefixItems": [number], "items": { "enum": [1, 2] } }),
            "[number?, ...(1 | 2)[]]",
        ),
        (
            json!({ "prefixItems": [number, number], "items": false, "maxItems": 1 }),
            "[number?]",
        ),
        (json!({ "items": false }), "[]"),
    ]);
    check(&[
        (
            json!({ "type": "array", "items": number, "minItems": 4, "maxItems": 4 }),
            "[number, number, number, number]",
        ),
        (
            json!({ "type": "array", "items": { "type": "string" }, "minItems": 1 }),
            "[string, ...string[]]",
        ),
        (
            json!({ "type": "array", "items": number, "minItems": 100 }),
            "number[]",
        ),
        (json!({ "type": "array", "maxItems": 0 }), "[]"),
    ]);
}

#[test]
fn objects_say_what_may_follow() {
    check(&[
        (json!({ "type": "object" }), "Record<string, unknown>"),
        (
            json!({ "type": "object", "additionalProperties": false }),
            "Record<string, never>",
        ),
        (
            json!({ "type": "object", "properties": { "a": { "type": "string" } } }),
            "{ a?: string }",
        ),
        (
            json!({ "properties": { "b": { "type": "string" }, "a": {} }, "required": ["a", "ghost"] }),
            "{ a: unknown; ghost: unknown; b?: string }",
        ),
        (
            json!({ "properties": { "a": { "type": "string" } }, "additionalProperties": {} }),
            "{ a?: string; [key: string]: unknown }",
        ),
        (
            json!({ "additionalProperties": { "type": "number" } }),
            "{ [key: string]: number }",
        ),
        (
            json!({
                "properties": { "id": { "type": "string" }, "n": { "type": "null" } },
                "required": ["id"],
                "additionalProperties": { "type": "number" },
            }),
            "{ id: string; n?: null; [key: string]: number | string | null | undefined }",
        ),
        (
            json!({ "patternProperties": { "^x-": { "type": "string" } }, "properties": { "x-a": { "const": 1 } } }),
            "{ \"x-a\"?: 1; [key: `x-${string}`]: string | 1 | undefined }",
        ),
        (
            json!({ "patternProperties": { "^a": { "type": "string" }, "^ab": { "type": "number" } } }),
            "{ [key: string]: string | number }",
        ),
        (
            json!({ "propertyNames": { "enum": ["red", "blue"] }, "additionalProperties": { "type": "boolean" } }),
            "{ red?: boolean; blue?: boolean }",
        ),
        (
            json!({ "properties": { "toString": { "type": "string" }, "valueOf": { "type": "null" } }, "required": ["valueOf"] }),
            "{ valueOf: null; toString?: unknown /* every object inherits this name */ }",
        ),
        (
            json!({ "properties": { "a": true, "b": false }, "required": ["gone"], "additionalProperties": false }),
            "{ gone: never; a?: unknown; b?: never }",
        ),
    ]);
}

#[test]
fn combinations_are_merged_where_that_is_exact() {
    let a = json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] });
    let b = json!({ "properties": { "b": { "type": "number" } } });
    check(&[
        (json!({ "allOf": [a, b] }), "{ a: string; b?: number }"),
        (json!({ "allOf": [b, { "required": ["b"] }] }), "{ b: number }"),
        (
            json!({ "type": "object", "oneOf": [a, b] }),
            "{ a: string } | { b?: number }",
        ),
        (
            json!({ "type": "object", "properties": { "u": {}, "p": {} }, "anyOf": [{ "required": ["u"] }, { "required": ["p"] }] }),
            "{ u?: unknown; p?: unknown } & ({ u: unknown } | { p: unknown })",
        ),
        (
            json!({
                "properties": { "m": { "enum": ["x", "y"] }, "n": { "type": "number" } },
                "if": { "properties": { "m": { "const": "x" } } },
                "then": { "required": ["n"] },
                "else": { "properties": { "n": false } },
            }),
            "{ m?: \"x\" | \"y\"; n?: number } & ({ n: unknown; m?: \"x\" } | { n?: never })",
        ),
        (
            json!({ "type": "object", "if": { "required": ["a"] }, "then": { "required": ["b"] } }),
            "Record<string, unknown> /* further rules under a condition, see the schema */",
        ),
        (
            json!({ "not": { "type": ["object", "array", "null"] } }),
            "string | number | boolean",
        ),
        (
            json!({ "type": "string", "not": { "enum": ["x"] } }),
            "string /* but not {\"enum\":[\"x\"]} */",
        ),
        (json!({ "not": {} }), "never"),
        (
            json!({ "allOf": [{ "type": "string" }, { "type": "number" }] }),
            "never",
        ),
        (
            json!({ "allOf": [{ "type": "string" }, { "enum": ["a", "b"] }] }),
            "\"a\" | \"b\"",
        ),
    ]);
}

#[test]
fn references_become_names_only_where_they_must() {
    let node = json!({ "type": "object", "properties": { "next": { "$ref": "#/$defs/node" }, "v": { "type": "number" } } });
    check(&[
        (
            json!({ "$ref": "#/$defs/one", "$defs": { "one": { "type": "object", "properties": { "a": {} } } } }),
            "{ a?: unknown }",
        ),
        (
            json!({ "$ref": "#/$defs/node", "$defs": { "node": node } }),
            "Tnode\ntype Tnode = { next?: Tnode; v?: number }",
        ),
        (json!({ "items": { "$ref": "#" } }), "T\ntype T = T[]"),
        (
            json!({ "additionalProperties": { "$ref": "#" } }),
            "T\ntype T = { [key: string]: T }",
        ),
        (
            json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } }),
            "Ta\ntype Ta = unknown /* refers only to itself */",
        ),
        (
            json!({ "$ref": "#/$defs/u", "$defs": { "u": { "anyOf": [{ "$ref": "#/$defs/u" }, { "type": "string" }] } } }),
            "Tu\ntype Tu = string",
        ),
        (
            json!({ "$ref": "#/$defs/none" }),
            "unknown /* #/$defs/none: not in the schema */",
        ),
        (
            json!({ "$ref": "http://127.0.0.1:9/*/x" }),
            "unknown /* http://127.0.0.1:9/*\\/x: outside the schema, not fetched */",
        ),
        (
            json!({
                "properties": { "a/b": { "items": { "properties": { "c~d": { "type": "integer" } } } }, "copy": { "$ref": "#/properties/a~1b/items/properties/c~0d" } },
            }),
            "{\n  \"a/b\"?: {\n    \"c~d\"?: number; // integer\n  }[];\n  copy?: number;\n}",
        ),
        (
            json!({ "$ref": "#/$defs/a", "required": ["y"], "$defs": { "a": { "type": "object", "properties": { "x": {} } } } }),
            "{ y: unknown; x?: unknown }",
        ),
        (
            json!({
                "$schema": "http://json-schema.org/draft-07/schema#",
                "$ref": "#/definitions/a", "type": "number", "definitions": { "a": { "type": "string" } },
            }),
            "string",
        ),
    ]);
}

#[test]
fn comments_carry_what_types_cannot_say() {
    check(&[(
        json!({
            "type": "object",
            "properties": {
                "userId": { "type": "string", "description": "The user id" },
                "limit": { "type": "integer", "minimum": 1, "maximum": 50, "default": 10, "description": "How many to list" },
                "when": { "anyOf": [{ "type": "string", "format": "date-time" }, { "type": "null" }], "default": null },
                "text": { "type": "string", "description": "ends */ here\n@ts-ignore", "pattern": "^*/$" },
                "long": { "description": "The first sentence is kept whole. The second one does not fit any more." },
                "inner": { "type": "object", "properties": { "x": { "description": "Says something" } }, "description": "An object" },
            },
        }),
        "{\n  userId?: string;\n  limit?: number; // How many to list (1..50, default 10)\n  when?: string | null; // date-time\n  \
         text?: string; // ends *\\/ here @ts-ignore (/^*\\/$/)\n  long?: unknown; // The first sentence is kept whole. …\n  \
         // An object\n  inner?: {\n    x?: unknown; // Says something\n  };\n}",
    )]);
}

#[test]
fn descriptions_are_followed_as_far_as_asked() {
    let schema = json!({
        "properties": { "v": { "description": "The first sentence. The second one.", "default": 1 } },
    });
    for (extent, docs, expected) in [
        (
            Extent::Text,
            60,
            "The first sentence. The second one. (default 1)",
        ),
        (Extent::Text, 30, "The first sentence. … (default 1)"),
        (Extent::Sentence, 60, "The first sentence. … (default 1)"),
        (Extent::Sentence, 12, "The first s… (default 1)"),
    ] {
        let detail = Detail {
            extent,
            docs,
            nested_docs: docs,
        };
        assert_eq!(
            rendered_with(&schema, detail),
            format!("{{\n  v?: unknown; // {expected}\n}}"),
            "{extent:?}, {docs}"
        );
    }
}

#[test]
fn the_ends_of_machine_integers_are_no_facts() {
    check(&[(
        json!({
            "properties": {
                "int": { "type": "integer", "minimum": i32::MIN, "maximum": i32::MAX },
                "half": { "type": "number", "minimum": 0, "maximum": u32::MAX },
            },
        }),
        "{\n  int?: number; // integer\n  half?: number; // >= 0\n}",
    )]);
}

#[test]
fn hostile_schemas_stay_small() {
    let mut deep = json!({ "type": "string" });
    for _ in 0..1_000 {
        deep = json!({ "type": "array", "items": deep });
    }
    let mut bomb = serde_json::Map::new();
    bomb.insert("n0".to_owned(), json!({ "type": "string" }));
    for level in 1..60 {
        let below = json!({ "$ref": format!("#/$defs/n{}", level - 1) });
        bomb.insert(
            format!("n{level}"),
            json!({ "properties": { "l": below, "r": below } }),
        );
    }
    let bomb = json!({ "$ref": "#/$defs/n59", "$defs": bomb });
    // Every step hides behind a part too light to get a name.
    let mut sly = serde_json::Map::new();
    sly.insert("n0".to_owned(), json!({ "type": "string" }));
    for level in 1..60 {
        let array = |name: &str| json!({ "items": { "$ref": format!("#/$defs/{name}{level}") } });
        sly.insert(
            format!("n{level}"),
            json!({ "properties": { "l": array("w"), "r": array("w") } }),
        );
        sly.insert(
            format!("w{level}"),
            json!({ "items": { "$ref": format!("#/$defs/n{}", level - 1) } }),
        );
    }
    let sly = json!({ "$ref": "#/$defs/n59", "$defs": sly });
    let wide: serde_json::Map<String, Value> = (0..5_000)
        .map(|at| {
            (
                format!("p{at}"),
                json!({ "type": "object", "properties": { "x": {} } }),
            )
        })
        .collect();
    let wide = json!({ "type": "object", "properties": wide });
    let union = |count: usize| -> Vec<Value> {
        (0..count)
            .map(|at| json!({ "properties": { format!("k{count}"): { "const": at } } }))
            .collect()
    };
    let product =
        json!({ "allOf": [{ "oneOf": union(60) }, { "oneOf": union(61) }, { "oneOf": union(62) }] });
    for (what, schema) in [
        ("deep", deep),
        ("bomb", bomb),
        ("sly", sly),
        ("wide", wide),
        ("product", product),
    ] {
        let t0 = std::time::Instant::now();
        let text = rendered(&schema);
        eprintln!("{what} {:?} {}", t0.elapsed(), text.len());
        assert!(text.len() < 256 * 1024, "{what}: {} bytes", text.len());
        assert!(input_hint(&schema).chars().count() <= 300, "{what}");
        assert!(
            output_hint(&schema).is_none_or(|hint| hint.chars().count() <= 800),
            "{what}"
        );
    }
}
