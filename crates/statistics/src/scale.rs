//! The scales t_0 and w_0 from the gradient flow.

use crate::error::{StatisticsError, StatisticsResult};
use crate::hyper_dual::HyperDual;
use crate::quantity::Quantity;

/// The value that t² E(t) has at t_0, and t d/dt(t² E(t)) at w_0².
pub const FLOW_TARGET: f64 = 0.3;

/// Points of a local interpolation.
const STENCIL: usize = 4;

/// Returns t_0, where t² E(t) = `target`, in the unit of the flow times.
///
/// E(t) is the mean energy density at each flow time. Between flow times t² E is a cubic through
/// the nearest four points (M. Lüscher, arXiv:1006.4518).
///
/// # Errors
/// The lengths differ, flow times do not increase, the target is not crossed, or the energies are
/// of different ensembles.
pub fn t0<Q: Quantity>(flow_times: &[f64], energies: &[Q], target: f64) -> StatisticsResult<Q> {
    scale(flow_times, energies, target, squared_energy, |time| time)
}

/// Returns w_0, where t d/dt(t² E(t)) = `target` at t = w_0².
///
/// Its unit is the root of that of flow times. Derivatives are those of polynomials through five
/// neighbouring points, and are interpolated as for [`t0`] (S. Borsányi et al., arXiv:1203.4469).
///
/// # Errors
/// The same as for [`t0`].
pub fn w0<Q: Quantity>(flow_times: &[f64], energies: &[Q], target: f64) -> StatisticsResult<Q> {
    scale(flow_times, energies, target, logarithmic_slope, HyperDual::sqrt)
}

/// Returns a function of the time where a curve of the flow crosses the target.
fn scale<Q: Quantity>(
    flow_times: &[f64],
    energies: &[Q],
    target: f64,
    curve: fn(&[f64], &[HyperDual]) -> Vec<HyperDual>,
    result: fn(HyperDual) -> HyperDual,
) -> StatisticsResult<Q> {
    if energies.len() != flow_times.len() {
        let (expected, found) = (flow_times.len(), energies.len());
        return Err(StatisticsError::Length { what: "energies", expected, found });
    }
    let is_bad = |index: usize| {
        !flow_times[index].is_finite() || (index > 0 && flow_times[index] <= flow_times[index - 1])
    };
    if let Some(index) = (0..flow_times.len()).find(|&index| is_bad(index)) {
        return Err(StatisticsError::Abscissa { what: "flow time", index, value: flow_times[index] });
    }
    if flow_times.len() < STENCIL {
        return Err(StatisticsError::TooFewPoints { points: flow_times.len(), parameters: STENCIL });
    }
    let crossing_of = |energies: &[HyperDual]| crossing(flow_times, &curve(flow_times, energies), target);
    let centre: Vec<_> = energies.iter().map(|energy| HyperDual::constant(energy.value())).collect();
    if crossing_of(&centre).is_none() {
        let (first, last) = (flow_times[0], flow_times[flow_times.len() - 1]);
        return Err(StatisticsError::NotCrossed { target, first, last });
    }
    let undefined = HyperDual::constant(f64::NAN);
    Q::derived(&energies.iter().collect::<Vec<_>>(), |energies| {
        crossing_of(energies).map_or(undefined, result)
    })
}

/// Returns t² E(t) at each flow time.
fn squared_energy(times: &[f64], energies: &[HyperDual]) -> Vec<HyperDual> {
    times.iter().zip(energies).map(|(time, energy)| *energy * (time * time)).collect()
}

/// Returns t d/dt(t² E(t)) at each flow time.
fn logarithmic_slope(times: &[f64], energies: &[HyperDual]) -> Vec<HyperDual> {
    let values = squared_energy(times, energies);
    let points = times.len().min(STENCIL + 1);
    let at = |point: usize| {
        let first = point.saturating_sub(points / 2).min(times.len() - points);
        let nodes = &times[first..first + points];
        let slopes = slopes_at_node(nodes, point - first);
        slopes.iter().zip(&values[first..]).map(|(slope, value)| *value * (*slope * times[point])).sum()
    };
    (0..times.len()).map(at).collect()
}

/// Returns the derivatives of Lagrange's polynomials at one of the nodes.
fn slopes_at_node(nodes: &[f64], at: usize) -> Vec<f64> {
    let others = |but: [usize; 2]| (0..nodes.len()).filter(move |node| !but.contains(node));
    let slope = |one: usize| -> f64 {
        if one == at {
            return others([at, at]).map(|node| (nodes[at] - nodes[node]).recip()).sum();
        }
        let quotients = others([one, at]).map(|node| (nodes[at] - nodes[node]) / (nodes[one] - nodes[node]));
        quotients.product::<f64>() / (nodes[one] - nodes[at])
    };
    (0..nodes.len()).map(slope).collect()
}

/// Returns the first time where the interpolated values rise to the target.
fn crossing(times: &[f64], values: &[HyperDual], target: f64) -> Option<HyperDual> {
    let rises = |pair: &[HyperDual]| pair[0].value < target && target <= pair[1].value;
    let before = values.windows(2).position(rises)?;
    let first = before.saturating_sub(1).min(times.len() - STENCIL);
    let (nodes, values) = (&times[first..first + STENCIL], &values[first..first + STENCIL]);
    let (mut low, mut high) = (times[before], times[before + 1]);
    let mut time = 0.5 * (low + high);
    while low < time && time < high {
        if interpolated(nodes, values, HyperDual::constant(time)).value < target {
            low = time;
        } else {
            high = time;
        }
        time = 0.5 * (low + high);
    }
    let along = HyperDual { first: 1.0, ..HyperDual::constant(time) };
    let constants: Vec<_> = values.iter().map(|value| HyperDual::constant(value.value)).collect();
    let slope = interpolated(nodes, &constants, along).first;
    // One step of Newton's method has the derivatives of the root.
    let step = (interpolated(nodes, values, HyperDual::constant(time)) - target) / slope;
    Some(HyperDual { value: time, ..HyperDual::constant(time) - step })
}

/// Returns the polynomial through the values at the nodes (Lagrange's form).
fn interpolated(nodes: &[f64], values: &[HyperDual], time: HyperDual) -> HyperDual {
    let term = |one: usize| {
        let others = (0..nodes.len()).filter(|&node| node != one);
        others.fold(values[one], |product, node| product * (time - nodes[node]) / (nodes[one] - nodes[node]))
    };
    (0..nodes.len()).map(term).sum()
}
