use crate::{Json, Output, OutputFull};

/// Room kept free for the marker and the error text once the budget is spent.
const RESERVE_BYTES: usize = 320;

/// The output of one result, held to a budget that it shares with the value and the error text.
///
/// A size is the length of the JSON text in UTF-8, as the result will carry it. What was counted is never
/// counted again: [`take`](Self::take) starts the next result with a full budget.
#[derive(Debug)]
pub struct OutputLog {
    limit: usize,
    used: usize,
    left_out: usize,
    /// Whether more may be missing than was counted.
    at_least: bool,
    entries: Vec<Output>,
}

impl OutputLog {
    /// An empty log that may hold `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            used: 0,
            left_out: 0,
            at_least: false,
            entries: Vec::new(),
        }
    }

    /// Appends one entry.
    ///
    /// # Errors
    ///
    /// When it does not fit, the part of a text that fits is kept, the rest is counted as left out, and the log
    /// stays full.
    pub fn push(&mut self, output: Output) -> Result<(), OutputFull> {
        let size = entry_bytes(&output);
        if self.left_out > 0 {
            self.left_out = self.left_out.saturating_add(size);
            return Err(OutputFull);
        }
        if self.used.saturating_add(size) <= self.limit {
            self.used += size;
            self.entries.push(output);
            return Ok(());
        }
        self.left_out = size;
        if let Output::Text { text } = output {
            self.push_head(&text);
        }
        Err(OutputFull)
    }

    /// Notes a value or a text that nobody wrote out because it can never fit: the head of the text, or nothing, and how
    /// many bytes there are beyond it at least.
    pub fn overflow(&mut self, head: String, more: usize) {
        self.at_least = true;
        if !head.is_empty() {
            // Full or not, it is from now on.
            let _ = self.push(Output::Text { text: head });
        }
        self.left_out = self.left_out.saturating_add(more).max(1);
    }

    /// Whether a returned value fits beside the output; if not, its size is counted as left out.
    ///
    /// # Errors
    ///
    /// The result must be a failure: the value would pass the limit.
    pub fn admit_value(&mut self, value: &Json) -> Result<(), OutputFull> {
        if self.left_out == 0 && self.used.saturating_add(value.len()) <= self.limit {
            self.used += value.len();
            return Ok(());
        }
        self.left_out = self.left_out.saturating_add(value.len());
        Err(OutputFull)
    }

    /// Cuts an error text to what the budget leaves for it, never below a readable minimum.
    #[must_use]
    pub fn fit_error(&self, text: String) -> String {
        let room = self.limit.saturating_sub(self.used).max(RESERVE_BYTES / 2);
        cut_to_json_bytes(text, room)
    }

    /// Bytes that were left out since the last [`take`](Self::take).
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// The configured budget in bytes.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Hands out what is new, with a marker at the end if something was left out, and starts anew.
    pub fn take(&mut self) -> Vec<Output> {
        if self.left_out > 0 {
            self.shrink_to(self.limit.saturating_sub(RESERVE_BYTES));
            let text = format!(
                "[output truncated: {}{} bytes left out; the limit is {} bytes a result]",
                if self.at_least { "at least " } else { "" },
                self.left_out,
                self.limit
            );
            self.entries.push(Output::Text { text });
        }
        self.used = 0;
        self.left_out = 0;
        self.at_least = false;
        std::mem::take(&mut self.entries)
    }

    /// Keeps the head of a text that does not fit whole.
    fn push_head(&mut self, text: &str) {
        let room = self.limit.saturating_sub(RESERVE_BYTES).saturating_sub(self.used);
        let envelope = entry_bytes(&Output::Text { text: String::new() });
        if room <= envelope {
            return;
        }
        let head = cut_to_json_bytes(text.to_owned(), room - envelope);
        if head.is_empty() {
            return;
        }
        let entry = Output::Text { text: head };
        let size = entry_bytes(&entry);
        self.left_out = self.left_out.saturating_sub(size).max(1);
        self.used += size;
        self.entries.push(entry);
    }

    /// Drops or cuts entries from the end until `target` bytes are used at most.
    fn shrink_to(&mut self, target: usize) {
        while self.used > target {
            let Some(last) = self.entries.pop() else { return };
            let size = entry_bytes(&last);
            self.used = self.used.saturating_sub(size);
            self.left_out = self.left_out.saturating_add(size);
            if self.used < target
                && let Output::Text { text } = last
            {
                self.push_head(&text);
                return;
            }
        }
    }
}

/// The bytes an entry takes in the result, its separating comma included.
fn entry_bytes(output: &Output) -> usize {
    match output {
        Output::Text { text } => r#"{"type":"text","text":""},"#.len() + json_text_bytes(text),
        Output::Json { value } => r#"{"type":"json","value":},"#.len() + value.len(),
    }
}

/// The bytes of `text` inside the quotes of a JSON string.
fn json_text_bytes(text: &str) -> usize {
    text.chars().map(json_char_bytes).sum()
}

fn json_char_bytes(c: char) -> usize {
    match c {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        c if c < ' ' => 6,
        c => c.len_utf8(),
    }
}

/// The longest head of `text` whose JSON form takes at most `room` bytes.
fn cut_to_json_bytes(mut text: String, room: usize) -> String {
    let mut used = 0;
    let end = text.char_indices().find_map(|(at, c)| {
        used += json_char_bytes(c);
        (used > room).then_some(at)
    });
    if let Some(end) = end {
        text.truncate(end);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{OutputLog, entry_bytes, json_text_bytes};
    use crate::{Json, Output, OutputFull};

    fn text(text: &str) -> Output {
        Output::Text { text: text.into() }
    }

    #[test]
    fn sizes_are_those_of_the_json_text() {
        for sample in [
            "",
            "plain",
            "quote\" back\\ line\n tab\t bell\u{7}",
            "日本 🎉",
            "\u{8}\u{c}\r",
        ] {
            let json = serde_json::to_string(sample).unwrap();
            assert_eq!(json_text_bytes(sample) + 2, json.len(), "{sample:?}");
            let entry = text(sample);
            assert_eq!(
                entry_bytes(&entry),
                serde_json::to_string(&entry).unwrap().len() + 1
            );
        }
        let entry = Output::Json {
            value: Json::parse("[1, 2]").unwrap(),
        };
        assert_eq!(
            entry_bytes(&entry),
            serde_json::to_string(&entry).unwrap().len() + 1
        );
    }

    #[test]
    fn output_within_the_budget_is_kept_whole_and_handed_out_once() {
        let mut log = OutputLog::new(1024);
        assert_eq!(log.push(text("a")), Ok(()));
        assert_eq!(log.push(text("b")), Ok(()));
        assert_eq!(log.take(), [text("a"), text("b")]);
        assert_eq!(log.take(), []);
    }

    #[test]
    fn a_text_that_does_not_fit_keeps_its_head_and_says_what_is_missing() {
        let mut log = OutputLog::new(1024);
        assert_eq!(log.push(text("first")), Ok(()));
        assert_eq!(log.push(text(&"é".repeat(4000))), Err(OutputFull));
        let taken = log.take();
        let [first, Output::Text { text: head }, Output::Text { text: marker }] = &taken[..] else {
            panic!("{taken:?}")
        };
        assert_eq!(first, &text("first"));
        assert!(head.chars().all(|c| c == 'é'));
        let left_out = 8000 + r#"{"type":"text","text":""},"#.len()
            - (head.len() + r#"{"type":"text","text":""},"#.len());
        assert_eq!(
            *marker,
            format!("[output truncated: {left_out} bytes left out; the limit is 1024 bytes a result]")
        );
        assert!(serde_json::to_string(&taken).unwrap().len() <= 1024);
    }

    #[test]
    fn what_was_not_even_written_is_told_with_its_head() {
        let mut log = OutputLog::new(1024);
        assert_eq!(log.push(text("first")), Ok(()));
        log.overflow("é".repeat(1024), 1_000_000);
        assert_eq!(log.push(text("later")), Err(OutputFull));
        let taken = log.take();
        let [_, Output::Text { text: head }, Output::Text { text: marker }] = &taken[..] else {
            panic!("{taken:?}")
        };
        assert!(head.chars().all(|c| c == 'é'), "{head}");
        let left_out = 2048 - head.len() + 1_000_000 + entry_bytes(&text("later"));
        assert_eq!(
            *marker,
            format!(
                "[output truncated: at least {left_out} bytes left out; the limit is 1024 bytes a result]"
            )
        );
        log.overflow(String::new(), 2000);
        assert_eq!(
            log.take(),
            [text(
                "[output truncated: at least 2000 bytes left out; the limit is 1024 bytes a result]"
            )]
        );
        assert_eq!(log.take(), [], "the next result starts anew");
    }

    #[test]
    fn value_and_output_share_the_budget() {
        let value = Json::parse(&format!("\"{}\"", "v".repeat(700))).unwrap();
        let mut log = OutputLog::new(1024);
        assert_eq!(log.push(text(&"o".repeat(200))), Ok(()));
        assert_eq!(log.admit_value(&value), Ok(()));
        let mut log = OutputLog::new(1024);
        assert_eq!(log.push(text(&"o".repeat(500))), Ok(()));
        assert_eq!(log.admit_value(&value), Err(OutputFull));
        assert_eq!(log.left_out(), 702);
    }
}
