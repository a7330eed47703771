//! `serve` of our own configuration: who reaches the server, and where.
use std::net::SocketAddr;

use reqwest::Url;
use serde_json::Value;

use super::{
    block::{Block, Wrong, fail, refuse},
    expand::{self, Lookup},
    problem::Report,
    secret::Secret,
    text::show,
};

/// Largest body of a request unless the configuration says otherwise.
const DEFAULT_BODY_BYTES: u64 = 4 * 1024 * 1024;

/// What the limit may be.
const MIN_BODY_BYTES: u64 = 1024;
const MAX_BODY_BYTES: u64 = 64 * 1024 * 1024;

/// `serve`. What is wrong in it is an error: a server that starts anyway is reached by others than was meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServeSettings {
    /// `listen`: where it listens.
    pub listen: Option<SocketAddr>,
    /// `token`: what clients have to know.
    pub token: Option<Secret>,
    /// `allowedHosts`: names under which it may be reached beside its own addresses, in lower case, each for every
    /// port unless it has one.
    pub allowed_hosts: Vec<String>,
    /// `allowedOrigins`: whose pages may call it, as browsers write it in `Origin`.
    pub allowed_origins: Vec<String>,
    /// `maxBodyBytes`, 1024 to 67108864: largest body of a request.
    pub max_body_bytes: u64,
}

impl Default for ServeSettings {
    fn default() -> Self {
        Self {
            listen: None,
            token: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            max_body_bytes: DEFAULT_BODY_BYTES,
        }
    }
}

/// Reads the block over `settings`.
pub(super) fn read(
    value: &Value,
    path: &str,
    settings: &mut ServeSettings,
    lookup: &Lookup<'_>,
    report: &mut Report<'_>,
) {
    let Some(mut block) = Block::open(value, path, Wrong::Hidden, report) else {
        return;
    };
    if let Some(listen) = listen(&mut block) {
        settings.listen = Some(listen);
    }
    if let Some(token) = token(&mut block, lookup) {
        settings.token = Some(token);
    }
    if let Some(hosts) = each(&mut block, "allowedHosts", "a name like `gateway.example`", host) {
        settings.allowed_hosts = hosts;
    }
    if let Some(origins) = each(
        &mut block,
        "allowedOrigins",
        "an origin like `https://app.example`",
        origin,
    ) {
        settings.allowed_origins = origins;
    }
    if let Some(bytes) = block.number("maxBodyBytes", MIN_BODY_BYTES, MAX_BODY_BYTES) {
        settings.max_body_bytes = bytes;
    }
    block.finish();
}

fn listen(block: &mut Block<'_, '_, '_>) -> Option<SocketAddr> {
    let (path, value) = block.get("listen")?;
    let address = value.as_str().and_then(|text| text.parse().ok());
    if address.is_none() {
        let message = format!(
            "expected an IP address and a port like `127.0.0.1:4860`, got `{}`",
            show(value)
        );
        fail(&path, message, block.report());
    }
    address
}

fn token(block: &mut Block<'_, '_, '_>, lookup: &Lookup<'_>) -> Option<Secret> {
    let (path, value) = block.get("token")?;
    let Value::String(text) = value else {
        refuse(&path, "a string", value, block.report());
        return None;
    };
    let message = match expand::expand(text, lookup) {
        Ok(token) if token.is_empty() => "is empty: leave it out if no token is meant".to_owned(),
        Ok(token) if token.chars().all(|c| c.is_ascii_graphic()) => return Some(Secret::new(token)),
        Ok(_) => {
            "has characters that no bearer token may have: use letters, digits and punctuation".to_owned()
        }
        Err(error) => error.to_string(),
    };
    fail(&path, message, block.report());
    None
}

/// The entries of a list, each brought into the form in which it is compared.
fn each(
    block: &mut Block<'_, '_, '_>,
    key: &'static str,
    expected: &str,
    read: fn(&str) -> Option<String>,
) -> Option<Vec<String>> {
    let (path, value) = block.get(key)?;
    let Value::Array(items) = value else {
        refuse(&path, "an array of strings", value, block.report());
        return None;
    };
    let mut found = Vec::new();
    for (index, item) in items.iter().enumerate() {
        match item.as_str().and_then(read) {
            Some(text) => found.push(text),
            None => {
                let message = format!("expected {expected}, got `{}`", show(item));
                fail(&format!("{path}[{index}]"), message, block.report());
            }
        }
    }
    Some(found)
}

/// A host, with a port or without. The usual ports are dropped, as clients drop them.
fn host(text: &str) -> Option<String> {
    let whole = !text.contains(['/', '\\', '?', '#', '@', '*']) && !text.contains(char::is_whitespace);
    // Of the two schemes each drops one of the usual ports.
    let url = Url::parse(&format!("https://{text}")).ok().filter(|_| whole)?;
    let host = url.host_str()?.trim_end_matches('.').to_owned();
    Some(match url.port() {
        None | Some(80) => host,
        Some(port) => format!("{host}:{port}"),
    })
}

/// A scheme, a host and perhaps a port. A slash at the end is forgiven, because addresses are copied with it.
fn origin(text: &str) -> Option<String> {
    let url = Url::parse(text).ok().filter(|_| !text.contains('*'))?;
    let bare = matches!(url.path(), "" | "/")
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none();
    let host = url.host_str().filter(|host| bare && !host.is_empty())?;
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    Some(format!("{}://{host}{port}", url.scheme()))
}
