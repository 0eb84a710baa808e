//! The directions that links are smeared in.

use crate::geometry::{Dims, NDIM};
use std::fmt;

/// Some of the directions x, y, z, t, at least two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directions([bool; NDIM]);

/// Fewer than two directions have no plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("links are smeared in planes: at least two different directions of x, y, z and t are wanted")]
pub struct DirectionsError;

impl Directions {
    /// All four.
    pub const ALL: Self = Self([true; NDIM]);
    /// The directions of space.
    pub const SPACE: Self = Self([true, true, true, false]);

    /// Returns the chosen directions: the true ones, in the order x, y, z, t.
    ///
    /// # Errors
    /// When fewer than two are true.
    pub fn new(chosen: [bool; NDIM]) -> Result<Self, DirectionsError> {
        let count = chosen.iter().filter(|&&chosen| chosen).count();
        if count < 2 { Err(DirectionsError) } else { Ok(Self(chosen)) }
    }

    /// Tells whether a direction is chosen.
    pub fn contains(self, mu: usize) -> bool {
        self.0[mu]
    }

    /// Returns the number of directions.
    pub fn count(self) -> usize {
        self.0.iter().filter(|&&chosen| chosen).count()
    }

    /// Returns the other directions, in order.
    pub fn others(self, mu: usize) -> impl Iterator<Item = usize> {
        (0..NDIM).filter(move |&nu| nu != mu && self.0[nu])
    }
}

impl fmt::Display for Directions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names = (0..NDIM).filter(|&mu| self.0[mu]).map(Dims::direction_name);
        names.try_for_each(|name| write!(f, "{name}"))
    }
}

impl std::str::FromStr for Directions {
    type Err = DirectionsError;

    /// Reads `xyz`.
    fn from_str(text: &str) -> Result<Self, DirectionsError> {
        let mut chosen = [false; NDIM];
        for letter in text.chars() {
            let mu = (0..NDIM).find(|&mu| Dims::direction_name(mu) == letter).ok_or(DirectionsError)?;
            if std::mem::replace(&mut chosen[mu], true) {
                return Err(DirectionsError);
            }
        }
        Self::new(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_are_read_as_they_are_written() {
        assert_eq!("xyz".parse(), Ok(Directions::SPACE));
        assert_eq!("zyxt".parse(), Ok(Directions::ALL));
        assert_eq!("tx".parse::<Directions>().unwrap().to_string(), "xt");
        for text in ["", "x", "xx", "xyq", "x,y"] {
            assert_eq!(text.parse::<Directions>(), Err(DirectionsError), "{text}");
        }
        assert_eq!(Directions::SPACE.others(1).collect::<Vec<_>>(), [0, 2]);
        assert_eq!(Directions::SPACE.others(3).count(), 3);
    }
}
