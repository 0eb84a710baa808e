//! Matrices between host and device, in pieces through pinned buffers, beside the work of the device.

use super::host_matrix::{HostRef, dense_of};
use crate::blas::matrix::MatrixLayout;
use crate::device::{Buffer, Device, Event, Pending, PinnedBuffer, Result};
use crate::host::level1::Arithmetic;
use std::collections::VecDeque;

/// Bytes of a piece, unless one line is longer.
const PIECE: usize = 32 << 20;

/// Pinned buffers in either direction: some are filled or emptied while the others are under way. The device keeps them for the next
/// product.
pub const BUFFERS: usize = 4;

/// The way to and from one device.
pub struct Transfer<T> {
    device: Device,
    /// Elements in a pinned buffer.
    capacity: usize,
    /// Uploads, oldest first.
    up: VecDeque<Pending<PinnedBuffer<T>>>,
}

impl<T: Arithmetic> Transfer<T> {
    /// For matrices with lines of at most so many elements, and so many elements in all.
    pub fn new(device: &Device, longest_line: usize, largest: usize) -> Self {
        let capacity = (PIECE / size_of::<T>()).min(largest).max(longest_line).max(1);
        Self { device: device.clone(), capacity, up: VecDeque::new() }
    }

    /// A pinned buffer for a download.
    pub fn pinned(&self) -> Result<PinnedBuffer<T>> {
        PinnedBuffer::kept(&self.device, self.capacity)
    }

    /// Starts to copy a matrix to the start of `to`, without gaps. Returns where its elements are then, and the transfer after which all are
    /// there.
    pub fn upload(
        &mut self,
        from: &HostRef<'_, T>,
        to: &mut Buffer<T>,
    ) -> Result<(MatrixLayout, Option<Event>)> {
        let layout = dense_of(from.layout());
        let (lines, length) = layout.lines();
        let whole = if length == 0 { 0 } else { lines };
        let mut last = None;
        for (first, count) in pieces(whole, length, self.capacity) {
            let oldest = if self.up.len() < BUFFERS { None } else { self.up.pop_front() };
            let mut pinned = oldest.map_or_else(|| self.pinned(), Pending::wait)?;
            let elements = first * length..(first + count) * length;
            from.copy_lines(first, &mut pinned.as_mut_slice()[..elements.len()]);
            let pending = pinned.write_start_to(to.slice_mut(elements)?, &[])?;
            // The copy queue works in order: with the last piece all are there.
            last = Some(pending.event().clone());
            self.up.push_back(pending);
        }
        Ok((layout, last))
    }

    /// Copies a matrix without gaps from the start of `from`, which nobody is writing any more. The pieces go through the buffers of `next`,
    /// and are handed to `take`, each with the numbers of its first line and of its elements.
    pub fn download(
        &self,
        from: &Buffer<T>,
        layout: &MatrixLayout,
        mut next: impl FnMut() -> Result<PinnedBuffer<T>>,
        mut take: impl FnMut(usize, usize, PinnedBuffer<T>),
    ) -> Result<()> {
        let (lines, length) = layout.lines();
        let mut under_way: VecDeque<(usize, usize, Pending<PinnedBuffer<T>>)> = VecDeque::new();
        let whole = if length == 0 { 0 } else { lines };
        for (first, count) in pieces(whole, length, self.capacity) {
            // Half of them under way, half of them with whoever takes them.
            if under_way.len() == BUFFERS / 2
                && let Some((first, elements, oldest)) = under_way.pop_front()
            {
                take(first, elements, oldest.wait()?);
            }
            let elements = first * length..(first + count) * length;
            let len = elements.len();
            under_way.push_back((first, len, next()?.read_start_from(from.slice(elements)?, &[])?));
        }
        for (first, elements, pending) in under_way {
            take(first, elements, pending.wait()?);
        }
        Ok(())
    }
}

/// First line and number of lines of each piece.
fn pieces(lines: usize, length: usize, capacity: usize) -> impl Iterator<Item = (usize, usize)> {
    let lines_of_piece = (capacity / length.max(1)).max(1);
    (0..lines).step_by(lines_of_piece).map(move |first| (first, lines_of_piece.min(lines - first)))
}
