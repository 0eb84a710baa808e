//! Energy, matrix and gradient of groups on one device.

mod basis;
mod batch;
mod kernels;
mod run;
mod staging;
#[cfg(test)]
mod tests;

use crate::basis::Basis;
use crate::density::Density;
use crate::error::XcResult;
use crate::functional::Functional;
use crate::grid::Grid;
use crate::groups::Group;
use crate::host::Sums;
use crate::stages::{Stage, StageTime, Watch};
use basis::OnDeviceBasis;
use batch::{ALL_PLANES, Batch, GradientScratch, KEPT_PLANES, Scratch, cut, parts};
use kernels::Kernels;
use lattice_compute::scalar::{Element, Precision, Real};
use lattice_compute::{Buffer, Device};
use run::{BatchSums, Run};
use staging::joined;
use std::sync::Arc;
use std::time::Instant;

pub(crate) use batch::{least_bytes, most_values};

/// What groups are made of, and all of them.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a> {
    pub basis: &'a Basis,
    pub grid: &'a Grid,
    pub groups: &'a [Group],
}

/// A batch, and what is made of it.
struct Held<T: Real + Element> {
    /// The numbers of its groups, and whether they are still here. Kept functions of those that are gone stay unused.
    jobs: Vec<(usize, bool)>,
    batch: Batch<T>,
    /// Functions that stay from one evaluation to the next.
    kept: Option<Buffer<T>>,
    /// How many planes of them are made.
    planes: usize,
    sums: BatchSums,
}

/// Groups on one device, with functions of type `T`, and densities and sums over groups of type `W`.
pub(crate) struct OnDevice<T: Real + Element, W> {
    device: Device,
    kernels: Arc<Kernels<T, W>>,
    basis: OnDeviceBasis<T>,
    budget: u64,
    /// Bytes that are left for functions.
    left: u64,
    held: Vec<Held<T>>,
    /// The number of the first batch of groups that have come from other devices.
    arrived: usize,
    /// Functions of batches that keep none.
    functions: Buffer<T>,
    scratch: Scratch<T, W>,
    /// The density matrices of the spins, and the matrices that are made.
    spins: Vec<(Buffer<T>, Buffer<W>)>,
}

/// How much of the functions is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cache {
    /// Bytes that kept functions take.
    pub bytes: u64,
    /// Groups with kept functions.
    pub groups: usize,
}

impl<T: Real + Element> Held<T> {
    fn new(device: &Device, source: Source<'_>, jobs: Vec<(usize, bool)>, on_host: bool) -> XcResult<Self> {
        let groups: Vec<_> = jobs.iter().map(|&(job, is_here)| (&source.groups[job], is_here)).collect();
        let batch = Batch::new(device, source.basis, source.grid, &groups)?;
        let sums = match on_host {
            true => BatchSums::OnHost([0.0; 3]),
            false => BatchSums::OnDevice(Buffer::zeroed(device, 3 * batch.count)?),
        };
        Ok(Self { jobs, batch, kept: None, planes: 0, sums })
    }

    /// Leaves groups out from now on. What is kept of the others stays where it is.
    fn without(self, device: &Device, source: Source<'_>, gone: &[usize], on_host: bool) -> XcResult<Self> {
        let jobs = self.jobs.iter().map(|&(job, is_here)| (job, is_here && !gone.contains(&job)));
        let new = Self::new(device, source, jobs.collect(), on_host)?;
        Ok(Self { kept: self.kept, planes: self.planes, ..new })
    }

    fn here(&self) -> impl Iterator<Item = usize> {
        self.jobs.iter().filter(|(_, is_here)| *is_here).map(|&(job, _)| job)
    }
}

impl<T: Real + Element, W: Real> OnDevice<T, W> {
    /// Prepares groups on a device. Functions are kept within `budget` bytes, those of the first groups first.
    pub fn new(device: &Device, source: Source<'_>, jobs: &[usize], budget: u64) -> XcResult<Self> {
        let mut new = Self {
            device: device.clone(),
            kernels: Kernels::of(device)?,
            basis: OnDeviceBasis::new(device, source.basis)?,
            budget,
            // Three fourths of the budget are for functions that are kept.
            left: budget / 4 * 3,
            held: Vec::new(),
            arrived: 0,
            functions: Buffer::uninitialised(device, 0)?,
            scratch: Scratch::new(device, std::iter::empty())?,
            spins: Vec::new(),
        };
        new.add(source, jobs)?;
        new.arrived = new.held.len();
        Ok(new)
    }

    /// Without double precision the host evaluates functionals.
    fn is_by_host() -> bool {
        W::PRECISION == Precision::Single
    }

    /// Holds more groups in batches of their own.
    fn add(&mut self, source: Source<'_>, jobs: &[usize]) -> XcResult<()> {
        let most = most_values(&self.device, self.budget, size_of::<T>());
        for jobs in cut(source.groups, jobs, most) {
            let jobs = jobs.into_iter().map(|job| (job, true)).collect();
            let mut held = Held::new(&self.device, source, jobs, Self::is_by_host())?;
            let bytes = held.batch.kept_bytes();
            if bytes <= self.left {
                self.left -= bytes;
                held.kept = Some(Buffer::uninitialised(&self.device, KEPT_PLANES * held.batch.values)?);
            }
            self.held.push(held);
        }
        let batches = || self.held.iter().map(|held| &held.batch);
        if batches().any(|batch| !self.scratch.holds(batch)) {
            self.scratch = Scratch::new(&self.device, batches())?;
        }
        let passing = self.held.iter().filter(|held| held.kept.is_none());
        let passing = passing.map(|held| KEPT_PLANES * held.batch.values).max().unwrap_or(0);
        if passing > self.functions.len() {
            self.functions = Buffer::uninitialised(&self.device, passing)?;
        }
        Ok(())
    }

    /// Takes groups that come from other devices.
    pub fn insert(&mut self, source: Source<'_>, jobs: &[usize]) -> XcResult<()> {
        // All that have come are in batches together: small batches take longer.
        let mut all = jobs.to_vec();
        for held in self.held.split_off(self.arrived.min(self.held.len())) {
            self.left += held.kept.as_ref().map_or(0, |_| held.batch.kept_bytes());
            all.extend(held.here());
        }
        all.sort_unstable();
        self.add(source, &all)
    }

    /// Gives groups away.
    pub fn remove(&mut self, source: Source<'_>, gone: &[usize]) -> XcResult<()> {
        let (mut held, mut arrived) = (Vec::new(), 0);
        for (number, old) in std::mem::take(&mut self.held).into_iter().enumerate() {
            let has_gone = old.here().any(|job| gone.contains(&job));
            if has_gone && old.here().all(|job| gone.contains(&job)) {
                self.left += old.kept.as_ref().map_or(0, |_| old.batch.kept_bytes());
                continue;
            }
            arrived += usize::from(number < self.arrived);
            held.push(match has_gone {
                true => old.without(&self.device, source, gone, Self::is_by_host())?,
                false => old,
            });
        }
        (self.held, self.arrived) = (held, arrived);
        Ok(())
    }

    /// Puts all groups into batches anew, now that no more will come and go. Functions are made again.
    pub fn settle(&mut self, source: Source<'_>) -> XcResult<()> {
        let mut jobs: Vec<usize> = self.held.iter().flat_map(Held::here).collect();
        jobs.sort_unstable();
        // There may be no room for both.
        self.held.clear();
        *self = Self::new(&self.device.clone(), source, &jobs, self.budget)?;
        Ok(())
    }

    /// Returns `true` if there are no groups here.
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Returns how much of the functions is kept.
    pub fn cache(&self) -> Cache {
        let kept = self.held.iter().filter(|held| held.kept.is_some()).map(|held| &held.batch);
        kept.fold(Cache::default(), |cache, batch| Cache {
            bytes: cache.bytes + batch.kept_bytes(),
            groups: cache.groups + batch.count,
        })
    }

    /// Sends the density matrices, and clears as many matrices.
    fn send(&mut self, density: &Density) -> XcResult<()> {
        let elements = self.basis.functions * self.basis.functions;
        while self.spins.len() < density.spins().len() {
            let density = Buffer::uninitialised(&self.device, elements)?;
            self.spins.push((density, Buffer::uninitialised(&self.device, parts::<W>() * elements)?));
        }
        for ((to, matrix), values) in self.spins.iter_mut().zip(density.spins()) {
            matrix.fill(W::default())?;
            staging::send(&self.device, values, to)?;
        }
        Ok(())
    }

    /// Makes functions that are kept, unless an earlier evaluation has made them. Returns the seconds and how many were made.
    fn make_kept(&mut self, planes: usize) -> XcResult<(f64, usize)> {
        let began = self.device.stopwatch();
        let mut values = 0;
        let Self { device, kernels, basis, held, .. } = self;
        for Held { batch, kept, planes: made, .. } in held {
            if let Some(chi) = kept.as_mut().filter(|_| *made < planes) {
                Run { device, kernels, basis, batch, planes }.functions(planes, chi)?;
                *made = planes;
                values += batch.values;
            }
        }
        self.device.finish()?;
        Ok((began.seconds(), values))
    }

    /// Computes what the sums consist of, and leaves it on the device.
    fn compute(&mut self, spins: usize, functional: Functional, watch: &mut Watch<'_>) -> XcResult<()> {
        let planes = functional.planes();
        let Self { device, kernels, basis, held, functions, scratch, spins: matrices, .. } = self;
        let matrices = &mut matrices[..spins];
        for Held { batch, kept, sums, .. } in held.iter_mut() {
            let run = Run { device, kernels, basis, batch, planes };
            let is_kept = kept.is_some();
            let chi = kept.as_mut().unwrap_or(functions);
            // With a watch, making functions is timed wherever they are.
            if !is_kept || watch.is_on() {
                run.functions(planes, chi)?;
                watch.mark(Stage::Functions)?;
            }
            for (spin, (density, _)) in matrices.iter().enumerate() {
                run.products(density, chi, scratch)?;
                watch.mark(Stage::DensityProducts)?;
                run.density(spin, chi, scratch)?;
                watch.mark(Stage::Density)?;
            }
            run.factors(spins, functional, scratch, sums)?;
            watch.mark(Stage::Functional)?;
            for (spin, (_, matrix)) in matrices.iter_mut().enumerate() {
                run.of_factors(spin, chi, scratch)?;
                watch.mark(Stage::Factors)?;
                run.to_squares(chi, scratch)?;
                watch.mark(Stage::MatrixProducts)?;
                run.scatter(scratch, matrix)?;
                watch.mark(Stage::Matrix)?;
            }
        }
        Ok(())
    }

    /// Computes energy, electrons and matrices; returns the seconds too, without making functions that are kept.
    pub fn evaluate(&mut self, density: &Density, functional: Functional) -> XcResult<(Sums, f64)> {
        self.make_kept(functional.planes())?;
        let began = self.device.stopwatch();
        self.send(density)?;
        let (device, spins) = (self.device.clone(), density.spins().len());
        self.compute(spins, functional, &mut Watch::off(&device))?;
        device.flush()?;
        let matrices = self.spins[..spins].iter().map(|(_, matrix)| staging::read(matrix));
        let matrices = matrices.collect::<XcResult<_>>()?;
        let mut found = Sums { energy: 0.0, electrons: [0.0; 2], matrices };
        for held in &self.held {
            let sums = match &held.sums {
                BatchSums::OnDevice(sums) => sums.to_vec()?,
                BatchSums::OnHost(sums) => sums.to_vec(),
            };
            for part in sums.chunks_exact(3) {
                found.energy += part[0];
                found.electrons[0] += part[1];
                found.electrons[1] += part[2];
            }
        }
        Ok((found, began.seconds()))
    }

    /// Returns the seconds of a warm evaluation, without what is sent and read, and those of making functions, for a value each.
    pub fn warm_seconds(&mut self, density: &Density, functional: Functional) -> XcResult<[f64; 2]> {
        let (device, spins) = (self.device.clone(), density.spins().len());
        self.evaluate(density, functional)?;
        let mut best = f64::INFINITY;
        for _ in 0..2 {
            device.finish()?;
            let began = Instant::now();
            self.compute(spins, functional, &mut Watch::off(&device))?;
            device.finish()?;
            best = best.min(began.elapsed().as_secs_f64());
        }
        self.held.iter_mut().for_each(|held| held.planes = 0);
        let (making, values) = self.make_kept(functional.planes())?;
        Ok([best, making / values.max(1) as f64])
    }

    /// Times the stages of an evaluation, with making all functions. Each is waited for, so that all together take a little longer than usual.
    pub fn stages(&mut self, density: &Density, functional: Functional) -> XcResult<Vec<StageTime>> {
        self.make_kept(functional.planes())?;
        self.send(density)?;
        let (device, spins) = (self.device.clone(), density.spins().len());
        let mut watch = Watch::on(&device)?;
        self.compute(spins, functional, &mut watch)?;
        let batches = || self.held.iter().map(|held| &held.batch);
        let sum = |of: fn(&Batch<T>) -> usize| batches().map(of).sum::<usize>();
        let (values, squares, points) =
            (sum(|batch| batch.values), sum(|batch| batch.squares), sum(|batch| batch.all_points));
        let flops = |of: fn(&Batch<T>) -> u64| spins as u64 * batches().map(of).sum::<u64>();
        let (planes, real, wide) = (functional.planes(), size_of::<T>(), parts::<W>() * size_of::<W>());
        let matrix = self.basis.functions * self.basis.functions;
        let time = |stage| {
            let (flops, bytes) = match stage {
                Stage::Functions => (0, planes * values * real),
                Stage::DensityProducts => {
                    (flops(|batch| batch.with_squares.flops()), spins * (2 * values + 3 * squares) * real)
                }
                Stage::Density => (0, spins * ((planes + 1) * values * real + planes * points * wide)),
                Stage::Functional => (0, 2 * spins * planes * points * wide),
                Stage::Factors => (0, spins * ((planes + 1) * values * real + planes * points * wide)),
                Stage::MatrixProducts => {
                    (flops(|batch| batch.to_squares.flops()), spins * (2 * values + squares) * real)
                }
                Stage::Matrix => (0, spins * (squares * real + 2 * self.held.len() * matrix * wide)),
            };
            StageTime { stage, seconds: watch.seconds(stage), flops, bytes: bytes as u64 }
        };
        Ok(Stage::ALL.map(time).to_vec())
    }

    /// Adds to each atom what moving its functions changes of the energy.
    pub fn add_gradient(
        &mut self,
        basis: &Basis,
        density: &Density,
        functional: Functional,
        found: &mut [[f64; 3]],
    ) -> XcResult<()> {
        self.send(density)?;
        let mut more = GradientScratch::new(&self.device, self.held.iter().map(|held| &held.batch))?;
        let Self { device, kernels, basis: on_device, held, scratch, spins, .. } = self;
        let spins = &spins[..density.spins().len()];
        for Held { batch, sums, .. } in held.iter_mut() {
            let run = Run { device, kernels, basis: on_device, batch, planes: functional.planes() };
            run.functions(ALL_PLANES, &mut more.functions)?;
            for (spin, (density, _)) in spins.iter().enumerate() {
                run.products(density, &more.functions, scratch)?;
                run.density(spin, &more.functions, scratch)?;
            }
            run.factors(spins.len(), functional, scratch, sums)?;
            let mut pulls = Buffer::<W>::zeroed(device, 3 * parts::<W>() * batch.numbers.len())?;
            for (spin, (density, _)) in spins.iter().enumerate() {
                run.products(density, &more.functions, scratch)?;
                run.pulls(spin, scratch, &mut more, &mut pulls)?;
            }
            for (pull, &function) in joined(&pulls.to_vec()?).chunks_exact(3).zip(&batch.numbers) {
                let atom = basis.atom_of(function as usize);
                found[atom].iter_mut().zip(pull).for_each(|(sum, part)| *sum += part);
            }
        }
        Ok(())
    }
}
