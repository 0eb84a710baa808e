//! Energy, matrix and gradient of groups on one device.

mod basis;
mod batch;
mod kernels;
mod run;

use crate::basis::Basis;
use crate::density::Density;
use crate::error::XcResult;
use crate::functional::Functional;
use crate::grid::Grid;
use crate::groups::Group;
use crate::host::Sums;
use basis::OnDeviceBasis;
use batch::{ALL_PLANES, Batch, GradientScratch, KEPT_PLANES, Scratch, cut};
use kernels::Kernels;
use lattice_compute::scalar::{Element, Real};
use lattice_compute::{Buffer, Device};
use run::Run;
use std::sync::Arc;
use std::time::Instant;

pub(crate) use batch::least_bytes;

/// A batch, and what is made of it.
struct Held<T: Real + Element> {
    batch: Batch<T>,
    /// Functions that stay from one evaluation to the next.
    kept: Option<Buffer<T>>,
    /// How many planes of them are made.
    planes: usize,
    /// Energy and electrons of each spin for each group.
    sums: Buffer<f64>,
}

/// Groups on one device, with functions of type `T`.
pub(crate) struct OnDevice<T: Real + Element> {
    device: Device,
    kernels: Arc<Kernels<T>>,
    basis: OnDeviceBasis<T>,
    held: Vec<Held<T>>,
    /// Functions of batches that keep none.
    functions: Buffer<T>,
    scratch: Scratch<T>,
    /// The density matrices of the spins, and the matrices that are made.
    spins: Vec<(Buffer<T>, Buffer<f64>)>,
}

/// How much of the functions is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cache {
    /// Bytes that kept functions take.
    pub bytes: u64,
    /// Groups with kept functions.
    pub groups: usize,
}

impl<T: Real + Element> OnDevice<T> {
    /// Prepares groups on a device. Functions are kept within `budget` bytes, those of the first groups first.
    pub fn new<'a>(
        device: &Device,
        basis: &Basis,
        grid: &Grid,
        groups: impl IntoIterator<Item = &'a Group>,
        budget: u64,
    ) -> XcResult<Self> {
        let mut held = Vec::new();
        // Three fourths of the budget are for functions that are kept.
        let mut left = budget / 4 * 3;
        let mut passing = 0;
        for groups in cut(device, groups, budget, size_of::<T>()) {
            let batch = Batch::new(device, basis, grid, &groups)?;
            let (values, bytes) = (KEPT_PLANES * batch.values, batch.kept_bytes());
            let kept = if bytes <= left {
                left -= bytes;
                Some(Buffer::uninitialised(device, values)?)
            } else {
                passing = passing.max(values);
                None
            };
            let sums = Buffer::zeroed(device, 3 * batch.count)?;
            held.push(Held { batch, kept, planes: 0, sums });
        }
        let scratch = Scratch::new(device, held.iter().map(|held| &held.batch))?;
        Ok(Self {
            device: device.clone(),
            kernels: Kernels::of(device)?,
            basis: OnDeviceBasis::new(device, basis)?,
            held,
            functions: Buffer::uninitialised(device, passing)?,
            scratch,
            spins: Vec::new(),
        })
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
            self.spins.push((density, Buffer::uninitialised(&self.device, elements)?));
        }
        for ((to, matrix), values) in self.spins.iter_mut().zip(density.spins()) {
            to.write(&values.iter().map(|&value| T::from_f64(value)).collect::<Vec<_>>())?;
            matrix.fill(0.0)?;
        }
        Ok(())
    }

    /// Makes functions that are kept, unless an earlier evaluation has made them.
    fn make_kept(&mut self, planes: usize) -> XcResult<()> {
        let Self { device, kernels, basis, held, .. } = self;
        for Held { batch, kept, planes: made, .. } in held {
            if let Some(chi) = kept.as_mut().filter(|_| *made < planes) {
                Run { device, kernels, basis, batch, planes }.functions(planes, chi)?;
                *made = planes;
            }
        }
        Ok(self.device.finish()?)
    }

    /// Computes energy, electrons and matrices; returns the seconds too, without making functions that are kept.
    pub fn evaluate(&mut self, density: &Density, functional: Functional) -> XcResult<(Sums, f64)> {
        let planes = functional.planes();
        self.make_kept(planes)?;
        let began = Instant::now();
        self.send(density)?;
        let Self { device, kernels, basis, held, functions, scratch, spins } = self;
        let spins = &mut spins[..density.spins().len()];
        for Held { batch, kept, sums, .. } in held.iter_mut() {
            let run = Run { device, kernels, basis, batch, planes };
            let chi = match kept {
                Some(kept) => kept,
                None => {
                    run.functions(planes, functions)?;
                    &mut *functions
                }
            };
            for (spin, (density, _)) in spins.iter().enumerate() {
                run.density(spin, density, chi, scratch)?;
            }
            run.factors(spins.len(), functional, scratch, sums)?;
            for (spin, (_, matrix)) in spins.iter_mut().enumerate() {
                run.matrix(spin, chi, scratch, matrix)?;
            }
        }
        device.flush()?;
        let matrices = spins.iter().map(|(_, matrix)| matrix.to_vec()).collect::<Result<_, _>>()?;
        let mut found = Sums { energy: 0.0, electrons: [0.0; 2], matrices };
        for held in held {
            for part in held.sums.to_vec()?.chunks_exact(3) {
                found.energy += part[0];
                found.electrons[0] += part[1];
                found.electrons[1] += part[2];
            }
        }
        Ok((found, began.elapsed().as_secs_f64()))
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
                run.density(spin, density, &more.functions, scratch)?;
            }
            run.factors(spins.len(), functional, scratch, sums)?;
            let mut pulls = Buffer::zeroed(device, 3 * batch.numbers.len())?;
            for (spin, (density, _)) in spins.iter().enumerate() {
                run.products(density, &more.functions, scratch)?;
                run.pulls(spin, scratch, &mut more, &mut pulls)?;
            }
            for (pull, &function) in pulls.to_vec()?.chunks_exact(3).zip(&batch.numbers) {
                let atom = basis.atom_of(function as usize);
                found[atom].iter_mut().zip(pull).for_each(|(sum, part)| *sum += part);
            }
        }
        Ok(())
    }
}
