//! The comparison of two results of one job, number by number.

use serde::Serialize;
use serde_json::Value;

/// Keys that tell of a run, and not of what was computed.
const OF_THE_RUN: [&str; 10] = [
    "provenance",
    "job",
    "seconds",
    "gflops",
    "bandwidth_gb_s",
    "devices",
    "grid",
    "ranks_grid",
    "file",
    "attempts",
];

/// Keys of numbers that follow the rounding of the devices.
///
/// They agree on one kind of device alone.
const OF_THE_ROUNDING: [&str; 5] = ["iterations", "residual", "history", "method", "true_residual"];

/// The agreement of two results.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// Numbers that were compared.
    pub numbers: usize,
    /// Numbers with other bits.
    pub other_bits: usize,
    /// The largest difference, as a share of the largest number of its list.
    pub largest_difference: f64,
    /// The place of the largest difference, empty if all bits agree.
    pub place: String,
    /// Places where one result has something else than the other.
    pub others: Vec<String>,
}

impl Comparison {
    /// Compares two results. `is_strict` asks for what depends on rounding too.
    pub fn of(earlier: &Value, again: &Value, is_strict: bool) -> Self {
        let mut comparison = Self::default();
        comparison.compare("", earlier, again, is_strict);
        comparison
    }

    fn compare(&mut self, place: &str, a: &Value, b: &Value, is_strict: bool) {
        match (a, b) {
            (Value::Object(a), Value::Object(b)) => {
                let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
                for key in keys {
                    let is_passed_over = OF_THE_RUN.contains(&key.as_str())
                        || (!is_strict && OF_THE_ROUNDING.contains(&key.as_str()));
                    if !is_passed_over {
                        let [a, b] = [a, b].map(|object| object.get(key).unwrap_or(&Value::Null));
                        self.compare(&format!("{place}/{key}"), a, b, is_strict);
                    }
                }
            }
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                let mut numbers = Vec::new();
                for (number, (a, b)) in a.iter().zip(b).enumerate() {
                    match (a.as_f64(), b.as_f64()) {
                        (Some(a), Some(b)) => numbers.push((number, a, b)),
                        _ => self.compare(&format!("{place}/{number}"), a, b, is_strict),
                    }
                }
                let scale = numbers.iter().fold(0.0, |scale: f64, (_, a, _)| scale.max(a.abs()));
                for (number, a, b) in numbers {
                    self.compare_numbers(|| format!("{place}/{number}"), a, b, scale);
                }
            }
            _ => match (a.as_f64(), b.as_f64()) {
                (Some(a), Some(b)) => self.compare_numbers(|| place.to_owned(), a, b, a.abs()),
                _ if a == b => {}
                _ => self.others.push(place.to_owned()),
            },
        }
    }

    fn compare_numbers(&mut self, place: impl Fn() -> String, a: f64, b: f64, scale: f64) {
        self.numbers += 1;
        if a.to_bits() == b.to_bits() {
            return;
        }
        self.other_bits += 1;
        let difference = if scale > 0.0 { (a - b).abs() / scale } else { (a - b).abs() };
        if self.place.is_empty() || difference > self.largest_difference {
            self.largest_difference = difference;
            self.place = place();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_belongs_to_the_run_is_passed_over() {
        let result = |correlator: [f64; 2], iterations: usize, seconds: f64| {
            json!({ "correlators": { "pion": correlator }, "kappa": 0.125, "seconds": { "solve": seconds },
                    "solves": [{ "iterations": iterations, "label": "point" }] })
        };
        let first = result([2.0, 1.0], 10, 1.0);
        let same = Comparison::of(&first, &result([2.0, 1.0], 10, 7.0), true);
        assert_eq!((same.numbers, same.other_bits, same.others.len()), (4, 0, 0));
        let other = Comparison::of(&first, &result([2.0, 1.0 + 1e-12], 11, 1.0), false);
        assert_eq!((other.numbers, other.other_bits), (3, 1));
        assert!(other.largest_difference > 4e-13 && other.largest_difference < 6e-13);
        assert_eq!(other.place, "/correlators/pion/1");
        assert_eq!(Comparison::of(&first, &result([2.0, 1.0], 11, 1.0), true).other_bits, 1);
    }

    #[test]
    fn what_is_there_once_is_named() {
        let found = Comparison::of(&json!({ "a": [1, 2], "b": null }), &json!({ "a": [1], "c": "d" }), true);
        assert_eq!(found.others, ["/a", "/c"]);
    }
}
