//! Which pages of a memory were written, as the system knows it.

use std::ops::Range;

/// The system's book about this process, where it has one.
pub(crate) struct Pagemap(book::Book);

impl Pagemap {
    pub(crate) fn open() -> Self {
        Self(book::Book::open())
    }

    /// The pages among `pages` of a guest's memory at `address` that may have been written since it was made. The
    /// others are as they were; these need not differ. Without a book that is all of them.
    pub(crate) fn touched(&self, address: usize, pages: Range<u32>) -> Vec<u32> {
        self.0
            .touched(address, pages.clone())
            .unwrap_or_else(|| pages.collect())
    }
}

/// Pages have 4 KiB there, and an entry of the book 8 bytes, whatever the configuration of the system.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod book {
    use std::fs::File;
    use std::ops::Range;
    use std::os::unix::fs::FileExt;

    use crate::delta::PAGE_BYTES;

    const PRESENT: u64 = 1 << 63;
    const SWAPPED: u64 = 1 << 62;
    /// Still the page of the file that the memory was mapped from, so never written: a write makes a copy.
    const OF_FILE: u64 = 1 << 61;

    pub(super) struct Book(Option<File>);

    impl Book {
        pub(super) fn open() -> Self {
            Self(File::open("/proc/self/pagemap").ok())
        }

        pub(super) fn touched(&self, address: usize, pages: Range<u32>) -> Option<Vec<u32>> {
            let mut entries = vec![0; pages.len() * 8];
            let first = address / PAGE_BYTES + pages.start as usize;
            self.0
                .as_ref()?
                .read_exact_at(&mut entries, first as u64 * 8)
                .ok()?;
            let touched = pages.zip(entries.chunks_exact(8)).filter(|(_, entry)| {
                let entry = (*entry).try_into().map_or(PRESENT, u64::from_le_bytes);
                entry & (PRESENT | SWAPPED) != 0 && entry & OF_FILE == 0
            });
            Some(touched.map(|(number, _)| number).collect())
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn pages_that_nobody_wrote_are_left_out() {
            // Fresh from the system, which gives a page only when it is written.
            let mut memory = vec![0_u8; 64 * PAGE_BYTES];
            let before = memory.as_ptr().align_offset(PAGE_BYTES);
            let pages = &mut memory[before..before + 60 * PAGE_BYTES];
            pages[20 * PAGE_BYTES] = 1;
            pages[41 * PAGE_BYTES - 1] = 1;
            let touched = Book::open().touched(pages.as_ptr() as usize, 10..50);
            assert_eq!(touched.unwrap(), [20, 40]);
        }
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod book {
    pub(super) struct Book;

    impl Book {
        pub(super) fn open() -> Self {
            Self
        }

        pub(super) fn touched(&self, _address: usize, _pages: std::ops::Range<u32>) -> Option<Vec<u32>> {
            None
        }
    }
}
