//! Server-sent events in any portions.

/// One event with data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Its type, if it has one.
    pub event: Option<String>,
    /// Its data; several lines are joined by line feeds.
    pub data: String,
}

/// An event grew over the limit, which is given in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is larger than {0} bytes")]
pub struct FrameTooLarge(pub usize);

/// Takes bytes in any portions, cut anywhere, and gives events.
///
/// Lines end with LF, CR or CRLF. Comments, and fields that are not needed here, are skipped. Bytes that are no UTF-8
/// become replacement characters, a character cut by a portion does not.
///
/// ```
/// use codecell_llm::{Frame, SseParser};
///
/// let mut parser = SseParser::new(1024);
/// let mut frames = parser.feed(b"data: {\"a\":\r\ndata: 1}\r\n\r\ndata: [DO")?;
/// frames.extend(parser.feed(b"NE]\n")?);
/// frames.extend(parser.end());
/// let frame = |data: &str| Frame { event: None, data: data.into() };
/// assert_eq!(frames, [frame("{\"a\":\n1}"), frame("[DONE]")]);
/// # Ok::<(), codecell_llm::FrameTooLarge>(())
/// ```
#[derive(Debug)]
pub struct SseParser {
    limit: usize,
    line: Vec<u8>,
    event: Option<String>,
    data: Option<String>,
    started: bool,
    after_cr: bool,
}

impl SseParser {
    /// A parser for one stream whose events have at most `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            event: None,
            data: None,
            started: false,
            after_cr: false,
        }
    }

    /// Reads a portion and gives the events that it completes.
    ///
    /// # Errors
    ///
    /// Fails when an event grows over the limit. The stream is not readable after that.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Frame>, FrameTooLarge> {
        let mut frames = Vec::new();
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (part, tail) = rest.split_at(end);
            let line_feed = tail.first() == Some(&b'\n');
            rest = tail.get(1..).unwrap_or_default();
            // The second half of a CRLF ends nothing.
            let second_half = line_feed && self.after_cr && part.is_empty();
            self.after_cr = !line_feed;
            if second_half {
                continue;
            }
            self.line.extend_from_slice(part);
            self.check()?;
            let line = std::mem::take(&mut self.line);
            frames.extend(self.take(&line));
        }
        if !rest.is_empty() {
            self.after_cr = false;
            self.line.extend_from_slice(rest);
            self.check()?;
        }
        Ok(frames)
    }

    /// The event that the end of the stream completes: servers forget the last blank line.
    pub fn end(&mut self) -> Option<Frame> {
        let line = std::mem::take(&mut self.line);
        self.take(&line).or_else(|| self.take(b""))
    }

    fn check(&self) -> Result<(), FrameTooLarge> {
        let size = self.line.len() + self.data.as_ref().map_or(0, String::len);
        if size > self.limit {
            Err(FrameTooLarge(self.limit))
        } else {
            Ok(())
        }
    }

    fn take(&mut self, line: &[u8]) -> Option<Frame> {
        let text = String::from_utf8_lossy(line);
        let mut text = &*text;
        if !std::mem::replace(&mut self.started, true) {
            text = text.strip_prefix('\u{feff}').unwrap_or(text);
        }
        if text.is_empty() {
            let event = self.event.take();
            return self.data.take().map(|data| Frame { event, data });
        }
        let (field, value) = text.split_once(':').unwrap_or((text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match (field, &mut self.data) {
            ("event", _) => self.event = Some(value.to_owned()),
            ("data", Some(data)) => {
                data.push('\n');
                data.push_str(value);
            }
            ("data", none) => *none = Some(value.to_owned()),
            _ => {}
        }
        None
    }
}
