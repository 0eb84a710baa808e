//! The way from M x = b to the system of its Schur complement, and back.

use super::four_blocks::{EVEN, FourBlocks, ODD};
use super::hop::{HopEvenOdd, HopOptions};
use super::schur_complement::SchurSymmetry;
use super::stencil::SiteProduct;
use crate::compute::DeviceError;
use crate::field::{GaugeField, ParityField, SpinorField};
use crate::geometry::LatticeError;
use crate::host::StencilFactors;
use crate::scalar::Storage;

/// Returns the factors of the conversions to the complement's system and back.
pub(crate) fn sides_of(factors: StencilFactors) -> [StencilFactors; 2] {
    sides(FourBlocks::of(factors))
}

/// Returns the factors of the conversions for an operator of these blocks.
///
/// They are b_e − c f H_eo χ on the even sites, and A⁻¹ (b_o − c H_oe x_e) on the odd ones.
fn sides(blocks: FourBlocks) -> [StencilFactors; 2] {
    let (c, (factor, remainder)) = (blocks.coefficient(), blocks.inverse(ODD));
    [blocks.step(1.0, -c * factor), blocks.step(remainder * factor, remainder * (-c * factor))]
}

/// The sides of M x = b that the Schur complement does not see.
///
/// They make the source of its system, and complete its solution, for all right-hand sides.
pub(crate) struct EvenOddParts<T: Storage> {
    /// b_e − c f H_eo χ, where A⁻¹ b_o = f χ
    prepare: HopEvenOdd<T>,
    /// A⁻¹ (b_o − c H_oe x_e)
    reconstruct: HopEvenOdd<T>,
    odd_source: ParityField<T>,
    /// χ, where it is not b_o.
    turned_source: Option<ParityField<T>>,
    /// A⁻¹ on the even sites, for the symmetric complement.
    inverse: Option<SiteProduct<T>>,
}

impl<T: Storage> EvenOddParts<T> {
    /// Prepares the equation M x = b with M = A + c H of these factors.
    pub(super) fn new(
        links: &GaugeField<T>,
        factors: StencilFactors,
        symmetry: SchurSymmetry,
        b: &SpinorField<T>,
    ) -> Result<Self, LatticeError> {
        let blocks = FourBlocks::of(factors);
        // The hops find the inverse, and it is known to exist.
        let _inverse = links.blocks(blocks.inverse(ODD).1.matrix)?;
        let options = HopOptions { shift: true, columns: b.columns(), ..Default::default() };
        let [there, back] = sides(blocks);
        let prepare = HopEvenOdd::new(links, EVEN, there, options)?;
        let reconstruct = HopEvenOdd::new(links, ODD, back, options)?;
        let product = |parity, factor| SiteProduct::new(links, parity, factor, b.columns());
        let mut odd_source = reconstruct.scratch_target()?;
        b.copy_parity_to(&mut odd_source)?;
        let mut turned_source = None;
        if !blocks.are_numbers_within() {
            let mut turned = reconstruct.scratch_target()?;
            product(ODD, blocks.inverse(ODD).1)?.apply(&odd_source, &mut turned)?;
            turned_source = Some(turned);
        }
        let inverse = match symmetry {
            SchurSymmetry::Asymmetric => None,
            SchurSymmetry::Symmetric => {
                let (factor, remainder) = blocks.inverse(EVEN);
                Some(product(EVEN, remainder * factor)?)
            }
        };
        Ok(Self { prepare, reconstruct, odd_source, turned_source, inverse })
    }

    /// Returns b_e − c H_eo A⁻¹ b_o for the given b.
    ///
    /// For the symmetric complement the result is multiplied by A⁻¹.
    pub fn source(&self, b: &SpinorField<T>) -> Result<ParityField<T>, DeviceError> {
        let mut source = self.prepare.scratch_target()?;
        let odd = self.turned_source.as_ref().unwrap_or(&self.odd_source);
        self.prepare.apply(odd, Some(&self.even_part(b)?), &mut source)?;
        let Some(inverse) = &self.inverse else { return Ok(source) };
        let mut turned = self.prepare.scratch_target()?;
        inverse.apply(&source, &mut turned)?;
        Ok(turned)
    }

    /// Returns the part of a field on the even sites.
    pub fn even_part(&self, field: &SpinorField<T>) -> Result<ParityField<T>, DeviceError> {
        let mut even = self.prepare.scratch_target()?;
        field.copy_parity_to(&mut even)?;
        Ok(even)
    }

    /// Computes x on all sites from its part on the even ones.
    pub fn solution(&self, even: &ParityField<T>, x: &mut SpinorField<T>) -> Result<(), DeviceError> {
        let mut odd = self.reconstruct.scratch_target()?;
        self.reconstruct.apply(even, Some(&self.odd_source), &mut odd)?;
        x.copy_parity_from(even)?;
        x.copy_parity_from(&odd)
    }
}
