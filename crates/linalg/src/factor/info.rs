//! The outcome of a factorisation, on its device until it is waited for.

use crate::completion::Completion;
use lattice_compute::{Argument, Buffer, Device, Result};

/// A factorisation under way, and LAPACK's `info` of it.
#[derive(Debug)]
pub struct Info {
    completion: Completion,
    word: Buffer<u32>,
}

/// The word on the device, while a factorisation is being enqueued.
pub(super) struct Word(Buffer<u32>);

impl Word {
    /// Makes a word that says that all is well.
    pub fn new(device: &Device) -> Result<Self> {
        Ok(Self(Buffer::zeroed(device, 1)?))
    }

    /// Returns the argument for kernels.
    pub fn argument(&mut self) -> Argument<'_> {
        (&mut self.0).into()
    }

    /// Makes the outcome of these commands.
    pub fn with(self, completion: Completion) -> Info {
        Info { completion, word: self.0 }
    }
}

impl Info {
    /// Returns the handle of the work.
    pub fn completion(&self) -> &Completion {
        &self.completion
    }

    /// Adds work that was enqueued later.
    pub(super) fn append(&mut self, later: Completion) {
        self.completion.append(later);
    }

    /// Waits for the work, and returns LAPACK's `info`.
    ///
    /// The number is 0 if all went well. Otherwise it is counted from 1: the row at which the
    /// factorisation failed or met a zero.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](lattice_compute::DeviceError::OpenCl) if the work failed.
    pub fn wait(&self) -> Result<usize> {
        self.completion.wait()?;
        Ok(self.word.to_vec()?[0] as usize)
    }
}
