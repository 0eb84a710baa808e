//! Solving M x = b from Rust: guesses, every way of iterating, and what is left of a solve that gives up.

mod common;

use lattice_cl::Dims;
use lattice_cl::device::Team;
use lattice_cl::dirac::{
    CgParams, CrParams, InvertError, IterationPrecision, Kappa, System, Wilson, cg, cr, cr_from,
};
use lattice_cl::host::{Boundary, Spinor, random};
use lattice_cl::lattice::Lattice;
use lattice_solvers::Failure;

const SYSTEMS: [System; 3] = [System::Normal, System::Hermitian, System::Direct];

fn wilson(team: &Team) -> Wilson<f64> {
    let dims = Dims::new([4, 2, 6, 4]).unwrap();
    let links = Lattice::new(team, dims)
        .unwrap()
        .gauge::<f64>(&random::weak(dims, 0.2, 1), Boundary::antiperiodic_t())
        .unwrap();
    Wilson::new(&links, Kappa(0.105)).unwrap()
}

/// ‖a − b‖ / ‖b‖
fn distance(a: &[Spinor<f64>], b: &[Spinor<f64>]) -> f64 {
    let difference = a.iter().zip(b).map(|(a, b)| Spinor::<f64>::from_fn(|s, c| a.0[s][c] - b.0[s][c]));
    let norm2 = |spinors: &mut dyn Iterator<Item = Spinor<f64>>| spinors.map(|s| s.norm2()).sum::<f64>();
    (norm2(&mut difference.into_iter()) / norm2(&mut b.iter().copied())).sqrt()
}

#[test]
fn a_guess_saves_iterations_and_leads_to_the_same_solution() {
    for (name, team) in common::teams() {
        let wilson = wilson(&team);
        let lattice = wilson.lattice();
        let source = lattice.spinor_from_host(&random::spinor_field(lattice.dims(), 2)).unwrap();
        for system in SYSTEMS {
            for (precision, rough, tol) in
                [(IterationPrecision::Double, 1e-5, 1e-11), (IterationPrecision::Single, 1e-2, 1e-4)]
            {
                let params = CrParams { tol, system, precision, ..Default::default() };
                let (solution, cold) = cr(&wilson, &source, &params).unwrap();
                let (guess, _) = cr(&wilson, &source, &CrParams { tol: rough, ..params }).unwrap();
                let (warm_solution, warm) = cr_from(&wilson, &source, &guess, &params).unwrap();
                let what = format!("{name}, {system}, {precision}");
                assert!(warm.iterations < cold.iterations, "{what}: {} {}", warm.iterations, cold.iterations);
                assert!(warm.history[0] < 10.0 * rough, "{what}: {:e}", warm.history[0]);
                assert!(warm.residual.true_residual <= tol, "{what}");
                let error = distance(&warm_solution.to_host().unwrap(), &solution.to_host().unwrap());
                assert!(error < 20.0 * tol, "{what}: {error:e}");
                let (_, done) =
                    cr_from(&wilson, &source, &solution, &CrParams { tol: 1.1 * tol, ..params }).unwrap();
                assert!(done.iterations <= 1, "{what}: {}", done.iterations);
            }
        }
    }
}

#[test]
fn what_a_limited_solve_reached_is_in_the_error() {
    for (name, team) in common::teams() {
        let wilson = wilson(&team);
        let source = wilson.lattice().point_source([1, 0, 5, 3], 3, 1).unwrap();
        let limit = 4;
        let mut outcomes =
            vec![cg(&wilson, &source, &CgParams { max_iterations: limit, ..Default::default() })];
        for system in SYSTEMS {
            let params = CrParams { max_iterations: limit, system, ..Default::default() };
            outcomes.push(cr(&wilson, &source, &params));
        }
        for outcome in outcomes {
            let Err(InvertError::NotConverged { failure, best, info }) = outcome else {
                panic!("{name}: {outcome:?}");
            };
            assert_eq!(failure, Failure::IterationLimit { limit }, "{name}");
            assert_eq!((info.iterations, info.history.len()), (limit, limit + 1), "{name}");
            // The residual that is told is that of the iterate that is returned.
            let mut image = wilson.lattice().spinor().unwrap();
            wilson.apply(&best, &mut image).unwrap();
            let residual = distance(&image.to_host().unwrap(), &source.to_host().unwrap());
            assert!(common::relative(residual, info.residual.true_residual) < 1e-12, "{name}: {residual}");
            assert!(residual < 1.0, "{name}: {residual}");
        }
    }
}
