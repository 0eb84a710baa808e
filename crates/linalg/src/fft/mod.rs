//! Fourier transforms of any length, along one to four axes, on one device.
//!
//! [`Plan`] transforms complex arrays, [`RealPlan`] real ones; both in single and double precision,
//! in batches, with strides, in place or not. The kernels are in `cl/fft.cl`, `cl/fft_lines.cl` and
//! `cl/fft_tiles.cl`, their twin in [`host::fft`](crate::host::fft).
//!
//! * A line that fits local memory is one kernel: one read and one write. Lengths with prime factors
//!   up to 13 go through Stockham's passes. A prime above a smooth number is a cyclic convolution
//!   (Rader 1968), any other length another one (Bluestein 1970), within the same kernel.
//! * Longer lines take two steps, n = n₁n₂, by way of scratch memory.
//! * Real rows go in pairs, as the parts of one complex row.
//!
//! Extents are arguments of the kernels, so that one program serves all lengths. Large transforms have
//! programs of their own instead, with the length and the passes as constants. On GPUs these compute in
//! registers where the length has radices, and take planes of two axes in one launch where a group
//! holds one. On processors lines side by side are vectors, to and from which rows are transposed.
//!
//! Files: `shape` what is transformed; `factors` whole numbers; `tables` constant factors;
//! `codelets` the text of passes; `lines` where lines lie; `operand` buffers; `cut` groups; `fixed`
//! the text of one length; `tile` what a group has in registers, `tile_text` its text, `tiles` its
//! launches; `kernels` what is compiled; `axis` one axis; `plan`, `real` all; `variant` what may be
//! varied; `tunable` the search for the fastest variant; `callback` text that sees numbers on their
//! way; `spectral` a product between a transform and its inverse.

mod axis;
mod callback;
mod codelets;
mod cut;
mod error;
mod factors;
mod fixed;
mod kernels;
mod lines;
mod operand;
mod plan;
mod real;
mod shape;
mod spectral;
mod tables;
mod tile;
mod tile_text;
mod tiles;
mod tunable;
mod variant;

pub use callback::Callback;
pub use error::{FftError, FftResult};
pub use factors::fast_length;
pub use plan::Plan;
pub use real::{RealPlan, half_extents};
pub use shape::{Layout, Scale, Shape};
pub use spectral::SpectralProduct;
pub use tunable::{FftKind, TunedFft, tune_fft};
pub use variant::{FftAlgorithm, FftTuning};
