//! Tells a leg as it happens, as server-sent events.
use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use futures_util::{Stream, StreamExt};
use serde_json::Value;
use tokio::time::timeout;

use super::super::error::ApiError;
use super::leg::Piece;

/// How long a client hears nothing at most. Whoever is between it and us may take a longer silence for the end.
const SILENCE: Duration = Duration::from_secs(15);

/// One event of a stream.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Frame {
    pub(super) event: Option<&'static str>,
    pub(super) data: String,
}

impl Frame {
    /// An event without a name.
    pub(super) fn of(data: &Value) -> Self {
        Self {
            event: None,
            data: data.to_string(),
        }
    }
}

/// Spells what a leg tells.
pub(super) trait Spelling: Send + 'static {
    /// What comes first.
    fn begin(&mut self) -> Vec<Frame>;

    /// What a piece comes to; the last one ends the stream.
    fn piece(&mut self, piece: Piece) -> Vec<Frame>;

    /// What ends the stream of a leg that failed.
    fn failed(&mut self, error: &ApiError) -> Vec<Frame>;
}

/// Tells a leg as it happens.
///
/// Until there is something to tell, a failure is the response's status. But a client does not wait for that for ever:
/// cells may run for long before the model says its first word.
pub(super) async fn told(
    pieces: impl Stream<Item = Result<Piece, ApiError>> + Send + 'static,
    spelling: impl Spelling,
) -> Result<Response, ApiError> {
    told_every(SILENCE, pieces, spelling).await
}

async fn told_every(
    silence: Duration,
    pieces: impl Stream<Item = Result<Piece, ApiError>> + Send + 'static,
    mut spelling: impl Spelling,
) -> Result<Response, ApiError> {
    let mut pieces = Box::pin(pieces);
    let first = match timeout(silence, pieces.next()).await {
        Ok(first) => first.transpose()?,
        Err(_) => None,
    };
    let mut ready = VecDeque::from(spelling.begin());
    if let Some(piece) = first {
        ready.extend(spelling.piece(piece));
    }
    let frames = unfold(
        (ready, pieces, spelling),
        |(mut ready, mut pieces, mut spelling)| async {
            loop {
                if let Some(frame) = ready.pop_front() {
                    return Some((Ok::<_, Infallible>(event(frame)), (ready, pieces, spelling)));
                }
                match pieces.next().await? {
                    Ok(piece) => ready.extend(spelling.piece(piece)),
                    Err(error) => ready.extend(spelling.failed(&error)),
                }
            }
        },
    );
    let keep_alive = KeepAlive::new().interval(silence);
    Ok(Sse::new(frames).keep_alive(keep_alive).into_response())
}

fn event(frame: Frame) -> Event {
    let event = Event::default().data(frame.data);
    match frame.event {
        Some(name) => event.event(name),
        None => event,
    }
}

/// Waits for the end of a leg.
pub(super) async fn heard<S: Spelling>(
    pieces: impl Stream<Item = Result<Piece, ApiError>>,
    mut spelling: S,
) -> Result<S, ApiError> {
    let mut pieces = pin!(pieces);
    while let Some(piece) = pieces.next().await {
        spelling.piece(piece?);
    }
    Ok(spelling)
}

#[cfg(test)]
mod tests {
    use axum::body::BodyDataStream;
    use codecell_llm::Usage;
    use futures_util::stream;
    use serde_json::json;
    use tokio::sync::oneshot;

    use super::super::leg::Over;
    use super::*;

    /// Spells the names of what it is told.
    struct Names;

    impl Spelling for Names {
        fn begin(&mut self) -> Vec<Frame> {
            vec![Frame::of(&json!("begin"))]
        }

        fn piece(&mut self, piece: Piece) -> Vec<Frame> {
            match piece {
                Piece::Text { text, .. } => vec![Frame::of(&json!(text))],
                Piece::Over(..) => vec![Frame::of(&json!("over"))],
            }
        }

        fn failed(&mut self, _error: &ApiError) -> Vec<Frame> {
            vec![Frame::of(&json!("failed"))]
        }
    }

    fn over() -> Result<Piece, ApiError> {
        Ok(Piece::Over(Over::Done, Usage::default()))
    }

    fn failure() -> Result<Piece, ApiError> {
        Err(ApiError::bad_request("no", "no"))
    }

    async fn next(body: &mut BodyDataStream) -> Option<String> {
        let piece = body.next().await?.unwrap();
        Some(String::from_utf8(piece.to_vec()).unwrap())
    }

    const ALIVE: &str = ":\n\n";

    #[tokio::test]
    async fn a_failure_before_anything_was_told_is_a_status() {
        let error = told(stream::iter([failure()]), Names).await.unwrap_err();
        assert_eq!(error.body.code, Some("no"));
    }

    #[tokio::test]
    async fn a_client_hears_something_while_nothing_is_said() {
        for (piece, last) in [
            (over(), "data: \"over\"\n\n"),
            (failure(), "data: \"failed\"\n\n"),
        ] {
            let (say, said) = oneshot::channel();
            let pieces = stream::once(async { said.await.unwrap() });
            let response = told_every(Duration::from_millis(1), pieces, Names).await.unwrap();
            let mut body = response.into_body().into_data_stream();
            assert_eq!(next(&mut body).await.as_deref(), Some("data: \"begin\"\n\n"));
            assert_eq!(next(&mut body).await.as_deref(), Some(ALIVE));
            say.send(piece).unwrap();
            let mut rest = Vec::new();
            while let Some(piece) = next(&mut body).await {
                rest.push(piece);
            }
            rest.retain(|piece| piece != ALIVE);
            assert_eq!(rest, [last], "a failure by then is an event");
        }
    }
}
