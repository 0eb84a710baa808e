//! Molden files: atoms, basis, orbitals and their occupations.
//!
//! Sections come in any order. Those that are not needed are passed over. Programs differ in how
//! they normalise what they write: the reading is taken that makes the orbitals orthonormal.

mod conventions;
mod error;
mod lines;
mod orbitals;
mod shells;
#[cfg(test)]
mod tests;

use super::basis::Basis;
use super::density::Density;
use super::error::XcError;
use conventions::Reading;
use lattice_files::number::shown;
use lines::{Section, sections};
use orbitals::{Orbital, density, read_orbitals};
use shells::{FileAtom, FileShell, Pure, Tags, atoms, read_atoms, read_shells};

pub use error::MoldenError;

/// One bohr in ångström (CODATA 2018).
const BOHR: f64 = 0.529177210903;

/// Most functions of a file: a matrix of them takes 3.2 GB.
const MOST_FUNCTIONS: usize = 20_000;

/// The largest deviation of an occupied orbital's square from 1.
const MOST_DEVIATION: f64 = 1e-3;

/// The least occupation of an orbital whose norm matters.
const OCCUPIED: f64 = 1e-6;

/// What a Molden file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Molden {
    /// Atoms and shells.
    pub basis: Basis,
    /// D = Σ occupation · C Cᵀ: of both spins together, or of each.
    ///
    /// Each spin has its own if the file has orbitals of both, or occupations of 2, 1 and 0 alone.
    pub density: Density,
    /// The sum of all occupations.
    pub electrons: f64,
    /// What the file does otherwise than the format wants.
    pub notes: Vec<&'static str>,
}

/// Returns the section of a name, which stands once.
fn only<'a, 'b>(sections: &'b [Section<'a>], name: &str, what: &str) -> Result<&'b Section<'a>, MoldenError> {
    let mut all = sections.iter().filter(|section| section.names.first().is_some_and(|own| own == name));
    let tag = format!("[{}]", if name == "atoms" { "Atoms".to_owned() } else { name.to_uppercase() });
    match (all.next(), all.next()) {
        (Some(one), None) => Ok(one),
        (_, Some(second)) => {
            let problem = format!("the section {tag} stands a second time; leave one of them");
            Err(MoldenError { line: second.number, problem })
        }
        (None, _) => {
            Err(MoldenError { line: 1, problem: format!("the file has no {what}; write it with {tag}") })
        }
    }
}

/// What a file has, before its conventions are known.
struct Content {
    atoms: Vec<FileAtom>,
    /// Bohr in the unit of the positions; several if the file does not tell.
    units: Vec<f64>,
    shells: Vec<FileShell>,
    pure: Pure,
    orbitals: Vec<Orbital>,
    is_of_orca: bool,
}

impl Content {
    fn read(text: &str) -> Result<Self, MoldenError> {
        // A text that comes from no file may have its byte-order mark still.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines: Vec<&str> = text.lines().collect();
        let sections = sections(&lines);
        let has = |section: &Section<'_>, name: &str| section.names.iter().any(|own| own == name);
        if let Some(section) = sections.iter().find(|section| has(section, "sto")) {
            let problem =
                "functions of Slater ([STO]) are not known; write the file with Gaussian ones, [GTO]";
            return Err(MoldenError { line: section.number, problem: problem.to_owned() });
        }
        let of_atoms = only(&sections, "atoms", "atoms")?;
        let atoms = read_atoms(of_atoms)?;
        let shells = read_shells(only(&sections, "gto", "basis")?, &atoms)?;
        let orbitals = read_orbitals(only(&sections, "mo", "orbitals")?)?;
        if orbitals.is_empty() {
            let line = only(&sections, "mo", "orbitals")?.number;
            let problem = "the section has no orbitals; write them with their occupations".to_owned();
            return Err(MoldenError { line, problem });
        }
        let mut tags = Tags::default();
        sections.iter().flat_map(|section| &section.names).for_each(|name| tags.take(name));
        let title = of_atoms.title.split_once(']').map_or("", |(_, unit)| unit);
        let units = match (title.contains("ang"), title.contains("au")) {
            (true, _) => vec![1.0 / BOHR],
            (_, true) => vec![1.0],
            _ => vec![1.0, 1.0 / BOHR],
        };
        let content =
            Self { atoms, units, shells, pure: tags.pure(), orbitals, is_of_orca: is_of_orca(&sections) };
        let titles = sections.iter().filter(|section| has(section, "molden format")).count();
        content.expect_electrons(titles > 1)?;
        Ok(content)
    }

    /// Checks that some orbitals are occupied, and that it is clear by how many electrons.
    fn expect_electrons(&self, is_of_cfour: bool) -> Result<(), MoldenError> {
        let bad =
            |problem: &str| Err(MoldenError { line: self.orbitals[0].line, problem: problem.to_owned() });
        if self.orbitals.iter().all(|orbital| orbital.occupation.abs() < OCCUPIED) {
            return bad("no orbital of the file is occupied; write their electrons with Occup=");
        }
        let nuclear: usize = atoms(&self.atoms, 1.0).iter().map(|atom| atom.charge).sum();
        let is_single = |orbital: &Orbital| !orbital.is_beta && [0.0, 1.0].contains(&orbital.occupation);
        let electrons: f64 = self.orbitals.iter().map(|orbital| orbital.occupation).sum();
        // CFOUR has its title twice, and gives the orbitals of pairs the occupation 1.
        if is_of_cfour && self.orbitals.iter().all(is_single) && 2.0 * electrons == nuclear as f64 {
            return bad(
                "the occupations are 1, and add up to half of the nuclear charge: CFOUR writes pairs so; write \
                 Occup= 2 for pairs, or the orbitals of Spin= Beta too",
            );
        }
        Ok(())
    }

    /// Returns the number of functions.
    fn functions(&self, pure: Pure) -> usize {
        self.shells.iter().map(|shell| pure.kind(shell.momentum).functions()).sum()
    }

    /// Returns which shells may be pure: what the tags say, or what the coefficients say.
    ///
    /// # Errors
    /// When an orbital has a function that is none.
    fn kinds(&self) -> Result<Vec<Pure>, MoldenError> {
        let largest = |orbital: &Orbital| orbital.coefficients.last().map_or(0, |(place, _)| place + 1);
        let most = self.orbitals.iter().map(largest).max().unwrap_or(0);
        let functions = self.functions(self.pure);
        let mut kinds = vec![self.pure];
        if most != functions {
            let others = [true, false].map(Pure::all);
            kinds.extend(others.into_iter().filter(|&other| self.functions(other) == most));
        }
        kinds.retain(|&kind| most <= self.functions(kind));
        if kinds.is_empty() {
            let orbital = self.orbitals.iter().find(|orbital| largest(orbital) == most);
            let problem = format!(
                "the orbital has a coefficient of function {most}, and the basis {functions} functions; tags as \
                 [5D7F] say which shells are pure"
            );
            return Err(MoldenError { line: orbital.map_or(1, |orbital| orbital.line), problem });
        }
        if let Some(kind) = kinds.iter().find(|&&kind| self.functions(kind) > MOST_FUNCTIONS) {
            let problem = format!(
                "the basis has {} functions; at most {MOST_FUNCTIONS} are possible",
                self.functions(*kind)
            );
            return Err(MoldenError { line: self.shells[0].line, problem });
        }
        Ok(kinds)
    }

    /// Returns the reading that makes the orbitals orthonormal.
    fn reading(&self) -> Result<Reading, MoldenError> {
        let line = self.shells.first().map_or(1, |shell| shell.line);
        let whole = |error: XcError| MoldenError { line, problem: error.to_string() };
        let mut best: Option<Reading> = None;
        for kinds in self.kinds()? {
            for &unit in &self.units {
                let atoms = atoms(&self.atoms, unit);
                let reading = Reading::best(&atoms, &self.shells, kinds, &self.orbitals, self.is_of_orca);
                let reading = reading.map_err(whole)?;
                if best.as_ref().is_none_or(|best| reading.is_better_than(best)) {
                    best = Some(reading);
                }
            }
        }
        let best = best.expect("there is a unit and a kind of shells");
        self.expect_norms(&best)?;
        Ok(best)
    }

    /// Checks the norms of occupied orbitals: only then are the electrons those of the file.
    fn expect_norms(&self, reading: &Reading) -> Result<(), MoldenError> {
        for orbital in self.orbitals.iter().filter(|orbital| orbital.occupation.abs() > OCCUPIED) {
            let square = reading.square(orbital);
            let is_one = (square - 1.0).abs() <= MOST_DEVIATION;
            if !is_one {
                // Six digits tell the square of a norm, unless it is large.
                let square = if square < 1e6 { format!("{square:.6}") } else { shown(&square) };
                let problem = format!(
                    "the square of the orbital's norm is {square}, not 1, in every known normalisation of \
                     primitives and functions (the format's, ORCA's, psi4's, CFOUR's, Turbomole's); write coefficients of \
                     normalised functions, and no fewer orbitals' lines than there are"
                );
                return Err(MoldenError { line: orbital.line, problem });
            }
        }
        Ok(())
    }
}

/// Tells whether a line outside of the numbers names ORCA.
fn is_of_orca(sections: &[Section<'_>]) -> bool {
    let is_of_numbers = |section: &&Section<'_>| {
        let name = section.names.first().map_or("", String::as_str);
        ["atoms", "gto", "mo"].contains(&name)
    };
    sections.iter().filter(|section| !is_of_numbers(section)).any(|section| {
        let mut lines = section.lines.clone();
        let mut text = std::iter::once(section.title.as_str()).chain(std::iter::from_fn(|| lines.next()));
        text.any(|line| line.to_ascii_lowercase().contains("orca"))
    })
}

impl Molden {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// * Without atoms, basis or orbitals, or with two of them; functions of Slater; unknown elements.
    /// * Orbitals without occupation, or with one below 0 or above 2, or above 1 for one spin.
    /// * Orbitals with coefficients of functions that are none.
    /// * Orbitals that are not normalised in any convention that programs are known to have.
    pub fn parse(text: &str) -> Result<Self, MoldenError> {
        let content = Content::read(text)?;
        let reading = content.reading()?;
        let orbitals = &content.orbitals;
        let vectors = orbitals.iter().map(|orbital| reading.vector(orbital));
        let density = density(reading.basis.functions(), orbitals, vectors)?;
        let electrons = orbitals.iter().map(|orbital| orbital.occupation).sum();
        let notes = reading.notes();
        Ok(Self { basis: reading.basis, density, electrons, notes })
    }
}
