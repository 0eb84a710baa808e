//! The kinds of numbers of the operands.

use crate::matrix::MatMut;
use bytemuck::Pod;
use half::{bf16, f16};
use std::fmt::Debug;

mod sealed {
    pub trait Sealed {}

    impl Sealed for half::f16 {}
    impl Sealed for half::bf16 {}
    impl Sealed for f32 {}
}

/// A 16-bit number: [`struct@f16`] or [`bf16`].
pub trait HalfFormat: HalfResult {
    /// `true` for bfloat16.
    const IS_BFLOAT: bool;

    /// Returns the nearest number, ties to even.
    fn from_f32(value: f32) -> Self;
}

/// A number of a result: [`struct@f16`], [`bf16`] or `f32`.
pub trait HalfResult: Pod + Debug + Default + Send + Sync + PartialEq + sealed::Sealed + 'static {
    /// The number of this kind in `cl/half.cl`.
    const KIND: u32;

    /// Returns the value, exactly.
    fn to_f32(self) -> f32;

    /// Returns a result that is of single precision already.
    fn as_single(c: MatMut<'_, Self>) -> Result<MatMut<'_, f32>, MatMut<'_, Self>>;
}

impl HalfFormat for f16 {
    const IS_BFLOAT: bool = false;

    fn from_f32(value: f32) -> Self {
        f16::from_f32(value)
    }
}

impl HalfFormat for bf16 {
    const IS_BFLOAT: bool = true;

    fn from_f32(value: f32) -> Self {
        bf16::from_f32(value)
    }
}

impl HalfResult for f32 {
    const KIND: u32 = 0;

    fn to_f32(self) -> f32 {
        self
    }

    fn as_single(c: MatMut<'_, Self>) -> Result<MatMut<'_, f32>, MatMut<'_, Self>> {
        Ok(c)
    }
}

impl HalfResult for f16 {
    const KIND: u32 = 1;

    fn to_f32(self) -> f32 {
        f16::to_f32(self)
    }

    fn as_single(c: MatMut<'_, Self>) -> Result<MatMut<'_, f32>, MatMut<'_, Self>> {
        Err(c)
    }
}

impl HalfResult for bf16 {
    const KIND: u32 = 2;

    fn to_f32(self) -> f32 {
        bf16::to_f32(self)
    }

    fn as_single(c: MatMut<'_, Self>) -> Result<MatMut<'_, f32>, MatMut<'_, Self>> {
        Err(c)
    }
}
