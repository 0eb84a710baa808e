//! The part of a Dirac operator within a site: twin of `cl/stencil/site_….cl`.

use super::{Cost, KernelPart};
use crate::device::{Argument, Buffer, KernelKey, Parameter};
use crate::host::StencilForm;
use crate::scalar::{Real, Storage};

/// What is added to the hop, and what multiplies it: the part of a kernel that knows the mass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SitePart {
    /// Whether a multiple of a field is added.
    pub adds_field: bool,
    /// Whether this field is another one than the hop starts from.
    pub own_field: bool,
    /// Whether any number is different for the two chiralities.
    pub twisted: bool,
    /// Whether that of the hop is.
    pub twists_hop: bool,
}

impl SitePart {
    /// That of a form; whether a field is added, and whether it is not that of the hop, follows from the sites.
    pub fn of(form: &StencilForm, adds_field: bool, own_field: bool) -> Self {
        let twists_hop = form.coefficient.twist != 0.0;
        let twisted = twists_hop || (adds_field && form.shift.twist != 0.0);
        Self { adds_field, own_field, twisted, twists_hop }
    }

    /// The arguments for its parameters; `shifted` is there if it has a field of its own.
    pub fn arguments<'a, T: Storage>(
        &self,
        form: &StencilForm,
        shifted: Option<&'a Buffer<T::Stored>>,
    ) -> impl Iterator<Item = Argument<'a>> {
        let real = |value: f64| Argument::value(T::Real::from_f64(value));
        let StencilForm { shift, coefficient, .. } = form;
        let hop_twist = self.twisted.then(|| real(hop_twist(form)));
        debug_assert!(coefficient.scalar != 0.0 || coefficient.twist == 0.0, "a hop that is only twisted");
        let scalar = self.adds_field.then(|| real(shift.scalar));
        let twist = (self.adds_field && self.twisted).then(|| real(shift.twist));
        [hop_twist, scalar, twist, shifted.map(Argument::from)].into_iter().flatten()
    }
}

/// r of coefficient (1 + i r γ5).
fn hop_twist(form: &StencilForm) -> f64 {
    let coefficient = form.coefficient;
    if coefficient.twist == 0.0 { 0.0 } else { coefficient.twist / coefficient.scalar }
}

impl KernelPart for SitePart {
    fn add_to(&self, key: KernelKey) -> KernelKey {
        let key = key.define("SHIFT", u8::from(self.own_field));
        let key = key.part("field", include_str!("../../../../cl/stencil/site_field.cl"));
        match (self.twisted, self.adds_field) {
            (true, _) => key
                .define("ADDS_FIELD", u8::from(self.adds_field))
                .define("TWISTS_HOP", u8::from(self.twists_hop))
                .part("twisted", include_str!("../../../../cl/stencil/site_twisted.cl")),
            (false, true) => key.part("scalar", include_str!("../../../../cl/stencil/site_scalar.cl")),
            (false, false) => key.part("none", include_str!("../../../../cl/stencil/site_none.cl")),
        }
    }

    fn parameters<T: Storage>(&self) -> Vec<Parameter> {
        let hop_twist = self.twisted.then(|| Parameter::value::<T::Real>("hop_twist"));
        let shift = self.adds_field.then(|| Parameter::value::<T::Real>("shift"));
        let twist = (self.adds_field && self.twisted).then(|| Parameter::value::<T::Real>("twist"));
        let shifted = self.own_field.then(|| Parameter::input::<T::Stored>("shifted"));
        [hop_twist, shift, twist, shifted].into_iter().flatten().collect()
    }

    /// 48 flops for each multiple of a spinor that is added, as is usual.
    fn cost(&self, _: usize) -> Cost {
        let twists = u64::from(self.twists_hop) + u64::from(self.twisted && self.adds_field);
        Cost { flops: 48 * (u64::from(self.adds_field) + twists), spinors: usize::from(self.own_field) }
    }
}
