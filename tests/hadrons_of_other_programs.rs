//! Propagators with a clover term or a twisted mass, and the mesons and baryons made of them, against those of other programs.

mod common;

use common::reference::{boundary_of, complex, configuration_of, number, reference};
use common::shared;
use common::spinors::Spinor;
use lattice_cl::device::Team;
use lattice_cl::geometry::{Boundary, Lattice, NDIM};
use lattice_cl::host::GaugeConfiguration;
use lattice_cl::host::gamma::{GAMMA, Phase, SpinMatrix};
use lattice_cl::operator::{Dirac, Kappa, SiteTerm};
use lattice_cl::solve::{BicgstabParams, Preconditioning, bicgstab};
use lattice_cl::{Dims, io::read_gauge};
use num_complex::Complex64;
use serde_json::Value;
use std::array::from_fn;

/// S(x, y) at a sink: rows and columns are 3·spin + colour, of the sink and of the source.
type Site = [[Complex64; 12]; 12];

/// How a point becomes a source, or a sink another one: ψ ← [(1 − 6c) + c H]^n ψ with the spatial hops H of these links.
struct Smearing {
    weight: f64,
    steps: usize,
    links: GaugeConfiguration,
}

impl Smearing {
    fn apply(&self, psi: &mut Vec<Spinor>) {
        let dims = self.links.dims();
        for _ in 0..self.steps {
            *psi = (0..dims.volume())
                .map(|site| {
                    let mut sum = Spinor::default();
                    for mu in 0..3 {
                        let (ahead, behind) = (dims.forward(site, mu), dims.backward(site, mu));
                        let (there, back) = (self.links.link(site, mu), self.links.link(behind, mu));
                        for spin in 0..4 {
                            let hops =
                                (there.times(&psi[ahead].0[spin]), back.adjoint_times(&psi[behind].0[spin]));
                            for colour in 0..3 {
                                sum.0[spin][colour] += hops.0[colour] + hops.1[colour];
                            }
                        }
                    }
                    Spinor::from_fn(|s, c| {
                        psi[site].0[s][c] * (1.0 - 6.0 * self.weight) + sum.0[s][c] * self.weight
                    })
                })
                .collect();
        }
    }

    /// That of an entry: its name and its parameters. None for a point.
    fn of(entry: &Value, links: &GaugeConfiguration) -> Option<Self> {
        let words = entry.as_array().cloned().unwrap_or_else(|| vec![entry.clone()]);
        let (weight, steps) = match words[0].as_str().unwrap() {
            "point" => return None,
            "gaussian" => {
                let (width, steps) = (number(&words[1]), words[2].as_u64().unwrap());
                (width * width / (4 * steps) as f64, steps)
            }
            "wuppertal" => {
                let alpha = number(&words[1]);
                (alpha / (1.0 + 6.0 * alpha), words[2].as_u64().unwrap())
            }
            name => panic!("{name} is no smearing"),
        };
        Some(Self { weight, steps: steps as usize, links: links.clone() })
    }
}

/// Links after a step of APE smearing in space: the nearest element of SU(3) to c U and the staples.
fn ape_step(links: &GaugeConfiguration, c: f64) -> GaugeConfiguration {
    let (dims, mut smeared) = (links.dims(), links.clone());
    for (site, mu) in (0..dims.volume()).flat_map(|site| (0..3).map(move |mu| (site, mu))) {
        let mut sum = links.link(site, mu).scale(c);
        for nu in (0..3).filter(|&nu| nu != mu) {
            let (right, up, down) = (dims.forward(site, mu), dims.forward(site, nu), dims.backward(site, nu));
            let u = |site, direction| links.link(site, direction);
            sum = sum + u(site, nu) * u(up, mu) * u(right, nu).adjoint();
            sum = sum + u(down, nu).adjoint() * u(down, mu) * u(dims.forward(down, mu), nu);
        }
        smeared.set_link(site, mu, sum.nearest_special_unitary().unwrap());
    }
    smeared
}

/// An equation with its source.
struct Case<'a> {
    configuration: &'a GaugeConfiguration,
    boundary: Boundary,
    kappa: f64,
    term: SiteTerm,
    origin: [usize; NDIM],
    source: Option<&'a Smearing>,
}

impl Case<'_> {
    /// The propagator, in κ normalisation, with its sink smeared or not.
    fn propagator(&self, team: &Team, sink: Option<&Smearing>) -> Vec<Site> {
        let dims = self.configuration.dims();
        let lattice = Lattice::new(team, dims).unwrap();
        let links = lattice.gauge::<f64>(self.configuration, self.boundary).unwrap();
        let links = links.with_clover(self.configuration.clone()).unwrap();
        let m = Dirac::new(&links, Kappa(self.kappa), self.term).unwrap();
        let params =
            BicgstabParams { tol: 3e-14, preconditioning: Preconditioning::EvenOdd, ..Default::default() };
        let mut all = vec![[[Complex64::default(); 12]; 12]; dims.volume()];
        for column in 0..12 {
            let mut b = vec![Spinor::default(); dims.volume()];
            b[dims.site(self.origin)].0[column / 3][column % 3] = 1.0.into();
            if let Some(smearing) = self.source {
                smearing.apply(&mut b);
            }
            let (x, _) = bicgstab(&m, &lattice.spinor_from_host(&b).unwrap(), &params).unwrap();
            let mut x = x.to_host().unwrap();
            if let Some(smearing) = sink {
                smearing.apply(&mut x);
            }
            for (site, psi) in all.iter_mut().zip(&x) {
                for row in 0..12 {
                    site[row][column] = psi.0[row / 3][row % 3];
                }
            }
        }
        all
    }
}

/// Teams that are one device or none: more of them do nothing else.
fn single() -> impl Iterator<Item = (String, Team)> {
    common::teams().into_iter().filter(|(_, team)| team.len() < 2)
}

/// The only chunk of the only dataset of an HDF5 file: 16·9 complex numbers for each of 512 sites.
///
/// It is found by its B-tree node, version 1, of raw data, a leaf with one entry: "TREE", type 1, level 0, entries, two
/// siblings, then the chunk's size, its filters, its offset in four extents and in the element, and where it lies.
fn lalibe_numbers(file: &[u8]) -> Vec<Complex64> {
    let start = file.windows(8).position(|bytes| bytes == b"TREE\x01\x00\x01\x00").expect("a chunk");
    let word = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
    let (size, address) = (512 * 144 * 16, word(start + 24 + 8 + 40));
    assert_eq!(word(start + 24), size, "the size of the chunk, and no filters");
    let numbers = file[address..address + size].chunks(16);
    let real = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().unwrap());
    numbers.map(|bytes| Complex64::new(real(&bytes[..8]), real(&bytes[8..]))).collect()
}

#[test]
fn a_propagator_of_lalibe_is_ours_in_every_element() {
    let Some(shared) = shared() else { return };
    let expected = lalibe_numbers(&std::fs::read(shared.join("data/lalibe_propagator_u.h5")).unwrap());
    let configuration = read_gauge(shared.join("data/weak_field.lime")).unwrap();
    let kappa = 0.5 / 4.02;
    let smearing = Smearing { weight: 0.2, steps: 5, links: configuration.clone() };
    let case = Case {
        configuration: &configuration,
        boundary: Boundary::antiperiodic_t(),
        kappa,
        term: SiteTerm::Clover { csw: 1.17, mu: 0.0 },
        origin: [0, 1, 0, 0],
        source: Some(&smearing),
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
    for (name, team) in single() {
        let found = case.propagator(&team, None);
        let mut of_slice = [0.0; 8];
        for (k, expected) in expected.iter().enumerate() {
            // [site][sink spin][source spin][sink colour][source colour], in mass normalisation.
            let (site, spins, colours) = (k / 144, k / 9 % 16, k % 9);
            let z = found[site][3 * (spins / 4) + colours / 3][3 * (spins % 4) + colours % 3] * 2.0 * kappa;
            assert!((z - expected).norm() < 1e-11 * largest, "{name}, element {k}: {z}, {expected}");
            of_slice[site / 64] += z.norm_sqr();
        }
        for (t, (found, expected)) in of_slice.iter().zip(sums).enumerate() {
            assert!((found / expected - 1.0).abs() < 1e-12, "{name}, t = {t}: {found}, {expected}");
        }
    }
}

/// A matrix between spins.
type Spin = [[Complex64; 4]; 4];

const I: Complex64 = Complex64::new(0.0, 1.0);

fn dense(matrix: SpinMatrix) -> Spin {
    let mut all = [[Complex64::default(); 4]; 4];
    for (row, (column, phase)) in matrix.into_iter().enumerate() {
        all[row][column] = phase.times(1.0.into());
    }
    all
}

fn product(a: Spin, b: Spin) -> Spin {
    from_fn(|i| from_fn(|j| (0..4).map(|k| a[i][k] * b[k][j]).sum()))
}

/// a + factor b
fn sum(a: Spin, factor: Complex64, b: Spin) -> Spin {
    from_fn(|i| from_fn(|j| a[i][j] + factor * b[i][j]))
}

fn scaled(a: Spin, factor: f64) -> Spin {
    a.map(|row| row.map(|z| z * factor))
}

/// Γ(n) = γ1^b0 γ2^b1 γ3^b2 γ4^b3 with n = b0 + 2 b1 + 4 b2 + 8 b3.
fn gamma(n: usize) -> Spin {
    let one = dense(from_fn(|s| (s, Phase::One)));
    (0..4).filter(|mu| n >> mu & 1 == 1).fold(one, |all, mu| product(all, dense(GAMMA[mu])))
}

/// Γ S or S Γ, on the spins of the sink or of the source.
fn on_sink(matrix: &Spin, s: &Site) -> Site {
    from_fn(|row| from_fn(|column| (0..4).map(|k| matrix[row / 3][k] * s[3 * k + row % 3][column]).sum()))
}

fn on_source(s: &Site, matrix: &Spin) -> Site {
    from_fn(|row| from_fn(|column| (0..4).map(|k| s[row][3 * k + column % 3] * matrix[k][column / 3]).sum()))
}

/// tr[γ5 S₂† γ5 Γ S₁ Γ] at a site.
fn meson(s1: &Site, s2: &Site, matrix: &Spin) -> Complex64 {
    let turned = on_source(&on_sink(matrix, s1), matrix);
    let sign = |k: usize| if k < 6 { 1.0 } else { -1.0 };
    let mut sum = Complex64::default();
    for (i, j) in (0..12).flat_map(|i| (0..12).map(move |j| (i, j))) {
        sum += s2[j][i].conj() * sign(i) * sign(j) * turned[j][i];
    }
    sum
}

/// The even and odd permutations of three colours.
const EPSILON: [([usize; 3], f64); 6] = [
    ([0, 1, 2], 1.0),
    ([1, 2, 0], 1.0),
    ([2, 0, 1], 1.0),
    ([0, 2, 1], -1.0),
    ([2, 1, 0], -1.0),
    ([1, 0, 2], -1.0),
];

/// D[A, B]: element (k', k) of colours and (α, β) of spins is Σ ε_ijk ε_i'j'k' A^ii'_ρα B^jj'_ρβ.
fn diquark(a: &Site, b: &Site) -> [[Spin; 3]; 3] {
    let mut d = [[[[Complex64::default(); 4]; 4]; 3]; 3];
    for (([i, j, k], sign), ([i1, j1, k1], sign1)) in
        EPSILON.into_iter().flat_map(|left| EPSILON.map(|right| (left, right)))
    {
        for (alpha, beta) in (0..16).map(|n| (n / 4, n % 4)) {
            let sum: Complex64 =
                (0..4).map(|rho| a[3 * rho + i][3 * alpha + i1] * b[3 * rho + j][3 * beta + j1]).sum();
            d[k1][k][alpha][beta] += sum * sign * sign1;
        }
    }
    d
}

fn trace(a: &Spin) -> Complex64 {
    (0..4).map(|k| a[k][k]).sum()
}

/// tr(T S^kk') tr(D^k'k) and tr(T S^kk' D^k'k), summed over colours.
fn closed(t: &Spin, s: &Site, d: &[[Spin; 3]; 3]) -> [Complex64; 2] {
    let mut both = [Complex64::default(); 2];
    for (k, k1) in (0..9).map(|n| (n / 3, n % 3)) {
        let of_colours: Spin = from_fn(|a| from_fn(|b| s[3 * a + k][3 * b + k1]));
        let turned = product(*t, of_colours);
        both[0] += trace(&turned) * trace(&d[k1][k]);
        both[1] += trace(&product(turned, d[k1][k]));
    }
    both
}

/// (q₁ Γ q₂) q₂
fn octet(s1: &Site, s2: &Site, t: &Spin, matrix: &Spin) -> Complex64 {
    closed(t, s2, &diquark(&on_source(s1, matrix), &on_sink(matrix, s2))).iter().sum()
}

/// Λ of the octet, with one quark 1 and two quarks 2.
fn lambda_octet(s1: &Site, s2: &Site, t: &Spin, matrix: &Spin) -> Complex64 {
    let d = |a: &Site, b: &Site| diquark(&on_source(a, matrix), &on_sink(matrix, b));
    let [tt, xt] = closed(t, s1, &d(s2, s2));
    tt + xt + closed(t, s2, &d(s2, s1))[1]
}

/// One quark 1 and two quarks 2.
fn decuplet(s1: &Site, s2: &Site, t: &Spin, matrix: &Spin) -> Complex64 {
    let d = |a: &Site, b: &Site| diquark(&on_source(a, matrix), &on_sink(matrix, b));
    let (d12, d21, d22) = (d(s1, s2), d(s2, s1), d(s2, s2));
    let [tt, xt] = closed(t, s2, &d12);
    let [tt1, xt1] = closed(t, s1, &d22);
    (tt + xt + closed(t, s2, &d21)[1] + xt1) * 2.0 + tt1
}

/// What is summed over the sites of a slice.
type Observable = Box<dyn Fn(&Site, &Site) -> Complex64>;

/// The baryons of the reference by their names, of strange and light quarks, with the parity of the last letter.
fn baryon(name: &str) -> Observable {
    let (name, parity) = name.split_at(name.len() - 1);
    let sign = if parity == "+" { 1.0 } else { -1.0 };
    let half = |matrix: Spin, factor: Complex64| scaled(sum(gamma(0), factor, matrix), 0.5);
    let projector = half(gamma(8), sign.into());
    // Σ₃ = −i γ1 γ2
    let up = product(projector, half(gamma(3), -I));
    let charge = gamma(10);
    let minus = scaled(sum(gamma(2), I, gamma(1)), 0.5);
    let (cg5, of_nr) = (gamma(5), |matrix| product(matrix, projector));
    let (cg5_nr, cgm_nr) = (of_nr(cg5), of_nr(product(charge, minus)));
    match name {
        "nucleon_Cg5" => Box::new(move |_, l| octet(l, l, &projector, &cg5)),
        "nucleon_Cg5NR_up" => Box::new(move |_, l| octet(l, l, &up, &cg5_nr)),
        "sigma_Cg5" => Box::new(move |s, l| octet(s, l, &projector, &cg5)),
        "xi_Cg5" => Box::new(move |s, l| octet(l, s, &projector, &cg5)),
        "lambda_octet_Cg5" => Box::new(move |s, l| lambda_octet(s, l, &projector, &cg5)),
        "delta_CgmNR_upup" => Box::new(move |_, l| decuplet(l, l, &up, &cgm_nr)),
        "omega_CgmNR_upup" => Box::new(move |s, _| decuplet(s, s, &up, &cgm_nr)),
        "sigma_star_CgmNR_upup" => Box::new(move |s, l| decuplet(s, l, &up, &cgm_nr)),
        "delta_Cgx" => Box::new(move |_, l| decuplet(l, l, &projector, &product(charge, gamma(1)))),
        "omega_Cgz" => Box::new(move |s, _| decuplet(s, s, &projector, &product(charge, gamma(4)))),
        name => panic!("{name} is no baryon"),
    }
}

/// Σ_x e^{ip(x − x₀)} f(x) of each time slice.
fn correlator(
    dims: Dims,
    origin: [usize; NDIM],
    momentum: &str,
    f: impl Fn(usize) -> Complex64,
) -> Vec<Complex64> {
    let numbers: Vec<f64> = momentum.split(',').map(|n| n.parse().unwrap()).collect();
    let mut slices = vec![Complex64::default(); dims[3]];
    for site in 0..dims.volume() {
        let at = dims.coordinates(site);
        let angle: f64 = (0..3)
            .map(|k| {
                2.0 * std::f64::consts::PI * numbers[k] * (at[k] as f64 - origin[k] as f64) / dims[k] as f64
            })
            .sum();
        slices[at[3]] += Complex64::from_polar(1.0, angle) * f(site);
    }
    slices
}

fn expect_list(found: &[Complex64], expected: &Value, tolerance: f64, what: &str) {
    let expected: Vec<Complex64> = expected.as_array().unwrap().iter().map(complex).collect();
    assert_eq!(found.len(), expected.len(), "{what}");
    let largest = expected.iter().map(|z| z.norm()).fold(0.0, f64::max);
    for (t, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let difference = (found - expected).norm() / largest;
        assert!(difference < tolerance, "{what}, t = {t}: {found}, {expected}: {difference:e}");
    }
}

/// Compares all correlators of an entry that are there.
fn expect_hadrons(name: &str, team: &Team, entry: &Value) {
    let configuration = configuration_of(entry);
    let dims = configuration.dims();
    let action = |key: &str| entry["action"][key].as_f64().unwrap_or(0.0);
    let ape = if name.contains(" ape ") { 3 } else { 0 };
    let smoothed = (0..ape).fold(configuration.clone(), |links, _| ape_step(&links, 2.5));
    let [source, sink] = ["source", "sink"].map(|key| Smearing::of(&entry[key], &smoothed));
    let origin = from_fn(|mu| entry["source_site_xyzt"][mu].as_u64().unwrap() as usize);
    let propagator = |kappa: f64, mu: f64| {
        let term = match action("csw") {
            0.0 => SiteTerm::Twisted { mu },
            csw => SiteTerm::Clover { csw, mu },
        };
        let boundary = boundary_of(entry);
        let case =
            Case { configuration: &configuration, boundary, kappa, term, origin, source: source.as_ref() };
        case.propagator(team, sink.as_ref())
    };
    // The reference stops the projection of smeared links some 1e-8 before its end, where ours is stationary to 1e-13.
    let tolerance = if ape > 0 { 1e-6 } else { 1e-9 };
    let light = propagator(action("kappa"), action("mu"));
    let strange = propagator(action("kappa_s"), action("mu"));
    let mut checked = 0;
    let mut expect = |key: &str, of: &dyn Fn(&str, usize) -> Complex64| {
        for (channel, momenta) in entry[key].as_object().into_iter().flatten() {
            for (momentum, expected) in momenta.as_object().unwrap() {
                let found = correlator(dims, origin, momentum, |site| of(channel, site));
                expect_list(
                    &found,
                    expected,
                    tolerance,
                    &format!("{name}, {key}, {channel}, p = {momentum}"),
                );
                checked += 1;
            }
        }
    };
    let matrices: [Spin; 16] = from_fn(gamma);
    let matrix = |channel: &str| &matrices[channel.parse::<usize>().unwrap()];
    expect("mesons_light_light", &|n, x| meson(&light[x], &light[x], matrix(n)));
    expect("mesons_strange_light", &|n, x| meson(&strange[x], &light[x], matrix(n)));
    if action("mu") != 0.0 {
        let down = propagator(action("kappa"), -action("mu"));
        expect("mesons_up_down", &|n, x| meson(&light[x], &down[x], matrix(n)));
    } else {
        expect("baryons", &|name, x| baryon(name)(&strange[x], &light[x]));
    }
    assert!(checked >= 64 + 16 + 16, "{name}: {checked} correlators");
}

#[test]
fn mesons_and_baryons_are_those_of_another_program() {
    let Some(reference) = reference() else { return };
    // Operators are the same on all teams, which other tests say: the last one is a device if there is any.
    let (_, team) = single().last().unwrap();
    let entries = reference["computed"].as_object().unwrap();
    let of_action = |name: &str| ["clover", "twisted"].iter().any(|word| name.contains(word));
    let mut checked = 0;
    for (name, entry) in entries.iter().filter(|(name, _)| name.starts_with("hadrons ") && of_action(name)) {
        expect_hadrons(name, &team, entry);
        checked += 1;
    }
    assert_eq!(checked, 5, "entries with a clover term or a twisted mass");
}

#[test]
fn two_point_functions_of_lalibe_are_ours() {
    let Some(reference) = reference() else { return };
    let Some(shared) = shared() else { return };
    let configuration = read_gauge(shared.join("data/weak_field.lime")).unwrap();
    let dims = configuration.dims();
    let smearing = Smearing { weight: 0.2, steps: 5, links: configuration.clone() };
    let (_, team) = single().last().unwrap();
    // Of up, down and strange quarks, in mass normalisation.
    let quarks = |sink: &str| {
        [0.1, 0.2, 0.6].map(|mass| {
            let kappa = 0.5 / (4.0 + mass);
            let case = Case {
                configuration: &configuration,
                boundary: Boundary::antiperiodic_t(),
                kappa,
                term: SiteTerm::Clover { csw: 1.17, mu: 0.0 },
                origin: [0; NDIM],
                source: Some(&smearing),
            };
            let sites = case.propagator(&team, (sink == "SS").then_some(&smearing));
            let scaled = |s: Site| s.map(|row| row.map(|z| z * 2.0 * kappa));
            sites.into_iter().map(scaled).collect::<Vec<Site>>()
        })
    };
    let half = |matrix: Spin, factor: Complex64| scaled(sum(gamma(0), factor, matrix), 0.5);
    let mut checked = 0;
    for sink in ["PS", "SS"] {
        let [u, d, s] = &quarks(sink);
        for entry in reference["published"].as_array().unwrap() {
            let words: Vec<&str> = entry["id"].as_str().unwrap().split(' ').collect();
            let ["lalibe", of_sink, name, "p", momentum] = words[..] else { continue };
            if of_sink != sink {
                continue;
            }
            let (hadron, spin) = name.split_once('/').unwrap_or((name, ""));
            let sign = if hadron.ends_with("_np") { -1.0 } else { 1.0 };
            let projector = half(gamma(8), sign.into());
            let direction = if spin.contains("up") { 1.0 } else { -1.0 };
            let t = product(projector, half(gamma(3), -I * direction));
            let cg5 = product(gamma(5), projector);
            // C γ∓ with γ∓ = ½(±γ2 + iγ1)
            let raising = scaled(sum(scaled(gamma(2), direction), I, gamma(1)), 0.5);
            let vector = product(product(gamma(10), raising), projector);
            let of = |x: usize| match hadron.trim_end_matches("_np") {
                "piplus" => meson(&u[x], &d[x], &gamma(15)),
                "proton" => octet(&d[x], &u[x], &t, &cg5) * 0.5,
                "lambda_z" => {
                    let of_light = diquark(&on_source(&u[x], &cg5), &on_sink(&cg5, &d[x]));
                    closed(&t, &s[x], &of_light)[0] * 0.5
                }
                "delta_pp" => decuplet(&u[x], &u[x], &t, &vector) * (2.0 / 3.0),
                name => panic!("{name} is no hadron"),
            };
            let found = correlator(dims, [0; NDIM], momentum, of);
            expect_list(&found, &entry["published"], 2e-9, &format!("{sink} {name}, p = {momentum}"));
            checked += 1;
        }
    }
    assert_eq!(checked, 20, "published correlators");
}
