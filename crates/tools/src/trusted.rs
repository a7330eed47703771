use codecell_bridge::Json;
use codecell_catalog::Tool as CatalogTool;

use crate::caller::{Caller, ParentCell};

/// What is told when a trusted policy refuses.
pub(crate) const BLOCKED_BY_POLICY: &str = "Tool call blocked by trusted plugin policy";

/// A policy in code, of the product or of a plugin that is trusted to have one.
///
/// Asked before any hook, and again when a hook has rewritten the argument: hooks cannot write around it. It must
/// return at once. One that panics refuses.
pub trait CallPolicy: Send + Sync + 'static {
    /// Lets a call pass, or not.
    ///
    /// # Errors
    ///
    /// Refuses the call.
    fn check(&self, facts: &CallFacts<'_>, arguments: &Json) -> Result<(), Refusal>;
}

/// Which call a policy is asked about.
#[derive(Clone, Copy, Debug)]
pub struct CallFacts<'c> {
    /// The tool.
    pub tool: &'c CatalogTool,
    /// On whose behalf.
    pub caller: &'c Caller,
    /// The cell that calls; none for a direct call.
    pub cell: Option<&'c ParentCell>,
    /// Number of the call within its cell.
    pub number: u32,
}

/// A policy's no.
#[derive(Clone, Debug, Default, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Refusal {
    /// Why, for whoever called; may be blank.
    pub reason: String,
}

impl Refusal {
    /// A refusal that says why.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
        }
    }
}
