//! Effective masses of two-point functions.

use crate::error::{StatisticsError, StatisticsResult};
use crate::hyper_dual::HyperDual;
use crate::quantity::Quantity;

/// Definitions of the effective mass, in lattice units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EffectiveMass {
    /// ln(C(t)/C(t + 1)).
    Logarithm,
    /// The m of C(t)/C(t + 1) = cosh(m (t − T/2))/cosh(m (t + 1 − T/2)).
    Cosh {
        /// The time extent T.
        extent: usize,
    },
    /// The m of C(t)/C(t + 1) = sinh(m (t − T/2))/sinh(m (t + 1 − T/2)).
    Sinh {
        /// The time extent T.
        extent: usize,
    },
    /// arcosh((C(t − 1) + C(t + 1))/(2 C(t))).
    Arcosh,
    /// The same for a correlator of all times of a period, whose C(T) is C(0).
    PeriodicArcosh,
}

/// Returns the effective mass at each time of a two-point function C(0), C(1), ….
///
/// It is `None` where it is undefined, be it on one resample only, and at times without the
/// neighbours.
///
/// # Errors
/// The times are of different ensembles.
pub fn effective_masses<Q: Quantity>(
    correlator: &[Q],
    definition: EffectiveMass,
) -> StatisticsResult<Vec<Option<Q>>> {
    (0..correlator.len()).map(|time| at_time(correlator, time, definition)).collect()
}

/// Returns the effective mass at one time.
fn at_time<Q: Quantity>(
    correlator: &[Q],
    time: usize,
    definition: EffectiveMass,
) -> StatisticsResult<Option<Q>> {
    let times: &[usize] = match (definition, time.checked_sub(1)) {
        (EffectiveMass::Arcosh | EffectiveMass::PeriodicArcosh, None) => return Ok(None),
        (EffectiveMass::Arcosh, Some(before)) => &[before, time, time + 1],
        (EffectiveMass::PeriodicArcosh, Some(before)) => &[before, time, (time + 1) % correlator.len()],
        _ => &[time, time + 1],
    };
    let neighbours: Option<Vec<&Q>> = times.iter().map(|&time| correlator.get(time)).collect();
    let Some(neighbours) = neighbours else { return Ok(None) };
    let mass = |c: &[HyperDual]| match definition {
        EffectiveMass::Logarithm => (c[0] / c[1]).ln(),
        EffectiveMass::Cosh { extent } => Periodic::new(time, extent, true).mass(c[0] / c[1]),
        EffectiveMass::Sinh { extent } => Periodic::new(time, extent, false).mass(c[0] / c[1]),
        EffectiveMass::Arcosh | EffectiveMass::PeriodicArcosh => {
            (c[0] / c[1] * 0.5 + c[2] / c[1] * 0.5).acosh()
        }
    };
    match Q::derived(&neighbours, mass) {
        Ok(mass) => Ok(Some(mass)),
        Err(StatisticsError::Undefined) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns (C(t) + C(T − t))/2 for the times t from 0 to T/2.
///
/// The correlator has all times of the period T.
///
/// # Errors
/// The times are of different ensembles.
pub fn folded<Q: Quantity>(correlator: &[Q]) -> StatisticsResult<Vec<Q>> {
    let extent = correlator.len();
    let fold = |time: usize| {
        let pair = [&correlator[time], &correlator[(extent - time) % extent]];
        Q::derived(&pair, |c| c[0] * 0.5 + c[1] * 0.5)
    };
    (0..(extent + 2) / 2).take(extent).map(fold).collect()
}

/// Returns ln cosh(x) for x ≥ 0 and its first two derivatives.
fn cosh_logarithm(x: f64) -> [f64; 3] {
    let slope = x.tanh();
    let value = x + (-2.0 * x).exp().ln_1p() - std::f64::consts::LN_2;
    [value, slope, 1.0 - slope * slope]
}

/// Returns ln sinh(x) for x > 0 and its first two derivatives.
fn sinh_logarithm(x: f64) -> [f64; 3] {
    let slope = x.tanh().recip();
    let value = x + (-(-2.0 * x).exp_m1()).ln() - std::f64::consts::LN_2;
    [value, slope, 1.0 - slope * slope]
}

/// The logarithm of a ratio of neighbours, as a function of the mass.
struct Periodic {
    is_cosh: bool,
    /// Distances of the two times from the middle, which may have both on one side.
    distances: [f64; 2],
    is_on_one_side: bool,
}

impl Periodic {
    fn new(time: usize, extent: usize, is_cosh: bool) -> Self {
        let middle = 0.5 * extent as f64;
        let [first, second] = [time as f64 - middle, time as f64 + 1.0 - middle];
        Self { is_cosh, distances: [first.abs(), second.abs()], is_on_one_side: first * second > 0.0 }
    }

    /// Returns ln(f(m a)/f(m b)) for the distances a and b.
    ///
    /// Its first two derivatives by m follow.
    fn at(&self, mass: f64) -> [f64; 3] {
        let logarithm = if self.is_cosh { cosh_logarithm } else { sinh_logarithm };
        let [a, b] = self.distances;
        let (first, second) = (logarithm(mass * a), logarithm(mass * b));
        [first[0] - second[0], a * first[1] - b * second[1], a * a * first[2] - b * b * second[2]]
    }

    /// Returns the mass for a ratio of neighbours, NaN if there is none.
    fn mass(&self, ratio: HyperDual) -> HyperDual {
        let undefined = HyperDual::constant(f64::NAN);
        if !self.is_cosh && !self.is_on_one_side {
            return undefined;
        }
        let [a, b] = self.distances;
        let logarithm = ratio.ln();
        let target = logarithm.value * (a - b).signum();
        let above = |mass: f64| self.at(mass)[0] * (a - b).signum() - target;
        // The function rises with m, and is at least |a − b| m − ln 2.
        let (mut low, mut high) = (0.0, (target + std::f64::consts::LN_2) / (a - b).abs());
        let least = if self.is_cosh { 0.0 } else { (a / b).ln() * (a - b).signum() };
        if a == b || !(target > least && high.is_finite()) {
            return undefined;
        }
        let mut mass = 0.5 * high;
        while low < mass && mass < high {
            if above(mass) < 0.0 {
                low = mass;
            } else {
                high = mass;
            }
            mass = 0.5 * (low + high);
        }
        // Derivatives of the inverse function.
        let [_, slope, curvature] = self.at(mass);
        logarithm.chain(mass, slope.recip(), -curvature / (slope * slope * slope))
    }
}
