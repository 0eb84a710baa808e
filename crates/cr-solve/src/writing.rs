//! Options about the files that a solve writes beside its result.

use super::arguments::Overwriting;
use super::checkpoint::Checkpointing;
use super::trace::Trace;
use lattice_cl::job::Outputs;
use std::path::Path;

/// Options about the files that a solve writes.
#[derive(Debug, clap::Args)]
pub struct Writing {
    #[command(flatten)]
    overwriting: Overwriting,
    #[command(flatten)]
    trace: Trace,
    #[command(flatten)]
    checkpointing: Checkpointing,
}

impl Writing {
    /// Returns the outputs of a job, with the files of its solutions and its plot.
    pub fn outputs(&self, output: Option<&Path>, plot: Option<&Path>) -> Outputs {
        let mut outputs = Outputs {
            output: output.map(Into::into),
            plot: plot.map(Into::into),
            trace: self.trace.path().map(Into::into),
            force: self.overwriting.force,
            ..Outputs::default()
        };
        self.checkpointing.put_into(&mut outputs);
        outputs
    }
}
