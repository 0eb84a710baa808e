//! The source of `--source`.

use lattice_cl::geometry::NDIM;
use std::fmt;
use std::str::FromStr;

/// The site of a point source, as `point:x,y,z,t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointSource(pub [usize; NDIM]);

impl FromStr for PointSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Option<Vec<usize>> = text
            .strip_prefix("point:")
            .and_then(|site| site.split(',').map(|n| n.trim().parse().ok()).collect());
        numbers.and_then(|numbers| numbers.try_into().ok()).map(Self).ok_or_else(|| {
            format!("`{text}` is not a source; write point:x,y,z,t, for example point:0,0,0,0")
        })
    }
}

impl fmt::Display for PointSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z, t] = self.0;
        write!(f, "point:{x},{y},{z},{t}")
    }
}
