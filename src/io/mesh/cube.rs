//! Gaussian's cube files.
//!
//! Two lines of comment; the number of atoms and the origin; for each axis the number of points and
//! the step; a line for each atom; the values with the third index fastest. A positive number of
//! points has its step in bohr, a negative one in ångström. A negative number of atoms says that
//! numbers of orbitals stand before the values.

use super::MeshProblem;
use lattice_files::number::real;
use lattice_files::room;
use lattice_files::text::{quoted, without_mark};
use std::fmt::Write;
use std::io::{BufRead, Read};
use std::ops::RangeInclusive;

/// Bohr in an ångström (CODATA 2022: 1 bohr = 0.529177210544 Å).
const ANGSTROM: f64 = 1.0 / 0.529_177_210_544;

/// Most bytes of a line of the header.
const LONGEST_LINE: u64 = 1 << 12;

/// Most bytes of a number.
const LONGEST_WORD: usize = 64;

/// Most atoms.
const MOST_ATOMS: usize = 1 << 24;

/// An atom of a cube file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Atom {
    /// Atomic number.
    pub number: i64,
    /// Charge, which is often the atomic number again.
    pub charge: f64,
    /// Position in bohr.
    pub position: [f64; 3],
}

/// What a cube file says beside the values. Lengths are in bohr.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CubeHeader {
    /// Two lines of comment.
    pub comments: [String; 2],
    /// Position of the first mesh point.
    pub origin: [f64; 3],
    /// From one mesh point to the next, for each axis.
    pub steps: [[f64; 3]; 3],
    /// The atoms.
    pub atoms: Vec<Atom>,
}

impl CubeHeader {
    /// Makes the header of a cell without atoms.
    pub fn of_cell(cell: [[f64; 3]; 3], shape: [usize; 3]) -> Self {
        let steps = std::array::from_fn(|axis| cell[axis].map(|x| x / shape[axis] as f64));
        Self { steps, ..Self::default() }
    }

    /// Returns the vectors of the cell that the mesh fills.
    pub fn cell(&self, shape: [usize; 3]) -> [[f64; 3]; 3] {
        std::array::from_fn(|axis| self.steps[axis].map(|step| step * shape[axis] as f64))
    }
}

/// The lines of a header.
struct Lines<R> {
    input: R,
    line: usize,
}

impl<R: BufRead> Lines<R> {
    fn next(&mut self) -> Result<String, MeshProblem> {
        let mut bytes = Vec::new();
        let read = self.input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut bytes);
        read.map_err(|source| MeshProblem::System { action: "read the file", source })?;
        self.line += 1;
        let text = if self.line == 1 { without_mark(&bytes) } else { &bytes };
        Ok(String::from_utf8_lossy(text).trim_end().to_owned())
    }

    fn bad(&self, text: &str, wanted: &'static str) -> MeshProblem {
        MeshProblem::Header { line: self.line, text: quoted(text), wanted }
    }

    /// Reads a line of a whole number and as many others as `counts` allow.
    fn numbers(
        &mut self,
        counts: RangeInclusive<usize>,
        wanted: &'static str,
    ) -> Result<(i64, Vec<f64>), MeshProblem> {
        let text = self.next()?;
        let mut words = text.split_whitespace();
        let first = words.next().and_then(|word| word.parse().ok());
        let rest: Option<Vec<f64>> = words.map(|word| real(word.as_bytes())).collect();
        match (first, rest) {
            (Some(first), Some(rest))
                if counts.contains(&rest.len()) && rest.iter().all(|x| x.is_finite()) =>
            {
                Ok((first, rest))
            }
            _ => Err(self.bad(&text, wanted)),
        }
    }
}

/// Returns the next word; an empty one at the end.
fn word(input: &mut impl BufRead) -> Result<String, MeshProblem> {
    let mut word = Vec::new();
    loop {
        let available =
            input.fill_buf().map_err(|source| MeshProblem::System { action: "read the file", source })?;
        if available.is_empty() {
            break;
        }
        let mut used = 0;
        let mut ends = false;
        for &byte in available {
            used += 1;
            if !byte.is_ascii_whitespace() {
                word.push(byte);
            }
            if (byte.is_ascii_whitespace() && !word.is_empty()) || word.len() > LONGEST_WORD {
                ends = true;
                break;
            }
        }
        input.consume(used);
        if ends {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&word).into_owned())
}

/// Reads a file of `length` bytes: what it says, the extents, the values.
pub(super) fn read(
    input: impl BufRead,
    length: u64,
) -> Result<(CubeHeader, [usize; 3], Vec<f64>), MeshProblem> {
    let mut lines = Lines { input, line: 0 };
    let comments = [lines.next()?, lines.next()?];
    let (atom_count, rest) = lines.numbers(3..=4, "the number of atoms and the origin should be here")?;
    // A fifth number is how many values each point has.
    if let Some(&values) = rest.get(3)
        && values != 1.0
    {
        return Err(MeshProblem::SeveralValues { found: values.abs() as usize });
    }
    let mut header = CubeHeader { comments, origin: [rest[0], rest[1], rest[2]], ..CubeHeader::default() };
    let mut shape = [0; 3];
    let mut unit = 1.0;
    for axis in 0..3 {
        let (points, step) = lines.numbers(3..=3, "the points of an axis and its step should be here")?;
        if points == 0 || points.unsigned_abs() > 1 << 30 {
            return Err(lines.bad(&points.to_string(), "each axis must have 1 to 2^30 points"));
        }
        let in_bohr = if points > 0 { 1.0 } else { ANGSTROM };
        if axis == 0 {
            unit = in_bohr;
        }
        shape[axis] = points.unsigned_abs() as usize;
        header.steps[axis] = [step[0], step[1], step[2]].map(|x| x * in_bohr);
    }
    header.origin = header.origin.map(|x| x * unit);
    let count = atom_count.unsigned_abs() as usize;
    if count > MOST_ATOMS {
        return Err(lines.bad(&atom_count.to_string(), "there are too many atoms"));
    }
    for _ in 0..count {
        let (number, rest) = lines.numbers(4..=4, "an atom's number, charge and position should be here")?;
        let position = [rest[1], rest[2], rest[3]].map(|x| x * unit);
        header.atoms.push(Atom { number, charge: rest[0], position });
    }
    if atom_count < 0 {
        let orbitals = word(&mut lines.input)?;
        match orbitals.parse() {
            Ok(1) => word(&mut lines.input).map(drop)?,
            Ok(found) => return Err(MeshProblem::SeveralValues { found }),
            Err(_) => {
                lines.line += 1;
                return Err(lines.bad(&orbitals, "the number of orbitals should be here"));
            }
        }
    }
    let wanted = shape.iter().try_fold(1_usize, |all, &n| all.checked_mul(n)).unwrap_or(usize::MAX);
    // A value takes a digit and a blank, but for the last one.
    let most = length / 2 + 1;
    if wanted as u64 > most {
        return Err(MeshProblem::Count { wanted, found: format!("at most {most}") });
    }
    values(&mut lines.input, wanted).map(|values| (header, shape, values))
}

/// Reads as many values as the mesh has.
fn values(input: &mut impl BufRead, wanted: usize) -> Result<Vec<f64>, MeshProblem> {
    let mut values = Vec::new();
    room::reserve(&mut values, wanted)?;
    loop {
        let text = word(input)?;
        if text.is_empty() {
            break;
        }
        if values.len() == wanted {
            return Err(MeshProblem::Count { wanted, found: format!("more than {wanted}") });
        }
        let index = values.len();
        let value =
            real(text.as_bytes()).ok_or_else(|| MeshProblem::NotANumber { index, text: quoted(&text) })?;
        if !value.is_finite() {
            return Err(MeshProblem::NotFinite { index, value });
        }
        values.push(value);
    }
    if values.len() < wanted {
        return Err(MeshProblem::Count { wanted, found: values.len().to_string() });
    }
    Ok(values)
}

/// Returns the text of a file, lengths in bohr.
pub(super) fn text(header: &CubeHeader, shape: [usize; 3], values: &[f64]) -> String {
    let mut text = String::new();
    for comment in &header.comments {
        text.push_str(comment);
        text.push('\n');
    }
    let row = |text: &mut String, first: &dyn std::fmt::Display, rest: &[f64]| {
        write!(text, "{first:>5}").expect("text has room");
        rest.iter().for_each(|x| write!(text, "{x:>20.12}").expect("text has room"));
        text.push('\n');
    };
    row(&mut text, &header.atoms.len(), &header.origin);
    for axis in 0..3 {
        row(&mut text, &shape[axis], &header.steps[axis]);
    }
    for atom in &header.atoms {
        let [x, y, z] = atom.position;
        row(&mut text, &atom.number, &[atom.charge, x, y, z]);
    }
    for line in values.chunks(shape[2]).flat_map(|row| row.chunks(6)) {
        line.iter().for_each(|value| text.push_str(&exponential(*value)));
        text.push('\n');
    }
    text
}

/// Writes a number with 13 significant digits, in 21 columns.
fn exponential(value: f64) -> String {
    let text = format!("{value:.12E}");
    let (digits, exponent) = text.split_once('E').unwrap_or((&text, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{:>21}", format!("{digits}E{sign}{exponent:0>2}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "a comment\nanother\n 1 0.5 0 0\n 2 1.0 0 0\n 1 0 2.0 0\n 3 0 0 0.5\n 8 8.0 0 0 0.25\n 1 2 3\n-4.5D-1 5e0 6\n";

    fn read_text(text: &str) -> Result<(CubeHeader, [usize; 3], Vec<f64>), MeshProblem> {
        read(text.as_bytes(), text.len() as u64)
    }

    #[test]
    fn files_are_read_and_written() {
        let (header, shape, values) = read_text(SMALL).unwrap();
        assert_eq!((shape, values.clone()), ([2, 1, 3], vec![1.0, 2.0, 3.0, -0.45, 5.0, 6.0]));
        assert_eq!(header.cell(shape), [[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.5]]);
        assert_eq!(header.atoms, [Atom { number: 8, charge: 8.0, position: [0.0, 0.0, 0.25] }]);
        let values: Vec<f64> = values.iter().map(|x| x / 3e-101).collect();
        let again = read_text(&text(&header, shape, &values)).unwrap();
        assert_eq!((again.0, again.1), (header, shape));
        assert!(again.2.iter().zip(&values).all(|(a, b)| (a / b - 1.0).abs() < 5e-13));
    }

    #[test]
    fn a_byte_order_mark_is_no_comment() {
        assert_eq!(read_text(&format!("\u{feff}{SMALL}")).unwrap(), read_text(SMALL).unwrap());
    }

    #[test]
    fn units_and_orbitals_follow_signs() {
        let file = SMALL.replace(" 2 1.0", "-2 1.0").replace(" 1 0 2", "-1 0 2").replace(" 3 0 0", "-3 0 0");
        let (header, shape, _) = read_text(&file).unwrap();
        assert_eq!(shape, [2, 1, 3]);
        assert!((header.steps[0][0] - 1.889726).abs() < 1e-6 && (header.origin[0] - 0.944863).abs() < 1e-6);
        let file = SMALL.replace(" 1 0.5", "-1 0.5").replace(" 1 2 3\n", " 1 17\n 1 2 3\n");
        assert_eq!(read_text(&file).unwrap().2.len(), 6);
        let file = file.replace(" 1 17\n", " 2 17 18\n");
        assert!(matches!(read_text(&file), Err(MeshProblem::SeveralValues { found: 2 })));
    }

    #[test]
    fn bad_files_are_refused_with_the_place() {
        for (from, to, wanted) in [
            (" 1 0.5 0 0", "no atoms", "line 3, `no atoms`"),
            (" 2 1.0 0 0", " 0 1.0 0 0", "line 4, `0`: each axis must have"),
            (" 8 8.0 0 0 0.25", " 8 8.0 0 0", "line 7"),
            (" 8 8.0 0 0 0.25", " 8 8.0 0 0 0.25 1", "line 7"),
            (" 2 1.0 0 0", " 2 1.0 0 0 1", "line 4"),
            (" 1 0.5 0 0", " 1 0.5 0 0 1 1", "line 3"),
            (" 1 2 3\n", " 1 2\n", "has 5 values, and the mesh of its header 6"),
            (" 1 2 3\n", " 1 2 3 4\n", "has more than 6 values"),
            (" 1 2 3\n", " 1 nan 3\n", "value 1 is NaN"),
            (" 1 2 3\n", " 1 2 ***\n", "value 2 is `***`"),
            (" 1 0.5 0 0", " 1 0.5 0 0 2", "has 2 values at each point"),
            (" 1 0.5 0 0", " 999999999999 0.5 0 0", "too many atoms"),
            (
                " 2 1.0 0 0",
                " 999999999 1.0 0 0",
                "has at most 54 values, and the mesh of its header 2999999997",
            ),
            (" 1 2 3\n", " 1 \u{1b}[31m 3\n", "value 1 is `\u{fffd}[31m`"),
        ] {
            let error = read_text(&SMALL.replace(from, to)).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
