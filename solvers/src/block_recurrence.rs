//! The small matrices by which an iteration of block Conjugate Gradient goes on.

use crate::advance::Advance;
use crate::pace::LONGEST_BLIND;
use crate::square_matrix::{Cholesky, SquareMatrix};
use num_complex::Complex64;

/// Numbers that an iteration compares with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Independent share of a direction's curvature below which the method breaks down.
    pub breakdown: f64,
    /// Independent share of a column of Q below which the share is rounding.
    pub dependent: f64,
    /// Independent share of a column of Q below which Q is orthogonalised twice.
    pub alike: f64,
    /// Independent share of a column of Q below which Q is stored anew.
    pub overwritten: f64,
}

/// The residuals at which an iteration is the last one before the host decides.
#[derive(Clone, Debug, PartialEq)]
pub struct Due {
    /// The norm to which the residual of each column refers.
    pub scales: Vec<f64>,
    /// Residuals of the columns that are small enough together.
    pub targets: Vec<f64>,
    /// A residual that is small enough for all columns.
    pub bound: f64,
    /// `true` if the directions wait for new residuals when the residuals are due.
    ///
    /// Otherwise the iteration in which they are due is a whole one.
    pub replaces: bool,
}

/// The reason why an iteration was the last one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BlockEvent {
    /// The residuals are due.
    Due,
    /// Columns of Q are too much alike, so that Q has to be orthogonalised twice.
    Alike,
    /// The curvature P†AP is not positive. This share of a direction's curvature is independent.
    Breakdown(f64),
    /// A number of P†AP is not finite.
    InfiniteCurvature,
    /// A number of Q†Q is not finite.
    InfiniteResidual,
}

/// The small matrices of block Conjugate Gradient, and what they need to go on.
///
/// R = Q T · T⁻¹ C. An iteration has two steps, [`follow_curvature`](Self::follow_curvature) and
/// [`follow_residual`](Self::follow_residual), which make its matrices from two Gram matrices. They
/// are the twins of a device's kernels.
///
/// After an event the steps give matrices that change nothing: D = 0, E = 0, T = 0 and F = 1. So
/// iterations may be enqueued before the host knows of the event. The iteration of the event still
/// brings X up to date, if its step along P exists.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockRecurrence {
    /// Limits of shares.
    pub limits: Limits,
    /// Residuals at which the host decides.
    pub due: Due,
    /// The C of R = Q C.
    pub c: SquareMatrix,
    /// C before the last iteration.
    pub last_c: SquareMatrix,
    /// The upper triangular T of the stored vectors Q T.
    pub t: SquareMatrix,
    /// T⁻¹.
    pub t_inverse: SquareMatrix,
    /// D by which A P is subtracted from Q.
    pub subtrahend: SquareMatrix,
    /// The step of X along the direction before P, if X lacks it.
    pub earlier: SquareMatrix,
    /// The step of X along P.
    pub step: SquareMatrix,
    /// The matrix that turns Q into its part of the next direction.
    pub turn: SquareMatrix,
    /// The matrix that multiplies P in the next direction.
    pub keep: SquareMatrix,
    /// `true` if the turned Q takes the place of Q.
    pub overwrite: bool,
    /// The event after which nothing changes any more.
    pub event: Option<BlockEvent>,
    /// The residuals of the columns after each iteration that was done.
    pub residuals: Vec<Vec<f64>>,
    /// Number of times that the turned Q took the place of Q.
    pub overwrites: u64,
}

impl BlockRecurrence {
    /// Most iterations from one look to the next, and so of the residuals that are kept.
    pub const MOST_ITERATIONS: usize = LONGEST_BLIND;

    /// Makes the recurrence that goes on from C and T.
    pub fn new(limits: Limits, due: Due, c: SquareMatrix, t: SquareMatrix) -> Self {
        let columns = c.size();
        let zero = SquareMatrix::zero(columns);
        Self {
            limits,
            due,
            t_inverse: t.triangular_inverse(),
            last_c: c.clone(),
            c,
            t,
            subtrahend: zero.clone(),
            earlier: zero.clone(),
            step: zero.clone(),
            turn: zero,
            keep: SquareMatrix::identity(columns),
            overwrite: false,
            event: None,
            residuals: Vec::new(),
            overwrites: 0,
        }
    }

    /// Makes D, and the step of X, from P†AP.
    ///
    /// The step before becomes the earlier one.
    pub fn follow_curvature(&mut self, curvature: &SquareMatrix) {
        std::mem::swap(&mut self.earlier, &mut self.step);
        let found = if self.event.is_none() { self.inverse_of_curvature(curvature) } else { Err(None) };
        match found {
            Ok(delta) => {
                self.step = &delta * &self.c;
                self.subtrahend = &delta * &self.t;
            }
            Err(event) => {
                self.event = self.event.or(event);
                self.step = SquareMatrix::zero(self.c.size());
                self.subtrahend = self.step.clone();
            }
        }
    }

    /// Returns δ = (P†AP)⁻¹, or the event that there is none.
    fn inverse_of_curvature(&self, curvature: &SquareMatrix) -> Result<SquareMatrix, Option<BlockEvent>> {
        if !curvature.is_finite() {
            return Err(Some(BlockEvent::InfiniteCurvature));
        }
        let cholesky = curvature.cholesky(self.limits.breakdown);
        // The directions of columns that were left out are zero.
        let lost = |j: &usize| self.c[(*j, *j)] != Complex64::default() && cholesky.independent[*j] == 0.0;
        let Some(j) = (0..curvature.size()).find(lost) else { return Ok(cholesky.inverse_of_product()) };
        let diagonal = curvature[(j, j)].re;
        let relative = if diagonal == 0.0 { 0.0 } else { cholesky.rests[j] / diagonal.abs() };
        Err(Some(BlockEvent::Breakdown(relative)))
    }

    /// Makes the matrices of the next direction, and C, from Q†Q of the stored vectors.
    pub fn follow_residual(&mut self, gram: &SquareMatrix) {
        let columns = self.c.size();
        self.overwrite = false;
        self.turn = SquareMatrix::zero(columns);
        self.keep = SquareMatrix::identity(columns);
        if self.event.is_some() {
            return;
        }
        if !gram.is_finite() {
            self.event = Some(BlockEvent::InfiniteResidual);
            self.step = SquareMatrix::zero(columns);
            return;
        }
        let Cholesky { factor, inverse, independent, .. } = gram.cholesky(self.limits.dependent);
        let s = &factor * &self.t_inverse;
        let next = &s * &self.c;
        self.last_c = std::mem::replace(&mut self.c, next);
        let norms = self.c.column_norms();
        let residuals: Vec<f64> =
            norms.iter().zip(&self.due.scales).map(|(norm, scale)| norm / scale).collect();
        let is_due = self.due.is_due(&residuals);
        self.residuals.push(residuals);
        let alike = independent.iter().any(|&share| share > 0.0 && share < self.limits.alike);
        if is_due && self.due.replaces {
            self.event = Some(BlockEvent::Due);
            return;
        }
        if alike {
            self.event = Some(BlockEvent::Alike);
            return;
        }
        if is_due {
            self.event = Some(BlockEvent::Due);
        }
        self.overwrite = independent.iter().any(|&share| share < self.limits.overwritten);
        self.overwrites += u64::from(self.overwrite);
        self.turn = inverse;
        self.keep = s.adjoint();
        let one = SquareMatrix::identity(columns);
        (self.t, self.t_inverse) =
            if self.overwrite { (one.clone(), one) } else { (factor, self.turn.clone()) };
    }

    /// Returns the matrices by which X and the directions go on.
    ///
    /// If X lacks the step along an earlier direction, `pending` is `true`. If X is brought up to
    /// date now, `steps` is `true`.
    pub fn advance(&self, pending: bool, steps: bool) -> Advance<'_> {
        Advance {
            earlier: pending.then_some(&self.earlier),
            step: steps.then_some(&self.step),
            turn: &self.turn,
            keep: &self.keep,
            overwrite: self.overwrite,
        }
    }
}

impl Due {
    /// Tells whether these residuals are due.
    pub fn is_due(&self, residuals: &[f64]) -> bool {
        residuals.iter().all(|&residual| residual <= self.bound)
            || residuals.iter().zip(&self.targets).all(|(residual, target)| residual <= target)
    }
}
