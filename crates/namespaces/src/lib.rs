//! The names guest code reaches tools by: the `MCP` namespace with the virtual files that declare it, and the
//! namespaces that plugins register.
//!
//! A path becomes an exact catalog id here and nothing else happens: this crate runs no tool, speaks to no
//! server and touches no file. Declarations are rendered when somebody first reads them.
//!
//! ```
//! use std::sync::Arc;
//! use codecell_catalog::{Catalog, Owner, ToolSpec};
//! use codecell_namespaces::{McpNamespace, ServerInfo, Target};
//!
//! let tool = ToolSpec::new(Owner::Mcp("my-github".into()), "create_issue", "Create an issue", serde_json::json!({}));
//! let catalog = Arc::new(Catalog::build(vec![tool]));
//! let mcp = McpNamespace::build(&catalog, vec![ServerInfo::ready("my-github")]);
//!
//! let Ok(Target::Tool(id)) = mcp.resolve(&["myGithub", "createIssue"]) else { unreachable!() };
//! assert_eq!(id.as_str(), "mcp:my-github:create_issue");
//! assert!(mcp.files().read("mcp/myGithub.d.ts").is_ok_and(|text| text.contains("function createIssue(")));
//! ```

mod api;
mod files;
mod mcp;
mod names;
mod path;
mod plugin;
mod server;

pub use crate::{
    api::ApiSelector,
    files::{ApiFiles, ApiPathError},
    mcp::McpNamespace,
    path::{PathError, Target},
    plugin::{
        CreateScope, MAX_DESCRIPTION_CHARS, MAX_PROMPT_CHARS, MAX_SCOPE_BYTES, MAX_SCOPE_DEPTH,
        MAX_SCOPE_NODES, NamespaceError, NamespacePrompt, NamespaceRegistry, NamespaceTool, OpenNamespaces,
        PluginNamespaces, Registered, Registration, RegistrationError, Registrations, Scope, ScopeContext,
        ScopeError, ScopeValue,
    },
    server::{Members, ServerInfo, ServerRef},
};
