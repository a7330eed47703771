//! From bytes of an answer to events, without any transport.

use std::time::Duration;

use crate::{
    Api, Error, Event, Frame, Reply, StopReason,
    draft::Draft,
    wire::{chat, google, messages, responses},
};

/// Why an answer cannot be read on.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It is not what the protocol says.
    Malformed(String),
    /// The provider gave up, in its own words.
    Provider(String),
}

impl From<serde_json::Error> for Fault {
    fn from(error: serde_json::Error) -> Self {
        Self::Malformed(error.to_string())
    }
}

/// What a wire shape makes of a piece of an answer.
#[derive(Debug)]
pub(crate) enum Progress {
    More,
    Ended(StopReason),
}

#[derive(Debug)]
enum Wire {
    Responses,
    Chat(chat::State),
    Messages(messages::State),
    Google(google::State),
}

/// Decodes one streamed answer.
///
/// ```
/// use codecell_llm::{Api, Decoder, Event, Frame};
///
/// let mut decoder = Decoder::new(Api::OpenAiCompletions, "small");
/// let frame = |data: &str| Frame { event: None, data: data.into() };
/// let events = decoder.frame(&frame(r#"{"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}"#))?;
/// assert_eq!(events, [Event::Text("Hi".into())]);
/// let events = decoder.frame(&frame("[DONE]"))?;
/// assert!(matches!(&events[..], [Event::Done(reply)] if reply.text() == "Hi"));
/// # Ok::<(), codecell_llm::Error>(())
/// ```
#[derive(Debug)]
pub struct Decoder {
    wire: Wire,
    draft: Draft,
    ended: bool,
}

impl Decoder {
    /// A decoder for an answer of `model`, named as in the request.
    #[must_use]
    pub fn new(api: Api, model: &str) -> Self {
        let wire = match api {
            Api::OpenAiResponses => Wire::Responses,
            Api::OpenAiCompletions => Wire::Chat(chat::State::default()),
            Api::AnthropicMessages => Wire::Messages(messages::State::default()),
            Api::GoogleGenerateContent => Wire::Google(google::State::default()),
        };
        Self {
            wire,
            draft: Draft::new(api, model),
            ended: false,
        }
    }

    /// Takes the next event of the stream. After [`Event::Done`] or an error, what comes is ignored.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::Malformed`] or [`Error::Provider`], which keep what had arrived.
    pub fn frame(&mut self, frame: &Frame) -> Result<Vec<Event>, Error> {
        if self.ended {
            return Ok(Vec::new());
        }
        let progress = match &mut self.wire {
            Wire::Responses => responses::frame(&mut self.draft, frame),
            Wire::Chat(state) => state.frame(&mut self.draft, frame),
            Wire::Messages(state) => state.frame(&mut self.draft, frame),
            Wire::Google(state) => state.frame(&mut self.draft, frame),
        };
        match progress {
            Ok(Progress::More) => Ok(self.draft.take_events()),
            Ok(Progress::Ended(stop)) => Ok(self.done(stop)),
            Err(fault) => {
                self.ended = true;
                Err(broken(fault, &mut self.draft))
            }
        }
    }

    /// The stream has ended. Gives the last events, unless they came already.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::Interrupted`] when the answer is not complete.
    pub fn end(&mut self) -> Result<Vec<Event>, Error> {
        if self.ended {
            return Ok(Vec::new());
        }
        // These two say why they stopped before they stop; a missing last word changes nothing.
        let stop = match &mut self.wire {
            Wire::Chat(state) => state.stop(),
            Wire::Google(state) => state.stop(&self.draft),
            Wire::Responses | Wire::Messages(_) => None,
        };
        match stop {
            Some(stop) => Ok(self.done(stop)),
            None => Err(self.interrupted("the stream ended before the answer did".to_owned())),
        }
    }

    pub(crate) fn interrupted(&mut self, detail: String) -> Error {
        self.ended = true;
        let partial = self.draft.partial();
        Error::Interrupted { detail, partial }
    }

    pub(crate) fn malformed(&mut self, detail: String) -> Error {
        self.ended = true;
        broken(Fault::Malformed(detail), &mut self.draft)
    }

    pub(crate) fn cancelled(&mut self) -> Error {
        self.ended = true;
        Error::Cancelled {
            partial: self.draft.partial(),
        }
    }

    pub(crate) fn timed_out(&mut self, waited: Duration) -> Error {
        self.ended = true;
        let partial = self.draft.partial();
        Error::TimedOut { waited, partial }
    }

    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    fn done(&mut self, stop: StopReason) -> Vec<Event> {
        self.ended = true;
        let mut events = self.draft.take_events();
        events.push(Event::Done(self.draft.finish(stop)));
        events
    }
}

fn broken(fault: Fault, draft: &mut Draft) -> Error {
    let partial = draft.partial();
    match fault {
        Fault::Malformed(detail) => Error::Malformed { detail, partial },
        Fault::Provider(message) => Error::Provider { message, partial },
    }
}

/// Decodes an answer that came at once.
///
/// # Errors
///
/// Fails with [`Error::Malformed`] when it is not an answer of this protocol, and with [`Error::Provider`] when it
/// says that the provider gave up.
pub fn decode(api: Api, model: &str, body: &str) -> Result<Reply, Error> {
    let mut draft = Draft::new(api, model);
    let stop = match api {
        Api::OpenAiResponses => responses::whole(&mut draft, body),
        Api::OpenAiCompletions => chat::whole(&mut draft, body),
        Api::AnthropicMessages => messages::whole(&mut draft, body),
        Api::GoogleGenerateContent => google::whole(&mut draft, body),
    };
    match stop {
        Ok(stop) => Ok(draft.finish(stop)),
        Err(fault) => Err(broken(fault, &mut draft)),
    }
}
