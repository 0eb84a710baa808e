//! Settings by environment variables, each of which is read once.

use lattice_cl::device::Selector;
use std::convert::Infallible;
use std::sync::LazyLock;

/// Operations below which a call is passed on, unless the user says otherwise.
///
/// A product of 1000 rows and columns has as many. Copies to a device and back take as long as the
/// processor takes for it, more or less.
const LEAST: f64 = 2e9;

static LEAST_CHOSEN: LazyLock<f64> = LazyLock::new(|| {
    let Some(text) = std::env::var_os("LATTICE_CL_BLAS_LEAST") else { return LEAST };
    let number = text.to_str().and_then(|text| text.trim().parse::<f64>().ok());
    number.filter(|least| *least >= 0.0).unwrap_or_else(|| {
        eprintln!(
            "lattice-cl-blas: warning: LATTICE_CL_BLAS_LEAST={text:?} is no number of operations; {LEAST:e} is used"
        );
        LEAST
    })
});

static ONLY: LazyLock<Option<Vec<String>>> = LazyLock::new(|| {
    let text = std::env::var("LATTICE_CL_BLAS_ONLY").ok()?;
    Some(text.split(',').map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect())
});

/// `true` if `LATTICE_CL_BLAS_OFF` is set, and neither empty nor 0.
static OFF: LazyLock<bool> = LazyLock::new(|| {
    std::env::var_os("LATTICE_CL_BLAS_OFF").is_some_and(|text| !text.is_empty() && text != "0")
});

/// Returns the device that the user names. By default it is the fastest one.
pub fn device() -> Selector {
    let Ok(text) = std::env::var("LATTICE_CL_BLAS_DEVICE") else { return Selector::Auto };
    text.parse().unwrap_or_else(|error: Infallible| match error {})
}

/// Passes a call on if it has too few multiplications and additions for a device.
pub fn worth<T: lattice_cl::scalar::Element>(products: f64) -> Option<()> {
    // A complex product has four real ones.
    let operations = products * if T::IS_COMPLEX { 8.0 } else { 2.0 };
    (operations >= *LEAST_CHOSEN).then_some(())
}

/// Passes a call of level 1 or 2 on, unless all calls are to be computed.
///
/// Such a call takes less time than its operands take to the device.
pub fn worth_moving() -> Option<()> {
    (*LEAST_CHOSEN == 0.0).then_some(())
}

/// Tells whether the user wants calls of this name to be computed here.
pub fn is_wanted(name: &str) -> bool {
    !*OFF && ONLY.as_ref().is_none_or(|words| words.iter().any(|word| name.contains(word.as_str())))
}
