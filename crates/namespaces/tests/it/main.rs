//! What guest code reaches by name: MCP servers, and the namespaces of plugins.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "tests fail by panicking, and try what panics"
)]

mod calls;
mod mcp;
mod registration;
mod scopes;
mod visibility;

use codecell_catalog::{Catalog, Owner, ToolSpec};
use codecell_namespaces::{
    NamespaceRegistry, OpenNamespaces, PluginNamespaces, Registration, Scope, ScopeContext,
};
use serde_json::{Value, json};

/// A tool called `name`.
fn tool(owner: Owner, name: &str) -> ToolSpec {
    ToolSpec::new(owner, name, "", json!({ "type": "object" }))
}

fn github() -> Owner {
    Owner::ExternalPlugin("github".into())
}

/// A catalog with the two tools of the plugin `github`.
fn catalog() -> Catalog {
    Catalog::build(vec![
        tool(github(), "list_issues"),
        tool(github(), "update_issue"),
    ])
}

/// `Issues` of the plugin `github`, with what `scope` creates; it requires `list_issues` and `update_issue`.
fn issues(scope: impl Fn() -> Result<Scope, String> + Send + Sync + 'static) -> Registration {
    Registration::new(
        "issues",
        "Issues",
        "GitHub issues.",
        ["list_issues", "update_issue"],
        move |_| scope(),
    )
}

/// The namespaces of a run that has the tools of `github`.
fn opened(registrations: impl IntoIterator<Item = Registration>) -> OpenNamespaces {
    let registry = NamespaceRegistry::new();
    registry.register_all("github", registrations).unwrap();
    let visible = PluginNamespaces::visible(&registry.registrations(), &catalog());
    visible.open(&context(&Value::Null))
}

fn context(config: &Value) -> ScopeContext<'_> {
    ScopeContext {
        agent: "main",
        session: "s1",
        run: "r1",
        config,
    }
}
