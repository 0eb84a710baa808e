//! Compiled programs.

use super::binary_cache::BinaryCache;
use super::compilation::Compilation;
use super::key::KernelKey;
use super::launch::{FirstLaunches, Kernel};
use super::signature::{Signature, Signatures};
use crate::error::{BuildFailure, DeviceError, Result};
use crate::queue::{Core, Ordinal};
use crate::sync::lock;
use opencl3::error_codes::{CL_BUILD_PROGRAM_FAILURE, CL_INVALID_PROGRAM_EXECUTABLE, ClError, error_text};
use opencl3::kernel::Kernel as RawKernel;
use opencl3::program::Program as RawProgram;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A program built for one device.
pub struct Program {
    raw: RawProgram,
    key: KernelKey,
    core: Arc<Core>,
    launched: Arc<FirstLaunches>,
    /// The signatures that were kept beside the binary. Others are asked of the driver.
    signatures: Signatures,
    /// The options of a program from the cache, to compile it anew.
    loaded_with: Option<String>,
    /// The kernels that were asked for.
    ///
    /// NVIDIA's driver takes some ten microseconds for a kernel, and a question for each argument.
    /// A solve asks for fifty kernels on each device.
    kernels: Mutex<Vec<Kernel>>,
}

impl Program {
    /// Takes the binary from the cache, or else builds the source.
    ///
    /// A binary that was built goes to the cache. The cost of building is returned as well.
    pub(crate) fn build(
        core: &Arc<Core>,
        cache: &BinaryCache,
        inline_ptx: bool,
        key: &KernelKey,
    ) -> Result<(Self, Compilation)> {
        let begun = Instant::now();
        let (program, loaded) = Self::load_or_compile(core, cache, inline_ptx, key)?;
        let (loaded, compiled) = (usize::from(loaded), usize::from(!loaded));
        Ok((program, Compilation { compiled, loaded, time: begun.elapsed() }))
    }

    /// Returns the program, and `true` if it was in the cache.
    fn load_or_compile(
        core: &Arc<Core>,
        cache: &BinaryCache,
        inline_ptx: bool,
        key: &KernelKey,
    ) -> Result<(Self, bool)> {
        let source = key.source();
        let mut options = key.options()?;
        if inline_ptx {
            options.push_str(" -D INLINE_PTX=1");
        }
        // The ordinal makes different kernels for the driver. The first device has the programs
        // without an ordinal.
        if let Some(number @ 1..) = core.ordinal.as_ref().map(Ordinal::number) {
            options.push_str(&format!(" -D DEVICE_ORDINAL={number}"));
        }
        let identity = identity(core, key, &options, &source);
        let program = |raw, signatures, loaded_with| Self {
            raw,
            signatures,
            loaded_with,
            key: key.clone(),
            core: Arc::clone(core),
            launched: Arc::default(),
            kernels: Mutex::default(),
        };

        if let Some((signatures, binary)) = cache.load(&identity) {
            match from_binary(core, &binary, &options) {
                Ok(raw) => {
                    tracing::debug!("program {key}: binary from the cache");
                    return Ok((program(raw, signatures, Some(options)), true));
                }
                // Drivers may refuse their own binaries, after an update for instance. Only time is
                // lost.
                Err(error) => {
                    tracing::debug!("program {key}: the driver refuses the cached binary ({error})")
                }
            }
        }
        let begun = Instant::now();
        let raw = from_source(core, key, &source, &options)?;
        tracing::debug!("program {key}: compiled in {:.0} ms", begun.elapsed().as_secs_f64() * 1e3);
        if !cache.is_on() {
            // Asking for the binary makes some drivers compile every kernel, needed or not.
            return Ok((program(raw, Signatures::default(), None), false));
        }
        let signatures = signatures(core, &raw)?;
        match raw.get_binaries() {
            Ok(binaries) => {
                // A context of several devices has as many places. The program is built for one of them.
                let of_device = binaries.iter().filter(|binary| !binary.is_empty());
                of_device.for_each(|binary| cache.store(&identity, &signatures, binary));
            }
            Err(error) => tracing::debug!("program {key}: the driver gives no binary ({error})"),
        }
        Ok((program(raw, signatures, None), false))
    }

    /// Returns the key that the program was built from.
    pub fn key(&self) -> &KernelKey {
        &self.key
    }

    /// Returns the kernel `name`.
    ///
    /// Launches check arguments against the parameters of the kernel's text, as the compiler
    /// reports them.
    ///
    /// # Errors
    /// [`DeviceError::UnknownKernel`]. [`DeviceError::NoSignature`] if the driver does not describe
    /// the kernel. [`DeviceError::OpenCl`].
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let mut kernels = lock(&self.kernels);
        if let Some(kernel) = kernels.iter().find(|kernel| kernel.name() == name) {
            return Ok(kernel.clone());
        }
        let names = self.raw.kernel_names();
        if !names.is_empty() && !names.split(';').any(|known| known == name) {
            return Err(DeviceError::UnknownKernel {
                program: self.key.to_string(),
                kernel: name.to_owned(),
                available: names.split(';').map(str::to_owned).collect(),
            });
        }
        let make = |raw| Kernel::new(&self.core, raw, &self.launched, name, self.signatures.get(name));
        let kernel = match (make(&self.raw), &self.loaded_with) {
            // The driver forgets signatures in binaries, and this one was not kept.
            (Err(DeviceError::NoSignature { .. }), Some(options)) => {
                make(&from_source(&self.core, &self.key, &self.key.source(), options)?)
            }
            (made, _) => made,
        }?;
        kernels.push(kernel.clone());
        Ok(kernel)
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Program({} on {})", self.key, self.core.label)
    }
}

/// Returns the signatures of all kernels that the driver lists and describes.
///
/// NVIDIA's driver lists no kernels unless the program is built for the first device of its context.
/// It describes kernels of binaries, however (580.159.04).
fn signatures(core: &Core, raw: &RawProgram) -> Result<Signatures> {
    let mut signatures = Signatures::default();
    for name in raw.kernel_names().split(';').filter(|name| !name.is_empty()) {
        let kernel = RawKernel::create(raw, name).map_err(core.failed("clCreateKernel"))?;
        if let Some(signature) = Signature::query(&kernel).map_err(core.failed("clGetKernelArgInfo"))? {
            signatures.push(name, signature);
        }
    }
    Ok(signatures)
}

/// Returns everything that an entry of the cache depends on, as text.
fn identity(core: &Core, key: &KernelKey, options: &str, source: &str) -> String {
    let info = &core.info;
    format!(
        "lattice-cl {} with signatures\nplatform {}\ndevice {}\ndriver {}\nopencl {}\nkey {key}\noptions {options}\nsource {}\n",
        env!("CARGO_PKG_VERSION"),
        info.platform,
        info.name,
        info.driver_version,
        info.opencl_version,
        blake3::hash(source.as_bytes()).to_hex(),
    )
}

fn from_source(core: &Core, key: &KernelKey, source: &str, options: &str) -> Result<RawProgram> {
    let mut raw = RawProgram::create_from_source(&core.context, source)
        .map_err(core.failed("clCreateProgramWithSource"))?;
    match build(&mut raw, core, options) {
        Ok(()) => Ok(raw),
        Err(error) => {
            let log = raw.get_build_log(core.raw.id()).unwrap_or_default();
            if error.0 != CL_BUILD_PROGRAM_FAILURE && log.is_empty() {
                return Err(core.failed("clBuildProgram")(error));
            }
            Err(DeviceError::Build(Box::new(BuildFailure {
                program: key.to_string(),
                device: core.label.clone(),
                options: options.to_owned(),
                status: error_text(error.0),
                log,
            })))
        }
    }
}

fn from_binary(core: &Core, binary: &[u8], options: &str) -> std::result::Result<RawProgram, ClError> {
    // SAFETY: clCreateProgramWithBinary wants devices of the context: this is one of them. The
    // driver copies the bytes. The bytes are whole by their hash. This user wrote the bytes,
    // because nobody else may write to the folder.
    let mut raw = unsafe { RawProgram::create_from_binary(&core.context, &[core.raw.id()], &[binary]) }?;
    build(&mut raw, core, options)?;
    Ok(raw)
}

/// Builds a program for the device, and asks for the names of its kernels.
///
/// NVIDIA's driver tells no names unless the program is built for the first device of its context
/// (580.159.04).
fn build(raw: &mut RawProgram, core: &Core, options: &str) -> std::result::Result<(), ClError> {
    // Warnings would go to the standard error of the process.
    match raw.build(&[core.raw.id()], &format!("{options} -w")) {
        Err(ClError(CL_INVALID_PROGRAM_EXECUTABLE))
            if raw.get_build_status(core.raw.id())? == BUILD_SUCCESS =>
        {
            Ok(())
        }
        result => result,
    }
}

/// CL_BUILD_SUCCESS.
const BUILD_SUCCESS: i32 = 0;
