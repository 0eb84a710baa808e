//! The outcomes of factorisations of a batch.

use crate::completion::Completion;
use lattice_compute::{Buffer, Result};

/// Factorisations of a batch under way, and LAPACK's `info` of each matrix.
#[derive(Debug)]
pub struct BatchInfo {
    completion: Completion,
    words: Buffer<u32>,
}

impl BatchInfo {
    pub(super) fn new(completion: Completion, words: Buffer<u32>) -> Self {
        Self { completion, words }
    }

    /// Adds work that was enqueued later.
    pub(super) fn append(&mut self, later: Completion) {
        self.completion.append(later);
    }

    /// Returns the handle of the work.
    pub fn completion(&self) -> &Completion {
        &self.completion
    }

    /// Returns the words on the device, one for each matrix.
    pub fn words(&self) -> &Buffer<u32> {
        &self.words
    }

    /// Waits for the work, and returns the `info` of each matrix.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](lattice_compute::DeviceError::OpenCl) if the work failed.
    pub fn wait(&self) -> Result<Vec<usize>> {
        self.completion.wait()?;
        Ok(self.words.to_vec()?.into_iter().map(|word| word as usize).collect())
    }
}
