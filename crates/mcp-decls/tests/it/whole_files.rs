//! Whole files, as a model gets them.

use codecell_catalog::schema::sentence;
use codecell_mcp_decls::{ServerSummary, index_file, schemas_file, server_file, tool_header};
use serde_json::Value;

use crate::fixture::Fixture;

#[test]
fn servers_read_like_this() {
    for name in ["time", "memory", "filesystem", "git", "everything", "nasty"] {
        insta::assert_snapshot!(name, server_file(&Fixture::named(name).meta()));
    }
}

#[test]
fn the_index_reads_like_this() {
    let server = |identifier, server_name, tools, state| ServerSummary {
        identifier,
        server_name,
        tools,
        resources: tools == 1,
        prompts: false,
        state,
    };
    insta::assert_snapshot!(
        "index",
        index_file(&[
            server("github", "github", 26, ""),
            server("myServer", "my-server", 1, "connecting")
        ])
    );
}

#[test]
fn a_single_tool_comes_with_all_its_text_and_types() {
    let fixture = Fixture::named("ms365-part");
    let server = fixture.meta();
    let tool = server
        .tools
        .iter()
        .find(|tool| tool.mcp_name == "create-contact-folder")
        .unwrap();
    insta::assert_snapshot!("one_tool", tool_header(&server, tool));
}

/// Descriptions of properties anywhere in a schema.
fn described<'a>(schema: &'a Value, found: &mut Vec<&'a str>) {
    match schema {
        Value::Array(items) => items.iter().for_each(|item| described(item, found)),
        Value::Object(map) => {
            let properties = map.get("properties").and_then(Value::as_object);
            for property in properties.into_iter().flat_map(|properties| properties.values()) {
                found.extend(property.get("description").and_then(Value::as_str));
            }
            map.values().for_each(|value| described(value, found));
        }
        _ => {}
    }
}

#[test]
fn every_description_is_there_with_its_first_sentence() {
    // Ours is full of schemas that are cut for their size.
    for fixture in Fixture::all().iter().filter(|fixture| fixture.name != "nasty") {
        let server = fixture.meta();
        let file = server_file(&server);
        for tool in &server.tools {
            let mut texts = vec![tool.description];
            described(tool.input_schema, &mut texts);
            for text in texts {
                let lines = text.trim().lines().take_while(|line| !line.trim().is_empty());
                let first = sentence(&lines.collect::<Vec<_>>().join(" "), 240);
                let first = first.trim_end_matches(['…', ' ']);
                // A few words may only repeat the name of their property, and are left out.
                if first.len() > 40 {
                    assert!(
                        file.contains(first),
                        "{} {}: {first}",
                        fixture.name,
                        tool.mcp_name
                    );
                }
            }
        }
    }
}

#[test]
fn rendering_twice_gives_the_same_text() {
    for fixture in Fixture::all() {
        let again = Fixture::named(&fixture.name);
        assert_eq!(server_file(&fixture.meta()), server_file(&again.meta()));
    }
}

#[test]
fn schemas_are_kept_as_received() {
    for fixture in Fixture::all() {
        let server = fixture.meta();
        let file: Value = serde_json::from_str(&schemas_file(&server)).unwrap();
        for tool in &server.tools {
            let entry = file.get(tool.method).unwrap();
            // As text, so that the order of keys counts.
            assert_eq!(
                entry.get("inputSchema").unwrap().to_string(),
                tool.input_schema.to_string()
            );
            assert_eq!(entry.get("outputSchema"), tool.output_schema, "{}", tool.mcp_name);
            assert_eq!(entry.get("name").unwrap(), tool.mcp_name);
        }
    }
}
