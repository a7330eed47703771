//! Where a provider is and how it is spoken to.

use std::time::Duration;

use reqwest::{
    Url,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue},
};

use crate::{Api, Delivery, Error, Retries, Secret};

/// A provider.
#[derive(Debug, Clone)]
pub struct Provider {
    /// Its protocol.
    pub api: Api,
    /// Its base, to which the protocol's path is added. `OpenAI`'s ends with `/v1`, Google's with `/v1beta`;
    /// Anthropic's may end with `/v1` or not.
    pub base_url: String,
    /// The key, sent where the protocol wants it. A local server may need none.
    pub key: Option<Secret>,
    /// Further headers. They replace those of the protocol, the key's included.
    pub headers: Vec<(String, Secret)>,
    /// How long to wait for it.
    pub timeouts: Timeouts,
    /// How often to try.
    pub retries: Retries,
}

impl Provider {
    /// A provider with the usual patience and no further headers.
    #[must_use]
    pub fn new(api: Api, base_url: impl Into<String>, key: Option<Secret>) -> Self {
        Self {
            api,
            base_url: base_url.into(),
            key,
            headers: Vec::new(),
            timeouts: Timeouts::default(),
            retries: Retries::default(),
        }
    }

    /// What a request is posted to.
    pub(crate) fn endpoint(&self, model: &str, delivery: Delivery) -> Result<Url, Error> {
        let unusable = |why: &str| Error::Settings(format!("the base URL {why}"));
        let mut url = Url::parse(&self.base_url).map_err(|error| unusable(&format!("is none: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(unusable("must begin with `http://` or `https://`"));
        }
        let versioned = url.path().trim_end_matches('/').ends_with("/v1");
        let method = match delivery {
            Delivery::Streamed => "streamGenerateContent",
            Delivery::Whole => "generateContent",
        };
        let called = format!("{}:{method}", model.trim_start_matches("models/"));
        let path: &[&str] = match self.api {
            Api::OpenAiResponses => &["responses"],
            Api::OpenAiCompletions => &["chat", "completions"],
            Api::AnthropicMessages if versioned => &["messages"],
            Api::AnthropicMessages => &["v1", "messages"],
            Api::GoogleGenerateContent => &["models", &called],
        };
        url.path_segments_mut()
            .map_err(|()| unusable("cannot have a path"))?
            .pop_if_empty()
            .extend(path);
        if self.api == Api::GoogleGenerateContent && delivery == Delivery::Streamed {
            url.query_pairs_mut().append_pair("alt", "sse");
        }
        Ok(url)
    }

    pub(crate) fn header_map(&self) -> Result<HeaderMap, Error> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.api == Api::AnthropicMessages {
            headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        }
        if let Some(key) = &self.key {
            let key = key.expose();
            let (name, text) = match self.api {
                Api::OpenAiResponses | Api::OpenAiCompletions => (AUTHORIZATION, format!("Bearer {key}")),
                Api::AnthropicMessages => (HeaderName::from_static("x-api-key"), key.to_owned()),
                Api::GoogleGenerateContent => (HeaderName::from_static("x-goog-api-key"), key.to_owned()),
            };
            headers.insert(name, hidden(&text, "the key")?);
        }
        for (name, secret) in &self.headers {
            let what = format!("the header `{name}`");
            let name: HeaderName = name
                .parse()
                .map_err(|_| Error::Settings(format!("{what} has a name that is none")))?;
            headers.insert(name, hidden(secret.expose(), &what)?);
        }
        Ok(headers)
    }

    /// `text` without the key and without the values of headers.
    pub(crate) fn without_secrets(&self, text: &str) -> String {
        let secrets = self.headers.iter().map(|(_, secret)| secret).chain(&self.key);
        // What is very short is no secret, and is in every text.
        secrets
            .map(Secret::expose)
            .filter(|secret| secret.len() >= 6)
            .fold(text.to_owned(), |text, secret| text.replace(secret, "[hidden]"))
    }
}

fn hidden(text: &str, what: &str) -> Result<HeaderValue, Error> {
    let mut value = HeaderValue::from_str(text)
        .map_err(|_| Error::Settings(format!("{what} has characters that no header may have")))?;
    value.set_sensitive(true);
    Ok(value)
}

/// How long to wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection.
    pub connect: Duration,
    /// For the head of an answer. Models think before they begin.
    pub response: Duration,
    /// For each next piece of an answer.
    pub idle: Duration,
}

impl Default for Timeouts {
    /// 10 seconds, 10 minutes, 2 minutes.
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            response: Duration::from_secs(600),
            idle: Duration::from_secs(120),
        }
    }
}
