//! Densities of the host on one device: there, through the solver, and back.
//!
//! Slabs of planes go one after another, so that transfers run beside the conversion of numbers on
//! the host and beside the first and the last kernels.

use super::device::{OnDevice, Results};
use super::error::PoissonResult;
use super::numbers;
use super::order::MeshOrder;
use lattice_compute::scalar::Real;
use lattice_compute::{Buffer, BufferView, BufferViewMut, Device, DeviceKind, Event, Pending, PinnedBuffer};
use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

/// Bytes of a slab below which launches take longer than transfers.
const LEAST_SLAB: usize = 4 << 20;

/// Most slabs of a density.
const MOST_SLABS: usize = 8;

/// Slabs of pinned memory in each direction: one is converted while another one travels.
const STAGES: usize = 2;

/// How long the parts of a solution took.
///
/// Transfers run beside kernels, so that only their sum is the time of the solution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// The time of the solution without `compute`; zero on the host.
    pub transfer: Duration,
    /// The time of kernels, if devices were opened with `Profiling::On`.
    ///
    /// Otherwise the time from the arrival of the last slab to the first slab of the potential.
    pub compute: Duration,
}

/// Returns the number of planes of a slab, for a mesh of numbers of `size` bytes.
pub(crate) fn planes_of_slab(device: &Device, shape: [usize; 3], size: usize) -> usize {
    let slabs = match device.info().kind {
        // The memory of a processor is the host's.
        DeviceKind::Cpu => 1,
        _ => (shape.iter().product::<usize>() * size / LEAST_SLAB).clamp(1, MOST_SLABS),
    };
    shape[0].div_ceil(slabs)
}

/// A device with buffers for density and potential, and for one of them in another order.
pub(crate) struct FromHost<T: Real> {
    solver: OnDevice<T>,
    /// Where each slab lies in the mesh.
    slabs: Vec<Range<usize>>,
    density: Buffer<T>,
    potential: Buffer<T>,
    clustered: Option<(Buffer<T>, usize)>,
}

/// Pinned memory that slabs travel through.
struct Stage<T> {
    device: Device,
    /// Numbers of a slab.
    len: usize,
    /// Transfers under way; on the way back with the place in the mesh.
    under_way: VecDeque<(Pending<PinnedBuffer<T>>, Range<usize>)>,
}

impl<T: Real> Stage<T> {
    fn new(device: &Device, len: usize) -> Self {
        Self { device: device.clone(), len, under_way: VecDeque::new() }
    }

    /// Rounds the numbers of a slab and starts to send them. Later kernels wait for them.
    fn send(&mut self, density: &[f64], slab: Range<usize>, to: BufferViewMut<'_, T>) -> PoissonResult<()> {
        let mut pinned = match self.under_way.len() {
            STAGES => self.first()?.0,
            _ => PinnedBuffer::kept(&self.device, self.len)?,
        };
        let first = slab.start;
        numbers::round(&density[slab.clone()], first, &mut pinned.as_mut_slice()[..slab.len()])?;
        let pending = pinned.write_start_to(to, &[])?;
        self.device.compute_after(&[pending.event()])?;
        self.under_way.push_back((pending, 0..0));
        Ok(())
    }

    /// Starts to fetch a slab after an event, and converts one that has come.
    fn receive(
        &mut self,
        from: BufferView<'_, T>,
        after: &Event,
        place: Range<usize>,
        values: &mut [f64],
    ) -> PoissonResult<()> {
        let pinned = match self.under_way.len() {
            STAGES => self.take_into(values)?,
            _ => PinnedBuffer::kept(&self.device, self.len)?,
        };
        self.under_way.push_back((pinned.read_start_from(from, &[after])?, place));
        Ok(())
    }

    /// Waits for the first transfer under way.
    fn first(&mut self) -> PoissonResult<(PinnedBuffer<T>, Range<usize>)> {
        let (pending, place) = self.under_way.pop_front().expect("a transfer is under way");
        Ok((pending.wait()?, place))
    }

    /// Waits for the first slab under way, and converts it.
    fn take_into(&mut self, values: &mut [f64]) -> PoissonResult<PinnedBuffer<T>> {
        let (pinned, place) = self.first()?;
        numbers::widen(&pinned.as_slice()[..place.len()], &mut values[place]);
        Ok(pinned)
    }
}

impl<T: Real> FromHost<T> {
    pub fn new(solver: OnDevice<T>, shape: [usize; 3], order: MeshOrder) -> PoissonResult<Self> {
        let points = shape.iter().product();
        let buffer = || Buffer::uninitialised(solver.device(), points);
        let (density, potential) = (buffer()?, buffer()?);
        let clustered = match order {
            MeshOrder::Sequential => None,
            MeshOrder::Clustered(n) => Some((buffer()?, n)),
        };
        let plane = points / shape[0];
        let slabs = solver.slabs().into_iter().map(|slab| slab.start * plane..slab.end * plane).collect();
        Ok(Self { solver, slabs, density, potential, clustered })
    }

    /// Returns the bytes that the kernels of a solution move.
    pub fn bytes_moved(&self) -> u64 {
        self.solver.bytes_moved()
    }

    /// Checks a density and solves for it. `potential` gets as many values.
    pub fn solve(&mut self, values: &[f64], potential: &mut [f64]) -> PoissonResult<(Results, Times)> {
        let Self { solver, slabs, density, potential: found, clustered } = self;
        let device = solver.device().clone();
        let began = device.stopwatch();
        let longest = slabs.iter().map(Range::len).max().unwrap_or(0);
        let mut done = Vec::new();
        let mut stage = Stage::new(&device, longest);
        for (number, slab) in slabs.iter().enumerate() {
            if let Some((clustered, n)) = clustered {
                stage.send(values, slab.clone(), clustered.slice_mut(slab.clone())?)?;
                solver.reorder(clustered, density, *n, slab.clone(), false)?;
            } else {
                stage.send(values, slab.clone(), density.slice_mut(slab.clone())?)?;
                done.push(solver.planes_there(number, density)?);
            }
        }
        if clustered.is_some() {
            for number in 0..slabs.len() {
                done.push(solver.planes_there(number, density)?);
            }
        }
        done.extend(solver.multiply()?);
        let mut back = Vec::new();
        for number in 0..slabs.len() {
            back.push(solver.planes_back(number, found)?);
        }
        solver.sum(density, found)?;
        device.flush()?;
        while !stage.under_way.is_empty() {
            stage.first()?;
        }
        let sent = began.elapsed();
        let mut first_back = None;
        for (number, slab) in slabs.iter().enumerate() {
            let place = slab.clone();
            let (from, after) = match clustered {
                Some((clustered, n)) => {
                    let event = solver.reorder(found, clustered, *n, place.clone(), true)?;
                    (clustered.slice(place.clone())?, Some(event))
                }
                None => (found.slice(place.clone())?, back[number].event().cloned()),
            };
            let after = after.expect("a slab has rows");
            stage.receive(from, &after, place, potential)?;
            if first_back.is_none() {
                after.wait()?;
                first_back = Some(began.elapsed());
            }
        }
        while !stage.under_way.is_empty() {
            stage.take_into(potential)?;
        }
        let results = solver.results()?;
        let mut kernels = Some(Duration::ZERO);
        for completion in done.iter().chain(&back) {
            kernels = kernels.zip(completion.duration()?).map(|(all, time)| all + time);
        }
        let compute = kernels.unwrap_or(first_back.unwrap_or(sent) - sent);
        Ok((results, Times { transfer: began.elapsed().saturating_sub(compute), compute }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cell, coulomb::Coulomb, coulomb::Cutoff};
    use lattice_compute::Team;

    #[test]
    fn slabs_are_the_whole_bit_for_bit() {
        let skew = Cell::new([[5.0, 0.0, 0.0], [0.7, 4.5, 0.0], [-0.5, 0.4, 5.5]]).unwrap();
        let upright = Cell::new([[5.0, 0.0, 0.0], [0.0, 4.5, 0.0], [0.0, 0.0, 5.5]]).unwrap();
        let [sequential, clustered] = [MeshOrder::Sequential, MeshOrder::Clustered(2)];
        for device in Team::select([]).unwrap().devices() {
            // The largest one has sums and products in the kernels of transforms.
            for (shape, isolated, order) in [
                ([6, 4, 10], false, sequential),
                ([6, 4, 10], false, clustered),
                ([6, 4, 10], true, clustered),
                ([48, 50, 54], false, sequential),
            ] {
                let points: usize = shape.iter().product();
                let density: Vec<f64> = (0..points).map(|i| ((i * i) % 31) as f64 - 15.0).collect();
                let solve = |planes: usize| {
                    let solver = if isolated {
                        OnDevice::<f64>::isolated(device, &upright, shape, planes).unwrap()
                    } else {
                        let coulomb = Coulomb::new(&skew, shape, Cutoff::None);
                        OnDevice::<f64>::periodic(device, &coulomb, planes).unwrap()
                    };
                    let mut potential = vec![0.0; points];
                    let mut plan = FromHost::new(solver, shape, order).unwrap();
                    let (results, _) = plan.solve(&density, &mut potential).unwrap();
                    (potential, results.moments.charge, results.moments.first)
                };
                let whole = solve(shape[0]);
                for planes in [5, 4].map(|planes| planes * shape[0] / 6) {
                    let slabs = solve(planes);
                    assert!(slabs.0 == whole.0, "{planes} planes of {shape:?} on {}", device.label());
                    let near = |a: f64, b: f64| (a - b).abs() < 1e-12 * points as f64;
                    assert!(near(slabs.1, whole.1) && (0..3).all(|axis| near(slabs.2[axis], whole.2[axis])));
                }
            }
        }
    }
}
