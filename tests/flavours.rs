//! The two flavours of a twisted mass, as two operators of one job.

use crate::common;

use common::reference::{complex, configuration_of, number, reference};
use common::spinors::{Spinor, distance};
use lattice_cl::Dims;
use lattice_cl::compute::Team;
use lattice_cl::geometry::{Boundary, Lattice, Theta};
use lattice_cl::hadron::Column;
use lattice_cl::host::Spinor as HostSpinor;
use lattice_cl::host::random::weak;
use lattice_cl::job::{
    Action, CallbackError, Callbacks, Flavour, Invalid, Job, OneOrMore, Problem, SiteTermKeys, SolveOutcome,
    SourceEntry, Task,
};
use lattice_cl::operator::{Dirac, Kappa, SiteTerm};
use lattice_cl::solve::{CgParams, Preconditioning, cg};
use num_complex::Complex64;
use std::sync::Arc;

/// Keeps the solutions of a job, with their labels.
#[derive(Default)]
struct Solutions(Vec<(String, Vec<Spinor>)>);

impl Callbacks for Solutions {
    fn solved(&mut self, solve: &SolveOutcome, x: &[HostSpinor<f64>]) -> Result<(), CallbackError> {
        self.0.push((solve.label.to_string(), x.to_vec()));
        Ok(())
    }
}

fn job(kappa: &[f64], mu: f64, flavour: Option<Flavour>) -> Job {
    let mut job = Job::default()
        .with_command(Task::Spectrum)
        .with_action(
            Action::default().with_site_term(SiteTermKeys::default().with_mu(Some(mu)).with_flavour(flavour)),
        )
        .with_sources(Some(SourceEntry::default()));
    job.action.kappa = Some(OneOrMore::More(kappa.to_vec()));
    job.solver.tol = Some(1e-12);
    job
}

/// The charged pion of one flavour, and the connected neutral pion of both, of a program of others.
#[test]
fn a_job_of_both_flavours_gives_the_pions_of_other_programs() {
    let Some(reference) = reference() else { return };
    let entry = &reference["computed"]["hadrons twisted lat.sample.l4444"];
    let configuration = Arc::new(configuration_of(entry));
    let action = |key: &str| number(&entry["action"][key]);
    let job = job(&[action("kappa")], action("mu"), Some(Flavour::Both));
    let problem = Problem::on(&job, Arc::clone(&configuration), &Team::host()).unwrap();
    let mut solutions = Solutions::default();
    let outcome = problem.run(&mut solutions).unwrap();
    let flavours: Vec<_> = outcome.propagators.iter().map(|one| one.flavour.unwrap()).collect();
    assert_eq!(flavours, [Flavour::Up, Flavour::Down]);
    let labels: Vec<_> = solutions.0.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(labels.len(), 24);
    assert_eq!(labels[0], "up, point 0.0.0.0, spin 0, colour 0");
    assert_eq!(labels[23], "down, point 0.0.0.0, spin 3, colour 2");

    let dims = configuration.dims();
    let neutral = &entry["mesons_up_down"]["15"]["0,0,0"];
    let (up, down) = solutions.0.split_at(12);
    for t in 0..dims[3] {
        let charged = outcome.propagators[0].correlators[0].values[t];
        assert!((charged / number(&entry["norm2_per_slice"][t]) - 1.0).abs() < 1e-9, "charged, t = {t}");
        let mut sum = Complex64::default();
        for ((_, up), (_, down)) in up.iter().zip(down) {
            for site in (0..dims.volume()).filter(|&site| dims.coordinates(site)[3] == t) {
                sum += (0..12)
                    .map(|k| down[site].component(k).conj() * up[site].component(k))
                    .sum::<Complex64>();
            }
        }
        let expected = complex(&neutral[t]);
        assert!((sum - expected).norm() < 1e-9 * expected.norm(), "neutral, t = {t}: {sum}, {expected}");
        assert!((sum.re / charged - 1.0).abs() > 1e-3, "the two pions differ");
    }
}

#[test]
fn flavours_go_with_masses_and_need_a_twisted_mass() {
    let words =
        |job: &Job| -> Vec<String> { job.labels().unwrap().iter().map(|of| of[0].to_string()).collect() };
    let both = job(&[0.12, 0.13], 0.1, Some(Flavour::Both));
    let tail = "point 0.0.0.0, spin 0, colour 0";
    assert_eq!(
        words(&both),
        ["kappa 0.12, up", "kappa 0.12, down", "kappa 0.13, up", "kappa 0.13, down"]
            .map(|head| format!("{head}, {tail}"))
    );
    assert_eq!(words(&job(&[0.12], 0.1, Some(Flavour::Down))), [tail]);
    let quarks = |flavour| job(&[0.12], 0.1, flavour).action.quarks().unwrap();
    assert_eq!(quarks(None)[0].site_term, SiteTerm::Twisted { mu: 0.1 });
    let operator = |flavour| quarks(flavour).remove(0).site_term;
    assert_eq!(operator(Some(Flavour::Up)), operator(None));
    assert_eq!(quarks(None)[0].flavour, Some(Flavour::Up));
    assert_eq!(quarks(Some(Flavour::Down))[0].site_term, SiteTerm::Twisted { mu: -0.1 });
    let mut wilson = both;
    wilson.action.site_term.mu = None;
    assert_eq!(wilson.check(), Err(Invalid::FlavourWithoutMu));
    assert_eq!(Invalid::FlavourWithoutMu.key().unwrap(), "action.flavour");
}

/// S_down(x, y) = γ5 S_up(y, x)† γ5, with a clover term and phases at the boundary too.
#[test]
fn one_flavour_backwards_is_the_other() {
    let dims = Dims::new([2, 4, 2, 4]).unwrap();
    let configuration = weak(dims, 0.3, 7);
    let lattice = Lattice::new(&Team::host(), dims).unwrap();
    let boundary = Boundary::antiperiodic_t().twisted(Theta::new([0.3, 0.0, -0.4, 0.0]).unwrap());
    let links = lattice.gauge::<f64>(&configuration, boundary).unwrap();
    let links = links.with_clover(configuration).unwrap();
    let up = SiteTerm::Clover { csw: 1.1, mu: 0.2 };
    let (x, y) = ([1, 3, 0, 2], [0, 1, 1, 3]);
    // S(to, from), rows spin and colour at `to`.
    let propagator = |term: SiteTerm, to: [usize; 4], from: [usize; 4]| -> Vec<Spinor> {
        let m = Dirac::new(&links, Kappa(0.12), term).unwrap();
        let column = |Column { spin, colour }| {
            let b = lattice.point_source::<f64>(from, spin, colour).unwrap();
            let params = CgParams::default().with_tol(1e-12).with_preconditioning(Preconditioning::EvenOdd);
            cg(&m, &b, &params).unwrap().0.to_host().unwrap()[dims.site(to)]
        };
        Column::all().map(column).collect()
    };
    let (down, back) = (propagator(up.other_flavour(), x, y), propagator(up, y, x));
    let gamma5 = |k: usize| if k < 6 { 1.0 } else { -1.0 };
    let expected: Vec<Spinor> = (0..12)
        .map(|j| {
            Spinor::from_fn(|s, c| back[3 * s + c].component(j).conj() * (gamma5(3 * s + c) * gamma5(j)))
        })
        .collect();
    let error = distance(&down, &expected);
    assert!(error < 1e-10, "{error:e}");
    assert!(distance(&propagator(up, x, y), &expected) > 1e-3, "flavours differ");
}
