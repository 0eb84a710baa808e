//! Signs of life, which go round all ranks in a ring.
//!
//! Each rank tells the next one at intervals that it is alive, whatever it computes. So a rank that
//! computes for hours is waited for, and one that is stopped or gone is noticed.
//!
//! A sign carries a count: how many ranks in a row, up to its sender, have waited for others beyond
//! their patience. A count as large as the number of ranks says that all wait for each other.
//!
//! Only time in which this rank runs counts. A job that is suspended as a whole goes on later.

use crate::abi::{Constants, Handle};
use crate::error::{MpiError, check};
use crate::library::Functions;
use crate::patience::Patience;
use std::ffi::c_int;
use std::time::{Duration, Instant};

/// The longest interval between two signs.
const LONGEST_INTERVAL: Duration = Duration::from_secs(1);

/// The shortest interval between two signs.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(10);

/// Signs within the patience, at least.
const SIGNS: u32 = 20;

/// The last sign of a rank, in place of a count.
const LAST: u32 = u32::MAX;

/// A message on the ring.
#[derive(Default)]
struct Message {
    bytes: Box<[u8; 4]>,
    request: Handle,
    /// `true` while MPI may use the bytes.
    is_under_way: bool,
}

/// The ring, as one rank has it.
///
/// Whoever calls its methods has the turn to call MPI.
pub struct Ring {
    communicator: Handle,
    rank: usize,
    size: usize,
    patience: Patience,
    interval: Duration,
    sent: Message,
    received: Message,
    /// When this rank has given its last sign.
    last: Instant,
    /// Time without a sign of the rank before, in which this rank ran.
    silence: Duration,
    /// Whether a sign has come.
    is_heard: bool,
    /// The count of the rank before.
    waiting_before: u32,
    /// `true` once the rank before has given its last sign.
    is_over_before: bool,
    /// Time for which this rank has waited for others.
    waited: Duration,
}

impl Ring {
    /// Makes a ring of the ranks of this communicator, which has no other messages.
    pub fn new(communicator: Handle, [rank, size]: [usize; 2], patience: Patience) -> Self {
        let shortest = [patience.start, patience.later].into_iter().flatten().min();
        let interval = shortest.map_or(LONGEST_INTERVAL, |patience| patience / SIGNS);
        Self {
            communicator,
            rank,
            size,
            patience,
            interval: interval.clamp(SHORTEST_INTERVAL, LONGEST_INTERVAL),
            sent: Message::default(),
            received: Message::default(),
            last: Instant::now(),
            silence: Duration::ZERO,
            is_heard: false,
            waiting_before: 0,
            is_over_before: false,
            waited: Duration::ZERO,
        }
    }

    /// The time between two signs.
    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// Notes that this rank begins or ends a wait for others.
    pub fn wait_anew(&mut self) {
        self.waited = Duration::ZERO;
    }

    /// Gives a sign and looks for that of the rank before, if it is time.
    ///
    /// `waits` says that this rank waits for others.
    ///
    /// # Errors
    /// * [`MpiError::Silent`] if the rank before gives no sign.
    /// * [`MpiError::Standstill`] if all ranks wait for each other, on the first one.
    /// * [`MpiError::Failed`].
    pub fn turn(
        &mut self,
        functions: &Functions,
        constants: &Constants,
        waits: bool,
    ) -> Result<(), MpiError> {
        let elapsed = self.last.elapsed();
        if self.size < 2 || elapsed < self.interval {
            return Ok(());
        }
        self.last = Instant::now();
        // A rank that was stopped itself has heard nobody.
        let elapsed = elapsed.min(2 * self.interval);
        self.silence += elapsed;
        self.listen(functions, constants)?;
        let patience = if self.is_heard { self.patience.later } else { self.patience.start };
        if let Some(patience) = patience.filter(|patience| !self.is_over_before && self.silence > *patience) {
            return Err(MpiError::Silent { rank: self.before(), seconds: patience.as_secs_f64() });
        }
        self.waited = if waits { self.waited + elapsed } else { Duration::ZERO };
        let too_long = self.patience.later.filter(|patience| self.waited > *patience);
        let waiting = too_long.map_or(0, |_| self.waiting_before.saturating_add(1).min(LAST - 1));
        // The count reaches all ranks, and one message is enough.
        let says = self.rank == 0 && waiting as usize >= self.size;
        if let Some(patience) = too_long.filter(|_| says) {
            return Err(MpiError::Standstill { seconds: patience.as_secs_f64() });
        }
        if self.is_done(functions, constants, true)? {
            self.send(functions, constants, waiting)?;
        }
        Ok(())
    }

    /// Gives the last sign, and waits for that of the rank before.
    ///
    /// Every rank calls this before it leaves MPI.
    pub fn close(
        &mut self,
        functions: &Functions,
        constants: &Constants,
        pause: Duration,
    ) -> Result<(), MpiError> {
        if self.size < 2 {
            return Ok(());
        }
        while !self.is_done(functions, constants, true)? {
            std::thread::sleep(pause);
        }
        self.send(functions, constants, LAST)?;
        while !(self.is_over_before && self.is_done(functions, constants, true)?) {
            self.listen(functions, constants)?;
            std::thread::sleep(pause);
        }
        Ok(())
    }

    fn before(&self) -> usize {
        (self.rank + self.size - 1) % self.size
    }

    /// Takes all signs that have come.
    fn listen(&mut self, functions: &Functions, constants: &Constants) -> Result<(), MpiError> {
        while !self.is_over_before {
            if self.received.is_under_way {
                if !self.is_done(functions, constants, false)? {
                    return Ok(());
                }
                self.silence = Duration::ZERO;
                self.is_heard = true;
                self.waiting_before = u32::from_le_bytes(*self.received.bytes);
                self.is_over_before = self.waiting_before == LAST;
                if self.is_over_before {
                    self.waiting_before = 0;
                    return Ok(());
                }
            }
            let (from, message) = (self.before() as c_int, &mut self.received);
            let (bytes, request) = (message.bytes.as_mut_ptr(), &mut message.request);
            // SAFETY: MPI is initialised. The four bytes have a place of their own, and are not
            // looked at until the request is done.
            let status =
                unsafe { (functions.receive)(bytes, 4, constants.byte, from, 0, self.communicator, request) };
            check("MPI_Irecv", status)?;
            message.is_under_way = true;
        }
        Ok(())
    }

    fn send(&mut self, functions: &Functions, constants: &Constants, count: u32) -> Result<(), MpiError> {
        let (to, message) = (((self.rank + 1) % self.size) as c_int, &mut self.sent);
        *message.bytes = count.to_le_bytes();
        let (bytes, request) = (message.bytes.as_ptr(), &mut message.request);
        // SAFETY: MPI is initialised. The four bytes have a place of their own, and are not changed
        // until the request is done.
        let status = unsafe { (functions.send)(bytes, 4, constants.byte, to, 0, self.communicator, request) };
        check("MPI_Isend", status)?;
        message.is_under_way = true;
        Ok(())
    }

    /// Tells whether the last sign has left, or another one has come.
    fn is_done(
        &mut self,
        functions: &Functions,
        constants: &Constants,
        sent: bool,
    ) -> Result<bool, MpiError> {
        let message = if sent { &mut self.sent } else { &mut self.received };
        if message.is_under_way {
            let mut done = 0;
            // SAFETY: the request was made by this library, and `done` is alive.
            let status = unsafe { (functions.test)(&mut message.request, &mut done, constants.no_status) };
            check("MPI_Test", status)?;
            message.is_under_way = done == 0;
        }
        Ok(!message.is_under_way)
    }
}
