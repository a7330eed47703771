//! Whole files, as a model gets them.

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
