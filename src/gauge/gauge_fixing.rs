//! Gauge fixing by over-relaxation, with optional Fourier acceleration.
//!
//! A gauge transformation U_μ(x) → g(x) U_μ(x) g†(x+μ) maximises F = ⟨⅓ Re tr U_μ⟩ over the
//! directions of the gauge. A sweep increases Re tr(g K) at each site, with
//! K = Σ_μ \[U_μ(x) + U_μ†(x−μ)\], in each SU(2) subgroup of g. Even sites come first, then odd
//! sites. Source: J. E. Mandula and M. Ogilvie, Phys. Lett. B 248, 156 (1990).
//!
//! Fourier acceleration puts a step before each sweep: g = exp(−X), X the inverse Laplacian of Δ. For
//! weak fields the step is Newton's, which treats long waves like short ones. Source: C. T. H. Davies
//! et al., Phys. Rev. D 37, 1581 (1988).

use super::laplacian::inverse_laplacian;
use super::link_table::LinkTable;
use super::su2::{Quaternion, SUBGROUPS};
use crate::compute::parallel::*;
use crate::geometry::NDIM;
use crate::host::{GaugeConfiguration, LinksOfSites, Matrix3, NoRoom, ProjectionError, ordered_sum, random};
use derive_setters::Setters;
use lattice_files::number::shown;
use serde::Serialize;

/// A gauge, by the directions of its condition Σ_μ ∂_μ A_μ = 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Gauge {
    /// All four directions.
    Landau,
    /// The three directions of space. A matrix of each time slice stays free.
    Coulomb,
}

lattice_files::words! { Gauge, "gauge": Landau = "landau"; Coulomb = "coulomb" }

impl Gauge {
    /// Returns the number of directions in the condition, which are the first ones.
    fn directions(self) -> usize {
        match self {
            Self::Landau => NDIM,
            Self::Coulomb => NDIM - 1,
        }
    }

    /// Returns F, the average of ⅓ Re tr U over sites and the gauge's directions.
    pub fn functional(self, links: &impl LinksOfSites) -> f64 {
        let (volume, count) = (links.dims().volume(), self.directions());
        let of_site = |site| (0..count).map(|mu| links.link(site, mu).trace().re).sum::<f64>();
        ordered_sum(volume, 0.0, |a, b| a + b, of_site) / (3 * count * volume) as f64
    }

    /// Returns F of the nearest elements of SU(3).
    ///
    /// Links of single precision are up to 1e-7 away from SU(3), which changes F.
    ///
    /// # Errors
    /// If a link has no nearest element.
    pub fn functional_in_su3(self, links: &GaugeConfiguration) -> Result<f64, ProjectionError> {
        Ok(self.functional(&links.reunitarised()?.0))
    }

    /// Returns θ = ⟨⅓ tr(Δ Δ†)⟩, which is zero in the gauge.
    ///
    /// Δ(x) = Σ_μ \[A_μ(x) − A_μ(x−μ)\], and A is the traceless anti-Hermitian part of U.
    pub fn theta(self, links: &impl LinksOfSites) -> f64 {
        let volume = links.dims().volume();
        let of_site = |site| {
            let divergence = self.sum_of_links(links, site).traceless_anti_hermitian();
            divergence.0.as_flattened().iter().map(|z| z.norm_sqr()).sum::<f64>()
        };
        ordered_sum(volume, 0.0, |a, b| a + b, of_site) / (3 * volume) as f64
    }

    /// Returns K = Σ_μ \[U_μ(x) + U_μ†(x−μ)\].
    fn sum_of_links(self, links: &impl LinksOfSites, site: usize) -> Matrix3<f64> {
        (0..self.directions()).fold(Matrix3::zero(), |sum, mu| {
            sum + links.link(site, mu) + links.link(links.backward(site, mu), mu).adjoint()
        })
    }
}

/// Parameters of gauge fixing.
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct FixParams {
    /// The gauge.
    pub gauge: Gauge,
    /// θ at which to stop. Default 1e-14.
    pub tolerance: f64,
    /// The power ω that each step is raised to, from 1 to less than 2. Default 1.7.
    pub overrelaxation: f64,
    /// `true` for a step of Fourier acceleration before each sweep. Default `false`.
    ///
    /// ω = 1.3 suits Fourier acceleration.
    pub fourier: bool,
    /// Most sweeps over the lattice from each start. Default 20000.
    pub most_iterations: usize,
    /// Number of starts. Default 1.
    ///
    /// The first start is the configuration, others are random gauge transformations of it.
    pub starts: usize,
    /// Seed of the random gauge transformations. Default 1.
    pub seed: u64,
}

impl FixParams {
    /// Returns the defaults of a gauge.
    pub fn new(gauge: Gauge) -> Self {
        Self {
            gauge,
            tolerance: 1e-14,
            overrelaxation: 1.7,
            fourier: false,
            most_iterations: 20_000,
            starts: 1,
            seed: 1,
        }
    }

    /// Returns the defaults of a gauge with Fourier acceleration.
    pub fn accelerated(gauge: Gauge) -> Self {
        Self { fourier: true, overrelaxation: 1.3, ..Self::new(gauge) }
    }
}

/// The reason why a gauge is not fixed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FixError {
    /// The tolerance is not positive.
    #[error(
        "a tolerance of {number} is not possible: it is a positive number, for example 1e-14",
        number = shown(.0)
    )]
    Tolerance(f64),
    /// ω is out of its range.
    #[error(
        "an over-relaxation of {number} is not possible: it is at least 1 and less than 2",
        number = shown(.0)
    )]
    OverRelaxation(f64),
    /// There is no start.
    #[error("at least one start is wanted")]
    NoStart,
    /// No start comes into the gauge.
    #[error("after {iterations} iterations θ is {theta:.3e}, not below {tolerance:e}")]
    NotConverged {
        /// Sweeps that were done.
        iterations: usize,
        /// The least θ of all starts.
        theta: f64,
        /// The tolerance.
        tolerance: f64,
    },
    /// A link has no nearest element of SU(3).
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// There is not enough memory.
    #[error(transparent)]
    OutOfMemory(#[from] NoRoom),
}

/// The result of one start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FixedStart {
    /// F at the end, of the [nearest elements](Gauge::functional_in_su3) of SU(3).
    pub functional: f64,
    /// θ at the end.
    pub theta: f64,
    /// Sweeps over the lattice.
    pub iterations: usize,
    /// `true` if θ is below the tolerance.
    pub converged: bool,
}

/// A configuration in its gauge.
#[derive(Clone, Debug)]
pub struct FixOutcome {
    /// The links, in double precision.
    pub links: GaugeConfiguration,
    /// All starts, in their order. Several maxima are Gribov copies.
    pub starts: Vec<FixedStart>,
    /// The start that `links` are of: the first one with the largest F.
    pub best: usize,
}

/// Sweeps between two looks at θ.
const SWEEPS_OF_A_LOOK: usize = 5;

/// Maxima that differ by less are the same.
const SAME_MAXIMUM: f64 = 1e-12;

/// Brings a configuration into a gauge.
///
/// `watch` receives the start, the number of sweeps and θ. The links of the result are the links of
/// the configuration, transformed once. Gauge-invariant observables change by rounding only.
///
/// # Errors
/// * A parameter makes no sense.
/// * No start converges.
/// * A link has no nearest element of SU(3).
/// * There is too little memory.
pub fn fix_gauge(
    configuration: &GaugeConfiguration,
    params: &FixParams,
    watch: &mut dyn FnMut(usize, usize, f64),
) -> Result<FixOutcome, FixError> {
    // Written so that NaN is refused.
    if !(params.tolerance > 0.0 && params.tolerance < f64::MAX) {
        return Err(FixError::Tolerance(params.tolerance));
    }
    if !(1.0..2.0).contains(&params.overrelaxation) {
        return Err(FixError::OverRelaxation(params.overrelaxation));
    }
    let table = LinkTable::new(configuration, 3)?;
    let mut starts: Vec<FixedStart> = Vec::new();
    let mut best: Option<(usize, GaugeConfiguration)> = None;
    for start in 0..params.starts {
        let mut fixing = Fixing::new(&table, configuration, params, start);
        let iterations = fixing.run(params, &mut |iterations, theta| watch(start, iterations, theta));
        let links = random::transform_links(configuration, &fixing.transformation);
        let (functional, theta) = (params.gauge.functional_in_su3(&links)?, params.gauge.theta(&links));
        let converged = theta < params.tolerance;
        starts.push(FixedStart { functional, theta, iterations, converged });
        let is_better =
            best.as_ref().is_none_or(|&(best, _)| functional > starts[best].functional + SAME_MAXIMUM);
        if converged && is_better {
            best = Some((start, links));
        }
    }
    match best {
        Some((best, links)) => Ok(FixOutcome { links, starts, best }),
        None if starts.is_empty() => Err(FixError::NoStart),
        None => Err(FixError::NotConverged {
            iterations: starts.iter().map(|start| start.iterations).max().unwrap_or(0),
            theta: starts.iter().map(|start| start.theta).fold(f64::INFINITY, f64::min),
            tolerance: params.tolerance,
        }),
    }
}

/// Links on their way into a gauge.
struct Fixing {
    gauge: Gauge,
    overrelaxation: f64,
    links: LinkTable,
    /// The gauge transformation so far.
    transformation: Vec<Matrix3<f64>>,
    /// 0 for even sites, 1 for odd ones.
    parities: Vec<u8>,
}

impl Fixing {
    fn new(table: &LinkTable, configuration: &GaugeConfiguration, params: &FixParams, start: usize) -> Self {
        let dims = configuration.dims();
        let &FixParams { gauge, overrelaxation, seed, .. } = params;
        let transformation = match start {
            0 => vec![Matrix3::identity(); dims.volume()],
            start => random::gauge_transformation(dims, seed.wrapping_add(start as u64)),
        };
        let links = random::transform_links(configuration, &transformation);
        let links = table.with_links(|site, mu| links.link(site, mu));
        let parities = (0..dims.volume()).map(|site| dims.parity(site) as u8).collect();
        Self { gauge, overrelaxation, links, transformation, parities }
    }

    /// Sweeps until θ is below the tolerance; returns how many.
    fn run(&mut self, params: &FixParams, watch: &mut dyn FnMut(usize, f64)) -> usize {
        let mut done = 0;
        loop {
            let theta = self.gauge.theta(&self.links);
            watch(done, theta);
            // The limit is below the tolerance, because the final links are transformed in one step.
            if theta < 0.9 * params.tolerance || done >= params.most_iterations || !theta.is_finite() {
                return done;
            }
            for _ in 0..SWEEPS_OF_A_LOOK.min(params.most_iterations - done) {
                if params.fourier {
                    self.fourier_step();
                }
                self.half_sweep(0);
                self.half_sweep(1);
                done += 1;
            }
        }
    }

    /// Transforms all sites by exp(−X), X the inverse Laplacian of the divergence Δ.
    fn fourier_step(&mut self) {
        let (links, gauge) = (&self.links, self.gauge);
        let sites = (0..self.parities.len()).into_par_iter();
        let divergence =
            sites.map(|site| gauge.sum_of_links(links, site).traceless_anti_hermitian()).collect();
        let solution = inverse_laplacian(divergence, links.dims(), gauge.directions());
        // Rounding of the transforms is taken out of the algebra.
        let step = |x: &Matrix3<f64>| x.scale(-1.0).traceless_anti_hermitian().exponential();
        let change: Vec<Matrix3<f64>> = solution.par_iter().map(step).collect();
        self.links.change(|site, _, ahead, link| *link = change[site] * *link * change[ahead].adjoint());
        self.transformation.par_iter_mut().zip(&change).for_each(|(total, change)| {
            *total = (*change * *total).reunitarised();
        });
    }

    /// Transforms the sites of one parity. No two of them share a link.
    fn half_sweep(&mut self, parity: usize) {
        let is_here = |site: usize| self.parities[site] == parity as u8;
        let (links, gauge, omega) = (&self.links, self.gauge, self.overrelaxation);
        let change_at = |site| match is_here(site) {
            true => towards_the_maximum(gauge.sum_of_links(links, site), omega),
            false => Matrix3::identity(),
        };
        let change: Vec<Matrix3<f64>> = (0..self.parities.len()).into_par_iter().map(change_at).collect();
        self.links.change(|site, _, ahead, link| {
            *link = if is_here(site) { change[site] * *link } else { *link * change[ahead].adjoint() };
        });
        self.transformation.par_iter_mut().enumerate().for_each(|(site, total)| {
            if is_here(site) {
                // Otherwise deviations from SU(3) by rounding would add up.
                *total = (change[site] * *total).reunitarised();
            }
        });
    }
}

/// Returns g with a larger Re tr(g K).
///
/// In each SU(2) subgroup g is the best element to the power ω.
fn towards_the_maximum(mut k: Matrix3<f64>, omega: f64) -> Matrix3<f64> {
    let mut g = Matrix3::identity();
    for subgroup in SUBGROUPS {
        let part = Quaternion::part_of(&k, subgroup);
        let step = part.direction(part.norm()).adjoint().power(omega);
        step.act_on(&mut k, subgroup);
        step.act_on(&mut g, subgroup);
    }
    g
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gauge::{plaquette, polyakov_loop, topological_charge};
    use crate::geometry::Dims;
    use crate::host::random::{gauge_transformation, transform_links, weak};

    fn dims() -> Dims {
        Dims::new([4, 2, 2, 6]).unwrap()
    }

    fn fixed(links: &GaugeConfiguration, params: &FixParams) -> FixOutcome {
        fix_gauge(links, params, &mut |_, _, _| {}).unwrap()
    }

    #[test]
    fn the_gauge_is_reached_and_what_is_invariant_stays() {
        let configuration = weak(dims(), 0.3, 7);
        for gauge in Gauge::ALL {
            let outcome = fixed(&configuration, &FixParams { starts: 3, ..FixParams::new(gauge) });
            let best = outcome.starts[outcome.best];
            assert!(best.theta < 1e-14 && best.converged && best.iterations > 0);
            assert!((best.functional - gauge.functional(&outcome.links)).abs() < 1e-14);
            assert!(best.functional > gauge.functional(&configuration));
            for start in &outcome.starts {
                assert!((start.functional - best.functional).abs() < 1e-12, "{gauge}: {:?}", outcome.starts);
            }
            let (before, after) = (plaquette(&configuration), plaquette(&outcome.links));
            assert!((before.average - after.average).abs() < 1e-14);
            assert!((polyakov_loop(&configuration) - polyakov_loop(&outcome.links)).norm() < 1e-14);
            let charge = |links: &GaugeConfiguration| topological_charge(links).improved;
            assert!((charge(&configuration) - charge(&outcome.links)).abs() < 1e-13);
        }
    }

    /// F has no larger value nearby, in any direction.
    #[test]
    fn the_functional_is_at_a_maximum() {
        let configuration = weak(dims(), 0.3, 7);
        for gauge in Gauge::ALL {
            let links = fixed(&configuration, &FixParams::new(gauge)).links;
            let largest = gauge.functional(&links);
            for seed in 0..5 {
                let noise = gauge_transformation(dims(), seed);
                let step = |size: f64| -> Vec<Matrix3<f64>> {
                    noise.iter().map(|g| g.traceless_anti_hermitian().scale(size).exponential()).collect()
                };
                let change = |size| gauge.functional(&transform_links(&links, &step(size))) - largest;
                // The change is of second order in the step.
                let (near, far) = (change(1e-3), change(2e-3));
                assert!(near < 0.0 && (far / near - 4.0).abs() < 0.1, "{gauge}: {near:e} {far:e}");
            }
        }
    }

    /// One long direction: over-relaxation alone takes many sweeps.
    #[test]
    fn fourier_acceleration_leads_to_the_same_maximum_sooner() {
        let configuration = weak(Dims::new([2, 4, 2, 24]).unwrap(), 0.1, 7);
        for gauge in Gauge::ALL {
            let [plain, fourier] = [FixParams::new(gauge), FixParams::accelerated(gauge)]
                .map(|params| fixed(&configuration, &params));
            let [plain, fourier] = [plain, fourier].map(|outcome| outcome.starts[outcome.best]);
            assert!((plain.functional - fourier.functional).abs() < 1e-12, "{gauge}: {plain:?} {fourier:?}");
            assert!(fourier.iterations < plain.iterations, "{gauge}: {plain:?} {fourier:?}");
        }
    }

    #[test]
    fn what_cannot_be_done_is_said() {
        let configuration = weak(dims(), 0.3, 7);
        let error = |params: FixParams| fix_gauge(&configuration, &params, &mut |_, _, _| {}).unwrap_err();
        let params = FixParams::new(Gauge::Landau);
        assert_eq!(error(FixParams { tolerance: 0.0, ..params }), FixError::Tolerance(0.0));
        assert_eq!(error(FixParams { overrelaxation: 2.0, ..params }), FixError::OverRelaxation(2.0));
        assert_eq!(error(FixParams { starts: 0, ..params }), FixError::NoStart);
        let error = error(FixParams { most_iterations: 3, ..params });
        assert!(matches!(error, FixError::NotConverged { iterations: 3, .. }), "{error}");
    }
}
