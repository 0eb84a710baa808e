//! Clover blocks in 16-bit fixed point: how exact operators are with them, and what they cost a solve in mixed precision.

use crate::common;

use common::shared;
use common::spinors::{Spinor, distance};
use lattice_cl::Dims;
use lattice_cl::geometry::{Boundary, Lattice};
use lattice_cl::host;
use lattice_cl::host::random::spinor_field;
use lattice_cl::io::{ReadOptions, read_gauge_with};
use lattice_cl::operator::{Dirac, Kappa, SchurComplement, SchurSymmetry, SiteTerm};
use lattice_cl::scalar::{Half, Storage};
use lattice_cl::solve::{CgParams, Inner, IterationPrecision, Preconditioning, cg};
use lattice_solvers::LinearOperator;

/// Files, κ, c_sw and μ: Hermitian inverses, and general ones.
const CASES: [(&str, f64, f64, f64); 4] = [
    ("weak_field.lime", 0.124, 1.17, 0.05),
    ("lat.sample.l4444", 0.13, 1.5, 0.0),
    ("wilson_beta5.7_kappa0.141139.ildg", 0.13, 1.6, 0.05),
    ("ildg.l8t4b3360", 0.13, 1.2, 0.0),
];

/// The operators of the cases on each device.
fn cases() -> Vec<(String, Dirac<f64>)> {
    let Some(shared) = shared() else { return Vec::new() };
    let mut all = Vec::new();
    for (file, kappa, csw, mu) in CASES {
        let dims = file.starts_with("wilson").then(|| Dims::new([4; 4]).unwrap());
        let options = ReadOptions::default().with_dims(dims);
        let configuration = read_gauge_with(shared.join("data").join(file), &options).unwrap().configuration;
        // On the host half precision is single.
        for (name, team) in common::teams().into_iter().filter(|(_, team)| team.len() == 1) {
            let lattice = Lattice::new(&team, configuration.dims()).unwrap();
            let links = lattice.gauge::<f64>(&configuration, Boundary::antiperiodic_t()).unwrap();
            let links = links.with_clover(configuration.clone()).unwrap();
            let m = Dirac::new(&links, Kappa(kappa), SiteTerm::Clover { csw, mu }).unwrap();
            all.push((format!("{file}, {name}"), m));
        }
    }
    all
}

#[test]
fn the_schur_complement_in_half_precision_is_near_that_in_double() {
    for (name, m) in cases() {
        let lattice = m.lattice().clone();
        let dims = lattice.dims();
        let all = spinor_field(dims, 3).into_iter().enumerate();
        let even: Vec<Spinor> =
            all.filter_map(|(site, psi)| (dims.parity(site) == 0).then_some(psi)).collect();
        for symmetry in [SchurSymmetry::Asymmetric, SchurSymmetry::Symmetric] {
            let exact = m.schur_complement_in(symmetry).unwrap();
            let expected = image::<f64>(&exact, &lattice, &even);
            let found = image::<Half>(&exact.cast().unwrap(), &lattice, &even);
            let error = distance(&found, &expected);
            assert!(error < 5e-5, "{name}, {symmetry:?}: {error:e}");
        }
    }
}

/// M̂ ψ
fn image<T: Storage>(schur: &SchurComplement<T>, lattice: &Lattice, psi: &[Spinor]) -> Vec<Spinor> {
    let cast: Vec<host::Spinor<T::Real>> = psi.iter().map(Spinor::cast).collect();
    let psi = lattice.parity_from_host::<T>(0, &cast).unwrap();
    let mut out = lattice.parities::<T>(0, 1).unwrap();
    schur.apply(&psi, &mut out).unwrap();
    out.to_host().unwrap().iter().map(host::Spinor::cast).collect()
}

#[test]
fn fixed_point_costs_at_most_a_tenth_more_iterations() {
    for (name, m) in cases() {
        let b = m.lattice().point_source::<f64>([0; 4], 0, 0).unwrap();
        for preconditioning in [Preconditioning::EvenOdd, Preconditioning::EvenOddSymmetric] {
            let iterations = |precision| {
                let params = CgParams::default()
                    .with_tol(1e-10)
                    .with_precision(precision)
                    .with_preconditioning(preconditioning);
                let (_, info) = cg(&m, &b, &params).unwrap();
                assert!(info.residual.true_residual <= 1e-10);
                info.iterations
            };
            let double = iterations(IterationPrecision::Double);
            let half = iterations(IterationPrecision::Mixed(Inner::Half));
            assert!(10 * half <= 11 * double, "{name}, {preconditioning}: {half} for {double}");
        }
    }
}
