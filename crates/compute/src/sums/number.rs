//! Numbers that stay on a device.
//!
//! One kernel computes them as sums, the next one multiplies by them.

use crate::error::{DeviceError, Result};
use crate::kernel::Argument;
use crate::memory::{Blocking, Memory};
use crate::open::Device;
use crate::sync::lock;
use num_complex::Complex64;
use std::fmt;
use std::sync::{Arc, Mutex};

/// OpenCL C text for kernels that take a [`Number`].
///
/// The text is part of the sources of a kernel family.
pub const NUMBER_SOURCE: &str = include_str!("../../cl/number.cl");

/// Sums that a device can keep at once.
const SLOTS: u16 = 4096;

/// Doubles in a slot: three sums of a launch, and a zero.
///
/// With the zero the third sum reads as a complex number.
const SLOT_DOUBLES: usize = 4;

/// Ratios of sums that a kernel can take as one number.
const RATIOS: usize = 3;

/// The memory of a device for sums, made on first use.
///
/// It holds no [`Device`], so that the device can keep it.
#[derive(Default)]
struct NumberPool(Mutex<Option<Pool>>);

struct Pool {
    memory: Arc<Memory>,
    /// Free slots, without slot 0, which stands for the number 1.
    free: Vec<u16>,
}

/// Memory for the sums of one launch, on one device or at one place of several.
///
/// Dropping the slot frees it. Commands of a device run in order. So the next launch can use a slot
/// as soon as the last command with it has been enqueued.
pub(super) struct Slot {
    /// The slot on each device.
    places: Vec<SlotOnDevice>,
    index: u16,
}

/// A device, and its memory for sums.
struct SlotOnDevice {
    device: Device,
    /// The pool that takes the slot back.
    numbers: Arc<NumberPool>,
    memory: Arc<Memory>,
}

impl SlotOnDevice {
    fn on(device: &Device) -> Result<Self> {
        let numbers = device.kept::<NumberPool>();
        let memory = numbers.memory(device)?;
        Ok(Self { device: device.clone(), numbers, memory })
    }

    fn full(&self) -> DeviceError {
        DeviceError::TooManySums { device: self.device.label().to_owned(), limit: usize::from(SLOTS) - 1 }
    }
}

impl NumberPool {
    /// Returns the memory of all slots, allocated on first use.
    fn memory(&self, device: &Device) -> Result<Arc<Memory>> {
        let mut pool = lock(&self.0);
        if let Some(pool) = &*pool {
            return Ok(Arc::clone(&pool.memory));
        }
        let count = usize::from(SLOTS) * SLOT_DOUBLES;
        let memory = Arc::new(Memory::allocate(device.core(), count, size_of::<f64>())?);
        memory.fill(&[0; 8], 0, count * size_of::<f64>())?;
        *pool = Some(Pool { memory: Arc::clone(&memory), free: (1..SLOTS).rev().collect() });
        Ok(memory)
    }

    /// Takes any free slot.
    fn take(&self) -> Option<u16> {
        lock(&self.0).as_mut()?.free.pop()
    }

    /// Takes this slot, if it is free.
    fn take_this(&self, index: u16) -> Option<u16> {
        let mut pool = lock(&self.0);
        let free = &mut pool.as_mut()?.free;
        // The slots that were freed last are at the end.
        let position = free.iter().rposition(|&other| other == index)?;
        Some(free.remove(position))
    }

    fn give_back(&self, index: u16) {
        if let Some(pool) = &mut *lock(&self.0) {
            pool.free.push(index);
        }
    }
}

impl Device {
    /// Returns a free slot.
    ///
    /// # Errors
    /// [`DeviceError::TooManySums`], and all errors of the first allocation.
    pub(super) fn slot(&self) -> Result<Slot> {
        let place = SlotOnDevice::on(self)?;
        let index = place.numbers.take().ok_or_else(|| place.full())?;
        Ok(Slot { places: vec![place], index })
    }
}

impl Slot {
    /// Returns a slot that is free on all of these devices.
    ///
    /// # Errors
    /// All errors of [`Device::slot`].
    pub fn on_all(devices: &[Device]) -> Result<Self> {
        let places = devices.iter().map(SlotOnDevice::on).collect::<Result<Vec<_>>>()?;
        let (first, others) = places.split_first().expect("a team has devices");
        // Slots that are taken on another device are freed at the end.
        let mut unfit = Vec::new();
        let found = loop {
            let Some(index) = first.numbers.take() else { break None };
            let taken = others.iter().take_while(|place| place.numbers.take_this(index).is_some()).count();
            if taken == others.len() {
                break Some(index);
            }
            others[..taken].iter().for_each(|place| place.numbers.give_back(index));
            unfit.push(index);
        };
        unfit.into_iter().rev().for_each(|index| first.numbers.give_back(index));
        let index = found.ok_or_else(|| first.full())?;
        Ok(Self { places, index })
    }

    /// Returns the number of the slot.
    pub fn index(&self) -> u32 {
        u32::from(self.index)
    }

    /// Returns the arguments of kernels that write sums: memory and number of the slot.
    pub fn arguments(&self) -> [Argument<'_>; 2] {
        self.arguments_on(0)
    }

    /// Returns the arguments for kernels of one of several devices.
    pub fn arguments_on(&self, device: usize) -> [Argument<'_>; 2] {
        [self.places[device].memory.argument::<f64>(), Argument::value(self.index())]
    }

    /// Writes the first sum, like a launch.
    fn write(&self, sum: Complex64) -> Result<()> {
        // The zero after the sums stays zero.
        let sums = [sum.re, sum.im, 0.0];
        let offset = usize::from(self.index) * SLOT_DOUBLES * size_of::<f64>();
        for SlotOnDevice { device, memory, .. } in &self.places {
            let compute = &device.core().compute;
            // SAFETY: the call is blocking: `sums` outlives it.
            unsafe { memory.write(compute, Blocking::Yes, offset, bytemuck::cast_slice(&sums), &[]) }?;
        }
        Ok(())
    }

    /// Waits for the launch, and reads its sums.
    pub fn read(&self) -> Result<[f64; SLOT_DOUBLES]> {
        let mut sums = [0.0; SLOT_DOUBLES];
        let SlotOnDevice { device, memory, .. } = &self.places[0];
        read(device, memory, self.index, &mut sums)?;
        Ok(sums)
    }
}

/// Reads consecutive slots, after all earlier commands.
fn read(device: &Device, memory: &Memory, first: u16, sums: &mut [f64]) -> Result<()> {
    let offset = usize::from(first) * SLOT_DOUBLES * size_of::<f64>();
    let bytes = bytemuck::cast_slice_mut(sums);
    // SAFETY: the call is blocking: `sums` outlives it.
    unsafe { memory.read(&device.core().compute, Blocking::Yes, offset, bytes, &[]) }.map(drop)
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.places.iter().for_each(|place| place.numbers.give_back(self.index));
    }
}

/// The place of a sum.
#[derive(Clone)]
enum SumLocation {
    /// A slot of a device or of all devices of a team.
    ///
    /// 0 is for the first two doubles of the slot, 1 for the third.
    Slot(Arc<Slot>, u16),
    /// A sum that the host has added from several devices.
    Host(Arc<Complex64>),
}

/// One sum of a launch, or its complex conjugate.
#[derive(Clone)]
struct Sum {
    location: SumLocation,
    conjugate: bool,
}

impl Sum {
    fn at(location: SumLocation) -> Self {
        Self { location, conjugate: false }
    }

    fn is_same(&self, other: &Self) -> bool {
        let at_one_place = match (&self.location, &other.location) {
            (SumLocation::Slot(slot, part), SumLocation::Slot(other, other_part)) => {
                Arc::ptr_eq(slot, other) && part == other_part
            }
            (SumLocation::Host(value), SumLocation::Host(other)) => Arc::ptr_eq(value, other),
            _ => false,
        };
        at_one_place && self.conjugate == other.conjugate
    }

    /// Returns the slot, unless the sum is on the host.
    fn slot(&self) -> Option<&Arc<Slot>> {
        match &self.location {
            SumLocation::Slot(slot, _) => Some(slot),
            SumLocation::Host(_) => None,
        }
    }

    /// Returns the code of the sum for `cl/number.cl`; `None` on the host.
    fn code(&self) -> Option<u32> {
        match &self.location {
            SumLocation::Slot(slot, part) => Some(u32::from(2 * slot.index + part)),
            SumLocation::Host(_) => None,
        }
    }

    /// Returns the value, from the device's slots from number `first` on.
    fn value(&self, slots: &[f64], first: u16) -> Complex64 {
        let value = match &self.location {
            SumLocation::Slot(slot, part) => {
                let at = SLOT_DOUBLES * usize::from(slot.index - first) + 2 * usize::from(*part);
                Complex64::new(slots[at], slots[at + 1])
            }
            SumLocation::Host(value) => **value,
        };
        if self.conjugate { value.conj() } else { value }
    }
}

/// A complex number, known to the host or still to be computed on a device.
///
/// The number is a factor times ratios of sums. Combining numbers costs nothing and waits for
/// nothing, because kernels compute a number from its sums when they start. All sums of a number are
/// on one device, or at the same places on all devices of a team. n/d is 0 if d is 0, so that a step
/// along a vanished direction changes nothing.
///
/// Host and devices compute the same bits ([`Number::value`], `cl/number.cl`). Products and quotients
/// are written with `fma`, so that no compiler has a choice.
#[derive(Clone)]
pub struct Number {
    factor: Complex64,
    numerators: Vec<Sum>,
    denominators: Vec<Sum>,
}

impl From<Complex64> for Number {
    fn from(value: Complex64) -> Self {
        Self { factor: value, numerators: Vec::new(), denominators: Vec::new() }
    }
}

impl Number {
    /// Returns a launch's complex sum (the first two) and real sum (the third).
    pub(super) fn of_slot(slot: Slot) -> [Self; 2] {
        let slot = Arc::new(slot);
        [0, 1].map(|part| Self {
            factor: Complex64::new(1.0, 0.0),
            numerators: vec![Sum::at(SumLocation::Slot(Arc::clone(&slot), part))],
            denominators: Vec::new(),
        })
    }

    /// Makes a number from a sum that the host has added.
    ///
    /// The number combines with others like a sum on a device, to the last bit.
    pub fn of_host(sum: Complex64) -> Self {
        let one = Complex64::new(1.0, 0.0);
        Self {
            factor: one,
            numerators: vec![Sum::at(SumLocation::Host(Arc::new(sum)))],
            denominators: Vec::new(),
        }
    }

    /// Makes a number with this value, which kernels read from the device.
    ///
    /// Kernels compute the same bits as from a sum of a launch.
    ///
    /// # Errors
    /// [`DeviceError::TooManySums`] and [`DeviceError::OpenCl`].
    pub fn on_device(device: &Device, value: Complex64) -> Result<Self> {
        Self::on_devices(std::slice::from_ref(device), value)
    }

    /// Makes a number like [`Number::on_device`], for kernels of all these devices.
    ///
    /// # Errors
    /// All errors of [`Number::on_device`].
    pub fn on_devices(devices: &[Device], value: Complex64) -> Result<Self> {
        let slot = Slot::on_all(devices)?;
        slot.write(value)?;
        let [sum, _] = Self::of_slot(slot);
        Ok(sum)
    }

    /// Returns self / denominator, or 0 if the denominator is 0.
    pub fn over(&self, denominator: &Self) -> Self {
        let mut ratio = Self {
            factor: quotient(self.factor, denominator.factor),
            numerators: [&self.numerators[..], &denominator.denominators].concat(),
            denominators: [&self.denominators[..], &denominator.numerators].concat(),
        };
        ratio.numerators.retain(|numerator| {
            let same = ratio.denominators.iter().position(|denominator| denominator.is_same(numerator));
            same.map(|position| ratio.denominators.swap_remove(position)).is_none()
        });
        ratio
    }

    /// Returns the complex conjugate.
    pub fn conj(&self) -> Self {
        let conjugate = |sums: &[Sum]| -> Vec<Sum> {
            sums.iter().map(|sum| Sum { conjugate: !sum.conjugate, ..sum.clone() }).collect()
        };
        Self {
            factor: self.factor.conj(),
            numerators: conjugate(&self.numerators),
            denominators: conjugate(&self.denominators),
        }
    }

    /// Waits for the device, and returns the value.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`].
    pub fn value(&self) -> Result<Complex64> {
        Ok(Self::values(&[self])?[0])
    }

    /// Returns the values of several numbers, in one transfer from one device.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`].
    pub fn values(numbers: &[&Self]) -> Result<Vec<Complex64>> {
        let sums = || numbers.iter().flat_map(|number| number.numerators.iter().chain(&number.denominators));
        let there = || sums().filter_map(Sum::slot);
        let mut slots = Vec::new();
        let mut first = 0;
        if let Some(some) = there().next() {
            let indices = || there().map(|slot| slot.index);
            first = indices().min().unwrap_or_default();
            let count = usize::from(indices().max().unwrap_or_default() - first) + 1;
            let SlotOnDevice { device, memory, .. } = &some.places[0];
            assert!(there().all(|slot| Arc::ptr_eq(&slot.places[0].memory, memory)), "{ONE_DEVICE}");
            slots.resize(count * SLOT_DOUBLES, 0.0);
            read(device, memory, first, &mut slots)?;
        }
        let values =
            |sums: &[Sum]| -> Vec<Complex64> { sums.iter().map(|sum| sum.value(&slots, first)).collect() };
        let one = Complex64::new(1.0, 0.0);
        Ok(numbers
            .iter()
            .map(|number| {
                let (above, below) = (values(&number.numerators), values(&number.denominators));
                (0..above.len().max(below.len())).fold(number.factor, |value, k| {
                    product(value, quotient(*above.get(k).unwrap_or(&one), *below.get(k).unwrap_or(&one)))
                })
            })
            .collect())
    }

    /// Returns the arguments for `NUMBER_PARAMETERS(name)` of `cl/number.cl`.
    ///
    /// The parameters are `const double name_re, const double name_im, const uint4 name_ratios`.
    ///
    /// A number of too many sums, or of sums on the host, is read first.
    ///
    /// # Errors
    /// All errors of [`Number::value`].
    pub fn arguments(&self) -> Result<[Argument<'static>; 3]> {
        let mut ratios = [0; RATIOS + 1];
        for (sums, shift, first_flag) in [(&self.numerators, 0, 0), (&self.denominators, 16, 8)] {
            for (k, sum) in sums.iter().enumerate() {
                let (Some(code), true) = (sum.code(), k < RATIOS) else {
                    return Self::from(self.value()?).arguments();
                };
                ratios[k] |= code << shift;
                ratios[RATIOS] |= u32::from(sum.conjugate) << (first_flag + k);
            }
        }
        Ok([Argument::value(self.factor.re), Argument::value(self.factor.im), Argument::value(ratios)])
    }
}

const ONE_DEVICE: &str = "numbers that are read together are on one device";

/// The memory for `NUMBER_MEMORY` of `cl/number.cl`.
///
/// A kernel that takes numbers declares it once.
pub struct NumberMemory(Arc<Memory>);

impl Device {
    /// Returns the memory of the sums on this device.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`] of its allocation.
    pub fn number_memory_argument(&self) -> Result<NumberMemory> {
        Ok(NumberMemory(self.kept::<NumberPool>().memory(self)?))
    }
}

impl NumberMemory {
    /// Returns the argument for `NUMBER_MEMORY`.
    pub fn argument(&self) -> Argument<'_> {
        self.0.argument::<f64>()
    }
}

/// Returns n / d, or 0 if d is 0.
///
/// Twin of `number_quotient` of `cl/number.cl`.
fn quotient(n: Complex64, d: Complex64) -> Complex64 {
    if d.im == 0.0 {
        return if d.re == 0.0 { Complex64::default() } else { n / d.re };
    }
    let norm = d.re.mul_add(d.re, d.im * d.im);
    let (re, im) = (n.re.mul_add(d.re, n.im * d.im), n.im.mul_add(d.re, -(n.re * d.im)));
    Complex64::new(re / norm, im / norm)
}

/// Returns the product a b.
///
/// Twin of `number_product` of `cl/number.cl`.
fn product(a: Complex64, b: Complex64) -> Complex64 {
    Complex64::new(a.re.mul_add(b.re, -(a.im * b.im)), a.re.mul_add(b.im, a.im * b.re))
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Number({} · {} sums / {} sums)",
            self.factor,
            self.numerators.len(),
            self.denominators.len()
        )
    }
}
