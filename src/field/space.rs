//! The vector space of spinor fields: what a Krylov solver needs of them.

use super::columns::{BlockKernels, PendingGram};
use super::spinors::{Field, Sites, Spinors};
use super::{ParityField, SpinorField};
use crate::device::{
    Argument, ArgumentList, Buffer, Device, DeviceError, DeviceKind, Kernel, KernelFamily, KernelKey,
    NUMBER_SOURCE, Number, NumberMemory, Parameter, REDUCTION_SOURCE, Range, Reduction,
};
use crate::geometry::{Lattice, LatticeError, Layout};
use crate::host;
use crate::scalar::{Real, Storage};
use lattice_solvers::{Advance, BlockSpace, SquareMatrix, VectorSpace};
use num_complex::Complex64;
use num_traits::Float;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

const SPINOR: KernelFamily = KernelFamily::new(
    "spinor",
    &[
        include_str!("../../cl/lanes.cl"),
        include_str!("../../cl/fields.cl"),
        REDUCTION_SOURCE,
        NUMBER_SOURCE,
        include_str!("../../cl/spinor.cl"),
    ],
);

/// The complex vector space of spinor fields on a lattice, or on its sites of one parity, with the inner product summed over these
/// sites. Its vectors may be blocks of several fields, whose inner products are summed over all of them; see [`BlockSpace`](lattice_solvers::BlockSpace).
///
/// Sums over a single device stay there as [`Number`]s, which the next kernels take from its memory; those over several are read back and added.
/// Cheap to clone.
pub struct SpinorSpace<T: Storage, F = SpinorField<T>> {
    lattice: Lattice,
    sites: Sites,
    /// Fields in a vector.
    sources: usize,
    kernels: Arc<Kernels>,
    vectors: PhantomData<fn() -> (T, F)>,
}

/// The space of spinor fields on the sites of one parity.
pub type ParitySpace<T> = SpinorSpace<T, ParityField<T>>;

impl<T: Storage, F> Clone for SpinorSpace<T, F> {
    fn clone(&self) -> Self {
        Self {
            lattice: self.lattice.clone(),
            sites: self.sites,
            sources: self.sources,
            kernels: self.kernels.clone(),
            vectors: PhantomData,
        }
    }
}

/// One set for each slab; none on the host.
struct Kernels {
    slabs: Box<[SlabKernels]>,
    /// Those for what is between the fields of a vector; made when they are wanted first.
    blocks: OnceLock<Box<[BlockKernels]>>,
}

struct SlabKernels {
    device: Device,
    /// In each parity.
    blocks: u32,
    range: Range,
    numbers: NumberMemory,
    axpy: Kernel,
    xpby: Kernel,
    dot: Kernel,
    norm2: Kernel,
    advance: Kernel,
    redirect: Kernel,
    follow_and_redirect: Kernel,
    subtract: Kernel,
    follow: Kernel,
    stabilise: Kernel,
    turn: Kernel,
}

/// Bytes that a GPU moves while the host reads a number from it and hands it work again: about 20 µs at 4 TB/s on an H200.
const BYTES_DURING_A_READ: u64 = 80 << 20;

/// The same for each core of a processor: with PoCL its threads go to sleep and are woken up again, which takes about 40 µs.
const BYTES_OF_CORE_DURING_A_READ: u64 = 512 << 10;

/// Blocks of a work-group on a processor at least: fewer are done before a thread has been woken up for them.
const FEWEST_BLOCKS_OF_GROUP: usize = 16;

impl<T: Storage, F> SpinorSpace<T, F> {
    /// The vectors of type `F` are this many fields on `sites`.
    pub(super) fn new(lattice: &Lattice, sites: Sites, sources: usize) -> Result<Self, DeviceError> {
        assert!(sources > 0, "a vector needs a field");
        let (dims, parities) = (lattice.dims(), sources * sites.parities().len());
        let kernels = lattice
            .slabs()
            .iter()
            .map(|slab| SlabKernels::new::<T>(&slab.device, &slab.layout(dims, T::STORAGE), parities));
        Ok(Self {
            lattice: lattice.clone(),
            sites,
            sources,
            kernels: Arc::new(Kernels { slabs: kernels.collect::<Result<_, _>>()?, blocks: OnceLock::new() }),
            vectors: PhantomData,
        })
    }

    /// The lattice that the fields live on.
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// Parities in a vector: those of one field after those of the other, with nothing between them.
    fn parities(&self) -> usize {
        self.sources * self.sites.parities().len()
    }

    /// Runs a kernel that makes no sums on each slab. Of each field `fields` has an argument for each slab.
    fn update<const N: usize>(
        &self,
        kernel: fn(&SlabKernels) -> &Kernel,
        numbers: &[&Number],
        fields: [Vec<Argument<'_>>; N],
    ) -> Result<(), DeviceError> {
        for (k, kernels) in self.kernels.slabs.iter().enumerate() {
            let arguments = self.arguments(kernels, numbers, &fields, k)?;
            kernel(kernels).start(kernels.range, arguments.as_slice())?;
        }
        Ok(())
    }

    /// Runs a kernel that makes sums on each slab: a complex one and a real one. Those of several slabs are added in their order, once
    /// all slabs have been started.
    fn sum<const N: usize>(
        &self,
        kernel: fn(&SlabKernels) -> &Kernel,
        numbers: &[&Number],
        fields: [Vec<Argument<'_>>; N],
    ) -> Result<[Number; 2], DeviceError> {
        let mut running = Vec::with_capacity(self.kernels.slabs.len());
        for (k, kernels) in self.kernels.slabs.iter().enumerate() {
            let mut reduction = kernels.device.reduction(kernels.range.group_count())?;
            let arguments = self.arguments(kernels, numbers, &fields, k)?.and(reduction.arguments());
            kernel(kernels).start(kernels.range, arguments.as_slice())?;
            running.push(reduction);
        }
        sum_of_slabs(running)
    }

    fn arguments<'a, const N: usize>(
        &self,
        kernels: &'a SlabKernels,
        numbers: &[&Number],
        fields: &[Vec<Argument<'a>>; N],
        slab: usize,
    ) -> Result<ArgumentList<'a>, DeviceError> {
        let mut arguments = ArgumentList::new([self.parities() as u32, kernels.blocks].map(Argument::value));
        if !numbers.is_empty() {
            arguments.extend([kernels.numbers.argument()]);
        }
        for number in numbers {
            arguments.extend(number.arguments()?);
        }
        Ok(arguments.and(fields.iter().map(|field| field[slab])))
    }
}

/// The sums of a launch on each slab, added: those of one slab stay on its device.
pub(crate) fn sum_of_slabs(mut running: Vec<Reduction>) -> Result<[Number; 2], DeviceError> {
    if running.len() == 1
        && let Some(reduction) = running.pop()
    {
        return Ok(reduction.numbers());
    }
    for reduction in &running {
        reduction.device().flush()?;
    }
    let (mut complex, mut real) = (Complex64::default(), 0.0);
    for reduction in running {
        let [re, im, other] = reduction.read()?;
        complex += Complex64::new(re, im);
        real += other;
    }
    Ok([complex.into(), Complex64::from(real).into()])
}

impl SlabKernels {
    fn new<T: Storage>(device: &Device, layout: &Layout, parities: usize) -> Result<Self, DeviceError> {
        let local = local_size(device);
        let blocks_of_vector = parities * layout.blocks();
        let groups = match device.info().kind {
            DeviceKind::Cpu => {
                let most = 4 * device.info().compute_units.max(1);
                blocks_of_vector.div_ceil(FEWEST_BLOCKS_OF_GROUP).min(most)
            }
            _ => blocks_of_vector.div_ceil(local),
        };
        let program = device.program(&space_key::<T>(device, layout))?;
        let kernel = |name: &str, numbers: &[[&'static str; 3]], fields: &[Parameter], sums: bool| {
            let mut parameters = Vec::from(["parities", "blocks"].map(Parameter::value::<u32>));
            if !numbers.is_empty() {
                parameters.push(Number::memory_parameter());
            }
            parameters.extend(numbers.iter().copied().flat_map(Number::parameters));
            parameters.extend(fields);
            if sums {
                parameters.extend(Reduction::parameters());
            }
            program.kernel(name, &parameters)
        };
        let (input, output) = (Parameter::input::<T::Stored>, Parameter::output::<T::Stored>);
        let a = ["a_re", "a_im", "a_ratios"];
        let b = ["b_re", "b_im", "b_ratios"];
        let c = ["c_re", "c_im", "c_ratios"];
        Ok(Self {
            range: Range::groups(groups, local),
            numbers: device.number_memory_argument()?,
            axpy: kernel("axpy", &[a], &[input("x"), output("y")], false)?,
            xpby: kernel("xpby", &[b], &[input("x"), output("y")], false)?,
            dot: kernel("inner_product", &[], &[input("x"), input("y")], true)?,
            norm2: kernel("norm2", &[], &[input("x")], true)?,
            advance: kernel("advance", &[a], &[input("p"), output("x"), input("q"), output("r")], true)?,
            redirect: kernel("redirect", &[b], &[input("r"), output("p"), input("s"), output("q")], true)?,
            follow_and_redirect: kernel(
                "follow_and_redirect",
                &[a, b],
                &[input("r"), input("s"), output("x"), output("p"), output("q")],
                true,
            )?,
            subtract: kernel("subtract", &[a], &[input("q"), output("r")], true)?,
            follow: kernel("follow", &[a, b], &[input("r"), output("x"), output("p")], false)?,
            stabilise: kernel(
                "stabilise",
                &[a, b],
                &[input("p"), input("t"), input("q"), output("x"), output("r")],
                true,
            )?,
            turn: kernel("turn", &[b, c], &[input("r"), input("v"), output("p")], false)?,
            blocks: layout.blocks() as u32,
            device: device.clone(),
        })
    }
}

/// A CPU's work-item runs alone on long vectors; a GPU has one for each site.
fn local_size(device: &Device) -> usize {
    if device.info().kind == DeviceKind::Cpu { 1 } else { 128 }
}

/// The key of the kernels of a space of fields of this layout.
pub(crate) fn space_key<T: Storage>(device: &Device, layout: &Layout) -> KernelKey {
    field_key::<T>(SPINOR, layout)
        .define("LOCAL_SIZE", local_size(device))
        .define("STREAM_LINKS", 0)
        .define("STREAM_OUTPUT", 0)
}

/// The key of kernels that work on fields of this layout.
pub(crate) fn field_key<T: Storage>(family: KernelFamily, layout: &Layout) -> KernelKey {
    let key = KernelKey::of_real::<T::Real>(family)
        .lanes(layout.lanes())
        .define("STORED", T::STORAGE.opencl_name())
        .define("STORED_BITS", 8 * T::STORAGE.bytes())
        .define("PACK", layout.pack());
    match layout.chunk() {
        Some(sites) => key.define("CHUNK", sites),
        None => key,
    }
}

/// The data of fields of this space; they panic on others, whose buffers have other sizes.
impl<T: Storage, F: Field<T>> SpinorSpace<T, F> {
    fn expect_own(&self, spinors: &Spinors<T>) {
        self.lattice.expect_same(spinors.lattice());
        assert_eq!(
            (spinors.sites(), spinors.sources()),
            (self.sites, self.sources),
            "sites and number of fields"
        );
    }

    fn own<'a>(&self, field: &'a F) -> &'a Spinors<T> {
        self.expect_own(field.spinors());
        field.spinors()
    }

    fn own_mut<'a>(&self, field: &'a mut F) -> &'a mut Spinors<T> {
        self.expect_own(field.spinors());
        field.spinors_mut()
    }

    fn on_host<'a>(&self, field: &'a F) -> &'a [host::Spinor<T::Real>] {
        self.own(field).on_host()
    }

    fn on_host_mut<'a>(&self, field: &'a mut F) -> &'a mut [host::Spinor<T::Real>] {
        self.own_mut(field).on_host_mut()
    }

    /// The arguments of a field that is read, one for each slab.
    fn input<'a>(&self, field: &'a F) -> Vec<Argument<'a>> {
        self.own(field).on_devices().iter().map(Argument::from).collect()
    }

    /// The arguments of a field that is written, one for each slab.
    fn output<'a>(&self, field: &'a mut F) -> Vec<Argument<'a>> {
        self.own_mut(field).on_devices_mut().iter_mut().map(Argument::from).collect()
    }

    fn is_on_host(&self) -> bool {
        self.lattice.team().is_host()
    }
}

impl<T: Storage, F: Field<T>> VectorSpace for SpinorSpace<T, F> {
    type Vector = F;
    type Scalar = Number;
    type Error = DeviceError;

    fn dimension(&self) -> usize {
        self.sources * host::Spinor::<T::Real>::COMPONENTS * self.sites.of(self.lattice.dims().volume())
    }

    fn component_bytes(&self) -> usize {
        2 * T::STORAGE.bytes()
    }

    fn bytes_during_a_read(&self) -> u64 {
        match &self.kernels.slabs[..] {
            [one] => match one.device.info().kind {
                DeviceKind::Cpu => BYTES_OF_CORE_DURING_A_READ * one.device.info().compute_units as u64,
                _ => BYTES_DURING_A_READ,
            },
            // On the host a read costs nothing; sums over several devices are read anyway.
            _ => 0,
        }
    }

    fn time_aside(&self) -> Duration {
        self.lattice.team().compile_time()
    }

    fn zero_vector(&self) -> Result<F, DeviceError> {
        Ok(F::wrap(Spinors::zero(&self.lattice, self.sites, self.sources)?))
    }

    fn scratch_vector(&self) -> Result<F, DeviceError> {
        Ok(F::wrap(Spinors::uninitialised(&self.lattice, self.sites, self.sources)?))
    }

    fn set_zero(&self, x: &mut F) -> Result<(), DeviceError> {
        self.own_mut(x).set_zero()
    }

    fn copy(&self, from: &F, to: &mut F) -> Result<(), DeviceError> {
        if self.is_on_host() {
            self.on_host_mut(to).copy_from_slice(self.on_host(from));
            return Ok(());
        }
        let (from, to): (&[Buffer<_>], _) = (self.own(from).on_devices(), self.own_mut(to).on_devices_mut());
        from.iter().zip(to).try_for_each(|(from, to)| to.copy_from(from))
    }

    fn axpy(&self, a: &Number, x: &F, y: &mut F) -> Result<(), DeviceError> {
        if self.is_on_host() {
            host::spinor_fields::axpy(a.value()?, self.on_host(x), self.on_host_mut(y));
            return Ok(());
        }
        self.update(|kernels| &kernels.axpy, &[a], [self.input(x), self.output(y)])
    }

    fn xpby(&self, x: &F, b: &Number, y: &mut F) -> Result<(), DeviceError> {
        if self.is_on_host() {
            host::spinor_fields::xpby(self.on_host(x), b.value()?, self.on_host_mut(y));
            return Ok(());
        }
        self.update(|kernels| &kernels.xpby, &[b], [self.input(x), self.output(y)])
    }

    fn dot(&self, x: &F, y: &F) -> Result<Number, DeviceError> {
        if self.is_on_host() {
            return Ok(host::spinor_fields::dot(self.on_host(x), self.on_host(y)).into());
        }
        let [sum, _] = self.sum(|kernels| &kernels.dot, &[], [self.input(x), self.input(y)])?;
        Ok(sum)
    }

    fn norm2(&self, x: &F) -> Result<Number, DeviceError> {
        if self.is_on_host() {
            return Ok(real(host::spinor_fields::norm2(self.on_host(x))));
        }
        let [sum, _] = self.sum(|kernels| &kernels.norm2, &[], [self.input(x)])?;
        Ok(sum)
    }

    fn scalar(&self, value: Complex64) -> Number {
        value.into()
    }

    fn inner_product(&self, value: Complex64) -> Result<Number, DeviceError> {
        match &self.kernels.slabs[..] {
            // Where sums stay on the device.
            [one] => Number::on_device(&one.device, value),
            _ => Ok(value.into()),
        }
    }

    fn quotient(&self, numerator: &Number, denominator: &Number) -> Number {
        numerator.over(denominator)
    }

    fn conjugate(&self, a: &Number) -> Number {
        a.conj()
    }

    fn negate(&self, a: &Number) -> Number {
        a.over(&real(-1.0))
    }

    fn read_all(&self, scalars: &[&Number]) -> Result<Vec<Complex64>, DeviceError> {
        Number::values(scalars)
    }

    fn advance(&self, a: &Number, p: &F, x: &mut F, q: &F, r: &mut F) -> Result<Number, DeviceError> {
        if self.is_on_host() {
            let (p, x, q, r) = (self.on_host(p), self.on_host_mut(x), self.on_host(q), self.on_host_mut(r));
            return Ok(real(host::spinor_fields::advance(a.value()?, p, x, q, r)));
        }
        let fields = [self.input(p), self.output(x), self.input(q), self.output(r)];
        let [norm2, _] = self.sum(|kernels| &kernels.advance, &[a], fields)?;
        Ok(norm2)
    }

    fn redirect(&self, b: &Number, r: &F, p: &mut F, s: &F, q: &mut F) -> Result<[Number; 2], DeviceError> {
        if self.is_on_host() {
            let (r, p, s, q) = (self.on_host(r), self.on_host_mut(p), self.on_host(s), self.on_host_mut(q));
            let (product, norm2) = host::spinor_fields::redirect(b.value()?, r, p, s, q);
            return Ok([product.into(), real(norm2)]);
        }
        let fields = [self.input(r), self.output(p), self.input(s), self.output(q)];
        self.sum(|kernels| &kernels.redirect, &[b], fields)
    }

    fn follow_and_redirect(
        &self,
        [a, b]: [&Number; 2],
        [r, s]: [&F; 2],
        x: &mut F,
        p: &mut F,
        q: &mut F,
    ) -> Result<[Number; 2], DeviceError> {
        if self.is_on_host() {
            let inputs = [r, s].map(|field| self.on_host(field));
            let factors = [a.value()?, b.value()?];
            let (x, p, q) = (self.on_host_mut(x), self.on_host_mut(p), self.on_host_mut(q));
            let (product, norm2) = host::spinor_fields::follow_and_redirect(factors, inputs, x, p, q);
            return Ok([product.into(), real(norm2)]);
        }
        let fields = [self.input(r), self.input(s), self.output(x), self.output(p), self.output(q)];
        self.sum(|kernels| &kernels.follow_and_redirect, &[a, b], fields)
    }

    fn subtract(&self, a: &Number, q: &F, r: &mut F) -> Result<Number, DeviceError> {
        if self.is_on_host() {
            let norm2 = host::spinor_fields::subtract(a.value()?, self.on_host(q), self.on_host_mut(r));
            return Ok(real(norm2));
        }
        let [norm2, _] = self.sum(|kernels| &kernels.subtract, &[a], [self.input(q), self.output(r)])?;
        Ok(norm2)
    }

    fn follow(&self, a: &Number, b: &Number, r: &F, x: &mut F, p: &mut F) -> Result<(), DeviceError> {
        if self.is_on_host() {
            let (r, x, p) = (self.on_host(r), self.on_host_mut(x), self.on_host_mut(p));
            host::spinor_fields::follow(a.value()?, b.value()?, r, x, p);
            return Ok(());
        }
        let fields = [self.input(r), self.output(x), self.output(p)];
        self.update(|kernels| &kernels.follow, &[a, b], fields)
    }

    fn stabilise(
        &self,
        [a, b]: [&Number; 2],
        [p, t, q]: [&F; 3],
        x: &mut F,
        r: &mut F,
    ) -> Result<[Number; 2], DeviceError> {
        if self.is_on_host() {
            let [p, t, q] = [p, t, q].map(|field| self.on_host(field));
            let factors = [a.value()?, b.value()?];
            let (x, r) = (self.on_host_mut(x), self.on_host_mut(r));
            let (product, norm2) = host::spinor_fields::stabilise(factors, [p, t, q], x, r);
            return Ok([product.into(), real(norm2)]);
        }
        let fields = [self.input(p), self.input(t), self.input(q), self.output(x), self.output(r)];
        self.sum(|kernels| &kernels.stabilise, &[a, b], fields)
    }

    fn turn(&self, b: &Number, c: &Number, r: &F, v: &F, p: &mut F) -> Result<(), DeviceError> {
        if self.is_on_host() {
            let (r, v, p) = (self.on_host(r), self.on_host(v), self.on_host_mut(p));
            host::spinor_fields::turn(b.value()?, c.value()?, r, v, p);
            return Ok(());
        }
        let fields = [self.input(r), self.input(v), self.output(p)];
        self.update(|kernels| &kernels.turn, &[b, c], fields)
    }
}

impl<T: Storage, F: Field<T>> SpinorSpace<T, F> {
    fn block_kernels(&self) -> Result<&[BlockKernels], DeviceError> {
        if let Some(kernels) = self.kernels.blocks.get() {
            return Ok(kernels);
        }
        let (dims, parities) = (self.lattice.dims(), self.sites.parities().len());
        let kernels = self.lattice.slabs().iter().map(|slab| {
            BlockKernels::new::<T>(&slab.device, &slab.layout(dims, T::STORAGE), parities, self.sources)
        });
        let kernels = kernels.collect::<Result<_, _>>()?;
        Ok(self.kernels.blocks.get_or_init(|| kernels))
    }

    /// Starts a kernel that makes a Gram matrix on each slab.
    fn start_grams(
        &self,
        launch: impl Fn(&BlockKernels, usize) -> Result<(), DeviceError>,
    ) -> Result<PendingGram<'_>, DeviceError> {
        let kernels = self.block_kernels()?;
        for (k, kernels) in kernels.iter().enumerate() {
            launch(kernels, k)?;
        }
        Ok(PendingGram::OfSlabs(self.sources, kernels.iter().map(BlockKernels::sums).collect()))
    }

    /// Starts to make X†X.
    pub(crate) fn start_gram(&self, x: &F) -> Result<PendingGram<'_>, DeviceError> {
        if self.is_on_host() {
            let gram = host::block_fields::gram(self.sources, self.on_host(x));
            return Ok(PendingGram::Known(matrix(self.sources, &gram)));
        }
        let x = self.input(x);
        self.start_grams(|kernels, k| kernels.gram(x[k]))
    }
}

pub(crate) fn matrix(size: usize, elements: &[Complex64]) -> SquareMatrix {
    SquareMatrix::from_fn(size, |i, j| elements[i * size + j])
}

impl<T: Storage, F: Field<T>> BlockSpace for SpinorSpace<T, F> {
    fn columns(&self) -> usize {
        self.sources
    }

    fn roundoff(&self) -> f64 {
        T::Real::epsilon().to_f64() / 2.0
    }

    fn gram(&self, x: &F) -> Result<SquareMatrix, DeviceError> {
        self.start_gram(x)?.wait()
    }

    fn subtract_block(&self, z: &F, d: &SquareMatrix, q: &mut F) -> Result<SquareMatrix, DeviceError> {
        if self.is_on_host() {
            let (z, q) = (self.on_host(z), self.on_host_mut(q));
            let gram = host::block_fields::subtract(self.sources, z, d.elements(), q);
            return Ok(matrix(self.sources, &gram));
        }
        let (z, q) = (self.input(z), self.output(q));
        self.start_grams(|kernels, k| kernels.subtract(d, z[k], q[k]))?.wait()
    }

    /// On processors writing what has not been read costs as much as a pass more.
    fn steps_in_pairs(&self) -> bool {
        !self.is_on_host() && self.kernels.slabs.iter().all(|slab| slab.device.info().kind != DeviceKind::Cpu)
    }

    fn advance_block(
        &self,
        matrices: Advance<'_>,
        x: &mut F,
        q: &mut F,
        p: &mut F,
        o: Option<&mut F>,
    ) -> Result<(), DeviceError> {
        if self.is_on_host() {
            let (x, q, p) = (self.on_host_mut(x), self.on_host_mut(q), self.on_host_mut(p));
            host::block_fields::advance(matrices, x, q, p, o.map(|o| self.on_host_mut(o)));
            return Ok(());
        }
        let (x, q, p, o) = (self.output(x), self.output(q), self.output(p), o.map(|o| self.output(o)));
        let mut kernels = self.block_kernels()?.iter().enumerate();
        kernels.try_for_each(|(k, kernels)| {
            kernels.advance(matrices, [x[k], q[k], p[k]], o.as_ref().map(|o| o[k]))
        })
    }
}

fn real(value: f64) -> Number {
    Complex64::from(value).into()
}

impl Lattice {
    /// The space of spinor fields on this lattice.
    pub fn spinor_space<T: Storage>(&self) -> Result<SpinorSpace<T>, LatticeError> {
        self.spinor_block_space(1)
    }

    /// The space of blocks of this many spinor fields.
    ///
    /// # Panics
    /// This and [`parity_block_space`](Self::parity_block_space) when there is no field.
    pub fn spinor_block_space<T: Storage>(&self, fields: usize) -> Result<SpinorSpace<T>, LatticeError> {
        Ok(SpinorSpace::new(self, Sites::All, fields)?)
    }

    /// The space of spinor fields on the sites of `parity` (0 even, 1 odd).
    pub fn parity_space<T: Storage>(&self, parity: usize) -> Result<ParitySpace<T>, LatticeError> {
        self.parity_block_space(parity, 1)
    }

    /// The space of blocks of this many spinor fields on the sites of `parity`.
    pub fn parity_block_space<T: Storage>(
        &self,
        parity: usize,
        fields: usize,
    ) -> Result<ParitySpace<T>, LatticeError> {
        Ok(SpinorSpace::new(self, Sites::Parity(parity), fields)?)
    }
}
