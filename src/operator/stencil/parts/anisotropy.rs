//! The weight of hops in space: twin of `cl/stencil/anisotropy.cl`.

use super::{Cost, KernelPart};
use crate::compute::{Argument, KernelKey};
use crate::geometry::Anisotropy;
use crate::scalar::{Real, Storage};

/// The weight of hops in space, if they have one of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AnisotropyPart {
    /// The weight, or `None` if it is 1.
    weight: Option<f64>,
}

impl AnisotropyPart {
    pub fn of(anisotropy: Anisotropy) -> Self {
        let weight = anisotropy.spatial_weight();
        Self { weight: (weight != 1.0).then_some(weight) }
    }

    /// Returns the argument for the parameter of this part.
    pub fn arguments<'a, T: Storage>(self) -> impl Iterator<Item = Argument<'a>> {
        self.weight.into_iter().map(|weight| Argument::value(T::Real::from_f64(weight)))
    }
}

impl KernelPart for AnisotropyPart {
    fn add_to(&self, key: KernelKey) -> KernelKey {
        key.define("ANISOTROPIC", u8::from(self.weight.is_some()))
            .part("anisotropy", include_str!("../../../../cl/stencil/anisotropy.cl"))
    }

    /// Returns no cost.
    ///
    /// Flops of the hop are counted without weights, as is usual.
    fn cost(&self, _: usize) -> Cost {
        Cost { flops: 0, spinors: 0, blocks: Vec::new() }
    }
}
