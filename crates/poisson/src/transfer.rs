//! Densities of the host on one device: there, through the solver, and back.

use super::device::{OnDevice, Results};
use super::error::PoissonResult;
use super::order::MeshOrder;
use lattice_compute::scalar::Real;
use lattice_compute::{Buffer, PinnedBuffer};
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// How long the parts of a solution took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// To the device and back; zero on the host.
    pub transfer: Duration,
    /// Transforms and all that is between them.
    pub compute: Duration,
}

/// A device with buffers for density and potential, and for one of them in another order.
pub(crate) struct FromHost<T: Real> {
    solver: OnDevice<T>,
    density: Buffer<T>,
    potential: Buffer<T>,
    clustered: Option<(Buffer<T>, usize)>,
}

impl<T: Real> FromHost<T> {
    pub fn new(solver: OnDevice<T>, points: usize, order: MeshOrder) -> PoissonResult<Self> {
        let buffer = || Buffer::uninitialised(solver.device(), points);
        let (density, potential) = (buffer()?, buffer()?);
        let clustered = match order {
            MeshOrder::Sequential => None,
            MeshOrder::Clustered(n) => Some((buffer()?, n)),
        };
        Ok(Self { solver, density, potential, clustered })
    }

    /// Solves for one density. `potential` gets as many values.
    pub fn solve(&mut self, values: &[f64], potential: &mut [f64]) -> PoissonResult<(Results, Times)> {
        let mut clock = Instant::now();
        let mut lap = || {
            let now = Instant::now();
            now - std::mem::replace(&mut clock, now)
        };
        let device = self.solver.device().clone();
        // Numbers are rounded into pinned memory, which devices reach at full speed.
        let mut pinned = PinnedBuffer::<T>::kept(&device, values.len())?;
        pinned
            .as_mut_slice()
            .par_iter_mut()
            .zip(values)
            .for_each(|(rounded, &value)| *rounded = T::from_f64(value));
        let there = self.clustered.as_mut().map_or(&mut self.density, |(clustered, _)| clustered);
        let pinned = pinned.write_to(there, &[])?.wait()?;
        let sent = lap();
        if let Some((clustered, n)) = &self.clustered {
            self.solver.reorder(clustered, &mut self.density, *n, false)?;
        }
        let results = self.solver.solve(&self.density, &mut self.potential)?;
        if let Some((clustered, n)) = &mut self.clustered {
            self.solver.reorder(&self.potential, clustered, *n, true)?;
        }
        device.finish()?;
        let compute = lap();
        let found = self.clustered.as_ref().map_or(&self.potential, |(clustered, _)| clustered);
        let pinned = pinned.read_from(found, &[])?.wait()?;
        potential.par_iter_mut().zip(pinned.as_slice()).for_each(|(to, &value)| *to = value.to_f64());
        Ok((results, Times { transfer: sent + lap(), compute }))
    }
}
