//! What one device of a team does in a product of matrices from host memory.

use super::Share;
use super::host_matrix::HostRef;
use super::schedule::Schedule;
use super::transfer::Transfer;
use crate::blas::completion::Completion;
use crate::blas::error::BlasResult;
use crate::blas::gemm::{GemmParams, gemm_with};
use crate::blas::matrix::{MatMut, MatRef, MatrixLayout, Op, Order};
use crate::device::{Buffer, Device, PinnedBuffer};
use crate::host::level1::Arithmetic;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

/// Bytes of a panel of B, if it is to have more than [`LEAST_COLUMNS`].
const PANEL: usize = 512 << 20;

const LEAST_COLUMNS: usize = 256;
const MOST_COLUMNS: usize = 2048;

/// Pinned buffers of a device for results: two under way, two being added to C.
const RESULT_BUFFERS: usize = 4;

/// A product, and how it is cut.
pub struct Job<'a, T> {
    ops: [Op; 2],
    alpha: T,
    a: HostRef<'a, T>,
    b: HostRef<'a, T>,
    /// Of C.
    order: Order,
    n: usize,
    k: usize,
    /// Columns of a panel of B.
    panel: usize,
}

impl<'a, T: Arithmetic> Job<'a, T> {
    pub fn new(
        ops: [Op; 2],
        alpha: T,
        a: HostRef<'a, T>,
        b: HostRef<'a, T>,
        order: Order,
        panel: Option<usize>,
    ) -> Self {
        let (_, n) = ops[1].shape(b.layout().rows, b.layout().columns);
        let (_, k) = ops[0].shape(a.layout().rows, a.layout().columns);
        let suitable = PANEL / (k * size_of::<T>()).max(1) / LEAST_COLUMNS * LEAST_COLUMNS;
        let panel = panel.unwrap_or(suitable.clamp(LEAST_COLUMNS, MOST_COLUMNS)).max(1);
        Self { ops, alpha, a, b, order, n, k, panel }
    }
}

/// A part of α op(A) op(B) in host memory: lines of the block of C with these rows and columns.
pub struct Piece<T> {
    pub member: usize,
    pub rows: Range<usize>,
    pub columns: Range<usize>,
    /// First line within the block.
    pub first: usize,
    /// Elements, from the start of the buffer.
    pub elements: usize,
    pub pinned: PinnedBuffer<T>,
}

/// One device at work.
pub struct Worker<'a, T> {
    pub member: usize,
    pub device: &'a Device,
    pub params: GemmParams,
    pub job: &'a Job<'a, T>,
    pub schedule: &'a Schedule,
}

/// A block of C that the device computes.
struct Tile<T> {
    rows: Range<usize>,
    columns: Range<usize>,
    layout: MatrixLayout,
    buffer: Buffer<T>,
    completion: Completion,
}

/// A panel of B on the device.
struct Panel<T> {
    first: usize,
    buffer: Buffer<T>,
    layout: MatrixLayout,
}

impl<T: Arithmetic> Worker<'_, T> {
    /// Works until the schedule has nothing left, or another device has failed.
    pub fn run(
        self,
        start: Instant,
        (rate, planned_rows): (f64, usize),
        pieces: Sender<Piece<T>>,
        returned: Receiver<PinnedBuffer<T>>,
    ) -> BlasResult<Share> {
        let result = self.work(&pieces, &returned);
        if result.is_err() {
            self.schedule.abandon();
        }
        let (rows, busy) = result?;
        let device = self.device.label().to_owned();
        Ok(Share { device, rate, planned_rows, rows, busy, done: start.elapsed() })
    }

    fn work(
        &self,
        pieces: &Sender<Piece<T>>,
        returned: &Receiver<PinnedBuffer<T>>,
    ) -> BlasResult<(usize, Option<Duration>)> {
        let Job { n, k, panel, .. } = *self.job;
        let mut done = 0;
        let mut busy = Some(Duration::ZERO);
        let mut computing: Option<Tile<T>> = None;
        let mut panels: VecDeque<Panel<T>> = VecDeque::new();
        let mut results = Results { member: self.member, pieces, returned, made: 0 };
        let mut transfer: Option<Transfer<T>> = None;
        while let Some(rows) = self.schedule.next(self.member) {
            let transfer = transfer.get_or_insert_with(|| {
                let largest = k.max(rows.len()).saturating_mul(panel.max(rows.len()));
                Transfer::new(self.device, k.max(n), largest)
            });
            let (a, a_layout) = transfer.upload(&self.job.a.rows_of(self.job.ops[0], rows.clone())?)?;
            for first in (0..n).step_by(panel) {
                let columns = first..(first + panel).min(n);
                if !panels.iter().any(|panel| panel.first == first) {
                    if panels.len() >= self.kept_panels(rows.len()) {
                        // The device keeps the memory until its last product is done.
                        panels.pop_front();
                    }
                    let part = self.job.b.columns_of(self.job.ops[1], columns.clone())?;
                    let (buffer, layout) = transfer.upload(&part)?;
                    panels.push_back(Panel { first, buffer, layout });
                }
                let Some(b) = panels.iter().find(|panel| panel.first == first) else { continue };
                let tile = self.multiply(MatRef::new(&a, a_layout)?, b, rows.clone(), columns)?;
                // The tile before leaves while this one is computed.
                if let Some(before) = computing.replace(tile) {
                    busy = add(busy, results.fetch(transfer, before)?);
                }
            }
            done += rows.len();
        }
        if let (Some(last), Some(transfer)) = (computing, &transfer) {
            busy = add(busy, results.fetch(transfer, last)?);
        }
        Ok((done, busy))
    }

    /// All of B if it fits beside two pieces of A and three tiles, else two panels.
    fn kept_panels(&self, rows: usize) -> usize {
        let Job { n, k, panel, .. } = *self.job;
        let elements = n.saturating_mul(k).saturating_add(2 * rows * k).saturating_add(3 * rows * panel);
        let memory = self.device.info().memory_bytes / 10 * 8;
        if elements.saturating_mul(size_of::<T>()) as u64 <= memory { n.div_ceil(panel) } else { 2 }
    }

    fn multiply(
        &self,
        a: MatRef<'_, T>,
        b: &Panel<T>,
        rows: Range<usize>,
        columns: Range<usize>,
    ) -> BlasResult<Tile<T>> {
        let layout = MatrixLayout::dense(self.job.order, rows.len(), columns.len());
        let mut buffer = Buffer::uninitialised(self.device, rows.len() * columns.len())?;
        let [op_a, op_b] = self.job.ops;
        let (b, to) = (MatRef::new(&b.buffer, b.layout)?, MatMut::new(&mut buffer, layout)?);
        let alpha = self.job.alpha.to_complex();
        let completion = gemm_with(&self.params, op_a, op_b, alpha, a, b, 0.0, to)?;
        self.device.flush()?;
        Ok(Tile { rows, columns, layout, buffer, completion })
    }
}

/// The way of the results of one device to the thread that has C.
struct Results<'a, T> {
    member: usize,
    pieces: &'a Sender<Piece<T>>,
    returned: &'a Receiver<PinnedBuffer<T>>,
    /// Pinned buffers that there are.
    made: usize,
}

impl<T: Arithmetic> Results<'_, T> {
    /// Waits for a tile and sends it off; returns how long its kernels ran.
    fn fetch(&mut self, transfer: &Transfer<T>, tile: Tile<T>) -> BlasResult<Option<Duration>> {
        let Self { member, pieces, returned, made } = self;
        let next = || {
            if *made < RESULT_BUFFERS {
                *made += 1;
                return transfer.pinned();
            }
            // Whoever has C gives every buffer back, and lives longer than this.
            returned.recv().map_or_else(|_| transfer.pinned(), Ok)
        };
        let take = |first, elements, pinned| {
            let (rows, columns) = (tile.rows.clone(), tile.columns.clone());
            let _ = pieces.send(Piece { member: *member, rows, columns, first, elements, pinned });
        };
        transfer.download(&tile.buffer, &tile.layout, tile.completion.event(), next, take)?;
        Ok(tile.completion.duration()?)
    }
}

fn add(sum: Option<Duration>, time: Option<Duration>) -> Option<Duration> {
    sum.zip(time).map(|(sum, time)| sum + time)
}
