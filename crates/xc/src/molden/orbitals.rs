//! Orbitals as a file has them, and the density that they make.

use super::error::MoldenError;
use super::lines::{Lines, Section};
use crate::density::Density;
use lattice_files::number::shown;
use lattice_files::text::quoted;

/// The largest difference of an occupation from a whole number that is one.
const WHOLE: f64 = 1e-6;

/// How far an occupation may lie outside of its range.
///
/// Natural orbitals have rounded ones, and those of perturbation theory overshoot by some 1e-3.
const OVERSHOOT: f64 = 1e-2;

/// An orbital of a file.
pub(super) struct Orbital {
    /// The line where it begins.
    pub line: usize,
    pub is_beta: bool,
    pub occupation: f64,
    /// The line of the occupation.
    occupation_line: usize,
    /// Functions by their places in the file, from 0, with their coefficients; others have 0.
    pub coefficients: Vec<(usize, f64)>,
}

/// An orbital whose lines are being read.
struct Begun {
    line: usize,
    is_beta: bool,
    occupation: Option<f64>,
    /// The line of the occupation.
    occupation_line: usize,
    /// Words before `=` that were there already.
    keys: Vec<String>,
    coefficients: Vec<(usize, f64)>,
}

impl Begun {
    fn new(line: usize) -> Self {
        Self {
            line,
            is_beta: false,
            occupation: None,
            occupation_line: line,
            keys: Vec::new(),
            coefficients: Vec::new(),
        }
    }

    /// Ends the orbital: coefficients come in the order of their functions, each once.
    fn end(mut self) -> Result<Orbital, MoldenError> {
        let Self { line, is_beta, occupation, .. } = self;
        let bad = |problem: String| Err(MoldenError { line, problem });
        let Some(occupation) = occupation else {
            return bad("the orbital has no occupation; write it with Occup=".to_owned());
        };
        self.coefficients.sort_by_key(|(function, _)| *function);
        if let Some(pair) = self.coefficients.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return bad(format!("the orbital has coefficient {} twice; write it once", pair[0].0 + 1));
        }
        Ok(Orbital {
            line,
            is_beta,
            occupation,
            occupation_line: self.occupation_line,
            coefficients: self.coefficients,
        })
    }
}

/// Reads all orbitals.
pub(super) fn read_orbitals(section: &Section<'_>) -> Result<Vec<Orbital>, MoldenError> {
    let mut lines = section.lines.clone();
    let mut orbitals = Vec::new();
    let mut begun: Option<Begun> = None;
    while let Some(line) = lines.next() {
        if line.is_empty() {
            continue;
        }
        if let Some((key, value)) = line.split_once('=') {
            let key = key.trim().to_ascii_lowercase();
            let is_next = |orbital: &Begun| !orbital.coefficients.is_empty() || orbital.keys.contains(&key);
            if begun.as_ref().is_none_or(is_next) {
                orbitals.extend(begun.take().map(Begun::end).transpose()?);
            }
            let orbital = begun.get_or_insert_with(|| Begun::new(lines.number()));
            take_value(&lines, orbital, &key, value.trim())?;
            orbital.keys.push(key);
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let ([function, coefficient], Some(orbital)) = (&words[..], &mut begun) else {
            return lines.error("an orbital has lines with a number and a coefficient, after its Occup=");
        };
        let function = lines.count(function, "number of a function")?;
        let Some(place) = function.checked_sub(1) else {
            return lines.error("functions are counted from 1; there is none with the number 0");
        };
        orbital.coefficients.push((place, lines.real(coefficient)?));
    }
    orbitals.extend(begun.map(Begun::end).transpose()?);
    expect_occupations(&orbitals)?;
    Ok(orbitals)
}

/// Checks occupations: 0 to 2, or 0 to 1 in a file that has orbitals of both spins.
fn expect_occupations(orbitals: &[Orbital]) -> Result<(), MoldenError> {
    let (most, of) = match orbitals.iter().any(|orbital| orbital.is_beta) {
        true => (1.0, "an orbital of one spin"),
        false => (2.0, "an orbital of both spins"),
    };
    let range = -OVERSHOOT..=most + OVERSHOOT;
    match orbitals.iter().find(|orbital| !range.contains(&orbital.occupation)) {
        Some(orbital) => {
            let found = shown(&orbital.occupation);
            let problem = format!("the occupation is {found}; {of} has 0 to {most} electrons");
            Err(MoldenError { line: orbital.occupation_line, problem })
        }
        None => Ok(()),
    }
}

/// Takes what is written behind a key. Unknown keys have no effect.
fn take_value(lines: &Lines<'_>, orbital: &mut Begun, key: &str, value: &str) -> Result<(), MoldenError> {
    match key {
        "spin" => {
            let spin = value.to_ascii_lowercase();
            orbital.is_beta = match spin.as_str() {
                "beta" | "b" => true,
                "alpha" | "a" | "" => false,
                _ => return lines.error(format!("`{}` is no spin; write Alpha or Beta", quoted(value))),
            };
        }
        "occup" => {
            orbital.occupation = Some(lines.real(value)?);
            orbital.occupation_line = lines.number();
        }
        _ => {}
    }
    Ok(())
}

/// Returns the occupations by alpha and by beta electrons of each orbital, or `None` for one density.
///
/// A file of one spin whose occupations are 2, 1 and 0 is that of open shells: each single electron
/// has spin alpha. Other occupations, as those of natural orbitals, are of both spins together.
fn of_spins(orbitals: &[Orbital]) -> Option<Vec<[f64; 2]>> {
    if orbitals.iter().any(|orbital| orbital.is_beta) {
        let of = |orbital: &Orbital| match orbital.is_beta {
            true => [0.0, orbital.occupation],
            false => [orbital.occupation, 0.0],
        };
        return Some(orbitals.iter().map(of).collect());
    }
    let is = |orbital: &Orbital, number: f64| (orbital.occupation - number).abs() < WHOLE;
    let all_whole = orbitals.iter().all(|orbital| [0.0, 1.0, 2.0].iter().any(|&number| is(orbital, number)));
    let any_single = orbitals.iter().any(|orbital| is(orbital, 1.0));
    let of = |orbital: &Orbital| match orbital.occupation.round() as usize {
        0 => [0.0; 2],
        1 => [1.0, 0.0],
        _ => [1.0; 2],
    };
    (all_whole && any_single).then(|| orbitals.iter().map(of).collect())
}

/// Makes the density of orbitals, whose vectors come in their order.
pub(super) fn density(
    functions: usize,
    orbitals: &[Orbital],
    vectors: impl Iterator<Item = Vec<f64>>,
) -> Result<Density, MoldenError> {
    let by_spin = of_spins(orbitals);
    let mut spins = vec![vec![0.0; functions * functions]; if by_spin.is_some() { 2 } else { 1 }];
    for (number, vector) in vectors.enumerate() {
        let whole = [orbitals[number].occupation, 0.0];
        let occupations = by_spin.as_ref().map_or(whole, |of| of[number]);
        for (matrix, occupation) in spins.iter_mut().zip(occupations) {
            if occupation == 0.0 {
                continue;
            }
            for (row, a) in matrix.chunks_exact_mut(functions).zip(&vector) {
                row.iter_mut().zip(&vector).for_each(|(element, b)| *element += occupation * a * b);
            }
        }
    }
    let made = match (spins.pop(), spins.pop()) {
        (Some(down), Some(up)) => Density::polarised(functions, up, down),
        (one, _) => Density::new(functions, one.unwrap_or_default()),
    };
    made.map_err(|error| MoldenError { line: orbitals[0].line, problem: error.to_string() })
}
