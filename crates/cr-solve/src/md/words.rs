//! The words of options of `cr-solve md`.

use crate::numbers::finite;
use lattice_md::{BelowRange, Fetch, Interpolation, Mixing, Mode, Precision, Shift, Spacing, Units};
use std::str::FromStr;

/// Where forces come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ModeName {
    /// The formula itself
    Direct,
    /// A table of the potential, whose difference is the slope
    Potential,
    /// A table of the derivative
    Derivative,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum SpacingName {
    R,
    R2,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum InterpolationName {
    Linear,
    /// Four numbers for each interval
    Cubic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FetchName {
    /// Images on GPUs that filter in float or for cubics, else buffers; `tune md` finds the faster
    Auto,
    /// The linear filter of images
    Image,
    /// Buffers, with exact fractions
    Buffer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PrecisionName {
    Double,
    /// Positions in fixed point, pairs in single, sums in double
    Mixed,
    Single,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ListName {
    /// Lists of neighbours, made by cells
    Cells,
    AllPairs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ShiftName {
    None,
    /// The energy is continuous at the cutoff
    Energy,
    /// The force is, too
    Force,
}

/// What happens below the first sample of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum BelowRangeName {
    /// The energy goes on in a line; such pairs are counted and warned of
    Warn,
    /// The first such pair ends the command, and its atoms are named
    Stop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum MixingName {
    /// Arithmetic mean of σ, geometric mean of ε
    LorentzBerthelot,
    /// Geometric means
    Geometric,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum UnitsName {
    /// Å, kcal/mol, g/mol, fs
    Real,
    /// Reduced units of ε, σ and m
    Lj,
}

/// `NAME=EPSILON,SIGMA`.
#[derive(Clone, Debug, PartialEq)]
pub struct LennardJones {
    pub name: String,
    pub parameters: [f64; 2],
}

/// `A-B=SECTION`.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    pub names: [String; 2],
    pub section: String,
}

/// `NAME=MASS`.
#[derive(Clone, Debug, PartialEq)]
pub struct Mass {
    pub name: String,
    pub mass: f64,
}

/// `RMIN,RMAX`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range(pub [f64; 2]);

fn pair_of_numbers(text: &str) -> Option<[f64; 2]> {
    let (a, b) = text.split_once(',')?;
    Some([finite(a)?, finite(b)?])
}

impl FromStr for LennardJones {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = text.split_once('=').and_then(|(name, numbers)| Some((name, pair_of_numbers(numbers)?)));
        match found {
            Some((name, parameters)) if !name.is_empty() => Ok(Self { name: name.to_owned(), parameters }),
            _ => Err("write NAME=EPSILON,SIGMA, for example Ar=0.238,3.405".to_owned()),
        }
    }
}

impl FromStr for Pair {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = text
            .split_once('=')
            .and_then(|(names, section)| Some((names.split_once('-')?, section)))
            .filter(|((a, b), section)| ![a, b, section].iter().any(|word| word.is_empty()));
        match found {
            Some(((a, b), section)) => {
                Ok(Self { names: [a.to_owned(), b.to_owned()], section: section.to_owned() })
            }
            None => Err("write A-B=SECTION, for example Na-Cl=PAIR_12".to_owned()),
        }
    }
}

impl FromStr for Mass {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = text.split_once('=').and_then(|(name, mass)| Some((name, finite(mass)?)));
        match found {
            Some((name, mass)) if !name.is_empty() && mass > 0.0 => Ok(Self { name: name.to_owned(), mass }),
            _ => Err("write NAME=MASS with a positive mass, for example Ar=39.948".to_owned()),
        }
    }
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        pair_of_numbers(text).map(Self).ok_or_else(|| "write RMIN,RMAX, for example 2.5,9".to_owned())
    }
}

impl ModeName {
    pub fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Potential => "potential",
            Self::Derivative => "derivative",
        }
    }

    /// Returns what a table is read for; `None` without a table.
    pub fn of_table(self) -> Option<Mode> {
        match self {
            Self::Direct => None,
            Self::Potential => Some(Mode::Potential),
            Self::Derivative => Some(Mode::Derivative),
        }
    }
}

impl From<SpacingName> for Spacing {
    fn from(name: SpacingName) -> Self {
        match name {
            SpacingName::R => Self::R,
            SpacingName::R2 => Self::R2,
        }
    }
}

impl From<InterpolationName> for Interpolation {
    fn from(name: InterpolationName) -> Self {
        match name {
            InterpolationName::Linear => Self::Linear,
            InterpolationName::Cubic => Self::Cubic,
        }
    }
}

/// Returns the word for the variable of a table.
pub fn spacing_name(spacing: Spacing) -> &'static str {
    match spacing {
        Spacing::R => "r",
        Spacing::R2 => "r2",
    }
}

/// Returns the word for what is between samples.
pub fn interpolation_name(interpolation: Interpolation) -> &'static str {
    match interpolation {
        Interpolation::Linear => "linear",
        Interpolation::Cubic => "cubic",
    }
}

impl From<FetchName> for Fetch {
    fn from(name: FetchName) -> Self {
        match name {
            FetchName::Auto => Self::Auto,
            FetchName::Image => Self::Image,
            FetchName::Buffer => Self::Buffer,
        }
    }
}

/// Returns the word for how a table is read.
pub fn fetch_name(fetch: Fetch) -> &'static str {
    match fetch {
        Fetch::Auto => "auto",
        Fetch::Image => "image",
        Fetch::Buffer => "buffer",
    }
}

impl PrecisionName {
    pub fn name(self) -> &'static str {
        match self {
            Self::Double => "double",
            Self::Mixed => "mixed",
            Self::Single => "single",
        }
    }
}

impl From<PrecisionName> for Precision {
    fn from(name: PrecisionName) -> Self {
        match name {
            PrecisionName::Double => Self::Double,
            PrecisionName::Mixed => Self::Mixed,
            PrecisionName::Single => Self::Single,
        }
    }
}

impl From<ShiftName> for Shift {
    fn from(name: ShiftName) -> Self {
        match name {
            ShiftName::None => Self::None,
            ShiftName::Energy => Self::Energy,
            ShiftName::Force => Self::Force,
        }
    }
}

impl From<MixingName> for Mixing {
    fn from(name: MixingName) -> Self {
        match name {
            MixingName::LorentzBerthelot => Self::LorentzBerthelot,
            MixingName::Geometric => Self::Geometric,
        }
    }
}

impl From<BelowRangeName> for BelowRange {
    fn from(name: BelowRangeName) -> Self {
        match name {
            BelowRangeName::Warn => Self::Line,
            BelowRangeName::Stop => Self::Stop,
        }
    }
}

impl From<UnitsName> for Units {
    fn from(name: UnitsName) -> Self {
        match name {
            UnitsName::Real => Self::Real,
            UnitsName::Lj => Self::Reduced,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_others_refused() {
        let argon = LennardJones { name: "Ar".to_owned(), parameters: [0.238, 3.405] };
        assert_eq!("Ar=0.238,3.405".parse(), Ok(argon));
        let pair = Pair { names: ["Na".to_owned(), "Cl".to_owned()], section: "PAIR_12".to_owned() };
        assert_eq!("Na-Cl=PAIR_12".parse(), Ok(pair));
        for text in ["2.5,9", "0.25D+01,9d0", "2.5,.9+001", " 2.5 , 9 "] {
            assert_eq!(text.parse(), Ok(Range([2.5, 9.0])), "{text}");
        }
        assert_eq!("X=4".parse(), Ok(Mass { name: "X".to_owned(), mass: 4.0 }));
        for text in ["", "Ar", "Ar=1", "=1,2", "Ar=1;2"] {
            assert!(text.parse::<LennardJones>().is_err(), "{text}");
        }
        for text in ["NaCl=A", "Na-=A", "Na-Cl="] {
            assert!(text.parse::<Pair>().is_err(), "{text}");
        }
        assert!("X=-4".parse::<Mass>().is_err() && "2.5".parse::<Range>().is_err());
    }
}
