//! One operator, said in any way, has one set of correlators: they know the phases that quarks really have in t.

use crate::common;

use common::{small, teams};
use lattice_cl::compute::Team;
use lattice_cl::geometry::{Boundary, NDIM, Theta};
use lattice_cl::hadron::{
    BaryonForm, Column, HadronMeasurement, HadronSet, Hadrons, Momenta, QuarkPropagator, baryons,
};
use lattice_cl::host::TimePhases;
use lattice_cl::host::random::{spinor_field, weak};
use lattice_cl::job::{Job, Problem};
use lattice_cl::{Dims, GaugeConfiguration};
use num_complex::Complex64;
use serde_json::{Value, json};

const SOURCE: [usize; NDIM] = [1, 0, 1, 2];

fn dims() -> Dims {
    Dims::new([2, 2, 2, 4]).unwrap()
}

/// A way to say the phase of a quark in t.
struct Said {
    boundary: &'static str,
    theta: Option<&'static str>,
    /// Slices whose t-links have a sign of their own.
    signed: &'static [usize],
}

const fn said(boundary: &'static str, theta: Option<&'static str>, signed: &'static [usize]) -> Said {
    Said { boundary, theta, signed }
}

/// The ways to say the phase −1, the phase 1, and e^{0.3πi}.
const ALL: [&[Said]; 3] = [
    &[
        said("antiperiodic", None, &[]),
        said("1,1,1,-1", None, &[]),
        said("periodic", Some("0,0,0,1"), &[]),
        said("periodic", Some("0,0,0,-3"), &[]),
        said("antiperiodic", Some("0,0,0,2"), &[]),
        said("periodic", None, &[3]),
        // A sign on another slice is a change of gauge.
        said("periodic", None, &[2]),
        said("periodic", None, &[0]),
        said("antiperiodic", Some("0,0,0,1"), &[3]),
        said("antiperiodic", None, &[2, 3]),
    ],
    &[
        said("periodic", None, &[]),
        said("antiperiodic", Some("0,0,0,1"), &[]),
        said("periodic", Some("0,0,0,1"), &[3]),
        said("antiperiodic", None, &[3]),
        said("antiperiodic", None, &[1]),
    ],
    &[
        said("periodic", Some("0,0,0,0.3"), &[]),
        said("antiperiodic", Some("0,0,0,-0.7"), &[]),
        said("antiperiodic", Some("0,0,0,0.3"), &[2]),
        said("periodic", Some("0,0,0,1.3"), &[3]),
    ],
];

/// The links, moved so that the source at [`SOURCE`] comes to the site `to`.
fn links(to: [usize; NDIM], signed: &[usize]) -> GaugeConfiguration {
    let (plain, mut links) = (weak(dims(), 0.3, 21), GaugeConfiguration::unit(dims()));
    for (site, mu) in (0..dims().volume()).flat_map(|site| (0..NDIM).map(move |mu| (site, mu))) {
        let at = dims().coordinates(site);
        let from = std::array::from_fn(|nu| (at[nu] + SOURCE[nu] + dims()[nu] - to[nu]) % dims()[nu]);
        let sign = if mu == 3 && signed.contains(&at[3]) { -1.0 } else { 1.0 };
        links.set_link(site, mu, plain.link(dims().site(from), mu).scale(sign));
    }
    links
}

/// All correlators of a source at the site `at`: hadrons of one, two and three quarks, and three-point functions.
fn correlators(team: &Team, said: &Said, at: [usize; NDIM]) -> Value {
    let [x, y, z, t] = at;
    let mut action = json!({ "boundary": said.boundary });
    if let Some(theta) = said.theta {
        action["theta"] = theta.into();
    }
    let sets = if small() { "octet" } else { "mesons,octet,decuplet,currents" };
    // The sink is beyond the boundary in t, and before it.
    let sinks = ["pion,3", "nucleon_Cg5+,1", "nucleon_Cg5+,3,p=0/1/0,quark=2", "delta_Cgz-,2"];
    let mut sources = vec![json!({ "kind": format!("point:{x},{y},{z},{t}"), "label": "here" })];
    let sinks = sinks.iter().take(if small() { 2 } else { 4 });
    sources.extend(sinks.map(|sink| json!({ "kind": format!("sequential:{sink}"), "quarks": "a" })));
    let job = json!({
        "command": "spectrum",
        "action": action,
        "solver": { "tol": 1e-13 },
        "quark": [
            { "label": "a", "kappa": 0.11, "csw": 1.1 },
            { "label": "b", "kappa": 0.10, "csw": 1.1, "source": "here" },
            { "label": "c", "kappa": 0.09, "csw": 1.1, "source": "here" },
        ],
        "source": sources,
        "hadron": [
            { "quarks": "a", "hadrons": sets, "momenta": 1 },
            { "quarks": ["b", "a"], "hadrons": sets },
            { "quarks": ["a", "b", "c"], "hadrons": "octet" },
        ],
    });
    let job: Job = serde_json::from_value(job).unwrap();
    let outcome = Problem::on(&job, links(at, said.signed), team).unwrap().run(&mut ()).unwrap();
    assert!(outcome.converged());
    let of_quarks = outcome.hadrons.iter().map(|one| &one.hadrons);
    let all: Vec<&Hadrons> = of_quarks.chain(outcome.propagators.iter().map(|one| &one.hadrons)).collect();
    serde_json::to_value(all).unwrap()
}

/// Compares all numbers, each within the size of the largest of its set.
#[track_caller]
fn are_equal(what: &str, found: &Value, expected: &Value) {
    fn numbers(value: &Value) -> Vec<f64> {
        match value {
            Value::Array(values) => values.iter().flat_map(numbers).collect(),
            Value::Object(entries) => {
                entries["values"].as_array().unwrap().iter().flat_map(numbers).collect()
            }
            number => vec![number.as_f64().unwrap()],
        }
    }
    let mut compared = 0;
    for (found, expected) in found.as_array().unwrap().iter().zip(expected.as_array().unwrap()) {
        for (set, expected) in expected.as_object().unwrap() {
            let (found, expected) = (numbers(&found[set]), numbers(expected));
            assert_eq!(found.len(), expected.len(), "{what}, {set}");
            let size = expected.iter().fold(0.0, |size: f64, value| size.max(value.abs()));
            for (k, (a, b)) in found.iter().zip(&expected).enumerate() {
                assert!((a - b).abs() < 1e-9 * size, "{what}, {set}, number {k}: {a}, {b}");
            }
            compared += found.len();
        }
    }
    assert!(compared > 100, "{what}: {compared} numbers");
}

/// Nothing of a source at t = 0 lies beyond the boundary, so that its correlators need no phase.
#[test]
fn correlators_do_not_depend_on_how_the_phase_was_said() {
    let [x, y, z, _] = SOURCE;
    for ways in ALL {
        let expected = correlators(&Team::host(), &ways[0], [x, y, z, 0]);
        for way in ways {
            let Said { boundary, theta, signed } = way;
            let what = format!("{boundary}, {theta:?}, signs on {signed:?}");
            are_equal(&what, &correlators(&Team::host(), way, SOURCE), &expected);
        }
    }
}

#[test]
fn correlators_of_devices_do_not_depend_on_how_the_phase_was_said() {
    let [x, y, z, _] = SOURCE;
    // Of a sign, and of an angle.
    for ways in [ALL[0], ALL[2]] {
        let expected = correlators(&Team::host(), &ways[0], [x, y, z, 0]);
        for (name, team) in teams().into_iter().take(1) {
            are_equal(&name, &correlators(&team, ways.last().unwrap(), SOURCE), &expected);
        }
    }
}

/// Quarks of one hadron may have phases of their own.
#[test]
fn a_hadron_beyond_the_boundary_has_the_phases_of_its_quarks() {
    let dims = dims();
    let plain = |seed: u64| {
        let mut quark = QuarkPropagator::new(dims).unwrap();
        for (k, column) in Column::all().enumerate() {
            quark.set_column(column, &spinor_field(dims, 100 * seed + k as u64));
        }
        quark
    };
    let angles = [0.3, -0.2, 1.0];
    let phase = |theta: f64| Complex64::cis(std::f64::consts::PI * theta);
    let quarks = [1, 2, 3].map(plain);
    let twisted: Vec<QuarkPropagator> = quarks
        .iter()
        .zip(angles)
        .map(|(quark, theta)| {
            let theta = Theta::new([0.0, 0.0, 0.0, theta]).unwrap();
            let boundary = Boundary::periodic().twisted(theta);
            quark.clone().with_time_phases(TimePhases::of_boundary(dims[3], boundary))
        })
        .collect();
    // Source at t = 2 of 4: the values at 2 and 3 are beyond the boundary.
    let check = |what: &str, found: &[[f64; 2]], plain: &[[f64; 2]], factor: Complex64| {
        let size = plain.iter().flatten().fold(0.0, |size: f64, value| size.max(value.abs()));
        for (t, (&[re, im], &[a, b])) in found.iter().zip(plain).enumerate() {
            let expected = Complex64::new(a, b) * if t < 2 { 1.0.into() } else { factor };
            let difference = (Complex64::new(re, im) - expected).norm();
            assert!(difference < 1e-12 * size, "{what}, t = {t}: {re}, {im}, {expected}");
        }
    };
    let momenta = Momenta::each([[0, 0, 0], [1, 0, 1]]);
    let [a, b, c] = angles;
    for (form, factor) in [
        (BaryonForm::Octet, phase(a + 2.0 * b)),
        (BaryonForm::LambdaOctet, phase(a + 2.0 * b)),
        (BaryonForm::Decuplet, phase(a + 2.0 * b)),
        (BaryonForm::LambdaNaive, phase(a + b + c)),
        (BaryonForm::Lambda, phase(a + b + c)),
    ] {
        let of = |quarks: Vec<&QuarkPropagator>| {
            baryons("b", form, &form.operators()[..2], &quarks, SOURCE, &momenta)
        };
        for (found, plain) in of(twisted.iter().collect()).iter().zip(of(quarks.iter().collect())) {
            check(form.name(), &found.values, &plain.values, factor);
        }
    }
    let mut of_teams = vec![("host".to_owned(), Team::host())];
    of_teams.extend(teams().into_iter().take(1));
    for (name, team) in of_teams {
        let sets = vec![HadronSet::Mesons, HadronSet::Currents];
        let measurement = HadronMeasurement { team, sets, momenta: momenta.clone(), origin: SOURCE };
        let of = |quarks: &[QuarkPropagator]| measurement.mesons_of_two(&quarks[0], &quarks[1]).unwrap();
        let (found, plain) = (of(&twisted), of(&quarks));
        for (found, plain) in found.mesons.iter().zip(&plain.mesons) {
            check(&name, &found.values, &plain.values, phase(a - b));
        }
        // The axial current is minus the real part of the meson with Γ(15) and Γ(7).
        let is_axial = |meson: &&_| {
            let lattice_cl::hadron::MesonCorrelator { source, sink, momentum, .. } = meson;
            (*source, *sink, *momentum) == (15, 7, [0; 3])
        };
        let meson = &found.mesons.iter().find(is_axial).unwrap().values;
        for (value, [re, _]) in found.currents[0].values.iter().zip(meson) {
            assert!((value + re).abs() < 1e-11 * meson[0][0].abs().max(1.0), "{name}: {value}, {re}");
        }
    }
}
