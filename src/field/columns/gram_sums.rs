//! Gram matrices that the work-groups of a kernel make in parts.

use super::super::carrier::Carrier;
use super::super::communicator::Communicator;
use super::division::tiles;
use crate::compute::{
    Argument, Buffer, Device, DeviceError, DeviceKind, Kernel, KernelFamily, KernelKey, Pending,
    PinnedBuffer, Range,
};
use crate::sync::lock;
use lattice_solvers::SquareMatrix;
use num_complex::Complex64;
use std::sync::Mutex;

const SUM: KernelFamily = KernelFamily::new("columns_sum", &[include_str!("../../../cl/columns_sum.cl")]);

/// Number of parts from which on they are added in two steps.
///
/// With one step, most of a GPU would be idle.
const MANY: usize = 4096;

/// Most sums that the first of the two steps makes.
const MOST_AT_FIRST: usize = 16;

/// Adds up the parts of a Gram matrix on one device, and brings it to the host if that is wanted.
pub(crate) struct GramSums {
    device: Device,
    columns: usize,
    /// Rows and columns of a tile of the matrix.
    tile: usize,
    sum: Kernel,
    /// The ranges of the steps, and how many parts each of their groups adds.
    steps: Vec<(Range, u32)>,
    memory: Mutex<Memory>,
}

/// The memory of the sums.
///
/// The queue runs in order. So a command may overwrite the numbers that an earlier command reads.
struct Memory {
    /// The parts, sums of parts, and at last the numbers of the tiles.
    sums: Vec<Buffer<f64>>,
    /// The sums over all devices, if they were added on the devices.
    totals: Option<Buffer<f64>>,
    /// Memory on the host for the numbers, while no transfer uses it.
    on_host: Option<PinnedBuffer<f64>>,
    /// The transfer of the numbers, until somebody reads them.
    read: Option<Pending<PinnedBuffer<f64>>>,
}

/// Returns the number of parts of each number before each step, and at last.
///
/// The parts lie beside each other. So a first step may make any number of sums that divides their
/// count.
fn counts(groups: usize) -> Vec<usize> {
    let divides = |sums: &usize| groups.is_multiple_of(*sums);
    match (2..=MOST_AT_FIRST).rev().find(divides) {
        Some(sums) if groups >= MANY => vec![groups, sums, 1],
        _ => vec![groups, 1],
    }
}

impl GramSums {
    /// Makes the sums for kernels that run in `groups` groups.
    pub fn new(device: &Device, columns: usize, tile: usize, groups: usize) -> Result<Self, DeviceError> {
        let local = if device.info().kind == DeviceKind::Cpu { 1 } else { 256 };
        let program = device.program(&KernelKey::of_real::<f64>(SUM).define("LOCAL_SIZE", local))?;
        let elements = tiles(columns, tile) * tile * tile;
        let counts = counts(groups);
        let step =
            |counts: &[usize]| (Range::groups(elements * counts[1], local), (counts[0] / counts[1]) as u32);
        let buffers = counts.iter().map(|count| Buffer::uninitialised(device, 2 * elements * count));
        Ok(Self {
            device: device.clone(),
            columns,
            tile,
            sum: program.kernel("columns_sum")?,
            steps: counts.windows(2).map(step).collect(),
            memory: Mutex::new(Memory {
                sums: buffers.collect::<Result<_, _>>()?,
                totals: None,
                on_host: None,
                read: None,
            }),
        })
    }

    /// Starts a kernel that makes the parts, and then the sums.
    ///
    /// `launch` is given the kernel's argument.
    pub fn start(
        &self,
        launch: impl FnOnce(Argument<'_>) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let Memory { sums, read, .. } = &mut *lock(&self.memory);
        *read = None;
        launch(Argument::from(&mut sums[0]))?;
        for (step, (range, count)) in self.steps.iter().enumerate() {
            let (parts, results) = sums.split_at_mut(step + 1);
            let arguments =
                [Argument::value(*count), Argument::from(&parts[step]), Argument::from(&mut results[0])];
            self.sum.start(*range, &arguments)?;
        }
        Ok(())
    }

    /// Starts to bring the matrix that was started last to the host, unless that has begun.
    fn bring(&self) -> Result<(), DeviceError> {
        let Memory { sums, on_host, read, .. } = &mut *lock(&self.memory);
        if read.is_some() {
            return Ok(());
        }
        let sums = &sums[self.steps.len()];
        let on_host = match on_host.take() {
            Some(on_host) => on_host,
            None => PinnedBuffer::zeroed(&self.device, sums.len())?,
        };
        *read = Some(on_host.read_from_in_order(sums)?);
        Ok(())
    }

    /// Reads the matrix that was started last.
    ///
    /// The caller calls this once for each matrix.
    pub fn read(&self) -> Result<SquareMatrix, DeviceError> {
        self.bring()?;
        let mut memory = lock(&self.memory);
        let on_host = memory.read.take().expect("the transfer has begun").wait()?;
        let sums = on_host.as_slice();
        let size = self.tile;
        let across = self.columns.div_ceil(size);
        let mut gram = SquareMatrix::zero(self.columns);
        let corners = (0..across).flat_map(|row| (row..across).map(move |column| (row, column)));
        for (tile, (row, column)) in corners.enumerate() {
            for k in 0..size * size {
                let (i, j) = (size * row + k / size, size * column + k % size);
                if i <= j && j < self.columns {
                    let at = 2 * (tile * size * size + k);
                    gram[(i, j)] = Complex64::new(sums[at], sums[at + 1]);
                    gram[(j, i)] = gram[(i, j)].conj();
                }
            }
        }
        memory.on_host = Some(on_host);
        Ok(gram)
    }
}

/// A Gram matrix under way.
#[must_use]
pub(crate) enum PendingGram<'a> {
    /// A matrix that was made on the host.
    Known(SquareMatrix),
    /// The sum of the matrices of the devices, and the number of columns.
    ///
    /// The sum is in the order of the devices.
    OfShards(&'a Carrier, usize, Vec<&'a GramSums>),
}

impl PendingGram<'_> {
    /// Starts to bring the matrix to the host.
    pub fn bring(&self) -> Result<(), DeviceError> {
        match self {
            Self::Known(_) => Ok(()),
            Self::OfShards(_, _, shards) => shards.iter().try_for_each(|sums| sums.bring()),
        }
    }

    /// Adds the matrix on the devices, and has a kernel of each device take it.
    ///
    /// `launch` is given the number of the device, the kernel's argument, and the rows of a tile.
    ///
    /// # Panics
    /// If the matrix was made on the host.
    pub fn on_devices(
        self,
        mut launch: impl FnMut(usize, Argument<'_>, u32) -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let Self::OfShards(communicator, _, shards) = self else { panic!("a matrix on the host") };
        let mut memory: Vec<_> = shards.iter().map(|sums| lock(&sums.memory)).collect();
        let Some(team) = communicator.team_sums() else {
            let sums = memory[0].sums.last().expect("sums");
            return launch(0, Argument::from(sums), shards[0].tile as u32);
        };
        let mut totals = Vec::new();
        for (shard, memory) in shards.iter().zip(&mut memory) {
            totals.push(match memory.totals.take() {
                Some(totals) => totals,
                None => Buffer::uninitialised(&shard.device, memory.sums[shard.steps.len()].len())?,
            });
        }
        let parts: Vec<_> = memory.iter().map(|memory| memory.sums.last().expect("sums")).collect();
        team.add_arrays(&parts, &mut totals)?;
        for (k, totals) in totals.into_iter().enumerate() {
            launch(k, Argument::from(&totals), shards[k].tile as u32)?;
            memory[k].totals = Some(totals);
        }
        Ok(())
    }

    /// Waits for the matrix.
    pub fn wait(self) -> Result<SquareMatrix, DeviceError> {
        let (communicator, columns, shards) = match self {
            Self::Known(gram) => return Ok(gram),
            Self::OfShards(communicator, columns, shards) => (communicator, columns, shards),
        };
        let parts = shards.into_iter().map(GramSums::read).collect::<Result<Vec<_>, _>>()?;
        let parts: Vec<&[f64]> = parts.iter().map(|part| bytemuck::cast_slice(part.elements())).collect();
        let mut sum = vec![Complex64::default(); columns * columns];
        communicator.sum(&parts, bytemuck::cast_slice_mut(&mut sum))?;
        Ok(SquareMatrix::from_fn(columns, |i, j| sum[i * columns + j]))
    }
}
