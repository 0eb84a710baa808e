//! Which trajectories of a Markov chain are measured.

use crate::error::{StatisticsError, StatisticsResult};
use std::sync::Arc;

/// Numbers of the measured trajectories of a replica, increasing.
///
/// Copies share memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trajectories(Arc<[u64]>);

impl Trajectories {
    /// Returns trajectories with these numbers.
    ///
    /// # Errors
    /// The numbers do not increase.
    pub fn new(numbers: impl Into<Arc<[u64]>>) -> StatisticsResult<Self> {
        let numbers = numbers.into();
        match numbers.windows(2).position(|pair| pair[1] <= pair[0]) {
            Some(at) => Err(StatisticsError::TrajectoryOrder {
                index: at + 1,
                previous: numbers[at],
                next: numbers[at + 1],
            }),
            None => Ok(Self(numbers)),
        }
    }

    /// Returns the trajectories 1, 2, …, `count`.
    pub fn consecutive(count: usize) -> Self {
        Self((1..=count as u64).collect())
    }

    /// Returns the numbers.
    pub fn numbers(&self) -> &[u64] {
        &self.0
    }

    /// Returns the number of measured trajectories.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells whether no trajectory is measured.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the smallest distance of neighbours.
    ///
    /// `None` for fewer than two trajectories.
    pub fn spacing(&self) -> Option<u64> {
        self.0.windows(2).map(|pair| pair[1] - pair[0]).min()
    }

    /// Returns the trajectories before and after each gap.
    ///
    /// A gap is a distance of neighbours above the smallest one.
    pub fn gaps(&self) -> Vec<(u64, u64)> {
        let Some(spacing) = self.spacing() else { return Vec::new() };
        let pairs = self.0.windows(2).filter(|pair| pair[1] - pair[0] > spacing);
        pairs.map(|pair| (pair[0], pair[1])).collect()
    }

    /// Tells whether all neighbours have one distance.
    pub fn is_regular(&self) -> bool {
        self.gaps().is_empty()
    }

    /// Returns the trajectories that are measured in one of the two.
    pub(crate) fn union(&self, other: &Self) -> Self {
        if self == other {
            return self.clone();
        }
        let mut numbers = [self.numbers(), other.numbers()].concat();
        numbers.sort_unstable();
        numbers.dedup();
        Self(numbers.into())
    }

    /// Returns the place of each of these trajectories among `others`.
    ///
    /// The others have all of them.
    pub(crate) fn places_in(&self, others: &Self) -> Vec<usize> {
        let mut place = 0;
        let mut next = |number: &u64| {
            while others.0[place] != *number {
                place += 1;
            }
            place
        };
        self.0.iter().map(&mut next).collect()
    }
}
