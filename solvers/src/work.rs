//! The counted costs of a solve.

/// Arithmetic done and memory moved, counted from the algorithm (not measured).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Floating-point operations.
    pub flops: u64,
    /// Bytes read and written if every operand passes through memory once per kernel.
    pub bytes: u64,
}

impl Work {
    /// Returns the work of `count` repetitions.
    pub fn times(self, count: u64) -> Self {
        Self { flops: self.flops * count, bytes: self.bytes * count }
    }

    /// Returns the work of one pass over vectors of a space.
    ///
    /// `flops_per_component` counts operations for each complex component, `vectors` the vectors
    /// that are read or written.
    pub fn pass<S: crate::VectorSpace>(space: &S, flops_per_component: u64, vectors: u64) -> Self {
        let components = space.dimension() as u64;
        Self {
            flops: flops_per_component * components,
            bytes: vectors * components * space.component_bytes() as u64,
        }
    }
}

impl std::ops::AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        self.flops += other.flops;
        self.bytes += other.bytes;
    }
}
