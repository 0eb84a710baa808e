//! All ranks of a job: messages between them, and how they end.

use crate::abi::{Constants, Handle};
use crate::error::MpiError;
use crate::launcher::Launcher;
use crate::library::{Functions, Library};
use std::ffi::c_int;
use std::fmt;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Counts of MPI are ints; longer messages go in pieces of this many bytes.
const PIECE: usize = 1 << 30;

/// Looks at a request without a pause: a message of a fast network arrives then.
const QUICK_LOOKS: u32 = 200;

/// Looks after which a rank that waits sleeps.
///
/// Others may need its core. Before that it only gives up its turn.
const PATIENT_LOOKS: u32 = 5000;

/// The length of its sleep.
const SLEEP: Duration = Duration::from_micros(20);

/// The status of a Rust program that panicked.
const STATUS_OF_PANICS: u8 = 101;

/// All ranks of a job.
///
/// Dropping it leaves MPI if [`end`](World::end) has not. In a panic it ends all ranks.
pub struct World {
    functions: Functions,
    constants: Constants,
    library: String,
    /// All ranks once more, for how they end.
    ///
    /// Whatever else is under way is of another communicator.
    ending: Handle,
    rank: usize,
    size: usize,
    /// Number among the ranks of this machine, and how many these are.
    on_node: [usize; 2],
    /// MPI takes one call at a time.
    turn: Mutex<()>,
    over: AtomicBool,
}

/// A message to another rank.
#[derive(Debug)]
pub struct Outgoing<'a> {
    /// The rank.
    pub to: usize,
    /// Tells messages between the same two ranks apart; at most 32767.
    pub tag: usize,
    /// The bytes to send.
    pub bytes: &'a [u8],
}

/// A message from another rank.
#[derive(Debug)]
pub struct Incoming<'a> {
    /// The rank.
    pub from: usize,
    /// The tag of the message.
    pub tag: usize,
    /// Memory for the message, as long as the sent bytes.
    pub bytes: &'a mut [u8],
}

impl World {
    /// Opens the library that fits the launcher, and finds the other ranks.
    ///
    /// This is done once in the life of a process.
    ///
    /// # Errors
    /// * [`MpiError::NoLibrary`].
    /// * [`MpiError::OtherLauncher`] if the library belongs to another launcher. Every process
    ///   would find itself alone.
    /// * [`MpiError::NoThreads`].
    /// * [`MpiError::Failed`].
    pub fn open(launcher: &Launcher) -> Result<Self, MpiError> {
        let Library { functions, constants, name: library, understands } =
            Library::open(launcher).map_err(|tried| MpiError::NoLibrary {
                launcher: launcher.to_string(),
                size: launcher.size,
                tried,
            })?;
        let other_launcher = |library: &str| MpiError::OtherLauncher {
            launcher: launcher.to_string(),
            library: library.to_owned(),
            size: launcher.size,
        };
        if !understands {
            return Err(other_launcher(&library));
        }
        let wanted = constants.serialized;
        let mut granted = 0;
        // SAFETY: no arguments of the program are handed over, which MPI allows since version 2,
        // and `granted` is alive.
        check("MPI_Init_thread", unsafe { (functions.init)(0, 0, wanted, &mut granted) })?;
        let mut world = Self {
            functions,
            constants,
            library,
            ending: 0,
            rank: 0,
            size: 0,
            on_node: [0; 2],
            turn: Mutex::new(()),
            over: AtomicBool::new(false),
        };
        [world.rank, world.size] = world.place_in(constants.world)?;
        if world.size != launcher.size {
            return Err(other_launcher(&world.library));
        }
        if granted < wanted {
            return Err(MpiError::NoThreads { library: world.library.clone() });
        }
        let functions = &world.functions;
        // SAFETY: MPI is initialised, all ranks make these calls in this order, and the handles are
        // alive while they are written.
        check("MPI_Comm_dup", unsafe { (functions.duplicate)(constants.world, &mut world.ending) })?;
        let (mut node, key) = (0, world.rank as c_int);
        let Constants { shared_memory, no_info, .. } = constants;
        // SAFETY: as above.
        let status =
            unsafe { (functions.split_by_type)(constants.world, shared_memory, key, no_info, &mut node) };
        check("MPI_Comm_split_type", status)?;
        world.on_node = world.place_in(node)?;
        Ok(world)
    }

    /// Returns the rank and the number of ranks in a communicator.
    fn place_in(&self, communicator: Handle) -> Result<[usize; 2], MpiError> {
        let (mut rank, mut size) = (0, 0);
        // SAFETY: MPI is initialised, the communicator is one of its own, and the numbers are
        // alive.
        check("MPI_Comm_rank", unsafe { (self.functions.rank)(communicator, &mut rank) })?;
        // SAFETY: as above.
        check("MPI_Comm_size", unsafe { (self.functions.size)(communicator, &mut size) })?;
        Ok([rank as usize, size as usize])
    }

    /// Returns the number of this rank, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Returns the number of ranks.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns the number of this rank among those on the same machine.
    pub fn rank_on_node(&self) -> usize {
        self.on_node[0]
    }

    /// Returns the number of ranks on the same machine.
    pub fn size_of_node(&self) -> usize {
        self.on_node[1]
    }

    /// Returns the name that the library gives itself, with its file.
    pub fn library(&self) -> &str {
        &self.library
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a request, or until then. Says whether it is done.
    ///
    /// A library waits by looking all the time, which takes the core from who might send.
    fn wait_until(&self, request: &mut Handle, deadline: Option<Instant>) -> Result<bool, MpiError> {
        let (mut done, mut looks) = (0, 0u32);
        loop {
            // SAFETY: the request was made by this library, and `done` is alive.
            let status = unsafe { (self.functions.test)(request, &mut done, self.constants.no_status) };
            check("MPI_Test", status)?;
            if done != 0 {
                return Ok(true);
            }
            looks = looks.saturating_add(1);
            if looks > PATIENT_LOOKS {
                if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                    return Ok(false);
                }
                thread::sleep(SLEEP);
            } else if looks > QUICK_LOOKS {
                thread::yield_now();
            }
        }
    }

    /// Gathers the bytes of every rank, in the order of the ranks.
    ///
    /// All ranks give the same number of bytes.
    ///
    /// # Errors
    /// [`MpiError::TooLarge`]; [`MpiError::Failed`].
    pub fn gather(&self, mine: &[u8]) -> Result<Vec<u8>, MpiError> {
        // Two slices of nothing may have one address, which Open MPI refuses.
        if mine.is_empty() {
            return Ok(Vec::new());
        }
        let _turn = self.lock();
        let mut all = vec![0; mine.len() * self.size];
        self.gather_into(self.constants.world, mine, &mut all, None)?;
        Ok(all)
    }

    /// Gathers like [`gather`](Self::gather), with any number of bytes from each rank.
    ///
    /// # Errors
    /// The errors of [`gather`](Self::gather).
    pub fn gather_any(&self, mine: &[u8]) -> Result<Vec<Vec<u8>>, MpiError> {
        let lengths = self.gather(&(mine.len() as u64).to_le_bytes())?;
        let lengths: Vec<usize> = lengths.chunks_exact(8).map(|bytes| number(bytes) as usize).collect();
        let mut padded = mine.to_vec();
        padded.resize(lengths.iter().copied().max().unwrap_or(0), 0);
        let all = self.gather(&padded)?;
        let of_rank = |(rank, &length): (usize, &usize)| all[rank * padded.len()..][..length].to_vec();
        Ok(lengths.iter().enumerate().map(of_rank).collect())
    }

    /// Says whether all have come by the deadline.
    ///
    /// If not, MPI uses the memory for ever.
    fn gather_into(
        &self,
        communicator: Handle,
        mine: &[u8],
        all: &mut [u8],
        deadline: Option<Instant>,
    ) -> Result<bool, MpiError> {
        let (byte, mut request) = (self.constants.byte, 0);
        let Ok(count) = c_int::try_from(mine.len()) else {
            return Err(MpiError::TooLarge { found: mine.len(), most: c_int::MAX as usize });
        };
        // SAFETY: `all` has room for `count` bytes of each rank. Both slices live until the request
        // is done: whoever gives a deadline keeps them alive after it.
        let status = unsafe {
            let (mine, all) = (mine.as_ptr(), all.as_mut_ptr());
            (self.functions.all_gather)(mine, count, byte, all, count, byte, communicator, &mut request)
        };
        check("MPI_Iallgather", status)?;
        self.wait_until(&mut request, deadline)
    }

    /// Gives all ranks the bytes of rank `from`; all slices are equally long.
    ///
    /// # Errors
    /// [`MpiError::Failed`].
    pub fn broadcast(&self, from: usize, bytes: &mut [u8]) -> Result<(), MpiError> {
        let _turn = self.lock();
        for piece in bytes.chunks_mut(PIECE) {
            let (count, mut request) = (piece.len() as c_int, 0);
            // SAFETY: the piece has `count` bytes, and lives until the request is done below.
            let status = unsafe {
                let (byte, world) = (self.constants.byte, self.constants.world);
                (self.functions.broadcast)(
                    piece.as_mut_ptr(),
                    count,
                    byte,
                    from as c_int,
                    world,
                    &mut request,
                )
            };
            check("MPI_Ibcast", status)?;
            self.wait_until(&mut request, None)?;
        }
        Ok(())
    }

    /// Waits until every rank is here.
    ///
    /// # Errors
    /// [`MpiError::Failed`].
    pub fn barrier(&self) -> Result<(), MpiError> {
        self.gather(&[0]).map(drop)
    }

    /// Sends and receives messages, all at once, and waits for all of them.
    ///
    /// A rank that is sent something receives it by a call of its own.
    ///
    /// # Errors
    /// [`MpiError::Failed`], before anything is under way. Later failures end all ranks.
    pub fn exchange(&self, incoming: &mut [Incoming<'_>], outgoing: &[Outgoing<'_>]) -> Result<(), MpiError> {
        let _turn = self.lock();
        let Constants { byte, world, .. } = self.constants;
        let mut requests = Vec::with_capacity(incoming.len() + outgoing.len());
        let mut posted = Ok(());
        for Incoming { from, tag, bytes } in incoming {
            for piece in bytes.chunks_mut(PIECE) {
                let (count, mut request) = (piece.len() as c_int, 0);
                let (from, tag) = (*from as c_int, *tag as c_int);
                // SAFETY: the piece has `count` bytes, is borrowed exclusively, and lives until the
                // request is done below.
                let status = unsafe {
                    (self.functions.receive)(piece.as_mut_ptr(), count, byte, from, tag, world, &mut request)
                };
                posted = posted.and(check("MPI_Irecv", status).map(|()| requests.push(request)));
            }
        }
        for Outgoing { to, tag, bytes } in outgoing {
            for piece in bytes.chunks(PIECE) {
                let (count, mut request) = (piece.len() as c_int, 0);
                let (to, tag) = (*to as c_int, *tag as c_int);
                // SAFETY: the piece has `count` bytes, is not changed while it is borrowed, and
                // lives until the request is done below.
                let status = unsafe {
                    (self.functions.send)(piece.as_ptr(), count, byte, to, tag, world, &mut request)
                };
                posted = posted.and(check("MPI_Isend", status).map(|()| requests.push(request)));
            }
        }
        let nothing_under_way = requests.is_empty();
        let waited = posted.and_then(|()| {
            requests.iter_mut().try_for_each(|request| self.wait_until(request, None).map(drop))
        });
        match waited {
            // MPI may still write to memory that is about to be given back.
            Err(_) if !nothing_under_way => self.abort(1),
            waited => waited,
        }
    }

    /// Tells all ranks the status of this one, and waits until all have ended.
    ///
    /// Returns the statuses of all, in the order of the ranks. `None` if they have not come within
    /// `patience`. Then they are still at work, and only [`abort`](Self::abort) ends them. Nothing
    /// may be called after it but `abort`.
    pub fn end(&self, status: u8, patience: Option<Duration>) -> Option<Vec<u8>> {
        let _turn = self.lock();
        let deadline = patience.map(|patience| Instant::now() + patience);
        // MPI keeps them where not all ranks come.
        let (mine, all) = (Box::leak(Box::new([status])), vec![0; self.size].leak());
        let come = self.gather_into(self.ending, mine, all, deadline).unwrap_or(false);
        come.then(|| {
            self.leave();
            all.to_vec()
        })
    }

    fn leave(&self) {
        if !self.over.swap(true, Ordering::Relaxed) {
            // SAFETY: MPI is initialised, and no request is under way.
            unsafe { (self.functions.finalize)() };
        }
    }

    /// Leaves MPI when the process ends in the usual way.
    ///
    /// Nobody drops what is kept for the life of the process.
    ///
    /// A world that is kept for the life of the process is never dropped. Ranks that end wait for
    /// each other then. A rank that fails has to call [`abort`](Self::abort) before.
    pub fn leave_at_exit(&'static self) {
        if LEFT_AT_EXIT.set(self).is_ok() {
            // SAFETY: the function is one for the whole life of the program, and does not unwind:
            // MPI_Finalize is C.
            unsafe { atexit(leave_now) };
        }
    }

    /// Ends all ranks at once, with this status where the launcher passes it on.
    pub fn abort(&self, status: u8) -> ! {
        // SAFETY: MPI is initialised. It may be called while another call is under way, because
        // none returns any more.
        unsafe { (self.functions.abort)(self.constants.world, status.into()) };
        process::exit(status.into())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // To leave MPI is to wait for all ranks, and they for this one at something else.
        if thread::panicking() && !self.over.load(Ordering::Relaxed) {
            self.abort(STATUS_OF_PANICS);
        }
        self.leave();
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rank, size, library, .. } = self;
        write!(f, "rank {rank} of {size}, {library}")
    }
}

static LEFT_AT_EXIT: OnceLock<&World> = OnceLock::new();

// SAFETY: the declaration is that of the C standard.
unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
}

extern "C" fn leave_now() {
    if let Some(world) = LEFT_AT_EXIT.get() {
        world.leave();
    }
}

fn check(function: &'static str, code: c_int) -> Result<(), MpiError> {
    if code == 0 { Ok(()) } else { Err(MpiError::Failed { function, code }) }
}

/// Reads a number from eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
