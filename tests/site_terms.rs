//! Dirac operators with a twisted mass, a clover term, or both: against values of other programs, the exact propagator, their own
//! properties, and each other.

use crate::common;

use common::reference::{
    boundary_of, configuration_of, expect_image, gamma5, number, operator, operators_of, probe, reference,
};
use common::spinors::{Spinor, bound, distance};
use lattice_cl::Dims;
use lattice_cl::field::GaugeField;
use lattice_cl::geometry::{Boundary, Lattice, LatticeError};
use lattice_cl::host::random::{hot, spinor_field, weak};
use lattice_cl::host::{self, CloverMatrix, GaugeConfiguration, Reconstruction, StoredBlocks};
use lattice_cl::operator::{Dirac, DiracError, Kappa, Mass, SchurSymmetry, SiteTerm, SiteTermError, System};
use lattice_cl::scalar::{Half, Storage};
use lattice_cl::solve::{
    BicgstabParams, BlockCgParams, CgParams, CrParams, Inner, InvertError, IterationPrecision, MinresParams,
    Preconditioning, bicgstab, block_cg, cg, cr, minres,
};
use lattice_solvers::LinearOperator;
use num_complex::Complex;
use serde_json::Value;

fn dot(a: &[Spinor], b: &[Spinor]) -> Complex<f64> {
    host::spinor_fields::dot(a, b)
}

/// Links whose clover term is made of the same configuration.
fn links<T: Storage>(
    lattice: &Lattice,
    configuration: &GaugeConfiguration,
    boundary: Boundary,
    reconstruction: Reconstruction,
) -> GaugeField<T> {
    let links = lattice.gauge_in::<T>(configuration, boundary, reconstruction).unwrap();
    links.with_clover(configuration.clone()).unwrap()
}

#[test]
fn operators_give_the_values_of_other_programs() {
    let Some(reference) = reference() else { return };
    let entries = reference["computed"].as_object().unwrap();
    let mut checked = 0;
    for (name, entry) in entries.iter().filter(|(name, _)| name.starts_with("operators ")) {
        let configuration = configuration_of(entry);
        let dims = configuration.dims();
        let phi = probe(dims);
        for (team_name, team) in common::teams() {
            let lattice = Lattice::new(&team, dims).unwrap();
            let links = links::<f64>(&lattice, &configuration, boundary_of(entry), Reconstruction::None);
            for (key, term, expected) in operators_of(entry) {
                let m = Dirac::new(&links, Kappa(number(&entry["kappa"])), term).unwrap();
                let psi = lattice.spinor_from_host(&phi).unwrap();
                let mut image = lattice.spinor().unwrap();
                m.apply(&psi, &mut image).unwrap();
                expect_image(
                    &image.to_host().unwrap(),
                    &phi,
                    &expected,
                    &format!("{name}, {key}, {team_name}"),
                );
            }
        }
        checked += 1;
    }
    assert_eq!(checked, 3, "lattices with operators");
}

/// Σ over spins, colours and sites of a slice of |S|², for a point source at the origin.
fn charged_pion(m: &Dirac<f64>) -> Vec<f64> {
    let lattice = m.lattice().clone();
    let dims = lattice.dims();
    let mut correlator = vec![0.0; dims[3]];
    for (spin, colour) in (0..4).flat_map(|spin| (0..3).map(move |colour| (spin, colour))) {
        let b = lattice.point_source::<f64>([0; 4], spin, colour).unwrap();
        let params = BicgstabParams::default().with_tol(1e-13).with_preconditioning(Preconditioning::EvenOdd);
        let (x, _) = bicgstab(m, &b, &params).unwrap();
        for (site, spinor) in x.to_host().unwrap().iter().enumerate() {
            let norm2: f64 = spinor.0.as_flattened().iter().map(Complex::norm_sqr).sum();
            correlator[site / (dims.volume() / dims[3])] += norm2;
        }
    }
    correlator
}

fn expect_close(found: &[f64], expected: &Value, what: &str) {
    let expected: Vec<f64> = expected.as_array().unwrap().iter().map(|c| c.as_f64().unwrap()).collect();
    assert_eq!(found.len(), expected.len(), "{what}");
    for (t, (found, expected)) in found.iter().zip(&expected).enumerate() {
        assert!((found / expected - 1.0).abs() < 1e-10, "{what}, t = {t}: {found} for {expected}");
    }
}

#[test]
fn the_charged_pion_is_that_of_other_programs() {
    let Some(reference) = reference() else { return };
    for entry in ["hadrons twisted lat.sample.l4444", "hadrons twisted clover weak_field.lime"] {
        let entry = &reference["computed"][entry];
        let configuration = configuration_of(entry);
        let action = |key: &str| entry["action"][key].as_f64().unwrap_or(0.0);
        let term = SiteTerm::Clover { csw: action("csw"), mu: action("mu") };
        for (name, team) in common::teams().into_iter().filter(|(_, team)| team.len() < 2) {
            let lattice = Lattice::new(&team, configuration.dims()).unwrap();
            let links = links::<f64>(&lattice, &configuration, boundary_of(entry), Reconstruction::None);
            let m = Dirac::new(&links, Kappa(action("kappa")), term).unwrap();
            expect_close(&charged_pion(&m), &entry["norm2_per_slice"], &name);
        }
    }
}

#[test]
fn without_a_field_the_propagator_is_the_exact_one() {
    let Some(reference) = reference() else { return };
    let mut checked = 0;
    for entry in reference["exact"].as_array().unwrap() {
        let words: Vec<&str> = entry["id"].as_str().unwrap().split(' ').collect();
        let ["free", "twisted", "mass", "kappa", kappa, "mu", mu] = words[..] else { continue };
        let (kappa, mu): (f64, f64) = (kappa.parse().unwrap(), mu.parse().unwrap());
        let dims = Dims::new([4, 4, 4, 8]).unwrap();
        for (name, team) in common::teams() {
            let lattice = Lattice::new(&team, dims).unwrap();
            let links = lattice.gauge::<f64>(&weak(dims, 0.0, 1), Boundary::antiperiodic_t()).unwrap();
            // In mass normalisation M is 1/2κ times M in κ normalisation, and its propagator 2κ times.
            let mass = Mass(0.5 / kappa - 4.0);
            let kappa_form = Dirac::twisted(&links, Kappa(kappa), mu).unwrap();
            expect_close(&charged_pion(&kappa_form), &entry["charged_pion"], &name);
            let mass_form = Dirac::twisted(&links, mass, mu).unwrap();
            let scaled: Vec<f64> =
                charged_pion(&mass_form).iter().map(|c| c / (2.0 * kappa).powi(2)).collect();
            expect_close(&scaled, &entry["charged_pion"], &name);
        }
        checked += 1;
    }
    assert!(checked > 0, "no exact values");
}

/// The operator, its adjoint and γ5 times it against the twin.
fn check_operator<T: Storage>(
    name: &str,
    lattice: &Lattice,
    configuration: &GaugeConfiguration,
    reconstruction: Reconstruction,
    term: SiteTerm,
) {
    let kappa = 0.13;
    let boundary = Boundary::antiperiodic_t();
    let dims = lattice.dims();
    let what = format!("{name} {dims}, {term:?}, {}, {reconstruction} reals", T::STORAGE);
    let links = links::<T>(lattice, configuration, boundary, reconstruction);
    let opposite = term.other_flavour();
    let m = Dirac::new(&links, Kappa(kappa), term).unwrap();
    let other = Dirac::new(&links, Kappa(kappa), opposite).unwrap();
    let on_host = |term, phi: &[Spinor]| operator(configuration, boundary, kappa, term, phi);
    let phi = spinor_field(dims, 5);
    let cast: Vec<host::Spinor<T::Real>> = phi.iter().map(Spinor::cast).collect();
    let psi = lattice.spinor_from_host::<T>(&cast).unwrap();
    let apply = |m: &Dirac<T>| -> Vec<Spinor> {
        let mut image = lattice.spinor().unwrap();
        m.apply(&psi, &mut image).unwrap();
        image.to_host().unwrap().iter().map(host::Spinor::cast).collect()
    };
    let expected = on_host(term, &phi);
    let error = distance(&apply(&m), &expected);
    assert!(error < bound(T::STORAGE), "{what}: {error:e}");
    // M† of one flavour is γ5 M γ5 of the other.
    let turned = gamma5(&on_host(opposite, &gamma5(&phi)));
    let error = distance(&apply(&m.adjoint().unwrap()), &turned);
    assert!(error < bound(T::STORAGE), "{what}, adjoint: {error:e}");
    let error = distance(&apply(&other.times_gamma5().unwrap()), &gamma5(&on_host(opposite, &phi)));
    assert!(error < bound(T::STORAGE), "{what}, times γ5: {error:e}");
}

#[test]
fn every_storage_on_every_team_is_the_twin() {
    let dims = Dims::new(if common::small() { [2, 2, 4, 2] } else { [4, 2, 6, 4] }).unwrap();
    let configuration = hot(dims, 3);
    for (name, team) in common::teams() {
        let lattice = Lattice::new(&team, dims).unwrap();
        // The largest team differs from the one before in nothing that the site term could meet.
        let most = if team.len() < 3 || common::all_combinations() { SiteTerm::EXAMPLES.len() } else { 1 };
        for &term in SiteTerm::EXAMPLES.iter().rev().take(most) {
            check_operator::<f64>(&name, &lattice, &configuration, Reconstruction::Twelve, term);
            // Compiling the kernels is what takes the time.
            if team.len() < 2 {
                check_operator::<f32>(&name, &lattice, &configuration, Reconstruction::None, term);
                check_operator::<Half>(&name, &lattice, &configuration, Reconstruction::Eight, term);
            }
        }
    }
}

#[test]
fn the_adjoint_is_the_adjoint_and_normal_operators_are_positive() {
    let dims = Dims::new([4, 2, 4, 6]).unwrap();
    let configuration = hot(dims, 7);
    let half = |seed| -> Vec<Spinor> {
        let field = spinor_field(dims, seed);
        (0..dims.volume()).filter(|&site| dims.parity(site) == 0).map(|site| field[site]).collect()
    };
    for (name, team) in common::teams() {
        let lattice = Lattice::new(&team, dims).unwrap();
        let links = links::<f64>(&lattice, &configuration, Boundary::antiperiodic_t(), Reconstruction::None);
        let every = team.len() < 2 || common::all_combinations();
        for (turn, &term) in SiteTerm::EXAMPLES.iter().enumerate() {
            let m = Dirac::new(&links, Kappa(0.14), term).unwrap();
            let symmetries = [SchurSymmetry::Asymmetric, SchurSymmetry::Symmetric];
            for (k, symmetry) in symmetries.into_iter().enumerate() {
                // On teams one symmetry for each term is enough, because only the domains are new.
                if !every && k != turn % 2 {
                    continue;
                }
                let schur = m.schur_complement_in(symmetry).unwrap();
                let normal = schur.normal().unwrap();
                let [a, b] = [1, 2].map(|seed| lattice.parity_from_host::<f64>(0, &half(seed)).unwrap());
                let image = |operator: &dyn Fn(&_, &mut _)| {
                    let mut out = lattice.parities::<f64>(0, 1).unwrap();
                    operator(&a, &mut out);
                    out.to_host().unwrap()
                };
                let (a_host, b_host) = (a.to_host().unwrap(), b.to_host().unwrap());
                // (b, M̂ a) = (M̂† b, a)
                let forward = image(&|x, out| schur.apply(x, out).unwrap());
                let mut backward = lattice.parities::<f64>(0, 1).unwrap();
                normal.adjoint().apply(&b, &mut backward).unwrap();
                let difference = dot(&b_host, &forward) - dot(&backward.to_host().unwrap(), &a_host);
                assert!(difference.norm() < 1e-11, "{name}: {difference}");
                let product = dot(&a_host, &image(&|x, out| normal.apply(x, out).unwrap()));
                assert!(product.re > 0.0 && product.im.abs() < 1e-11 * product.re, "{name}: {product}");
            }
        }
    }
}

#[test]
fn every_way_of_solving_gives_one_solution() {
    let dims = Dims::new([4, 4, 4, 6]).unwrap();
    let configuration = weak(dims, 0.3, 9);
    let tol = 1e-11;
    // Larger teams do nothing that one does not.
    for (name, team) in common::teams().into_iter().filter(|(_, team)| team.len() < 2) {
        let lattice = Lattice::new(&team, dims).unwrap();
        let links = links::<f64>(&lattice, &configuration, Boundary::antiperiodic_t(), Reconstruction::None);
        for (turn, &term) in SiteTerm::EXAMPLES.iter().enumerate() {
            let name = format!("{name}, {term:?}");
            let m = Dirac::new(&links, Kappa(0.12), term).unwrap();
            let b = lattice.point_source::<f64>([1, 0, 2, 3], 2, 1).unwrap();
            let full = CgParams::default().with_tol(tol);
            let (expected, _) = cg(&m, &b, &full).unwrap();
            let expected = expected.to_host().unwrap();
            let close = |x: Vec<Spinor>, what: &str| {
                let error = distance(&x, &expected);
                assert!(error < 1e-9, "{name}, {what}: {error:e}");
            };
            let preconditioning = Preconditioning::EvenOdd;
            let symmetric = Preconditioning::EvenOddSymmetric;
            // Without a clover term the symmetric complement has no code of its own.
            let forms =
                if term.csw() == 0.0 { vec![preconditioning] } else { vec![preconditioning, symmetric] };
            // Compiling the kernels is what takes the time: each term has one lower precision. On a device CG and BiCGStab take turns.
            let inner = if term.mu() == 0.0 { Inner::Single } else { Inner::Half };
            let precisions = [IterationPrecision::Double, IterationPrecision::Mixed(inner)];
            let all = team.is_host() || common::all_combinations();
            for (k, &preconditioning) in forms.iter().enumerate() {
                for (l, precision) in precisions.into_iter().enumerate() {
                    let what = format!("{preconditioning} in {precision}");
                    let turn = turn + k + l;
                    if all || turn % 2 == 0 {
                        let params = full.with_precision(precision).with_preconditioning(preconditioning);
                        let (x, info) = cg(&m, &b, &params).unwrap();
                        assert!(info.residual.true_residual <= tol);
                        close(x.to_host().unwrap(), &format!("cg {what}"));
                    }
                    if all || turn % 2 == 1 {
                        let params = BicgstabParams::default()
                            .with_tol(tol)
                            .with_precision(precision)
                            .with_preconditioning(preconditioning);
                        let (x, info) = bicgstab(&m, &b, &params).unwrap();
                        assert!(info.residual.true_residual <= tol);
                        close(x.to_host().unwrap(), &format!("bicgstab {what}"));
                    }
                }
            }
            let direct = CrParams::default()
                .with_tol(tol)
                .with_system(System::Direct)
                .with_preconditioning(preconditioning);
            close(cr(&m, &b, &direct).unwrap().0.to_host().unwrap(), "cr on the direct system");
            // With one flavour of twisted mass the Hermitian system is not Hermitian.
            for preconditioning in [Preconditioning::None, Preconditioning::EvenOdd] {
                let params = direct.with_system(System::Hermitian).with_preconditioning(preconditioning);
                let by_minres = MinresParams::default().with_tol(tol).with_preconditioning(preconditioning);
                if term.is_gamma5_hermitian() {
                    close(cr(&m, &b, &params).unwrap().0.to_host().unwrap(), "cr on the Hermitian system");
                    close(minres(&m, &b, &by_minres).unwrap().0.to_host().unwrap(), "minres");
                } else {
                    assert!(matches!(cr(&m, &b, &params), Err(InvertError::NotHermitian)), "{name}");
                    assert!(matches!(minres(&m, &b, &by_minres), Err(InvertError::NotHermitian)), "{name}");
                }
            }
            let twice: Vec<Spinor> = [b.to_host().unwrap(), b.to_host().unwrap()].concat();
            let mut sources = twice;
            // Two different right-hand sides.
            sources[dims.volume()] = Spinor::from_fn(|s, c| Complex::new(s as f64, c as f64));
            let both = lattice.spinors_from_host::<f64>(2, &sources).unwrap();
            for (k, &preconditioning) in forms.iter().enumerate() {
                if !all && k != turn % 2 {
                    continue;
                }
                let params = BlockCgParams::default().with_tol(tol).with_preconditioning(preconditioning);
                let solved = block_cg(&m, &both, &params).unwrap();
                let what = format!("block cg, {preconditioning}");
                close(solved.x.to_host().unwrap()[..dims.volume()].to_vec(), &what);
            }
        }
    }
}

#[test]
fn without_a_clover_term_the_bits_are_those_of_the_operator_without() {
    let dims = Dims::new([4, 2, 4, 6]).unwrap();
    let configuration = hot(dims, 4);
    for (name, team) in common::teams() {
        let lattice = Lattice::new(&team, dims).unwrap();
        let links = links::<f64>(&lattice, &configuration, Boundary::antiperiodic_t(), Reconstruction::None);
        let psi = lattice.spinor_from_host(&spinor_field(dims, 2)).unwrap();
        let image = |term| {
            let mut image = lattice.spinor().unwrap();
            Dirac::new(&links, Kappa(0.12), term).unwrap().apply(&psi, &mut image).unwrap();
            image.to_host().unwrap()
        };
        let wilson = image(SiteTerm::Scalar);
        assert_eq!(wilson, image(SiteTerm::Twisted { mu: 0.0 }), "{name}");
        assert_eq!(wilson, image(SiteTerm::Clover { csw: 0.0, mu: 0.0 }), "{name}");
    }
}

#[test]
fn a_clover_term_without_an_inverse_is_refused_with_its_site() {
    let dims = Dims::new([2, 4, 2, 4]).unwrap();
    let configuration = hot(dims, 6);
    let first = CloverMatrix { scalar: 1.0, twist: 0.0, factor: 0.13 * 30.0 };
    let fails = |site: &usize| StoredBlocks::Inverse(first).at(&configuration, [1.0; 2], *site).is_none();
    let first = dims.coordinates((0..dims.volume()).find(fails).unwrap());
    for (name, team) in common::teams() {
        let lattice = Lattice::new(&team, dims).unwrap();
        let links = links::<f64>(&lattice, &configuration, Boundary::antiperiodic_t(), Reconstruction::None);
        let m = Dirac::clover(&links, Kappa(0.13), 30.0).unwrap();
        let b = lattice.point_source::<f64>([0; 4], 0, 0).unwrap();
        let params = BicgstabParams::default().with_tol(1e-8).with_preconditioning(Preconditioning::EvenOdd);
        let refused = m.schur_complement().map(drop);
        let Err(LatticeError::CloverNotPositive { site, eigenvalue }) = refused else { panic!("{name}") };
        assert!(eigenvalue < 0.0 && site == first, "{name}: {site:?}, {eigenvalue}");
        let message = bicgstab(&m, &b, &params).unwrap_err().to_string();
        assert!(message.contains("eigenvalue") && message.contains("c_sw"), "{message}");
    }
}

#[test]
fn links_without_a_clover_term_are_named() {
    let dims = Dims::new([2, 2, 2, 2]).unwrap();
    let lattice = Lattice::new(&lattice_cl::compute::Team::host(), dims).unwrap();
    let links = lattice.gauge::<f64>(&weak(dims, 0.1, 1), Boundary::antiperiodic_t()).unwrap();
    assert!(matches!(Dirac::clover(&links, Kappa(0.1), 1.0), Err(DiracError::NoClover)));
    let other = weak(Dims::new([2, 2, 2, 4]).unwrap(), 0.1, 1);
    assert!(matches!(links.with_clover(other), Err(LatticeError::Dims { .. })));
}

#[test]
fn parameters_that_are_no_numbers_are_refused() {
    let dims = Dims::new([2, 2, 2, 2]).unwrap();
    let lattice = Lattice::new(&lattice_cl::compute::Team::host(), dims).unwrap();
    let links = lattice.gauge::<f64>(&weak(dims, 0.1, 1), Boundary::antiperiodic_t()).unwrap();
    for mu in [f64::NAN, f64::INFINITY] {
        let refused = Dirac::new(&links, Kappa(0.1), SiteTerm::Twisted { mu });
        assert!(
            matches!(refused, Err(DiracError::SiteTerm(SiteTermError::NotFinite { key: "mu", .. }))),
            "{mu}"
        );
        let refused = Dirac::new(&links, Kappa(0.1), SiteTerm::Clover { csw: mu, mu: 0.0 });
        assert!(
            matches!(refused, Err(DiracError::SiteTerm(SiteTermError::NotFinite { key: "csw", .. }))),
            "{mu}"
        );
    }
}
