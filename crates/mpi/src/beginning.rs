//! The beginning of a job, where a library may wait for ever or end the process.
//!
//! `MPI_Init` waits for all ranks, and knows no time-out. A rank that is another program never
//! comes. A library that does not understand its launcher ends the process.

use crate::error::MpiError;
use crate::launcher::Launcher;
use crate::patience::LastWords;
use std::ffi::c_int;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The interval of looks.
///
/// Time counts by looks, so that a job that is suspended loses no patience.
const LOOK: Duration = Duration::from_millis(50);

/// Time that the second rank leaves to the first one to speak.
///
/// The others leave twice as much, and end in silence.
const WORD_OF_THE_FIRST: Duration = Duration::from_secs(2);

/// What is said if the library ends the process.
struct Farewell {
    library: String,
    words: LastWords,
}

/// Is there while the library may end the process.
static FAREWELL: Mutex<Option<Farewell>> = Mutex::new(None);

// SAFETY: the declarations are those of the C standard and of POSIX.
unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> c_int;
    fn _exit(status: c_int) -> !;
}

/// Ends the process at once, without what it has for its end.
fn end_at_once(status: u8) -> ! {
    // SAFETY: any thread may call this function at any time.
    unsafe { _exit(status.into()) }
}

/// Calls functions of MPI that wait for all ranks.
///
/// If they do not come back in time, or end the process, the process ends with `words`.
///
/// # Errors
/// The errors of `work`; [`MpiError::Thread`] before it.
pub fn guarded<T>(
    launcher: &Launcher,
    library: &str,
    patience: Option<Duration>,
    words: &LastWords,
    work: impl FnOnce() -> Result<T, MpiError>,
) -> Result<T, MpiError> {
    let farewell = || FAREWELL.lock().unwrap_or_else(PoisonError::into_inner);
    *farewell() = Some(Farewell { library: library.to_owned(), words: Arc::clone(words) });
    // SAFETY: the function is one for the whole life of the program, and does not unwind.
    unsafe { atexit(say_farewell) };
    let (done, is_done) = channel::<()>();
    if let Some(patience) = patience {
        let (rank, words) = (launcher.rank, Arc::clone(words));
        let watch = move || {
            let wait = |time: Duration| {
                let looks = time.as_millis().div_ceil(LOOK.as_millis());
                (0..looks).all(|_| is_done.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout))
            };
            let turn = WORD_OF_THE_FIRST * rank.min(2) as u32;
            if wait(patience) && wait(turn) {
                let error = MpiError::NotAllHere { seconds: patience.as_secs_f64() };
                // One message is enough. The first rank may be the one that is missing.
                end_at_once(if rank < 2 { words(&error) } else { STATUS_IN_SILENCE });
            }
        };
        thread::Builder::new().spawn(watch).map_err(MpiError::thread)?;
    }
    let result = work();
    drop(done);
    *farewell() = None;
    result
}

/// The status of ranks that leave the word to others.
const STATUS_IN_SILENCE: u8 = 1;

extern "C" fn say_farewell() {
    let farewell = FAREWELL.try_lock().ok().and_then(|mut farewell| farewell.take());
    if let Some(Farewell { library, words }) = farewell {
        end_at_once(words(&MpiError::EndedByLibrary { library }));
    }
}
