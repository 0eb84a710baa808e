//! Extended XYZ: a count, a line of keys, and a line for each atom.

use super::error::{FileError, FileProblem};
use super::keys::{Keys, items};
use super::text::{count, name, number, read, shown};
use crate::elements;
use crate::system::System;
use crate::units::{Units, ase_velocity};
use derive_setters::Setters;
use lattice_files::text::printable;
use std::fmt::Write;
use std::ops::Range;
use std::path::Path;

/// What a file does not tell about itself.
#[derive(Clone, Copy, Debug, Default, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct Conventions<'a> {
    /// The units of lengths and velocities.
    pub units: Units,
    /// Masses by the names of species, which count more than those of the file and of elements.
    pub masses: &'a [(String, f64)],
}

/// A vector of each atom that makes it move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moving {
    /// In Å/fs, or in reduced units.
    Velocity,
    /// In √(eV u), as ASE writes it.
    Momentum,
}

/// The columns of what is read from a line.
struct Columns {
    count: usize,
    species: usize,
    position: [usize; 3],
    moving: Option<(Moving, [usize; 3])>,
    mass: Option<usize>,
    /// The property of velocities whose unit differs from program to program.
    unclear: Option<String>,
}

/// Reads a system from an extended XYZ file of one frame, in Å and fs.
///
/// # Errors
/// With the file and the line.
pub fn read_xyz(path: &Path) -> Result<System, FileError> {
    read_xyz_by(path, &Conventions::default())
}

/// Reads a system from an extended XYZ file of one frame.
///
/// The key `Lattice` gives the box. `Properties` names the columns: `species:S:1` and `pos:R:3`
/// are read, and if they are there `mass:R:1` (or `masses`), velocities, and ASE's `momenta:R:3`.
/// Velocities are `vel:R:3`, `velo`, `velocity` or `velocities`, in Å/fs or in reduced units.
/// [`System::notes`] tells of the last three, which some programs write in other units.
///
/// # Errors
/// With the file and the line.
pub fn read_xyz_by(path: &Path, conventions: &Conventions<'_>) -> Result<System, FileError> {
    parse(path, &read(path)?, conventions)
}

fn parse(path: &Path, text: &str, conventions: &Conventions<'_>) -> Result<System, FileError> {
    let at = |line: usize| move |problem| FileError::new(path, line, problem);
    let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line));
    let (_, first) = lines.next().ok_or_else(|| at(1)(FileProblem::Ends("the number of atoms")))?;
    let wanted = count(first).map_err(at(1))?;
    let (_, second) = lines.next().ok_or_else(|| at(2)(FileProblem::Ends("the line of keys")))?;
    let keys = Keys::parse(second).map_err(at(2))?;
    let value = |key: &'static str| keys.get(key).map_err(at(2));
    let edges = edges(value("Lattice")?.ok_or_else(|| at(2)(FileProblem::NoLattice))?).map_err(at(2))?;
    if let Some(periodic) = value("pbc")?
        && !items(periodic).all(|word| ["t", "true", "1"].iter().any(|yes| word.eq_ignore_ascii_case(yes)))
    {
        return Err(at(2)(FileProblem::NotPeriodic(shown(periodic))));
    }
    let columns = columns(value("Properties")?.unwrap_or("species:S:1:pos:R:3")).map_err(at(2))?;
    let momenta = columns.moving.is_some_and(|(moving, _)| moving == Moving::Momentum);
    if momenta && conventions.units == Units::Reduced {
        return Err(at(2)(FileProblem::MomentaReduced));
    }

    let rows: Vec<(usize, &str)> = lines.collect();
    let found = rows.iter().rposition(|(_, row)| !row.trim().is_empty()).map_or(0, |last| last + 1);
    if found != wanted {
        return Err(at(found + 2)(FileProblem::Atoms { wanted, found }));
    }
    let mut names: Vec<String> = Vec::new();
    let (mut types, mut positions, mut velocities, mut masses) = (vec![], vec![], vec![], vec![]);
    for &(line, row) in &rows[..found] {
        let words: Vec<&str> = row.split_whitespace().take_while(|word| !word.starts_with('#')).collect();
        if words.len() != columns.count {
            return Err(at(line)(FileProblem::Columns { wanted: columns.count, found: words.len() }));
        }
        let vector = |columns: [usize; 3]| -> Result<[f64; 3], FileError> {
            let mut vector = [0.0; 3];
            for (number_of, column) in vector.iter_mut().zip(columns) {
                *number_of = number(words[column]).map_err(at(line))?;
            }
            Ok(vector)
        };
        let species = words[columns.species];
        let of_type = match names.iter().position(|known| known == species) {
            Some(known) => known,
            None => {
                names.push(name(species).map_err(at(line))?);
                names.len() - 1
            }
        };
        types.push(of_type as u32);
        positions.push(vector(columns.position)?);
        let mass = columns.mass.map(|mass| number(words[mass]).map_err(at(line))).transpose()?;
        masses.extend(mass);
        if let Some((moving, columns)) = columns.moving {
            let factor = match moving {
                Moving::Velocity => 1.0,
                Moving::Momentum => {
                    let given = conventions.masses.iter().rfind(|(name, _)| name == species);
                    let mass = given.map(|(_, mass)| *mass).or(mass).or_else(|| elements::mass(species));
                    let unknown = || at(line)(FileProblem::MomentaWithoutMass(shown(species)));
                    ase_velocity() / mass.ok_or_else(unknown)?
                }
            };
            velocities.push(vector(columns)?.map(|component| factor * component));
        }
    }
    let unit = match conventions.units {
        Units::Real => "Å/fs",
        Units::Reduced => "reduced units",
    };
    let note = columns.unclear.map(|name| {
        format!(
            "{}, line 2: velocities `{name}` are read in {unit}; some programs write other units under this name; \
             name them vel if they are in {unit}, or convert them",
            printable(&path.to_string_lossy())
        )
    });
    let build = || {
        let mut system = System::new(edges, names, types, positions)?;
        // The masses come first: one of zero makes no velocity of a momentum.
        if columns.mass.is_some() {
            system = system.with_masses(&masses)?;
        }
        system = system.with_notes(note.into_iter().collect());
        if columns.moving.is_some() { system.with_velocities(velocities) } else { Ok(system) }
    };
    build().map_err(|error| FileError::new(path, None, FileProblem::System(error)))
}

/// Returns the edges of a box, by its three vectors or by themselves.
fn edges(text: &str) -> Result<[f64; 3], FileProblem> {
    let numbers = items(text).map(number).collect::<Result<Vec<_>, _>>()?;
    match numbers[..] {
        [x, y, z] => Ok([x, y, z]),
        [x, _, _, _, y, _, _, _, z] => {
            let skew = (0..9).any(|i| i % 4 != 0 && numbers[i] != 0.0);
            if skew { Err(FileProblem::Skew) } else { Ok([x, y, z]) }
        }
        _ => Err(FileProblem::Lattice(numbers.len())),
    }
}

/// Reads the value of `Properties`: name, kind and number of columns, again and again.
///
/// Names count in small and large letters, and in any order. Vectors may be three columns of their own.
/// `Z` beside them is the atomic number, which is passed over.
fn columns(text: &str) -> Result<Columns, FileProblem> {
    let wrong = || FileProblem::Properties(shown(text));
    let words: Vec<&str> = text.trim().split(':').collect();
    let mut count = 0_usize;
    let mut given = [1, 3, 3, 3, 1].map(Given::new);
    let [species, position, velocity, momentum, mass] = &mut given;
    // Without x and y, a large Z or a whole number is the atomic number of QUIP and ASE.
    let has = |axis: &str| words.iter().step_by(3).any(|name| name.eq_ignore_ascii_case(axis));
    let is_of_axes = has("x") || has("y");
    let mut numbers = None;
    for property in words.chunks(3) {
        let [name, kind, width] = property else { return Err(wrong()) };
        let width: usize = width.trim().parse().map_err(|_| wrong())?;
        let is_text = kind.eq_ignore_ascii_case("S");
        let is_number = kind.eq_ignore_ascii_case("R") || kind.eq_ignore_ascii_case("I");
        let lower = name.to_ascii_lowercase();
        let end = count.checked_add(width).ok_or_else(wrong)?;
        match (lower.as_str(), width) {
            ("species" | "element" | "symbol" | "symbols", 1) if is_text => {
                species.take(name, 0, count..end)?
            }
            ("pos" | "position" | "positions", 3) if is_number => position.take(name, 0, count..end)?,
            ("vel" | "velo" | "velocity" | "velocities", 3) if is_number => {
                velocity.take(name, 0, count..end)?;
            }
            ("momenta", 3) if is_number => momentum.take(name, 0, count..end)?,
            ("mass" | "masses", 1) if is_number => mass.take(name, 0, count..end)?,
            ("z", 1) if is_number && !is_of_axes && (*name == "Z" || kind.eq_ignore_ascii_case("I")) => {
                numbers = Some(shown(name));
            }
            ("numbers" | "atomic_numbers", 1) if is_number => numbers = Some(shown(name)),
            ("x" | "y" | "z", 1) if is_number => position.take(name, axis(&lower), count..end)?,
            ("vx" | "vy" | "vz", 1) if is_number => velocity.take(name, axis(&lower[1..]), count..end)?,
            (other, width) if is_motion(other, width) => return Err(FileProblem::Motion(shown(name))),
            _ => {}
        }
        count = end;
    }
    if let Some(partial) = [velocity, momentum].into_iter().find(|given| given.is_partial()) {
        return Err(FileProblem::Motion(partial.name.clone()));
    }
    let [species, position, velocity, momentum, mass] = &given;
    let moving = match (velocity.columns(), momentum.columns()) {
        (Some(_), Some(_)) => {
            return Err(FileProblem::TwoProperties(velocity.name.clone(), momentum.name.clone()));
        }
        (Some(columns), None) => Some((Moving::Velocity, columns)),
        (None, Some(columns)) => Some((Moving::Momentum, columns)),
        (None, None) => None,
    };
    match (species.columns(), position.columns()) {
        (Some([species, ..]), Some(position)) => {
            let mass = mass.columns().map(|[mass, ..]| mass);
            // ASE and QUIP differ in the unit of all names but `vel`.
            let is_unclear = |name: &&String| name.to_ascii_lowercase().starts_with("velo");
            let unclear = Some(&velocity.name).filter(is_unclear).cloned();
            Ok(Columns { count, species, position, moving, mass, unclear })
        }
        (None, Some(_)) => Err(numbers.map_or_else(wrong, FileProblem::OnlyNumbers)),
        _ => Err(wrong()),
    }
}

/// The columns of a number or of a vector, by one property or three.
struct Given {
    needed: usize,
    name: String,
    columns: [Option<usize>; 3],
}

impl Given {
    fn new(needed: usize) -> Self {
        Self { needed, name: String::new(), columns: [None; 3] }
    }

    /// Takes columns for the components from `first` on.
    fn take(&mut self, name: &str, first: usize, columns: Range<usize>) -> Result<(), FileProblem> {
        for (component, column) in (first..).zip(columns) {
            if self.columns[component].replace(column).is_some() {
                return Err(FileProblem::TwoProperties(self.name.clone(), shown(name)));
            }
        }
        self.name = shown(name);
        Ok(())
    }

    fn is_partial(&self) -> bool {
        (1..self.needed).contains(&self.columns.iter().flatten().count())
    }

    /// Returns the columns, if all are there. A number has the first of three.
    fn columns(&self) -> Option<[usize; 3]> {
        let complete = self.columns.iter().flatten().count() == self.needed;
        complete.then(|| self.columns.map(Option::unwrap_or_default))
    }
}

/// Returns the number of an axis by its letter.
fn axis(letter: &str) -> usize {
    ["x", "y", "z"].iter().position(|axis| *axis == letter).unwrap_or_default()
}

/// Tells whether a property, in small letters, speaks of motion, so that it may not be passed over.
///
/// A short name does if it has the columns of a vector, or ends as one of its components.
fn is_motion(name: &str, width: usize) -> bool {
    let is_short = |name: &str| ["v", "p", "mom", "moms"].contains(&name);
    let component = name.strip_suffix(['x', 'y', 'z']).map(|name| name.trim_end_matches('_'));
    let is_long =
        name.starts_with("vel") || ["velo", "momentum", "momenta"].iter().any(|word| name.contains(word));
    is_long || width == 3 && is_short(name) || component.is_some_and(is_short)
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

    fn read_text(text: &str) -> Result<System, FileError> {
        parse(Path::new("file.xyz"), text, &Conventions::default())
    }

    fn problem(text: &str) -> (Option<usize>, FileProblem) {
        let error = read_text(text).unwrap_err();
        assert!(error.to_string().starts_with("file.xyz"), "{error}");
        (error.line, *error.problem)
    }

    #[test]
    fn columns_are_found_by_their_names() {
        let system = read_text(GOOD).unwrap();
        assert_eq!(system.edges(), [4.0, 5.0, 6.0]);
        assert_eq!((system.names(), system.types()), (&["Ar".to_owned(), "Kr".to_owned()][..], &[0, 1][..]));
        assert_eq!(system.positions()[1], [4.0, 5.0, 6.5]);
        assert_eq!(system.velocities().unwrap()[1], [0.0, 0.0, -1e-3]);
        let frame = xyz_frame(&system, system.positions(), system.velocities().unwrap(), "step=3");
        let again = read_text(&frame).unwrap();
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
        assert!(matches!(with("-1e-3", "-1e-3 7"), (Some(4), FileProblem::Columns { wanted: 8, found: 9 })));
        assert!(read_text(&GOOD.replace("-1e-3", "-1e-3 # a comment")).is_ok());
        let plain = "1\nLattice=\"4 5 6\"\nAr 1 2 3 0.1 0.2 0.3\n";
        let said = read_text(plain).unwrap_err().to_string();
        assert!(said.contains("line 3: 7 columns are found") && said.contains("`Properties`"), "{said}");
        assert!(matches!(with("0.2", "x"), (Some(3), FileProblem::NotANumber { .. })));
        assert!(matches!(with("6.5", "nan"), (Some(4), FileProblem::NotFinite(_))));
        assert!(matches!(with("Lattice=\"4", "Lattice=\"-4"), (None, FileProblem::System(_))));
        assert!(matches!(with("0 6\"", "0\""), (Some(2), FileProblem::Lattice(8))));
        assert!(matches!(with("T T T\"", "T T T"), (Some(2), FileProblem::Unclosed(_))));
        assert!(matches!(with("pbc", "lattice=\"1 1 1\" pbc"), (Some(2), FileProblem::TwoKeys(_))));
        assert!(matches!(with("Kr", "K\u{1b}[31mr"), (Some(4), FileProblem::Name(_))));
        assert!(matches!(problem(""), (Some(1), FileProblem::Ends(_))));
        assert!(matches!(problem("0\nLattice=\"1 0 0 0 1 0 0 0 1\"\n"), (None, FileProblem::System(_))));
    }

    #[test]
    fn boxes_are_read_as_other_programs_write_them() {
        let wanted = read_text(GOOD).unwrap();
        for lattice in [
            "Lattice={4 0 0 0 5 0 0 0 6}",
            "Lattice=[[4, 0, 0], [0, 5, 0], [0, 0, 6]]",
            "Lattice=[[4.0,0,0],[0,5,0],[0,0,6.0]]",
            "Lattice='4 0 0 0 5 0 0 0 6'",
            "LATTICE = \"4., 0., 0., 0., 5., 0., 0., 0., 6.\"",
            "lattice=\"4 5 6\"",
            "Lattice=\"0.4D+01 0 0 0 5d0 0 0 0 0.6+001\"",
            "note=\"not \\\"Lattice=1\\\"\" Lattice=\"4 0 0 0 5 0 0 0 6\"",
        ] {
            let text = GOOD.replace("Lattice=\"4 0 0 0 5 0 0 0 6\"", lattice);
            for periodic in ["pbc=\"T T T\"", "PBC=[T, T, True]", "pbc={1 1 1}", "pbc='true true TRUE'", ""] {
                let text = text.replace("pbc=\"T T T\"", periodic);
                assert_eq!(read_text(&text).unwrap(), wanted, "{text}");
            }
        }
    }

    #[test]
    fn properties_have_any_order_and_case_and_numbers_any_exponent() {
        let with = |properties: &str, rows: &str| {
            read_text(&format!("1\nLattice=\"9 9 9\" Properties={properties}\n{rows}\n"))
        };
        let wanted = with("species:S:1:pos:R:3:vel:R:3:mass:R:1", "Ar 1 2 3 .1 .2 1e-100 4").unwrap();
        for (properties, row) in [
            ("pos:R:3:id:I:1:mass:R:1:velocities:R:3:Species:S:1", "1 2 3 7 4 .1 .2 0.1-099 Ar"),
            ("\"Velo:R:3:SPECIES:s:1:Pos:r:3:masses:R:1\"", "0.1D0 2d-1 1D-100 Ar 1 2 3 4"),
            (
                "species:S:1:z:R:1:y:R:1:x:R:1:charge:R:1:vz:R:1:vx:R:1:vy:R:1:mass:I:1",
                "Ar 3 2 1 0.5 1.-100 .1 .2 4",
            ),
        ] {
            assert_eq!(with(properties, row).unwrap().with_notes(Vec::new()), wanted, "{properties}");
        }
        for (properties, name) in [
            ("species:S:1:pos:R:3:velocity:R:1", "velocity"),
            ("species:S:1:pos:R:3:momentum:R:3", "momentum"),
            ("species:S:1:pos:R:3:momenta:R:1", "momenta"),
            ("species:S:1:pos:R:3:vel_x:R:1", "vel_x"),
            ("species:S:1:pos:R:3:vx:R:1:vy:R:1", "vy"),
            ("species:S:1:pos:R:3:v:R:3", "v"),
            ("species:S:1:pos:R:3:V:R:3", "V"),
            ("species:S:1:pos:R:3:p:R:3", "p"),
            ("species:S:1:pos:R:3:mom:R:3", "mom"),
            ("species:S:1:pos:R:3:moms:I:3", "moms"),
            ("species:S:1:pos:R:3:Momentums:R:3", "Momentums"),
            ("species:S:1:pos:R:3:initial_velocities:R:3", "initial_velocities"),
            ("species:S:1:pos:R:3:v_x:R:1:v_y:R:1:v_z:R:1", "v_x"),
            ("species:S:1:pos:R:3:PX:R:1:PY:R:1:PZ:R:1", "PX"),
            ("species:S:1:pos:R:3:vy:R:3", "vy"),
            ("species:S:1:pos:R:3:vel:R:3:momenta:R:3", "momenta"),
            ("species:S:1:pos:R:3:vel:R:3:Velo:R:3", "Velo"),
        ] {
            let said = with(properties, "Ar 1 2 3 4 5 6 7 8 9").unwrap_err().to_string();
            assert!(said.contains(&format!("`{name}`")) && said.contains("line 2"), "{said}");
        }
        // Other vectors and numbers are no motion.
        for name in ["force:R:3", "forces:R:3", "magmoms:R:3", "dipole:R:3", "v:R:1", "p:R:1", "level:I:1"] {
            let row = if name.ends_with('3') { "Ar 1 2 3 4 5 6" } else { "Ar 1 2 3 4" };
            let found = with(&format!("species:S:1:pos:R:3:{name}"), row).unwrap();
            assert_eq!(found.velocities(), None, "{name}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_passed_over() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("\u{feff}{GOOD}")).unwrap();
        assert_eq!(read_xyz(file.path()).unwrap(), read_text(GOOD).unwrap());
    }

    #[test]
    fn the_unit_of_velocities_is_noted_where_programs_differ() {
        let notes = |property: &str, units| {
            let text = format!(
                "1\nLattice=\"9 9 9\" Properties=species:S:1:pos:R:3:{property}\nAr 1 2 3 .1 .2 .3\n"
            );
            let conventions = Conventions::default().with_units(units);
            parse(Path::new("file.xyz"), &text, &conventions).unwrap().notes().to_owned()
        };
        for name in ["velo", "velocity", "velocities", "Velocities"] {
            for (units, unit) in [(Units::Real, "Å/fs"), (Units::Reduced, "reduced units")] {
                let found = notes(&format!("{name}:R:3"), units);
                let [note] = &found[..] else { panic!("{found:?}") };
                assert!(note.starts_with("file.xyz, line 2: "), "{note}");
                assert!(note.contains(&format!("`{name}` are read in {unit}")), "{note}");
            }
        }
        for property in ["vel:R:3", "Vel:R:3", "vx:R:1:vy:R:1:vz:R:1", "momenta:R:3", "forces:R:3"] {
            assert_eq!(notes(property, Units::Real), [""; 0], "{property}");
        }
    }

    #[test]
    fn atomic_numbers_are_no_coordinates() {
        let with = |properties: &str, row: &str| {
            read_text(&format!("1\nLattice=\"9 9 9\" Properties={properties}\n{row}\n"))
        };
        let wanted = with("species:S:1:pos:R:3", "Ar 1 2 3").unwrap();
        for (properties, row) in [
            ("species:S:1:pos:R:3:Z:I:1", "Ar 1 2 3 18"),
            ("Z:I:1:species:S:1:pos:R:3", "18 Ar 1 2 3"),
            ("pos:R:3:Z:R:1:species:S:1", "1 2 3 18 Ar"),
            ("species:S:1:z:I:1:pos:R:3", "Ar 18 1 2 3"),
            ("species:S:1:numbers:I:1:pos:R:3", "Ar 18 1 2 3"),
            ("species:S:1:x:R:1:y:R:1:z:R:1", "Ar 1 2 3"),
            ("species:S:1:X:R:1:Y:R:1:Z:R:1", "Ar 1 2 3"),
            ("z:I:1:x:I:1:y:I:1:species:S:1", "3 1 2 Ar"),
        ] {
            assert_eq!(with(properties, row).unwrap(), wanted, "{properties}");
        }
        for (properties, row, said) in [
            ("Z:I:1:pos:R:3", "18 1 2 3", "`Z` alone"),
            ("numbers:I:1:pos:R:3", "18 1 2 3", "species:S:1"),
            ("species:S:1:pos:R:3:z:R:1", "Ar 1 2 3 3", "tell the same"),
            ("species:S:1:x:R:1:y:R:1", "Ar 1 2", "no species and positions"),
        ] {
            let error = with(properties, row).unwrap_err().to_string();
            assert!(error.contains(said) && error.contains("line 2"), "{error}");
        }
    }

    #[test]
    fn momenta_of_ase_are_divided_by_masses_in_its_units() {
        let text = |name: &str| {
            format!(
                "1\nLattice=\"9 9 9\" Properties=species:S:1:pos:R:3:momenta:R:3\n{name} 1 2 3 0.5 0 -1\n"
            )
        };
        let of = |name: &str, masses: &[(String, f64)], units| {
            parse(Path::new("file.xyz"), &text(name), &Conventions { units, masses })
        };
        // A momentum of m √(eV/u) has the velocity of an electronvolt at the mass of u: 0.09822694 Å/fs.
        let found = of("Ar", &[], Units::Real).unwrap();
        let velocity = found.velocities().unwrap()[0];
        assert!(
            (velocity[0] / (0.098_226_94 * 0.5 / 39.948) - 1.0).abs() < 1e-6
                && velocity[2] == -2.0 * velocity[0]
        );
        let heavy = [("X".to_owned(), 2.0 * 39.948), ("X".to_owned(), 39.948)];
        assert_eq!(of("X", &heavy, Units::Real).unwrap().velocities(), found.velocities());
        let problem = |name, units| *of(name, &[], units).unwrap_err().problem;
        assert!(matches!(problem("X", Units::Real), FileProblem::MomentaWithoutMass(_)));
        assert!(matches!(problem("Ar", Units::Reduced), FileProblem::MomentaReduced));
    }
}
