//! Where a provider is: what a base URL may look like.
use std::net::IpAddr;

use codecell_llm::Api;
use reqwest::Url;

/// Hosts that belong to a provider. They are never spoken to in the clear.
const OFFICIAL_HOSTS: [&str; 4] = [
    "api.openai.com",
    "chatgpt.com",
    "api.anthropic.com",
    "generativelanguage.googleapis.com",
];

/// What the protocols put after a base URL, and people copy along with it.
const ENDPOINTS: [&str; 3] = ["/chat/completions", "/responses", "/messages"];

/// The base of the provider whose protocol this is.
pub(super) fn official(api: Api) -> &'static str {
    match api {
        Api::OpenAiResponses | Api::OpenAiCompletions => "https://api.openai.com/v1",
        Api::AnthropicMessages => "https://api.anthropic.com",
        Api::GoogleGenerateContent => "https://generativelanguage.googleapis.com/v1beta",
    }
}

/// Checks a base URL for one protocol. The host of the protocol's own provider without a path gets its usual one.
///
/// No message holds any of the text: people put keys into URLs.
pub(super) fn check(text: &str, api: Api) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| format!("is no URL: {error}"))?;
    let (true, Some(host)) = (matches!(url.scheme(), "http" | "https"), url.host_str()) else {
        return Err("must begin with `http://` or `https://`".to_owned());
    };
    let host = host.trim_end_matches('.');
    if !url.username().is_empty() || url.password().is_some() {
        return Err("holds a user name or a password: write the key into `apiKey` or `headers`".to_owned());
    }
    if url.fragment().is_some() {
        return Err("has a part after `#`, which is never sent: leave it out".to_owned());
    }
    if url.scheme() == "http" && OFFICIAL_HOSTS.contains(&host) {
        return Err(format!(
            "`{host}` must not be spoken to in the clear: begin with `https://`"
        ));
    }
    if is_link_local(host) {
        return Err(format!(
            "`{host}` is link-local, where clouds keep the credentials of a machine: no provider is reached there"
        ));
    }
    let path = url.path().trim_end_matches('/');
    if let Some(endpoint) = ENDPOINTS.iter().find(|endpoint| path.ends_with(**endpoint)) {
        return Err(format!(
            "is the address of one kind of request: leave out `{endpoint}`"
        ));
    }
    match Url::parse(official(api)) {
        Ok(official) if path.is_empty() && official.host_str() == Some(host) => {
            let mut url = url.clone();
            url.set_path(official.path());
            Ok(url)
        }
        _ => Ok(url),
    }
}

/// Whether what is sent can be read by others on its way.
pub(super) fn is_open_to_others(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let here = host == "localhost"
        || host.ends_with(".localhost")
        || address(host).is_some_and(|address| address.is_loopback());
    url.scheme() == "http" && !here
}

fn address(host: &str) -> Option<IpAddr> {
    host.trim_matches(['[', ']'])
        .parse()
        .ok()
        .map(|address: IpAddr| address.to_canonical())
}

/// Link-local addresses and the metadata services of clouds: a key sent there is lost, and what answers is no model.
fn is_link_local(host: &str) -> bool {
    if host == "metadata.google.internal" {
        return true;
    }
    match address(host) {
        Some(IpAddr::V4(address)) => address.is_link_local(),
        Some(IpAddr::V6(address)) => {
            address.is_unicast_link_local() || address.segments() == [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254]
        }
        None => false,
    }
}
