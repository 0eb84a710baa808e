//! Options of forces between pairs of particles.

use crate::choices::word;
use lattice_md::{Interpolation, Mode, Spacing};

/// The source of forces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForceMode {
    /// The formula itself.
    Direct,
    /// A table of the potential.
    Potential,
    /// A table of the derivative.
    Derivative,
}

lattice_files::words! {
    ForceMode, "mode":
    Direct = "direct", "The formula itself";
    Potential = "potential", "A table of the potential, whose difference is the slope";
    Derivative = "derivative", "A table of the derivative"
}

impl ForceMode {
    /// Returns what a table is read for; `None` without a table.
    pub fn of_table(self) -> Option<Mode> {
        match self {
            Self::Direct => None,
            Self::Potential => Some(Mode::Potential),
            Self::Derivative => Some(Mode::Derivative),
        }
    }
}

/// Kinds of tables, by options.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct TableKinds {
    /// The variables in which samples have equal distances: r, and its square
    #[arg(long, value_name = "SPACING,…", value_parser = word::<Spacing>())]
    #[arg(value_delimiter = ',', default_value = "r")]
    spacing: Vec<Spacing>,
    /// What is between samples
    #[arg(long, value_name = "WAY,…", value_parser = word::<Interpolation>())]
    #[arg(value_delimiter = ',', default_value = "linear")]
    interpolation: Vec<Interpolation>,
}

impl TableKinds {
    /// Returns every spacing with every interpolation.
    pub fn all(&self) -> impl Iterator<Item = (Spacing, Interpolation)> {
        self.spacing.iter().flat_map(|&spacing| self.interpolation.iter().map(move |&way| (spacing, way)))
    }
}
