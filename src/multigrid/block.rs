//! Blocks of sites, as people write them.

use crate::geometry::NDIM;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The extents of a block of sites in x, y, z and t.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block(pub [usize; NDIM]);

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.map(|extent| extent.to_string()).join("x"))
    }
}

impl FromStr for Block {
    type Err = String;

    /// Reads `4x4x4x4`.
    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Option<Vec<usize>> = text.split('x').map(|part| part.parse().ok()).collect();
        let block = numbers.and_then(|numbers| <[usize; NDIM]>::try_from(numbers).ok());
        block
            .map(Self)
            .ok_or_else(|| format!("`{text}` is no block; give its sites in x, y, z and t, as in 4x4x4x4"))
    }
}
