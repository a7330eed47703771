//! `web_fetch`: a text from the public internet.

mod address;
mod guard;
mod text;

use std::error::Error;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use codecell_tools::{BoxFuture, Tool, ToolCall, ToolDefinition, ToolError, ToolResult};
use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, LOCATION};
use reqwest::{Client, Response, Url, redirect};
use serde::{Deserialize, Serialize};
use serde_json::json;

use self::guard::{Allowed, Denied, Guard, check_url};
use crate::CoreToolsError;
use crate::adapter::{Effect, arguments, closed, define, value};
use crate::lines::clip;
use crate::problem;

/// Most redirects that are followed.
const MAX_REDIRECTS: usize = 5;

/// Bytes of one answer unless the caller says otherwise.
const DEFAULT_BYTES: usize = 256 << 10;

/// Time to connect to a host.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);

/// The limits of the fetcher.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebFetchConfig {
    /// Hosts that may be reached although they are not on the public internet: `name`, `name:port`, an address or
    /// `[address]:port`. Without a port all ports are meant.
    pub allowed_hosts: Vec<String>,
    /// Most bytes of a body that a call may ask for.
    pub max_bytes: usize,
    /// Time for a call, with all its redirects.
    pub limit: Duration,
}

impl Default for WebFetchConfig {
    /// No exceptions, 2 MiB, 30 seconds.
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            max_bytes: 2 << 20,
            limit: Duration::from_secs(30),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Arguments {
    url: String,
    max_bytes: Option<usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    url: String,
    status: u16,
    content_type: String,
    text: String,
    truncated: bool,
}

pub(crate) struct WebFetch {
    definition: ToolDefinition,
    fetcher: Arc<Fetcher>,
}

pub(crate) fn tool(config: WebFetchConfig) -> Result<WebFetch, CoreToolsError> {
    let allowed = Arc::new(Allowed::parse(&config.allowed_hosts)?);
    let definition = define(
        "web_fetch",
        "Fetch a URL",
        "Fetch a text by http or https (GET) and give it as it is, HTML as HTML. Follows up to 5 redirects; `url` is where it \
         ended, `status` may be an error's. Long texts are cut at `maxBytes` (default 262144). Only the public internet is \
         reached, and binary content is refused.",
        [
            closed(
                json!({
                    "url": { "type": "string" },
                    "maxBytes": { "type": "integer", "minimum": 1, "maximum": config.max_bytes },
                }),
                &["url"],
            ),
            closed(
                json!({
                    "url": { "type": "string" },
                    "status": { "type": "integer" },
                    "contentType": { "type": "string" },
                    "text": { "type": "string" },
                    "truncated": { "type": "boolean" },
                }),
                &["url", "status", "contentType", "text", "truncated"],
            ),
        ],
        Effect::ReadsWorld,
    );
    let fetcher = Arc::new(Fetcher {
        allowed,
        config,
        plain: OnceLock::new(),
        secure: OnceLock::new(),
    });
    Ok(WebFetch { definition, fetcher })
}

impl Tool for WebFetch {
    fn definition(&self) -> ToolDefinition {
        self.definition.clone()
    }

    fn call(&self, call: ToolCall) -> BoxFuture<Result<ToolResult, ToolError>> {
        let fetcher = Arc::clone(&self.fetcher);
        Box::pin(async move {
            let given: Arguments = arguments(&call)?;
            let limit = fetcher.config.limit;
            tokio::select! {
                biased;
                () = call.cancel.cancelled() => Err(problem::cancelled()),
                done = fetcher.fetch(given) => value(&done?),
                () = tokio::time::sleep(limit) => {
                    let message = format!("the answer did not come within {} ms", limit.as_millis());
                    Err(ToolError::new("timed_out", message))
                }
            }
        })
    }
}

struct Fetcher {
    allowed: Arc<Allowed>,
    config: WebFetchConfig,
    /// For http: works on machines without any certificate store.
    plain: OnceLock<Client>,
    secure: OnceLock<Client>,
}

impl Fetcher {
    async fn fetch(&self, given: Arguments) -> Result<Answer, ToolError> {
        let max = given
            .max_bytes
            .unwrap_or(DEFAULT_BYTES)
            .min(self.config.max_bytes);
        let mut url = Url::parse(&given.url).map_err(|error| {
            let message = format!("`{}` is no URL: {error}", clip(&given.url, 200));
            ToolError::new("invalid_url", message)
        })?;
        url.set_fragment(None);
        for _ in 0..=MAX_REDIRECTS {
            check_url(&url, &self.allowed)?;
            let response = self
                .client(&url)?
                .get(url.clone())
                .header(
                    ACCEPT,
                    "text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.5",
                )
                .send()
                .await
                .map_err(failed)?;
            match next(&url, &response)? {
                Some(target) => url = target,
                None => return read(url, response, max).await,
            }
        }
        let message = format!(
            "more than {MAX_REDIRECTS} redirects; the last one leads to `{}`",
            clip(url.as_str(), 200)
        );
        Err(ToolError::new("too_many_redirects", message))
    }

    fn client(&self, url: &Url) -> Result<Client, ToolError> {
        let (kept, secure) = match url.scheme() {
            "https" => (&self.secure, true),
            _ => (&self.plain, false),
        };
        if let Some(client) = kept.get() {
            return Ok(client.clone());
        }
        // Whoever in this process needs it first installs it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .connect_timeout(CONNECT_LIMIT)
            .user_agent(concat!("codecell/", env!("CARGO_PKG_VERSION")))
            // Redirects are followed here, where each is checked.
            .redirect(redirect::Policy::none())
            // A proxy would look names up by itself, unchecked.
            .no_proxy()
            .dns_resolver(Guard(Arc::clone(&self.allowed)));
        if !secure {
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(failed)?;
        Ok(kept.get_or_init(|| client).clone())
    }
}

/// Where an answer redirects to, if it does.
fn next(url: &Url, response: &Response) -> Result<Option<Url>, ToolError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = header(response.headers(), &LOCATION) else {
        return Ok(None);
    };
    let mut target = url.join(&location).map_err(|error| {
        let message = format!("the server redirects to `{}`: {error}", clip(&location, 200));
        ToolError::new("invalid_url", message)
    })?;
    target.set_fragment(None);
    Ok(Some(target))
}

async fn read(url: Url, mut response: Response, max: usize) -> Result<Answer, ToolError> {
    let content_type = header(response.headers(), &CONTENT_TYPE).unwrap_or_default();
    let encoding = header(response.headers(), &CONTENT_ENCODING).unwrap_or_default();
    let encoded = !encoding.is_empty() && !encoding.eq_ignore_ascii_case("identity");
    if encoded || !text::is_textual(&content_type) {
        let size = match response.content_length() {
            Some(bytes) => format!("{bytes} bytes"),
            None => "size unknown".to_owned(),
        };
        let kind = if encoded { &encoding } else { &content_type };
        let message = format!("the answer is `{}` ({size}), not text", clip(kind, 100));
        return Err(ToolError::new("not_text", message));
    }
    let mut body = Vec::new();
    let mut truncated = false;
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        let room = max - body.len();
        body.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
        if chunk.len() > room {
            truncated = true;
            break;
        }
    }
    Ok(Answer {
        status: response.status().as_u16(),
        text: text::decode(&content_type, &body, truncated)?,
        url: url.into(),
        content_type,
        truncated,
    })
}

fn header(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    let value = headers.get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// The innermost cause says what happened. A refusal of ours is told from a failure of theirs.
fn failed(error: reqwest::Error) -> ToolError {
    let error = error.without_url();
    let mut cause: &(dyn Error + 'static) = &error;
    while let Some(inner) = cause.source() {
        cause = inner;
        if let Some(denied) = cause.downcast_ref::<Denied>() {
            return ToolError::new("denied_address", denied.to_string());
        }
    }
    ToolError::new("unreachable", format!("the server cannot be reached: {cause}"))
}
