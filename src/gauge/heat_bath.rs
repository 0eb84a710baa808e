//! Quenched SU(3) gauge configurations by Monte Carlo.
//!
//! The Wilson action is S = β Σ (1 − ⅓ Re tr P), over all plaquettes P. For one link U, the action
//! is −(β/3) Re tr(U A) + const. The *staple sum* A of the link holds the other three sides of its
//! six plaquettes:
//!
//! A_μ(x) = Σ_{ν≠μ} [ U_ν(x+μ) U†_μ(x+ν) U†_ν(x) + U†_ν(x+μ−ν) U†_μ(x−ν) U_ν(x−ν) ].
//!
//! * **Heat bath** (N. Cabibbo and E. Marinari, Phys. Lett. B 119 (1982) 387): U → aU with `a` in
//!   each of three SU(2) subgroups in turn. Let k v, with v in SU(2), be the quaternion part of UA
//!   in the subgroup. Then (β/3) Re tr(aUA) = (2βk/3) · ½ tr(av) + const. So b = av is drawn with
//!   this Boltzmann weight, and a = bv†.
//! * **Over-relaxation** (M. Creutz, Phys. Rev. D 36 (1987) 515): b = v† instead, as far on the
//!   other side of the maximum as v is on this one. The action stays as it is, and the field moves
//!   on faster.
//!
//! Links of one direction on the sites of one parity are in no staple of each other, and are
//! updated at once. The random numbers belong to the site. So the result has the same bits for
//! every number of threads.

use super::directions::Directions;
use super::observables::plaquette;
use super::staples;
use super::su2::{Quaternion, SUBGROUPS};
use crate::compute::parallel::*;
use crate::compute::reserve;
use crate::geometry::{Dims, NDIM};
use crate::host::{GaugeConfiguration, Links, Matrix3, random};
use crate::philox::Philox;
use derive_setters::Setters;
use lattice_files::number::shown;
use lattice_files::text::tuple;
use std::ops::ControlFlow;

/// Parameters of generating a configuration.
#[derive(Clone, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct GenerateParams {
    /// The inverse coupling β = 6/g², at least 0. Default 6.0.
    ///
    /// The default has a lattice spacing of about 0.09 fm.
    pub beta: f64,
    /// Number of sweeps from the start. Default 100.
    ///
    /// Each sweep is a heat-bath update of every link, then the over-relaxation.
    pub sweeps: usize,
    /// Over-relaxation updates of every link after each heat-bath update. Default 4.
    pub overrelaxation: usize,
    /// The key of the random numbers. Default 1.
    ///
    /// The sweep, direction and site are the rest of the key.
    pub seed: u64,
}

impl Default for GenerateParams {
    fn default() -> Self {
        Self { beta: 6.0, sweeps: 100, overrelaxation: 4, seed: 1 }
    }
}

/// The configuration from which the Monte Carlo starts.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// All links equal to the unit matrix.
    Cold,
    /// Every link from the Haar measure, made from the seed.
    Hot,
    /// Links 1 + ε·noise, brought back to SU(3), made from the seed. 0 ≤ ε ≤ 1.
    ///
    /// See [`random::weak`].
    Weak(f64),
    /// An existing configuration.
    ///
    /// To continue a run, give another seed. The sweeps are counted from zero again: with an equal
    /// seed the random numbers would repeat.
    From(GaugeConfiguration),
}

/// The reason why no configuration was generated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GenerateError {
    /// β is negative or not a finite number.
    #[error(
        "β = {number} is not allowed: it is a finite number and at least 0",
        number = shown(.0)
    )]
    Beta(f64),
    /// The strength of the noise is not between 0 and 1.
    #[error(
        "a weak start with ε = {number} is not allowed: ε is between 0 and 1",
        number = shown(.0)
    )]
    Epsilon(f64),
    /// There are not so many independent random numbers.
    #[error("{wanted} sweeps are more than {limit}, for which one seed has random numbers")]
    TooManySweeps {
        /// The number asked for.
        wanted: usize,
        /// The largest number possible.
        limit: usize,
    },
    /// The starting configuration has other extents.
    #[error("the start has extents {found}, but {wanted} was asked for")]
    OtherDims {
        /// The extents asked for.
        wanted: Dims,
        /// The extents of the starting configuration.
        found: Dims,
    },
    /// A link of the start is not in SU(3), not even within single precision.
    #[error("link {direction} at {} of the start is {distance:.1e} away from SU(3)", tuple(site))]
    NotSpecialUnitary {
        /// The coordinates x, y, z, t of the link.
        site: [usize; NDIM],
        /// The name of the link's direction.
        direction: char,
        /// The largest |entry| of the difference to the nearest link in SU(3), or NaN.
        distance: f64,
    },
    /// The links do not fit into memory.
    #[error("the links of a lattice of {dims} take {bytes} bytes, which this machine does not have")]
    OutOfMemory {
        /// The extents asked for.
        dims: Dims,
        /// Bytes of the links in double precision.
        bytes: u128,
    },
}

/// Largest distance from SU(3) that a starting link may have.
///
/// Rounding to single precision makes 1e-7.
const START_TOLERANCE: f64 = 1e-4;

/// The first stream of random numbers of the heat bath.
///
/// All later streams belong to the heat bath too, four to each sweep.
const FIRST_STREAM: u32 = 1 << 31;
const MAX_SWEEPS: usize = (u32::MAX - FIRST_STREAM) as usize / NDIM;

/// Makes a configuration with the distribution exp(−S) of the Wilson action.
///
/// The configuration is in double precision. After each sweep and its over-relaxation, `observer`
/// is told the number of sweeps done and the average plaquette ⅓ Re tr P. [`ControlFlow::Break`]
/// ends the run there.
///
/// The caller judges how many sweeps bring the start into equilibrium. For the plaquette at β = 6
/// some hundred are enough.
///
/// # Errors
/// * A parameter is out of its range.
/// * The start has other extents, or links outside SU(3).
/// * The links would not fit into memory.
///
/// All errors are found before the first sweep.
pub fn generate(
    dims: Dims,
    start: Start,
    params: &GenerateParams,
    observer: &mut dyn FnMut(usize, f64) -> ControlFlow<()>,
) -> Result<GaugeConfiguration, GenerateError> {
    generate_watched(dims, start, params, &mut |sweep, configuration| {
        observer(sweep, plaquette(configuration).average)
    })
}

/// Generates like [`generate`], and shows the configuration after each sweep.
///
/// `watch` may keep the configuration, for example.
///
/// # Errors
/// The errors of [`generate`].
pub fn generate_watched(
    dims: Dims,
    start: Start,
    params: &GenerateParams,
    watch: &mut dyn FnMut(usize, &GaugeConfiguration) -> ControlFlow<()>,
) -> Result<GaugeConfiguration, GenerateError> {
    check_params(params)?;
    let mut configuration = starting_configuration(dims, start, params.seed)?;
    for sweep in 0..params.sweeps {
        heat_bath_sweep(&mut configuration, params.beta, params.seed, sweep);
        for _ in 0..params.overrelaxation {
            overrelaxation_sweep(&mut configuration);
        }
        if watch(sweep + 1, &configuration).is_break() {
            break;
        }
    }
    Ok(configuration)
}

fn check_params(params: &GenerateParams) -> Result<(), GenerateError> {
    if !(params.beta.is_finite() && params.beta >= 0.0) {
        return Err(GenerateError::Beta(params.beta));
    }
    if params.sweeps > MAX_SWEEPS {
        return Err(GenerateError::TooManySweeps { wanted: params.sweeps, limit: MAX_SWEEPS });
    }
    Ok(())
}

fn starting_configuration(dims: Dims, start: Start, seed: u64) -> Result<GaugeConfiguration, GenerateError> {
    check_memory(dims)?;
    match start {
        Start::Cold => Ok(random::cold(dims)),
        Start::Hot => Ok(random::hot(dims, seed)),
        Start::Weak(epsilon) if (0.0..=1.0).contains(&epsilon) => Ok(random::weak(dims, epsilon, seed)),
        Start::Weak(epsilon) => Err(GenerateError::Epsilon(epsilon)),
        Start::From(configuration) => checked_start(dims, &configuration),
    }
}

/// Returns the start in double precision, with links exactly in SU(3).
fn checked_start(dims: Dims, start: &GaugeConfiguration) -> Result<GaugeConfiguration, GenerateError> {
    if start.dims() != dims {
        return Err(GenerateError::OtherDims { wanted: dims, found: start.dims() });
    }
    let links = (0..NDIM * dims.volume())
        .into_par_iter()
        .map(|index| {
            let (site, mu) = (index / NDIM, index % NDIM);
            let link = start.link(site, mu);
            let nearest = link.reunitarised();
            let distance = link.max_difference(&nearest);
            if distance < START_TOLERANCE {
                return Ok(nearest);
            }
            let direction = Dims::direction_name(mu);
            Err(GenerateError::NotSpecialUnitary { site: dims.coordinates(site), direction, distance })
        })
        .collect::<Result<_, _>>()?;
    Ok(GaugeConfiguration::new(dims, Links::Double(links)))
}

/// Asks for memory first, because a failed allocation ends the program.
fn check_memory(dims: Dims) -> Result<(), GenerateError> {
    let links = NDIM * dims.volume();
    let out_of_memory =
        |_| GenerateError::OutOfMemory { dims, bytes: links as u128 * size_of::<Matrix3<f64>>() as u128 };
    reserve(&mut Vec::<Matrix3<f64>>::new(), links).map_err(out_of_memory)
}

/// Does one heat-bath update of every link.
fn heat_bath_sweep(configuration: &mut GaugeConfiguration, beta: f64, seed: u64, sweep: usize) {
    for mu in 0..NDIM {
        let stream = FIRST_STREAM + (NDIM * sweep + mu) as u32;
        update(configuration, mu, |site, link, staples| {
            let mut random = Philox::new(seed, stream, site as u64);
            let heat_bath = |k, v: &Quaternion| {
                Quaternion::boltzmann(2.0 * beta * k / 3.0, &mut random).times(&v.adjoint())
            };
            // Rounding carries the links away from SU(3) slowly; once a sweep is often enough.
            in_each_subgroup(link, staples, heat_bath).reunitarised()
        });
    }
}

/// Does one microcanonical update of every link.
fn overrelaxation_sweep(configuration: &mut GaugeConfiguration) {
    for mu in 0..NDIM {
        update(configuration, mu, |_, link, staples| {
            in_each_subgroup(link, staples, |_, v| {
                let back = v.adjoint();
                back.times(&back)
            })
        });
    }
}

/// Replaces every link in direction `mu` by `change(site, link, staple sum)`.
///
/// The even sites come first.
fn update(
    configuration: &mut GaugeConfiguration,
    mu: usize,
    change: impl Fn(usize, Matrix3<f64>, &Matrix3<f64>) -> Matrix3<f64> + Sync,
) {
    let dims = configuration.dims();
    for parity in 0..2 {
        // Sites 2n and 2n + 1 are neighbours in x: one of them has this parity.
        let site_of_pair = |pair| 2 * pair + (dims.parity(2 * pair) ^ parity);
        let changed: Vec<_> = (0..dims.volume() / 2)
            .into_par_iter()
            .map(|pair| {
                let site = site_of_pair(pair);
                change(site, configuration.link(site, mu), &staple_sum(configuration, site, mu))
            })
            .collect();
        for (pair, link) in changed.into_iter().enumerate() {
            configuration.set_link(site_of_pair(pair), mu, link);
        }
    }
}

/// Applies U → aU in the three SU(2) subgroups, one after the other.
///
/// a = `choose(k, v)`, where k v is the quaternion part of U A.
fn in_each_subgroup(
    mut link: Matrix3<f64>,
    staples: &Matrix3<f64>,
    mut choose: impl FnMut(f64, &Quaternion) -> Quaternion,
) -> Matrix3<f64> {
    let mut product = link * *staples;
    for subgroup in SUBGROUPS {
        let part = Quaternion::part_of(&product, subgroup);
        let k = part.norm();
        let a = choose(k, &part.direction(k));
        a.act_on(&mut link, subgroup);
        a.act_on(&mut product, subgroup);
    }
    link
}

/// Returns the sum A_μ(x) over the six staples of a link.
///
/// The formula is at the head of this file.
fn staple_sum(configuration: &GaugeConfiguration, site: usize, mu: usize) -> Matrix3<f64> {
    staples::staple_sum(configuration, site, mu, Directions::ALL).adjoint()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::unitarity;

    fn dims() -> Dims {
        Dims::new([2, 4, 6, 8]).unwrap()
    }

    fn params(beta: f64, sweeps: usize) -> GenerateParams {
        GenerateParams { beta, sweeps, overrelaxation: 1, seed: 11 }
    }

    /// Runs without looking at the plaquette.
    fn run(dims: Dims, start: Start, params: &GenerateParams) -> Result<GaugeConfiguration, GenerateError> {
        generate(dims, start, params, &mut |_, _| ControlFlow::Continue(()))
    }

    /// Returns the mean plaquette after thermalisation, and its error.
    ///
    /// The error comes from the scatter of bins.
    fn mean_plaquette(dims: Dims, start: Start, params: &GenerateParams, thermalisation: usize) -> [f64; 2] {
        const BINS: usize = 16;
        let mut history = Vec::new();
        let mut observer = |_, plaquette| {
            history.push(plaquette);
            ControlFlow::Continue(())
        };
        generate(dims, start, params, &mut observer).unwrap();
        let history = &history[thermalisation..];
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let bins: Vec<f64> = history.chunks_exact(history.len() / BINS).map(mean).collect();
        let centre = mean(&bins);
        let scatter = bins.iter().map(|bin| (bin - centre).powi(2)).sum::<f64>();
        let count = bins.len() as f64;
        [centre, (scatter / (count * (count - 1.0))).sqrt()]
    }

    /// Each plaquette is in the staples of its four links.
    #[test]
    fn staples_add_up_to_the_plaquette() {
        let configuration = random::hot(dims(), 1);
        let real_trace =
            |site, mu| (configuration.link(site, mu) * staple_sum(&configuration, site, mu)).trace().re;
        let sum: f64 =
            (0..dims().volume()).flat_map(|site| (0..NDIM).map(move |mu| real_trace(site, mu))).sum();
        let average = sum / (4 * 6 * 3 * dims().volume()) as f64;
        assert!((average - plaquette(&configuration).average).abs() < 1e-14);
    }

    /// The change of a link changes the action by −(β/3) Re tr(ΔU A).
    #[test]
    fn staples_tell_the_change_of_the_action() {
        let mut configuration = random::hot(dims(), 2);
        for (site, mu) in [(0, 0), (77, 1), (383, 2), (200, 3)] {
            let (old, staples) = (configuration.link(site, mu), staple_sum(&configuration, site, mu));
            let new = random::random_su3(&mut Philox::new(3, 0, site as u64));
            let before = plaquette(&configuration).average;
            configuration.set_link(site, mu, new);
            let change = (plaquette(&configuration).average - before) * (6 * 3 * dims().volume()) as f64;
            assert!(((new - old) * staples).trace().re.abs() > 0.1);
            assert!((change - ((new - old) * staples).trace().re).abs() < 1e-10);
        }
    }

    #[test]
    fn overrelaxation_moves_the_links_and_keeps_the_action() {
        let start = run(dims(), Start::Hot, &params(5.8, 3)).unwrap();
        let mut moved = start.clone();
        overrelaxation_sweep(&mut moved);
        assert!((plaquette(&moved).average - plaquette(&start).average).abs() < 1e-14);
        let still = |link: &usize| {
            let (site, mu) = (link / NDIM, link % NDIM);
            moved.link(site, mu).max_difference(&start.link(site, mu)) < 1e-3
        };
        assert_eq!((0..NDIM * dims().volume()).filter(still).count(), 0);
    }

    #[test]
    fn links_stay_in_su3() {
        let deviation = unitarity(&run(dims(), Start::Hot, &params(6.0, 30)).unwrap());
        assert!(deviation.unitarity_deviation < 1e-14, "{deviation:?}");
        assert!(deviation.determinant_deviation < 1e-14, "{deviation:?}");
    }

    #[test]
    fn the_result_does_not_depend_on_the_number_of_threads() {
        let with_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(dims(), Start::Weak(0.2), &params(5.7, 3)).unwrap())
        };
        assert_eq!(with_threads(1), with_threads(3));
    }

    #[test]
    fn another_seed_gives_another_configuration() {
        let with_seed = |seed| run(dims(), Start::Cold, &GenerateParams { seed, ..params(5.7, 1) }).unwrap();
        assert_ne!(with_seed(1), with_seed(2));
    }

    /// Returns ⟨⅓ Re tr U⟩ in SU(3) with weight exp((β/3) Re tr U).
    ///
    /// At strong coupling the average plaquette tends to this number, β/18 + β²/216 + O(β⁴). The
    /// integral over the eigenvalues has Weyl's measure.
    fn one_plaquette_integral(beta: f64) -> f64 {
        let points = 60;
        let [mut norm, mut sum] = [0.0; 2];
        for (i, j) in (0..points * points).map(|k| (k / points, k % points)) {
            let [a, b] = [i, j].map(|k| std::f64::consts::TAU * k as f64 / points as f64);
            let c = -a - b;
            let distance2 = |a: f64, b: f64| 2.0 - 2.0 * (a - b).cos();
            let trace = (a.cos() + b.cos() + c.cos()) / 3.0;
            let weight = distance2(a, b) * distance2(b, c) * distance2(c, a) * (beta * trace).exp();
            norm += weight;
            sum += weight * trace;
        }
        sum / norm
    }

    #[test]
    fn strong_coupling_follows_the_expansion() {
        let beta = 1.0;
        let single = one_plaquette_integral(beta);
        let series = beta / 18.0 + beta.powi(2) / 216.0 - 5.0 * beta.powi(4) / 93312.0;
        assert!((single - series).abs() < 2e-5, "{single} and {series}");
        // The lattice adds 4 u⁵, here 3e-6: far below the error.
        let dims = Dims::new([4, 6, 8, 10]).unwrap();
        let params = GenerateParams { overrelaxation: 0, ..params(beta, 340) };
        let [mean, sigma] = mean_plaquette(dims, Start::Cold, &params, 20);
        assert!(sigma < 2e-4, "{sigma}");
        assert!((mean - single).abs() < 4.0 * sigma, "{mean} ± {sigma} instead of {single}");
    }

    #[test]
    fn at_infinite_coupling_the_plaquette_vanishes() {
        let [mean, sigma] = mean_plaquette(dims(), Start::Cold, &params(0.0, 161), 1);
        assert!(sigma < 1e-3 && mean.abs() < 4.0 * sigma, "{mean} ± {sigma}");
    }

    #[test]
    fn hot_and_cold_starts_meet() {
        let dims = Dims::new([4; NDIM]).unwrap();
        let of_start =
            |start, seed| mean_plaquette(dims, start, &GenerateParams { seed, ..params(5.0, 700) }, 60);
        let ([hot, hot_sigma], [cold, cold_sigma]) = (of_start(Start::Hot, 1), of_start(Start::Cold, 2));
        let sigma = hot_sigma.hypot(cold_sigma);
        assert!(sigma < 1.5e-3, "{sigma}");
        assert!((hot - cold).abs() < 4.0 * sigma, "hot {hot}, cold {cold}, error {sigma}");
    }

    #[test]
    fn the_observer_sees_every_sweep_and_can_stop() {
        let mut seen = Vec::new();
        let mut observer = |sweep, plaquette| {
            seen.push((sweep, plaquette));
            if sweep == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let stopped = generate(dims(), Start::Hot, &params(5.7, 100), &mut observer).unwrap();
        assert_eq!(stopped, run(dims(), Start::Hot, &params(5.7, 3)).unwrap());
        assert_eq!(seen.iter().map(|&(sweep, _)| sweep).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(seen[2].1, plaquette(&stopped).average);
    }

    #[test]
    fn a_start_in_single_precision_is_brought_back_to_su3() {
        let hot = random::hot(dims(), 4);
        let Links::Double(links) = hot.links() else { panic!("hot starts are in double") };
        let single = Links::Single(links.iter().map(Matrix3::cast).collect());
        let start = Start::From(GaugeConfiguration::new(dims(), single));
        let same = run(dims(), start, &params(6.0, 0)).unwrap();
        assert!(unitarity(&same).unitarity_deviation < 1e-14);
        assert!((plaquette(&same).average - plaquette(&hot).average).abs() < 1e-7);
    }

    #[test]
    fn refuses_what_cannot_be_generated() {
        let error = |dims, start, params: &GenerateParams| run(dims, start, params).unwrap_err();
        for beta in [f64::NAN, -0.1, f64::INFINITY] {
            assert!(matches!(error(dims(), Start::Cold, &params(beta, 1)), GenerateError::Beta(_)));
        }
        for epsilon in [f64::NAN, -0.1, 1.5] {
            let error = error(dims(), Start::Weak(epsilon), &params(6.0, 1));
            assert!(matches!(error, GenerateError::Epsilon(_)));
        }
        let too_many = error(dims(), Start::Cold, &params(6.0, usize::MAX));
        assert_eq!(too_many, GenerateError::TooManySweeps { wanted: usize::MAX, limit: MAX_SWEEPS });
        let other = Dims::new([4; NDIM]).unwrap();
        assert_eq!(
            error(dims(), Start::From(random::cold(other)), &params(6.0, 1)),
            GenerateError::OtherDims { wanted: dims(), found: other }
        );
        let huge = Dims::new([1024; NDIM]).unwrap();
        let bytes = (4 * 144) << 40;
        assert_eq!(
            error(huge, Start::Cold, &params(6.0, 1)),
            GenerateError::OutOfMemory { dims: huge, bytes }
        );
    }

    #[test]
    fn refuses_links_outside_su3() {
        let mut scaled = random::hot(dims(), 1);
        scaled.set_link(5, 2, scaled.link(5, 2).scale(1.1));
        let mut not_a_number = random::hot(dims(), 1);
        not_a_number.set_link(5, 2, not_a_number.link(5, 2).scale(f64::NAN));
        for start in [scaled, not_a_number] {
            let error = run(dims(), Start::From(start), &params(6.0, 1)).unwrap_err();
            let GenerateError::NotSpecialUnitary { site, direction, distance } = error else {
                panic!("{error}")
            };
            assert_eq!((site, direction), (dims().coordinates(5), 'z'));
            assert!(distance.is_nan() || (distance > 0.01 && distance < 0.2));
        }
    }
}
