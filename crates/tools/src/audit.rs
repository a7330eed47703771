use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::approvals::{Resolution, now_ms};
use crate::caller::Caller;
use crate::path::{CallContext, CallError};

/// Keeps a record of who did what. Called in the middle of calls, so it must return at once; what is slow belongs
/// behind a channel.
pub trait Audit: Send + Sync + 'static {
    /// Takes one event.
    fn record(&self, event: AuditEvent);
}

/// One line of the record: metadata only. No arguments, no results, no texts of errors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditEvent {
    /// When, in milliseconds since 1970.
    pub time_ms: u64,
    /// On whose behalf.
    pub actor: AuditActor,
    /// What.
    pub action: AuditAction,
    /// How it stands.
    pub status: AuditStatus,
    /// The tool's id; `exec` for the outer call of code mode.
    pub tool: String,
    /// The cell that calls.
    pub cell: Option<String>,
    /// Number of the call within its cell.
    pub number: u32,
    /// The code of an error, or of an answer.
    pub code: Option<String>,
    /// The question, for approvals that were asked.
    pub approval: Option<String>,
}

/// Who acts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditActor {
    /// The agent.
    pub agent: String,
    /// Its session.
    pub session: String,
    /// Its run.
    pub run: String,
    /// Where the request came from.
    pub channel: Option<String>,
    /// Who sent it, if that is proven.
    pub sender: Option<String>,
}

impl From<&Caller> for AuditActor {
    fn from(caller: &Caller) -> Self {
        Self {
            agent: caller.agent.clone(),
            session: caller.session.clone(),
            run: caller.run.clone(),
            channel: caller.channel.clone(),
            sender: caller.sender.clone(),
        }
    }
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum AuditAction {
    /// A call came in.
    #[serde(rename = "tool.action.started")]
    ToolStarted,
    /// A call is over. Every one that came in gets exactly one of these.
    #[serde(rename = "tool.action.finished")]
    ToolFinished,
    /// A person is asked.
    #[serde(rename = "approval.asked")]
    ApprovalAsked,
    /// The question has an answer, from a person or not.
    #[serde(rename = "approval.resolved")]
    ApprovalResolved,
}

impl AuditAction {
    /// As in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ToolStarted => "tool.action.started",
            Self::ToolFinished => "tool.action.finished",
            Self::ApprovalAsked => "approval.asked",
            Self::ApprovalResolved => "approval.resolved",
        }
    }
}

/// How a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuditStatus {
    /// It goes on.
    Started,
    /// It gave a result, or a yes.
    Succeeded,
    /// It gave an error.
    Failed,
    /// Nobody wanted it any more.
    Cancelled,
    /// It took too long.
    TimedOut,
    /// It was not let through.
    Blocked,
}

impl AuditStatus {
    /// As in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::TimedOut => "timed_out",
            Self::Blocked => "blocked",
        }
    }
}

/// Writes the record to the log, target `codecell::audit`.
#[derive(Clone, Copy, Debug, Default)]
pub struct TracingAudit;

impl Audit for TracingAudit {
    fn record(&self, event: AuditEvent) {
        let AuditEvent {
            actor,
            tool,
            cell,
            number,
            code,
            approval,
            ..
        } = event;
        tracing::info!(
            target: "codecell::audit",
            action = event.action.as_str(),
            status = event.status.as_str(),
            agent = actor.agent,
            session = actor.session,
            run = actor.run,
            channel = actor.channel,
            sender = actor.sender,
            tool,
            cell,
            number,
            code,
            approval,
            time_ms = event.time_ms,
        );
    }
}

/// The record of one call: begun with the call, ended exactly once, also when the call's future is dropped.
pub(crate) struct Trail {
    writer: Option<Writer>,
}

struct Writer {
    audit: Arc<dyn Audit>,
    caller: Arc<Caller>,
    tool: String,
    cell: Option<String>,
    number: u32,
    /// Only calls of tools have a beginning and an end of their own.
    unfinished: bool,
}

impl Trail {
    /// Begins the record of a tool call.
    pub(crate) fn start(audit: Option<&Arc<dyn Audit>>, tool: &str, context: &CallContext) -> Self {
        let writer = audit.map(|audit| Writer {
            audit: Arc::clone(audit),
            caller: Arc::clone(&context.caller),
            tool: tool.to_owned(),
            cell: context.cell.as_ref().map(|cell| cell.id.clone()),
            number: context.number,
            unfinished: true,
        });
        let trail = Self { writer };
        trail.write(AuditAction::ToolStarted, AuditStatus::Started, None, None);
        trail
    }

    /// A record of questions only, for the outer call of code mode.
    pub(crate) fn of_cell(audit: Option<&Arc<dyn Audit>>, tool: &str, caller: &Arc<Caller>) -> Self {
        let writer = audit.map(|audit| Writer {
            audit: Arc::clone(audit),
            caller: Arc::clone(caller),
            tool: tool.to_owned(),
            cell: None,
            number: 0,
            unfinished: false,
        });
        Self { writer }
    }

    pub(crate) fn asked(&self, approval: &str) {
        self.write(
            AuditAction::ApprovalAsked,
            AuditStatus::Started,
            None,
            Some(approval),
        );
    }

    pub(crate) fn resolved(&self, approval: Option<&str>, resolution: &Resolution) {
        let status = match resolution {
            Resolution::AllowedOnce | Resolution::AllowedAlways => AuditStatus::Succeeded,
            Resolution::TimedOut => AuditStatus::TimedOut,
            Resolution::Cancelled | Resolution::Withdrawn(_) => AuditStatus::Cancelled,
            Resolution::Denied | Resolution::NoRoute | Resolution::Rejected(_) => AuditStatus::Blocked,
        };
        self.write(
            AuditAction::ApprovalResolved,
            status,
            Some(resolution.code()),
            approval,
        );
    }

    /// Ends the record. `said_failed` is what a tool says of a result it did give.
    pub(crate) fn finish(mut self, outcome: Result<bool, &CallError>) {
        let (status, code) = match outcome {
            Ok(false) => (AuditStatus::Succeeded, None),
            Ok(true) => (AuditStatus::Failed, Some("tool_error")),
            Err(error) => (status_of(error), Some(error.code())),
        };
        self.end(status, code);
    }

    fn end(&mut self, status: AuditStatus, code: Option<&str>) {
        if let Some(writer) = &mut self.writer
            && std::mem::take(&mut writer.unfinished)
        {
            self.write(AuditAction::ToolFinished, status, code, None);
        }
    }

    fn write(&self, action: AuditAction, status: AuditStatus, code: Option<&str>, approval: Option<&str>) {
        let Some(writer) = &self.writer else {
            return;
        };
        writer.audit.record(AuditEvent {
            time_ms: now_ms(),
            actor: AuditActor::from(&*writer.caller),
            action,
            status,
            tool: writer.tool.clone(),
            cell: writer.cell.clone(),
            number: writer.number,
            code: code.map(str::to_owned),
            approval: approval.map(str::to_owned),
        });
    }
}

impl Drop for Trail {
    fn drop(&mut self) {
        self.end(AuditStatus::Cancelled, Some("aborted"));
    }
}

fn status_of(error: &CallError) -> AuditStatus {
    match error {
        CallError::Aborted => AuditStatus::Cancelled,
        CallError::Blocked { .. } => AuditStatus::Blocked,
        CallError::Tool(error) if matches!(error.code, "timeout" | "timed_out") => AuditStatus::TimedOut,
        _ => AuditStatus::Failed,
    }
}
