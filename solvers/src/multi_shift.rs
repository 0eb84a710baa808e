//! Multi-shift Conjugate Gradient: all of (A + σᵢ) xᵢ = b at the price of one.

use crate::callbacks::Callbacks;
use crate::curvature::Curvature;
use crate::keeper::{Look, StateKeeper, Watching};
use crate::outcome::{Failure, Residual, Solution, SolverError, SolverInfo};
use crate::progress::{Beginning, Progress, Step, Verdict};
use crate::stopping::Stopping;
use crate::update::{AXPY, SOLUTION_AND_DIRECTION};
use crate::work::Work;
use crate::{LinearOperator, Operator, VectorSpace};
use derive_setters::Setters;

/// Options of [`multi_shift_cg`].
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct MultiShiftOptions {
    /// Conditions for stopping.
    ///
    /// The tolerance is the one of every shifted system.
    pub stopping: Stopping,
    /// Bound of a breakdown. Default 1e-14.
    ///
    /// The curvature is (p, (A + σ) p) / (r, r) of the smallest shift σ. The method breaks down
    /// when the curvature is negative. It also breaks down when the curvature falls below this
    /// bound times the curvature of the first direction.
    pub breakdown: f64,
}

impl Default for MultiShiftOptions {
    fn default() -> Self {
        Self { stopping: Stopping::default(), breakdown: 1e-14 }
    }
}

/// The solution of one shifted system, or the part of it that was reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Shifted<V> {
    /// The shift σ.
    pub shift: f64,
    /// The solution x.
    pub x: V,
    /// The residual ‖b − (A + σ) x‖ / ‖b‖.
    pub residual: Residual,
    /// Iterations after which the solution was found.
    pub iterations: usize,
}

/// The result of [`multi_shift_cg`].
type ShiftedResult<S> =
    Result<Solution<AllShifted<S>>, SolverError<AllShifted<S>, <S as VectorSpace>::Error>>;
type AllShifted<S> = Vec<Shifted<<S as VectorSpace>::Vector>>;

/// Solves (A + σᵢ) xᵢ = b for all shifts σᵢ ≥ 0 by one Krylov iteration.
///
/// The iteration is Conjugate Gradient. A is Hermitian and positive definite. Source: B.
/// Jegerlehner, hep-lat/9612014.
///
/// All these systems have the same Krylov space. From x = 0 their residuals are multiples of each
/// other: rᵢ = ζᵢ r, where r is the residual of the smallest shift σ. Each iteration does
///
/// ```text
/// α = (r, r) / (p, (A + σ) p),   r = r − α (A + σ) p,   β = (r', r') / (r, r)
/// ζᵢ' = ζᵢ ζᵢ⁻ α⁻ / [α β⁻ (ζᵢ⁻ − ζᵢ) + ζᵢ⁻ α⁻ (1 + (σᵢ − σ) α)]        ⁻: of the iteration before
/// xᵢ = xᵢ + α ζᵢ' pᵢ,   pᵢ = r + β (ζᵢ' / ζᵢ) pᵢ
/// ```
///
/// The directions are the paper's directions divided by ζᵢ, so that they do not underflow. An
/// iteration takes one application of A, and two vectors a shift. Systems of larger shifts converge
/// sooner. From then on their vectors are left alone. The numbers of an iteration are read once,
/// for the recurrence of ζ.
///
/// The solutions come in the order of `shifts`. In the [`SolverInfo`] residual and history belong
/// to the smallest shift. Each true residual ‖b − (A + σᵢ) xᵢ‖ / ‖b‖ is computed from its
/// definition when the recurrence says that xᵢ is found, and decides. There is no initial guess:
/// its residuals would not be multiples of each other.
///
/// `watch` is told whenever the residual of the smallest shift is looked at.
///
/// # Errors
/// [`SolverError::NotConverged`] with the last iterates if
/// * (p, (A + σ) p) is not positive,
/// * a scalar is not finite,
/// * a true residual does not follow its recurrence,
/// * the residual of the smallest shift stagnates, or
/// * the iteration limit is reached.
///
/// [`SolverError::Parameter`] if there are no shifts or one is not a number ≥ 0. The space's own
/// error if an operation fails.
pub fn multi_shift_cg<S: VectorSpace>(
    a: &Operator<'_, S>,
    shifts: &[f64],
    b: &S::Vector,
    params: &MultiShiftOptions,
    watch: Option<&mut dyn FnMut(&Look)>,
) -> ShiftedResult<S> {
    let MultiShiftOptions { stopping, breakdown } = *params;
    check(shifts)?;
    let mut systems = systems(a.space(), shifts, stopping.tolerance)?;
    let operator = Plus::new(a, systems[0].shift);
    let space = operator.space();
    let mut watching = watch.map(Watching);
    let keeper = watching.as_mut().map(|watching| watching as &mut dyn StateKeeper<_, _>);
    let callbacks = Callbacks { true_residual: None, keeper };
    let mut progress = Progress::start(&operator, b, None, stopping, callbacks)
        .map_err(|error| error.map_best(|_, _| Ok(Vec::new())))?;
    let work = SOLUTION_AND_DIRECTION.work(space);

    let Beginning { x, mut r, mut r_norm2, mut verdict } = progress.begin()?;
    systems[0].x = x;
    let b_norm = if progress.r_norm2() == 0.0 { 1.0 } else { progress.r_norm2().sqrt() };
    for system in &mut systems {
        space.copy(&r, &mut system.p)?;
    }
    let mut definition = Definition { a, b, b_norm, scratch: space.zero_vector()? };
    let mut ap = space.zero_vector()?;
    let mut curvature = Curvature::of("(p, Ap)");
    let (mut last_alpha, mut last_beta) = (1.0, 0.0);
    loop {
        let mut failure = None;
        for system in systems[1..].iter_mut().filter(|system| !system.found) {
            system.residual.iterated = system.zeta * progress.r_norm2().sqrt() / b_norm;
            system.iterations = progress.iterations;
            if system.residual.iterated <= system.target {
                let true_residual = definition.residual(system)?;
                progress.count_application();
                failure = failure.or(system.judge(true_residual, stopping.tolerance));
            }
        }
        let pending = systems[1..].iter().any(|system| !system.found);
        let limit = stopping.max_iterations;
        let ended = match (verdict, failure) {
            (Some(Verdict::GaveUp(failure)), _) | (_, Some(failure)) => Some(Verdict::GaveUp(failure)),
            (Some(Verdict::Converged), None) if pending => {
                (progress.iterations >= limit).then_some(Verdict::GaveUp(Failure::IterationLimit { limit }))
            }
            (verdict, None) => verdict,
        };
        if let Some(verdict) = ended {
            return finish(progress, systems, definition, verdict);
        }

        let [p_ap, new_norm2] = operator.descend(&r_norm2, &systems[0].p, &mut ap, &mut r)?;
        progress.count_descent();
        progress.iterated(&new_norm2);
        r_norm2 = new_norm2;
        let old_value = progress.r_norm2();
        let [p_ap] = progress.read([&p_ap])?;
        if let Some(failure) = curvature.failure(p_ap, old_value, breakdown) {
            return finish(progress, systems, definition, Verdict::GaveUp(failure));
        }
        let (alpha, beta) = (old_value / p_ap.re, progress.r_norm2() / old_value);
        for system in systems.iter_mut().filter(|system| !system.found) {
            let ratio = system.next_zeta(alpha, last_alpha, last_beta);
            let factors = [alpha * system.zeta, beta * ratio].map(|factor| space.scalar(factor.into()));
            let System { x, p, .. } = system;
            SOLUTION_AND_DIRECTION.apply(space, factors.each_ref(), [&r], [x, p])?;
            progress.work += work;
        }
        (last_alpha, last_beta) = (alpha, beta);
        verdict = None;
        if progress.looks()
            && let Step::Done(done) = progress.judge(&mut systems[0].x, &mut r)?
        {
            verdict = Some(done);
        }
    }
}

/// One of the shifted systems.
struct System<V> {
    shift: f64,
    /// The system's place among the caller's.
    place: usize,
    /// The difference σᵢ − σ.
    difference: f64,
    x: V,
    p: V,
    zeta: f64,
    /// ζ of the iteration before.
    last_zeta: f64,
    /// The iterated residual at which the true one is computed next.
    target: f64,
    residual: Residual,
    iterations: usize,
    found: bool,
}

/// Checks the shifts.
fn check<V, E: std::error::Error>(shifts: &[f64]) -> Result<(), SolverError<V, E>> {
    let refuse = |name, value, allowed| Err(SolverError::Parameter { name, value, allowed });
    if shifts.is_empty() {
        return refuse("number of shifts", 0.0, "1 or more");
    }
    match shifts.iter().find(|shift| !shift.is_finite() || **shift < 0.0) {
        Some(&shift) => refuse("shift", shift, "a finite number that is not negative"),
        None => Ok(()),
    }
}

/// Makes the systems in the order of their shifts, all at x = 0.
fn systems<S: VectorSpace>(
    space: &S,
    shifts: &[f64],
    tolerance: f64,
) -> Result<Vec<System<S::Vector>>, S::Error> {
    let smallest = shifts.iter().copied().fold(f64::INFINITY, f64::min);
    let mut systems = Vec::with_capacity(shifts.len());
    for (place, &shift) in shifts.iter().enumerate() {
        systems.push(System {
            shift,
            place,
            difference: shift - smallest,
            x: space.zero_vector()?,
            p: space.zero_vector()?,
            zeta: 1.0,
            last_zeta: 1.0,
            target: tolerance,
            residual: Residual { iterated: f64::NAN, true_residual: f64::NAN },
            iterations: 0,
            found: false,
        });
    }
    systems.sort_by(|a, b| a.shift.total_cmp(&b.shift));
    Ok(systems)
}

impl<V> System<V> {
    /// Takes ζ one iteration further, and returns ζ' / ζ.
    fn next_zeta(&mut self, alpha: f64, last_alpha: f64, last_beta: f64) -> f64 {
        let Self { zeta, last_zeta, difference, .. } = *self;
        let denominator =
            alpha * last_beta * (last_zeta - zeta) + last_zeta * last_alpha * (1.0 + difference * alpha);
        let ratio = last_zeta * last_alpha / denominator;
        (self.last_zeta, self.zeta) = (zeta, ratio * zeta);
        ratio
    }

    /// Takes note of the true residual, which may say that x is found.
    ///
    /// Returns the reason why x will never be found, if there is one.
    fn judge(&mut self, true_residual: f64, tolerance: f64) -> Option<Failure> {
        let last = std::mem::replace(&mut self.residual.true_residual, true_residual);
        if true_residual <= tolerance {
            self.found = true;
            return None;
        }
        let iterated = self.residual.iterated;
        let improved = last.is_nan() || true_residual < 0.9 * last;
        if !improved || true_residual.is_nan() {
            return Some(Failure::PrecisionLimit { iterated, true_residual });
        }
        // The iterated residual has to fall by the ratio of the true one to the tolerance.
        self.target = 0.95 * iterated * tolerance / true_residual;
        None
    }
}

/// The operands for the residuals that count.
struct Definition<'a, S: VectorSpace> {
    a: &'a Operator<'a, S>,
    b: &'a S::Vector,
    b_norm: f64,
    scratch: S::Vector,
}

impl<S: VectorSpace> Definition<'_, S> {
    /// Returns ‖b − (A + σ) x‖ / ‖b‖.
    fn residual(&mut self, system: &System<S::Vector>) -> Result<f64, S::Error> {
        let space = self.a.space();
        Plus::new(self.a, system.shift).residual(self.b, &system.x, &mut self.scratch)?;
        let [norm2] = space.read([&space.norm2(&self.scratch)?])?;
        Ok(norm2.re.sqrt() / self.b_norm)
    }
}

/// Ends the solve; `progress` belongs to the system of the smallest shift.
fn finish<S: VectorSpace>(
    mut progress: Progress<'_, '_, S>,
    mut systems: Vec<System<S::Vector>>,
    mut definition: Definition<'_, S>,
    verdict: Verdict,
) -> ShiftedResult<S> {
    for system in systems[1..].iter_mut().filter(|system| !system.found) {
        system.residual.true_residual = definition.residual(system)?;
        progress.count_application();
        // Written so that a NaN is not better. The residual of x = 0 is 1.
        let better_than_zero = system.residual.true_residual <= 1.0;
        if !better_than_zero {
            definition.a.space().set_zero(&mut system.x)?;
            system.residual.true_residual = definition.residual(system)?;
        }
    }
    let base = systems.remove(0);
    let all = |x, info: &SolverInfo| {
        let mut all = vec![(
            base.place,
            Shifted { shift: base.shift, x, residual: info.residual, iterations: info.iterations },
        )];
        all.extend(systems.into_iter().map(|System { place, shift, x, residual, iterations, .. }| {
            (place, Shifted { shift, x, residual, iterations })
        }));
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, shifted)| shifted).collect::<Vec<_>>()
    };
    match progress.finish(base.x, verdict) {
        Ok((x, info)) => Ok((all(x, &info), info)),
        Err(error) => Err(error.map_best(|x, info| Ok(all(x, info)))),
    }
}

/// The operator A + σ.
struct Plus<'a, S: VectorSpace> {
    a: &'a Operator<'a, S>,
    /// The shift σ; `None` if it is zero.
    shift: Option<S::Scalar>,
}

impl<'a, S: VectorSpace> Plus<'a, S> {
    fn new(a: &'a Operator<'a, S>, shift: f64) -> Self {
        Self { a, shift: (shift != 0.0).then(|| a.space().scalar(shift.into())) }
    }
}

impl<S: VectorSpace> LinearOperator for Plus<'_, S> {
    type Space = S;

    fn space(&self) -> &S {
        self.a.space()
    }

    fn apply(&self, x: &S::Vector, out: &mut S::Vector) -> Result<(), S::Error> {
        self.a.apply(x, out)?;
        self.shift.as_ref().map_or(Ok(()), |shift| self.space().axpy(shift, x, out))
    }

    fn work(&self) -> Work {
        let mut work = self.a.work();
        if self.shift.is_some() {
            work += AXPY.work(self.space());
        }
        work
    }
}
