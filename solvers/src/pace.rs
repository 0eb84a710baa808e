//! How many iterations pass until the next look at the residual.

/// The part of the time that may be spent on looks.
///
/// The time is measured in bytes that a device could move meanwhile.
const SHARE_OF_LOOKS: f64 = 0.01;

/// Most iterations from one look to the next: what went wrong is noticed that late.
pub(crate) const LONGEST_BLIND: usize = 32;

/// Most iterations from one look to the next if the residual is to be replaced.
///
/// Below the residual at which it should have been replaced, low precision gains nothing.
const LONGEST_BLIND_REPLACED: usize = 8;

/// Iterations from which the rate of convergence is told.
const RATE_WINDOW: usize = 16;

/// Number of iterations for which the rate is trusted.
///
/// A longer way is trusted for half of its length: residuals that fell slowly may begin to fall
/// fast.
const SHORT_WAY: usize = 4;

/// The numbers on which the next look depends.
///
/// The next look comes after as many iterations as make looks cheap. It comes sooner on the way to
/// where the residual will probably have fallen enough. The decision depends on counts and
/// residuals only, never on the clock. So a solve does the same every time.
pub(crate) struct Pace<'a> {
    /// Bytes that could be moved during a look.
    pub bytes_of_look: u64,
    /// Bytes that an iteration moves.
    pub bytes_of_iteration: u64,
    /// `true` if the residual is replaced when it is due.
    pub replaces: bool,
    /// The iterated residual at which the true one is due.
    pub due: f64,
    /// The iterated residual.
    pub iterated: f64,
    /// The iterated residuals so far.
    pub history: &'a [f64],
    /// Iterations from which on the residual fell without interruption.
    pub undisturbed: usize,
}

impl Pace<'_> {
    /// Returns the number of iterations until the next look.
    pub fn step(&self) -> usize {
        let cheap = self.bytes_of_look as f64 / (SHARE_OF_LOOKS * self.bytes_of_iteration.max(1) as f64);
        let left = self.iterations_left();
        let (longest, trusted) = match self.replaces {
            // Replacements are near, and looks on the way to them cost more than they save.
            true => (LONGEST_BLIND_REPLACED, left),
            false if left > SHORT_WAY => (LONGEST_BLIND, left / 2),
            false => (LONGEST_BLIND, left),
        };
        (cheap as usize).min(longest).min(trusted).min(self.undisturbed).max(1)
    }

    /// Iterations until the next true residual is due, by the rate of the last ones.
    fn iterations_left(&self) -> usize {
        let (last, window) = (self.history.len() - 1, RATE_WINDOW.min(self.history.len() - 1));
        let rate = (self.iterated / self.history[last - window]).ln() / window as f64;
        // A residual that does not fall makes this infinite, negative or not a number.
        let left = ((self.due / self.iterated).ln() / rate).floor();
        if left >= 1.0 {
            left.min(1e6) as usize
        } else if rate < 0.0 {
            1
        } else {
            usize::MAX
        }
    }
}
