//! Density matrices.

use super::error::{XcError, XcResult};

/// The largest difference of two elements of a symmetric matrix.
const MOST_ASYMMETRY: f64 = 1e-8;

/// A density matrix of a basis, of both spins together or of each.
#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    functions: usize,
    spins: Vec<Vec<f64>>,
}

impl Density {
    /// Takes the density matrix of both spins together, row after row.
    ///
    /// # Errors
    /// [`XcError::DensitySize`]; [`XcError::DensityValue`]; [`XcError::Asymmetric`].
    pub fn new(functions: usize, values: Vec<f64>) -> XcResult<Self> {
        Self::of(functions, vec![values])
    }

    /// Takes the density matrices of spin up and of spin down, row after row.
    ///
    /// # Errors
    /// [`XcError::DensitySize`]; [`XcError::DensityValue`]; [`XcError::Asymmetric`].
    pub fn polarised(functions: usize, up: Vec<f64>, down: Vec<f64>) -> XcResult<Self> {
        Self::of(functions, vec![up, down])
    }

    fn of(functions: usize, mut spins: Vec<Vec<f64>>) -> XcResult<Self> {
        for values in &mut spins {
            if functions.checked_mul(functions) != Some(values.len()) {
                return Err(XcError::DensitySize { functions, found: values.len() });
            }
            if let Some(place) = values.iter().position(|value| !value.is_finite()) {
                return Err(XcError::DensityValue {
                    row: place / functions,
                    column: place % functions,
                    value: values[place],
                });
            }
            for row in 0..functions {
                for column in 0..row {
                    let [a, b] = [values[row * functions + column], values[column * functions + row]];
                    if (a - b).abs() > MOST_ASYMMETRY {
                        return Err(XcError::Asymmetric { row, column, difference: (a - b).abs() });
                    }
                    let mean = 0.5 * (a + b);
                    values[row * functions + column] = mean;
                    values[column * functions + row] = mean;
                }
            }
        }
        Ok(Self { functions, spins })
    }

    /// Returns the number of functions.
    pub fn functions(&self) -> usize {
        self.functions
    }

    /// Returns the matrices: one of both spins, or that of spin up and that of spin down.
    pub fn spins(&self) -> &[Vec<f64>] {
        &self.spins
    }
}
