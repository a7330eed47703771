//! What a plugin registers, and what is refused.

use std::{collections::BTreeSet, fmt, sync::Arc};

use codecell_catalog::schema::{is_identifier, is_reserved_word};
use serde_json::Value;

use super::{
    globals::{is_global, is_reserved},
    scope::Scope,
};

/// Longest description, in characters: it stands in the prompt of every run that sees the namespace.
pub const MAX_DESCRIPTION_CHARS: usize = 512;
/// Longest prompt, in characters.
pub const MAX_PROMPT_CHARS: usize = 2_000;

/// Creates the members of a namespace for one run.
///
/// It is called once for each run that sees the namespace, before the first cell touches it, and must return at once:
/// it gathers data and marks, and does no work of a tool. What it refuses, the guest is told when it touches the
/// namespace.
pub type CreateScope = Arc<dyn Fn(&ScopeContext<'_>) -> Result<Scope, String> + Send + Sync>;

/// The run that a scope is created for.
#[derive(Clone, Copy, Debug)]
pub struct ScopeContext<'a> {
    /// The agent.
    pub agent: &'a str,
    /// Its session.
    pub session: &'a str,
    /// Its run.
    pub run: &'a str,
    /// What the plugin is configured with; an object, or null.
    pub config: &'a Value,
}

/// A namespace, as its plugin wants it.
///
/// ```
/// use codecell_namespaces::{NamespaceTool, Registration, Scope};
///
/// let issues = Registration::new(
///     "github-issues",
///     "Issues",
///     "Issues of the current repository.",
///     ["github_list_issues", "github_update_issue"],
///     |context| {
///         Ok(Scope::new()
///             .with("repository", context.config["repository"].clone())
///             .with("list", NamespaceTool::new("github_list_issues"))
///             .with("update", NamespaceTool::new("github_update_issue").positional(["number", "patch"])))
///     },
/// )
/// .with_prompt("Use Issues.list(params) and Issues.update(number, patch).");
/// ```
#[derive(Clone)]
pub struct Registration {
    /// Names it among all registrations, for people.
    pub id: String,
    /// The global that guest code spells, a JavaScript identifier.
    pub global_name: String,
    /// One line for the model; at most [`MAX_DESCRIPTION_CHARS`].
    pub description: String,
    /// The plugin's tools it stands on: all of them have to be in the catalog of a run that sees it, and it can call
    /// no others.
    pub required_tool_names: Vec<String>,
    /// How to use it, for the model; at most [`MAX_PROMPT_CHARS`].
    pub prompt: Option<String>,
    /// Creates what it holds.
    pub create_scope: CreateScope,
}

impl Registration {
    /// A namespace without a prompt.
    #[must_use]
    pub fn new<I>(
        id: impl Into<String>,
        global_name: impl Into<String>,
        description: impl Into<String>,
        required_tool_names: I,
        create_scope: impl Fn(&ScopeContext<'_>) -> Result<Scope, String> + Send + Sync + 'static,
    ) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        Self {
            id: id.into(),
            global_name: global_name.into(),
            description: description.into(),
            required_tool_names: required_tool_names.into_iter().map(Into::into).collect(),
            prompt: None,
            create_scope: Arc::new(create_scope),
        }
    }

    /// The same with a prompt.
    #[must_use]
    pub fn with_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.prompt = Some(prompt.into());
        self
    }

    /// The same with every text trimmed and the tools in order, once each; or why it can never be registered.
    pub(crate) fn checked(self) -> Result<Self, RegistrationError> {
        let id = self.id.trim().to_owned();
        if id.is_empty() {
            return Err(RegistrationError::BlankId);
        }
        let global_name = checked_global(self.global_name.trim())?;
        let tools: BTreeSet<&str> = self.required_tool_names.iter().map(|name| name.trim()).collect();
        if tools.is_empty() {
            return Err(RegistrationError::NoTools);
        }
        if tools.contains("") {
            return Err(RegistrationError::BlankTool);
        }
        let description = bounded(&self.description, "description", MAX_DESCRIPTION_CHARS)?;
        let prompt = self
            .prompt
            .map(|prompt| bounded(&prompt, "prompt", MAX_PROMPT_CHARS))
            .transpose()?;
        Ok(Self {
            id,
            global_name,
            description,
            required_tool_names: tools.into_iter().map(str::to_owned).collect(),
            prompt: prompt.filter(|prompt| !prompt.is_empty()),
            create_scope: self.create_scope,
        })
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registration")
            .field("id", &self.id)
            .field("global_name", &self.global_name)
            .field("description", &self.description)
            .field("required_tool_names", &self.required_tool_names)
            .field("prompt", &self.prompt)
            .finish_non_exhaustive()
    }
}

fn checked_global(name: &str) -> Result<String, RegistrationError> {
    let name = name.to_owned();
    if !is_identifier(&name) {
        return Err(RegistrationError::NotIdentifier);
    }
    if is_reserved(&name) {
        return Err(RegistrationError::Reserved { name });
    }
    if is_global(&name) {
        return Err(RegistrationError::Collides { name });
    }
    if is_reserved_word(&name) {
        return Err(RegistrationError::NotIdentifier);
    }
    Ok(name)
}

fn bounded(text: &str, what: &'static str, limit: usize) -> Result<String, RegistrationError> {
    let text = text.trim();
    let chars = text.chars().count();
    if chars > limit {
        return Err(RegistrationError::TooLong { what, chars, limit });
    }
    Ok(text.to_owned())
}

/// Why a namespace was not registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistrationError {
    /// No id.
    #[error("Code mode namespace id must be non-empty.")]
    BlankId,
    /// No plugin to own it.
    #[error("Code mode namespace pluginId must be non-empty.")]
    BlankPluginId,
    /// The global is no ASCII identifier, or a word of the language.
    #[error("Code mode namespace globalName must be a JavaScript identifier.")]
    NotIdentifier,
    /// Code mode keeps the name for itself.
    #[error("Code mode namespace globalName \"{name}\" is reserved.")]
    Reserved {
        /// The global.
        name: String,
    },
    /// A cell has a global of this name.
    #[error("Code mode namespace globalName \"{name}\" collides with a global.")]
    Collides {
        /// The global.
        name: String,
    },
    /// It would stand on nothing.
    #[error("Code mode namespace requiredToolNames must include at least one tool name.")]
    NoTools,
    /// One of the tools has no name.
    #[error("Code mode namespace requiredToolNames must be non-empty strings.")]
    BlankTool,
    /// More text than a prompt should carry.
    #[error("Code mode namespace {what} has {chars} characters; the limit is {limit}.")]
    TooLong {
        /// `description` or `prompt`.
        what: &'static str,
        /// Its length.
        chars: usize,
        /// The most there may be.
        limit: usize,
    },
    /// The id is taken.
    #[error("Code mode namespace id \"{id}\" is already registered.")]
    DuplicateId {
        /// The id.
        id: String,
    },
    /// The global is taken.
    #[error("Code mode namespace globalName \"{global_name}\" is already registered by \"{by}\".")]
    DuplicateGlobal {
        /// The global.
        global_name: String,
        /// The id of the namespace that has it.
        by: String,
    },
}
