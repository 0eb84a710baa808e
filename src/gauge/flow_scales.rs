//! The scales t0 and w0 of a flow.

use serde::Serialize;

/// The scales at which the flow reaches a reference value, in lattice units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FlowScales {
    /// The reference value c, by custom 0.3.
    pub reference: f64,
    /// The flow time at which t² E(t) = c. `None` if the flow ends before.
    ///
    /// Source: M. Lüscher, JHEP 08 (2010) 071.
    pub t0: Option<f64>,
    /// The root of the flow time at which t d(t² E)/dt = c.
    ///
    /// `None` if the flow ends before. Source: S. Borsanyi et al., JHEP 09 (2012) 010.
    pub w0: Option<f64>,
}

impl FlowScales {
    /// Finds the scales from energies at the flow times 0, `step`, 2 `step` and so on.
    ///
    /// Both are interpolated linearly between the two steps that enclose the first crossing. The
    /// derivative at a step is the difference of the steps before and after it over twice the step.
    pub fn new(energies: &[f64], step: f64, reference: f64) -> Self {
        let time = |i: usize| i as f64 * step;
        let scaled: Vec<f64> =
            energies.iter().enumerate().map(|(i, energy)| time(i).powi(2) * energy).collect();
        let slope = |(i, three): (usize, &[f64])| time(i + 1) * (three[2] - three[0]) / (2.0 * step);
        // At flow time zero the derivative has the factor zero.
        let slopes: Vec<f64> = [0.0].into_iter().chain(scaled.windows(3).enumerate().map(slope)).collect();
        Self {
            reference,
            t0: first_crossing(&scaled, reference).map(|place| place * step),
            w0: first_crossing(&slopes, reference).map(|place| (place * step).sqrt()),
        }
    }
}

/// Returns the first place at which values reach the reference from below.
///
/// The place is an interpolated index.
fn first_crossing(values: &[f64], reference: f64) -> Option<f64> {
    let before = values.windows(2).position(|pair| pair[0] < reference && pair[1] >= reference)?;
    Some(before as f64 + (reference - values[before]) / (values[before + 1] - values[before]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// t²E = t³: crossings of straight lines between steps.
    #[test]
    fn scales_are_interpolated_between_steps() {
        let step = 0.5;
        let energies: Vec<f64> = (0..6).map(|i| f64::from(i) * step).collect();
        let scales = FlowScales::new(&energies, step, 0.3);
        // 0.125 at 0.5 and 1 at 1.
        assert!((scales.t0.unwrap() - (0.5 + 0.5 * 0.175 / 0.875)).abs() < 1e-15);
        // The derivative is 0.5 · (1 − 0) / 1 at 0.5.
        assert!((scales.w0.unwrap() - (0.5f64 * 0.3 / 0.5).sqrt()).abs() < 1e-15);
        assert_eq!(FlowScales::new(&energies, step, 100.0).t0, None);
        assert_eq!(FlowScales::new(&energies[..1], step, 0.3).w0, None);
    }
}
