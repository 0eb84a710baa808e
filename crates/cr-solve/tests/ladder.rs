//! The rungs of `cr-solve bench ladder` against the twin of the operator.

use crate::common;

use lattice_cl::compute::Buffer;

#[test]
fn every_rung_of_the_ladder_is_the_operator_of_the_host() {
    use lattice_bench::ladder::{BuiltRung, Fields, RUNGS, components};
    use lattice_cl::Dims;
    use lattice_cl::geometry::Boundary;
    use lattice_cl::host::{LinkField, Spinor, StencilFactors, random, stencil};

    // More sites than one group has.
    let dims = Dims::new([2, 4, 6, 4]).unwrap();
    let links = LinkField::new(&random::hot(dims, 1), Boundary::antiperiodic_t());
    let psi = random::spinor_field(dims, 2);
    let kappa = 0.13;
    let factors = StencilFactors::new(1.0, -kappa);
    let mut expected = vec![Spinor::default(); dims.volume()];
    stencil(&links, factors, &psi, &mut expected);
    let expected = components(&expected);
    for device in common::devices() {
        let fields = Fields::new(&device, &links).unwrap();
        let psi = Buffer::from_slice(&device, &components(&psi)).unwrap();
        for rung in &RUNGS {
            let built = BuiltRung::new(&device, rung, &fields).unwrap();
            let mut out = Buffer::zeroed(&device, psi.len()).unwrap();
            out.fill(f64::NAN.into()).unwrap();
            built.apply(&fields, kappa, &psi, &mut out).unwrap();
            for (i, (found, expected)) in out.to_vec().unwrap().iter().zip(&expected).enumerate() {
                let difference = (found - expected).norm();
                assert!(difference < 1e-14, "{} on {device:?}: component {i}", rung.number);
            }
        }
    }
}
