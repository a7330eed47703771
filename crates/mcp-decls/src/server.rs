//! `mcp/<server>.d.ts`, and the same for a single tool.

use codecell_catalog::schema::{Detail, Extent, Model, Printer, Repeated, Type, brief, comment};
use serde_json::Value;

use crate::{
    definitions::Definitions,
    meta::{ServerMeta, ToolMeta},
};

/// Longest tool description shown in a file of many tools; most first paragraphs are shorter.
const MAX_DESCRIPTION_CHARS: usize = 240;
/// Longest tool description shown when a single tool was asked for.
const MAX_OWN_DESCRIPTION_CHARS: usize = 4_000;
/// Longest text of a server about itself.
const MAX_INSTRUCTIONS_CHARS: usize = 2_000;
/// Longest protocol name shown.
const MAX_NAME_CHARS: usize = 128;

/// Comments of properties in a file of many tools.
const BRIEF: Detail = Detail {
    extent: Extent::Sentence,
    docs: MAX_DESCRIPTION_CHARS,
    nested_docs: MAX_DESCRIPTION_CHARS,
};
/// Comments of properties when a single tool was asked for.
const OWN: Detail = Detail {
    extent: Extent::Text,
    docs: 1_000,
    nested_docs: 500,
};

/// How much one rendering says.
struct Scope {
    description: usize,
    detail: Detail,
    /// Parts that get a name of their own.
    repeated: Repeated,
}

/// The text of `mcp/<identifier>.d.ts`; compiles together with the index file and any other server's.
#[must_use]
pub fn server_file(server: &ServerMeta<'_>) -> String {
    let id = server.identifier;
    let mut out = format!(
        "// MCP server {}. `…` marks cut text, and words on a property hold until others do: \
         (await MCP.{id}.$api(\"<tool>\")).header has a tool in full.\n",
        comment(server.server_name, MAX_NAME_CHARS),
    );
    if let Some(instructions) = server
        .instructions
        .map(|text| comment(text, MAX_INSTRUCTIONS_CHARS))
        .filter(|text| !text.is_empty())
    {
        out.push_str(&format!(
            "/* The server says of itself (unverified): {instructions} */\n"
        ));
    }
    out.push_str(&format!(
        "declare namespace MCP.{id} {{\n  \
         const $serverName: string;\n  \
         function $api(tool?: string, options?: {{ schema?: boolean }}): Promise<McpApiHeader>;\n"
    ));
    let schemas = server
        .tools
        .iter()
        .flat_map(|tool| std::iter::once(tool.input_schema).chain(tool.output_schema));
    let scope = Scope {
        description: MAX_DESCRIPTION_CHARS,
        detail: BRIEF,
        repeated: Repeated::among(schemas),
    };
    let mut definitions = Definitions::told_once();
    for tool in &server.tools {
        function(tool, &scope, &mut definitions, &mut out);
    }
    if server.resources {
        out.push_str(
            "  namespace resources {\n    \
             function list(input?: { cursor?: string }): Promise<McpResources>;\n    \
             function read(input: { uri: string }): Promise<{ contents: McpResourceContents[] }>;\n  }\n",
        );
    }
    if server.prompts {
        out.push_str(
            "  namespace prompts {\n    \
             function list(input?: { cursor?: string }): Promise<McpPrompts>;\n    \
             function get(input: { name: string; arguments?: Record<string, string> }): Promise<McpPrompt>;\n  }\n",
        );
    }
    out.push_str("}\n");
    out
}

/// One tool in full: the same declaration with its whole description and longer comments.
#[must_use]
pub fn tool_header(server: &ServerMeta<'_>, tool: &ToolMeta<'_>) -> String {
    let mut out = format!("declare namespace MCP.{} {{\n", server.identifier);
    let scope = Scope {
        description: MAX_OWN_DESCRIPTION_CHARS,
        detail: OWN,
        repeated: Repeated::default(),
    };
    function(tool, &scope, &mut Definitions::default(), &mut out);
    out.push_str("}\n");
    out
}

fn function(tool: &ToolMeta<'_>, scope: &Scope, definitions: &mut Definitions, out: &mut String) {
    let input = Model::read_among(tool.input_schema, scope.detail, &scope.repeated);
    let input_names = definitions.write(&input, &format!("{}Input", tool.method), out);
    let output = tool.output_schema.map(|schema| {
        let model = Model::read_among(schema, scope.detail, &scope.repeated);
        let names = definitions.write(&model, &format!("{}Output", tool.method), out);
        (model.body, names)
    });
    let docs = docs(tool, scope.description);
    if !docs.is_empty() {
        out.push_str(&format!("  /** {docs} */\n"));
    }
    let mark = if input.accepts_empty_object() { "?" } else { "" };
    let parameter = if takes_nothing(tool.input_schema) {
        "Record<string, never>".to_owned()
    } else {
        let ty = definitions.untold(arguments(input.body));
        Printer { names: &input_names }.print(&ty, 1)
    };
    let output = output.map(|(body, names)| {
        let ty = definitions.untold(body);
        format!("<{}>", Printer { names: &names }.print(&ty, 1))
    });
    out.push_str(&format!(
        "  function {}(input{mark}: {parameter}): Promise<McpToolResult{}>;\n",
        tool.method,
        output.unwrap_or_default(),
    ));
}

/// Arguments are always an object, also where the schema does not say so.
fn arguments(body: Type) -> Type {
    match body {
        Type::Unknown => Model::read(&serde_json::json!({ "type": "object" }), BRIEF).body,
        other => other,
    }
}

/// The five spellings of "no arguments": no properties named and none invited.
fn takes_nothing(schema: &Value) -> bool {
    let Some(keywords) = schema.as_object() else {
        return false;
    };
    keywords.iter().all(|(keyword, value)| match keyword.as_str() {
        "type" => value == "object",
        "properties" => value.as_object().is_some_and(serde_json::Map::is_empty),
        "required" => value.as_array().is_some_and(Vec::is_empty),
        "additionalProperties" => value == false,
        "$schema" | "title" | "description" | "$id" | "$comment" => true,
        _ => false,
    })
}

fn docs(tool: &ToolMeta<'_>, max_chars: usize) -> String {
    let whole = tool.description.trim();
    let text = if max_chars == MAX_DESCRIPTION_CHARS {
        first_paragraph(whole)
    } else {
        whole
    };
    let mut docs = brief(text, max_chars);
    if docs.is_empty() {
        docs = comment(tool.title.unwrap_or_default(), max_chars);
    }
    if text.len() < whole.len() && !docs.ends_with('…') {
        docs.push_str(" …");
    }
    let hint = |name: &str| {
        tool.annotations.and_then(|annotations| annotations.get(name)) == Some(&Value::Bool(true))
    };
    if hint("destructiveHint") && !hint("readOnlyHint") {
        docs = format!("[destructive] {docs}").trim_end().to_owned();
    }
    // Camel case says the name; a number or a lost letter does not.
    let plain = |name: &str| {
        name.chars()
            .filter(char::is_ascii_alphanumeric)
            .collect::<String>()
            .to_lowercase()
    };
    if plain(tool.mcp_name) != plain(tool.method) {
        docs = format!(
            "{docs} (tool {})",
            comment(&format!("{:?}", tool.mcp_name), MAX_NAME_CHARS)
        )
        .trim_start()
        .to_owned();
    }
    docs
}

fn first_paragraph(text: &str) -> &str {
    let mut end = 0;
    for line in text.split_inclusive('\n') {
        if line.trim().is_empty() && end > 0 {
            break;
        }
        end += line.len();
    }
    text.get(..end).unwrap_or(text).trim_end()
}
