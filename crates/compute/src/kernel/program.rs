//! Compiled programs.

use super::binary_cache::BinaryCache;
use super::compilation::Compilation;
use super::key::KernelKey;
use super::launch::{FirstLaunches, Kernel};
use super::signature::{Signature, Signatures};
use super::worker::{CompileRequest, CompileWorker};
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
    /// A binary that was built goes to the cache. A worker may compile in place of this process. The
    /// cost of building is returned as well.
    pub(crate) fn build(
        core: &Arc<Core>,
        cache: &BinaryCache,
        inline_ptx: bool,
        key: &KernelKey,
        worker: Option<&mut CompileWorker>,
    ) -> Result<(Self, Compilation)> {
        let begun = Instant::now();
        let recipe = Recipe::new(core, inline_ptx, key)?;
        let program = |raw, signatures, loaded_with| Self {
            raw,
            signatures,
            loaded_with,
            key: key.clone(),
            core: Arc::clone(core),
            launched: Arc::default(),
            kernels: Mutex::default(),
        };
        let loaded = |compiled| {
            let (raw, signatures) = load(core, cache, &recipe)?;
            let compilation = Compilation { compiled, loaded: 1 - compiled, time: begun.elapsed() };
            Some((program(raw, signatures, Some(recipe.options.clone())), compilation))
        };
        if let Some(program) = loaded(0) {
            return Ok(program);
        }
        if let (Some(worker), Some(request)) = (worker, recipe.request(core, cache)) {
            // Without a worker only time is lost.
            match worker.compile(&request) {
                Ok(true) => {
                    if let Some(program) = loaded(1) {
                        return Ok(program);
                    }
                }
                Ok(false) => tracing::debug!("program {key}: the worker cannot compile it"),
                Err(error) => tracing::debug!("program {key}: the worker has ended ({error})"),
            }
        }
        let (raw, signatures) = recipe.compile(core, cache)?;
        let compilation = Compilation { compiled: 1, loaded: 0, time: begun.elapsed() };
        Ok((program(raw, signatures, None), compilation))
    }

    /// Tells whether the program of a key need not be compiled.
    pub(crate) fn is_kept(core: &Core, cache: &BinaryCache, inline_ptx: bool, key: &KernelKey) -> bool {
        Recipe::new(core, inline_ptx, key).is_ok_and(|recipe| cache.has(&recipe.identity))
    }

    /// Compiles a program into the cache, and returns `true` if it is there now.
    ///
    /// The program is loaded once, for drivers that keep what they make of a binary.
    pub(crate) fn compile_for_another(
        core: &Core,
        cache: &BinaryCache,
        request: &CompileRequest,
    ) -> Result<bool> {
        let CompileRequest { identity, options, source, program, .. } = request;
        let recipe = Recipe {
            name: program.clone(),
            source: source.clone(),
            options: options.clone(),
            identity: identity.clone(),
        };
        recipe.compile(core, cache)?;
        Ok(load(core, cache, &recipe).is_some())
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
                make(&from_source(&self.core, &self.key.to_string(), &self.key.source(), options)?)
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

/// Everything that a compiler needs to know of a program.
struct Recipe {
    /// The name for people.
    name: String,
    source: String,
    options: String,
    /// Everything that an entry of the cache depends on, as text.
    identity: String,
}

impl Recipe {
    fn new(core: &Core, inline_ptx: bool, key: &KernelKey) -> Result<Self> {
        let (name, source) = (key.to_string(), key.source());
        let mut options = key.options()?;
        if inline_ptx {
            options.push_str(" -D INLINE_PTX=1");
        }
        // The ordinal makes different kernels for the driver. The first device has the programs
        // without an ordinal.
        if let Some(number @ 1..) = core.ordinal.as_ref().map(Ordinal::number) {
            options.push_str(&format!(" -D DEVICE_ORDINAL={number}"));
        }
        let info = &core.info;
        let identity = format!(
            "lattice-cl {} with signatures\nplatform {}\ndevice {}\ndriver {}\nopencl {}\nkey {name}\noptions {options}\nsource {}\n",
            env!("CARGO_PKG_VERSION"),
            info.platform,
            info.name,
            info.driver_version,
            info.opencl_version,
            blake3::hash(source.as_bytes()).to_hex(),
        );
        Ok(Self { name, source, options, identity })
    }

    /// Returns the request of this program to a worker; `None` if there is no cache to put it into.
    fn request(&self, core: &Core, cache: &BinaryCache) -> Option<CompileRequest> {
        let Self { name, source, options, identity } = self;
        Some(CompileRequest {
            device: core.label.clone(),
            directory: cache.directory()?.to_owned(),
            identity: identity.clone(),
            options: options.clone(),
            source: source.clone(),
            program: name.clone(),
        })
    }

    /// Compiles the program, and keeps its binary.
    ///
    /// The signatures are those that were kept.
    fn compile(&self, core: &Core, cache: &BinaryCache) -> Result<(RawProgram, Signatures)> {
        let Self { name, source, options, identity } = self;
        let begun = Instant::now();
        let raw = from_source(core, name, source, options)?;
        tracing::debug!("program {name}: compiled in {:.0} ms", begun.elapsed().as_secs_f64() * 1e3);
        if !cache.is_on() {
            // Asking for the binary makes some drivers compile every kernel, needed or not.
            return Ok((raw, Signatures::default()));
        }
        let signatures = signatures(core, &raw)?;
        match raw.get_binaries() {
            Ok(binaries) => {
                // A context of several devices has as many places. The program is built for one of them.
                let of_device = binaries.iter().filter(|binary| !binary.is_empty());
                of_device.for_each(|binary| cache.store(identity, &signatures, binary));
            }
            Err(error) => tracing::debug!("program {name}: the driver gives no binary ({error})"),
        }
        Ok((raw, signatures))
    }
}

/// Returns a program from the cache with its signatures.
fn load(core: &Core, cache: &BinaryCache, recipe: &Recipe) -> Option<(RawProgram, Signatures)> {
    let (signatures, binary) = cache.load(&recipe.identity)?;
    match from_binary(core, &binary, &recipe.options) {
        Ok(raw) => {
            tracing::debug!("program {}: binary from the cache", recipe.name);
            Some((raw, signatures))
        }
        // Drivers may refuse their own binaries, after an update for instance. Only time is lost.
        Err(error) => {
            tracing::debug!("program {}: the driver refuses the cached binary ({error})", recipe.name);
            None
        }
    }
}

fn from_source(core: &Core, name: &str, source: &str, options: &str) -> Result<RawProgram> {
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
                program: name.to_owned(),
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
