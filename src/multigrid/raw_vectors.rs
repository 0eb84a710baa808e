//! Near-null vectors as they are made, in host memory and back on their devices.

use super::finer_sites::{FinerNumbers, FinerPart, FinerParts};
use super::kept::{HostNumbers, chosen, of_all_ranks};
use super::transfer::places_of_all_ranks;
use crate::compute::{Buffer, DeviceError};
use crate::field::Numbers;
use crate::scalar::Real;
use num_complex::Complex;
use std::borrow::Cow;

/// Returns the numbers of vectors of the finest level, one vector after the other.
///
/// Sites have the order in which vectors are kept. All ranks call this together.
pub(super) fn to_host<R: Real>(
    parts: &FinerParts,
    finer: FinerNumbers,
    vectors: &Numbers<R>,
    sources: usize,
) -> Result<Vec<Complex<R>>, DeviceError> {
    let mut order = Vec::new();
    let mut of_sources = vec![Vec::new(); sources];
    for (k, part) in parts.own.iter().enumerate() {
        let memory = match vectors {
            Numbers::Host(numbers) => Cow::Borrowed(&numbers[..]),
            Numbers::Devices(buffers) => Cow::Owned(buffers[k].to_vec()?),
        };
        for (own, memory) in of_sources.iter_mut().zip(memory.chunks(memory.len() / sources)) {
            own.extend_from_slice(bytemuck::cast_slice::<R, Complex<R>>(memory));
        }
        order.extend_from_slice(&part.order);
    }
    if let Some(world) = &parts.world {
        order = places_of_all_ranks(world, &order)?;
        for own in &mut of_sources {
            *own = of_all_ranks(world, own)?;
        }
    }
    let in_order = |own| HostNumbers::Whole(own).sorted(2 * finer.half, &order).into_whole();
    Ok(of_sources.into_iter().flat_map(in_order).collect())
}

/// The reverse of [`to_host`].
pub(super) fn of_host<R: Real>(
    parts: &FinerParts,
    finer: FinerNumbers,
    numbers: &[Complex<R>],
    sources: usize,
) -> Result<Numbers<R>, DeviceError> {
    let of_part = |part: &FinerPart| -> Vec<Complex<R>> {
        let of_sources = numbers.chunks(numbers.len() / sources);
        of_sources.flat_map(|numbers| chosen(numbers, 2 * finer.half, &part.order)).collect()
    };
    let mut buffers = Vec::with_capacity(parts.own.len());
    for part in &parts.own {
        let own = of_part(part);
        let reals: &[R] = bytemuck::cast_slice(&own);
        match &part.device {
            None => return Ok(Numbers::Host(reals.to_vec())),
            Some(device) => buffers.push(Buffer::from_slice(device, reals)?),
        }
    }
    Ok(Numbers::Devices(buffers))
}
