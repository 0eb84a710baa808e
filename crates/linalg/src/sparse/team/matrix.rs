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
use crate::sparse::place::Place;
use crate::sparse::vector::Vector;
use lattice_compute::Pending;
use lattice_compute::sync::lock;
use lattice_solvers::{LinearOperator, Work};
use rayon::prelude::*;
use std::sync::{Arc, Mutex};

/// A square sparse matrix with neighbouring rows at each place of a team.
///
/// A product is that of one device, to rounding: each row adds the entries in the columns of its
/// place first. It has the same bits every time.
pub struct TeamMatrix<T> {
    source: Arc<Csr<T>>,
    space: TeamSpace<T>,
    parts: Vec<Part<T>>,
    links: Links<T>,
}

/// The rows of a place.
struct Part<T> {
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
    /// Without a format in the options, each place gets the one that is chosen for its rows.
    ///
    /// # Errors
    /// [`BlasError::Shape`] if the matrix is not square or there is no place; [`FormatError`].
    pub fn new(
        places: &[Place],
        source: impl Into<Arc<Csr<T>>>,
        options: MatrixOptions,
    ) -> Result<Self, FormatError> {
        let source: Arc<Csr<T>> = source.into();
        let shape = |operand: &str, extent, wanted, found, reason| {
            let (operation, operand) = ("sparse matrix of a team", operand.to_owned());
            FormatError::Operation(BlasError::Shape { operation, operand, extent, wanted, found, reason })
        };
        if source.rows() != source.columns() {
            return Err(shape("A", "columns", source.rows(), source.columns(), "as A has rows"));
        }
        if places.is_empty() {
            return Err(shape("the team", "places", 1, 0, "at least"));
        }
        let starts = rows::starts(&source, places.len());
        let ranges: Vec<_> = starts.windows(2).map(|bounds| bounds[0]..bounds[1]).collect();
        let cut: Vec<PartOfRows<T>> =
            ranges.par_iter().map(|range| PartOfRows::new(&source, range)).collect();
        let halos: Vec<Vec<u32>> = cut.iter().map(|part| part.halo.clone()).collect();
        let links = Links::new(places, &starts, &halos)?;
        let parts = places.iter().zip(cut).map(|(place, part)| Part::new(place, part, options));
        let parts = parts.collect::<Result<Vec<_>, FormatError>>()?;
        Ok(Self { source, space: TeamSpace::new(places, starts)?, parts, links })
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
        let others = |part: &Part<T>| part.others.as_ref().map_or(0, |others| others.matrix.bytes());
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
        let gathered = self.links.gather(x)?;
        for ((part, x), y) in self.parts.iter().zip(&x.parts).zip(&mut y.parts) {
            part.own.multiply(x, y)?;
        }
        let sent = gathered.into_iter().map(|gathered| gathered.wait()).collect::<BlasResult<Vec<_>>>()?;
        let mut uploads: Vec<Pending<Vec<T>>> = Vec::new();
        for (k, (part, y)) in self.parts.iter().zip(&mut y.parts).enumerate() {
            let Some(Others { matrix, rows, work }) = &part.others else { continue };
            let [halo, terms] = &mut *lock(work);
            let values = self.links.halo(k, &sent);
            match halo {
                Vector::Host(halo) => *halo = values,
                Vector::Device(halo) => uploads.push(halo.upload(values)?),
            }
            matrix.multiply(halo, terms)?;
            rows.add(terms, y)?;
        }
        for upload in uploads {
            upload.wait()?;
        }
        Ok(())
    }
}

impl<T: Arithmetic> Part<T> {
    fn new(place: &Place, part: PartOfRows<T>, options: MatrixOptions) -> Result<Self, FormatError> {
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
        for Part { own, others } in &self.parts {
            work += own.work();
            if let Some(others) = others {
                work += others.matrix.work();
            }
        }
        work
    }
}
