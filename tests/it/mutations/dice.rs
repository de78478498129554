//! Randomness that can be repeated: the same seed throws the same numbers on every machine.

/// SplitMix64.
pub struct Dice(u64);

impl Dice {
    /// The dice of one case of a run: a case can be repeated without those before it.
    pub fn new(seed: u64, case: u64) -> Self {
        let mut dice = Self(seed ^ case.wrapping_mul(0x9E37_79B9_7F4A_7C15));
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

    /// A number below `end`; 0 where there is none.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { usize::try_from(self.next() % end as u64).unwrap() }
    }

    /// One of several.
    pub fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}
