//! Units in which tables of LAMMPS are written.

use super::error::FileProblem;
use super::text::shown;
use crate::units::{ELECTRONVOLT, Units, kilocalories};

/// An energy of 1 hartree in J.
const HARTREE: f64 = 4.359_744_722_207_1e-18;

/// A length of 1 bohr in Å.
const BOHR: f64 = 0.529_177_210_903;

/// What the numbers of a table are multiplied by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    pub energy: f64,
    pub length: f64,
}

impl Scale {
    /// Numbers that have the right units.
    pub const NONE: Self = Self { energy: 1.0, length: 1.0 };

    /// Returns the scale from units of LAMMPS, by the word behind `UNITS:`.
    ///
    /// # Errors
    /// [`FileProblem::Units`] for words that are no units, and for reduced units beside others.
    pub fn from(word: &str, wanted: Units) -> Result<Self, FileProblem> {
        let wrong = |hint| {
            let wanted = match wanted {
                Units::Real => "real: kcal/mol and Å",
                Units::Reduced => "lj: reduced ones",
            };
            FileProblem::Units { found: shown(word), wanted, hint }
        };
        // An energy in J, and a length in Å.
        let [joule, length] = match (word.to_ascii_lowercase().as_str(), wanted) {
            ("real", Units::Real) | ("lj", Units::Reduced) => return Ok(Self::NONE),
            ("lj", Units::Real) => return Err(wrong("ask for the units lj, or convert the table")),
            ("metal", _) => [ELECTRONVOLT, 1.0],
            ("electron", _) => [HARTREE, BOHR],
            ("si", _) => [1.0, 1e10],
            ("cgs", _) => [1e-7, 1e8],
            // Picograms, micrometres and microseconds; attograms, nanometres and nanoseconds.
            ("micro", _) => [1e-15, 1e4],
            ("nano", _) => [1e-21, 10.0],
            ("real", Units::Reduced) => [1.0, 1.0],
            _ => return Err(wrong("units of LAMMPS are real, metal, electron, si, cgs, micro, nano and lj")),
        };
        match wanted {
            Units::Real => Ok(Self { energy: kilocalories(joule), length }),
            Units::Reduced => Err(wrong("ask for real units, or convert the table")),
        }
    }
}

/// Returns the words behind `UNITS:` of a line.
pub fn tags(line: &str) -> impl Iterator<Item = &str> {
    let mut words = line.split(|c: char| c.is_whitespace() || c == '#').filter(|word| !word.is_empty());
    std::iter::from_fn(move || {
        loop {
            let word = words.next()?;
            let tag = word.get(..TAG.len()).filter(|tag| tag.eq_ignore_ascii_case(TAG));
            match tag.and(word.get(TAG.len()..)) {
                Some("") => return Some(words.next().unwrap_or("")),
                Some(units) => return Some(units),
                None => {}
            }
        }
    })
}

const TAG: &str = "UNITS:";

/// Returns `true` for a line of tags like `DATE: 2020-01-01 UNITS: metal`, which LAMMPS needs no `#` for.
pub fn is_tags(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or("");
    ["UNITS:", "DATE:", "CONTRIBUTOR:", "CITATION:"].iter().any(|tag| first.eq_ignore_ascii_case(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_of_energy_and_length_is_converted() {
        let real = |word| Scale::from(word, Units::Real).unwrap();
        assert_eq!(real("real"), Scale::NONE);
        // An electronvolt is 23.0605 kcal/mol, and a hartree 627.5095.
        assert!((real("METAL").energy - 23.060_547_83).abs() < 1e-7 && real("metal").length == 1.0);
        assert!((real("electron").energy - 627.509_474_06).abs() < 1e-7);
        for (word, joule, metre) in
            [("si", 1.0, 1.0), ("cgs", 1e-7, 1e-2), ("micro", 1e-15, 1e-6), ("nano", 1e-21, 1e-9)]
        {
            let Scale { energy, length } = real(word);
            assert!(
                (energy / real("metal").energy / (joule / 1.602_176_634e-19) - 1.0).abs() < 1e-12,
                "{word}"
            );
            assert!((length / (metre * 1e10) - 1.0).abs() < 1e-12, "{word}");
        }
        assert_eq!(Scale::from("lj", Units::Reduced).unwrap(), Scale::NONE);
        for (word, units) in [
            ("lj", Units::Real),
            ("metal", Units::Reduced),
            ("real", Units::Reduced),
            ("gromacs", Units::Real),
            ("", Units::Real),
        ] {
            let said = Scale::from(word, units).unwrap_err().to_string();
            assert!(said.contains("units asked for") && said.contains(word), "{said}");
        }
    }

    #[test]
    fn tags_stand_anywhere_in_a_line() {
        assert_eq!(tags("# DATE: 2026-01-01 UNITS: metal CONTRIBUTOR: me").collect::<Vec<_>>(), ["metal"]);
        assert_eq!(tags("#units:si and UNITS:\tlj UNITS:").collect::<Vec<_>>(), ["si", "lj", ""]);
        assert_eq!(tags("no UNITS here").count(), 0);
        assert!(is_tags("DATE: 2026-01-01 UNITS: real") && !is_tags("PAIR_11 UNITS: real"));
    }
}
