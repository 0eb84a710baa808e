//! Random numbers that are the same on every machine.

/// A counter that is mixed to random numbers.
///
/// This is SplitMix64 (G. L. Steele et al., OOPSLA 2014).
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// Returns the generator of this seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns a number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        // The upper half of the product is uniform but for one part in 2^64 / end.
        ((u128::from(bits) * end as u128) >> 64) as usize
    }
}
