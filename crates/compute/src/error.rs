//! The errors between the library and a device.

use super::absence::Absence;
use lattice_files::room::NoRoom;
use lattice_files::text::tuple;
use lattice_files::threads::NoThread;
use lattice_mpi::MpiError;
use opencl3::error_codes::{ClError, error_text};
use std::fmt;

/// Result of everything in this module.
pub type Result<T, E = DeviceError> = std::result::Result<T, E>;

/// Any failure of a device, or of asking for one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// There is no usable OpenCL device at all.
    #[error(transparent)]
    Absent(#[from] Absence),

    /// A device was asked for by a name or a number that nothing here has.
    #[error("no OpenCL device matches `{wanted}`; there are: {}", list(available))]
    UnknownDevice {
        /// The request.
        wanted: String,
        /// `PLATFORM.DEVICE name (platform)` of each device that there is.
        available: Vec<String>,
    },

    /// A part of a name fits several devices that are not alike.
    #[error(
        "`{wanted}` matches several devices: {}; give more of the name, or PLATFORM.DEVICE",
        list(matches)
    )]
    AmbiguousDevice {
        /// The request.
        wanted: String,
        /// The devices that match.
        matches: Vec<String>,
    },

    /// Several selectors were given of which one only makes sense alone.
    #[error("{}", not_combinable(selector))]
    NotCombinable {
        /// `auto`, `all` or `host`.
        selector: String,
    },

    /// The device cannot compute in double precision.
    #[error(
        "device {device} is not used: it has no double precision (cl_khr_fp64), in which all sums are made; \
         choose another device, or `host`"
    )]
    NoDoublePrecision {
        /// The device that was asked for.
        device: String,
    },

    /// A kernel source did not compile.
    #[error(transparent)]
    Build(#[from] Box<BuildFailure>),

    /// A `-D` definition that cannot stand on a compiler's command line.
    #[error(
        "`{definition}` cannot be a kernel definition: names are C identifiers, values have no spaces or quotes"
    )]
    InvalidDefinition {
        /// `NAME=value` as given.
        definition: String,
    },

    /// The program has no kernel of that name.
    #[error("program {program} has no kernel `{kernel}`; it has: {}", list(available))]
    UnknownKernel {
        /// The program's key.
        program: String,
        /// The kernel that was asked for.
        kernel: String,
        /// The kernels that there are.
        available: Vec<String>,
    },

    /// The driver does not say which parameters a kernel has.
    #[error(
        "device {device}: the driver does not describe the arguments of kernel `{kernel}` (clGetKernelArgInfo); \
         choose another device, or `host`"
    )]
    NoSignature {
        /// The kernel.
        kernel: String,
        /// The device.
        device: String,
    },

    /// A kernel has, or was given, another number of arguments than its signature.
    #[error("kernel `{kernel}`: {wanted} arguments wanted, {found} found")]
    ArgumentCount {
        /// The kernel.
        kernel: String,
        /// Parameters of the kernel's text, where a view is one.
        wanted: usize,
        /// Given at a launch, or found in the compiled kernel.
        found: usize,
    },

    /// One argument of a launch does not fit its parameter.
    #[error("kernel `{kernel}`, argument {position} `{name}`: {wanted} wanted, {found} found")]
    ArgumentMismatch {
        /// The kernel.
        kernel: String,
        /// Position among the parameters, from 0.
        position: usize,
        /// Name of the parameter.
        name: String,
        /// The parameter.
        wanted: String,
        /// The argument that was given.
        found: String,
    },

    /// A launch over a range that the kernel or the device cannot have.
    #[error("kernel `{kernel}`: {reason} (global {}, local {})", tuple(global), tuple(local))]
    InvalidRange {
        /// The kernel.
        kernel: String,
        /// Global size in each dimension.
        global: [usize; 3],
        /// Work-group size in each dimension.
        local: [usize; 3],
        /// The reason.
        reason: &'static str,
    },

    /// More sums are kept on the device at once than it has room for.
    #[error("device {device} keeps {limit} sums already; let go of some, or read them")]
    TooManySums {
        /// The device.
        device: String,
        /// Number of sums for which there is room.
        limit: usize,
    },

    /// Two lengths that must be equal are not.
    #[error("{what}: {wanted} elements wanted, {found} found")]
    LengthMismatch {
        /// The operand or operation.
        what: &'static str,
        /// Wanted length in elements.
        wanted: usize,
        /// Found length in elements.
        found: usize,
    },

    /// A part of a buffer that reaches past its end.
    #[error("elements {offset}..{offset}+{len} do not lie in a buffer of {buffer} elements")]
    OutOfRange {
        /// First element.
        offset: usize,
        /// Number of elements.
        len: usize,
        /// Elements in the buffer.
        buffer: usize,
    },

    /// A buffer of one device was given to another.
    #[error("a buffer of device {found} was given to device {wanted}; contexts are never shared")]
    ForeignBuffer {
        /// The place in which the command runs.
        wanted: String,
        /// The place of the buffer.
        found: String,
    },

    /// An OpenCL object of another program cannot be used.
    #[error("an OpenCL {what} of another program cannot be used: {reason}")]
    Foreign {
        /// The kind of the object.
        what: &'static str,
        /// The reason.
        reason: String,
    },

    /// More memory than the device has, or more than it has left.
    #[error(
        "device {device}: cannot allocate {wanted} bytes; it has {memory} bytes of memory and grants at most {largest} in one piece"
    )]
    AllocationTooLarge {
        /// The device.
        device: String,
        /// Bytes wanted (`u64::MAX` if the number overflows).
        wanted: u64,
        /// Largest single allocation by the driver's word, in bytes.
        largest: u64,
        /// All memory of the device, in bytes.
        memory: u64,
    },

    /// A device has no images of the wanted size.
    #[error(
        "device {device} has no images of {} × {} numbers: its largest have {} × {}; take buffers",
        wanted[0], wanted[1], largest[0], largest[1]
    )]
    ImageTooLarge {
        /// The device.
        device: String,
        /// Wanted width and height.
        wanted: [usize; 2],
        /// Largest width and height, zeros if there are no images at all.
        largest: [usize; 2],
    },

    /// A way of reaching the memory of other devices that is not known.
    #[error(
        "LATTICE_CL_PEER: `{found}` is no way to the memory of other devices; give `off`, or a list of {known}"
    )]
    UnknownPeerWay {
        /// The request.
        found: String,
        /// All ways, with commas between them.
        known: String,
    },

    /// Memory of a device that others can reach is not to be had.
    #[error(
        "device {device}: no memory that other devices can reach: {reason}; set LATTICE_CL_PEER=off to go by the host"
    )]
    PeerMemory {
        /// The owner.
        device: String,
        /// The reason of the failure.
        reason: String,
    },

    /// A kernel waited too long for another device.
    #[error(
        "device {waiter} waited {seconds} s in vain for {awaited}, which may be lost or busy with other work; \
         leave it out, or set LATTICE_CL_PEER=off to go by the host"
    )]
    PeerTimeout {
        /// The device that waited.
        waiter: String,
        /// The one that it waited for.
        awaited: String,
        /// The longest time that it waits.
        seconds: f64,
    },

    /// A rank of several has no device.
    #[error(
        "rank {rank} has no OpenCL device, and the host holds whole lattices only; choose devices that every rank has, or start one \
         process with `host`"
    )]
    HostAmongRanks {
        /// The first such rank.
        rank: usize,
    },

    /// Ranks have different devices.
    #[error(
        "rank {rank} has other devices ({}) than rank 0 ({}); all ranks need the same, in the same order: name them by --device",
        devices[1], devices[0]
    )]
    UnlikeRanks {
        /// The first such rank.
        rank: usize,
        /// The devices of rank 0, and the devices of this rank.
        devices: [String; 2],
    },

    /// Launches on a team failed midway.
    #[error(
        "launches on {} failed midway, and these devices no longer agree on what they have told each other; open them anew",
        devices.join(", ")
    )]
    BrokenTeam {
        /// The devices.
        devices: Vec<String>,
    },

    /// The ranks of a job no longer understand each other.
    #[error(transparent)]
    Mpi(#[from] MpiError),

    /// More of the host's memory than this process may have.
    #[error(transparent)]
    HostMemory(#[from] NoRoom),

    /// The host starts no further thread.
    #[error(transparent)]
    Thread(#[from] NoThread),

    /// A kernel could not be started.
    ///
    /// Its work-groups may want more registers or local memory than the device has.
    #[error(
        "kernel `{kernel}` could not be started on {} work-items in groups of {} on device {device}: {} ({code})",
        tuple(global), tuple(local), error_text(*code)
    )]
    Launch {
        /// The kernel's name.
        kernel: String,
        /// Work-items in each dimension.
        global: Vec<usize>,
        /// Work-items of a group in each dimension.
        local: Vec<usize>,
        /// The status of clEnqueueNDRangeKernel.
        code: i32,
        /// The device.
        device: String,
    },

    /// An OpenCL call failed.
    #[error("{call} failed on device {device}: {} ({code})", error_text(*code))]
    OpenCl {
        /// The function of the OpenCL interface.
        call: &'static str,
        /// Its status.
        code: i32,
        /// The device.
        device: String,
    },
}

impl DeviceError {
    /// Returns the symbolic name of the OpenCL status, if an OpenCL call failed.
    pub fn symbol(&self) -> Option<&'static str> {
        match self {
            DeviceError::OpenCl { code, .. } | DeviceError::Launch { code, .. } => Some(error_text(*code)),
            _ => None,
        }
    }

    /// Names the call and the device of a raw OpenCL status, for `map_err`.
    pub(super) fn opencl(call: &'static str, device: &str) -> impl FnOnce(ClError) -> DeviceError {
        move |error| DeviceError::OpenCl { call, code: error.0, device: device.to_owned() }
    }
}

/// The message of the compiler about a source that it refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub struct BuildFailure {
    /// The program's key.
    pub program: String,
    /// The device it was built for.
    pub device: String,
    /// The options that the compiler got.
    pub options: String,
    /// The symbolic status of the build.
    pub status: &'static str,
    /// The compiler's log, as it came.
    pub log: String,
}

impl fmt::Display for BuildFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let log = self.log.trim();
        write!(
            f,
            "program {} does not build on device {}: {}\noptions: {}\n{}",
            self.program,
            self.device,
            self.status,
            self.options,
            if log.is_empty() { "(the compiler left no log)" } else { log }
        )
    }
}

fn not_combinable(selector: &str) -> String {
    match selector {
        "host" => "`host` computes without OpenCL and cannot share the work with devices; \
                   give `host` alone, or leave it out"
            .to_owned(),
        _ => format!("`{selector}` selects devices by itself; give it alone, or leave it out"),
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
