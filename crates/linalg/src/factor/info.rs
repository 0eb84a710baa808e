//! The outcome of a factorisation, on its device until it is waited for.

use crate::block::{Block, Operand};
use crate::completion::Completion;
use crate::error::BlasResult;
use crate::triangular::Kernels;
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

    /// Makes a word that says what the host has found, LAPACK's `info`.
    pub fn found(device: &Device, info: usize) -> Result<Self> {
        Ok(Self(Buffer::from_slice(device, &[info as u32])?))
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

    /// Returns the word for kernels that read it.
    pub(super) fn word(&self) -> Argument<'_> {
        (&self.word).into()
    }

    /// Adds the solution in the place of B, which stays as it was if the factorisation fails.
    pub(super) fn keep_unless_solved(
        &mut self,
        b: Operand<'_>,
        solve: impl FnOnce(Operand<'_>) -> BlasResult<Completion>,
    ) -> BlasResult<()> {
        let (device, block) = (b.device, b.block);
        if block.rows == 0 || block.columns == 0 {
            return Ok(());
        }
        let kernels = Kernels::of(device, block.element)?;
        let mut old = device.scratch_of(block.element, block.rows * block.columns)?;
        let copy = Block::at(old.output(), &block.dense_layout());
        let mut events = vec![kernels.copy(block, copy)?];
        events.extend(solve(b)?.into_events());
        events.push(kernels.restore(self.word(), copy, block)?);
        self.completion.append(Completion::of(events));
        Ok(())
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
