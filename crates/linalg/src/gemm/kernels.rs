//! The kernels of the product on one device.
//!
//! They are built on first use and kept by the device.

use super::output_region::OutputRegion;
use super::panels::{MOST_PACKED, PanelKernels};
use super::problem::{Problem, Target};
use super::tuning::{GemmTuning, Mma, Registers};
use crate::completion::Completion;
use lattice_compute::scalar::{AnyFactor, ElementType};
use lattice_compute::sync::lock;
use lattice_compute::{Argument, Device, Event, Kernel, KernelFamily, KernelKey, Range, Result};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

pub(super) const ELEMENTS: &str = include_str!("../../cl/elements.cl");
pub(super) const COMMON: &str = include_str!("../../cl/gemm.cl");
/// The order of tiles, and copies that are only started.
pub(super) const BANDS: &str = include_str!("../../cl/bands.cl");
/// The tile of a work-group, and how results come to C.
const PARTS: &str = include_str!("../../cl/parts.cl");
pub(super) const ASYNC_COPIES: &str = include_str!("../../cl/async_copies.cl");
const TEXTBOOK: KernelFamily =
    KernelFamily::new("gemm_textbook", &[ELEMENTS, COMMON, include_str!("../../cl/gemm_textbook.cl")]);
const REGISTERS: KernelFamily = KernelFamily::new(
    "gemm_registers",
    &[ELEMENTS, COMMON, BANDS, PARTS, include_str!("../../cl/gemm_registers.cl")],
);
const MMA: KernelFamily = KernelFamily::new(
    "gemm_mma",
    &[ELEMENTS, COMMON, BANDS, PARTS, ASYNC_COPIES, include_str!("../../cl/gemm_mma.cl")],
);

/// Edge of the textbook's work-groups.
const TEXTBOOK_TILE: usize = 16;

/// The case that a kernel is specialised for.
///
/// The case says which way the neighbouring elements of either factor run, and whether they are
/// conjugated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Specialisation {
    transposed: [bool; 2],
    conjugate: [bool; 2],
    /// Sums are cut.
    cut: bool,
    region: OutputRegion,
}

impl Specialisation {
    /// Kernels that read the case from their arguments.
    const ANY: Self =
        Self { transposed: [false; 2], conjugate: [false; 2], cut: false, region: OutputRegion::All };
}

/// The kernels of one variant.
#[derive(Debug)]
enum Built {
    Textbook { global: Kernel, local: Kernel, scale: Kernel, add_parts: Kernel },
    Single(Kernel),
    Panels(PanelKernels),
}

/// The kernels for elements of one type that have been used on a device.
pub(super) struct Kernels {
    element: ElementType,
    built: Mutex<HashMap<(GemmTuning, Specialisation), Arc<Built>>>,
}

impl Kernels {
    pub fn of(device: &Device, element: ElementType) -> Result<Arc<Self>> {
        device.attached_as(element, |_| Ok(Self { element, built: Mutex::default() }))
    }

    fn get(&self, device: &Device, tuning: GemmTuning, specialisation: Specialisation) -> Result<Arc<Built>> {
        let known = || lock(&self.built);
        if let Some(built) = known().get(&(tuning, specialisation)) {
            return Ok(Arc::clone(built));
        }
        let built = Arc::new(match tuning {
            GemmTuning::Global | GemmTuning::Local => textbook(device, self.element)?,
            GemmTuning::Registers(variant) => registers(device, self.element, variant, specialisation)?,
            GemmTuning::Panels(variant) => Built::Panels(PanelKernels::new(device, self.element, variant)?),
            GemmTuning::Mma(variant) => mma(device, self.element, variant, specialisation)?,
        });
        Ok(Arc::clone(known().entry((tuning, specialisation)).or_insert(built)))
    }

    /// Starts the product with the kernels of `tuning`, which fit the element type.
    pub fn multiply(&self, device: &Device, tuning: GemmTuning, problem: Problem<'_>) -> Result<Completion> {
        let specialisation = match tuning {
            GemmTuning::Registers(_) | GemmTuning::Mma(_) => Specialisation {
                transposed: [problem.a.transposed, problem.b.transposed],
                // The other kernels look at the argument.
                conjugate: match tuning {
                    GemmTuning::Mma(_) => [problem.a.conjugate, problem.b.conjugate],
                    _ => [false; 2],
                },
                cut: problem.missing > 0,
                region: problem.region,
            },
            _ => Specialisation::ANY,
        };
        let kernels = self.get(device, tuning, specialisation)?;
        let (m, n, count) = (problem.m, problem.n, problem.count);
        let tiles = |tile: [usize; 3], local: usize| {
            let groups = problem.region.tiles([m, n], [tile[0], tile[1]]);
            Range::new([groups.saturating_mul(local), 1, count], [local, 1, 1])
        };
        match (&*kernels, tuning) {
            (Built::Textbook { global, local, .. }, _) => {
                let kernel = if tuning == GemmTuning::Global { global } else { local };
                let transposed = [problem.a.transposed, problem.b.transposed].map(u32::from);
                let mut arguments = problem.arguments();
                arguments.extend(transposed.map(Argument::value));
                Ok(Completion::of(vec![kernel.launch(plane(m, n, count), &arguments)?]))
            }
            (Built::Single(kernel), GemmTuning::Registers(variant)) => {
                let range = tiles(variant.tile, variant.work_items());
                Ok(Completion::of(vec![kernel.launch(range, &problem.arguments())?]))
            }
            (Built::Single(kernel), GemmTuning::Mma(variant)) => {
                let range = tiles(variant.tile, variant.work_items());
                Ok(Completion::of(vec![kernel.launch(range, &problem.arguments())?]))
            }
            (Built::Panels(kernels), GemmTuning::Panels(variant)) => {
                kernels.multiply(device, variant, MOST_PACKED, problem)
            }
            _ => unreachable!("kernels are kept under the variant that they were built for"),
        }
    }

    /// Starts C = β C.
    pub fn scale(&self, device: &Device, problem: Problem<'_>) -> Result<Completion> {
        let kernels = self.get(device, GemmTuning::Local, Specialisation::ANY)?;
        let Built::Textbook { scale, .. } = &*kernels else {
            unreachable!("kernels are kept under the variant that they were built for")
        };
        let range = plane(problem.m, problem.n, problem.count);
        let mut arguments: Vec<Argument<'_>> =
            [problem.m, problem.n].map(|n| Argument::value(n as u64)).to_vec();
        arguments.push(problem.beta.into());
        arguments.extend(problem.c_arguments());
        Ok(Completion::of(vec![scale.launch(range, &arguments)?]))
    }

    /// Starts C = α (sum of the parts) + β C.
    ///
    /// The array holds m, n and the number of parts.
    pub fn add_parts(
        &self,
        device: &Device,
        [m, n, parts]: [usize; 3],
        partials: Argument<'_>,
        [alpha, beta]: [AnyFactor; 2],
        c: Target<'_>,
    ) -> Result<Event> {
        let kernels = self.get(device, GemmTuning::Local, Specialisation::ANY)?;
        let Built::Textbook { add_parts, .. } = &*kernels else {
            unreachable!("kernels are kept under the variant that they were built for")
        };
        let mut arguments: Vec<Argument<'_>> = [m, n, parts].map(|n| Argument::value(n as u64)).to_vec();
        arguments.extend([partials, alpha.into(), beta.into()]);
        arguments.extend(c.arguments());
        // With few parts, there are many elements or there is little work.
        let slices = if parts > TEXTBOOK_TILE / 2 { TEXTBOOK_TILE } else { 1 };
        let elements = TEXTBOOK_TILE * TEXTBOOK_TILE / slices;
        let range = Range::new([(m * n).next_multiple_of(elements), slices], [elements, slices]);
        add_parts.launch(range, &arguments)
    }
}

/// Makes a range with a work-item for each element of C, in square groups.
fn plane(m: usize, n: usize, count: usize) -> Range {
    let [x, y] = [m, n].map(|extent| extent.div_ceil(TEXTBOOK_TILE) * TEXTBOOK_TILE);
    Range::new([x, y, count], [TEXTBOOK_TILE, TEXTBOOK_TILE, 1])
}

fn textbook(device: &Device, element: ElementType) -> Result<Built> {
    let key = KernelKey::of(TEXTBOOK, element).define("TILE", TEXTBOOK_TILE).define("CUT", 1);
    let program = device.program(&key)?;
    Ok(Built::Textbook {
        global: program.kernel("gemm_global")?,
        local: program.kernel("gemm_local")?,
        scale: program.kernel("scale")?,
        add_parts: program.kernel("add_parts")?,
    })
}

fn registers(
    device: &Device,
    element: ElementType,
    variant: Registers,
    specialisation: Specialisation,
) -> Result<Built> {
    let Registers { tile, item, vector, load, pad, band, slices, max_registers } = variant;
    let key = tiled(REGISTERS, element, tile, band, specialisation)
        .define("ITEM_M", item[0])
        .define("ITEM_N", item[1])
        .define("VECTOR", vector)
        .define("VECTOR_REALS", vector * element.reals())
        .define("LOAD", load)
        .define("LOAD_REALS", load * element.reals())
        .define("PAD", pad)
        .define("SLICES", slices);
    let key = limited(device, key, max_registers);
    Ok(Built::Single(device.program(&key)?.kernel("gemm_registers")?))
}

fn mma(device: &Device, element: ElementType, variant: Mma, specialisation: Specialisation) -> Result<Built> {
    let Mma { tile, warp, stages, instruction, band, spread, prefetch, max_registers } = variant;
    let key = tiled(MMA, element, tile, band, specialisation)
        .define("A_CONJUGATE", u8::from(specialisation.conjugate[0]))
        .define("B_CONJUGATE", u8::from(specialisation.conjugate[1]))
        .define("WARP_M", warp[0])
        .define("WARP_N", warp[1])
        .define("STAGES", stages)
        .define("MMA_K", instruction)
        .define("SPREAD", u8::from(spread))
        .define("PREFETCH", prefetch)
        .define("PAIR_REALS", 2 * element.reals());
    let key = limited(device, key, max_registers);
    Ok(Built::Single(device.program(&key)?.kernel("gemm_mma")?))
}

/// Adds a limit on registers to the key, if the compiler can be told.
fn limited(device: &Device, key: KernelKey, max_registers: Option<u32>) -> KernelKey {
    match max_registers {
        Some(count) if device.supports_register_limit() => key.max_registers(count),
        _ => key,
    }
}

/// Makes the part of the key that all kernels with tiles of C have.
fn tiled(
    family: KernelFamily,
    element: ElementType,
    tile: [usize; 3],
    band: usize,
    specialisation: Specialisation,
) -> KernelKey {
    KernelKey::of(family, element)
        .define("TILE_M", tile[0])
        .define("TILE_N", tile[1])
        .define("TILE_K", tile[2])
        .define("BAND", band)
        .define("A_TRANSPOSED", u8::from(specialisation.transposed[0]))
        .define("B_TRANSPOSED", u8::from(specialisation.transposed[1]))
        .define("CUT", u8::from(specialisation.cut))
        .define("TRIANGLE", specialisation.region.number())
        .define("HERMITIAN", u8::from(specialisation.region.is_hermitian()))
}
