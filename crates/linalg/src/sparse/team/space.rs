//! The space of vectors in parts.

use super::vector::TeamVector;
use crate::error::{BlasError, BlasResult};
use crate::host::level1::Arithmetic;
use crate::sparse::processor::Processor;
use crate::sparse::space::Space;
use crate::sparse::vector::Vector;
use lattice_compute::Number;
use lattice_solvers::VectorSpace;
use lattice_solvers::update::Formula;
use num_complex::Complex64;
use std::ops::Range;
use std::time::Duration;

/// The space of vectors that have a part at each place of a team.
///
/// Each place adds its part of a sum. The host adds the parts in the order of places.
pub struct TeamSpace<T> {
    spaces: Vec<Space<T>>,
    /// The first component of each part, and the number of all.
    starts: Vec<usize>,
}

impl<T> Clone for TeamSpace<T> {
    fn clone(&self) -> Self {
        Self { spaces: self.spaces.clone(), starts: self.starts.clone() }
    }
}

impl<T: Arithmetic> TeamSpace<T> {
    pub(super) fn new(places: &[Processor], starts: Vec<usize>) -> BlasResult<Self> {
        let lengths = starts.windows(2).map(|bounds| bounds[1] - bounds[0]);
        let spaces = places.iter().zip(lengths).map(|(place, length)| Space::new(place, length));
        Ok(Self { spaces: spaces.collect::<BlasResult<_>>()?, starts })
    }

    /// Returns the components of a part.
    pub fn range(&self, part: usize) -> Range<usize> {
        self.starts[part]..self.starts[part + 1]
    }

    /// Returns the spaces of the parts.
    pub(super) fn spaces(&self) -> &[Space<T>] {
        &self.spaces
    }

    /// Copies a slice to the places.
    ///
    /// # Errors
    /// [`BlasError::Shape`] for another length; errors of the devices.
    pub fn vector(&self, values: &[T]) -> BlasResult<TeamVector<T>> {
        self.block(1, values)
    }

    /// Copies several vectors to the places: a row for each component, row after row.
    ///
    /// # Errors
    /// [`BlasError::Shape`] for another length; errors of the devices.
    pub fn block(&self, vectors: usize, values: &[T]) -> BlasResult<TeamVector<T>> {
        self.expect("vectors", vectors, values.len())?;
        let part = |(part, space): (usize, &Space<T>)| {
            let Range { start, end } = self.range(part);
            Vector::from_slice(space.place(), &values[start * vectors..end * vectors])
        };
        Ok(TeamVector { parts: self.spaces.iter().enumerate().map(part).collect::<BlasResult<_>>()? })
    }

    /// Makes several vectors of zeros.
    ///
    /// # Errors
    /// If memory is short, or a device fails.
    pub fn zero_block(&self, vectors: usize) -> BlasResult<TeamVector<T>> {
        let part = |space: &Space<T>| Vector::zero(space.place(), space.dimension() * vectors);
        Ok(TeamVector { parts: self.spaces.iter().map(part).collect::<BlasResult<_>>()? })
    }

    /// Waits for all that was started on the devices.
    ///
    /// # Errors
    /// If a device fails.
    pub fn finish(&self) -> BlasResult<()> {
        self.spaces.iter().try_for_each(|space| space.place().finish())
    }

    /// Returns the first component of each part, and the number of all.
    pub(super) fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// Refuses vectors whose parts have other lengths.
    pub(super) fn expect_block(
        &self,
        operand: &'static str,
        vectors: usize,
        x: &TeamVector<T>,
    ) -> BlasResult<()> {
        // Products compare each part; here a part more or less is found.
        let found: usize =
            if x.parts.len() == self.spaces.len() { x.parts.iter().map(Vector::len).sum() } else { 0 };
        self.expect(operand, vectors, found)
    }

    fn expect(&self, operand: &'static str, vectors: usize, found: usize) -> BlasResult<()> {
        let wanted = self.dimension() * vectors;
        if found == wanted {
            return Ok(());
        }
        let (operation, extent, reason) = ("operation of a team", "elements", "as the space has");
        Err(BlasError::Shape { operation, operand: operand.to_owned(), extent, wanted, found, reason })
    }

    /// Does something with the parts of vectors at each place.
    fn each<'v>(
        &self,
        read: &[&'v TeamVector<T>],
        mut work: impl FnMut(&Space<T>, usize, &[&'v Vector<T>]) -> BlasResult<()>,
    ) -> BlasResult<()> {
        self.spaces.iter().enumerate().try_for_each(|(k, space)| {
            let parts: Vec<&Vector<T>> = read.iter().map(|vector| &vector.parts[k]).collect();
            work(space, k, &parts)
        })
    }

    /// Adds sums that the places have started, in the order of places.
    fn added(&self, started: &[Vec<Number>]) -> BlasResult<Vec<Number>> {
        let count = started.first().map_or(0, Vec::len);
        let mut sums = vec![Complex64::default(); count];
        for numbers in started {
            let values = Number::values(&numbers.iter().collect::<Vec<_>>())?;
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        Ok(sums.into_iter().map(Number::of_host).collect())
    }
}

impl<T: Arithmetic> VectorSpace for TeamSpace<T> {
    type Vector = TeamVector<T>;
    type Scalar = Number;
    type Error = BlasError;

    fn dimension(&self) -> usize {
        self.starts[self.starts.len() - 1]
    }

    fn component_bytes(&self) -> usize {
        size_of::<T>()
    }

    fn time_aside(&self) -> Duration {
        self.spaces.iter().map(VectorSpace::time_aside).max().unwrap_or_default()
    }

    fn zero_vector(&self) -> BlasResult<TeamVector<T>> {
        Ok(TeamVector { parts: self.spaces.iter().map(VectorSpace::zero_vector).collect::<BlasResult<_>>()? })
    }

    fn scratch_vector(&self) -> BlasResult<TeamVector<T>> {
        let parts = self.spaces.iter().map(VectorSpace::scratch_vector);
        Ok(TeamVector { parts: parts.collect::<BlasResult<_>>()? })
    }

    fn copy(&self, from: &TeamVector<T>, to: &mut TeamVector<T>) -> BlasResult<()> {
        self.each(&[from], |space, k, read| space.copy(read[0], &mut to.parts[k]))
    }

    fn set_zero(&self, x: &mut TeamVector<T>) -> BlasResult<()> {
        self.each(&[], |space, k, _| space.set_zero(&mut x.parts[k]))
    }

    fn axpy(&self, a: &Number, x: &TeamVector<T>, y: &mut TeamVector<T>) -> BlasResult<()> {
        self.each(&[x], |space, k, read| space.axpy(a, read[0], &mut y.parts[k]))
    }

    fn xpby(&self, x: &TeamVector<T>, b: &Number, y: &mut TeamVector<T>) -> BlasResult<()> {
        self.each(&[x], |space, k, read| space.xpby(read[0], b, &mut y.parts[k]))
    }

    fn dot(&self, x: &TeamVector<T>, y: &TeamVector<T>) -> BlasResult<Number> {
        let mut started = Vec::new();
        self.each(&[x, y], |space, _, read| {
            started.push(vec![space.dot(read[0], read[1])?]);
            Ok(())
        })?;
        Ok(self.added(&started)?.remove(0))
    }

    fn norm2(&self, x: &TeamVector<T>) -> BlasResult<Number> {
        let mut started = Vec::new();
        self.each(&[x], |space, _, read| {
            started.push(vec![space.norm2(read[0])?]);
            Ok(())
        })?;
        Ok(self.added(&started)?.remove(0))
    }

    fn update(
        &self,
        formula: &Formula,
        factors: &[&Number],
        read: &[&TeamVector<T>],
        written: &mut [&mut TeamVector<T>],
    ) -> BlasResult<Vec<Number>> {
        let mut started = Vec::new();
        self.each(read, |space, k, read| {
            let mut own: Vec<&mut Vector<T>> =
                written.iter_mut().map(|vector| &mut vector.parts[k]).collect();
            started.push(space.update(formula, factors, read, &mut own)?);
            Ok(())
        })?;
        self.added(&started)
    }

    fn scalar(&self, value: Complex64) -> Number {
        value.into()
    }

    fn inner_product(&self, value: Complex64) -> BlasResult<Number> {
        Ok(Number::of_host(value))
    }

    fn quotient(&self, numerator: &Number, denominator: &Number) -> Number {
        numerator.over(denominator)
    }

    fn conjugate(&self, a: &Number) -> Number {
        a.conj()
    }

    fn negate(&self, a: &Number) -> Number {
        a.over(&Complex64::from(-1.0).into())
    }

    fn read_all(&self, scalars: &[&Number]) -> BlasResult<Vec<Complex64>> {
        Ok(Number::values(scalars)?)
    }
}
