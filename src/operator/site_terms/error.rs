//! Site terms that define no operator.

/// A site term that defines no operator.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SiteTermError {
    /// A parameter is not a finite number.
    #[error("{symbol} = {value:?} is not allowed: {meaning} must be a finite number")]
    NotFinite {
        /// The key of the parameter in job files.
        key: &'static str,
        /// The parameter in formulas.
        symbol: &'static str,
        /// What the parameter is.
        meaning: &'static str,
        /// The value that was given.
        value: f64,
    },
    /// Keys of one parameter that exclude or need each other.
    #[error("{problem}")]
    Keys {
        /// The key at fault.
        key: &'static str,
        /// The fault and its remedy.
        problem: &'static str,
    },
    /// Parameters that no operator has together.
    #[error("gives {}, and no operator has them together; leave one of them out", keys.join(" and "))]
    NotTogether {
        /// The keys of the parameters.
        keys: Vec<&'static str>,
    },
}

impl SiteTermError {
    /// Returns the key at fault in the table `[action]` of job files.
    pub fn key(&self) -> &'static str {
        match self {
            Self::NotFinite { key, .. } | Self::Keys { key, .. } => key,
            Self::NotTogether { keys } => keys.last().copied().unwrap_or_default(),
        }
    }
}

/// Checks that a parameter is a finite number.
///
/// # Errors
/// If it is not.
pub(super) fn expect_finite(
    [key, symbol, meaning]: [&'static str; 3],
    value: f64,
) -> Result<(), SiteTermError> {
    if value.is_finite() { Ok(()) } else { Err(SiteTermError::NotFinite { key, symbol, meaning, value }) }
}
