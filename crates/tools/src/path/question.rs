//! Whether a call needs a person's yes, and getting it.

use std::sync::Arc;

use codecell_bridge::Json;
use codecell_catalog::Tool as CatalogTool;
use tokio_util::sync::CancellationToken;

use super::ExecutionPath;
use super::error::{CallError, DeniedReason};
use crate::approvals::{ApprovalAsk, ApprovalRequest, MAX_DESCRIPTION_CHARS, MAX_TITLE_CHARS, Origin};
use crate::audit::Trail;
use crate::caller::{Caller, ParentCell};

/// What is told when there is no broker at all.
const NO_BROKER: &str = "Plugin approval required (gateway unavailable)";

/// A question, and who asks it.
pub(super) struct Question {
    origin: Origin,
    ask: ApprovalAsk,
}

/// What a question is about.
pub(super) struct Subject<'c> {
    pub(super) tool: &'c str,
    pub(super) arguments: &'c Json,
    pub(super) caller: &'c Arc<Caller>,
    pub(super) cell: Option<&'c Arc<ParentCell>>,
    pub(super) number: u32,
    pub(super) cancel: &'c CancellationToken,
}

pub(super) fn by_plugin((plugin, ask): (String, ApprovalAsk)) -> Question {
    Question {
        origin: Origin::Plugin { id: plugin },
        ask,
    }
}

impl ExecutionPath {
    /// The question of the first configured rule that catches the tool.
    pub(super) fn rule_for(&self, tool: &CatalogTool) -> Option<Question> {
        let spec = tool.spec();
        let (rule, entry) = self
            .ask_rules
            .iter()
            .find_map(|rule| Some((rule, rule.selectors.first_for(spec)?)))?;
        let description = format!(
            "The configuration asks before `{}` is called, by `{entry}`.",
            tool.id()
        );
        Some(Question {
            origin: Origin::Policy {
                rule: entry.to_owned(),
            },
            ask: ApprovalAsk {
                title: cut(&format!("Call {}?", spec.name), MAX_TITLE_CHARS),
                description: cut(&description, MAX_DESCRIPTION_CHARS),
                severity: rule.severity,
                timeout: rule.timeout,
                allowed_decisions: Vec::new(),
            },
        })
    }

    /// Asks, waits, and turns every answer but yes into an error.
    pub(super) async fn settle(
        &self,
        question: Question,
        about: Subject<'_>,
        trail: &Trail,
    ) -> Result<(), CallError> {
        let refused = |reason: String| CallError::Blocked {
            tool: about.tool.to_owned(),
            reason,
            denied: DeniedReason::PluginApproval,
        };
        let Some(approvals) = &self.approvals else {
            return Err(refused(NO_BROKER.to_owned()));
        };
        let request = ApprovalRequest {
            origin: question.origin,
            ask: question.ask,
            tool: about.tool.to_owned(),
            arguments: about.arguments.clone(),
            caller: Arc::clone(about.caller),
            cell: about.cell.cloned(),
            number: about.number,
            cancel: about.cancel.clone(),
        };
        let resolution = match approvals.open(request) {
            Ok(open) => {
                let id = open.id().to_owned();
                trail.asked(&id);
                let resolution = open.answer().await;
                trail.resolved(Some(&id), &resolution);
                resolution
            }
            Err(resolution) => {
                trail.resolved(None, &resolution);
                resolution
            }
        };
        if resolution.allows() {
            return Ok(());
        }
        Err(refused(resolution.to_string()))
    }
}

fn cut(text: &str, limit: usize) -> String {
    if text.chars().count() <= limit {
        return text.to_owned();
    }
    let head: String = text.chars().take(limit.saturating_sub(1)).collect();
    head + "…"
}
