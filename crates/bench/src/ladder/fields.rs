//! Links, tables and spinors in the layouts of the ladder's rungs.

use lattice_cl::compute::{Buffer, Device, Result};
use lattice_cl::geometry::{Dims, NDIM};
use lattice_cl::host::gamma::{GAMMA, Phase};
use lattice_cl::host::{LinkField, Spinor};
use num_complex::Complex64;

/// The arrays that the kernels read besides the spinors.
#[derive(Debug)]
pub struct Fields {
    /// Extents in x, y, z, t.
    pub extents: [u32; NDIM],
    /// Eight links a site, matrices in rows: `[site][direction][row][column][re, im]`.
    pub links: Buffer<f64>,
    /// The numbers of `links` as `[direction][column][site][row]`.
    pub grouped_links: Buffer<Complex64>,
    /// Neighbours of each site, `[site][direction]`.
    pub neighbours: Buffer<u32>,
    /// Columns of a projection's two entries in each row, `[direction][spin][entry]`.
    pub columns: Buffer<u32>,
    /// The entries of the projections, in the order of `columns`.
    pub entries: Buffer<Complex64>,
}

/// Number of hops of a site: four forward, four backward.
const DIRECTIONS: usize = 2 * NDIM;

impl Fields {
    /// Puts the arrays into the memory of a device.
    ///
    /// # Errors
    /// [`DeviceError::AllocationTooLarge`](lattice_cl::compute::DeviceError::AllocationTooLarge),
    /// [`DeviceError::OpenCl`](lattice_cl::compute::DeviceError::OpenCl).
    pub fn new(device: &Device, links: &LinkField<f64>) -> Result<Self> {
        let dims = links.dims();
        let volume = dims.volume();
        let neighbour = |site, d| {
            if d < NDIM { dims.forward(site, d) } else { dims.backward(site, d - NDIM) }
        };
        let element = |site: usize, d: usize, row: usize, column: usize| {
            if d < NDIM {
                links.link(site, d).0[row][column]
            } else {
                links.link(neighbour(site, d), d - NDIM).0[column][row].conj()
            }
        };
        let mut rows = Vec::with_capacity(2 * 9 * DIRECTIONS * volume);
        for site in 0..volume {
            for entry in 0..9 * DIRECTIONS {
                let z = element(site, entry / 9, entry % 9 / 3, entry % 3);
                rows.extend([z.re, z.im]);
            }
        }
        let mut grouped = Vec::with_capacity(9 * DIRECTIONS * volume);
        for place in 0..3 * DIRECTIONS {
            let (d, column) = (place / 3, place % 3);
            grouped.extend((0..3 * volume).map(|i| element(i / 3, d, i % 3, column)));
        }
        let neighbours: Vec<u32> =
            (0..volume).flat_map(|site| (0..DIRECTIONS).map(move |d| neighbour(site, d) as u32)).collect();
        let (mut columns, mut entries) = (Vec::new(), Vec::new());
        for d in 0..DIRECTIONS {
            let sign = if d < NDIM { -1.0 } else { 1.0 };
            for (spin, &(column, phase)) in GAMMA[d % NDIM].iter().enumerate() {
                columns.extend([spin as u32, column as u32]);
                entries.extend([Complex64::from(1.0), Phase::times(phase, Complex64::from(sign))]);
            }
        }
        Ok(Self {
            extents: dims.extents().map(|extent| extent as u32),
            links: Buffer::from_slice(device, &rows)?,
            grouped_links: Buffer::from_slice(device, &grouped)?,
            neighbours: Buffer::from_slice(device, &neighbours)?,
            columns: Buffer::from_slice(device, &columns)?,
            entries: Buffer::from_slice(device, &entries)?,
        })
    }

    /// Returns the number of sites.
    pub fn volume(&self) -> usize {
        self.extents.iter().map(|&extent| extent as usize).product()
    }
}

/// Returns the components of spinors one after the other.
pub fn components(spinors: &[Spinor<f64>]) -> Vec<Complex64> {
    spinors.iter().flat_map(|spinor| spinor.0.as_flattened().iter().copied()).collect()
}

/// Returns the bytes that an application moves at least.
///
/// Eight links are stored for each site. The application also reads a spinor and writes one.
pub fn least_bytes(dims: Dims) -> u64 {
    ((DIRECTIONS * 18 + 2 * Spinor::<f64>::REALS) * size_of::<f64>() * dims.volume()) as u64
}
