//! The scopes of one run, and what a path in them calls.

use std::{
    collections::{BTreeMap, HashMap},
    panic::{AssertUnwindSafe, catch_unwind},
};

use codecell_catalog::{ToolId, schema::comment};

use super::{
    registration::{Registration, ScopeContext},
    scope::Scope,
    write::{self, ScopeError},
};

/// Longest path or name that an error repeats.
const MAX_SHOWN_CHARS: usize = 120;
/// Longest reason that an error takes over from a plugin.
const MAX_REASON_CHARS: usize = 1_000;

/// The opened namespaces of one run. Keep it as long as the run: a cell that was suspended finds them as they were.
#[derive(Debug, Default)]
pub struct OpenNamespaces {
    by_global: HashMap<String, Opened>,
}

#[derive(Debug)]
struct Opened {
    tools: BTreeMap<String, ToolId>,
    content: Result<Content, NamespaceError>,
}

#[derive(Debug)]
struct Content {
    scope: Scope,
    tree: String,
}

/// Why a namespace does not answer. Guest code can catch it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NamespaceError {
    /// The run sees no namespace of this name.
    #[error("Unknown code mode namespace: {global_name}")]
    Unknown {
        /// What was asked for, shortened.
        global_name: String,
    },
    /// The plugin did not create the scope.
    #[error("Code mode namespace \"{id}\" createScope failed: {reason}")]
    Refused {
        /// The registration's id.
        id: String,
        /// The plugin's reason, shortened.
        reason: String,
    },
    /// The plugin created a scope that no guest can have.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// The path leads to data, to an object, or nowhere.
    #[error("Code mode namespace path is not callable: {path}")]
    NotCallable {
        /// What was asked for, shortened.
        path: String,
    },
    /// The path leads to a tool that the registration does not require.
    #[error("Code mode namespace path targets undeclared tool: {tool}")]
    Undeclared {
        /// The tool.
        tool: String,
    },
    /// The arguments cannot be made into the tool's argument object.
    #[error("Code mode namespace call {path} was refused: {reason}")]
    Arguments {
        /// The path, shortened.
        path: String,
        /// What is wrong, shortened.
        reason: String,
    },
}

impl OpenNamespaces {
    pub(crate) fn add(
        &mut self,
        registration: &Registration,
        tools: BTreeMap<String, ToolId>,
        context: &ScopeContext<'_>,
    ) {
        let opened = Opened {
            tools,
            content: create(registration, context),
        };
        self.by_global.insert(registration.global_name.clone(), opened);
    }

    /// What the guest's object for a namespace is built from, as JSON: nested `{"object":{…}}`, `{"array":[…]}`,
    /// `{"value":…}` and `{"call":true}`.
    ///
    /// # Errors
    ///
    /// Fails when there is no such namespace, and when its scope was refused.
    pub fn tree(&self, global_name: &str) -> Result<&str, NamespaceError> {
        Ok(&self.opened(global_name)?.1.tree)
    }

    /// The exact tool that `path` calls, global first, and its argument object as JSON text. `args` are the guest's
    /// arguments, each a JSON text.
    ///
    /// The guest says what it likes: the path is looked up in the scope and the tool among those the namespace
    /// requires, whatever the guest was shown.
    ///
    /// # Errors
    ///
    /// Fails when the path calls nothing, or with arguments that its tool cannot take.
    pub fn resolve(&self, path: &[&str], args: &[&str]) -> Result<(ToolId, String), NamespaceError> {
        let shown = || comment(&path.join("."), MAX_SHOWN_CHARS);
        let (global_name, members) = path.split_first().unwrap_or((&"", &[]));
        let (tools, content) = self.opened(global_name)?;
        let tool = content
            .scope
            .tool(members)
            .ok_or_else(|| NamespaceError::NotCallable { path: shown() })?;
        let id = tools.get(tool.name()).ok_or_else(|| NamespaceError::Undeclared {
            tool: tool.name().to_owned(),
        })?;
        let argument = tool.argument(args).map_err(|reason| NamespaceError::Arguments {
            path: shown(),
            reason: comment(&reason, MAX_REASON_CHARS),
        })?;
        Ok((id.clone(), argument))
    }

    fn opened(&self, global_name: &str) -> Result<(&BTreeMap<String, ToolId>, &Content), NamespaceError> {
        let opened = self
            .by_global
            .get(global_name)
            .ok_or_else(|| NamespaceError::Unknown {
                global_name: comment(global_name, MAX_SHOWN_CHARS),
            })?;
        match &opened.content {
            Ok(content) => Ok((&opened.tools, content)),
            Err(error) => Err(error.clone()),
        }
    }
}

/// Has the plugin create its scope. A plugin that panics fails like one that refuses: it is one namespace of many.
fn create(registration: &Registration, context: &ScopeContext<'_>) -> Result<Content, NamespaceError> {
    let create_scope = AssertUnwindSafe(|| (registration.create_scope)(context));
    let created = catch_unwind(create_scope).unwrap_or_else(|_| Err("it panicked".to_owned()));
    let scope = created.map_err(|reason| NamespaceError::Refused {
        id: registration.id.clone(),
        reason: comment(&reason, MAX_REASON_CHARS),
    })?;
    let tree = write::write(&scope)?;
    Ok(Content { scope, tree })
}
