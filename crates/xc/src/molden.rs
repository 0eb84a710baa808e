//! Molden files: atoms, basis, orbitals and their occupations.
//!
//! Coefficients in the file are those of normalised primitives. Within a shell of d or f functions the
//! file's order is m = 0, +1, −1, +2, −2 …. Sections that are not needed are passed over.

use super::basis::{Atom, Basis, Shell};
use super::density::Density;
use super::error::XcError;
use super::grid::charge;
use lattice_files::number::real;
use lattice_files::text::quoted;
use std::f64::consts::PI;

/// One bohr in ångström (CODATA 2018).
const BOHR: f64 = 0.529177210903;

/// What a Molden file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Molden {
    /// Atoms and shells.
    pub basis: Basis,
    /// D = Σ occupation · C Cᵀ, of each spin if the file has orbitals of both.
    pub density: Density,
    /// The sum of all occupations.
    pub electrons: f64,
}

/// A Molden file that was not understood, and why.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct MoldenError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub problem: String,
}

/// The lines of a file, with their numbers.
struct Lines<'a> {
    lines: Vec<&'a str>,
    next: usize,
}

/// One orbital.
struct Orbital {
    line: usize,
    is_beta: bool,
    occupation: Option<f64>,
    coefficients: Vec<f64>,
}

impl<'a> Lines<'a> {
    /// Returns the next line, unless a section begins there.
    fn within(&mut self) -> Option<&'a str> {
        let line = self.lines.get(self.next)?.trim();
        if line.starts_with('[') {
            return None;
        }
        self.next += 1;
        Some(line)
    }

    /// Makes an error of the line that was read last.
    fn error<T>(&self, problem: impl Into<String>) -> Result<T, MoldenError> {
        Err(MoldenError { line: self.next.max(1), problem: problem.into() })
    }

    /// Decodes a number; Fortran's too.
    fn number(&self, word: &str) -> Result<f64, MoldenError> {
        match real(word.as_bytes()) {
            Some(number) if number.is_finite() => Ok(number),
            _ => self.error(format!("`{}` is no finite number", quoted(word))),
        }
    }
}

/// ∫ r^{2l+2} e^{−ar²} dr from 0, (2l+1)!! √π / (2^{l+2} a^{l+3/2}).
fn integral(l: usize, a: f64) -> f64 {
    let odd: f64 = (0..=l).map(|k| (2 * k + 1) as f64).product();
    odd * PI.sqrt() / (2.0_f64.powi(l as i32 + 2) * a.powf(l as f64 + 1.5))
}

/// Makes normalised primitives of those of a file, and normalises their sum.
fn normalised(l: usize, primitives: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let each: Vec<[f64; 2]> = primitives
        .iter()
        .map(|&[exponent, coefficient]| [exponent, coefficient / integral(l, 2.0 * exponent).sqrt()])
        .collect();
    let overlap = |a: &[f64; 2], b: &[f64; 2]| a[1] * b[1] * integral(l, a[0] + b[0]);
    let norm: f64 = each.iter().map(|a| each.iter().map(|b| overlap(a, b)).sum::<f64>()).sum();
    each.iter().map(|&[exponent, coefficient]| [exponent, coefficient / norm.sqrt()]).collect()
}

/// Returns where function number k of the file's shell stands in ours.
fn place(l: usize, k: usize) -> usize {
    if l < 2 {
        return k;
    }
    let m = k.div_ceil(2);
    if k % 2 == 1 { l + m } else { l - m }
}

impl Molden {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// Without atoms, basis or orbitals; Cartesian shells of d or f functions, g shells; unknown
    /// elements; orbitals without occupation, or with coefficients for other functions.
    pub fn parse(text: &str) -> Result<Self, MoldenError> {
        let mut lines = Lines { lines: text.lines().collect(), next: 0 };
        let (mut atoms, mut shells, mut orbitals) = (Vec::new(), Vec::new(), Vec::new());
        let (mut pure_d, mut pure_f) = (false, false);
        while let Some(line) = lines.lines.get(lines.next).copied() {
            lines.next += 1;
            let title = line.trim().to_ascii_lowercase();
            match title.split(']').next().unwrap_or("") {
                "[atoms" => read_atoms(&mut lines, &title, &mut atoms)?,
                "[gto" => read_shells(&mut lines, atoms.len(), &mut shells)?,
                "[mo" => read_orbitals(&mut lines, &mut orbitals)?,
                "[5d" | "[5d7f" => (pure_d, pure_f) = (true, true),
                "[5d10f" => pure_d = true,
                "[7f" => pure_f = true,
                _ => {}
            }
        }
        for &(line, ref shell) in &shells {
            let is_cartesian = match shell.momentum {
                2 => !pure_d,
                3 => !pure_f,
                _ => false,
            };
            if is_cartesian {
                let problem = format!(
                    "a Cartesian {} shell; only pure ones are known: write the file with [5D7F]",
                    ["s", "p", "d", "f"][shell.momentum]
                );
                return Err(MoldenError { line, problem });
            }
        }
        let shells = shells.into_iter().map(|(_, shell)| shell).collect();
        let whole =
            |error: XcError| MoldenError { line: lines.lines.len().max(1), problem: error.to_string() };
        let basis = Basis::new(atoms, shells).map_err(whole)?;
        let density = density(&basis, &orbitals)?;
        let electrons = orbitals.iter().filter_map(|orbital| orbital.occupation).sum();
        Ok(Self { basis, density, electrons })
    }
}

fn read_atoms(lines: &mut Lines<'_>, title: &str, atoms: &mut Vec<Atom>) -> Result<(), MoldenError> {
    let unit = if title.contains("ang") { 1.0 / BOHR } else { 1.0 };
    while let Some(line) = lines.within() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [] => {}
            [symbol, _, number, x, y, z] => {
                let known = charge(symbol.trim_end_matches(|c: char| c.is_ascii_digit()));
                let Some(charge) = number.parse().ok().filter(|&number: &usize| number > 0).or(known) else {
                    return lines.error(format!("`{symbol}` with the number `{number}` is no element"));
                };
                let position = [lines.number(x)? * unit, lines.number(y)? * unit, lines.number(z)? * unit];
                atoms.push(Atom { charge, position });
            }
            _ => {
                return lines
                    .error("an atom has a symbol, a number, its nuclear charge and three coordinates");
            }
        }
    }
    Ok(())
}

/// Reads the shells of each atom, with the lines where they begin.
fn read_shells(
    lines: &mut Lines<'_>,
    atoms: usize,
    shells: &mut Vec<(usize, Shell)>,
) -> Result<(), MoldenError> {
    let mut atom = None;
    while let Some(line) = lines.within() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(&first) = words.first() else {
            atom = None;
            continue;
        };
        let Some(atom) = atom else {
            match first.parse::<usize>() {
                Ok(number) if (1..=atoms).contains(&number) => atom = Some(number - 1),
                _ => return lines.error(format!("`{first}` is no number of an atom; there are {atoms}")),
            }
            continue;
        };
        let momenta: &[usize] = match first.to_ascii_lowercase().as_str() {
            "s" => &[0],
            "p" => &[1],
            "sp" => &[0, 1],
            "d" => &[2],
            "f" => &[3],
            _ => return lines.error(format!("`{first}` is no shell that is known; s, p, sp, d and f are")),
        };
        let Some(Ok(count)) = words.get(1).map(|word| word.parse::<usize>()) else {
            return lines.error("a shell has its letter and its number of primitives");
        };
        let begins = lines.next;
        let mut primitives = vec![Vec::new(); momenta.len()];
        for _ in 0..count {
            let words: Vec<&str> = lines.within().unwrap_or("").split_whitespace().collect();
            if words.len() != 1 + momenta.len() {
                return lines.error(format!("a primitive of this shell has {} numbers", 1 + momenta.len()));
            }
            let exponent = lines.number(words[0])?;
            if exponent <= 0.0 {
                return lines.error(format!("the exponent {exponent} is not positive"));
            }
            for (list, word) in primitives.iter_mut().zip(&words[1..]) {
                list.push([exponent, lines.number(word)?]);
            }
        }
        for (&momentum, primitives) in momenta.iter().zip(primitives) {
            shells.push((begins, Shell { atom, momentum, primitives: normalised(momentum, &primitives) }));
        }
    }
    Ok(())
}

fn read_orbitals(lines: &mut Lines<'_>, orbitals: &mut Vec<Orbital>) -> Result<(), MoldenError> {
    let new = |line| Orbital { line, is_beta: false, occupation: None, coefficients: Vec::new() };
    while let Some(line) = lines.within() {
        if line.is_empty() {
            continue;
        }
        if let Some((key, value)) = line.split_once('=') {
            if orbitals.last().is_none_or(|orbital| !orbital.coefficients.is_empty()) {
                orbitals.push(new(lines.next));
            }
            let orbital = orbitals.last_mut().expect("one was made if there was none");
            match key.trim().to_ascii_lowercase().as_str() {
                "spin" => orbital.is_beta = value.trim().eq_ignore_ascii_case("beta"),
                "occup" => orbital.occupation = Some(lines.number(value.trim())?),
                _ => {}
            }
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let ([number, coefficient], Some(orbital)) = (&words[..], orbitals.last_mut()) else {
            return lines.error("an orbital has lines with a number and a coefficient");
        };
        if number.parse() != Ok(orbital.coefficients.len() + 1) {
            let wanted = orbital.coefficients.len() + 1;
            return lines.error(format!("coefficient {wanted} is missing: the line has number {number}"));
        }
        orbital.coefficients.push(lines.number(coefficient)?);
    }
    Ok(())
}

/// Makes the density matrix of orbitals.
fn density(basis: &Basis, orbitals: &[Orbital]) -> Result<Density, MoldenError> {
    let n = basis.functions();
    if orbitals.is_empty() {
        return Err(MoldenError {
            line: 1,
            problem: "the file has no orbitals; write it with [MO]".to_owned(),
        });
    }
    let mut places = Vec::with_capacity(n);
    for (number, shell) in basis.shells().iter().enumerate() {
        let first = basis.functions_of(number).start;
        places.extend((0..shell.functions()).map(|k| first + place(shell.momentum, k)));
    }
    let mut spins = [vec![0.0; n * n], vec![0.0; n * n]];
    for orbital in orbitals {
        let bad = |problem: String| Err(MoldenError { line: orbital.line, problem });
        let Some(occupation) = orbital.occupation else {
            return bad("the orbital has no occupation; write it with Occup=".to_owned());
        };
        if orbital.coefficients.len() != n {
            let found = orbital.coefficients.len();
            return bad(format!("the orbital has {found} coefficients, and the basis {n} functions"));
        }
        if occupation == 0.0 {
            continue;
        }
        let mut ours = vec![0.0; n];
        places.iter().zip(&orbital.coefficients).for_each(|(&place, &value)| ours[place] = value);
        let matrix = &mut spins[usize::from(orbital.is_beta)];
        for (row, a) in matrix.chunks_exact_mut(n).zip(&ours) {
            row.iter_mut().zip(&ours).for_each(|(element, b)| *element += occupation * a * b);
        }
    }
    let [up, down] = spins;
    let made = match orbitals.iter().any(|orbital| orbital.is_beta) {
        true => Density::polarised(n, up, down),
        false => Density::new(n, up),
    };
    made.map_err(|error| MoldenError { line: orbitals[0].line, problem: error.to_string() })
}
