//! Errors of exchange-correlation energies.

use lattice_compute::DeviceError;
use lattice_files::number::shown;
use lattice_linalg::BlasError;

/// Result of an exchange-correlation operation.
pub type XcResult<T> = Result<T, XcError>;

/// What was not computed, and why. Everything is counted from 0.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum XcError {
    /// There is nothing to compute with.
    #[error("the basis has {atoms} atoms and {shells} shells; give at least one of each")]
    NoFunctions {
        /// Number of atoms.
        atoms: usize,
        /// Number of shells.
        shells: usize,
    },

    /// An atom is nowhere.
    #[error("the position of atom {atom} is not finite; give three numbers in bohr")]
    Position {
        /// The atom.
        atom: usize,
    },

    /// A shell cannot be used.
    #[error("shell {shell} {problem}")]
    Shell {
        /// The shell.
        shell: usize,
        /// What is wrong with it.
        problem: String,
    },

    /// The grid has no points, or not as many weights.
    #[error(
        "the grid has {points} points and {weights} weights; give a weight for each point, and at least one"
    )]
    GridSize {
        /// Number of points.
        points: usize,
        /// Number of weights.
        weights: usize,
    },

    /// A point or its weight is not finite.
    #[error("point {point} of the grid or its weight is not finite; all must be")]
    GridValue {
        /// The point.
        point: usize,
    },

    /// The weights are those of nothing.
    #[error(
        "the weights of the grid add up to {total}; a quadrature has a positive sum",
        total = shown(.total)
    )]
    GridWeights {
        /// The sum.
        total: f64,
    },

    /// There is no rule with so many angular points.
    #[error(
        "there is no rule with {found} angular points; choose one of {}",
        known.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
    )]
    Angular {
        /// Number of points.
        found: usize,
        /// Numbers of points of the rules.
        known: Vec<usize>,
    },

    /// Nothing is known of an element.
    #[error("atom {atom} has the nuclear charge {charge}, whose radius is not known; give a grid as a file")]
    Element {
        /// The atom.
        atom: usize,
        /// Its nuclear charge.
        charge: usize,
    },

    /// Two atoms are in one place.
    #[error("atoms {} and {} are in one place; give each its own", atoms[0], atoms[1])]
    SamePlace {
        /// The atoms.
        atoms: [usize; 2],
    },

    /// The density matrix does not fit.
    #[error(
        "the basis has {functions} functions, but the density matrix has {found} elements; give {functions}² of them"
    )]
    DensitySize {
        /// Number of functions.
        functions: usize,
        /// Number of elements.
        found: usize,
    },

    /// An element of the density matrix is not finite.
    #[error(
        "element ({row}, {column}) of the density matrix is {value}; all must be finite",
        value = shown(.value)
    )]
    DensityValue {
        /// Row of the element.
        row: usize,
        /// Column of the element.
        column: usize,
        /// The element.
        value: f64,
    },

    /// The density matrix is not symmetric.
    #[error(
        "elements ({row}, {column}) and ({column}, {row}) of the density matrix differ by {difference}; it must be \
         symmetric to 1e-8",
        difference = shown(.difference)
    )]
    Asymmetric {
        /// Row of the first element.
        row: usize,
        /// Column of the first element.
        column: usize,
        /// The difference.
        difference: f64,
    },

    /// An option has no meaning.
    #[error("{option} is {value}; {wanted}", value = shown(.value))]
    Option {
        /// Name of the option.
        option: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        wanted: &'static str,
    },

    /// A device computes in single precision alone.
    #[error("{device} has no double precision; choose single precision, or leave the device out")]
    NoDouble {
        /// The device.
        device: String,
    },

    /// The budget is too small for a group.
    #[error(
        "{budget} bytes are allowed, but the largest group takes {wanted}; allow more, or make cubes smaller"
    )]
    Budget {
        /// Bytes that are allowed.
        budget: u64,
        /// Bytes of the largest group.
        wanted: u64,
    },

    /// A product failed.
    #[error(transparent)]
    Blas(#[from] BlasError),

    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
