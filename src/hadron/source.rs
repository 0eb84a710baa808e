//! Sources of quarks: right-hand sides for every spin and colour.

use super::propagator::Column;
use crate::field::SpinorField;
use crate::geometry::{Dims, Lattice, LatticeError, NDIM};
use std::fmt;
use std::str::FromStr;

/// A source of quarks, as text `point:x,y,z,t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// 1 for one spin and colour on one site, 0 elsewhere.
    Point([usize; NDIM]),
}

/// A source that a lattice does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the source {origin} lies outside the {dims} lattice: {direction} runs from 0 to {last}", last = dims[*mu] - 1, direction = Dims::direction_name(*mu))]
pub struct SourceError {
    origin: Source,
    dims: Dims,
    mu: usize,
}

impl Source {
    /// Checks that a lattice has the source.
    ///
    /// # Errors
    /// If the source lies outside the lattice.
    pub fn check(self, dims: Dims) -> Result<(), SourceError> {
        match self {
            Source::Point(site) => match (0..NDIM).find(|&mu| site[mu] >= dims[mu]) {
                None => Ok(()),
                Some(mu) => Err(SourceError { origin: self, dims, mu }),
            },
        }
    }

    /// Returns the right-hand side for one spin and colour.
    ///
    /// # Errors
    /// If the source lies outside the lattice, and if a device fails.
    pub fn field(self, lattice: &Lattice, column: Column) -> Result<SpinorField<f64>, LatticeError> {
        match self {
            Source::Point(site) => lattice.point_source(site, column.spin, column.colour),
        }
    }

    /// Returns the site from which distances in a correlator are counted.
    pub fn origin(self) -> [usize; NDIM] {
        match self {
            Source::Point(site) => site,
        }
    }

    /// Returns the name of the source in labels of solves: `point 0.0.0.0`.
    pub fn label(self) -> String {
        match self {
            Source::Point([x, y, z, t]) => format!("point {x}.{y}.{z}.{t}"),
        }
    }
}

impl Default for Source {
    /// Returns the point source at the origin.
    fn default() -> Self {
        Source::Point([0; NDIM])
    }
}

impl FromStr for Source {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let site = |text: &str| -> Option<[usize; NDIM]> {
            let numbers: Option<Vec<usize>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
            numbers?.try_into().ok()
        };
        let source = match text.split_once(':') {
            Some(("point", at)) => site(at).map(Source::Point),
            _ => None,
        };
        source.ok_or_else(|| {
            format!("`{text}` is not a source; write point:x,y,z,t, for example point:0,0,0,0")
        })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Point([x, y, z, t]) => write!(f, "point:{x},{y},{z},{t}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_read_as_they_are_written() {
        let source = Source::Point([1, 2, 3, 5]);
        assert_eq!(source.to_string(), "point:1,2,3,5");
        assert_eq!(source.to_string().parse(), Ok(source));
        assert_eq!(source.label(), "point 1.2.3.5");
        for bad in ["", "point", "point:1,2,3", "point:1,2,3,-4", "wall:0", "0,0,0,0"] {
            assert!(bad.parse::<Source>().unwrap_err().contains("point:x,y,z,t"), "{bad}");
        }
    }

    #[test]
    fn a_source_outside_of_the_lattice_is_named() {
        let dims = Dims::new([4, 4, 4, 8]).unwrap();
        assert_eq!(Source::Point([3, 3, 3, 7]).check(dims), Ok(()));
        let error = Source::Point([0, 0, 4, 0]).check(dims).unwrap_err().to_string();
        assert!(error.contains("point:0,0,4,0") && error.contains("z runs from 0 to 3"), "{error}");
    }
}
