//! The state of a block solve: to be kept, and to go on from.

use super::{Block, BlockSolve};
use crate::best::Best;
use crate::block_space::{BlockOperator, BlockSpace};
use crate::keeper::Wish;
use crate::outcome::SolverError;
use crate::square_matrix::SquareMatrix;
use crate::state::{ForeignState, Missing, NANOSECONDS, SolverState, named_values};
use crate::work::Work;
use crate::{ErrorOf, VectorOf};
use std::time::Duration;

const METHOD: &str = "block Conjugate Gradient";

/// Name of a count that exists only once residuals have been replaced.
const REPLACED_AFTER: &str = "iterations before the last replacement";

impl<A: BlockOperator> BlockSolve<'_, '_, A> {
    /// Takes the place of a solve that was kept; `true` if there is one.
    pub(super) fn resume(&mut self) -> Result<bool, SolverError<Block<VectorOf<A>>, ErrorOf<A>>> {
        let Some(keeper) = &mut self.callbacks.keeper else { return Ok(false) };
        let Some(state) = keeper.kept()? else { return Ok(false) };
        let found = state.method.to_string();
        let foreign =
            |needed| SolverError::ForeignState(ForeignState { method: METHOD, needed, found: found.clone() });
        if state.method != METHOD {
            return Err(foreign(format!("one of {METHOD}")));
        }
        self.take_back(state).map_err(|Missing(name)| foreign(format!("`{name}`")))?;
        Ok(true)
    }

    fn take_back(&mut self, mut state: SolverState<VectorOf<A>>) -> Result<(), Missing> {
        let columns = self.a.space().columns();
        let matrix = |name| {
            let elements = state.scalars(name, columns * columns)?;
            Ok(SquareMatrix::from_fn(columns, |i, j| elements[i * columns + j]))
        };
        (self.c, self.t) = (matrix("C")?, matrix("T")?);
        self.scales = state.numbers("scale", columns)?;
        self.targets = state.numbers("target", columns)?;
        self.true_residuals = state.numbers("true residual", columns)?;
        self.best_residuals = state.numbers("best residual", columns)?;
        self.replaced = state.number("replaced residual")?;
        self.replaced_after = state.count(REPLACED_AFTER).ok().map(|count| count as usize);
        self.disturbed_after = state.count("iterations before the last disturbance")? as usize;
        self.futile = state.count("futile replacements")? as usize;
        self.smallest =
            (state.number("smallest residual")?, state.count("iterations before the smallest")? as usize);
        self.iterations = state.count("iterations")? as usize;
        self.applications = state.count("applications")? as usize;
        self.work = Work { flops: state.count("flops")?, bytes: state.count("bytes")? };
        self.earlier = Duration::from_nanos(state.count(NANOSECONDS)?);
        let best = state.number("best (r, r)")?;
        self.residuals_of_x = self.iterated(&self.c);
        (self.x, self.q, self.p) = (state.vector("X")?, state.vector("Q")?, state.vector("P")?);
        self.best = Best { x: state.vector("best X")?, r_norm2: best };
        self.history = state.history;
        Ok(())
    }

    /// Hands the state to the keeper, if the keeper wishes so now.
    ///
    /// Returns `true` if the solve is to stop. The method is called between iterations, when no
    /// step is pending.
    pub(super) fn keep(&mut self) -> Result<bool, ErrorOf<A>> {
        let nanoseconds = self.time().as_nanos() as u64;
        let Some(keeper) = &mut self.callbacks.keeper else { return Ok(false) };
        let wish = keeper.wish();
        if let Wish::Keep | Wish::KeepAndStop = wish {
            let lists = [
                ("scale", &self.scales),
                ("target", &self.targets),
                ("true residual", &self.true_residuals),
                ("best residual", &self.best_residuals),
            ];
            let lists =
                lists.into_iter().flat_map(|(name, list)| list.iter().map(move |&value| (name, value)));
            let matrices = [("C", &self.c), ("T", &self.t)];
            let single = [
                ("replaced residual", self.replaced),
                ("smallest residual", self.smallest.0),
                ("best (r, r)", self.best.r_norm2),
            ];
            let counts = [
                ("futile replacements", self.futile as u64),
                ("iterations before the smallest", self.smallest.1 as u64),
                ("iterations before the last disturbance", self.disturbed_after as u64),
                ("iterations", self.iterations as u64),
                ("applications", self.applications as u64),
                ("flops", self.work.flops),
                ("bytes", self.work.bytes),
                (NANOSECONDS, nanoseconds),
            ];
            let replaced_after = self.replaced_after.map(|count| (REPLACED_AFTER, count as u64));
            keeper.keep(&SolverState {
                method: METHOD.into(),
                vectors: named_values([
                    ("X", &self.x),
                    ("Q", &self.q),
                    ("P", &self.p),
                    ("best X", &self.best.x),
                ]),
                scalars: named_values(matrices.into_iter().flat_map(|(name, matrix)| {
                    matrix.elements().iter().map(move |&element| (name, element))
                })),
                numbers: named_values(lists.chain(single)),
                counts: named_values(counts.into_iter().chain(replaced_after)),
                history: self.history.clone(),
            })?;
        }
        Ok(matches!(wish, Wish::Stop | Wish::KeepAndStop))
    }
}
