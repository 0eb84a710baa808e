//! A thread that brings the operands of one device, ahead of the multiplication.

use super::host_matrix::HostRef;
use super::job::Job;
use super::room::{PANELS, Room};
use super::schedule::Schedule;
use super::staged::SharedPieces;
use super::supply::Supply;
use super::transfer::Transfer;
use crate::error::BlasResult;
use crate::host::level1::Arithmetic;
use crate::matrix::MatrixLayout;
use lattice_compute::{Buffer, Device, Event};
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender};

/// A part of A or B that is on its way to the device, or there.
pub struct Operand<T> {
    /// Rows of op(A), or columns of op(B).
    pub range: Range<usize>,
    pub buffer: Buffer<T>,
    pub layout: MatrixLayout,
    /// The event of the operand's arrival.
    pub arrival: Option<Event>,
}

/// The next operand.
///
/// Each new panel meets all strips that are not finished. Each new strip meets all panels that
/// stay.
pub enum Fed<T> {
    Strip(Operand<T>),
    Panel(Operand<T>),
}

/// The thread that copies operands to one device.
pub struct Feeder<'a, T> {
    member: usize,
    device: &'a Device,
    job: &'a Job<'a, T>,
    schedule: &'a Schedule,
    shared: &'a SharedPieces<T>,
    room: Room,
    transfer: Transfer<T>,
    strips: Supply<Buffer<T>>,
    panels: Supply<Buffer<T>>,
    to: Sender<Fed<T>>,
}

impl<'a, T: Arithmetic> Feeder<'a, T> {
    /// Makes a feeder that takes its rows from `schedule`.
    ///
    /// Buffers that are not needed any more come back through `strips` and `panels`.
    pub fn new(
        (member, device): (usize, &'a Device),
        job: &'a Job<'a, T>,
        schedule: &'a Schedule,
        shared: &'a SharedPieces<T>,
        room: Room,
        [strips, panels]: [Receiver<Buffer<T>>; 2],
        to: Sender<Fed<T>>,
    ) -> Self {
        let (strips, panels) = (Supply::new(room.strips, strips), Supply::new(PANELS, panels));
        let transfer = job.transfer(device);
        Self { member, device, job, schedule, shared, room, transfer, strips, panels, to }
    }

    /// Brings all operands, until the schedule is empty or nobody wants more.
    pub fn run(mut self) -> BlasResult<()> {
        if self.room.keeps_b { self.bring_b_once() } else { self.bring_b_each_time() }
    }

    /// Brings each panel of B once, with strips and panels in turn at first.
    ///
    /// The possible work grows with the product of the numbers of strips and panels. So the work
    /// soon takes longer than the transfers.
    fn bring_b_once(&mut self) -> BlasResult<()> {
        let mut panels = 0..self.job.panels();
        let mut strips = 0;
        loop {
            let more = self.strip()?;
            strips += usize::from(more);
            if strips == 0 {
                return Ok(());
            }
            // There is no memory for more strips until one has met all panels.
            let together = more && strips < self.room.strips - 1;
            for panel in panels.by_ref().take(if together { 1 } else { usize::MAX }) {
                if !self.panel(panel)? {
                    return Ok(());
                }
            }
            if !more {
                return Ok(());
            }
        }
    }

    /// Brings all of B for each group of strips.
    fn bring_b_each_time(&mut self) -> BlasResult<()> {
        loop {
            let mut strips = 0;
            while strips < self.room.strips - 1 && self.strip()? {
                strips += 1;
            }
            if strips == 0 {
                return Ok(());
            }
            for panel in 0..self.job.panels() {
                if !self.panel(panel)? {
                    return Ok(());
                }
            }
        }
    }

    /// Brings the next rows of op(A); `false` if there are none.
    fn strip(&mut self) -> BlasResult<bool> {
        // Rows are taken once there is room for them. Until then others may have them.
        let Ok(buffer) = self.strips.next() else { return Ok(false) };
        let Some(rows) = self.schedule.next(self.member) else { return Ok(false) };
        let buffer = match buffer {
            Some(buffer) => buffer,
            None => Buffer::uninitialised(self.device, self.schedule.most_rows(self.member) * self.job.k)?,
        };
        let part = self.job.a.rows_of(self.job.ops[0], rows.clone())?;
        let strip = self.bring(rows, &part, buffer, None)?;
        Ok(self.to.send(Fed::Strip(strip)).is_ok())
    }

    /// Brings a panel of op(B); `false` if nobody wants it.
    fn panel(&mut self, number: usize) -> BlasResult<bool> {
        if self.schedule.is_abandoned() {
            return Ok(false);
        }
        let Job { n, k, panel, .. } = *self.job;
        let columns = number * panel..((number + 1) * panel).min(n);
        let buffer = if self.room.keeps_b {
            Buffer::uninitialised(self.device, columns.len() * k)?
        } else {
            match self.panels.next() {
                Ok(Some(buffer)) => buffer,
                Ok(None) => Buffer::uninitialised(self.device, panel * k)?,
                Err(_) => return Ok(false),
            }
        };
        let part = self.job.b.columns_of(self.job.ops[1], columns.clone())?;
        let panel = self.bring(columns, &part, buffer, Some((self.shared, number)))?;
        Ok(self.to.send(Fed::Panel(panel)).is_ok())
    }

    fn bring(
        &mut self,
        range: Range<usize>,
        part: &HostRef<'_, T>,
        mut buffer: Buffer<T>,
        shared: Option<(&SharedPieces<T>, usize)>,
    ) -> BlasResult<Operand<T>> {
        let (layout, arrival) = self.transfer.upload(part, &mut buffer, shared)?;
        Ok(Operand { range, buffer, layout, arrival })
    }
}
