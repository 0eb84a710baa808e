//! The clover term of a site: two Hermitian 6×6 matrices, one for each chirality.

use super::gamma::{self, SpinMatrix};
use super::matrix3::Matrix3;
use super::spinor::Spinor;
use crate::geometry::PLANES;
use crate::scalar::Real;
use num_complex::{Complex, Complex64};

/// Rows of a block: two spins of three colours.
const ROWS: usize = 6;

/// Complex numbers of a packed Hermitian block: half of its 36 reals.
pub const HERMITIAN_NUMBERS: usize = ROWS * ROWS / 2;

/// Complex numbers of any block, row by row.
pub const GENERAL_NUMBERS: usize = ROWS * ROWS;

/// A Hermitian 6×6 matrix between two spins and three colours of one chirality.
///
/// The row is 3·spin + colour. Only the diagonal and the elements below it are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HermitianBlock {
    /// The diagonal.
    pub diagonal: [f64; ROWS],
    /// The elements below the diagonal.
    ///
    /// Element (i, j) with i > j has the index i(i−1)/2 + j.
    pub below: [Complex64; ROWS * (ROWS - 1) / 2],
}

/// Returns the index of element (i, j), i > j, in the lower triangle.
fn place(i: usize, j: usize) -> usize {
    i * (i - 1) / 2 + j
}

impl HermitianBlock {
    /// Returns the element of row `i` and column `j`.
    pub fn element(&self, i: usize, j: usize) -> Complex64 {
        match i.cmp(&j) {
            std::cmp::Ordering::Greater => self.below[place(i, j)],
            std::cmp::Ordering::Equal => self.diagonal[i].into(),
            std::cmp::Ordering::Less => self.below[place(j, i)].conj(),
        }
    }

    /// Multiplies the block by a vector.
    pub fn times(&self, x: [Complex64; ROWS]) -> [Complex64; ROWS] {
        std::array::from_fn(|i| (0..ROWS).map(|j| self.element(i, j) * x[j]).sum())
    }

    /// Returns the block as complex numbers.
    ///
    /// The diagonal comes first, in pairs, then the rows below the diagonal.
    pub fn packed(&self) -> [Complex64; HERMITIAN_NUMBERS] {
        std::array::from_fn(|k| match k.checked_sub(ROWS / 2) {
            None => Complex64::new(self.diagonal[2 * k], self.diagonal[2 * k + 1]),
            Some(k) => self.below[k],
        })
    }

    /// Returns the smallest eigenvalue, to 1e-12 of the largest.
    ///
    /// Bisects for the shift that makes the block singular.
    pub fn smallest_eigenvalue(&self) -> f64 {
        let radius = |i: usize| (0..ROWS).filter(|&j| j != i).map(|j| self.element(i, j).norm()).sum::<f64>();
        let bounds = (0..ROWS).map(|i| (self.diagonal[i] - radius(i), self.diagonal[i] + radius(i)));
        let (mut low, mut high) =
            bounds.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), (c, d)| (a.min(c), b.max(d)));
        let precision = 1e-13 * low.abs().max(high.abs());
        while high - low > precision {
            let middle = 0.5 * (low + high);
            if self.shifted(-middle).factorised().is_some() {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }

    /// Adds a multiple of 1.
    pub fn shifted(&self, shift: f64) -> Self {
        Self { diagonal: self.diagonal.map(|d| d + shift), ..*self }
    }

    /// Multiplies every element by a real number.
    pub fn scaled(&self, factor: f64) -> Self {
        Self { diagonal: self.diagonal.map(|d| d * factor), below: self.below.map(|z| z * factor) }
    }

    /// Returns L and D of L D L†, with 1 on the diagonal of L.
    ///
    /// `None` unless all eigenvalues are positive and all numbers finite.
    fn factorised(&self) -> Option<([[Complex64; ROWS]; ROWS], [f64; ROWS])> {
        let mut l = [[Complex64::default(); ROWS]; ROWS];
        let mut d = [0.0; ROWS];
        for j in 0..ROWS {
            d[j] = self.diagonal[j] - (0..j).map(|k| l[j][k].norm_sqr() * d[k]).sum::<f64>();
            if !(d[j] > 0.0 && d[j].is_finite()) {
                return None;
            }
            l[j][j] = 1.0.into();
            for i in j + 1..ROWS {
                let sum: Complex64 = (0..j).map(|k| l[i][k] * l[j][k].conj() * d[k]).sum();
                l[i][j] = (self.below[place(i, j)] - sum) / d[j];
            }
        }
        Some((l, d))
    }

    /// Returns the inverse.
    ///
    /// `None` unless all eigenvalues are positive and all numbers finite.
    pub fn inverse(&self) -> Option<Self> {
        let (l, d) = self.factorised()?;
        // L⁻¹, row by row.
        let mut m = [[Complex64::default(); ROWS]; ROWS];
        for i in 0..ROWS {
            m[i][i] = 1.0.into();
            for j in 0..i {
                m[i][j] = -(j..i).map(|k| l[i][k] * m[k][j]).sum::<Complex64>();
            }
        }
        let element = |i: usize, j: usize| -> Complex64 {
            (i.max(j)..ROWS).map(|k| m[k][i].conj() * m[k][j] / d[k]).sum()
        };
        let mut inverse = Self::default();
        for i in 0..ROWS {
            inverse.diagonal[i] = element(i, i).re;
            for j in 0..i {
                inverse.below[place(i, j)] = element(i, j);
            }
        }
        Some(inverse)
    }
}

/// The site term of an operator with a clover term: a block for each of γ5 = 1, −1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CloverBlocks(pub [HermitianBlock; 2]);

/// Returns ½[γ_μ, γ_ν] = γ_μ γ_ν for a plane, as one entry in each row.
fn sigma(mu: usize, nu: usize) -> SpinMatrix {
    gamma::spin_product(&gamma::GAMMA[mu], &gamma::GAMMA[nu])
}

impl CloverBlocks {
    /// Computes shift + factor · T with T = −Σ_{μ<ν} γ_μ γ_ν F_μν.
    ///
    /// `f` is the field strength in [`PLANES`]. `weights` multiply F in each plane. On anisotropic
    /// lattices planes with t have a weight of their own.
    pub fn of_field_strength(f: &[Matrix3<f64>; 6], shift: f64, factor: f64, weights: [f64; 6]) -> Self {
        let mut blocks = Self::default();
        for (chirality, block) in blocks.0.iter_mut().enumerate() {
            block.diagonal = [shift; ROWS];
            for ((mu, nu), (f, weight)) in PLANES.into_iter().zip(f.iter().zip(weights)) {
                for (spin, (column, phase)) in
                    sigma(mu, nu).into_iter().skip(2 * chirality).take(2).enumerate()
                {
                    let other = column - 2 * chirality;
                    for (i, j) in
                        (0..9).map(|k| (3 * spin + k / 3, 3 * other + k % 3)).filter(|(i, j)| i >= j)
                    {
                        let value = phase.times(f.0[i % 3][j % 3]) * (-factor * weight);
                        if i == j {
                            block.diagonal[i] += value.re;
                        } else {
                            block.below[place(i, j)] += value;
                        }
                    }
                }
            }
        }
        blocks
    }

    /// Multiplies a spinor in the DeGrand-Rossi basis, where γ5 is diagonal.
    pub fn times(&self, psi: &Spinor<f64>) -> Spinor<f64> {
        let half = |chirality: usize| {
            let x = std::array::from_fn(|row| psi.0[2 * chirality + row / 3][row % 3]);
            self.0[chirality].times(x)
        };
        let halves = [half(0), half(1)];
        Spinor::from_fn(|spin, colour| halves[spin / 2][3 * (spin % 2) + colour])
    }

    /// Returns the inverse; `None` unless both blocks are positive.
    pub fn inverse(&self) -> Option<Self> {
        Some(Self([self.0[0].inverse()?, self.0[1].inverse()?]))
    }

    /// Returns the smallest eigenvalue of both blocks.
    pub fn smallest_eigenvalue(&self) -> f64 {
        self.0[0].smallest_eigenvalue().min(self.0[1].smallest_eigenvalue())
    }
}

/// A block as rows.
type Rows = [[Complex64; ROWS]; ROWS];

/// Returns (B + i twist)⁻¹ for a Hermitian B, as (B − i twist)(B² + twist²)⁻¹.
///
/// `None` if the twist is zero and B has the eigenvalue zero.
fn inverse_with_twist(block: &HermitianBlock, twist: f64) -> Option<Rows> {
    let product =
        |i: usize, j: usize| (0..ROWS).map(|k| block.element(i, k) * block.element(k, j)).sum::<Complex64>();
    let mut square = HermitianBlock::default();
    for i in 0..ROWS {
        square.diagonal[i] = product(i, i).re + twist * twist;
        for j in 0..i {
            square.below[place(i, j)] = product(i, j);
        }
    }
    let inverse = square.inverse()?;
    let shifted = |i: usize, j: usize| {
        let diagonal = if i == j { Complex64::new(0.0, -twist) } else { Complex64::default() };
        block.element(i, j) + diagonal
    };
    Some(std::array::from_fn(|i| {
        std::array::from_fn(|j| (0..ROWS).map(|k| shifted(i, k) * inverse.element(k, j)).sum())
    }))
}

impl CloverBlocks {
    /// Returns (A + i twist γ5)⁻¹ for these blocks A, row by row, γ5 = 1 first.
    ///
    /// `None` if the inverse does not exist.
    pub fn inverse_with_twist(&self, twist: f64) -> Option<[[Complex64; GENERAL_NUMBERS]; 2]> {
        let flat = |rows: Rows| std::array::from_fn(|k| rows[k / ROWS][k % ROWS]);
        Some([flat(inverse_with_twist(&self.0[0], twist)?), flat(inverse_with_twist(&self.0[1], -twist)?)])
    }

    /// Returns both blocks packed, γ5 = 1 first.
    pub fn packed(&self) -> [[Complex64; HERMITIAN_NUMBERS]; 2] {
        [self.0[0].packed(), self.0[1].packed()]
    }
}

/// The layout of the two stored blocks of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockLayout {
    /// [`HERMITIAN_NUMBERS`] for each chirality.
    Hermitian,
    /// [`GENERAL_NUMBERS`] for each chirality.
    General,
}

impl BlockLayout {
    /// Returns the complex numbers for each chirality.
    pub fn numbers(self) -> usize {
        match self {
            Self::Hermitian => HERMITIAN_NUMBERS,
            Self::General => GENERAL_NUMBERS,
        }
    }
}

/// The stored blocks of one site, γ5 = 1 first.
#[derive(Clone, Copy, Debug)]
pub struct SiteBlocks<'a, T> {
    /// The layout of the blocks.
    pub layout: BlockLayout,
    /// `true` if the adjoint of the blocks is meant.
    pub adjoint: bool,
    /// The numbers of the blocks.
    pub numbers: &'a [Complex<T>],
}

impl<T: Real> SiteBlocks<'_, T> {
    /// Returns the element of row `i` and column `j` of the block of one chirality.
    fn element(&self, chirality: usize, i: usize, j: usize) -> Complex<T> {
        let block = &self.numbers[chirality * self.layout.numbers()..];
        match (self.layout, self.adjoint) {
            (BlockLayout::General, false) => block[ROWS * i + j],
            (BlockLayout::General, true) => block[ROWS * j + i].conj(),
            (BlockLayout::Hermitian, _) => match i.cmp(&j) {
                std::cmp::Ordering::Greater => block[ROWS / 2 + place(i, j)],
                std::cmp::Ordering::Less => block[ROWS / 2 + place(j, i)].conj(),
                std::cmp::Ordering::Equal => {
                    let pair = block[i / 2];
                    Complex::new(if i.is_multiple_of(2) { pair.re } else { pair.im }, T::zero())
                }
            },
        }
    }

    /// Multiplies a spinor in the DeGrand-Rossi basis.
    pub fn times(&self, psi: &Spinor<T>) -> Spinor<T> {
        Spinor::from_fn(|spin, colour| {
            let (chirality, row) = (spin / 2, 3 * (spin % 2) + colour);
            let term = |k: usize| self.element(chirality, row, k) * psi.0[2 * chirality + k / 3][k % 3];
            (0..ROWS).map(term).fold(Complex::default(), |sum, term| sum + term)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a positive block B B† + least, with all eigenvalues above `least`.
    fn block(seed: f64, least: f64) -> HermitianBlock {
        let b = |i: usize, j: usize| {
            let k = seed + (6 * i + j) as f64;
            Complex64::new((1.3 * k).sin(), (0.7 * k * k).cos()) * 0.4
        };
        let element = |i, j| (0..ROWS).map(|k| b(i, k) * b(j, k).conj()).sum::<Complex64>();
        let mut block = HermitianBlock::default();
        for i in 0..ROWS {
            block.diagonal[i] = element(i, i).re + least;
            for j in 0..i {
                block.below[place(i, j)] = element(i, j);
            }
        }
        block
    }

    #[test]
    fn a_block_times_its_inverse_is_one() {
        let block = block(0.3, 0.1);
        let inverse = block.inverse().unwrap();
        for k in 0..ROWS {
            let unit = std::array::from_fn(|i| Complex64::from(if i == k { 1.0 } else { 0.0 }));
            let column = block.times(inverse.times(unit));
            for i in 0..ROWS {
                assert!((column[i] - unit[i]).norm() < 1e-13, "{k} {i}: {}", column[i]);
            }
        }
    }

    #[test]
    fn stored_blocks_multiply_as_the_blocks_do() {
        let blocks = CloverBlocks([block(0.4, 0.1), block(3.1, 0.2)]);
        let psi = Spinor::<f64>::from_fn(|s, c| Complex64::new(0.3 * s as f64 - 0.1, 0.7 * c as f64 + 0.2));
        let distance =
            |a: &Spinor<f64>, b: &Spinor<f64>| Spinor::from_fn(|s, c| a.0[s][c] - b.0[s][c]).norm2().sqrt();
        let packed = blocks.packed();
        let hermitian =
            SiteBlocks { layout: BlockLayout::Hermitian, adjoint: false, numbers: packed.as_flattened() };
        assert!(distance(&hermitian.times(&psi), &blocks.times(&psi)) < 1e-15);
        let twist = 0.3;
        let inverse = blocks.inverse_with_twist(twist).unwrap();
        let general =
            |adjoint| SiteBlocks { layout: BlockLayout::General, adjoint, numbers: inverse.as_flattened() };
        // A + i twist γ5, and its adjoint.
        let twisted = |sign: f64, psi: &Spinor<f64>| {
            let product = blocks.times(psi);
            Spinor::from_fn(|s, c| {
                let gamma5 = if s < 2 { sign } else { -sign };
                product.0[s][c] + Complex64::new(0.0, twist * gamma5) * psi.0[s][c]
            })
        };
        assert!(distance(&general(false).times(&twisted(1.0, &psi)), &psi) < 1e-13);
        assert!(distance(&general(true).times(&twisted(-1.0, &psi)), &psi) < 1e-13);
    }

    #[test]
    fn the_smallest_eigenvalue_is_where_the_shifted_block_becomes_singular() {
        for (seed, least) in [(0.1, 0.3), (2.2, 0.01)] {
            let block = block(seed, least);
            let smallest = block.smallest_eigenvalue();
            assert!(smallest > least);
            assert!(block.shifted(-smallest + 1e-9).inverse().is_some());
            assert!(block.shifted(-smallest - 1e-9).inverse().is_none());
        }
    }

    #[test]
    fn what_is_not_positive_or_not_finite_has_no_inverse() {
        let good = block(1.0, 0.2);
        assert!(good.shifted(-10.0).inverse().is_none());
        let mut broken = good;
        broken.below[7].im = f64::NAN;
        assert!(broken.inverse().is_none());
    }
}
