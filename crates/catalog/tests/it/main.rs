//! The catalog as its users see it.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod arguments;
mod build;
mod hostile;
mod lookup;
mod ranking;
mod scale;
mod wording;

use codecell_catalog::{Catalog, Owner, Tool, ToolSpec};
use serde_json::{Value, json};

fn core(name: &str) -> ToolSpec {
    ToolSpec::new(
        Owner::Core,
        name,
        format!("The core tool {name}"),
        json!({ "type": "object" }),
    )
}

fn mcp(server: &str, name: &str) -> ToolSpec {
    ToolSpec::new(
        Owner::Mcp(server.into()),
        name,
        format!("{name} of {server}"),
        json!({ "type": "object" }),
    )
}

fn client(app: &str, name: &str) -> ToolSpec {
    ToolSpec::new(
        Owner::Client(app.into()),
        name,
        format!("{name} of {app}"),
        json!({ "type": "object" }),
    )
}

fn plugin(id: &str, name: &str) -> ToolSpec {
    ToolSpec::new(
        Owner::ExternalPlugin(id.into()),
        name,
        format!("{name} of {id}"),
        json!({ "type": "object" }),
    )
}

fn ids<'a>(tools: impl IntoIterator<Item = &'a Tool>) -> Vec<String> {
    tools.into_iter().map(|tool| tool.id().to_string()).collect()
}

fn one(owner: Owner, input: Value) -> Catalog {
    Catalog::build(vec![ToolSpec::new(owner, "t", "", input)])
}
