//! Logarithmic axes: the places of numbers, and the numbers beside the ticks.

/// An axis: its quantity, the format of its numbers, and its ticks.
pub struct Axis {
    /// The quantity with its unit.
    pub label: String,
    /// The format of a number on the axis.
    pub format: fn(f64) -> String,
    /// The ratio of one tick to the next, if decades and their parts do not suit.
    pub step: Option<f64>,
}

/// Fewest numbers beside an axis.
///
/// With fewer numbers a plot does not tell how large things are.
pub const FEWEST_TICKS: usize = 3;

/// Most parts of an axis with a step of its own.
///
/// The limit is needed because results may hold any numbers.
const MOST_POWERS: i64 = 2000;

/// The map from the logarithm of a number to a place on the drawing.
pub struct Scale {
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// Makes a scale that covers all numbers.
    ///
    /// There is some room on both sides, and room for enough ticks.
    pub fn covering(
        numbers: impl Iterator<Item = f64>,
        step: Option<f64>,
        start: f64,
        end: f64,
    ) -> Option<Self> {
        let logarithms = numbers.filter(|&number| is_shown(number)).map(f64::ln);
        let (low, high) = logarithms.fold(None, |range: Option<(f64, f64)>, number| {
            Some(range.map_or((number, number), |(low, high)| (low.min(number), high.max(number))))
        })?;
        let room = (0.05 * (high - low)).max(0.1);
        let (mut low, mut high) = (low - room, high + room);
        if let Some(step) = step.map(f64::ln) {
            let (mut first, mut last) = ((low / step).ceil(), (high / step).floor());
            while last - first + 1.0 < FEWEST_TICKS as f64 {
                if low / step - (first - 1.0) < (last + 1.0) - high / step {
                    first -= 1.0;
                    low = first * step - 0.05;
                } else {
                    last += 1.0;
                    high = last * step + 0.05;
                }
            }
        }
        Some(Self { low, high, start, end })
    }

    pub fn place(&self, number: f64) -> f64 {
        self.start + (number.ln() - self.low) / (self.high - self.low) * (self.end - self.start)
    }

    /// Returns as many round numbers as there is room for.
    ///
    /// `room` returns the width that each number needs on the drawing.
    pub fn ticks(&self, step: Option<f64>, room: impl Fn(f64) -> f64) -> Vec<f64> {
        let fits = |ticks: &[f64]| {
            ticks.windows(2).all(|pair| {
                (self.place(pair[1]) - self.place(pair[0])).abs() >= (room(pair[0]) + room(pair[1])) / 2.0
            })
        };
        let mut coarsest = Vec::new();
        for mut ticks in self.candidates(step) {
            ticks.retain(|tick| (self.low..=self.high).contains(&tick.ln()));
            if ticks.len() >= FEWEST_TICKS {
                if fits(&ticks) {
                    return ticks;
                }
                coarsest = ticks;
            }
        }
        coarsest
    }

    /// Returns sets of round numbers, fine ones first.
    fn candidates(&self, step: Option<f64>) -> Vec<Vec<f64>> {
        if let Some(step) = step {
            let (first, last) =
                ((self.low / step.ln()).ceil() as i64, (self.high / step.ln()).floor() as i64);
            let last = last.min(first + MOST_POWERS);
            let most = ((last - first) / 2).max(1) as usize;
            let powers = |every| (first..=last).step_by(every).map(|power| step.powf(power as f64)).collect();
            return (1..=most).map(powers).collect();
        }
        let mut sets = Vec::new();
        let (smallest, largest) = (self.low.exp(), self.high.exp());
        if largest < 6.0 * smallest {
            let decade = (largest - smallest).log10().floor() as i32;
            for (exponent, parts) in [(decade - 1, [1, 2, 5]), (decade, [1, 2, 5])] {
                for part in parts {
                    let step = decimal(part, exponent);
                    let (first, last) = ((smallest / step).ceil() as i64, (largest / step).floor() as i64);
                    let last = last.min(first + MOST_POWERS);
                    sets.push((first..=last).map(|number| decimal(number * part, exponent)).collect());
                }
            }
        }
        let ten = std::f64::consts::LN_10;
        let (first, last) = ((self.low / ten).floor() as i32, (self.high / ten).ceil() as i32);
        let parts: [&[i64]; 4] = [&[1, 2, 3, 4, 5, 6, 7, 8, 9], &[1, 2, 3, 5, 7], &[1, 2, 5], &[1, 3]];
        for parts in parts {
            let numbers = |decade| parts.iter().map(move |&part| decimal(part, decade));
            sets.push((first..=last).flat_map(numbers).collect());
        }
        let (first, last) = ((self.low / ten).ceil() as i32, (self.high / ten).floor() as i32);
        let most = ((last - first) / 2).max(1) as usize;
        sets.extend(
            (1..=most).map(|every| (first..=last).step_by(every).map(|decade| decimal(1, decade)).collect()),
        );
        sets
    }
}

/// Returns `true` if a logarithmic axis has a place for a number.
pub fn is_shown(number: f64) -> bool {
    number > 0.0 && number.is_finite()
}

/// Returns the number next to `digits` · 10^`exponent`, which prints in few digits.
fn decimal(digits: i64, exponent: i32) -> f64 {
    format!("{digits}e{exponent}").parse().unwrap_or(f64::NAN)
}

/// Formats a number on an axis.
pub fn plain(number: f64) -> String {
    if (1e-3..1e6).contains(&number) { number.to_string() } else { format!("{number:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(numbers: &[f64], step: Option<f64>, length: f64) -> Vec<f64> {
        let scale = Scale::covering(numbers.iter().copied(), step, 0.0, length).unwrap();
        scale.ticks(step, |number| 7.0 * plain(number).len() as f64 + 14.0)
    }

    #[test]
    fn ticks_are_round_numbers_in_range() {
        assert_eq!(ticks(&[1.0, 100.0], None, 400.0), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
        assert_eq!(ticks(&[1.0, 64.0], Some(4.0), 200.0), [1.0, 4.0, 16.0, 64.0]);
        assert_eq!(ticks(&[1.0, 1e9], None, 200.0), [1.0, 1000.0, 1e6, 1e9]);
        let scale = Scale::covering([1.0, 9.0].into_iter(), None, 10.0, 20.0).unwrap();
        assert!((scale.place(3.0) - 15.0).abs() < 1e-12);
    }

    #[test]
    fn there_are_three_ticks_whatever_the_numbers_are() {
        for low in [1e-12, 0.37, 1.0, 2.1, 4.9, 5.1, 9.7, 31.4, 66_000.0, 2.3e14] {
            for ratio in [1.0, 1.0001, 1.3, 1.9, 2.5, 4.7, 5.9, 6.1, 9.9, 30.0, 99.0, 1e3, 1e5, 1e9, 1e30] {
                for step in [None, Some(2.0), Some(4.0)] {
                    for length in [250.0, 700.0] {
                        let found = ticks(&[low, low * ratio], step, length);
                        assert!(found.len() >= FEWEST_TICKS, "{low} {ratio} {step:?}: {found:?}");
                        assert!(found.windows(2).all(|pair| pair[0] < pair[1]), "{found:?}");
                        let texts: std::collections::BTreeSet<String> =
                            found.iter().map(|&x| plain(x)).collect();
                        assert_eq!(texts.len(), found.len(), "{texts:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_has_no_logarithm_has_no_place() {
        assert!(Scale::covering([0.0, -1.0, f64::NAN, f64::INFINITY].into_iter(), None, 0.0, 1.0).is_none());
    }
}
