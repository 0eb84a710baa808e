//! The site term or its inverse, applied to the sites of one parity.

use super::application::prepared;
use super::parts::{KernelPart, SiteBuffers, SitePart};
use crate::compute::parallel::*;
use crate::compute::{Argument, ArgumentList, DeviceError, Kernel, KernelFamily, Range};
use crate::field::{BlockField, GaugeField, ParityField, field_key};
use crate::geometry::Lattice;
use crate::host::{SiteFactor, StencilFactors};
use crate::scalar::{Real, Storage};
use lattice_solvers::Work;
use std::sync::Arc;

const SITE_PRODUCT: KernelFamily = KernelFamily::new(
    "site_product",
    &[include_str!("../../../cl/lanes.cl"), include_str!("../../../cl/fields.cl")],
);

/// Most blocks of a work-group on a GPU. A work-group on a CPU has one block.
const LOCAL_SIZE: usize = 64;

/// The operator out = factor · ψ.
pub(crate) struct SiteProduct<T: Storage> {
    lattice: Lattice,
    parity: usize,
    columns: usize,
    /// Factors with the site factor as coefficient. Only the coefficient is used.
    factors: StencilFactors,
    blocks: Option<Arc<BlockField<T>>>,
    /// The kernel of each device, with its range and its number of blocks.
    kernels: Vec<(Kernel, Range, u32)>,
}

impl<T: Storage> SiteProduct<T> {
    /// Makes the product for fields of `parity` with this number of columns.
    ///
    /// # Panics
    /// When the factor is an inverse that does not exist.
    pub fn new(
        links: &GaugeField<T>,
        parity: usize,
        factor: SiteFactor,
        columns: usize,
    ) -> Result<Self, DeviceError> {
        let lattice = links.lattice();
        let factors = StencilFactors { coefficient: factor, ..StencilFactors::new(0.0, 1.0) };
        let part = SitePart::of(&factors, false, false);
        let mut kernels = Vec::new();
        for shard in lattice.shards() {
            let layout = shard.layout(T::STORAGE);
            let key =
                field_key::<T>(SITE_PRODUCT, &layout).define("STREAM_LINKS", 0).define("STREAM_OUTPUT", 0);
            let key = part.add_to(key).part("product", include_str!("../../../cl/stencil/site_product.cl"));
            let kernel = shard.device.program(&key)?.kernel("site_product")?;
            let group = if layout.lanes() == 1 { LOCAL_SIZE } else { 1 };
            let range = Range::new([layout.blocks().next_multiple_of(group), columns], [group, 1]);
            kernels.push((kernel, range, layout.blocks() as u32));
        }
        let blocks = prepared(links, factor.matrix)?;
        Ok(Self { lattice: lattice.clone(), parity, columns, factors, blocks, kernels })
    }

    /// Applies the factor.
    ///
    /// # Panics
    /// When the fields have another parity or number of columns.
    pub fn apply(&self, psi: &ParityField<T>, out: &mut ParityField<T>) -> Result<(), DeviceError> {
        for field in [psi, &*out] {
            assert_eq!((field.parity(), field.columns()), (self.parity, self.columns), "fields of a product");
        }
        if self.lattice.team().is_host() {
            self.apply_on_host(psi, out);
            return Ok(());
        }
        let part = SitePart::of(&self.factors, false, false);
        let (psi, out) = (psi.spinors.on_devices(), out.spinors.on_devices_mut());
        for (k, (kernel, range, blocks)) in self.kernels.iter().enumerate() {
            let coefficient = T::Real::from_f64(self.factors.coefficient.scalar);
            let mut arguments = ArgumentList::new([
                Argument::from(&psi[k]),
                Argument::from(&mut out[k]),
                Argument::value(*blocks),
                Argument::value(coefficient),
                Argument::value(self.parity as u32),
            ]);
            let of_hop = self.blocks.as_ref().map(|blocks| &blocks.on_devices()[k]);
            let buffers = SiteBuffers::<T> { shifted: None, blocks: [None, of_hop] };
            arguments.extend(part.arguments(&self.factors, buffers));
            kernel.start(*range, arguments.as_slice())?;
        }
        Ok(())
    }

    fn apply_on_host(&self, psi: &ParityField<T>, out: &mut ParityField<T>) {
        let dims = self.lattice.dims();
        let factor = self.factors.coefficient;
        let adjoint = factor.matrix.block_use().is_some_and(|usage| usage.adjoint);
        let half = dims.volume() / 2;
        let (psi, out) = (psi.spinors.on_host(), out.spinors.on_host_mut());
        out.par_iter_mut().zip(psi).enumerate().for_each(|(index, (out, psi))| {
            let pair = 2 * (index % half);
            let site = pair + (dims.parity(pair) + self.parity) % 2;
            *out = factor.times(psi, self.blocks.as_ref().map(|blocks| blocks.at(site, adjoint)));
        });
    }

    /// Counts two spinors a site, and the cost of the factor.
    pub fn work(&self) -> Work {
        let sites = self.lattice.dims().volume() as u64 / 2;
        let cost = SitePart::of(&self.factors, false, false).cost(self.columns);
        cost.work::<T>(self.columns, 2).times(sites)
    }
}
