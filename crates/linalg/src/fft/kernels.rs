//! The kernels of transforms on one device.

use super::callback::Callback;
use super::codelets;
use super::cut::Cut;
use super::fixed::Fixed;
use super::tile::Tile;
use lattice_compute::scalar::Real;
use lattice_compute::{Device, Kernel, KernelFamily, KernelKey, Parameter, Program, Result};
use num_complex::Complex;
use std::marker::PhantomData;
use std::sync::Arc;

const FFT: KernelFamily = KernelFamily::new("fft", &[include_str!("../../cl/fft.cl")]);
const PLACES: &str = include_str!("../../cl/fft_places.cl");
const LINES: &str = include_str!("../../cl/fft_lines.cl");
const TILES: &str = include_str!("../../cl/fft_tiles.cl");

/// A kernel by the types that it reads and writes: reals, then complex numbers.
pub(super) type LineKernels = [[Kernel; 2]; 2];

/// The parameters that kernels share.
struct Parameters {
    /// What is read from callers, as reals and as complex numbers.
    from: [Parameter; 2],
    /// What is written for callers.
    to: [Parameter; 2],
    geometry: Parameter,
    lines: [Parameter; 2],
    sizes: Parameter,
    modes: Parameter,
    present: Parameter,
    scale: Parameter,
}

fn table<T: Real>(name: &'static str) -> Parameter {
    Parameter::input::<Complex<T>>(name)
}

impl Parameters {
    fn of<T: Real>() -> Self {
        let [long, words] = [Parameter::value::<u64>, Parameter::value::<[u32; 4]>];
        Self {
            from: [Parameter::input_view::<T>("from"), Parameter::input_view::<Complex<T>>("from")],
            to: [Parameter::output_view::<T>("to"), Parameter::output_view::<Complex<T>>("to")],
            geometry: Parameter::input::<u64>("geometry"),
            lines: [long("lines"), long("singles")],
            sizes: words("sizes"),
            modes: words("modes"),
            present: Parameter::value::<[u32; 2]>("present"),
            scale: Parameter::value::<T>("scale"),
        }
    }
}

/// Takes the kernels of lines from a program, with the parameters of a callback.
fn line_kernels<T: Real>(program: &Program, callback: Option<&Callback>) -> Result<LineKernels> {
    let Parameters { from, to, geometry, lines: [lines, singles], sizes, modes, present, scale } =
        Parameters::of::<T>();
    let long = Parameter::value::<u64>;
    let slots = Parameter::input::<u32>("slots");
    let kernel = |from: Parameter, to: Parameter| {
        let parameters = [
            vec![from, to],
            vec![geometry, table::<T>("roots"), table::<T>("chirp"), table::<T>("response")],
            vec![slots, table::<T>("turns")],
            vec![long("radices"), lines, singles, long("from_stride"), long("to_stride")],
            vec![Parameter::value::<u32>("columns"), sizes, modes, present, scale],
            vec![Parameter::local::<T>("work"), Parameter::local::<u64>("places")],
            callback.map_or_else(Vec::new, |callback| callback.parameters.clone()),
        ];
        program.kernel("fft_lines", &parameters.concat())
    };
    Ok([
        [kernel(from[0], to[0])?, kernel(from[0], to[1])?],
        [kernel(from[1], to[0])?, kernel(from[1], to[1])?],
    ])
}

/// Adds the text of lines, behind that of a callback.
fn with_lines(key: KernelKey, callback: Option<&Callback>) -> KernelKey {
    let key = match callback {
        Some(callback) => key.part("callback", callback.text.clone()),
        None => key,
    };
    key.part("places", PLACES).part("lines", LINES)
}

/// Returns the kernels of lines in a program of their own.
pub(super) fn fixed<T: Real>(
    device: &Device,
    fixed: &Fixed,
    callback: Option<&Callback>,
) -> Result<LineKernels> {
    let key = KernelKey::of_real::<T>(FFT)
        .lanes(fixed.lanes)
        .define("LOCAL_SIZE", fixed.local)
        .define("FIXED", 1)
        .part("constants", fixed.constants())
        .part("passes", codelets::passes_of(fixed.radices()))
        .part("sequence", fixed.sequence());
    let program = device.program(&with_lines(key, callback))?;
    line_kernels::<T>(&program, callback)
}

/// Returns the kernels of a tile, by the dimensions of its geometry and the steps of rows and columns.
pub(super) fn tiles<T: Real>(
    device: &Device,
    tile: &Tile,
    dimensions: u64,
    steps: [[usize; 2]; 2],
) -> Result<LineKernels> {
    let key = KernelKey::of_real::<T>(FFT)
        .define("LOCAL_SIZE", tile.items)
        .define("FIXED", 1)
        .define("FIXED_DIMENSIONS", format!("{dimensions}u"))
        .part("places", PLACES)
        .part("tiles", TILES)
        .part("butterflies", codelets::butterflies(&tile.radices()))
        .part("tile", tile.kernel(steps));
    let program = device.program(&key)?;
    let Parameters { from, to, geometry, scale, .. } = Parameters::of::<T>();
    let long = Parameter::value::<u64>;
    let kernel = |from: Parameter, to: Parameter| {
        let steps = ["from_row", "from_column", "to_row", "to_column"].map(long);
        let parameters = [
            vec![from, to, geometry, table::<T>("row_roots"), table::<T>("column_roots"), long("tiles")],
            steps.to_vec(),
            vec![Parameter::value::<[u32; 2]>("modes"), scale, Parameter::local::<T>("work")],
        ];
        program.kernel("fft_tiles", &parameters.concat())
    };
    Ok([
        [kernel(from[0], to[0])?, kernel(from[0], to[1])?],
        [kernel(from[1], to[0])?, kernel(from[1], to[1])?],
    ])
}

/// Returns the kernels of lines with a callback, for any length that has these radices alone.
pub(super) fn with_callback<T: Real>(
    device: &Device,
    cut: Cut,
    radices: &[usize],
    callback: &Callback,
) -> Result<LineKernels> {
    let key = of_any_length::<T>(cut, codelets::passes_among(radices));
    let program = device.program(&with_lines(key, Some(callback)))?;
    line_kernels::<T>(&program, Some(callback))
}

/// Returns the key of programs with these passes, without the text of lines.
fn of_any_length<T: Real>(cut: Cut, passes: String) -> KernelKey {
    KernelKey::of_real::<T>(FFT).lanes(cut.lanes).define("LOCAL_SIZE", cut.local).part("passes", passes)
}

/// The kernels for numbers of type `T`, for lines of any length.
///
/// Kernels that read or write the caller's buffers exist for reals, then for complex numbers.
pub(super) struct Kernels<T> {
    pub cut: Cut,
    pub lines: LineKernels,
    /// By the type that is read.
    pub gather: [Kernel; 2],
    pub product: Kernel,
    /// By the type that is written.
    pub scatter: [Kernel; 2],
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
        let Parameters { from, to, geometry, lines: [lines, singles], sizes, modes, present, scale } =
            Parameters::of::<T>();
        let long = Parameter::value::<u64>;
        let work = Parameter::output::<Complex<T>>("work");
        let gather = |from: Parameter| {
            let stride = long("from_stride");
            let rest = [work, geometry, table::<T>("chirp"), lines, singles, stride, sizes, modes, present];
            program.kernel("fft_gather", &[&[from][..], &rest].concat())
        };
        let scatter = |to: Parameter| {
            let rest = [geometry, table::<T>("chirp"), lines, singles, long("to_stride"), sizes, modes];
            let first = [table::<T>("work"), to];
            program.kernel("fft_scatter", &[&first[..], &rest, &[present, scale]].concat())
        };
        let product = [work, table::<T>("response"), lines, Parameter::value::<u32>("m")];
        Ok(Self {
            cut,
            lines: line_kernels::<T>(&program, None)?,
            gather: [gather(from[0])?, gather(from[1])?],
            product: program.kernel("fft_product", &product)?,
            scatter: [scatter(to[0])?, scatter(to[1])?],
            number: PhantomData,
        })
    }
}
