//! The vector space of spinor fields, in which Krylov solvers work.

mod columns;
mod kernel_text;
mod kernels;
mod updates;

pub(crate) use columns::{ColumnSpace, matrix};
pub(crate) use kernels::update_key;

use super::carrier::Carrier;
use super::columns::ColumnKernels;
use super::communicator::Communicator;
use super::site_field::Sites;
use super::spinors::{Field, Spinors};
use super::{ParityField, SpinorField};
use crate::compute::{Argument, Buffer, DeviceError, DeviceKind, Number};
use crate::geometry::{Lattice, LatticeError, Shard};
use crate::host;
use crate::scalar::Storage;
use kernels::ShardKernels;
use lattice_solvers::VectorSpace;
use lattice_solvers::update::{self, Formula};
use num_complex::Complex64;
use std::marker::PhantomData;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The complex vector space of spinor fields on a lattice or on one parity.
///
/// The inner product is the sum over these sites. Vectors may have several columns. Their inner
/// products are summed over all columns; see [`BlockSpace`](lattice_solvers::BlockSpace).
///
/// Sums stay on the devices as [`Number`]s, which later kernels read. If kernels do not reach the
/// memory of other devices, the host adds the sums of several devices. A space is cheap to clone.
pub struct SpinorSpace<T: Storage, F = SpinorField<T>> {
    lattice: Lattice,
    sites: Sites,
    /// Fields in a vector.
    columns: usize,
    kernels: Arc<Kernels>,
    communicator: Carrier,
    vectors: PhantomData<fn() -> (T, F)>,
}

/// The space of spinor fields on the sites of one parity.
pub type ParitySpace<T> = SpinorSpace<T, ParityField<T>>;

impl<T: Storage, F> Clone for SpinorSpace<T, F> {
    fn clone(&self) -> Self {
        Self {
            lattice: self.lattice.clone(),
            sites: self.sites,
            columns: self.columns,
            kernels: self.kernels.clone(),
            communicator: self.communicator.clone(),
            vectors: PhantomData,
        }
    }
}

/// One set of kernels for each device; none on the host.
struct Kernels {
    shards: Box<[ShardKernels]>,
    /// Kernels between the fields of a vector, made on first use.
    columns: OnceLock<Box<[ColumnKernels]>>,
}

/// Bytes that a GPU moves while the host reads a number and enqueues more work.
///
/// The time is about 20 µs, at 4 TB/s on an H200.
const BYTES_DURING_A_READ: u64 = 80 << 20;

/// Bytes that a core of a processor moves while the host reads a number.
///
/// The threads of PoCL sleep and wake up again, which takes about 40 µs.
const BYTES_OF_CORE_DURING_A_READ: u64 = 512 << 10;

impl<T: Storage, F> SpinorSpace<T, F> {
    /// Makes the space of vectors that are `columns` fields on `sites`.
    pub(super) fn new(lattice: &Lattice, sites: Sites, columns: usize) -> Result<Self, DeviceError> {
        assert!(columns > 0, "a vector needs a field");
        let parities = columns * sites.parities().len();
        let kernels = lattice
            .shards()
            .iter()
            .map(|shard| ShardKernels::new::<T>(&shard.device, &shard.layout(T::STORAGE), parities));
        Ok(Self {
            lattice: lattice.clone(),
            sites,
            columns,
            kernels: Arc::new(Kernels {
                shards: kernels.collect::<Result<_, _>>()?,
                columns: OnceLock::new(),
            }),
            communicator: Carrier::new(lattice)?,
            vectors: PhantomData,
        })
    }

    /// Returns the lattice of the fields.
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }
}

/// Access to the data of fields of this space.
///
/// Fields of other spaces have other sizes of buffers, and panic.
impl<T: Storage, F: Field<T>> SpinorSpace<T, F> {
    fn expect_own(&self, spinors: &Spinors<T>) {
        self.lattice.expect_same(spinors.lattice());
        assert_eq!(
            (spinors.sites(), spinors.columns()),
            (self.sites, self.columns),
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

    /// Returns the arguments of a field that is read, one for each device.
    fn input<'a>(&self, field: &'a F) -> Vec<Argument<'a>> {
        self.own(field).on_devices().iter().map(Argument::from).collect()
    }

    /// Returns the arguments of a field that is written, one for each device.
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
        self.columns * host::Spinor::<T::Real>::COMPONENTS * self.sites.of(self.lattice.dims().volume())
    }

    fn component_bytes(&self) -> usize {
        2 * T::STORAGE.bytes()
    }

    fn bytes_during_a_read(&self) -> u64 {
        // On the host a read costs nothing. Sums that do not stay on the devices are read anyway.
        // Looks, and replaced residuals in mixed precision, must not depend on the way of the
        // sums.
        if self.is_on_host() {
            return 0;
        }
        let of_device = |shard: &Shard| match shard.device.info().kind {
            DeviceKind::Cpu => BYTES_OF_CORE_DURING_A_READ * shard.device.info().compute_units as u64,
            _ => BYTES_DURING_A_READ,
        };
        self.lattice.everywhere().iter().map(of_device).sum()
    }

    fn time_aside(&self) -> Duration {
        self.lattice.team().compile_time()
    }

    fn zero_vector(&self) -> Result<F, DeviceError> {
        Ok(F::wrap(Spinors::zero(&self.lattice, self.sites, self.columns)?))
    }

    fn scratch_vector(&self) -> Result<F, DeviceError> {
        Ok(F::wrap(Spinors::uninitialised(&self.lattice, self.sites, self.columns)?))
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
        update::AXPY.apply(self, [a], [x], [y]).map(drop)
    }

    fn xpby(&self, x: &F, b: &Number, y: &mut F) -> Result<(), DeviceError> {
        update::XPBY.apply(self, [b], [x], [y]).map(drop)
    }

    fn dot(&self, x: &F, y: &F) -> Result<Number, DeviceError> {
        let [sum] = update::DOT.apply(self, [], [x, y], [])?;
        Ok(sum)
    }

    fn norm2(&self, x: &F) -> Result<Number, DeviceError> {
        let [sum] = update::NORM2.apply(self, [], [x], [])?;
        Ok(sum)
    }

    fn update(
        &self,
        formula: &Formula,
        factors: &[&Number],
        read: &[&F],
        written: &mut [&mut F],
    ) -> Result<Vec<Number>, DeviceError> {
        let read: Vec<&Spinors<T>> = read.iter().map(|field| self.own(field)).collect();
        let written: Vec<&mut Spinors<T>> = written.iter_mut().map(|field| self.own_mut(field)).collect();
        if self.is_on_host() {
            return updates::on_host(formula, factors, &read, written);
        }
        updates::on_devices(&self.communicator, &self.kernels.shards, formula, factors, &read, written)
    }

    fn scalar(&self, value: Complex64) -> Number {
        value.into()
    }

    fn inner_product(&self, value: Complex64) -> Result<Number, DeviceError> {
        if self.is_on_host() {
            return Ok(value.into());
        }
        if !self.communicator.keeps_numbers() {
            return Ok(Number::of_host(value));
        }
        let devices: Vec<_> = self.kernels.shards.iter().map(|shard| shard.device.clone()).collect();
        Number::on_devices(&devices, value)
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
        let values = Number::values(scalars)?;
        // A device that waited for another device in vain has no sum.
        if values.iter().any(|value| !value.is_finite()) {
            self.lattice.check_peers()?;
        }
        Ok(values)
    }
}

fn real(value: f64) -> Number {
    Complex64::from(value).into()
}

impl Lattice {
    /// Returns the space of spinor fields on this lattice.
    pub fn spinor_space<T: Storage>(&self) -> Result<SpinorSpace<T>, LatticeError> {
        self.spinor_block_space(1)
    }

    /// Returns the space of this many columns.
    ///
    /// # Panics
    /// When `fields` is zero; [`parity_block_space`](Self::parity_block_space) panics too.
    pub fn spinor_block_space<T: Storage>(&self, fields: usize) -> Result<SpinorSpace<T>, LatticeError> {
        Ok(SpinorSpace::new(self, Sites::All, fields)?)
    }

    /// Returns the space of spinor fields on the sites of `parity` (0 even, 1 odd).
    pub fn parity_space<T: Storage>(&self, parity: usize) -> Result<ParitySpace<T>, LatticeError> {
        self.parity_block_space(parity, 1)
    }

    /// Returns the space of this many columns on the sites of `parity`.
    pub fn parity_block_space<T: Storage>(
        &self,
        parity: usize,
        fields: usize,
    ) -> Result<ParitySpace<T>, LatticeError> {
        Ok(SpinorSpace::new(self, Sites::Parity(parity), fields)?)
    }
}
