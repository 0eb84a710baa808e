//! Matrices between host and device, beside the work of the device.
//!
//! Matrices travel in pieces through pinned buffers.

use super::copiers::copiers;
use super::host_matrix::{HostRef, dense_of};
use super::staged::{Key, SharedPieces, Staged};
use super::supply::Supply;
use crate::host::level1::Arithmetic;
use crate::matrix::MatrixLayout;
use lattice_compute::{Buffer, Device, Event, Pending, PinnedBuffer, Result};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

/// Bytes of a piece, unless one line is longer.
///
/// One thread copies a piece, and several pieces are copied at a time. Pieces so small are still in
/// the processor's cache when the device reads them.
const PIECE: usize = 4 << 20;

/// Pieces that are being copied, or wait to be sent.
///
/// If lines are longer than a piece, this and the following numbers shrink to the same bytes.
const AHEAD: usize = 16;

/// Pieces that are being sent.
const UPLOADS: usize = 8;

/// Pieces that are being fetched, or copied to where they belong.
const DOWNLOADS: usize = 16;

/// Pieces that wait for devices that need them later.
const WAITING: usize = 64;

/// A piece on its way, and its memory if the caller has to copy it there.
type Promise<T> = (Arc<Staged<T>>, Option<PinnedBuffer<T>>);

/// The way to and from one device.
pub struct Transfer<T> {
    device: Device,
    /// Elements in a pinned buffer.
    capacity: usize,
    /// Uploads, oldest first.
    up: VecDeque<Pending<Arc<PinnedBuffer<T>>>>,
}

impl<T: Arithmetic> Transfer<T> {
    /// Makes a way for matrices with at most `largest` elements.
    ///
    /// Lines have at most `longest_line` elements.
    pub fn new(device: &Device, longest_line: usize, largest: usize) -> Self {
        let capacity = (PIECE / size_of::<T>()).min(largest).max(longest_line).max(1);
        Self { device: device.clone(), capacity, up: VecDeque::new() }
    }

    /// Returns how many pieces there may be of a kind with at most `most`.
    ///
    /// The number shrinks with longer lines, so that they do not take all memory.
    fn depth(&self, most: usize) -> usize {
        (most * PIECE / (self.capacity * size_of::<T>())).clamp(2, most)
    }

    /// Makes the supply of pinned buffers of downloads.
    ///
    /// The buffers come back through `returned`.
    pub fn downloads(&self, returned: Receiver<PinnedBuffer<T>>) -> Supply<PinnedBuffer<T>> {
        Supply::new(self.depth(DOWNLOADS), returned)
    }

    fn pinned(&self) -> Result<PinnedBuffer<T>> {
        PinnedBuffer::kept(&self.device, self.capacity)
    }

    /// Starts to copy a matrix to the start of `to`, without gaps.
    ///
    /// Returns the layout of the copy, and the transfer after which all elements are there.
    /// `shared` is for a panel that other devices need too: it has the panel's pieces and number.
    pub fn upload(
        &mut self,
        from: &HostRef<'_, T>,
        to: &mut Buffer<T>,
        shared: Option<(&SharedPieces<T>, usize)>,
    ) -> Result<(MatrixLayout, Option<Event>)> {
        let layout = dense_of(from.layout());
        let (lines, length) = layout.lines();
        let whole = if length == 0 { 0 } else { lines };
        let mut last = None;
        let (most_ahead, most_sent) = (self.depth(AHEAD), self.depth(UPLOADS));
        copiers()
            .in_place_scope(|scope| {
                let mut pieces = pieces(whole, length, self.capacity).enumerate();
                let mut coming = VecDeque::with_capacity(most_ahead);
                loop {
                    while coming.len() < most_ahead
                        && let Some((number, (first, count))) = pieces.next()
                    {
                        let elements = first * length..(first + count) * length;
                        let (piece, promised) =
                            self.promise(shared.map(|(pieces, panel)| (pieces, (panel, number))))?;
                        if let Some(mut pinned) = promised {
                            let (from, len, piece) = (*from, elements.len(), Arc::clone(&piece));
                            scope.spawn(move |_| {
                                from.copy_lines(first, &mut pinned.as_mut_slice()[..len]);
                                piece.set(pinned);
                            });
                        }
                        coming.push_back((elements, piece));
                    }
                    let Some((elements, piece)) = coming.pop_front() else { return Ok(()) };
                    if self.up.len() == most_sent
                        && let Some(oldest) = self.up.pop_front()
                    {
                        oldest.wait()?;
                    }
                    let pending = piece.wait().share_start_to(to.slice_mut(elements)?, &[])?;
                    // The copy queue works in order: after the last piece all are there.
                    last = Some(pending.event().clone());
                    self.up.push_back(pending);
                }
            })
            .map(|()| (layout, last))
    }

    /// Returns a piece, and the memory for it if the caller has to copy it.
    ///
    /// There is no memory if another device copies the piece.
    fn promise(&self, shared: Option<(&SharedPieces<T>, Key)>) -> Result<Promise<T>> {
        if let Some((pieces, key)) = shared
            && let Some(piece) = pieces.find(key)
        {
            return Ok((piece, None));
        }
        // The memory must be there before another device relies on the piece.
        let pinned = self.pinned()?;
        let (piece, promised) = shared.map_or_else(
            || (Staged::new(), true),
            |(pieces, key)| pieces.find_or_promise(key, self.depth(WAITING)),
        );
        Ok((piece, promised.then_some(pinned)))
    }

    /// Copies a matrix without gaps from the start of `from`.
    ///
    /// No command may still write `from`. The pieces go through the buffers of `pinned`, which
    /// [`Transfer::downloads`] has made. `take` is handed each piece, with the numbers of its first
    /// line and of its elements.
    pub fn download(
        &self,
        from: &Buffer<T>,
        layout: &MatrixLayout,
        pinned: &mut Supply<PinnedBuffer<T>>,
        mut take: impl FnMut(usize, usize, PinnedBuffer<T>),
    ) -> Result<()> {
        let (lines, length) = layout.lines();
        let mut under_way: VecDeque<(usize, usize, Pending<PinnedBuffer<T>>)> = VecDeque::new();
        let whole = if length == 0 { 0 } else { lines };
        for (first, count) in pieces(whole, length, self.capacity) {
            // Half of the buffers are under way, half are with the receiver.
            if under_way.len() == self.depth(DOWNLOADS) / 2
                && let Some((first, elements, oldest)) = under_way.pop_front()
            {
                take(first, elements, oldest.wait()?);
            }
            let elements = first * length..(first + count) * length;
            let len = elements.len();
            // The receiver gives buffers back as long as it runs.
            let next = pinned.next().ok().flatten().map_or_else(|| self.pinned(), Ok)?;
            under_way.push_back((first, len, next.read_start_from(from.slice(elements)?, &[])?));
        }
        for (first, elements, pending) in under_way {
            take(first, elements, pending.wait()?);
        }
        Ok(())
    }
}

/// Returns the first line and the number of lines of each piece.
fn pieces(lines: usize, length: usize, capacity: usize) -> impl Iterator<Item = (usize, usize)> {
    let lines_of_piece = (capacity / length.max(1)).max(1);
    (0..lines).step_by(lines_of_piece).map(move |first| (first, lines_of_piece.min(lines - first)))
}
