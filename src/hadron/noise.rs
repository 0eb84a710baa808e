//! Noise sources, and their dilution.

use crate::compute::parallel::*;
use crate::geometry::{Dims, NDIM};
use crate::host::Spinor;
use crate::philox::philox4x32_10;
use num_complex::Complex64;
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// The numbers that noise takes. Each has ⟨η⟩ = 0 and |η| = 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoiseKind {
    /// ±1.
    Z2,
    /// 1, i, −1, −i.
    Z4,
    /// e^{iφ}.
    U1,
    /// (±1 ± i)/√2.
    Z2xZ2,
}

lattice_files::words! { NoiseKind, "noise": Z2 = "z2"; Z4 = "z4"; U1 = "u1"; Z2xZ2 = "z2xz2" }

impl NoiseKind {
    fn number(self, bits: [u32; 4]) -> Complex64 {
        let sign = |bit: u32| if bits[0] >> bit & 1 == 0 { 1.0 } else { -1.0 };
        match self {
            Self::Z2 => sign(0).into(),
            Self::Z4 if bits[0] >> 1 & 1 == 0 => sign(0).into(),
            Self::Z4 => Complex64::new(0.0, sign(0)),
            Self::U1 => {
                let mantissa = (u64::from(bits[0]) << 32 | u64::from(bits[1])) >> 11;
                Complex64::from_polar(1.0, TAU * mantissa as f64 / (1u64 << 53) as f64)
            }
            Self::Z2xZ2 => Complex64::new(sign(0), sign(1)) * FRAC_1_SQRT_2,
        }
    }
}

/// Noise: a number for each site and component.
///
/// A number belongs to the global site. So fields have the same bits however a lattice is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noise {
    /// The numbers that it takes.
    pub kind: NoiseKind,
    /// The seed.
    pub seed: u64,
    /// The number of the hit, below 2³¹. Different hits of one seed are independent.
    pub hit: u32,
}

/// Marks the streams of noise. Streams of other random fields are small numbers.
const STREAM: u32 = 1 << 31;

impl Noise {
    /// Returns the number of a site for component 3·spin + colour.
    pub fn number(&self, site: usize, component: usize) -> Complex64 {
        let (seed, site) = (self.seed, site as u64);
        let counter = [component as u32, STREAM | self.hit, site as u32, (site >> 32) as u32];
        self.kind.number(philox4x32_10(counter, [seed as u32, (seed >> 32) as u32]))
    }

    /// Returns the source that a dilution cuts into parts.
    ///
    /// Spins have numbers of their own unless the dilution is in spin, and colours likewise.
    pub fn field(&self, dims: Dims, dilution: &Dilution) -> Vec<Spinor<f64>> {
        let of = |of_many: usize, is_diluted: bool| if is_diluted { 0 } else { of_many };
        let number = |site, s, c| self.number(site, 3 * of(s, dilution.spin) + of(c, dilution.colour));
        let sites = (0..dims.volume()).into_par_iter();
        sites.map(|site| Spinor::from_fn(|s, c| number(site, s, c))).collect()
    }

    /// Returns one part of a diluted source.
    ///
    /// # Panics
    /// If the dilution has fewer parts.
    pub fn part(&self, dims: Dims, dilution: &Dilution, part: usize) -> Vec<Spinor<f64>> {
        assert!(part < dilution.parts(dims), "a part of the dilution");
        let mut field = self.field(dims, dilution);
        for (site, psi) in field.iter_mut().enumerate() {
            *psi = Spinor::from_fn(|s, c| {
                let is_in_part = dilution.part_of(dims, site, s, c) == part;
                if is_in_part { psi.0[s][c] } else { Complex64::default() }
            });
        }
        field
    }
}

/// The division of a source into parts, each of which has a solve of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dilution {
    /// A part for each time slice.
    pub time: bool,
    /// A part for each spin.
    pub spin: bool,
    /// A part for each colour.
    pub colour: bool,
    /// Parts of sites with x + y + z + t of the same remainder by this number.
    ///
    /// 1 is no dilution, 2 has even and odd sites.
    pub interlaced: usize,
}

impl Default for Dilution {
    /// Returns the dilution into one part.
    fn default() -> Self {
        Self { time: false, spin: false, colour: false, interlaced: 1 }
    }
}

/// Tells in which part of interlaced sites a site is.
pub(super) fn interlaced_part(dims: Dims, site: usize, parts: usize) -> usize {
    dims.coordinates(site).iter().sum::<usize>() % parts
}

impl Dilution {
    /// Returns the number of parts.
    pub fn parts(&self, dims: Dims) -> usize {
        let of = |count: usize, is_diluted: bool| if is_diluted { count } else { 1 };
        of(dims[NDIM - 1], self.time) * of(4, self.spin) * of(3, self.colour) * self.interlaced
    }

    /// Returns the part that a component of a site is in.
    ///
    /// Interlaced sites change fastest with the number of the part, then colours, spins and slices.
    pub fn part_of(&self, dims: Dims, site: usize, spin: usize, colour: usize) -> usize {
        let of = |number: usize, count: usize, is_diluted: bool| {
            if is_diluted { (number, count) } else { (0, 1) }
        };
        let digits = [
            of(dims.coordinates(site)[NDIM - 1], dims[NDIM - 1], self.time),
            of(spin, 4, self.spin),
            of(colour, 3, self.colour),
            (interlaced_part(dims, site, self.interlaced), self.interlaced),
        ];
        digits.into_iter().fold(0, |number, (digit, count)| number * count + digit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(kind: NoiseKind) -> Noise {
        Noise { kind, seed: 0x1234_5678_9abc, hit: 3 }
    }

    #[test]
    fn parts_of_a_dilution_add_up_to_the_source() {
        let dims = Dims::new([2, 4, 2, 6]).unwrap();
        for (number, kind) in (0..16).zip(NoiseKind::ALL.into_iter().cycle()) {
            let bit = |k: usize| number >> k & 1 == 1;
            let dilution =
                Dilution { time: bit(0), spin: bit(1), colour: bit(2), interlaced: 1 + 2 * (number >> 3) };
            let noise = noise(kind);
            let mut sum = vec![Spinor::<f64>::default(); dims.volume()];
            let mut shares = 0;
            for part in 0..dilution.parts(dims) {
                for (sum, psi) in sum.iter_mut().zip(noise.part(dims, &dilution, part)) {
                    shares += psi.0.iter().flatten().filter(|z| z.norm() > 0.0).count();
                    *sum = Spinor::from_fn(|s, c| sum.0[s][c] + psi.0[s][c]);
                }
            }
            assert_eq!(sum, noise.field(dims, &dilution), "{dilution:?}");
            // No component is in two parts.
            assert_eq!(shares, 12 * dims.volume(), "{dilution:?}");
        }
    }

    #[test]
    fn numbers_are_of_their_kind_and_average_to_nothing() {
        let count = 4000;
        for kind in NoiseKind::ALL {
            let noise = noise(kind);
            let numbers: Vec<Complex64> = (0..count).map(|k| noise.number(k / 12, k % 12)).collect();
            let (mut sum, mut squares, mut products) =
                (Complex64::default(), Complex64::default(), Complex64::default());
            for (k, z) in numbers.iter().enumerate() {
                assert!((z.norm() - 1.0).abs() < 1e-15, "{kind:?}: {z}");
                let power = match kind {
                    NoiseKind::Z2 => z * z,
                    NoiseKind::Z4 => z.powu(4),
                    NoiseKind::Z2xZ2 => -z.powu(4),
                    NoiseKind::U1 => 1.0.into(),
                };
                assert!((power - 1.0).norm() < 1e-14, "{kind:?}: {z}");
                sum += z;
                squares += z * z;
                products += z.conj() * numbers[(k + 1) % count];
            }
            let bound = 4.0 * (count as f64).sqrt();
            assert!(sum.norm() < bound && products.norm() < bound, "{kind:?}: {sum}, {products}");
            assert!(kind == NoiseKind::Z2 || squares.norm() < bound, "{kind:?}: {squares}");
        }
    }

    #[test]
    fn hits_and_seeds_differ() {
        let numbers = |noise: Noise| -> Vec<Complex64> { (0..64).map(|k| noise.number(k, 0)).collect() };
        let here = noise(NoiseKind::U1);
        assert_eq!(numbers(here), numbers(here));
        assert_ne!(numbers(here), numbers(Noise { hit: 4, ..here }));
        assert_ne!(numbers(here), numbers(Noise { seed: 1, ..here }));
        assert_ne!(here.number(5, 0), here.number(5, 1));
    }
}
