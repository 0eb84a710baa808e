//! Between the host's order of sites and a device's layout.

use super::layout::{Layout, Place};
use crate::device::{Argument, Buffer, DeviceError, DeviceKind, KernelFamily, KernelKey, Parameter, Range};
use crate::host::{Dims, NDIM};
use crate::scalar::Real;
use num_complex::Complex;
use rayon::prelude::*;

const CONVERT: KernelFamily = KernelFamily::new("convert", &[include_str!("../../cl/convert.cl")]);

/// Reals that are converted at a time: a configuration is never held a second time as a whole.
const STAGING_REALS: usize = 1 << 23;

/// Fills a device's part of a field of `components` complex numbers a site, the sites of `parities` one after the other:
/// `values(site of the whole lattice, components)` says which they are.
pub fn upload<T: Real>(
    buffer: &mut Buffer<T>,
    dims: Dims,
    layout: &Layout,
    components: usize,
    parities: &[usize],
    values: impl Fn(usize, &mut [Complex<T>]) + Sync,
) -> Result<(), DeviceError> {
    let (blocks, lanes) = (layout.blocks(), layout.lanes());
    let block_reals = components * 2 * lanes;
    let piece = (STAGING_REALS / block_reals).max(1);
    for (part, &parity) in parities.iter().enumerate() {
        let start = part * blocks * block_reals;
        for first in (0..blocks).step_by(piece) {
            let count = piece.min(blocks - first);
            let mut sites = vec![Complex::default(); count * lanes * components];
            sites.par_chunks_mut(components).enumerate().for_each(|(k, components)| {
                let place = Place { parity, block: first + k / lanes, lane: k % lanes };
                values(dims.site(global_coordinates(layout, place)), components);
            });
            if lanes == 1 {
                // A plane for each component.
                for component in 0..components {
                    let plane: Vec<Complex<T>> =
                        (0..count).into_par_iter().map(|k| sites[k * components + component]).collect();
                    let offset = start + 2 * (component * blocks + first);
                    buffer.slice_mut(offset..offset + 2 * count)?.write(bytemuck::cast_slice(&plane))?;
                }
            } else {
                let mut staged = vec![T::zero(); count * block_reals];
                staged.par_chunks_mut(block_reals).zip(sites.par_chunks(lanes * components)).for_each(
                    |(reals, sites)| {
                        for (k, z) in sites.iter().enumerate() {
                            let (lane, component) = (k / components, k % components);
                            reals[component * 2 * lanes + lane] = z.re;
                            reals[(component * 2 + 1) * lanes + lane] = z.im;
                        }
                    },
                );
                let offset = start + first * block_reals;
                buffer.slice_mut(offset..offset + staged.len())?.write(&staged)?;
            }
        }
    }
    Ok(())
}

/// Reads a device's part of a field back: `store(target, f)` for each of its sites in lexicographic order, where `f(component)`
/// is the value there. With a `parity` the field has only the sites of this parity.
pub fn download<T: Real, S: Send>(
    buffer: &Buffer<T>,
    layout: &Layout,
    components: usize,
    parity: Option<usize>,
    slab: &mut [S],
    store: impl Fn(&mut S, &dyn Fn(usize) -> Complex<T>) + Sync,
) -> Result<(), DeviceError> {
    let reals = buffer.to_vec()?;
    slab.par_iter_mut().enumerate().for_each(|(index, target)| {
        let place = match parity {
            None => layout.place(slab_coordinates(layout, index)),
            // The blocks of either parity have the same numbers; this field starts with the first.
            Some(parity) => Place { parity: 0, ..layout.place(parity_coordinates(layout, parity, index)) },
        };
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
    let mut target = Buffer::zeroed(buffer.device(), to.reals(components))?;
    if from == to {
        convert_on_device(buffer, &mut target)?;
        return Ok(target);
    }
    // Other lanes, another order: by way of the host.
    let reals = buffer.to_vec()?;
    upload(&mut target, dims, to, components, &[0, 1], |site, values| {
        let mut coordinates = dims.coordinates(site);
        coordinates[3] -= from.t_origin();
        let place = from.place(coordinates);
        for (component, value) in values.iter_mut().enumerate() {
            let [re, im] = from.offsets(components, component, place);
            *value = Complex::new(R::from_f64(reals[re].to_f64()), R::from_f64(reals[im].to_f64()));
        }
    })?;
    Ok(target)
}

/// target = buffer, number by number.
fn convert_on_device<T: Real, R: Real>(
    buffer: &Buffer<T>,
    target: &mut Buffer<R>,
) -> Result<(), DeviceError> {
    let device = buffer.device();
    let key = KernelKey::of_real::<R>(CONVERT).define("FROM", T::PRECISION.opencl_name());
    let parameters =
        [Parameter::value::<u64>("count"), Parameter::input::<T>("from"), Parameter::output::<R>("to")];
    let kernel = device.program(&key)?.kernel("convert_reals", &parameters)?;
    let (local, groups) = match device.info().kind {
        DeviceKind::Cpu => (16, 4 * device.info().compute_units),
        _ => (256, 16 * device.info().compute_units),
    };
    let count = Argument::value(buffer.len() as u64);
    kernel.launch(Range::groups(groups, local), &[count, buffer.into(), target.into()])?;
    Ok(())
}

/// Coordinates within the slab of the site number `index` of one parity, in lexicographic order.
fn parity_coordinates(layout: &Layout, parity: usize, index: usize) -> [usize; NDIM] {
    // Each row along x has as many even sites as odd ones.
    let mut coordinates = slab_coordinates(layout, 2 * index);
    let row: usize = coordinates[1..].iter().sum();
    coordinates[0] += (row + layout.t_origin() + parity) % 2;
    coordinates
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
