//! What the fuzz targets share: a look at how much memory a piece of work takes.
//!
//! Some targets compile a private file of a crate into themselves (`#[path]`): what it decodes is hostile, and it is
//! not public because nobody outside has any business with it. That way the file is tested as it is, and the product
//! needs no door for the fuzzer.
//!
//! ```
//! let (vector, peak) = codecell_fuzz::peak_of(|| vec![0_u8; 5000]);
//! assert!(peak >= vector.len());
//! ```

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator, with books about how much is in use.
pub struct Measured;

#[global_allocator]
static ALLOCATOR: Measured = Measured;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

impl Measured {
    fn took(size: usize) {
        let now = IN_USE.fetch_add(size, Relaxed) + size;
        PEAK.fetch_max(now, Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Measured {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::took(layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc(layout) }
    }

    // Zeroed memory of the system is free until it is touched; the default would touch all of it.
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::took(layout.size());
        // SAFETY: the caller keeps the contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::took(size);
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.realloc(at, layout, size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract.
        unsafe { System.dealloc(at, layout) }
    }
}

/// Does `work` and says how many bytes it had in use at most beyond what was in use before.
///
/// All threads count: a target that measures runs one at a time.
pub fn peak_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = IN_USE.load(Relaxed);
    PEAK.store(before, Relaxed);
    let done = work();
    (done, PEAK.load(Relaxed).saturating_sub(before))
}
