//! The small matrices of an iteration on columns, on the devices or on the host.

use super::gram_sums::PendingGram;
use crate::compute::{
    Argument, Buffer, Device, DeviceError, DeviceKind, Kernel, KernelFamily, KernelKey, Pending, Range,
};
use lattice_solvers::{BlockEvent, BlockRecurrence, Limits, SquareMatrix};
use num_complex::Complex64;

const RECURRENCE: KernelFamily =
    KernelFamily::new("columns_recurrence", &[include_str!("../../../cl/columns_recurrence.cl")]);

/// Matrices at the beginning of the numbers: C, C before, T, T⁻¹ and E.
const MATRICES: usize = 5;

/// Numbers between those of each column and the residuals: event, relative, logged, overwrites.
const COUNTS: usize = 4;

/// The small matrices by which block Conjugate Gradient on columns goes on.
///
/// If sums stay on the devices, each device has the matrices, and all have the same bits. The host
/// then waits for nothing. Otherwise the matrices are on the host.
pub struct ColumnRecurrence(pub(crate) RecurrenceMatrices);

/// The matrices, on the host or on the devices.
pub(crate) enum RecurrenceMatrices {
    OnHost(Box<BlockRecurrence>),
    OnDevices(Box<OnDevices>),
}

/// The matrices on each device.
pub(crate) struct OnDevices {
    /// The recurrence that was brought there.
    begun: BlockRecurrence,
    devices: Vec<OnDevice>,
}

/// The matrices on one device: see `cl/columns_recurrence.cl`.
pub(crate) struct OnDevice {
    device: Device,
    numbers: Buffer<f64>,
    subtrahend: Buffer<f64>,
    moves: Buffer<f64>,
    follow_curvature: Kernel,
    follow_residual: Kernel,
    range: Range,
    /// The transfers under way, whose memory on the host has to stay.
    sent: Vec<Pending<Vec<f64>>>,
}

/// A matrix that multiplies columns, known to the host or on the devices.
#[derive(Clone, Copy)]
pub(crate) enum ColumnMatrix<'a> {
    Known(&'a SquareMatrix),
    OnDevices(&'a OnDevices),
}

impl ColumnMatrix<'_> {
    /// Returns the number of rows.
    pub fn size(&self) -> usize {
        match self {
            Self::Known(matrix) => matrix.size(),
            Self::OnDevices(matrices) => matrices.begun.c.size(),
        }
    }
}

impl ColumnRecurrence {
    /// Prepares for a Gram matrix that is under way.
    ///
    /// If the host will need the matrix, the transfer starts, so that later launches come behind it.
    pub(crate) fn expect(&self, gram: &PendingGram<'_>) -> Result<(), DeviceError> {
        match self.0 {
            RecurrenceMatrices::OnHost(_) => gram.bring(),
            RecurrenceMatrices::OnDevices(_) => Ok(()),
        }
    }

    /// Makes the D of [`BlockRecurrence::follow_curvature`], and returns it.
    pub(crate) fn follow_curvature(
        &mut self,
        curvature: PendingGram<'_>,
    ) -> Result<ColumnMatrix<'_>, DeviceError> {
        match &mut self.0 {
            RecurrenceMatrices::OnHost(recurrence) => {
                recurrence.follow_curvature(&curvature.wait()?);
                Ok(ColumnMatrix::Known(&recurrence.subtrahend))
            }
            RecurrenceMatrices::OnDevices(there) => {
                let OnDevices { begun, devices } = &mut **there;
                curvature
                    .on_devices(|k, gram, tile| devices[k].follow_curvature(&begun.limits, gram, tile))?;
                Ok(ColumnMatrix::OnDevices(there))
            }
        }
    }

    /// Goes on like [`BlockRecurrence::follow_residual`].
    pub(crate) fn follow_residual(&mut self, gram: PendingGram<'_>) -> Result<(), DeviceError> {
        match &mut self.0 {
            RecurrenceMatrices::OnHost(recurrence) => recurrence.follow_residual(&gram.wait()?),
            RecurrenceMatrices::OnDevices(there) => {
                let OnDevices { begun, devices } = &mut **there;
                gram.on_devices(|k, gram, tile| devices[k].follow_residual(begun, gram, tile))?;
            }
        }
        Ok(())
    }

    /// Waits for all iterations so far, and returns the matrices.
    pub(crate) fn see(&self) -> Result<BlockRecurrence, DeviceError> {
        match &self.0 {
            RecurrenceMatrices::OnHost(recurrence) => Ok((**recurrence).clone()),
            RecurrenceMatrices::OnDevices(there) => there.see(),
        }
    }
}

impl OnDevices {
    /// Brings the matrices to each device.
    pub fn new(devices: &[&Device], from: BlockRecurrence) -> Result<Self, DeviceError> {
        let columns = from.c.size();
        let devices =
            devices.iter().map(|device| OnDevice::new(device, columns)).collect::<Result<_, _>>()?;
        let mut there = Self { begun: from.clone(), devices };
        there.renew(from)?;
        Ok(there)
    }

    /// Replaces the matrices on each device.
    pub fn renew(&mut self, from: BlockRecurrence) -> Result<(), DeviceError> {
        self.begun = from;
        self.devices.iter_mut().try_for_each(|device| device.receive(&self.begun))
    }

    /// Returns the matrices of the first device, which are those of all.
    fn see(&self) -> Result<BlockRecurrence, DeviceError> {
        self.see_on(0)
    }

    /// Returns the matrices of device `k`.
    fn see_on(&self, k: usize) -> Result<BlockRecurrence, DeviceError> {
        let numbers = self.devices[k].numbers.to_vec()?;
        let mut seen = self.begun.clone();
        let columns = seen.c.size();
        let matrix = |k: usize| matrix_at(&numbers, k, columns);
        (seen.c, seen.last_c, seen.t, seen.t_inverse) = (matrix(0), matrix(1), matrix(2), matrix(3));
        seen.step = matrix(4);
        let plain = &numbers[MATRICES * 2 * columns * columns + 2 * columns..];
        let ([event, relative, logged, overwrites], log) = plain.split_first_chunk().expect("counts");
        seen.event = event_of(*event, *relative);
        seen.overwrites = *overwrites as u64;
        seen.residuals = log.chunks(columns).take(*logged as usize).map(<[f64]>::to_vec).collect();
        Ok(seen)
    }

    /// Returns all matrices of device `k`, those of its next kernels included.
    #[cfg(test)]
    pub fn all_on(&self, k: usize) -> BlockRecurrence {
        let OnDevice { subtrahend, moves, .. } = &self.devices[k];
        let (subtrahend, moves) = (subtrahend.to_vec().unwrap(), moves.to_vec().unwrap());
        let columns = self.begun.c.size();
        let [turn, keep] = [2, 3].map(|matrix| matrix_at(&moves, matrix, columns));
        let overwrite = moves[moves.len() - 2] != 0.0;
        let seen = self.see_on(k).unwrap();
        assert_eq!(matrix_at(&moves, 1, columns), seen.step, "the step along P");
        let earlier = matrix_at(&moves, 0, columns);
        BlockRecurrence {
            subtrahend: matrix_at(&subtrahend, 0, columns),
            earlier,
            turn,
            keep,
            overwrite,
            ..seen
        }
    }

    /// Has device `k` follow a curvature and a residual, in tiles of so many rows.
    #[cfg(test)]
    pub fn follow_on(&mut self, k: usize, grams: [&Buffer<f64>; 2], tile: u32) {
        let Self { begun, devices } = self;
        let [curvature, residual] = grams.map(Argument::from);
        devices[k].follow_curvature(&begun.limits, curvature, tile).unwrap();
        devices[k].follow_residual(begun, residual, tile).unwrap();
    }

    /// Returns the matrices of device `k` as arguments: D of the descent, and those of an advance.
    pub fn arguments(&self, k: usize) -> [Argument<'_>; 2] {
        let OnDevice { subtrahend, moves, .. } = &self.devices[k];
        [subtrahend, moves].map(Argument::from)
    }

    /// Returns the D of the descent on a device as an argument.
    ///
    /// # Panics
    /// If the matrices are on other devices.
    pub fn subtrahend_on(&self, device: &Device) -> Argument<'_> {
        let there = self.devices.iter().find(|there| there.device == *device);
        Argument::from(&there.expect("matrices on the devices of the fields").subtrahend)
    }
}

impl OnDevice {
    fn new(device: &Device, columns: usize) -> Result<Self, DeviceError> {
        // On a processor the work-items of a group take turns.
        let local = if device.info().kind == DeviceKind::Cpu { 1 } else { 256 };
        let key =
            KernelKey::of_real::<f64>(RECURRENCE).define("LOCAL_SIZE", local).define("COLUMNS", columns);
        let program = device.program(&key)?;
        let elements = 2 * columns * columns;
        let log = BlockRecurrence::MOST_ITERATIONS * columns;
        Ok(Self {
            device: device.clone(),
            numbers: Buffer::zeroed(device, MATRICES * elements + 2 * columns + COUNTS + log)?,
            subtrahend: Buffer::zeroed(device, elements)?,
            moves: Buffer::zeroed(device, 4 * elements + 2)?,
            follow_curvature: program.kernel("columns_follow_curvature")?,
            follow_residual: program.kernel("columns_follow_residual")?,
            range: Range::groups(1, local),
            sent: Vec::new(),
        })
    }

    /// Starts to bring matrices here.
    ///
    /// The queue runs in order. The matrices may therefore overwrite earlier ones that a kernel
    /// before still reads.
    fn receive(&mut self, from: &BlockRecurrence) -> Result<(), DeviceError> {
        let BlockRecurrence { due, c, last_c, t, t_inverse, step, .. } = from;
        let pairs = |matrix: &SquareMatrix| -> Vec<f64> {
            matrix.elements().iter().flat_map(|z| [z.re, z.im]).collect()
        };
        let mut numbers: Vec<f64> = [c, last_c, t, t_inverse, step].map(pairs).concat();
        numbers.extend(due.scales.iter().chain(&due.targets));
        numbers.resize(self.numbers.len(), 0.0);
        let mut moves = vec![0.0; self.moves.len()];
        let step = pairs(step);
        // The step is behind the one of the direction before it.
        moves[step.len()..][..step.len()].copy_from_slice(&step);
        self.sent = vec![self.numbers.upload(numbers)?, self.moves.upload(moves)?];
        Ok(())
    }

    fn follow_curvature(
        &mut self,
        limits: &Limits,
        gram: Argument<'_>,
        tile: u32,
    ) -> Result<(), DeviceError> {
        let Self { numbers, subtrahend, moves, .. } = self;
        let [numbers, subtrahend, moves] = [numbers, subtrahend, moves].map(Argument::from);
        let breakdown = Argument::value(limits.breakdown);
        let arguments = [gram, Argument::value(tile), breakdown, numbers, subtrahend, moves];
        self.follow_curvature.start(self.range, &arguments)
    }

    fn follow_residual(
        &mut self,
        begun: &BlockRecurrence,
        gram: Argument<'_>,
        tile: u32,
    ) -> Result<(), DeviceError> {
        let Limits { dependent, alike, overwritten, .. } = begun.limits;
        let [dependent, alike, overwritten, bound] =
            [dependent, alike, overwritten, begun.due.bound].map(Argument::value);
        let replaces = Argument::value(u32::from(begun.due.replaces));
        let [numbers, moves] = [&mut self.numbers, &mut self.moves].map(Argument::from);
        let tile = Argument::value(tile);
        let arguments = [gram, tile, dependent, alike, overwritten, bound, replaces, numbers, moves];
        self.follow_residual.start(self.range, &arguments)
    }
}

/// Returns the matrix with this number among matrices one after the other.
fn matrix_at(numbers: &[f64], number: usize, columns: usize) -> SquareMatrix {
    let first = number * columns * columns;
    SquareMatrix::from_fn(columns, |i, j| {
        let at = 2 * (first + i * columns + j);
        Complex64::new(numbers[at], numbers[at + 1])
    })
}

/// Returns the event with this number in `cl/columns_recurrence.cl`.
fn event_of(number: f64, relative: f64) -> Option<BlockEvent> {
    match number as u32 {
        0 => None,
        1 => Some(BlockEvent::Due),
        2 => Some(BlockEvent::Alike),
        3 => Some(BlockEvent::Breakdown(relative)),
        4 => Some(BlockEvent::InfiniteCurvature),
        _ => Some(BlockEvent::InfiniteResidual),
    }
}
