//! Lines of a child's output, read in bounded memory.
use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// How much of an oversized line is kept at either end: enough to find the id of the request it answers.
const KEPT_ENDS: usize = 128;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A whole line without its end.
    Whole(Vec<u8>),
    /// A line over the limit: its two ends and its length.
    Oversized {
        head: Vec<u8>,
        tail: Vec<u8>,
        length: u64,
    },
}

/// Reads the next line; `None` at the end of the stream.
///
/// # Errors
///
/// Passes on what reading the stream says.
pub(super) async fn next_line<R: AsyncBufRead + Unpin>(
    reader: &mut R,
    limit: u64,
) -> io::Result<Option<Line>> {
    let mut kept: Vec<u8> = Vec::new();
    let mut tail: Vec<u8> = Vec::new();
    let mut length: u64 = 0;
    let mut any = false;
    loop {
        let buffer = reader.fill_buf().await?;
        if buffer.is_empty() {
            break;
        }
        any = true;
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let part = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
        length += part.len() as u64;
        if length <= limit {
            kept.extend_from_slice(part);
        } else {
            if tail.is_empty() {
                tail = kept.iter().rev().take(KEPT_ENDS).rev().copied().collect();
                kept.truncate(KEPT_ENDS);
                kept.shrink_to_fit();
            }
            let missing = KEPT_ENDS.saturating_sub(kept.len());
            kept.extend(part.iter().take(missing));
            tail.extend_from_slice(part);
            let surplus = tail.len().saturating_sub(KEPT_ENDS);
            tail.drain(..surplus);
        }
        let used = end.map_or(buffer.len(), |end| end + 1);
        reader.consume(used);
        if end.is_some() {
            break;
        }
    }
    Ok(match (any, length <= limit) {
        (false, _) => None,
        (true, true) => Some(Line::Whole(kept)),
        (true, false) => Some(Line::Oversized {
            head: kept,
            tail,
            length,
        }),
    })
}

/// The id of the request that an oversized answer belongs to, where the usual writers put it: right after
/// `jsonrpc` at the start, or last. Anything else could be an `id` inside the result.
pub(super) fn id_of_oversized(head: &[u8], tail: &[u8]) -> Option<u64> {
    let head = squeeze(head);
    let tail = squeeze(tail);
    let after_start = head
        .strip_prefix(r#"{"jsonrpc":"2.0","id":"#)
        .or_else(|| head.strip_prefix(r#"{"id":"#))
        .and_then(|rest| rest.split_once(','))
        .map(|(id, _)| id);
    let before_end = tail
        .strip_suffix('}')
        .map(|rest| rest.strip_suffix(r#","jsonrpc":"2.0""#).unwrap_or(rest))
        .and_then(|rest| rest.rsplit_once(r#""id":"#))
        .map(|(_, id)| id);
    after_start.or(before_end).and_then(|id| id.parse().ok())
}

fn squeeze(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read_all(input: &str, limit: u64) -> Vec<Line> {
        let mut reader = tokio::io::BufReader::with_capacity(3, input.as_bytes());
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut reader, limit).await.unwrap() {
            lines.push(line);
        }
        lines
    }

    #[tokio::test]
    async fn lines_are_whole_up_to_the_limit() {
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(
            read_all("ab\n\ncdefg\nlast", 5).await,
            [whole("ab"), whole(""), whole("cdefg"), whole("last")]
        );
    }

    #[tokio::test]
    async fn a_longer_line_in_one_portion_keeps_its_ends_too() {
        let text = format!("a{}z\n", "x".repeat(1000));
        let mut reader = tokio::io::BufReader::new(text.as_bytes());
        let line = next_line(&mut reader, 10).await.unwrap();
        let Some(Line::Oversized {
            head,
            tail,
            length: 1002,
        }) = line
        else {
            panic!("{line:?}")
        };
        assert_eq!(
            (head[0], head.len(), *tail.last().unwrap()),
            (b'a', KEPT_ENDS, b'z')
        );
    }

    #[tokio::test]
    async fn a_longer_line_keeps_its_ends_and_its_length() {
        let long = "x".repeat(1000);
        let lines = read_all(&format!("a{long}z\nok\n"), 10).await;
        let [Line::Oversized { head, tail, length }, Line::Whole(ok)] = &lines[..] else {
            panic!("{lines:?}");
        };
        assert_eq!(
            (head[0], *tail.last().unwrap(), *length, ok.as_slice()),
            (b'a', b'z', 1002, &b"ok"[..])
        );
        assert!(tail.len() <= KEPT_ENDS && head.len() <= KEPT_ENDS);
    }

    #[test]
    fn the_id_is_found_only_where_it_is_certain() {
        for (head, tail, expected) in [
            (r#"{"jsonrpc": "2.0", "id": 12, "result":{"#, "", Some(12)),
            (
                r#"{"result":{"id":3,"#,
                r#""}]},"jsonrpc":"2.0","id":9}"#,
                Some(9),
            ),
            (
                r#"{"result":{"id":3,"#,
                r#"xx"},"id":9,"jsonrpc":"2.0"}"#,
                Some(9),
            ),
            (r#"{"result":{"id":3,"#, r#""id":4}}"#, None),
            ("", "", None),
        ] {
            assert_eq!(
                id_of_oversized(head.as_bytes(), tail.as_bytes()),
                expected,
                "{head} … {tail}"
            );
        }
    }
}
