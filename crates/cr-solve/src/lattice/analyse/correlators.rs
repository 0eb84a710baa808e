//! The correlators of a result, and their names.

use lattice_cl::geometry::{Boundary, NDIM};
use lattice_cl::hadron::{HadronSet, Hadrons, Momentum, NAMED_HADRONS, NamedHadron};
use lattice_cl::operator::{SiteTermKeys, SiteTermResult};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Keys whose values tell a correlator from others.
const TELLING: [&str; 23] = [
    "observable",
    "hadron",
    "insertion",
    "meson",
    "baryon",
    "name",
    "sink",
    "source",
    "label",
    "kappa",
    "mass",
    "flavour",
    "operator",
    "along",
    "momentum",
    "projector",
    "quark",
    "quarks",
    "smear_source",
    "smear_sink",
    "smear_links",
    "parity",
    "part",
];

/// The parameters of the Wilson operator. Others tell a correlator from that of this operator.
static WILSON: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let mut parameters = Map::from_iter([
        ("anisotropy".to_owned(), json!(1.0)),
        ("nu".to_owned(), json!(1.0)),
        ("fat_links".to_owned(), Value::Null),
        ("normalisation".to_owned(), json!("kappa")),
        ("boundary".to_owned(), json!(Boundary::default().signs())),
        ("theta".to_owned(), Value::from(vec![0.0; NDIM])),
    ]);
    if let Ok(Value::Object(site_term)) = serde_json::to_value(SiteTermResult(SiteTermKeys::default())) {
        parameters.extend(site_term);
    }
    parameters
});

/// Tells whether values are equal.
///
/// HDF5 and JSON write a whole number as an integer or as a floating-point number: both are equal.
pub fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        _ => one == other,
    }
}

/// The hadrons that are shown without being asked for, in this order.
pub const SHOWN_FIRST: [&str; 3] = ["pion", "rho", "nucleon"];

/// A correlator of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Correlator {
    /// Its real parts.
    pub values: Vec<f64>,
    /// True if it falls with one exponential in each direction of time.
    pub is_baryon: bool,
    /// The place of a hadron at rest among those that are shown without being asked for.
    pub rank: Option<usize>,
}

/// Returns the correlators of a result by their names.
///
/// A name consists of the telling values of the objects around it and of its own. Named hadrons
/// are made of the mesons and baryons that they are the mean of.
pub fn correlators_of(result: &Value) -> BTreeMap<String, Correlator> {
    let mut correlators = BTreeMap::new();
    collect(result, &[], &mut correlators);
    correlators
}

/// Collects the correlators of a value.
///
/// An object has a correlator if it has a list of numbers under `correlator` or `values`. `outer`
/// are the telling values of the objects around. Only the real parts of complex numbers are taken.
fn collect(value: &Value, outer: &[String], correlators: &mut BTreeMap<String, Correlator>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| collect(value, outer, correlators)),
        Value::Object(entries) => {
            // The entries beside the list of all results repeat the first result.
            if let Some(Value::Array(results)) = entries.get("results") {
                let others = ["mixed", "hadrons"].into_iter().filter_map(|key| entries.get(key));
                results.iter().chain(others).for_each(|result| collect(result, &[], correlators));
                return;
            }
            let names = [outer, &telling(entries)].concat();
            let is_baryon = entries.contains_key("projector");
            let mut add = |names: &[String], numbers: &Value| {
                if let Some(values) = reals(numbers) {
                    add_correlator(correlators, names, values, is_baryon);
                }
            };
            ["correlator", "values"]
                .iter()
                .filter_map(|key| entries.get(*key))
                .for_each(|list| add(&names, list));
            // The observables say the same with their directions.
            if let (Some(Value::Object(list)), None) =
                (entries.get("correlators"), entries.get("observables"))
            {
                for (name, numbers) in list {
                    add(&[&names[..], std::slice::from_ref(name)].concat(), numbers);
                }
            }
            add_named_hadrons(entries, &names, correlators);
            let is_of_the_run = |key: &str| ["job", "provenance", "configuration", "solves"].contains(&key);
            for (key, value) in entries.iter().filter(|(key, _)| !is_of_the_run(key)) {
                // Results of the Python package have a list of momenta under the name of a hadron.
                match NamedHadron::find(key) {
                    Some(hadron) if value.is_array() => {
                        collect(value, &[&names[..], &[hadron.name().to_owned()]].concat(), correlators);
                    }
                    _ => collect(value, &names, correlators),
                }
            }
        }
        _ => {}
    }
}

/// Adds a correlator whose name is new.
///
/// The momentum of a named hadron at rest is no part of its name.
fn add_correlator(
    correlators: &mut BTreeMap<String, Correlator>,
    names: &[String],
    values: Vec<f64>,
    is_baryon: bool,
) {
    let hadron = names.iter().find_map(|name| NamedHadron::find(name));
    let momentum = |name: &&String| name.starts_with("momentum ");
    let is_at_rest = names.iter().find(momentum).is_none_or(|momentum| momentum == "momentum [0,0,0]");
    let names: Vec<&str> = match hadron {
        Some(_) if is_at_rest => names.iter().filter(|name| !momentum(name)).map(String::as_str).collect(),
        _ => names.iter().map(String::as_str).collect(),
    };
    let rank = hadron.filter(|_| is_at_rest);
    let rank = rank.and_then(|hadron| SHOWN_FIRST.iter().position(|name| *name == hadron.name()));
    let is_baryon = is_baryon || hadron.is_some_and(|hadron| hadron.set() != HadronSet::Mesons);
    correlators.entry(names.join(", ")).or_insert(Correlator { values, is_baryon, rank });
}

/// Adds the named hadrons of an object that has mesons or baryons.
fn add_named_hadrons(
    entries: &Map<String, Value>,
    outer: &[String],
    correlators: &mut BTreeMap<String, Correlator>,
) {
    let hadrons = Hadrons {
        mesons: list_of(entries, "mesons"),
        baryons: list_of(entries, "baryons"),
        ..Default::default()
    };
    let momenta: BTreeSet<Momentum> = hadrons
        .mesons
        .iter()
        .map(|meson| meson.momentum)
        .chain(hadrons.baryons.iter().map(|baryon| baryon.momentum))
        .collect();
    // The pion of a solve is the same as that of its mesons.
    let is_there =
        |name: &str, momentum| momentum == [0; 3] && correlators_under(entries).any(|known| known == name);
    for hadron in NAMED_HADRONS.iter().filter(|hadron| hadron.name() != "proton") {
        for &momentum in momenta.iter().filter(|&&momentum| !is_there(hadron.name(), momentum)) {
            let values: Vec<f64> =
                hadron.correlator(&hadrons, momentum).iter().map(|value| value.re).collect();
            if !values.is_empty() {
                let [x, y, z] = momentum;
                let own = [hadron.name().to_owned(), format!("momentum [{x},{y},{z}]")];
                add_correlator(correlators, &[outer, &own].concat(), values, false);
            }
        }
    }
}

/// Returns a list of an object, empty if there is none of this type.
fn list_of<T: DeserializeOwned>(entries: &Map<String, Value>, key: &str) -> Vec<T> {
    entries.get(key).and_then(|list| Vec::deserialize(list).ok()).unwrap_or_default()
}

/// Returns the names of the correlators that are measured during a solve.
fn correlators_under(entries: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let list = entries.get("correlators").and_then(Value::as_object);
    let has_values = |(_, values): &(&String, &Value)| reals(values).is_some();
    list.into_iter().flatten().filter(has_values).map(|(name, _)| name.as_str())
}

fn telling(entries: &Map<String, Value>) -> Vec<String> {
    let is_told = |key: &str, value: &Value| match WILSON.get(key) {
        Some(usual) => !equal(value, usual),
        None => TELLING.contains(&key),
    };
    let told = entries.iter().filter(|(key, value)| is_told(key, value) && !value.is_null());
    let told = told.filter(|(key, value)| {
        // Objects under such keys are results of their own.
        !(value.is_object() || key.as_str() == "mass" && entries.contains_key("kappa"))
    });
    told.map(|(key, value)| match value {
        Value::String(text)
            if ["observable", "hadron", "meson", "baryon", "name"].contains(&key.as_str()) =>
        {
            text.clone()
        }
        Value::String(text) => format!("{key} {text}"),
        other => format!("{key} {other}"),
    })
    .collect()
}

fn reals(value: &Value) -> Option<Vec<f64>> {
    let values = value.as_array().filter(|values| !values.is_empty())?;
    values.iter().map(|value| value.as_f64().or_else(|| value.as_array()?.first()?.as_f64())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlators_are_found_wherever_they_are() {
        let result = json!({
            "kappa": 0.12, "mass": 0.1, "mu": 0.5, "correlators": { "pion": [1.0, 2.0] },
            "job": { "correlator": [9.0] },
            "baryons": [{ "name": "proton", "momentum": [0, 0, 1], "values": [[3.0, 0.1], [4.0, 0.2]] }],
        });
        let pion = Correlator { values: vec![1.0, 2.0], is_baryon: false, rank: Some(0) };
        let proton = Correlator { values: vec![3.0, 4.0], is_baryon: true, rank: None };
        let wanted = BTreeMap::from([
            ("kappa 0.12, mu 0.5, pion".to_owned(), pion),
            ("kappa 0.12, mu 0.5, proton, momentum [0,0,1]".to_owned(), proton),
        ]);
        assert_eq!(correlators_of(&result), wanted);
        // A list of results says all that stands beside it.
        let observable = json!({ "observable": "pion", "along": "x", "correlator": [5.0] });
        let several = json!({
            "kappa": 0.12, "mu": 0.5, "correlators": { "pion": [5.0] },
            "results": [{ "kappa": 0.12, "correlators": { "pion": [5.0] }, "observables": [observable] }],
        });
        let pion = Correlator { values: vec![5.0], is_baryon: false, rank: Some(0) };
        assert_eq!(
            correlators_of(&several),
            BTreeMap::from([("kappa 0.12, pion, along x".to_owned(), pion)])
        );
    }

    #[test]
    fn every_entry_of_a_result_tells_correlators_apart_or_is_known_not_to() {
        const NOT_TELLING: [&str; 22] = [
            "schema_version",
            "configuration",
            "provenance",
            "job",
            // How the equation was solved.
            "solver",
            "method",
            "system",
            "preconditioning",
            "precision",
            "multigrid_choice",
            "deflation",
            "devices",
            "grid",
            "ranks_grid",
            "links",
            "tolerance",
            "converged",
            "solves",
            "seconds",
            "gflops",
            "bandwidth_gb_s",
            // Compared by itself.
            "dims",
        ];
        let schema = crate::lattice::spectrum::schema();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap();
        // Correlators, and what follows from them or is around them.
        let results = "results correlators effective_mass observables mixed hadrons mesons baryons currents three_points";
        let results: Vec<&str> = results.split(' ').collect();
        let is_known = |key: &str| {
            WILSON.contains_key(key) || [&TELLING[..], &NOT_TELLING[..], &results[..]].concat().contains(&key)
        };
        let unknown: Vec<_> = properties.keys().filter(|key| !is_known(key)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn other_operators_have_other_names() {
        let names = |entries: Value| {
            let mut result = json!({
                "kappa": 0.12, "csw": 0.0, "mu": 0.0, "clover_r": 0, "boundary": [1, 1, 1, -1],
                "theta": [0, 0, 0, 0], "anisotropy": 1, "nu": 1.0, "normalisation": "kappa",
                "correlators": { "pion": [1.0] },
            });
            result.as_object_mut().unwrap().extend(entries.as_object().unwrap().clone());
            correlators_of(&result).into_keys().collect::<Vec<_>>()
        };
        assert_eq!(names(json!({})), ["kappa 0.12, pion"]);
        for other in [
            json!({ "csw": 1.0 }),
            json!({ "mu": 0.1 }),
            json!({ "clover_r": 1.5 }),
            json!({ "anisotropy": 3.0 }),
            json!({ "nu": 0.9 }),
            json!({ "fat_links": "stout:0.1,3" }),
            json!({ "normalisation": "mass" }),
            json!({ "boundary": [1, 1, 1, 1] }),
            json!({ "theta": [0.3, 0.0, 0.0, 0.0] }),
            json!({ "smear_source": "gauss:0.2,10" }),
        ] {
            assert_ne!(names(other.clone()), names(json!({})), "{other}");
        }
    }

    #[test]
    fn named_hadrons_are_means_of_their_correlators() {
        let meson = |matrix: usize, n: i32, value: f64| json!({ "source": matrix, "sink": matrix, "momentum": [0, 0, n], "values": [[value, 0.5]] });
        let nucleon = |projector: &str, value: f64| {
            json!({
                "name": "nucleon_Cg5", "projector": projector, "momentum": [0, 0, 0], "values": [[value, 0.0]],
            })
        };
        let result = json!({
            "kappa": 0.12,
            "mesons": [meson(15, 0, 7.0), meson(15, 1, 6.0), meson(1, 0, 1.0), meson(2, 0, 2.0),
                meson(4, 0, 6.0), meson(0, 0, 3.0)],
            "baryons": [nucleon("+", 8.0), nucleon("-", 9.0)],
        });
        let correlators = correlators_of(&result);
        let shown = |name: &str| {
            let Correlator { values, is_baryon, rank } = &correlators[&format!("kappa 0.12, {name}")];
            (values[0], *is_baryon, *rank)
        };
        assert_eq!(shown("pion"), (7.0, false, Some(0)));
        assert_eq!(shown("pion, momentum [0,0,1]"), (6.0, false, None));
        assert_eq!(shown("rho"), (3.0, false, Some(1)));
        // The sign is that of a positive norm.
        assert_eq!(shown("a0"), (-3.0, false, None));
        assert_eq!(shown("nucleon"), (8.0, true, Some(2)));
        assert_eq!(shown("nucleon-"), (9.0, true, None));
        // The Python package has the same names.
        let saved = json!({ "hadrons": { "rho": [{ "momentum": [0, 0, 0], "values": [[3.0, 0.0]] }] } });
        let rho = Correlator { values: vec![3.0], is_baryon: false, rank: Some(1) };
        assert_eq!(correlators_of(&saved), BTreeMap::from([("rho".to_owned(), rho)]));
    }
}
