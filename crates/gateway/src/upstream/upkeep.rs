//! A connected server: its tools are read, and read again when they change, go out of date or could not be read.
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use super::{
    cache::Facts,
    error::CallError,
    handshake::Agreement,
    listing::{Listing, list_tools},
    pace::Pace,
    peer::Peer,
    server::{Server, Standing, fill},
    state::State,
    subscribe::subscribe,
};

/// How a reading of the list ended.
enum Reading {
    Complete {
        /// How long the server says the list is good for.
        ttl: Option<Duration>,
    },
    Failed,
}

impl Server {
    /// Keeps the tools up to date until the connection ends or the gateway stops.
    pub(super) async fn serve(
        &self,
        peer: &Peer,
        agreement: &Agreement,
        changes: mpsc::Receiver<()>,
        stop: &CancellationToken,
    ) {
        self.change(|view| {
            view.state = State::Ready;
            view.listing = true;
            view.era = Some(agreement.era);
            view.protocol_version = Some(agreement.version.clone());
            view.instructions = agreement.instructions.clone().map(Into::into);
            view.has_resources = agreement.offers("resources");
            view.has_prompts = agreement.offers("prompts");
        });
        self.stand(Standing::Up(peer.clone()));
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            _ = peer.closed() => {}
            () = self.keep(peer, agreement, changes) => {}
            () = subscribe(peer, agreement) => {}
        }
    }

    /// Reads the list whenever there is a reason to; calls go on meanwhile.
    async fn keep(&self, peer: &Peer, agreement: &Agreement, mut changes: mpsc::Receiver<()>) {
        let mut pace = Pace::new(Instant::now());
        let mut partial = false;
        loop {
            let due = match self.refresh(peer, agreement, &mut partial).await {
                Some(Reading::Complete { ttl }) => pace.read(Instant::now(), ttl),
                Some(Reading::Failed) => Some(pace.failed(Instant::now())),
                None => return,
            };
            tokio::select! {
                change = changes.recv() => {
                    if change.is_none() {
                        return;
                    }
                    sleep(pace.announced(Instant::now())).await;
                }
                () = expiry(due) => {}
            }
            // Whatever came during the pause is covered by the read that follows.
            while changes.try_recv().is_ok() {}
        }
    }

    /// Reads the tools and shows them; `None` if the connection has ended. A list that cannot be read leaves what is
    /// known, marked stale. `partial` says whether what is shown is the beginning of this connection's list.
    async fn refresh(&self, peer: &Peer, agreement: &Agreement, partial: &mut bool) -> Option<Reading> {
        // Nothing is known yet: every page is better than none.
        let bare = self.view().tools.is_empty();
        let Listing {
            mut collected,
            ttl,
            failure,
        } = list_tools(peer, &self.config, |so_far| {
            if bare {
                self.change(|view| fill(view, so_far));
            }
        })
        .await;
        let tools_expected = agreement.offers("tools");
        let complete = match &failure {
            None => true,
            Some(CallError::Rpc { code: -32601, .. }) if !tools_expected => true,
            // Whoever notices the end tells it. Over HTTP one answer can break off and the connection go on.
            Some(CallError::Disconnected { .. }) if peer.is_closed() => return None,
            Some(error) => {
                tracing::warn!(server = self.config.name, %error, "its tools were not read to the end");
                collected.note(format!("its tools were not read to the end: {error}"));
                false
            }
        };
        if complete {
            self.remember(agreement, std::mem::take(&mut collected.entries));
        }
        self.change(|view| {
            let more = *partial && collected.tools.len() >= view.tools.len();
            if complete || bare || more {
                fill(view, &collected);
                view.stale = false;
                *partial = !complete;
            } else {
                view.notes = collected.notes.into();
                view.stale |= !*partial;
            }
            view.listing = false;
            view.noise_lines = peer.noise();
            view.stderr_tail = peer.0.stderr();
            view.settled = true;
        });
        Some(if complete {
            Reading::Complete { ttl }
        } else {
            Reading::Failed
        })
    }

    /// Writes the cache, off the threads that serve.
    fn remember(&self, agreement: &Agreement, entries: Vec<Box<RawValue>>) {
        let Some(cache) = self.cache.clone() else { return };
        let facts = Facts {
            era: agreement.era,
            version: agreement.version.clone(),
            instructions: agreement.instructions.clone(),
            has_resources: agreement.offers("resources"),
            has_prompts: agreement.offers("prompts"),
        };
        let server = self.config.name.clone();
        let turn = cache.turn();
        tokio::task::spawn_blocking(move || {
            if let Err(error) = cache.store(turn, facts, entries) {
                tracing::warn!(server, %error, "its tools were not written to the cache");
            }
        });
    }
}

async fn expiry(due: Option<Duration>) {
    match due {
        Some(due) => sleep(due).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, Weak};

    use serde_json::{Value, json};

    use super::*;
    use crate::{
        config::{Secret, ServerConfig, Transport},
        upstream::{
            message::{self, Fields},
            peer::{Call, Inner, Link},
            server::Making,
            state::Era,
            stdio::Stdio,
        },
    };

    /// What a server that the test plays says to a request for its list.
    type Lists<'a> = &'a dyn Fn(usize) -> Vec<Value>;

    fn tools(names: &[&str]) -> Value {
        let tools: Vec<Value> = names
            .iter()
            .map(|name| json!({ "name": name, "inputSchema": {} }))
            .collect();
        json!({ "result": { "tools": tools } })
    }

    fn page(name: &str, next: &str) -> Value {
        let mut page = tools(&[name]);
        page["result"]["nextCursor"] = next.into();
        page
    }

    fn refused() -> Value {
        json!({ "error": { "code": -32603, "message": "not now" } })
    }

    fn changed() -> Value {
        json!({ "method": "notifications/tools/list_changed" })
    }

    /// Serves a server that says `lists` while the test looks on; the times of the requests for its list go to `asked`.
    async fn serve(lists: Lists<'_>, asked: &Mutex<Vec<Duration>>, test: impl AsyncFnOnce(&Server, &Peer)) {
        let transport = Transport::Http {
            url: Secret::new("http://127.0.0.1/"),
            headers: Default::default(),
        };
        let config = ServerConfig::new("fake", transport);
        let (list_changed, changes) = mpsc::channel(1);
        let link = Link::Stdio(Stdio::new(1 << 20, Arc::default()));
        let peer = Peer(Arc::new(Inner::new(&config, link, 1 << 20, list_changed)));
        let making = Making {
            cache: None,
            patience: Duration::ZERO,
            limit: 1 << 20,
            guardian: Arc::default(),
            hub: Weak::new(),
        };
        let server = Server::new(config, making);
        let agreement = Agreement {
            era: Era::Legacy,
            version: "2025-06-18".to_owned(),
            capabilities: json!({ "tools": {} }),
            instructions: None,
        };
        let begun = Instant::now();
        let play = async {
            let Link::Stdio(link) = &peer.0.link else { return };
            loop {
                let line = link.outbox.next().await;
                let request: Value = serde_json::from_str(&line).unwrap();
                let mut said = vec![json!({ "result": {} })];
                if request["method"] == "tools/list" {
                    let mut asked = asked.lock().unwrap();
                    said = lists(asked.len());
                    asked.push(begun.elapsed());
                }
                for mut message in said {
                    if message.get("method").is_none() {
                        message["id"] = request["id"].clone();
                    }
                    for incoming in message::parse_all(&message.to_string()) {
                        peer.0.deliver(incoming);
                    }
                }
            }
        };
        let stop = CancellationToken::new();
        tokio::select! {
            () = server.serve(&peer, &agreement, changes, &stop) => panic!("it ended"),
            () = play => {}
            () = test(&server, &peer) => {}
        }
    }

    fn names(server: &Server) -> Vec<String> {
        server.view().tools.iter().map(|tool| tool.name.clone()).collect()
    }

    const NOTE: &str =
        "its tools were not read to the end: MCP server `fake` refused `tools/list`: not now (code -32603)";

    #[tokio::test(start_paused = true)]
    async fn a_list_that_could_not_be_read_is_asked_for_again_ever_more_seldom_and_no_call_waits() {
        let asked = Mutex::default();
        let lists = |n| vec![if n < 4 { refused() } else { tools(&["a"]) }];
        serve(&lists, &asked, async |server, peer| {
            sleep(Duration::from_secs(74)).await;
            let seen = server.view().clone();
            assert_eq!((seen.tools.len(), &*seen.notes), (0, &[NOTE.to_owned()][..]));
            let begun = Instant::now();
            let call = Call::new("tools/call", Fields::default(), Duration::from_secs(9));
            assert_eq!(peer.request(call).await.unwrap().get(), "{}");
            assert_eq!(begun.elapsed(), Duration::ZERO);
            sleep(Duration::from_secs(10_000)).await;
            let seen = server.view().clone();
            assert_eq!(
                (names(server), seen.stale, seen.notes.len()),
                (vec!["a".to_owned()], false, 0)
            );
        })
        .await;
        let expected = [0, 5, 15, 35, 75].map(Duration::from_secs);
        assert_eq!(asked.into_inner().unwrap(), expected);
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_that_changes_whenever_it_is_read_is_read_ever_more_seldom() {
        let asked = Mutex::default();
        let lists = |n| {
            let list = tools(&[format!("t{n}").as_str()]);
            // One day it comes to rest.
            if n < 29 { vec![list, changed()] } else { vec![list] }
        };
        serve(&lists, &asked, async |server, peer| {
            sleep(Duration::from_secs(600)).await;
            assert_eq!(asked.lock().unwrap().len(), 29, "in ten minutes");
            sleep(Duration::from_secs(600)).await;
            assert_eq!(names(server), ["t29"]);
            for incoming in message::parse_all(&changed().to_string()) {
                peer.0.deliver(incoming);
            }
            sleep(Duration::from_millis(51)).await;
            assert_eq!(names(server), ["t30"], "after a rest it is read soon");
        })
        .await;
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_known_stays_until_there_is_more() {
        let asked = Mutex::default();
        let answers = [
            // Each line is one reading.
            vec![page("a", "1")],
            vec![refused()],
            vec![page("a", "1")],
            vec![page("b", "2")],
            vec![refused()],
            vec![refused()],
            vec![tools(&["c", "d"])],
            vec![page("e", "1")],
            vec![refused()],
            vec![tools(&[])],
        ];
        let lists = |n: usize| answers[n].clone();
        serve(&lists, &asked, async |server, peer| {
            let seen = || {
                let view = server.view();
                let names: Vec<&str> = view.tools.iter().map(|tool| &*tool.name).collect();
                (names.join(" "), view.stale, view.notes.len())
            };
            let steps = [
                (1, "a", false, 1),
                (5, "a b", false, 1),
                (10, "a b", false, 1),
                (20, "c d", false, 0),
                (1, "c d", true, 1),
                (5, "", false, 0),
            ];
            for (number, (seconds, names, stale, notes)) in steps.into_iter().enumerate() {
                if number == 4 {
                    for incoming in message::parse_all(&changed().to_string()) {
                        peer.0.deliver(incoming);
                    }
                }
                sleep(Duration::from_secs(seconds)).await;
                assert_eq!(seen(), (names.to_owned(), stale, notes), "{number}");
            }
        })
        .await;
        assert_eq!(asked.into_inner().unwrap().len(), answers.len());
    }
}
