//! The basis of a Krylov space, and the operator projected to it.

use super::outcome::Mode;
use crate::update::{AXPY, DOT, NORM2};
use crate::work::Work;
use crate::{SquareMatrix, VectorSpace};
use num_complex::Complex64;

/// The part of a vector, outside of a space, that counts as nothing.
const NOTHING: f64 = 1e-14;

/// The most passes of an orthogonalisation. Two are usual.
const PASSES: usize = 6;

/// An orthonormal basis, to whose first vectors the operator was applied.
pub(super) struct Krylov<S: VectorSpace> {
    pub basis: Vec<S::Vector>,
    /// The image of each vector to which the operator was applied, in the basis.
    ///
    /// Elements that are missing at the end are zero.
    pub columns: Vec<Vec<Complex64>>,
}

impl<S: VectorSpace> Default for Krylov<S> {
    fn default() -> Self {
        Self { basis: Vec::new(), columns: Vec::new() }
    }
}

/// The part of a vector outside of a space.
pub(super) enum Rest {
    Norm(f64),
    Nothing,
    NotFinite,
}

impl<S: VectorSpace> Krylov<S> {
    pub fn vectors(&self) -> usize {
        self.basis.len()
    }

    pub fn is_full(&self, subspace: usize) -> bool {
        self.basis.len() >= subspace
    }

    pub fn has_next(&self) -> bool {
        self.columns.len() < self.basis.len()
    }

    /// Returns the vector to which the operator is to be applied next.
    pub fn next_vector(&self) -> &S::Vector {
        &self.basis[self.columns.len()]
    }

    /// Returns the vectors to which the operator is to be applied.
    pub fn next_vectors(&self) -> &[S::Vector] {
        &self.basis[self.columns.len()..]
    }

    /// Takes the image of the next vector, which gives a column and a new vector.
    ///
    /// `image` is overwritten. Returns `false` if it is not finite.
    pub fn take_image(
        &mut self,
        space: &S,
        locked: &[Mode<S::Vector>],
        image: &mut S::Vector,
        work: &mut Work,
    ) -> Result<bool, S::Error> {
        let against: Vec<_> = locked.iter().map(|mode| &mode.vector).chain(&self.basis).collect();
        let (coefficients, rest) = orthogonalise(space, &against, image, work)?;
        let mut column = coefficients[locked.len()..].to_vec();
        match rest {
            Rest::NotFinite => return Ok(false),
            Rest::Nothing => {}
            Rest::Norm(norm) => {
                self.basis.push(unit(space, image, norm)?);
                column.push(norm.into());
            }
        }
        self.columns.push(column);
        Ok(true)
    }

    /// Adds what a vector has outside of the space, if there is something.
    ///
    /// `vector` is overwritten. Returns `false` if it is not finite.
    pub fn add(
        &mut self,
        space: &S,
        locked: &[Mode<S::Vector>],
        vector: &mut S::Vector,
        work: &mut Work,
    ) -> Result<bool, S::Error> {
        let against: Vec<_> = locked.iter().map(|mode| &mode.vector).chain(&self.basis).collect();
        match orthogonalise(space, &against, vector, work)?.1 {
            Rest::NotFinite => return Ok(false),
            Rest::Nothing => {}
            Rest::Norm(norm) => self.basis.push(unit(space, vector, norm)?),
        }
        Ok(true)
    }

    /// Returns the operator on the vectors to which it was applied.
    pub fn projected(&self) -> SquareMatrix {
        let element = |i: usize, j: usize| self.columns[j].get(i).copied().unwrap_or_default();
        SquareMatrix::from_fn(self.columns.len(), |i, j| 0.5 * (element(i, j) + element(j, i).conj()))
    }

    /// Returns the image of a Ritz vector along the vectors that come next.
    pub fn coupling(&self, ritz: &SquareMatrix, k: usize) -> Vec<Complex64> {
        let done = self.columns.len();
        let along = |row: usize| {
            let element = |j: usize| self.columns[j].get(row).copied().unwrap_or_default();
            (0..done).map(|j| element(j) * ritz[(j, k)]).sum()
        };
        (done..self.basis.len()).map(along).collect()
    }

    /// Returns a combination of the vectors to which the operator was applied.
    pub fn combination(
        &self,
        space: &S,
        factor: impl Fn(usize) -> Complex64,
        work: &mut Work,
    ) -> Result<S::Vector, S::Error> {
        let mut sum = space.zero_vector()?;
        for (j, vector) in self.basis[..self.columns.len()].iter().enumerate() {
            space.axpy(&space.scalar(factor(j)), vector, &mut sum)?;
            *work += AXPY.work(space);
        }
        Ok(sum)
    }
}

/// Removes from `vector` its parts along orthonormal vectors, and returns them.
///
/// Passes are repeated until one leaves more than half of the norm: then no more is to be removed
/// (W. Kahan, in B. N. Parlett, The Symmetric Eigenvalue Problem, 1980, §6.9).
pub(super) fn orthogonalise<S: VectorSpace>(
    space: &S,
    against: &[&S::Vector],
    vector: &mut S::Vector,
    work: &mut Work,
) -> Result<(Vec<Complex64>, Rest), S::Error> {
    let mut coefficients = vec![Complex64::ZERO; against.len()];
    let [norm2] = space.read([&space.norm2(vector)?])?;
    *work += NORM2.work(space);
    let whole = norm2.re.sqrt();
    let mut before = whole;
    for _ in 0..PASSES {
        let mut scalars = Vec::with_capacity(against.len() + 1);
        for own in against {
            let share = space.dot(own, vector)?;
            space.axpy(&space.negate(&share), own, vector)?;
            *work += DOT.work(space);
            *work += AXPY.work(space);
            scalars.push(share);
        }
        scalars.push(space.norm2(vector)?);
        *work += NORM2.work(space);
        let values = space.read_all(&scalars.iter().collect::<Vec<_>>())?;
        coefficients.iter_mut().zip(&values).for_each(|(sum, value)| *sum += value);
        let after = values[against.len()].re.sqrt();
        if !after.is_finite() || !whole.is_finite() {
            return Ok((coefficients, Rest::NotFinite));
        }
        if after <= NOTHING * whole {
            return Ok((coefficients, Rest::Nothing));
        }
        if after > 0.5 * before {
            return Ok((coefficients, Rest::Norm(after)));
        }
        before = after;
    }
    Ok((coefficients, Rest::Nothing))
}

/// Returns a new vector: this one divided by its norm.
pub(super) fn unit<S: VectorSpace>(space: &S, vector: &S::Vector, norm: f64) -> Result<S::Vector, S::Error> {
    let mut unit = space.zero_vector()?;
    space.axpy(&space.scalar((1.0 / norm).into()), vector, &mut unit)?;
    Ok(unit)
}
