use std::sync::{Arc, OnceLock};

use serde_json::Value;

use crate::{
    check::{ArgumentError, ContractError, ContractSide, Contracts, OutputError},
    entry::Entry,
    id::ToolId,
    name::CallableName,
    spec::{Owner, Replay, ToolSpec},
};

/// One catalogued tool.
#[derive(Debug)]
pub struct Tool {
    entry: Entry,
    spec: ToolSpec,
    callable: Option<CallableName>,
    hint: OnceLock<String>,
    contracts: Arc<Contracts>,
    /// Among those that share the contracts.
    number: u32,
}

impl Tool {
    /// A tool outside any catalog, for one that is called directly.
    #[must_use]
    pub fn alone(spec: ToolSpec) -> Self {
        Self::new(ToolId::new(&spec.owner, &spec.name), spec, Arc::default())
    }

    pub(crate) fn new(id: ToolId, spec: ToolSpec, contracts: Arc<Contracts>) -> Self {
        Self {
            entry: Entry::of(id, &spec),
            spec,
            callable: None,
            hint: OnceLock::new(),
            number: contracts.number(),
            contracts,
        }
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    pub(crate) fn set_callable(&mut self, name: CallableName) {
        self.callable = Some(name);
    }

    /// The exact id.
    #[must_use]
    pub fn id(&self) -> &ToolId {
        &self.entry.id
    }

    /// What travels into the guest.
    #[must_use]
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// The tool as policy left it.
    #[must_use]
    pub fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// What guest code may spell after `tools.`, if anything.
    #[must_use]
    pub fn callable_name(&self) -> Option<&CallableName> {
        self.callable.as_ref()
    }

    /// Whether the tool comes from an MCP server, which hides it from `tools.*`.
    #[must_use]
    pub fn is_mcp(&self) -> bool {
        matches!(self.spec.owner, Owner::Mcp(_))
    }

    /// Whether a call may be repeated. Only core and plugins are believed when they say so.
    #[must_use]
    pub fn replay(&self) -> Replay {
        if self.spec.owner.is_trusted() {
            self.spec.replay
        } else {
            Replay::Unsafe
        }
    }

    /// The bounded hint of the argument, for MCP and client tools too.
    #[must_use]
    pub fn input_hint(&self) -> &str {
        if self.spec.owner.is_trusted() {
            &self.entry.input
        } else {
            self.hint
                .get_or_init(|| crate::schema::input_hint(&self.spec.parameters))
        }
    }

    /// Compiles the schemas ahead of a call. Cheap when they have been used lately.
    ///
    /// # Errors
    ///
    /// Fails when a core or plugin tool has a schema that no value can be checked against: the call must not happen.
    /// MCP and client tools never fail here; see [`unchecked`](Self::unchecked).
    pub fn check_contract(&self) -> Result<(), ContractError> {
        self.contracts.ready(self, ContractSide::Input)?;
        self.contracts.ready(self, ContractSide::Output)
    }

    /// Why values of this side cross unchecked, if they do: the schema of an MCP or client tool cannot be used.
    #[must_use]
    pub fn unchecked(&self, side: ContractSide) -> Option<String> {
        self.contracts.unchecked(self, side)
    }

    /// Checks an argument before the call is dispatched. Nothing is coerced and no default is filled in.
    ///
    /// # Errors
    ///
    /// Fails with one line per problem, or because a trusted schema cannot be used at all.
    pub fn check_arguments(&self, arguments: &Value) -> Result<(), ArgumentError> {
        self.contracts.check_arguments(self, arguments)
    }

    /// Checks a structured value against the output schema, if there is one.
    ///
    /// The caller decides what a mismatch means: a trusted tool fails, an untrusted one is delivered with a warning.
    ///
    /// # Errors
    ///
    /// Fails when the value does not match, without showing any of it.
    pub fn check_output(&self, value: &Value) -> Result<(), OutputError> {
        self.contracts.check_output(self, value)
    }
}
