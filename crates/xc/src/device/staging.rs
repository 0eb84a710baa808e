//! Matrices between the host and a device, through pinned memory and by several threads.

use super::batch::parts;
use crate::error::XcResult;
use lattice_compute::parallel::*;
use lattice_compute::scalar::{Element, Real};
use lattice_compute::{Buffer, Device, PinnedBuffer};

/// Numbers that one thread takes at a time. To wake another takes about as long.
const AT_ONCE: usize = 1 << 14;

/// Sends as many numbers as a buffer has.
pub(super) fn send<T: Real + Element>(device: &Device, values: &[f64], to: &mut Buffer<T>) -> XcResult<()> {
    let mut staging = PinnedBuffer::kept(device, values.len())?;
    let pieces = staging.as_mut_slice().par_chunks_mut(AT_ONCE).zip(values.par_chunks(AT_ONCE));
    pieces.for_each(|(to, from)| to.iter_mut().zip(from).for_each(|(to, &from)| *to = T::from_f64(from)));
    staging.write_to(to, &[])?.wait()?;
    Ok(())
}

/// Reads sums, after all that was started before.
pub(super) fn read<W: Real>(from: &Buffer<W>) -> XcResult<Vec<f64>> {
    let staging = PinnedBuffer::kept(from.device(), from.len())?;
    Ok(joined(staging.read_from_in_order(from)?.wait()?.as_slice()))
}

/// Puts the parts of sums together.
pub(super) fn joined<W: Real>(values: &[W]) -> Vec<f64> {
    let count = values.len() / parts::<W>();
    let sum = |k: usize| (0..parts::<W>()).map(|part| Real::to_f64(values[part * count + k])).sum();
    (0..count).into_par_iter().with_min_len(AT_ONCE).map(sum).collect()
}
