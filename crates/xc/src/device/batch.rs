//! Groups that are computed together, and the memory for it.

use super::basis::split;
use crate::basis::Basis;
use crate::error::XcResult;
use crate::grid::Grid;
use crate::groups::Group;
use crate::tables::{PADDING, Tables, values_of};
use lattice_compute::scalar::{Element, Precision, Real};
use lattice_compute::{Buffer, Device, DeviceKind};
use lattice_linalg::Op;
use lattice_linalg::gemm::Grouped;

/// Planes of functions that are kept: values and first derivatives.
pub(super) const KEPT_PLANES: usize = 4;

/// Planes of functions for a gradient: all second derivatives too.
pub(super) const ALL_PLANES: usize = 10;

/// Functions times points of a batch for each unit of a processor, whose caches hold them.
const ON_A_UNIT: usize = 1 << 18;

/// Functions times points of a batch on other devices, whose units are many.
const ON_OTHERS: usize = 1 << 25;

/// Groups that are computed together, as tables on the device.
pub(super) struct Batch<T: Real + Element> {
    pub count: usize,
    pub all_points: usize,
    /// Functions times points.
    pub values: usize,
    /// Elements of all square matrices.
    pub squares: usize,
    /// Most points of a group, and most functions.
    pub most: [usize; 2],
    /// The functions of each group by their numbers, one group after the other.
    pub numbers: Vec<u32>,
    /// The weights of all points.
    pub host_weights: Vec<f64>,
    pub groups: Buffer<u64>,
    pub shells: Buffer<[u32; 2]>,
    pub functions: Buffer<u32>,
    pub points: Buffer<T>,
    pub weights: Buffer<f64>,
    pub begins: Buffer<u32>,
    pub entries: Buffer<[u32; 2]>,
    /// Functions times square matrices.
    pub with_squares: Grouped<T>,
    /// Functions times functions.
    pub to_squares: Grouped<T>,
}

/// Memory that all batches use in turn.
pub(super) struct Scratch<T, W> {
    pub products: Buffer<T>,
    pub squares: Buffer<T>,
    /// ρ and ∇ρ of two spins, in so many parts.
    pub values: Buffer<W>,
    pub factors: Buffer<W>,
    pub of_points: Buffer<f64>,
}

/// Returns how many numbers a sum consists of: two in single precision, see `cl/xc_wide.cl`.
pub(super) fn parts<W: Real>() -> usize {
    match W::PRECISION {
        Precision::Double => 1,
        Precision::Single => 2,
    }
}

/// More memory for a gradient.
pub(super) struct GradientScratch<T> {
    pub functions: Buffer<T>,
    pub weighted: Buffer<T>,
    pub products: Buffer<T>,
}

/// Returns the bytes that the largest of some groups takes while it is computed.
pub(crate) fn least_bytes<'a>(groups: impl IntoIterator<Item = &'a Group>, size: usize) -> u64 {
    let of = |group: &Group| {
        let points = group.points.len().next_multiple_of(PADDING);
        let reals = (KEPT_PLANES + 1) * values_of(group) + group.functions * group.functions;
        (reals * size + 19 * points * size_of::<f64>()) as u64
    };
    groups.into_iter().map(of).max().unwrap_or(0)
}

/// Returns the functions times points of a batch.
pub(crate) fn most_values(device: &Device, budget: u64, size: usize) -> usize {
    let info = device.info();
    let most = match info.kind {
        DeviceKind::Cpu => ON_A_UNIT.saturating_mul(info.compute_units.max(1)),
        _ => ON_OTHERS,
    };
    // A fourth of the budget is for batches that keep nothing, and a buffer has all planes of a gradient.
    let of_budget = budget / 4 / ((KEPT_PLANES + 2) * size) as u64;
    let of_buffers = info.max_allocation_bytes / (ALL_PLANES * size) as u64;
    (most as u64).min(of_budget).min(of_buffers) as usize
}

/// Cuts a list of groups into batches, in their order.
pub(super) fn cut(groups: &[Group], jobs: &[usize], most: usize) -> Vec<Vec<usize>> {
    let (mut batches, mut values) = (Vec::<Vec<usize>>::new(), usize::MAX);
    for &job in jobs {
        let more = values_of(&groups[job]);
        values = values.saturating_add(more);
        match batches.last_mut() {
            Some(batch) if values <= most => batch.push(job),
            _ => {
                batches.push(vec![job]);
                values = more;
            }
        }
    }
    batches
}

impl<T: Real + Element> Batch<T> {
    /// Sends the tables of those groups that are present to a device.
    pub fn new(device: &Device, basis: &Basis, grid: &Grid, groups: &[(&Group, bool)]) -> XcResult<Self> {
        let tables = Tables::new(basis, grid, groups.iter().copied());
        let along = |axis: usize| tables.points.iter().map(move |point| point[axis]);
        let points = split::<T>(along(0).chain(along(1)).chain(along(2)));
        Ok(Self {
            count: tables.count(),
            all_points: tables.points.len(),
            values: tables.values,
            squares: tables.squares,
            most: tables.most,
            groups: Buffer::from_slice(device, &tables.groups)?,
            shells: Buffer::from_slice(device, &tables.shells)?,
            functions: Buffer::from_slice(device, &tables.functions)?,
            points: Buffer::from_slice(device, &points)?,
            weights: Buffer::from_slice(device, &tables.weights)?,
            begins: Buffer::from_slice(device, &tables.begins)?,
            entries: Buffer::from_slice(device, &tables.entries)?,
            with_squares: Grouped::new(device, Op::N, &tables.with_squares())?,
            to_squares: Grouped::new(device, Op::T, &tables.to_squares())?,
            numbers: tables.functions,
            host_weights: tables.weights,
        })
    }

    /// Returns the bytes of the functions that are kept.
    pub fn kept_bytes(&self) -> u64 {
        (KEPT_PLANES * self.values * size_of::<T>()) as u64
    }
}

impl<T: Real + Element, W: Real> Scratch<T, W> {
    /// Makes memory for each of the batches.
    pub fn new<'a>(device: &Device, batches: impl Iterator<Item = &'a Batch<T>> + Clone) -> XcResult<Self> {
        let most = |of: fn(&Batch<T>) -> usize| batches.clone().map(of).max().unwrap_or(0);
        let points = most(|batch| batch.all_points);
        // Without double precision the host evaluates functionals.
        let of_points = if W::PRECISION == Precision::Double { 3 * points } else { 0 };
        Ok(Self {
            products: Buffer::uninitialised(device, most(|batch| batch.values))?,
            squares: Buffer::uninitialised(device, most(|batch| batch.squares))?,
            values: Buffer::uninitialised(device, parts::<W>() * 8 * points)?,
            factors: Buffer::uninitialised(device, 8 * points)?,
            of_points: Buffer::uninitialised(device, of_points)?,
        })
    }

    /// Tells whether there is room for a batch.
    pub fn holds(&self, batch: &Batch<T>) -> bool {
        let products = batch.values <= self.products.len() && batch.squares <= self.squares.len();
        products && 8 * batch.all_points <= self.factors.len()
    }
}

impl<T: Real + Element> GradientScratch<T> {
    /// Makes memory for each of the batches.
    pub fn new<'a>(device: &Device, batches: impl Iterator<Item = &'a Batch<T>>) -> XcResult<Self> {
        let values = batches.map(|batch| batch.values).max().unwrap_or(0);
        Ok(Self {
            functions: Buffer::uninitialised(device, ALL_PLANES * values)?,
            weighted: Buffer::uninitialised(device, values)?,
            products: Buffer::uninitialised(device, values)?,
        })
    }
}
