//! Reading all pages of `tools/list`.
use std::{collections::HashSet, time::Duration};

use sha2::{Digest, Sha256};

use super::{
    error::CallError,
    headers,
    message::{Fields, clip, raw, strip},
    peer::{Call, Peer},
    tools::{self, Collected, Rules},
};
use crate::config::ServerConfig;

/// Pages read of one list: with one tool a page, still enough for the largest catalogs seen.
const MAX_PAGES: usize = 5_000;

/// Longest part of a cursor that is shown.
const CURSOR_CHARS: usize = 200;

/// How a listing ended.
pub(super) struct Listing {
    pub(super) collected: Collected,
    /// How long the server says the list is good for.
    pub(super) ttl: Option<Duration>,
    /// What cut it short.
    pub(super) failure: Option<CallError>,
}

/// Reads page after page; `partial` sees what there is after each but the last.
pub(super) async fn list_tools(
    peer: &Peer,
    config: &ServerConfig,
    mut partial: impl FnMut(&Collected),
) -> Listing {
    let rules = if peer.is_http() && peer.is_modern() {
        Rules::MirroredHeaders
    } else {
        Rules::Plain
    };
    let mut listing = Listing {
        collected: Collected::default(),
        ttl: None,
        failure: None,
    };
    // Digests, since a cursor may be as long as a message.
    let mut cursors: HashSet<[u8; 32]> = HashSet::new();
    let mut cursor: Option<String> = None;
    for _ in 0..MAX_PAGES {
        let mut params = Fields::default();
        if let Some(cursor) = &cursor {
            params.set("cursor", raw(cursor));
        }
        let mut call = Call::new("tools/list", params, config.request_timeout);
        if peer.is_http() && peer.is_modern() {
            call.headers = headers::of_request("tools/list", &call.params, &[]);
        }
        let page = match peer.request(call).await {
            Ok(answer) => tools::page(&answer).map_err(|reason| CallError::Malformed {
                server: config.name.clone(),
                method: "tools/list".to_owned(),
                reason,
            }),
            Err(error) => Err(error),
        };
        let page = match page {
            Ok(page) => page,
            Err(error) => {
                listing.failure = Some(error);
                return listing;
            }
        };
        listing.collected.add(page.entries, config, rules);
        listing.ttl = page.ttl_ms.map(Duration::from_millis);
        cursor = match page.next.filter(|next| !next.is_empty()) {
            None => return listing,
            Some(_) if listing.collected.is_full() => {
                listing.collected.note_full();
                return listing;
            }
            Some(next) if !cursors.insert(Sha256::digest(&next).into()) => {
                listing.collected.note(format!(
                    "tools/list repeats the cursor `{}`; reading stopped there",
                    clip(&next, CURSOR_CHARS)
                ));
                return listing;
            }
            Some(next) => Some(next),
        };
        partial(&listing.collected);
    }
    listing.collected.note(format!(
        "tools/list has more than {MAX_PAGES} pages; the rest is left out"
    ));
    listing
}

/// Takes the protocol's own fields out of a result for those who asked for the content.
pub(super) fn content(
    peer: &Peer,
    result: Box<serde_json::value::RawValue>,
) -> Box<serde_json::value::RawValue> {
    if peer.is_modern() { strip(result) } else { result }
}
