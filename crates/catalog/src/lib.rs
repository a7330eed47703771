//! Knows the tools of one run: their ids, names, order, signatures, how to find them and what they accept.
//!
//! Nothing here calls a tool: no I/O, no async, no protocol types. A catalog is built once from the effective tools,
//! never changes, and equal sets of tools make equal catalogs.
//!
//! ```
//! use codecell_catalog::{Catalog, Owner, Reach, ToolSpec};
//! use serde_json::json;
//!
//! let schema = json!({ "type": "object", "properties": { "title": { "type": "string" } }, "required": ["title"] });
//! let catalog = Catalog::build(vec![ToolSpec::new(
//!     Owner::Mcp("github".into()), "create_issue", "Open a new issue", schema,
//! )]);
//!
//! let found = catalog.search("file a ticket", 8, Reach::Mcp);
//! assert_eq!(found[0].id().as_str(), "mcp:github:create_issue");
//!
//! let refused = found[0].check_arguments(&json!({ "title": 5 })).unwrap_err();
//! assert!(refused.to_string().contains("title: expected string, got number (5)"));
//! ```

mod catalog;
mod check;
mod entry;
mod id;
mod lookup;
mod name;
mod notice;
pub mod schema;
mod search;
mod spec;
mod tool;

pub use crate::{
    catalog::{Catalog, SourceCounts},
    check::{ArgumentError, ContractError, ContractSide, OutputError},
    entry::Entry,
    id::ToolId,
    lookup::{LookupError, MAX_NEAREST, Reach},
    name::CallableName,
    notice::Notice,
    search::SearchReport,
    spec::{Exposure, Owner, Replay, Source, ToolSpec},
    tool::Tool,
};
