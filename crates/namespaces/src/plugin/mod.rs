//! Namespaces that plugins register: who may have one, what it holds, and which tool a path in it means.

mod globals;
mod open;
mod registration;
mod registry;
mod scope;
mod tool;
mod visible;
mod write;

pub(crate) use self::globals::is_reserved;
pub use self::{
    open::{NamespaceError, OpenNamespaces},
    registration::{
        CreateScope, MAX_DESCRIPTION_CHARS, MAX_PROMPT_CHARS, Registration, RegistrationError, ScopeContext,
    },
    registry::{NamespaceRegistry, Registered, Registrations},
    scope::{Scope, ScopeValue},
    tool::NamespaceTool,
    visible::{NamespacePrompt, PluginNamespaces},
    write::{MAX_SCOPE_BYTES, MAX_SCOPE_DEPTH, MAX_SCOPE_NODES, ScopeError},
};
