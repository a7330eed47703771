//! Requests of the modern era: each stands alone, and ends with the connection that brought it.
use std::convert::Infallible;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use rmcp::RoleServer;
use rmcp::model::{
    ClientRequest, ErrorCode, GetMeta, JsonRpcMessage, JsonRpcRequest, ProtocolVersion, ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage, serve_directly_with_ct};
use rmcp::transport::Transport;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::count::Counted;
use super::events::{Events, Kind};
use super::refusal::Refusal;
use super::{answer, text_of};
use crate::doors::Door;

/// How long an answer may take before it becomes a stream: headers should not be waited for.
const PROMPT: Duration = Duration::from_secs(2);

/// Carries out a request. It is cancelled when the answer is dropped, or when `closing` fires.
pub(super) async fn answer(
    door: Door,
    request: JsonRpcRequest<ClientRequest>,
    closing: &CancellationToken,
    held: (Counted, Option<Counted>),
) -> Response {
    let missing = request
        .request
        .get_meta()
        .missing_required_keys(&ProtocolVersion::V_2026_07_28);
    let id = request.id.clone();
    let events = Events::once();
    let mut reader = events.read(None);
    let cancel = closing.child_token();
    let line = Line {
        request: Some(JsonRpcMessage::Request(request)),
        events: Arc::clone(&events),
        answered: CancellationToken::new(),
    };
    let service = serve_directly_with_ct(door, line, None, cancel.clone());
    tokio::spawn(async move {
        let mut attention = events.attention();
        let left = async {
            // The stream is held here, so its state can always be told.
            drop(attention.wait_for(|now| now.readers == 0).await);
            cancel.cancel();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            // A failure of its task ends the stream as well.
            _ = service.waiting() => {}
            () = left => {}
        }
        events.end();
        drop(held);
    });
    match timeout(PROMPT, reader.next()).await {
        Ok(Some(event)) => match event.kind {
            Kind::Answer(code) => answer::json(status(code, !missing.is_empty()), event.text),
            _ => answer::stream(Some(event), reader, None),
        },
        Ok(None) => Refusal::closing().about(Some(id)).into_response(),
        Err(_slow) => answer::stream(None, reader, None),
    }
}

/// The status that goes with an answer.
fn status(code: Option<ErrorCode>, malformed: bool) -> StatusCode {
    match code {
        Some(
            ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
            | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
            | ErrorCode::HEADER_MISMATCH,
        ) => StatusCode::BAD_REQUEST,
        Some(ErrorCode::INVALID_PARAMS) if malformed => StatusCode::BAD_REQUEST,
        Some(ErrorCode::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    }
}

/// A connection for one request.
struct Line {
    request: Option<RxJsonRpcMessage<RoleServer>>,
    events: Arc<Events>,
    answered: CancellationToken,
}

impl Transport<RoleServer> for Line {
    type Error = Infallible;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        let kind = kind_of(&item);
        let last = matches!(kind, Kind::Answer(_));
        self.events.push(kind, text_of(&item));
        if last {
            self.events.end();
            self.answered.cancel();
        }
        ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        match self.request.take() {
            Some(request) => Some(request),
            None => {
                self.answered.cancelled().await;
                None
            }
        }
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}

fn kind_of(message: &ServerJsonRpcMessage) -> Kind {
    match message {
        JsonRpcMessage::Response(_) => Kind::Answer(None),
        JsonRpcMessage::Error(error) => Kind::Answer(Some(error.error.code)),
        JsonRpcMessage::Request(request) => Kind::Question(request.id.clone()),
        JsonRpcMessage::Notification(_) => Kind::News,
    }
}
