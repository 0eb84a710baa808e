//! Between the host's order of sites and a device's layout.

use super::layout::{Layout, Place};
use crate::device::{Buffer, DeviceError};
use crate::host::{Dims, NDIM};
use crate::scalar::Real;
use num_complex::Complex;
use rayon::prelude::*;

/// Reals that are converted at a time: a configuration is never held a second time as a whole.
const STAGING_REALS: usize = 1 << 23;

/// Fills a device's part of a field of `components` complex numbers a site with
/// `value(site of the whole lattice, component)`.
pub fn upload<T: Real>(
    buffer: &mut Buffer<T>,
    dims: Dims,
    layout: &Layout,
    components: usize,
    value: impl Fn(usize, usize) -> Complex<T> + Sync,
) -> Result<(), DeviceError> {
    let (blocks, lanes) = (layout.blocks(), layout.lanes());
    let global = |place: Place| dims.site(global_coordinates(layout, place));
    let half = blocks * components * 2 * lanes;
    for parity in 0..2 {
        if lanes == 1 {
            // One plane of a component after the other, in pieces.
            let piece = STAGING_REALS / 2;
            for component in 0..components {
                for first in (0..blocks).step_by(piece) {
                    let staged: Vec<[T; 2]> = (first..blocks.min(first + piece))
                        .into_par_iter()
                        .map(|block| {
                            let z = value(global(Place { parity, block, lane: 0 }), component);
                            [z.re, z.im]
                        })
                        .collect();
                    let offset = parity * half + 2 * (component * blocks + first);
                    let staged = bytemuck::cast_slice(&staged);
                    buffer.slice_mut(offset..offset + staged.len())?.write(staged)?;
                }
            }
        } else {
            let block_reals = components * 2 * lanes;
            let piece = (STAGING_REALS / block_reals).max(1);
            for first in (0..blocks).step_by(piece) {
                let count = piece.min(blocks - first);
                let mut staged = vec![T::zero(); count * block_reals];
                staged.par_chunks_mut(block_reals).enumerate().for_each(|(k, reals)| {
                    for lane in 0..lanes {
                        let site = global(Place { parity, block: first + k, lane });
                        for component in 0..components {
                            let z = value(site, component);
                            reals[component * 2 * lanes + lane] = z.re;
                            reals[(component * 2 + 1) * lanes + lane] = z.im;
                        }
                    }
                });
                let offset = parity * half + first * block_reals;
                buffer.slice_mut(offset..offset + staged.len())?.write(&staged)?;
            }
        }
    }
    Ok(())
}

/// Reads a device's part of a field back: `store(site of the slab, f)` for each of its sites in lexicographic order, where
/// `f(component)` is the value there.
pub fn download<T: Real, S: Send>(
    buffer: &Buffer<T>,
    layout: &Layout,
    components: usize,
    slab: &mut [S],
    store: impl Fn(&mut S, &dyn Fn(usize) -> Complex<T>) + Sync,
) -> Result<(), DeviceError> {
    let reals = buffer.to_vec()?;
    slab.par_iter_mut().enumerate().for_each(|(site, target)| {
        let place = layout.place(slab_coordinates(layout, site));
        store(target, &|component| {
            let [re, im] = layout.offsets(components, component, place);
            Complex::new(reals[re], reals[im])
        });
    });
    Ok(())
}

/// The same part of a field in another precision, and the layout that goes with it.
pub fn cast<T: Real, R: Real>(
    buffer: &Buffer<T>,
    dims: Dims,
    from: &Layout,
    to: &Layout,
    components: usize,
) -> Result<Buffer<R>, DeviceError> {
    let reals = buffer.to_vec()?;
    let mut target = Buffer::zeroed(buffer.device(), to.reals(components))?;
    upload(&mut target, dims, to, components, |site, component| {
        let mut coordinates = dims.coordinates(site);
        coordinates[3] -= from.t_origin();
        let [re, im] = from.offsets(components, component, from.place(coordinates));
        Complex::new(R::from_f64(reals[re].to_f64()), R::from_f64(reals[im].to_f64()))
    })?;
    Ok(target)
}

/// Coordinates within the slab of its lexicographic site.
fn slab_coordinates(layout: &Layout, mut site: usize) -> [usize; NDIM] {
    layout.extents().map(|extent| {
        let coordinate = site % extent;
        site /= extent;
        coordinate
    })
}

/// Coordinates in the whole lattice of a place in the slab.
fn global_coordinates(layout: &Layout, place: Place) -> [usize; NDIM] {
    let mut coordinates = layout.coordinates(place);
    coordinates[3] += layout.t_origin();
    coordinates
}
