//! Writes the declarations of recorded servers: `declarations DIR OUT` reads every `DIR/*.json` that has a
//! `tools` array and writes `OUT/index.d.ts`, `OUT/<server>.d.ts` and `OUT/<server>.schema.json`.

use std::{collections::HashSet, error::Error, fs, path::PathBuf};

use codecell_catalog::schema::is_reserved_word;
use codecell_mcp_decls::{ServerMeta, ServerSummary, ToolMeta, index_file, schemas_file, server_file};
use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let (Some(input), Some(output)) = (arguments.next(), arguments.next()) else {
        return Err("usage: declarations DIR OUT".into());
    };
    fs::create_dir_all(&output)?;
    let mut paths: Vec<PathBuf> = fs::read_dir(input)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_, std::io::Error>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();

    let mut servers = Vec::new();
    for path in paths {
        let dump: Value = serde_json::from_slice(&fs::read(&path)?)?;
        if dump.get("tools").is_some_and(Value::is_array) {
            let name = path
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            servers.push((name, dump));
        }
    }
    let mut taken = HashSet::new();
    let mut summaries = Vec::new();
    for (name, dump) in &servers {
        let identifier = identifier(name, &mut taken);
        let tools = dump
            .get("tools")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let mut methods = HashSet::new();
        let names: Vec<String> = tools
            .iter()
            .map(|tool| self::identifier(text(tool, "name"), &mut methods))
            .collect();
        let lists = |what: &str| {
            dump.pointer("/initialize/capabilities")
                .and_then(|able| able.get(what))
                .is_some()
        };
        let server = ServerMeta {
            tools: tools
                .iter()
                .zip(&names)
                .map(|(tool, method)| ToolMeta {
                    title: tool.get("title").and_then(Value::as_str),
                    output_schema: tool.get("outputSchema"),
                    annotations: tool.get("annotations"),
                    ..ToolMeta::new(
                        method,
                        text(tool, "name"),
                        text(tool, "description"),
                        tool.get("inputSchema").unwrap_or(&Value::Null),
                    )
                })
                .collect(),
            resources: lists("resources"),
            prompts: lists("prompts"),
            instructions: dump.pointer("/initialize/instructions").and_then(Value::as_str),
            ..ServerMeta::new(&identifier, name)
        };
        fs::write(output.join(format!("{identifier}.d.ts")), server_file(&server))?;
        fs::write(
            output.join(format!("{identifier}.schema.json")),
            schemas_file(&server),
        )?;
        summaries.push((
            identifier,
            name,
            tools.len(),
            lists("resources"),
            lists("prompts"),
        ));
    }
    let summaries: Vec<ServerSummary<'_>> = summaries
        .iter()
        .map(|(identifier, name, tools, resources, prompts)| ServerSummary {
            identifier,
            server_name: name,
            tools: *tools,
            resources: *resources,
            prompts: *prompts,
            state: "",
        })
        .collect();
    fs::write(output.join("index.d.ts"), index_file(&summaries))?;
    Ok(())
}

fn text<'a>(tool: &'a Value, key: &str) -> &'a str {
    tool.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// A unique identifier near `name`. The product assigns names in `codecell-namespaces`; any will do here.
fn identifier(name: &str, taken: &mut HashSet<String>) -> String {
    let base: String = name
        .chars()
        .map(|ch| if ch.is_ascii_alphanumeric() { ch } else { '_' })
        .collect();
    let base = if base.starts_with(|ch: char| ch.is_ascii_digit()) || base.is_empty() {
        format!("_{base}")
    } else {
        base
    };
    let mut identifier = base.clone();
    let mut number = 2_usize;
    while is_reserved_word(&identifier) || identifier == "index" || !taken.insert(identifier.clone()) {
        identifier = format!("{base}{number}");
        number += 1;
    }
    identifier
}
