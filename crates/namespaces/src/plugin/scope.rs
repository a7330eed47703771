//! What a namespace holds.

use std::sync::Arc;

use serde_json::Value;

use super::tool::NamespaceTool;

/// The members of a namespace, or of an object inside one, in the order they were added.
///
/// ```
/// # use codecell_namespaces::{NamespaceTool, Scope};
/// # use serde_json::json;
/// let scope = Scope::new()
///     .with("repository", json!({ "owner": "octo", "name": "cat" }))
///     .with("list", NamespaceTool::new("github_list_issues"))
///     .with("labels", Scope::new().with("list", NamespaceTool::new("github_list_labels")));
/// ```
///
/// A member is data, an object, an array or the mark of a tool, and nothing else. A function of the host has no place
/// in it, so that no call can pass by the catalog:
///
/// ```compile_fail,E0277
/// # use codecell_namespaces::Scope;
/// let scope = Scope::new().with("list", || vec!["issue 1"]);
/// ```
///
/// And what a registration creates is an object, never a bare value:
///
/// ```compile_fail,E0308
/// # use codecell_namespaces::{Registration, ScopeContext};
/// # use serde_json::json;
/// let bare = Registration::new("id", "Global", "", ["tool"], |_: &ScopeContext<'_>| Ok(json!(5)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Scope {
    members: Vec<(String, ScopeValue)>,
}

impl Scope {
    /// No members.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a member. A name that is there already, or that no path may hold, is refused when the scope is opened.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<ScopeValue>) -> Self {
        self.members.push((name.into(), value.into()));
        self
    }

    pub(crate) fn members(&self) -> &[(String, ScopeValue)] {
        &self.members
    }

    /// The tool that `path` reaches, member by member.
    pub(crate) fn tool(&self, path: &[&str]) -> Option<&NamespaceTool> {
        let (first, rest) = path.split_first()?;
        let (_, value) = self.members.iter().find(|(name, _)| name == first)?;
        value.tool(rest)
    }
}

/// A member of a [`Scope`].
///
/// Values are built from the inside out and are never changed once shared, so none can come to hold itself: there are
/// no cycles to find. The same value may stand in several places ([`Shared`](Self::Shared)); the guest then has a copy
/// in each.
#[derive(Clone, Debug)]
pub enum ScopeValue {
    /// JSON. Reaches the guest frozen, all the way down.
    Data(Value),
    /// An object with members of its own.
    Object(Scope),
    /// An array, whose elements may be callable.
    Array(Vec<ScopeValue>),
    /// A function.
    Tool(NamespaceTool),
    /// A value that stands in several places.
    Shared(Arc<ScopeValue>),
}

impl ScopeValue {
    /// The value itself, however often it is shared.
    pub(crate) fn unshared(&self) -> &Self {
        let mut value = self;
        while let Self::Shared(inner) = value {
            value = inner;
        }
        value
    }

    fn tool(&self, path: &[&str]) -> Option<&NamespaceTool> {
        match (self.unshared(), path.split_first()) {
            (Self::Tool(tool), None) => Some(tool),
            (Self::Object(scope), Some(_)) => scope.tool(path),
            (Self::Array(values), Some((index, rest))) => {
                let at: usize = index.parse().ok()?;
                // `+1` and `01` parse as well, and are no element's name.
                (at.to_string() == **index).then(|| values.get(at))??.tool(rest)
            }
            _ => None,
        }
    }
}

impl From<Value> for ScopeValue {
    fn from(data: Value) -> Self {
        Self::Data(data)
    }
}

impl From<Scope> for ScopeValue {
    fn from(scope: Scope) -> Self {
        Self::Object(scope)
    }
}

impl From<Vec<ScopeValue>> for ScopeValue {
    fn from(values: Vec<ScopeValue>) -> Self {
        Self::Array(values)
    }
}

impl From<NamespaceTool> for ScopeValue {
    fn from(tool: NamespaceTool) -> Self {
        Self::Tool(tool)
    }
}

impl From<Arc<ScopeValue>> for ScopeValue {
    fn from(value: Arc<ScopeValue>) -> Self {
        Self::Shared(value)
    }
}
