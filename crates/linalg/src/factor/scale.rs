//! Matrices brought near to 1, so that no square leaves the range of numbers.

use super::ColumnSums;
use crate::block::Block;
use crate::error::BlasResult;
use crate::triangular::Kernels;
use lattice_compute::scalar::{Element, Factor, Precision, Real, Scalar};
use lattice_compute::{AnyBuffer, Device, Event};

/// Returns a power of two that brings the norm of a matrix near to 1, or 1 if all squares are in range.
///
/// `triangle` is as in [`ColumnSums`]. `None` if an element is not finite.
pub(super) fn scale_of(device: &Device, block: Block<'_>, triangle: Option<bool>) -> BlasResult<Option<f64>> {
    let most_squared = if block.element.precision == Precision::Single { 40 } else { 200 };
    let mut exponent = 0;
    let mut norm = ColumnSums::of_block(device, block, triangle)?.largest()?;
    // A sum of numbers near the largest of all is in range if they are made smaller first.
    if norm == f64::INFINITY {
        exponent = 64;
        let mut smaller = device.scratch_of(block.element, block.rows * block.columns)?;
        let copy = Block::at(smaller.output(), &block.dense_layout());
        let factor = block.element.real_factor(2.0_f64.powi(-exponent));
        Kernels::of(device, block.element)?.copy_scaled(factor, block, copy)?;
        norm = ColumnSums::of_block(device, copy, triangle)?.largest()?;
    }
    if !norm.is_finite() {
        return Ok(None);
    }
    if norm > 0.0 {
        exponent += norm.log2().floor() as i32;
    }
    let scale = if exponent.abs() <= most_squared { 1.0 } else { 2.0_f64.powi(-exponent.clamp(-1000, 1000)) };
    Ok(Some(scale))
}

/// Returns a real factor in the precision of the elements.
pub(super) fn real_factor<T: Element>(factor: f64) -> Factor<T> {
    Factor::of_real(T::Real::from_f64(factor).factor()).keeping()
}

/// Starts to make every element NaN.
pub(super) fn fill_with_nan(device: &Device, to: Block<'_>) -> BlasResult<Event> {
    let nothing = AnyBuffer::from_reals(device, to.element, to.rows * to.columns, &|_| f64::NAN)?;
    let from = Block::at(nothing.input(), &to.dense_layout());
    Ok(Kernels::of(device, to.element)?.copy(from, to)?)
}
