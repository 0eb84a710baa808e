//! Unused memory that a device keeps for the next user.

use crate::sync::lock;
use std::sync::Mutex;

/// Pieces of memory of kind `M`, and the bytes of each.
///
/// The pool holds no [`Device`](crate::Device), so that the device can keep it.
pub(super) struct Pool<M>(Mutex<Vec<(M, usize)>>);

impl<M> Default for Pool<M> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<M> Pool<M> {
    /// Takes the smallest piece of at least so many bytes, and tells its bytes.
    pub fn take(&self, wanted: usize) -> Option<(M, usize)> {
        let mut free = lock(&self.0);
        let large_enough = free.iter().enumerate().filter(|(_, (_, bytes))| *bytes >= wanted);
        match large_enough.min_by_key(|(_, (_, bytes))| *bytes).map(|(position, _)| position) {
            Some(position) => Some(free.swap_remove(position)),
            None => {
                // A piece that is too small now would be too small again.
                free.pop();
                None
            }
        }
    }

    /// Keeps a piece of so many bytes, if the pool then has at most `most` bytes.
    pub fn give_back(&self, memory: M, bytes: usize, most: usize) {
        let mut free = lock(&self.0);
        let kept = free.iter().fold(bytes, |sum, (_, bytes)| sum.saturating_add(*bytes));
        if kept <= most {
            free.push((memory, bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_piece_that_is_large_enough_is_taken_and_no_more_than_allowed_is_kept() {
        let pool = Pool::default();
        for (name, bytes) in [("large", 100), ("medium", 50), ("small", 10), ("one too many", 41)] {
            pool.give_back(name, bytes, 200);
        }
        assert_eq!(pool.take(20), Some(("medium", 50)));
        assert_eq!(pool.take(20), Some(("large", 100)));
        assert_eq!(pool.take(20), None);
        // The piece that was too small has made room.
        assert_eq!(pool.take(1), None);
    }
}
