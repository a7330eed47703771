//! Questions to people, and their answers.

mod ask;
mod broker;
mod pending;

pub(crate) use self::broker::now_ms;
pub use self::{
    ask::{
        ApprovalAsk, AskRule, DEFAULT_APPROVAL_TIME, Decision, MAX_DESCRIPTION_CHARS,
        MAX_PLUGIN_APPROVAL_TIME, MAX_POLICY_APPROVAL_TIME, MAX_TITLE_CHARS, Severity,
    },
    broker::{ApprovalNews, Approvals, DecideError, OpenQuestion, RouteGuard},
    pending::{ApprovalRequest, Origin, PendingApproval, PendingCell, Resolution},
};
