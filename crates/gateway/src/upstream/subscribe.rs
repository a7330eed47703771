//! Hearing of changes without asking.
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::{
    error::CallError,
    handshake::Agreement,
    headers,
    message::{Fields, raw},
    peer::{Call, Link, Peer},
    state::Era,
};

/// Wait before a subscription that ended is asked for again.
const RESUBSCRIBE: Duration = Duration::from_secs(30);

/// Listens for changes in the way of the era; never ends by itself.
pub(super) async fn subscribe(peer: &Peer, agreement: &Agreement) {
    match (&peer.0.link, agreement.era) {
        (Link::Http(http), Era::Legacy) => {
            let inner = &peer.0;
            http.listen(&|incoming| inner.deliver(incoming)).await;
        }
        (_, Era::Modern) if agreement.announces_tool_changes() => {
            let mut params = Fields::default();
            params.set("notifications", raw(&json!({ "toolsListChanged": true })));
            loop {
                let mut call = Call::new("subscriptions/listen", params.clone(), Duration::ZERO);
                call.limit = None;
                if peer.is_http() {
                    call.headers = headers::of_request("subscriptions/listen", &params, &[]);
                }
                match peer.request(call).await {
                    // Ended in order: proxies cut long streams.
                    Ok(_) | Err(CallError::Disconnected { .. }) if !peer.is_closed() => {
                        sleep(RESUBSCRIBE).await
                    }
                    // A proxy whose server is being replaced, say.
                    Err(CallError::Http { status: 500.., .. } | CallError::TooLarge { .. }) => {
                        sleep(RESUBSCRIBE).await
                    }
                    Ok(_) | Err(_) => break,
                }
            }
        }
        _ => {}
    }
    std::future::pending().await
}
