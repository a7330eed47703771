//! Schemas and descriptions come from strangers; what is rendered from them is inert TypeScript of bounded size.
//!
//! The input is one JSON value: the input schema, or an object with the parts of a tool.

#![no_main]

use codecell_catalog::schema::{input_hint, output_hint};
use codecell_fuzz::peak_of;
use codecell_mcp_decls::{ServerMeta, ToolMeta, schemas_file, server_file, tool_header};
use libfuzzer_sys::fuzz_target;
use oxc_allocator::Allocator;
use oxc_ast::ast::{Program, Statement, TSNamespaceDeclarationBody};
use oxc_parser::Parser;
use oxc_span::SourceType;
use serde_json::Value;

/// Room for any single schema of a few kilobytes: repeated references and long unions are what makes text grow.
const MOST_TEXT: usize = 1 << 20;

fuzz_target!(|data: &[u8]| {
    let Ok(value) = serde_json::from_slice::<Value>(data) else {
        return;
    };
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let input_schema = value.get("inputSchema").unwrap_or(&value);
    let output_schema = value.get("outputSchema");
    let tool = ToolMeta {
        title: text("title"),
        output_schema,
        annotations: value.get("annotations"),
        ..ToolMeta::new(
            "run",
            text("name").unwrap_or("run"),
            text("description").unwrap_or_default(),
            input_schema,
        )
    };
    let server = ServerMeta {
        tools: vec![
            tool.clone(),
            ToolMeta {
                method: "again",
                ..tool.clone()
            },
        ],
        instructions: text("instructions"),
        ..ServerMeta::new("server", text("server").unwrap_or("server"))
    };
    let ((file, header), peak) = peak_of(|| (server_file(&server), tool_header(&server, &tool)));
    assert!(
        file.len() + header.len() <= MOST_TEXT,
        "{} bytes of text",
        file.len() + header.len()
    );
    assert!(peak <= 64 * MOST_TEXT, "{peak} bytes of memory");
    only_declares(&file, 2);
    only_declares(&header, 1);
    assert_eq!(
        (file, header),
        (server_file(&server), tool_header(&server, &tool)),
        "rendered twice"
    );

    // The raw schemas are handed on as they are.
    let raw: Value = serde_json::from_str(&schemas_file(&server)).expect("schemas are JSON");
    assert_eq!(&raw["run"]["inputSchema"], input_schema);
    assert_eq!(raw["again"].get("outputSchema"), output_schema);

    // One line in a list that a model reads, of the promised length whatever the schema.
    for (hint, most) in [
        (Some(input_hint(input_schema)), 300),
        (output_hint(input_schema), 800),
    ] {
        let Some(hint) = hint else { continue };
        assert!(
            hint.chars().count() <= most && !hint.contains(['\n', '\r']),
            "{hint}"
        );
    }
});

/// The text parses, and holds one namespace with types and as many functions as there are tools: nothing that a
/// schema says stands outside a comment, a literal or a type.
fn only_declares(text: &str, tools: usize) {
    assert!(!text.contains(is_deceptive), "not what it looks like:\n{text}");
    let allocator = Allocator::default();
    let program = parse(&allocator, text);
    let [Statement::TSNamespaceDeclaration(outer)] = program.body.as_slice() else {
        panic!("not one namespace:\n{text}");
    };
    let mut body = &outer.body;
    let block = loop {
        match body {
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => body = &inner.body,
            TSNamespaceDeclarationBody::TSModuleBlock(block) => break block,
        }
    };
    let functions = block.body.iter().filter(|statement| match statement {
        Statement::FunctionDeclaration(function) => {
            function.id.as_ref().is_some_and(|id| !id.name.starts_with('$'))
        }
        Statement::TSTypeAliasDeclaration(alias) => {
            assert!(
                !KEYWORDS.contains(&alias.id.name.as_str()),
                "no name for a type: {}\n{text}",
                alias.id.name
            );
            false
        }
        Statement::VariableDeclaration(_) => false,
        _ => panic!("neither a type nor a function:\n{text}"),
    });
    assert_eq!(functions.count(), tools, "{text}");
}

fn parse<'a>(allocator: &'a Allocator, text: &'a str) -> Program<'a> {
    let parsed = Parser::new(allocator, text, SourceType::d_ts()).parse();
    assert!(
        !parsed.panicked && parsed.diagnostics.is_empty(),
        "{:?}\n{text}",
        parsed.diagnostics
    );
    parsed.program
}

/// Names that the parser lets pass and the compiler does not.
const KEYWORDS: &[&str] = &[
    "any",
    "bigint",
    "boolean",
    "never",
    "number",
    "object",
    "string",
    "symbol",
    "undefined",
    "unknown",
    "void",
];

/// Characters that hide or reorder what a reader sees.
fn is_deceptive(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}
