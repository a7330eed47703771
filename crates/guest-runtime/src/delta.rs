//! The difference between a used memory and a fresh one, piece by piece.

/// What the system keeps books about: the page size of the systems this runs on.
pub(crate) const PAGE_BYTES: usize = 4096;

/// What is compared and kept as a unit. A program changes a few words in most of the pages it touches, counters of
/// references above all: whole pages would make an image several times as large.
const PIECE_BYTES: usize = 64;

/// A page's number, and a bit for each of its pieces.
const ENTRY_BYTES: usize = 4 + 8;

/// The parts of a memory that differ from a fresh one, in one buffer: the numbers of the pages, for each page the
/// pieces of it that differ, and the contents of those pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Delta {
    raw: Vec<u8>,
    pages: u32,
    memory: usize,
}

impl Delta {
    /// Compares `used` with `fresh`, which is shorter when the memory has grown and zero beyond its end. Only the pages
    /// in `touched` are looked at, in that order.
    pub(crate) fn between(fresh: &[u8], used: &[u8], touched: impl IntoIterator<Item = u32>) -> Self {
        const ZEROES: [u8; PAGE_BYTES] = [0; PAGE_BYTES];
        let mut changed: Vec<(u32, u64)> = Vec::new();
        let mut contents = Vec::new();
        for number in touched {
            let from = number as usize * PAGE_BYTES;
            let Some(page) = used.get(from..from + PAGE_BYTES) else {
                continue;
            };
            let before = fresh.get(from..from + PAGE_BYTES).unwrap_or(&ZEROES);
            let mut pieces = 0;
            let both = page
                .chunks_exact(PIECE_BYTES)
                .zip(before.chunks_exact(PIECE_BYTES));
            for (bit, (piece, before)) in both.enumerate() {
                if piece != before {
                    pieces |= 1 << bit;
                    contents.extend_from_slice(piece);
                }
            }
            if pieces != 0 {
                changed.push((number, pieces));
            }
        }
        let mut raw = Vec::with_capacity(changed.len() * ENTRY_BYTES + contents.len());
        for (number, _) in &changed {
            raw.extend_from_slice(&number.to_le_bytes());
        }
        for (_, pieces) in &changed {
            raw.extend_from_slice(&pieces.to_le_bytes());
        }
        raw.append(&mut contents);
        Self {
            raw,
            pages: changed.len() as u32,
            memory: used.len(),
        }
    }

    /// The most a buffer for so many pages can hold; nothing if the memory has fewer.
    pub(crate) fn largest(pages: u32, memory: usize) -> Option<usize> {
        let pages = pages as usize;
        (pages <= memory / PAGE_BYTES).then_some(pages * (ENTRY_BYTES + PAGE_BYTES))
    }

    /// Reads a buffer back, refusing pages outside the memory.
    pub(crate) fn parse(raw: Vec<u8>, pages: u32, memory: usize) -> Option<Self> {
        let delta = Self { raw, pages, memory };
        let mut size = pages as usize * ENTRY_BYTES;
        let mut inside = true;
        for (number, pieces) in delta.entries() {
            size += pieces.count_ones() as usize * PIECE_BYTES;
            inside &= (number as usize) < memory / PAGE_BYTES;
        }
        (size == delta.raw.len() && inside).then_some(delta)
    }

    /// Writes the pieces into a fresh memory of the right size.
    pub(crate) fn apply(&self, memory: &mut [u8]) -> Option<()> {
        let mut contents = self
            .raw
            .get(self.pages as usize * ENTRY_BYTES..)?
            .chunks_exact(PIECE_BYTES);
        for (number, pieces) in self.entries() {
            let from = number as usize * PAGE_BYTES;
            let page = memory.get_mut(from..from + PAGE_BYTES)?;
            for (bit, piece) in page.chunks_exact_mut(PIECE_BYTES).enumerate() {
                if pieces & (1 << bit) != 0 {
                    piece.copy_from_slice(contents.next()?);
                }
            }
        }
        Some(())
    }

    /// The pages with their pieces. As many as there are whole ones in the buffer.
    fn entries(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let pages = self.pages as usize;
        let pieces = self.raw.get(pages * 4..).unwrap_or_default().chunks_exact(8);
        let numbers = self.raw.chunks_exact(4).take(pages);
        numbers.zip(pieces).map(|(number, pieces)| {
            (
                number.try_into().map_or(u32::MAX, u32::from_le_bytes),
                pieces.try_into().map_or(u64::MAX, u64::from_le_bytes),
            )
        })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.raw
    }

    pub(crate) fn pages(&self) -> u32 {
        self.pages
    }

    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn applying_a_delta_makes_the_used_memory_again() {
        let mut fresh = vec![1; 3 * PAGE_BYTES];
        let mut used = fresh.clone();
        used.resize(5 * PAGE_BYTES, 0);
        used[0] = 9;
        used[2 * PAGE_BYTES - 1] = 9;
        used[2 * PAGE_BYTES..3 * PAGE_BYTES].fill(7);
        used[4 * PAGE_BYTES + 7] = 9;
        let delta = Delta::between(&fresh, &used, 0..5);
        let pieces = 1 + 1 + PAGE_BYTES / PIECE_BYTES + 1;
        assert_eq!(
            (delta.pages(), delta.bytes().len()),
            (4, 4 * ENTRY_BYTES + pieces * PIECE_BYTES)
        );
        let delta = Delta::parse(delta.bytes().to_vec(), 4, used.len()).unwrap();
        fresh.resize(5 * PAGE_BYTES, 0);
        delta.apply(&mut fresh).unwrap();
        assert_eq!(fresh, used);
    }

    #[test]
    fn pages_that_were_not_touched_are_not_kept() {
        let fresh = vec![0; 3 * PAGE_BYTES];
        let used = vec![5; 3 * PAGE_BYTES];
        assert_eq!(Delta::between(&fresh, &used, 2..9).pages(), 1);
    }

    #[test]
    fn a_buffer_that_is_not_what_it_says_is_refused() {
        let used = vec![5; 2 * PAGE_BYTES];
        let delta = Delta::between(&[], &used, 0..2);
        let refused = |change: &dyn Fn(&mut Vec<u8>), pages| {
            let mut raw = delta.bytes().to_vec();
            change(&mut raw);
            assert_eq!(Delta::parse(raw, pages, used.len()), None);
        };
        refused(&|raw| raw.truncate(raw.len() - 1), 2);
        refused(&|raw| raw.push(0), 2);
        refused(&|raw| raw[4] = 2, 2);
        refused(&|raw| raw[8] = 0, 2);
        refused(&|_| (), 1);
        refused(&|raw| raw.clear(), 2);
    }
}
