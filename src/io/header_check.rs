//! Averages over the links that a file states, compared with those of its links.

use crate::gauge::{link_trace, plaquette};
use crate::host::GaugeConfiguration;
use crate::scalar::Precision;
use lattice_files::number::real;
use serde::Serialize;

/// An observable in the header of a file, and that of its links.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeaderCheck {
    /// `plaquette` or `link trace`.
    pub quantity: &'static str,
    /// The value in the header.
    pub stored: f64,
    /// The value of the links.
    pub computed: f64,
    /// The largest difference allowed.
    pub tolerance: f64,
    /// `true` if the two values agree.
    pub ok: bool,
}

/// An average over links that headers state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Observable {
    /// The average of Re tr U / 3 over all plaquettes.
    Plaquette,
    /// The average of Re tr U / 3 over all links.
    LinkTrace,
}

/// The largest unit of a last digit that counts as rounding.
const COARSEST: f64 = 1e-3;

impl Observable {
    fn name(self) -> &'static str {
        match self {
            Self::Plaquette => "plaquette",
            Self::LinkTrace => "link trace",
        }
    }

    /// Compares a number of a header with that of the links.
    ///
    /// `slack` is added to the allowed difference.
    pub(super) fn check(self, stored: f64, slack: f64, configuration: &GaugeConfiguration) -> HeaderCheck {
        let computed = match self {
            Self::Plaquette => plaquette(configuration).average,
            Self::LinkTrace => link_trace(configuration),
        };
        let tolerance = rounding(configuration.precision()) + slack;
        // In this form NaN disagrees.
        let ok = (stored - computed).abs() <= tolerance;
        HeaderCheck { quantity: self.name(), stored, computed, tolerance, ok }
    }

    /// Compares a printed number with that of the links; `None` if the text is no number.
    ///
    /// The last digit may be off by one, and the number by `slack` beyond that.
    pub(super) fn check_text(
        self,
        text: &str,
        slack: f64,
        configuration: &GaugeConfiguration,
    ) -> Option<HeaderCheck> {
        let stored = real(text.as_bytes())?;
        // A number with few digits may not be off by much: `1e5` has a last digit of a hundred
        // thousand.
        Some(self.check(stored, slack + last_digit(text).min(COARSEST), configuration))
    }
}

/// Returns the value of one unit in the last printed digit of a number.
///
/// The value is 0.01 for `0.59`, and 0.001 for `5.9e-2`, `5.9D-02` and `0.59-001`.
fn last_digit(number: &str) -> f64 {
    let exponent =
        number.char_indices().skip(1).find(|(_, c)| matches!(c, 'e' | 'E' | 'd' | 'D' | '+' | '-'));
    let (mantissa, exponent) = number.split_at(exponent.map_or(number.len(), |(at, _)| at));
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len()) as i32;
    let exponent: i32 = exponent.trim_start_matches(char::is_alphabetic).parse().unwrap_or(0);
    10f64.powi(exponent.saturating_sub(decimals))
}

/// Returns the allowed difference of averages computed in this precision.
///
/// The other average may have been summed in another order, and before the links were rounded.
fn rounding(precision: Precision) -> f64 {
    match precision {
        Precision::Single => 1e-5,
        Precision::Double => 1e-8,
    }
}

#[cfg(test)]
mod tests {
    use super::last_digit;

    #[test]
    fn the_last_printed_digit() {
        for (number, wanted) in [
            ("0.0382422893", 1e-10),
            ("3.82e-02", 1e-4),
            ("-3.82D-02", 1e-4),
            ("0.382-001", 1e-4),
            ("3.82+001", 0.1),
            ("1", 1.0),
            ("5.E-1", 0.1),
        ] {
            assert!((last_digit(number) / wanted - 1.0).abs() < 1e-12, "{number}: {}", last_digit(number));
        }
    }
}
