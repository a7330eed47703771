//! The streams of a session's requests, and what belongs on which.
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use axum::http::StatusCode;
use rmcp::model::{ClientRequest, GetMeta, JsonRpcRequest, ProgressToken, RequestId};

use super::events::{Events, Kind, Reader};
use super::refusal::Refusal;

/// Requests that a session may have open at once.
const MAX_REQUESTS: usize = 64;

/// Answered requests that are kept for a client whose connection broke over the answer.
const MAX_REMEMBERED: usize = 16;

/// The stream that belongs to no request.
pub(super) const STANDALONE: u64 = 0;

/// The streams of requests, and what belongs on them.
#[derive(Default)]
pub(super) struct Open {
    last: u64,
    streams: HashMap<u64, Stream>,
    requests: HashMap<RequestId, u64>,
    tokens: HashMap<ProgressToken, u64>,
    /// Where our own requests were put.
    questions: HashMap<RequestId, u64>,
    answered: VecDeque<u64>,
}

struct Stream {
    events: Arc<Events>,
    /// Requests that were not answered yet.
    unanswered: usize,
    /// Whether a tool is called: questions to people come up there.
    calls: bool,
}

impl Open {
    /// Opens a stream for the answers to these requests. `greets` says that the client can come back for it before
    /// anything was said; `standalone` is where it finds what nobody heard.
    pub(super) fn open(
        &mut self,
        requests: &[JsonRpcRequest<ClientRequest>],
        standalone: &Events,
        greets: bool,
    ) -> Result<(u64, Arc<Events>, Reader), Refusal> {
        if self.requests.len() + requests.len() > MAX_REQUESTS {
            return Err(Refusal::busy(
                StatusCode::TOO_MANY_REQUESTS,
                format!("this session has {MAX_REQUESTS} requests open: wait for one to be answered"),
            ));
        }
        let number = self.last + 1;
        for (at, request) in requests.iter().enumerate() {
            let twice = requests.iter().take(at).any(|earlier| earlier.id == request.id);
            if twice || self.requests.contains_key(&request.id) {
                let refusal = Refusal::bad_request(format!("the id `{}` is in use", request.id));
                return Err(refusal.about(Some(request.id.clone())));
            }
        }
        for request in requests {
            self.requests.insert(request.id.clone(), number);
            if let Some(token) = request.request.get_meta().get_progress_token() {
                self.tokens.insert(token, number);
            }
        }
        let events = Events::resumable(number);
        if greets {
            // A place to come back to, even if the connection breaks before there is anything to say.
            events.push(Kind::Greeting, "");
        }
        let reader = events.read(None);
        if standalone.now().readers == 0 {
            // Questions of a suspended cell that nobody was there to hear.
            for (kind, text) in standalone.take_questions() {
                if let Kind::Question(question) = &kind {
                    self.questions.insert(question.clone(), number);
                }
                events.push(kind, text);
            }
        }
        self.last = number;
        self.streams.insert(
            number,
            Stream {
                events: Arc::clone(&events),
                unanswered: requests.len(),
                calls: requests.iter().any(super::is_call),
            },
        );
        Ok((number, events, reader))
    }

    /// Nobody wants a stream any more; gives its unanswered requests.
    pub(super) fn give_up(&mut self, number: u64) -> Vec<RequestId> {
        let unanswered = self.requests.iter().filter(|(_, stream)| **stream == number);
        let left: Vec<RequestId> = unanswered.map(|(id, _)| id.clone()).collect();
        for id in &left {
            self.settle(id, None);
        }
        left
    }

    /// A request is over; this is the answer, if it gets one.
    pub(super) fn settle(&mut self, id: &RequestId, answer: Option<(Kind, Vec<u8>)>) {
        let Some(number) = self.requests.remove(id) else {
            // Cancelled before, and the client told so.
            return;
        };
        let Some(stream) = self.streams.get_mut(&number) else {
            return;
        };
        if let Some((kind, text)) = answer {
            stream.events.push(kind, text);
        }
        stream.unanswered = stream.unanswered.saturating_sub(1);
        if stream.unanswered == 0 {
            stream.events.end();
            self.answered(number);
        }
    }

    /// A stream is over: nothing belongs on it any more, and not too many of its kind are kept.
    fn answered(&mut self, number: u64) {
        self.tokens.retain(|_, stream| *stream != number);
        self.answered.push_back(number);
        if self.answered.len() > MAX_REMEMBERED
            && let Some(oldest) = self.answered.pop_front()
        {
            self.streams.remove(&oldest);
        }
    }

    /// Asks the client something, where it reads the answer to a call of a tool: questions come up there.
    pub(super) fn ask(&mut self, question: RequestId, standalone: &Events, text: Vec<u8>) {
        let read = |stream: &Stream| {
            let now = stream.events.now();
            stream.calls && !now.over && now.readers > 0
        };
        let streams = self.streams.iter().filter(|(_, stream)| read(stream));
        let newest = streams.max_by_key(|(number, _)| **number);
        let (number, events) = newest.map_or((STANDALONE, standalone), |(number, stream)| {
            (*number, &*stream.events)
        });
        events.push(Kind::Question(question.clone()), text);
        self.questions.insert(question, number);
    }

    /// The client has answered a question.
    pub(super) fn is_answered(&mut self, question: &RequestId) {
        self.questions.remove(question);
    }

    /// A question is settled: takes it back if nobody has read it, and says so with this text otherwise.
    pub(super) fn take_back(&mut self, question: &RequestId, standalone: &Events, text: Vec<u8>) {
        let number = self.questions.remove(question);
        let stream = number.and_then(|number| self.streams.get(&number));
        let events = stream.map_or(standalone, |stream| &*stream.events);
        if !events.take_back(question) {
            let events = if events.now().over { standalone } else { events };
            events.push(Kind::Withdrawal, text);
        }
    }

    /// The stream of the request that wants its progress told under this token.
    pub(super) fn of_token(&self, token: &ProgressToken) -> Option<&Events> {
        let stream = self.streams.get(self.tokens.get(token)?)?;
        Some(&stream.events)
    }

    /// A stream that is open or not long over.
    pub(super) fn events(&self, number: u64) -> Option<Arc<Events>> {
        Some(Arc::clone(&self.streams.get(&number)?.events))
    }

    /// Nobody can come back for a stream any more.
    pub(super) fn forget(&mut self, number: u64) {
        self.streams.remove(&number);
    }

    /// Ends every stream.
    pub(super) fn close(&mut self) {
        for stream in self.streams.values() {
            stream.events.end();
        }
        self.requests.clear();
    }
}
