//! Smearing of spinors in space, for sources and sinks.

use crate::compute::parallel::*;
use crate::gauge::{Directions, SmearParams, smear_text};
use crate::host::{GaugeConfiguration, Spinor};
use lattice_files::number::shown;
use std::fmt;
use std::str::FromStr;

/// Smearing of spinors with hops in x, y and z: ψ ← \[(1 − 6c) + c H\]ⁿ ψ.
///
/// (H ψ)(x) = Σ_k \[U_k(x) ψ(x+k) + U_k†(x−k) ψ(x−k)\] over the directions of space. Spins stay as
/// they are. Signs of the boundary are in no link of H.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpinorSmearing {
    /// c = w²/(4n), as in Chroma's `GAUGE_INV_GAUSSIAN`. Text `gaussian:W,N`.
    Gaussian {
        /// The width w in lattice units.
        width: f64,
        /// The number of steps n.
        steps: usize,
    },
    /// c = α/(1 + 6α): \[(1 + α H)/(1 + 6α)\]ⁿ. Text `wuppertal:ALPHA,N`.
    Wuppertal {
        /// α.
        alpha: f64,
        /// The number of steps n.
        steps: usize,
    },
}

/// Most steps of a smearing.
const MOST_STEPS: usize = 100_000;

/// The largest c that is taken.
///
/// Modes of the shortest waves are multiplied by 1 − 12c in each step.
const LARGEST_WEIGHT: f64 = 0.25;

/// The largest c for which no mode grows.
const STABLE_WEIGHT: f64 = 1.0 / 6.0;

/// A smearing of spinors with a parameter out of its range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SpinorSmearingError {
    /// The width or α.
    #[error(
        "{name} = {value} is out of range: with {steps} steps {name} lies between 0 and {most:.4}, and smearing is stable up to {stable:.4}",
        value = shown(.value)
    )]
    Parameter {
        /// `width` or `alpha`.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The number of steps.
        steps: usize,
        /// The largest value that is taken.
        most: f64,
        /// The largest value for which no mode grows.
        stable: f64,
    },
    /// The number of steps.
    #[error("{0} steps are out of range: smearing of spinors takes 1 to {MOST_STEPS}")]
    Steps(usize),
}

impl SpinorSmearing {
    /// Returns the number of steps.
    pub fn steps(self) -> usize {
        match self {
            Self::Gaussian { steps, .. } | Self::Wuppertal { steps, .. } => steps,
        }
    }

    /// Returns c, the weight of a hop in a step.
    pub fn weight(self) -> f64 {
        match self {
            Self::Gaussian { width, steps } => width * width / (4.0 * steps as f64),
            Self::Wuppertal { alpha, .. } => alpha / (1.0 + 6.0 * alpha),
        }
    }

    /// Returns name and value of the parameter, and its value for a weight c.
    fn parameter(self) -> (&'static str, f64, impl Fn(f64) -> f64) {
        let (name, value, steps) = match self {
            Self::Gaussian { width, steps } => ("width", width, Some(steps)),
            Self::Wuppertal { alpha, .. } => ("alpha", alpha, None),
        };
        let of_weight = move |c: f64| match steps {
            Some(steps) => (4.0 * steps as f64 * c).sqrt(),
            // All weights of positive α are stable.
            None => f64::MAX,
        };
        (name, value, of_weight)
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// When one is out of its range, which the error tells.
    pub fn check(self) -> Result<(), SpinorSmearingError> {
        let steps = self.steps();
        if !(1..=MOST_STEPS).contains(&steps) {
            return Err(SpinorSmearingError::Steps(steps));
        }
        let (name, value, of_weight) = self.parameter();
        let (most, stable) = (of_weight(LARGEST_WEIGHT), of_weight(STABLE_WEIGHT));
        // Written so that NaN is refused.
        if !(0.0..=most).contains(&value) {
            return Err(SpinorSmearingError::Parameter { name, value, steps, most, stable });
        }
        Ok(())
    }

    /// Tells whether no mode grows.
    pub fn is_stable(self) -> bool {
        self.weight() <= STABLE_WEIGHT
    }

    /// Returns the largest value of the parameter for which no mode grows.
    pub fn stable_limit(self) -> f64 {
        self.parameter().2(STABLE_WEIGHT)
    }

    /// Smears a field on the host, with the links of x, y and z.
    ///
    /// # Panics
    /// If there is not one spinor for each site.
    pub fn apply(self, links: &GaugeConfiguration, field: &[Spinor<f64>]) -> Vec<Spinor<f64>> {
        assert_eq!(field.len(), links.dims().volume(), "one spinor for each site");
        let mut field = field.to_vec();
        for _ in 0..self.steps() {
            field = step(self.weight(), links, &field);
        }
        field
    }
}

/// Returns (1 − 6c) ψ + c H ψ.
fn step(weight: f64, links: &GaugeConfiguration, field: &[Spinor<f64>]) -> Vec<Spinor<f64>> {
    let dims = links.dims();
    let of_site = |site: usize| {
        let mut sum = Spinor::default();
        for mu in 0..3 {
            let (ahead, behind) = (dims.forward(site, mu), dims.backward(site, mu));
            let (there, back) = (links.link(site, mu), links.link(behind, mu));
            for spin in 0..4 {
                let from_ahead = there.times(&field[ahead].0[spin]);
                let from_behind = back.adjoint_times(&field[behind].0[spin]);
                for colour in 0..3 {
                    sum.0[spin][colour] += from_ahead[colour] + from_behind[colour];
                }
            }
        }
        Spinor::from_fn(|s, c| field[site].0[s][c] * (1.0 - 6.0 * weight) + sum.0[s][c] * weight)
    };
    (0..field.len()).into_par_iter().map(of_site).collect()
}

impl FromStr for SpinorSmearing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = || {
            format!(
                "`{text}` is no smearing of spinors; write gaussian:W,N or wuppertal:ALPHA,N, for example gaussian:2.5,20"
            )
        };
        let (kind, numbers) = text.split_once(':').ok_or_else(wanted)?;
        let (parameter, steps) = numbers.split_once(',').ok_or_else(wanted)?;
        let parameter = parameter.trim().parse().map_err(|_| wanted())?;
        let steps = steps.trim().parse().map_err(|_| wanted())?;
        let smearing = match kind {
            "gaussian" => Self::Gaussian { width: parameter, steps },
            "wuppertal" => Self::Wuppertal { alpha: parameter, steps },
            _ => return Err(wanted()),
        };
        smearing.check().map_err(|error| error.to_string())?;
        Ok(smearing)
    }
}

impl fmt::Display for SpinorSmearing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gaussian { width, steps } => write!(f, "gaussian:{width:?},{steps}"),
            Self::Wuppertal { alpha, steps } => write!(f, "wuppertal:{alpha:?},{steps}"),
        }
    }
}

/// Smearing of the links that spinors are smeared with.
///
/// Text `ape:ALPHA,N`, `stout:RHO,N` or `hyp:A1,A2,A3,N`. Directions may follow: `stout:0.1,3,xyzt`.
/// Without them links in x, y and z are smeared with staples in space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkSmearing(pub SmearParams);

impl FromStr for LinkSmearing {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        smear_text::parse(text, Directions::SPACE).map(Self)
    }
}

impl fmt::Display for LinkSmearing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        smear_text::write(f, &self.0, Directions::SPACE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Dims;
    use crate::host::random::{gauge_transformation, hot, spinor_field, transform_links, transform_spinor};
    use num_complex::Complex64;
    use std::f64::consts::TAU;

    const KINDS: [SpinorSmearing; 2] = [
        SpinorSmearing::Gaussian { width: 1.7, steps: 5 },
        SpinorSmearing::Wuppertal { alpha: 0.25, steps: 6 },
    ];

    fn distance(a: &[Spinor<f64>], b: &[Spinor<f64>]) -> f64 {
        let of_sites = a.iter().zip(b).map(|(a, b)| Spinor::from_fn(|s, c| a.0[s][c] - b.0[s][c]).norm2());
        of_sites.fold(0.0, f64::max).sqrt()
    }

    #[test]
    fn smearing_commutes_with_gauge_transformations() {
        let dims = Dims::new([4, 2, 6, 2]).unwrap();
        let (links, field, g) = (hot(dims, 1), spinor_field(dims, 2), gauge_transformation(dims, 3));
        for kind in KINDS {
            let here = transform_spinor(&kind.apply(&links, &field), &g);
            let there = kind.apply(&transform_links(&links, &g), &transform_spinor(&field, &g));
            assert!(distance(&here, &there) < 1e-13, "{kind}");
        }
    }

    /// On unit links a plane wave is multiplied by \[1 − 6c + 2c Σ cos p_k\]ⁿ.
    ///
    /// t plays no part.
    #[test]
    fn plane_waves_are_multiplied_by_a_number() {
        let dims = Dims::new([4, 6, 2, 2]).unwrap();
        let numbers = [1.0, 2.0, 0.0, 1.0];
        let momenta: [f64; 4] = std::array::from_fn(|mu| TAU * numbers[mu] / dims[mu] as f64);
        let wave: Vec<Spinor<f64>> = (0..dims.volume())
            .map(|site| {
                let at = dims.coordinates(site);
                let angle: f64 = (0..4).map(|mu| momenta[mu] * at[mu] as f64).sum();
                Spinor::from_fn(|s, c| Complex64::from_polar(1.0 + (3 * s + c) as f64, angle))
            })
            .collect();
        let cosines: f64 = momenta[..3].iter().map(|p| p.cos()).sum();
        for kind in KINDS {
            let c = kind.weight();
            let factor = (1.0 - 6.0 * c + 2.0 * c * cosines).powi(kind.steps() as i32);
            let smeared = kind.apply(&GaugeConfiguration::unit(dims), &wave);
            let expected: Vec<_> =
                wave.iter().map(|psi| Spinor::from_fn(|s, c| psi.0[s][c] * factor)).collect();
            assert!(distance(&smeared, &expected) < 1e-13, "{kind}");
        }
    }

    #[test]
    fn smearing_is_read_as_it_is_written() {
        for text in ["gaussian:2.0,5", "wuppertal:0.25,6"] {
            assert_eq!(text.parse::<SpinorSmearing>().unwrap().to_string(), text);
        }
        for text in ["stout:0.1,3", "ape:0.5,1,xyzt", "hyp:0.75,0.6,0.3,2"] {
            assert_eq!(text.parse::<LinkSmearing>().unwrap().to_string(), text);
        }
        for text in ["", "gaussian", "gaussian:2", "gaussian:2,5,1", "gaussian:a,5", "jacobi:1,2"] {
            assert!(text.parse::<SpinorSmearing>().unwrap_err().contains("gaussian:W,N"), "{text}");
        }
        for text in ["", "stout", "stout:0.1", "stout:3,xyz", "ape:0.5,0.5,3", "hyp:0.5,3", "wilson:1,2"] {
            assert!(text.parse::<LinkSmearing>().unwrap_err().contains("stout:RHO,N"), "{text}");
        }
        assert!("stout:0.1,3,x".parse::<LinkSmearing>().unwrap_err().contains("two different directions"));
    }

    #[test]
    fn what_is_out_of_range_is_refused_with_the_range() {
        for (text, wanted) in [
            ("gaussian:3,5", "width lies between 0 and 2.2361, and smearing is stable up to 1.8257"),
            ("gaussian:NaN,5", "width = NaN"),
            ("gaussian:-1,5", "width = -1"),
            ("gaussian:0,0", "1 to 100000"),
            ("wuppertal:-0.1,5", "alpha = -0.1"),
            ("wuppertal:inf,5", "alpha = inf"),
            ("wuppertal:0.2,100001", "1 to 100000"),
        ] {
            let error = text.parse::<SpinorSmearing>().unwrap_err();
            assert!(error.contains(wanted), "{text}: {error}");
        }
        assert!("stout:0.3,1".parse::<LinkSmearing>().unwrap_err().contains("stable up to 0.1667"));
        assert!(!"gaussian:2,5".parse::<SpinorSmearing>().unwrap().is_stable());
        assert!(KINDS.iter().all(|kind| kind.is_stable()));
    }
}
