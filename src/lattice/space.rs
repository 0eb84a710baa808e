//! The vector space of spinor fields: what a Krylov solver needs of them.

use super::spinors::{Field, Sites, SpinorStorage, Spinors};
use super::{Lattice, Layout, ParityField, SpinorField};
use crate::device::{
    Argument, Buffer, Device, DeviceError, DeviceKind, Kernel, KernelFamily, KernelKey, Parameter,
    REDUCTION_SOURCE, Range, Reduction,
};
use crate::host;
use crate::scalar::{Real, Storage};
use lattice_solvers::VectorSpace;
use num_complex::Complex64;
use std::marker::PhantomData;
use std::sync::Arc;

const SPINOR: KernelFamily = KernelFamily::new(
    "spinor",
    &[
        include_str!("../../cl/lanes.cl"),
        include_str!("../../cl/fields.cl"),
        REDUCTION_SOURCE,
        include_str!("../../cl/spinor.cl"),
    ],
);

/// The complex vector space of spinor fields on a lattice, or on its sites of one parity, with the inner product summed over these
/// sites.
///
/// Scalars are plain numbers: each reduction is read back when its kernel is done. Cheap to clone.
pub struct SpinorSpace<T: Storage, F = SpinorField<T>> {
    lattice: Lattice,
    sites: Sites,
    /// One set for each slab; none on the host.
    kernels: Arc<[SlabKernels]>,
    vectors: PhantomData<fn() -> (T, F)>,
}

/// The space of spinor fields on the sites of one parity.
pub type ParitySpace<T> = SpinorSpace<T, ParityField<T>>;

impl<T: Storage, F> Clone for SpinorSpace<T, F> {
    fn clone(&self) -> Self {
        Self {
            lattice: self.lattice.clone(),
            sites: self.sites,
            kernels: self.kernels.clone(),
            vectors: PhantomData,
        }
    }
}

struct SlabKernels {
    device: Device,
    range: Range,
    groups: usize,
    axpy: Kernel,
    xpby: Kernel,
    dot: Kernel,
    norm2: Kernel,
    advance: Kernel,
    redirect: Kernel,
}

impl<T: Storage, F> SpinorSpace<T, F> {
    /// The vectors of type `F` live on `sites`.
    pub(super) fn new(lattice: &Lattice, sites: Sites) -> Result<Self, DeviceError> {
        let dims = lattice.dims();
        let kernels = lattice
            .slabs()
            .iter()
            .map(|slab| SlabKernels::new::<T>(&slab.device, &slab.layout(dims, T::STORAGE)));
        Ok(Self {
            lattice: lattice.clone(),
            sites,
            kernels: kernels.collect::<Result<_, _>>()?,
            vectors: PhantomData,
        })
    }

    /// The lattice that the fields live on.
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// The first argument of every kernel.
    fn parities(&self) -> Argument<'static> {
        Argument::value(self.sites.parities().len() as u32)
    }

    /// Runs a kernel that makes sums on each slab, and adds the slabs' sums in their order.
    ///
    /// All slabs are started before the first is waited for.
    fn reduce<'a>(
        &self,
        mut launch: impl FnMut(usize, &SlabKernels, &mut Reduction) -> Result<(), DeviceError> + 'a,
    ) -> Result<Complex64, DeviceError> {
        let mut running = Vec::with_capacity(self.kernels.len());
        for (k, kernels) in self.kernels.iter().enumerate() {
            let mut reduction = kernels.device.reduction(kernels.groups)?;
            launch(k, kernels, &mut reduction)?;
            kernels.device.flush()?;
            running.push(reduction);
        }
        let mut sum = Complex64::default();
        for reduction in running {
            let [re, im, _] = reduction.read()?;
            sum += Complex64::new(re, im);
        }
        Ok(sum)
    }
}

impl SlabKernels {
    fn new<T: Storage>(device: &Device, layout: &Layout) -> Result<Self, DeviceError> {
        // A CPU's work-item runs alone on long vectors; a GPU needs many work-items on every compute unit.
        let units = device.info().compute_units.max(1);
        let (local, groups) =
            if device.info().kind == DeviceKind::Cpu { (1, 4 * units) } else { (256, 8 * units) };
        let key = field_key::<T>(SPINOR, layout)
            .define("LOCAL_SIZE", local)
            .define("STREAM_LINKS", 0)
            .define("STREAM_OUTPUT", 0);
        let program = device.program(&key)?;
        let kernel = |name: &str, scalar: Option<[&'static str; 2]>, fields: &[Parameter], reduces: bool| {
            let mut parameters = vec![Parameter::value::<u32>("parities")];
            parameters.extend(scalar.into_iter().flatten().map(Parameter::value::<T::Real>));
            parameters.extend(fields);
            if reduces {
                parameters.extend(Reduction::parameters());
            }
            program.kernel(name, &parameters)
        };
        let (input, output) = (Parameter::input::<T::Stored>, Parameter::output::<T::Stored>);
        let (a, b) = (Some(["a_re", "a_im"]), Some(["b_re", "b_im"]));
        Ok(Self {
            range: Range::groups(groups, local),
            groups,
            axpy: kernel("axpy", a, &[input("x"), output("y")], false)?,
            xpby: kernel("xpby", b, &[input("x"), output("y")], false)?,
            dot: kernel("inner_product", None, &[input("x"), input("y")], true)?,
            norm2: kernel("norm2", None, &[input("x")], true)?,
            advance: kernel("advance", a, &[input("p"), output("x"), input("q"), output("r")], true)?,
            redirect: kernel("redirect", b, &[input("r"), output("p"), input("s"), output("q")], true)?,
            device: device.clone(),
        })
    }
}

/// The key of kernels that work on fields of this layout.
pub(crate) fn field_key<T: Storage>(family: KernelFamily, layout: &Layout) -> KernelKey {
    KernelKey::of_real::<T::Real>(family)
        .lanes(layout.lanes())
        .define("STORED", T::STORAGE.opencl_name())
        .define("STORED_BITS", 8 * T::STORAGE.bytes())
        .define("PACK", layout.pack())
        .define("BLOCKS", layout.blocks())
}

/// The two arguments of a complex scalar.
fn scalar<T: Storage>(z: &Complex64) -> [Argument<'static>; 2] {
    [Argument::value(T::Real::from_f64(z.re)), Argument::value(T::Real::from_f64(z.im))]
}

/// The data of fields of this space; they panic on others, whose buffers have other sizes.
impl<T: Storage, F: Field<T>> SpinorSpace<T, F> {
    fn expect_own(&self, spinors: &Spinors<T>) {
        self.lattice.expect_same(spinors.lattice());
        assert_eq!((spinors.sites(), spinors.sources()), (self.sites, 1), "sites and number of fields");
    }

    fn on_devices<'a>(&self, field: &'a F) -> &'a [Buffer<T::Stored>] {
        self.expect_own(field.spinors());
        match &field.spinors().storage {
            SpinorStorage::Devices(buffers) => buffers,
            SpinorStorage::Host(_) => unreachable!("a field of this lattice is on its devices"),
        }
    }

    fn on_devices_mut<'a>(&self, field: &'a mut F) -> &'a mut [Buffer<T::Stored>] {
        self.expect_own(field.spinors());
        match &mut field.spinors_mut().storage {
            SpinorStorage::Devices(buffers) => buffers,
            SpinorStorage::Host(_) => unreachable!("a field of this lattice is on its devices"),
        }
    }

    fn on_host<'a>(&self, field: &'a F) -> &'a [host::Spinor<T::Real>] {
        self.expect_own(field.spinors());
        match &field.spinors().storage {
            SpinorStorage::Host(spinors) => spinors,
            SpinorStorage::Devices(_) => unreachable!("a field of this lattice is on the host"),
        }
    }

    fn on_host_mut<'a>(&self, field: &'a mut F) -> &'a mut [host::Spinor<T::Real>] {
        self.expect_own(field.spinors());
        match &mut field.spinors_mut().storage {
            SpinorStorage::Host(spinors) => spinors,
            SpinorStorage::Devices(_) => unreachable!("a field of this lattice is on the host"),
        }
    }
}

impl<T: Storage, F: Field<T>> VectorSpace for SpinorSpace<T, F> {
    type Vector = F;
    type Scalar = Complex64;
    type Error = DeviceError;

    fn dimension(&self) -> usize {
        host::Spinor::<T::Real>::COMPONENTS * self.sites.of(self.lattice.dims().volume())
    }

    fn component_bytes(&self) -> usize {
        2 * T::STORAGE.bytes()
    }

    fn zero_vector(&self) -> Result<F, DeviceError> {
        Ok(F::wrap(Spinors::zero(&self.lattice, self.sites, 1)?))
    }

    fn copy(&self, from: &F, to: &mut F) -> Result<(), DeviceError> {
        if self.lattice.team().is_host() {
            self.on_host_mut(to).copy_from_slice(self.on_host(from));
            return Ok(());
        }
        self.on_devices(from)
            .iter()
            .zip(self.on_devices_mut(to))
            .try_for_each(|(from, to)| to.copy_from(from))
    }

    fn axpy(&self, a: &Complex64, x: &F, y: &mut F) -> Result<(), DeviceError> {
        if self.lattice.team().is_host() {
            host::spinor_fields::axpy(*a, self.on_host(x), self.on_host_mut(y));
            return Ok(());
        }
        let (x, y) = (self.on_devices(x), self.on_devices_mut(y));
        let [re, im] = scalar::<T>(a);
        for (k, kernels) in self.kernels.iter().enumerate() {
            let parities = self.parities();
            kernels.axpy.launch(kernels.range, &[parities, re, im, (&x[k]).into(), (&mut y[k]).into()])?;
        }
        Ok(())
    }

    fn xpby(&self, x: &F, b: &Complex64, y: &mut F) -> Result<(), DeviceError> {
        if self.lattice.team().is_host() {
            host::spinor_fields::xpby(self.on_host(x), *b, self.on_host_mut(y));
            return Ok(());
        }
        let (x, y) = (self.on_devices(x), self.on_devices_mut(y));
        let [re, im] = scalar::<T>(b);
        for (k, kernels) in self.kernels.iter().enumerate() {
            let parities = self.parities();
            kernels.xpby.launch(kernels.range, &[parities, re, im, (&x[k]).into(), (&mut y[k]).into()])?;
        }
        Ok(())
    }

    fn dot(&self, x: &F, y: &F) -> Result<Complex64, DeviceError> {
        if self.lattice.team().is_host() {
            return Ok(host::spinor_fields::dot(self.on_host(x), self.on_host(y)));
        }
        let (x, y) = (self.on_devices(x), self.on_devices(y));
        self.reduce(|k, kernels, reduction| {
            let [s, t, u] = reduction.arguments();
            let arguments = [self.parities(), (&x[k]).into(), (&y[k]).into(), s, t, u];
            kernels.dot.launch(kernels.range, &arguments).map(drop)
        })
    }

    fn norm2(&self, x: &F) -> Result<Complex64, DeviceError> {
        if self.lattice.team().is_host() {
            return Ok(host::spinor_fields::norm2(self.on_host(x)).into());
        }
        let x = self.on_devices(x);
        let sum = self.reduce(|k, kernels, reduction| {
            let [s, t, u] = reduction.arguments();
            kernels.norm2.launch(kernels.range, &[self.parities(), (&x[k]).into(), s, t, u]).map(drop)
        })?;
        Ok(sum.re.into())
    }

    fn scalar(&self, value: Complex64) -> Complex64 {
        value
    }

    fn quotient(&self, numerator: &Complex64, denominator: &Complex64) -> Complex64 {
        numerator / denominator
    }

    fn conjugate(&self, a: &Complex64) -> Complex64 {
        a.conj()
    }

    fn negate(&self, a: &Complex64) -> Complex64 {
        -a
    }

    fn read<const N: usize>(&self, scalars: [&Complex64; N]) -> Result<[Complex64; N], DeviceError> {
        Ok(scalars.map(|scalar| *scalar))
    }

    fn advance(&self, a: &Complex64, p: &F, x: &mut F, q: &F, r: &mut F) -> Result<Complex64, DeviceError> {
        if self.lattice.team().is_host() {
            let norm2 = host::spinor_fields::advance(
                *a,
                self.on_host(p),
                self.on_host_mut(x),
                self.on_host(q),
                self.on_host_mut(r),
            );
            return Ok(norm2.into());
        }
        let (p, x, q, r) =
            (self.on_devices(p), self.on_devices_mut(x), self.on_devices(q), self.on_devices_mut(r));
        let [re, im] = scalar::<T>(a);
        let sum = self.reduce(|k, kernels, reduction| {
            let [s, t, u] = reduction.arguments();
            let parities = self.parities();
            let (p, x, q, r) = ((&p[k]).into(), (&mut x[k]).into(), (&q[k]).into(), (&mut r[k]).into());
            kernels.advance.launch(kernels.range, &[parities, re, im, p, x, q, r, s, t, u]).map(drop)
        })?;
        Ok(sum.re.into())
    }

    fn redirect(&self, b: &Complex64, r: &F, p: &mut F, s: &F, q: &mut F) -> Result<Complex64, DeviceError> {
        if self.lattice.team().is_host() {
            let norm2 = host::spinor_fields::redirect(
                *b,
                self.on_host(r),
                self.on_host_mut(p),
                self.on_host(s),
                self.on_host_mut(q),
            );
            return Ok(norm2.into());
        }
        let (r, p, image, q) =
            (self.on_devices(r), self.on_devices_mut(p), self.on_devices(s), self.on_devices_mut(q));
        let [re, im] = scalar::<T>(b);
        let sum = self.reduce(|k, kernels, reduction| {
            let [s, t, u] = reduction.arguments();
            let parities = self.parities();
            let (r, p, image, q) =
                ((&r[k]).into(), (&mut p[k]).into(), (&image[k]).into(), (&mut q[k]).into());
            kernels.redirect.launch(kernels.range, &[parities, re, im, r, p, image, q, s, t, u]).map(drop)
        })?;
        Ok(sum.re.into())
    }
}
