//! One session of the legacy era: a handshake, then requests over any number of connections.
use std::convert::Infallible;
use std::future::ready;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification, ClientRequest, JsonRpcMessage,
    JsonRpcRequest, Notification, ProtocolVersion, ServerJsonRpcMessage, ServerNotification, ServerResult,
};
use rmcp::service::{RxJsonRpcMessage, ServiceExt, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::count::{Count, Counted};
use super::events::{Events, Kind, Reader};
use super::open::{Open, STANDALONE};
use super::refusal::Refusal;
use super::text_of;
use crate::doors::{Door, Visit};

/// How long a session lasts without requests and without anybody who listens.
const MAX_IDLE: Duration = Duration::from_secs(30 * 60);

/// How long a request goes on when the connection that carries its answer broke: a broken connection does not mean that
/// the client gave up, and it can come back for the answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long an answered request is kept for a client whose connection broke over the answer.
const MEMORY: Duration = Duration::from_secs(60);

/// Messages of the client that may wait to be looked at.
const INBOX: usize = 64;

/// A session, as those who carry its messages see it.
pub(super) struct Session {
    id: String,
    inbox: mpsc::Sender<ClientJsonRpcMessage>,
    standalone: Arc<Events>,
    open: Mutex<Open>,
    /// Settled by the handshake.
    version: OnceLock<ProtocolVersion>,
    /// Requests, and those who listen.
    busy: Count,
    /// Fires when the session has to end.
    over: CancellationToken,
}

impl Session {
    /// A session that waits for its handshake, and what will receive its messages.
    pub(super) fn new(over: CancellationToken) -> (Arc<Self>, Line) {
        let (inbox, receiver) = mpsc::channel(INBOX);
        let session = Arc::new(Self {
            id: Uuid::new_v4().to_string(),
            inbox,
            standalone: Events::resumable(STANDALONE),
            open: Mutex::default(),
            version: OnceLock::new(),
            busy: Count::new(),
            over,
        });
        let line = Line {
            session: Arc::clone(&session),
            receiver,
        };
        (session, line)
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Ends the session.
    pub(super) fn end(&self) {
        self.over.cancel();
    }

    /// Fires when the session has to end.
    pub(super) fn over(&self) -> CancellationToken {
        self.over.clone()
    }

    /// Whether several messages may come at once.
    pub(super) fn has_batches(&self) -> bool {
        self.version.get() == Some(&ProtocolVersion::V_2025_03_26)
    }

    /// Something comes in that is no request.
    pub(super) fn touch(&self) -> Counted {
        self.busy.enter()
    }

    /// Opens a stream for the answers to these requests, then has them carried out.
    ///
    /// # Errors
    ///
    /// Fails when too much is going on, and when an id is in use. Nothing has begun then.
    pub(super) async fn request(
        self: &Arc<Self>,
        requests: Vec<JsonRpcRequest<ClientRequest>>,
        working: Option<Counted>,
    ) -> Result<Reader, Refusal> {
        let greets = self
            .version
            .get()
            .is_some_and(|version| *version >= ProtocolVersion::V_2025_11_25);
        let (number, events, reader) = self.lock().open(&requests, &self.standalone, greets)?;
        tokio::spawn(Arc::clone(self).attend(number, events, (self.busy.enter(), working)));
        for request in requests {
            self.deliver(JsonRpcMessage::Request(request)).await?;
        }
        Ok(reader)
    }

    /// Looks after a stream: until it is over, nobody may leave it alone for long; then it is kept for a while.
    async fn attend(self: Arc<Self>, number: u64, events: Arc<Events>, held: (Counted, Option<Counted>)) {
        let mut attention = events.attention();
        loop {
            // The stream is held here, so its state can always be told.
            let left = attention.wait_for(|now| now.over || now.readers == 0).await;
            if left.is_ok_and(|now| now.over) {
                break;
            }
            let back = attention.wait_for(|now| now.over || now.readers > 0);
            if timeout(PATIENCE, back).await.is_err() {
                self.give_up(number).await;
                break;
            }
        }
        drop(held);
        self.over.run_until_cancelled(tokio::time::sleep(MEMORY)).await;
        self.lock().forget(number);
    }

    /// Cancels what is left of a stream's requests.
    async fn give_up(&self, number: u64) {
        let left = self.lock().give_up(number);
        for id in left {
            let reason = Some("the client left".to_owned());
            let params = CancelledNotificationParam::new(Some(id), reason);
            let cancelled = ClientNotification::CancelledNotification(Notification::new(params));
            if self
                .deliver(JsonRpcMessage::notification(cancelled))
                .await
                .is_err()
            {
                break;
            }
        }
    }

    /// Takes a message that gets no answer.
    pub(super) async fn accept(&self, message: ClientJsonRpcMessage) -> Result<(), Refusal> {
        let mut cancelled = None;
        match &message {
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancel) = &notification.notification {
                    cancelled.clone_from(&cancel.params.request_id);
                }
            }
            JsonRpcMessage::Response(response) => self.lock().is_answered(&response.id),
            JsonRpcMessage::Error(error) => error.id.iter().for_each(|id| self.lock().is_answered(id)),
            JsonRpcMessage::Request(_) => {}
        }
        self.deliver(message).await?;
        if let Some(id) = cancelled {
            // It gets no answer any more.
            self.lock().settle(&id, None);
        }
        Ok(())
    }

    async fn deliver(&self, message: ClientJsonRpcMessage) -> Result<(), Refusal> {
        self.inbox.send(message).await.map_err(|_| Refusal::no_session())
    }

    /// Listens to what belongs to no request, or comes back for a stream that broke.
    pub(super) fn listen(&self, last_event: Option<&str>) -> Result<Reader, Refusal> {
        let Some(last_event) = last_event else {
            return Ok(self.standalone.read(None));
        };
        let place = last_event.split_once('-').and_then(|(stream, event)| {
            let (stream, event) = (stream.parse::<u64>().ok()?, event.parse::<u64>().ok()?);
            if stream == STANDALONE {
                return Some((Arc::clone(&self.standalone), event));
            }
            Some((self.lock().events(stream)?, event))
        });
        match place {
            Some((events, event)) => Ok(events.read(Some(event))),
            None => Err(Refusal::bad_request(format!(
                "no stream goes on behind the event `{last_event}`: its request was answered long ago"
            ))),
        }
    }

    /// Waits until nobody has wanted anything for long.
    pub(super) async fn idle(&self) {
        let mut busy = self.busy.watch();
        loop {
            // The count lives as long as this session.
            let _ = busy.wait_for(|count| *count == 0).await;
            if timeout(MAX_IDLE, busy.changed()).await.is_err() {
                return;
            }
        }
    }

    /// Ends every stream.
    pub(super) fn close(&self) {
        self.standalone.end();
        self.lock().close();
    }

    /// Puts a message of ours where the client will find it.
    fn put(&self, message: &ServerJsonRpcMessage) {
        let text = text_of(message);
        let mut open = self.lock();
        match message {
            JsonRpcMessage::Response(response) => {
                if let ServerResult::InitializeResult(result) = &response.result {
                    // There is one handshake in a session.
                    let _ = self.version.set(result.protocol_version.clone());
                }
                open.settle(&response.id, Some((Kind::Answer(None), text)));
            }
            JsonRpcMessage::Error(error) => {
                if let Some(id) = &error.id {
                    open.settle(id, Some((Kind::Answer(Some(error.error.code)), text)));
                }
            }
            JsonRpcMessage::Request(request) => {
                open.ask(request.id.clone(), &self.standalone, text);
            }
            JsonRpcMessage::Notification(notification) => match &notification.notification {
                ServerNotification::ProgressNotification(progress) => {
                    if let Some(events) = open.of_token(&progress.params.progress_token) {
                        events.push(Kind::News, text);
                    }
                }
                ServerNotification::CancelledNotification(cancelled) => {
                    if let Some(id) = &cancelled.params.request_id {
                        open.take_back(id, &self.standalone, text);
                    }
                }
                _ => self.standalone.push(Kind::News, text),
            },
        }
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What rmcp reads from and writes to.
pub(super) struct Line {
    session: Arc<Session>,
    receiver: mpsc::Receiver<ClientJsonRpcMessage>,
}

impl Transport<RoleServer> for Line {
    type Error = Infallible;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
        self.session.put(&item);
        ready(Ok(()))
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        self.receiver.recv().await
    }

    async fn close(&mut self) -> Result<(), Infallible> {
        self.receiver.close();
        Ok(())
    }
}

/// Serves a session until it is over or nobody wants anything of it, then ends everything that was started for it.
pub(super) async fn serve(session: Arc<Session>, line: Line, visit: Visit, forget: impl FnOnce(&Session)) {
    let loop_ends = CancellationToken::new();
    let ending = async {
        until_over(&session).await;
        // No more requests; those that run hear it, and their answers still go out.
        forget(&session);
        visit.gone().cancel();
        visit.aborted().cancel();
        loop_ends.cancel();
    };
    let serving = async {
        answer(visit.door(), line, loop_ends.clone()).await;
        session.end();
    };
    tokio::join!(serving, ending);
    session.close();
    visit.end().await;
}

/// Has requests answered until the connection ends.
async fn answer(door: Door, line: Line, stop: CancellationToken) {
    match door.serve_with_ct(line, stop).await {
        Ok(service) => {
            if let Err(error) = service.waiting().await {
                tracing::error!(%error, "a session broke");
            }
        }
        Err(error) => tracing::debug!(%error, "a session ended before its handshake"),
    }
}

async fn until_over(session: &Session) {
    tokio::select! {
        () = session.over.cancelled() => {}
        () = session.idle() => {}
    }
}
