//! The way from the text of a kernel to its launch: keys, programs, arguments.

mod argument;
mod binary_cache;
mod cache_mode;
mod compilation;
mod element_type;
mod key;
mod launch;
mod matrix_units;
mod probe;
mod program;
mod signature;
mod worker;

pub use argument::{Argument, ArgumentList};
pub use cache_mode::{CacheMode, NO_CACHE_VARIABLE, TUNING_FILE_VARIABLE, pocl_lacks_a_cache};
pub use compilation::Compilation;
pub use key::{KernelFamily, KernelKey};
pub use launch::{Kernel, Range};
pub use matrix_units::MatrixOperation;
pub use program::Program;
pub use worker::CompileWorkers;

pub(crate) use argument::ArgumentType;
pub(crate) use binary_cache::BinaryCache;
pub(crate) use probe::takes_inline_ptx;
pub(crate) use worker::{COMPILED, CompileRequest, CompileWorker, FAILED};
