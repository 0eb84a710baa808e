//! Keeping the states of a solve, whatever its fields are.

use crate::compute::DeviceError;
use crate::field::StoredField;
use lattice_solvers::{Look, Residual, SolverState, StateKeeper, VectorSpace, Watching, Wish};
use std::cell::{Cell, RefCell};

/// An observer of a solve of M x = b, which may keep the states of the solve.
///
/// The trait is a [`StateKeeper`] to which every field is the bytes of its storage. The default
/// methods observe nothing and keep nothing.
///
/// `Watching(|look: &Look| …)` is an implementation that only observes (see [`Watching`]).
///
/// A solve can go on from a state only if its fields are stored in the same way: see
/// [`Lattice::storage_description`](crate::geometry::Lattice::storage_description).
pub trait Checkpoints {
    /// Returns the state that the solve goes on from.
    ///
    /// The solve asks once. Default: none.
    fn kept(&mut self) -> Option<SolverState<Vec<u8>>> {
        None
    }

    /// Takes the residual, whenever it has been looked at.
    ///
    /// The call must be quick. Default: ignores the residual.
    ///
    /// The iterated residual is that of the system that is iterated, M†M x = M†b for example.
    fn looked(&mut self, _look: &Look) {}

    /// Returns the wish of the observer for the solve. Default: to go on.
    ///
    /// The solve asks between two iterations, whenever the residual has been looked at. The call
    /// must be quick.
    fn wish(&mut self) -> Wish {
        Wish::GoOn
    }

    /// Keeps a state, if [`wish`](Self::wish) asked for one. Default: drops the state.
    ///
    /// # Errors
    /// When a field cannot be read.
    fn keep(&mut self, _state: &SolverState<&dyn StoredField>) -> Result<(), DeviceError> {
        Ok(())
    }
}

impl<F: FnMut(&Look)> Checkpoints for Watching<F> {
    fn looked(&mut self, look: &Look) {
        (self.0)(look);
    }
}

/// The adapter between a method, whose vectors are fields, and [`Checkpoints`].
pub(crate) struct Keeper<'a, S: VectorSpace> {
    pub space: &'a S,
    pub checkpoints: &'a mut dyn Checkpoints,
    /// The relative residual of the method's source.
    ///
    /// The value is below 1 if the source is the residual of a guess.
    pub begun_at: f64,
    pub beside: Option<Beside<'a>>,
}

/// The data of an iteration in mixed precision beside the state of its method.
pub(crate) struct Beside<'a> {
    pub solution: &'a RefCell<dyn StoredField + 'a>,
    pub replacements: &'a Cell<u64>,
}

const SOLUTION: &str = "solution";
const REPLACEMENTS: &str = "replacements";

impl<S> StateKeeper<S::Vector, DeviceError> for Keeper<'_, S>
where
    S: VectorSpace<Error = DeviceError, Vector: StoredField>,
{
    fn kept(&mut self) -> Result<Option<SolverState<S::Vector>>, DeviceError> {
        let Some(state) = self.checkpoints.kept() else { return Ok(None) };
        let SolverState { method, vectors, scalars, numbers, counts, history } = state;
        if let Some(Beside { solution, replacements }) = &self.beside {
            // If one of them is missing, other data is too, and the method says so.
            if let Some((_, bytes)) = vectors.iter().find(|(name, _)| name == SOLUTION) {
                solution.borrow_mut().set_bytes(bytes)?;
            }
            if let Some((_, count)) = counts.iter().find(|(name, _)| name == REPLACEMENTS) {
                replacements.set(*count);
            }
        }
        let mut fields = Vec::with_capacity(vectors.len());
        for (name, bytes) in vectors.into_iter().filter(|(name, _)| name != SOLUTION) {
            let mut field = self.space.zero_vector()?;
            field.set_bytes(&bytes)?;
            fields.push((name, field));
        }
        Ok(Some(SolverState { method, vectors: fields, scalars, numbers, counts, history }))
    }

    fn looked(&mut self, look: &Look) {
        let Residual { iterated, true_residual } = look.residual;
        let residual = Residual { iterated: iterated * self.begun_at, true_residual };
        self.checkpoints.looked(&Look { residual, ..*look });
    }

    fn wish(&mut self) -> Wish {
        self.checkpoints.wish()
    }

    fn keep(&mut self, state: &SolverState<&S::Vector>) -> Result<(), DeviceError> {
        let SolverState { method, vectors, scalars, numbers, counts, history } = state.clone();
        let solution = self.beside.as_ref().map(|beside| beside.solution.borrow());
        let mut fields: Vec<(_, &dyn StoredField)> = Vec::with_capacity(vectors.len() + 1);
        fields.extend(vectors.into_iter().map(|(name, field)| (name, field as &dyn StoredField)));
        fields.extend(solution.as_deref().map(|solution| (SOLUTION.into(), solution as &dyn StoredField)));
        let mut counts = counts;
        counts.extend(self.beside.as_ref().map(|beside| (REPLACEMENTS.into(), beside.replacements.get())));
        self.checkpoints.keep(&SolverState { method, vectors: fields, scalars, numbers, counts, history })
    }
}
