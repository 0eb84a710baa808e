//! Memory that nobody is using, kept by a device for the next who needs some.

use crate::sync::lock;
use std::sync::Mutex;

/// Pieces of memory of kind `M`, and the bytes of each. It holds no [`Device`](super::Device), so that the device can keep it.
pub(super) struct Pool<M>(Mutex<Vec<(M, usize)>>);

impl<M> Default for Pool<M> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<M> Pool<M> {
    /// A piece of at least so many bytes, and how many it has.
    pub fn take(&self, wanted: usize) -> Option<(M, usize)> {
        let mut free = lock(&self.0);
        match free.iter().position(|(_, bytes)| *bytes >= wanted) {
            Some(position) => Some(free.swap_remove(position)),
            None => {
                // What is too small now would be too small again.
                free.pop();
                None
            }
        }
    }

    /// Keeps a piece of so many bytes, unless there are `most` already.
    pub fn give_back(&self, memory: M, bytes: usize, most: usize) {
        let mut free = lock(&self.0);
        if free.len() < most {
            free.push((memory, bytes));
        }
    }
}
