//! Particles in a periodic box.

use super::elements;
use super::error::{MOST_BOXES, MdError, MdResult};
use super::potential::Potential;

/// Most atoms of a system: four numbers of each have places that 32 bits count.
const MOST_ATOMS: usize = 1 << 28;

/// Particles of several types in a rectangular box that repeats in all directions.
///
/// Lengths in Å, velocities in Å/fs, masses in g/mol, unless units are reduced. Positions may lie
/// outside of the box.
#[derive(Clone, Debug, PartialEq)]
pub struct System {
    edges: [f64; 3],
    names: Vec<String>,
    types: Vec<u32>,
    masses: Vec<Option<f64>>,
    positions: Vec<[f64; 3]>,
    velocities: Option<Vec<[f64; 3]>>,
    notes: Vec<String>,
}

impl System {
    /// Makes a system of atoms at rest. `types` count the `names`, from 0.
    ///
    /// Masses are those of the elements with these names, and unknown for other names.
    ///
    /// # Errors
    /// [`MdError::NoAtoms`], [`MdError::TooManyAtoms`], [`MdError::Edge`], [`MdError::Length`],
    /// [`MdError::NoSuchType`], [`MdError::NotFinite`].
    pub fn new(
        edges: [f64; 3],
        names: Vec<String>,
        types: Vec<u32>,
        positions: Vec<[f64; 3]>,
    ) -> MdResult<Self> {
        let atoms = positions.len();
        match atoms {
            0 => return Err(MdError::NoAtoms),
            MOST_ATOMS.. => return Err(MdError::TooManyAtoms(atoms)),
            _ => {}
        }
        if let Some(axis) = (0..3).find(|&axis| !(edges[axis] > 0.0 && edges[axis].is_finite())) {
            return Err(MdError::Edge { axis, edge: edges[axis] });
        }
        expect_length("types", atoms, types.len())?;
        if let Some(atom) = types.iter().position(|&of_type| of_type as usize >= names.len()) {
            return Err(MdError::NoSuchType { atom: atom + 1, of_type: types[atom], types: names.len() });
        }
        expect_finite("the position", &positions)?;
        let of_type: Vec<_> = names.iter().map(|name| elements::mass(name)).collect();
        let masses = types.iter().map(|&of| of_type[of as usize]).collect();
        Ok(Self { edges, names, types, masses, positions, velocities: None, notes: Vec::new() })
    }

    /// Gives a velocity to each atom.
    ///
    /// # Errors
    /// [`MdError::Length`], [`MdError::NotFinite`].
    pub fn with_velocities(mut self, velocities: Vec<[f64; 3]>) -> MdResult<Self> {
        expect_length("velocities", self.atoms(), velocities.len())?;
        expect_finite("the velocity", &velocities)?;
        self.velocities = Some(velocities);
        Ok(self)
    }

    /// Gives a mass to each atom.
    ///
    /// # Errors
    /// [`MdError::Length`]; [`MdError::NotFinite`] if a mass is not positive and finite.
    pub fn with_masses(mut self, masses: &[f64]) -> MdResult<Self> {
        expect_length("masses", self.atoms(), masses.len())?;
        if let Some(atom) = masses.iter().position(|&mass| !(mass > 0.0 && mass.is_finite())) {
            return Err(MdError::NotFinite { what: "the mass", atom: atom + 1, value: masses[atom] });
        }
        self.masses = masses.iter().map(|&mass| Some(mass)).collect();
        Ok(self)
    }

    /// Returns the edges of the box.
    pub fn edges(&self) -> [f64; 3] {
        self.edges
    }

    /// Returns the volume of the box.
    pub fn volume(&self) -> f64 {
        self.edges.iter().product()
    }

    /// Returns the number of atoms.
    pub fn atoms(&self) -> usize {
        self.positions.len()
    }

    /// Returns the names of the types.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the type of each atom.
    pub fn types(&self) -> &[u32] {
        &self.types
    }

    /// Returns the mass of each atom; `None` where it is unknown.
    pub fn masses(&self) -> &[Option<f64>] {
        &self.masses
    }

    /// Returns the position of each atom.
    pub fn positions(&self) -> &[[f64; 3]] {
        &self.positions
    }

    /// Returns the velocity of each atom; `None` if the system came without.
    pub fn velocities(&self) -> Option<&[[f64; 3]]> {
        self.velocities.as_deref()
    }

    /// Returns what the reader of a file took for granted, for a warning each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    pub(crate) fn with_notes(mut self, notes: Vec<String>) -> Self {
        self.notes = notes;
        self
    }

    /// Returns the number of atoms of each type.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.names.len()];
        self.types.iter().for_each(|&of_type| counts[of_type as usize] += 1);
        counts
    }
}

/// Returns the vector from `b` to `a` between nearest images.
pub(crate) fn nearest(a: [f64; 3], b: [f64; 3], edges: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|axis| {
        let apart = a[axis] - b[axis];
        apart - edges[axis] * (apart / edges[axis]).round_ties_even()
    })
}

/// Checks that atoms are where their digits tell, and that no two are at one place.
///
/// # Errors
/// [`MdError::TooFar`], [`MdError::Overlap`].
pub(crate) fn overlap(positions: &[[f64; 3]], edges: [f64; 3], potential: &Potential) -> MdResult<()> {
    for (atom, position) in positions.iter().enumerate() {
        let is_far = |&axis: &usize| position[axis].abs() / edges[axis] > MOST_BOXES;
        if let Some(axis) = (0..3).find(is_far) {
            return Err(MdError::TooFar { atom: atom + 1, value: position[axis], edge: edges[axis] });
        }
    }
    match closer(positions, edges, potential.least_distance()) {
        Some(([first, second], distance)) => {
            Err(MdError::Overlap { first, second, distance, range: potential.range() })
        }
        None => Ok(()),
    }
}

/// Names two atoms that are nearer than `rmin`, where a table begins, at a step if there is motion.
pub(crate) fn below_range(positions: &[[f64; 3]], edges: [f64; 3], rmin: f64, step: Option<u64>) -> MdError {
    // Devices in single may see a pair below the range whose distance is rounded to its beginning.
    let (atoms, distance) = closer(positions, edges, rmin * (1.0 + 1e-5)).unwrap_or(([1, 1], rmin));
    MdError::BelowRange { atoms, distance, rmin, step }
}

/// Finds two atoms, counted from 1, that are closer than `distance`.
///
/// Atoms are taken along the first axis, so that the work grows little faster than their number.
fn closer(positions: &[[f64; 3]], edges: [f64; 3], distance: f64) -> Option<([usize; 2], f64)> {
    let along = |atom: usize| positions[atom][0].rem_euclid(edges[0]);
    let mut order: Vec<usize> = (0..positions.len()).collect();
    order.sort_by(|&a, &b| along(a).total_cmp(&along(b)).then(a.cmp(&b)));
    let count = order.len();
    for (place, &atom) in order.iter().enumerate() {
        for next in 1..count {
            let (other, wraps) = (order[(place + next) % count], place + next >= count);
            let apart = along(other) - along(atom) + if wraps { edges[0] } else { 0.0 };
            if apart > distance {
                break;
            }
            let apart = nearest(positions[atom], positions[other], edges);
            let apart = apart.iter().map(|x| x * x).sum::<f64>().sqrt();
            if apart < distance {
                return Some(([atom.min(other) + 1, atom.max(other) + 1], apart));
            }
        }
    }
    None
}

pub(crate) fn expect_length(what: &'static str, wanted: usize, found: usize) -> MdResult<()> {
    if wanted == found { Ok(()) } else { Err(MdError::Length { what, wanted, found }) }
}

/// Checks that all vectors are finite.
pub(crate) fn expect_finite(what: &'static str, vectors: &[[f64; 3]]) -> MdResult<()> {
    for (atom, vector) in vectors.iter().enumerate() {
        if let Some(&value) = vector.iter().find(|value| !value.is_finite()) {
            return Err(MdError::NotFinite { what, atom: atom + 1, value });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Grid, Table};
    use crate::{Mixing, Mode};

    #[test]
    fn atoms_that_overlap_are_named_even_across_the_boundary() {
        let edges = [10.0, 11.0, 12.0];
        let mut positions = vec![[5.0, 5.0, 5.0], [9.9999, 0.0, 12.0], [5.0, 5.0, 6.0], [-20.0, 11.0, 0.0]];
        // Atoms are at one place below a thousandth of σ.
        let of = |sigma: f64| Potential::lennard_jones(&[[1.0, sigma]], Mixing::default()).unwrap();
        let (thin, thick) = (of(1e-2), of(1.0));
        assert_eq!(overlap(&positions, edges, &thin), Ok(()));
        let found = overlap(&positions, edges, &thick).unwrap_err();
        assert!(matches!(found, MdError::Overlap { first: 2, second: 4, .. }), "{found}");
        positions[3] = positions[2];
        let found = overlap(&positions, edges, &thin).unwrap_err();
        assert_eq!(found, MdError::Overlap { first: 3, second: 4, distance: 0.0, range: None });
        assert_eq!(found.to_string(), "atoms 3 and 4 overlap: their distance is 0; move one of them");
    }

    #[test]
    fn atoms_too_far_from_the_box_are_named_so() {
        let potential = Potential::lennard_jones(&[[1.0, 1.0]], Mixing::default()).unwrap();
        let at = |x: f64| overlap(&[[0.0; 3], [0.0, x, 0.0]], [10.0, 20.0, 10.0], &potential);
        for x in [1e300, -1e300, 2.1e10] {
            let error = at(x).unwrap_err();
            assert!(matches!(error, MdError::TooFar { atom: 2, edge: 20.0, .. }), "{error}");
            assert!(error.to_string().len() < 130, "{error}");
        }
        assert_eq!(at(1e10 + 7.0), Ok(()));
    }

    #[test]
    fn an_overlap_tells_the_range_of_a_table() {
        let grid = Grid::new(16, 2e10, 1.2e11).unwrap();
        let table = Table::sampled(1, grid, |_, _| [0.0; 2]).unwrap();
        let potential = Potential::Table { table, mode: Mode::Derivative };
        let error = overlap(&[[0.0; 3], [3.5, 0.0, 0.0]], [20.0; 3], &potential).unwrap_err().to_string();
        for part in ["their distance is 3.5,", "from 20000000000 to 120000000000", "the table's units"] {
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_system_says_what_is_wrong_with_it() {
        let names = || vec!["Ar".to_owned()];
        let new = |edges, types, positions| System::new(edges, names(), types, positions).unwrap_err();
        assert_eq!(new([1.0; 3], vec![], vec![]), MdError::NoAtoms);
        assert!(matches!(new([1.0, -1.0, 1.0], vec![0], vec![[0.0; 3]]), MdError::Edge { axis: 1, .. }));
        assert!(matches!(new([1.0; 3], vec![0, 0], vec![[0.0; 3]]), MdError::Length { found: 2, .. }));
        assert!(matches!(new([1.0; 3], vec![1], vec![[0.0; 3]]), MdError::NoSuchType { atom: 1, .. }));
        let infinite = vec![[0.0, f64::INFINITY, 0.0]];
        assert!(matches!(new([1.0; 3], vec![0], infinite), MdError::NotFinite { atom: 1, .. }));
        let system = System::new([1.0; 3], names(), vec![0], vec![[0.0; 3]]).unwrap();
        assert_eq!(system.masses(), [Some(39.948)]);
        assert!(system.clone().with_masses(&[0.0]).is_err());
        assert!(system.with_velocities(vec![]).is_err());
    }
}
