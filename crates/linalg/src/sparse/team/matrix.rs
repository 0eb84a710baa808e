//! A matrix whose rows lie at several places.

use super::links::{Links, List};
use super::rows::{self, PartOfRows};
use super::space::TeamSpace;
use super::vector::TeamVector;
use crate::error::{BlasError, BlasResult};
use crate::host::level1::Arithmetic;
use crate::sparse::csr::Csr;
use crate::sparse::format::Format;
use crate::sparse::matrix::{FormatError, Matrix, MatrixOptions};
use crate::sparse::processor::Processor;
use crate::sparse::vector::Vector;
use lattice_compute::Pending;
use lattice_compute::parallel::*;
use lattice_compute::sync::lock;
use lattice_solvers::{LinearOperator, Work};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// A sparse matrix with neighbouring rows at each place of a team.
///
/// A product is that of one device, to rounding: each row adds the entries in the columns of its
/// place first. It has the same bits every time. A square matrix is a [`LinearOperator`].
pub struct TeamMatrix<T> {
    source: Arc<Csr<T>>,
    places: Vec<Processor>,
    options: MatrixOptions,
    /// The space of y in y = A x; that of x as well if the matrix is square.
    space: TeamSpace<T>,
    space_of_x: TeamSpace<T>,
    parts: Vec<LocalRows<T>>,
    links: Links<T>,
    /// Made when a product with the transpose is first asked for.
    transposed: Mutex<Option<Arc<TeamMatrix<T>>>>,
}

/// The rows of a place.
struct LocalRows<T> {
    own: Matrix<T>,
    /// `None` where no row needs components of other places.
    others: Option<Others<T>>,
}

/// The entries in the columns of other places.
struct Others<T> {
    matrix: Matrix<T>,
    rows: List<T>,
    /// The components of others, and the product with them.
    work: Mutex<[Vector<T>; 2]>,
}

impl<T: Arithmetic> TeamMatrix<T> {
    /// Brings rows of about the same bytes to each of some places.
    ///
    /// Without a format in the options, each place gets the one that is chosen for its rows. The
    /// components of x lie with the rows of a square matrix, and in even parts otherwise.
    ///
    /// # Errors
    /// [`BlasError::Shape`] if there is no place; [`FormatError`].
    pub fn new(
        places: &[Processor],
        source: impl Into<Arc<Csr<T>>>,
        options: MatrixOptions,
    ) -> Result<Self, FormatError> {
        let source: Arc<Csr<T>> = source.into();
        if places.is_empty() {
            let (operation, operand) = ("sparse matrix of a team", "the team".to_owned());
            let (extent, reason) = ("places", "at least");
            let error = BlasError::Shape { operation, operand, extent, wanted: 1, found: 0, reason };
            return Err(FormatError::Operation(error));
        }
        let rows = rows::starts(&source, places.len());
        let columns = match source.rows() == source.columns() {
            true => rows.clone(),
            false => rows::even_starts(source.columns(), places.len()),
        };
        Self::cut(places, source, [rows, columns], options)
    }

    /// Cuts a matrix by rows, where x is cut as its columns are.
    fn cut(
        places: &[Processor],
        source: Arc<Csr<T>>,
        [rows, columns]: [Vec<usize>; 2],
        options: MatrixOptions,
    ) -> Result<Self, FormatError> {
        let ranges = |starts: &[usize]| -> Vec<Range<usize>> {
            starts.windows(2).map(|bounds| bounds[0]..bounds[1]).collect()
        };
        let (of_rows, of_columns) = (ranges(&rows), ranges(&columns));
        let cut: Vec<PartOfRows<T>> = of_rows
            .par_iter()
            .zip(&of_columns)
            .map(|(rows, columns)| PartOfRows::new(&source, rows, columns))
            .collect();
        let halos: Vec<Vec<u32>> = cut.iter().map(|part| part.halo.clone()).collect();
        let links = Links::new(places, &columns, &halos)?;
        let parts = places.iter().zip(cut).map(|(place, part)| LocalRows::new(place, part, options));
        let parts = parts.collect::<Result<Vec<_>, FormatError>>()?;
        Ok(Self {
            source,
            places: places.to_vec(),
            options,
            space: TeamSpace::new(places, rows)?,
            space_of_x: TeamSpace::new(places, columns)?,
            parts,
            links,
            transposed: Mutex::new(None),
        })
    }

    /// Returns the space of x in y = A x. That of y is [`LinearOperator::space`].
    pub fn space_of_x(&self) -> &TeamSpace<T> {
        &self.space_of_x
    }

    /// Returns the matrix in the host's memory.
    pub fn source(&self) -> &Arc<Csr<T>> {
        &self.source
    }

    /// Returns the format of each place's rows.
    pub fn formats(&self) -> Vec<Format> {
        self.parts.iter().map(|part| part.own.format()).collect()
    }

    /// Returns the bytes of the matrix at each place.
    pub fn bytes(&self) -> Vec<u64> {
        let others = |part: &LocalRows<T>| part.others.as_ref().map_or(0, |others| others.matrix.bytes());
        self.parts.iter().map(|part| part.own.bytes() + others(part)).collect()
    }

    /// Returns the rows of a place in its own columns.
    pub(super) fn own(&self, part: usize) -> &Arc<Csr<T>> {
        self.parts[part].own.source()
    }

    /// Starts y = A x.
    ///
    /// # Errors
    /// [`BlasError::Shape`], [`BlasError::OtherDevice`], or what a device says.
    pub fn multiply(&self, x: &TeamVector<T>, y: &mut TeamVector<T>) -> BlasResult<()> {
        self.multiply_block(1, x, y)
    }

    /// Starts y = Aᵀ x, without conjugation.
    ///
    /// The transpose is made at the first call, and kept. y lies as x does in y = A x, and x as y.
    ///
    /// # Errors
    /// [`BlasError::Shape`], [`BlasError::OtherDevice`], or what a device says.
    pub fn multiply_transposed(&self, x: &TeamVector<T>, y: &mut TeamVector<T>) -> BlasResult<()> {
        let transposed = {
            let mut kept = lock(&self.transposed);
            match &*kept {
                Some(transposed) => Arc::clone(transposed),
                None => {
                    let options = MatrixOptions { format: None, ..self.options };
                    Arc::clone(kept.insert(Arc::new(self.turned(self.source.transposed(), options)?)))
                }
            }
        };
        transposed.multiply(x, y)
    }

    /// Makes Aᴴ with whole values. Its rows lie as the columns of A do.
    pub(in crate::sparse) fn adjoint(&self) -> BlasResult<Self> {
        self.turned(self.source.adjoint(), MatrixOptions::default())
    }

    /// Brings the transpose of A, or its adjoint, to the places.
    fn turned(&self, source: Csr<T>, options: MatrixOptions) -> BlasResult<Self> {
        let starts = [self.space_of_x.starts(), self.space.starts()].map(<[usize]>::to_vec);
        match Self::cut(&self.places, Arc::new(source), starts, options) {
            Ok(made) => Ok(made),
            Err(FormatError::Operation(error)) => Err(error),
            Err(_) => unreachable!("a chosen format is one that the matrix can have"),
        }
    }

    /// Starts Y = A X for several vectors at once.
    ///
    /// X and Y have a row for each component, row after row: [`TeamSpace::block`]. The matrix is
    /// read once.
    ///
    /// # Errors
    /// [`BlasError::Shape`], [`BlasError::OtherDevice`], or what a device says.
    pub fn multiply_block(&self, vectors: usize, x: &TeamVector<T>, y: &mut TeamVector<T>) -> BlasResult<()> {
        self.space_of_x.expect_block("x", vectors, x)?;
        self.space.expect_block("y", vectors, y)?;
        let gathered = self.links.gather(vectors, x)?;
        for ((part, x), y) in self.parts.iter().zip(&x.parts).zip(&mut y.parts) {
            part.own.multiply_block(vectors, x, y)?;
        }
        let sent = gathered.into_iter().map(|gathered| gathered.wait()).collect::<BlasResult<Vec<_>>>()?;
        let mut uploads: Vec<Pending<Vec<T>>> = Vec::new();
        for (k, (part, y)) in self.parts.iter().zip(&mut y.parts).enumerate() {
            let Some(Others { matrix, rows, work }) = &part.others else { continue };
            let work = &mut *lock(work);
            let wanted = [matrix.columns(), matrix.rows()].map(|extent| extent * vectors);
            for (vector, wanted) in work.iter_mut().zip(wanted) {
                if vector.len() != wanted {
                    *vector = Vector::zero(matrix.place(), wanted)?;
                }
            }
            let [halo, terms] = work;
            let values = self.links.halo(k, vectors, &sent);
            match halo {
                Vector::Host(halo) => *halo = values,
                Vector::Device(_) if values.is_empty() => {}
                Vector::Device(halo) => uploads.push(halo.upload(values)?),
            }
            matrix.multiply_block(vectors, halo, terms)?;
            rows.add(vectors, terms, y)?;
        }
        for upload in uploads {
            upload.wait()?;
        }
        Ok(())
    }
}

impl<T: Arithmetic> LocalRows<T> {
    fn new(place: &Processor, part: PartOfRows<T>, options: MatrixOptions) -> Result<Self, FormatError> {
        let PartOfRows { own, others, rows, halo } = part;
        let own = Matrix::with_options(place, own, options)?;
        if halo.is_empty() {
            return Ok(Self { own, others: None });
        }
        let work = [Vector::zero(place, halo.len())?, Vector::zero(place, rows.len())?];
        // Few entries in the columns of others: their format is theirs alone.
        let matrix = Matrix::with_options(place, others, MatrixOptions { format: None, ..options })?;
        let others = Others { matrix, rows: List::new(place, rows)?, work: Mutex::new(work) };
        Ok(Self { own, others: Some(others) })
    }
}

/// A square matrix.
impl<T: Arithmetic> LinearOperator for TeamMatrix<T> {
    type Space = TeamSpace<T>;

    fn space(&self) -> &TeamSpace<T> {
        &self.space
    }

    fn apply(&self, x: &TeamVector<T>, out: &mut TeamVector<T>) -> BlasResult<()> {
        self.multiply(x, out)
    }

    fn work(&self) -> Work {
        let mut work = Work::default();
        for LocalRows { own, others } in &self.parts {
            work += own.work();
            if let Some(others) = others {
                work += others.matrix.work();
            }
        }
        work
    }
}
