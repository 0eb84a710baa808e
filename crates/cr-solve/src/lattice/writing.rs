//! Options about the files that a solve writes beside its result.

use super::trace::Trace;
use crate::checkpoint::Checkpointing;
use lattice_cl::job::{OneOrMore, Outputs};
use lattice_cli::destinations::Overwriting;
use std::path::{Path, PathBuf};

/// Options about the files that a solve writes.
#[derive(Debug, clap::Args)]
pub struct Writing {
    #[command(flatten)]
    overwriting: Overwriting,
    #[command(flatten)]
    trace: Trace,
    /// Write the result with the whole job to this file: HDF5 if it ends in .h5, else JSON
    ///
    /// `reproduce` and `analyse` read it. Several files may be given.
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    results: Vec<PathBuf>,
    #[command(flatten)]
    checkpointing: Checkpointing,
}

impl Writing {
    /// Returns the outputs of a job, with the files of its solutions and its plot.
    pub fn outputs(&self, output: Option<&Path>, plot: Option<&Path>) -> Outputs {
        let mut outputs = Outputs::default()
            .with_output(output.map(Into::into))
            .with_plot(plot.map(Into::into))
            .with_trace(self.trace.path().map(Into::into))
            .with_results((!self.results.is_empty()).then(|| OneOrMore::More(self.results.clone())))
            .with_force(self.overwriting.force);
        self.checkpointing.put_into(&mut outputs);
        outputs
    }
}
