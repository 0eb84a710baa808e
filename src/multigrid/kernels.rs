//! The kernels between levels, and of coarse operators.

use super::coarse_space::{CoarseSpace, SiteNumbers};
use super::setup_kernels::is_fixed;
use crate::compute::{Argument, Buffer, Device, DeviceError, Kernel, KernelFamily, KernelKey, Range};
use crate::field::{NumbersView, SpinorField, buffer_of, buffer_of_mut, numbers_of, set_numbers};
use crate::host::multigrid::{CoarseBlocks, coarse_hop};
use crate::scalar::Real;
use num_complex::Complex;

const MULTIGRID: KernelFamily = KernelFamily::new(
    "multigrid",
    &[
        include_str!("../../cl/lanes.cl"),
        include_str!("../../cl/multigrid/chunks.cl"),
        include_str!("../../cl/multigrid/transfer.cl"),
    ],
);

/// Work-items of a group.
pub(super) const LOCAL_SIZE: usize = 64;

/// Items from which the large groups of a GPU are enough for all its processors.
const MANY_ITEMS: usize = 1 << 15;

/// Work-items that share a chunk of a coarse hop with one lane, and chunks of a group.
const HOP_SHARES: usize = 8;
const HOP_CHUNKS: usize = 32;

/// Returns the range of a hop with so many chunks.
///
/// A small lattice has less chunks than a GPU has room for work-items.
fn range_of_hop(chunks: usize, numbers: SiteNumbers) -> Range {
    match numbers.lanes {
        1 => Range::groups(chunks.div_ceil(HOP_CHUNKS), HOP_CHUNKS * HOP_SHARES),
        _ => range_of_chunks(chunks, numbers),
    }
}

/// Returns the range of a kernel with an item for each chunk of a coarse vector.
///
/// A GPU has one lane, and executes 32 work-items of a group together.
pub(super) fn range_of_chunks(items: usize, numbers: SiteNumbers) -> Range {
    let local = match numbers.lanes {
        1 if items >= MANY_ITEMS => LOCAL_SIZE,
        1 => 32,
        _ => 16,
    };
    Range::covering(items, local)
}

/// Returns the key of the kernels of a coarse level.
fn key<R: Real>(coarse: SiteNumbers, fine_lanes: usize, sources: usize) -> KernelKey {
    KernelKey::of_real::<R>(MULTIGRID)
        .lanes(coarse.lanes)
        .define("IN_LANES", fine_lanes)
        .define("SOURCES", sources)
        .define("HOP_SHARES", HOP_SHARES)
        .define("HOP_CHUNKS", HOP_CHUNKS)
        .define("FIXED", u8::from(is_fixed::<R>()))
}

/// Returns the kernel of this name for so many right-hand sides.
pub(super) fn kernel<R: Real>(
    device: &Device,
    name: &str,
    coarse: SiteNumbers,
    fine_lanes: usize,
    sources: usize,
) -> Result<Kernel, DeviceError> {
    device.program(&key::<R>(coarse, fine_lanes, sources))?.kernel(name)
}

/// A product of blocks with vectors: alpha own + beta (the blocks of `mask`).
#[derive(Clone, Copy)]
pub(super) struct Hop<R> {
    /// The first site, and how many there are.
    pub first: usize,
    pub sites: usize,
    pub mask: u32,
    /// alpha and beta
    pub factors: [R; 2],
}

impl<R: Real> Hop<R> {
    /// Starts the product on a device.
    ///
    /// `vectors` are those of the neighbours and of the sites themselves.
    pub fn start(
        self,
        kernel: &Kernel,
        space: &CoarseSpace<R>,
        ([blocks, units], neighbours): ([Argument<'_>; 2], &Buffer<u32>),
        [others, own]: [&SpinorField<R>; 2],
        out: &mut SpinorField<R>,
    ) -> Result<(), DeviceError> {
        let Self { first, sites, mask, factors: [alpha, beta] } = self;
        let SiteNumbers { columns, .. } = space.numbers;
        let chunks = space.numbers.chunks();
        let arguments = [
            blocks,
            units,
            Argument::from(neighbours),
            Argument::from(buffer_of(others)),
            Argument::from(buffer_of(own)),
            Argument::from(buffer_of_mut(out)),
            Argument::value(first as u32),
            Argument::value(sites as u32),
            Argument::value(columns as u32),
            Argument::value(chunks as u32),
            Argument::value(mask),
            Argument::value(alpha),
            Argument::value(beta),
            Argument::value(space.stride() as u32),
        ];
        kernel.start(range_of_hop(sites * chunks, space.numbers), &arguments)
    }

    /// Computes the product on the host, right-hand side by right-hand side.
    pub fn on_host(
        self,
        operator: CoarseBlocks<'_, R>,
        space: &CoarseSpace<R>,
        [others, own]: [&SpinorField<R>; 2],
        out: &mut SpinorField<R>,
    ) -> Result<(), DeviceError> {
        let stride = space.stride();
        let of_source = |others: &[R], own: &[R]| {
            let vectors: [&[Complex<R>]; 2] = [others, own].map(bytemuck::cast_slice);
            let range = [self.first, self.sites];
            let product = coarse_hop(operator, vectors, range, self.mask, self.factors);
            let mut reals = bytemuck::cast_slice::<_, R>(&product).to_vec();
            reals.resize(stride, R::zero());
            reals
        };
        let result: Vec<R> = numbers_of(others, |others| {
            numbers_of(own, |own| match (others, own) {
                (NumbersView::Host(others), NumbersView::Host(own)) => others
                    .chunks(stride)
                    .zip(own.chunks(stride))
                    .flat_map(|(others, own)| of_source(others, own))
                    .collect(),
                _ => unreachable!("vectors of the host are there"),
            })
        });
        set_numbers(out, &result)
    }
}
