//! Puts questions to the person in front of the caller's host, where the host can ask (MCP elicitation).
//!
//! Revisions since 2026-07-28 have no requests from servers to clients; there, and with hosts that cannot ask,
//! questions are answered with `codecell approvals`.
use std::collections::HashMap;
use std::time::Duration;

use codecell::tools::{ApprovalNews, Approvals, Decision, PendingApproval, RouteGuard};
use rmcp::model::{
    CancelledNotificationParam, ClientResult, ElicitRequestParams, ElicitationAction, Request, ServerRequest,
};
use rmcp::service::PeerRequestOptions;
use rmcp::{Peer, RoleServer};
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

/// Longest texts that a question shows: a host has a window for it, not a page. `codecell approvals show` has it all.
const MAX_ARGUMENT_CHARS: usize = 2_000;
const MAX_PROGRAM_CHARS: usize = 2_000;

/// Whether the host behind this connection can ask its user.
pub(super) fn can_ask(peer: &Peer<RoleServer>) -> bool {
    let Some(info) = peer.peer_info() else {
        return false;
    };
    match &info.capabilities.elicitation {
        // Before there were several modes, the capability alone meant forms.
        Some(elicitation) => elicitation.form.is_some() || elicitation.url.is_none(),
        None => false,
    }
}

/// Asks the host about every question of `session`, until `gone` fires.
pub(super) async fn ask_the_host(
    peer: Peer<RoleServer>,
    approvals: Approvals,
    session: String,
    gone: CancellationToken,
) {
    let _route: RouteGuard = approvals.add_route();
    let mut news = approvals.subscribe();
    let mut asked: HashMap<String, CancellationToken> = HashMap::new();
    let put = |asked: &mut HashMap<String, CancellationToken>, approval: PendingApproval| {
        if approval.session != session || asked.contains_key(&approval.id) {
            return;
        }
        let settled = gone.child_token();
        asked.insert(approval.id.clone(), settled.clone());
        tokio::spawn(ask(peer.clone(), approvals.clone(), approval, settled));
    };
    // A call can come right after the handshake, before anybody listens for news.
    for approval in approvals.list() {
        put(&mut asked, approval);
    }
    // What is settled is not forgotten, however much was missed: that would leave its question open at the host.
    let catch_up = |asked: &mut HashMap<String, CancellationToken>| {
        let open = approvals.list();
        asked.retain(|id, settled| {
            let is_open = open.iter().any(|approval| approval.id == *id);
            if !is_open {
                settled.cancel();
            }
            is_open
        });
        for approval in open {
            put(asked, approval);
        }
    };
    while let Some(heard) = gone.run_until_cancelled(news.recv()).await {
        match heard {
            Ok(ApprovalNews::Opened { approval }) => put(&mut asked, *approval),
            Ok(ApprovalNews::Closed { id, .. }) => {
                if let Some(settled) = asked.remove(&id) {
                    settled.cancel();
                }
            }
            Err(RecvError::Lagged(_)) => catch_up(&mut asked),
            Err(RecvError::Closed) => break,
        }
    }
}

/// Asks one question; withdraws it when it is settled elsewhere.
async fn ask(
    peer: Peer<RoleServer>,
    approvals: Approvals,
    approval: PendingApproval,
    settled: CancellationToken,
) {
    let params = match form(&approval) {
        Ok(params) => params,
        Err(error) => {
            tracing::warn!(%error, "an approval cannot be shown to the caller's host");
            return;
        }
    };
    let request = ServerRequest::ElicitRequest(Request::new(params));
    let sent = peer
        .send_cancellable_request(request, PeerRequestOptions::no_options())
        .await;
    let mut question = match sent {
        Ok(question) => question,
        Err(error) => {
            tracing::debug!(%error, "the caller's host does not take questions");
            return;
        }
    };
    tokio::select! {
        answer = &mut question.rx => {
            let Ok(Ok(ClientResult::ElicitResult(result))) = answer else {
                return;
            };
            let Some(decision) = decision(result.action, result.content.as_ref()) else {
                return;
            };
            if let Err(error) = approvals.decide(&approval.id, decision) {
                tracing::info!(%error, "an answer came too late");
            }
        }
        () = settled.cancelled() => {
            let withdrawn = CancelledNotificationParam::new(Some(question.id), Some("settled elsewhere".into()));
            let told = peer.notify_cancelled(withdrawn);
            let _unheard = tokio::time::timeout(Duration::from_secs(1), told).await;
        }
    }
}

fn form(approval: &PendingApproval) -> Result<ElicitRequestParams, serde_json::Error> {
    let offered: Vec<&str> = approval
        .allowed_decisions
        .iter()
        .map(|decision| decision.as_str())
        .collect();
    serde_json::from_value(json!({
        "mode": "form",
        "message": message(approval),
        "requestedSchema": {
            "type": "object",
            "properties": {
                "decision": { "type": "string", "title": "Decision", "enum": offered },
            },
            "required": ["decision"],
        },
    }))
}

fn message(approval: &PendingApproval) -> String {
    let mut text = approval.title.clone();
    if !approval.description.is_empty() {
        text.push_str(&format!("\n{}", approval.description));
    }
    let arguments = head(approval.arguments.as_str(), MAX_ARGUMENT_CHARS);
    text.push_str(&format!("\n\nTool: {}\nArguments: {arguments}", approval.tool));
    if let Some(cell) = &approval.cell {
        let program = head(&cell.source, MAX_PROGRAM_CHARS);
        text.push_str(&format!("\n\nProgram ({}):\n{program}", cell.language));
    }
    text
}

/// The beginning of a text, and how much is missing.
fn head(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => {
            let shown = text.get(..end).unwrap_or(text);
            format!("{shown}… ({} more bytes)", text.len() - end)
        }
    }
}

/// What the person said. Closing the window is no answer: the question stays open.
fn decision(action: ElicitationAction, content: Option<&Value>) -> Option<Decision> {
    match action {
        ElicitationAction::Accept => {
            let said = content.and_then(|content| content.get("decision"))?;
            // Anything that is no decision is not a yes.
            Some(serde_json::from_value(said.clone()).unwrap_or(Decision::Deny))
        }
        ElicitationAction::Decline => Some(Decision::Deny),
        // Including actions that a later revision may add.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use codecell::tools::Decision;
    use rmcp::model::ElicitationAction;
    use serde_json::json;

    use super::decision;

    #[test]
    fn only_a_clear_yes_allows_and_a_closed_window_decides_nothing() {
        use ElicitationAction::{Accept, Cancel, Decline};
        let cases = [
            (
                Accept,
                Some(json!({ "decision": "allow-once" })),
                Some(Decision::AllowOnce),
            ),
            (
                Accept,
                Some(json!({ "decision": "allow-always" })),
                Some(Decision::AllowAlways),
            ),
            (Accept, Some(json!({ "decision": "deny" })), Some(Decision::Deny)),
            (Accept, Some(json!({ "decision": "yes" })), Some(Decision::Deny)),
            (Accept, Some(json!({ "decision": true })), Some(Decision::Deny)),
            (Accept, Some(json!({})), None),
            (Accept, None, None),
            (Decline, None, Some(Decision::Deny)),
            (Cancel, Some(json!({ "decision": "allow-once" })), None),
        ];
        for (action, content, expected) in cases {
            assert_eq!(
                decision(action.clone(), content.as_ref()),
                expected,
                "{action:?} {content:?}"
            );
        }
    }
}
