//! The precision of an iteration that a job asks for.

use crate::compute::Team;
use crate::io::text::words;
use crate::solve::IterationPrecision;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// The wanted precision of an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WantedPrecision {
    /// A named precision.
    This(IterationPrecision),
    /// The mixed one that suits the devices.
    Mixed,
}

impl WantedPrecision {
    /// Returns the precision on these devices.
    pub fn on(self, team: &Team) -> IterationPrecision {
        match self {
            Self::This(precision) => precision,
            Self::Mixed => IterationPrecision::mixed_on(team),
        }
    }
}

impl FromStr for WantedPrecision {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "mixed" {
            return Ok(Self::Mixed);
        }
        text.parse()
            .map(Self::This)
            .map_err(|error| format!("{error}, or mixed for the one that suits the devices"))
    }
}

impl fmt::Display for WantedPrecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::This(precision) => precision.fmt(f),
            Self::Mixed => f.write_str("mixed"),
        }
    }
}

impl JsonSchema for WantedPrecision {
    fn schema_name() -> Cow<'static, str> {
        "Precision".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        words(IterationPrecision::ALL.map(Self::This).into_iter().chain([Self::Mixed]))
    }
}
