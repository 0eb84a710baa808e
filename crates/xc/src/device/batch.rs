//! Groups that are computed together, and the memory for it.

use super::basis::split;
use crate::basis::Basis;
use crate::error::XcResult;
use crate::grid::Grid;
use crate::groups::Group;
use crate::tables::{PADDING, Tables, values_of};
use lattice_compute::scalar::{Element, Real};
use lattice_compute::{Buffer, Device, DeviceKind};
use lattice_linalg::Op;
use lattice_linalg::gemm::Grouped;

/// Planes of functions that are kept: values and first derivatives.
pub(super) const KEPT_PLANES: usize = 4;

/// Planes of functions for a gradient: all second derivatives too.
pub(super) const ALL_PLANES: usize = 10;

/// Functions times points of a batch on processors, whose caches hold them.
const ON_PROCESSORS: usize = 1 << 19;

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
pub(super) struct Scratch<T> {
    pub products: Buffer<T>,
    pub squares: Buffer<T>,
    /// ρ and ∇ρ of two spins.
    pub values: Buffer<f64>,
    pub factors: Buffer<f64>,
    pub of_points: Buffer<f64>,
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

/// Cuts groups into batches, in their order.
pub(super) fn cut<'a>(
    device: &Device,
    groups: impl IntoIterator<Item = &'a Group>,
    budget: u64,
    size: usize,
) -> Vec<Vec<&'a Group>> {
    let info = device.info();
    let most = if info.kind == DeviceKind::Cpu { ON_PROCESSORS } else { ON_OTHERS } as u64;
    // A fourth of the budget is for batches that keep nothing, and a buffer has all planes of a gradient.
    let of_budget = budget / 4 / ((KEPT_PLANES + 2) * size) as u64;
    let of_buffers = info.max_allocation_bytes / (ALL_PLANES * size) as u64;
    let most = most.min(of_budget).min(of_buffers) as usize;
    let (mut batches, mut values) = (Vec::<Vec<&Group>>::new(), usize::MAX);
    for group in groups {
        values = values.saturating_add(values_of(group));
        match batches.last_mut() {
            Some(batch) if values <= most => batch.push(group),
            _ => {
                batches.push(vec![group]);
                values = values_of(group);
            }
        }
    }
    batches
}

impl<T: Real + Element> Batch<T> {
    /// Sends the tables of some groups to a device.
    pub fn new(device: &Device, basis: &Basis, grid: &Grid, groups: &[&Group]) -> XcResult<Self> {
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
        })
    }

    /// Returns the bytes of the functions that are kept.
    pub fn kept_bytes(&self) -> u64 {
        (KEPT_PLANES * self.values * size_of::<T>()) as u64
    }
}

impl<T: Real + Element> Scratch<T> {
    /// Makes memory for each of the batches.
    pub fn new<'a>(device: &Device, batches: impl Iterator<Item = &'a Batch<T>> + Clone) -> XcResult<Self> {
        let most = |of: fn(&Batch<T>) -> usize| batches.clone().map(of).max().unwrap_or(0);
        let points = most(|batch| batch.all_points);
        Ok(Self {
            products: Buffer::uninitialised(device, most(|batch| batch.values))?,
            squares: Buffer::uninitialised(device, most(|batch| batch.squares))?,
            values: Buffer::uninitialised(device, 8 * points)?,
            factors: Buffer::uninitialised(device, 8 * points)?,
            of_points: Buffer::uninitialised(device, 3 * points)?,
        })
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
