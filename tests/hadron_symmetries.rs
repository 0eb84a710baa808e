//! What correlators of hadrons must satisfy on every configuration.

use lattice_cl::compute::Team;
use lattice_cl::geometry::NDIM;
use lattice_cl::hadron::{
    BaryonForm, BaryonOperator, Column, NamedOperator, QuarkPropagator, SitePropagator,
};
use lattice_cl::host::random::{gauge_transformation, spinor_field, transform_links, weak};
use lattice_cl::job::{Job, Problem};
use lattice_cl::{Dims, GaugeConfiguration};
use serde_json::{Value, json};

fn dims() -> Dims {
    Dims::new([2, 4, 2, 4]).unwrap()
}

fn configuration() -> GaugeConfiguration {
    weak(dims(), 0.3, 21)
}

/// Returns the correlators of a job, a list of propagators of one quark.
fn correlators(job: Value, configuration: GaugeConfiguration) -> Vec<Value> {
    let job: Job = serde_json::from_value(job).unwrap();
    let outcome = Problem::on(&job, configuration, &Team::host()).unwrap().run(&mut ()).unwrap();
    assert!(outcome.converged());
    outcome.propagators.iter().map(|one| serde_json::to_value(&one.hadrons).unwrap()).collect()
}

/// All hadrons of smeared quarks, currents and three-point functions, from one site.
fn all_hadrons(configuration: GaugeConfiguration, [x, y, z, t]: [usize; NDIM]) -> Vec<Value> {
    let source = json!({
        "kind": format!("point:{x},{y},{z},{t}"),
        "smear-source": "gaussian:1.1,2", "smear-sink": "wuppertal:0.2,2", "smear-links": "stout:0.1,2",
    });
    let job = json!({
        "command": "spectrum",
        "action": { "kappa": 0.112, "csw": 1.1 },
        "solver": { "tol": 1e-13 },
        "hadrons": { "hadrons": "mesons,octet,decuplet,currents", "momenta": 1 },
        "source": [
            source,
            { "kind": "sequential:pion,2", "current-momenta": 1 },
            { "kind": "sequential:nucleon_Cg5+,1,p=0/1/0,quark=2" },
        ],
    });
    correlators(job, configuration)
}

/// The numbers of a correlator's values.
fn numbers(values: &Value) -> Vec<f64> {
    match values {
        Value::Array(values) => values.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

/// Compares all correlators, each set to within the size of its largest value.
#[track_caller]
fn are_equal(found: &[Value], expected: &[Value]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let (found, expected) = (found.as_object().unwrap(), expected.as_object().unwrap());
        assert!(found.keys().eq(expected.keys()) && !found.is_empty());
        for (set, found) in found {
            let (found, expected) = (found.as_array().unwrap(), expected[set].as_array().unwrap());
            assert_eq!(found.len(), expected.len(), "{set}");
            let all = expected.iter().flat_map(|one| numbers(&one["values"]));
            let size = all.fold(0.0, |size: f64, value| size.max(value.abs()));
            for (found, expected) in found.iter().zip(expected) {
                let values = numbers(&found["values"]).into_iter().zip(numbers(&expected["values"]));
                let difference = values.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()));
                assert!(difference < 1e-10 * size, "{set}: {found}, {expected}");
            }
        }
    }
}

#[test]
fn hadrons_are_gauge_invariant() {
    let site = [1, 2, 0, 3];
    let transformed = transform_links(&configuration(), &gauge_transformation(dims(), 5));
    are_equal(&all_hadrons(transformed, site), &all_hadrons(configuration(), site));
}

/// The links move with the source, also beyond the boundary in time.
#[test]
fn hadrons_do_not_depend_on_where_the_lattice_begins() {
    let (here, shift) = ([0, 1, 0, 0], [1, 2, 1, 3]);
    let moved = |at: [usize; NDIM]| std::array::from_fn(|mu| (at[mu] + shift[mu]) % dims()[mu]);
    let (links, mut shifted) = (configuration(), GaugeConfiguration::unit(dims()));
    for (site, mu) in (0..dims().volume()).flat_map(|site| (0..NDIM).map(move |mu| (site, mu))) {
        shifted.set_link(dims().site(moved(dims().coordinates(site))), mu, links.link(site, mu));
    }
    are_equal(&all_hadrons(shifted, moved(here)), &all_hadrons(links, here));
}

/// Time reversal exchanges parities: C₋(t) on one field is −C₊(T−t) on the other.
///
/// The antiperiodic boundary gives the sign, so that there is none at t = 0.
#[test]
fn a_baryon_backwards_is_its_partner_of_the_other_parity() {
    let (links, mut reversed) = (configuration(), GaugeConfiguration::unit(dims()));
    let extent = dims()[3];
    for (site, mu) in (0..dims().volume()).flat_map(|site| (0..NDIM).map(move |mu| (site, mu))) {
        let mut at = dims().coordinates(site);
        // Links in time end where they began.
        at[3] = (2 * extent - at[3] - usize::from(mu == 3)) % extent;
        let link = links.link(dims().site(at), mu);
        reversed.set_link(site, mu, if mu == 3 { link.adjoint() } else { link });
    }
    let job = json!({
        "command": "spectrum",
        "action": { "kappa": 0.112, "csw": 1.1 },
        "solver": { "tol": 1e-13 },
        "hadrons": { "hadrons": "octet,decuplet", "momenta": 1 },
    });
    let [forwards] = &correlators(job.clone(), links)[..] else { panic!("one propagator") };
    let [backwards] = &correlators(job, reversed)[..] else { panic!("one propagator") };
    let (forwards, backwards) =
        (forwards["baryons"].as_array().unwrap(), backwards["baryons"].as_array().unwrap());
    let size = forwards.iter().flat_map(|one| numbers(&one["values"])).fold(0.0, |a: f64, b| a.max(b.abs()));
    for baryon in forwards {
        let is_partner = |other: &&Value| {
            other["name"] == baryon["name"]
                && other["momentum"] == baryon["momentum"]
                && other["projector"] != baryon["projector"]
        };
        let partner = backwards.iter().find(is_partner).unwrap();
        let (values, others) = (numbers(&baryon["values"]), numbers(&partner["values"]));
        for (t, part) in (0..extent).flat_map(|t| [(t, 0), (t, 1)]) {
            let (at, sign) = if t == 0 { (0, 1.0) } else { (extent - t, -1.0) };
            let (value, other) = (values[2 * t + part], sign * others[2 * at + part]);
            assert!((value - other).abs() < 1e-10 * size, "t = {t}: {baryon}, {partner}");
        }
    }
}

/// Λ of three quarks is what SU(3) says where quarks are equal.
///
/// With all equal it is the octet. With d = s it is a mixture by U-spin: three quarters of Σ and one of Λ.
#[test]
fn lambda_of_three_quarks_is_in_the_octet() {
    let site = |seed: u64| -> SitePropagator {
        let mut all = QuarkPropagator::new(Dims::new([2, 2, 2, 2]).unwrap()).unwrap();
        for (k, column) in Column::all().enumerate() {
            all.set_column(column, &spinor_field(all.dims(), 20 * seed + k as u64));
        }
        all.sites()[5]
    };
    let (one, other) = (site(1), site(2));
    for NamedOperator { name, t, matrix, .. } in BaryonForm::Octet.operators() {
        let of = |form: BaryonForm, quarks: &[&SitePropagator]| {
            BaryonOperator { form, projector: t, matrix }.at_site(quarks)
        };
        let (lambda, octet) = (BaryonForm::Lambda, BaryonForm::Octet);
        let cases = [
            (of(lambda, &[&one; 3]), of(octet, &[&one; 2])),
            (
                of(lambda, &[&one, &other, &other]),
                of(octet, &[&one, &other]) * 0.75 + of(lambda, &[&other, &other, &one]) * 0.25,
            ),
        ];
        for (found, expected) in cases {
            assert!((found - expected).norm() < 1e-12 * expected.norm(), "{name}: {found}, {expected}");
        }
    }
}

/// The mean over noise is the sum over point sources on its slice, within four errors.
#[test]
fn the_one_end_trick_is_the_sum_over_points() {
    const HITS: usize = 48;
    let dims = Dims::new([2, 2, 2, 4]).unwrap();
    let points = (0..8).map(|k| format!("point:{},{},{},1", k % 2, k / 2 % 2, k / 4));
    let hits = (0..HITS).map(|hit| format!("z4:77,{hit},t=1"));
    let sources: Vec<Value> = points.chain(hits).map(|kind| json!({ "kind": kind })).collect();
    let job = json!({
        "command": "spectrum",
        "action": { "kappa": 0.12 },
        "solver": { "tol": 1e-9 },
        "hadrons": { "hadrons": "mesons" },
        "source": sources,
    });
    let all = correlators(job, weak(dims, 0.4, 3));
    // The channels with the same matrix twice: pion, a0, ρ_x, a1_z.
    for channel in [15, 0, 1, 11] {
        let values = |hadrons: &Value| {
            let is_wanted =
                |meson: &&Value| meson["source"] == json!(channel) && meson["sink"] == json!(channel);
            numbers(&hadrons["mesons"].as_array().unwrap().iter().find(is_wanted).unwrap()["values"])
        };
        let (points, hits) = all.split_at(8);
        let (points, hits): (Vec<Vec<f64>>, Vec<Vec<f64>>) =
            (points.iter().map(values).collect(), hits.iter().map(values).collect());
        for t in 0..4 {
            let exact: f64 = points.iter().map(|point| point[2 * t]).sum();
            let mean = hits.iter().map(|hit| hit[2 * t]).sum::<f64>() / HITS as f64;
            let variance =
                hits.iter().map(|hit| (hit[2 * t] - mean).powi(2)).sum::<f64>() / (HITS - 1) as f64;
            let error = (variance / HITS as f64).sqrt();
            assert!((mean - exact).abs() < 4.0 * error, "{channel}, t = {t}: {mean} ± {error}, {exact}");
            assert!(error < 0.2 * exact.abs() || channel != 15, "{channel}, t = {t}: {exact} ± {error}");
        }
    }
}
