//! Places in a text, and the way back from the guest's code to the submitted text.

/// A place in the submitted text, as people and editors count: both numbers start at 1.
///
/// The column counts Unicode scalar values, so `é` is one column although it is two bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Position {
    /// The line, from 1. `\n`, `\r\n`, `\r`, U+2028 and U+2029 each end one.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cell:{}:{}", self.line, self.column)
    }
}

/// Where each line of a text begins, to turn byte offsets into positions.
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, &byte) in bytes.iter().enumerate() {
            let rest = bytes.get(at + 1..).unwrap_or_default();
            match byte {
                b'\n' => starts.push(at + 1),
                b'\r' if rest.first() != Some(&b'\n') => starts.push(at + 1),
                // U+2028 and U+2029 are the bytes E2 80 A8 and E2 80 A9.
                0xE2 if matches!(rest, [0x80, 0xA8 | 0xA9, ..]) => starts.push(at + 3),
                _ => {}
            }
        }
        Self { text, starts }
    }

    /// The position of the byte at `offset`; offsets past the end mean the end.
    pub(crate) fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset.min(self.text.len()));
        let line = self
            .starts
            .partition_point(|&start| start <= offset)
            .saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let column = self.text.get(start..offset).unwrap_or_default().chars().count();
        Position {
            line: one_based(line),
            column: one_based(column),
        }
    }

    /// The byte offset of a one-based line and one-based byte column; both may lie outside the text.
    fn offset(&self, line: u32, byte_column: u32) -> usize {
        let index = (line as usize).saturating_sub(1);
        let Some(&start) = self.starts.get(index) else {
            return self.text.len();
        };
        let end = self.starts.get(index + 1).copied().unwrap_or(self.text.len());
        (start + (byte_column as usize).saturating_sub(1)).min(end)
    }
}

fn one_based(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX - 1) + 1
}

/// Maps positions in the guest's code back to the submitted text.
///
/// Positions go in as QuickJS-NG reports them, lines and columns from 1 with the column counted in **UTF-8
/// bytes**, and relative to [`Prepared::code`](crate::Prepared::code): subtract the wrapper's own line first.
/// They come out as [`Position`]s of the submitted text.
#[derive(Clone, Debug, Default)]
pub struct PositionMap {
    kind: Kind,
}

#[derive(Clone, Debug, Default)]
enum Kind {
    /// The guest runs the submitted text, and bytes, characters and columns are the same.
    #[default]
    Identity,
    /// The guest runs the submitted text, which has characters that the two sides count differently.
    SameText(Box<str>),
    /// The guest runs generated code: pairs sorted by guest line and byte column.
    Generated(Box<[Pair]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pair {
    guest: (u32, u32),
    submitted: Position,
}

impl PositionMap {
    /// The map of a text that runs as it was submitted and is plain ASCII.
    #[must_use]
    pub fn identity() -> Self {
        Self::default()
    }

    /// The map of a text that runs as it was submitted.
    pub(crate) fn same_text(text: &str) -> Self {
        if text.is_ascii() {
            Self::identity()
        } else {
            Self {
                kind: Kind::SameText(text.into()),
            }
        }
    }

    /// The map of generated code, from zero-based source-map tokens:
    /// `(generated line, generated column, submitted line, submitted column)`, columns in UTF-16 units.
    pub(crate) fn generated(
        code: &str,
        submitted: &str,
        tokens: impl Iterator<Item = (u32, u32, u32, u32)>,
    ) -> Self {
        let (code, submitted) = (Lines::new(code), Lines::new(submitted));
        let mut from = Utf16Cursor::new(&code);
        let mut to = Utf16Cursor::new(&submitted);
        let mut pairs: Vec<Pair> = tokens
            .map(|(guest_line, guest_column, line, column)| {
                from.go_to(guest_line, guest_column);
                to.go_to(line, column);
                Pair {
                    guest: (guest_line.saturating_add(1), one_based(from.bytes)),
                    submitted: Position {
                        line: line.saturating_add(1),
                        column: one_based(to.chars),
                    },
                }
            })
            .collect();
        pairs.sort_by_key(|pair| pair.guest);
        Self {
            kind: Kind::Generated(pairs.into()),
        }
    }

    /// The place in the submitted text that produced the code at `line` and `column`.
    ///
    /// In generated code that is the nearest known place at or before it; code that comes before everything
    /// submitted has none.
    #[must_use]
    pub fn to_submitted(&self, line: u32, column: u32) -> Option<Position> {
        if line == 0 {
            return None;
        }
        match &self.kind {
            Kind::Identity => Some(Position {
                line,
                column: column.max(1),
            }),
            Kind::SameText(text) => {
                let lines = Lines::new(text);
                Some(lines.position(lines.offset(line, column)))
            }
            Kind::Generated(pairs) => {
                let after = pairs.partition_point(|pair| pair.guest <= (line, column));
                let nearest = after.checked_sub(1).and_then(|index| pairs.get(index));
                // An engine may report a column short of the first token of a line.
                let first_of_line = || pairs.get(after).filter(|pair| pair.guest.0 == line);
                match nearest {
                    Some(pair) if pair.guest.0 == line => Some(pair.submitted),
                    other => first_of_line().or(other).map(|pair| pair.submitted),
                }
            }
        }
    }
}

/// Walks along a line from one UTF-16 column to the next, the unit of source maps.
struct Utf16Cursor<'l, 'a> {
    lines: &'l Lines<'a>,
    line: u32,
    /// The column it stands at, in each unit.
    units: u32,
    bytes: usize,
    chars: usize,
}

impl<'l, 'a> Utf16Cursor<'l, 'a> {
    fn new(lines: &'l Lines<'a>) -> Self {
        Self {
            lines,
            line: 0,
            units: 0,
            bytes: 0,
            chars: 0,
        }
    }

    /// Goes to a zero-based line and column. Columns mostly ascend, so that a line is walked once.
    fn go_to(&mut self, line: u32, units: u32) {
        if line != self.line || units < self.units {
            *self = Self {
                line,
                ..Self::new(self.lines)
            };
        }
        let start = self
            .lines
            .starts
            .get(line as usize)
            .copied()
            .unwrap_or(self.lines.text.len());
        let rest = self.lines.text.get(start + self.bytes..).unwrap_or_default();
        for c in rest.chars() {
            if self.units >= units {
                break;
            }
            self.units += if c.len_utf16() == 2 { 2 } else { 1 };
            self.bytes += c.len_utf8();
            self.chars += 1;
        }
    }
}
