//! Who may come in: the bearer token, and where a browser says that a request comes from.
//!
//! A page of a foreign site can make its visitor's browser call a loopback address, or one of the visitor's network:
//! across origins, or under a name of its own that resolves to the address. The first shows in `Origin`, the second
//! in `Host`.
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::error::ApiError;
use super::{Arrival, Gateway, cors};

/// The rules at the door.
pub(crate) struct Front {
    /// Without one everybody who reaches the listener is let in.
    pub(crate) token: Option<Token>,
    /// Host names, beside the loopback ones, under which the server is reached.
    pub(crate) allowed_hosts: Vec<String>,
    /// Origins of web pages that may call.
    pub(crate) allowed_origins: Vec<String>,
    /// Largest body of a request.
    pub(crate) max_body_bytes: usize,
}

/// A bearer token. Its `Debug` does not show it.
pub(crate) struct Token(String);

impl Token {
    /// A token; surrounding blanks, such as the line end of a file, are no part of it. `None` if nothing is left.
    pub(crate) fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// Takes the same time wherever the first difference is.
    fn is(&self, other: &str) -> bool {
        let (ours, theirs) = (self.0.as_bytes(), other.as_bytes());
        let differences = ours.iter().zip(theirs).fold(0, |sum, (a, b)| sum | (a ^ b));
        differences == 0 && ours.len() == theirs.len()
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// Routes that anybody may ask: they tell nothing but whether the process is well.
const OPEN: [&str; 2] = ["/healthz", "/readyz"];

/// Lets a request in, or says why not.
pub(super) async fn admit(State(gateway): State<Arc<Gateway>>, request: Request, next: Next) -> Response {
    let here = request
        .extensions()
        .get::<ConnectInfo<Arrival>>()
        .and_then(|ConnectInfo(arrival)| arrival.address);
    let front = &gateway.front;
    let headers = request.headers();
    if let Err(error) = front.check_place(headers, here) {
        return error.into_response();
    }
    // Only one whose page may call has come this far.
    let origin = headers.get(header::ORIGIN).cloned();
    let mut response = if cors::is_preflight(&request) {
        StatusCode::NO_CONTENT.into_response()
    } else if let Err(error) = front.check_token(request.uri().path(), headers) {
        error.into_response()
    } else {
        next.run(request).await
    };
    if let Some(origin) = origin {
        cors::allow(origin, response.headers_mut());
    }
    response
}

impl Front {
    /// `here` is the address at which the connection arrived.
    fn check_place(&self, headers: &HeaderMap, here: Option<IpAddr>) -> Result<(), ApiError> {
        let forbidden = |code, message: String| ApiError::new(StatusCode::FORBIDDEN, code, message);
        // Browsers always send a host; only old clients send none.
        for host in texts(headers, header::HOST) {
            if !self.is_own_host(host, here) {
                return Err(forbidden(
                    "forbidden_host",
                    format!(
                        "this server does not answer for host `{host}`: add it to `serve.allowedHosts` if it should"
                    ),
                ));
            }
        }
        for origin in texts(headers, header::ORIGIN) {
            if !self.is_allowed_origin(origin, here) {
                return Err(forbidden(
                    "forbidden_origin",
                    format!(
                        "pages of `{origin}` may not call this server: add it to `serve.allowedOrigins` if they should"
                    ),
                ));
            }
        }
        Ok(())
    }

    fn check_token(&self, path: &str, headers: &HeaderMap) -> Result<(), ApiError> {
        let Some(token) = self.token.as_ref().filter(|_| !OPEN.contains(&path)) else {
            return Ok(());
        };
        let wrong = |message| {
            Err(ApiError::new(
                StatusCode::UNAUTHORIZED,
                "invalid_api_key",
                message,
            ))
        };
        let given = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| {
            let (scheme, token) = value.trim().split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        match given {
            Some(given) if token.is(given) => Ok(()),
            Some(_) => wrong("the bearer token is wrong"),
            None => wrong("a bearer token is needed: send `Authorization: Bearer TOKEN`"),
        }
    }

    /// A name of this machine, one that the configuration allows, or the very address the connection arrived at: no
    /// foreign name can resolve to an address and still be that address in `Host`.
    fn is_own_host(&self, host: &str, here: Option<IpAddr>) -> bool {
        let name = host_name(host);
        let whole = host.trim_end_matches('.');
        let is_it = |own: &String| {
            let bare = own.trim_start_matches('[').trim_end_matches(']');
            [own, bare].iter().any(|own| own.eq_ignore_ascii_case(name)) || own.eq_ignore_ascii_case(whole)
        };
        is_loopback(name) || is_address(name, here) || self.allowed_hosts.iter().any(is_it)
    }

    fn is_allowed_origin(&self, origin: &str, here: Option<IpAddr>) -> bool {
        let listed = self
            .allowed_origins
            .iter()
            .any(|allowed| allowed.eq_ignore_ascii_case(origin));
        let own = |(scheme, authority): (&str, &str)| {
            let name = host_name(authority);
            matches!(scheme, "http" | "https") && (is_loopback(name) || is_address(name, here))
        };
        listed || origin.split_once("://").is_some_and(own)
    }
}

/// Every value of a header. One that is no text is no name that anybody allowed.
fn texts(headers: &HeaderMap, name: HeaderName) -> impl Iterator<Item = &str> {
    headers
        .get_all(name)
        .into_iter()
        .map(|value| value.to_str().unwrap_or_default())
}

/// The host of `host:port`, without the brackets of an IPv6 address and the dot at the end of a full name.
fn host_name(authority: &str) -> &str {
    let after_bracket = authority.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let (name, port) = match after_bracket {
        Some((address, "")) => (address, ""),
        Some((address, rest)) => (address, rest.strip_prefix(':').unwrap_or(rest)),
        None => authority.rsplit_once(':').unwrap_or((authority, "")),
    };
    if port.bytes().all(|byte| byte.is_ascii_digit()) {
        name.trim_end_matches('.')
    } else {
        authority
    }
}

fn is_loopback(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost")
        || name
            .parse::<IpAddr>()
            .is_ok_and(|address| address.to_canonical().is_loopback())
}

fn is_address(name: &str, here: Option<IpAddr>) -> bool {
    let named = name.parse::<IpAddr>().ok();
    named.is_some_and(|named| here.is_some_and(|here| named.to_canonical() == here.to_canonical()))
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue, StatusCode, header};

    use super::{Front, Token};

    /// What the door says to a request with these headers: nothing, or the code of an error.
    fn verdict(front: &Front, path: &str, headers: &[(header::HeaderName, &str)]) -> Option<&'static str> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        let here = "192.168.1.5".parse().ok();
        let placed = front.check_place(&map, here);
        let error = placed.and_then(|()| front.check_token(path, &map)).err()?;
        let expected = match error.body.code {
            Some("invalid_api_key") => StatusCode::UNAUTHORIZED,
            _ => StatusCode::FORBIDDEN,
        };
        assert_eq!(error.status, expected);
        error.body.code
    }

    fn front(token: Option<&str>) -> Front {
        Front {
            token: token.and_then(Token::new),
            allowed_hosts: vec![
                "gateway.example".into(),
                "other.example:8443".into(),
                "[fd00::1]".into(),
            ],
            allowed_origins: vec!["https://app.example".into()],
            max_body_bytes: 1024,
        }
    }

    #[test]
    fn a_request_is_let_in_under_own_names_only() {
        let foreign = Some("forbidden_host");
        for (host, expected) in [
            ("localhost", None),
            ("LocalHost:4860", None),
            ("localhost.", None),
            ("127.0.0.1:4860", None),
            ("127.8.9.1", None),
            ("[::1]:4860", None),
            ("[::1]", None),
            ("[::ffff:127.0.0.1]:80", None),
            ("gateway.example", None),
            ("Gateway.Example:4860", None),
            ("gateway.example.:443", None),
            ("other.example:8443", None),
            ("[fd00::1]:4860", None),
            ("[fd00::1]", None),
            ("192.168.1.5:4860", None),
            ("[::ffff:192.168.1.5]:4860", None),
            ("192.168.1.6:4860", foreign),
            ("other.example", foreign),
            ("evil.example", foreign),
            ("evil.example:4860", foreign),
            ("localhost.evil.example", foreign),
            ("127.0.0.1.evil.example", foreign),
            ("localhost:80@evil.example", foreign),
            ("evil.example#localhost", foreign),
            ("[::1]evil.example", foreign),
            ("0.0.0.0", foreign),
            ("", foreign),
            ("loc\u{e4}lhost", foreign),
        ] {
            let found = verdict(&front(None), "/runs", &[(header::HOST, host)]);
            assert_eq!(found, expected, "{host}");
        }
        let twice = [(header::HOST, "localhost"), (header::HOST, "evil.example")];
        assert_eq!(verdict(&front(None), "/healthz", &twice), foreign);
        assert_eq!(verdict(&front(None), "/runs", &[]), None, "clients of HTTP/1.0");
    }

    #[test]
    fn pages_of_foreign_sites_are_kept_out() {
        let foreign = Some("forbidden_origin");
        for (origin, expected) in [
            ("http://localhost:3000", None),
            ("https://127.0.0.1", None),
            ("http://[::1]:4860", None),
            ("http://192.168.1.5:4860", None),
            ("https://app.example", None),
            ("HTTPS://APP.EXAMPLE", None),
            ("http://app.example", foreign),
            ("https://app.example:8443", foreign),
            ("https://app.example.evil.example", foreign),
            ("https://evil.example", foreign),
            ("https://gateway.example", foreign),
            ("chrome-extension://localhost", foreign),
            ("null", foreign),
            ("", foreign),
        ] {
            let headers = [(header::HOST, "localhost"), (header::ORIGIN, origin)];
            assert_eq!(verdict(&front(None), "/healthz", &headers), expected, "{origin}");
        }
    }

    #[test]
    fn a_token_is_asked_for_where_something_is_told() {
        let wrong = Some("invalid_api_key");
        for (path, given, expected) in [
            ("/runs", Some("Bearer secret"), None),
            ("/runs", Some("bearer  secret "), None),
            ("/runs", Some("Bearer secre"), wrong),
            ("/runs", Some("Bearer secrets"), wrong),
            ("/runs", Some("Bearer Secret"), wrong),
            ("/runs", Some("Bearer"), wrong),
            ("/runs", Some("Bearer "), wrong),
            ("/runs", Some("Basic secret"), wrong),
            ("/runs", Some("secret"), wrong),
            ("/runs", None, wrong),
            ("/metrics", None, wrong),
            ("/mcp", None, wrong),
            ("/healthz/", None, wrong),
            ("/healthz", None, None),
            ("/readyz", None, None),
        ] {
            let headers: Vec<_> = given
                .map(|given| (header::AUTHORIZATION, given))
                .into_iter()
                .collect();
            let found = verdict(&front(Some("secret\n")), path, &headers);
            assert_eq!(found, expected, "{path} {given:?}");
        }
        assert_eq!(verdict(&front(None), "/runs", &[]), None);
        assert_eq!(format!("{:?}", Token::new("secret").unwrap()), "Token(…)");
        assert!(Token::new(" \n").is_none());
    }
}
