//! The search for the fastest variant: steps along one or two coordinates each.

use std::time::Duration;

/// One step of a search, which makes variants from the best one so far.
///
/// The variants differ from the best one in the coordinates of the step.
pub type Step<'a, V> = Box<dyn Fn(&V) -> Vec<V> + 'a>;

/// Number of rounds in which a variant must win again, timed in turns.
const ROUNDS: usize = 3;

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct TuningResult<V> {
    /// The fastest variant; the shipped one unless another is faster by the least gain.
    pub variant: V,
    /// The variant's time for one launch.
    pub time: Duration,
    /// The shipped variant's time for one launch.
    pub shipped_time: Duration,
    /// Number of variants that were timed, or failed.
    pub tried: usize,
}

impl<V> TuningResult<V> {
    /// Returns the speed of the variant in units of the shipped variant's speed.
    pub fn gain(&self) -> f64 {
        self.shipped_time.as_secs_f64() / self.time.as_secs_f64()
    }
}

/// An observer of a search, which measures its time and learns its progress.
pub trait Watch {
    /// Returns the time since the search began.
    fn elapsed(&self) -> Duration;

    /// Learns that `done` of `planned` variants are done.
    fn tried(&self, done: usize, planned: usize);
}

/// Times the shipped variant, then the variants of each step.
///
/// A step starts from the best variant of the steps before.
///
/// A variant that fails is passed over. The search stops if a variant as slow to try as the slowest
/// so far would not fit into the budget. The best variant that was timed must win against the
/// shipped one again, in turns, and be faster by the factor `least_gain`.
///
/// # Errors
/// If the shipped variant cannot be timed.
pub fn search<V: Clone + PartialEq, E>(
    shipped: &V,
    steps: &[Step<'_, V>],
    budget: Duration,
    least_gain: f64,
    watch: &impl Watch,
    mut time: impl FnMut(&V) -> Result<Duration, E>,
) -> Result<TuningResult<V>, E> {
    let mut planned = 1 + steps.iter().map(|step| step(shipped).len()).sum::<usize>();
    let mut done = 1;
    watch.tried(0, planned);
    let before = watch.elapsed();
    let shipped_time = time(shipped)?;
    watch.tried(done, planned);
    let mut longest = watch.elapsed().saturating_sub(before);
    // The rest is for the rounds: the variants that are timed there are compiled already.
    let fits = |longest: Duration| watch.elapsed() + longest <= budget * 9 / 10;

    let mut best = (shipped.clone(), shipped_time);
    let mut tried = vec![shipped.clone()];
    'steps: for step in steps {
        let variants = step(&best.0);
        planned = planned.max(done + variants.len());
        for variant in variants {
            done += 1;
            if tried.contains(&variant) {
                continue;
            }
            if !fits(longest) {
                break 'steps;
            }
            let before = watch.elapsed();
            let timed = time(&variant);
            longest = longest.max(watch.elapsed().saturating_sub(before));
            watch.tried(done, planned);
            tried.push(variant.clone());
            if let Ok(timed) = timed
                && timed < best.1
            {
                best = (variant, timed);
            }
        }
    }

    // The fastest of many noisy timings looks faster than it is, and a device that was idle before
    // is slow at first.
    let (mut variant, mut times) = (best.0, (best.1, shipped_time));
    let mut round_time = Duration::ZERO;
    for round in 0..=ROUNDS {
        if times.0.as_secs_f64() * least_gain >= times.1.as_secs_f64() {
            (variant, times.0) = (shipped.clone(), times.1);
            break;
        }
        let before = watch.elapsed();
        if round == ROUNDS || before + round_time > budget {
            break;
        }
        if let (Ok(again), Ok(shipped_again)) = (time(&variant), time(shipped)) {
            times = (again, shipped_again);
        }
        round_time = watch.elapsed().saturating_sub(before);
    }
    Ok(TuningResult { variant, time: times.0, shipped_time: times.1, tried: tried.len() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    /// A clock that is set by hand, and a record of the progress that was told.
    #[derive(Default)]
    struct Clock {
        now: Cell<Duration>,
        told: RefCell<Vec<(usize, usize)>>,
    }

    impl Watch for Clock {
        fn elapsed(&self) -> Duration {
            self.now.get()
        }

        fn tried(&self, done: usize, planned: usize) {
            self.told.borrow_mut().push((done, planned));
        }
    }

    /// A variant with two coordinates.
    type Point = (u32, u32);

    fn steps<'a>() -> Vec<Step<'a, Point>> {
        vec![
            Box::new(|&(_, y): &Point| (0..4).map(|x| (x, y)).collect()),
            Box::new(|&(x, _): &Point| (0..4).map(|y| (x, y)).collect()),
        ]
    }

    const SECOND: Duration = Duration::from_secs(1);
    const GAIN: f64 = 1.01;

    /// Returns a time that is shortest at (2, 3).
    fn time_of(&(x, y): &Point) -> Duration {
        Duration::from_micros(100 + 10 * u64::from(x.abs_diff(2) + y.abs_diff(3)))
    }

    #[test]
    fn each_step_starts_from_the_best_so_far_and_nothing_is_timed_twice() {
        let (clock, mut timed) = (Clock::default(), Vec::new());
        let found = search(&(0, 0), &steps(), SECOND, GAIN, &clock, |point| {
            timed.push(*point);
            Ok::<_, ()>(time_of(point))
        });
        let found = found.unwrap();
        assert_eq!(found.variant, (2, 3));
        assert_eq!((found.time, found.shipped_time), (time_of(&(2, 3)), time_of(&(0, 0))));
        assert_eq!(found.tried, 7);
        let expected = [(0, 0), (1, 0), (2, 0), (3, 0), (2, 1), (2, 2), (2, 3)];
        assert_eq!(timed[..7], expected);
        assert_eq!(timed[7..], [(2, 3), (0, 0)].repeat(ROUNDS), "the best and the shipped one in turns");
        let told = clock.told.borrow();
        assert_eq!((told[0], told[told.len() - 1]), ((0, 9), (9, 9)));
    }

    #[test]
    fn the_search_ends_before_the_budget_is_used_up() {
        let (clock, mut compiled) = (Clock::default(), Vec::new());
        let budget = Duration::from_secs(10);
        let found = search(&(0, 0), &steps(), budget, GAIN, &clock, |point| {
            let taken = if compiled.contains(point) { 250 } else { 3000 };
            compiled.push(*point);
            clock.now.set(clock.now.get() + Duration::from_millis(taken));
            Ok::<_, ()>(time_of(point))
        });
        let found = found.unwrap();
        assert!(clock.elapsed() <= budget, "{:?}", clock.elapsed());
        assert_eq!((found.variant, found.tried), ((2, 0), 3), "the best of those that there was time for");
    }

    #[test]
    fn without_any_time_the_shipped_variant_is_kept() {
        let clock = Clock::default();
        let found = search(&(0, 0), &steps(), Duration::ZERO, GAIN, &clock, |point| {
            clock.now.set(clock.now.get() + SECOND);
            Ok::<_, ()>(time_of(point))
        });
        assert_eq!(found.map(|found| (found.variant, found.tried)), Ok(((0, 0), 1)));
    }

    #[test]
    fn a_variant_that_fails_is_passed_over_and_the_shipped_one_must_not() {
        let time = |point: &Point| if point.0 == 2 { Err("too large") } else { Ok(time_of(point)) };
        let found = search(&(0, 0), &steps(), SECOND, GAIN, &Clock::default(), time).unwrap();
        assert_eq!((found.variant, found.tried), ((1, 3), 7));
        assert_eq!(search(&(2, 0), &steps(), SECOND, GAIN, &Clock::default(), time), Err("too large"));
    }

    #[test]
    fn a_gain_within_one_per_cent_keeps_the_shipped_variant() {
        let best_in = |nanoseconds| {
            let time = move |point: &Point| {
                let time = if *point == (0, 0) { 100_000 } else { nanoseconds };
                Ok::<_, ()>(Duration::from_nanos(time))
            };
            search(&(0, 0), &steps(), SECOND, GAIN, &Clock::default(), time).unwrap()
        };
        let kept = best_in(99_100);
        assert_eq!((kept.variant, kept.gain()), ((0, 0), 1.0));
        let replaced = best_in(98_900);
        assert_eq!(replaced.variant, (1, 0));
        assert!(replaced.gain() > 1.01);
    }

    #[test]
    fn a_lucky_timing_does_not_win() {
        let lucky = Cell::new(true);
        let found = search(&(0, 0), &steps(), SECOND, GAIN, &Clock::default(), |point| {
            let time = if *point == (3, 0) && lucky.take() { 50 } else { 100 };
            Ok::<_, ()>(Duration::from_micros(time))
        });
        assert_eq!(found.unwrap().variant, (0, 0));
    }
}
