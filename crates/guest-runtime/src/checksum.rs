//! A fast checksum against damage. It is no protection against somebody who means harm: whoever can write an image
//! or a cached module can also write its checksum.

/// A 64-bit checksum of `bytes`.
pub(crate) fn of(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut lanes = [PRIME, !PRIME, PRIME.rotate_left(17), PRIME.rotate_left(41)];
    let mut blocks = bytes.chunks_exact(32);
    for block in &mut blocks {
        for (lane, word) in lanes.iter_mut().zip(block.chunks_exact(8)) {
            *lane = mix(*lane, word);
        }
    }
    let mut hash = bytes.len() as u64;
    for lane in lanes {
        hash = (hash ^ lane).wrapping_mul(PRIME).rotate_left(29);
    }
    for word in blocks.remainder().chunks(8) {
        hash = mix(hash, word);
    }
    hash ^ (hash >> 32)
}

fn mix(state: u64, word: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(word) {
        *to = *from;
    }
    (state ^ u64::from_le_bytes(bytes))
        .wrapping_mul(0xD6E8_FEB8_6659_FD93)
        .rotate_left(31)
}

#[cfg(test)]
mod tests {
    #[test]
    fn one_flipped_bit_anywhere_changes_the_checksum() {
        let bytes: Vec<u8> = (0..200_u8).collect();
        let whole = super::of(&bytes);
        for index in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[index] ^= 1;
            assert_ne!(super::of(&damaged), whole, "byte {index}");
        }
        assert_ne!(super::of(&bytes[..199]), whole);
    }
}
