//! The gradient flow of links.
//!
//! dV/dt = Z(V) V with Z = TA(Ω) and V = U at t = 0 (M. Lüscher, JHEP 08 (2010) 071). For the
//! Wilson action Ω_μ = Σ_ν C_μ^{(ν)} V_μ†, C the staples. The Symanzik action of Lüscher and Weisz
//! has (1 − 8c1) C + c1 R with the staples R of rectangles, c1 = −1/12.

use super::directions::Directions;
use super::energy::{Energy, TopologicalCharge, clover_energy, energy_and_charge, from_sums};
use super::link_table::LinkTable;
use super::observables::plaquette;
use super::on_device::{DeviceLinks, LinkUpdate, StepErrors};
use super::staples::{rectangle_staple_sum, staple_sum};
use crate::compute::parallel::*;
use crate::compute::{Device, DeviceError, Team};
use crate::geometry::NDIM;
use crate::host::{GaugeConfiguration, LinksOfSites, Matrix3, NoRoom};
use derive_setters::Setters;
use lattice_files::number::shown;
use lattice_solvers::range::larger;
use serde::Serialize;
use std::ops::ControlFlow;

/// The action whose gradient links flow along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FlowAction {
    /// Plaquettes.
    #[default]
    Wilson,
    /// Plaquettes and rectangles with c1 = −1/12.
    ///
    /// Source: M. Lüscher and P. Weisz, Commun. Math. Phys. 97, 59 (1985).
    Symanzik,
}

/// The coefficient of rectangles in the Symanzik action.
const C1: f64 = -1.0 / 12.0;

lattice_files::words! { FlowAction, "action to flow with": Wilson = "wilson"; Symanzik = "symanzik" }

impl FlowAction {
    /// Returns the largest step that damps all modes of a weak field.
    ///
    /// A mode with k̂² ≤ 16 decays with the rate k̂² (Wilson) or at most k̂² + Σ k̂_μ⁴/12
    /// (Symanzik). The method of third order is stable while step times rate is below 2.51.
    pub fn largest_step(self) -> f64 {
        match self {
            Self::Wilson => 0.156,
            Self::Symanzik => 0.117,
        }
    }

    /// Returns the coefficients of the staples of plaquettes and of rectangles in Ω.
    fn coefficients(self) -> [f64; 2] {
        match self {
            Self::Wilson => [1.0, 0.0],
            Self::Symanzik => [1.0 - 8.0 * C1, C1],
        }
    }

    /// Returns the stages of a step ε of the flow, to be done one after the other.
    pub fn stages(self, epsilon: f64) -> [LinkUpdate; 3] {
        std::array::from_fn(|stage| {
            let [of_force, of_before] = STAGES[stage];
            LinkUpdate {
                directions: Directions::ALL,
                of_force: epsilon * of_force,
                of_before,
                coefficients: self.coefficients(),
                keeps_exponent: stage + 1 < STAGES.len(),
            }
        })
    }

    /// Returns TA(Ω) of a link.
    fn force(self, links: &LinkTable, site: usize, mu: usize) -> Matrix3<f64> {
        let staples = staple_sum(links, site, mu, Directions::ALL);
        let [of_plaquettes, of_rectangles] = self.coefficients();
        let sum = match self {
            Self::Wilson => staples,
            Self::Symanzik => {
                staples.scale(of_plaquettes) + rectangle_staple_sum(links, site, mu).scale(of_rectangles)
            }
        };
        (sum * links.link(site, mu).adjoint()).traceless_anti_hermitian()
    }
}

/// Parameters of the flow.
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct FlowParams {
    /// The action.
    pub action: FlowAction,
    /// The time between points where the energy is measured.
    ///
    /// Without a tolerance this is one step of the integrator.
    pub step: f64,
    /// Number of steps. The flow ends at `steps` times `step`.
    pub steps: usize,
    /// A [row](FlowRow) is made at each multiple of this many steps, and at the end.
    pub every: usize,
    /// The largest error of a link's entry in a step of the integrator.
    ///
    /// With a tolerance, each step is cut into as many steps as are needed.
    pub tolerance: Option<f64>,
}

impl Default for FlowParams {
    fn default() -> Self {
        Self { action: FlowAction::Wilson, step: 0.01, steps: 100, every: 1, tolerance: None }
    }
}

/// The reason why links do not flow.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FlowError {
    /// The step is not positive, or too large.
    #[error(
        "a flow step of {step} is not possible: with the {action} action it is positive and at most {most}",
        step = shown(.step), most = shown(.most)
    )]
    Step {
        /// The step.
        step: f64,
        /// The action.
        action: FlowAction,
        /// The largest step that is stable.
        most: f64,
    },
    /// The tolerance is not a positive number.
    #[error(
        "a tolerance of {number} is not possible: it is a positive number, for example 1e-6",
        number = shown(.0)
    )]
    Tolerance(f64),
    /// The steps of the integrator have become too small.
    #[error(
        "no step keeps the error below the tolerance {number}; choose a larger one",
        number = shown(.0)
    )]
    StepTooSmall(f64),
    /// There is not enough memory.
    #[error(transparent)]
    OutOfMemory(#[from] NoRoom),
    /// A device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// The measurements at one flow time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FlowRow {
    /// The flow time t, in units of the lattice spacing squared.
    pub time: f64,
    /// The action density.
    pub energy: Energy,
    /// t² times the clover energy.
    pub t2_energy: f64,
    /// The topological charge.
    pub charge: TopologicalCharge,
    /// The average of ⅓ Re tr P.
    pub plaquette: f64,
}

/// A flow that came to its end, or to where it was stopped.
#[derive(Clone, Debug)]
pub struct FlowOutcome {
    /// The measurements, from t = 0 on.
    pub rows: Vec<FlowRow>,
    /// The clover energy at each step, from t = 0 on.
    ///
    /// See [`FlowScales::new`](super::FlowScales::new).
    pub energies: Vec<f64>,
    /// The links at the end.
    pub links: GaugeConfiguration,
    /// Steps of the integrator.
    pub integrator_steps: usize,
}

/// Lets links flow on the host; see [`flow_on`].
///
/// # Errors
/// The errors of [`flow_on`].
pub fn flow(
    configuration: &GaugeConfiguration,
    params: &FlowParams,
    watch: &mut dyn FnMut(usize, f64) -> ControlFlow<()>,
) -> Result<FlowOutcome, FlowError> {
    flow_on(&Team::host(), configuration, params, watch)
}

/// Integrates the flow of links on the first device of a team, or on the host.
///
/// The flow runs in double precision. `watch` is told each finished step and its clover energy.
/// [`ControlFlow::Break`] ends the flow.
///
/// Links of a file in single precision are taken as they are, and stay as far from SU(3) as they
/// were.
///
/// Besides the links, the host keeps one matrix for each link, or four with a tolerance. A device
/// keeps two, or four with a tolerance. A field is not cut over devices.
///
/// # Errors
/// When the step or the tolerance makes no sense, without memory, and when the device fails.
pub fn flow_on(
    team: &Team,
    configuration: &GaugeConfiguration,
    params: &FlowParams,
    watch: &mut dyn FnMut(usize, f64) -> ControlFlow<()>,
) -> Result<FlowOutcome, FlowError> {
    let &FlowParams { action, step, steps, every, tolerance } = params;
    let most = if tolerance.is_some() { f64::MAX } else { action.largest_step() };
    // Written so that NaN is refused.
    if !(step > 0.0 && step <= most) {
        return Err(FlowError::Step { step, action, most: action.largest_step() });
    }
    if let Some(tolerance) = tolerance.filter(|&tolerance| !(tolerance > 0.0 && tolerance < f64::MAX)) {
        return Err(FlowError::Tolerance(tolerance));
    }
    let mut field = match team.devices().first() {
        None => Field::Host(FlowingLinks::new(configuration, action, tolerance)?),
        Some(device) => {
            let adapts = tolerance.is_some();
            Field::Device(Box::new(DeviceFlow::new(device, configuration, action, adapts)?))
        }
    };
    let mut rows = vec![field.row(0.0)?];
    let mut energies = vec![rows[0].energy.clover];
    let mut adaptive = Adaptive { next: step.min(action.largest_step() / 2.0), steps: 0 };
    for done in 1..=steps {
        match tolerance {
            None => field.step(step)?,
            Some(tolerance) => adaptive.advance(&mut field, action, step, tolerance)?,
        }
        let energy = if done % every.max(1) == 0 || done == steps {
            let row = field.row(time_after(done, step))?;
            rows.push(row);
            row.energy.clover
        } else {
            field.clover_energy()?
        };
        energies.push(energy);
        if watch(done, energy).is_break() {
            break;
        }
    }
    let integrator_steps = if tolerance.is_some() { adaptive.steps } else { energies.len() - 1 };
    let links = match field {
        Field::Host(field) => field.links.into_configuration(),
        Field::Device(field) => field.links.to_configuration()?,
    };
    Ok(FlowOutcome { rows, energies, links, integrator_steps })
}

/// The place of the links that flow.
enum Field {
    Host(FlowingLinks),
    Device(Box<DeviceFlow>),
}

impl Field {
    /// Measures the observables of a row.
    fn row(&self, time: f64) -> Result<FlowRow, FlowError> {
        let (energy, charge, plaquette) = match self {
            Self::Host(field) => {
                let (energy, charge) = energy_and_charge(&field.links);
                (energy, charge, plaquette(&field.links).average)
            }
            Self::Device(field) => field.measure()?,
        };
        Ok(FlowRow { time, energy, t2_energy: time * time * energy.clover, charge, plaquette })
    }

    /// Goes on by a step ε.
    fn step(&mut self, epsilon: f64) -> Result<(), FlowError> {
        match self {
            Self::Host(field) => field.step(epsilon),
            Self::Device(field) => field.step(epsilon)?,
        }
        Ok(())
    }

    /// Does a step and returns its difference from a step of second order: the largest |entry|.
    fn step_with_error(&mut self, epsilon: f64) -> Result<f64, FlowError> {
        match self {
            Self::Host(field) => Ok(field.step_with_error(epsilon)),
            Self::Device(field) => Ok(field.step_with_error(epsilon)?),
        }
    }

    /// Takes back the last step whose error is known.
    fn take_back(&mut self) {
        match self {
            Self::Host(field) => field.take_back(),
            Self::Device(field) => field.take_back(),
        }
    }

    fn clover_energy(&self) -> Result<f64, FlowError> {
        match self {
            Self::Host(field) => Ok(clover_energy(&field.links)),
            Self::Device(field) => Ok(field.links.clover_energy()?),
        }
    }
}

/// Links that flow on a device, by the same stages as [`FlowingLinks`].
struct DeviceFlow {
    links: DeviceLinks,
    action: FlowAction,
    /// For adaptive steps.
    errors: Option<StepErrors>,
}

impl DeviceFlow {
    fn new(
        device: &Device,
        configuration: &GaugeConfiguration,
        action: FlowAction,
        adapts: bool,
    ) -> Result<Self, DeviceError> {
        let links = DeviceLinks::new(device, configuration, action == FlowAction::Symanzik)?;
        let errors = if adapts { Some(StepErrors::new(&links)?) } else { None };
        Ok(Self { links, action, errors })
    }

    /// See [`FlowingLinks::step_with_error`].
    fn step_with_error(&mut self, epsilon: f64) -> Result<f64, DeviceError> {
        let stages = self.action.stages(epsilon);
        let errors = match &mut self.errors {
            Some(errors) => errors,
            none => none.insert(StepErrors::new(&self.links)?),
        };
        self.links.updates_with_error(&stages, SECOND_ORDER, errors)
    }

    fn take_back(&mut self) {
        if let Some(errors) = &mut self.errors {
            self.links.take_back(errors);
        }
    }

    fn step(&mut self, epsilon: f64) -> Result<(), DeviceError> {
        self.action.stages(epsilon).iter().try_for_each(|stage| self.links.update(stage))
    }

    fn measure(&self) -> Result<(Energy, TopologicalCharge, f64), DeviceError> {
        let [plaquettes, rectangles] = [self.links.sums(false)?, self.links.sums(true)?];
        let volume = self.links.dims().volume();
        let average = plaquettes.plaquettes.iter().sum::<f64>() / (18 * volume) as f64;
        let (energy, charge) = from_sums(
            volume,
            [plaquettes.energy, plaquettes.charge],
            [rectangles.energy, rectangles.charge],
            average,
        );
        Ok((energy, charge, average))
    }
}

/// Links that flow, by a Runge-Kutta method of third order.
///
/// Source: M. Lüscher, JHEP 08 (2010) 071, eq. C.2. With Z_i = ε Z(W_i):
///
/// ```text
/// W_1 = e^{X_0} V,   W_2 = e^{X_1} W_1,   V' = e^{X_2} W_2
/// X_0 = Z_0/4,   X_1 = 8/9 Z_1 − 17/9 X_0,   X_2 = 3/4 Z_2 − X_1
/// ```
struct FlowingLinks {
    links: LinkTable,
    action: FlowAction,
    /// X_i.
    exponents: Vec<Matrix3<f64>>,
    /// The links before the last step whose error is known.
    before: Option<LinkTable>,
}

/// The factors of ε Z and of the previous exponent, for each stage.
const STAGES: [[f64; 2]; 3] = [[0.25, 0.0], [8.0 / 9.0, -17.0 / 9.0], [0.75, -1.0]];

/// The factors of X_0 and X_1 in the exponent of a step of second order: −Z_0 + 2 Z_1.
const SECOND_ORDER: [f64; 2] = [0.25, 2.25];

impl FlowingLinks {
    fn new(
        configuration: &GaugeConfiguration,
        action: FlowAction,
        tolerance: Option<f64>,
    ) -> Result<Self, NoRoom> {
        // A row needs lines of two links.
        let fields = if tolerance.is_some() { 5 } else { 3 };
        let links = LinkTable::new(configuration, fields)?;
        let exponents = vec![Matrix3::zero(); links.links().len()];
        Ok(Self { links, action, exponents, before: None })
    }

    /// Goes on by a step ε.
    fn step(&mut self, epsilon: f64) {
        for stage in STAGES {
            self.stage(epsilon, stage);
        }
    }

    fn stage(&mut self, epsilon: f64, [of_force, of_before]: [f64; 2]) {
        let (links, action) = (&self.links, self.action);
        self.exponents.par_iter_mut().enumerate().for_each(|(k, exponent)| {
            let force = action.force(links, k / NDIM, k % NDIM).scale(epsilon * of_force);
            *exponent = force + exponent.scale(of_before);
        });
        let exponents = &self.exponents;
        self.links.change(|site, mu, _, link| *link = exponents[NDIM * site + mu].exponential() * *link);
    }

    /// Does a step and returns its difference from a step of second order.
    ///
    /// The step of second order is W' = e^{−Z_0+2Z_1} V (P. Fritzsch and A. Ramos, JHEP 10 (2013)
    /// 008). The difference is the largest |entry|.
    fn step_with_error(&mut self, epsilon: f64) -> f64 {
        self.before = Some(self.links.clone());
        self.stage(epsilon, STAGES[0]);
        let first = self.exponents.clone();
        self.stage(epsilon, STAGES[1]);
        let [of_first, of_next] = SECOND_ORDER;
        let of_second_order: Vec<Matrix3<f64>> = first
            .par_iter()
            .zip(&self.exponents)
            .map(|(first, second)| first.scale(of_first) + second.scale(of_next))
            .collect();
        drop(first);
        self.stage(epsilon, STAGES[2]);
        let Some(before) = &self.before else { return f64::NAN };
        let difference = |k: usize| {
            let other = of_second_order[k].exponential() * before.links()[k];
            self.links.links()[k].max_difference(&other)
        };
        (0..of_second_order.len()).into_par_iter().map(difference).reduce(|| 0.0, larger)
    }

    /// Takes back the last step whose error is known.
    fn take_back(&mut self) {
        if let Some(before) = self.before.take() {
            self.links = before;
        }
    }
}

/// Steps of a size that keeps the error below a tolerance.
struct Adaptive {
    /// The size to try.
    next: f64,
    /// Steps that were kept.
    steps: usize,
}

impl Adaptive {
    /// Goes on by `time`, exactly.
    fn advance(
        &mut self,
        field: &mut Field,
        action: FlowAction,
        time: f64,
        tolerance: f64,
    ) -> Result<(), FlowError> {
        let most = action.largest_step();
        let mut left = time;
        while left > 0.0 {
            let last = left <= self.next * (1.0 + 1e-9);
            let epsilon = if last { left } else { self.next };
            let error = field.step_with_error(epsilon)?;
            // The error is of third order. The factor keeps a small margin.
            let factor = (0.95 * (tolerance / error).cbrt()).clamp(0.2, 2.0);
            if error <= tolerance {
                self.steps += 1;
                left = if last { 0.0 } else { left - epsilon };
                // A step that was short because the end is near tells little.
                self.next = (epsilon * factor).max(if last { self.next } else { 0.0 }).min(most);
            } else {
                field.take_back();
                self.next = epsilon * factor;
                if self.next.is_nan() || self.next <= 1e-9 * time {
                    return Err(FlowError::StepTooSmall(tolerance));
                }
            }
        }
        Ok(())
    }
}

/// Returns the time after so many steps, without the last digits, which rounding makes.
///
/// 41 steps of 0.01 are 0.41. Their product is 0.41000000000000003.
fn time_after(steps: usize, step: f64) -> f64 {
    let time = steps as f64 * step;
    format!("{time:.14e}").parse().unwrap_or(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gauge::{Projection, SmearParams, Smearing, smear};
    use crate::geometry::Dims;
    use crate::host::random::{gauge_transformation, transform_links, weak};
    use crate::host::unitarity;

    fn dims() -> Dims {
        Dims::new([4, 2, 2, 6]).unwrap()
    }

    fn largest_difference(a: &GaugeConfiguration, b: &GaugeConfiguration) -> f64 {
        let links = (0..NDIM * a.dims().volume()).map(|k| (k / NDIM, k % NDIM));
        links.map(|(x, mu)| a.link(x, mu).max_difference(&b.link(x, mu))).fold(0.0, f64::max)
    }

    fn flowed(configuration: &GaugeConfiguration, params: &FlowParams) -> FlowOutcome {
        flow(configuration, params, &mut |_, _| ControlFlow::Continue(())).unwrap()
    }

    #[test]
    fn times_are_short_numbers() {
        let times: Vec<String> = [3, 29, 41, 57, 1000].map(|k| time_after(k, 0.01).to_string()).into();
        assert_eq!(times, ["0.03", "0.29", "0.41", "0.57", "10"]);
        assert!((time_after(7, 1.0 / 3.0) - 7.0 / 3.0).abs() < 1e-14);
    }

    #[test]
    fn flow_commutes_with_gauge_transformations_and_stays_in_su3() {
        let configuration = weak(dims(), 0.3, 7);
        let g = gauge_transformation(dims(), 8);
        for action in FlowAction::ALL {
            let params = FlowParams { action, step: 0.02, steps: 5, every: 5, ..Default::default() };
            let outcome = flowed(&configuration, &params);
            let found = unitarity(&outcome.links);
            assert!(found.unitarity_deviation < 1e-14 && found.determinant_deviation < 1e-14);
            let other = flowed(&transform_links(&configuration, &g), &params);
            let distance = largest_difference(&other.links, &transform_links(&outcome.links, &g));
            assert!(distance < 1e-13, "{action}: {distance:e}");
            let [first, last] = outcome.rows[..] else { panic!("{} rows", outcome.rows.len()) };
            assert!(last.energy.clover < first.energy.clover && last.plaquette > first.plaquette);
            assert_eq!((outcome.energies.len(), last.time), (6, 0.1));
        }
    }

    /// A step of Euler's method is a stout step.
    ///
    /// The flow is the limit of many small ones.
    #[test]
    fn many_small_stout_steps_are_the_flow() {
        let configuration = weak(dims(), 0.3, 7);
        let end = flowed(&configuration, &FlowParams { step: 0.02, steps: 5, ..Default::default() }).links;
        let error = |steps: usize| {
            let smearing = Smearing::Stout { rho: 0.1 / steps as f64 };
            let projection = Projection::Trace;
            let params = SmearParams { smearing, steps, directions: Directions::ALL, projection };
            largest_difference(&smear(&configuration, &params).unwrap(), &end)
        };
        let (coarse, fine) = (error(50), error(100));
        assert!(fine < 2e-3 && (coarse / fine - 2.0).abs() < 0.1, "{coarse:e} {fine:e}");
    }

    #[test]
    fn errors_are_of_third_order() {
        let configuration = weak(dims(), 0.3, 7);
        for action in FlowAction::ALL {
            let at = |steps: usize| {
                let step = 0.16 / steps as f64;
                flowed(&configuration, &FlowParams { action, step, steps, ..Default::default() }).links
            };
            let exact = at(64);
            let [coarse, fine] = [8, 16].map(|steps| largest_difference(&at(steps), &exact));
            assert!((6.5..9.5).contains(&(coarse / fine)), "{action}: {coarse:e} {fine:e}");
        }
    }

    #[test]
    fn adaptive_steps_keep_the_error_and_end_at_the_same_time() {
        let configuration = weak(dims(), 0.3, 7);
        let fine = flowed(&configuration, &FlowParams { step: 0.005, steps: 80, ..Default::default() });
        for tolerance in [1e-3, 1e-6] {
            let params = FlowParams { step: 0.2, steps: 2, tolerance: Some(tolerance), ..Default::default() };
            let outcome = flowed(&configuration, &params);
            let distance = largest_difference(&outcome.links, &fine.links);
            assert!(distance < 10.0 * tolerance, "{distance:e} with {tolerance:e}");
            assert!(outcome.integrator_steps >= 4, "{}", outcome.integrator_steps);
            assert_eq!(outcome.rows.last().unwrap().time, 0.4);
        }
    }

    #[test]
    fn steps_that_make_no_sense_are_refused_and_a_flow_can_be_stopped() {
        let configuration = GaugeConfiguration::unit(dims());
        let mut never = |_, _| ControlFlow::Continue(());
        for step in [0.0, -0.01, 0.2, f64::NAN] {
            let params = FlowParams { step, ..Default::default() };
            let error = flow(&configuration, &params, &mut never).unwrap_err();
            assert!(matches!(error, FlowError::Step { most: 0.156, .. }), "{error}");
        }
        let params = FlowParams { tolerance: Some(0.0), ..Default::default() };
        assert_eq!(flow(&configuration, &params, &mut never).unwrap_err(), FlowError::Tolerance(0.0));
        let outcome =
            flow(&configuration, &FlowParams::default(), &mut |_, _| ControlFlow::Break(())).unwrap();
        assert_eq!((outcome.energies, outcome.integrator_steps), (vec![0.0, 0.0], 1));
    }
}
