//! Random numbers that belong to a place, not to an order of drawing.
//!
//! Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
//! SC 2011) is a function from a 64-bit key and a 128-bit counter to 128 random bits:
//!
//! | input   | word 0         | word 1        | word 2        | word 3         |
//! |---------|----------------|---------------|---------------|----------------|
//! | key     | seed, low half | seed, high    |               |                |
//! | counter | block          | stream        | site, low half| site, high half|
//!
//! `block` counts the draws of one site in one stream. So a field made from these numbers does not
//! depend on the number of threads or devices that fill it.

use num_complex::Complex;
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// Steps of the key in each round, as fractions of 2³².
///
/// The steps are the golden ratio and √3 − 1.
const KEY_STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: usize = 10;

/// Returns 128 random bits for this counter and key: the block function.
pub fn philox4x32_10(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..ROUNDS {
        let [high0, low0] = wide_product(MULTIPLIERS[0], counter[0]);
        let [high1, low1] = wide_product(MULTIPLIERS[1], counter[2]);
        counter = [high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0];
        key = [key[0].wrapping_add(KEY_STEPS[0]), key[1].wrapping_add(KEY_STEPS[1])];
    }
    counter
}

/// Returns the high and the low word of a product.
fn wide_product(a: u32, b: u32) -> [u32; 2] {
    let product = u64::from(a) * u64::from(b);
    [(product >> 32) as u32, product as u32]
}

/// The random numbers of one site in one stream, one after another.
#[derive(Clone, Debug)]
pub struct Philox {
    key: [u32; 2],
    counter: [u32; 4],
    block: [u32; 4],
    used: usize,
}

impl Philox {
    /// Makes the numbers of the site with this global number, from the first one on.
    ///
    /// Different streams of one seed are independent. A stream holds 2³⁴ words for each site.
    pub fn new(seed: u64, stream: u32, site: u64) -> Self {
        let [seed_low, seed_high] = [seed as u32, (seed >> 32) as u32];
        let [site_low, site_high] = [site as u32, (site >> 32) as u32];
        Self { key: [seed_low, seed_high], counter: [0, stream, site_low, site_high], block: [0; 4], used: 4 }
    }

    /// Draws thirty-two random bits.
    pub fn next_u32(&mut self) -> u32 {
        if self.used == 4 {
            self.block = philox4x32_10(self.counter, self.key);
            self.counter[0] = self.counter[0].wrapping_add(1);
            self.used = 0;
        }
        let word = self.block[self.used];
        self.used += 1;
        word
    }

    /// Draws a uniform number from the open interval (0, 1).
    ///
    /// The number is an odd multiple of 2⁻⁵³. So neither end can occur, and u and 1 − u are equally
    /// likely.
    pub fn uniform(&mut self) -> f64 {
        let low = u64::from(self.next_u32());
        let high = u64::from(self.next_u32());
        let bits = (high << 32 | low) >> 12;
        (2 * bits + 1) as f64 * (0.5 / (1u64 << 52) as f64)
    }

    /// Draws a complex Gaussian number with ⟨z⟩ = 0 and ⟨|z|²⟩ = 1.
    ///
    /// Real and imaginary part are independent with variance ½ each (Box and Muller, 1958).
    pub fn gaussian(&mut self) -> Complex<f64> {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        let angle = TAU * self.uniform();
        Complex::from_polar(radius * FRAC_1_SQRT_2, angle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The `philox4x32 10` lines of `tests/kat_vectors` in Random123.
    #[test]
    fn known_answers_of_random123() {
        assert_eq!(philox4x32_10([0; 4], [0; 2]), [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
        assert_eq!(
            philox4x32_10([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd]
        );
        assert_eq!(
            philox4x32_10([0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344], [0xa4093822, 0x299f31d0]),
            [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1]
        );
    }

    #[test]
    fn words_follow_another_implementation() {
        let (seed, stream, site) = (0x0123_4567_89ab_cdef, 0xfeed_beef, 0x0bad_cafe_0000_0007);
        let mut ours = Philox::new(seed, stream, site);
        let first_block = u128::from(site) << 64 | u128::from(stream) << 32;
        let mut theirs = rand_philox::Philox::new([seed as u32, (seed >> 32) as u32], first_block);
        for _ in 0..100 {
            assert_eq!(ours.next_u32(), theirs.next_u32());
        }
    }

    #[test]
    fn seed_stream_and_site_all_matter() {
        let first = |seed, stream, site| Philox::new(seed, stream, site).uniform();
        let values = [
            first(1, 1, 1),
            first(2, 1, 1),
            first(1 | 1 << 32, 1, 1),
            first(1, 2, 1),
            first(1, 1, 2),
            first(1, 1, 1 | 1 << 32),
        ];
        for (i, a) in values.iter().enumerate() {
            assert!(values[i + 1..].iter().all(|b| a != b));
        }
    }

    #[test]
    fn uniform_has_the_moments_of_the_unit_interval() {
        let mut random = Philox::new(5, 0, 0);
        let samples = 1_000_000;
        let [mut mean, mut square] = [0.0; 2];
        for _ in 0..samples {
            let u = random.uniform();
            assert!(u > 0.0 && u < 1.0);
            mean += u / samples as f64;
            square += u * u / samples as f64;
        }
        // Five standard deviations: √(1/12) and √(4/45) of one sample.
        assert!((mean - 0.5).abs() < 5.0 * 0.2887e-3);
        assert!((square - 1.0 / 3.0).abs() < 5.0 * 0.2981e-3);
    }

    #[test]
    fn the_ends_of_the_interval_stay_inside() {
        let of_block = |word| {
            let mut random = Philox::new(0, 0, 0);
            (random.block, random.used) = ([word; 4], 0);
            random.uniform()
        };
        assert_eq!(of_block(0), f64::EPSILON / 2.0);
        assert_eq!(of_block(u32::MAX), 1.0 - f64::EPSILON / 2.0);
    }

    #[test]
    fn gaussian_has_the_moments_of_a_complex_normal_distribution() {
        let samples = 200_000;
        let [mut re, mut re2, mut im2, mut re_im, mut re4] = [0.0; 5];
        for site in 0..samples {
            let z = Philox::new(9, 3, site).gaussian();
            re += z.re;
            re2 += z.re * z.re;
            im2 += z.im * z.im;
            re_im += z.re * z.im;
            re4 += z.re.powi(4);
        }
        let [re, re2, im2, re_im, re4] = [re, re2, im2, re_im, re4].map(|sum| sum / samples as f64);
        // Five standard deviations of each mean.
        let root = 5.0 / (samples as f64).sqrt();
        assert!(re.abs() < root * 0.5f64.sqrt());
        assert!((re2 - 0.5).abs() < root * 0.5f64.sqrt());
        assert!((im2 - 0.5).abs() < root * 0.5f64.sqrt());
        assert!(re_im.abs() < root * 0.5);
        // ⟨x⁴⟩ = 3σ⁴ and the variance of x⁴ is 96σ⁸, with σ² = ½.
        assert!((re4 - 0.75).abs() < root * 6f64.sqrt());
    }
}
