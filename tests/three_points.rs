//! Sequential sources and three-point functions, by what must hold for each of them.

use lattice_cl::Dims;
use lattice_cl::compute::Team;
use lattice_cl::geometry::NDIM;
use lattice_cl::hadron::{
    BaryonCorrelator, BaryonForm, BaryonOperator, Column, MesonCorrelator, NamedOperator, QuarkPropagator,
    SitePropagator, SourceOperator, SpinTensor, ThreePointCorrelator,
};
use lattice_cl::host::Spinor;
use lattice_cl::host::random::{spinor_field, weak};
use lattice_cl::job::{CallbackError, Callbacks, Job, JobOutcome, Problem, SolveOutcome};
use num_complex::Complex64;
use serde_json::{Value, json};
use std::f64::consts::TAU;

const EXTENTS: [usize; NDIM] = [2, 4, 2, 6];
const SITE: [usize; NDIM] = [1, 3, 0, 4];

fn dims() -> Dims {
    Dims::new(EXTENTS).unwrap()
}

/// Keeps the propagators.
#[derive(Default)]
struct PropagatorCollector(Vec<QuarkPropagator>);

impl Callbacks for PropagatorCollector {
    fn solved(&mut self, solve: &SolveOutcome, x: &[Spinor<f64>]) -> Result<(), CallbackError> {
        let number = solve.label.propagator();
        if self.0.len() <= number {
            self.0.push(QuarkPropagator::new(dims())?);
        }
        self.0[number].set_column(solve.label.column(), x);
        Ok(())
    }
}

fn run(job: Value) -> (JobOutcome, Vec<QuarkPropagator>) {
    let job: Job = serde_json::from_value(job).unwrap();
    let mut kept = PropagatorCollector::default();
    let problem = Problem::on(&job, weak(dims(), 0.25, 9), &Team::host()).unwrap();
    let outcome = problem.run(&mut kept).unwrap();
    assert!(outcome.converged());
    (outcome, kept.0)
}

fn complex([re, im]: [f64; 2]) -> Complex64 {
    Complex64::new(re, im)
}

#[track_caller]
fn find<'a>(
    all: &'a [ThreePointCorrelator],
    insertion: &str,
    source: usize,
    momentum: [i32; 3],
) -> impl Fn(usize) -> Complex64 + use<'a> {
    let is_wanted = |one: &&ThreePointCorrelator| {
        // A baryon has one operator at its source.
        let is_source = match &one.source {
            SourceOperator::Meson(number) => *number == source,
            SourceOperator::Baryon(_) => true,
        };
        one.insertion == insertion && is_source && one.momentum == momentum
    };
    let found = all.iter().find(is_wanted).unwrap();
    |time| complex(found.values[time])
}

/// The two-point function of a meson at a time.
fn meson(all: &[MesonCorrelator], of: [usize; 2], momentum: [i32; 3], time: usize) -> Complex64 {
    let is_wanted = |one: &&MesonCorrelator| [one.source, one.sink] == of && one.momentum == momentum;
    complex(all.iter().find(is_wanted).unwrap().values[time])
}

/// The two-point function of a baryon at a time.
fn baryon(
    all: &[BaryonCorrelator],
    name: &str,
    projector: &str,
    momentum: [i32; 3],
    time: usize,
) -> Complex64 {
    let is_wanted =
        |one: &&BaryonCorrelator| one.name == name && one.projector == projector && one.momentum == momentum;
    complex(all.iter().find(is_wanted).unwrap().values[time])
}

/// The current is conserved at all times but those of source and sink, where the charge jumps.
///
/// It jumps by the two-point function `expected`.
#[track_caller]
fn is_conserved(all: &[ThreePointCorrelator], source: usize, sink: usize, expected: Complex64) {
    let charge = find(all, "conserved_t", source, [0; 3]);
    let scale = expected.norm();
    assert!(scale > 0.0);
    for time in 0..EXTENTS[3] {
        // Before the sink, and behind it.
        let inside = (0..sink).contains(&time);
        let jump = charge(time) - charge(sink);
        let wanted = if inside { expected } else { 0.0.into() };
        assert!((jump - wanted).norm() < 1e-9 * scale, "t = {time}: {jump}, {wanted}");
    }
    let momentum = [0, 1, 0];
    let of = |direction: char| find(all, &format!("conserved_{direction}"), source, momentum);
    let (in_y, in_t) = (of('y'), of('t'));
    let turn = Complex64::from_polar(1.0, TAU / EXTENTS[1] as f64);
    for time in (1..EXTENTS[3]).filter(|&time| time != sink) {
        let divergence = in_t(time) - in_t(time - 1) + in_y(time) * (1.0 - turn);
        assert!(divergence.norm() < 1e-9 * scale, "t = {time}: {divergence}");
    }
}

/// The trace of a sequential propagator at its source is the two-point function.
#[track_caller]
fn ends_at_the_source(sequential: &QuarkPropagator, source: usize, expected: Complex64) {
    let site = &sequential.sites()[dims().site(SITE)];
    let gamma = SpinTensor::gamma(source).0;
    let gamma5 = SpinTensor::gamma(15).0;
    // tr[γ5 Σ† γ5 Γ], γ5 diagonal.
    let mut sum = Complex64::default();
    for (a, b, c) in (0..48).map(|k| (k / 12, k / 3 % 4, k % 3)) {
        sum += gamma5[a][a] * site[3 * b + c][3 * a + c].conj() * gamma5[b][b] * gamma[b][a];
    }
    assert!((sum - expected).norm() < 1e-9 * expected.norm(), "{sum}, {expected}");
}

#[test]
fn the_charge_of_each_quark_is_the_two_point_function() {
    let sinks = [
        ("pion,2", 1.0),
        ("meson_7,5,p=0/-1/0", 1.0),
        ("nucleon_Cg5+,1,p=0/1/0", 1.0),
        ("nucleon_Cg5-,3,quark=2", 2.0),
        ("delta_CgmNR_upup+,2", 1.0),
        ("delta_Cgz+,2,quark=2", 2.0),
    ];
    let mut sources = vec![
        json!({ "kind": "point:1,3,0,4", "smear-sink": "gaussian:1.0,3", "smear-links": "stout:0.1,1" }),
    ];
    let of_sink =
        |(sink, _): &(&str, f64)| json!({ "kind": format!("sequential:{sink}"), "current-momenta": 1 });
    sources.extend(sinks.iter().map(of_sink));
    let job = json!({
        "command": "spectrum",
        "action": { "mass": 0.3, "csw": 1.1, "anisotropy": 1.3, "nu": 0.9, "theta": "0,0.4,0,0" },
        "solver": { "tol": 1e-13 },
        "hadrons": { "hadrons": "mesons,octet,decuplet", "momenta": 1 },
        "source": sources,
    });
    let (outcome, propagators) = run(job);
    let [plain, sequential @ ..] = &outcome.propagators[..] else { panic!("propagators") };
    let two_points = &plain.hadrons;
    assert!(!plain.correlators.is_empty() && two_points.three_points.is_empty());
    for (k, (text, quarks)) in sinks.into_iter().enumerate() {
        let found = &sequential[k];
        assert!(found.correlators.is_empty() && found.hadrons.mesons.is_empty());
        let all = &found.hadrons.three_points;
        let sink: lattice_cl::hadron::Sequential = text.parse().unwrap();
        let (name, time, momentum) = (sink.hadron.to_string(), sink.distance, sink.momentum);
        if name == "pion" || name == "meson_7" {
            assert_eq!(all.len(), 16 * 20 * 7);
            let number = if name == "pion" { 15 } else { 7 };
            for source in [0, 7, 11, 15] {
                let expected = meson(&two_points.mesons, [source, number], momentum, time);
                if expected.norm() > 1e-12 {
                    is_conserved(all, source, time, expected);
                    ends_at_the_source(&propagators[1 + k], source, expected);
                }
            }
        } else {
            assert_eq!(all.len(), 20 * 7);
            assert!(all.iter().all(|one| one.source == SourceOperator::Baryon(name.clone())));
            let (name, projector) = name.split_at(name.len() - 1);
            let expected = baryon(&two_points.baryons, name, projector, momentum, time) * quarks;
            is_conserved(all, 0, time, expected);
            ends_at_the_source(&propagators[1 + k], 0, expected);
        }
    }
}

/// A quark of a twisted mass goes on from the sink as the other flavour.
#[test]
fn the_charges_of_flavours_and_masses_are_two_point_functions() {
    let job = json!({
        "command": "spectrum",
        "action": { "mu": 0.2 },
        "solver": { "tol": 1e-13 },
        "quark": [
            { "label": "up", "kappa": 0.11 },
            { "label": "down", "kappa": 0.11, "flavour": "down" },
            { "label": "strange", "kappa": 0.10, "source": "here" },
        ],
        "source": [
            { "kind": "point:1,3,0,4", "label": "here" },
            { "kind": "sequential:pion,3", "label": "of up", "quarks": ["up", "strange"], "current-momenta": 1 },
            {
                "kind": "sequential:lambda_naive_Cg5+,4,quark=2",
                "label": "of down",
                "quarks": ["up", "down", "strange"],
                "current-momenta": 1,
            },
        ],
        "hadron": [
            { "quarks": ["up", "strange"], "hadrons": "mesons" },
            { "quarks": ["up", "down", "strange"], "hadrons": "octet" },
        ],
    });
    let (outcome, propagators) = run(job);
    let labels: Vec<String> = outcome
        .propagators
        .iter()
        .map(|one| format!("{} {}", one.quark.clone().unwrap(), one.source.label))
        .collect();
    // Those that go on from the up quark are of the down quark, and the other way round.
    assert_eq!(labels, ["up here", "down here", "strange here", "up of down", "down of up"]);
    let of = |number: usize| &outcome.propagators[number].hadrons.three_points;
    let pion = meson(&outcome.hadrons[0].hadrons.mesons, [15, 15], [0; 3], 3);
    is_conserved(of(4), 15, 3, pion);
    ends_at_the_source(&propagators[4], 15, pion);
    let lambda = baryon(&outcome.hadrons[1].hadrons.baryons, "lambda_naive_Cg5", "+", [0; 3], 4);
    is_conserved(of(3), 0, 4, lambda);
    ends_at_the_source(&propagators[3], 0, lambda);
}

/// Contractions are linear in the first quark and quadratic at most in the others.
#[test]
fn derivatives_of_baryons_are_those_of_their_contractions() {
    let site = |seed: u64| -> SitePropagator {
        let mut all = QuarkPropagator::new(Dims::new([2, 2, 2, 2]).unwrap()).unwrap();
        for (k, column) in Column::all().enumerate() {
            all.set_column(column, &spinor_field(all.dims(), 20 * seed + k as u64));
        }
        all.sites()[3]
    };
    let (of, change) = ([site(1), site(2), site(3)], site(4));
    for form in BaryonForm::ALL {
        for NamedOperator { t, matrix, name, .. } in form.operators() {
            let operator = BaryonOperator { form, projector: t, matrix };
            for quark in 0..form.quarks() {
                let at = |sign: f64| {
                    let mut changed = of;
                    let entries = changed[quark].iter_mut().flatten();
                    entries.zip(change.iter().flatten()).for_each(|(z, change)| *z += change * sign);
                    operator.at_site(&changed.each_ref())
                };
                let g = operator.derivative(&of.each_ref(), quark);
                let expected = (at(1.0) - at(-1.0)) / 2.0;
                let found: Complex64 = (0..144).map(|k| g[k / 12][k % 12] * change[k % 12][k / 12]).sum();
                assert!((found - expected).norm() < 1e-11 * expected.norm(), "{form:?} {name}, {quark}");
            }
        }
    }
}

#[test]
fn sequential_sources_that_make_no_sense_are_refused() {
    let job = |action: Value, others: &str| -> Result<Job, String> {
        let mut sources: Vec<Value> = serde_json::from_str(&format!("[{others}]")).unwrap();
        sources.insert(0, json!({ "label": "a" }));
        let job = json!({ "command": "spectrum", "action": action, "source": sources });
        let job: Job = serde_json::from_value(job).map_err(|error| error.to_string())?;
        job.check().map_err(|error| format!("{:?}: {error}", error.key()))?;
        Ok(job)
    };
    let sink = r#""kind": "sequential:pion,3""#;
    for (others, wanted) in [
        (r#"{ "kind": "sequential:kaon,3" }"#.to_owned(), "meson_0 to meson_15"),
        (format!(r#"{{ {sink}, "from": "b" }}"#), "source[1].from"),
        (format!(r#"{{ {sink}, "quarks": "u" }}"#), "source[1].quarks"),
        (format!(r#"{{ {sink}, "smear-sink": "gaussian:1,2" }}"#), "smear-sink there"),
        (format!(r#"{{ "kind": "wall:0" }}, {{ {sink} }}"#), "as from"),
        (
            format!(r#"{{ {sink} }}, {{ {sink}, "label": "b", "from": "sequential pion.3" }}"#),
            "not sequential",
        ),
        (r#"{ "kind": "wall:0", "from": "a" }"#.to_owned(), "only sequential sources"),
        (format!(r#"{{ {sink}, "current-momenta": 99999999 }}"#), "n² goes up"),
    ] {
        let error = job(json!({ "kappa": 0.11 }), &others).unwrap_err();
        assert!(error.contains(wanted), "{others}: {error}");
    }
    let error = job(json!({ "kappa": 0.11, "mu": 0.1 }), &format!("{{ {sink} }}")).unwrap_err();
    assert!(error.contains("other flavour"), "{error}");
    let too_far = job(json!({ "kappa": 0.11 }), r#"{ "kind": "sequential:pion,6" }"#).unwrap();
    let error = Problem::on(&too_far, weak(dims(), 0.25, 9), &Team::host()).err().unwrap().to_string();
    assert!(error.contains("6 time slices away"), "{error}");
}
