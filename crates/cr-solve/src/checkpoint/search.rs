//! A search for modes that can be interrupted, and keeps its state.

use super::keeping::{Identity, Single};
use super::{Checkpointing, Taken};
use lattice_cl::compute::DeviceError;
use lattice_cl::field::StoredField;
use lattice_cl::io::{self, CheckpointWriter};
use lattice_cl::solve::Checkpoints;
use lattice_cli::failure::Failure;
use lattice_cli::interrupt::Interrupt;
use lattice_cli::report::Report;
use lattice_solvers::{SolverState, Wish};

/// A search for modes under way.
pub struct Search<'a> {
    single: Single<'a>,
}

impl Checkpointing {
    /// Begins a search, or goes on with the search of the checkpoint.
    ///
    /// # Errors
    /// When the checkpoint is of another search. The message says what differs.
    pub fn search<'a>(
        &self,
        taken: Taken,
        job: Identity,
        interrupt: Interrupt,
        report: &'a Report,
    ) -> Result<Search<'a>, Failure> {
        let single = Single::begin(["search", "modes"], self, taken, || job, interrupt, report)?;
        Ok(Search { single })
    }
}

impl Search<'_> {
    /// Returns the seconds of the search, without compilers.
    ///
    /// The seconds of earlier runs count too.
    pub fn seconds(&self) -> f64 {
        self.single.keeping.seconds()
    }

    /// Writes a checkpoint, one field after the other.
    ///
    /// Every rank has parts of the fields, and the first one writes. All ranks take part, even if
    /// the first one has failed.
    fn write(&self, state: &SolverState<&dyn StoredField>) -> Result<Result<(), io::Error>, DeviceError> {
        let mut writer = self.single.begin_file(state, self.seconds());
        for (_, field) in &state.vectors {
            if writer.is_err() && self.single.keeping.ranks.world().is_none() {
                break;
            }
            let bytes = field.to_bytes()?;
            if let Ok(Some(file)) = &mut writer
                && let Err(error) = file.block(&bytes)
            {
                writer = Err(error);
            }
        }
        Ok(writer.and_then(|writer| writer.map_or(Ok(()), CheckpointWriter::finish)))
    }

    /// Returns the failure of a search that was interrupted.
    pub fn interrupted(self, found: usize, wanted: usize, applications: usize) -> Failure {
        self.single.keeping.interrupted(format!(
            "interrupted after {applications} applications, with {found} of {wanted} modes found"
        ))
    }

    /// Removes the checkpoint of a search that is done and has written its modes.
    pub fn done(self) {
        self.single.done();
    }
}

impl Checkpoints for Search<'_> {
    fn kept(&mut self) -> Option<SolverState<Vec<u8>>> {
        self.single.kept()
    }

    fn wish(&mut self) -> Wish {
        self.single.keeping.wish()
    }

    fn keep(&mut self, state: &SolverState<&dyn StoredField>) -> Result<(), DeviceError> {
        let result = self.write(state)?;
        let keeping = &mut self.single.keeping;
        keeping.meet()?;
        keeping.written(result, keeping.interrupt.pressed());
        Ok(())
    }
}
