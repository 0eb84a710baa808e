//! The work of one device of a team in a product of matrices from host memory.

use super::feeder::{Fed, Feeder, Operand};
use super::job::Job;
use super::report::Share;
use super::room::{Room, TILES};
use super::schedule::Schedule;
use super::staged::SharedPieces;
use super::supply::Supply;
use super::transfer::Transfer;
use crate::completion::Completion;
use crate::error::BlasResult;
use crate::gemm::{GemmParams, gemm_with};
use crate::host::level1::Arithmetic;
use crate::matrix::{MatMut, MatRef, MatrixLayout};
use lattice_compute::{Buffer, Device, DeviceError, PinnedBuffer};
use lattice_files::threads::{joined, start};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

/// A part of α op(A) op(B) in host memory.
///
/// The part is lines of the block of C with these rows and columns.
pub struct Piece<T> {
    pub member: usize,
    pub rows: Range<usize>,
    pub columns: Range<usize>,
    /// First line within the block.
    pub first: usize,
    /// Number of elements, from the start of the buffer.
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
    /// Pieces that the device shares with other devices.
    pub shared: &'a SharedPieces<T>,
    pub room: Room,
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
        let result = self.work(pieces, returned);
        if result.is_err() {
            self.schedule.abandon();
        }
        let (rows, busy) = result?;
        let device = self.device.label().to_owned();
        Ok(Share { device, rate, planned_rows, rows, busy, done: start.elapsed() })
    }

    /// Returns the number of computed rows, and how long the kernels ran.
    fn work(
        &self,
        pieces: Sender<Piece<T>>,
        returned: Receiver<PinnedBuffer<T>>,
    ) -> BlasResult<(usize, Option<Duration>)> {
        let Self { member, device, job, schedule, shared, room, .. } = *self;
        let (to, fed) = mpsc::channel();
        let (spent_strips, strips) = mpsc::channel();
        let (spent_panels, panels) = mpsc::channel();
        let feeder = Feeder::new((member, device), job, schedule, shared, room, [strips, panels], to);
        let transfer = job.transfer(device);
        let multiplier = Multiplier {
            worker: self,
            strips: Vec::new(),
            panels: Vec::new(),
            under_way: VecDeque::new(),
            spare: Vec::new(),
            spent_strips,
            spent_panels,
            pinned: transfer.downloads(returned),
            transfer,
            pieces,
            rows: 0,
            busy: Some(Duration::ZERO),
        };
        std::thread::scope(|scope| {
            let feeding = start(scope, move || feeder.run()).map_err(DeviceError::from)?;
            // When one thread ends first, its channels tell the other.
            let multiplied = multiplier.run(fed);
            let fed = joined(feeding);
            fed.and(multiplied)
        })
    }
}

/// A strip of op(A) on the device.
struct Strip<T> {
    operand: Operand<T>,
    /// Columns of op(B) that the strip has not met.
    left: usize,
}

/// A tile of C under way.
struct Tile<T> {
    rows: Range<usize>,
    columns: Range<usize>,
    layout: MatrixLayout,
    buffer: Buffer<T>,
    completion: Completion,
    /// Memory that is free once the tile is done.
    spent: Vec<Spent<T>>,
}

/// Memory for the next operand.
enum Spent<T> {
    Strip(Buffer<T>),
    Panel(Buffer<T>),
}

/// The multiplier of the operands that arrive.
struct Multiplier<'a, T> {
    worker: &'a Worker<'a, T>,
    strips: Vec<Strip<T>>,
    panels: Vec<Operand<T>>,
    /// Tiles, oldest first.
    ///
    /// While one tile is fetched, the device has the next ones.
    under_way: VecDeque<Tile<T>>,
    /// Memory of tiles that are done.
    spare: Vec<Buffer<T>>,
    spent_strips: Sender<Buffer<T>>,
    spent_panels: Sender<Buffer<T>>,
    transfer: Transfer<T>,
    /// Channel to the thread that has C.
    pieces: Sender<Piece<T>>,
    /// Buffers that come back from the thread that has C.
    pinned: Supply<PinnedBuffer<T>>,
    rows: usize,
    busy: Option<Duration>,
}

impl<T: Arithmetic> Multiplier<'_, T> {
    /// Returns the number of computed rows, and how long the kernels ran.
    fn run(mut self, fed: Receiver<Fed<T>>) -> BlasResult<(usize, Option<Duration>)> {
        loop {
            let next = if let Ok(next) = fed.try_recv() {
                next
            } else if let Some(oldest) = self.under_way.pop_front() {
                // There is time to fetch results.
                self.fetch(oldest)?;
                continue;
            } else if let Ok(next) = fed.recv() {
                next
            } else {
                return Ok((self.rows, self.busy));
            };
            match next {
                Fed::Strip(strip) => self.take_strip(strip)?,
                Fed::Panel(panel) => self.take_panel(panel)?,
            }
        }
    }

    fn take_strip(&mut self, operand: Operand<T>) -> BlasResult<()> {
        self.expect(&operand)?;
        let mut strip = Strip { operand, left: self.worker.job.n };
        let panels = std::mem::take(&mut self.panels);
        for panel in &panels {
            self.multiply(&mut strip, panel)?;
        }
        self.panels = panels;
        self.keep(strip);
        Ok(())
    }

    fn take_panel(&mut self, panel: Operand<T>) -> BlasResult<()> {
        self.expect(&panel)?;
        for mut strip in std::mem::take(&mut self.strips) {
            self.multiply(&mut strip, &panel)?;
            self.keep(strip);
        }
        if self.worker.room.keeps_b {
            self.panels.push(panel);
        } else {
            self.spend(Spent::Panel(panel.buffer));
        }
        Ok(())
    }

    /// Makes the kernels that are launched from now on wait for an operand.
    fn expect(&self, operand: &Operand<T>) -> BlasResult<()> {
        Ok(self.worker.device.compute_after(operand.arrival.as_ref().as_slice())?)
    }

    /// Keeps a strip until it has met all panels.
    fn keep(&mut self, strip: Strip<T>) {
        if strip.left > 0 {
            self.strips.push(strip);
        } else {
            self.rows += strip.operand.range.len();
            self.spend(Spent::Strip(strip.operand.buffer));
        }
    }

    /// Gives memory back once all tiles so far are done.
    fn spend(&mut self, spent: Spent<T>) {
        match self.under_way.back_mut() {
            Some(tile) => tile.spent.push(spent),
            None => self.give_back(spent),
        }
    }

    fn give_back(&self, spent: Spent<T>) {
        // Nobody takes the memory once all operands are there.
        let _ = match spent {
            Spent::Strip(buffer) => self.spent_strips.send(buffer),
            Spent::Panel(buffer) => self.spent_panels.send(buffer),
        };
    }

    /// Starts a tile.
    fn multiply(&mut self, strip: &mut Strip<T>, panel: &Operand<T>) -> BlasResult<()> {
        while self.under_way.len() >= TILES
            && let Some(oldest) = self.under_way.pop_front()
        {
            self.fetch(oldest)?;
        }
        let Worker { device, params, job, schedule, member, .. } = self.worker;
        let mut buffer = match self.spare.pop() {
            Some(buffer) => buffer,
            None => Buffer::uninitialised(device, schedule.most_rows(*member) * job.panel)?,
        };
        let (rows, columns) = (strip.operand.range.clone(), panel.range.clone());
        let layout = MatrixLayout::dense(job.order, rows.len(), columns.len());
        let a = MatRef::new(&strip.operand.buffer, strip.operand.layout)?;
        let (b, to) = (MatRef::new(&panel.buffer, panel.layout)?, MatMut::new(&mut buffer, layout)?);
        let [op_a, op_b] = job.ops;
        let completion = gemm_with(params, op_a, op_b, job.alpha, a, b, 0, to)?;
        device.flush()?;
        strip.left -= columns.len();
        self.under_way.push_back(Tile { rows, columns, layout, buffer, completion, spent: Vec::new() });
        Ok(())
    }

    /// Waits for a tile and sends it to the thread that has C.
    fn fetch(&mut self, tile: Tile<T>) -> BlasResult<()> {
        // The wait is here because on the copy queue uploads would wait behind the tile.
        let time = tile.completion.duration()?;
        self.busy = self.busy.zip(time).map(|(sum, time)| sum + time);
        tile.spent.into_iter().for_each(|spent| self.give_back(spent));
        let Self { transfer, pieces, pinned, worker, .. } = self;
        let take = |first, elements, pinned| {
            let (rows, columns) = (tile.rows.clone(), tile.columns.clone());
            let _ = pieces.send(Piece { member: worker.member, rows, columns, first, elements, pinned });
        };
        transfer.download(&tile.buffer, &tile.layout, pinned, take)?;
        self.spare.push(tile.buffer);
        Ok(())
    }
}
