//! Numbers that are read in every cycle.
//!
//! They are near-null vectors and the blocks of coarse operators.

use crate::device::{Argument, Buffer, Device, DeviceError, Parameter};
use crate::scalar::{Precision, Real};
use rayon::prelude::*;

/// Numbers on a device.
///
/// Numbers in single precision are stored in 16 bits, with a unit for each group. Cycles read half
/// as many bytes then, and their number does not grow.
pub(super) enum Kept<R: Real> {
    /// Unchanged numbers. Kernels take units nevertheless.
    Whole(Buffer<R>, Buffer<f32>),
    Fixed(Buffer<i16>, Buffer<f32>),
}

/// The largest number, in units.
const LARGEST: f32 = 32767.0;

/// Tells whether numbers of this precision are kept in 16 bits.
pub(super) fn is_fixed<R: Real>() -> bool {
    R::PRECISION == Precision::Single
}

/// Returns a kernel's declaration of the numbers and their units.
pub(super) fn parameters<R: Real>(name: &'static str) -> [Parameter; 2] {
    let numbers = if is_fixed::<R>() { Parameter::input::<i16>(name) } else { Parameter::input::<R>(name) };
    [numbers, Parameter::input::<f32>("units")]
}

impl<R: Real> Kept<R> {
    /// Keeps these numbers. `group` numbers share a unit.
    pub fn new(device: &Device, numbers: &[R], group: usize) -> Result<Self, DeviceError> {
        if !is_fixed::<R>() {
            return Ok(Self::Whole(
                Buffer::from_slice(device, numbers)?,
                Buffer::from_slice(device, &[1.0])?,
            ));
        }
        let single = |x: &R| Real::to_f64(*x) as f32;
        let unit = |group: &[R]| group.iter().map(|x| single(x).abs()).fold(0.0, f32::max) / LARGEST;
        let units: Vec<f32> = numbers.par_chunks(group).map(unit).collect();
        let mut fixed = vec![0_i16; numbers.len()];
        fixed.par_chunks_mut(group).zip(numbers.par_chunks(group)).zip(&units).for_each(
            |((fixed, numbers), &unit)| {
                for (fixed, x) in fixed.iter_mut().zip(numbers) {
                    // The conversion saturates, and where the unit is zero so are the numbers.
                    *fixed = if unit > 0.0 { (single(x) / unit).round() as i16 } else { 0 };
                }
            },
        );
        Ok(Self::Fixed(Buffer::from_slice(device, &fixed)?, Buffer::from_slice(device, &units)?))
    }

    /// The arguments for [`parameters`].
    pub fn arguments(&self) -> [Argument<'_>; 2] {
        match self {
            Self::Whole(numbers, units) => [numbers.into(), units.into()],
            Self::Fixed(numbers, units) => [numbers.into(), units.into()],
        }
    }

    /// Bytes of a complex number.
    pub fn bytes_of_number() -> u64 {
        2 * if is_fixed::<R>() { size_of::<i16>() } else { size_of::<R>() } as u64
    }
}
