//! Arguments of a launch.

use super::element_type::CType;
use super::signature::{Kind, Parameter};
use crate::queue::Core;
use crate::scalar::{AnyFactor, ElementType, Precision};
use bytemuck::Pod;
use num_complex::Complex;
use opencl3::memory::Buffer as RawBuffer;
use opencl3::types::cl_mem;
use std::fmt;
use std::sync::Arc;

/// Largest size that can be passed by value: a `double4`.
const MAX_VALUE_BYTES: usize = 32;

/// One argument of a launch.
///
/// A kernel reads a shared reference or view, and writes an exclusive one.
#[derive(Clone, Copy)]
pub struct Argument<'a> {
    pub(super) value: Value<'a>,
    pub(super) of: ArgumentType,
}

/// The type of a number, or of the elements in memory.
#[derive(Clone, Copy)]
pub(crate) struct ArgumentType {
    pub(super) ctype: Option<CType>,
    pub(super) size: usize,
}

impl ArgumentType {
    /// Returns the value for the type `T`.
    pub fn of<T: 'static>() -> Self {
        Self { ctype: CType::of::<T>(), size: size_of::<T>() }
    }
}

impl From<ElementType> for ArgumentType {
    fn from(element: ElementType) -> Self {
        Self { ctype: Some(CType::of_element(element)), size: element.bytes() }
    }
}

#[derive(Clone, Copy)]
pub(super) enum Value<'a> {
    Memory { core: &'a Arc<Core>, raw: &'a RawBuffer<u8>, offset: usize, whole: bool, writable: bool },
    Bytes([u8; MAX_VALUE_BYTES]),
    Local { bytes: usize },
    Image { core: &'a Arc<Core>, raw: ImageHandle },
}

/// The handle of an image that outlives the argument.
#[derive(Clone, Copy)]
pub(super) struct ImageHandle(pub cl_mem);

// SAFETY: OpenCL's objects may be used by every thread (OpenCL 1.2, appendix A.2). The argument
// borrows the owner of the image.
unsafe impl Send for ImageHandle {}
// SAFETY: as for `Send`.
unsafe impl Sync for ImageHandle {}

impl<'a> Argument<'a> {
    fn new<T: 'static>(value: Value<'a>) -> Self {
        Self { value, of: ArgumentType::of::<T>() }
    }

    /// Makes a number.
    ///
    /// A launch refuses more than 32 bytes.
    pub fn value<T: Pod>(value: T) -> Self {
        let mut bytes = [0; MAX_VALUE_BYTES];
        let source = bytemuck::bytes_of(&value);
        let size = source.len().min(MAX_VALUE_BYTES);
        bytes[..size].copy_from_slice(&source[..size]);
        Self::new::<T>(Value::Bytes(bytes))
    }

    /// Makes local memory for `len` elements in each work-group.
    pub fn local<T: Pod>(len: usize) -> Self {
        Self::new::<T>(Value::Local { bytes: len.saturating_mul(size_of::<T>()) })
    }

    /// Makes an argument of the device's memory, from element `offset` on.
    ///
    /// The memory belongs to the device of `core` and holds elements of the type `of`.
    pub(crate) fn memory(
        core: &'a Arc<Core>,
        raw: &'a RawBuffer<u8>,
        of: ArgumentType,
        offset: usize,
        whole: bool,
        writable: bool,
    ) -> Self {
        Self { value: Value::Memory { core, raw, offset, whole, writable }, of }
    }

    /// Makes an image of the device of `core`. The argument borrows the owner of both.
    pub(crate) fn image(core: &'a Arc<Core>, raw: cl_mem) -> Self {
        Self {
            value: Value::Image { core, raw: ImageHandle(raw) },
            of: ArgumentType { ctype: None, size: 0 },
        }
    }

    /// Returns the argument that begins `count` elements later in the device's memory.
    ///
    /// The kernels of one operation take parts of one matrix so. The caller answers for the kernel
    /// staying within the memory, as with every extent that it passes. Numbers and local memory
    /// stay as they are.
    #[doc(hidden)]
    #[must_use]
    pub fn skip(self, count: usize) -> Self {
        match self.value {
            Value::Memory { core, raw, offset, writable, .. } if count > 0 => Self {
                value: Value::Memory { core, raw, offset: offset + count, whole: false, writable },
                ..self
            },
            _ => self,
        }
    }

    /// Returns the type of the elements in memory, or of the number.
    ///
    /// `None` for numbers that are no elements of vectors, and for images.
    #[doc(hidden)]
    pub fn element(&self) -> Option<ElementType> {
        self.of.ctype.and_then(CType::element)
    }

    /// Returns `true` if the argument begins at a multiple of so many bytes.
    ///
    /// `bytes` is a power of two up to 128. A number is always aligned.
    pub fn is_aligned_to(&self, bytes: usize) -> bool {
        match self.value {
            // Memory itself begins at a multiple of the largest type's size.
            Value::Memory { offset, .. } => (offset * self.of.size).is_multiple_of(bytes),
            Value::Bytes(_) | Value::Local { .. } | Value::Image { .. } => true,
        }
    }

    /// Returns `true` if this can be given for `parameter`.
    ///
    /// Types of memory are compared by their scalar. A buffer of `Complex<f32>` may be `float2 *`,
    /// `float *` or `float16 *` in the kernel, which is a matter of layout. Such a buffer is never
    /// `double *` or `int *`. So a kernel of `double *` takes real and complex buffers alike, and
    /// no check tells an element from its parts. Values must agree exactly.
    pub(super) fn fits(&self, parameter: &Parameter) -> bool {
        let kind = match (&self.value, parameter.kind) {
            (Value::Memory { whole, .. }, Kind::Input) => *whole || parameter.with_offset,
            (Value::Memory { whole, writable, .. }, Kind::Output) => {
                *writable && (*whole || parameter.with_offset)
            }
            (Value::Bytes(_), Kind::Value) => self.of.size <= MAX_VALUE_BYTES,
            (Value::Local { bytes }, Kind::Local) => *bytes > 0,
            (Value::Image { .. }, Kind::Image) => true,
            _ => false,
        };
        kind && match (self.of.ctype, parameter.ctype) {
            (given, Some(wanted)) if parameter.kind == Kind::Value => given == Some(wanted),
            (Some(given), Some(wanted)) => given.scalar == wanted.scalar,
            // One side has no word for the type. The driver compares the size of a value.
            _ => true,
        }
    }
}

impl From<AnyFactor> for Argument<'_> {
    /// Makes the number that kernels take for a factor.
    fn from(factor: AnyFactor) -> Self {
        let Complex { re, im } = factor.for_kernel();
        let ElementType { precision, complex } = factor.element();
        match (precision, complex) {
            (Precision::Single, false) => Self::value(re as f32),
            (Precision::Double, false) => Self::value(re),
            (Precision::Single, true) => Self::value(Complex::new(re as f32, im as f32)),
            (Precision::Double, true) => Self::value(Complex::new(re, im)),
        }
    }
}

impl fmt::Display for Argument<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ctype = self.of.ctype.map_or_else(|| format!("{} bytes", self.of.size), |t| t.to_string());
        match self.value {
            Value::Memory { whole, writable, .. } => {
                let what = if whole { "buffer" } else { "view" };
                let access = if writable { "write" } else { "read" };
                write!(f, "{what} of {ctype} to {access}")
            }
            Value::Bytes(_) => write!(f, "value of {ctype}"),
            Value::Local { bytes } => write!(f, "{bytes} bytes of local memory of {ctype}"),
            Value::Image { .. } => f.write_str("image"),
        }
    }
}

/// The arguments of a launch one after another, without an allocation.
pub struct ArgumentList<'a> {
    arguments: [Argument<'a>; MOST_ARGUMENTS],
    count: usize,
}

/// Capacity of an [`ArgumentList`], more than any kernel here takes.
const MOST_ARGUMENTS: usize = 96;

impl<'a> ArgumentList<'a> {
    /// Starts with the given arguments.
    ///
    /// # Panics
    /// This and [`and`](Self::and) panic if there are more arguments than any kernel of this crate
    /// takes.
    pub fn new(first: impl IntoIterator<Item = Argument<'a>>) -> Self {
        Self { arguments: [Argument::value(0_u32); MOST_ARGUMENTS], count: 0 }.and(first)
    }

    /// Adds arguments behind the others.
    #[must_use]
    pub fn and(mut self, more: impl IntoIterator<Item = Argument<'a>>) -> Self {
        self.extend(more);
        self
    }

    /// Returns all arguments.
    pub fn as_slice(&self) -> &[Argument<'a>] {
        &self.arguments[..self.count]
    }
}

impl<'a> Extend<Argument<'a>> for ArgumentList<'a> {
    fn extend<I: IntoIterator<Item = Argument<'a>>>(&mut self, more: I) {
        for argument in more {
            self.arguments[self.count] = argument;
            self.count += 1;
        }
    }
}
