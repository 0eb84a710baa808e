//! Substitution in triangular matrices, level by level or by sweeps.
//!
//! A row is on the level after those of all rows that it needs. So the rows of a level are
//! independent. Source: E. Anderson and Y. Saad, Int. J. High Speed Comput. 1 (1989) 73.
//! A sweep treats all rows at once.

use crate::error::BlasResult;
use crate::host::level1::Arithmetic;
use crate::host::sparse::{substitute, sweep};
use crate::sparse::csr::Csr;
use crate::sparse::kernels::Kernels;
use crate::sparse::processor::Processor;
use crate::sparse::vector::Vector;
use lattice_compute::{Argument, Buffer, Device, Range};
use std::sync::Arc;

/// Rows of a level up to which one group does it, on a processor and elsewhere.
const NARROW: [usize; 2] = [4096, 1024];

/// Groups of a wide level on a processor.
const GROUPS_OF_PROCESSOR: usize = 8;

/// The way in which systems with incomplete triangular factors are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Substitution {
    /// Exactly, one level of independent rows after the other.
    #[default]
    Levels,
    /// By so many sweeps x ← D⁻¹ (b − N x) from x = D⁻¹ b, where D is the diagonal of D + N.
    ///
    /// All rows go at once. The number is fixed, so the preconditioner stays a linear operator.
    /// Source: E. Chow and A. Patel, SIAM J. Sci. Comput. 37 (2015) C169.
    Sweeps(usize),
}

/// A triangular matrix, for x = T⁻¹ b.
pub(super) struct Triangle<T> {
    memory: Memory<T>,
    substitution: Substitution,
    bytes: u64,
    entries: u64,
}

enum Memory<T> {
    Host { order: Vec<u32>, strict: Csr<T>, inverse: Vec<T> },
    Device(Box<OnDevice<T>>),
}

struct OnDevice<T> {
    kernels: Arc<Kernels<T>>,
    /// Launches of levels: first and last level, and the groups that do them.
    launches: Vec<(usize, usize, usize)>,
    level_starts: Buffer<u32>,
    order: Buffer<u32>,
    starts: Buffer<u64>,
    columns_of: Buffer<u32>,
    values: Buffer<T>,
    inverse: Buffer<T>,
}

/// Rows by levels: the rows in their order, and the first of each level.
struct Levels {
    order: Vec<u32>,
    starts: Vec<u32>,
}

impl Levels {
    /// Sorts the rows of a strictly triangular matrix.
    ///
    /// `rows` goes through them so that each comes behind all that it needs.
    fn of<T: Arithmetic>(strict: &Csr<T>, rows: impl Iterator<Item = usize>) -> Self {
        let mut level_of = vec![0_u32; strict.rows()];
        let mut levels = 0;
        for row in rows {
            let level = strict.row(row).map(|(column, _)| level_of[column] + 1).max().unwrap_or(0);
            level_of[row] = level;
            levels = levels.max(level + 1);
        }
        let mut starts = vec![0_u32; levels as usize + 1];
        level_of.iter().for_each(|level| starts[*level as usize + 1] += 1);
        for level in 0..levels as usize {
            starts[level + 1] += starts[level];
        }
        let mut next = starts.clone();
        let mut order = vec![0_u32; strict.rows()];
        for (row, level) in level_of.iter().enumerate() {
            let place = &mut next[*level as usize];
            order[*place as usize] = row as u32;
            *place += 1;
        }
        Self { order, starts }
    }
}

impl<T: Arithmetic> Triangle<T> {
    /// Brings a triangle to a place.
    ///
    /// `strict` are the entries beside the diagonal, `inverse` the inverses of the diagonal.
    pub fn new(
        place: &Processor,
        strict: Csr<T>,
        inverse: Vec<T>,
        is_lower: bool,
        substitution: Substitution,
    ) -> BlasResult<Self> {
        let rows = strict.rows();
        let levels = match (substitution, is_lower) {
            (Substitution::Sweeps(_), _) => Levels { order: Vec::new(), starts: vec![0] },
            (_, true) => Levels::of(&strict, 0..rows),
            (_, false) => Levels::of(&strict, (0..rows).rev()),
        };
        let entries = (strict.entries() + rows) as u64;
        let bytes = size_of_val(&strict.starts[..])
            + size_of_val(&strict.columns_of[..])
            + size_of_val(&strict.values[..])
            + size_of_val(&inverse[..])
            + size_of_val(&levels.order[..]);
        let memory = match place {
            Processor::Host => Memory::Host { order: levels.order, strict, inverse },
            Processor::Device(device) => {
                Memory::Device(Box::new(OnDevice::new(device, &levels, &strict, &inverse)?))
            }
        };
        Ok(Self { memory, substitution, bytes: bytes as u64, entries })
    }

    /// Returns the bytes in memory.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the entries with the diagonal.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Returns how often a solve reads the triangle.
    pub fn passes(&self) -> u64 {
        match self.substitution {
            Substitution::Levels => 1,
            Substitution::Sweeps(count) => count as u64,
        }
    }

    /// Starts x = T⁻¹ b. Both have a component for each row, at the place.
    pub fn solve(&self, b: &Vector<T>, x: &mut Vector<T>) -> BlasResult<()> {
        match (&self.memory, b, x) {
            (Memory::Host { order, strict, inverse }, Vector::Host(b), Vector::Host(x)) => {
                let Csr { starts, columns_of, values, .. } = strict;
                let Substitution::Sweeps(count) = self.substitution else {
                    substitute(order, starts, columns_of, values, inverse, b, x);
                    return Ok(());
                };
                sweep(starts, columns_of, values, inverse, b, None, x);
                for _ in 0..count {
                    let before = x.clone();
                    sweep(starts, columns_of, values, inverse, b, Some(&before), x);
                }
            }
            (Memory::Device(triangle), Vector::Device(b), Vector::Device(x)) => match self.substitution {
                Substitution::Levels => triangle.solve(b, x)?,
                Substitution::Sweeps(count) => triangle.sweep(count, b, x)?,
            },
            _ => unreachable!("the places were checked"),
        }
        Ok(())
    }
}

impl<T: Arithmetic> OnDevice<T> {
    fn new(device: &Device, levels: &Levels, strict: &Csr<T>, inverse: &[T]) -> BlasResult<Self> {
        let kernels = Kernels::<T>::of(device, false)?;
        let cut = kernels.cut;
        let narrow = NARROW[usize::from(cut.groups.is_none())];
        let mut launches: Vec<(usize, usize, usize)> = Vec::new();
        for level in 0..levels.starts.len() - 1 {
            let rows = (levels.starts[level + 1] - levels.starts[level]) as usize;
            if rows > narrow {
                let most = if cut.groups.is_some() { GROUPS_OF_PROCESSOR } else { usize::MAX };
                launches.push((level, level + 1, rows.div_ceil(cut.local).min(most)));
                continue;
            }
            match launches.last_mut() {
                // One group waits for itself between levels.
                Some((_, last, 1)) => *last = level + 1,
                _ => launches.push((level, level + 1, 1)),
            }
        }
        Ok(Self {
            kernels,
            launches,
            level_starts: Buffer::from_slice(device, &levels.starts)?,
            order: Buffer::from_slice(device, &levels.order)?,
            starts: Buffer::from_slice(device, &strict.starts)?,
            columns_of: Buffer::from_slice(device, &strict.columns_of)?,
            values: Buffer::from_slice(device, &strict.values)?,
            inverse: Buffer::from_slice(device, inverse)?,
        })
    }

    fn solve(&self, b: &Buffer<T>, x: &mut Buffer<T>) -> BlasResult<()> {
        for &(first, last, groups) in &self.launches {
            let arguments = [
                Argument::value(first as u32),
                Argument::value(last as u32),
                (&self.level_starts).into(),
                (&self.order).into(),
                (&self.starts).into(),
                (&self.columns_of).into(),
                (&self.values).into(),
                (&self.inverse).into(),
                b.into(),
                Argument::from(&mut *x),
            ];
            self.kernels.substitute.start(Range::groups(groups, self.kernels.cut.local), &arguments)?;
        }
        Ok(())
    }
    fn sweep(&self, count: usize, b: &Buffer<T>, x: &mut Buffer<T>) -> BlasResult<()> {
        let rows = b.len();
        let (range, chunk) = self.kernels.cut.range(rows, 1);
        let mut other = b.device().scratch::<T>(rows)?;
        for pass in 0..=count {
            let arrays = [
                Argument::value(rows as u32),
                Argument::value(chunk),
                // The first pass is a sweep from x = 0, which is not read.
                Argument::value(u32::from(pass == 0)),
                (&self.starts).into(),
                (&self.columns_of).into(),
                (&self.values).into(),
                (&self.inverse).into(),
                b.into(),
            ];
            // The last pass writes x.
            let vectors = match (count - pass) % 2 {
                0 => [other.input(), Argument::from(&mut *x)],
                _ => [Argument::from(&*x), other.output()],
            };
            self.kernels.sweep.start(range, &[&arrays[..], &vectors].concat())?;
        }
        Ok(())
    }
}
