//! Progress of the solves of a job, and the time that is left.
//!
//! The logarithm of the residual falls about evenly. The logarithm's share of the way to the
//! tolerance therefore makes a good bar.

use indicatif::ProgressBar;
use lattice_cl::compute::Team;
use lattice_cl::job::Progress;
use lattice_cl::multigrid::SetupProgress;
use lattice_cli::report::{Report, scientific};
use lattice_solvers::LanczosLook;
use std::time::{Duration, Instant};

/// Interval between changes of the bar.
const REFRESH: Duration = Duration::from_millis(100);

/// Interval between lines of `-v` about a solve.
const LINE: Duration = Duration::from_secs(1);

/// Least share of a job whose rate says something about the rest.
const LEAST_SHARE: f64 = 0.03;

/// Number of steps of the bar.
const STEPS: u64 = 1000;

/// The bar of a job of one or more solves.
///
/// The bar is one line, broken here:
///
/// ```text
/// solve 1/12  point 0.0.0.0, spin 0, colour 0  iteration 312
///     residual 2.1e-06 → 1e-10  ██░░  14 s left
/// ```
pub struct SolveBar<'a> {
    report: &'a Report,
    bar: ProgressBar,
    team: Team,
    tolerance: f64,
    solves: usize,
    done: usize,
    /// Solves under way: columns that are solved at once.
    under_way: usize,
    /// Smallest residual of the solve under way.
    smallest: f64,
    /// Beginning of the first solve of this run.
    ///
    /// The tuple has the moment, the compile time until then, and the share of the job.
    begun: Option<(Instant, Duration, f64)>,
    refreshed: Option<Instant>,
    said: Instant,
}

impl<'a> SolveBar<'a> {
    /// Creates the bar for `solves` solves to this tolerance.
    pub fn new(report: &'a Report, team: &Team, tolerance: f64, solves: usize) -> Self {
        Self {
            report,
            bar: report.wide_bar(STEPS),
            team: team.clone(),
            tolerance,
            solves,
            done: 0,
            under_way: 1,
            smallest: 1.0,
            begun: None,
            refreshed: None,
            said: Instant::now(),
        }
    }

    /// Begins the next solves, so many at once.
    pub fn begin(&mut self, solves: usize) {
        self.under_way = solves;
        self.smallest = 1.0;
        let share = self.share();
        self.begun.get_or_insert_with(|| (Instant::now(), self.team.compile_time(), share));
    }

    /// Counts a solve that is done, in this run or in an earlier one.
    pub fn solved(&mut self) {
        self.done += 1;
        self.under_way = 1;
        self.smallest = 1.0;
    }

    /// Removes the bar.
    pub fn end(&mut self) {
        self.bar.finish_and_clear();
    }

    /// Shows how far the solve is.
    pub fn looked(&mut self, progress: &Progress<'_>) {
        let residual = progress.residual;
        if residual < self.smallest {
            self.smallest = residual;
        }
        if self.refreshed.is_some_and(|refreshed| refreshed.elapsed() < REFRESH) {
            return;
        }
        self.refreshed = Some(Instant::now());
        // One solve needs no name.
        let label = if self.solves == 1 { String::new() } else { format!("  {}", progress.label) };
        let what = format!(
            "{}{label}  iteration {}  residual {} → {:e}",
            counted(self.done, self.solves),
            progress.iterations,
            scientific(residual, 1),
            self.tolerance
        );
        if self.report.is_verbose() && self.said.elapsed() >= LINE {
            self.said = Instant::now();
            self.report.note(&what);
        }
        let share = self.share();
        self.bar.set_position((share * STEPS as f64) as u64);
        self.bar.set_message(self.left(share).map_or_else(String::new, left_text));
        self.bar.set_prefix(what);
    }

    /// Shows how far the set-up of a multigrid method is.
    pub fn sets_up(&mut self, progress: &SetupProgress) {
        let SetupProgress { level, done, of } = *progress;
        if self.refreshed.is_some_and(|refreshed| refreshed.elapsed() < REFRESH) {
            return;
        }
        self.refreshed = Some(Instant::now());
        let what = format!("multigrid set-up, level {level}  {done}/{of}");
        if self.report.is_verbose() && self.said.elapsed() >= LINE {
            self.said = Instant::now();
            self.report.note(&what);
        }
        self.bar.set_position(done as u64 * STEPS / of.max(1) as u64);
        self.bar.set_message("");
        self.bar.set_prefix(what);
    }

    /// Shows how far the search for modes is.
    pub fn searches(&mut self, look: &LanczosLook, wanted: usize) {
        let LanczosLook { found, applications, residual, .. } = *look;
        let what = format!(
            "modes {}/{wanted}  {applications} applications  residual {}",
            found.min(wanted),
            scientific(residual, 1)
        );
        if self.report.is_verbose() && self.said.elapsed() >= LINE {
            self.said = Instant::now();
            self.report.note(&what);
        }
        self.bar.set_position(found.min(wanted) as u64 * STEPS / wanted.max(1) as u64);
        self.bar.set_message("");
        self.bar.set_prefix(what);
    }

    /// Returns the share of the job that is done.
    fn share(&self) -> f64 {
        let under_way = self.under_way as f64 * share_of_solve(self.smallest, self.tolerance);
        ((self.done as f64 + under_way) / self.solves as f64).min(1.0)
    }

    /// Returns the time for the rest at the rate so far, without compilers.
    fn left(&self, share: f64) -> Option<Duration> {
        let (begun, compiled, at) = self.begun?;
        let compiling = self.team.compile_time().saturating_sub(compiled);
        rest(begun.elapsed().saturating_sub(compiling), share - at, 1.0 - share)
    }
}

impl Drop for SolveBar<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn counted(done: usize, solves: usize) -> String {
    if solves == 1 { "solve".to_owned() } else { format!("solve {}/{solves}", done + 1) }
}

/// Returns how far a residual is on the way from 1 to the tolerance.
///
/// Distances are differences of logarithms.
fn share_of_solve(residual: f64, tolerance: f64) -> f64 {
    let share = residual.ln() / tolerance.ln();
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
}

/// Returns the time for `left` at the rate of `done` in `taken`.
///
/// `None` while `done` or `taken` is too little to tell.
fn rest(taken: Duration, done: f64, left: f64) -> Option<Duration> {
    if done < LEAST_SHARE || taken < Duration::from_millis(300) {
        return None;
    }
    Duration::try_from_secs_f64(taken.as_secs_f64() * left / done).ok()
}

fn left_text(left: Duration) -> String {
    let seconds = left.as_secs_f64().ceil() as u64;
    match seconds {
        0..=99 => format!("{seconds} s left"),
        100..=5999 => format!("{} min left", seconds.div_ceil(60)),
        _ => format!("{} h {:02} min left", seconds / 3600, seconds / 60 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_is_the_logarithm_of_the_residual() {
        for (residual, share) in
            [(1.0, 0.0), (1e-5, 0.5), (1e-10, 1.0), (1e-12, 1.0), (3.0, 0.0), (f64::NAN, 0.0)]
        {
            assert!((share_of_solve(residual, 1e-10) - share).abs() < 1e-12, "{residual}");
        }
    }

    #[test]
    fn nothing_is_estimated_from_nothing() {
        let second = Duration::from_secs(1);
        assert_eq!(rest(second, 0.0, 1.0), None);
        assert_eq!(rest(second, 0.01, 0.99), None);
        assert_eq!(rest(Duration::ZERO, 0.5, 0.5), None);
        assert_eq!(rest(second, 0.25, 0.75), Some(3 * second));
        for (seconds, text) in
            [(0.2, "1 s left"), (14.0, "14 s left"), (150.0, "3 min left"), (7500.0, "2 h 05 min left")]
        {
            assert_eq!(left_text(Duration::from_secs_f64(seconds)), text);
        }
    }

    #[test]
    fn solves_are_counted_where_there_are_several() {
        assert_eq!(counted(0, 1), "solve");
        assert_eq!(counted(0, 12), "solve 1/12");
    }
}
