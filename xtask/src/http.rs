//! HTTP/1.1 on loopback, both ends of it, small enough to be trusted as a measuring instrument.
//!
//! Nothing here is shared with the product: an error there must not be answered by the same error here.

use std::{
    io::{self, BufRead, Read, Write},
    net::{SocketAddr, TcpStream},
    time::Duration,
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// The first line of a message and its headers.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    /// A request line or a status line.
    pub(crate) first: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
}

impl Head {
    /// Reads a head; `None` if the connection ends before it begins.
    pub(crate) fn read(reader: &mut impl BufRead) -> Result<Option<Head>> {
        let Some(first) = line(reader)? else {
            return Ok(None);
        };
        let mut headers = Vec::new();
        loop {
            let line = line(reader)?.context("a connection ended within a head")?;
            if line.is_empty() {
                return Ok(Some(Head { first, headers }));
            }
            let (name, value) = line
                .split_once(':')
                .with_context(|| format!("no header: `{line}`"))?;
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
    }

    /// The value of a header, by its name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// The body that follows; without a length it is what is left of the connection, or nothing in a request.
    pub(crate) fn body<R: BufRead>(&self, reader: R) -> Result<Body<R>> {
        let framing = if self
            .header("transfer-encoding")
            .is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"))
        {
            Framing::Chunked { left: 0 }
        } else if let Some(length) = self.header("content-length") {
            Framing::Length(length.parse().context("a bad content length")?)
        } else if self.first.starts_with("HTTP/") {
            Framing::Connection
        } else {
            Framing::Length(0)
        };
        Ok(Body { reader, framing })
    }
}

fn line(reader: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    reader.read_until(b'\n', &mut bytes)?;
    if bytes.is_empty() {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
}

enum Framing {
    Length(u64),
    Chunked { left: u64 },
    Connection,
}

/// A body as it arrives. One that breaks off is an error, not a short body.
pub(crate) struct Body<R> {
    reader: R,
    framing: Framing,
}

impl<R: BufRead> Body<R> {
    /// All of it.
    pub(crate) fn text(mut self) -> Result<String> {
        let mut bytes = Vec::new();
        self.read_to_end(&mut bytes).context("reading a body")?;
        String::from_utf8(bytes).context("a body that is no UTF-8")
    }

    /// Reads the length of the next chunk; the last one has none.
    fn chunk(&mut self) -> io::Result<u64> {
        let broken = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let size = line(&mut self.reader)?.ok_or_else(broken)?;
        let digits = size.split(';').next().unwrap_or_default();
        let size = u64::from_str_radix(digits.trim(), 16).map_err(io::Error::other)?;
        if size == 0 {
            while !line(&mut self.reader)?.ok_or_else(broken)?.is_empty() {}
            self.framing = Framing::Length(0);
        }
        Ok(size)
    }
}

impl<R: BufRead> Read for Body<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = match self.framing {
            Framing::Connection => return self.reader.read(buffer),
            Framing::Length(left) => left,
            Framing::Chunked { left: 0 } => self.chunk()?,
            Framing::Chunked { left } => left,
        };
        if left == 0 || buffer.is_empty() {
            return Ok(0);
        }
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.reader.read(buffer.get_mut(..most).unwrap_or_default())?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let left = left - read as u64;
        match &mut self.framing {
            Framing::Chunked { left: chunk } => {
                *chunk = left;
                if left == 0 {
                    line(&mut self.reader)?;
                }
            }
            framing => *framing = Framing::Length(left),
        }
        Ok(read)
    }
}

/// A request to be sent.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    method: &'static str,
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Request {
    pub(crate) fn new(method: &'static str, path: impl Into<String>) -> Request {
        Request {
            method,
            path: path.into(),
            headers: Vec::new(),
            body: String::new(),
        }
    }

    pub(crate) fn get(path: impl Into<String>) -> Request {
        Request::new("GET", path)
    }

    /// A request with a JSON body.
    pub(crate) fn post(path: impl Into<String>, body: &Value) -> Request {
        Request::new("POST", path).text(body.to_string())
    }

    /// Replaces the body.
    pub(crate) fn text(mut self, body: impl Into<String>) -> Request {
        self.body = body.into();
        self.header("content-type", "application/json")
    }

    /// Sets a header; one of this name that is there already is replaced.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Request {
        self.headers.retain(|(key, _)| key != name);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Whether a header is set.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.headers.iter().any(|(key, _)| key == name)
    }

    /// Sends it over a connection of its own, and reads nothing.
    pub(crate) fn begin(&self, to: SocketAddr, limit: Duration) -> Result<TcpStream> {
        let mut stream =
            TcpStream::connect_timeout(&to, limit).with_context(|| format!("connecting to {to}"))?;
        stream.set_read_timeout(Some(limit))?;
        stream.set_write_timeout(Some(limit))?;
        let mut head = format!("{} {} HTTP/1.1\r\nconnection: close\r\n", self.method, self.path);
        if !self.has("host") {
            head.push_str(&format!("host: {to}\r\n"));
        }
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\n\r\n", self.body.len()));
        stream.write_all(head.as_bytes())?;
        // Who refuses a body by its length may close before all of it was sent; the answer is there all the same.
        let _ = stream.write_all(self.body.as_bytes());
        Ok(stream)
    }

    /// Sends it over a connection of its own, and reads the head of the answer.
    ///
    /// Dropping what comes back closes the connection.
    pub(crate) fn send(&self, to: SocketAddr, limit: Duration) -> Result<Incoming> {
        let mut reader = io::BufReader::new(self.begin(to, limit)?);
        let said = || format!("{} {}", self.method, self.path);
        let head = Head::read(&mut reader).with_context(said)?;
        let head = head.with_context(|| format!("{}: closed without an answer", said()))?;
        let status = head
            .first
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let body = head.body(reader)?;
        Ok(Incoming {
            status: status.with_context(|| format!("no status: `{}`", head.first))?,
            head,
            body: io::BufReader::new(body),
        })
    }
}

/// An answer whose head has arrived.
pub(crate) struct Incoming {
    pub(crate) status: u16,
    pub(crate) head: Head,
    body: io::BufReader<Body<io::BufReader<TcpStream>>>,
}

impl Incoming {
    /// The rest of it.
    pub(crate) fn whole(mut self) -> Result<Answer> {
        let mut text = String::new();
        self.body
            .read_to_string(&mut text)
            .with_context(|| format!("an answer broke off after: {text}"))?;
        Ok(Answer {
            status: self.status,
            head: self.head,
            text,
        })
    }

    /// The next server-sent event, as its name and its data; `None` at the end.
    pub(crate) fn event(&mut self) -> Result<Option<(String, String)>> {
        let (mut name, mut data) = (String::new(), None::<String>);
        loop {
            let Some(line) = line(&mut self.body).context("a stream broke off")? else {
                ensure!(data.is_none(), "a stream ended within an event");
                return Ok(None);
            };
            if line.is_empty() {
                match data {
                    Some(data) => return Ok(Some((name, data))),
                    None => continue,
                }
            }
            let (field, value) = line.split_once(':').unwrap_or((&line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match (field, &mut data) {
                ("event", _) => value.clone_into(&mut name),
                ("data", Some(data)) => {
                    data.push('\n');
                    data.push_str(value);
                }
                ("data", data) => *data = Some(value.to_owned()),
                _ => {}
            }
        }
    }
}

/// A whole answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: Head,
    pub(crate) text: String,
}

impl Answer {
    /// The body, which must be JSON.
    pub(crate) fn json(&self) -> Result<Value> {
        serde_json::from_str(&self.text).with_context(|| {
            format!(
                "status {} with a body that is no JSON: {}",
                self.status, self.text
            )
        })
    }

    /// The JSON body of an answer that must have this status.
    pub(crate) fn expect(&self, status: u16) -> Result<Value> {
        ensure!(
            self.status == status,
            "expected the status {status}, got {}: {}",
            self.status,
            self.text
        );
        self.json()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(head: &str, body: &str) -> Result<String> {
        let mut reader = io::Cursor::new(format!("{head}\r\n\r\n{body}"));
        Head::read(&mut reader)?.context("no head")?.body(reader)?.text()
    }

    #[test]
    fn a_body_ends_where_its_head_says() {
        for (head, text, expected) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 3", "abcdef", "abc"),
            ("HTTP/1.1 200 OK", "all of it", "all of it"),
            ("GET / HTTP/1.1", "the next request", ""),
            (
                "POST / HTTP/1.1\r\nTransfer-Encoding: Chunked",
                "3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\nnext",
                "abc0123456789",
            ),
        ] {
            assert_eq!(body(head, text).unwrap(), expected, "{head}");
        }
    }

    #[test]
    fn a_body_that_breaks_off_is_an_error() {
        for (head, text) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 3", "ab"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", "3\r\nab"),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked", "2\r\nab\r\n"),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked",
                "2\r\nab\r\n0\r\n",
            ),
        ] {
            assert!(body(head, text).is_err(), "{head}: {text}");
        }
    }
}
