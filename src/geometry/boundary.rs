//! What a fermion field does when it goes once around the torus.

use super::dims::NDIM;
use std::fmt;
use std::str::FromStr;

/// The sign that a fermion field takes in each direction when it wraps around: +1 periodic, −1 antiperiodic.
///
/// It is applied to the links that leave the last slice of a direction; checksums and plaquettes are
/// of the links without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Boundary([i8; NDIM]);

/// A text that names no boundary condition.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no boundary condition; write `antiperiodic` (in t), `periodic`, or four signs such as 1,1,1,-1"
)]
pub struct BoundaryError(String);

impl Boundary {
    /// Periodic in all directions.
    pub fn periodic() -> Self {
        Self([1; NDIM])
    }

    /// Periodic in space, antiperiodic in time.
    pub fn antiperiodic_t() -> Self {
        Self([1, 1, 1, -1])
    }

    /// One sign for each of x, y, z, t; `None` unless each is +1 or −1.
    pub fn from_signs(signs: [i8; NDIM]) -> Option<Self> {
        signs.iter().all(|s| s.abs() == 1).then_some(Self(signs))
    }

    /// The signs in x, y, z, t.
    pub fn signs(&self) -> [i8; NDIM] {
        self.0
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

impl fmt::Display for Boundary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z, t] = self.0;
        write!(f, "{x},{y},{z},{t}")
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
}
