//! `[[observable]]`: the observables, measured on propagators.

use crate::geometry::{Dims, NDIM};
use crate::hadron::Observable;
use crate::io::text::{self, words, words_of};
use derive_setters::Setters;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A direction of the lattice, by its letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direction(pub usize);

impl Default for Direction {
    /// Returns t.
    fn default() -> Self {
        Self(NDIM - 1)
    }
}

impl FromStr for Direction {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        (0..NDIM)
            .find(|&mu| text == Dims::direction_name(mu).to_string())
            .map(Self)
            .ok_or_else(|| format!("`{text}` is not a direction; choose x, y, z or t"))
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Dims::direction_name(self.0).fmt(f)
    }
}

/// `[[observable]]`: one of several observables.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Setters)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct ObservableEntry {
    /// The observable.
    #[schemars(schema_with = "words_of::<Observable>")]
    #[serde(with = "text")]
    pub observable: Observable,
    /// Direction of the correlator.
    #[schemars(schema_with = "directions")]
    #[serde(with = "text")]
    pub along: Direction,
}

pub(super) fn directions(_: &mut SchemaGenerator) -> Schema {
    words((0..NDIM).map(Direction))
}
