//! The kernels of exchange-correlation, and how they are launched.

use crate::functional::Functional;
use crate::harmonics::{Kind, kernel_text};
use lattice_compute::scalar::{Precision, Real};
use lattice_compute::{Argument, Device, DeviceKind, Kernel, KernelFamily, KernelKey, Range, Result};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex};

const GROUPS: &str = include_str!("../../cl/xc_groups.cl");
const FUNCTIONS: KernelFamily = KernelFamily::new("xc_functions", &[GROUPS]);
const WIDE: &str = include_str!("../../cl/xc_wide.cl");
const DENSITY: KernelFamily =
    KernelFamily::new("xc_density", &[GROUPS, WIDE, include_str!("../../cl/xc_density.cl")]);
const MATRIX: KernelFamily =
    KernelFamily::new("xc_matrix", &[GROUPS, WIDE, include_str!("../../cl/xc_matrix.cl")]);
const FUNCTIONAL: KernelFamily =
    KernelFamily::new("xc_functional", &[GROUPS, include_str!("../../cl/xc_functional.cl")]);

/// Work-items of a group on GPUs.
const ITEMS: usize = 64;

/// The kernels for functions of type `T` and sums of type `W`; those with planes or a functional are made on first use.
pub(super) struct Kernels<T, W> {
    local: usize,
    units: usize,
    lanes: usize,
    pub gather: Kernel,
    pub scatter: Kernel,
    pub pull: Kernel,
    functions: Mutex<Vec<(OfFunctions, Kernel)>>,
    densities: Mutex<Vec<(usize, Arc<OfDensity>)>>,
    functionals: Mutex<Vec<(Functional, Arc<OfFunctional>)>>,
    numbers: PhantomData<(T, W)>,
}

/// What a kernel of functions is made for: the number of planes, and the kinds of shells.
type OfFunctions = (usize, Vec<Kind>);

/// The kernels between functions and densities.
pub(super) struct OfDensity {
    pub density: Kernel,
    pub weighted: Kernel,
}

/// The kernels of a functional.
pub(super) struct OfFunctional {
    pub potential: Kernel,
    pub sums: Kernel,
}

/// Returns what is kept under a key, made on first use.
fn kept<K: PartialEq, V: Clone>(
    list: &Mutex<Vec<(K, V)>>,
    key: K,
    make: impl FnOnce() -> Result<V>,
) -> Result<V> {
    let mut list = lattice_compute::sync::lock(list);
    if let Some((_, known)) = list.iter().find(|(known, _)| *known == key) {
        return Ok(known.clone());
    }
    let made = make()?;
    list.push((key, made.clone()));
    Ok(made)
}

impl<T: Real, W: Real> Kernels<T, W> {
    /// Returns the kernels of a device, built on first use.
    pub fn of(device: &Device) -> Result<Arc<Self>> {
        device.attached(Self::new)
    }

    fn new(device: &Device) -> Result<Self> {
        let info = device.info();
        let (local, lanes) = match (info.kind, T::PRECISION) {
            (DeviceKind::Cpu, Precision::Single) => (1, info.native_vector_width_float),
            (DeviceKind::Cpu, Precision::Double) => (1, info.native_vector_width_double),
            _ => (info.max_work_group_size.min(ITEMS), 1),
        };
        // Vectors of double have at most 16 numbers.
        let lanes = lanes.clamp(1, crate::tables::PADDING);
        let key = |family, lanes| {
            KernelKey::of_real::<T>(family).lanes(lanes).define("WIDE_BITS", W::PRECISION.bits())
        };
        let gathering = device.program(&key(DENSITY, lanes).define("PLANES", 1))?;
        let adding = device.program(&key(MATRIX, 1))?;
        Ok(Self {
            local,
            units: info.compute_units,
            lanes,
            gather: gathering.kernel("xc_gather")?,
            scatter: adding.kernel("xc_scatter")?,
            pull: adding.kernel("xc_pull")?,
            functions: Mutex::default(),
            densities: Mutex::default(),
            functionals: Mutex::default(),
            numbers: PhantomData,
        })
    }

    fn key(&self, family: KernelFamily) -> KernelKey {
        KernelKey::of_real::<T>(family).lanes(self.lanes)
    }

    /// Returns the kernel that makes so many planes of functions of these kinds.
    pub fn functions(&self, device: &Device, planes: usize, kinds: &[Kind]) -> Result<Kernel> {
        kept(&self.functions, (planes, kinds.to_vec()), || {
            let key = self
                .key(FUNCTIONS)
                .define("PLANES", planes)
                .part("harmonics", kernel_text(planes, kinds))
                .part("functions", include_str!("../../cl/xc_functions.cl"));
            device.program(&key)?.kernel("xc_functions")
        })
    }

    /// Returns the kernels of densities with so many planes: 1 or 4.
    pub fn of_density(&self, device: &Device, planes: usize) -> Result<Arc<OfDensity>> {
        kept(&self.densities, planes, || {
            let program = device.program(
                &self.key(DENSITY).define("WIDE_BITS", W::PRECISION.bits()).define("PLANES", planes),
            )?;
            Ok(Arc::new(OfDensity {
                density: program.kernel("xc_density")?,
                weighted: program.kernel("xc_weighted")?,
            }))
        })
    }

    /// Returns the kernels of a functional.
    pub fn of_functional(&self, device: &Device, functional: Functional) -> Result<Arc<OfFunctional>> {
        kept(&self.functionals, functional, || {
            let [exchange, correlation] = functional.components();
            // All of it is in double, one point after the other.
            let key = KernelKey::of_real::<f64>(FUNCTIONAL)
                .define("EXCHANGE", exchange.name())
                .define("CORRELATION", correlation.name())
                .define("LEAST_SPIN", format_args!("{:e}", correlation.least_spin()));
            let program = device.program(&key)?;
            Ok(Arc::new(OfFunctional {
                potential: program.kernel("xc_potential")?,
                sums: program.kernel("xc_sums")?,
            }))
        })
    }

    /// The range over the points of groups, of at most so many points each.
    pub fn over_points(&self, groups: usize, most_points: usize) -> Range {
        self.over(groups, most_points.div_ceil(self.lanes))
    }

    /// The range over something of groups, at most so much of it each.
    pub fn over(&self, groups: usize, most: usize) -> Range {
        // Few groups are cut finer, so that all units have work.
        let wanted = (4 * self.units).div_ceil(groups.max(1));
        let most = most.div_ceil(self.local).max(1);
        let across = if self.local > 1 { most } else { wanted.min(most) };
        Range::new([across * self.local, groups], [self.local, 1])
    }

    /// The range over all points or elements of a batch.
    pub fn flat(&self, count: usize) -> Range {
        let groups = count.div_ceil(self.local).min(if self.local > 1 { 64 } else { 8 } * self.units).max(1);
        Range::groups(groups, self.local)
    }
}

/// An argument that counts something.
pub(super) fn number(value: usize) -> Argument<'static> {
    Argument::value(value as u64)
}

/// As [`number`], in 32 bits.
pub(super) fn count(value: usize) -> Argument<'static> {
    Argument::value(value as u32)
}
