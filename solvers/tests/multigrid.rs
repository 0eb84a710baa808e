//! The parts of a multigrid method on a matrix that a Krylov method is slow with: −u″ on a line,
//! with some advection.

use lattice_solvers::vec::{FnOperator, from_fn};
use lattice_solvers::{
    CoarseCorrection, CoarseSolve, Cycle, GcrOptions, LinearOperator, Polynomial, Preconditioned,
    Preconditioner, Stopping, Work, gcr,
};
use num_complex::Complex64;
use std::convert::Infallible;

const POINTS: usize = 512;
/// Points of an aggregate.
const EACH: usize = 4;

type Vector = Vec<Complex64>;

fn line(points: usize, scale: f64) -> FnOperator<Complex64, impl Fn(&[Complex64], &mut [Complex64])> {
    from_fn(points, move |u: &[Complex64], out: &mut [Complex64]| {
        let at = |i: usize| u.get(i).copied().unwrap_or_default();
        for i in 0..points {
            let ahead = Complex64::new(-1.0, 0.02);
            out[i] = scale * (2.0 * u[i] + ahead * at(i + 1) + ahead.conj() * at(i.wrapping_sub(1)));
        }
    })
}

/// Constants within aggregates, each of norm 1. The hops between aggregates are those of the line
/// itself.
struct Aggregates<B: LinearOperator> {
    coarse: B,
    cycle: Cycle<B>,
    solve: CoarseSolve<B>,
}

impl<A, B> CoarseCorrection<A> for Aggregates<B>
where
    A: LinearOperator,
    A::Space: lattice_solvers::VectorSpace<Vector = Vector, Error = Infallible>,
    B: LinearOperator,
    B::Space: lattice_solvers::VectorSpace<Vector = Vector, Error = Infallible>,
{
    fn correct(&mut self, r: &Vector, z: &mut Vector) -> Result<Work, Infallible> {
        let factor = 1.0 / (EACH as f64).sqrt();
        let source: Vector = r.chunks(EACH).map(|r| r.iter().sum::<Complex64>() * factor).collect();
        let mut solution = vec![Complex64::default(); source.len()];
        let Self { coarse, cycle, solve } = self;
        let work = solve
            .solve(coarse, &source, &mut solution, |r, z, image| cycle.apply(coarse, None, r, z, image))?;
        z.iter_mut().enumerate().for_each(|(i, z)| *z = solution[i / EACH] * factor);
        Ok(work)
    }
}

struct TwoLevels<'a, A: LinearOperator, C> {
    a: &'a A,
    cycle: Cycle<A>,
    correction: C,
}

impl<A, C> Preconditioner<A::Space> for TwoLevels<'_, A, C>
where
    A: LinearOperator,
    A::Space: lattice_solvers::VectorSpace<Vector = Vector, Error = Infallible>,
    C: CoarseCorrection<A>,
{
    fn apply(&mut self, r: &Vector, z: &mut Vector) -> Preconditioned<A::Space> {
        Ok(self.apply_with_image(r, z, &mut r.clone())?.0)
    }

    fn apply_with_image(
        &mut self,
        r: &Vector,
        z: &mut Vector,
        image: &mut Vector,
    ) -> Preconditioned<A::Space, (Work, Option<usize>)> {
        let work = self.cycle.apply(self.a, Some(&mut self.correction), r, z, image)?;
        Ok((work, Some(self.cycle.applications(true))))
    }
}

fn random(count: usize) -> Vector {
    (0..count).map(|k| Complex64::new((1.7 * (k * k) as f64).sin(), (0.3 + 2.9 * k as f64).cos())).collect()
}

#[test]
fn a_coarse_level_makes_cycles_few_and_images_are_true() {
    let a = line(POINTS, 1.0);
    // V† A V of aggregates of four points: 2/4 within, −1/4 between.
    let coarse = line(POINTS / EACH, 1.0 / EACH as f64);
    let smoother = |a: &_, start: &Vector, degree| Polynomial::of(a, start, degree).unwrap().unwrap();
    let fine_smoother = smoother(&a, &random(POINTS), 4);
    let coarse_smoother = Polynomial::of(&coarse, &random(POINTS / EACH), 6).unwrap().unwrap();
    let correction = Aggregates {
        cycle: Cycle::new(&coarse, coarse_smoother).unwrap(),
        solve: CoarseSolve::new(&coarse, 60, 0.05).unwrap(),
        coarse,
    };
    let mut levels = TwoLevels { a: &a, cycle: Cycle::new(&a, fine_smoother).unwrap(), correction };

    let r = random(POINTS);
    let (mut z, mut image, mut again) = (r.clone(), r.clone(), r.clone());
    levels.apply_with_image(&r, &mut z, &mut image).unwrap();
    a.apply(&z, &mut again).unwrap();
    let norm = |x: &[Complex64]| x.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
    let difference: Vector = image.iter().zip(&again).map(|(x, y)| x - y).collect();
    assert!(norm(&difference) < 1e-13 * norm(&again));

    let b = random(POINTS);
    let stopping = Stopping::default().with_max_iterations(400);
    let options = GcrOptions::default().with_stopping(stopping);
    let (x, info) = gcr(&a, &b, None, &options, Some(&mut levels), None).unwrap();
    assert!(info.iterations < 200 && info.residual.true_residual <= 1e-10, "{}", info.iterations);
    assert!(info.applications >= 5 * info.iterations, "{} of {}", info.applications, info.iterations);
    assert_eq!(x.len(), POINTS);
    assert!(gcr(&a, &b, None, &options, None, None).is_err(), "without levels it takes longer");
}
