//! Pair potentials in closed form, a row of four numbers for each pair of types.

use super::error::{MdError, MdResult};

/// The formula of a pair potential.
///
/// Each has a function here and one in `cl/`, with the same numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Formula {
    /// E = A/r¹² − B/r⁶, with A = 4εσ¹² and B = 4εσ⁶. The numbers are A and B.
    LennardJones,
    /// E = D (x² − 2x) with x = e^{−a(r − r₀)}. The numbers are D, a and r₀.
    Morse,
}

lattice_files::words! {
    Formula, "formula":
    LennardJones = "lennard-jones", "Argon";
    Morse = "morse", "A potential with an exponential"
}

/// The numbers of a formula for a pair of types.
pub type Coefficients = [f64; 4];

/// How parameters of unlike types follow from those of like types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mixing {
    /// σ is the arithmetic mean, ε the geometric one.
    #[default]
    LorentzBerthelot,
    /// Both are geometric means.
    Geometric,
}

lattice_files::words! {
    Mixing, "mixing":
    LorentzBerthelot = "lorentz-berthelot", "Arithmetic mean of σ, geometric mean of ε";
    Geometric = "geometric", "Geometric means"
}

impl Formula {
    /// Returns E and E′ at a distance.
    pub fn energy_and_slope(self, c: &Coefficients, r: f64) -> [f64; 2] {
        match self {
            Self::LennardJones => {
                let inverse = 1.0 / (r * r);
                let sixth = inverse * inverse * inverse;
                let (a, b) = (c[0] * sixth * sixth, c[1] * sixth);
                [a - b, (6.0 * b - 12.0 * a) / r]
            }
            Self::Morse => {
                let x = (-c[1] * (r - c[2])).exp();
                [c[0] * x * (x - 2.0), 2.0 * c[0] * c[1] * x * (1.0 - x)]
            }
        }
    }

    /// Returns ∫ E r² dr and ∫ E′ r³ dr from the cutoff on; `None` for formulas that fall fast.
    pub fn tail(self, c: &Coefficients, cutoff: f64) -> Option<[f64; 2]> {
        match self {
            Self::LennardJones => {
                let inverse = cutoff.powi(-3);
                let (a, b) = (c[0] * inverse.powi(3) / 9.0, c[1] * inverse / 3.0);
                Some([a - b, 6.0 * b - 12.0 * a])
            }
            Self::Morse => None,
        }
    }

    /// Returns a length below which two atoms are at one place.
    pub(crate) fn least_distance(self, c: &Coefficients) -> f64 {
        match self {
            Self::LennardJones if c[0] > 0.0 && c[1] > 0.0 => 1e-3 * (c[0] / c[1]).powf(1.0 / 6.0),
            Self::LennardJones => 0.0,
            Self::Morse => 1e-3 * c[2],
        }
    }

    /// Returns the name of the formula, and its text in OpenCL C.
    pub(crate) fn kernel_text(self) -> (&'static str, &'static str) {
        match self {
            Self::LennardJones => ("lennard-jones", include_str!("../cl/pair_lennard_jones.cl")),
            Self::Morse => ("morse", include_str!("../cl/pair_morse.cl")),
        }
    }
}

impl Mixing {
    /// Returns the numbers of all pairs of types, from ε and σ of each type.
    ///
    /// # Errors
    /// [`MdError::Parameter`] if an ε or σ is not positive.
    pub fn lennard_jones(self, types: &[[f64; 2]]) -> MdResult<Vec<Coefficients>> {
        for &[epsilon, sigma] in types {
            for (name, value) in [("ε", epsilon), ("σ", sigma)] {
                if !(value > 0.0 && value.is_finite()) {
                    return Err(MdError::Parameter { name, value, positive: true });
                }
            }
        }
        let pair = |[e1, s1]: [f64; 2], [e2, s2]: [f64; 2]| {
            let epsilon = (e1 * e2).sqrt();
            let sigma = match self {
                Self::LorentzBerthelot => 0.5 * (s1 + s2),
                Self::Geometric => (s1 * s2).sqrt(),
            };
            let sixth = sigma.powi(6);
            [4.0 * epsilon * sixth * sixth, 4.0 * epsilon * sixth, 0.0, 0.0]
        };
        Ok(types.iter().flat_map(|&a| types.iter().map(move |&b| pair(a, b))).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [(Formula, Coefficients); 2] =
        [(Formula::LennardJones, [2.3e6, 1.5e3, 0.0, 0.0]), (Formula::Morse, [0.8, 1.1, 3.6, 0.0])];

    #[test]
    fn slopes_are_derivatives() {
        for (formula, c) in ALL {
            for r in [2.9, 3.7, 5.3] {
                let h = 1e-4;
                let [left, right] = [r - h, r + h].map(|r| formula.energy_and_slope(&c, r)[0]);
                let slope = formula.energy_and_slope(&c, r)[1];
                let found = (right - left) / (2.0 * h);
                assert!((found - slope).abs() < 1e-6 * (1.0 + slope.abs()), "{formula:?}: {found} {slope}");
            }
        }
    }

    #[test]
    fn the_tail_is_the_integral() {
        let c = [2.3e6, 1.5e3, 0.0, 0.0];
        let (from, to, parts) = (8.5, 200.0, 400_000);
        let h = (to - from) / f64::from(parts);
        let mut sums = [0.0; 2];
        for i in 0..parts {
            let r = from + (f64::from(i) + 0.5) * h;
            let [energy, slope] = Formula::LennardJones.energy_and_slope(&c, r);
            sums[0] += h * energy * r * r;
            sums[1] += h * slope * r * r * r;
        }
        let tail = Formula::LennardJones.tail(&c, from).unwrap();
        assert!((0..2).all(|i| (sums[i] / tail[i] - 1.0).abs() < 1e-3), "{sums:?} {tail:?}");
    }

    #[test]
    fn mixing_takes_means() {
        let types = [[0.2, 3.0], [0.8, 5.0]];
        let of = |mixing: Mixing| mixing.lennard_jones(&types).unwrap();
        let sigma = |c: &Coefficients| (c[0] / c[1]).powf(1.0 / 6.0);
        let berthelot = of(Mixing::LorentzBerthelot);
        assert!((sigma(&berthelot[1]) - 4.0).abs() < 1e-12);
        assert!((sigma(&of(Mixing::Geometric)[2]) - 15.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(berthelot[1], berthelot[2]);
        let epsilon = berthelot[1][1].powi(2) / (4.0 * berthelot[1][0]);
        assert!((epsilon - 0.4).abs() < 1e-12);
        assert!(Mixing::Geometric.lennard_jones(&[[0.1, 0.0]]).is_err());
    }
}
