//! Propagators, mesons, baryons and currents against those of other programs.

use crate::common;

use common::reference::{boundary_of, complex, configuration_of, number, reference};
use common::shared;
use lattice_cl::compute::Team;
use lattice_cl::gauge::{FixParams, Gauge, fix_gauge, smear};
use lattice_cl::geometry::{Boundary, Lattice, NDIM};
use lattice_cl::hadron::{
    BaryonForm, BaryonOperator, Column, HadronMeasurement, HadronSet, Hadrons, LinkSmearing, Momenta,
    Momentum, QuarkPropagator, Source, SourceFields, SpinTensor, SpinorSmearing, conserved_vector, mesons,
    naive_lambda, parity_projector, spin_projector, vector_diquark,
};
use lattice_cl::host::{GaugeConfiguration, LinkField, Matrix3};
use lattice_cl::io::{read_gauge, read_propagator};
use lattice_cl::operator::{Dirac, Kappa, SiteTerm};
use lattice_cl::solve::{BicgstabParams, Preconditioning, bicgstab};
use num_complex::Complex64;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;

/// How far a sum may be from one of a program in double precision, of the largest value in its list.
const DOUBLE: f64 = 1e-11;

/// How far it may be from one of a program in single precision.
const SINGLE: f64 = 5e-6;

/// How far it may be where both have fixed the gauge, each as far as it does.
const GAUGE: f64 = 1e-9;

/// A smearing of spinors, with its links.
type WithLinks = Option<(SpinorSmearing, Arc<GaugeConfiguration>)>;

/// An equation with its source.
struct Case<'a> {
    configuration: &'a Arc<GaugeConfiguration>,
    boundary: Boundary,
    kappa: f64,
    term: SiteTerm,
    source: Source,
    smearing: WithLinks,
}

impl Case<'_> {
    fn fields(&self) -> SourceFields {
        let smearing = self.smearing.as_ref();
        let smearing = smearing.map(|(kind, links)| (*kind, Arc::new(Arc::clone(links).into())));
        SourceFields::new(self.source.clone(), self.configuration.dims(), smearing).unwrap()
    }

    /// The propagator, in κ normalisation, with its sink smeared or not.
    fn propagator(&self, team: &Team, sink: &WithLinks) -> QuarkPropagator {
        let dims = self.configuration.dims();
        let lattice = Lattice::new(team, dims).unwrap();
        let links = lattice.gauge::<f64>(self.configuration, self.boundary).unwrap();
        let links = links.with_clover(GaugeConfiguration::clone(self.configuration)).unwrap();
        let m = Dirac::new(&links, Kappa(self.kappa), self.term).unwrap();
        let params = BicgstabParams::default().with_tol(2e-14).with_preconditioning(Preconditioning::EvenOdd);
        let (fields, mut all) = (self.fields(), QuarkPropagator::new(dims).unwrap());
        for column in Column::all() {
            let (x, _) = bicgstab(&m, &fields.field(&lattice, column).unwrap(), &params).unwrap();
            let x = x.to_host().unwrap();
            let x = sink.as_ref().map_or(x.clone(), |(smearing, links)| smearing.apply(links, &x));
            all.set_column(column, &x);
        }
        all
    }
}

/// The smearing of an entry: its name and its parameters. None for a point.
fn smearing_of(entry: &Value, links: &Arc<GaugeConfiguration>) -> WithLinks {
    let words = entry.as_array()?;
    let text = match words[0].as_str().unwrap() {
        "point" | "wall" => return None,
        kind => format!("{kind}:{},{}", words[1], words[2]),
    };
    Some((text.parse().unwrap(), Arc::clone(links)))
}

fn smeared(configuration: &GaugeConfiguration, text: &str) -> Arc<GaugeConfiguration> {
    let LinkSmearing(params) = text.parse().unwrap();
    Arc::new(smear(configuration, &params).unwrap())
}

/// Links in space after a step of APE smearing as Chroma makes it: two sweeps over SU(2) subgroups, which begin at the link.
fn smeared_by_chroma(links: &GaugeConfiguration) -> Arc<GaugeConfiguration> {
    let (dims, mut smeared) = (links.dims(), links.clone());
    let u = |site, direction| links.link(site, direction);
    for (site, mu) in (0..dims.volume()).flat_map(|site| (0..3).map(move |mu| (site, mu))) {
        let mut sum = u(site, mu).scale(2.5);
        for nu in (0..3).filter(|&nu| nu != mu) {
            let (right, up, down) = (dims.forward(site, mu), dims.forward(site, nu), dims.backward(site, nu));
            sum = sum + u(site, nu) * u(up, mu) * u(right, nu).adjoint();
            sum = sum + u(down, nu).adjoint() * u(down, mu) * u(dims.forward(down, mu), nu);
        }
        let mut v = u(site, mu);
        for (i, j) in [(0, 1), (1, 2), (0, 2)].into_iter().cycle().take(6) {
            // The element g of the subgroup with the largest Re tr(g V A†).
            let w = (v * sum.adjoint()).0;
            let a = Complex64::new((w[i][i] + w[j][j]).re, -(w[i][i] - w[j][j]).im);
            let b = Complex64::new(-(w[i][j] - w[j][i]).re, -(w[i][j] + w[j][i]).im);
            let size = (a.norm_sqr() + b.norm_sqr()).sqrt();
            let mut g = Matrix3::identity();
            (g.0[i][i], g.0[i][j]) = (a / size, b / size);
            (g.0[j][i], g.0[j][j]) = (-b.conj() / size, a.conj() / size);
            v = g * v;
        }
        smeared.set_link(site, mu, v);
    }
    Arc::new(smeared)
}

/// The nearest elements of SU(3) in Coulomb gauge. The links of the file are in single precision.
fn in_coulomb_gauge(configuration: &GaugeConfiguration) -> Arc<GaugeConfiguration> {
    let mut nearest = GaugeConfiguration::unit(configuration.dims());
    for (site, mu) in (0..configuration.dims().volume()).flat_map(|site| (0..NDIM).map(move |mu| (site, mu)))
    {
        nearest.set_link(site, mu, configuration.link(site, mu).nearest_special_unitary().unwrap());
    }
    let params = FixParams::accelerated(Gauge::Coulomb).with_tolerance(1e-26);
    Arc::new(fix_gauge(&nearest, &params, &mut |_, _, _| {}).unwrap().links)
}

/// A team that is one device or the host: operators are the same on all teams, which other tests say.
fn team() -> Team {
    common::teams().into_iter().map(|(_, team)| team).filter(|team| team.len() < 2).last().unwrap()
}

/// The numbers of a propagator, in the order of lalibe's file.
///
/// The order is [site][sink spin][source spin][sink colour][source colour].
fn lalibe_numbers(path: &Path) -> Vec<Complex64> {
    let propagator = read_propagator(path).unwrap();
    assert_eq!(propagator.records.len(), 12);
    let number = |k: usize| {
        let (site, spins, colours) = (k / 144, k / 9 % 16, k % 9);
        let record = &propagator.records[3 * (spins % 4) + colours % 3];
        assert_eq!((record.spin, record.colour), (spins % 4, colours % 3));
        record.field[site].0[spins / 4][colours / 3]
    };
    (0..144 * propagator.dims.volume()).map(number).collect()
}

#[test]
fn a_propagator_of_lalibe_is_ours_in_every_element() {
    let Some(shared) = shared() else { return };
    let expected = lalibe_numbers(&shared.join("data/lalibe_propagator_u.h5"));
    let configuration = Arc::new(read_gauge(shared.join("data/weak_field.lime")).unwrap());
    let kappa = 0.5 / 4.02;
    let case = Case {
        configuration: &configuration,
        boundary: Boundary::antiperiodic_t(),
        kappa,
        term: SiteTerm::Clover { csw: 1.17, mu: 0.0 },
        source: "point:0,1,0,0".parse().unwrap(),
        smearing: Some(("gaussian:2,5".parse().unwrap(), Arc::clone(&configuration))),
    };
    // Σ |S|² of each time slice, as published.
    let sums = [
        1.999198716217855e-1,
        4.724875840411349e-2,
        4.14525151134963e-2,
        3.896283378986004e-2,
        3.815473764841914e-2,
        3.895988864120663e-2,
        4.145394122404389e-2,
        4.722407686672824e-2,
    ];
    let largest = expected.iter().map(|z| z.norm()).fold(0.0, f64::max);
    for (name, team) in common::teams().into_iter().filter(|(_, team)| team.len() < 2) {
        let found = case.propagator(&team, &None);
        let mut of_slice = [0.0; 8];
        for (k, expected) in expected.iter().enumerate() {
            // [site][sink spin][source spin][sink colour][source colour], in mass normalisation.
            let (site, spins, colours) = (k / 144, k / 9 % 16, k % 9);
            let (row, column) = (3 * (spins / 4) + colours / 3, 3 * (spins % 4) + colours % 3);
            let z = found.sites()[site][row][column] * 2.0 * kappa;
            assert!((z - expected).norm() < 1e-11 * largest, "{name}, element {k}: {z}, {expected}");
            of_slice[site / 64] += z.norm_sqr();
        }
        for (t, (found, expected)) in of_slice.iter().zip(sums).enumerate() {
            assert!((found / expected - 1.0).abs() < 1e-12, "{name}, t = {t}: {found}, {expected}");
        }
    }
}

fn source_norm2(case: &Case<'_>) -> f64 {
    let fields = case.fields();
    let of_column = |column| fields.spinors(column).unwrap().iter().map(|psi| psi.norm2()).sum::<f64>();
    Column::all().map(of_column).sum()
}

fn expect_list(found: &[Complex64], expected: &Value, tolerance: f64, what: &str) {
    let of_entry = |value: &Value| if value.is_array() { complex(value) } else { number(value).into() };
    let expected: Vec<Complex64> = expected.as_array().unwrap().iter().map(of_entry).collect();
    assert!(expected.len() <= found.len(), "{what}");
    let largest = expected.iter().map(|z| z.norm()).fold(0.0, f64::max);
    for (t, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let difference = (found - expected).norm() / largest;
        assert!(difference < tolerance, "{what}, t = {t}: {found}, {expected}: {difference:e}");
    }
}

/// Values at absolute times, from those that count from the source.
fn by_time(values: &[[f64; 2]], source: usize) -> Vec<Complex64> {
    let extent = values.len();
    let at = |t: usize| values[(t + extent - source) % extent];
    (0..extent).map(at).map(|[re, im]| Complex64::new(re, im)).collect()
}

fn momentum_of(text: &str) -> Momentum {
    let numbers: Vec<i32> = text.split(',').map(|n| n.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

/// Compares all correlators of an entry that are there.
fn expect_hadrons(name: &str, team: &Team, entry: &Value) {
    let mut configuration = Arc::new(configuration_of(entry));
    let action = |key: &str| entry["action"][key].as_f64().unwrap_or(0.0);
    let is_coulomb = name.contains("coulomb");
    if is_coulomb {
        configuration = in_coulomb_gauge(&configuration);
        let functional = Gauge::Coulomb.functional(configuration.as_ref());
        assert!((functional - 0.894051328877932).abs() < 1e-12, "{functional}");
    }
    let smoothed = if name.contains(" ape ") {
        smeared(&configuration, &format!("ape:{},3", 4.0 / 6.5))
    } else {
        Arc::clone(&configuration)
    };
    let [smearing, sink] = ["source", "sink"].map(|key| smearing_of(&entry[key], &smoothed));
    let at: [usize; NDIM] =
        std::array::from_fn(|mu| entry["source_site_xyzt"][mu].as_u64().unwrap() as usize);
    let [x, y, z, t] = at;
    let source =
        if is_coulomb { Source::Wall { slice: t, momentum: [0; 3] } } else { Source::Point([x, y, z, t]) };
    let case = |kappa: f64, mu: f64| {
        let term = match action("csw") {
            0.0 => SiteTerm::Twisted { mu },
            csw => SiteTerm::Clover { csw, mu },
        };
        let (boundary, source, smearing) = (boundary_of(entry), source.clone(), smearing.clone());
        Case { configuration: &configuration, boundary, kappa, term, source, smearing }
    };
    let norm2 = source_norm2(&case(action("kappa"), 0.0));
    let tolerance = match name {
        // The reference stops the projection of smeared links some 1e-8 before its end, where ours is stationary to 1e-13.
        _ if name.contains(" ape ") => 1e-6,
        _ if is_coulomb => GAUGE,
        _ => DOUBLE,
    };
    assert!((norm2 / number(&entry["source_norm2"]) - 1.0).abs() < tolerance, "{name}: {norm2}");
    let light = case(action("kappa"), action("mu")).propagator(team, &sink);
    let strange = case(action("kappa_s"), action("mu")).propagator(team, &sink);
    let measurement = HadronMeasurement {
        team: team.clone(),
        sets: vec![HadronSet::Mesons, HadronSet::Octet, HadronSet::Decuplet],
        momenta: Momenta::each(["0,0,0", "1,0,0", "0,-1,0", "1,1,1"].map(momentum_of)),
        origin: at,
    };
    let mut checked = 0;
    let mut expect = |key: &str, channel: &str, momentum: Momentum, values: &[[f64; 2]]| {
        let [nx, ny, nz] = momentum;
        let momentum = format!("{nx},{ny},{nz}");
        let Some(expected) = entry[key].get(channel).and_then(|channel| channel.get(&momentum)) else {
            return;
        };
        let what = format!("{name}, {key}, {channel}, p = {momentum}");
        expect_list(&by_time(values, t), expected, tolerance, &what);
        checked += 1;
    };
    let mut expect_mesons = |key: &str, hadrons: &Hadrons| {
        for meson in hadrons.mesons.iter().filter(|meson| meson.source == meson.sink) {
            expect(key, &meson.sink.to_string(), meson.momentum, &meson.values);
        }
    };
    let (of_light, mixed) =
        (measurement.of_one(&light, None).unwrap(), measurement.of_two(&strange, &light).unwrap());
    expect_mesons("mesons_light_light", &of_light);
    expect_mesons("mesons_strange_light", &mixed);
    if action("mu") != 0.0 {
        let down = case(action("kappa"), -action("mu")).propagator(team, &sink);
        expect_mesons("mesons_up_down", &measurement.mesons_of_two(&light, &down).unwrap());
    } else {
        for baryon in of_light.baryons.iter().chain(&mixed.baryons) {
            expect(
                "baryons",
                &format!("{}{}", baryon.name, baryon.projector),
                baryon.momentum,
                &baryon.values,
            );
        }
        for baryon in measurement.of_one(&strange, None).unwrap().baryons {
            // Of strange quarks alone Δ is Ω.
            let channel = format!("{}{}", baryon.name.replace("delta", "omega"), baryon.projector);
            if channel.starts_with("omega") {
                expect("baryons", &channel, baryon.momentum, &baryon.values);
            }
        }
    }
    let count = |key: &str| -> usize {
        entry[key]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(_, momenta)| momenta.as_object().unwrap().len())
            .sum()
    };
    let wanted = ["mesons_light_light", "mesons_strange_light", "mesons_up_down", "baryons"].map(count);
    assert_eq!(checked, wanted.iter().sum::<usize>(), "{name}: correlators");
}

#[test]
fn mesons_and_baryons_are_those_of_another_program() {
    let Some(reference) = reference() else { return };
    let team = team();
    let entries = reference["computed"].as_object().unwrap();
    let mut checked = 0;
    for (name, entry) in entries.iter().filter(|(name, _)| name.starts_with("hadrons ")) {
        expect_hadrons(name, &team, entry);
        checked += 1;
    }
    assert_eq!(checked, 7, "entries of hadrons");
}

const I: Complex64 = Complex64::new(0.0, 1.0);

#[test]
fn two_point_functions_of_lalibe_are_ours() {
    let Some(reference) = reference() else { return };
    let Some(shared) = shared() else { return };
    let configuration = Arc::new(read_gauge(shared.join("data/weak_field.lime")).unwrap());
    let smearing: WithLinks = Some(("gaussian:2,5".parse().unwrap(), Arc::clone(&configuration)));
    let team = team();
    // Of up, down and strange quarks, in mass normalisation.
    let quarks = |sink: &str| {
        [0.1, 0.2, 0.6].map(|mass| {
            let kappa = 0.5 / (4.0 + mass);
            let case = Case {
                configuration: &configuration,
                boundary: Boundary::antiperiodic_t(),
                kappa,
                term: SiteTerm::Clover { csw: 1.17, mu: 0.0 },
                source: Source::default(),
                smearing: smearing.clone(),
            };
            let mut all = case.propagator(&team, if sink == "SS" { &smearing } else { &None });
            all.scale(2.0 * kappa);
            all
        })
    };
    let mut checked = 0;
    for sink in ["PS", "SS"] {
        let [u, d, s] = &quarks(sink);
        for entry in reference["published"].as_array().unwrap() {
            let words: Vec<&str> = entry["id"].as_str().unwrap().split(' ').collect();
            let ["lalibe", of_sink, name, "p", momentum] = words[..] else { continue };
            if of_sink != sink {
                continue;
            }
            let momentum = Momenta::each([momentum_of(momentum)]);
            let (hadron, spin) = name.split_once('/').unwrap_or((name, ""));
            let (parity, is_up) = (parity_projector(!hadron.ends_with("_np")), spin.contains("up"));
            let projector = parity * spin_projector(is_up);
            let operator =
                |form, matrix: SpinTensor| BaryonOperator { form, projector, matrix: matrix * parity };
            let cg5 = SpinTensor::gamma(5);
            let (values, factor) = match hadron.trim_end_matches("_np") {
                "piplus" => {
                    let all = mesons(u, d, [0; NDIM], &momentum);
                    let pion = all.iter().find(|meson| (meson.source, meson.sink) == (15, 15)).unwrap();
                    (by_time(&pion.values, 0), 1.0)
                }
                "proton" => (
                    operator(BaryonForm::Octet, cg5).correlators([d, u], [0; NDIM], &momentum).remove(0),
                    0.5,
                ),
                "lambda_z" => (
                    naive_lambda(&projector, &(cg5 * parity), [u, d, s], [0; NDIM], &momentum).remove(0),
                    0.5,
                ),
                "delta_pp" => {
                    let delta = operator(BaryonForm::Decuplet, vector_diquark(is_up));
                    (delta.correlators([u, u], [0; NDIM], &momentum).remove(0), 2.0 / 3.0)
                }
                name => panic!("{name} is no hadron"),
            };
            let found: Vec<Complex64> = values.iter().map(|z| z * factor).collect();
            expect_list(&found, &entry["published"], DOUBLE, &format!("{sink} {name}, p = {momentum:?}"));
            checked += 1;
        }
    }
    assert_eq!(checked, 20, "published correlators");
}

/// The baryons of Chroma's list, of one quark.
fn of_chroma(number: usize) -> (BaryonForm, SpinTensor, SpinTensor, f64) {
    let g = SpinTensor::gamma;
    let (plus, minus) = (parity_projector(true), parity_projector(false));
    let mixed = plus * (Complex64::from(2.0) * spin_projector(true));
    let (cg5, vector) = (g(5), vector_diquark(true));
    let minus_13 = Complex64::from(-1.0) * g(13);
    // C γ4 γ_−, with γ_− = ½(γ2 + iγ1)
    let cg4_minus = g(10) * g(8) * (Complex64::from(0.5) * (g(2) + I * g(1)));
    let forms = [BaryonForm::Octet, BaryonForm::LambdaOctet, BaryonForm::Decuplet];
    let form = forms[number % 3];
    match number {
        0 | 1 => (form, mixed, cg5, 1.0),
        2 => (form, mixed, vector, 1.0),
        3 | 4 => (form, mixed, minus_13, 1.0),
        5 => (form, mixed, cg4_minus, 1.0),
        6 | 7 => (form, mixed, cg5 * plus, 1.0),
        8 => (form, mixed, vector * plus, 4.0),
        9 | 13 => (BaryonForm::Octet, plus, cg5, 1.0),
        10 => (BaryonForm::Octet, plus, minus_13, 1.0),
        11 => (BaryonForm::Octet, plus, cg5 * plus, 1.0),
        15 => (BaryonForm::Octet, mixed, cg5, 1.0),
        16 => (BaryonForm::Octet, minus * (Complex64::from(2.0) * spin_projector(true)), cg5 * minus, 1.0),
        number => panic!("{number} is no baryon of one form"),
    }
}

/// Of a build in single precision.
#[test]
fn hadrons_of_chroma_agree_as_far_as_its_precision_goes() {
    let Some(reference) = reference() else { return };
    let Some(shared) = shared() else { return };
    let configuration = Arc::new(read_gauge(shared.join("data/weak_field.lime")).unwrap());
    let smoothed = smeared_by_chroma(&configuration);
    let (kappa, boundary) = (0.11, Boundary::antiperiodic_t());
    let case = Case {
        configuration: &configuration,
        boundary,
        kappa,
        term: SiteTerm::Scalar,
        source: Source::default(),
        smearing: Some(("gaussian:2,5".parse().unwrap(), smoothed)),
    };
    let mut quark = case.propagator(&team(), &None);
    quark.scale(2.0 * kappa);
    let dims = configuration.dims();
    let momenta = lattice_cl::hadron::momenta_up_to(3, dims).unwrap();
    let momenta = Momenta::each(momenta).averaged(dims);
    let names = momenta.names();
    let number_of = |momentum: &str| {
        let digits: Momentum = std::array::from_fn(|k| momentum.as_bytes()[k] as i32 - 48);
        names.iter().position(|name| *name == digits).unwrap()
    };
    let of_mesons = mesons(&quark, &quark, [0; NDIM], &momenta);
    let currents = conserved_vector(&quark, &LinkField::new(&configuration, boundary), [0; NDIM]);
    let mut checked = 0;
    for entry in reference["published"].as_array().unwrap() {
        let id = entry["id"].as_str().unwrap();
        let words: Vec<&str> = id.split(' ').collect();
        let found: Vec<Complex64> = match words[..] {
            ["chroma", "hadspec", "source", "norm2"] => vec![source_norm2(&case).into()],
            ["chroma", "hadspec", "Shell_Point", "meson", gamma, "p", momentum] => {
                let n: usize = gamma["gamma(".len()..gamma.len() - 1].parse().unwrap();
                by_time(&of_mesons[256 * number_of(momentum) + 17 * n].values, 0)
            }
            ["chroma", "hadspec", "Shell_Point", "baryon", number, "p", momentum] => {
                let number: usize = number.parse().unwrap();
                let mut all = match number {
                    12 | 14 => {
                        let projector = parity_projector(true);
                        naive_lambda(&projector, &SpinTensor::gamma(5), [&quark; 3], [0; NDIM], &momenta)
                    }
                    _ => {
                        let (form, projector, matrix, factor) = of_chroma(number);
                        let operator = BaryonOperator { form, projector, matrix };
                        let all = operator.correlators([&quark; 2], [0; NDIM], &momenta);
                        all.into_iter().map(|values| values.iter().map(|z| z * factor).collect()).collect()
                    }
                };
                all.swap_remove(number_of(momentum))
            }
            ["chroma", "hadspec", "conserved", "vector", "current", k] => {
                currents[k.parse::<usize>().unwrap()].values.iter().map(|&value| value.into()).collect()
            }
            _ => continue,
        };
        expect_list(&found, &entry["published"], SINGLE, id);
        expect_list(&found, &entry["reference"], DOUBLE, id);
        checked += 1;
    }
    assert_eq!(checked, 1 + 16 * 4 + 17 * 2 + 3, "published values");
}

#[test]
fn mesons_of_milc_with_an_exponential_source_are_ours() {
    let Some(reference) = reference() else { return };
    let published = reference["published"].as_array().unwrap();
    let of_milc = |entry: &&Value| entry["id"].as_str().unwrap().starts_with("milc clover");
    let entries: Vec<&Value> = published.iter().filter(of_milc).collect();
    let configuration = in_coulomb_gauge(&configuration_of(entries[0]));
    let case = Case {
        configuration: &configuration,
        boundary: Boundary::from_signs([1; NDIM]).unwrap(),
        kappa: 0.1,
        term: SiteTerm::Clover { csw: 1.2, mu: 0.0 },
        source: format!("exponential:0,0,0,0,{},2", 1.0 / (1.5 * 1.5)).parse().unwrap(),
        smearing: None,
    };
    let quark = case.propagator(&team(), &None);
    let momenta = lattice_cl::hadron::momenta_up_to(1, configuration.dims()).unwrap();
    let momenta = Momenta::each(momenta).averaged(configuration.dims());
    let all = mesons(&quark, &quark, [0; NDIM], &momenta);
    for entry in &entries {
        let id = entry["id"].as_str().unwrap();
        let (channels, factor) = match id.split(' ').nth(2).unwrap() {
            "PION" => (&[15][..], 1.0),
            "PS0505" => (&[7][..], -1.0),
            "RHO" => (&[1, 2, 4][..], 1.0),
            "SCALAR" => (&[0][..], 1.0),
            "PV" => (&[14, 13, 11][..], 1.0),
            name => panic!("{name} is no meson"),
        };
        let momentum = usize::from(id.ends_with("p100"));
        let mean = |t: usize| {
            let value = |&n: &usize| all[256 * momentum + 17 * n].values[t][0];
            Complex64::from(channels.iter().map(value).sum::<f64>() * factor / channels.len() as f64)
        };
        let found: Vec<Complex64> = (0..4).map(mean).collect();
        expect_list(&found, &entry["published"], number(&entry["tolerance"]), id);
        expect_list(&found, &entry["reference"], GAUGE, id);
    }
    assert_eq!(entries.len(), 8, "published correlators");
}
