use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use tokio::io::{AsyncRead, BufReader};

use super::{
    lines::{Line, next_line},
    message::clip,
};

/// Lines kept of a server's standard error.
const KEPT_LINES: usize = 40;

/// Longest line kept: enough for a stack frame, too little for a dump.
const LINE_BYTES: u64 = 400;

/// Lines and characters that go into an error message.
const SHOWN_LINES: usize = 8;
const SHOWN_CHARS: usize = 1_500;

/// The last lines a server wrote to its standard error.
#[derive(Debug, Default)]
pub(super) struct Tail(Mutex<VecDeque<String>>);

impl Tail {
    /// Reads until the stream ends. The stream is always drained, or a chatty server would block on it.
    pub(super) async fn follow<R: AsyncRead + Unpin>(&self, stream: R) {
        let mut reader = BufReader::new(stream);
        while let Ok(Some(line)) = next_line(&mut reader, LINE_BYTES).await {
            let text = match line {
                Line::Whole(bytes) => String::from_utf8_lossy(&bytes).trim_end().to_owned(),
                Line::Oversized { head, .. } => format!("{}…", String::from_utf8_lossy(&head).trim_end()),
            };
            if !text.is_empty() {
                self.push(text);
            }
        }
    }

    fn push(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == KEPT_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// The last few lines, for a message.
    pub(super) fn shown(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let skipped = lines.len().saturating_sub(SHOWN_LINES);
        let text: Vec<&str> = lines.iter().skip(skipped).map(String::as_str).collect();
        clip(&text.join("\n"), SHOWN_CHARS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_last_lines_are_kept_and_long_ones_are_cut() {
        let mut text: String = (0..100).map(|n| format!("line {n}\n")).collect();
        text.push_str(&"y".repeat(100_000));
        let tail = Tail::default();
        tail.follow(text.as_bytes()).await;
        let shown = tail.shown();
        assert!(shown.starts_with("line 93\n") && shown.ends_with("y…"), "{shown}");
        assert!(shown.len() < 1_000, "{}", shown.len());
    }
}
