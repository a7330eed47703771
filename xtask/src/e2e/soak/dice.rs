//! Chance that can be had again.

/// A sequence of numbers that its seed decides (`SplitMix64`).
pub(super) struct Dice(u64);

impl Dice {
    /// The sequence of this number among those of a seed.
    pub(super) fn new(seed: u64, number: u64) -> Dice {
        let mut dice = Dice(seed ^ number.wrapping_mul(0xA076_1D64_78BD_642F));
        dice.next();
        dice
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    /// A number from `least` to `most`.
    pub(super) fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most - least + 1)
    }

    /// True so many times out of a hundred.
    pub(super) fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }

    /// One of these.
    pub(super) fn pick<T: Copy, const N: usize>(&mut self, from: [T; N]) -> T {
        const { assert!(N > 0, "there must be something to pick") };
        from[self.index(N)]
    }

    /// A place in something of this length.
    pub(super) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_again() {
        let draw = |seed, number| -> Vec<u64> {
            let mut dice = Dice::new(seed, number);
            (0..8).map(|_| dice.below(1_000)).collect()
        };
        assert_eq!(draw(7, 1), draw(7, 1));
        assert_ne!(draw(7, 1), draw(7, 2));
        assert_ne!(draw(7, 1), draw(8, 1));
    }

    #[test]
    fn everything_is_picked_and_nothing_else() {
        let mut dice = Dice::new(1, 1);
        let mut picked = [false; 3];
        for _ in 0..200 {
            picked[dice.pick([0, 1, 2])] = true;
            let number = dice.between(5, 7);
            assert!((5..=7).contains(&number), "{number}");
        }
        assert_eq!(picked, [true; 3]);
    }
}
