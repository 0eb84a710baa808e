//! Links that are no elements of SU(3): half precision takes as many iterations on them as on links that are.

use crate::common;

use lattice_cl::Dims;
use lattice_cl::geometry::{Boundary, Lattice};
use lattice_cl::host::random;
use lattice_cl::operator::{Dirac, Kappa};
use lattice_cl::solve::{CgParams, Inner, IterationPrecision, Preconditioning, cg};

/// M depends on κ U alone: links that are s times as large with κ/s are the same equation.
#[test]
fn the_size_of_links_costs_no_iterations_in_half_precision() {
    let dims = Dims::new([4, 2, 6, 4]).unwrap();
    for (name, team) in common::teams().into_iter().filter(|(_, team)| team.len() <= 1) {
        let lattice = Lattice::new(&team, dims).unwrap();
        let source = lattice.spinor_from_host(&random::spinor_field(dims, 2)).unwrap();
        for preconditioning in [Preconditioning::None, Preconditioning::EvenOdd] {
            let iterations = |size: f64, precision: IterationPrecision| {
                let mut links = random::weak(dims, 0.2, 1);
                for (site, mu) in (0..dims.volume()).flat_map(|site| (0..4).map(move |mu| (site, mu))) {
                    links.set_link(site, mu, links.link(site, mu).scale(size));
                }
                let links = lattice.gauge::<f64>(&links, Boundary::antiperiodic_t()).unwrap();
                let wilson = Dirac::wilson(&links, Kappa(0.11 / size)).unwrap();
                let params = CgParams::default()
                    .with_tol(1e-10)
                    .with_precision(precision)
                    .with_preconditioning(preconditioning);
                let (_, info) = cg(&wilson, &source, &params).unwrap();
                assert!(info.residual.true_residual <= 1e-10);
                info.iterations as f64
            };
            let clean = iterations(1.0, IterationPrecision::Double);
            for size in [1.0, 1.5, 0.02] {
                let found = iterations(size, IterationPrecision::Mixed(Inner::Half));
                let what = format!("{name}, {preconditioning:?}, links of {size}: {found} for {clean}");
                assert!(found < 1.4 * clean + 3.0, "{what}");
            }
        }
    }
}
