//! Grids of points with weights.

mod elements;
mod lebedev;
mod molecular;
mod on_device;

pub(crate) use elements::charge;

use super::error::{XcError, XcResult};

/// Points in bohr with the weights of a quadrature.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    points: Vec<[f64; 3]>,
    weights: Vec<f64>,
}

impl Grid {
    /// Takes points and their weights.
    ///
    /// # Errors
    /// [`XcError::GridSize`]; [`XcError::GridValue`]; [`XcError::GridWeights`].
    pub fn new(points: Vec<[f64; 3]>, weights: Vec<f64>) -> XcResult<Self> {
        if points.is_empty() || points.len() != weights.len() {
            return Err(XcError::GridSize { points: points.len(), weights: weights.len() });
        }
        let is_bad =
            |(point, weight): (&[f64; 3], &f64)| !weight.is_finite() || point.iter().any(|x| !x.is_finite());
        if let Some(point) = points.iter().zip(&weights).position(is_bad) {
            return Err(XcError::GridValue { point });
        }
        let total: f64 = weights.iter().sum();
        if total <= 0.0 {
            return Err(XcError::GridWeights { total });
        }
        Ok(Self { points, weights })
    }

    /// Returns the points in bohr.
    pub fn points(&self) -> &[[f64; 3]] {
        &self.points
    }

    /// Returns the weights in bohr³.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }
}
