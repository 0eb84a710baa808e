//! Numbers of the devices that are open in this process at the same time.

use crate::sync::lock;
use std::sync::Mutex;

static TAKEN: Mutex<Vec<bool>> = Mutex::new(Vec::new());

/// The least number, from 0, that no other open device has.
///
/// The number is free again when dropped.
#[derive(Debug)]
pub(crate) struct Ordinal(usize);

impl Ordinal {
    pub fn take() -> Self {
        let mut taken = lock(&TAKEN);
        let free = taken.iter().position(|&is_taken| !is_taken).unwrap_or(taken.len());
        if free == taken.len() {
            taken.push(true);
        }
        taken[free] = true;
        Self(free)
    }

    pub fn number(&self) -> usize {
        self.0
    }
}

impl Drop for Ordinal {
    fn drop(&mut self) {
        lock(&TAKEN)[self.0] = false;
    }
}

#[cfg(test)]
mod tests {
    use super::Ordinal;
    use std::collections::HashSet;

    #[test]
    fn ordinals_differ_and_are_taken_again() {
        // Devices of other tests may have some, too.
        let ordinals: Vec<Ordinal> = (0..100).map(|_| Ordinal::take()).collect();
        let numbers: HashSet<usize> = ordinals.iter().map(Ordinal::number).collect();
        assert_eq!(numbers.len(), 100);
        drop(ordinals);
        assert!((0..100).all(|_| Ordinal::take().number() < 100));
    }
}
