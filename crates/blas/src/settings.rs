//! Settings by environment variables, each of which is read once.

use lattice_compute::Selector;
use std::convert::Infallible;
use std::sync::LazyLock;

/// Reads a number, or warns that it is not understood and what happens instead.
fn number(name: &str, instead: &str, legal: impl Fn(f64) -> bool) -> Option<f64> {
    let text = std::env::var_os(name)?;
    let number =
        text.to_str().and_then(|text| text.trim().parse::<f64>().ok()).filter(|number| legal(*number));
    if number.is_none() {
        eprintln!("lattice-cl-blas: warning: {name}={text:?} is no {instead}");
    }
    number
}

static LEAST: LazyLock<Option<f64>> = LazyLock::new(|| {
    let instead = "number of operations; measured rates decide which calls are computed";
    number("LATTICE_CL_BLAS_LEAST", instead, |least| least >= 0.0)
});

static CHECK: LazyLock<Option<f64>> = LazyLock::new(|| {
    let instead = "share of calls between 0 and 1; no calls are compared";
    number("LATTICE_CL_BLAS_CHECK", instead, |share| (0.0..=1.0).contains(&share))
        .filter(|share| *share > 0.0)
});

static ONLY: LazyLock<Option<Vec<String>>> = LazyLock::new(|| {
    let text = std::env::var("LATTICE_CL_BLAS_ONLY").ok()?;
    Some(text.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect())
});

/// `true` if the variable is set, and neither empty nor 0.
fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|text| !text.is_empty() && text != "0")
}

static OFF: LazyLock<bool> = LazyLock::new(|| is_set("LATTICE_CL_BLAS_OFF"));

static REPORT: LazyLock<bool> = LazyLock::new(|| is_set("LATTICE_CL_BLAS_REPORT"));

/// Returns the devices that the user names. By default it is the fastest one.
pub fn devices() -> Vec<Selector> {
    let Ok(text) = std::env::var("LATTICE_CL_BLAS_DEVICE") else { return vec![Selector::Auto] };
    let parse = |name: &str| name.trim().parse().unwrap_or_else(|error: Infallible| match error {});
    text.split(',').map(parse).collect()
}

/// Returns the operations from which on calls are computed, if the user says so.
pub fn least() -> Option<f64> {
    *LEAST
}

/// Returns the share of calls whose results are compared, if there is one.
pub fn share_of_checks() -> Option<f64> {
    *CHECK
}

/// Tells whether a report is due at exit.
pub fn reports() -> bool {
    *REPORT || CHECK.is_some()
}

/// Tells whether the user wants calls of this name to be computed here.
pub fn is_wanted(name: &str) -> bool {
    !*OFF && ONLY.as_ref().is_none_or(|words| words.iter().any(|word| name.contains(word.as_str())))
}
