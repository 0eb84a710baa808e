//! Sources of any size.
//!
//! Sources far from 1 are multiplied by a power of two, which costs no digit. The solutions of such
//! sources are divided by the power of two afterwards.

use crate::compute::DeviceError;
use crate::field::{SpinorField, StoredField};
use lattice_solvers::SourceError;
use lattice_solvers::range::larger;
use std::ops::RangeInclusive;

/// Norms of sources that are solved for without scaling.
///
/// Even in single precision, squares of small residuals then stay in the range of numbers.
const ORDINARY: RangeInclusive<f64> = 1e-8..=1e8;

/// Sources of which some have been multiplied by powers of two.
pub(crate) struct Scaled {
    pub b: SpinorField<f64>,
    /// The exponent for each source; 0 if the source is unchanged.
    powers: Vec<i32>,
}

impl Scaled {
    /// Scales sources with these norms; `None` if all may stay unchanged.
    ///
    /// The components decide whether a source is zero, because their squares may underflow.
    pub fn of(b: &SpinorField<f64>, norms: &[f64]) -> Result<Result<Option<Self>, SourceError>, DeviceError> {
        let mut powers = vec![0; norms.len()];
        for (source, norm) in norms.iter().enumerate().filter(|(_, norm)| !ORDINARY.contains(norm)) {
            let components = reals(&copy_of(b, source)?)?;
            if norm.is_nan() || components.iter().any(|x| !x.is_finite()) {
                return Ok(Err(SourceError::NotFinite));
            }
            let largest = components.into_iter().map(f64::abs).fold(0.0, f64::max);
            if largest > 0.0 {
                powers[source] = -(largest.log2().floor() as i32);
            }
        }
        if powers.iter().all(|&power| power == 0) {
            return Ok(Ok(None));
        }
        Ok(Ok(Some(Self { b: multiplied(b, &powers)?, powers })))
    }

    /// Multiplies a field by the factors of the sources. A guess is an example.
    pub fn scale(&self, x: &SpinorField<f64>) -> Result<SpinorField<f64>, DeviceError> {
        multiplied(x, &self.powers)
    }

    /// Turns solutions for [`b`](Self::b) into solutions for the original sources.
    ///
    /// Digits are lost only at the limits of the range of numbers. Then the function returns true
    /// residuals of the truncated solutions. `residuals` computes true residuals for
    /// [`b`](Self::b). A solution becomes zero if x = 0 is nearer.
    pub fn restore(
        &self,
        x: &mut SpinorField<f64>,
        residuals: impl FnOnce(&SpinorField<f64>) -> Result<Vec<f64>, DeviceError>,
    ) -> Result<Option<Vec<f64>>, DeviceError> {
        let opposite: Vec<_> = self.powers.iter().map(|power| -power).collect();
        let mut restored = multiplied(x, &opposite)?;
        let again = self.scale(&restored)?;
        let complete = reals(&again)? == reals(x)?;
        let left = if complete { None } else { Some(residuals(&again)?) };
        let left = left.map(|left| without_worse_than_zero(&mut restored, left)).transpose()?;
        *x = restored;
        Ok(left)
    }
}

/// Sets a field to zero if its residual is above 1, the residual of x = 0.
pub(crate) fn without_worse_than_zero(
    x: &mut SpinorField<f64>,
    mut residuals: Vec<f64>,
) -> Result<Vec<f64>, DeviceError> {
    for (source, residual) in residuals.iter_mut().enumerate() {
        // Written so that a residual that is not a number is worse.
        let of_use = *residual <= 1.0;
        if !of_use {
            x.copy_column_from(source, &SpinorField::zero(x.lattice(), 1)?)?;
            *residual = 1.0;
        }
    }
    Ok(residuals)
}

/// Returns the largest residual, or NaN if one is NaN.
pub(crate) fn largest(residuals: &[f64]) -> f64 {
    residuals.iter().copied().reduce(larger).unwrap_or(f64::NAN)
}

fn copy_of(fields: &SpinorField<f64>, source: usize) -> Result<SpinorField<f64>, DeviceError> {
    let mut one = SpinorField::zero(fields.lattice(), 1)?;
    fields.copy_column_to(source, &mut one)?;
    Ok(one)
}

/// Returns the numbers in which the field is stored.
fn reals(field: &SpinorField<f64>) -> Result<Vec<f64>, DeviceError> {
    Ok(field.to_bytes()?.as_chunks().0.iter().copied().map(f64::from_ne_bytes).collect())
}

/// Multiplies each field by its power of two.
///
/// No digit is lost within the range of numbers.
fn multiplied(fields: &SpinorField<f64>, powers: &[i32]) -> Result<SpinorField<f64>, DeviceError> {
    let mut all = SpinorField::zero(fields.lattice(), fields.columns())?;
    for (source, &power) in powers.iter().enumerate() {
        let mut one = copy_of(fields, source)?;
        if power != 0 {
            // The power of two between two numbers is not always a number itself.
            let factors = [power / 2, power - power / 2].map(|power| 2f64.powi(power));
            let product = |x: f64| x * factors[0] * factors[1];
            let bytes: Vec<_> = reals(&one)?.into_iter().flat_map(|x| product(x).to_ne_bytes()).collect();
            one.set_bytes(&bytes)?;
        }
        all.copy_column_from(source, &one)?;
    }
    Ok(all)
}
