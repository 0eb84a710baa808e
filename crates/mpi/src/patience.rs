//! How long ranks wait for one that gives no sign of life.

use crate::error::MpiError;
use crate::launcher::{Launcher, PATIENCE_VARIABLE};
use std::env;
use std::sync::Arc;
use std::time::Duration;

/// Says why the ranks end, and returns the exit status.
///
/// It is called on any thread when ranks wait in vain, and the process ends after it.
pub type LastWords = Arc<dyn Fn(&MpiError) -> u8 + Send + Sync>;

/// Patience until all ranks have begun, if all are on one machine.
const START_ON_ONE_MACHINE: Duration = Duration::from_secs(15);

/// Patience until all ranks have begun, on several machines.
const START: Duration = Duration::from_secs(120);

/// Patience with a rank that has begun.
const LATER: Duration = Duration::from_secs(300);

/// How long ranks wait for one that gives no sign of life; `None` is for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Until the first sign of life.
    pub start: Option<Duration>,
    /// Between two signs.
    pub later: Option<Duration>,
}

impl Patience {
    /// Returns the patience that [`PATIENCE_VARIABLE`] tells, or the usual one.
    ///
    /// # Errors
    /// [`MpiError::Patience`] if the variable is no number of seconds.
    pub fn of_environment(launcher: &Launcher) -> Result<Self, MpiError> {
        match env::var_os(PATIENCE_VARIABLE).filter(|text| !text.is_empty()) {
            Some(text) => Self::of_text(&text.to_string_lossy()),
            None if launcher.is_on_one_machine() => {
                Ok(Self { start: Some(START_ON_ONE_MACHINE), later: Some(LATER) })
            }
            None => Ok(Self { start: Some(START), later: Some(LATER) }),
        }
    }

    fn of_text(text: &str) -> Result<Self, MpiError> {
        let seconds = text.trim().parse::<f64>().ok().filter(|seconds| *seconds >= 0.0);
        let patience = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let patience = patience.ok_or_else(|| MpiError::Patience { text: text.to_owned() })?;
        let patience = (!patience.is_zero()).then_some(patience);
        Ok(Self { start: patience, later: patience })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patience_is_a_number_of_seconds() {
        let of = |text: &str| Patience::of_text(text).map(|patience| patience.later);
        assert_eq!(of("2.5"), Ok(Some(Duration::from_millis(2500))));
        assert_eq!(of(" 0 "), Ok(None));
        for wrong in ["-1", "soon", "nan", "1e300", "inf"] {
            assert_eq!(of(wrong), Err(MpiError::Patience { text: wrong.to_owned() }), "{wrong}");
        }
    }
}
