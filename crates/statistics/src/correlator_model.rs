//! Models of two-point functions.

use crate::hyper_dual::HyperDual;
use crate::model::Model;
use nalgebra::{DMatrix, DVector};

/// How a state's contribution to a two-point function depends on time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    Exponential,
    Periodic { extent: f64, sign: f64 },
}

/// A sum over states of a two-point function.
///
/// Parameters are amplitude and energy of each state: A_0, E_0, A_1, E_1, …, with increasing
/// energies in units of one over those of time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorrelatorModel {
    shape: Shape,
    states: usize,
}

impl CorrelatorModel {
    /// Returns Σ A_n exp(−E_n t).
    pub fn exponentials(states: usize) -> Self {
        Self { shape: Shape::Exponential, states }
    }

    /// Returns Σ A_n (exp(−E_n t) + exp(−E_n (T − t))) for the time extent T.
    ///
    /// This is 2 A_n exp(−E_n T/2) cosh(E_n (t − T/2)).
    pub fn cosh(extent: f64, states: usize) -> Self {
        Self { shape: Shape::Periodic { extent, sign: 1.0 }, states }
    }

    /// Returns Σ A_n (exp(−E_n t) − exp(−E_n (T − t))) for the time extent T.
    pub fn sinh(extent: f64, states: usize) -> Self {
        Self { shape: Shape::Periodic { extent, sign: -1.0 }, states }
    }

    /// Returns the contribution of one state with amplitude 1.
    fn state(&self, time: f64, energy: HyperDual) -> HyperDual {
        let forward = (energy * -time).exp();
        match self.shape {
            Shape::Exponential => forward,
            Shape::Periodic { extent, sign } => forward + (energy * (time - extent)).exp() * sign,
        }
    }

    /// Returns energies from neighbouring points that fall towards the middle.
    fn effective_energies(&self, x: &[f64], y: &[f64]) -> Vec<f64> {
        let neighbours = x.windows(2).zip(y.windows(2)).filter_map(|(x, y)| {
            let is_behind_middle = match self.shape {
                Shape::Exponential => false,
                Shape::Periodic { extent, .. } => x[0] + x[1] > extent,
            };
            let ratio = if is_behind_middle { y[1] / y[0] } else { y[0] / y[1] };
            (ratio > 1.0 && ratio.is_finite()).then(|| ratio.ln() / (x[1] - x[0]).abs())
        });
        neighbours.filter(|energy| energy.is_finite() && *energy > 0.0).collect()
    }

    /// Returns amplitudes for these energies.
    ///
    /// They have the least squares of relative deviations.
    fn amplitudes(&self, energies: &[f64], x: &[f64], y: &[f64]) -> Option<DVector<f64>> {
        let largest = y.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        let weight = |point: usize| y[point].abs().max(1e-8 * largest).recip();
        let entry = |point: usize, state: usize| {
            // Ratios first: amplitudes may be near the ends of the range.
            self.state(x[point], HyperDual::constant(energies[state])).value * largest * weight(point)
        };
        let matrix = DMatrix::from_fn(x.len(), self.states, entry);
        let target = DVector::from_fn(x.len(), |point, _| y[point] * weight(point));
        if matrix.iter().chain(target.iter()).any(|number| !number.is_finite()) {
            return None;
        }
        matrix.svd(true, true).solve(&target, 1e-12).ok().map(|amplitudes| amplitudes * largest)
    }
}

impl Model for CorrelatorModel {
    fn parameters(&self) -> usize {
        2 * self.states
    }

    fn value(&self, x: f64, parameters: &[HyperDual]) -> HyperDual {
        parameters.chunks_exact(2).map(|state| state[0] * self.state(x, state[1])).sum()
    }

    fn starts(&self, x: &[f64], y: &[f64]) -> Vec<Vec<f64>> {
        let mut energies = self.effective_energies(x, y);
        if energies.is_empty() {
            energies = x.windows(2).map(|x| (x[1] - x[0]).abs().recip()).collect();
        }
        energies.sort_by(f64::total_cmp);
        let Some(&median) = energies.get(energies.len() / 2) else { return Vec::new() };
        let lowest = energies[energies.len() / 8];
        let gaps: &[f64] = if self.states > 1 { &[0.3, 1.0, 3.0] } else { &[1.0] };
        let mut starts = Vec::new();
        for ground in [lowest, median] {
            for gap in gaps {
                let energies: Vec<_> =
                    (0..self.states).map(|state| ground * (1.0 + gap * state as f64)).collect();
                let Some(amplitudes) = self.amplitudes(&energies, x, y) else { continue };
                starts.push(amplitudes.iter().zip(&energies).flat_map(|(a, e)| [*a, *e]).collect());
            }
        }
        starts
    }

    fn arrange(&self, parameters: &mut [f64]) {
        let mut states: Vec<_> = parameters.chunks_exact(2).map(|state| [state[0], state[1]]).collect();
        if let Shape::Periodic { extent, sign } = self.shape {
            // The other sign of an energy is the same function with another amplitude.
            for [amplitude, energy] in states.iter_mut().filter(|state| state[1] < 0.0) {
                *amplitude *= sign * (-*energy * extent).exp();
                *energy = -*energy;
            }
        }
        states.sort_by(|left, right| left[1].total_cmp(&right[1]));
        parameters.iter_mut().zip(states.as_flattened()).for_each(|(parameter, value)| *parameter = *value);
    }
}
