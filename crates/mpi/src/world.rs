//! All ranks of a job: messages between them, and how they end.

use crate::abi::{Constants, Handle};
use crate::beginning::guarded;
use crate::error::{MpiError, check};
use crate::launcher::Launcher;
use crate::library::{Functions, Library};
use crate::patience::{LastWords, Patience};
use crate::ring::Ring;
use std::ffi::c_int;
use std::fmt;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
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

/// Time until the next try to give a sign of life, while another thread calls MPI.
const SOON: Duration = Duration::from_millis(50);

/// The status of a Rust program that panicked.
const STATUS_OF_PANICS: u8 = 101;

/// The status where nobody says the last words of a process.
const STATUS_WITHOUT_WORDS: u8 = 1;

/// All ranks of a job.
///
/// Dropping it leaves MPI if [`end`](World::end) has not. In a panic it ends all ranks.
pub struct World {
    shared: Arc<Shared>,
    library: String,
    /// All ranks once more, for how they end.
    ///
    /// Whatever else is under way is of another communicator.
    ending: Handle,
    rank: usize,
    size: usize,
    /// Number among the ranks of this machine, and how many these are.
    on_node: [usize; 2],
}

/// What the thread that gives signs of life shares with all others.
struct Shared {
    functions: Functions,
    constants: Constants,
    /// MPI takes one call at a time, and signs of life are given between calls.
    ring: Mutex<Ring>,
    over: AtomicBool,
    words: LastWords,
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
    /// This is done once in the life of a process. If ranks wait in vain, the log has the reason,
    /// and the process ends.
    ///
    /// # Errors
    /// * [`MpiError::NoLibrary`].
    /// * [`MpiError::OtherLauncher`] if the library belongs to another launcher. Every process
    ///   would find itself alone.
    /// * [`MpiError::NoThreads`].
    /// * [`MpiError::Patience`].
    /// * [`MpiError::Failed`].
    pub fn open(launcher: &Launcher) -> Result<Self, MpiError> {
        let words = |error: &MpiError| {
            tracing::error!("{error}");
            STATUS_WITHOUT_WORDS
        };
        Self::open_with(launcher, Arc::new(words))
    }

    /// Opens the library like [`open`](Self::open), with words for ranks that wait in vain.
    ///
    /// # Errors
    /// The errors of [`open`](Self::open).
    pub fn open_with(launcher: &Launcher, words: LastWords) -> Result<Self, MpiError> {
        let patience = Patience::of_environment(launcher)?;
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
        let begun = guarded(launcher, &library, patience.start, &words, || begin(&functions, &constants))?;
        let Begun { granted, rank, size, on_node, ending, signs } = begun;
        let ring = Mutex::new(Ring::new(signs, [rank, size], patience));
        let over = AtomicBool::new(false);
        let shared = Arc::new(Shared { functions, constants, ring, over, words });
        let world = Self { shared, library, ending, rank, size, on_node };
        if launcher.size.is_some_and(|told| told != size) {
            return Err(other_launcher(&world.library));
        }
        if granted < constants.serialized {
            return Err(MpiError::NoThreads { library: world.library.clone() });
        }
        if size > 1 {
            let shared = Arc::clone(&world.shared);
            thread::Builder::new().spawn(move || shared.give_signs()).map_err(MpiError::thread)?;
        }
        Ok(world)
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

    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.shared.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a request, or until then. Says whether it is done.
    ///
    /// A library waits by looking all the time, which takes the core from who might send. A wait in
    /// vain ends the process, because MPI may still use the memory of the request.
    fn wait_until(
        &self,
        ring: &mut Ring,
        request: &mut Handle,
        deadline: Option<Instant>,
    ) -> Result<bool, MpiError> {
        let Shared { functions, constants, .. } = &*self.shared;
        let (mut done, mut looks) = (0, 0u32);
        ring.wait_anew();
        loop {
            // SAFETY: the request was made by this library, and `done` is alive.
            let status = unsafe { (functions.test)(request, &mut done, constants.no_status) };
            check("MPI_Test", status)?;
            if done != 0 {
                ring.wait_anew();
                return Ok(true);
            }
            if let Err(error) = ring.turn(functions, constants, true) {
                self.shared.end_in_vain(&error);
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
        let mut all = vec![0; mine.len() * self.size];
        self.gather_into(&mut self.lock(), self.shared.constants.world, mine, &mut all, None)?;
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
        ring: &mut Ring,
        communicator: Handle,
        mine: &[u8],
        all: &mut [u8],
        deadline: Option<Instant>,
    ) -> Result<bool, MpiError> {
        let (byte, mut request) = (self.shared.constants.byte, 0);
        let Ok(count) = c_int::try_from(mine.len()) else {
            return Err(MpiError::TooLarge { found: mine.len(), most: c_int::MAX as usize });
        };
        // SAFETY: `all` has room for `count` bytes of each rank. Both slices live until the request
        // is done: whoever gives a deadline keeps them alive after it.
        let status = unsafe {
            let (mine, all) = (mine.as_ptr(), all.as_mut_ptr());
            (self.shared.functions.all_gather)(
                mine,
                count,
                byte,
                all,
                count,
                byte,
                communicator,
                &mut request,
            )
        };
        check("MPI_Iallgather", status)?;
        self.wait_until(ring, &mut request, deadline)
    }

    /// Gives all ranks the bytes of rank `from`; all slices are equally long.
    ///
    /// # Errors
    /// [`MpiError::Failed`].
    pub fn broadcast(&self, from: usize, bytes: &mut [u8]) -> Result<(), MpiError> {
        let mut ring = self.lock();
        let (byte, world) = (self.shared.constants.byte, self.shared.constants.world);
        for piece in bytes.chunks_mut(PIECE) {
            let (count, mut request) = (piece.len() as c_int, 0);
            // SAFETY: the piece has `count` bytes, and lives until the request is done below.
            let status = unsafe {
                (self.shared.functions.broadcast)(
                    piece.as_mut_ptr(),
                    count,
                    byte,
                    from as c_int,
                    world,
                    &mut request,
                )
            };
            check("MPI_Ibcast", status)?;
            self.wait_until(&mut ring, &mut request, None)?;
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
        let mut ring = self.lock();
        let functions = &self.shared.functions;
        let Constants { byte, world, .. } = self.shared.constants;
        let mut requests = Vec::with_capacity(incoming.len() + outgoing.len());
        let mut posted = Ok(());
        for Incoming { from, tag, bytes } in incoming {
            for piece in bytes.chunks_mut(PIECE) {
                let (count, mut request) = (piece.len() as c_int, 0);
                let (from, tag) = (*from as c_int, *tag as c_int);
                // SAFETY: the piece has `count` bytes, is borrowed exclusively, and lives until the
                // request is done below.
                let status = unsafe {
                    (functions.receive)(piece.as_mut_ptr(), count, byte, from, tag, world, &mut request)
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
                let status =
                    unsafe { (functions.send)(piece.as_ptr(), count, byte, to, tag, world, &mut request) };
                posted = posted.and(check("MPI_Isend", status).map(|()| requests.push(request)));
            }
        }
        let nothing_under_way = requests.is_empty();
        let waited = posted.and_then(|()| {
            requests.iter_mut().try_for_each(|request| self.wait_until(&mut ring, request, None).map(drop))
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
        let mut ring = self.lock();
        let deadline = patience.map(|patience| Instant::now() + patience);
        // MPI keeps them where not all ranks come.
        let (mine, all) = (Box::leak(Box::new([status])), vec![0; self.size].leak());
        let come = self.gather_into(&mut ring, self.ending, mine, all, deadline).unwrap_or(false);
        come.then(|| {
            self.shared.leave(&mut ring);
            all.to_vec()
        })
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
        self.shared.abort(status)
    }
}

impl Shared {
    /// Gives signs of life while other threads do not call MPI, until this rank leaves it.
    fn give_signs(&self) {
        loop {
            let interval = match self.ring.try_lock() {
                Ok(mut ring) if !self.over.load(Ordering::Relaxed) => {
                    if let Err(error) = ring.turn(&self.functions, &self.constants, false) {
                        self.end_in_vain(&error);
                    }
                    ring.interval()
                }
                // A thread that waits gives the signs.
                Err(TryLockError::WouldBlock) if !self.over.load(Ordering::Relaxed) => SOON,
                Ok(_) | Err(_) => return,
            };
            thread::sleep(interval);
        }
    }

    /// Ends all ranks, which wait for each other in vain.
    fn end_in_vain(&self, error: &MpiError) -> ! {
        self.abort((self.words)(error))
    }

    fn leave(&self, ring: &mut Ring) {
        if !self.over.swap(true, Ordering::Relaxed) {
            // A ring that is broken leaves all the more.
            let _ = ring.close(&self.functions, &self.constants, SLEEP);
            // SAFETY: MPI is initialised, and no request is under way.
            unsafe { (self.functions.finalize)() };
        }
    }

    fn abort(&self, status: u8) -> ! {
        // SAFETY: MPI is initialised. It may be called while another call is under way, because
        // none returns any more.
        unsafe { (self.functions.abort)(self.constants.world, status.into()) };
        process::exit(status.into())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // To leave MPI is to wait for all ranks, and they for this one at something else.
        if thread::panicking() && !self.shared.over.load(Ordering::Relaxed) {
            self.abort(STATUS_OF_PANICS);
        }
        self.shared.leave(&mut self.lock());
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
        world.shared.leave(&mut world.lock());
    }
}

/// What a rank learns at its beginning.
struct Begun {
    /// The threads that the library grants.
    granted: c_int,
    rank: usize,
    size: usize,
    on_node: [usize; 2],
    /// All ranks once more, for how they end.
    ending: Handle,
    /// All ranks once more, for signs of life.
    signs: Handle,
}

/// Begins MPI. The calls wait for all ranks.
fn begin(functions: &Functions, constants: &Constants) -> Result<Begun, MpiError> {
    let mut granted = 0;
    // SAFETY: no arguments of the program are handed over, which MPI allows since version 2, and
    // `granted` is alive.
    check("MPI_Init_thread", unsafe { (functions.init)(0, 0, constants.serialized, &mut granted) })?;
    let [rank, size] = place_in(functions, constants.world)?;
    let duplicate = || {
        let mut copy = 0;
        // SAFETY: MPI is initialised, all ranks make these calls in this order, and the handle is
        // alive while it is written.
        check("MPI_Comm_dup", unsafe { (functions.duplicate)(constants.world, &mut copy) }).map(|()| copy)
    };
    let (ending, signs) = (duplicate()?, duplicate()?);
    let (mut node, key) = (0, rank as c_int);
    let Constants { world, shared_memory, no_info, .. } = *constants;
    // SAFETY: as above.
    let status = unsafe { (functions.split_by_type)(world, shared_memory, key, no_info, &mut node) };
    check("MPI_Comm_split_type", status)?;
    Ok(Begun { granted, rank, size, on_node: place_in(functions, node)?, ending, signs })
}

/// Returns the rank and the number of ranks in a communicator.
fn place_in(functions: &Functions, communicator: Handle) -> Result<[usize; 2], MpiError> {
    let (mut rank, mut size) = (0, 0);
    // SAFETY: MPI is initialised, the communicator is one of its own, and the numbers are alive.
    check("MPI_Comm_rank", unsafe { (functions.rank)(communicator, &mut rank) })?;
    // SAFETY: as above.
    check("MPI_Comm_size", unsafe { (functions.size)(communicator, &mut size) })?;
    Ok([rank as usize, size as usize])
}

/// Reads a number from eight bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}
