//! What a model is shown, as a whole.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests fail by panicking"
)]

mod activation;
mod description;
mod descriptors;
mod guard;
mod index;
mod untrusted;

use codecell_catalog::{Owner, ToolSpec};
use serde_json::json;

fn tool(owner: Owner, name: &str) -> ToolSpec {
    let schema =
        json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
    ToolSpec::new(owner, name, format!("UNTRUSTED? text of {name}"), schema)
}

fn core(name: &str) -> ToolSpec {
    tool(Owner::Core, name)
}
