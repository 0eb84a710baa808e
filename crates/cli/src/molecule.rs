//! Basis, density and grid of the files that a user names.

use crate::failure::{Failure, Status};
use lattice_cl::io::{self, ArrayFile, NumberArray};
use lattice_compute::Team;
use lattice_files::text::tuple;
use lattice_xc::{Atom, Basis, Density, Grid, Molden, Shell, XcError};
use std::path::{Path, PathBuf};

/// Most bytes of a Molden file.
const LARGEST_MOLDEN: u64 = 1 << 30;

/// The grid where nothing else is named.
const DEFAULT_GRID: Points = Points { radial: 75, angular: 302 };

/// Radial and angular points for each atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Points {
    /// Radial points.
    pub radial: usize,
    /// Angular points for each radial one.
    pub angular: usize,
}

/// The arrays that a file may lack.
const OPTIONAL: [&str; 5] = ["coords", "weights", "dm", "dm_block", "spin"];

/// The arrays that a basis has.
const BASIS: [&str; 7] = ["atom_xyz", "atom_z", "shell_atom", "shell_l", "prim_off", "prim_exp", "prim_coef"];

/// Beginnings of the names of arrays that `--verify` reads.
const VERIFIED: [&str; 3] = ["vxc_", "grad_", "exc_"];

/// Where a grid comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A file with points and weights.
    File(PathBuf),
    /// Points that are made around the atoms.
    Made(Points),
}

/// A file with a basis.
pub struct Input {
    /// Where the file is.
    pub path: PathBuf,
    /// The Gaussian functions.
    pub basis: Basis,
    /// The electrons that the density should have: those of the orbitals, else the nuclear charge.
    pub electrons: f64,
    /// The density of a Molden file's orbitals.
    of_orbitals: Option<Density>,
    /// What a Molden file does otherwise than its format wants.
    pub notes: Vec<&'static str>,
    arrays: Option<ArrayFile>,
}

impl Points {
    /// Parses `75x302`.
    ///
    /// # Errors
    /// A message that names the wanted form.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('x').and_then(|(radial, angular)| {
            Some(Self { radial: radial.parse().ok()?, angular: angular.parse().ok()? })
        });
        parsed.ok_or_else(|| "radial and angular points are wanted, as 75x302".to_owned())
    }
}

/// Makes the failure of a file.
fn bad(path: &Path, problem: impl std::fmt::Display) -> Failure {
    Failure::new(Status::File, anyhow::anyhow!("{}: {problem}", path.display()))
}

/// Returns whole numbers.
fn counts(path: &Path, name: &str, array: &NumberArray) -> Result<Vec<usize>, Failure> {
    let is_count = |x: &&f64| **x >= 0.0 && x.fract() == 0.0 && **x < 1e9;
    match array.values.iter().find(|x| !is_count(x)) {
        Some(x) => {
            Err(bad(path, format_args!("the array `{name}` has {x}; whole numbers from 0 are wanted")))
        }
        None => Ok(array.values.iter().map(|&x| x as usize).collect()),
    }
}

/// Checks the shape of an array; 0 stands for any extent.
fn expect_shape(path: &Path, name: &str, array: &NumberArray, wanted: &[usize]) -> Result<(), Failure> {
    let fits = array.shape.len() == wanted.len()
        && array.shape.iter().zip(wanted).all(|(&found, &wanted)| wanted == 0 || found == wanted);
    if fits {
        return Ok(());
    }
    let text: Vec<String> =
        wanted.iter().map(|&n| if n == 0 { "any".to_owned() } else { n.to_string() }).collect();
    Err(bad(
        path,
        format_args!("the array `{name}` has the shape {}, {} wanted", tuple(&array.shape), tuple(&text)),
    ))
}

fn triples(array: &NumberArray) -> Vec<[f64; 3]> {
    array.values.chunks_exact(3).map(|triple| [triple[0], triple[1], triple[2]]).collect()
}

/// Reads the basis of an `.npz` file.
fn basis(path: &Path, file: &mut ArrayFile) -> Result<Basis, Failure> {
    let positions = file.array("atom_xyz")?;
    expect_shape(path, "atom_xyz", &positions, &[0, 3])?;
    let atoms = positions.shape[0];
    let mut whole = |name: &str, extent: usize| {
        let array = file.array(name)?;
        expect_shape(path, name, &array, &[extent])?;
        counts(path, name, &array)
    };
    let charges = whole("atom_z", atoms)?;
    let on_atoms = whole("shell_atom", 0)?;
    let momenta = whole("shell_l", on_atoms.len())?;
    let offsets = whole("prim_off", on_atoms.len() + 1)?;
    let exponents = file.array("prim_exp")?;
    let coefficients = file.array("prim_coef")?;
    expect_shape(path, "prim_exp", &exponents, &[0])?;
    expect_shape(path, "prim_coef", &coefficients, &[exponents.values.len()])?;
    let last = offsets[offsets.len() - 1];
    if !offsets.is_sorted() || last > exponents.values.len() {
        let count = exponents.values.len();
        return Err(bad(
            path,
            format_args!("the array `prim_off` must ascend, up to the {count} primitives"),
        ));
    }
    let shell = |s: usize| Shell {
        atom: on_atoms[s],
        momentum: momenta[s],
        is_cartesian: false,
        primitives: (offsets[s]..offsets[s + 1])
            .map(|k| [exponents.values[k], coefficients.values[k]])
            .collect(),
    };
    let atoms =
        charges.into_iter().zip(triples(&positions)).map(|(charge, position)| Atom { charge, position });
    Basis::new(atoms.collect(), (0..momenta.len()).map(shell).collect()).map_err(|error| bad(path, error))
}

/// Makes a density of an array of one or two matrices.
fn density_of(path: &Path, name: &str, basis: &Basis, array: NumberArray) -> Result<Density, Failure> {
    let n = basis.functions();
    let made: Result<Density, XcError> = match array.shape[..] {
        [2, a, b] if (a, b) == (n, n) => {
            let (up, down) = array.values.split_at(n * n);
            Density::polarised(n, up.to_vec(), down.to_vec())
        }
        [a, b] if (a, b) == (n, n) => Density::new(n, array.values),
        _ => {
            let problem = format!(
                "the array `{name}` has the shape {}; the basis has {n} functions: ({n}, {n}) or (2, {n}, {n}) wanted",
                tuple(&array.shape)
            );
            return Err(bad(path, problem));
        }
    };
    made.map_err(|error| bad(path, error))
}

/// Makes the density matrix that has one block for every atom.
fn density_of_blocks(path: &Path, basis: &Basis, block: &NumberArray) -> Result<Density, Failure> {
    let (n, atoms) = (basis.functions(), basis.atoms().len());
    let edge = n / atoms;
    if block.shape != [edge, edge] || edge * atoms != n {
        let problem = format!(
            "the block has the shape {}, but {atoms} atoms have {n} functions: ({edge}, {edge}) wanted",
            tuple(&block.shape)
        );
        return Err(bad(path, problem));
    }
    let element = |e: usize| {
        let (i, j) = (e / n, e % n);
        if i / edge == j / edge { block.values[i % edge * edge + j % edge] } else { 0.0 }
    };
    Density::new(n, (0..n * n).map(element).collect()).map_err(|error| bad(path, error))
}

/// Reads points and weights.
fn grid_of(path: &Path, file: &mut ArrayFile) -> Result<Grid, Failure> {
    let points = file.array("coords")?;
    expect_shape(path, "coords", &points, &[0, 3])?;
    let weights = file.array("weights")?;
    expect_shape(path, "weights", &weights, &[points.shape[0]])?;
    Grid::new(triples(&points), weights.values).map_err(|error| bad(path, error))
}

impl Input {
    /// Reads a Molden file, or an `.npz` with a basis. The content tells which.
    ///
    /// # Errors
    /// When the file cannot be read, or makes no basis.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let bytes = io::read_small_file(path, LARGEST_MOLDEN).map_err(|error| {
            Failure::new(Status::File, error).hint(format!("FILE names {}", path.display()))
        })?;
        let path = path.to_owned();
        if bytes.starts_with(b"PK") {
            let mut file = ArrayFile::open(&path)?;
            let basis = basis(&path, &mut file)?;
            let electrons = basis.nuclear_charge() as f64;
            return Ok(Self {
                path,
                basis,
                electrons,
                of_orbitals: None,
                notes: Vec::new(),
                arrays: Some(file),
            });
        }
        let text = String::from_utf8_lossy(&bytes);
        let lower = text.to_ascii_lowercase();
        if !(lower.contains("[molden format]") || lower.contains("[gto]")) {
            return Err(bad(&path, "is neither a Molden file nor an .npz file"));
        }
        let Molden { basis, density, electrons, notes } =
            Molden::parse(&text).map_err(|error| bad(&path, error))?;
        Ok(Self { path, basis, electrons, of_orbitals: Some(density), notes, arrays: None })
    }

    /// Tells whether the file has an array of the name.
    pub fn has(&self, name: &str) -> bool {
        self.arrays.as_ref().is_some_and(|file| file.has(name))
    }

    /// Lists the arrays that nothing reads, if the file lacks some that might be meant.
    pub fn unread(&self) -> Option<String> {
        let arrays = self.arrays.as_ref()?;
        let has_density = self.has("dm") || self.has("dm_block");
        let lacks = |name: &&str| !(arrays.has(name) || has_density && name.starts_with("dm"));
        let lacking: Vec<&str> = OPTIONAL.into_iter().filter(lacks).collect();
        let mut others = arrays.others(&[&OPTIONAL[..], &BASIS].concat());
        others.retain(|name| !VERIFIED.iter().any(|beginning| name.starts_with(beginning)));
        if lacking.is_empty() || others.is_empty() {
            return None;
        }
        let path = self.path.display();
        Some(format!(
            "{path} has no {}, and these arrays are not read: {}",
            lacking.join(", "),
            others.join(", ")
        ))
    }

    /// Tells whether the file has orbitals.
    pub fn has_orbitals(&self) -> bool {
        self.of_orbitals.is_some()
    }

    /// Reads an array of the file.
    ///
    /// # Errors
    /// When there is none.
    pub fn array(&mut self, name: &str) -> Result<NumberArray, Failure> {
        match &mut self.arrays {
            Some(file) => Ok(file.array(name)?),
            None => Err(bad(
                &self.path,
                format_args!("has no array `{name}`: only .npz files have arrays with names"),
            )),
        }
    }

    /// Returns the density of a file, of blocks, or else that of the input.
    ///
    /// # Errors
    /// When there is none, or it does not fit the basis.
    pub fn density(&mut self, whole: Option<&Path>, block: Option<&Path>) -> Result<Density, Failure> {
        if let Some(path) = whole {
            return density_of(path, "density", &self.basis, NumberArray::read_npy(path)?);
        }
        if let Some(path) = block {
            return density_of_blocks(path, &self.basis, &NumberArray::read_npy(path)?);
        }
        if let Some(density) = &self.of_orbitals {
            return Ok(density.clone());
        }
        if self.has("dm") {
            let array = self.array("dm")?;
            return density_of(&self.path, "dm", &self.basis, array);
        }
        if self.has("dm_block") {
            let block = self.array("dm_block")?;
            return density_of_blocks(&self.path, &self.basis, &block);
        }
        Err(Failure::usage(format!("{} has no density", self.path.display()))
            .hint("give it by --density FILE.npy"))
    }

    /// Checks that a density has the spins that the file speaks of.
    ///
    /// # Errors
    /// When it has two, and the file has no unpaired electrons, or orbitals of one spin.
    pub fn expect_spins(&mut self, density: &Density) -> Result<(), Failure> {
        let unpaired = if self.has("spin") { self.array("spin")?.values.first().copied() } else { None };
        let has_one =
            unpaired == Some(0.0) || self.of_orbitals.as_ref().is_some_and(|own| own.spins().len() == 1);
        if density.spins().len() == 2 && has_one {
            let problem =
                "the density is that of two spins, but the molecule of this file has no unpaired electrons";
            return Err(bad(&self.path, problem).hint("give the sum of both matrices"));
        }
        Ok(())
    }

    /// Returns the grid that is named, that of the input, or one that the team makes.
    ///
    /// # Errors
    /// When a file cannot be read, or a grid cannot be made.
    pub fn grid(
        &mut self,
        team: &Team,
        made: Option<Points>,
        file: Option<&Path>,
    ) -> Result<(Grid, Source), Failure> {
        if let Some(path) = file {
            return Ok((grid_of(path, &mut ArrayFile::open(path)?)?, Source::File(path.to_owned())));
        }
        if let (None, true, Some(arrays)) = (made, self.has("coords"), &mut self.arrays) {
            return Ok((grid_of(&self.path, arrays)?, Source::File(self.path.clone())));
        }
        if made.is_none() && self.has("weights") {
            return Err(bad(&self.path, "has the array `weights`, but no `coords`")
                .hint("--grid 75x302 makes other points"));
        }
        let points = made.unwrap_or(DEFAULT_GRID);
        let grid = Grid::molecular_on(team, self.basis.atoms(), points.radial, points.angular)?;
        Ok((grid, Source::Made(points)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_read() {
        assert_eq!(Points::parse("75x302"), Ok(Points { radial: 75, angular: 302 }));
        for text in ["75", "x", "75x", "a x b", "75x302x1"] {
            assert!(Points::parse(text).is_err(), "{text}");
        }
    }
}
