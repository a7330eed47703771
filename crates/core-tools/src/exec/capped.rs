//! The output of a program, as much of it as is kept.

use std::collections::VecDeque;

/// Keeps the beginning and the end of a stream, and counts what lies between.
#[derive(Debug)]
pub(super) struct Capped {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    head_limit: usize,
    tail_limit: usize,
    left_out: u64,
}

impl Capped {
    /// Keeps at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        let head_limit = limit / 2;
        Self {
            head: Vec::new(),
            tail: VecDeque::new(),
            head_limit,
            tail_limit: limit - head_limit,
            left_out: 0,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = self.head_limit - self.head.len();
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        self.tail.extend(rest);
        let extra = self.tail.len().saturating_sub(self.tail_limit);
        self.tail.drain(..extra);
        self.left_out += extra as u64;
    }

    pub(super) fn is_cut(&self) -> bool {
        self.left_out > 0
    }

    /// The text, with a mark where something is left out. Bytes that are no UTF-8 become U+FFFD.
    pub(super) fn into_text(self) -> String {
        let tail: Vec<u8> = self.tail.into();
        if self.left_out == 0 {
            let mut bytes = self.head;
            bytes.extend_from_slice(&tail);
            return String::from_utf8_lossy(&bytes).into_owned();
        }
        format!(
            "{}\n[… {} bytes left out …]\n{}",
            String::from_utf8_lossy(&self.head),
            self.left_out,
            String::from_utf8_lossy(&tail)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Capped;

    #[test]
    fn beginning_and_end_are_kept_whatever_the_pieces() {
        let cases: [(&[&str], &str); 4] = [
            (&["abc"], "abc"),
            (&["abcd", "efgh"], "abcdefgh"),
            (&["abcdefghij"], "abcd\n[… 2 bytes left out …]\nghij"),
            (
                &["a", "b", "cdefg", "hi", "", "j", "klm"],
                "abcd\n[… 5 bytes left out …]\njklm",
            ),
        ];
        for (pieces, expected) in cases {
            let mut capped = Capped::new(8);
            for piece in pieces {
                capped.push(piece.as_bytes());
            }
            assert_eq!(capped.is_cut(), expected.contains("left out"));
            assert_eq!(capped.into_text(), expected);
        }
    }
}
