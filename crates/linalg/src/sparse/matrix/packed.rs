//! Products with several vectors at once, and the sizes that are fastest for them.

use super::on_device::{Arrays, OnDevice, of};
use crate::host::level1::Arithmetic;
use crate::sparse::arithmetic::letter;
use crate::sparse::packs::{PackKernels, Packs};
use lattice_compute::sync::lock;
use lattice_compute::tuning::{Key, Step, Tunable, choose, sites_class, time_of_launch};
use lattice_compute::{Argument, Buffer, Device, DeviceError, Range, Result};
use std::sync::Arc;
use std::time::Duration;

impl<T: Arithmetic> Arrays<T> {
    /// Returns the name of a format that has packs.
    fn name(&self) -> Option<String> {
        match self {
            Self::Csr { .. } => Some("csr".to_owned()),
            Self::Sell(_) => Some("sell".to_owned()),
            Self::Blocks { size, .. } => Some(format!("bsr:{size}")),
            Self::Diagonals { .. } => Some("diagonals".to_owned()),
            Self::FullRows { .. } => Some("full-rows".to_owned()),
            Self::Coo { .. } | Self::Symmetric { .. } => None,
        }
    }

    /// Tells whether there is no entry.
    fn is_empty(&self) -> bool {
        match self {
            Self::Csr { values, .. }
            | Self::Diagonals { values, .. }
            | Self::Coo { values, .. }
            | Self::Symmetric { values, .. } => values.is_empty(),
            Self::Sell(_) | Self::Blocks { .. } | Self::FullRows { .. } => {
                self.slices().is_none_or(|slices| slices.slots == 0)
            }
        }
    }
}

impl<T: Arithmetic> OnDevice<T> {
    /// Returns the kernels for a number of vectors; `None` where each vector is computed alone.
    pub(super) fn packs(&self, extents: [usize; 3]) -> Result<Option<Arc<PackKernels<T>>>> {
        let [.., vectors] = extents;
        if let Some((_, known)) = lock(&self.several).iter().find(|(known, _)| *known == vectors) {
            return Ok(known.clone());
        }
        let of_blocks = matches!(self.arrays, Arrays::Blocks { .. });
        let shipped = Packs::shipped::<T>(&self.device, vectors, of_blocks);
        let kernels = match (self.arrays.name(), shipped) {
            (Some(format), Some(shipped)) if of_blocks || !self.arrays.is_empty() => {
                let product = Product { matrix: self, format, extents, shipped };
                // A search would take longer than most solves with blocks.
                let packs = if vectors == 1 { shipped } else { choose(&product) };
                Some(PackKernels::of(&self.device, packs, self.single)?)
            }
            _ => None,
        };
        lock(&self.several).push((vectors, kernels.clone()));
        Ok(kernels)
    }

    /// Starts Y = A X by packs of vectors, but for rows that work-groups share.
    pub(super) fn multiply_packs(
        &self,
        kernels: &PackKernels<T>,
        [rows, columns, vectors]: [usize; 3],
        x: &Buffer<T>,
        y: &mut Buffer<T>,
    ) -> Result<()> {
        let Packs { pack, rows: rows_at_once, local } = kernels.packs;
        let long = |value: usize| Argument::value(value as u64);
        let int = |value: usize| Argument::value(value as u32);
        let packs = vectors / pack;
        let units = self.arrays.slices().map_or(rows, |slices| slices.slots);
        let results = units * packs;
        if results == 0 {
            return Ok(());
        }
        let (range, chunk) = match (self.kernels.cut.groups, &self.arrays) {
            (Some(_), _) => self.kernels.cut.range(results, 1),
            (None, Arrays::Diagonals { .. }) => {
                (Range::groups(results.div_ceil(local * rows_at_once), local), 1)
            }
            (None, _) => (Range::covering(results, local), 1),
        };
        let first = [long(results), int(packs), Argument::value(chunk)];
        let (kernel, own) = match &self.arrays {
            Arrays::Csr { starts, columns_of, values, longest, .. } => {
                (&kernels.csr, vec![int(*longest), of(starts), of(columns_of), values.argument()])
            }
            Arrays::Sell(_) | Arrays::FullRows { .. } => {
                let slices = self.arrays.slices().expect("both have slices");
                (&kernels.sell, [&[int(rows)], &slices.arguments()[..]].concat())
            }
            Arrays::Blocks { size, slices } => {
                (&kernels.blocks, [&[int(rows / size), int(*size)], &slices.arguments()[..]].concat())
            }
            Arrays::Diagonals { offsets, values } => {
                let sizes = [long(rows), long(columns), int(offsets.len())];
                (&kernels.diagonals, [&sizes[..], &[of(offsets), values.argument()]].concat())
            }
            Arrays::Coo { .. } | Arrays::Symmetric { .. } => {
                unreachable!("lists and symmetric storage are multiplied vector by vector")
            }
        };
        kernel.start(range, &[&first[..], &own, &[of(x), Argument::from(y)]].concat())
    }
}

/// A product whose sizes may be varied.
struct Product<'a, T> {
    matrix: &'a OnDevice<T>,
    format: String,
    /// Rows, columns and vectors.
    extents: [usize; 3],
    shipped: Packs,
}

/// Numbers of rows at once, and of work-items, that are tried.
const ROWS: [usize; 3] = [1, 2, 4];
const LOCALS: [usize; 4] = [64, 128, 256, 512];

impl<T: Arithmetic> Tunable for Product<'_, T> {
    type Variant = Packs;
    type Data = (Buffer<T>, Buffer<T>);
    type Error = DeviceError;

    fn device(&self) -> &Device {
        &self.matrix.device
    }

    fn key(&self) -> Key {
        let [rows, _, vectors] = self.extents;
        let key = Key::new("sparse product", sites_class(rows))
            .option("format", &self.format)
            .option("vectors", vectors)
            .option("element", letter::<T>());
        if self.matrix.single { key.option("values", "single") } else { key }
    }

    fn shipped(&self) -> Packs {
        self.shipped
    }

    fn steps(&self) -> Vec<Step<'_, Packs>> {
        let usable = move |mut variants: Vec<Packs>| {
            variants.retain(|packs| self.complaint(packs).is_none());
            variants
        };
        let widest = self.shipped.pack;
        vec![
            Box::new(move |best| {
                usable([widest / 2, 2 * widest].map(|pack| Packs { pack, ..*best }).to_vec())
            }),
            Box::new(move |best| usable(ROWS.map(|rows| Packs { rows, ..*best }).to_vec())),
            Box::new(move |best| usable(LOCALS.map(|local| Packs { local, ..*best }).to_vec())),
        ]
    }

    fn complaint(&self, packs: &Packs) -> Option<String> {
        packs.complaint::<T>(&self.matrix.device, self.extents[2])
    }

    fn data(&self) -> Result<Self::Data> {
        let [rows, columns, vectors] = self.extents;
        let device = &self.matrix.device;
        Ok((Buffer::zeroed(device, columns * vectors)?, Buffer::zeroed(device, rows * vectors)?))
    }

    fn time(&self, packs: &Packs, (x, y): &mut Self::Data) -> Result<Duration> {
        let kernels = PackKernels::of(&self.matrix.device, *packs, self.matrix.single)?;
        time_of_launch(
            || self.matrix.multiply_packs(&kernels, self.extents, x, y),
            || self.matrix.device.finish(),
        )
    }
}
