//! Memory of released buffers that the next buffers of a device take over.
//!
//! NVIDIA's driver takes 0.3 ms to allocate or release the memory of a field, and waits for the
//! device then. A solve needs a dozen fields.

use crate::sync::lock;
use std::sync::Mutex;

/// The share of a device's memory that is spare at most: one part in so many.
const MOST_SPARE: u64 = 8;

/// Largest share of a device's memory for buffers and spare memory, in percent.
const MOST_USED: u64 = 85;

/// Number of spare pieces at most.
const MOST_PIECES: usize = 512;

/// Pieces of memory of kind `M` that nobody uses, and the bytes that are in use.
pub(crate) struct Spare<M>(Mutex<State<M>>);

struct State<M> {
    free: Vec<(M, usize)>,
    used: u64,
    /// The largest value of `used` since [`Spare::take_most`].
    most: u64,
}

impl<M> Default for Spare<M> {
    fn default() -> Self {
        Self(Mutex::new(State { free: Vec::new(), used: 0, most: 0 }))
    }
}

impl<M> State<M> {
    fn add(&mut self, bytes: usize) {
        self.used += bytes as u64;
        self.most = self.most.max(self.used);
    }

    fn spare(&self) -> u64 {
        self.free.iter().map(|(_, bytes)| *bytes as u64).sum()
    }
}

impl<M> Spare<M> {
    /// Takes a piece of exactly so many bytes, if there is one.
    ///
    /// The bytes count as used from now on.
    pub fn take(&self, bytes: usize) -> Option<M> {
        let mut state = lock(&self.0);
        let position = state.free.iter().rposition(|(_, free)| *free == bytes)?;
        state.add(bytes);
        Some(state.free.remove(position).0)
    }

    /// Counts bytes that are about to be allocated on a device with `memory` bytes.
    ///
    /// Returns spare pieces that have to be released first.
    #[must_use]
    pub fn grow(&self, bytes: usize, memory: u64) -> Vec<(M, usize)> {
        let mut state = lock(&self.0);
        state.add(bytes);
        let is_tight = state.used + state.spare() > memory / 100 * MOST_USED;
        if is_tight { std::mem::take(&mut state.free) } else { Vec::new() }
    }

    /// Counts bytes that were released, or could not be allocated.
    pub fn shrink(&self, bytes: usize) {
        let mut state = lock(&self.0);
        state.used = state.used.saturating_sub(bytes as u64);
    }

    /// Takes back a piece that nobody uses any more.
    ///
    /// Returns what a device with `memory` bytes has no room for, for the caller to release: the
    /// pieces that have been spare for the longest time.
    #[must_use]
    pub fn give_back(&self, piece: M, bytes: usize, memory: u64) -> Vec<(M, usize)> {
        let mut state = lock(&self.0);
        state.used = state.used.saturating_sub(bytes as u64);
        state.free.push((piece, bytes));
        let mut surplus = state.spare().saturating_sub(memory / MOST_SPARE);
        let mut count = 0;
        while surplus > 0 || state.free.len() - count > MOST_PIECES {
            surplus = surplus.saturating_sub(state.free[count].1 as u64);
            count += 1;
        }
        state.free.drain(..count).collect()
    }

    /// Returns the most bytes that were in use at once since the last call.
    pub fn take_most(&self) -> u64 {
        let mut state = lock(&self.0);
        let used = state.used;
        std::mem::replace(&mut state.most, used)
    }

    /// Takes all spare pieces, for the caller to release.
    #[must_use]
    pub fn take_all(&self) -> Vec<(M, usize)> {
        std::mem::take(&mut lock(&self.0).free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of the device.
    const MEMORY: u64 = 8000;

    #[test]
    fn a_piece_serves_again_only_where_exactly_as_many_bytes_are_wanted() {
        let spare = Spare::default();
        assert!(spare.grow(500, MEMORY).is_empty());
        assert!(spare.give_back("field", 500, MEMORY).is_empty());
        assert_eq!(spare.take(499), None);
        assert_eq!(spare.take(500), Some("field"));
        assert_eq!(spare.take(500), None);
    }

    #[test]
    fn the_most_bytes_are_those_since_the_last_question() {
        let spare = Spare::<&str>::default();
        assert!(spare.grow(500, MEMORY).is_empty());
        assert!(spare.grow(300, MEMORY).is_empty());
        spare.shrink(500);
        assert_eq!((spare.take_most(), spare.take_most()), (800, 300));
        assert!(spare.give_back("field", 300, MEMORY).is_empty());
        assert_eq!((spare.take(300), spare.take_most()), (Some("field"), 300));
    }

    #[test]
    fn an_eighth_of_the_memory_is_spare_at_most() {
        let spare = Spare::default();
        assert!(spare.give_back("old", 600, MEMORY).is_empty());
        assert_eq!(spare.give_back("new", 600, MEMORY), [("old", 600)]);
        assert!(spare.give_back("small", 400, MEMORY).is_empty());
        assert_eq!(spare.give_back("too large", 1001, MEMORY).len(), 3);
        assert!(spare.take_all().is_empty());
    }

    #[test]
    fn small_pieces_are_released_when_they_become_many() {
        let spare = Spare::default();
        for number in 0..MOST_PIECES {
            assert!(spare.give_back(number, 1, MEMORY).is_empty());
        }
        assert_eq!(spare.give_back(MOST_PIECES, 1, MEMORY), [(0, 1)]);
    }

    #[test]
    fn spare_memory_makes_room_where_buffers_need_it() {
        let spare = Spare::default();
        assert!(spare.grow(900, MEMORY).is_empty());
        assert!(spare.give_back("field", 900, MEMORY).is_empty());
        assert!(spare.grow(5800, MEMORY).is_empty());
        assert_eq!(spare.grow(200, MEMORY), [("field", 900)]);
        // Released memory does not count any more.
        spare.shrink(5800);
        assert!(spare.give_back("field", 200, MEMORY).is_empty());
        assert!(spare.grow(5800, MEMORY).is_empty());
    }
}
