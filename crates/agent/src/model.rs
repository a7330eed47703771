use codecell_llm::{Api, Client, Error, Event, Guard, ReplyStream, Request};
use tokio_util::sync::CancellationToken;

/// A model that can be asked. [`Client`] is one.
pub trait Model: Send + Sync + 'static {
    /// Its wire format, which the guard of a body has to know.
    fn api(&self) -> Api;

    /// Asks, and gives the answer as it arrives.
    fn ask<'a>(
        &'a self,
        request: &'a Request,
        guard: &'a Guard<'a>,
        cancel: &'a CancellationToken,
    ) -> Asking<'a>;
}

/// The future of [`Model::ask`].
pub type Asking<'a> =
    std::pin::Pin<Box<dyn Future<Output = Result<Box<dyn ModelStream>, Error>> + Send + 'a>>;

/// An answer that is still arriving.
pub trait ModelStream: Send {
    /// The next event; `None` after [`Event::Done`] or an error.
    fn next(&mut self) -> Arriving<'_>;
}

/// The future of [`ModelStream::next`].
pub type Arriving<'a> = std::pin::Pin<Box<dyn Future<Output = Option<Result<Event, Error>>> + Send + 'a>>;

impl Model for Client {
    fn api(&self) -> Api {
        Client::api(self)
    }

    fn ask<'a>(
        &'a self,
        request: &'a Request,
        guard: &'a Guard<'a>,
        cancel: &'a CancellationToken,
    ) -> Asking<'a> {
        Box::pin(async move {
            let stream = self.stream(request, guard, cancel).await?;
            Ok(Box::new(stream) as Box<dyn ModelStream>)
        })
    }
}

impl ModelStream for ReplyStream {
    fn next(&mut self) -> Arriving<'_> {
        Box::pin(ReplyStream::next(self))
    }
}
