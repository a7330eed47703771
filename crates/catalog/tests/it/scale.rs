use codecell_catalog::{Catalog, Owner, Reach, ToolSpec};
use serde_json::json;

const VERBS: [&str; 12] = [
    "create", "list", "delete", "update", "get", "search", "archive", "export", "merge", "assign", "invite",
    "publish",
];
const NOUNS: [&str; 12] = [
    "issue",
    "invoice",
    "calendar",
    "repository",
    "customer",
    "pipeline",
    "snapshot",
    "webhook",
    "payment",
    "channel",
    "spreadsheet",
    "ticket",
];

fn generated(count: usize) -> Vec<ToolSpec> {
    (0..count)
        .map(|number| {
            let (verb, noun) = (VERBS[number % 12], NOUNS[(number / 12) % 12]);
            let server = format!("server{}", number / 144);
            let schema = json!({ "type": "object", "properties": { "id": { "type": "integer" }, "note": { "type": "string" } } });
            ToolSpec::new(Owner::Mcp(server), format!("{verb}_{noun}"), format!("{verb} one {noun} of the workspace"), schema)
        })
        .collect()
}

#[test]
fn the_order_of_equal_hits_never_changes() {
    let mut specs = generated(432);
    let expected: Vec<String> = Catalog::build(specs.clone())
        .search("publish a ticket", 8, Reach::All)
        .iter()
        .map(|t| t.id().to_string())
        .collect();
    specs.reverse();
    let again = Catalog::build(specs);
    for _ in 0..3 {
        let found: Vec<String> = again
            .search("publish a ticket", 8, Reach::All)
            .iter()
            .map(|t| t.id().to_string())
            .collect();
        assert_eq!(found, expected);
    }
    assert_eq!(
        expected[..3],
        [
            "mcp:server0:publish_ticket",
            "mcp:server1:publish_ticket",
            "mcp:server2:publish_ticket"
        ]
    );
}

#[test]
fn thousands_of_tools_are_built_and_searched() {
    let catalog = Catalog::build(generated(5_000));
    assert_eq!(catalog.len(), 5_000);
    assert_eq!(catalog.search("merge pipeline", 50, Reach::Mcp).len(), 50);
    assert_eq!(catalog.search("merge pipeline", 50, Reach::Guest).len(), 0);
}
