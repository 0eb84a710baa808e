//! Amber's topology (`prmtop`) and coordinates (`inpcrd`), as far as pairs need them.

use super::error::{FileError, FileProblem};
use super::text::{columns, count, name, number, read, shown};
use crate::formula::{Coefficients, Formula};
use crate::potential::Potential;
use crate::system::System;
use std::path::Path;

/// Å/fs in Amber's unit of velocities.
const VELOCITY: f64 = 0.020455;

/// Columns of a number in coordinates.
const WIDTH: usize = 12;

/// Numbers on a line of coordinates.
const PER_LINE: usize = 6;

/// Places in `POINTERS` of the numbers of bonds, angles and dihedrals, with and without hydrogen.
const BONDED: std::ops::Range<usize> = 2..8;

/// The content of two files.
#[derive(Clone, Debug)]
pub struct AmberFiles {
    /// Atoms, types by the names of their first atoms, masses, positions, velocities.
    pub system: System,
    /// Lennard-Jones potentials of all pairs of types.
    pub potential: Potential,
    /// Atoms whose charges were ignored.
    pub ignored_charges: usize,
    /// Bonded terms and exclusions that were ignored.
    pub ignored_bonded: usize,
}

/// A section of a topology: its first line, the width of its columns, its text.
struct Section<'a> {
    name: &'a str,
    line: usize,
    width: usize,
    lines: Vec<&'a str>,
}

struct Topology<'a> {
    path: &'a Path,
    sections: Vec<Section<'a>>,
}

/// Reads a system and its Lennard-Jones potentials.
///
/// `lj_only` ignores charges, bonded terms and exclusions, and counts them.
///
/// # Errors
/// With the file and the line. Charges and bonded terms unless `lj_only`; 10-12 potentials; force
/// fields of other kinds; a missing or skewed box.
pub fn read_amber(prmtop: &Path, inpcrd: &Path, lj_only: bool) -> Result<AmberFiles, FileError> {
    let text = read(prmtop)?;
    let topology = Topology::parse(prmtop, &text)?;
    let coordinates = read(inpcrd)?;
    files(&topology, inpcrd, &coordinates, lj_only)
}

fn files(
    topology: &Topology<'_>,
    inpcrd: &Path,
    coordinates: &str,
    lj_only: bool,
) -> Result<AmberFiles, FileError> {
    let pointers = topology.whole("POINTERS", 20)?;
    let positive = |i: usize, name: &'static str| {
        usize::try_from(pointers[i]).ok().filter(|&n| n > 0).ok_or_else(|| {
            topology.error(
                "POINTERS",
                FileProblem::Index { name, entry: i + 1, value: pointers[i], most: 1 << 28 },
            )
        })
    };
    let (atoms, types) = (positive(0, "POINTERS")?, positive(1, "POINTERS")?);
    topology.expect_plain()?;

    let charges = topology.real("CHARGE", atoms)?;
    let ignored_charges = charges.iter().filter(|&&charge| charge != 0.0).count();
    if ignored_charges > 0 && !lj_only {
        return Err(topology.error("CHARGE", FileProblem::Charges(ignored_charges)));
    }
    let terms: i64 = pointers[BONDED].iter().map(|&n| n.max(0)).fold(0, i64::saturating_add);
    let exclusions = match topology.section("EXCLUDED_ATOMS_LIST") {
        Some(section) => topology.integers(section)?.iter().filter(|&&atom| atom != 0).count(),
        None => 0,
    };
    let ignored_bonded = (terms as usize).saturating_add(exclusions);
    if ignored_bonded > 0 && !lj_only {
        return Err(topology.error("POINTERS", FileProblem::Bonded(ignored_bonded)));
    }

    let masses = topology.real("MASS", atoms)?;
    let of_atoms = topology.index("ATOM_TYPE_INDEX", atoms, types)?;
    let coefficients = lennard_jones(topology, types)?;
    let names = names(topology, &of_atoms, types)?;

    let (edges, positions, velocities) = positions(inpcrd, coordinates, atoms)?;
    let build = || {
        let system = System::new(edges, names, of_atoms.iter().map(|&of| of as u32).collect(), positions)?;
        let system = system.with_masses(&masses)?;
        let system = match velocities {
            Some(velocities) => system.with_velocities(velocities)?,
            None => system,
        };
        Ok((system, Potential::of_formula(Formula::LennardJones, coefficients)?))
    };
    let (system, potential) =
        build().map_err(|error| FileError::new(topology.path, None, FileProblem::System(error)))?;
    Ok(AmberFiles { system, potential, ignored_charges, ignored_bonded })
}

/// Returns A and B of all pairs of types.
///
/// A negative place is that of a 10-12 term. Terms whose coefficients are zero are no interaction.
fn lennard_jones(topology: &Topology<'_>, types: usize) -> Result<Vec<Coefficients>, FileError> {
    const INDEX: &str = "NONBONDED_PARM_INDEX";
    let pairs = types.saturating_mul(types.saturating_add(1)) / 2;
    let places = topology.exact(INDEX, types.saturating_mul(types))?;
    let a = topology.real("LENNARD_JONES_ACOEF", pairs)?;
    let b = topology.real("LENNARD_JONES_BCOEF", pairs)?;
    let needs_others = places.iter().any(|&place| place < 0);
    let [other_a, other_b] = match needs_others {
        true => ["HBOND_ACOEF", "HBOND_BCOEF"].map(|name| topology.all_real(name)),
        false => [Ok(Vec::new()), Ok(Vec::new())],
    };
    let (other_a, other_b) = (other_a?, other_b?);
    let others = other_a.len().min(other_b.len());
    let place = |(row, &place): (usize, &i64)| {
        let wrong = |most| FileProblem::Index { name: INDEX, entry: row + 1, value: place, most };
        match usize::try_from(place.unsigned_abs()).unwrap_or(usize::MAX) {
            0 => Err(wrong(pairs)),
            at if place > 0 && at <= pairs => Ok([a[at - 1], b[at - 1], 0.0, 0.0]),
            _ if place > 0 => Err(wrong(pairs)),
            at if at > others => {
                Err(FileProblem::NoTenTwelve { entry: row + 1, value: place, found: others })
            }
            at => match [other_a[at - 1], other_b[at - 1]] {
                [0.0, 0.0] => Ok([0.0; 4]),
                [a, b] => Err(FileProblem::TenTwelve { types: [row / types + 1, row % types + 1], a, b }),
            },
        }
    };
    let rows = places.iter().enumerate().map(place);
    rows.collect::<Result<_, _>>().map_err(|problem| topology.error(INDEX, problem))
}

/// Names each type by its first atom's; types without atoms by their numbers.
fn names(topology: &Topology<'_>, of_atoms: &[usize], types: usize) -> Result<Vec<String>, FileError> {
    const NAMES: &str = "AMBER_ATOM_TYPE";
    let section = topology.expect(NAMES)?;
    let words = topology.values(section, |column| name(column.trim()))?;
    // Blank names at the end are no values.
    if words.len() > of_atoms.len() {
        let (wanted, found) = (of_atoms.len(), words.len());
        return Err(topology.error(NAMES, FileProblem::Truncated { name: NAMES, wanted, found }));
    }
    // Types without atoms are made up by the header alone, so that their number is bounded by the table of pairs, which was read.
    let mut names: Vec<String> = (1..=types).map(|number| format!("type{number}")).collect();
    for atom in (0..of_atoms.len().min(words.len())).rev() {
        if !words[atom].is_empty() {
            names[of_atoms[atom]].clone_from(&words[atom]);
        }
    }
    Ok(names)
}

type Coordinates = ([f64; 3], Vec<[f64; 3]>, Option<Vec<[f64; 3]>>);

/// Reads box, positions and velocities.
fn positions(path: &Path, text: &str, wanted: usize) -> Result<Coordinates, FileError> {
    let at = |line: usize| move |problem| FileError::new(path, line, problem);
    let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line));
    lines.next();
    let (line, header) = lines.next().ok_or_else(|| at(2)(FileProblem::Ends("the number of atoms")))?;
    let found = count(header.split_whitespace().next().unwrap_or("")).map_err(at(line))?;
    if found != wanted {
        return Err(at(line)(FileProblem::OtherSystem { wanted, found }));
    }
    let rows: Vec<(usize, &str)> = lines.filter(|(_, line)| !line.trim().is_empty()).collect();
    let of_vectors = (3 * wanted).div_ceil(PER_LINE);
    let (has_velocities, box_row) = match rows.len() {
        n if n == of_vectors + 1 => (false, of_vectors),
        n if n == 2 * of_vectors + 1 => (true, 2 * of_vectors),
        n if n == of_vectors || n == 2 * of_vectors => return Err(at(rows[n - 1].0)(FileProblem::NoBox)),
        found => {
            let last = rows.last().map_or(line, |(line, _)| *line);
            return Err(at(last)(FileProblem::Coordinates { wanted: of_vectors, found }));
        }
    };
    let vectors = |rows: &[(usize, &str)]| -> Result<Vec<[f64; 3]>, FileError> {
        let mut numbers = Vec::with_capacity(PER_LINE * rows.len());
        for &(line, row) in rows {
            for column in columns(row, WIDTH) {
                numbers.push(number(column).map_err(at(line))?);
            }
        }
        let found = numbers.len();
        if found != 3 * wanted {
            let line = rows.last().map_or(line, |(line, _)| *line);
            return Err(at(line)(FileProblem::Truncated { name: "coordinates", wanted: 3 * wanted, found }));
        }
        Ok(numbers.chunks_exact(3).map(|xyz| [xyz[0], xyz[1], xyz[2]]).collect())
    };
    let positions = vectors(&rows[..of_vectors])?;
    let velocities = match has_velocities {
        true => Some(vectors(&rows[of_vectors..box_row])?.iter().map(|v| v.map(|x| x * VELOCITY)).collect()),
        false => None,
    };
    let (line, row) = rows[box_row];
    let numbers = columns(row, WIDTH).map(number).collect::<Result<Vec<f64>, _>>().map_err(at(line))?;
    match numbers[..] {
        [x, y, z] => Ok(([x, y, z], positions, velocities)),
        [x, y, z, 90.0, 90.0, 90.0] => Ok(([x, y, z], positions, velocities)),
        [_, _, _, _, _, _] => Err(at(line)(FileProblem::Skew)),
        _ => Err(at(line)(FileProblem::NoBox)),
    }
}

impl<'a> Topology<'a> {
    fn parse(path: &'a Path, text: &'a str) -> Result<Self, FileError> {
        let mut sections: Vec<Section<'a>> = Vec::new();
        for (line, row) in text.lines().enumerate().map(|(i, row)| (i + 1, row)) {
            if let Some(name) = row.strip_prefix("%FLAG") {
                sections.push(Section { name: name.trim(), line, width: 0, lines: Vec::new() });
            } else if row.starts_with("%FORMAT") {
                let width =
                    width(row).ok_or_else(|| FileError::new(path, line, FileProblem::Format(shown(row))))?;
                if let Some(section) = sections.last_mut() {
                    section.width = width;
                }
            } else if !row.starts_with('%')
                && let Some(section) = sections.last_mut()
            {
                if section.width == 0 {
                    return Err(FileError::new(path, line, FileProblem::Format(shown(row))));
                }
                section.lines.push(row);
            }
        }
        Ok(Self { path, sections })
    }

    fn section(&self, name: &str) -> Option<&Section<'a>> {
        self.sections.iter().find(|section| section.name == name)
    }

    fn expect(&self, name: &str) -> Result<&Section<'a>, FileError> {
        self.section(name).ok_or_else(|| {
            let known = self.sections.iter().map(|section| section.name.to_owned()).collect();
            FileError::new(self.path, None, FileProblem::NoSection { name: name.to_owned(), known })
        })
    }

    /// Makes an error at the first line of a section.
    fn error(&self, name: &str, problem: FileProblem) -> FileError {
        FileError::new(self.path, self.section(name).map(|section| section.line), problem)
    }

    /// Checks that the force field has no more terms for pairs than Lennard-Jones has.
    fn expect_plain(&self) -> Result<(), FileError> {
        let other = |name: &str| {
            ["CTITLE", "LENNARD_JONES_CCOEF", "LENNARD_JONES_14_ACOEF"].contains(&name)
                || name.starts_with("CHARMM")
                || name.starts_with("AMOEBA")
        };
        match self.sections.iter().find(|section| other(section.name)) {
            Some(section) => {
                let problem = FileProblem::ForceField(shown(section.name));
                Err(FileError::new(self.path, section.line, problem))
            }
            None => Ok(()),
        }
    }

    /// Reads the values of a section, whatever their number.
    fn values<T>(
        &self,
        section: &Section<'_>,
        value: impl Fn(&str) -> Result<T, FileProblem>,
    ) -> Result<Vec<T>, FileError> {
        let mut values = Vec::new();
        for (i, line) in section.lines.iter().enumerate() {
            for column in columns(line, section.width) {
                // Behind the line of the section is that of its format.
                let at = |problem| FileError::new(self.path, section.line + 2 + i, problem);
                values.push(value(column).map_err(at)?);
            }
        }
        Ok(values)
    }

    fn integers(&self, section: &Section<'_>) -> Result<Vec<i64>, FileError> {
        self.values(section, |column| {
            let not = |_| FileProblem::NotANumber { text: shown(column), wanted: "whole number" };
            column.trim().parse().map_err(not)
        })
    }

    /// Returns the whole numbers of a section, at least so many.
    fn whole(&self, name: &'static str, wanted: usize) -> Result<Vec<i64>, FileError> {
        let values = self.integers(self.expect(name)?)?;
        let found = values.len();
        if found < wanted {
            return Err(self.error(name, FileProblem::Truncated { name, wanted, found }));
        }
        Ok(values)
    }

    /// Returns the whole numbers of a section, exactly so many.
    fn exact(&self, name: &'static str, wanted: usize) -> Result<Vec<i64>, FileError> {
        self.expect_values(name, wanted, self.integers(self.expect(name)?)?)
    }

    fn expect_values<T>(
        &self,
        name: &'static str,
        wanted: usize,
        values: Vec<T>,
    ) -> Result<Vec<T>, FileError> {
        let found = values.len();
        if found != wanted {
            return Err(self.error(name, FileProblem::Truncated { name, wanted, found }));
        }
        Ok(values)
    }

    /// Returns all numbers of a section.
    fn all_real(&self, name: &'static str) -> Result<Vec<f64>, FileError> {
        self.values(self.expect(name)?, number)
    }

    /// Returns so many numbers of a section.
    fn real(&self, name: &'static str, wanted: usize) -> Result<Vec<f64>, FileError> {
        self.expect_values(name, wanted, self.all_real(name)?)
    }

    /// Returns so many numbers of a section that count a list from 1; from 0 here.
    fn index(&self, name: &'static str, wanted: usize, most: usize) -> Result<Vec<usize>, FileError> {
        let place = |(i, &value): (usize, &i64)| match usize::try_from(value) {
            Ok(place) if 1 <= place && place <= most => Ok(place - 1),
            _ => Err(self.error(name, FileProblem::Index { name, entry: i + 1, value, most })),
        };
        self.exact(name, wanted)?.iter().enumerate().map(place).collect()
    }
}

/// Returns the width of columns: 16 for `%FORMAT(5E16.8)`, also with a scale as in `(1P,5ES16.8)`.
fn width(format: &str) -> Option<usize> {
    let inner = format.strip_prefix("%FORMAT")?.trim().strip_prefix('(')?.strip_suffix(')')?;
    let inner = inner.replace(' ', "").to_ascii_uppercase();
    let behind_count = |text: &str| text.trim_start_matches(|c: char| c.is_ascii_digit()).to_owned();
    let mut letters = behind_count(&inner);
    if let Some(scaled) = letters.strip_prefix('P') {
        letters = behind_count(scaled.trim_start_matches(','));
    }
    let digits = letters.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let kind = &letters[..letters.len() - digits.len()];
    let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
    let is_known = ["A", "I", "E", "F", "D", "G", "ES", "EN"].contains(&kind);
    digits.parse().ok().filter(|width| is_known && (1..=80).contains(width))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three atoms of two types.
    const PRMTOP: &str = "%VERSION  VERSION_STAMP = V0001.000\n%FLAG TITLE\n%FORMAT(20a4)\n\n\
        %FLAG POINTERS\n%FORMAT(10I8)\n       3       2       0       0       0       0       0       0       0       0\n       3       3       0       0       0       0       0       0       1       0\n\
        %FLAG CHARGE\n%COMMENT nothing\n%FORMAT(5E16.8)\n  0.00000000E+00  0.00000000E+00  0.00000000E+00\n\
        %FLAG MASS\n%FORMAT(5E16.8)\n  3.99480000E+01  8.37980000E+01  3.99480000E+01\n\
        %FLAG ATOM_TYPE_INDEX\n%FORMAT(10I8)\n       1       2       1\n\
        %FLAG NONBONDED_PARM_INDEX\n%FORMAT(10I8)\n       1       2       2       3\n\
        %FLAG LENNARD_JONES_ACOEF\n%FORMAT(5E16.8)\n  1.00000000E+06  2.00000000E+06  3.00000000E+06\n\
        %FLAG LENNARD_JONES_BCOEF\n%FORMAT(5E16.8)\n  1.00000000E+03  2.00000000E+03  3.00000000E+03\n\
        %FLAG EXCLUDED_ATOMS_LIST\n%FORMAT(10I8)\n       0       0       0\n\
        %FLAG AMBER_ATOM_TYPE\n%FORMAT(20a4)\nAr  Kr  Ar  \n";
    const INPCRD: &str = "title\n    3  0.0000000e+00\n   1.0000000   2.0000000   3.0000000-100.0000000   5.0000000   6.0000000\n   7.0000000   8.0000000   9.0000000\n  20.0000000  21.0000000  22.0000000  90.0000000  90.0000000  90.0000000\n";

    fn files_of(prmtop: &str, inpcrd: &str, lj_only: bool) -> Result<AmberFiles, FileError> {
        files(&Topology::parse(Path::new("a.prmtop"), prmtop)?, Path::new("a.inpcrd"), inpcrd, lj_only)
    }

    #[test]
    fn both_files_make_a_system() {
        let found = files_of(PRMTOP, INPCRD, false).unwrap();
        assert_eq!(found.system.names(), ["Ar", "Kr"]);
        assert_eq!(found.system.types(), [0, 1, 0]);
        assert_eq!(found.system.masses()[1], Some(83.798));
        assert_eq!(found.system.edges(), [20.0, 21.0, 22.0]);
        // Columns that touch.
        assert_eq!(found.system.positions()[1], [-100.0, 5.0, 6.0]);
        let Potential::Formula { coefficients, .. } = &found.potential else { panic!() };
        assert_eq!(coefficients[2], [2e6, 2e3, 0.0, 0.0]);
        let lines: Vec<&str> = INPCRD.lines().collect();
        let moving = [&lines[..4], &lines[2..]].concat().join("\n");
        let found = files_of(PRMTOP, &moving, false).unwrap();
        assert_eq!(found.system.velocities().unwrap()[0][1], 2.0 * VELOCITY);
    }

    #[test]
    fn a_byte_order_mark_is_passed_over() {
        let wanted = files_of(PRMTOP, INPCRD, false).unwrap();
        let prmtop = PRMTOP.split_once('\n').unwrap().1;
        let files = [prmtop, INPCRD].map(|text| {
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), format!("\u{feff}{text}")).unwrap();
            file
        });
        let found = read_amber(files[0].path(), files[1].path(), false).unwrap();
        assert_eq!(found.system, wanted.system);
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        let prmtop = |from: &str, to: &str| {
            assert!(PRMTOP.contains(from), "{from}");
            let error = files_of(&PRMTOP.replacen(from, to, 1), INPCRD, false).unwrap_err();
            (error.line, *error.problem)
        };
        let charge = "%FORMAT(5E16.8)\n  0.00000000E+00";
        assert!(matches!(
            prmtop(charge, "%FORMAT(5E16.8)\n  1.80000000E+00"),
            (Some(9), FileProblem::Charges(1))
        ));
        assert!(matches!(
            prmtop("       3       2       0", "       3       2       4"),
            (Some(5), FileProblem::Bonded(4))
        ));
        assert!(matches!(
            prmtop("       0       0       0\n%FLAG AMBER", "       2       3       0\n%FLAG AMBER"),
            (_, FileProblem::Bonded(2))
        ));
        assert!(matches!(
            prmtop("2       2       3", "2      -1       3"),
            (None, FileProblem::NoSection { .. })
        ));
        assert!(matches!(
            prmtop("2       2       3", "2       2       4"),
            (_, FileProblem::Index { value: 4, .. })
        ));
        assert!(matches!(prmtop("%FLAG TITLE", "%FLAG CTITLE"), (Some(2), FileProblem::ForceField(_))));
        assert!(matches!(
            prmtop("%FORMAT(5E16.8)\n  3", "%FORMAT(5E16\n  3"),
            (Some(_), FileProblem::Format(_))
        ));
        assert!(matches!(prmtop("%FORMAT(5E16.8)\n  3", "  3"), (Some(_), FileProblem::Format(_))));
        assert!(matches!(prmtop("%FLAG MASS", "%FLAG MESS"), (None, FileProblem::NoSection { .. })));
        assert!(matches!(
            prmtop("  8.37980000E+01", "             nan"),
            (Some(_), FileProblem::NotFinite(_))
        ));
        assert!(matches!(
            prmtop("       3       2       0", " 9999999 9999999       0"),
            (_, FileProblem::Truncated { .. })
        ));
        assert!(matches!(
            prmtop("       3       2       0", "      -3       2       0"),
            (_, FileProblem::Index { .. })
        ));
        let inpcrd = |from: &str, to: &str| {
            let error = files_of(PRMTOP, &INPCRD.replacen(from, to, 1), false).unwrap_err();
            (error.line, *error.problem)
        };
        let of_box = "  20.0000000  21.0000000  22.0000000  90.0000000  90.0000000  90.0000000\n";
        assert!(matches!(inpcrd(of_box, ""), (Some(4), FileProblem::NoBox)));
        assert!(matches!(inpcrd("  90.0000000\n", " 109.4712190\n"), (Some(5), FileProblem::Skew)));
        assert!(matches!(
            inpcrd("    3  ", "    4  "),
            (Some(2), FileProblem::OtherSystem { wanted: 3, found: 4 })
        ));
        assert!(matches!(inpcrd("   9.0000000\n", "\n"), (Some(4), FileProblem::Truncated { .. })));
        assert!(matches!(inpcrd(of_box, &of_box.repeat(4)), (Some(8), FileProblem::Coordinates { .. })));
    }

    #[test]
    fn sections_have_no_more_values_than_their_atoms_and_types_need() {
        for (name, more) in [
            ("CHARGE", "  0.00000000E+00"),
            ("MASS", "  1.00000000E+00"),
            ("ATOM_TYPE_INDEX", "       1"),
            ("NONBONDED_PARM_INDEX", "       1"),
            ("LENNARD_JONES_ACOEF", "  1.00000000E+06"),
            ("LENNARD_JONES_BCOEF", "  1.00000000E+06"),
            ("AMBER_ATOM_TYPE", "Xe  "),
        ] {
            let begin = PRMTOP.find(&format!("%FLAG {name}\n")).unwrap() + 1;
            let end = PRMTOP[begin..].find("\n%FLAG").map_or(PRMTOP.len() - 1, |end| begin + end);
            let text = format!("{}\n{more}{}", &PRMTOP[..end], &PRMTOP[end..]);
            let error = files_of(&text, INPCRD, false).unwrap_err();
            assert!(
                matches!(*error.problem, FileProblem::Truncated { name: of, wanted, found } if of == name && found == wanted + 1),
                "{error}"
            );
        }
    }

    #[test]
    fn charges_and_bonded_terms_may_be_ignored() {
        let charged = PRMTOP.replacen("%FORMAT(5E16.8)\n  0.0", "%FORMAT(5E16.8)\n  1.8", 1);
        let bonded = charged.replacen("       3       2       0", "       3       2       4", 1);
        let found = files_of(&bonded, INPCRD, true).unwrap();
        assert_eq!((found.ignored_charges, found.ignored_bonded), (1, 4));
    }

    #[test]
    fn terms_of_10_and_12_are_read_if_they_are_zero() {
        let with = |place: i64, a: &str, b: &str| {
            let from = "       2       2       3\n%FLAG LENNARD";
            assert!(PRMTOP.contains(from));
            let text = PRMTOP.replacen(from, &format!("{place:8}{place:8}       3\n%FLAG LENNARD"), 1);
            let others = |name: &str, value: &str| {
                format!("%FLAG HBOND_{name}COEF\n%FORMAT(5E16.8)\n  0.00000000E+00{value}\n")
            };
            files_of(&format!("{text}{}{}", others("A", a), others("B", b)), INPCRD, false)
        };
        let (zero, one) = ("  0.00000000E+00", "  7.50000000E+00");
        for place in [-1, -2] {
            let found = with(place, zero, zero).unwrap();
            let Potential::Formula { coefficients, .. } = &found.potential else { panic!() };
            assert_eq!((coefficients[1], coefficients[2]), ([0.0; 4], [0.0; 4]));
            assert_eq!(coefficients[3], [3e6, 3e3, 0.0, 0.0]);
            // A pair without interaction makes no length of a table.
            assert!(found.potential.smallest_length().is_some());
        }
        assert!(with(-1, one, one).is_ok());
        let said = with(-2, zero, one).unwrap_err().to_string();
        assert!(said.contains("types 1 and 2 interact by a 10-12 potential, 0/r^12 - 7.5/r^10"), "{said}");
        assert!(with(-2, one, zero).is_err());
        let said = with(-3, zero, zero).unwrap_err().to_string();
        assert!(said.contains("is -3, a 10-12 potential, but HBOND_ACOEF and HBOND_BCOEF have 2"), "{said}");
        assert!(with(i64::MIN / 1_000_000_000_000, zero, zero).is_err());
    }

    #[test]
    fn numbers_and_columns_are_read_as_fortran_writes_them() {
        let prmtop = PRMTOP
            .replacen("  1.00000000E+06  2.0", " 1.000000000+006  2.0", 1)
            .replacen("  1.00000000E+03  2.00000000E+03", "  1.00000000D+03 0.200000000D+04", 1)
            .replace("%FORMAT(10I8)", "%FORMAT( 10i8 )")
            .replacen("%FLAG MASS\n%FORMAT(5E16.8)", "%FLAG MASS\n%FORMAT(1P,5ES16.8)", 1)
            .replacen(
                "%FLAG CHARGE\n%COMMENT nothing\n%FORMAT(5E16.8)\n  0.00000000E+00",
                "%FLAG CHARGE\n%FORMAT(1P5D16.8)\n 0.000000000-100",
                1,
            )
            .replacen("       3       3       0", "      +3       3       0", 1);
        let inpcrd = INPCRD.replacen("  20.0000000  21.0000000", " .200000D+02   0.021+003", 1);
        let found = files_of(&prmtop, &inpcrd, false).unwrap();
        let wanted = files_of(PRMTOP, INPCRD, false).unwrap();
        assert_eq!((found.system, found.potential), (wanted.system, wanted.potential));
        for (format, columns) in [
            ("%FORMAT(20a4)", Some(4)),
            ("%FORMAT(1P5E16.8)", Some(16)),
            ("%FORMAT(5F12.7)", Some(12)),
            ("%FORMAT(5EN16.8)", Some(16)),
            ("%FORMAT(5X16)", None),
            ("%FORMAT(5E)", None),
        ] {
            assert_eq!(width(format), columns, "{format}");
        }
    }

    #[test]
    fn messages_have_no_control_characters() {
        let escape = "\u{1b}[2J\u{7}";
        for (from, to) in [
            ("%FLAG TITLE", format!("%FLAG CHARMM{escape}")),
            ("%FORMAT(5E16.8)\n  3", format!("%FORMAT({escape})\n  3")),
            ("  3.99480000E+01", format!("  {escape}")),
            ("       1       2       1\n", format!("{escape}\n")),
            ("Ar  Kr", escape.to_owned()),
            ("%FLAG MASS", format!("%FLAG {escape}")),
        ] {
            assert!(PRMTOP.contains(from), "{from}");
            let said = files_of(&PRMTOP.replacen(from, &to, 1), INPCRD, false).unwrap_err().to_string();
            assert!(!said.chars().any(char::is_control), "{said:?}");
        }
        for from in ["    3  0.0", "   1.0000000   2.0", "  90.0000000\n"] {
            let said = files_of(PRMTOP, &INPCRD.replacen(from, escape, 1), false).unwrap_err().to_string();
            assert!(!said.chars().any(char::is_control), "{said:?}");
        }
    }
}
