//! BiCGStab(ℓ): BiCGStab with residual polynomials of degree ℓ.

use crate::breakdown::vanishes;
use crate::callbacks::Callbacks;
use crate::outcome::{Failure, SolverError};
use crate::progress::{Progress, SolveResult, Step, Verdict};
use crate::shadow::{HOPELESS_GROWTH, SHADOW_NUMBERS, Shadow};
use crate::state::{Names, Resumed};
use crate::stopping::Stopping;
use crate::update::{AXPY, DOT, SOLUTION_AND_RESIDUAL};
use crate::{Operator, VectorSpace};
use derive_setters::Setters;
use num_complex::Complex64;

/// Options of [`bicgstab_l`].
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct BicgstabLOptions {
    /// Conditions for stopping.
    pub stopping: Stopping,
    /// ℓ, the degree of the polynomials in A that make the residual minimal. Default 2.
    pub degree: usize,
    /// Bound of a breakdown. Default 1e-12.
    ///
    /// The method breaks down when an inner product that is divided by falls below this bound times
    /// the product of the two norms.
    pub breakdown: f64,
}

impl Default for BicgstabLOptions {
    fn default() -> Self {
        Self { stopping: Stopping::default(), degree: 2, breakdown: 1e-12 }
    }
}

/// Solves A x = b by BiCGStab(ℓ).
///
/// Source: G. L. G. Sleijpen and D. R. Fokkema, Electron. Trans. Numer. Anal. 1 (1993) 11. Let q
/// be the shadow residual, at first r, and uᵢ = Aⁱ u, rᵢ = Aⁱ r. Each iteration does ℓ steps of
/// bi-conjugate gradients, for j = 0 … ℓ − 1
///
/// ```text
/// β = (q, rⱼ') / (q, rⱼ₋₁) · α / ω for j = 0, with −1 for ω else
/// uᵢ = rᵢ + β uᵢ  for i ≤ j,   uⱼ₊₁ = A uⱼ
/// α = (q, rⱼ) / (q, uⱼ₊₁)
/// x = x + α u,   rᵢ = rᵢ − α uᵢ₊₁  for i ≤ j,   rⱼ₊₁ = A rⱼ
/// ```
///
/// and then, with the γ that make ‖r‖ minimal,
///
/// ```text
/// x = x + Σ γᵢ rᵢ₋₁,   r = r − Σ γᵢ rᵢ,   u = u − Σ γᵢ uᵢ,   ω = γ_ℓ
/// ```
///
/// An iteration takes 2ℓ applications of A. ℓ = 1 is [`bicgstab`](crate::bicgstab). Higher ℓ can
/// follow eigenvalues far from the real axis, whose polynomials have complex roots. The γ solve an
/// ℓ × ℓ system on the host. The inner products of this system are read once an iteration.
///
/// When an inner product that is divided by vanishes, the method starts again in the way of
/// `bicgstab`.
///
/// `guess` is x₀: zero if absent, or if it is 10⁴ times worse than zero. [`Callbacks`] compute the
/// residual that counts and keep states.
///
/// # Errors
/// [`SolverError::NotConverged`] with the iterate of the smallest residual, to within a factor of
/// four, if
/// * neither shadow residual brings progress,
/// * a scalar is not finite,
/// * the residual stagnates, or
/// * the iteration limit is reached.
///
/// [`SolverError::Parameter`] if ℓ is zero. The space's own error if an operation fails.
pub fn bicgstab_l<'c, S: VectorSpace>(
    a: &Operator<'_, S>,
    b: &S::Vector,
    guess: Option<&S::Vector>,
    params: &BicgstabLOptions,
    callbacks: impl Into<Callbacks<'c, S>>,
) -> SolveResult<S> {
    let BicgstabLOptions { stopping, degree, breakdown } = *params;
    if degree == 0 {
        return Err(SolverError::Parameter { name: "degree", value: 0.0, allowed: "1 or more" });
    }
    let space = a.space();
    let mut progress = Progress::start(a, b, guess, stopping, callbacks)?;
    let step = SOLUTION_AND_RESIDUAL.work(space);
    let update = AXPY.work(space);
    let dot = DOT.work(space);

    let resumed = progress.resume(&STATE)?;
    // Aⁱ r and Aⁱ u
    let powers = |count| (0..count).map(|_| space.zero_vector()).collect::<Result<Vec<_>, S::Error>>();
    let (mut r, mut u) = (powers(degree + 1)?, powers(degree + 1)?);
    let (mut x, mut shadow);
    // The scalars of the last step. There are none at a start.
    let mut last: Option<Last<S::Scalar>> = None;
    if let Some(Resumed { vectors, scalars, numbers: [norm2, start_norm2, mixed, re, im] }) = resumed {
        let q;
        [x, r[0], u[0], q] = vectors;
        shadow = Shadow::restored(q, [norm2, start_norm2, mixed]);
        let [rho, sigma] = scalars;
        let alpha = space.quotient(&rho, &sigma);
        let omega = Complex64::new(re, im);
        last = (!omega.is_nan()).then_some(Last { rho, sigma, alpha, omega });
    } else {
        let beginning = progress.begin()?;
        (x, r[0]) = (beginning.x, beginning.r);
        if let Some(verdict) = beginning.verdict {
            return progress.finish(x, verdict);
        }
        shadow = Shadow::none(space)?;
        shadow.start(a, &r[0], progress.r_norm2(), &mut u[1])?;
    }
    let mut divisors = Vec::new();
    loop {
        let zero = space.scalar(Complex64::default());
        let (scalars, omega) = match &last {
            Some(Last { rho, sigma, omega, .. }) => ([rho, sigma], *omega),
            None => ([&zero, &zero], NONE),
        };
        let [norm2, start_norm2, mixed] = shadow.numbers();
        let numbers = [norm2, start_norm2, mixed, omega.re, omega.im];
        if let Some(verdict) = progress.keep(&STATE, [&x, &r[0], &u[0], &shadow.q], scalars, numbers)? {
            return progress.finish(x, verdict);
        }
        let mut rho_and_norm2 = [space.dot(&shadow.q, &r[0])?, space.norm2(&r[0])?];
        let mut s_norm2 = rho_and_norm2[1].clone();
        progress.work += dot;
        divisors.clear();
        for j in 0..degree {
            let [rho, r_norm2] = rho_and_norm2;
            match &last {
                None => space.copy(&r[0], &mut u[0])?,
                Some(last) => {
                    let ratio = space.quotient(&rho, &last.rho);
                    let beta =
                        space.quotient(&ratio, &space.quotient(&space.scalar(last.omega), &last.alpha));
                    for (r, u) in r.iter().zip(&mut u).take(j + 1) {
                        space.xpby(r, &beta, u)?;
                        progress.work += update;
                    }
                }
            }
            let (known, next) = u.split_at_mut(j + 1);
            let [sigma, u_norm2] = a.apply_products(&known[j], &shadow.q, &mut next[0])?;
            let alpha = space.quotient(&rho, &sigma);
            [s_norm2] = SOLUTION_AND_RESIDUAL.apply(space, [&alpha], [&u[0], &u[1]], [&mut x, &mut r[0]])?;
            progress.work += step;
            for i in 1..=j {
                space.axpy(&space.negate(&alpha), &u[i + 1], &mut r[i])?;
                progress.work += update;
            }
            let (known, next) = r.split_at_mut(j + 1);
            rho_and_norm2 = a.apply_products(&known[j], &shadow.q, &mut next[0])?;
            progress.count_application_with_products();
            progress.count_application_with_products();
            divisors.extend([rho.clone(), r_norm2, sigma.clone(), u_norm2]);
            last = Some(Last { rho, sigma, alpha, omega: Complex64::new(-1.0, 0.0) });
        }

        let minimum = Minimum::new(space, &r, &s_norm2, &divisors)?;
        progress.work += dot.times((degree * (degree + 3) / 2) as u64);
        let (gamma, failure) = minimum.coefficients(breakdown);
        let norm2 = shadow.norm2;
        let broken = minimum.others.chunks_exact(4).find_map(|divisors| {
            vanishes("(q, r)", divisors[0], norm2 * divisors[1].re, breakdown)
                .or_else(|| vanishes("(q, Au)", divisors[2], norm2 * divisors[3].re, breakdown))
        });
        let broken = broken.or(failure);
        for (gamma, r) in gamma.iter().zip(&r) {
            space.axpy(&space.scalar(*gamma), r, &mut x)?;
            progress.work += update;
        }
        for powers in [&mut r, &mut u] {
            let (first, higher) = powers.split_at_mut(1);
            for (gamma, power) in gamma.iter().zip(higher) {
                space.axpy(&space.scalar(-gamma), power, &mut first[0])?;
                progress.work += update;
            }
        }
        if let (Some(last), Some(gamma)) = (&mut last, gamma.last()) {
            last.omega = *gamma;
        }
        progress.iterated(&space.norm2(&r[0])?);
        if !progress.looks() && broken.is_none() {
            continue;
        }

        progress.read([])?;
        if let Step::Done(verdict) = progress.judge(&mut x, &mut r[0])? {
            return progress.finish(x, verdict);
        }
        let lost = progress.growth() > HOPELESS_GROWTH;
        if let Some(failure) = broken {
            let hopeless = shadow.exhausted(progress.r_norm2());
            if hopeless || matches!(failure, Failure::NotFinite { .. }) {
                return progress.finish(x, Verdict::GaveUp(failure));
            }
        }
        if lost {
            progress.restore(&mut x, &mut r[0])?;
        }
        if lost || broken.is_some() {
            if shadow.start(a, &r[0], progress.r_norm2(), &mut u[1])? {
                progress.count_application();
            }
            last = None;
        }
    }
}

/// The scalars of the last step, to which the next direction is made conjugate.
struct Last<S> {
    /// The product (q, rⱼ).
    rho: S,
    /// The product (q, uⱼ₊₁).
    sigma: S,
    alpha: S,
    /// ω, or −1 within an iteration.
    omega: Complex64,
}

/// Placeholder of ω if there is no last step.
const NONE: Complex64 = Complex64::new(f64::NAN, f64::NAN);

const STATE: Names<4, 2, 5> = Names {
    method: "BiCGStab(l)",
    vectors: ["x", "r", "u", "shadow residual"],
    scalars: ["(q, r)", "(q, Au)"],
    numbers: [SHADOW_NUMBERS[0], SHADOW_NUMBERS[1], SHADOW_NUMBERS[2], "Re ω", "Im ω"],
};

/// The system whose solution is the combination of A r, A²r … nearest to r.
struct Minimum {
    /// (Aⁱr, Aʲr), i and j from 1 on.
    gram: Vec<Vec<Complex64>>,
    /// The products (Aⁱr, r).
    projections: Vec<Complex64>,
    /// The squared norm (r, r).
    r_norm2: f64,
    /// Other scalars that were read in the same transfer.
    others: Vec<Complex64>,
}

impl Minimum {
    /// Reads the system of these powers, and other scalars.
    ///
    /// The first power is r itself.
    fn new<S: VectorSpace>(
        space: &S,
        powers: &[S::Vector],
        r_norm2: &S::Scalar,
        others: &[S::Scalar],
    ) -> Result<Self, S::Error> {
        let (r, images) = (&powers[0], &powers[1..]);
        let mut products = Vec::new();
        for (i, image) in images.iter().enumerate() {
            for other in &images[..i] {
                products.push(space.dot(image, other)?);
            }
            products.push(space.norm2(image)?);
            products.push(space.dot(image, r)?);
        }
        let all: Vec<_> = others.iter().chain([r_norm2]).chain(&products).collect();
        let mut others = space.read_all(&all)?;
        let products = others.split_off(others.len() - products.len());
        let r_norm2 = others.pop().unwrap_or_default().re;
        let mut gram = vec![vec![Complex64::default(); images.len()]; images.len()];
        let mut projections = Vec::new();
        let mut rest = &products[..];
        for i in 0..images.len() {
            for j in 0..=i {
                gram[i][j] = rest[j];
                gram[j][i] = rest[j].conj();
            }
            projections.push(rest[i + 1]);
            rest = &rest[i + 2..];
        }
        Ok(Self { gram, projections, r_norm2, others })
    }

    /// Returns the γᵢ that make ‖r − Σ γᵢ Aⁱr‖ minimal.
    ///
    /// The failure says why the method cannot go on with them. There are fewer γᵢ if the highest
    /// powers are no new directions.
    ///
    /// The γᵢ come from the Cholesky decomposition G = L D L†. The condition of G is the square of
    /// the condition of the powers. The square costs only some of the minimality: x and r stay
    /// consistent whatever γ is.
    fn coefficients(&self, bound: f64) -> (Vec<Complex64>, Option<Failure>) {
        let Self { gram, projections, r_norm2, .. } = self;
        if gram.iter().flatten().chain(projections).any(|value| !value.is_finite()) {
            return (Vec::new(), Some(Failure::NotFinite { quantity: "(Aⁱr, Aʲr)" }));
        }
        let n = gram.len();
        let mut lower = vec![vec![Complex64::default(); n]; n];
        // D, and L⁻¹ applied to the projections.
        let (mut pivots, mut reduced): (Vec<f64>, Vec<Complex64>) = (Vec::new(), Vec::new());
        let mut failure = None;
        for i in 0..n {
            for j in 0..i {
                let known: Complex64 = (0..j).map(|k| lower[i][k] * pivots[k] * lower[j][k].conj()).sum();
                lower[i][j] = (gram[i][j] - known) / pivots[j];
            }
            let known: f64 = (0..i).map(|k| lower[i][k].norm_sqr() * pivots[k]).sum();
            let pivot = gram[i][i].re - known;
            failure = vanishes("(Aⁱr, Aⁱr)", pivot.into(), gram[i][i].re.powi(2), SMALLEST_PIVOT);
            if failure.is_some() {
                break;
            }
            let known: Complex64 = (0..i).map(|k| lower[i][k] * reduced[k]).sum();
            reduced.push(projections[i] - known);
            pivots.push(pivot);
        }
        if let (None, Some(last), Some(pivot)) = (failure, reduced.last(), pivots.last()) {
            failure = vanishes("(Aⁱr, r)", *last, pivot * r_norm2, bound);
        }
        let mut gamma: Vec<Complex64> = reduced.iter().zip(&pivots).map(|(y, d)| y / d).collect();
        for i in (0..gamma.len()).rev() {
            for j in i + 1..gamma.len() {
                let known = gamma[j];
                gamma[i] -= lower[j][i].conj() * known;
            }
        }
        (gamma, failure)
    }
}

/// Relative part of ‖Aⁱr‖² that must be new.
///
/// A smaller part is rounding.
const SMALLEST_PIVOT: f64 = 64.0 * f64::EPSILON;
