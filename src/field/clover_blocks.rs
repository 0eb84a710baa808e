//! The blocks of a clover term, made on devices.
//!
//! Links come to a device in double, one time slice after the other.

use super::gathered;
use super::site_field::{SiteField, Sites};
use super::transfer;
use crate::compute::parallel::*;
use crate::compute::{Argument, Buffer, DeviceError, KernelFamily, KernelKey, Range};
use crate::geometry::{Lattice, NDIM, Shape, Shard};
use crate::host::{CloverMatrix, GaugeConfiguration, StoredBlocks};
use crate::scalar::Storage;

const CLOVER_BLOCKS: KernelFamily = KernelFamily::new(
    "clover_blocks",
    &[include_str!("../../cl/layout.cl"), include_str!("../../cl/clover_blocks.cl")],
);

/// Number of time slices of links on a device.
///
/// The slices are the current one, whose blocks are made, and its two neighbours.
const SLICES: usize = 3;

/// Reals of the four links of a site.
const REALS: usize = 18 * NDIM;

/// The number that stands for no site.
const NONE: u32 = u32::MAX;

/// Returns the key of the kernel that makes such blocks, for lattices of all sizes.
pub fn clover_blocks_key<T: Storage>(stored: StoredBlocks) -> KernelKey {
    let shape = Shape::blocks(stored.layout().numbers());
    KernelKey::of_real::<f64>(CLOVER_BLOCKS)
        .define("GROUPS", shape.groups)
        .define("GROUP", shape.group)
        .define("TO", T::STORAGE.opencl_name())
}

/// Blocks that exist at all sites, or the first site without a block.
pub type Made<B> = Result<B, usize>;

/// Makes blocks for all sites, halved.
///
/// See `cl/clover.cl`. `weights` multiply the field strength in planes of space, and in planes with
/// time.
pub fn clover_blocks<T: Storage>(
    lattice: &Lattice,
    configuration: &GaugeConfiguration,
    weights: [f64; 2],
    stored: StoredBlocks,
) -> Result<Made<SiteField<T>>, DeviceError> {
    let shape = Shape::blocks(stored.layout().numbers());
    let mut field = SiteField::<T>::uninitialised(lattice, shape, Sites::All, 1)?;
    let mut failed = Vec::new();
    for (shard, buffer) in lattice.shards().iter().zip(field.buffers_mut()) {
        failed.push((shard, blocks_of_shard::<T>(shard, buffer, configuration, weights, stored)?));
    }
    // All devices are at work before the first is asked.
    let mut first = None;
    for (shard, failed) in failed {
        let [number] = failed.to_vec()?[..] else { unreachable!("one number") };
        if number != NONE {
            let [x, y, z, _] = shard.domain.extents();
            let number = number as usize;
            let site = [number % x, number / x % y, number / (x * y) % z, number / (x * y * z)];
            let site = lattice.dims().site(shard.domain.global(site));
            first = Some(first.map_or(site, |first: usize| first.min(site)));
        }
    }
    Ok(gathered::least(lattice, first)?.map_or(Ok(field), Err))
}

/// Starts to make the blocks of one device.
///
/// The buffer holds the least number of a site that has no block.
fn blocks_of_shard<T: Storage>(
    shard: &Shard,
    buffer: &mut Buffer<T::Stored>,
    configuration: &GaugeConfiguration,
    [space, time]: [f64; 2],
    stored: StoredBlocks,
) -> Result<Buffer<u32>, DeviceError> {
    let layout = shard.layout(T::STORAGE);
    let kernel = transfer::kernel(&shard.device, clover_blocks_key::<T>(stored), "clover_blocks")?;
    let (CloverMatrix { scalar, twist, factor }, inverse) = match stored {
        StoredBlocks::Term => (CloverMatrix { scalar: 0.0, twist: 0.0, factor: 1.0 }, false),
        StoredBlocks::Inverse(of) => (of, true),
    };
    let slice = Slice::new(shard, configuration);
    let mut links = Buffer::<f64>::uninitialised(&shard.device, SLICES * slice.reals())?;
    let mut failed = Buffer::from_slice(&shard.device, &[NONE])?;
    let mut staged = vec![0.0; slice.reals()];
    let [x, y, z, times] = shard.domain.extents();
    for number in 0..times + 2 {
        // Slice `number` − 1: the first is the one before the domain.
        slice.copy(number, &mut staged);
        let place = (number + SLICES - 1) % SLICES * slice.reals();
        links.slice_mut(place..place + slice.reals())?.write(&staged)?;
        let Some(t) = number.checked_sub(2) else { continue };
        let arguments = [
            Argument::from(&links),
            Argument::from(&mut *buffer),
            Argument::from(&mut failed),
            Argument::value(transfer::sub_extents(&layout)),
            Argument::value(layout.cuts().map(|cuts| cuts as u32)),
            Argument::value(layout.pack() as u32),
            Argument::value(layout.chunk().unwrap_or(0) as u32),
            Argument::value(slice.halo.map(|sites| sites as u32)),
            Argument::value(shard.domain.parity() as u32),
            Argument::value(t as u32),
            Argument::value(scalar),
            Argument::value(twist),
            Argument::value(factor * space),
            Argument::value(factor * time),
            Argument::value(u32::from(inverse)),
        ];
        kernel.start(Range::covering(x * y * z, 64), &arguments)?;
    }
    Ok(failed)
}

/// The links of a time slice of a domain.
///
/// In directions that are cut there is one site more on either side.
struct Slice<'a> {
    shard: &'a Shard,
    configuration: &'a GaugeConfiguration,
    /// Sites on either side; in t there are slices of their own.
    halo: [usize; NDIM],
}

impl<'a> Slice<'a> {
    fn new(shard: &'a Shard, configuration: &'a GaugeConfiguration) -> Self {
        let halo = std::array::from_fn(|mu| usize::from(mu != NDIM - 1 && shard.domain.is_cut(mu)));
        Self { shard, configuration, halo }
    }

    fn extents(&self) -> [usize; NDIM] {
        let extents = self.shard.domain.extents();
        std::array::from_fn(|mu| extents[mu] + 2 * self.halo[mu])
    }

    fn reals(&self) -> usize {
        self.extents()[..NDIM - 1].iter().product::<usize>() * REALS
    }

    /// Copies slice number `after` − 1 of the domain.
    ///
    /// Slices outside belong to the neighbours, around the lattice.
    fn copy(&self, after: usize, staged: &mut [f64]) {
        let (dims, origin, [x, y, ..]) =
            (self.configuration.dims(), self.shard.domain.origin(), self.extents());
        let before = [self.halo[0], self.halo[1], self.halo[2], 1];
        staged.par_chunks_mut(REALS).enumerate().for_each(|(k, reals)| {
            let at = [k % x, k / x % y, k / (x * y), after];
            let site =
                dims.site(std::array::from_fn(|mu| (origin[mu] + at[mu] + dims[mu] - before[mu]) % dims[mu]));
            for (mu, reals) in reals.chunks_mut(REALS / NDIM).enumerate() {
                let link = self.configuration.link(site, mu);
                reals.copy_from_slice(bytemuck::cast_slice(link.0.as_flattened()));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::{Device, DeviceOptions, Team, discover};
    use crate::geometry::{Dims, Grid};
    use crate::host::random::hot;
    use crate::scalar::{Half, Real};
    use num_complex::Complex;

    const WEIGHTS: [f64; 2] = [0.8, 1.1];

    /// Returns the blocks from the twin.
    fn expected<T: Storage>(
        lattice: &Lattice,
        configuration: &GaugeConfiguration,
        stored: StoredBlocks,
    ) -> SiteField<T> {
        let half_of = |site: usize, components: &mut [Complex<T::Real>]| {
            for (component, z) in components.iter_mut().zip(stored.at(configuration, WEIGHTS, site).unwrap())
            {
                *component = Complex::new(T::Real::from_f64(0.5 * z.re), T::Real::from_f64(0.5 * z.im));
            }
        };
        SiteField::from_values(lattice, Shape::blocks(stored.layout().numbers()), Sites::All, half_of)
            .unwrap()
    }

    fn expect_twin<T: Storage>(
        lattice: &Lattice,
        configuration: &GaugeConfiguration,
        stored: StoredBlocks,
        bound: f64,
    ) {
        let found = clover_blocks::<T>(lattice, configuration, WEIGHTS, stored).unwrap().unwrap();
        let (found, expected) =
            (found.cast::<f64>(), expected::<T>(lattice, configuration, stored).cast::<f64>());
        for (found, expected) in found.unwrap().buffers().iter().zip(expected.unwrap().buffers()) {
            let (found, expected) = (found.to_vec().unwrap(), expected.to_vec().unwrap());
            let largest = expected.iter().fold(0.0, |largest: f64, z: &f64| largest.max(z.abs()));
            for (found, expected) in found.iter().zip(&expected) {
                let difference = (found - expected).abs() / largest;
                assert!(difference < bound, "{stored:?}, {}: {difference:e}", T::STORAGE);
            }
        }
    }

    fn device() -> Device {
        Device::open(&discover().devices[0], &DeviceOptions::default()).unwrap()
    }

    fn lattice(device: &Device, dims: Dims, grid: [usize; NDIM]) -> Lattice {
        let team = Team::of(vec![device.clone(); grid.iter().product()]);
        Lattice::with_grid(&team, dims, Grid::new(grid).unwrap()).unwrap()
    }

    /// Returns a lattice and its grids. Simulators are slow.
    fn cases() -> (Dims, Vec<[usize; NDIM]>) {
        let small = std::env::var_os("LATTICE_CL_TEST_SMALL").is_some_and(|v| !v.is_empty() && v != "0");
        let (extents, cuts) = if small {
            ([4, 2, 2, 2], vec![[1, 1, 1, 1], [2, 1, 1, 2]])
        } else {
            ([4, 6, 2, 6], vec![[1, 1, 1, 1], [1, 2, 1, 3], [2, 2, 2, 2]])
        };
        (Dims::new(extents).unwrap(), cuts)
    }

    #[test]
    fn blocks_of_devices_are_the_twins_however_the_lattice_is_cut() {
        let (dims, cuts) = cases();
        let (configuration, device) = (hot(dims, 8), device());
        let inverse = |twist| StoredBlocks::Inverse(CloverMatrix { scalar: 1.1, twist, factor: 0.06 });
        for grid in cuts {
            let lattice = lattice(&device, dims, grid);
            for stored in [StoredBlocks::Term, inverse(0.0), inverse(0.3)] {
                expect_twin::<f64>(&lattice, &configuration, stored, 1e-14);
                // Compiling the kernels is what takes the time.
                if grid == [1, 1, 1, 1] {
                    expect_twin::<f32>(&lattice, &configuration, stored, 1e-7);
                    expect_twin::<Half>(&lattice, &configuration, stored, 1e-4);
                }
            }
        }
    }

    #[test]
    fn the_first_site_without_an_inverse_is_named_however_the_lattice_is_cut() {
        let (dims, cuts) = cases();
        let (configuration, device) = (hot(dims, 8), device());
        let term = CloverMatrix { scalar: 0.0, twist: 0.0, factor: 1.0 };
        let eigenvalue = |site| term.blocks_at(&configuration, [1.0; 2], site).smallest_eigenvalue();
        let mut sites: Vec<usize> = (0..dims.volume()).collect();
        sites.sort_by(|&a, &b| eigenvalue(a).total_cmp(&eigenvalue(b)));
        // At three sites 1 + factor T has an eigenvalue below zero.
        let factor = -2.0 / (eigenvalue(sites[2]) + eigenvalue(sites[3]));
        let first = sites[..3].iter().copied().min();
        let of = CloverMatrix { scalar: 1.0, factor, ..term };
        for grid in cuts {
            let lattice = lattice(&device, dims, grid);
            let made = clover_blocks::<f64>(&lattice, &configuration, [1.0; 2], StoredBlocks::Inverse(of));
            assert_eq!(made.unwrap().err(), first, "{grid:?}");
        }
    }
}
