//! Atoms, and the functions on them.

use super::error::{XcError, XcResult};
use super::harmonics::{Kind, LARGEST, LETTERS};

/// An atom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Atom {
    /// The charge of the nucleus in units of e; 0 for functions without a nucleus.
    pub charge: usize,
    /// The position in bohr.
    pub position: [f64; 3],
}

/// A shell: functions R(|d|) S(d) of the distance d from an atom.
///
/// R(d) = Σ c exp(−α d²). Pure shells have 2l + 1 real solid harmonics S_lm in the order m = −l … l,
/// but x, y, z for p. Cartesian shells have all x^a y^b z^c with a + b + c = l, each with a norm of its
/// own, the largest a first, then the largest b. The integral of S² over directions is r^2l.
#[derive(Clone, Debug, PartialEq)]
pub struct Shell {
    /// The number of the atom, from 0.
    pub atom: usize,
    /// The angular momentum l, at most 5.
    pub momentum: usize,
    /// The functions are products of powers of x, y and z, not solid harmonics.
    pub is_cartesian: bool,
    /// Exponents α and coefficients c, with all normalisation.
    pub primitives: Vec<[f64; 2]>,
}

/// Atoms and shells; functions are numbered shell after shell.
#[derive(Clone, Debug, PartialEq)]
pub struct Basis {
    atoms: Vec<Atom>,
    shells: Vec<Shell>,
    /// The first function of each shell, and the number of all.
    first: Vec<usize>,
}

impl Shell {
    /// Returns the number of functions.
    pub fn functions(&self) -> usize {
        self.kind().functions()
    }

    /// Returns the kind of the functions.
    pub(crate) fn kind(&self) -> Kind {
        Kind { momentum: self.momentum, is_cartesian: self.is_cartesian }
    }

    /// Bounds |R(d)| dˡ for distances from `near` to `far` in bohr.
    ///
    /// It is the sum of the largest values of the primitives: |c| dˡ exp(−α d²) is largest at d² = l/2α.
    pub fn bound(&self, near: f64, far: f64) -> f64 {
        let l = self.momentum as i32;
        let of = |&[exponent, coefficient]: &[f64; 2]| {
            let top = if exponent > 0.0 { (f64::from(l) / (2.0 * exponent)).sqrt() } else { far };
            let d = top.clamp(near, far);
            coefficient.abs() * d.powi(l) * (-exponent * d * d).exp()
        };
        self.primitives.iter().map(of).sum()
    }
}

impl Basis {
    /// Makes a basis of atoms and shells.
    ///
    /// # Errors
    /// No atom or no shell; a shell of an atom that is none, with l above 5 or without primitives;
    /// numbers that are not finite; exponents that are negative.
    pub fn new(atoms: Vec<Atom>, shells: Vec<Shell>) -> XcResult<Self> {
        if atoms.is_empty() || shells.is_empty() {
            return Err(XcError::NoFunctions { atoms: atoms.len(), shells: shells.len() });
        }
        if let Some(atom) = atoms.iter().position(|atom| atom.position.iter().any(|x| !x.is_finite())) {
            return Err(XcError::Position { atom });
        }
        for (number, shell) in shells.iter().enumerate() {
            let bad = |problem: String| Err(XcError::Shell { shell: number, problem });
            if shell.atom >= atoms.len() {
                return bad(format!("is on atom {}, but there are {} atoms", shell.atom, atoms.len()));
            }
            if shell.momentum > LARGEST {
                return bad(format!("has l = {}; shells {} are known", shell.momentum, LETTERS.join(", ")));
            }
            if shell.primitives.is_empty() {
                return bad("has no primitive".to_owned());
            }
            let is_bad = |[exponent, coefficient]: &[f64; 2]| {
                !exponent.is_finite() || !coefficient.is_finite() || *exponent < 0.0
            };
            if let Some([exponent, coefficient]) = shell.primitives.iter().find(|pair| is_bad(pair)) {
                return bad(format!("has the exponent {exponent} with the coefficient {coefficient}"));
            }
        }
        let mut first = vec![0];
        for shell in &shells {
            first.push(first[first.len() - 1] + shell.functions());
        }
        Ok(Self { atoms, shells, first })
    }

    /// Returns the atoms.
    pub fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// Returns the shells.
    pub fn shells(&self) -> &[Shell] {
        &self.shells
    }

    /// Returns the number of functions.
    pub fn functions(&self) -> usize {
        self.first[self.shells.len()]
    }

    /// Returns the functions of a shell, by their numbers.
    pub fn functions_of(&self, shell: usize) -> std::ops::Range<usize> {
        self.first[shell]..self.first[shell + 1]
    }

    /// Returns the position of a shell's atom in bohr.
    pub fn centre(&self, shell: usize) -> [f64; 3] {
        self.atoms[self.shells[shell].atom].position
    }

    /// Returns the atom of a function.
    pub fn atom_of(&self, function: usize) -> usize {
        self.shells[self.first.partition_point(|&first| first <= function) - 1].atom
    }

    /// Returns the sum of the nuclear charges.
    pub fn nuclear_charge(&self) -> usize {
        self.atoms.iter().map(|atom| atom.charge).sum()
    }
}
