//! Finding out which era a server speaks, and agreeing with it.
//!
//! The probe is `server/discover`. *Any* refusal means the old era, because servers refuse it in every way
//! there is. Silence is harder: the server may be slow to start, or ignore what it does not know. After some
//! patience `initialize` is sent as well, and then both answers count: a server that accepts `initialize` is
//! treated as of the old era, whatever it says to the probe later, since from then on it may have bound its
//! process to that era. No late answer is lost and none does harm. Servers that break over the probe get a
//! fresh process whose first message is `initialize`.
use std::{pin::pin, time::Duration};

use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use tokio::time::timeout;

use super::{
    error::CallError,
    message::{self, Fields, MODERN, NEWEST_LEGACY, raw},
    peer::{Call, Link, Peer},
    question,
    state::Era,
};

/// How long a step that usually takes no time is waited for: the answer to an `initialize` that went out beside
/// an accepted probe, and the delivery of `initialized`.
const SETTLE: Duration = Duration::from_secs(5);

/// Longest instructions that are kept; the longest seen in the field have 5,300 characters.
const MAX_INSTRUCTIONS_CHARS: usize = 32_000;

/// Longest revision that is kept; a real one has ten characters.
const MAX_VERSION_CHARS: usize = 100;

/// What the first message of a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    Probe,
    Initialize,
}

/// What a server agreed to.
#[derive(Debug, Clone)]
pub(super) struct Agreement {
    pub(super) era: Era,
    pub(super) version: String,
    pub(super) capabilities: Value,
    pub(super) instructions: Option<String>,
}

impl Agreement {
    pub(super) fn offers(&self, capability: &str) -> bool {
        self.capabilities
            .get(capability)
            .is_some_and(|value| !value.is_null())
    }

    pub(super) fn announces_tool_changes(&self) -> bool {
        self.capabilities.pointer("/tools/listChanged") == Some(&Value::Bool(true))
    }
}

/// Why there is no agreement.
#[derive(Debug)]
pub(super) enum Disagreement {
    NeedsAuth(String),
    Failed(String),
    /// The probe broke the server: worth another process that is greeted the old way.
    BrokenByProbe(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default)]
    supported_versions: Vec<String>,
    protocol_version: Option<String>,
    #[serde(default)]
    capabilities: Value,
    #[serde(default)]
    instructions: Value,
}

impl Answer {
    fn read(text: &RawValue) -> Option<Self> {
        serde_json::from_str(text.get()).ok()
    }

    fn agreement(self, era: Era, version: String) -> Agreement {
        let instructions = self.instructions.as_str().filter(|text| !text.trim().is_empty());
        Agreement {
            era,
            version,
            instructions: instructions.map(|text| message::clip(text, MAX_INSTRUCTIONS_CHARS)),
            capabilities: self.capabilities,
        }
    }
}

/// Agrees with the server within `limit`.
pub(super) async fn shake(
    peer: &Peer,
    opening: Opening,
    patience: Duration,
    limit: Duration,
) -> Result<Agreement, Disagreement> {
    let agreed = timeout(limit, async {
        match opening {
            Opening::Probe => probe_first(peer, patience).await,
            Opening::Initialize => initialize_first(peer).await,
        }
    });
    let agreement = match agreed.await {
        Ok(agreement) => agreement?,
        Err(_) => {
            let stderr = peer.0.stderr();
            let tail = if stderr.is_empty() {
                String::new()
            } else {
                format!("; last lines on its stderr:\n{stderr}")
            };
            return Err(Disagreement::Failed(format!(
                "did not answer the handshake within {} ms (`startupTimeoutMs`){tail}",
                limit.as_millis()
            )));
        }
    };
    peer.set_modern(agreement.era == Era::Modern);
    if agreement.era == Era::Legacy {
        if let Link::Http(http) = &peer.0.link {
            http.agree(&agreement.version);
        }
        let told = peer.notify(message::notification("notifications/initialized", None));
        // A server that swallows it is as good as one that took it.
        let _ = timeout(SETTLE, told).await;
    }
    Ok(agreement)
}

async fn probe_first(peer: &Peer, patience: Duration) -> Result<Agreement, Disagreement> {
    let mut probe = pin!(discover(peer));
    let Ok(first) = timeout(patience, &mut probe).await else {
        return both(peer, probe).await;
    };
    let refusal = match first {
        Ok(agreement) => return Ok(agreement),
        Err(refusal) => refusal,
    };
    if let Some(end) = ending(peer, &refusal) {
        return Err(end);
    }
    initialize(peer).await.map_err(|error| after_probe(peer, error))
}

async fn both(
    peer: &Peer,
    mut probe: std::pin::Pin<&mut impl Future<Output = Result<Agreement, CallError>>>,
) -> Result<Agreement, Disagreement> {
    let mut greeting = pin!(initialize(peer));
    tokio::select! {
        biased;
        greeted = &mut greeting => match greeted {
            Ok(agreement) => Ok(agreement),
            Err(error) => match probe.await {
                Ok(agreement) => Ok(agreement),
                Err(_) => Err(after_probe(peer, error)),
            },
        },
        probed = &mut probe => match probed {
            Ok(modern) => match timeout(SETTLE, greeting).await {
                Ok(Ok(legacy)) => Ok(legacy),
                Ok(Err(_)) | Err(_) => Ok(modern),
            },
            Err(refusal) => match ending(peer, &refusal) {
                Some(end) => Err(end),
                None => greeting.await.map_err(|error| after_probe(peer, error)),
            },
        },
    }
}

async fn initialize_first(peer: &Peer) -> Result<Agreement, Disagreement> {
    match initialize(peer).await {
        Ok(agreement) => Ok(agreement),
        Err(error) => match error {
            // It refuses the old way by now: perhaps it was updated.
            CallError::Rpc { .. } | CallError::Http { .. } if !peer.is_closed() => {
                discover(peer).await.map_err(|_| plain(&error))
            }
            other => Err(plain(&other)),
        },
    }
}

/// What a refused probe says about the connection itself.
fn ending(peer: &Peer, refusal: &CallError) -> Option<Disagreement> {
    match refusal {
        CallError::NeedsAuth { .. } => Some(plain(refusal)),
        CallError::Disconnected { .. } if peer.is_http() => Some(plain(refusal)),
        CallError::Disconnected { .. } => Some(Disagreement::BrokenByProbe(reason(refusal))),
        _ => None,
    }
}

fn after_probe(peer: &Peer, error: CallError) -> Disagreement {
    match error {
        CallError::NeedsAuth { .. } => plain(&error),
        _ if peer.is_http() => plain(&error),
        _ => Disagreement::BrokenByProbe(reason(&error)),
    }
}

fn plain(error: &CallError) -> Disagreement {
    match error {
        CallError::NeedsAuth { status, detail, .. } => {
            let colon = if detail.is_empty() { "" } else { ": " };
            Disagreement::NeedsAuth(format!("HTTP {status}{colon}{detail}"))
        }
        other => Disagreement::Failed(reason(other)),
    }
}

/// The error without the server's name, which the state already has.
fn reason(error: &CallError) -> String {
    match error {
        CallError::Disconnected { reason, stderr, .. } if stderr.is_empty() => {
            format!("{reason} during the handshake")
        }
        CallError::Disconnected { reason, stderr, .. } => {
            format!("{reason} during the handshake; last lines on its stderr:\n{stderr}")
        }
        CallError::Rpc {
            method,
            code,
            message,
            ..
        } => format!("refused `{method}`: {message} (code {code})"),
        CallError::Http {
            method, status, body, ..
        } => {
            let hint = match *status {
                404 | 405 => "; is this the URL of a streamable HTTP endpoint?",
                300..400 => {
                    "; redirects to other hosts are not followed, so put the final URL into the configuration"
                }
                _ => "",
            };
            let colon = if body.is_empty() { "" } else { ": " };
            format!("answered `{method}` with HTTP {status}{hint}{colon}{body}")
        }
        CallError::Malformed { method, reason, .. } => {
            format!("answered `{method}` with no MCP result: {reason}")
        }
        other => other.to_string(),
    }
}

/// The code with which a modern server refuses a revision.
const UNSUPPORTED_VERSION: i64 = -32022;

async fn discover(peer: &Peer) -> Result<Agreement, CallError> {
    let answer = match greet(peer, "server/discover", Fields::default(), true).await {
        // It refused the very revision it says it supports: a hiccup, not another era.
        Err(refusal) if supports_modern(&refusal) => {
            greet(peer, "server/discover", Fields::default(), true).await?
        }
        other => other?,
    };
    let read = Answer::read(&answer).filter(|read| read.supported_versions.iter().any(|v| v == MODERN));
    match read {
        Some(read) => Ok(read.agreement(Era::Modern, MODERN.to_owned())),
        // Some servers of the old era answer every method with something.
        None => Err(malformed(peer, "server/discover", &answer)),
    }
}

fn supports_modern(refusal: &CallError) -> bool {
    #[derive(Deserialize)]
    struct Supported {
        supported: Vec<String>,
    }
    match refusal {
        CallError::Rpc {
            code: UNSUPPORTED_VERSION,
            data: Some(data),
            ..
        } => serde_json::from_str::<Supported>(data.get())
            .is_ok_and(|data| data.supported.iter().any(|version| version == MODERN)),
        _ => false,
    }
}

async fn initialize(peer: &Peer) -> Result<Agreement, CallError> {
    let mut params = Fields::default();
    params.set("protocolVersion", raw(NEWEST_LEGACY));
    params.set("capabilities", raw(&question::capabilities(peer.0.elicitation)));
    params.set("clientInfo", raw(&message::client_info()));
    let answer = greet(peer, "initialize", params, false).await?;
    let mut read = Answer::read(&answer).ok_or_else(|| malformed(peer, "initialize", &answer))?;
    match read.protocol_version.take() {
        Some(version) => {
            let version = message::clip(&version, MAX_VERSION_CHARS);
            Ok(read.agreement(Era::Legacy, version))
        }
        None => Err(malformed(peer, "initialize", &answer)),
    }
}

fn malformed(peer: &Peer, method: &str, answer: &RawValue) -> CallError {
    const SHOWN_CHARS: usize = 200;
    CallError::Malformed {
        server: peer.0.server.clone(),
        method: method.to_owned(),
        reason: format!("`{}`", message::clip(answer.get(), SHOWN_CHARS)),
    }
}

async fn greet(peer: &Peer, method: &str, params: Fields, modern: bool) -> Result<Box<RawValue>, CallError> {
    let headers = if modern && peer.is_http() {
        vec![("mcp-method".to_owned(), method.to_owned())]
    } else {
        Vec::new()
    };
    peer.request(Call {
        method,
        params,
        headers,
        limit: None,
        cancel: None,
        progress: None,
        modern: Some(modern),
        courteous: false,
    })
    .await
}
