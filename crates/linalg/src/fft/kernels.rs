//! The kernels of transforms on one device.

use super::callback::Callback;
use super::codelets;
use super::cut::Cut;
use super::fixed::Fixed;
use super::tile::Tile;
use lattice_compute::scalar::Real;
use lattice_compute::{Device, Kernel, KernelFamily, KernelKey, Result};
use std::marker::PhantomData;
use std::sync::Arc;

const FFT: KernelFamily = KernelFamily::new("fft", &[include_str!("../../cl/fft.cl")]);
const PLACES: &str = include_str!("../../cl/fft_places.cl");
const LINES: &str = include_str!("../../cl/fft_lines.cl");
const TILES: &str = include_str!("../../cl/fft_tiles.cl");

/// The kernel of lines, which reads and writes numbers as pointers to reals.
///
/// The caller's buffers are of reals or of complex numbers, as an argument says.
const LINES_KERNEL: &str = "fft_lines";

/// Adds the text of lines, behind that of a callback.
fn with_lines(key: KernelKey, callback: Option<&Callback>) -> KernelKey {
    let key = match callback {
        Some(callback) => key.part("callback", callback.text.clone()),
        None => key,
    };
    key.part("places", PLACES).part("lines", LINES)
}

/// Returns the kernel of lines in a program of its own.
pub(super) fn fixed<T: Real>(device: &Device, fixed: &Fixed, callback: Option<&Callback>) -> Result<Kernel> {
    let key = KernelKey::of_real::<T>(FFT)
        .lanes(fixed.lanes)
        .define("LOCAL_SIZE", fixed.local)
        .define("FIXED", 1)
        .part("constants", fixed.constants())
        .part("passes", codelets::passes_of(fixed.radices()))
        .part("sequence", fixed.sequence());
    device.program(&with_lines(key, callback))?.kernel(LINES_KERNEL)
}

/// Returns the kernel of a tile, by the dimensions of its geometry and the steps of rows and columns.
pub(super) fn tiles<T: Real>(
    device: &Device,
    tile: &Tile,
    dimensions: u64,
    steps: [[usize; 2]; 2],
) -> Result<Kernel> {
    let key = KernelKey::of_real::<T>(FFT)
        .define("LOCAL_SIZE", tile.items)
        .define("FIXED", 1)
        .define("FIXED_DIMENSIONS", format!("{dimensions}u"))
        .part("places", PLACES)
        .part("tiles", TILES)
        .part("butterflies", codelets::butterflies(&tile.radices()))
        .part("tile", tile.kernel(steps));
    device.program(&key)?.kernel("fft_tiles")
}

/// Returns the kernel of lines with a callback, for any length that has these radices alone.
pub(super) fn with_callback<T: Real>(
    device: &Device,
    cut: Cut,
    radices: &[usize],
    callback: &Callback,
) -> Result<Kernel> {
    let key = of_any_length::<T>(cut, codelets::passes_among(radices));
    device.program(&with_lines(key, Some(callback)))?.kernel(LINES_KERNEL)
}

/// Returns the key of programs with these passes, without the text of lines.
fn of_any_length<T: Real>(cut: Cut, passes: String) -> KernelKey {
    KernelKey::of_real::<T>(FFT).lanes(cut.lanes).define("LOCAL_SIZE", cut.local).part("passes", passes)
}

/// The kernels for numbers of type `T`, for lines of any length.
pub(super) struct Kernels<T> {
    pub cut: Cut,
    pub lines: Kernel,
    pub gather: Kernel,
    pub product: Kernel,
    pub scatter: Kernel,
    number: PhantomData<T>,
}

impl<T: Real> Kernels<T> {
    /// Returns the kernels, which are built on first use and kept by the device.
    pub fn of(device: &Device) -> Result<Arc<Self>> {
        device.attached(Self::new)
    }

    fn new(device: &Device) -> Result<Self> {
        let cut = Cut::of(device);
        let program = device.program(&with_lines(of_any_length::<T>(cut, codelets::passes()), None))?;
        Ok(Self {
            cut,
            lines: program.kernel(LINES_KERNEL)?,
            gather: program.kernel("fft_gather")?,
            product: program.kernel("fft_product")?,
            scatter: program.kernel("fft_scatter")?,
            number: PhantomData,
        })
    }
}
