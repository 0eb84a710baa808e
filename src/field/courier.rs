//! Threads that carry messages from pinned memory of one device to pinned memory of another.

use crate::compute::{DeviceError, Pending, PinnedBuffer};
use bytemuck::Pod;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Time for which the host looks for a copy again and again.
///
/// A thread that sleeps wakes up late, by as much as a copy takes.
const LOOKING: Duration = Duration::from_micros(500);

/// Pinned memory for the next message from a device or to one.
pub(super) enum Staging<R> {
    Free(PinnedBuffer<R>),
    /// The last message is on its way from the memory to a device.
    Busy(Pending<PinnedBuffer<R>>),
}

impl<R> Staging<R> {
    /// Waits until the memory is free.
    ///
    /// # Errors
    /// If the transfer of the last message failed.
    pub fn free(self) -> Result<PinnedBuffer<R>, DeviceError> {
        match self {
            Self::Free(memory) => Ok(memory),
            Self::Busy(last) => last.wait(),
        }
    }
}

/// A message on its way to the host, and the memory that gets a copy.
struct Errand<R> {
    sent: Pending<PinnedBuffer<R>>,
    arrival: Staging<R>,
    elements: usize,
}

/// A message, and its copy in pinned memory of the receiving device.
pub(super) struct Copied<R> {
    pub sent: PinnedBuffer<R>,
    pub arrival: PinnedBuffer<R>,
}

/// A thread that waits for a message and copies it.
///
/// The thread wakes up while the device still packs. Several couriers copy at the same time.
/// The thread ends after the courier is dropped.
pub(super) struct Courier<R> {
    errands: Sender<Errand<R>>,
    done: Receiver<Result<Copied<R>, DeviceError>>,
}

impl<R: Pod + Send> Courier<R> {
    /// Starts a thread, or returns `None` if the system has no more threads.
    pub fn start() -> Option<Self> {
        let (errands, to_do) = channel::<Errand<R>>();
        let (report, done) = channel();
        let work = move || to_do.into_iter().all(|errand| report.send(errand.run()).is_ok());
        thread::Builder::new().name("courier of faces".to_owned()).spawn(work).ok()?;
        Some(Self { errands, done })
    }

    /// Gives the thread a message of so many elements, and the memory for the copy.
    ///
    /// # Errors
    /// The message, if the thread has ended.
    pub fn carry(
        &self,
        sent: Pending<PinnedBuffer<R>>,
        arrival: Staging<R>,
        elements: usize,
    ) -> Result<(), Pending<PinnedBuffer<R>>> {
        self.errands.send(Errand { sent, arrival, elements }).map_err(|back| back.0.sent)
    }

    /// Waits for the copy of the message that the thread was given.
    ///
    /// # Errors
    /// If the transfer of this or of the last message failed, or the memory is too short.
    ///
    /// # Panics
    /// If the thread has panicked.
    pub fn wait(&self) -> Result<Copied<R>, DeviceError> {
        let begun = Instant::now();
        loop {
            match self.done.try_recv() {
                Ok(result) => return result,
                Err(TryRecvError::Empty) if begun.elapsed() < LOOKING => thread::yield_now(),
                Err(_) => return self.done.recv().expect("the thread of a courier has panicked"),
            }
        }
    }
}

impl<R: Pod> Errand<R> {
    fn run(self) -> Result<Copied<R>, DeviceError> {
        let Self { sent, arrival, elements } = self;
        let (mut arrival, sent) = (arrival.free()?, sent.wait()?);
        arrival.copy_start(&sent, elements)?;
        Ok(Copied { sent, arrival })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::{Buffer, Device, DeviceOptions, discover};

    #[test]
    fn messages_are_copied_in_the_order_in_which_they_are_given() {
        let device = &Device::open(&discover().devices[0], &DeviceOptions::default()).unwrap();
        let courier = Courier::<u32>::start().unwrap();
        for first in [3, 70] {
            let numbers: Vec<u32> = (first..first + 19).collect();
            let on_device = Buffer::from_slice(device, &numbers).unwrap();
            let sent = PinnedBuffer::zeroed(device, 19).unwrap().read_from(&on_device, &[]).unwrap();
            let arrival = Staging::Free(PinnedBuffer::zeroed(device, 23).unwrap());
            courier.carry(sent, arrival, 17).ok().unwrap();
            let copied = courier.wait().unwrap();
            assert_eq!(copied.sent.as_slice(), numbers);
            assert_eq!(copied.arrival.as_slice()[..17], numbers[..17]);
            assert!(copied.arrival.as_slice()[17..].iter().all(|&number| number == 0));
        }
        let short = Staging::Free(PinnedBuffer::zeroed(device, 5).unwrap());
        let sent = PinnedBuffer::<u32>::zeroed(device, 19).unwrap();
        let nothing = Buffer::from_slice(device, &[7; 19]).unwrap();
        courier.carry(sent.read_from(&nothing, &[]).unwrap(), short, 17).ok().unwrap();
        assert!(matches!(courier.wait(), Err(DeviceError::OutOfRange { .. })));
    }
}
