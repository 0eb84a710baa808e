//! A propagator that is put together while the next column is solved for.

use lattice_cl::geometry::Dims;
use lattice_cl::hadron::{Column, QuarkPropagator};
use lattice_cl::host::{NoRoom, Spinor};
use lattice_cl::job::CallbackError;
use std::io;
use std::mem::replace;
use std::panic::resume_unwind;
use std::thread::{Builder, JoinHandle};

/// The propagator, and memory for a solution.
type Parts = (QuarkPropagator, Vec<Spinor<f64>>);

/// The thread that has the propagator; `None` only while it changes.
type Step = Option<io::Result<JoinHandle<Result<Parts, NoRoom>>>>;

/// A propagator that gets its columns on a thread beside the solves.
///
/// To write a column takes as long as several iterations on a GPU, and devices leave the host idle.
pub struct Building(Step);

impl Building {
    /// Begins to make a propagator of zeros.
    pub fn new(dims: Dims) -> Self {
        Self(Some(begun(move || Ok((QuarkPropagator::new(dims)?, Vec::new())))))
    }

    /// Begins to write a column, and exchanges the solution for memory of an earlier one.
    ///
    /// # Errors
    /// If memory is too small, or no thread can be started.
    pub fn take(&mut self, column: Column, x: &mut Vec<Spinor<f64>>) -> Result<(), CallbackError> {
        let (mut propagator, spare) = self.wait()?;
        let solution = replace(x, spare);
        self.0 = Some(begun(move || {
            propagator.set_column(column, &solution);
            Ok((propagator, solution))
        }));
        Ok(())
    }

    /// Returns the propagator with all columns so far.
    ///
    /// # Errors
    /// The errors of [`take`](Self::take).
    pub fn finish(mut self) -> Result<QuarkPropagator, CallbackError> {
        Ok(self.wait()?.0)
    }

    fn wait(&mut self) -> Result<Parts, CallbackError> {
        let thread = self.0.take().expect("a step follows each wait but the last")?;
        Ok(thread.join().unwrap_or_else(|panic| resume_unwind(panic))?)
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        if let Some(Ok(thread)) = self.0.take() {
            // A panic has been told where the thread ended.
            drop(thread.join());
        }
    }
}

fn begun(
    step: impl FnOnce() -> Result<Parts, NoRoom> + Send + 'static,
) -> io::Result<JoinHandle<Result<Parts, NoRoom>>> {
    Builder::new().name("lattice-cl columns".to_owned()).spawn(step)
}
