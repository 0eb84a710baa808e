//! Thick-restart Lanczos with Chebyshev acceleration, for Hermitian operators.

mod columns;
mod filter;
mod krylov;
mod nearest_zero;
mod options;
mod outcome;
mod restart;
mod search;
mod state;

pub use columns::Columns;
pub use nearest_zero::{modes_nearest_zero, modes_nearest_zero_on_columns, rayleigh_ritz};
pub use options::{LanczosOptions, SpectrumEnd};
pub use outcome::{LanczosCallbacks, LanczosError, LanczosInfo, LanczosLook, Mode};
pub use search::RandomVector;

use crate::outcome::Failure;
use crate::{ErrorOf, LinearOperator, VectorOf};
use columns::{Prepared, Together};
use outcome::LanczosResult;
use search::{Next, Search};

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
) -> LanczosResult<VectorOf<A>, ErrorOf<A>> {
    search(a, None, options, random, callbacks)
}

/// Finds modes like [`thick_restart_lanczos`], and applies A to several vectors at once.
///
/// The vectors are those that wait for an application, as many as the Krylov space started from
/// ([`LanczosOptions::block`]). The steps are those without `columns`.
///
/// # Errors
/// The errors of [`thick_restart_lanczos`].
pub fn thick_restart_lanczos_on_columns<A: LinearOperator>(
    a: &A,
    columns: &impl Columns<A>,
    options: &LanczosOptions,
    random: &mut RandomVector<'_, A>,
    callbacks: LanczosCallbacks<'_, VectorOf<A>, ErrorOf<A>>,
) -> LanczosResult<VectorOf<A>, ErrorOf<A>> {
    search(a, Some(Box::new(Prepared::new(columns)?)), options, random, callbacks)
}

fn search<'a, A: LinearOperator>(
    a: &'a A,
    together: Option<Box<dyn Together<A> + 'a>>,
    options: &LanczosOptions,
    random: &mut RandomVector<'_, A>,
    callbacks: LanczosCallbacks<'_, VectorOf<A>, ErrorOf<A>>,
) -> LanczosResult<VectorOf<A>, ErrorOf<A>> {
    if let Some((name, value, allowed)) = options.wrong() {
        return Err(LanczosError::Parameter { name, value, allowed });
    }
    let mut search = Search::start(a, together, *options, callbacks)?;
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
