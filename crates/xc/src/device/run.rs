//! The steps of an evaluation for one batch.

use super::basis::OnDeviceBasis;
use super::batch::{Batch, GradientScratch, Scratch};
use super::kernels::{Kernels, OfDensity, count, number};
use super::staging::joined;
use crate::error::XcResult;
use crate::functional::Functional;
use crate::host::at_point;
use lattice_compute::parallel::*;
use lattice_compute::scalar::{Element, Real};
use lattice_compute::{Argument, Buffer, Device};

/// Energy and electrons of each spin of a batch.
pub(super) enum BatchSums {
    /// Of each group, in the memory of the device.
    OnDevice(Buffer<f64>),
    /// Of all groups: the host has evaluated the functional.
    OnHost([f64; 3]),
}

/// What the steps of one batch need.
pub(super) struct Run<'a, T: Real + Element, W> {
    pub device: &'a Device,
    pub kernels: &'a Kernels<T, W>,
    pub basis: &'a OnDeviceBasis<T>,
    pub batch: &'a Batch<T>,
    /// Planes of densities: 1, or 4 with their gradient.
    pub planes: usize,
}

impl<T: Real + Element, W: Real> Run<'_, T, W> {
    /// The groups, the number of points, and the distance of two planes of functions.
    fn common(&self) -> [Argument<'_>; 3] {
        [(&self.batch.groups).into(), number(self.batch.all_points), number(self.batch.values)]
    }

    fn over_points(&self) -> lattice_compute::Range {
        self.kernels.over_points(self.batch.count, self.batch.most[0])
    }

    fn of_density(&self) -> XcResult<std::sync::Arc<OfDensity>> {
        Ok(self.kernels.of_density(self.device, self.planes)?)
    }

    /// Makes so many planes of functions.
    pub fn functions(&self, planes: usize, chi: &mut Buffer<T>) -> XcResult<()> {
        let (batch, basis) = (self.batch, self.basis);
        let kernel = self.kernels.functions(self.device, planes, &basis.kinds)?;
        let arguments = [
            (&batch.shells).into(),
            (&basis.shells).into(),
            (&basis.centres).into(),
            (&basis.primitives).into(),
            (&batch.points).into(),
            chi.into(),
        ];
        kernel.launch(self.over_points(), &[&self.common()[..], &arguments].concat())?;
        Ok(())
    }

    /// Takes the part of a density matrix of each group.
    pub fn gather(&self, density: &Buffer<T>, squares: &mut Buffer<T>) -> XcResult<()> {
        let batch = self.batch;
        let arguments = [
            (&batch.groups).into(),
            (&batch.functions).into(),
            count(self.basis.functions),
            density.into(),
            squares.into(),
        ];
        let most = batch.most[1] * batch.most[1];
        self.kernels.gather.launch(self.kernels.over(batch.count, most), &arguments)?;
        Ok(())
    }

    /// Makes ρ and ∇ρ of a spin by sums over functions, with the products of [`products`](Self::products).
    pub fn density(&self, spin: usize, chi: &Buffer<T>, scratch: &mut Scratch<T, W>) -> XcResult<()> {
        let [groups, points, plane] = self.common();
        let arguments = [
            groups,
            points,
            plane,
            chi.into(),
            (&scratch.products).into(),
            count(spin),
            (&mut scratch.values).into(),
        ];
        self.of_density()?.density.launch(self.over_points(), &arguments)?;
        Ok(())
    }

    /// Makes X = χ D.
    pub fn products(
        &self,
        density: &Buffer<T>,
        chi: &Buffer<T>,
        scratch: &mut Scratch<T, W>,
    ) -> XcResult<()> {
        self.gather(density, &mut scratch.squares)?;
        let products = scratch.products.view_mut();
        self.batch.with_squares.multiply(chi.view(), scratch.squares.view(), products)?;
        Ok(())
    }

    /// Evaluates the functional, and adds up energy and electrons of each group.
    pub fn factors(
        &self,
        spins: usize,
        functional: Functional,
        scratch: &mut Scratch<T, W>,
        sums: &mut BatchSums,
    ) -> XcResult<()> {
        let batch = self.batch;
        let sums = match sums {
            BatchSums::OnDevice(sums) => sums,
            BatchSums::OnHost(sums) => {
                *sums = self.factors_by_host(spins, functional, scratch)?;
                return Ok(());
            }
        };
        let kernels = self.kernels.of_functional(self.device, functional)?;
        let points = number(batch.all_points);
        let arguments = [
            points,
            count(spins),
            count(usize::from(functional.needs_gradient())),
            (&batch.weights).into(),
            (&scratch.values).into(),
            (&mut scratch.factors).into(),
            (&mut scratch.of_points).into(),
        ];
        kernels.potential.launch(self.kernels.flat(batch.all_points), &arguments)?;
        let of_groups =
            [(&batch.groups).into(), points, count(batch.count), (&scratch.of_points).into(), sums.into()];
        kernels.sums.launch(self.kernels.flat(batch.count), &of_groups)?;
        Ok(())
    }

    /// Evaluates the functional in double on the host: one evaluation for each point is little beside the products.
    fn factors_by_host(
        &self,
        spins: usize,
        functional: Functional,
        scratch: &mut Scratch<T, W>,
    ) -> XcResult<[f64; 3]> {
        let points = self.batch.all_points;
        // Eight planes of first parts in use, then as many of second parts.
        let mut values = vec![W::default(); 16 * points];
        scratch.values.slice(..16 * points)?.read(&mut values)?;
        let values = joined(&values);
        let planes = if functional.needs_gradient() { 4 } else { 1 };
        let of_spin = |spin: usize, point: usize| {
            std::array::from_fn(|k| if k < planes { values[(4 * spin + k) * points + point] } else { 0.0 })
        };
        let of_point = |(point, &weight): (usize, &f64)| {
            at_point(functional, weight, spins, [of_spin(0, point), of_spin(spins - 1, point)])
        };
        let found: Vec<_> = self.batch.host_weights.par_iter().enumerate().map(of_point).collect();
        let mut sums = [0.0; 3];
        let mut factors = vec![W::default(); 4 * spins * points];
        for (point, at) in found.iter().enumerate() {
            let parts = [at.energy, at.electrons[0], at.electrons[1]];
            sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
            for (plane, &factor) in at.factors[..spins].as_flattened().iter().enumerate() {
                factors[plane * points + point] = W::from_f64(factor);
            }
        }
        scratch.factors.slice_mut(..factors.len())?.write(&factors)?;
        Ok(sums)
    }

    /// Makes functions times their factors, the first of them times `scale`.
    pub fn weighted(
        &self,
        spin: usize,
        scale: f64,
        chi: &Buffer<T>,
        factors: &Buffer<W>,
        to: &mut Buffer<T>,
    ) -> XcResult<()> {
        let [groups, points, plane] = self.common();
        let (spin, scale) = (count(spin), Argument::value(W::from_f64(scale)));
        let arguments = [groups, points, plane, chi.into(), factors.into(), spin, scale, to.into()];
        self.of_density()?.weighted.launch(self.over_points(), &arguments)?;
        Ok(())
    }

    /// Makes B of a spin, functions times the factors of the functional.
    pub fn of_factors(&self, spin: usize, chi: &Buffer<T>, scratch: &mut Scratch<T, W>) -> XcResult<()> {
        self.weighted(spin, 1.0, chi, &scratch.factors, &mut scratch.products)
    }

    /// Makes χᵀB of each group.
    pub fn to_squares(&self, chi: &Buffer<T>, scratch: &mut Scratch<T, W>) -> XcResult<()> {
        let squares = scratch.squares.view_mut();
        self.batch.to_squares.multiply(chi.view(), scratch.products.view(), squares)?;
        Ok(())
    }

    /// Adds the square matrix of each group and its transpose to the matrix of a spin.
    pub fn scatter(&self, scratch: &Scratch<T, W>, matrix: &mut Buffer<W>) -> XcResult<()> {
        let (batch, basis) = (self.batch, self.basis);
        let arguments = [
            (&batch.groups).into(),
            count(basis.functions),
            (&basis.places).into(),
            (&batch.begins).into(),
            (&batch.entries).into(),
            (&scratch.squares).into(),
            matrix.into(),
        ];
        let elements = basis.functions * basis.functions;
        self.kernels.scatter.launch(self.kernels.flat(elements), &arguments)?;
        Ok(())
    }

    /// Adds what moving each function of each group changes of the energy, with the products of [`products`](Self::products).
    pub fn pulls(
        &self,
        spin: usize,
        scratch: &Scratch<T, W>,
        more: &mut GradientScratch<T>,
        pulls: &mut Buffer<W>,
    ) -> XcResult<()> {
        let batch = self.batch;
        self.weighted(spin, 2.0, &more.functions, &scratch.factors, &mut more.weighted)?;
        let products = more.products.view_mut();
        batch.with_squares.multiply(more.weighted.view(), scratch.squares.view(), products)?;
        let [groups, points, plane] = self.common();
        let arguments = [
            groups,
            points,
            plane,
            (&more.functions).into(),
            (&scratch.products).into(),
            (&more.products).into(),
            (&scratch.factors).into(),
            count(spin),
            number(3 * batch.numbers.len()),
            pulls.into(),
        ];
        self.kernels.pull.launch(self.kernels.over(batch.count, batch.most[1]), &arguments)?;
        Ok(())
    }
}
