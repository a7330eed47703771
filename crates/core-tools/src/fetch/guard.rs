//! The way out: only to addresses that were checked.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use codecell_tools::ToolError;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::address::is_public;
use crate::CoreToolsError;
use crate::lines::clip;

/// Hosts that may be reached although they are not public.
#[derive(Debug)]
pub(super) struct Allowed(Vec<(String, Option<u16>)>);

/// Why a name was not resolved to anything.
#[derive(Debug, thiserror::Error)]
#[error("`{host}` leads to {address}, which is not on the public internet")]
pub(super) struct Denied {
    host: String,
    address: IpAddr,
}

impl Allowed {
    pub(super) fn parse(hosts: &[String]) -> Result<Self, CoreToolsError> {
        let one = |host: &String| {
            let bad = || CoreToolsError::Host(host.clone());
            // A whole address of version 6 has colons but no port.
            if let Ok(address) = host.parse::<IpAddr>() {
                return Ok((address.to_string(), None));
            }
            // The one reader of addresses: what it makes of a host is what a call's URL is compared with.
            let url = Url::parse(&format!("http://{host}/")).map_err(|_| bad())?;
            let plain = url.path() == "/"
                && url.query().is_none()
                && url.fragment().is_none()
                && url.username().is_empty()
                && url.password().is_none();
            let name = name_of(&url).filter(|_| plain).ok_or_else(bad)?;
            let default = host.ends_with(":80").then_some(80);
            Ok((name, url.port().or(default)))
        };
        hosts.iter().map(one).collect::<Result<_, _>>().map(Self)
    }

    /// Whether the host is named here, with whatever port.
    fn names(&self, host: &str) -> bool {
        self.0.iter().any(|(name, _)| name == host)
    }

    fn allows(&self, host: &str, port: Option<u16>) -> bool {
        self.0
            .iter()
            .any(|(name, only)| name == host && (only.is_none() || *only == port))
    }
}

/// The host of a URL as names are compared: an address without brackets, a name without the dot at its end.
fn name_of(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    let host = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host);
    Some(host.strip_suffix('.').unwrap_or(host).to_owned())
}

/// Checks everything about a URL that can be checked without a name server.
pub(super) fn check_url(url: &Url, allowed: &Allowed) -> Result<(), ToolError> {
    let refuse = |why: &str| Err(ToolError::new("invalid_url", why.to_owned()));
    if !matches!(url.scheme(), "http" | "https") {
        return refuse(&format!(
            "only http and https are fetched, not `{}`",
            clip(url.scheme(), 40)
        ));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refuse("a URL must not carry a user name or password");
    }
    let Some(host) = name_of(url) else {
        return refuse("the URL has no host");
    };
    let port = url.port_or_known_default();
    if allowed.allows(&host, port) {
        return Ok(());
    }
    let shown = clip(&host, 100);
    if allowed.names(&host) {
        let message = format!(
            "`{shown}` is allowed, but not at port {}",
            port.unwrap_or_default()
        );
        return Err(ToolError::new("denied_address", message));
    }
    match host.parse::<IpAddr>() {
        Ok(address) if !is_public(address) => {
            let message = format!(
                "`{shown}` is not on the public internet; only configured hosts may be reached there"
            );
            Err(ToolError::new("denied_address", message))
        }
        _ => Ok(()),
    }
}

/// Looks names up and hands out an answer only if all of it is public. The client connects to just these addresses,
/// so that a name cannot be checked as one thing and used as another.
#[derive(Clone, Debug)]
pub(super) struct Guard(pub(super) Arc<Allowed>);

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let allowed = Arc::clone(&self.0);
        Box::pin(async move {
            let host = name.as_str();
            // The client replaces the port.
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host, 0)).await?.collect();
            let plain = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
            let bad = found.iter().find(|found| !is_public(found.ip()));
            match bad {
                Some(bad) if !allowed.names(&plain) => {
                    let (host, address) = (clip(host, 100), bad.ip());
                    Err(Denied { host, address }.into())
                }
                _ => Ok(Box::new(found.into_iter()) as Addrs),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_judged_before_anything_is_looked_up() {
        let hosts = [
            "localhost:3000",
            "Intranet.Example",
            "10.0.0.7",
            "[::1]:80",
            "::2",
        ]
        .map(str::to_owned);
        let allowed = Allowed::parse(&hosts).unwrap();
        let cases = [
            ("https://example.com/a?b", None),
            ("http://localhost:3000/", None),
            ("http://LOCALHOST.:3000/", None),
            ("http://localhost:22/", Some("denied_address")),
            ("https://intranet.example:8443/", None),
            ("http://10.0.0.7/", None),
            ("http://10.0.0.8/", Some("denied_address")),
            ("http://[::1]/", None),
            ("http://[::1]:81/", Some("denied_address")),
            ("http://[::2]:81/", None),
            ("http://[::ffff:127.0.0.1]/", Some("denied_address")),
            ("http://2130706433/", Some("denied_address")),
            ("http://0x7f.1/", Some("denied_address")),
            ("http://169.254.169.254/latest/meta-data", Some("denied_address")),
            ("http://user@example.com/", Some("invalid_url")),
            ("http://:secret@example.com/", Some("invalid_url")),
            ("ftp://example.com/", Some("invalid_url")),
            ("file:///etc/passwd", Some("invalid_url")),
        ];
        for (url, expected) in cases {
            let judged = check_url(&Url::parse(url).unwrap(), &allowed);
            assert_eq!(judged.err().map(|error| error.code), expected, "{url}");
        }
    }

    #[test]
    fn what_is_no_host_is_refused_when_configured() {
        for host in ["", "a/b", "a b", "http://a", "user@a", "a?b", "a:x"] {
            let parsed = Allowed::parse(&[host.to_owned()]);
            assert!(matches!(parsed, Err(CoreToolsError::Host(_))), "{host:?}");
        }
    }
}
