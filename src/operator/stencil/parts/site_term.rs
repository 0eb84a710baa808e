//! The part of a Dirac operator within a site: twin of `cl/stencil/site_….cl`.

use super::{Cost, KernelPart};
use crate::compute::{Argument, Buffer, KernelKey};
use crate::host::gamma::SpinMatrix;
use crate::host::{BlockLayout, BlockUse, SiteMatrix, StencilFactors};
use crate::operator::site_terms::spin_term;
use crate::scalar::{Real, Storage};

/// The part of a kernel that knows the mass.
///
/// The part has the terms that are added to the hop, and the factor of the hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SitePart {
    /// `true` if a multiple of a field is added.
    adds_field: bool,
    /// `true` if the added field is another one than the hop starts from.
    own_field: bool,
    kind: Kind,
}

/// The text of the site term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    /// Some factor has a multiple of a spin matrix.
    Twisted {
        /// The spin matrix, whose site term has the text.
        gamma: SpinMatrix,
        /// `true` if the factor of the hop has a multiple of it.
        twists_hop: bool,
    },
    /// The site term has blocks of a clover term.
    Clover {
        hop: Option<BlockUse>,
        field: Option<BlockUse>,
        /// `true` if the field is multiplied by numbers too.
        numbers: bool,
    },
}

/// The buffers that the site term takes.
pub(crate) struct SiteBuffers<'a, T: Storage> {
    /// The field that is multiplied, if it is not the one that the hop starts from.
    pub shifted: Option<&'a Buffer<T::Stored>>,
    /// The blocks for the added field, and the blocks for the hop.
    pub blocks: [Option<&'a Buffer<T::Stored>>; 2],
}

impl SitePart {
    /// Makes the part of these factors.
    ///
    /// `adds_field` and `own_field` follow from the sites that the stencil works on.
    pub fn of(factors: &StencilFactors, adds_field: bool, own_field: bool) -> Self {
        let StencilFactors { shift, coefficient, .. } = factors;
        let (twists_hop, twists_field) = (coefficient.twist != 0.0, adds_field && shift.twist != 0.0);
        let hop = coefficient.matrix.block_use();
        let field = shift.matrix.block_use().filter(|_| adds_field);
        let kind = if hop.is_some() || field.is_some() {
            debug_assert!(!twists_hop, "a hop with a twist and blocks");
            Kind::Clover { hop, field, numbers: !matches!(shift.matrix, SiteMatrix::Inverse(_)) }
        } else if twists_hop || twists_field {
            let gamma = if twists_hop { coefficient.gamma } else { shift.gamma };
            debug_assert!(!(twists_hop && twists_field) || gamma == shift.gamma, "two spin matrices");
            Kind::Twisted { gamma, twists_hop }
        } else {
            Kind::Plain
        };
        Self { adds_field, own_field, kind }
    }

    /// Returns the arguments for the parameters of this part.
    pub fn arguments<'a, T: Storage>(
        &self,
        factors: &StencilFactors,
        buffers: SiteBuffers<'a, T>,
    ) -> Vec<Argument<'a>> {
        let real = |value: f64| Argument::value(T::Real::from_f64(value));
        let StencilFactors { shift, coefficient, .. } = factors;
        debug_assert!(coefficient.scalar != 0.0 || coefficient.twist == 0.0, "a hop that is only twisted");
        let [of_field, of_hop] = buffers.blocks.map(|blocks| blocks.map(Argument::from));
        let mut arguments = Vec::new();
        match self.kind {
            Kind::Plain => arguments.extend(self.adds_field.then(|| real(shift.scalar))),
            Kind::Twisted { .. } => {
                arguments.push(real(hop_twist(factors)));
                if self.adds_field {
                    arguments.extend([real(shift.scalar), real(shift.twist)]);
                }
            }
            Kind::Clover { field, numbers, .. } => {
                arguments.extend(of_hop);
                if self.adds_field && numbers {
                    arguments.extend([real(shift.scalar), real(shift.twist)]);
                }
                if field.is_some() {
                    arguments.push(real(match shift.matrix {
                        SiteMatrix::Clover { factor } => factor,
                        SiteMatrix::Inverse(_) | SiteMatrix::None => shift.scalar,
                    }));
                    arguments.extend(of_field);
                }
            }
        }
        arguments.extend(buffers.shifted.map(Argument::from));
        arguments
    }
}

/// Returns r of coefficient (1 + r Γ).
fn hop_twist(factors: &StencilFactors) -> f64 {
    let coefficient = factors.coefficient;
    if coefficient.twist == 0.0 { 0.0 } else { coefficient.twist / coefficient.scalar }
}

/// Returns the number of a storage of blocks in `cl/clover.cl`, or 0 for no blocks.
fn form_number(usage: Option<BlockUse>) -> u8 {
    match usage.map(|usage| usage.layout) {
        None => 0,
        Some(BlockLayout::Hermitian) => 1,
        Some(BlockLayout::General) => 2,
    }
}

impl KernelPart for SitePart {
    fn add_to(&self, key: KernelKey) -> KernelKey {
        let key = key.define("SHIFT", u8::from(self.own_field));
        let key = key.part("field", include_str!("../../../../cl/stencil/site_field.cl"));
        let adds_field = u8::from(self.adds_field);
        match (self.kind, self.adds_field) {
            (Kind::Twisted { gamma, twists_hop }, _) => {
                let term = spin_term(&gamma);
                key.define("ADDS_FIELD", adds_field)
                    .define("TWISTS_HOP", u8::from(twists_hop))
                    .part(term.name, term.text)
            }
            (Kind::Clover { hop, field, numbers }, _) => {
                let adjoint = |usage: Option<BlockUse>| u8::from(usage.is_some_and(|usage| usage.adjoint));
                key.define("ADDS_FIELD", adds_field)
                    .define("HOP_BLOCKS", form_number(hop))
                    .define("HOP_ADJOINT", adjoint(hop))
                    .define("FIELD_BLOCKS", form_number(field))
                    .define("FIELD_ADJOINT", adjoint(field))
                    .define("FIELD_NUMBERS", u8::from(numbers))
                    .part("blocks", include_str!("../../../../cl/clover.cl"))
                    .part("clover", include_str!("../../../../cl/stencil/site_clover.cl"))
            }
            (Kind::Plain, true) => key.part("scalar", include_str!("../../../../cl/stencil/site_scalar.cl")),
            (Kind::Plain, false) => key.part("none", include_str!("../../../../cl/stencil/site_none.cl")),
        }
    }

    /// Counts 48 flops for each multiple of a spinor that is added, as is usual.
    ///
    /// A product with the blocks of a clover term counts 552 flops.
    fn cost(&self, _: usize) -> Cost {
        let adds = u64::from(self.adds_field);
        let (flops, blocks) = match self.kind {
            Kind::Plain => (48 * adds, Vec::new()),
            Kind::Twisted { twists_hop, .. } => (48 * (2 * adds + u64::from(twists_hop)), Vec::new()),
            Kind::Clover { hop, field, .. } => {
                let blocks: Vec<BlockLayout> =
                    [hop, field].into_iter().flatten().map(|usage| usage.layout).collect();
                (552 * blocks.len() as u64, blocks)
            }
        };
        Cost { flops, spinors: usize::from(self.own_field), blocks }
    }
}
