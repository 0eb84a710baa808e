//! Types of elements as values.

use super::{Element, Precision, Real};

/// The type of an element as a value: one of the four types of [`Element`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementType {
    /// The precision of the real and imaginary part.
    pub precision: Precision,
    /// `true` for the complex types.
    pub complex: bool,
}

impl ElementType {
    /// Returns the value for the type `T`.
    pub const fn of<T: Element>() -> Self {
        Self { precision: <T::Real as Real>::PRECISION, complex: T::IS_COMPLEX }
    }

    /// Returns the type of the real and imaginary part.
    #[must_use]
    pub const fn real(self) -> Self {
        Self { complex: false, ..self }
    }

    /// Returns the reals in one element: 1 or 2.
    pub const fn reals(self) -> usize {
        if self.complex { 2 } else { 1 }
    }

    /// Returns the bytes of one element: 4, 8 or 16.
    pub fn bytes(self) -> usize {
        self.precision.bytes() * self.reals()
    }
}
