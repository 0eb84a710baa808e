//! Boundary conditions: the phases of a fermion field that goes around the torus.

use super::dims::NDIM;
use num_complex::Complex64;
use std::f64::consts::PI;
use std::fmt;
use std::str::FromStr;

/// The phase that a fermion field takes in each direction when it wraps around.
///
/// ψ(x + L_μ μ̂) = s_μ e^{iπθ_μ} ψ(x), with a sign s, +1 periodic and −1 antiperiodic, and an angle
/// θ in units of π. The phase is applied in the hop alone, to the links that leave the last slice
/// of a direction. Checksums, plaquettes and the clover term use the links without the phase.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Boundary {
    signs: [i8; NDIM],
    theta: Theta,
}

/// Angles of a twisted boundary condition for x, y, z, t, in units of π.
///
/// Each angle is finite.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Theta([f64; NDIM]);

/// A text that names no boundary condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no boundary condition; write `antiperiodic` (in t), `periodic`, or four signs such as 1,1,1,-1"
)]
pub struct BoundaryError(String);

/// The largest angle in units of π; its phase has ten correct digits.
const MOST_ANGLE: f64 = 1e6;

/// A text that names no angles.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no list of angles; write four numbers in units of pi between -{MOST_ANGLE} and {MOST_ANGLE}, such as 0.2,0.4,0,0"
)]
pub struct ThetaError(String);

impl Theta {
    /// Takes one angle for each of x, y, z, t in units of π.
    ///
    /// `None` if an angle is not finite, or so large that its phase has lost its digits.
    pub fn new(angles: [f64; NDIM]) -> Option<Self> {
        angles.iter().all(|angle| angle.abs() <= MOST_ANGLE).then_some(Self(angles))
    }

    /// Returns the angles in x, y, z, t, in units of π.
    pub fn angles(&self) -> [f64; NDIM] {
        self.0
    }

    /// Returns e^{iπθ} in direction `mu`, exact where θ is a multiple of ½.
    fn phase(&self, mu: usize) -> Complex64 {
        // Exact, and odd in θ.
        let angle = self.0[mu] % 2.0;
        match angle {
            0.0 => Complex64::new(1.0, 0.0),
            -1.0 | 1.0 => Complex64::new(-1.0, 0.0),
            0.5 | -1.5 => Complex64::new(0.0, 1.0),
            -0.5 | 1.5 => Complex64::new(0.0, -1.0),
            _ => Complex64::new((PI * angle).cos(), (PI * angle).sin()),
        }
    }
}

impl Boundary {
    /// Makes a boundary that is periodic in all directions.
    pub fn periodic() -> Self {
        Self { signs: [1; NDIM], theta: Theta::default() }
    }

    /// Makes a boundary that is periodic in space and antiperiodic in time.
    pub fn antiperiodic_t() -> Self {
        Self { signs: [1, 1, 1, -1], theta: Theta::default() }
    }

    /// Takes one sign for each of x, y, z, t; `None` unless each is +1 or −1.
    pub fn from_signs(signs: [i8; NDIM]) -> Option<Self> {
        signs.iter().all(|s| s.abs() == 1).then_some(Self { signs, theta: Theta::default() })
    }

    /// Replaces the angles and keeps the signs.
    pub fn twisted(self, theta: Theta) -> Self {
        Self { theta, ..self }
    }

    /// Returns the signs in x, y, z, t.
    pub fn signs(&self) -> [i8; NDIM] {
        self.signs
    }

    /// Returns the angles, without the signs.
    pub fn theta(&self) -> Theta {
        self.theta
    }

    /// Returns the phase in direction `mu`: the sign times e^{iπθ}.
    pub fn phase(&self, mu: usize) -> Complex64 {
        self.theta.phase(mu) * f64::from(self.signs[mu])
    }

    /// Returns the phase in direction `mu` if the phase is a sign, 1 or −1.
    pub fn sign(&self, mu: usize) -> Option<f64> {
        let phase = self.phase(mu);
        (phase.im == 0.0).then_some(phase.re)
    }
}

impl Default for Boundary {
    fn default() -> Self {
        Self::antiperiodic_t()
    }
}

impl FromStr for Boundary {
    type Err = BoundaryError;

    fn from_str(text: &str) -> Result<Self, BoundaryError> {
        match text {
            "antiperiodic" => Ok(Self::antiperiodic_t()),
            "periodic" => Ok(Self::periodic()),
            _ => text
                .split(',')
                .map(|sign| sign.trim().parse::<i8>().ok())
                .collect::<Option<Vec<_>>>()
                .and_then(|signs| <[i8; NDIM]>::try_from(signs).ok())
                .and_then(Self::from_signs)
                .ok_or_else(|| BoundaryError(text.to_owned())),
        }
    }
}

impl FromStr for Theta {
    type Err = ThetaError;

    fn from_str(text: &str) -> Result<Self, ThetaError> {
        text.split(',')
            .map(|angle| angle.trim().parse::<f64>().ok())
            .collect::<Option<Vec<_>>>()
            .and_then(|angles| <[f64; NDIM]>::try_from(angles).ok())
            .and_then(Self::new)
            .ok_or_else(|| ThetaError(text.to_owned()))
    }
}

impl fmt::Display for Theta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z, t] = self.0;
        write!(f, "{x},{y},{z},{t}")
    }
}

/// Writes the signs, and the angles if there are any.
///
/// `1,1,1,-1`, or `1,1,1,-1 theta 0.2,0.4,0,0 pi`.
impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z, t] = self.signs;
        write!(f, "{x},{y},{z},{t}")?;
        if self.theta == Theta::default() { Ok(()) } else { write!(f, " theta {} pi", self.theta) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_names_and_signs() {
        assert_eq!("antiperiodic".parse(), Ok(Boundary::antiperiodic_t()));
        assert_eq!("periodic".parse(), Ok(Boundary::periodic()));
        assert_eq!("1,-1,1,-1".parse::<Boundary>().unwrap().signs(), [1, -1, 1, -1]);
        for bad in ["", "1,1,1", "1,1,1,2", "1,1,1,0", "1,1,1,1,1", "anti"] {
            assert!(bad.parse::<Boundary>().is_err(), "{bad}");
        }
        let boundary = Boundary::antiperiodic_t();
        assert_eq!(boundary.to_string().parse(), Ok(boundary));
    }

    #[test]
    fn reads_angles() {
        let theta = "0.2, -0.4,0,1".parse::<Theta>().unwrap();
        assert_eq!(theta.angles(), [0.2, -0.4, 0.0, 1.0]);
        assert_eq!(theta.to_string().parse(), Ok(theta));
        for bad in ["", "1,1,1", "1,1,1,x", "1,1,1,1,1", "0,0,0,inf", "NaN,0,0,0"] {
            let error = bad.parse::<Theta>().unwrap_err().to_string();
            assert!(error.contains("units of pi"), "{error}");
        }
        let boundary = Boundary::antiperiodic_t();
        assert_eq!(boundary.twisted(theta).to_string(), "1,1,1,-1 theta 0.2,-0.4,0,1 pi");
    }

    #[test]
    fn phases_are_exact_where_they_can_be() {
        let phases = |theta: [f64; NDIM]| {
            let boundary = Boundary::antiperiodic_t().twisted(Theta::new(theta).unwrap());
            std::array::from_fn::<_, NDIM, _>(|mu| boundary.phase(mu))
        };
        let [one, i] = [Complex64::new(1.0, 0.0), Complex64::i()];
        assert_eq!(phases([0.0, 1.0, 2.0, 0.0]), [one, -one, one, -one]);
        assert_eq!(phases([0.5, -0.5, 1.5, 1.0]), [i, -i, -i, one]);
        // Eight turns and a quarter of one.
        assert_eq!(phases([16.5, -7.0, 1e6, -1e6]), [i, -one, one, -one]);
        let [a, b, c, d] = phases([0.2, -0.2, 2.2, 0.25]);
        assert_eq!(a, b.conj());
        assert!((a - Complex64::cis(0.2 * PI)).norm() < 1e-15);
        assert!((c - a).norm() < 1e-15);
        assert!((d + Complex64::cis(0.25 * PI)).norm() < 1e-15);
        let signs = Boundary::antiperiodic_t().twisted(Theta::new([1.0, 0.5, 0.1, 1.0]).unwrap());
        assert_eq!([0, 1, 2, 3].map(|mu| signs.sign(mu)), [Some(-1.0), None, None, Some(1.0)]);
    }
}
