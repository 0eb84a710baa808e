//! `[outputs]`: files, and `[devices]`.

use super::observables::{Direction, directions};
use super::one_or_more::OneOrMore;
use crate::geometry::Grid;
use crate::io::text;
use derive_setters::Setters;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// The files of a job.
///
/// The library writes none of these files. The program that runs the job writes them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Setters)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct Outputs {
    /// Direction of the correlator (spectrum only): x, y, z or t.
    #[schemars(schema_with = "directions")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub along: Option<Direction>,
    /// Write the solutions to this file.
    ///
    /// The ending tells the format: SciDAC, HDF5 of PyQUDA for .h5, of lalibe for .lalibe-hdf5, NPY for .npy.
    #[schemars(with = "String")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<PathBuf>,
    /// Draw the residual history or the correlator into this file (SVG).
    #[schemars(with = "String")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plot: Option<PathBuf>,
    /// Write a page with correlators, effective masses, residuals and times to this file (spectrum only, HTML).
    #[schemars(with = "String")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<PathBuf>,
    /// Write a timeline of the devices during the solve to this file (JSON).
    #[schemars(with = "String")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<PathBuf>,
    /// Write the result with the whole job to this file, or to several: HDF5 if it ends in .h5, else JSON.
    #[schemars(with = "OneOrMore<String>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results: Option<OneOrMore<PathBuf>>,
    /// Keep the state of the job in this file, to continue with resume.
    #[schemars(with = "String")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<PathBuf>,
    /// Time between two checkpoints: 90s, 10m, 2h.
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub every: Option<Interval>,
    /// Continue from this checkpoint of the same job, to the same result.
    #[schemars(with = "String")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resume: Option<PathBuf>,
    /// Continue from the file of checkpoint if it exists, or else begin anew.
    pub resume_if_present: bool,
    /// Overwrite the output if it exists.
    pub force: bool,
}

/// A length of time: `90s`, `10m`, `2h`.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    text: String,
    duration: Duration,
}

impl Interval {
    /// Returns the length of time.
    pub fn duration(&self) -> Duration {
        self.duration
    }
}

impl FromStr for Interval {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let unit = match &text[digits.len()..] {
            "ms" => 1e-3,
            "s" | "" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => f64::NAN,
        };
        let seconds = digits.parse::<f64>().map_or(f64::NAN, |number| number * unit);
        let duration = Duration::try_from_secs_f64(seconds)
            .map_err(|_| format!("`{text}` is not a length of time; write for example 90s, 10m or 2h"))?;
        Ok(Self { text: text.to_owned(), duration })
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// `[devices]`: the devices that compute a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema, Setters)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct Devices {
    /// auto, host, all, PLATFORM.DEVICE or part of a name. Several devices make a team.
    #[cfg_attr(feature = "cli", arg(skip))]
    #[schemars(with = "OneOrMore<String>")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<OneOrMore<String>>,
    /// Grid of devices in x, y, z, t: 1x1x2x2. Default: the least surface.
    #[cfg_attr(feature = "cli", arg(long, hide_short_help = true))]
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub grid: Option<Grid>,
    /// Grid of MPI ranks in x, y, z, t: 1x1x1x2. Default: the least surface.
    #[cfg_attr(feature = "cli", arg(long, value_name = "GRID", hide_short_help = true))]
    #[schemars(with = "String")]
    #[serde(with = "text::option", skip_serializing_if = "Option::is_none")]
    pub ranks_grid: Option<Grid>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_have_units() {
        let seconds = |text: &str| text.parse::<Interval>().map(|time| time.duration().as_secs_f64());
        for (text, wanted) in
            [("90s", 90.0), ("10m", 600.0), ("2h", 7200.0), ("1.5", 1.5), ("250ms", 0.25), ("0s", 0.0)]
        {
            assert_eq!(seconds(text), Ok(wanted), "{text}");
        }
        for text in ["", "s", "ten", "-1s", "1d", "NaN", "infs", "1e300h", "ß"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
