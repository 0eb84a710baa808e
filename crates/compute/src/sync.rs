//! Locks whose contents stay valid even if a holder panics.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex whose contents stay valid even if a holder panicked.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
