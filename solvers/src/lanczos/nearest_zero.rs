//! Modes of an indefinite operator that are nearest to zero.

use super::krylov::{Rest, orthogonalise, unit};
use super::outcome::{LanczosCallbacks, LanczosInfo, LanczosResult, Mode};
use super::restart::true_mode;
use super::{Columns, LanczosOptions, RandomVector, thick_restart_lanczos, thick_restart_lanczos_on_columns};
use crate::work::Work;
use crate::{ErrorOf, LinearOperator, SquareMatrix, VectorOf, VectorSpace};
use num_complex::Complex64;
use std::cell::RefCell;

/// Finds the modes of a Hermitian operator Q with the smallest |λ|.
///
/// [`thick_restart_lanczos`] finds the lowest modes of Q², and [`rayleigh_ritz`] the modes of Q in
/// their span. An eigenspace of Q² can hold modes of both signs. The span is completed by images if
/// it has only a part of such a space.
///
/// The tolerance is that of Q². Its options are those of [`thick_restart_lanczos`], with
/// [`SpectrumEnd::Lowest`](super::SpectrumEnd::Lowest). Modes are sorted by |λ|. Their residuals are
/// those of Q.
///
/// # Errors
/// The errors of [`thick_restart_lanczos`]. Modes that come with an error are those of Q².
pub fn modes_nearest_zero<Q: LinearOperator>(
    q: &Q,
    options: &LanczosOptions,
    random: &mut RandomVector<'_, Q>,
    callbacks: LanczosCallbacks<'_, VectorOf<Q>, ErrorOf<Q>>,
) -> LanczosResult<VectorOf<Q>, ErrorOf<Q>> {
    let squared = Squared::new(q)?;
    let (modes, info) = thick_restart_lanczos(&squared, options, random, callbacks)?;
    Ok(of_squared(q, modes, info)?)
}

/// Finds modes like [`modes_nearest_zero`], and applies Q to several vectors at once.
///
/// # Errors
/// The errors of [`modes_nearest_zero`].
pub fn modes_nearest_zero_on_columns<Q: LinearOperator>(
    q: &Q,
    columns: &impl Columns<Q>,
    options: &LanczosOptions,
    random: &mut RandomVector<'_, Q>,
    callbacks: LanczosCallbacks<'_, VectorOf<Q>, ErrorOf<Q>>,
) -> LanczosResult<VectorOf<Q>, ErrorOf<Q>> {
    let squared = Squared::new(q)?;
    let columns = SquaredColumns { columns, operator: Squared::new(columns.operator())? };
    let (modes, info) = thick_restart_lanczos_on_columns(&squared, &columns, options, random, callbacks)?;
    Ok(of_squared(q, modes, info)?)
}

/// Modes with the course of their search.
type ModesWithInfo<Q> = (Vec<Mode<VectorOf<Q>>>, LanczosInfo);

/// Makes modes of Q of those of Q², and sorts them.
fn of_squared<Q: LinearOperator>(
    q: &Q,
    modes: Vec<Mode<VectorOf<Q>>>,
    mut info: LanczosInfo,
) -> Result<ModesWithInfo<Q>, ErrorOf<Q>> {
    // An application of Q² is two of Q.
    info.applications *= 2;
    let count = modes.len();
    let scale = modes.last().map_or(0.0, |mode| mode.value.abs().sqrt());
    let span = modes.into_iter().map(|mode| mode.vector).collect();
    let mut modes = sorted(rayleigh_ritz(q, span, &mut info)?);
    // A vector between both signs of an eigenvalue has a residual of the size of the eigenvalue.
    // Written so that a residual that is not a number counts as one of them.
    let between = |mode: &Mode<_>| {
        let is_mode = mode.residual <= 1e-3 * scale;
        !is_mode
    };
    if modes.iter().any(between) {
        let mut span = Vec::with_capacity(2 * count);
        for mode in modes {
            let mut image = q.space().zero_vector()?;
            if between(&mode) {
                q.apply(&mode.vector, &mut image)?;
                info.applications += 1;
                span.push(image);
            }
            span.push(mode.vector);
        }
        modes = sorted(rayleigh_ritz(q, span, &mut info)?);
    }
    modes.truncate(count);
    Ok((modes, info))
}

fn sorted<V>(mut modes: Vec<Mode<V>>) -> Vec<Mode<V>> {
    modes.sort_by(|a, b| a.value.abs().total_cmp(&b.value.abs()));
    modes
}

/// Finds the modes of a Hermitian operator in the span of some vectors.
///
/// They are exact if the span is made of eigenvectors. Vectors that depend on the others are left
/// out. Modes are sorted, the lowest first. Their residuals are computed from the definition.
///
/// # Errors
/// The space's own error if an operation fails.
pub fn rayleigh_ritz<A: LinearOperator>(
    a: &A,
    span: Vec<VectorOf<A>>,
    info: &mut LanczosInfo,
) -> Result<Vec<Mode<VectorOf<A>>>, ErrorOf<A>> {
    let space = a.space();
    let mut work = Work::default();
    let mut basis: Vec<VectorOf<A>> = Vec::with_capacity(span.len());
    for mut vector in span {
        let against: Vec<_> = basis.iter().collect();
        if let (_, Rest::Norm(norm)) = orthogonalise(space, &against, &mut vector, &mut work)? {
            basis.push(unit(space, &vector, norm)?);
        }
    }
    let mut image = space.zero_vector()?;
    let mut columns: Vec<Vec<Complex64>> = Vec::with_capacity(basis.len());
    for vector in &basis {
        a.apply(vector, &mut image)?;
        let products = basis.iter().map(|own| space.dot(own, &image)).collect::<Result<Vec<_>, _>>()?;
        columns.push(space.read_all(&products.iter().collect::<Vec<_>>())?);
    }
    let projected = SquareMatrix::from_fn(basis.len(), |i, j| 0.5 * (columns[j][i] + columns[i][j].conj()));
    let Ok(eigen) = projected.hermitian_eigen() else { return Ok(Vec::new()) };
    let mut modes = Vec::with_capacity(basis.len());
    for k in 0..basis.len() {
        let mut vector = space.zero_vector()?;
        for (j, own) in basis.iter().enumerate() {
            space.axpy(&space.scalar(eigen.vectors[(j, k)]), own, &mut vector)?;
        }
        modes.push(true_mode(a, vector, &mut image)?);
    }
    info.applications += 2 * basis.len();
    work += a.work_with_products().times(2 * basis.len() as u64);
    work += crate::update::AXPY.work(space).times(2 * (basis.len() * basis.len()) as u64);
    info.work += work;
    Ok(modes)
}

/// Q², applied as Q twice.
struct Squared<'a, Q: LinearOperator> {
    q: &'a Q,
    between: RefCell<VectorOf<Q>>,
}

impl<'a, Q: LinearOperator> Squared<'a, Q> {
    fn new(q: &'a Q) -> Result<Self, ErrorOf<Q>> {
        Ok(Self { q, between: RefCell::new(q.space().zero_vector()?) })
    }
}

/// Q² on columns.
struct SquaredColumns<'a, Q: LinearOperator, C: Columns<Q>> {
    columns: &'a C,
    operator: Squared<'a, C::Operator>,
}

impl<'a, Q: LinearOperator, C: Columns<Q>> Columns<Squared<'_, Q>> for SquaredColumns<'a, Q, C> {
    type Operator = Squared<'a, C::Operator>;

    fn operator(&self) -> &Self::Operator {
        &self.operator
    }

    fn count(&self) -> usize {
        self.columns.count()
    }

    fn set(
        &self,
        column: usize,
        vector: &VectorOf<Q>,
        columns: &mut VectorOf<C::Operator>,
    ) -> Result<(), ErrorOf<Q>> {
        self.columns.set(column, vector, columns)
    }

    fn get(
        &self,
        column: usize,
        columns: &VectorOf<C::Operator>,
        vector: &mut VectorOf<Q>,
    ) -> Result<(), ErrorOf<Q>> {
        self.columns.get(column, columns, vector)
    }
}

impl<Q: LinearOperator> LinearOperator for Squared<'_, Q> {
    type Space = Q::Space;

    fn space(&self) -> &Q::Space {
        self.q.space()
    }

    fn apply(&self, x: &VectorOf<Q>, out: &mut VectorOf<Q>) -> Result<(), ErrorOf<Q>> {
        let between = &mut *self.between.borrow_mut();
        self.q.apply(x, between)?;
        self.q.apply(between, out)
    }

    fn work(&self) -> Work {
        self.q.work().times(2)
    }
}
