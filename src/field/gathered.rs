//! Fields that all ranks complete with each other's sites.

use crate::compute::DeviceError;
use crate::geometry::Lattice;
use crate::host::Spinor;
use crate::scalar::Real;
use std::ops::Range;

/// Completes a field. Each rank begins with the sites of its own domains.
///
/// The field has all sites, or the sites of one parity.
pub(super) fn complete<R: Real>(
    lattice: &Lattice,
    all_sites: bool,
    spinors: &mut [Spinor<R>],
) -> Result<(), DeviceError> {
    let Some(world) = lattice.ranks() else { return Ok(()) };
    let parities = if all_sites { 2 } else { 1 };
    let bytes_of = |stretch: &Range<usize>| stretch.len() * size_of::<Spinor<R>>();
    for (number, shard) in lattice.everywhere().iter().enumerate() {
        let sites = shard.domain.volume() * parities / 2;
        let stretches: Vec<Range<usize>> = shard.domain.stretches(0..sites, parities).collect();
        let owner = lattice.placement().rank_of(number);
        let mut bytes = Vec::with_capacity(sites * size_of::<Spinor<R>>());
        if owner == world.rank() {
            for stretch in &stretches {
                spinors[stretch.clone()]
                    .iter()
                    .for_each(|spinor| bytes.extend_from_slice(bytemuck::bytes_of(&spinor.0)));
            }
        }
        bytes.resize(sites * size_of::<Spinor<R>>(), 0);
        world.broadcast(owner, &mut bytes)?;
        if owner == world.rank() {
            continue;
        }
        let mut rest = &bytes[..];
        for stretch in &stretches {
            let (part, others) = rest.split_at(bytes_of(stretch));
            for (spinor, bytes) in
                spinors[stretch.clone()].iter_mut().zip(part.chunks_exact(size_of::<Spinor<R>>()))
            {
                bytemuck::bytes_of_mut(&mut spinor.0).copy_from_slice(bytes);
            }
            rest = others;
        }
    }
    Ok(())
}

/// Returns the least of the numbers that ranks have found, if any rank has one.
pub(super) fn least(lattice: &Lattice, own: Option<usize>) -> Result<Option<usize>, DeviceError> {
    let Some(world) = lattice.ranks() else { return Ok(own) };
    let all = world.gather(&own.map_or(u64::MAX, |own| own as u64).to_be_bytes())?;
    // Numbers with the highest byte first are ordered like their bytes.
    let least =
        all.chunks_exact(8).min().map(|bytes| bytes.iter().fold(0, |n, &byte| n << 8 | u64::from(byte)));
    Ok(least.filter(|&least| least != u64::MAX).map(|least| least as usize))
}
