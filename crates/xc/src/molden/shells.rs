//! Atoms and shells as a file has them.

use super::error::MoldenError;
use super::lines::{Lines, Section};
use crate::basis::Atom;
use crate::grid::charge;
use crate::harmonics::{Kind, LETTERS};
use lattice_files::number::{real, shown};
use lattice_files::text::quoted;

/// An atom of a file.
pub(super) struct FileAtom {
    /// The number that shells name, if the line has one.
    number: Option<usize>,
    charge: usize,
    position: [f64; 3],
}

/// A shell of a file.
pub(super) struct FileShell {
    /// The line where it begins.
    pub line: usize,
    pub atom: usize,
    pub momentum: usize,
    /// Exponents and coefficients as they are written.
    pub primitives: Vec<[f64; 2]>,
}

/// The momenta whose shells are pure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pure(pub [bool; LETTERS.len()]);

/// The tags of a file: the momenta that each word speaks of, by number of functions and letter.
#[derive(Default)]
pub(super) struct Tags([Option<bool>; LETTERS.len()]);

impl Pure {
    /// Makes all shells pure, or all Cartesian.
    pub fn all(is_pure: bool) -> Self {
        Self([is_pure; LETTERS.len()])
    }

    /// Returns the kind of shells of a momentum.
    pub fn kind(self, momentum: usize) -> Kind {
        Kind { momentum, is_cartesian: !self.0[momentum] }
    }
}

impl Tags {
    /// Takes a word in brackets, as `5d7f`. Other words have no effect.
    pub fn take(&mut self, name: &str) {
        let mut rest = name;
        let mut taken = self.0;
        while !rest.is_empty() {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let Some(letter) = rest.get(digits..digits + 1) else { return };
            let momentum = LETTERS.iter().position(|known| *known == letter);
            let (Some(momentum), Ok(count)) = (momentum, rest[..digits].parse::<usize>()) else { return };
            let [pure, cartesian] =
                [false, true].map(|is_cartesian| Kind { momentum, is_cartesian }.functions());
            if momentum < 2 || (count != pure && count != cartesian) {
                return;
            }
            taken[momentum] = Some(count == pure);
            rest = &rest[digits + 1..];
        }
        self.0 = taken;
    }

    /// Returns which shells are pure: f as d, and h as g, unless a word speaks of them.
    pub fn pure(&self) -> Pure {
        let of = |momentum: usize| self.0[momentum];
        let [d, g] = [of(2), of(4)].map(|tag| tag.unwrap_or(false));
        // [6D] says nothing of f, whose functions are Cartesian then too.
        Pure([true, true, d, of(3).unwrap_or(d), g, of(5).unwrap_or(g)])
    }
}

/// Reads atoms, their positions in the unit of the file.
pub(super) fn read_atoms(section: &Section<'_>) -> Result<Vec<FileAtom>, MoldenError> {
    let mut lines = section.lines.clone();
    let mut atoms = Vec::new();
    while let Some(line) = lines.next() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] => {}
            [symbol, number, charge, x, y, z] => atoms.push(FileAtom {
                number: number.parse().ok(),
                charge: read_charge(&lines, symbol, charge)?,
                position: [lines.real(x)?, lines.real(y)?, lines.real(z)?],
            }),
            _ => {
                return lines
                    .error("an atom has a symbol, a number, its nuclear charge and three coordinates");
            }
        }
    }
    Ok(atoms)
}

/// Returns the nuclear charge of an atom: the number in its line, else what its symbol says.
///
/// An atom with the number 0 has functions, but no nucleus.
fn read_charge(lines: &Lines<'_>, symbol: &str, number: &str) -> Result<usize, MoldenError> {
    let whole = |number: &f64| number.fract() == 0.0 && (0.0..200.0).contains(number);
    if let Some(number) = real(number.as_bytes()).filter(whole) {
        return Ok(number as usize);
    }
    let letters = symbol.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_ghost = ["x", "xx", "bq", "gh", "ghost"].iter().any(|name| letters.eq_ignore_ascii_case(name));
    match charge(letters) {
        Some(charge) => Ok(charge),
        None if is_ghost => Ok(0),
        None => lines.error(format!(
            "`{}` with the number `{}` is no element; write its nuclear charge, or 0 for a ghost",
            quoted(symbol),
            quoted(number)
        )),
    }
}

/// Makes atoms of those of a file, whose unit of length is so many bohr.
pub(super) fn atoms(atoms: &[FileAtom], unit: f64) -> Vec<Atom> {
    let atom = |atom: &FileAtom| Atom { charge: atom.charge, position: atom.position.map(|x| unit * x) };
    atoms.iter().map(atom).collect()
}

/// Reads the shells of each atom.
pub(super) fn read_shells(section: &Section<'_>, atoms: &[FileAtom]) -> Result<Vec<FileShell>, MoldenError> {
    let mut lines = section.lines.clone();
    let mut atom = None;
    let mut shells = Vec::new();
    while let Some(line) = lines.next() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(&first) = words.first() else { continue };
        if first.starts_with(|c: char| c.is_ascii_digit()) {
            let number = lines.count(first, "number of an atom")?;
            atom = Some(match find_atom(atoms, number) {
                Some(atom) => atom,
                None => {
                    let count = atoms.len();
                    return lines.error(format!("`{number}` is no number of an atom; there are {count}"));
                }
            });
            continue;
        }
        let Some(atom) = atom else {
            let problem = "a shell before the number of its atom; write that first, as `1 0`";
            return lines.error(format!("`{}` begins {problem}", quoted(first)));
        };
        let momenta = match first.to_ascii_lowercase().as_str() {
            "sp" | "l" => vec![0, 1],
            letter => match LETTERS.iter().position(|known| *known == letter) {
                Some(momentum) => vec![momentum],
                None => {
                    return lines.error(format!(
                        "`{}` is no shell that is known; {} and sp are",
                        quoted(first),
                        LETTERS.join(", ")
                    ));
                }
            },
        };
        let Some(count) = words.get(1) else {
            return lines.error("a shell has its letter and its number of primitives");
        };
        let count = lines.count(count, "number of primitives")?;
        let begins = lines.number();
        let primitives = read_primitives(&mut lines, count, momenta.len())?;
        for (momentum, primitives) in momenta.into_iter().zip(primitives) {
            if primitives.iter().all(|primitive| primitive[1] == 0.0) {
                let problem = format!("no coefficient of this {} shell is other than 0", LETTERS[momentum]);
                return Err(MoldenError { line: begins, problem });
            }
            shells.push(FileShell { line: begins, atom, momentum, primitives });
        }
    }
    Ok(shells)
}

/// Returns the atom that shells call by a number: the number in its line, or its place from 1.
fn find_atom(atoms: &[FileAtom], number: usize) -> Option<usize> {
    let has = |atom: &FileAtom| atom.number == Some(number);
    match atoms.iter().filter(|atom| has(atom)).count() {
        1 => atoms.iter().position(has),
        _ => number.checked_sub(1).filter(|&place| place < atoms.len()),
    }
}

/// Reads primitives of shells that share their exponents.
fn read_primitives(
    lines: &mut Lines<'_>,
    count: usize,
    shells: usize,
) -> Result<Vec<Vec<[f64; 2]>>, MoldenError> {
    let mut primitives = vec![Vec::new(); shells];
    for _ in 0..count {
        let words: Vec<&str> = lines.next().unwrap_or("").split_whitespace().collect();
        if words.len() != 1 + shells {
            return lines.error(format!("a primitive of this shell has {} numbers", 1 + shells));
        }
        let exponent = lines.real(words[0])?;
        if exponent <= 0.0 {
            return lines.error(format!("the exponent {} is not positive", shown(&exponent)));
        }
        for (list, word) in primitives.iter_mut().zip(&words[1..]) {
            list.push([exponent, lines.real(word)?]);
        }
    }
    Ok(primitives)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_say_which_shells_are_pure() {
        for (names, pure) in [
            (&[][..], [false; 4]),
            (&["5d"], [true, true, false, false]),
            (&["5d7f"], [true, true, false, false]),
            (&["5d10f"], [true, false, false, false]),
            (&["5d", "10f"], [true, false, false, false]),
            (&["10f", "5d"], [true, false, false, false]),
            (&["7f"], [false, true, false, false]),
            (&["6d", "7f"], [false, true, false, false]),
            (&["6d10f"], [false; 4]),
            (&["6d", "10f", "15g"], [false; 4]),
            (&["5d", "7f", "9g"], [true; 4]),
            (&["5d7f9g", "21h"], [true, true, true, false]),
            (&["9g"], [false, false, true, true]),
            (&["5x", "d", "4d", "5d8f", "title", "1s", "é5d"], [false; 4]),
        ] {
            let mut tags = Tags::default();
            names.iter().for_each(|name| tags.take(name));
            assert_eq!(tags.pure().0[2..], pure, "{names:?}");
        }
    }
}
