//! The levels of a matrix.

use super::aggregates::Graph;
use super::dense_rows::DensePoints;
use super::on_device::{Builder, DeviceCsr};
use super::options::AmgOptions;
use super::spectrum::radius;
use super::tentative::prolongator;
use crate::error::BlasResult;
use crate::host::level1::Arithmetic;
use crate::sparse::arithmetic::{real, reciprocal, size};
use crate::sparse::csr::Csr;
use crate::sparse::matrix::Placed;
use crate::sparse::precondition::{PreconditionError, expect_square};
use crate::sparse::processor::Processor;
use lattice_compute::parallel::*;
use lattice_compute::{Buffer, Device, DeviceKind};
use std::borrow::Cow;

/// Strength of connections on the finest level.
const STRENGTH: f64 = 0.08;

/// Most levels. Each has at most three quarters of the rows of the one before.
const MOST_LEVELS: usize = 40;

/// Most near-null vectors.
const MOST_MODES: usize = 32;

/// Most rows of a level that is solved directly because it cannot be made smaller.
const MOST_DIRECT_ROWS: usize = 4000;

/// A level that is smoothed, at its place.
pub(super) struct SmoothedLevel<T> {
    /// D⁻¹A.
    pub matrix: Placed<T>,
    /// The next level's residual from this level's, with the scales of both.
    pub restrict: Placed<T>,
    /// The prolongator from the next level.
    pub prolong: Placed<T>,
    /// A bound of the eigenvalues of D⁻¹A.
    pub radius: f64,
}

/// All levels.
pub(super) struct Hierarchy<T> {
    pub levels: Vec<SmoothedLevel<T>>,
    /// The coarsest matrix.
    pub coarsest: Csr<T>,
    /// D⁻¹ of the finest level.
    pub scale: Placed<T>,
    /// Rows of each level, and the entries of all.
    pub rows: Vec<usize>,
    pub entries: usize,
}

/// A level whose restriction waits for the diagonal of the next one.
struct Pending<T> {
    matrix: Placed<T>,
    prolong: Placed<T>,
    radius: f64,
    restrict: Restriction<T>,
}

/// An adjoint prolongator, and the diagonal of its level.
enum Restriction<T> {
    Host(Csr<T>, Vec<T>),
    Device(Box<DeviceCsr<T>>, Buffer<T>),
}

/// A matrix with its near-null vectors.
type Next<T> = (Csr<T>, Vec<T>);

/// The diagonal of a level.
enum Diagonal<'a, T> {
    Host(&'a [T]),
    Device(&'a Buffer<T>),
}

/// The state between two levels, beside the matrix.
struct Descent<T> {
    modes: usize,
    block: usize,
    strength: f64,
    place: Processor,
    /// `None` where levels are made on the host.
    builder: Option<Builder<T>>,
    levels: Vec<SmoothedLevel<T>>,
    pending: Option<Pending<T>>,
    scale: Option<Placed<T>>,
    rows: Vec<usize>,
    entries: usize,
    finest_entries: usize,
}

/// Makes all levels of a matrix at a place.
///
/// A device that is no processor makes levels of many rows. All others are made on the host, and all
/// of a matrix with dense rows.
pub(super) fn hierarchy<T: Arithmetic>(
    place: &Processor,
    matrix: &Csr<T>,
    options: &AmgOptions<T>,
) -> Result<Hierarchy<T>, PreconditionError> {
    expect_square(matrix)?;
    let (rows, block) = (matrix.rows(), options.block.max(1));
    if !rows.is_multiple_of(block) {
        return Err(PreconditionError::Block { block, rows });
    }
    let near_null = match &options.near_null_space {
        Some(vectors) => Cow::Borrowed(&vectors[..]),
        None => Cow::Owned(
            (0..rows * block)
                .into_par_iter()
                .map(|k| real(f64::from(u8::from(k / block % block == k % block))))
                .collect(),
        ),
    };
    let modes = near_null.len().checked_div(rows).unwrap_or(1);
    if modes * rows != near_null.len() || modes > MOST_MODES || (modes == 0 && rows > 0) {
        return Err(PreconditionError::NearNullSpace { wanted: rows, found: near_null.len() });
    }
    let default = if block > 1 { 0.0 } else { STRENGTH };
    let builder = match place {
        Processor::Device(device)
            if rows > options.host_rows
                && makes_levels(device, matrix)
                && DensePoints::new(matrix, block).is_empty() =>
        {
            Some(Builder::new(device)?)
        }
        _ => None,
    };
    let mut descent = Descent {
        modes,
        block,
        strength: options.strength.unwrap_or(default),
        place: place.clone(),
        builder,
        levels: Vec::new(),
        pending: None,
        scale: None,
        rows: Vec::new(),
        entries: 0,
        finest_entries: matrix.entries(),
    };
    match descent.on_device(matrix, &near_null, options)? {
        Some((matrix, near_null)) => descent.on_host(Cow::Owned(matrix), Cow::Owned(near_null), options),
        None => descent.on_host(Cow::Borrowed(matrix), near_null, options),
    }
}

/// Memory of a set-up on a device, in sizes of the matrix by rows.
const SIZES_OF_MATRIX: u64 = 10;

/// Tells whether a device makes the levels of a matrix: it has the memory, and is no processor.
///
/// A processor shares the host's memory and its cores.
fn makes_levels<T: Arithmetic>(device: &Device, matrix: &Csr<T>) -> bool {
    let info = device.info();
    let bytes = matrix.entries() as u64 * (size_of::<T>() + size_of::<u32>()) as u64;
    info.kind != DeviceKind::Cpu && info.fp64 && info.memory_bytes >= SIZES_OF_MATRIX * bytes
}

impl<T: Arithmetic> Descent<T> {
    /// Returns the bound of strong connections, θ², on this level.
    fn least(&self) -> f32 {
        (self.strength * self.strength) as f32
    }

    /// Tells whether so many aggregates are too many.
    fn stalls(&self, count: usize, rows: usize) -> bool {
        4 * count * self.modes > 3 * rows
    }

    /// Refuses a next level with far more entries than the matrix. Both are rows and entries.
    fn expect_few(
        &self,
        [rows, entries]: [usize; 2],
        [coarse_rows, coarse_entries]: [usize; 2],
    ) -> Result<(), PreconditionError> {
        match coarse_entries > MOST_GROWTH * self.finest_entries {
            true => Err(PreconditionError::Outgrown { rows, entries, coarse_rows, coarse_entries }),
            false => Ok(()),
        }
    }

    /// Makes levels on the device while they have many rows.
    ///
    /// Returns the next matrix with its near-null vectors; `None` if there is no such device.
    fn on_device(
        &mut self,
        finest: &Csr<T>,
        near_null: &[T],
        options: &AmgOptions<T>,
    ) -> Result<Option<Next<T>>, PreconditionError> {
        let Some(builder) = self.builder.take() else { return Ok(None) };
        let mut matrix = builder.upload(finest)?;
        let mut near_null = builder.numbers(near_null)?;
        while matrix.rows > options.host_rows.max(options.coarse_rows) && self.levels.len() + 1 < MOST_LEVELS
        {
            let facts = builder.facts(&matrix)?;
            if let Some(row) = facts.zero {
                return Err(PreconditionError::ZeroDiagonal { row: row + 1 });
            }
            let mut aggregates = builder.aggregates(&builder.graph(&matrix, self.block, self.least())?)?;
            if self.stalls(aggregates.count, matrix.rows) {
                aggregates = builder.aggregates(&builder.graph(&matrix, self.block, 0.0)?)?;
            }
            if aggregates.count == 0 || self.stalls(aggregates.count, matrix.rows) {
                break;
            }
            self.finish(&builder, Some(Diagonal::Device(&facts.diagonal)))?;
            let scaled = builder.placed(&matrix, None, Some(&facts.diagonal))?;
            let (estimate, bound) =
                radius(&scaled, &builder.diagonal(&facts.diagonal)?, facts.ratio, facts.is_positive)?;
            if self.scale.is_none() {
                self.scale = Some(builder.diagonal(&facts.inverse)?);
            }
            let (tentative, coarse) = builder.prolongator(&near_null, self.modes, self.block, &aggregates)?;
            let prolong = builder.smoothed(&matrix, &facts.diagonal, &tentative, 4.0 / 3.0 / estimate)?;
            drop(tentative);
            let restrict = builder.adjoint(&prolong)?;
            let next = builder.product(&restrict, &builder.product(&matrix, &prolong)?)?;
            self.expect_few([matrix.rows, matrix.entries], [next.rows, next.entries])?;
            self.went_down(matrix.rows, matrix.entries);
            self.pending = Some(Pending {
                matrix: scaled,
                prolong: builder.placed(&prolong, None, None)?,
                radius: bound,
                restrict: Restriction::Device(Box::new(restrict), facts.diagonal),
            });
            (matrix, near_null) = (builder.with_diagonal(next)?, coarse);
        }
        let (matrix, near_null) = (builder.download(&matrix)?, builder.read(&near_null)?);
        self.builder = Some(builder);
        Ok(Some((matrix, near_null)))
    }

    /// Makes the other levels on the host.
    fn on_host(
        mut self,
        finest: Cow<'_, Csr<T>>,
        near_null: Cow<'_, [T]>,
        options: &AmgOptions<T>,
    ) -> Result<Hierarchy<T>, PreconditionError> {
        let (mut matrix, mut near_null) = (finest, near_null);
        loop {
            let rows = matrix.rows();
            let diagonal = matrix.diagonal();
            if let Some(row) = diagonal.iter().position(|value| size(*value) == 0.0) {
                return Err(PreconditionError::ZeroDiagonal { row: row + 1 });
            }
            if self.scale.is_none() {
                let inverse = diagonal.par_iter().map(|value| reciprocal(*value)).collect();
                self.scale = Some(Placed::diagonal(&self.place, inverse)?);
            }
            if rows <= options.coarse_rows || self.levels.len() + 1 >= MOST_LEVELS {
                return self.end(matrix.into_owned());
            }
            let dense = DensePoints::new(&matrix, self.block);
            let mut aggregates = Graph::new(&matrix, self.block, self.least(), &dense).aggregates();
            if self.stalls(aggregates.count, rows) {
                // Weak connections are better than none.
                aggregates = Graph::new(&matrix, self.block, 0.0, &dense).aggregates();
            }
            let stalls = aggregates.count == 0 || self.stalls(aggregates.count, rows);
            if stalls && rows <= MOST_DIRECT_ROWS {
                return self.end(matrix.into_owned());
            }
            self.finish_on_host(Some(&diagonal))?;
            let values = |row: usize, _, value: T| value * reciprocal(diagonal[row]);
            let scaled = Placed::chosen(&self.place, matrix.map(values))?;
            let weights = Placed::diagonal(&self.place, diagonal.clone())?;
            let (estimate, bound) =
                radius(&scaled, &weights, ratio(&matrix, &diagonal), is_positive(&diagonal))?;
            let level = |prolong: &Csr<T>| -> BlasResult<Pending<T>> {
                Ok(Pending {
                    matrix: scaled,
                    prolong: Placed::chosen(&self.place, prolong.clone())?,
                    radius: bound,
                    restrict: Restriction::Host(prolong.adjoint(), diagonal.clone()),
                })
            };
            if stalls {
                // The points that are left have no connections: the smoother alone solves for them.
                self.pending = Some(level(&Csr::empty(rows, 1))?);
                self.went_down(rows, matrix.entries());
                return self.end(Csr::from_rows(1, [[(0, real(1.0))]]));
            }
            let (tentative, coarse) = prolongator(&near_null, self.modes, self.block, &aggregates);
            let prolong = match dense.is_empty() {
                true => smoothed(&matrix, &diagonal, &tentative, 4.0 / 3.0 / estimate),
                false => smoothed(&dense.thinned(&matrix), &diagonal, &tentative, 4.0 / 3.0 / estimate),
            };
            expect_few_products(&matrix, &prolong)?;
            let pending = level(&prolong)?;
            self.went_down(rows, matrix.entries());
            let Restriction::Host(restrict, _) = &pending.restrict else { unreachable!("made on the host") };
            let next = with_diagonal(restrict.times(&matrix.times(&prolong)));
            self.expect_few([rows, matrix.entries()], [next.rows(), next.entries()])?;
            self.pending = Some(pending);
            (matrix, near_null) = (Cow::Owned(next), Cow::Owned(coarse));
        }
    }

    /// Counts a level. The near-null vectors of the next one belong to its points.
    fn went_down(&mut self, rows: usize, entries: usize) {
        self.rows.push(rows);
        self.entries += entries;
        self.block = self.modes;
        self.strength *= 0.5;
    }

    /// Ends with the coarsest matrix.
    fn end(mut self, coarsest: Csr<T>) -> Result<Hierarchy<T>, PreconditionError> {
        self.finish_on_host(None)?;
        self.rows.push(coarsest.rows());
        self.entries += coarsest.entries();
        Ok(Hierarchy {
            levels: self.levels,
            coarsest,
            scale: self.scale.expect("the finest level was looked at"),
            rows: self.rows,
            entries: self.entries,
        })
    }

    fn finish_on_host(&mut self, next: Option<&[T]>) -> BlasResult<()> {
        match self.builder.take() {
            Some(builder) => self.finish(&builder, next.map(Diagonal::Host)),
            None => self.finish_plainly(next),
        }
    }

    /// Scales the restriction of the last level: R D, and D⁻¹ of the next level if that is smoothed.
    fn finish(&mut self, builder: &Builder<T>, next: Option<Diagonal<'_, T>>) -> BlasResult<()> {
        let Some(Pending { matrix, prolong, radius, restrict }) = self.pending.take() else { return Ok(()) };
        let Restriction::Device(restrict, own) = restrict else { unreachable!("the device made it") };
        let uploaded;
        let next = match next {
            None => None,
            Some(Diagonal::Device(next)) => Some(next),
            Some(Diagonal::Host(next)) => {
                uploaded = builder.numbers(next)?;
                Some(&uploaded)
            }
        };
        let restrict = builder.placed(&restrict, Some(&own), next)?;
        self.levels.push(SmoothedLevel { matrix, restrict, prolong, radius });
        Ok(())
    }

    /// The same on the host.
    fn finish_plainly(&mut self, next: Option<&[T]>) -> BlasResult<()> {
        let Some(Pending { matrix, prolong, radius, restrict }) = self.pending.take() else { return Ok(()) };
        let Restriction::Host(restrict, own) = restrict else { unreachable!("the host made it") };
        let restrict = restrict.map(|row, column, value| {
            let value = value * own[column];
            next.map_or(value, |next| value * reciprocal(next[row]))
        });
        let restrict = Placed::chosen(&self.place, restrict)?;
        self.levels.push(SmoothedLevel { matrix, restrict, prolong, radius });
        Ok(())
    }
}

/// Most entries of a level, in those of the matrix.
///
/// Levels of small networks have a few times as many. Dense levels have a hundred times as many.
const MOST_GROWTH: usize = 4;

/// Most products of elements in A P, for each entry of A.
const MOST_PRODUCTS: usize = 100;

/// Refuses a prolongator whose next level would grow, before its product is made.
fn expect_few_products<T: Arithmetic>(matrix: &Csr<T>, prolong: &Csr<T>) -> Result<(), PreconditionError> {
    let of_row = |row: usize| matrix.row(row).map(|(k, _)| prolong.row_length(k)).sum::<usize>();
    let products: usize = (0..matrix.rows()).into_par_iter().map(of_row).sum();
    let (rows, entries) = (matrix.rows(), matrix.entries());
    match products > MOST_PRODUCTS * entries {
        true => Err(PreconditionError::Outgrown {
            rows,
            entries,
            coarse_rows: prolong.columns(),
            coarse_entries: products,
        }),
        false => Ok(()),
    }
}

/// Returns the largest sum of the sizes of a row over its diagonal entry.
fn ratio<T: Arithmetic>(matrix: &Csr<T>, diagonal: &[T]) -> f64 {
    let of_row =
        |row: usize| matrix.row(row).map(|(_, value)| size(value)).sum::<f64>() / size(diagonal[row]);
    (0..matrix.rows()).into_par_iter().map(of_row).reduce(|| 0.0, f64::max)
}

/// Tells whether a diagonal is real and positive.
fn is_positive<T: Arithmetic>(diagonal: &[T]) -> bool {
    diagonal.par_iter().all(|value| value.to_complex().re > 0.0 && value.to_complex().im == 0.0)
}

/// Returns T − ω D⁻¹ A T.
fn smoothed<T: Arithmetic>(matrix: &Csr<T>, diagonal: &[T], tentative: &Csr<T>, omega: f64) -> Csr<T> {
    // Every entry of T has its place in A T, because no diagonal entry of A is zero.
    matrix.times(tentative).map(|row, column, value| {
        let factor = real::<T>(omega) * reciprocal(diagonal[row]);
        tentative.at(row, column) - factor * value
    })
}

/// Puts a one on the diagonal of rows of zeros.
///
/// Such rows belong to near-null vectors that depend on others.
fn with_diagonal<T: Arithmetic>(matrix: Csr<T>) -> Csr<T> {
    let is_empty = |row: usize| matrix.row(row).all(|(_, value)| size(value) == 0.0);
    let empty: Vec<bool> = (0..matrix.rows()).into_par_iter().map(is_empty).collect();
    if !empty.contains(&true) {
        return matrix;
    }
    matrix.map(|row, column, value| if empty[row] && row == column { real(1.0) } else { value })
}
