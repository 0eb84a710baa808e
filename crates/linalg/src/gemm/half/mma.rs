//! Products on matrix units.

use super::format::{HalfFormat, HalfResult};
use crate::completion::Completion;
use crate::error::BlasResult;
use crate::gemm::kernels::{ASYNC_COPIES, BANDS};
use crate::gemm::tuning::LOCAL_BYTES_OF_NVIDIA;
use crate::matrix::{MatMut, MatRef, MatrixLayout};
use lattice_compute::scalar::Precision;
use lattice_compute::sync::lock;
use lattice_compute::{Argument, Device, Kernel, KernelFamily, KernelKey, Range, Result};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

const MMA: KernelFamily = KernelFamily::new(
    "gemm_half_mma",
    &[include_str!("../../../cl/half.cl"), BANDS, ASYNC_COPIES, include_str!("../../../cl/gemm_half_mma.cl")],
);

/// Numbers of a copy, and numbers by which lines in local memory are longer.
const COPY: usize = 8;

/// Variants of `cl/gemm_half_mma.cl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HalfMma {
    /// Rows and columns of C for a work-group, and the terms of a piece.
    pub tile: [usize; 3],
    /// Rows and columns of C for a warp.
    pub warp: [usize; 2],
    /// Pieces in local memory.
    pub stages: usize,
    /// Rows of tiles that are worked off together.
    pub band: usize,
    /// `true` if the next step's operands are read between the products of this step.
    ///
    /// `false` if they are read before the products.
    pub spread: bool,
}

impl HalfMma {
    /// Returns the variant for a device of so many units, and C of m rows and n columns.
    ///
    /// The large tiles were the fastest on an NVIDIA H100 at n = 8192. Smaller ones keep all units
    /// busy. Source: bench/runs/2026-11-26-h100/half.txt.
    pub(super) fn suitable(units: usize, [m, n]: [usize; 2], along_terms: bool) -> Self {
        let large = if along_terms {
            Self { tile: [256, 128, 64], warp: [64, 64], stages: 3, band: 8, spread: false }
        } else {
            Self { tile: [256, 128, 32], warp: [64, 64], stages: 4, band: 8, spread: false }
        };
        let middle = Self { tile: [128, 128, 32], stages: 4, ..large };
        let small = Self { tile: [64, 64, 32], warp: [32, 32], ..middle };
        let tiles = |variant: &Self| m.div_ceil(variant.tile[0]) * n.div_ceil(variant.tile[1]);
        [large, middle].into_iter().find(|variant| tiles(variant) >= units).unwrap_or(small)
    }

    /// Returns the reason why the sizes do not go together.
    pub(super) fn complaint(&self, device: &Device) -> Option<String> {
        let Self { tile: [rows, columns, terms], warp, stages, band, .. } = *self;
        if warp[0] == 0 || warp[1] == 0 || !warp[0].is_multiple_of(16) || !warp[1].is_multiple_of(16) {
            return Some("a warp has multiples of 16 rows and columns".to_owned());
        }
        if rows == 0 || columns == 0 || !rows.is_multiple_of(warp[0]) || !columns.is_multiple_of(warp[1]) {
            return Some("a tile consists of whole warps".to_owned());
        }
        if terms == 0 || !terms.is_multiple_of(32) {
            return Some("a piece has a multiple of 32 terms".to_owned());
        }
        if !(2..=16).contains(&stages) || band == 0 {
            return Some("there are 2 to 16 stages, and bands of at least one row".to_owned());
        }
        let items = self.work_items();
        if items > device.info().max_work_group_size {
            return Some(format!("a work-group has {items} work-items, more than the device allows"));
        }
        // Lines are neighbours in either direction.
        let shared = |lines: usize, length: usize| {
            items.is_multiple_of(length / COPY) && lines.is_multiple_of(items / (length / COPY))
        };
        let pieces = [(rows, terms), (terms, rows), (columns, terms), (terms, columns)];
        if pieces.into_iter().any(|(lines, length)| !shared(lines, length)) {
            return Some("work-items do not bring equal shares of a piece".to_owned());
        }
        // Lines are the longest if neighbours are rows of A or columns of B.
        let pieces = stages * 2 * ((rows + columns) * terms + COPY * (rows + columns).max(2 * terms));
        // Without matrix units the lanes of a warp have scratch memory.
        let (most, scratch) = if device.supports_inline_ptx() {
            (LOCAL_BYTES_OF_NVIDIA, 0)
        } else {
            (device.info().local_memory_bytes as usize, items / 32 * 24 * 16 * 2)
        };
        let bytes = pieces + scratch;
        (bytes > most).then(|| format!("a work-group takes {bytes} bytes of local memory, at most {most}"))
    }

    fn work_items(&self) -> usize {
        32 * (self.tile[0] / self.warp[0]) * (self.tile[1] / self.warp[1])
    }
}

impl fmt::Display for HalfMma {
    /// Formats for example as `128x128x32, warp 64x64, stages 4, band 8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tile: [rows, columns, terms], warp, stages, band, spread } = self;
        write!(f, "{rows}x{columns}x{terms}, warp {}x{}, stages {stages}, band {band}", warp[0], warp[1])?;
        if *spread { f.write_str(", spread") } else { Ok(()) }
    }
}

/// What a kernel is specialised for: variant, orders, bfloat16, kind of C.
type Case = (HalfMma, [bool; 2], bool, u32);

/// The kernels that have been used on a device.
#[derive(Default)]
struct Kernels(Mutex<HashMap<Case, Arc<Kernel>>>);

fn kernel<H: HalfFormat, C: HalfResult>(
    device: &Device,
    variant: HalfMma,
    transposed: [bool; 2],
) -> Result<Arc<Kernel>> {
    let case: Case = (variant, transposed, H::IS_BFLOAT, C::KIND);
    let kernels = device.attached(|_| Ok::<_, lattice_compute::DeviceError>(Kernels::default()))?;
    if let Some(known) = lock(&kernels.0).get(&case) {
        return Ok(Arc::clone(known));
    }
    let key = KernelKey::new(MMA, Precision::Single)
        .define("TILE_M", variant.tile[0])
        .define("TILE_N", variant.tile[1])
        .define("TILE_K", variant.tile[2])
        .define("WARP_M", variant.warp[0])
        .define("WARP_N", variant.warp[1])
        .define("STAGES", variant.stages)
        .define("BAND", variant.band)
        .define("SPREAD", u8::from(variant.spread))
        .define("A_TRANSPOSED", u8::from(transposed[0]))
        .define("B_TRANSPOSED", u8::from(transposed[1]))
        .define("BFLOAT", u8::from(H::IS_BFLOAT))
        .define("RESULT", C::KIND);
    let made = Arc::new(device.program(&key)?.kernel("gemm_half_mma")?);
    Ok(Arc::clone(lock(&kernels.0).entry(case).or_insert(made)))
}

/// Starts C = α A B + β C for a column-major C.
///
/// A factor is transposed if neighbouring numbers run along its second index as it enters.
pub(super) fn multiply<H: HalfFormat, C: HalfResult>(
    variant: HalfMma,
    transposed: [bool; 2],
    [m, n, k]: [usize; 3],
    alpha: f32,
    factors: [MatRef<'_, H>; 2],
    beta: f32,
    c: MatMut<'_, C>,
) -> BlasResult<Completion> {
    let device = c.device().clone();
    // With α = 0 the factors are not read.
    let k = if alpha == 0.0 { 0 } else { k };
    let (layout, stride, count) = (*c.layout(), c.stride(), c.count());
    let numbers = |layout: &MatrixLayout, stride: usize| {
        [Argument::value(layout.leading_dimension as u64), Argument::value(stride as u64)]
    };
    let mut arguments = vec![Argument::value(m as u64), Argument::value(n as u64), Argument::value(k as u64)];
    arguments.push(Argument::value(alpha));
    for factor in factors {
        arguments.push(factor.elements().slice(factor.layout().offset..)?.into());
        arguments.extend(numbers(factor.layout(), factor.stride()));
    }
    arguments.push(Argument::value(beta));
    let (_, from_first) = c.into_elements().split_at(layout.offset)?;
    arguments.push(from_first.into());
    arguments.extend(numbers(&layout, stride));
    let groups = m.div_ceil(variant.tile[0]) * n.div_ceil(variant.tile[1]);
    let items = variant.work_items();
    let range = Range::new([groups * items, 1, count], [items, 1, 1]);
    let kernel = kernel::<H, C>(&device, variant, transposed)?;
    Ok(Completion::of(vec![kernel.launch(range, &arguments)?]))
}
