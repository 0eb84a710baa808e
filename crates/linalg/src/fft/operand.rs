//! What kernels of transforms read and write, and the flags of `cl/fft.cl`.

use lattice_compute::Argument;

pub(super) const LOAD_SWAPPED: u32 = 1;
pub(super) const STORE_SWAPPED: u32 = 2;
pub(super) const IN_PLACE: u32 = 4;

/// A buffer of the caller, or scratch memory, with the type of its elements.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    pub argument: Argument<'a>,
    pub is_complex: bool,
}

impl<'a> Operand<'a> {
    pub fn new(argument: impl Into<Argument<'a>>, is_complex: bool) -> Self {
        Self { argument: argument.into(), is_complex }
    }
}
