//! The transport.

use std::time::{Duration, SystemTime};

use reqwest::{Response, Url, header::HeaderMap, redirect};
use serde_json::Value;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::{
    Api, Decoder, Delivery, Error, Partial, Provider, Reply, ReplyStream, Request,
    debug::{self, TRANSPORT, head},
    decode::decode,
    encode, retry,
};

/// Checks a body as the last step before it leaves, and may take something out of it.
///
/// What it returns as an error becomes [`Error::Guard`], and nothing is sent. It is asked once per request, not once
/// per try: every try sends the same bytes.
pub type Guard<'a> = dyn Fn(&mut Value) -> Result<(), String> + Send + Sync + 'a;

/// Most characters of an error's text that are kept, and most bytes that are read for them.
const ERROR_CHARS: usize = 2_000;
const ERROR_BYTES: usize = 64 * 1024;

/// Most bytes of an answer that comes at once.
const WHOLE_BYTES: usize = 64 * 1024 * 1024;

/// Asks models of one provider. Cheap to clone; connections are shared.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    provider: Provider,
    headers: HeaderMap,
}

/// Connections that are kept for later. After a rush they would otherwise stay for minutes.
const IDLE_CONNECTIONS: usize = 32;

/// Why one try failed.
enum Failed {
    /// For good.
    Now(Error),
    /// Maybe not the next time. The wait is what the provider asked for.
    Again(Error, Option<Duration>),
}

impl Client {
    /// A client. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Fails with [`Error::Settings`] when the base URL, the key or a header cannot be used.
    pub fn new(provider: Provider) -> Result<Self, Error> {
        provider.endpoint("model", Delivery::Whole)?;
        let headers = provider.header_map()?;
        // Fails only when there is one already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .connect_timeout(provider.timeouts.connect)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .user_agent(concat!("codecell/", env!("CARGO_PKG_VERSION")))
            // The key goes to the configured server and to no other.
            .redirect(redirect::Policy::none())
            .build()
            .map_err(|error| Error::Settings(cause(error)))?;
        Ok(Self {
            http,
            provider,
            headers,
        })
    }

    /// The wire format it speaks.
    #[must_use]
    pub fn api(&self) -> Api {
        self.provider.api
    }

    /// Asks, and gives the answer as it arrives. Returns when the first event has arrived.
    ///
    /// The connection is closed when `cancel` fires or the stream is dropped.
    ///
    /// # Errors
    ///
    /// Fails when the guard refuses the body, or when no try gets to a first event.
    pub async fn stream(
        &self,
        request: &Request,
        guard: &Guard<'_>,
        cancel: &CancellationToken,
    ) -> Result<ReplyStream, Error> {
        let (url, body) = self.prepare(request, Delivery::Streamed, guard)?;
        self.repeat(cancel, || async {
            let response = self.send(url.clone(), body.clone()).await?;
            let decoder = Decoder::new(self.provider.api, &request.model);
            let idle = self.provider.timeouts.idle;
            let mut stream = ReplyStream::new(response, decoder, idle, cancel.clone());
            match stream.begin().await {
                Ok(()) => Ok(stream),
                Err(error @ Error::Interrupted { .. }) => Err(Failed::Again(error, None)),
                Err(error) => Err(Failed::Now(error)),
            }
        })
        .await
    }

    /// Asks, and gives the whole answer at once.
    ///
    /// # Errors
    ///
    /// Fails when the guard refuses the body, when no try gets an answer, or when the answer cannot be read.
    pub async fn complete(
        &self,
        request: &Request,
        guard: &Guard<'_>,
        cancel: &CancellationToken,
    ) -> Result<Reply, Error> {
        let (url, body) = self.prepare(request, Delivery::Whole, guard)?;
        let answer = self
            .repeat(cancel, || async {
                let response = self.send(url.clone(), body.clone()).await?;
                let (bytes, all) = self.read(response, WHOLE_BYTES).await?;
                if all {
                    return Ok(bytes);
                }
                Err(Failed::Now(Error::Malformed {
                    detail: format!("the answer is larger than {WHOLE_BYTES} bytes"),
                    partial: Box::default(),
                }))
            })
            .await?;
        decode(
            self.provider.api,
            &request.model,
            &String::from_utf8_lossy(&answer),
        )
    }

    fn prepare(
        &self,
        request: &Request,
        delivery: Delivery,
        guard: &Guard<'_>,
    ) -> Result<(Url, Vec<u8>), Error> {
        let url = self.provider.endpoint(&request.model, delivery)?;
        let mut body = encode(self.provider.api, request, delivery);
        guard(&mut body).map_err(Error::Guard)?;
        debug::body(&body, &request.model);
        Ok((url, body.to_string().into_bytes()))
    }

    async fn repeat<T, F: Future<Output = Result<T, Failed>>>(
        &self,
        cancel: &CancellationToken,
        attempt: impl Fn() -> F,
    ) -> Result<T, Error> {
        let cancelled = || Error::Cancelled {
            partial: Box::<Partial>::default(),
        };
        let mut attempts = 0;
        loop {
            attempts += 1;
            let tried = cancel
                .run_until_cancelled(attempt())
                .await
                .ok_or_else(cancelled)?;
            let (error, asked) = match tried {
                Ok(done) => return Ok(done),
                Err(Failed::Now(error)) => return Err(counted(error, attempts)),
                Err(Failed::Again(error, asked)) => (counted(error, attempts), asked),
            };
            let Some(wait) = self.provider.retries.wait(attempts, asked) else {
                return Err(error);
            };
            tracing::debug!(target: TRANSPORT, attempts, wait_ms = wait.as_millis(), "again: {error}");
            cancel
                .run_until_cancelled(sleep(wait))
                .await
                .ok_or_else(cancelled)?;
        }
    }

    /// Sends, and gives an answer that is no error.
    async fn send(&self, url: Url, body: Vec<u8>) -> Result<Response, Failed> {
        tracing::debug!(target: TRANSPORT, api = %self.provider.api, bytes = body.len(), "request");
        let limit = self.provider.timeouts.response;
        let sending = self
            .http
            .post(url)
            .headers(self.headers.clone())
            .body(body)
            .send();
        let response = match timeout(limit, sending).await {
            Err(_) => return Err(Failed::Now(silent(limit))),
            Ok(Err(error)) => {
                let detail = self.provider.without_secrets(&cause(error));
                return Err(Failed::Again(Error::Unreachable { detail, attempts: 0 }, None));
            }
            Ok(Ok(response)) => response,
        };
        let status = response.status().as_u16();
        tracing::debug!(target: TRANSPORT, api = %self.provider.api, status, "response");
        if response.status().is_success() {
            return Ok(response);
        }
        let retry_after = retry::retry_after(response.headers(), SystemTime::now());
        // A status says enough, if its text cannot be had.
        let text = self.read(response, ERROR_BYTES).await.unwrap_or_default().0;
        let message = said(&String::from_utf8_lossy(&text));
        let error = Error::Status {
            status,
            message: head(&self.provider.without_secrets(&message), ERROR_CHARS),
            retry_after,
            attempts: 0,
        };
        Err(if retry::retryable(status) {
            Failed::Again(error, retry_after)
        } else {
            Failed::Now(error)
        })
    }

    /// At most `most` bytes of a body, and whether that is all of it.
    async fn read(&self, mut response: Response, most: usize) -> Result<(Vec<u8>, bool), Failed> {
        let limit = self.provider.timeouts.idle;
        let mut body = Vec::new();
        loop {
            match timeout(limit, response.chunk()).await {
                Err(_) => return Err(Failed::Now(silent(limit))),
                Ok(Err(error)) => {
                    let (detail, partial) = (cause(error), Box::default());
                    return Err(Failed::Again(Error::Interrupted { detail, partial }, None));
                }
                Ok(Ok(None)) => return Ok((body, true)),
                Ok(Ok(Some(chunk))) => {
                    let room = most - body.len();
                    body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
                    if chunk.len() > room {
                        return Ok((body, false));
                    }
                }
            }
        }
    }
}

fn silent(waited: Duration) -> Error {
    Error::TimedOut {
        waited,
        partial: Box::default(),
    }
}

fn counted(mut error: Error, tried: u32) -> Error {
    if let Error::Status { attempts, .. } | Error::Unreachable { attempts, .. } = &mut error {
        *attempts = tried;
    }
    error
}

/// What an error's body says: the message in it, or all of it.
fn said(body: &str) -> String {
    let parsed: Value = serde_json::from_str(body).unwrap_or_default();
    // Google wraps the errors of streams in a list.
    let parsed = parsed.get(0).unwrap_or(&parsed);
    let error = parsed.get("error").unwrap_or(parsed);
    let message = error.get("message").unwrap_or(error).as_str();
    let message = message.unwrap_or_else(|| body.trim());
    if message.is_empty() {
        "no reason given".to_owned()
    } else {
        message.to_owned()
    }
}

/// The innermost cause says what happened; the URL is left out, because it may hold a token.
pub(crate) fn cause(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
