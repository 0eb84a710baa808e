//! A basis in the memory of a device.

use crate::basis::{Basis, Shell};
use crate::error::XcResult;
use crate::harmonics::Kind;
use lattice_compute::scalar::{Precision, Real};
use lattice_compute::{Buffer, Device};

/// A basis in the memory of a device.
pub(super) struct OnDeviceBasis<T> {
    pub functions: usize,
    /// The kinds of shells, each once.
    pub kinds: Vec<Kind>,
    /// Kind, first primitive, primitives.
    pub shells: Buffer<[u32; 4]>,
    pub centres: Buffer<T>,
    /// Exponents and coefficients.
    pub primitives: Buffer<T>,
    /// Shell and number within it for each function.
    pub places: Buffer<[u32; 2]>,
}

/// Returns numbers as type `T`, and in single precision behind them what rounding left.
pub(super) fn split<T: Real>(values: impl Iterator<Item = f64> + Clone) -> Vec<T> {
    let rounded = values.clone().map(T::from_f64);
    match T::PRECISION {
        Precision::Double => rounded.collect(),
        Precision::Single => {
            let rest = values.map(|value| T::from_f64(value - Real::to_f64(T::from_f64(value))));
            rounded.chain(rest).collect()
        }
    }
}

impl<T: Real> OnDeviceBasis<T> {
    /// Sends a basis to a device.
    pub fn new(device: &Device, basis: &Basis) -> XcResult<Self> {
        let mut kinds: Vec<Kind> = basis.shells().iter().map(Shell::kind).collect();
        kinds.sort_unstable_by_key(|kind| kind.number());
        kinds.dedup_by_key(|kind| kind.number());
        let (mut shells, mut centres, mut primitives, mut places) = (vec![], vec![], vec![], vec![]);
        for (number, shell) in basis.shells().iter().enumerate() {
            let first = primitives.len() as u32 / 2;
            shells.push([shell.kind().number(), first, shell.primitives.len() as u32, 0]);
            primitives.extend(shell.primitives.iter().flatten().map(|&x| T::from_f64(x)));
            centres.extend(split::<T>(basis.centre(number).into_iter()));
            places.extend((0..shell.functions() as u32).map(|within| [number as u32, within]));
        }
        Ok(Self {
            functions: basis.functions(),
            kinds,
            shells: Buffer::from_slice(device, &shells)?,
            centres: Buffer::from_slice(device, &centres)?,
            primitives: Buffer::from_slice(device, &primitives)?,
            places: Buffer::from_slice(device, &places)?,
        })
    }
}
