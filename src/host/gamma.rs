//! The Dirac matrices in the DeGrand-Rossi basis.

use super::spinor::Spinor;
use crate::scalar::Real;
use num_complex::Complex;

/// A unit of the complex plane: the only numbers that the γ matrices are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// 1
    One,
    /// i
    I,
    /// −1
    MinusOne,
    /// −i
    MinusI,
}

impl Phase {
    /// Multiplies `z` by this phase.
    #[inline]
    pub fn times<T: Real>(self, z: Complex<T>) -> Complex<T> {
        match self {
            Phase::One => z,
            Phase::I => Complex::new(-z.im, z.re),
            Phase::MinusOne => -z,
            Phase::MinusI => Complex::new(z.im, -z.re),
        }
    }

    /// Returns the complex conjugate.
    pub fn conj(self) -> Self {
        match self {
            Phase::I => Phase::MinusI,
            Phase::MinusI => Phase::I,
            real => real,
        }
    }

    /// Returns the product of two phases.
    pub fn and(self, other: Self) -> Self {
        let quarter_turns = |phase| match phase {
            Phase::One => 0,
            Phase::I => 1,
            Phase::MinusOne => 2,
            Phase::MinusI => 3,
        };
        [Phase::One, Phase::I, Phase::MinusOne, Phase::MinusI]
            [(quarter_turns(self) + quarter_turns(other)) % 4]
    }
}

/// A matrix in spin space with one entry in each row: row `s` is (column, entry).
pub type SpinMatrix = [(usize, Phase); 4];

use Phase::{I, MinusI, MinusOne, One};

/// γ_x, γ_y, γ_z, γ_t in the DeGrand-Rossi basis.
///
/// γ1=((0,iσ1),(−iσ1,0)), γ2=((0,−iσ2),(iσ2,0)), γ3=((0,iσ3),(−iσ3,0)), γ4=((0,1),(1,0)).
pub const GAMMA: [SpinMatrix; 4] = [
    [(3, I), (2, I), (1, MinusI), (0, MinusI)],
    [(3, MinusOne), (2, One), (1, One), (0, MinusOne)],
    [(2, I), (3, MinusI), (0, MinusI), (1, I)],
    [(2, One), (3, One), (0, One), (1, One)],
];

/// γ5 = γ1γ2γ3γ4 = diag(1, 1, −1, −1).
pub const GAMMA5: SpinMatrix = [(0, One), (1, One), (2, MinusOne), (3, MinusOne)];

/// iγ5, of a twisted mass.
pub const I_GAMMA5: SpinMatrix = [(0, I), (1, I), (2, MinusI), (3, MinusI)];

/// Returns the product of two spin matrices.
pub fn spin_product(left: &SpinMatrix, right: &SpinMatrix) -> SpinMatrix {
    left.map(|(middle, phase)| {
        let (column, other) = right[middle];
        (column, phase.and(other))
    })
}

/// Returns the adjoint of a spin matrix.
pub fn spin_adjoint(matrix: &SpinMatrix) -> SpinMatrix {
    let mut adjoint = *matrix;
    for (row, &(column, phase)) in matrix.iter().enumerate() {
        adjoint[column] = (row, phase.conj());
    }
    adjoint
}

/// Returns ±1 = Γ².
///
/// # Panics
/// When Γ² is another matrix.
pub fn square_sign(gamma: &SpinMatrix) -> f64 {
    sign(&spin_product(gamma, gamma), &[(0, One), (1, One), (2, One), (3, One)])
}

/// Returns the sign of Γ† = ±Γ.
///
/// # Panics
/// When Γ† is another matrix.
pub fn adjoint_sign(gamma: &SpinMatrix) -> f64 {
    sign(&spin_adjoint(gamma), gamma)
}

/// Returns the sign of γ5 Γ† γ5 = ±Γ.
///
/// # Panics
/// When γ5 Γ† γ5 is another matrix.
pub fn gamma5_sign(gamma: &SpinMatrix) -> f64 {
    sign(&spin_product(&spin_product(&GAMMA5, &spin_adjoint(gamma)), &GAMMA5), gamma)
}

/// Returns the sign in left = ±right.
fn sign(left: &SpinMatrix, right: &SpinMatrix) -> f64 {
    if left == right {
        return 1.0;
    }
    assert_eq!(
        *left,
        right.map(|(column, phase)| (column, phase.and(MinusOne))),
        "matrices equal up to a sign"
    );
    -1.0
}

/// Multiplies a spinor by a spin matrix.
pub fn spin_times<T: Real>(matrix: &SpinMatrix, psi: &Spinor<T>) -> Spinor<T> {
    Spinor(matrix.map(|(column, phase)| psi.0[column].map(|z| phase.times(z))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dense(m: &SpinMatrix) -> [[Complex<f64>; 4]; 4] {
        let mut dense = [[Complex::default(); 4]; 4];
        for (row, &(column, phase)) in m.iter().enumerate() {
            dense[row][column] = phase.times(Complex::new(1.0, 0.0));
        }
        dense
    }

    fn product(a: [[Complex<f64>; 4]; 4], b: [[Complex<f64>; 4]; 4]) -> [[Complex<f64>; 4]; 4] {
        std::array::from_fn(|i| std::array::from_fn(|j| (0..4).map(|k| a[i][k] * b[k][j]).sum()))
    }

    #[test]
    fn they_anticommute_and_are_hermitian() {
        for mu in 0..4 {
            for nu in 0..4 {
                let (a, b) = (dense(&GAMMA[mu]), dense(&GAMMA[nu]));
                let (ab, ba) = (product(a, b), product(b, a));
                for i in 0..4 {
                    for j in 0..4 {
                        let expected = if mu == nu && i == j { 2.0 } else { 0.0 };
                        assert_eq!(ab[i][j] + ba[i][j], Complex::from(expected));
                        assert_eq!(a[i][j], a[j][i].conj());
                    }
                }
            }
        }
    }

    #[test]
    fn signs_are_those_of_the_algebra() {
        let [x, y, _, t] = &GAMMA;
        let i_gamma5 = GAMMA5.map(|(column, phase)| (column, phase.and(I)));
        assert_eq!(i_gamma5, I_GAMMA5);
        // γ5γ_t and γ_xγ_y are antihermitian; γ5 commutes with the second alone.
        for (matrix, signs) in [
            (I_GAMMA5, [-1.0, -1.0, -1.0]),
            (GAMMA5, [1.0, 1.0, 1.0]),
            (*t, [1.0, 1.0, -1.0]),
            (spin_product(&GAMMA5, t), [-1.0, -1.0, 1.0]),
            (spin_product(x, y), [-1.0, -1.0, -1.0]),
        ] {
            assert_eq!([square_sign(&matrix), adjoint_sign(&matrix), gamma5_sign(&matrix)], signs);
        }
    }

    #[test]
    fn gamma5_is_their_product() {
        let all = GAMMA.iter().map(dense).reduce(product).unwrap();
        assert_eq!(all, dense(&GAMMA5));
    }
}
