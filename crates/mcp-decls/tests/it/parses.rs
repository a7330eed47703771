//! Every declaration parses; whether the compiler accepts it is checked by `cargo xtask e2e`.

use codecell_mcp_decls::{ServerMeta, ServerSummary, index_file, server_file, tool_header};
use oxc_allocator::Allocator;
use oxc_parser::Parser;
use oxc_span::SourceType;

use crate::fixture::Fixture;

fn assert_parses(what: &str, text: &str) {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, text, SourceType::d_ts()).parse();
    assert!(
        !parsed.panicked && parsed.diagnostics.is_empty(),
        "{what}: {:?}\n{text}",
        parsed.diagnostics
    );
}

fn statements(text: &str) -> usize {
    let allocator = Allocator::default();
    Parser::new(&allocator, text, SourceType::d_ts())
        .parse()
        .program
        .body
        .len()
}

#[test]
fn every_recorded_server_parses_whole_and_tool_by_tool() {
    for fixture in Fixture::all() {
        let server = fixture.meta();
        let text = server_file(&server);
        assert_parses(&fixture.name, &text);
        assert_eq!(
            statements(&text),
            1,
            "{}: nothing escapes the namespace",
            fixture.name
        );
        for tool in &server.tools {
            assert_parses(tool.mcp_name, &tool_header(&server, tool));
        }
    }
}

#[test]
fn the_index_parses_whatever_servers_are_called() {
    let names = [
        "plain",
        "*/ declare const x: 1 /*",
        "line\nbreak\u{2028}",
        "@ts-nocheck",
        "",
    ];
    let servers: Vec<ServerSummary<'_>> = names
        .iter()
        .map(|name| ServerSummary {
            identifier: "server",
            server_name: name,
            tools: 1,
            resources: true,
            prompts: true,
            state: name,
        })
        .collect();
    let text = index_file(&servers);
    assert_parses("index", &text);
    assert_eq!(statements(&text), statements(&index_file(&[])));
    for name in names {
        assert_parses(
            name,
            &server_file(&ServerMeta {
                instructions: Some(name),
                ..ServerMeta::new("server", name)
            }),
        );
    }
}

#[test]
fn declarations_cost_far_less_than_the_schemas() {
    for fixture in Fixture::all() {
        let (declared, listed) = (server_file(&fixture.meta()).len(), fixture.listed_bytes());
        // The frame of a file weighs on servers of a few tools.
        assert!(
            declared < listed * 8 / 10 + 1_500,
            "{}: {declared} of {listed} bytes",
            fixture.name
        );
    }
}

#[test]
fn nothing_unseen_is_left_in_the_text() {
    for fixture in Fixture::all() {
        let text = server_file(&fixture.meta());
        let hidden = |ch: char| {
            (ch.is_control() && ch != '\n')
                || matches!(ch, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{feff}')
        };
        assert_eq!(text.chars().find(|ch| hidden(*ch)), None, "{}", fixture.name);
    }
}
