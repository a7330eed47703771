//! The namespaces that one run may see.

use std::{collections::BTreeMap, sync::Arc};

use codecell_catalog::{Catalog, Owner, Tool, ToolId};

use super::{
    open::OpenNamespaces,
    registration::ScopeContext,
    registry::{Registered, Registrations},
};

/// The namespaces of one run: those whose tools the run has. None by default.
///
/// ```
/// # use codecell_catalog::{Catalog, Owner, ToolSpec};
/// # use codecell_namespaces::{NamespaceRegistry, NamespaceTool, PluginNamespaces, Registration, Scope, ScopeContext};
/// # use serde_json::{Value, json};
/// let registry = NamespaceRegistry::new();
/// registry.register(
///     "github",
///     Registration::new("issues", "Issues", "GitHub issues.", ["list_issues"], |_| {
///         Ok(Scope::new().with("list", NamespaceTool::new("list_issues")))
///     }),
/// )?;
/// let tool = ToolSpec::new(Owner::ExternalPlugin("github".into()), "list_issues", "", json!({ "type": "object" }));
/// let catalog = Catalog::build(vec![tool]);
///
/// let namespaces = PluginNamespaces::visible(&registry.registrations(), &catalog);
/// assert_eq!(namespaces.list().collect::<Vec<_>>(), ["Issues"]);
///
/// let context = ScopeContext { agent: "main", session: "s", run: "r", config: &Value::Null };
/// let open = namespaces.open(&context);
/// assert_eq!(open.tree("Issues")?, r#"{"object":{"list":{"call":true}}}"#);
///
/// let (tool, argument) = open.resolve(&["Issues", "list"], &[r#"{"state":"open"}"#])?;
/// assert_eq!((tool.as_str(), argument.as_str()), ("openclaw:github:list_issues", r#"{"state":"open"}"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PluginNamespaces {
    visible: Vec<Visible>,
}

#[derive(Clone, Debug)]
struct Visible {
    registered: Arc<Registered>,
    /// The required tools by name.
    tools: BTreeMap<String, ToolId>,
}

/// What the model is told of a namespace. Its plugin's own words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamespacePrompt<'a> {
    /// The global.
    pub global_name: &'a str,
    /// What it is.
    pub description: &'a str,
    /// How to use it.
    pub prompt: Option<&'a str>,
}

impl PluginNamespaces {
    /// Keeps the namespaces whose every required tool is in `catalog` and belongs to the very plugin that registered
    /// the namespace. A tool of that name from anybody else does not count.
    #[must_use]
    pub fn visible(registrations: &Registrations, catalog: &Catalog) -> Self {
        let visible = registrations.iter().filter_map(|registered| {
            let tools = registered.registration().required_tool_names.iter().map(|name| {
                let tool = own_tool(catalog, registered.plugin_id(), name)?;
                Some((name.clone(), tool.id().clone()))
            });
            Some(Visible {
                tools: tools.collect::<Option<_>>()?,
                registered: Arc::clone(registered),
            })
        });
        Self {
            visible: visible.collect(),
        }
    }

    /// The globals, in the order of the registrations' ids.
    pub fn list(&self) -> impl Iterator<Item = &str> {
        self.prompts().map(|prompt| prompt.global_name)
    }

    /// What the model is told, in the same order.
    pub fn prompts(&self) -> impl Iterator<Item = NamespacePrompt<'_>> {
        self.visible.iter().map(|visible| {
            let registration = visible.registered.registration();
            NamespacePrompt {
                global_name: &registration.global_name,
                description: &registration.description,
                prompt: registration.prompt.as_deref(),
            }
        })
    }

    /// Creates every scope, once. One that its plugin refuses, or that cannot be given to a guest, costs that
    /// namespace alone: whoever touches it is told why.
    #[must_use]
    pub fn open(&self, context: &ScopeContext<'_>) -> OpenNamespaces {
        let mut open = OpenNamespaces::default();
        for visible in &self.visible {
            open.add(visible.registered.registration(), visible.tools.clone(), context);
        }
        open
    }
}

/// The tool of this name that this plugin owns. A bundled and an external plugin of one id share their ids of tools.
fn own_tool<'a>(catalog: &'a Catalog, plugin_id: &str, name: &str) -> Option<&'a Tool> {
    let id = ToolId::new(&Owner::ExternalPlugin(plugin_id.to_owned()), name);
    catalog.get(id.as_str()).filter(|tool| match &tool.spec().owner {
        Owner::BundledPlugin(owner) | Owner::ExternalPlugin(owner) => owner == plugin_id,
        Owner::Core | Owner::Mcp(_) | Owner::Client(_) => false,
    })
}
