//! A suspended image is hostile until it is checked: whoever can write one can also write its checksum.
//!
//! The first byte says how the rest becomes an image, so that what lies behind checksum and compression is reached:
//! as it stands, with its checksum repaired, or as header fields and pieces that are packed here.

#![no_main]

use std::num::Wrapping;

use codecell_fuzz::peak_of;
use libfuzzer_sys::fuzz_target;

use crate::delta::{Delta, PAGE_BYTES};
use crate::image::Image;

/// The build of the guest, which images name: any will do.
mod artefact {
    pub(crate) const HASH: &[u8; 32] = b"a guest that this target made up";
}
#[path = "../../crates/guest-runtime/src/checksum.rs"]
mod checksum;
#[path = "../../crates/guest-runtime/src/delta.rs"]
mod delta;
#[path = "../../crates/guest-runtime/src/error.rs"]
#[expect(dead_code, reason = "only two of the errors are made here")]
mod error;
#[path = "../../crates/guest-runtime/src/image.rs"]
#[expect(dead_code, reason = "nobody asks an image for its length here")]
mod image;

/// The largest memory that an image may ask for.
const LIMIT: usize = 1 << 20;
/// A page, with its entry in the books.
const PAGE_AND_ENTRY: usize = PAGE_BYTES + 12;
const CHECKSUM_AT: usize = 58;
const HEADER_BYTES: usize = 66;

fuzz_target!(|data: &[u8]| {
    let Some((&how, rest)) = data.split_first() else {
        return;
    };
    let bytes = match how % 3 {
        0 => rest.to_vec(),
        1 => repaired(rest.to_vec()),
        _ => match packed(rest) {
            Some(bytes) => bytes,
            None => return,
        },
    };
    let (read, peak) = peak_of(|| Image::unpack(&bytes, LIMIT));
    // What is refused may not have cost more than what could have been accepted.
    let most = LIMIT / PAGE_BYTES * PAGE_AND_ENTRY + 4096;
    assert!(peak <= most, "{peak} bytes for an image of {}", bytes.len());
    let Ok(delta) = read else { return };

    // Whatever is accepted can be written and read again, and is the same.
    let again = Image::pack(&delta, usize::MAX).expect("there is no limit");
    let again = Image::unpack(again.as_bytes(), LIMIT);
    assert_eq!(again.as_ref(), Ok(&delta));

    // It fits the memory it names, and what it makes of that memory is what a comparison finds.
    let mut memory = vec![0; delta.memory_bytes()];
    assert_eq!(delta.apply(&mut memory), Some(()));
    let pages = u32::try_from(memory.len() / PAGE_BYTES).expect("the limit is small");
    let found = Delta::between(&[], &memory, 0..pages);
    let mut copy = vec![0; memory.len()];
    assert_eq!(found.apply(&mut copy), Some(()));
    let whole = memory.len() / PAGE_BYTES * PAGE_BYTES;
    assert!(copy[..whole] == memory[..whole], "a piece was lost");
});

/// The same bytes with the checksum that belongs to them, and with our build in the header.
fn repaired(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() < HEADER_BYTES {
        return bytes;
    }
    bytes[10..42].copy_from_slice(artefact::HASH);
    let (header, payload) = bytes.split_at_mut(HEADER_BYTES);
    let sum = checksum::of(&header[..CHECKSUM_AT]).rotate_left(1) ^ checksum::of(payload);
    header[CHECKSUM_AT..].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// An image whose header says what the first bytes say, with the rest as its pages: entries as the loader reads them,
/// each page followed by contents made from a few bytes.
fn packed(rest: &[u8]) -> Option<Vec<u8>> {
    let (&[memory, pages, size_off, fill], mut rest) = rest.split_first_chunk::<4>()?;
    let mut raw = Vec::new();
    let mut sequence = Wrapping(fill);
    let mut contents = 0_usize;
    let (numbers, pieces) = {
        let count = usize::from(pages);
        let numbers = rest.get(..count)?;
        rest = &rest[count..];
        (numbers, rest)
    };
    for number in numbers {
        raw.extend_from_slice(&u32::from(*number).to_le_bytes());
    }
    for at in 0..numbers.len() {
        let mut bits = [0; 8];
        for (bit, from) in bits.iter_mut().zip(pieces.get(at * 2..).unwrap_or_default()) {
            *bit = *from;
        }
        contents += u64::from_le_bytes(bits).count_ones() as usize * 64;
        raw.extend_from_slice(&bits);
    }
    // Off by a little, to be refused, or right.
    let contents = contents.saturating_add_signed(isize::from(size_off as i8) / 64);
    raw.extend(
        std::iter::repeat_with(|| {
            sequence += 1;
            sequence.0
        })
        .take(contents.min(2 * LIMIT)),
    );
    let payload = lz4_flex::block::compress(&raw);
    let mut bytes = b"cdcl-img\x02\x00".to_vec();
    bytes.extend_from_slice(artefact::HASH);
    bytes.extend_from_slice(&(u64::from(memory) * PAGE_BYTES as u64 + u64::from(size_off & 1)).to_le_bytes());
    bytes.extend_from_slice(&u32::from(pages).to_le_bytes());
    bytes.extend_from_slice(&u32::try_from(raw.len()).ok()?.to_le_bytes());
    bytes.extend_from_slice(&[0; 8]);
    bytes.extend_from_slice(&payload);
    Some(repaired(bytes))
}
