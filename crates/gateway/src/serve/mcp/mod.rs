//! `/mcp`: the tools of `codecell mcp` over streamable HTTP, in both eras of the protocol.
//!
//! rmcp answers the requests, as it does over stdio. What carries them is ours: a result goes out as the exact text it
//! was given in, slow readers hold up nobody, and whatever is started for a client ends with it.
mod answer;
mod count;
mod events;
mod incoming;
mod mirrored;
mod open;
mod refusal;
mod session;
mod stateless;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::extract::rejection::BytesRejection;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use rmcp::ErrorData;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, JsonRpcRequest, RequestId, ServerJsonRpcMessage,
};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use self::count::Count;
use self::events::Kind;
use self::incoming::{Era, Incoming};
use self::refusal::Refusal;
use self::session::Session;
use super::Gateway;
use crate::doors::{Door, Visit, encode};
use crate::wiring::App;

/// Sessions that may be open at once.
const MAX_SESSIONS: usize = 1_024;

/// Requests of the modern era that may be going on at once.
const MAX_REQUESTS: usize = 1_024;

/// How long what is being ended is waited for.
const LAST_WORDS: Duration = Duration::from_secs(5);

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Everybody who came in at `/mcp`.
pub(crate) struct Mcp {
    app: Arc<App>,
    sessions: Mutex<HashMap<String, Arc<Session>>>,
    /// Those of the modern era, once somebody came. They carry no session, and all show the same token.
    everybody: Mutex<Option<Visit>>,
    /// Requests of the modern era.
    requests: Count,
    /// Calls of tools, of both eras.
    calls: Count,
    /// Sessions that have not ended completely.
    alive: Count,
    /// Nothing new begins any more.
    stopping: CancellationToken,
    /// Everything has to end.
    closing: CancellationToken,
}

pub(super) fn routes() -> Router<Arc<Gateway>> {
    Router::new().route("/mcp", get(listen).post(post).delete(end))
}

impl Mcp {
    /// Nobody is there yet. When `stopping` fires nothing new begins; when `closing` fires everything ends.
    pub(crate) fn new(app: Arc<App>, stopping: CancellationToken, closing: CancellationToken) -> Self {
        Self {
            app,
            sessions: Mutex::default(),
            everybody: Mutex::default(),
            requests: Count::new(),
            calls: Count::new(),
            alive: Count::new(),
            stopping,
            closing,
        }
    }

    /// Waits until no tool is being called.
    pub(crate) async fn quiet(&self) {
        self.calls.none().await;
    }

    /// Waits, but not for long, until everything has ended that `closing` ends.
    pub(crate) async fn ended(&self) {
        let everything = async {
            self.alive.none().await;
            self.requests.none().await;
            let everybody = self.lock_everybody().take();
            if let Some(everybody) = everybody {
                everybody.end().await;
            }
        };
        if timeout(LAST_WORDS, everything).await.is_err() {
            tracing::warn!("sessions were still open at the end");
        }
    }

    /// Requests are not begun any more when the process is about to end; what belongs to those that run is taken.
    fn still_open(&self, message: &ClientJsonRpcMessage) -> Result<(), Refusal> {
        match message {
            JsonRpcMessage::Request(_) if self.stopping.is_cancelled() => Err(Refusal::closing()),
            _ => Ok(()),
        }
    }

    /// The session that a request names.
    fn session(&self, headers: &HeaderMap) -> Result<Option<Arc<Session>>, Refusal> {
        let Some(id) = headers.get(SESSION_ID) else {
            return Ok(None);
        };
        let found = id.to_str().ok().and_then(|id| self.lock().get(id).cloned());
        found.map(Some).ok_or_else(Refusal::no_session)
    }

    /// Begins a session with its handshake.
    async fn begin(self: &Arc<Self>, request: JsonRpcRequest<ClientRequest>) -> Result<Response, Refusal> {
        let alive = self.alive.enter_below(MAX_SESSIONS).ok_or_else(|| {
            Refusal::busy(
                StatusCode::SERVICE_UNAVAILABLE,
                format!("{MAX_SESSIONS} sessions are open: end one with DELETE, or try again later"),
            )
        })?;
        let visit = Visit::begin(&self.app).map_err(|error| Refusal::internal(&error))?;
        let (session, line) = Session::new(self.closing.child_token());
        // Whoever goes away before the answer will never use the session.
        let gone = session.over().drop_guard();
        self.lock().insert(session.id().to_owned(), Arc::clone(&session));
        tokio::spawn({
            let (mcp, session) = (Arc::clone(self), Arc::clone(&session));
            async move {
                let forget = |session: &Session| drop(mcp.lock().remove(session.id()));
                session::serve(session, line, visit, forget).await;
                drop(alive);
            }
        });
        let mut reader = session.request(vec![request], None).await?;
        let event = reader.next().await.ok_or_else(Refusal::closing)?;
        let mut response = answer::json(StatusCode::OK, event.text);
        if event.kind == Kind::Answer(None) {
            gone.disarm();
            if let Ok(id) = HeaderValue::from_str(session.id()) {
                response.headers_mut().insert(SESSION_ID, id);
            }
        }
        Ok(response)
    }

    /// What answers requests of the modern era.
    fn everybody(&self) -> Result<Door, Refusal> {
        let mut everybody = self.lock_everybody();
        if everybody.is_none() {
            *everybody = Some(Visit::of_everybody(&self.app).map_err(|error| Refusal::internal(&error))?);
        }
        everybody.as_ref().map(Visit::door).ok_or_else(Refusal::closing)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_everybody(&self) -> MutexGuard<'_, Option<Visit>> {
        self.everybody.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn one(
        self: &Arc<Self>,
        headers: &HeaderMap,
        message: ClientJsonRpcMessage,
    ) -> Result<Response, Refusal> {
        self.still_open(&message)?;
        match incoming::era_of(headers, &message)? {
            Era::Legacy => self.legacy(headers, message).await,
            Era::Modern => self.modern(headers, message).await,
        }
    }

    async fn legacy(
        self: &Arc<Self>,
        headers: &HeaderMap,
        message: ClientJsonRpcMessage,
    ) -> Result<Response, Refusal> {
        let session = self.session(headers)?;
        let begins = is_initialize(&message);
        match (message, session) {
            (JsonRpcMessage::Request(request), None) if begins => self.begin(request).await,
            (_, Some(_)) if begins => Err(Refusal::bad_request(
                "the session has had its handshake: send `initialize` without Mcp-Session-Id for another",
            )),
            (_, None) => Err(Refusal::session_needed()),
            (JsonRpcMessage::Request(request), Some(session)) => {
                self.answer_all(&session, vec![request]).await
            }
            (message, Some(session)) => {
                let _here = session.touch();
                session.accept(message).await?;
                Ok(StatusCode::ACCEPTED.into_response())
            }
        }
    }

    async fn batch(
        &self,
        headers: &HeaderMap,
        messages: Vec<ClientJsonRpcMessage>,
    ) -> Result<Response, Refusal> {
        let session = self.session(headers)?.ok_or_else(Refusal::session_needed)?;
        if !session.has_batches() || incoming::era_of_headers(headers)? == Era::Modern {
            return Err(Refusal::bad_request(
                "only revision 2025-03-26 has batches: send one message at a time",
            ));
        }
        if messages.iter().any(is_initialize) {
            return Err(Refusal::bad_request("`initialize` does not belong in a batch"));
        }
        messages.iter().try_for_each(|message| self.still_open(message))?;
        let _here = session.touch();
        let mut requests = Vec::new();
        for message in messages {
            match message {
                JsonRpcMessage::Request(request) => requests.push(request),
                message => session.accept(message).await?,
            }
        }
        if requests.is_empty() {
            return Ok(StatusCode::ACCEPTED.into_response());
        }
        self.answer_all(&session, requests).await
    }

    async fn answer_all(
        &self,
        session: &Arc<Session>,
        requests: Vec<JsonRpcRequest<ClientRequest>>,
    ) -> Result<Response, Refusal> {
        let call = requests.iter().any(is_call).then(|| self.calls.enter());
        let reader = session.request(requests, call).await?;
        Ok(answer::stream(None, reader, None))
    }

    async fn modern(&self, headers: &HeaderMap, message: ClientJsonRpcMessage) -> Result<Response, Refusal> {
        if incoming::has_mirrors(headers) {
            mirrored::check(headers, &message, &self.app.view())?;
        }
        match message {
            JsonRpcMessage::Request(request) => {
                let held = self.requests.enter_below(MAX_REQUESTS).ok_or_else(|| {
                    let message = format!("{MAX_REQUESTS} requests are going on: try again later");
                    Refusal::busy(StatusCode::SERVICE_UNAVAILABLE, message)
                })?;
                let call = is_call(&request).then(|| self.calls.enter());
                let door = self.everybody()?;
                Ok(stateless::answer(door, request, &self.closing, (held, call)).await)
            }
            // A request is cancelled by closing its connection, so there is nothing that one could say.
            JsonRpcMessage::Notification(_) => Ok(StatusCode::ACCEPTED.into_response()),
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => Err(Refusal::bad_request(
                "there is nothing to answer: since revision 2026-07-28 a server asks nothing",
            )),
        }
    }
}

/// A message.
async fn post(
    State(gateway): State<Arc<Gateway>>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Refusal> {
    let mcp = &gateway.mcp_door;
    incoming::check_types(&headers)?;
    let body = body.map_err(|rejected| Refusal::unread(&rejected))?;
    match incoming::read(&body)? {
        Incoming::Nothing => Ok(StatusCode::ACCEPTED.into_response()),
        Incoming::Batch(messages) => mcp.batch(&headers, messages).await,
        Incoming::One(message) => {
            let id = id_of(&message);
            let answer = mcp.one(&headers, *message).await;
            answer.map_err(|refusal| refusal.about(id))
        }
    }
}

/// Listens to what belongs to no request, or comes back for a stream that broke.
async fn listen(State(gateway): State<Arc<Gateway>>, headers: HeaderMap) -> Result<Response, Refusal> {
    let mcp = &gateway.mcp_door;
    if incoming::era_of_headers(&headers)? == Era::Modern {
        return Err(Refusal::method());
    }
    if !incoming::accepts(&headers, "text/event-stream") {
        return Err(Refusal::of_status(
            StatusCode::NOT_ACCEPTABLE,
            "what comes is a stream: send `Accept: text/event-stream`",
        ));
    }
    let session = mcp.session(&headers)?.ok_or_else(Refusal::session_needed)?;
    let last_event = headers.get(LAST_EVENT_ID).map(HeaderValue::to_str);
    let last_event = last_event
        .transpose()
        .map_err(|_| Refusal::bad_request("the header Last-Event-ID is no text"))?;
    let here = session.touch();
    Ok(answer::stream(None, session.listen(last_event)?, Some(here)))
}

/// Ends a session.
async fn end(State(gateway): State<Arc<Gateway>>, headers: HeaderMap) -> Result<StatusCode, Refusal> {
    let mcp = &gateway.mcp_door;
    if incoming::era_of_headers(&headers)? == Era::Modern {
        return Err(Refusal::method());
    }
    let session = mcp.session(&headers)?.ok_or_else(Refusal::session_needed)?;
    // At once, so that nobody finds it who asks after the answer to this.
    mcp.lock().remove(session.id());
    session.end();
    Ok(StatusCode::NO_CONTENT)
}

/// A message as text. One that cannot be written becomes the error that says so.
fn text_of(message: &ServerJsonRpcMessage) -> Vec<u8> {
    let failed = |error: serde_json::Error| {
        let id = match message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            _ => None,
        };
        let error = ErrorData::internal_error(format!("the answer cannot be written: {error}"), None);
        encode(&ServerJsonRpcMessage::error(error, id))
    };
    encode(message).or_else(failed).unwrap_or_default()
}

fn id_of(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    }
}

fn is_initialize(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Request(request)
        if matches!(request.request, ClientRequest::InitializeRequest(_)))
}

/// Whether a tool is called. Only those are waited for at the end: others are done in no time, or never.
fn is_call(request: &JsonRpcRequest<ClientRequest>) -> bool {
    match &request.request {
        ClientRequest::CallToolRequest(_) => true,
        // With arguments that are no object.
        ClientRequest::CustomRequest(request) => request.method == "tools/call",
        _ => false,
    }
}
