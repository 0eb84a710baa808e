//! Pieces of matrices in pinned memory, on their way to one device or to several.

use lattice_compute::PinnedBuffer;
use lattice_compute::sync::lock;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// A piece that a thread is copying to pinned memory, or has copied.
pub struct Staged<T> {
    pinned: Mutex<Option<Arc<PinnedBuffer<T>>>>,
    copied: Condvar,
}

impl<T> Staged<T> {
    /// Makes a piece that is not there yet.
    pub fn new() -> Arc<Self> {
        Arc::new(Self { pinned: Mutex::default(), copied: Condvar::new() })
    }

    /// Sets the piece, which is there now.
    pub fn set(&self, pinned: PinnedBuffer<T>) {
        *lock(&self.pinned) = Some(Arc::new(pinned));
        self.copied.notify_all();
    }

    /// Waits for the piece and returns it.
    pub fn wait(&self) -> Arc<PinnedBuffer<T>> {
        let mut pinned = lock(&self.pinned);
        loop {
            if let Some(pinned) = &*pinned {
                return Arc::clone(pinned);
            }
            pinned = self.copied.wait(pinned).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A piece of a matrix: the number of the panel, and the piece's number within it.
pub type Key = (usize, usize);

struct Entry<T> {
    key: Key,
    piece: Arc<Staged<T>>,
    /// Number of devices that have not come for the piece.
    left: usize,
}

/// Pieces of a matrix that several devices are sent.
///
/// The first device that needs a piece copies it for all. The host copies to pinned memory hardly
/// faster than two devices read it. Nobody waits for a slow device, though: a device that comes
/// much later copies a piece again.
pub struct SharedPieces<T> {
    devices: usize,
    /// Oldest first.
    entries: Mutex<VecDeque<Entry<T>>>,
}

impl<T> SharedPieces<T> {
    /// Makes an empty collection for `devices` devices.
    pub fn new(devices: usize) -> Self {
        Self { devices, entries: Mutex::default() }
    }

    /// Returns a piece that a device comes for, if another one has promised it.
    pub fn find(&self, key: Key) -> Option<Arc<Staged<T>>> {
        Self::take(&mut lock(&self.entries), key)
    }

    /// Finds a piece like [`SharedPieces::find`], or makes the caller promise it.
    ///
    /// The second value is `true` if the caller promises the piece. At most `most_waiting` pieces
    /// wait for devices that need them later.
    pub fn find_or_promise(&self, key: Key, most_waiting: usize) -> (Arc<Staged<T>>, bool) {
        let mut entries = lock(&self.entries);
        if let Some(piece) = Self::take(&mut entries, key) {
            return (piece, false);
        }
        let piece = Staged::new();
        if self.devices > 1 {
            if entries.len() == most_waiting {
                entries.pop_front();
            }
            entries.push_back(Entry { key, piece: Arc::clone(&piece), left: self.devices - 1 });
        }
        (piece, true)
    }

    fn take(entries: &mut VecDeque<Entry<T>>, key: Key) -> Option<Arc<Staged<T>>> {
        let position = entries.iter().position(|entry| entry.key == key)?;
        let entry = &mut entries[position];
        entry.left = entry.left.saturating_sub(1);
        let piece = Arc::clone(&entry.piece);
        if entry.left == 0 {
            entries.remove(position);
        }
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_promised_once_to_all_devices() {
        let pieces = SharedPieces::<f64>::new(3);
        assert!(pieces.find((0, 0)).is_none());
        let (first, promised) = pieces.find_or_promise((0, 0), 4);
        assert!(promised);
        let (second, promised) = pieces.find_or_promise((0, 0), 4);
        assert!(!promised && Arc::ptr_eq(&first, &second));
        assert!(pieces.find((0, 0)).is_some_and(|third| Arc::ptr_eq(&first, &third)));
        assert!(pieces.find((0, 0)).is_none(), "all three have come for it");
    }

    #[test]
    fn who_comes_much_later_copies_a_piece_again() {
        let pieces = SharedPieces::<f64>::new(2);
        for piece in 0..=4 {
            assert!(pieces.find_or_promise((7, piece), 4).1);
        }
        assert!(pieces.find((7, 0)).is_none());
        assert!(pieces.find((7, 1)).is_some());
    }
}
