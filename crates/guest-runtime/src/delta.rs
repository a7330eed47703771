//! The difference between a used memory and a fresh one, page by page.

/// What is compared and kept as a unit: the page size of the systems this runs on.
pub(crate) const PAGE_BYTES: usize = 4096;

/// The pages of a memory that differ from a fresh one: their numbers, then their contents, in one buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Delta {
    raw: Vec<u8>,
    pages: u32,
    memory: usize,
}

impl Delta {
    /// Compares `used` with `fresh`, which is shorter when the memory has grown and zero beyond its end. The first
    /// `dead` bytes are the empty stack: what lies there is left over and not kept.
    pub(crate) fn between(fresh: &[u8], used: &[u8], dead: usize) -> Self {
        const ZEROES: [u8; PAGE_BYTES] = [0; PAGE_BYTES];
        let mut changed: Vec<(u32, &[u8])> = Vec::new();
        for (number, page) in used.chunks_exact(PAGE_BYTES).enumerate().skip(dead / PAGE_BYTES) {
            let from = number * PAGE_BYTES;
            let before = fresh.get(from..from + PAGE_BYTES).unwrap_or(&ZEROES);
            if page != before {
                changed.push((number as u32, page));
            }
        }
        let mut raw = Vec::with_capacity(changed.len() * (4 + PAGE_BYTES));
        for (number, _) in &changed {
            raw.extend_from_slice(&number.to_le_bytes());
        }
        for (_, page) in &changed {
            raw.extend_from_slice(page);
        }
        Self {
            raw,
            pages: changed.len() as u32,
            memory: used.len(),
        }
    }

    /// The buffer's size for so many pages; nothing if the memory has fewer.
    pub(crate) fn size(pages: u32, memory: usize) -> Option<usize> {
        let pages = pages as usize;
        (pages <= memory / PAGE_BYTES).then_some(pages * (4 + PAGE_BYTES))
    }

    /// Reads a buffer back, refusing pages outside the memory.
    pub(crate) fn parse(raw: Vec<u8>, pages: u32, memory: usize) -> Option<Self> {
        let delta = Self { raw, pages, memory };
        let inside = delta
            .numbers()
            .all(|number| (number as usize) < memory / PAGE_BYTES);
        (Self::size(pages, memory) == Some(delta.raw.len()) && inside).then_some(delta)
    }

    /// Writes the pages into a fresh memory of the right size.
    pub(crate) fn apply(&self, memory: &mut [u8]) -> Option<()> {
        let contents = self.raw.get(self.pages as usize * 4..)?;
        for (number, page) in self.numbers().zip(contents.chunks_exact(PAGE_BYTES)) {
            let from = number as usize * PAGE_BYTES;
            memory.get_mut(from..from + PAGE_BYTES)?.copy_from_slice(page);
        }
        Some(())
    }

    fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        let numbers = self.raw.chunks_exact(4).take(self.pages as usize);
        numbers.map(|bytes| bytes.try_into().map_or(u32::MAX, u32::from_le_bytes))
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
        used[2 * PAGE_BYTES + 5] = 9;
        used[4 * PAGE_BYTES + 7] = 9;
        let delta = Delta::between(&fresh, &used, 0);
        assert_eq!(delta.pages(), 3);
        fresh.resize(5 * PAGE_BYTES, 0);
        delta.apply(&mut fresh).unwrap();
        assert_eq!(fresh, used);
    }

    #[test]
    fn the_dead_stack_is_not_kept() {
        let fresh = vec![0; 3 * PAGE_BYTES];
        let used = vec![5; 3 * PAGE_BYTES];
        assert_eq!(Delta::between(&fresh, &used, 2 * PAGE_BYTES).pages(), 1);
    }
}
