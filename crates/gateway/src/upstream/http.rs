//! The transport over streamable HTTP, both eras.
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use reqwest::{
    Client, Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE},
    redirect,
};
use tokio::time::{sleep, timeout};

use super::{
    message::{self, Incoming, MODERN, Outcome, clip},
    sse::{Event, Overflow, Parser},
};
use crate::config::Secret;
use crate::debug;

/// Time to reach a server at all.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// Redirects that are followed, all to the same origin.
const MAX_REDIRECTS: usize = 4;

/// How much of an error body is kept: enough for the reason, too little for a page.
const ERROR_BODY_CHARS: usize = 2_000;

/// How much of an error body is read.
const ERROR_BODY_BYTES: u64 = 256 * 1024;

/// How often a cut answer is picked up again.
const MAX_RESUMES: u32 = 8;

/// Wait before picking an answer up when the server names none, and the most it may ask for.
const RESUME_WAIT: Duration = Duration::from_secs(1);
const MAX_RESUME_WAIT: Duration = Duration::from_secs(30);

/// Time for the polite end of a session.
const END_LIMIT: Duration = Duration::from_secs(1);

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// Why an exchange has no JSON-RPC answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// Nothing was sent.
    Unreachable(String),
    /// It was sent and the answer is lost.
    Broken(String),
    /// The session is unknown: nothing ran.
    SessionGone,
    Auth {
        status: u16,
        detail: String,
    },
    Status {
        status: u16,
        body: String,
    },
    TooLarge(u64),
    Malformed(String),
}

/// Takes the messages that are not the answer.
type Deliver<'a> = &'a (dyn Fn(Incoming) + Send + Sync);

pub(super) struct Http {
    client: Client,
    url: Secret,
    headers: HeaderMap,
    session: Mutex<Option<HeaderValue>>,
    version: Mutex<Option<HeaderValue>>,
    limit: u64,
}

impl Http {
    pub(super) fn new(url: &Secret, headers: &BTreeMap<String, Secret>, limit: u64) -> Result<Self, String> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let header =
                HeaderName::from_bytes(name.as_bytes()).map_err(|_| format!("`{name}` is no header name"))?;
            let mut content = HeaderValue::from_str(value.expose()).map_err(|_| {
                format!("the value of header `{name}` has characters that no header may have")
            })?;
            content.set_sensitive(true);
            map.insert(header, content);
        }
        // Several servers start at once and the first one wins: that is what is wanted.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .connect_timeout(CONNECT_LIMIT)
            .user_agent(concat!("codecell/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::custom(same_origin));
        if url.expose().starts_with("http://") {
            // Plain HTTP must work on machines without any certificate store.
            builder = builder.tls_certs_only([]);
        }
        let client = builder
            .build()
            .map_err(|error| format!("no HTTP client: {}", explain(error)))?;
        Ok(Self {
            client,
            url: url.clone(),
            headers: map,
            session: Mutex::default(),
            version: Mutex::default(),
            limit,
        })
    }

    /// Remembers the revision agreed on in the handshake of the old era.
    pub(super) fn agree(&self, version: &str) {
        *self.version.lock().unwrap_or_else(PoisonError::into_inner) = HeaderValue::from_str(version).ok();
    }

    fn session(&self) -> Option<HeaderValue> {
        self.session
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn common(&self, modern: bool) -> HeaderMap {
        let mut headers = self.headers.clone();
        if modern {
            headers.insert(VERSION, HeaderValue::from_static(MODERN));
            return headers;
        }
        let version = self
            .version
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        headers.extend(version.map(|version| (VERSION, version)));
        headers.extend(self.session().map(|session| (SESSION, session)));
        headers
    }

    async fn post(
        &self,
        text: String,
        extra: &[(String, String)],
        modern: bool,
    ) -> Result<Response, reqwest::Error> {
        let mut headers = self.common(modern);
        for (name, value) in extra {
            if let (Ok(name), Ok(value)) = (
                HeaderName::from_bytes(name.as_bytes()),
                HeaderValue::from_str(value),
            ) {
                headers.insert(name, value);
            }
        }
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        self.client
            .post(self.url.expose())
            .headers(headers)
            .body(text)
            .send()
            .await
    }

    /// Sends a request and reads until its answer; other messages on the way are delivered.
    pub(super) async fn exchange(
        &self,
        id: u64,
        text: String,
        extra: &[(String, String)],
        modern: bool,
        deliver: Deliver<'_>,
    ) -> Result<Outcome, Failure> {
        let had_session = !modern && self.session().is_some();
        let response = self.post(text, extra, modern).await.map_err(sent_or_not)?;
        let status = response.status();
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(refusal(response).await);
        }
        if status == StatusCode::NOT_FOUND && had_session {
            return Err(Failure::SessionGone);
        }
        if !modern
            && status.is_success()
            && let Some(session) = response.headers().get(SESSION)
        {
            *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(session.clone());
        }
        if status.is_success() && is_stream(&response) {
            return self.stream(id, response, modern, deliver).await;
        }
        let limit = if status.is_success() {
            self.limit
        } else {
            ERROR_BODY_BYTES
        };
        let body = match read(response, limit).await {
            // An error page may be cut anywhere.
            Err(Failure::TooLarge(_)) if !status.is_success() => "an overlong body".to_owned(),
            other => other?,
        };
        for incoming in message::parse_all(body.trim()) {
            match incoming {
                Incoming::Answer {
                    id: Some(found),
                    outcome,
                } if found == id => return Ok(outcome),
                // An error before the request was understood has no id.
                Incoming::Answer {
                    id: None,
                    outcome: Err(error),
                } => return Ok(Err(error)),
                other => deliver(other),
            }
        }
        let shown = clip(body.trim(), ERROR_BODY_CHARS);
        if status.is_success() {
            return Err(Failure::Malformed(format!(
                "HTTP {} with body `{shown}`",
                status.as_u16()
            )));
        }
        Err(Failure::Status {
            status: status.as_u16(),
            body: shown,
        })
    }

    /// Reads an answer that comes as a stream. A stream of the old era that is cut is picked up again where
    /// it was, if the server numbers its events.
    async fn stream(
        &self,
        id: u64,
        mut response: Response,
        modern: bool,
        deliver: Deliver<'_>,
    ) -> Result<Outcome, Failure> {
        let mut parser = Parser::new(self.limit);
        let mut watched = debug::Stream::default();
        let mut resumes = 0;
        loop {
            let mut events: Vec<Event> = Vec::new();
            let more = match response.chunk().await {
                Ok(Some(bytes)) => {
                    parser
                        .feed(&bytes, &mut events)
                        .map_err(|Overflow(size)| Failure::TooLarge(size))?;
                    true
                }
                Ok(None) | Err(_) => false,
            };
            for event in events {
                watched.event(&event.data);
                for incoming in message::parse_all(event.data.trim()) {
                    match incoming {
                        Incoming::Answer {
                            id: Some(found),
                            outcome,
                        } if found == id => return Ok(outcome),
                        other => deliver(other),
                    }
                }
            }
            if more {
                continue;
            }
            loop {
                let last = parser
                    .last_id
                    .clone()
                    .filter(|_| !modern && resumes < MAX_RESUMES);
                let Some(last) = last else {
                    return Err(Failure::Broken("ended its answer early".to_owned()));
                };
                resumes += 1;
                sleep(parser.retry.unwrap_or(RESUME_WAIT).min(MAX_RESUME_WAIT)).await;
                match self.get(Some(&last)).await {
                    Ok(next) if next.status().is_success() && is_stream(&next) => {
                        response = next;
                        let retry = parser.retry;
                        parser = Parser::new(self.limit);
                        parser.last_id = Some(last);
                        parser.retry = retry;
                        break;
                    }
                    Ok(next) if next.status().is_client_error() => {
                        return Err(Failure::Broken(format!(
                            "ended its answer early and refused to resume it with HTTP {}",
                            next.status().as_u16()
                        )));
                    }
                    Ok(_) | Err(_) => {}
                }
            }
        }
    }

    async fn get(&self, last: Option<&str>) -> Result<Response, reqwest::Error> {
        let mut headers = self.common(false);
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(last) = last.and_then(|last| HeaderValue::from_str(last).ok()) {
            headers.insert(LAST_EVENT, last);
        }
        self.client.get(self.url.expose()).headers(headers).send().await
    }

    /// Listens for what a server of the old era says unasked, until it refuses or stops for good.
    pub(super) async fn listen(&self, deliver: Deliver<'_>) {
        let mut last: Option<String> = None;
        let mut wait = RESUME_WAIT;
        loop {
            let Ok(mut response) = self.get(last.as_deref()).await else {
                return;
            };
            if !response.status().is_success() || !is_stream(&response) {
                return;
            }
            let mut parser = Parser::new(self.limit);
            let mut heard = false;
            while let Ok(Some(bytes)) = response.chunk().await {
                let mut events = Vec::new();
                if parser.feed(&bytes, &mut events).is_err() {
                    return;
                }
                for event in events {
                    heard = true;
                    message::parse_all(event.data.trim())
                        .into_iter()
                        .for_each(deliver);
                }
            }
            last = parser.last_id.or(last);
            // A stream that keeps ending without a word is asked for ever more seldom.
            wait = if heard {
                RESUME_WAIT
            } else {
                (wait * 2).min(MAX_RESUME_WAIT)
            };
            sleep(parser.retry.unwrap_or_default().clamp(wait, MAX_RESUME_WAIT)).await;
        }
    }

    /// Sends a notification or a reply.
    pub(super) async fn tell(&self, text: String) {
        if let Err(error) = self.post(text, &[], false).await {
            tracing::debug!(error = explain(error), "a message was not delivered");
        }
    }

    /// Ends a session of the old era; servers that do not care answer 405.
    pub(super) async fn end_session(&self) {
        let session = self.session.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(session) = session else { return };
        let mut headers = self.common(false);
        headers.insert(SESSION, session);
        let request = self.client.delete(self.url.expose()).headers(headers).send();
        let _ = timeout(END_LIMIT, request).await;
    }
}

/// Follows what keeps method and body and stays at the same origin: the credentials go along.
fn same_origin(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let keeps = matches!(
        attempt.status(),
        StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
    );
    let stays = attempt
        .previous()
        .first()
        .is_some_and(|first| first.origin() == attempt.url().origin());
    if keeps && stays && attempt.previous().len() <= MAX_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

fn is_stream(response: &Response) -> bool {
    response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| {
            value
                .trim_start()
                .to_ascii_lowercase()
                .starts_with("text/event-stream")
        })
}

async fn read(mut response: Response, limit: u64) -> Result<String, Failure> {
    let mut bytes: Vec<u8> = Vec::new();
    if let Some(length) = response.content_length()
        && length > limit
    {
        return Err(Failure::TooLarge(length));
    }
    loop {
        match response.chunk().await {
            Ok(Some(part)) => {
                bytes.extend_from_slice(&part);
                if bytes.len() as u64 > limit {
                    return Err(Failure::TooLarge(bytes.len() as u64));
                }
            }
            Ok(None) => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) => {
                return Err(Failure::Broken(format!(
                    "broke off its answer: {}",
                    explain(error)
                )));
            }
        }
    }
}

async fn refusal(response: Response) -> Failure {
    let status = response.status().as_u16();
    let wanted = response
        .headers()
        .get(WWW_AUTHENTICATE)
        .and_then(|value| value.to_str().ok())
        .map(|value| clip(value, ERROR_BODY_CHARS));
    let detail = match wanted {
        Some(wanted) => wanted,
        None => match read(response, ERROR_BODY_BYTES).await {
            Ok(body) => clip(body.trim(), ERROR_BODY_CHARS),
            Err(_) => String::new(),
        },
    };
    Failure::Auth { status, detail }
}

fn sent_or_not(error: reqwest::Error) -> Failure {
    if error.is_connect() || error.is_builder() {
        Failure::Unreachable(explain(error))
    } else {
        Failure::Broken(format!("broke the connection: {}", explain(error)))
    }
}

/// The innermost cause says what happened; the URL is left out, because it may hold a token.
fn explain(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
