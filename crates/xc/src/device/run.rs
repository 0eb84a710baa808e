//! The steps of an evaluation for one batch.

use super::basis::OnDeviceBasis;
use super::batch::{Batch, GradientScratch, Scratch};
use super::kernels::{Kernels, OfDensity, count, number};
use crate::error::XcResult;
use crate::functional::Functional;
use lattice_compute::scalar::{Element, Real};
use lattice_compute::{Argument, Buffer, Device};

/// What the steps of one batch need.
pub(super) struct Run<'a, T: Real + Element> {
    pub device: &'a Device,
    pub kernels: &'a Kernels<T>,
    pub basis: &'a OnDeviceBasis<T>,
    pub batch: &'a Batch<T>,
    /// Planes of densities: 1, or 4 with their gradient.
    pub planes: usize,
}

impl<T: Real + Element> Run<'_, T> {
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
        let kernel = self.kernels.functions(self.device, planes)?;
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

    /// Makes ρ and ∇ρ of a spin: X = χ D, then sums over functions.
    pub fn density(
        &self,
        spin: usize,
        density: &Buffer<T>,
        chi: &Buffer<T>,
        scratch: &mut Scratch<T>,
    ) -> XcResult<()> {
        self.products(density, chi, scratch)?;
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
    pub fn products(&self, density: &Buffer<T>, chi: &Buffer<T>, scratch: &mut Scratch<T>) -> XcResult<()> {
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
        scratch: &mut Scratch<T>,
        sums: &mut Buffer<f64>,
    ) -> XcResult<()> {
        let batch = self.batch;
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

    /// Makes functions times their factors, the first of them times `scale`.
    pub fn weighted(
        &self,
        spin: usize,
        scale: f64,
        chi: &Buffer<T>,
        factors: &Buffer<f64>,
        to: &mut Buffer<T>,
    ) -> XcResult<()> {
        let [groups, points, plane] = self.common();
        let (spin, scale) = (count(spin), Argument::value(scale));
        let arguments = [groups, points, plane, chi.into(), factors.into(), spin, scale, to.into()];
        self.of_density()?.weighted.launch(self.over_points(), &arguments)?;
        Ok(())
    }

    /// Adds χᵀB and its transpose of each group to the matrix of a spin.
    pub fn matrix(
        &self,
        spin: usize,
        chi: &Buffer<T>,
        scratch: &mut Scratch<T>,
        matrix: &mut Buffer<f64>,
    ) -> XcResult<()> {
        let (batch, basis) = (self.batch, self.basis);
        self.weighted(spin, 1.0, chi, &scratch.factors, &mut scratch.products)?;
        batch.to_squares.multiply(chi.view(), scratch.products.view(), scratch.squares.view_mut())?;
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
        scratch: &Scratch<T>,
        more: &mut GradientScratch<T>,
        pulls: &mut Buffer<f64>,
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
            pulls.into(),
        ];
        self.kernels.pull.launch(self.kernels.over(batch.count, batch.most[1]), &arguments)?;
        Ok(())
    }
}
