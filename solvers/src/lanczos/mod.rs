//! Thick-restart Lanczos with Chebyshev acceleration, for Hermitian operators.

mod filter;
mod krylov;
mod nearest_zero;
mod outcome;
mod restart;
mod state;

pub use nearest_zero::{modes_nearest_zero, rayleigh_ritz};
pub use outcome::{LanczosCallbacks, LanczosError, LanczosInfo, LanczosLook, Mode};

use crate::clock::Clock;
use crate::outcome::Failure;
use crate::work::Work;
use crate::{ErrorOf, LinearOperator, VectorOf, VectorSpace};
use filter::Filter;
use krylov::Krylov;
use outcome::Outcome;
use restart::Next;
use std::time::Duration;

/// The end of the spectrum at which modes are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Wanted {
    /// The lowest eigenvalues.
    #[default]
    Lowest,
    /// The largest eigenvalues, by sign and not by modulus.
    Largest,
}

/// Options of [`thick_restart_lanczos`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LanczosOptions {
    /// The number of modes.
    pub count: usize,
    /// The end of the spectrum. Default [`Wanted::Lowest`].
    pub wanted: Wanted,
    /// Wanted ‖A v − λ v‖ over the largest known |λ|. Default 1e-10.
    pub tolerance: f64,
    /// Most vectors of the Krylov space. Default 2 `count` + 24.
    ///
    /// Modes that are found do not count.
    pub subspace: usize,
    /// Vectors that a Krylov space starts from. Default 1.
    ///
    /// A space finds as many modes of one eigenvalue at once. Others of the same eigenvalue are
    /// found later, from new random vectors.
    pub block: usize,
    /// Highest degree of the Chebyshev polynomial; 0 iterates A itself. Default 0.
    ///
    /// The degree is used as the next multiple of four, and is lower while modes are so far apart
    /// that they need no more. The polynomial needs no bounds: a first Krylov space gives the end of
    /// the spectrum, and one end of the unwanted part. The other end follows the Ritz values.
    pub degree: usize,
    /// Most applications of A. Default 1 000 000.
    pub max_applications: usize,
}

impl LanczosOptions {
    /// Returns the defaults for this number of modes.
    pub fn new(count: usize) -> Self {
        Self {
            count,
            wanted: Wanted::default(),
            tolerance: 1e-10,
            subspace: 2 * count + 24,
            block: 1,
            degree: 0,
            max_applications: 1_000_000,
        }
    }

    /// Returns a parameter that makes no sense, with its value and the allowed ones.
    fn wrong(&self) -> Option<(&'static str, f64, &'static str)> {
        let least = self.count + 2 * self.block + 2;
        if self.count == 0 {
            return Some(("count", 0.0, "1 or more"));
        }
        if self.block == 0 {
            return Some(("block", 0.0, "1 or more"));
        }
        if self.subspace < least {
            return Some(("subspace", self.subspace as f64, "count + 2 block + 2 or more"));
        }
        let tolerance = self.tolerance > 0.0 && self.tolerance < 1.0;
        (!tolerance).then_some(("tolerance", self.tolerance, "more than 0 and less than 1"))
    }
}

/// A function that sets a vector to random numbers.
///
/// They depend on the given number alone.
pub type RandomVector<'a, A> = dyn FnMut(u64, &mut VectorOf<A>) -> Result<(), ErrorOf<A>> + 'a;

/// Finds modes at one end of the spectrum by thick-restart Lanczos.
///
/// K. Wu and H. Simon, SIAM J. Matrix Anal. Appl. 22 (2000) 602. A Krylov space with the
/// orthonormal basis V grows by one application at a time. The projected matrix T = V†A V is
/// diagonalised when V is full, and V begins again with the best Ritz vectors:
///
/// ```text
/// T = [θ₁        s₁†]      θ: Ritz values that were kept
///     [   θ₂     s₂†]      s: their coupling to the vectors that come next
///     [s₁ s₂ ⋯  α₁ β]      α, β: columns of the orthogonalisation
/// ```
///
/// * New vectors are orthogonalised against all others, until no digit is left to lose.
/// * A mode counts as found when ‖A v − λ v‖ is small enough, recomputed from its definition. It is
///   locked: it leaves the Krylov space, and all vectors stay orthogonal to it.
/// * With [`LanczosOptions::degree`] the operator that is iterated is a Chebyshev polynomial of A
///   (Y. Zhou and Y. Saad, SIAM J. Matrix Anal. Appl. 29 (2007) 954). The unwanted part of the
///   spectrum goes to \[−1, 1\], and the polynomial grows fast outside.
/// * When all modes are found, a new Krylov space starts from new random vectors. It must find no
///   better mode, so that no eigenvector of a multiple eigenvalue is missing.
///
/// `random` makes start vectors. [`LanczosCallbacks`] watch and keep states. A state is complete, so
/// that an interrupted search goes on to the same bits.
///
/// If the space has fewer dimensions than modes are wanted, all its modes are returned. Modes are
/// sorted, the best first.
///
/// # Errors
/// * [`LanczosError::NotConverged`] with the modes found so far, if the limit of applications is
///   reached, a number is not finite, or the keeper wishes to stop.
/// * [`LanczosError::Parameter`], [`LanczosError::ForeignState`].
/// * The space's own error if an operation fails.
pub fn thick_restart_lanczos<A: LinearOperator>(
    a: &A,
    options: &LanczosOptions,
    random: &mut RandomVector<'_, A>,
    callbacks: LanczosCallbacks<'_, VectorOf<A>, ErrorOf<A>>,
) -> Outcome<VectorOf<A>, ErrorOf<A>> {
    if let Some((name, value, allowed)) = options.wrong() {
        return Err(LanczosError::Parameter { name, value, allowed });
    }
    let mut search = Search::start(a, *options, callbacks)?;
    search.resume()?;
    loop {
        if search.keep()? {
            return search.finish(Some(Failure::Interrupted));
        }
        let next = if search.krylov.is_full(options.subspace) {
            search.restart()?
        } else if search.krylov.has_next() {
            search.step()?
        } else {
            search.add_random(random)?
        };
        match next {
            Next::Continue => {}
            Next::Done => return search.finish(None),
            Next::GaveUp(failure) => return search.finish(Some(failure)),
        }
        if search.applications >= options.max_applications {
            return search.finish(Some(Failure::IterationLimit { limit: options.max_applications }));
        }
    }
}

/// A search for modes.
struct Search<'a, 'c, A: LinearOperator> {
    a: &'a A,
    options: LanczosOptions,
    callbacks: LanczosCallbacks<'c, VectorOf<A>, ErrorOf<A>>,
    /// The modes that are found, the best first.
    locked: Vec<Mode<VectorOf<A>>>,
    krylov: Krylov<A::Space>,
    stage: Stage,
    filter: Option<Filter>,
    /// The largest known |λ|.
    scale: f64,
    /// Modes locked since the Krylov space began with random vectors alone.
    locked_in_sweep: usize,
    /// Whether all modes had been found when it began.
    checks: bool,
    /// Changes of the polynomial.
    filters: usize,
    randoms: u64,
    restarts: usize,
    applications: usize,
    work: Work,
    clock: Clock,
    earlier: Duration,
    history: Vec<f64>,
    spare: [VectorOf<A>; 2],
    image: VectorOf<A>,
}

/// The purpose of the Krylov space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Finding the ends of the unwanted part of the spectrum, with A itself.
    Bounds,
    /// Finding modes.
    Modes,
}

impl<'a, 'c, A: LinearOperator> Search<'a, 'c, A> {
    fn start(
        a: &'a A,
        options: LanczosOptions,
        callbacks: LanczosCallbacks<'c, VectorOf<A>, ErrorOf<A>>,
    ) -> Result<Self, ErrorOf<A>> {
        let space = a.space();
        Ok(Self {
            a,
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
    fn step(&mut self) -> Result<Next, ErrorOf<A>> {
        let space = self.a.space();
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
        match self.krylov.take_image(space, &self.locked, &mut self.image, &mut self.work)? {
            true => Ok(Next::Continue),
            false => Ok(Next::GaveUp(Failure::NotFinite { quantity: "A v" })),
        }
    }

    /// Adds a random vector, or ends a Krylov space that has all dimensions.
    fn add_random(&mut self, random: &mut RandomVector<'_, A>) -> Result<Next, ErrorOf<A>> {
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
    fn finish(mut self, failure: Option<Failure>) -> Outcome<VectorOf<A>, ErrorOf<A>> {
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

    fn time(&self) -> Duration {
        self.earlier + self.clock.elapsed(self.a.space())
    }
}
