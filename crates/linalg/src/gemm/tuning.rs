//! The kernels of the product, and the ways in which each may be varied.

use lattice_compute::scalar::{Element, ElementType, Precision};
use lattice_compute::{Device, DeviceKind, MatrixOperation};
use lattice_files::text::tuple;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Accuracy of products in single precision.
///
/// Double precision is always exact to its rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arithmetic {
    /// Every product and sum rounded to the precision of the elements.
    #[default]
    Ieee,
    /// Single precision on the matrix units of NVIDIA GPUs.
    ///
    /// A factor is split into two numbers of TF32 (11 bits). A product is the sum of three products
    /// of these numbers. The fourth product, and the loss of the split, are at most 2⁻²⁰·|a b| for
    /// each product. The unit's sums in single precision are rounded towards zero, which adds up to
    /// (k/4 + 2)·2⁻²³·Σ|a b|. An infinite factor gives NaN.
    ThreeTf32,
}

/// A kernel of the product with all its variable sizes.
///
/// The sizes do not change the result, except for the order of sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "kernel", rename_all = "kebab-case")]
pub enum GemmTuning {
    /// The textbook: a work-item for each element of C, everything from global memory.
    Global,
    /// The textbook: 16×16 tiles through local memory.
    Local,
    /// Tiles in registers, for GPUs.
    Registers(Registers),
    /// Packed panels, for processors.
    Panels(Panels),
    /// The matrix units of NVIDIA GPUs.
    Mma(Mma),
}

/// Variants of `cl/gemm_registers.cl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Registers {
    /// Rows and columns of C for a work-group, and the terms between two barriers.
    pub tile: [usize; 3],
    /// Rows and columns of C for a work-item.
    pub item: [usize; 2],
    /// Elements in one access to local memory.
    pub vector: usize,
    /// Elements in one access to global memory.
    pub load: usize,
    /// Elements between lines in local memory.
    pub pad: usize,
    /// Rows of tiles that are worked off together.
    pub band: usize,
    /// Sets of work-items that have the whole tile each, and share the terms.
    #[serde(default = "one")]
    pub slices: usize,
    /// Most registers of a work-item, if the compiler can be told (NVIDIA).
    #[serde(default)]
    pub max_registers: Option<u32>,
}

fn one() -> usize {
    1
}

/// Variants of `cl/gemm_panels.cl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Panels {
    /// Rows and columns of C that are summed in registers.
    pub panel: [usize; 2],
    /// Rows and columns of C for a work-item, and the terms that stay in its caches.
    pub block: [usize; 3],
    /// Reals in a vector.
    pub lanes: usize,
}

/// Variants of `cl/gemm_mma.cl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mma {
    /// Rows and columns of C for a work-group, and the terms of a piece.
    pub tile: [usize; 3],
    /// Rows and columns of C for a warp.
    pub warp: [usize; 2],
    /// Pieces in local memory.
    pub stages: usize,
    /// Terms of one instruction: 4, 8 or 16; in TF32 4 or 8.
    pub instruction: usize,
    /// Rows of tiles that are worked off together.
    pub band: usize,
    /// `true` if the next step's operands are read between the products of this step.
    ///
    /// `false` if they are read before the products.
    #[serde(default)]
    pub spread: bool,
    /// Bytes that the second-level cache fetches around a copy.
    ///
    /// The bytes are 0 (the copied ones only), 128 or 256.
    #[serde(default)]
    pub prefetch: usize,
    /// Most registers of a work-item, if the compiler can be told (NVIDIA).
    #[serde(default)]
    pub max_registers: Option<u32>,
}

/// Largest size of a tile, block or band.
const MOST: usize = 1 << 12;

/// Most sums of C that a work-item keeps.
///
/// For more sums there are neither registers nor stack.
const MOST_SUMS: usize = 1 << 10;

/// Most local memory of a work-group on NVIDIA GPUs, in bytes.
///
/// The driver reports less.
pub(super) const LOCAL_BYTES_OF_NVIDIA: usize = 227 << 10;

/// Tells whether work-items bring equal shares of the lines of a piece.
///
/// Each brings `width` elements at a time. All of them together bring whole lines each time.
fn shared(work_items: usize, lines: usize, length: usize, width: usize) -> bool {
    length.is_multiple_of(width)
        && work_items.is_multiple_of(length / width)
        && lines.is_multiple_of(work_items / (length / width))
}

impl Registers {
    pub(super) const fn new(tile: [usize; 3], item: [usize; 2], vector: usize, load: usize) -> Self {
        Self { tile, item, vector, load, pad: vector, band: 8, slices: 1, max_registers: None }
    }

    pub(super) const fn sliced(self, slices: usize) -> Self {
        Self { slices, ..self }
    }

    const fn limited(self, registers: u32) -> Self {
        Self { max_registers: Some(registers), ..self }
    }

    /// Returns the number of work-items of a group.
    pub fn work_items(&self) -> usize {
        (self.tile[0] / self.item[0]) * (self.tile[1] / self.item[1]) * self.slices
    }

    /// Returns the bytes of local memory: two pieces of each factor.
    fn local_bytes(&self, element: ElementType) -> usize {
        let [rows, columns, terms] = self.tile;
        2 * terms * (rows + columns + 2 * self.pad) * element.bytes()
    }

    fn complaint(&self, element: ElementType) -> Option<String> {
        let ([tm, tn, tk], [im, jn]) = (self.tile, self.item);
        if [tm, tn, tk, im, jn, self.band, self.slices, self.pad].into_iter().any(|size| size > MOST) {
            return Some(format!("a size is above {MOST}"));
        }
        if im * jn * element.reals() > MOST_SUMS {
            return Some(format!("a work-item sums more than {MOST_SUMS} numbers"));
        }
        let width = |n: usize| n.is_power_of_two() && n * element.reals() <= 4;
        if [tm, tn, tk, im, jn, self.band, self.slices].contains(&0) {
            return Some("a size is 0".to_owned());
        }
        if !tk.is_multiple_of(self.slices) {
            return Some("slices must have equally many terms of a piece".to_owned());
        }
        if self.slices > 1 && 2 * tk * (tm.max(tn) + self.pad) < tm * tn {
            return Some("the sums of a slice must have room in place of two pieces of a factor".to_owned());
        }
        if !width(self.vector) || !width(self.load) {
            return Some(format!("accesses of at most {} elements, a power of two", 4 / element.reals()));
        }
        if tm % im != 0 || tn % jn != 0 {
            return Some("a tile must consist of whole work-items".to_owned());
        }
        if im % self.vector != 0 || jn % self.vector != 0 {
            return Some("a work-item must have whole vectors".to_owned());
        }
        if [tm, tn].iter().any(|lines| !(lines + self.pad).is_multiple_of(self.vector)) {
            return Some("lines in local memory must consist of whole vectors".to_owned());
        }
        let pieces = [(tm, tk), (tk, tm), (tn, tk), (tk, tn)];
        if pieces.into_iter().any(|(lines, length)| !shared(self.work_items(), lines, length, self.load)) {
            return Some("each work-item must load an equal share of the lines of a piece".to_owned());
        }
        None
    }
}

impl Panels {
    fn complaint(&self) -> Option<String> {
        let ([pm, pn], [bm, bn, bk]) = (self.panel, self.block);
        if [pm, pn, bm, bn, bk].contains(&0) {
            return Some("a size is 0".to_owned());
        }
        if [pm, pn, bm, bn, bk].into_iter().any(|size| size > MOST) {
            return Some(format!("a size is above {MOST}"));
        }
        if pm * pn > MOST_SUMS {
            return Some(format!("a panel sums more than {MOST_SUMS} numbers"));
        }
        if ![2, 4, 8, 16].contains(&self.lanes) || pm % self.lanes != 0 {
            return Some("a panel must consist of whole vectors of 2, 4, 8 or 16".to_owned());
        }
        (bm % pm != 0 || bn % pn != 0).then(|| "a block must consist of whole panels".to_owned())
    }
}

impl Mma {
    pub(super) const fn new(
        tile: [usize; 3],
        warp: [usize; 2],
        stages: usize,
        instruction: usize,
        band: usize,
    ) -> Self {
        Self { tile, warp, stages, instruction, band, spread: false, prefetch: 0, max_registers: None }
    }

    const fn limited(self, registers: u32) -> Self {
        Self { max_registers: Some(registers), ..self }
    }

    /// Returns the number of work-items of a group.
    pub fn work_items(&self) -> usize {
        32 * (self.tile[0] / self.warp[0]) * (self.tile[1] / self.warp[1])
    }

    /// Returns the bytes of local memory: the pieces of both factors.
    fn local_bytes(&self, element: ElementType) -> usize {
        let [rows, columns, terms] = self.tile;
        self.stages * terms * (rows + columns) * element.bytes()
    }

    fn complaint(&self, element: ElementType) -> Option<String> {
        let ([tm, tn, tk], [wm, wn]) = (self.tile, self.warp);
        if [tm, tn, tk, wm, wn, self.stages, self.band].into_iter().any(|size| size > MOST) {
            return Some(format!("a size is above {MOST}"));
        }
        let instructions: &[usize] = if element.precision.bytes() == 8 { &[4, 8, 16] } else { &[4, 8] };
        if !instructions.contains(&self.instruction) {
            return Some(format!("the instruction has one of {} terms", tuple(instructions)));
        }
        if [tm, tn, tk, wm, wn, self.band].contains(&0) || self.stages < 2 {
            return Some("a size is 0, or there are fewer than two stages".to_owned());
        }
        if wm % 16 != 0
            || wn % 8 != 0
            || tm % wm != 0
            || tn % wn != 0
            || tk % 8 != 0
            || tk % self.instruction != 0
        {
            return Some("a tile must consist of whole warps, a warp of whole instructions".to_owned());
        }
        if tk < 2 * self.instruction {
            return Some("a piece must have the terms of two instructions".to_owned());
        }
        if ![0, 128, 256].contains(&self.prefetch) {
            return Some(format!("a prefetch of 0, 128 or 256 bytes, not {}", self.prefetch));
        }
        let copy = 16 / element.bytes();
        if copy > 1 && wn % 16 != 0 {
            return Some("a warp must have pairs of instructions along a row".to_owned());
        }
        let pieces = [(tm, tk), (tk, tm), (tn, tk), (tk, tn)];
        let unequal = |(lines, length)| !shared(self.work_items(), lines, length, copy);
        pieces
            .into_iter()
            .any(unequal)
            .then(|| "each work-item must copy an equal share of the lines of a piece".to_owned())
    }
}

/// `true` if the device has matrix units for products of this accuracy.
fn multiplies_on_matrix_units(device: &Device, element: ElementType, arithmetic: Arithmetic) -> bool {
    let accurate_enough = element.precision == Precision::Double || arithmetic == Arithmetic::ThreeTf32;
    accurate_enough && device.supports_matrix_units(MatrixOperation::of_products(element.precision))
}

impl GemmTuning {
    /// Returns the variant that is used for large matrices unless another is asked for.
    ///
    /// * On processors: panels that fill the vector registers of AVX-512.
    /// * On NVIDIA GPUs with matrix units: the units for double precision, and for single precision
    ///   if [`Arithmetic::ThreeTf32`] is asked for.
    /// * On GPUs otherwise: tiles in registers.
    pub fn shipped<T: Element>(device: &Device, arithmetic: Arithmetic) -> Self {
        Self::shipped_for(device, ElementType::of::<T>(), arithmetic)
    }

    pub(super) fn shipped_for(device: &Device, element: ElementType, arithmetic: Arithmetic) -> Self {
        if device.info().kind == DeviceKind::Cpu {
            return GemmTuning::Panels(Panels::shipped(element));
        }
        if multiplies_on_matrix_units(device, element, arithmetic) {
            return GemmTuning::Mma(Mma::shipped(element));
        }
        GemmTuning::Registers(Registers::shipped(element))
    }

    /// Returns this variant, or a similar one within so much local memory.
    ///
    /// The similar variant has pieces of fewer terms, or is the textbook.
    pub(super) fn within(self, element: ElementType, local_bytes: usize) -> Self {
        let GemmTuning::Registers(mut registers) = self else { return self };
        while registers.local_bytes(element) > local_bytes {
            registers.tile[2] /= 2;
            if registers.complaint(element).is_some() {
                return GemmTuning::Local;
            }
        }
        GemmTuning::Registers(registers)
    }

    /// Returns the variants that a search tries for this element type.
    ///
    /// The shipped variants are included. Variants with NVIDIA's assembly are included only if the
    /// device allows it.
    pub fn variants<T: Element>(device: &Device, arithmetic: Arithmetic) -> Vec<Self> {
        Self::variants_for(device, ElementType::of::<T>(), arithmetic)
    }

    pub(super) fn variants_for(device: &Device, element: ElementType, arithmetic: Arithmetic) -> Vec<Self> {
        if device.info().kind == DeviceKind::Cpu {
            return Panels::variants(element).into_iter().map(GemmTuning::Panels).collect();
        }
        let mut all: Vec<Self> = Vec::new();
        if arithmetic == Arithmetic::Ieee {
            all.extend(Registers::variants(element).into_iter().map(GemmTuning::Registers));
        }
        if multiplies_on_matrix_units(device, element, arithmetic) {
            all.extend(Mma::variants(element).into_iter().map(GemmTuning::Mma));
        }
        all
    }

    /// Returns the same kernel with other orders of its tiles.
    pub(super) fn bands(&self) -> Vec<Self> {
        let bands = [2, 4, 8, 16, 32].into_iter();
        match *self {
            GemmTuning::Registers(registers) => {
                bands.map(|band| GemmTuning::Registers(Registers { band, ..registers })).collect()
            }
            GemmTuning::Mma(mma) => bands.map(|band| GemmTuning::Mma(Mma { band, ..mma })).collect(),
            GemmTuning::Global | GemmTuning::Local | GemmTuning::Panels(_) => Vec::new(),
        }
    }

    /// Returns the rows and columns of C for a work-group, or for a single work-item.
    ///
    /// The single work-item is one that works alone.
    pub fn tile(&self) -> [usize; 2] {
        match self {
            GemmTuning::Global => [1, 1],
            GemmTuning::Local => [16, 16],
            GemmTuning::Registers(Registers { tile: [rows, columns, _], .. })
            | GemmTuning::Panels(Panels { block: [rows, columns, _], .. })
            | GemmTuning::Mma(Mma { tile: [rows, columns, _], .. }) => [*rows, *columns],
        }
    }

    /// Returns the terms of a sum between two barriers, or that are packed at a time.
    pub(super) fn depth(&self) -> usize {
        match self {
            GemmTuning::Global | GemmTuning::Local | GemmTuning::Panels(_) => 16,
            GemmTuning::Registers(Registers { tile, .. }) | GemmTuning::Mma(Mma { tile, .. }) => tile[2],
        }
    }

    /// Returns the number of work-items of a group.
    pub(super) fn work_items(&self) -> usize {
        match self {
            GemmTuning::Global | GemmTuning::Local => 256,
            GemmTuning::Registers(registers) => registers.work_items(),
            GemmTuning::Panels(_) => 1,
            GemmTuning::Mma(mma) => mma.work_items(),
        }
    }

    /// Returns the reason why this variant is impossible, if it is.
    pub(crate) fn complaint(&self, element: ElementType) -> Option<String> {
        match self {
            GemmTuning::Global | GemmTuning::Local => None,
            GemmTuning::Registers(registers) => registers.complaint(element),
            GemmTuning::Panels(panels) => panels.complaint(),
            GemmTuning::Mma(mma) => mma.complaint(element),
        }
    }

    /// Returns the reason why this device cannot run a valid variant, if it cannot.
    pub(super) fn too_large(&self, element: ElementType, device: &Device) -> Option<String> {
        let most_items = device.info().max_work_group_size;
        if self.work_items() > most_items {
            return Some(format!("a work-group has {} work-items, at most {most_items}", self.work_items()));
        }
        let (local_bytes, max_registers) = match self {
            GemmTuning::Registers(variant) => (variant.local_bytes(element), variant.max_registers),
            GemmTuning::Mma(variant) => (variant.local_bytes(element), variant.max_registers),
            GemmTuning::Global | GemmTuning::Local | GemmTuning::Panels(_) => (0, None),
        };
        let most_bytes = match device.supports_inline_ptx() {
            true => LOCAL_BYTES_OF_NVIDIA,
            false => device.info().local_memory_bytes as usize,
        };
        if local_bytes > most_bytes {
            return Some(format!(
                "a work-group takes {local_bytes} bytes of local memory, at most {most_bytes}"
            ));
        }
        let refused = max_registers.filter(|count| !(16..=255).contains(count));
        refused.map(|count| format!("max_registers is from 16 to 255, not {count}"))
    }

    /// Returns the reason why this device would compute wrongly, if it is known to.
    ///
    /// With PoCL 5.0 (LLVM 16), one of a work-item's sums is lost when slices are added, in every
    /// work-item. PoCL 3.1 and 6.0 compile the same kernel correctly.
    pub(super) fn miscompiled(&self, device: &Device) -> Option<String> {
        match self {
            GemmTuning::Registers(Registers { slices: 2.., .. })
                if device.info().pocl_version() == Some(5) =>
            {
                Some("PoCL 5 adds up slices wrongly; use another version, or the kernel of panels".to_owned())
            }
            _ => None,
        }
    }

    /// Returns the arithmetic of this kernel for elements of type `T`.
    pub fn arithmetic<T: Element>(&self) -> Arithmetic {
        self.arithmetic_for(ElementType::of::<T>())
    }

    pub(super) fn arithmetic_for(&self, element: ElementType) -> Arithmetic {
        match self {
            GemmTuning::Mma(_) if element.precision == Precision::Single => Arithmetic::ThreeTf32,
            _ => Arithmetic::Ieee,
        }
    }
}

impl Registers {
    fn shipped(element: ElementType) -> Self {
        Self::variants(element)[0]
    }

    /// Returns the variants that are tried.
    ///
    /// The first of each list was the fastest on an NVIDIA H200 at n = 8192, the others follow.
    /// Source: bench/runs/2026-11-21-h200/gemm.json.
    fn variants(element: ElementType) -> Vec<Self> {
        match (element.precision, element.complex) {
            (Precision::Single, false) => vec![
                Self::new([128, 64, 16], [8, 8], 4, 4).limited(168),
                Self::new([128, 128, 16], [16, 8], 4, 4),
                Self::new([128, 256, 8], [8, 16], 4, 4),
                Self::new([256, 128, 8], [16, 8], 4, 4),
                Self::new([64, 128, 8], [8, 8], 4, 4).limited(168),
                Self::new([128, 128, 16], [8, 8], 4, 4),
            ],
            (Precision::Double, false) => vec![
                Self::new([128, 64, 8], [8, 8], 2, 2),
                Self::new([128, 128, 8], [8, 8], 2, 2),
                Self::new([64, 128, 8], [8, 8], 2, 2),
                Self::new([64, 64, 16], [8, 4], 2, 2).limited(128),
            ],
            (Precision::Single, true) => vec![
                Self::new([128, 128, 16], [8, 8], 2, 2),
                Self::new([128, 128, 8], [8, 8], 2, 2),
                Self::new([128, 64, 16], [8, 4], 2, 2).limited(128),
                Self::new([64, 128, 8], [8, 8], 2, 2),
                Self::new([64, 64, 16], [8, 4], 2, 2).limited(128),
            ],
            (Precision::Double, true) => vec![
                Self::new([64, 64, 16], [4, 4], 1, 1).limited(128),
                Self::new([64, 32, 8], [4, 4], 1, 1).limited(128),
                Self::new([64, 64, 8], [4, 4], 1, 1).limited(128),
            ],
        }
    }
}

impl Panels {
    fn shipped(element: ElementType) -> Self {
        Self::variants(element)[0]
    }

    /// Returns variants with sums for 24 to 28 of the 32 vector registers of AVX-512.
    fn variants(element: ElementType) -> Vec<Self> {
        let lanes = 64 / element.precision.bytes();
        if element.complex {
            vec![
                Self { panel: [2 * lanes, 6], block: [8 * lanes, 192, 256], lanes },
                Self { panel: [lanes, 12], block: [16 * lanes, 192, 256], lanes },
                Self { panel: [lanes, 8], block: [16 * lanes, 192, 256], lanes },
            ]
        } else {
            vec![
                Self { panel: [3 * lanes, 8], block: [12 * lanes, 256, 256], lanes },
                Self { panel: [2 * lanes, 12], block: [16 * lanes, 192, 256], lanes },
                Self { panel: [2 * lanes, 14], block: [16 * lanes, 224, 256], lanes },
                Self { panel: [3 * lanes, 8], block: [24 * lanes, 256, 256], lanes },
            ]
        }
    }
}

impl Mma {
    fn shipped(element: ElementType) -> Self {
        Self::variants(element)[0]
    }

    /// Returns the variants that are tried.
    ///
    /// The first of each list was the fastest on an NVIDIA H200 at n = 8192, the others follow.
    /// Source: bench/runs/2026-11-21-h200/gemm.json.
    fn variants(element: ElementType) -> Vec<Self> {
        match (element.precision, element.complex) {
            (Precision::Double, false) => vec![
                Self::new([128, 128, 16], [64, 32], 3, 8, 16),
                Self::new([128, 64, 16], [64, 32], 4, 8, 8),
                Self::new([128, 128, 16], [64, 32], 4, 4, 8),
                Self::new([128, 128, 32], [32, 64], 3, 8, 8),
                Self::new([128, 128, 16], [32, 64], 4, 4, 8),
                Self::new([128, 128, 16], [32, 64], 4, 8, 8),
                Self::new([128, 128, 8], [64, 32], 6, 4, 8),
            ],
            (Precision::Double, true) => vec![
                Self::new([64, 64, 8], [32, 32], 4, 4, 8),
                Self::new([64, 64, 8], [32, 32], 4, 4, 16),
                Self::new([64, 64, 16], [32, 32], 3, 4, 8),
                Self::new([64, 64, 8], [16, 32], 4, 4, 8).limited(168),
                Self::new([128, 64, 8], [32, 32], 4, 4, 8),
            ],
            (Precision::Single, false) => vec![
                Self::new([128, 128, 32], [64, 64], 3, 8, 8),
                Self::new([128, 128, 16], [64, 64], 4, 8, 8),
                Self::new([256, 128, 16], [64, 64], 4, 8, 8),
                Self::new([128, 256, 16], [64, 64], 4, 8, 8),
                Self::new([128, 128, 32], [64, 32], 3, 8, 8).limited(128),
            ],
            (Precision::Single, true) => vec![
                Self::new([128, 64, 16], [32, 32], 3, 8, 8),
                Self::new([64, 64, 16], [32, 32], 4, 8, 8),
                Self::new([128, 128, 16], [64, 32], 3, 4, 8),
            ],
        }
    }
}

impl fmt::Display for GemmTuning {
    /// Formats for example as `registers 128x128x16, item 8x8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GemmTuning::Global => f.write_str("global memory"),
            GemmTuning::Local => f.write_str("local tiles 16x16"),
            GemmTuning::Registers(r) => {
                let ([tm, tn, tk], [im, jn]) = (r.tile, r.item);
                write!(f, "registers {tm}x{tn}x{tk}, item {im}x{jn}, band {}", r.band)?;
                if r.slices > 1 {
                    write!(f, ", slices {}", r.slices)?;
                }
                limit(f, r.max_registers)
            }
            GemmTuning::Panels(p) => {
                let ([pm, pn], [bm, bn, bk]) = (p.panel, p.block);
                write!(f, "panels {pm}x{pn}, block {bm}x{bn}x{bk}")
            }
            GemmTuning::Mma(w) => {
                let ([tm, tn, tk], [wm, wn]) = (w.tile, w.warp);
                write!(
                    f,
                    "mma k{} {tm}x{tn}x{tk}, warp {wm}x{wn}, stages {}, band {}",
                    w.instruction, w.stages, w.band
                )?;
                if w.spread {
                    f.write_str(", spread")?;
                }
                if w.prefetch != 0 {
                    write!(f, ", prefetch {}", w.prefetch)?;
                }
                limit(f, w.max_registers)
            }
        }
    }
}

fn limit(f: &mut fmt::Formatter<'_>, max_registers: Option<u32>) -> fmt::Result {
    max_registers.map_or(Ok(()), |count| write!(f, ", registers<={count}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    #[test]
    fn every_variant_can_do_with_little_local_memory() {
        fn all<T: Element>() {
            let element = ElementType::of::<T>();
            let sizes = [3, 8, 16, 17, 32, 33, 100, 4096];
            let products = sizes.map(|m| sizes.map(|n| sizes.map(|k| [m, n, k])));
            let products = products.as_flattened().as_flattened();
            let shipped = GemmTuning::Registers(Registers::shipped(element));
            for local_bytes in [16 << 10, 32 << 10, 48 << 10] {
                for &product in products {
                    let wanted = shipped.for_size(element, product, 1, 100);
                    let found = wanted.within(element, local_bytes);
                    assert_eq!(found.complaint(element), None, "{found} for {product:?}");
                    match (wanted, found) {
                        (GemmTuning::Registers(wanted), GemmTuning::Registers(found)) => {
                            assert!(found.local_bytes(element) <= local_bytes, "{found:?} for {product:?}");
                            assert_eq!((wanted.tile[0], wanted.tile[1]), (found.tile[0], found.tile[1]));
                        }
                        (_, found) => assert_eq!(found, GemmTuning::Local),
                    }
                }
            }
            assert_eq!(shipped.within(element, 1 << 20), shipped);
        }
        all::<f32>();
        all::<f64>();
        all::<Complex<f32>>();
        all::<Complex<f64>>();
    }
}
