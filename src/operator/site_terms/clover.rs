//! The clover term.

use super::error::{SiteTermError, expect_finite};
use super::flavour::Flavour;
use super::parameter::{GivenNumbers, Parameter, ParameterMatrix, ResultEntry};

/// c_sw of a clover term.
pub(super) struct Csw;

const MEANING: &str = "the coefficient of the clover term";

/// The clover term that keys give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clover {
    /// The coefficient of T; 1 if planes have coefficients of their own.
    pub csw: f64,
    /// The factors of the field strength in planes of space, and in planes with time.
    pub weights: [f64; 2],
}

impl Clover {
    /// Returns the clover term of these keys, checked; `None` without one.
    ///
    /// # Errors
    /// The errors of [`SiteTermKeys::clover`](super::SiteTermKeys::clover).
    pub(super) fn of(keys: &GivenNumbers, xi0: f64) -> Result<Option<Self>, SiteTermError> {
        match planes(keys) {
            (None, None, None) => Ok(None),
            (Some(csw), None, None) => {
                expect_finite(["csw", Csw.symbol(), MEANING], csw)?;
                Ok(Some(Self { csw, weights: [1.0 / xi0, 1.0] }))
            }
            (Some(_), ..) => Err(SiteTermError::Keys {
                key: "csw",
                problem: "gives csw and clover-r, clover-t; csw is both of them, one form must go",
            }),
            (None, Some(r), Some(t)) => {
                for (key, value) in [("clover-r", r), ("clover-t", t)] {
                    expect_finite([key, key, MEANING], value)?;
                }
                // Equal coefficients give the same bits as csw.
                let csw = if r == t { r } else { 1.0 };
                let [r, t] = if r == t { [1.0; 2] } else { [r, t] };
                Ok(Some(Self { csw, weights: [r / xi0, t] }))
            }
            (None, ..) => Err(SiteTermError::Keys {
                key: "clover-r",
                problem: "gives one of clover-r and clover-t; give both, or csw, which is both",
            }),
        }
    }
}

/// Returns the given coefficients: of all planes, of planes in space, of planes with time.
fn planes(keys: &GivenNumbers) -> (Option<f64>, Option<f64>, Option<f64>) {
    (keys.number("csw"), keys.number("clover_r"), keys.number("clover_t"))
}

/// Returns the common coefficient of all planes, and those of planes in space and with time.
fn coefficients(keys: &GivenNumbers) -> (Option<f64>, [f64; 2]) {
    let (csw, r, t) = planes(keys);
    let [r, t] = [r, t].map(|of_planes| of_planes.or(csw).unwrap_or(0.0));
    (csw.or((r == t).then_some(r)), [r, t])
}

impl Parameter for Csw {
    fn key(&self) -> &'static str {
        "csw"
    }

    fn symbol(&self) -> &'static str {
        "c_sw"
    }

    fn meaning(&self) -> &'static str {
        MEANING
    }

    fn formula(&self) -> &'static str {
        "adds kappa c_sw T, with --mass c_sw T/2, T the clover term of the file's links"
    }

    fn matrix(&self) -> ParameterMatrix {
        ParameterMatrix::Clover
    }

    fn given(&self, keys: &GivenNumbers) -> Result<Option<f64>, SiteTermError> {
        Ok(Clover::of(keys, 1.0)?.map(|clover| clover.csw))
    }

    fn words(&self, keys: &GivenNumbers) -> String {
        match planes(keys) {
            (Some(csw), ..) => format!(", c_sw {csw:?}"),
            (None, Some(r), Some(t)) => format!(", c_R {r:?}, c_T {t:?}"),
            (None, ..) => String::new(),
        }
    }

    fn entries(&self, keys: &GivenNumbers) -> Vec<ResultEntry> {
        let (csw, [r, t]) = coefficients(keys);
        let of_planes =
            |key, meaning, value| ResultEntry { key, meaning, value: Some(value), optional: false };
        vec![
            ResultEntry {
                key: self.key(),
                meaning: "the coefficient of the clover term, null if planes have coefficients of their own",
                value: csw,
                optional: true,
            },
            of_planes("clover_r", "the coefficient of planes in space, before division by xi0", r),
            of_planes("clover_t", "the coefficient of planes with time", t),
        ]
    }

    fn line(&self, keys: &GivenNumbers, _: Option<Flavour>) -> Option<(&'static str, String)> {
        match coefficients(keys) {
            (Some(0.0), _) => None,
            (Some(csw), _) => Some((self.symbol(), format!("{csw:?}"))),
            (None, [r, t]) => Some(("c_R, c_T", format!("{r:?}, {t:?}"))),
        }
    }
}
