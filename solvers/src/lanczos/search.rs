//! The state of a search for modes, and its steps.

use super::columns::Together;
use super::filter::Filter;
use super::krylov::Krylov;
use super::options::LanczosOptions;
use super::outcome::{LanczosCallbacks, LanczosError, LanczosInfo, LanczosResult, Mode};
use crate::clock::Clock;
use crate::outcome::Failure;
use crate::work::Work;
use crate::{ErrorOf, LinearOperator, VectorOf, VectorSpace};
use std::time::Duration;

/// A function that sets a vector to random numbers.
///
/// They depend on the given number alone.
pub type RandomVector<'a, A> = dyn FnMut(u64, &mut VectorOf<A>) -> Result<(), ErrorOf<A>> + 'a;

/// The continuation after a step.
pub(super) enum Next {
    Continue,
    Done,
    GaveUp(Failure),
}

/// A search for modes.
pub(super) struct Search<'a, 'c, A: LinearOperator> {
    pub(super) a: &'a A,
    /// A on several vectors at once, if there is such an operator.
    pub(super) together: Option<Box<dyn Together<A> + 'a>>,
    pub(super) options: LanczosOptions,
    pub(super) callbacks: LanczosCallbacks<'c, VectorOf<A>, ErrorOf<A>>,
    /// The modes that are found, the best first.
    pub(super) locked: Vec<Mode<VectorOf<A>>>,
    pub(super) krylov: Krylov<A::Space>,
    pub(super) stage: Stage,
    pub(super) filter: Option<Filter>,
    /// The largest known |λ|.
    pub(super) scale: f64,
    /// Modes locked since the Krylov space began with random vectors alone.
    pub(super) locked_in_sweep: usize,
    /// Whether all modes had been found when it began.
    pub(super) checks: bool,
    /// Changes of the polynomial.
    pub(super) filters: usize,
    pub(super) randoms: u64,
    pub(super) restarts: usize,
    pub(super) applications: usize,
    pub(super) work: Work,
    pub(super) clock: Clock,
    pub(super) earlier: Duration,
    pub(super) history: Vec<f64>,
    pub(super) spare: [VectorOf<A>; 2],
    pub(super) image: VectorOf<A>,
}

/// The purpose of the Krylov space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Finding the ends of the unwanted part of the spectrum, with A itself.
    Bounds,
    /// Finding modes.
    Modes,
}

impl<'a, 'c, A: LinearOperator> Search<'a, 'c, A> {
    pub(super) fn start(
        a: &'a A,
        together: Option<Box<dyn Together<A> + 'a>>,
        options: LanczosOptions,
        callbacks: LanczosCallbacks<'c, VectorOf<A>, ErrorOf<A>>,
    ) -> Result<Self, ErrorOf<A>> {
        let space = a.space();
        Ok(Self {
            a,
            together,
            options,
            callbacks,
            locked: Vec::new(),
            krylov: Krylov::default(),
            stage: if options.degree == 0 { Stage::Modes } else { Stage::Bounds },
            filter: None,
            scale: 0.0,
            locked_in_sweep: 0,
            checks: false,
            filters: 0,
            randoms: 0,
            restarts: 0,
            applications: 0,
            work: Work::default(),
            clock: Clock::start(space),
            earlier: Duration::ZERO,
            history: Vec::new(),
            spare: [space.zero_vector()?, space.zero_vector()?],
            image: space.zero_vector()?,
        })
    }

    /// Makes a column of the projected matrix, and the next vector.
    ///
    /// Makes several columns, if A is applied to several vectors at once.
    pub(super) fn step(&mut self) -> Result<Next, ErrorOf<A>> {
        let room = self.options.subspace - self.krylov.vectors();
        let waiting = self.krylov.next_vectors().len().min(room);
        let most = self.together.as_ref().map_or(1, |together| together.most());
        if most.min(waiting) > 1 {
            return self.step_of_several(most.min(waiting));
        }
        let vector = self.krylov.next_vector();
        match &self.filter {
            None => {
                self.a.apply(vector, &mut self.image)?;
                self.applications += 1;
                self.work += self.a.work();
            }
            Some(filter) => {
                filter.apply(self.a, vector, &mut self.image, &mut self.spare)?;
                self.applications += filter.degree;
                self.work += filter.work(self.a);
            }
        }
        self.take_image()
    }

    /// Makes several columns, those that as many steps make.
    fn step_of_several(&mut self, count: usize) -> Result<Next, ErrorOf<A>> {
        let Some(together) = &mut self.together else { return Ok(Next::Continue) };
        let vectors = &self.krylov.next_vectors()[..count];
        self.work += together.apply(self.filter.as_ref(), vectors)?;
        self.applications += count * self.filter.map_or(1, |filter| filter.degree);
        for number in 0..count {
            if let Some(together) = &self.together {
                together.image(number, &mut self.image)?;
            }
            let next = self.take_image()?;
            if !matches!(next, Next::Continue) {
                return Ok(next);
            }
        }
        Ok(Next::Continue)
    }

    fn take_image(&mut self) -> Result<Next, ErrorOf<A>> {
        let space = self.a.space();
        match self.krylov.take_image(space, &self.locked, &mut self.image, &mut self.work)? {
            true => Ok(Next::Continue),
            false => Ok(Next::GaveUp(Failure::NotFinite { quantity: "A v" })),
        }
    }

    /// Adds a random vector, or ends a Krylov space that has all dimensions.
    pub(super) fn add_random(&mut self, random: &mut RandomVector<'_, A>) -> Result<Next, ErrorOf<A>> {
        let space = self.a.space();
        if self.locked.len() + self.krylov.vectors() >= space.dimension() {
            return self.restart();
        }
        let wanted = if self.krylov.vectors() == 0 { self.options.block } else { 1 };
        for _ in 0..wanted.min(space.dimension() - self.locked.len() - self.krylov.vectors()) {
            random(self.randoms, &mut self.image)?;
            self.randoms += 1;
            if !self.krylov.add(space, &self.locked, &mut self.image, &mut self.work)? {
                return Ok(Next::GaveUp(Failure::NotFinite { quantity: "a random vector" }));
            }
        }
        Ok(Next::Continue)
    }

    /// Ends the search.
    pub(super) fn finish(mut self, failure: Option<Failure>) -> LanczosResult<VectorOf<A>, ErrorOf<A>> {
        let time = self.time();
        self.locked.truncate(self.options.count);
        let info = LanczosInfo {
            applications: self.applications,
            restarts: self.restarts,
            history: self.history,
            time,
            work: self.work,
        };
        let found = self.locked;
        match failure {
            None => Ok((found, info)),
            Some(failure) => Err(LanczosError::NotConverged { failure, found, info: Box::new(info) }),
        }
    }

    pub(super) fn time(&self) -> Duration {
        self.earlier + self.clock.elapsed(self.a.space())
    }
}
