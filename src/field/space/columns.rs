//! Block operations between the columns of one vector.

use super::SpinorSpace;
use crate::compute::{DeviceError, DeviceKind};
use crate::field::columns::{
    ColumnKernels, ColumnMatrix, ColumnRecurrence, OnDevices, PendingGram, RecurrenceMatrices,
};
use crate::field::communicator::Communicator;
use crate::field::spinors::Field;
use crate::host;
use crate::scalar::{Real, Storage};
use lattice_solvers::{Advance, BlockEvent, BlockRecurrence, BlockSpace, SquareMatrix};
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

/// A space of columns whose descents may wait for nobody.
pub(crate) trait ColumnSpace: BlockSpace<Recurrence = ColumnRecurrence, Error = DeviceError> {
    /// Computes Q = Q − Z D, and starts Q†Q.
    fn start_subtraction(
        &self,
        z: &Self::Vector,
        d: ColumnMatrix<'_>,
        q: &mut Self::Vector,
    ) -> Result<PendingGram<'_>, DeviceError>;
}

impl<T: Storage, F: Field<T>> ColumnSpace for SpinorSpace<T, F> {
    fn start_subtraction(
        &self,
        z: &F,
        d: ColumnMatrix<'_>,
        q: &mut F,
    ) -> Result<PendingGram<'_>, DeviceError> {
        if let (true, ColumnMatrix::Known(d)) = (self.is_on_host(), d) {
            let (z, q) = (self.on_host(z), self.on_host_mut(q));
            let gram = host::columns::subtract(self.columns, z, d.elements(), q);
            return Ok(PendingGram::Known(matrix(self.columns, &gram)));
        }
        let (z, q) = (self.input(z), self.output(q));
        self.start_grams(|kernels, k| kernels.subtract(k, d, z[k], q[k]))
    }
}

impl<T: Storage, F: Field<T>> BlockSpace for SpinorSpace<T, F> {
    type Recurrence = ColumnRecurrence;

    fn recurrence(&self, from: BlockRecurrence) -> Result<ColumnRecurrence, DeviceError> {
        if self.is_on_host() || !self.communicator.keeps_numbers() {
            return Ok(ColumnRecurrence(RecurrenceMatrices::OnHost(Box::new(from))));
        }
        let devices: Vec<_> = self.kernels.shards.iter().map(|shard| &shard.device).collect();
        Ok(ColumnRecurrence(RecurrenceMatrices::OnDevices(Box::new(OnDevices::new(&devices, from)?))))
    }

    fn renew(&self, there: &mut ColumnRecurrence, from: BlockRecurrence) -> Result<(), DeviceError> {
        match &mut there.0 {
            RecurrenceMatrices::OnHost(recurrence) => **recurrence = from,
            RecurrenceMatrices::OnDevices(devices) => devices.renew(from)?,
        }
        Ok(())
    }

    fn see(&self, there: &ColumnRecurrence) -> Result<BlockRecurrence, DeviceError> {
        let seen = there.see()?;
        // A device that waited for another device in vain has no sums.
        if let Some(BlockEvent::InfiniteCurvature | BlockEvent::InfiniteResidual) = seen.event {
            self.lattice.check_peers()?;
        }
        Ok(seen)
    }

    fn advance_by(
        &self,
        there: &ColumnRecurrence,
        [pending, steps]: [bool; 2],
        x: &mut F,
        q: &mut F,
        p: &mut F,
        o: Option<&mut F>,
    ) -> Result<(), DeviceError> {
        let matrices = match &there.0 {
            RecurrenceMatrices::OnHost(recurrence) => {
                return self.advance_block(recurrence.advance(pending, steps), x, q, p, o);
            }
            RecurrenceMatrices::OnDevices(matrices) => matrices,
        };
        let (x, q, p, o) = (self.output(x), self.output(q), self.output(p), o.map(|o| self.output(o)));
        let mut kernels = self.column_kernels()?.iter().enumerate();
        kernels.try_for_each(|(k, kernels)| {
            let [_, moves] = matrices.arguments(k);
            kernels.advance_by(moves, [pending, steps], [x[k], q[k], p[k]], o.as_ref().map(|o| o[k]))
        })
    }

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
        self.start_subtraction(z, ColumnMatrix::Known(d), q)?.wait()
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
