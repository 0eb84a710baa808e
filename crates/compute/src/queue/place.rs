//! Numbers that tell apart the devices of this process that are open at the same time.

use crate::sync::lock;
use std::sync::Mutex;

static TAKEN: Mutex<Vec<bool>> = Mutex::new(Vec::new());

/// The least number, from 0, that no other place has; free again when dropped.
#[derive(Debug)]
pub(crate) struct Place(usize);

impl Place {
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

impl Drop for Place {
    fn drop(&mut self) {
        lock(&TAKEN)[self.0] = false;
    }
}

#[cfg(test)]
mod tests {
    use super::Place;
    use std::collections::HashSet;

    #[test]
    fn places_differ_and_are_taken_again() {
        // Devices of other tests may have places, too.
        let places: Vec<Place> = (0..100).map(|_| Place::take()).collect();
        let numbers: HashSet<usize> = places.iter().map(Place::number).collect();
        assert_eq!(numbers.len(), 100);
        drop(places);
        assert!((0..100).all(|_| Place::take().number() < 100));
    }
}
