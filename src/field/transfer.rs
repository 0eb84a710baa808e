//! Conversion from the host's order of sites to a device's layout.
//!
//! Fields are also converted from one layout to another.

use crate::compute::parallel::*;
use crate::compute::{Argument, Buffer, Device, DeviceError, Kernel, KernelFamily, KernelKey, Range};
use crate::geometry::{Layout, NDIM, Shape, SitePosition};
use crate::scalar::{Half, Real, Storage};
use crate::sync::lock;
use num_complex::Complex;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

const CONVERT: KernelFamily =
    KernelFamily::new("convert", &[include_str!("../../cl/layout.cl"), include_str!("../../cl/convert.cl")]);

/// Numbers that are converted at a time.
///
/// A configuration is thus never held a second time as a whole.
const STAGING_NUMBERS: usize = 1 << 21;

/// Fills a device's part of a field with the sites of `parities`.
///
/// The parities come one after the other, from number `start` of the buffer on. `values(site of the
/// whole lattice, components)` gives the numbers.
pub fn upload<T: Storage>(
    buffer: &mut Buffer<T::Stored>,
    start: usize,
    layout: &Layout,
    shape: Shape,
    parities: &[usize],
    values: impl Fn(usize, &mut [Complex<T::Real>]) + Sync,
) -> Result<(), DeviceError> {
    let (blocks, lanes, components) = (layout.blocks(), layout.lanes(), shape.components());
    let (domain, chunk) = (layout.domain(), layout.chunk().unwrap_or(1));
    let piece = (STAGING_NUMBERS / (2 * components * lanes * chunk)).max(1) * chunk;
    let stretches = stretches(layout, shape);
    // All pieces share this memory: the first touch of fresh memory takes longer than filling it.
    let most = piece.min(blocks) * lanes;
    let widest = stretches.iter().map(|stretch| stretch.components).max().unwrap_or(0);
    let mut sites = vec![Complex::default(); most * components];
    let mut staged = vec![T::Stored::default(); 2 * most * widest];
    for (part, &parity) in parities.iter().enumerate() {
        let start = start + part * layout.half_field(shape);
        for first in (0..blocks).step_by(piece) {
            let count = piece.min(blocks - first);
            let sites = &mut sites[..count * lanes * components];
            sites.par_chunks_mut(components).enumerate().for_each(|(k, components)| {
                let place = SitePosition { parity, block: first + k / lanes, lane: k % lanes };
                values(domain.dims().site(domain.global(layout.coordinates(place))), components);
            });
            let units: Vec<T::Real> =
                sites.par_chunks(components).map(|site| unit::<T>(layout, shape, site)).collect();
            let stored = |k: usize, component: usize| {
                let z = sites[k * components + component];
                [z.re, z.im].map(|value| T::store(value, units[k]))
            };
            for stretch in &stretches {
                let staged = &mut staged[..2 * count * lanes * stretch.components];
                let sites_of_step = stretch.blocks * lanes;
                staged.par_chunks_mut(2 * sites_of_step * stretch.components).enumerate().for_each(
                    |(step, staged)| {
                        for &(site, component, [re, im]) in &stretch.numbers {
                            [staged[re], staged[im]] = stored(step * sites_of_step + site, component);
                        }
                    },
                );
                write(buffer, start + stretch.start(layout, shape, first), staged)?;
            }
            if layout.has_units(shape) {
                let offset = layout.unit_offset(shape, SitePosition { parity: 0, block: first, lane: 0 });
                write(buffer, start + offset, bytemuck::cast_slice(&units))?;
            }
        }
    }
    Ok(())
}

/// Sets one site of a field, in the domain at `place`.
pub fn upload_site<T: Storage>(
    buffer: &mut Buffer<T::Stored>,
    layout: &Layout,
    shape: Shape,
    place: SitePosition,
    components: &[Complex<T::Real>],
) -> Result<(), DeviceError> {
    let unit = unit::<T>(layout, shape, components);
    for (component, z) in components.iter().enumerate() {
        for (offset, value) in layout.offsets(shape, component, place).into_iter().zip([z.re, z.im]) {
            write(buffer, offset, &[T::store(value, unit)])?;
        }
    }
    if layout.has_units(shape) {
        write(buffer, layout.unit_offset(shape, place), bytemuck::cast_slice(&[unit]))?;
    }
    Ok(())
}

fn write<S: bytemuck::Pod>(buffer: &mut Buffer<S>, offset: usize, numbers: &[S]) -> Result<(), DeviceError> {
    buffer.slice_mut(offset..offset + numbers.len())?.write(numbers)
}

/// Components that are stored without a gap for all blocks of a parity.
struct Stretch {
    /// The first component of the stretch.
    component: usize,
    components: usize,
    /// Blocks with interleaved numbers: the blocks of a chunk, or one block.
    blocks: usize,
    /// Site, component, and offset of the parts of all numbers of these blocks.
    ///
    /// Offsets are counted from the first number. They are equal for all chunks, or blocks.
    numbers: Vec<(usize, usize, [usize; 2])>,
}

impl Stretch {
    fn new(layout: &Layout, shape: Shape, component: usize, components: usize, blocks: usize) -> Self {
        let lanes = layout.lanes();
        let mut stretch = Self { component, components, blocks, numbers: Vec::new() };
        let start = stretch.start(layout, shape, 0);
        let number = |k: usize| {
            let (site, component) = (k / components, component + k % components);
            let place = SitePosition { parity: 0, block: site / lanes, lane: site % lanes };
            (site, component, layout.offsets(shape, component, place).map(|offset| offset - start))
        };
        stretch.numbers = (0..blocks * lanes * components).map(number).collect();
        stretch
    }

    /// Returns the start of the numbers of the blocks from `block` on.
    ///
    /// The start is counted in stored numbers.
    fn start(&self, layout: &Layout, shape: Shape, block: usize) -> usize {
        layout.offsets(shape, self.component, SitePosition { parity: 0, block, lane: 0 })[0]
    }
}

/// Returns all chunks, the vectors of each kind, or with several lanes the groups.
fn stretches(layout: &Layout, shape: Shape) -> Vec<Stretch> {
    if let Some(blocks) = layout.chunk() {
        return vec![Stretch::new(layout, shape, 0, shape.components(), blocks)];
    }
    let widest = if layout.lanes() == 1 { layout.pack() } else { shape.group };
    let in_group = move |group: usize| {
        (0..shape.group).step_by(widest).map(move |c| {
            Stretch::new(layout, shape, group * shape.group + c, widest.min(shape.group - c), 1)
        })
    };
    (0..shape.groups).flat_map(in_group).collect()
}

/// Returns the unit in which the numbers of a site are stored.
///
/// The unit has no meaning if numbers are stored as they are.
fn unit<T: Storage>(layout: &Layout, shape: Shape, site: &[Complex<T::Real>]) -> T::Real {
    let unit = if layout.has_units(shape) {
        Half::unit(site.iter().flat_map(|z| [z.re, z.im]).map(|value| value.to_f64() as f32))
    } else {
        1.0 / Half::LARGEST
    };
    T::Real::from_f64(unit.into())
}

/// Converts a device's part of a field to another precision and its layout.
///
/// The part has `parities` parities. With `plus` the result is `plus` + the part. The sum is not in
/// half precision.
pub fn cast_into<T: Storage, R: Storage>(
    buffer: &Buffer<T::Stored>,
    plus: Option<&Buffer<R::Stored>>,
    target: &mut Buffer<R::Stored>,
    [from, to]: [&Layout; 2],
    shape: Shape,
    parities: usize,
) -> Result<(), DeviceError> {
    let key = conversion_key([from, to], shape, plus.is_some());
    let kernel = kernel(buffer.device(), key, "convert_field")?;
    let sites = parities * to.blocks() * to.lanes();
    let mut arguments = vec![buffer.into()];
    arguments.extend(plus.map(Argument::from));
    arguments.extend([
        target.into(),
        Argument::value(sub_extents(from)),
        Argument::value(sub_extents(to)),
        Argument::value(parities as u32),
    ]);
    kernel.start(Range::covering(sites, 64), &arguments)
}

/// Returns the key of the kernel that converts fields of one layout to another.
pub fn conversion_key([from, to]: [&Layout; 2], shape: Shape, add: bool) -> KernelKey {
    let key = KernelKey::of_real::<f64>(CONVERT)
        .define("GROUPS", shape.groups)
        .define("GROUP", shape.group)
        .define("ADD", u8::from(add));
    let key = FROM.define(key, from, shape);
    TO.define(key, to, shape)
}

/// The names of the macros that describe a layout to kernels.
///
/// The names are those of type, units, sub-lattices, most numbers in a vector, and sites in a
/// chunk.
pub struct LayoutMacros([&'static str; 8]);

/// Names for the layout of the field that is read.
pub const FROM: LayoutMacros = LayoutMacros([
    "FROM",
    "FROM_UNITS",
    "FROM_NX",
    "FROM_NY",
    "FROM_NZ",
    "FROM_NT",
    "FROM_PACK",
    "FROM_CHUNK",
]);

/// Names for the layout of the field that is written.
const TO: LayoutMacros =
    LayoutMacros(["TO", "TO_UNITS", "TO_NX", "TO_NY", "TO_NZ", "TO_NT", "TO_PACK", "TO_CHUNK"]);

impl LayoutMacros {
    /// Defines the macros.
    pub fn define(&self, key: KernelKey, layout: &Layout, shape: Shape) -> KernelKey {
        let [name, units, numbers @ ..] = self.0;
        let [nx, ny, nz, nt] = layout.cuts();
        let chunk = layout.chunk().unwrap_or(0);
        let key = key
            .define(name, layout.precision().opencl_name())
            .define(units, u8::from(layout.has_units(shape)));
        let values = [nx, ny, nz, nt, layout.pack(), chunk];
        numbers.into_iter().zip(values).fold(key, |key, (name, value)| key.define(name, value))
    }
}

/// Returns the extents of sub-lattices, as kernels take them.
pub fn sub_extents(layout: &Layout) -> [u32; NDIM] {
    layout.sub_extents().map(|extent| extent as u32)
}

/// The conversion kernels that a device has used. A solve converts again and again.
#[derive(Default)]
struct Kernels(Mutex<HashMap<(KernelKey, &'static str), Arc<Kernel>>>);

/// Returns a kernel of a device, made on first use.
pub fn kernel(device: &Device, key: KernelKey, name: &'static str) -> Result<Arc<Kernel>, DeviceError> {
    let made = device.attached(|_| Ok::<_, DeviceError>(Kernels::default()))?;
    let mut made = lock(&made.0);
    let of_name = (key, name);
    if let Some(kernel) = made.get(&of_name) {
        return Ok(kernel.clone());
    }
    let kernel = Arc::new(device.program(&of_name.0)?.kernel(name)?);
    made.insert(of_name, kernel.clone());
    Ok(kernel)
}
