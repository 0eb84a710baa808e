//! Kernels that go through memory in a row (`cl/streams.cl`).
//!
//! The arrays are larger than the part that one launch uses.

use super::twin::{PeriodicNumbers, Stream};
use crate::error::Result;
use crate::kernel::{Argument, Kernel, KernelFamily, KernelKey, Range};
use crate::memory::{Buffer, BufferView};
use crate::open::Device;
use crate::queue::Event;
use crate::scalar::Real;
use crate::select::{DeviceInfo, DeviceKind};
use crate::sums::{REDUCTION_SOURCE, Reduction};
use bytemuck::Pod;
use std::marker::PhantomData;
use std::time::Duration;

const STREAMS: KernelFamily =
    KernelFamily::new("streams", &[REDUCTION_SOURCE, include_str!("../../cl/streams.cl")]);

/// Arrays of all operands, cut into windows of equal length.
///
/// A launch works on one window. If launches go from window to window, no window is still in a
/// cache at its next turn.
#[derive(Debug)]
pub struct StreamArrays<T> {
    a: Buffer<T>,
    b: Buffer<T>,
    c: Buffer<T>,
    len: usize,
    windows: usize,
}

impl<T: Real> StreamArrays<T> {
    /// Multiple of elements at which windows begin and end.
    ///
    /// Vectors of every width fit.
    pub const ALIGNMENT: usize = 16;

    /// Makes `windows` windows of `len` elements.
    ///
    /// `len` is rounded up to a multiple of [`StreamArrays::ALIGNMENT`]. The numbers `b` and `c`
    /// repeat through all windows.
    ///
    /// # Errors
    /// [`DeviceError::AllocationTooLarge`](crate::DeviceError::AllocationTooLarge),
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn new(
        device: &Device,
        len: usize,
        windows: usize,
        b: &PeriodicNumbers,
        c: &PeriodicNumbers,
    ) -> Result<Self> {
        let len = len.max(1).next_multiple_of(Self::ALIGNMENT);
        let all = len * windows;
        Ok(Self {
            a: Buffer::zeroed(device, all)?,
            b: repeated(device, &b.to_vec(), all)?,
            c: repeated(device, &c.to_vec(), all)?,
            len,
            windows,
        })
    }

    /// Returns the number of elements of a window.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `false`: windows have elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of windows.
    pub fn windows(&self) -> usize {
        self.windows
    }

    /// Returns the number of the first element of a window.
    pub fn start(&self, window: usize) -> usize {
        window % self.windows * self.len
    }

    /// Returns one window of the array that the kernels write.
    ///
    /// # Errors
    /// None for an existing window.
    pub fn output(&self, window: usize) -> Result<BufferView<'_, T>> {
        self.a.slice(self.start(window)..self.start(window) + self.len)
    }

    /// Overwrites the kernels' output with NaN.
    ///
    /// So nobody takes an old result for a new one.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn clear_output(&mut self) -> Result<()> {
        self.a.fill(T::nan())
    }
}

/// Makes a buffer of `len` elements that repeats `values`; zeros if there are none.
///
/// # Errors
/// [`DeviceError::AllocationTooLarge`](crate::DeviceError::AllocationTooLarge),
/// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
pub fn repeated<T: Pod>(device: &Device, values: &[T], len: usize) -> Result<Buffer<T>> {
    let mut buffer = Buffer::zeroed(device, len)?;
    if values.is_empty() {
        return Ok(buffer);
    }
    let mut filled = values.len().min(len);
    buffer.slice_mut(..filled)?.write(&values[..filled])?;
    // The filled part is whole periods as long as it is copied whole.
    while filled < len {
        let more = filled.min(len - filled);
        let (left, mut right) = buffer.view_mut().split_at(filled)?;
        right.slice_mut(..more)?.copy_from(left.as_view().slice(..more)?)?;
        filled += more;
    }
    Ok(buffer)
}

/// The division of a stream into work-groups.
///
/// For GPUs the division follows measurements on an H200. Copies of 1 GiB ran at 4.23 TB/s with one
/// vector an item and at 4.20 TB/s with four. Dot products ran at 4.55 TB/s with blocks in turns.
/// Dot products ran at 4.03 TB/s with a stretch for each group that the GPU holds at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    pub local: usize,
    processor: bool,
    compute_units: usize,
}

impl Cut {
    /// Vectors that an item of a sum loads before it adds the first.
    ///
    /// `AHEAD` of `cl/streams.cl`.
    const AHEAD: usize = 2;

    pub fn of(info: &DeviceInfo) -> Self {
        let processor = info.kind == DeviceKind::Cpu;
        let local = if processor { 1 } else { info.max_work_group_size.min(256) };
        Self { local, processor, compute_units: info.compute_units }
    }

    /// Returns the number of groups for `vectors` that are written.
    ///
    /// On a GPU each work-item has `each` vectors.
    pub fn groups(&self, vectors: usize, each: usize) -> usize {
        if self.processor { self.groups_of_sum(vectors) } else { vectors.div_ceil(each * self.local).max(1) }
    }

    /// Returns the number of groups for `vectors` that are summed.
    ///
    /// Each group brings a part of the sum. A GPU gets eight times the groups that it holds at a
    /// time, so that its units end together.
    pub fn groups_of_sum(&self, vectors: usize) -> usize {
        let (most, each) = if self.processor { (4, 4) } else { (64, Self::AHEAD * self.local) };
        vectors.div_ceil(each).clamp(1, (most * self.compute_units).max(1))
    }
}

/// The kernels for one precision and width of vectors.
#[derive(Debug)]
pub struct StreamKernels<T> {
    device: Device,
    lanes: usize,
    cut: Cut,
    kernels: Vec<Kernel>,
    number: PhantomData<T>,
}

/// A stream in progress.
#[derive(Debug)]
pub struct StreamLaunch {
    event: Event,
    sum: Option<Reduction>,
}

impl StreamLaunch {
    /// Waits, and returns the sum of a stream that makes one, and the kernel's time.
    ///
    /// [`Event::duration`] gives the time.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn wait(self) -> Result<(Option<f64>, Option<Duration>)> {
        let sum = self.sum.map(Reduction::read).transpose()?.map(|sums| sums[0]);
        Ok((sum, self.event.duration()?))
    }
}

impl<T: Real> StreamKernels<T> {
    /// Builds the kernels for vectors of `lanes` numbers: 1, 2, 4, 8 or 16.
    ///
    /// # Errors
    /// [`DeviceError::Build`](crate::DeviceError::Build).
    pub fn new(device: &Device, lanes: usize) -> Result<Self> {
        let cut = Cut::of(device.info());
        let key = KernelKey::of_real::<T>(STREAMS)
            .lanes(lanes)
            .define("LOCAL_SIZE", cut.local)
            .define("AHEAD", Cut::AHEAD);
        let program = device.program(&key)?;
        let kernel = |stream: Stream| program.kernel(&format!("stream_{}", stream.name()));
        let kernels = Stream::ALL.map(kernel).into_iter().collect::<Result<_>>()?;
        Ok(Self { device: device.clone(), lanes, cut, kernels, number: PhantomData })
    }

    /// Returns the width that suits the device.
    ///
    /// A GPU gets 16 bytes, a processor gets a whole vector register of the widest kind.
    pub fn native_lanes(info: &DeviceInfo) -> usize {
        (if info.kind == DeviceKind::Cpu { 64 } else { 16 }) / size_of::<T>()
    }

    /// Starts a stream on one window.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](crate::DeviceError::OpenCl).
    pub fn launch(
        &self,
        stream: Stream,
        arrays: &mut StreamArrays<T>,
        window: usize,
    ) -> Result<StreamLaunch> {
        let window = arrays.start(window)..arrays.start(window) + arrays.len;
        let vectors = arrays.len / self.lanes;
        let mut a = arrays.a.slice_mut(window.clone())?;
        let (b, c) = (arrays.b.slice(window.clone())?.into(), arrays.c.slice(window)?.into());
        let (s, count) = (Argument::value(T::from_f64(Stream::FACTOR)), Argument::value(vectors as u64));
        let kernel = &self.kernels[stream as usize];
        if stream.is_sum() {
            let groups = self.cut.groups_of_sum(vectors);
            let mut sum = self.device.reduction(groups)?;
            let operands: &[Argument<'_>] = if stream == Stream::Dot { &[b, c, count] } else { &[b, count] };
            let arguments = [operands, &sum.arguments()].concat();
            let event = kernel.launch(Range::groups(groups, self.cut.local), &arguments)?;
            return Ok(StreamLaunch { event, sum: Some(sum) });
        }
        let a = (&mut a).into();
        let arguments: &[Argument<'_>] = match stream {
            Stream::Write => &[a, s, count],
            Stream::Copy => &[a, b, count],
            Stream::Scale => &[a, b, s, count],
            Stream::Add => &[a, b, c, count],
            _ => &[a, b, c, s, count],
        };
        let range = Range::groups(self.cut.groups(vectors, 1), self.cut.local);
        Ok(StreamLaunch { event: kernel.launch(range, arguments)?, sum: None })
    }
}
