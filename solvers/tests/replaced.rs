//! Iterations with an operator that is slightly wrong.
//!
//! Residuals of the right operator keep them on course.

use super::dense;

use dense::{Dense, Random, distance};
use lattice_solvers::*;
use num_complex::Complex64;
use std::convert::Infallible;

const N: usize = 23;

type Vector = Vec<Complex64>;
type SolveResult = Result<Solution<Vector>, SolverError<Vector, Infallible>>;
type Solve<'a> = dyn Fn(&Dense, &Vector, TrueResidual<'_, dense::Space>) -> SolveResult + 'a;

#[test]
fn every_method_finds_the_solution_of_the_right_operator() {
    let (general, indefinite) = (Dense::general(N, 131), Dense::indefinite(N, 134));
    let positive = Dense::positive(N, 135);
    let b = Random(133).vector(N);
    let norm = distance(&b, &vec![Complex64::default(); N]);
    let stopping = Stopping::default().with_tolerance(1e-12);

    let cr = CrOptions::default().with_stopping(stopping).with_recurrence(Recurrence::General);
    let stab = BicgstabOptions::default().with_stopping(stopping);
    let stab_l = BicgstabLOptions::default().with_stopping(stopping);
    let mr = MrOptions::default().with_stopping(stopping);
    let plain = GcrOptions::default().with_stopping(stopping);
    let cg = CgOptions::default().with_stopping(stopping);
    let minimal = MinresOptions::default().with_stopping(stopping);
    let flexible = CgOptions::default().with_stopping(stopping).with_flexible(true);
    let methods: [(&str, &Solve); 10] = [
        ("cr", &|a, b, residual| conjugate_residual(a, b, None, &cr, Some(residual))),
        ("cgne", &|a, b, residual| cgne(a, &a.adjoint(), b, None, &cg, Some(residual))),
        ("bicgstab", &|a, b, residual| bicgstab(a, b, None, &stab, Some(residual))),
        ("bicgstab-l", &|a, b, residual| bicgstab_l(a, b, None, &stab_l, Some(residual))),
        ("minres", &|a, b, residual| minres(a, b, None, &minimal, None, Some(residual))),
        ("preconditioned cg", &|a, b, residual| {
            let mut k = |r: &Vector, z: &mut Vector| a.diagonal_inverse(r, z);
            conjugate_gradient(a, b, None, &flexible, Some(&mut k), Some(residual))
        }),
        ("preconditioned minres", &|a, b, residual| {
            let mut k = |r: &Vector, z: &mut Vector| a.diagonal_inverse(r, z);
            minres(a, b, None, &minimal, Some(&mut k), Some(residual))
        }),
        ("mr", &|a, b, residual| minimal_residual(a, b, None, &mr, Some(residual))),
        ("gcr", &|a, b, residual| gcr(a, b, None, &plain, None, Some(residual))),
        ("smoothed gcr", &|a, b, residual| {
            let mut smoother = MrSmoother::new(a, 3, 1.0)?;
            let mut precondition = |r: &_, z: &mut _| smoother.apply(r, z);
            gcr(a, b, None, &plain, Some(&mut precondition), Some(residual))
        }),
    ];
    for (name, method) in methods {
        let a = match name {
            "minres" => &indefinite,
            "preconditioned cg" | "preconditioned minres" => &positive,
            _ => &general,
        };
        let mut random = Random(132);
        let mut wrong = Dense::from_fn(N, |i, j| a.rows[i][j] * (1.0 + 1e-3 * random.complex()));
        if matches!(name, "minres" | "preconditioned cg" | "preconditioned minres") {
            let adjoint = wrong.adjoint();
            wrong = Dense::from_fn(N, |i, j| 0.5 * (wrong.rows[i][j] + adjoint.rows[i][j]));
        }
        let exact = a.solve(&b);
        let mut solution = vec![Complex64::default(); N];
        let mut replace = |x: &mut Vector, r: &mut Vector| {
            solution.iter_mut().zip(&mut *x).for_each(|(solution, x)| *solution += std::mem::take(x));
            let mut image = b.clone();
            a.apply(&solution, &mut image)?;
            r.iter_mut().zip(&b).zip(&image).for_each(|((r, b), image)| *r = b - image);
            let r_norm2 = a.space().norm2(r)?;
            let value = r_norm2.re;
            Ok(Replaced { true_residual: distance(&image, &b) / norm, r_norm2, value })
        };
        let residual = TrueResidual::Replaced { replace: &mut replace, at: 0.1 };
        let (_, info) = method(&wrong, &b, residual).unwrap();
        assert!(info.residual.true_residual <= 1e-12 && info.iterations < 100, "{name}: {}", info.iterations);
        assert!(distance(&solution, &exact) < 1e-11, "{name}");
    }
}
