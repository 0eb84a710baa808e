//! Numbers that stay on a device: what one kernel sums up and the next one multiplies with.

use crate::error::{DeviceError, Result};
use crate::kernel::{Argument, Parameter};
use crate::memory::{Blocking, Memory};
use crate::open::Device;
use crate::sync::lock;
use num_complex::Complex64;
use std::fmt;
use std::sync::{Arc, Mutex};

/// OpenCL C text that kernels which take a [`Number`] are compiled with: part of the sources of their family.
pub const NUMBER_SOURCE: &str = include_str!("../../cl/number.cl");

/// Sums that a device can keep at once.
const SLOTS: u16 = 4096;

/// Doubles in a slot: the sums of one launch, and a zero behind the third of them so that it reads as a complex number.
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
    /// Slots that nobody uses. Slot 0 never is one: its number stands for the number 1.
    free: Vec<u16>,
}

/// Room for the sums of one launch, on one device or at the same place on several; dropping it gives it back.
///
/// Commands of a device run in order, so the slot can serve the next launch as soon as the last command that uses it has been enqueued.
pub(super) struct Slot {
    /// One for each device.
    places: Vec<SlotOnDevice>,
    index: u16,
}

/// A device, and its memory for sums.
struct SlotOnDevice {
    device: Device,
    /// Where a slot goes back to.
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
    /// The memory of all slots, made if there is none yet.
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

    /// Any free slot.
    fn take(&self) -> Option<u16> {
        lock(&self.0).as_mut()?.free.pop()
    }

    /// This slot, if it is free.
    fn take_this(&self, index: u16) -> Option<u16> {
        let mut pool = lock(&self.0);
        let free = &mut pool.as_mut()?.free;
        // Those that were let go of last are the last ones.
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
    /// A free slot.
    ///
    /// # Errors
    /// [`DeviceError::TooManySums`]; the errors of the first allocation.
    pub(super) fn slot(&self) -> Result<Slot> {
        let place = SlotOnDevice::on(self)?;
        let index = place.numbers.take().ok_or_else(|| place.full())?;
        Ok(Slot { places: vec![place], index })
    }
}

impl Slot {
    /// A slot that is free on all of these devices.
    ///
    /// # Errors
    /// As [`Device::slot`].
    pub fn on_all(devices: &[Device]) -> Result<Self> {
        let places = devices.iter().map(SlotOnDevice::on).collect::<Result<Vec<_>>>()?;
        let (first, others) = places.split_first().expect("a team has devices");
        // Slots that somebody else has on another device go back in the end.
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

    /// Where kernels write the sums: the memory of all slots, and which one is meant.
    pub fn arguments(&self) -> [Argument<'_>; 2] {
        self.arguments_on(0)
    }

    /// The same for kernels of the device with this number among several.
    pub fn arguments_on(&self, device: usize) -> [Argument<'_>; 2] {
        [self.places[device].memory.argument::<f64>(), Argument::value(u32::from(self.index))]
    }

    /// Writes the first sum, as if a launch had made it.
    fn write(&self, sum: Complex64) -> Result<()> {
        // What stands behind the sums is zero and stays so.
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

/// Reads consecutive slots, once what was enqueued before is done.
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

/// Where a sum is.
#[derive(Clone)]
enum Place {
    /// On a device, or on all devices of a team: 0 for the first two doubles of the slot, 1 for the third.
    Slot(Arc<Slot>, u16),
    /// On the host, which has added those of several devices.
    Host(Arc<Complex64>),
}

/// One sum of a launch, or its complex conjugate.
#[derive(Clone)]
struct Sum {
    place: Place,
    conjugate: bool,
}

impl Sum {
    fn at(place: Place) -> Self {
        Self { place, conjugate: false }
    }

    fn is_same(&self, other: &Self) -> bool {
        let at_one_place = match (&self.place, &other.place) {
            (Place::Slot(slot, part), Place::Slot(other, other_part)) => {
                Arc::ptr_eq(slot, other) && part == other_part
            }
            (Place::Host(value), Place::Host(other)) => Arc::ptr_eq(value, other),
            _ => false,
        };
        at_one_place && self.conjugate == other.conjugate
    }

    /// The slot, unless it is on the host.
    fn slot(&self) -> Option<&Arc<Slot>> {
        match &self.place {
            Place::Slot(slot, _) => Some(slot),
            Place::Host(_) => None,
        }
    }

    /// How `cl/number.cl` finds it; `None` on the host.
    fn code(&self) -> Option<u32> {
        match &self.place {
            Place::Slot(slot, part) => Some(u32::from(2 * slot.index + part)),
            Place::Host(_) => None,
        }
    }

    /// Its value, where `slots` are what has been read of the device, from slot number `first` on.
    fn value(&self, slots: &[f64], first: u16) -> Complex64 {
        let value = match &self.place {
            Place::Slot(slot, part) => {
                let at = SLOT_DOUBLES * usize::from(slot.index - first) + 2 * usize::from(*part);
                Complex64::new(slots[at], slots[at + 1])
            }
            Place::Host(value) => **value,
        };
        if self.conjugate { value.conj() } else { value }
    }
}

/// A complex number that a host may know, or that a device has yet to compute: a factor times ratios of sums.
///
/// Combining numbers costs nothing and waits for nothing: kernels that take one compute it from the sums as they start. All sums of
/// a number are on one device, or at the same places on all devices of a team. n/d is 0 where d is, so that a step along a direction that vanished changes nothing.
///
/// The host and devices compute the same bits ([`Number::value`], `cl/number.cl`): products and quotients are written with `fma`, so that no compiler
/// has a choice.
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
    /// The complex sum of a launch, its first two, and the real one that is its third.
    pub(super) fn of_slot(slot: Slot) -> [Self; 2] {
        let slot = Arc::new(slot);
        [0, 1].map(|part| Self {
            factor: Complex64::new(1.0, 0.0),
            numerators: vec![Sum::at(Place::Slot(Arc::clone(&slot), part))],
            denominators: Vec::new(),
        })
    }

    /// A sum that the host has added. It is combined with others as one on a device would be, to the last bit.
    pub fn of_host(sum: Complex64) -> Self {
        let one = Complex64::new(1.0, 0.0);
        Self { factor: one, numerators: vec![Sum::at(Place::Host(Arc::new(sum)))], denominators: Vec::new() }
    }

    /// A number with this value that kernels take from the device, as they do the sum of a launch: what they compute from it is the same to the last
    /// bit.
    ///
    /// # Errors
    /// [`DeviceError::TooManySums`]; [`DeviceError::OpenCl`].
    pub fn on_device(device: &Device, value: Complex64) -> Result<Self> {
        Self::on_devices(std::slice::from_ref(device), value)
    }

    /// As [`Number::on_device`], for kernels of any of these devices.
    ///
    /// # Errors
    /// As [`Number::on_device`].
    pub fn on_devices(devices: &[Device], value: Complex64) -> Result<Self> {
        let slot = Slot::on_all(devices)?;
        slot.write(value)?;
        let [sum, _] = Self::of_slot(slot);
        Ok(sum)
    }

    /// self / denominator, and 0 where that is 0.
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

    /// The complex conjugate.
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

    /// Its value. Waits for the device.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`].
    pub fn value(&self) -> Result<Complex64> {
        Ok(Self::values(&[self])?[0])
    }

    /// The values of several numbers, in one transfer if they are on one device.
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

    /// What a kernel declares for one: `const double <name>_re, const double <name>_im, const uint4 <name>_ratios`, which
    /// `NUMBER_PARAMETERS(<name>)` of `cl/number.cl` stands for.
    pub fn parameters([re, im, ratios]: [&'static str; 3]) -> [Parameter; 3] {
        [Parameter::value::<f64>(re), Parameter::value::<f64>(im), Parameter::value::<[u32; 4]>(ratios)]
    }

    /// What a kernel that takes numbers declares once: `NUMBER_MEMORY` of `cl/number.cl`.
    pub fn memory_parameter() -> Parameter {
        Parameter::input::<f64>("numbers")
    }

    /// The arguments for [`Number::parameters`].
    ///
    /// # Errors
    /// Those of reading it, where it is made of more sums than a kernel takes, or of some that are on the host.
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

/// The memory that [`Number::memory_parameter`] declares.
pub struct NumberMemory(Arc<Memory>);

impl Device {
    /// The memory of the sums that are kept on this device.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`] when it is made.
    pub fn number_memory_argument(&self) -> Result<NumberMemory> {
        Ok(NumberMemory(self.kept::<NumberPool>().memory(self)?))
    }
}

impl NumberMemory {
    /// The argument for [`Number::memory_parameter`].
    pub fn argument(&self) -> Argument<'_> {
        self.0.argument::<f64>()
    }
}

/// numerator / denominator, and 0 where that is 0, as `number_quotient` of `cl/number.cl`.
fn quotient(n: Complex64, d: Complex64) -> Complex64 {
    if d.im == 0.0 {
        return if d.re == 0.0 { Complex64::default() } else { n / d.re };
    }
    let norm = d.re.mul_add(d.re, d.im * d.im);
    let (re, im) = (n.re.mul_add(d.re, n.im * d.im), n.im.mul_add(d.re, -(n.re * d.im)));
    Complex64::new(re / norm, im / norm)
}

/// As `number_product` of `cl/number.cl`.
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
