//! The state of a search for modes: to be kept, and to go on from.

use super::filter::Filter;
use super::outcome::{LanczosError, Mode};
use super::search::{Search, Stage};
use crate::keeper::Wish;
use crate::state::{ForeignState, Missing, NANOSECONDS, SolverState, named_values};
use crate::work::Work;
use crate::{ErrorOf, LinearOperator, VectorOf};
use std::time::Duration;

const METHOD: &str = "thick-restart Lanczos";

impl<A: LinearOperator> Search<'_, '_, A> {
    /// Takes the place of a search that was kept, if there is one.
    pub(super) fn resume(&mut self) -> Result<(), LanczosError<VectorOf<A>, ErrorOf<A>>> {
        let Some(keeper) = &mut self.callbacks.keeper else { return Ok(()) };
        let Some(state) = keeper.kept()? else { return Ok(()) };
        let found = state.method.to_string();
        let foreign = |needed| {
            LanczosError::ForeignState(ForeignState { method: METHOD, needed, found: found.clone() })
        };
        if state.method != METHOD {
            return Err(foreign(format!("one of {METHOD}")));
        }
        self.take_back(state).map_err(|Missing(name)| foreign(format!("`{name}`")))
    }

    fn take_back(&mut self, state: SolverState<VectorOf<A>>) -> Result<(), Missing> {
        let number = |name| state.count(name).map(|count| count as usize);
        let (locked, done) = (number("locked modes")?, number("columns")?);
        let values = state.numbers("eigenvalue", locked)?;
        let residuals = state.numbers("residual", locked)?;
        let lengths: Vec<usize> = state
            .counts
            .iter()
            .filter(|(name, _)| name == "elements of a column")
            .map(|(_, count)| *count as usize)
            .collect();
        if lengths.len() != done {
            return Err(Missing("elements of a column"));
        }
        let elements = state.scalars("element", lengths.iter().sum())?;
        let mut elements = elements.into_iter();
        let columns = lengths.into_iter().map(|length| elements.by_ref().take(length).collect()).collect();
        self.stage = if number("bounds")? == 1 { Stage::Bounds } else { Stage::Modes };
        let degree = number("degree")?;
        self.filter = match degree {
            0 => None,
            degree => Some(Filter { from: state.number("from")?, to: state.number("to")?, degree }),
        };
        self.scale = state.number("scale")?;
        self.locked_in_sweep = number("locked in this sweep")?;
        self.checks = number("checks")? == 1;
        self.filters = number("polynomials")?;
        self.randoms = state.count("random vectors")?;
        self.restarts = number("restarts")?;
        self.applications = number("applications")?;
        self.work = Work { flops: state.count("flops")?, bytes: state.count("bytes")? };
        self.earlier = Duration::from_nanos(state.count(NANOSECONDS)?);
        self.history = state.history;
        let mut modes = Vec::with_capacity(locked);
        for (name, vector) in state.vectors {
            match &*name {
                "mode" if modes.len() < locked => {
                    let k = modes.len();
                    modes.push(Mode { value: values[k], vector, residual: residuals[k] });
                }
                "basis" => self.krylov.basis.push(vector),
                _ => return Err(Missing("no other vectors than `mode` and `basis`")),
            }
        }
        if modes.len() < locked {
            return Err(Missing("mode"));
        }
        if self.krylov.basis.len() < done {
            return Err(Missing("basis"));
        }
        self.locked = modes;
        self.krylov.columns = columns;
        Ok(())
    }

    /// Hands the state to the keeper, if the keeper wishes so now.
    ///
    /// Returns `true` if the search is to stop.
    pub(super) fn keep(&mut self) -> Result<bool, ErrorOf<A>> {
        let nanoseconds = self.time().as_nanos() as u64;
        let Some(keeper) = &mut self.callbacks.keeper else { return Ok(false) };
        let wish = keeper.wish();
        if let Wish::Keep | Wish::KeepAndStop = wish {
            let modes = self.locked.iter().map(|mode| ("mode", &mode.vector));
            let of_modes =
                self.locked.iter().flat_map(|mode| [("eigenvalue", mode.value), ("residual", mode.residual)]);
            let filter = self.filter.unwrap_or(Filter { from: 0.0, to: 0.0, degree: 0 });
            let counts = [
                ("locked modes", self.locked.len()),
                ("columns", self.krylov.columns.len()),
                ("bounds", usize::from(self.stage == Stage::Bounds)),
                ("degree", filter.degree),
                ("locked in this sweep", self.locked_in_sweep),
                ("checks", usize::from(self.checks)),
                ("polynomials", self.filters),
                ("restarts", self.restarts),
                ("applications", self.applications),
            ];
            let counts = counts.map(|(name, count)| (name, count as u64));
            let more = [
                ("random vectors", self.randoms),
                ("flops", self.work.flops),
                ("bytes", self.work.bytes),
                (NANOSECONDS, nanoseconds),
            ];
            let columns = &self.krylov.columns;
            let lengths = columns.iter().map(|column| ("elements of a column", column.len() as u64));
            let numbers = [("scale", self.scale), ("from", filter.from), ("to", filter.to)];
            keeper.keep(&SolverState {
                method: METHOD.into(),
                vectors: named_values(modes.chain(self.krylov.basis.iter().map(|vector| ("basis", vector)))),
                scalars: named_values(columns.iter().flatten().map(|element| ("element", *element))),
                numbers: named_values(numbers.into_iter().chain(of_modes)),
                counts: named_values(counts.into_iter().chain(more).chain(lengths)),
                history: self.history.clone(),
            })?;
        }
        Ok(matches!(wish, Wish::Stop | Wish::KeepAndStop))
    }
}
