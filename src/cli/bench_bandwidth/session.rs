//! How a row is measured, and where the rows gather.

use super::result::{Row, Samples};
use super::{Arguments, Part};
use crate::cli::failure::{Failure, Status};
use crate::cli::interrupt::Interrupt;
use crate::cli::report::Report;
use crate::host::PeriodicNumbers;
use std::fmt::Display;
use std::time::{Duration, Instant};

/// Calls before the timed ones.
const WARM_UP: usize = 2;

/// Samples below which time does not end a row.
const FEWEST_SAMPLES: usize = 3;

/// What a row is about, before it is measured.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Number of the device; `None` for all together.
    pub device: Option<usize>,
    pub part: Part,
    pub kernel: String,
    pub variant: String,
    /// Bytes of one array or transfer; 0 where none matters.
    pub array_bytes: u64,
    /// Bytes that a call moves; 0 where it is about time alone.
    pub moved_bytes: u64,
    /// Whether the arrays are meant to stay in a cache from call to call.
    pub in_cache: bool,
}

/// One run of the command.
pub struct Session<'a> {
    pub arguments: &'a Arguments,
    pub report: &'a Report,
    interrupt: Interrupt,
    rows: Vec<Row>,
    pub b: PeriodicNumbers,
    pub c: PeriodicNumbers,
}

impl<'a> Session<'a> {
    pub fn new(arguments: &'a Arguments, report: &'a Report, interrupt: Interrupt) -> Self {
        let numbers = |stream| PeriodicNumbers::new(stream, PeriodicNumbers::PERIOD);
        Self { arguments, report, interrupt, rows: Vec::new(), b: numbers(1), c: numbers(2) }
    }

    pub fn interrupted(&self) -> bool {
        self.interrupt.pressed()
    }

    pub fn into_rows(self) -> Vec<Row> {
        self.rows
    }

    /// Times `call`, which gets the number of the call and says how long it took on the device, if that is known. A row
    /// that Ctrl-C cuts short is left out.
    pub fn time(
        &mut self,
        subject: Subject,
        mut call: impl FnMut(usize) -> Result<Option<Duration>, Failure>,
    ) -> Result<(), Failure> {
        self.time_by(subject, |number| {
            let begin = Instant::now();
            let on_device = call(number)?;
            Ok((begin.elapsed(), on_device))
        })
    }

    /// As [`Session::time`], of calls that look at the clock themselves: on the wall, and on the device.
    pub fn time_by(
        &mut self,
        subject: Subject,
        mut call: impl FnMut(usize) -> Result<(Duration, Option<Duration>), Failure>,
    ) -> Result<(), Failure> {
        let mut samples = Samples::default();
        let (wanted, longest) = (self.arguments.samples as usize, self.arguments.longest_seconds());
        for number in 0..WARM_UP {
            if self.interrupted() {
                return Ok(());
            }
            call(number)?;
        }
        let start = Instant::now();
        while samples.wall.len() < wanted
            && (samples.wall.len() < FEWEST_SAMPLES || start.elapsed().as_secs_f64() < longest)
        {
            if self.interrupted() {
                return Ok(());
            }
            let (wall, on_device) = call(WARM_UP + samples.wall.len())?;
            samples.wall.push(wall.as_secs_f64());
            samples.event.extend(on_device.map(|duration| duration.as_secs_f64()));
        }
        self.push(subject, samples);
        Ok(())
    }

    /// Adds a row that was measured elsewhere.
    pub fn push(&mut self, subject: Subject, samples: Samples) {
        self.rows.extend(Row::new(subject, samples));
    }
}

/// Something is not what it should be, and so is not timed.
pub fn wrong(what: impl Display, expected: f64, found: f64) -> Failure {
    let error = anyhow::anyhow!("{what} gives {found:e} where the host has {expected:e}: not timed");
    Failure::new(Status::Failed, error)
}
