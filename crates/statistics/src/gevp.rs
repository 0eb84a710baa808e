//! The generalised eigenvalue problem of correlator matrices.

use crate::effective_mass::{EffectiveMass, effective_masses};
use crate::eigen::{Eigenpairs, in_order_of, solve};
use crate::error::{StatisticsError, StatisticsResult};
use crate::quantity::{DifferentiableMap, Quantity};
use nalgebra::DMatrix;

/// The order of states at each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateOrder {
    /// The largest eigenvalue first.
    Size,
    /// The order of size at one time, and at others that of overlaps with its vectors.
    Overlap {
        /// The time whose vectors are compared with.
        time: usize,
    },
}

/// Correlators C_ij(t) of several operators.
#[derive(Clone, Debug, PartialEq)]
pub struct CorrelatorMatrix<Q> {
    operators: usize,
    times: Vec<Vec<Q>>,
}

impl<Q: Quantity> CorrelatorMatrix<Q> {
    /// Returns the matrix with these entries, row after row for each time.
    ///
    /// # Errors
    /// A time does not have the square of `operators` entries.
    pub fn new(operators: usize, times: Vec<Vec<Q>>) -> StatisticsResult<Self> {
        let expected = operators * operators;
        match times.iter().find(|entries| entries.len() != expected || expected == 0) {
            Some(entries) => {
                let (what, found) = ("entries of a correlator matrix", entries.len());
                Err(StatisticsError::Length { what, expected, found })
            }
            None => Ok(Self { operators, times }),
        }
    }

    /// Returns the eigenvalues λ_n(t) of C(t) v = λ C(t_0) v.
    ///
    /// There is a list of times for each state. Matrices are made symmetric first. Errors are of
    /// first order, ∂λ = vᵀ (∂C(t) − λ ∂C(t_0)) v with vᵀ C(t_0) v = 1, which holds where
    /// eigenvalues are not degenerate.
    ///
    /// # Errors
    /// A time is outside the data, C(t_0) is not positive definite, or entries are of different
    /// ensembles.
    pub fn eigenvalues(&self, reference_time: usize, order: StateOrder) -> StatisticsResult<Vec<Vec<Q>>> {
        let count = self.times.len();
        let inside = |what, time| match time < count {
            true => Ok(()),
            false => Err(StatisticsError::Time { what, time, count }),
        };
        inside("the reference time", reference_time)?;
        let mut problem = Problem { operators: self.operators, reference_time, reference: None };
        if let StateOrder::Overlap { time } = order {
            inside("the time of the vectors", time)?;
            let centre: Vec<_> =
                self.entries(time, reference_time).into_iter().map(Quantity::value).collect();
            problem.reference = Some(problem.pairs(&centre)?);
        }
        let mut states = vec![Vec::with_capacity(count); self.operators];
        for time in 0..count {
            let eigenvalues = Q::mapped(&self.entries(time, reference_time), &problem)?;
            states.iter_mut().zip(eigenvalues).for_each(|(state, eigenvalue)| state.push(eigenvalue));
        }
        Ok(states)
    }

    /// Returns ln(λ_n(t)/λ_n(t + 1)) for each state and time.
    ///
    /// It is `None` where it is undefined.
    ///
    /// # Errors
    /// The eigenvalues do not exist.
    pub fn effective_energies(
        &self,
        reference_time: usize,
        order: StateOrder,
    ) -> StatisticsResult<Vec<Vec<Option<Q>>>> {
        let states = self.eigenvalues(reference_time, order)?;
        states.iter().map(|eigenvalues| effective_masses(eigenvalues, EffectiveMass::Logarithm)).collect()
    }

    /// Returns the entries at a time, followed by those at the reference time.
    fn entries(&self, time: usize, reference_time: usize) -> Vec<&Q> {
        self.times[time].iter().chain(&self.times[reference_time]).collect()
    }
}

/// The eigenvalues as functions of the entries of two matrices.
struct Problem {
    operators: usize,
    reference_time: usize,
    /// Vectors that give the order, `None` for the order of size.
    reference: Option<Eigenpairs>,
}

impl Problem {
    fn pairs(&self, entries: &[f64]) -> StatisticsResult<Eigenpairs> {
        let (matrix, metric) = entries.split_at(self.operators * self.operators);
        let square = |entries: &[f64]| DMatrix::from_row_slice(self.operators, self.operators, entries);
        let metric = square(metric);
        let pairs = solve(&square(matrix), &metric)
            .ok_or(StatisticsError::NotPositive { time: self.reference_time })?;
        Ok(match &self.reference {
            Some(reference) => in_order_of(reference, pairs, &metric),
            None => pairs,
        })
    }
}

impl DifferentiableMap for Problem {
    fn values(&self, entries: &[f64]) -> StatisticsResult<Vec<f64>> {
        Ok(self.pairs(entries)?.into_iter().map(|(eigenvalue, _)| eigenvalue).collect())
    }

    fn jacobian(&self, entries: &[f64]) -> StatisticsResult<Vec<Vec<f64>>> {
        let row = |(eigenvalue, vector): (f64, Vec<f64>)| {
            let products: Vec<_> =
                vector.iter().flat_map(|left| vector.iter().map(move |right| left * right)).collect();
            let of_metric = products.iter().map(|product| -eigenvalue * product);
            products.iter().copied().chain(of_metric).collect()
        };
        Ok(self.pairs(entries)?.into_iter().map(row).collect())
    }
}
