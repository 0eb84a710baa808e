//! Block operations between the columns of one vector.

use super::SpinorSpace;
use crate::device::{DeviceError, DeviceKind};
use crate::field::columns::{ColumnKernels, PendingGram};
use crate::field::spinors::Field;
use crate::host;
use crate::scalar::{Real, Storage};
use lattice_solvers::{Advance, BlockSpace, SquareMatrix};
use num_complex::Complex64;
use num_traits::Float;

impl<T: Storage, F: Field<T>> SpinorSpace<T, F> {
    fn column_kernels(&self) -> Result<&[ColumnKernels], DeviceError> {
        if let Some(kernels) = self.kernels.columns.get() {
            return Ok(kernels);
        }
        let parities = self.sites.parities().len();
        let kernels = self.lattice.shards().iter().map(|shard| {
            ColumnKernels::new::<T>(&shard.device, &shard.layout(T::STORAGE), parities, self.columns)
        });
        let kernels = kernels.collect::<Result<_, _>>()?;
        Ok(self.kernels.columns.get_or_init(|| kernels))
    }

    /// Starts a kernel that computes a Gram matrix on each device.
    fn start_grams(
        &self,
        launch: impl Fn(&ColumnKernels, usize) -> Result<(), DeviceError>,
    ) -> Result<PendingGram<'_>, DeviceError> {
        let kernels = self.column_kernels()?;
        for (k, kernels) in kernels.iter().enumerate() {
            launch(kernels, k)?;
        }
        Ok(PendingGram::OfShards(
            &self.communicator,
            self.columns,
            kernels.iter().map(ColumnKernels::sums).collect(),
        ))
    }

    /// Starts to compute X†X.
    pub(crate) fn start_gram(&self, x: &F) -> Result<PendingGram<'_>, DeviceError> {
        if self.is_on_host() {
            let gram = host::columns::gram(self.columns, self.on_host(x));
            return Ok(PendingGram::Known(matrix(self.columns, &gram)));
        }
        let x = self.input(x);
        self.start_grams(|kernels, k| kernels.gram(x[k]))
    }
}

/// Makes the matrix with these elements, row by row.
pub(crate) fn matrix(size: usize, elements: &[Complex64]) -> SquareMatrix {
    SquareMatrix::from_fn(size, |i, j| elements[i * size + j])
}

impl<T: Storage, F: Field<T>> BlockSpace for SpinorSpace<T, F> {
    fn columns(&self) -> usize {
        self.columns
    }

    fn roundoff(&self) -> f64 {
        T::Real::epsilon().to_f64() / 2.0
    }

    fn gram(&self, x: &F) -> Result<SquareMatrix, DeviceError> {
        self.start_gram(x)?.wait()
    }

    fn subtract_block(&self, z: &F, d: &SquareMatrix, q: &mut F) -> Result<SquareMatrix, DeviceError> {
        if self.is_on_host() {
            let (z, q) = (self.on_host(z), self.on_host_mut(q));
            let gram = host::columns::subtract(self.columns, z, d.elements(), q);
            return Ok(matrix(self.columns, &gram));
        }
        let (z, q) = (self.input(z), self.output(q));
        self.start_grams(|kernels, k| kernels.subtract(d, z[k], q[k]))?.wait()
    }

    /// Returns `true` unless the fields are on processors.
    ///
    /// On processors, writing a vector that was not read costs as much as one more pass.
    fn steps_in_pairs(&self) -> bool {
        !self.is_on_host()
            && self.kernels.shards.iter().all(|shard| shard.device.info().kind != DeviceKind::Cpu)
    }

    fn advance_block(
        &self,
        matrices: Advance<'_>,
        x: &mut F,
        q: &mut F,
        p: &mut F,
        o: Option<&mut F>,
    ) -> Result<(), DeviceError> {
        if self.is_on_host() {
            let (x, q, p) = (self.on_host_mut(x), self.on_host_mut(q), self.on_host_mut(p));
            host::columns::advance(matrices, x, q, p, o.map(|o| self.on_host_mut(o)));
            return Ok(());
        }
        let (x, q, p, o) = (self.output(x), self.output(q), self.output(p), o.map(|o| self.output(o)));
        let mut kernels = self.column_kernels()?.iter().enumerate();
        kernels.try_for_each(|(k, kernels)| {
            kernels.advance(matrices, [x[k], q[k], p[k]], o.as_ref().map(|o| o[k]))
        })
    }
}
