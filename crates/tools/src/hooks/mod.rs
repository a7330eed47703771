//! Plugins' say before and after a call.

mod chain;
mod event;
mod registry;

pub(crate) use self::chain::{HOOK_FAILED, Merged};
pub use self::{
    event::{
        AfterEvent, AfterOutcome, AfterToolCall, BeforeEvent, BeforeToolCall, HookDecision, HookFailure,
        HookedCall,
    },
    registry::{DEFAULT_HOOK_TIME, Hooks, MAX_HOOK_TIME},
};
