//! Groups as tables of numbers, for the kernels of `cl/xc_groups.cl`.

use super::basis::Basis;
use super::grid::Grid;
use super::groups::Group;
use lattice_linalg::gemm::{MatrixLocation, Product};

/// The points of a group are padded to a multiple of this, the longest vector of a kernel.
pub(crate) const PADDING: usize = 16;

/// Numbers of a group in the table, `GROUP_WORDS` of `cl/xc_groups.cl`.
const GROUP_WORDS: usize = 8;

/// The tables of groups that are computed together.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tables {
    /// Eight numbers for each group.
    pub groups: Vec<u64>,
    /// The significant shells of each group, and the first function of each within.
    pub shells: Vec<[u32; 2]>,
    /// The functions of each group by their numbers in the basis.
    pub functions: Vec<u32>,
    /// Points in bohr with padding.
    pub points: Vec<[f64; 3]>,
    /// Their weights; 0 for padding.
    pub weights: Vec<f64>,
    /// For each shell, where its entries begin; then the number of entries.
    pub begins: Vec<u32>,
    /// The groups of each shell, and its first function there.
    pub entries: Vec<[u32; 2]>,
    /// Functions times points of all groups, absent ones too.
    pub values: usize,
    /// Squares of the numbers of functions, added up.
    pub squares: usize,
    /// The most points of a group, and the most functions.
    pub most: [usize; 2],
}

/// Returns functions times points of a group, with padding.
pub(crate) fn values_of(group: &Group) -> usize {
    group.functions * group.points.len().next_multiple_of(PADDING)
}

impl Tables {
    /// Makes the tables of those groups that are present. Values of the others have their places, so that nothing moves.
    pub fn new<'a>(basis: &Basis, grid: &Grid, groups: impl IntoIterator<Item = (&'a Group, bool)>) -> Self {
        let mut tables = Self::default();
        let mut of_shell = vec![Vec::new(); basis.shells().len()];
        let mut number = 0;
        for (group, is_present) in groups {
            if !is_present {
                tables.values += values_of(group);
                continue;
            }
            let points = group.points.len().next_multiple_of(PADDING);
            let words = [
                tables.points.len(),
                points,
                group.functions,
                tables.shells.len(),
                group.shells.len(),
                tables.functions.len(),
                tables.values,
                tables.squares,
            ];
            tables.groups.extend(words.map(|word| word as u64));
            let mut first = 0;
            for &shell in &group.shells {
                tables.shells.push([shell, first]);
                of_shell[shell as usize].push([number, first]);
                let functions = basis.functions_of(shell as usize);
                first += functions.len() as u32;
                tables.functions.extend(functions.map(|function| function as u32));
            }
            let padding =
                std::iter::repeat_n(group.points[group.points.len() - 1], points - group.points.len());
            let padded = group.points.iter().copied().chain(padding);
            tables.points.extend(padded.map(|point| grid.points()[point as usize]));
            tables.weights.extend(group.points.iter().map(|&point| grid.weights()[point as usize]));
            tables.weights.resize(tables.points.len(), 0.0);
            tables.values += values_of(group);
            tables.squares += group.functions * group.functions;
            tables.most = [tables.most[0].max(points), tables.most[1].max(group.functions)];
            number += 1;
        }
        tables.begins.push(0);
        for entries in of_shell {
            tables.entries.extend(entries);
            tables.begins.push(tables.entries.len() as u32);
        }
        tables
    }

    /// Returns the number of groups.
    pub fn count(&self) -> usize {
        self.groups.len() / GROUP_WORDS
    }

    /// Returns the products of functions with the groups' square matrices.
    pub fn with_squares(&self) -> Vec<Product> {
        let of = |group: &[u64]| {
            let [_, m, n, _, _, _, value, square] = std::array::from_fn(|k| group[k] as usize);
            let values = MatrixLocation { first: value, leading: m };
            Product { m, n, k: n, a: values, b: MatrixLocation { first: square, leading: n }, c: values }
        };
        self.groups.chunks_exact(GROUP_WORDS).map(of).collect()
    }

    /// Returns the products of transposed functions with functions, which make square matrices.
    pub fn to_squares(&self) -> Vec<Product> {
        let of = |group: &[u64]| {
            let [_, k, n, _, _, _, value, square] = std::array::from_fn(|word| group[word] as usize);
            let values = MatrixLocation { first: value, leading: k };
            Product { m: n, n, k, a: values, b: values, c: MatrixLocation { first: square, leading: n } }
        };
        self.groups.chunks_exact(GROUP_WORDS).map(of).collect()
    }
}
