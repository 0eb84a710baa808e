//! Extended XYZ: a count, a line of keys, and a line for each atom.

use super::error::{FileError, FileProblem};
use super::text::{count, number, read, shown};
use crate::system::System;
use std::fmt::Write;
use std::path::Path;

/// The places of what is read from a line.
struct Places {
    columns: usize,
    species: usize,
    position: usize,
    velocity: Option<usize>,
    mass: Option<usize>,
}

/// Reads a system from an extended XYZ file of one frame.
///
/// The key `Lattice` gives the box. `Properties` names the columns: `species:S:1` and `pos:R:3`
/// are read, `vel:R:3` (or `velo`) and `mass:R:1` (or `masses`) if they are there.
///
/// # Errors
/// With the file and the line.
pub fn read_xyz(path: &Path) -> Result<System, FileError> {
    parse(path, &read(path)?)
}

fn parse(path: &Path, text: &str) -> Result<System, FileError> {
    let at = |line: usize| move |problem| FileError::new(path, line, problem);
    let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line));
    let (_, first) = lines.next().ok_or_else(|| at(1)(FileProblem::Ends("the number of atoms")))?;
    let wanted = count(first).map_err(at(1))?;
    let (_, second) = lines.next().ok_or_else(|| at(2)(FileProblem::Ends("the line of keys")))?;
    let keys = keys(second);
    let value = |wanted: &[&str]| {
        keys.iter().find(|(key, _)| wanted.iter().any(|w| key.eq_ignore_ascii_case(w))).map(|(_, v)| *v)
    };
    let edges = edges(value(&["Lattice"]).ok_or_else(|| at(2)(FileProblem::NoLattice))?).map_err(at(2))?;
    if let Some(periodic) = value(&["pbc"])
        && periodic.split_whitespace().any(|word| !matches!(word, "T" | "True" | "1" | "true"))
    {
        return Err(at(2)(FileProblem::NotPeriodic(shown(periodic))));
    }
    let places = places(value(&["Properties"]).unwrap_or("species:S:1:pos:R:3")).map_err(at(2))?;

    let rows: Vec<(usize, &str)> = lines.collect();
    let found = rows.iter().rposition(|(_, row)| !row.trim().is_empty()).map_or(0, |last| last + 1);
    if found != wanted {
        return Err(at(found + 2)(FileProblem::Atoms { wanted, found }));
    }
    let mut names: Vec<String> = Vec::new();
    let (mut types, mut positions, mut velocities, mut masses) = (vec![], vec![], vec![], vec![]);
    for &(line, row) in &rows[..found] {
        let words: Vec<&str> = row.split_whitespace().collect();
        if words.len() < places.columns {
            return Err(at(line)(FileProblem::Columns { wanted: places.columns, found: words.len() }));
        }
        let vector = |from: usize| -> Result<[f64; 3], FileError> {
            let mut vector = [0.0; 3];
            for axis in 0..3 {
                vector[axis] = number(words[from + axis]).map_err(at(line))?;
            }
            Ok(vector)
        };
        let name = words[places.species];
        let of_type = names.iter().position(|known| known == name).unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        });
        types.push(of_type as u32);
        positions.push(vector(places.position)?);
        if let Some(velocity) = places.velocity {
            velocities.push(vector(velocity)?);
        }
        if let Some(mass) = places.mass {
            masses.push(number(words[mass]).map_err(at(line))?);
        }
    }
    let build = || {
        let mut system = System::new(edges, names, types, positions)?;
        if places.velocity.is_some() {
            system = system.with_velocities(velocities)?;
        }
        if places.mass.is_some() { system.with_masses(&masses) } else { Ok(system) }
    };
    build().map_err(|error| FileError::new(path, None, FileProblem::System(error)))
}

/// Splits a line of `key=value` and `key="value of words"`.
fn keys(line: &str) -> Vec<(&str, &str)> {
    let mut keys = Vec::new();
    let mut rest = line.trim();
    while let Some((before, after)) = rest.split_once('=') {
        let key = before.split_whitespace().next_back().unwrap_or("");
        let (value, behind) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after.split_once(char::is_whitespace).unwrap_or((after, "")),
        };
        keys.push((key, value));
        rest = behind;
    }
    keys
}

/// Returns the edges of a box, whose nine numbers are its vectors.
fn edges(text: &str) -> Result<[f64; 3], FileProblem> {
    let numbers = text.split_whitespace().map(number).collect::<Result<Vec<_>, _>>()?;
    let Ok(numbers) = <[f64; 9]>::try_from(numbers) else { return Err(FileProblem::NoLattice) };
    if (0..9).any(|i| i % 4 != 0 && numbers[i] != 0.0) {
        return Err(FileProblem::Skew);
    }
    Ok([numbers[0], numbers[4], numbers[8]])
}

/// Reads the value of `Properties`: name, kind and number of columns, again and again.
fn places(text: &str) -> Result<Places, FileProblem> {
    let wrong = || FileProblem::Properties(shown(text));
    let words: Vec<&str> = text.split(':').collect();
    let mut columns = 0_usize;
    let (mut species, mut position, mut velocity, mut mass) = (None, None, None, None);
    for property in words.chunks(3) {
        let [name, kind, width] = property else { return Err(wrong()) };
        let width: usize = width.parse().map_err(|_| wrong())?;
        match (*name, *kind, width) {
            ("species", "S", 1) => species = Some(columns),
            ("pos", "R", 3) => position = Some(columns),
            ("vel" | "velo", "R", 3) => velocity = Some(columns),
            ("mass" | "masses", "R", 1) => mass = Some(columns),
            _ => {}
        }
        columns = columns.checked_add(width).ok_or_else(wrong)?;
    }
    match (species, position) {
        (Some(species), Some(position)) => Ok(Places { columns, species, position, velocity, mass }),
        _ => Err(wrong()),
    }
}

/// Returns one frame of a trajectory. Positions are moved into the box.
///
/// `comment` is more keys for the second line, for example `step=20`.
pub fn xyz_frame(system: &System, positions: &[[f64; 3]], velocities: &[[f64; 3]], comment: &str) -> String {
    let edges = system.edges();
    let mut text = format!(
        "{}\nLattice=\"{} 0 0 0 {} 0 0 0 {}\" Properties=species:S:1:pos:R:3:vel:R:3 pbc=\"T T T\" {comment}\n",
        positions.len(),
        edges[0],
        edges[1],
        edges[2]
    );
    for ((position, velocity), &of_type) in positions.iter().zip(velocities).zip(system.types()) {
        let inside: [f64; 3] = std::array::from_fn(|axis| position[axis].rem_euclid(edges[axis]));
        let [x, y, z] = inside;
        let [u, v, w] = velocity;
        let name = &system.names()[of_type as usize];
        // Writing to a string never fails.
        let _ = writeln!(text, "{name} {x:.9} {y:.9} {z:.9} {u:.12} {v:.12} {w:.12}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "2\nLattice=\"4 0 0 0 5 0 0 0 6\" Properties=species:S:1:pos:R:3:id:I:1:vel:R:3 pbc=\"T T T\"\n\
                        Ar 1 2 3 7 0.1 0.2 0.3\nKr 4 5 6.5 8 0 0 -1e-3\n\n";

    fn problem(text: &str) -> (Option<usize>, FileProblem) {
        let error = parse(Path::new("file.xyz"), text).unwrap_err();
        assert!(error.to_string().starts_with("file.xyz"), "{error}");
        (error.line, *error.problem)
    }

    #[test]
    fn columns_are_found_by_their_names() {
        let system = parse(Path::new("file.xyz"), GOOD).unwrap();
        assert_eq!(system.edges(), [4.0, 5.0, 6.0]);
        assert_eq!((system.names(), system.types()), (&["Ar".to_owned(), "Kr".to_owned()][..], &[0, 1][..]));
        assert_eq!(system.positions()[1], [4.0, 5.0, 6.5]);
        assert_eq!(system.velocities().unwrap()[1], [0.0, 0.0, -1e-3]);
        let frame = xyz_frame(&system, system.positions(), system.velocities().unwrap(), "step=3");
        let again = parse(Path::new("file.xyz"), &frame).unwrap();
        assert_eq!(again.positions(), [[1.0, 2.0, 3.0], [0.0, 0.0, 0.5]]);
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        let with = |from: &str, to: &str| problem(&GOOD.replace(from, to));
        assert!(matches!(with("Lattice=\"4 0 0 0 5 0 0 0 6\"", ""), (Some(2), FileProblem::NoLattice)));
        assert!(matches!(with("0 5 0", "1 5 0"), (Some(2), FileProblem::Skew)));
        assert!(matches!(with("T T T", "T T F"), (Some(2), FileProblem::NotPeriodic(_))));
        assert!(matches!(with("pos", "force"), (Some(2), FileProblem::Properties(_))));
        assert!(matches!(with("2\n", "3\n"), (Some(4), FileProblem::Atoms { wanted: 3, found: 2 })));
        assert!(matches!(with("2\n", "1\n"), (Some(4), FileProblem::Atoms { wanted: 1, found: 2 })));
        assert!(matches!(with("2\n", "99999999999999\n"), (Some(4), FileProblem::Atoms { .. })));
        assert!(matches!(with("-1e-3", ""), (Some(4), FileProblem::Columns { wanted: 8, found: 7 })));
        assert!(matches!(with("0.2", "x"), (Some(3), FileProblem::NotANumber { .. })));
        assert!(matches!(with("6.5", "nan"), (Some(4), FileProblem::NotFinite(_))));
        assert!(matches!(with("Lattice=\"4", "Lattice=\"-4"), (None, FileProblem::System(_))));
        assert!(matches!(problem(""), (Some(1), FileProblem::Ends(_))));
        assert!(matches!(problem("0\nLattice=\"1 0 0 0 1 0 0 0 1\"\n"), (None, FileProblem::System(_))));
    }
}
