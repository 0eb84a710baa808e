//! How forces are computed.

use super::potential::Shift;
use derive_setters::Setters;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The precision of forces on a device. The host computes in double.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// Everything in double.
    Double,
    /// Positions in fixed point and pairs in single, sums in double.
    #[default]
    Mixed,
    /// Positions in fixed point, everything else in single. Energies are added in double.
    Single,
}

lattice_files::words! {
    Precision, "precision":
    Double = "double";
    Mixed = "mixed", "Positions in fixed point, pairs in single, sums in double";
    Single = "single"
}

/// How a table is read on a device. The host has exact fractions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fetch {
    /// The faster way of those whose error is small, on GPUs images at first.
    ///
    /// In double these are buffers. In single images are one too, if their filter errs by less than
    /// [`Fetch::LARGEST_ERROR`] or is not used.
    #[default]
    Auto,
    /// By the linear filter of images, with single-precision samples.
    Image,
    /// From buffers, with exact fractions.
    Buffer,
}

lattice_files::words! {
    Fetch, "way to read a table":
    Auto = "auto", "Images on GPUs that filter in float or for cubics, else buffers; `tune md` finds the faster";
    Image = "image", "The linear filter of images";
    Buffer = "buffer", "Buffers, with exact fractions"
}

impl Fetch {
    /// The largest error of a filter that [`Fetch::Auto`] takes, relative to the step between samples.
    pub const LARGEST_ERROR: f64 = 1e-5;
}

/// What happens when two atoms are nearer than the first sample of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BelowRange {
    /// The energy goes on in a line, with the slope at the first sample. Such pairs are counted.
    #[default]
    Line,
    /// Forces and motion end with an error that names the two.
    Stop,
}

lattice_files::words! {
    BelowRange, "treatment of near pairs":
    Line = "warn", "The energy goes on in a line; such pairs are counted and warned of";
    Stop = "stop", "The first such pair ends the command, and its atoms are named"
}

/// How pairs are found on a device. The host takes all pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum List {
    /// All pairs are tested.
    AllPairs,
    /// Each atom has a list of its neighbours, made by cells of the box.
    Cells {
        /// How much further than the cutoff lists reach.
        skin: f64,
    },
    /// Such lists have each pair once, and forces are scattered in fixed point.
    ///
    /// This is slower wherever it was measured, and here to be measured again.
    HalfCells {
        /// How much further than the cutoff lists reach.
        skin: f64,
    },
    /// All distances are stored first, N² of them: what other ways are compared with.
    Matrix,
}

impl List {
    /// The default skin in Å.
    pub const SKIN: f64 = 1.0;
}

impl Default for List {
    /// Returns lists with the default skin.
    fn default() -> Self {
        Self::Cells { skin: Self::SKIN }
    }
}

/// The variant of pair forces on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PairTuning {
    /// Work-items of a group. Processors have one.
    pub group: usize,
    /// Cells within the radius of lists along an axis.
    pub reach: u32,
    /// Whether tables are read from images.
    pub image: bool,
}

impl fmt::Display for PairTuning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { group, reach, image } = self;
        write!(f, "group {group}, cells {reach}{}", if *image { ", images" } else { "" })
    }
}

/// How forces are computed.
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct Options {
    /// The distance from which on pairs do not interact.
    pub cutoff: f64,
    /// What happens at the cutoff.
    pub shift: Shift,
    /// The precision on devices.
    pub precision: Precision,
    /// How tables are read on devices.
    pub fetch: Fetch,
    /// How pairs are found on devices.
    pub list: List,
    /// What happens below the first sample of a table.
    pub below_range: BelowRange,
    /// The variant of kernels; `None` for the one that is kept, shipped or found.
    pub tuning: Option<PairTuning>,
}

impl Options {
    /// Returns the default options with this cutoff.
    pub fn new(cutoff: f64) -> Self {
        Self {
            cutoff,
            shift: Shift::default(),
            precision: Precision::default(),
            fetch: Fetch::default(),
            list: List::default(),
            below_range: BelowRange::default(),
            tuning: None,
        }
    }

    /// Returns how much further than the cutoff lists reach; `None` without lists.
    pub(crate) fn skin(&self) -> Option<f64> {
        match self.list {
            List::AllPairs | List::Matrix => None,
            List::Cells { skin } | List::HalfCells { skin } => Some(skin),
        }
    }

    /// Returns the distance within which pairs are listed.
    ///
    /// It is a little longer than cutoff and skin: rounding must leave no pair out.
    pub(crate) fn list_radius(&self) -> f64 {
        (self.cutoff + self.skin().unwrap_or(0.0)) * (1.0 + 1e-5)
    }
}
