//! Matrices of problems that are made: model problems of any size.

use super::coo::{Coo, Entry};
use super::csr::Csr;
use lattice_compute::NoRoom;
use lattice_compute::parallel::*;
use lattice_compute::philox::Philox;
use std::fmt;
use std::str::FromStr;

/// A model problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Problem {
    /// −Δu on N×N points with u = 0 around them: 4 on the diagonal, −1 beside it.
    Poisson2d(usize),
    /// −Δu on points in three directions: 6 on the diagonal, −1 beside it.
    Poisson3d([usize; 3]),
    /// −ε Δu + w·∇u on N×N points of the unit square, with the wind w = (½ − y, x − ½).
    ///
    /// Differences of the wind are upwind, those of Δ central. u = 0 around the points.
    Convection2d {
        /// Points in each direction.
        points: usize,
        /// The diffusion ε.
        epsilon: f64,
    },
    /// Entries at random columns.
    ///
    /// The diagonal is larger than the sum of the other entries of its row.
    Random {
        /// Rows and columns.
        rows: usize,
        /// Entries of a row with the diagonal, fewer where a column comes twice.
        per_row: usize,
        /// Number that decides the entries.
        seed: u64,
    },
    /// An elastic cube of N³ trilinear elements, one face held, Poisson's ratio 0.3.
    ///
    /// Three displacements of a point are neighbours. Young's modulus is 1, an element has side 1.
    Elasticity3d(usize),
}

/// Most rows of a matrix: their numbers have 32 bits.
const MOST_ROWS: usize = u32::MAX as usize - 1;

/// The text is no model problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem}; there are {}", Problem::FORMS)]
pub struct NoProblem {
    /// The problem.
    problem: String,
}

impl Problem {
    /// The notations of problems.
    pub const FORMS: &'static str = "poisson2d:N, poisson3d:N or poisson3d:NxNxN, convection2d:N,EPSILON, random:N,PER_ROW,SEED, elasticity3d:N";

    /// Tells whether a text begins like a problem, `name:`, with the name of one.
    pub fn is_named_by(text: &str) -> bool {
        let names = ["poisson2d", "poisson3d", "convection2d", "random", "elasticity3d"];
        text.split_once(':').is_some_and(|(name, _)| names.contains(&name))
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        match *self {
            Self::Poisson2d(points) | Self::Convection2d { points, .. } => points * points,
            Self::Poisson3d([x, y, z]) => x * y * z,
            Self::Random { rows, .. } => rows,
            Self::Elasticity3d(elements) => 3 * elements * (elements + 1) * (elements + 1),
        }
    }

    /// Returns a bound of the entries of a row.
    fn longest_row(&self) -> usize {
        match *self {
            Self::Poisson2d(_) | Self::Convection2d { .. } => 5,
            Self::Poisson3d(_) => 7,
            Self::Random { per_row, .. } => per_row,
            Self::Elasticity3d(_) => 81,
        }
    }

    /// Tells whether the matrix is symmetric and positive definite.
    pub fn is_positive_definite(&self) -> bool {
        !matches!(self, Self::Convection2d { .. } | Self::Random { .. })
    }

    /// Makes the matrix.
    ///
    /// # Errors
    /// [`NoRoom`] if memory is short.
    pub fn matrix(&self) -> Result<Csr<f64>, NoRoom> {
        let entries = (self.rows() as u64).saturating_mul(self.longest_row() as u64);
        // Entries as pieces, then as one array.
        lattice_compute::expect_room(entries.saturating_mul(2 * (8 + 4)))?;
        match *self {
            Self::Poisson2d(points) => Ok(poisson([points, points, 1], 4.0)),
            Self::Poisson3d(extents) => Ok(poisson(extents, 6.0)),
            Self::Convection2d { points, epsilon } => Ok(convection(points, epsilon)),
            Self::Random { rows, per_row, seed } => random(rows, per_row, seed),
            Self::Elasticity3d(elements) => Ok(elasticity::matrix(elements)),
        }
    }

    /// Returns the rigid motions of an elastic body, six numbers for each row.
    ///
    /// `None` for other problems.
    pub fn near_null_space(&self) -> Option<Vec<f64>> {
        match *self {
            Self::Elasticity3d(elements) => Some(elasticity::rigid_motions(elements)),
            _ => None,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Poisson2d(points) => write!(f, "poisson2d:{points}"),
            Self::Poisson3d([x, y, z]) if x == y && y == z => write!(f, "poisson3d:{x}"),
            Self::Poisson3d([x, y, z]) => write!(f, "poisson3d:{x}x{y}x{z}"),
            Self::Convection2d { points, epsilon } => write!(f, "convection2d:{points},{epsilon}"),
            Self::Random { rows, per_row, seed } => write!(f, "random:{rows},{per_row},{seed}"),
            Self::Elasticity3d(elements) => write!(f, "elasticity3d:{elements}"),
        }
    }
}

impl FromStr for Problem {
    type Err = NoProblem;

    fn from_str(text: &str) -> Result<Self, NoProblem> {
        let wrong = |problem: String| NoProblem { problem };
        let (name, values) = text.split_once(':').unwrap_or((text, ""));
        let count = |value: &str| -> Result<usize, NoProblem> {
            let found = value.trim().parse().ok().filter(|&count: &usize| count > 0 && count <= MOST_ROWS);
            found.ok_or_else(|| wrong(format!("`{value}` in `{text}` is no positive number")))
        };
        let list: Vec<&str> = values.split(',').collect();
        let problem = match (name, list.as_slice()) {
            ("poisson2d", [points]) => Self::Poisson2d(count(points)?),
            ("poisson3d", [extents]) => {
                let extents = extents.split('x').map(count).collect::<Result<Vec<_>, _>>()?;
                match extents[..] {
                    [all] => Self::Poisson3d([all; 3]),
                    [x, y, z] => Self::Poisson3d([x, y, z]),
                    _ => return Err(wrong(format!("`{text}` has neither one extent nor three"))),
                }
            }
            ("convection2d", [points, epsilon]) => {
                let value =
                    epsilon.trim().parse().ok().filter(|value: &f64| *value > 0.0 && value.is_finite());
                let epsilon =
                    value.ok_or_else(|| wrong(format!("`{epsilon}` in `{text}` is no positive number")))?;
                Self::Convection2d { points: count(points)?, epsilon }
            }
            ("random", [rows, per_row, seed]) => {
                let seed =
                    seed.trim().parse().map_err(|_| wrong(format!("`{seed}` in `{text}` is no seed")))?;
                Self::Random { rows: count(rows)?, per_row: count(per_row)?, seed }
            }
            ("elasticity3d", [elements]) => Self::Elasticity3d(count(elements)?),
            _ if Self::is_named_by(text) => {
                return Err(wrong(format!("`{text}` has not the numbers of its kind")));
            }
            _ => return Err(wrong(format!("`{text}` is no model problem"))),
        };
        let sides: [usize; 4] = match problem {
            Self::Poisson2d(n) | Self::Convection2d { points: n, .. } => [n, n, 1, 1],
            Self::Poisson3d([x, y, z]) => [x, y, z, 1],
            Self::Random { rows, .. } => [rows, 1, 1, 1],
            Self::Elasticity3d(n) => [3, n, n + 1, n + 1],
        };
        let rows = sides.iter().try_fold(1_usize, |rows, side| rows.checked_mul(*side));
        if rows.is_none_or(|rows| rows > MOST_ROWS) {
            return Err(wrong(format!("`{text}` has more than {MOST_ROWS} rows")));
        }
        Ok(problem)
    }
}

/// Makes a matrix of rows that threads make in pieces.
fn by_rows<R>(rows: usize, row: impl Fn(usize) -> R + Sync) -> Csr<f64>
where
    R: IntoIterator<Item = (u32, f64)>,
{
    const PIECE: usize = 4096;
    let pieces = (0..rows.div_ceil(PIECE)).into_par_iter().map(|k| {
        let (mut lengths, mut columns, mut values) = (Vec::with_capacity(PIECE), Vec::new(), Vec::new());
        for i in k * PIECE..rows.min((k + 1) * PIECE) {
            let before = columns.len();
            for (column, value) in row(i) {
                columns.push(column);
                values.push(value);
            }
            lengths.push((columns.len() - before) as u64);
        }
        (lengths, columns, values)
    });
    Csr::joined(rows, pieces.collect())
}

fn poisson([nx, ny, nz]: [usize; 3], diagonal: f64) -> Csr<f64> {
    by_rows(nx * ny * nz, |row| {
        let [x, y, z] = [row % nx, row / nx % ny, row / (nx * ny)];
        let near = [
            (z > 0, row.wrapping_sub(nx * ny), -1.0),
            (y > 0, row.wrapping_sub(nx), -1.0),
            (x > 0, row.wrapping_sub(1), -1.0),
            (true, row, diagonal),
            (x + 1 < nx, row + 1, -1.0),
            (y + 1 < ny, row + nx, -1.0),
            (z + 1 < nz, row + nx * ny, -1.0),
        ];
        near.into_iter().filter(|(exists, ..)| *exists).map(|(_, column, value)| (column as u32, value))
    })
}

fn convection(n: usize, epsilon: f64) -> Csr<f64> {
    let per_side = (n + 1) as f64;
    let diffusion = epsilon * per_side * per_side;
    by_rows(n * n, |row| {
        let [i, j] = [row % n, row / n];
        let [x, y] = [i, j].map(|index| (index + 1) as f64 / per_side);
        let [wind_x, wind_y] = [(0.5 - y) * per_side, (x - 0.5) * per_side];
        let near = [
            (j > 0, row.wrapping_sub(n), -diffusion - wind_y.max(0.0)),
            (i > 0, row.wrapping_sub(1), -diffusion - wind_x.max(0.0)),
            (true, row, 4.0 * diffusion + wind_x.abs() + wind_y.abs()),
            (i + 1 < n, row + 1, -diffusion + wind_x.min(0.0)),
            (j + 1 < n, row + n, -diffusion + wind_y.min(0.0)),
        ];
        near.into_iter().filter(|(exists, ..)| *exists).map(|(_, column, value)| (column as u32, value))
    })
}

fn random(rows: usize, per_row: usize, seed: u64) -> Result<Csr<f64>, NoRoom> {
    let of_row = |row: usize| {
        let mut random = Philox::new(seed, 0, row as u64);
        let mut entries: Vec<Entry<f64>> = (1..per_row)
            .map(|_| {
                let column = (random.uniform() * rows as f64) as usize;
                let value = 2.0 * random.uniform() - 1.0;
                Entry { row: row as u32, column: column.min(rows - 1) as u32, value }
            })
            .collect();
        let sum: f64 = entries.iter().map(|entry| entry.value.abs()).sum();
        entries.push(Entry { row: row as u32, column: row as u32, value: 1.0 + sum });
        entries
    };
    let entries = (0..rows).into_par_iter().flat_map_iter(of_row).collect();
    Coo { rows, columns: rows, entries }.to_csr()
}

/// Trilinear elements of an elastic body.
mod elasticity {
    use super::{Csr, by_rows};

    const POISSON_RATIO: f64 = 0.3;

    /// Stiffness of a cube of side 1 between displacements: `[3 node + i][3 node + j]`.
    ///
    /// Node k of the cube lies at the bits of k: x is bit 0. The integral is that of two Gauss points
    /// in each direction.
    fn stiffness() -> [[f64; 24]; 24] {
        let nu = POISSON_RATIO;
        let lambda = nu / ((1.0 + nu) * (1.0 - 2.0 * nu));
        let mu = 0.5 / (1.0 + nu);
        let mut matrix = [[0.0; 24]; 24];
        let at = |bit: usize| 0.5 + (bit as f64 - 0.5) / 3f64.sqrt();
        for point in 0..8 {
            let place: [f64; 3] = std::array::from_fn(|d| at(point >> d & 1));
            // The gradient of the shape function of each node.
            let gradient: [[f64; 3]; 8] = std::array::from_fn(|node| {
                std::array::from_fn(|d| {
                    (0..3)
                        .map(|e| match (node >> e & 1, e == d) {
                            (1, true) => 1.0,
                            (0, true) => -1.0,
                            (1, false) => place[e],
                            _ => 1.0 - place[e],
                        })
                        .product()
                })
            });
            for (a, ga) in gradient.iter().enumerate() {
                for (b, gb) in gradient.iter().enumerate() {
                    let inner: f64 = ga.iter().zip(gb).map(|(x, y)| x * y).sum();
                    for i in 0..3 {
                        for j in 0..3 {
                            let shear = mu * (ga[j] * gb[i] + if i == j { inner } else { 0.0 });
                            // Each of the eight Gauss points has the weight 1/8.
                            matrix[3 * a + i][3 * b + j] += 0.125 * (lambda * ga[i] * gb[j] + shear);
                        }
                    }
                }
            }
        }
        matrix
    }

    pub fn matrix(n: usize) -> Csr<f64> {
        let (stiffness, side) = (stiffness(), n + 1);
        let rows = 3 * n * side * side;
        by_rows(rows, |row| {
            let (node, i) = (row / 3, row % 3);
            // The points of the face z = 0 are held and have no rows.
            let at = [node % side, node / side % side, node / (side * side) + 1];
            let mut blocks = [[0.0; 3]; 27];
            let mut there = [false; 27];
            for corner in 0..8 {
                // The node is this corner of an element.
                let element: [isize; 3] =
                    std::array::from_fn(|d| at[d] as isize - (corner >> d & 1) as isize);
                if element.iter().any(|e| *e < 0 || *e >= n as isize) {
                    continue;
                }
                for other in 0..8 {
                    let step: [isize; 3] =
                        std::array::from_fn(|d| (other >> d & 1) as isize - (corner >> d & 1) as isize);
                    if at[2] as isize + step[2] == 0 {
                        continue;
                    }
                    let block = ((step[2] + 1) * 9 + (step[1] + 1) * 3 + step[0] + 1) as usize;
                    there[block] = true;
                    for j in 0..3 {
                        blocks[block][j] += stiffness[3 * corner + i][3 * other + j];
                    }
                }
            }
            let mut entries = Vec::new();
            for block in (0..27).filter(|&block| there[block]) {
                let [x, y, z] = [block % 3, block / 3 % 3, block / 9];
                let to = [at[0] + x - 1, at[1] + y - 1, at[2] + z - 1];
                let column = 3 * (((to[2] - 1) * side + to[1]) * side + to[0]);
                entries.extend((0..3).map(|j| ((column + j) as u32, blocks[block][j])));
            }
            entries
        })
    }

    pub fn rigid_motions(n: usize) -> Vec<f64> {
        let side = n + 1;
        let mut motions = Vec::with_capacity(18 * n * side * side);
        for node in 0..n * side * side {
            let centre = n as f64 / 2.0;
            let [x, y, z] =
                [node % side, node / side % side, node / (side * side) + 1].map(|k| k as f64 - centre);
            motions.extend([1.0, 0.0, 0.0, 0.0, z, -y]);
            motions.extend([0.0, 1.0, 0.0, -z, 0.0, x]);
            motions.extend([0.0, 0.0, 1.0, y, -x, 0.0]);
        }
        motions
    }
}
