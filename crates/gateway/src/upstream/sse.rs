//! Server-sent events, as far as MCP uses them.
use std::time::Duration;

/// One event with data.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) id: Option<String>,
    pub(super) data: String,
}

/// Takes bytes in any portions and gives events.
#[derive(Debug)]
pub(super) struct Parser {
    line: Vec<u8>,
    data: Option<String>,
    id: Option<String>,
    limit: u64,
    started: bool,
    after_cr: bool,
    /// The last id seen, for resuming.
    pub(super) last_id: Option<String>,
    /// How long the server asks to wait before reconnecting.
    pub(super) retry: Option<Duration>,
}

/// An event grew over the limit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Overflow(pub(super) u64);

impl Parser {
    pub(super) fn new(limit: u64) -> Self {
        Self {
            line: Vec::new(),
            data: None,
            id: None,
            limit,
            started: false,
            after_cr: false,
            last_id: None,
            retry: None,
        }
    }

    /// Reads a portion; complete events go to `events`.
    pub(super) fn feed(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Result<(), Overflow> {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n' || byte == b'\r') {
            let (part, tail) = rest.split_at(end);
            let newline = tail.first() == Some(&b'\n');
            rest = tail.get(1..).unwrap_or_default();
            // The second half of a CRLF ends nothing.
            if newline && self.after_cr && part.is_empty() {
                self.after_cr = false;
                continue;
            }
            self.after_cr = !newline;
            self.line.extend_from_slice(part);
            self.check()?;
            let line = std::mem::take(&mut self.line);
            self.take(&line, events);
        }
        if !rest.is_empty() {
            self.after_cr = false;
            self.line.extend_from_slice(rest);
        }
        self.check()
    }

    fn check(&self) -> Result<(), Overflow> {
        let size = self.line.len() as u64 + self.data.as_ref().map_or(0, String::len) as u64;
        if size > self.limit {
            Err(Overflow(size))
        } else {
            Ok(())
        }
    }

    fn take(&mut self, line: &[u8], events: &mut Vec<Event>) {
        let text = String::from_utf8_lossy(line);
        let mut text = &*text;
        if !std::mem::replace(&mut self.started, true) {
            text = text.strip_prefix('\u{feff}').unwrap_or(text);
        }
        if text.is_empty() {
            if let Some(data) = self.data.take() {
                events.push(Event {
                    id: self.id.take(),
                    data,
                });
            }
            return;
        }
        let (field, value) = text.split_once(':').unwrap_or((text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "id" if !value.contains('\0') => {
                self.id = Some(value.to_owned());
                self.last_id = (!value.is_empty()).then(|| value.to_owned());
            }
            "retry" => self.retry = value.parse().ok().map(Duration::from_millis),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(Option<&str>, &str)]) {
        // Every way of cutting the stream gives the same events.
        for size in 1..=text.len() {
            let mut parser = Parser::new(1_000);
            let mut events = Vec::new();
            for part in text.as_bytes().chunks(size) {
                parser.feed(part, &mut events).unwrap();
            }
            let seen: Vec<(Option<&str>, &str)> = events
                .iter()
                .map(|event| (event.id.as_deref(), event.data.as_str()))
                .collect();
            assert_eq!(seen, expected, "in portions of {size}: {text:?}");
        }
    }

    #[test]
    fn events_are_cut_at_blank_lines_whatever_the_line_ends() {
        check("data: a\n\ndata:b\n\n", &[(None, "a"), (None, "b")]);
        check("id: 7\r\ndata: a\r\ndata: b\r\n\r\n", &[(Some("7"), "a\nb")]);
        check(
            "event: message\rdata: x\r\r: ping\n\ndata\n\n",
            &[(None, "x"), (None, "")],
        );
        check("\u{feff}data: ü\n\ndata: unfinished", &[(None, "ü")]);
    }

    #[test]
    fn resumption_hints_are_kept_even_without_data() {
        let mut parser = Parser::new(1_000);
        let mut events = Vec::new();
        parser.feed(b"id: 3\nretry: 250\ndata:\n\n", &mut events).unwrap();
        assert_eq!(
            (parser.last_id.as_deref(), parser.retry),
            (Some("3"), Some(Duration::from_millis(250)))
        );
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut parser = Parser::new(10);
        assert_eq!(
            parser.feed(b"data: 0123456789", &mut Vec::new()),
            Err(Overflow(16))
        );
    }
}
