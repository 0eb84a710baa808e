//! States of a solve: handed to a keeper, and resumed from.

use super::{ErrorIn, Progress, Verdict};
use crate::VectorSpace;
use crate::best::Best;
use crate::keeper::Wish;
use crate::outcome::{Failure, SolverError};
use crate::state::{
    ForeignState, Missing, NANOSECONDS, NameLists, Names, Resumed, SolverState, named_values,
};
use crate::work::Work;
use std::time::Duration;

/// Vectors, scalars and numbers that a method goes on from.
type Lists<S> = (Vec<<S as VectorSpace>::Vector>, Vec<<S as VectorSpace>::Scalar>, Vec<f64>);

impl<S: VectorSpace> Progress<'_, '_, S> {
    /// Resumes from a kept state, if there is one.
    ///
    /// This takes the place of [`begin`](Self::begin).
    pub fn resume<const V: usize, const K: usize, const N: usize>(
        &mut self,
        names: &Names<V, K, N>,
    ) -> Result<Option<Resumed<S, V, K, N>>, ErrorIn<S>> {
        let Some((vectors, scalars, numbers)) = self.resume_lists(names.lists())? else { return Ok(None) };
        match (vectors.try_into(), scalars.try_into(), numbers.try_into()) {
            (Ok(vectors), Ok(scalars), Ok(numbers)) => Ok(Some(Resumed { vectors, scalars, numbers })),
            _ => unreachable!("there are as many as names"),
        }
    }

    /// Resumes with lists, which need no code of their own for each method.
    fn resume_lists(&mut self, names: NameLists<'_>) -> Result<Option<Lists<S>>, ErrorIn<S>> {
        let Some(keeper) = &mut self.keeper else { return Ok(None) };
        let Some(mut state) = keeper.kept()? else { return Ok(None) };
        let found = state.method.to_string();
        let foreign = |needed: String| {
            SolverError::ForeignState(ForeignState { method: names.method, needed, found: found.clone() })
        };
        if state.method != names.method {
            return Err(foreign(format!("one of {}", names.method)));
        }
        let missing = |Missing(name)| foreign(format!("`{name}`"));
        self.take_back(&mut state).map_err(missing)?;
        let vectors = names.vectors.iter().map(|name| state.vector(name)).collect::<Result<_, _>>();
        let vectors = vectors.map_err(missing)?;
        let space = self.operator.space();
        let mut scalars = Vec::with_capacity(names.scalars.len());
        for name in names.scalars {
            scalars.push(space.inner_product(state.scalar(name).map_err(missing)?)?);
        }
        let numbers = names.numbers.iter().map(|name| state.number(name)).collect::<Result<_, _>>();
        Ok(Some((vectors, scalars, numbers.map_err(missing)?)))
    }

    /// Takes the parts of a state that every method has.
    fn take_back(&mut self, state: &mut SolverState<S::Vector>) -> Result<(), Missing> {
        self.iterations = state.count("iterations")? as usize;
        self.applications = state.count("applications")? as usize;
        self.next_look = state.count("next look")? as usize;
        self.futile = state.count("futile replacements")? as usize;
        self.work = Work { flops: state.count("flops")?, bytes: state.count("bytes")? };
        self.earlier = Duration::from_nanos(state.count(NANOSECONDS)?);
        self.target = state.number("target")?;
        self.last_true = state.number("true residual")?;
        self.replaced = state.number("replaced residual")?;
        self.r_norm2 = state.number("last (r, r)")?;
        let x = state.vector("best x")?;
        self.best = Best { x, r_norm2: state.number("best (r, r)")? };
        self.history = std::mem::take(&mut state.history);
        Ok(())
    }

    /// Hands the state to the keeper if a state is wanted now.
    ///
    /// Returns a verdict if the solve is to stop. To be called between iterations.
    pub fn keep<const V: usize, const K: usize, const N: usize>(
        &mut self,
        names: &Names<V, K, N>,
        vectors: [&S::Vector; V],
        scalars: [&S::Scalar; K],
        numbers: [f64; N],
    ) -> Result<Option<Verdict>, S::Error> {
        // After a look nothing has to be read but the scalars.
        if self.unseen.is_empty() { self.keep_now(names, vectors, scalars, numbers) } else { Ok(None) }
    }

    /// Hands the state over like [`keep`](Self::keep), but also between looks.
    ///
    /// The residual need not have just been looked at.
    pub fn keep_now<const V: usize, const K: usize, const N: usize>(
        &mut self,
        names: &Names<V, K, N>,
        vectors: [&S::Vector; V],
        scalars: [&S::Scalar; K],
        numbers: [f64; N],
    ) -> Result<Option<Verdict>, S::Error> {
        self.keep_lists(names.lists(), &vectors, &scalars, &numbers)
    }

    fn keep_lists(
        &mut self,
        names: NameLists<'_>,
        vectors: &[&S::Vector],
        scalars: &[&S::Scalar],
        numbers: &[f64],
    ) -> Result<Option<Verdict>, S::Error> {
        let wish = self.keeper.as_mut().map_or(Wish::GoOn, |keeper| keeper.wish());
        if wish != Wish::GoOn {
            self.read([])?;
        }
        let nanoseconds = self.time().as_nanos() as u64;
        if let (Some(keeper), Wish::Keep | Wish::KeepAndStop) = (&mut self.keeper, wish) {
            let values = self.operator.space().read_all(scalars)?;
            let counts = [
                ("iterations", self.iterations as u64),
                ("applications", self.applications as u64),
                ("next look", self.next_look as u64),
                ("futile replacements", self.futile as u64),
                ("flops", self.work.flops),
                ("bytes", self.work.bytes),
                (NANOSECONDS, nanoseconds),
            ];
            let own = [
                ("target", self.target),
                ("true residual", self.last_true),
                ("replaced residual", self.replaced),
                ("last (r, r)", self.r_norm2),
                ("best (r, r)", self.best.r_norm2),
            ];
            keeper.keep(&SolverState {
                method: names.method.into(),
                vectors: named_values(
                    names
                        .vectors
                        .iter()
                        .copied()
                        .zip(vectors.iter().copied())
                        .chain([("best x", &self.best.x)]),
                ),
                scalars: named_values(names.scalars.iter().copied().zip(values)),
                numbers: named_values(names.numbers.iter().copied().zip(numbers.iter().copied()).chain(own)),
                counts: named_values(counts),
                history: self.history.clone(),
            })?;
        }
        let stops = matches!(wish, Wish::Stop | Wish::KeepAndStop);
        Ok(stops.then_some(Verdict::GaveUp(Failure::Interrupted)))
    }
}
