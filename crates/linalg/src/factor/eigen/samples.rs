//! What the tests of eigenvalues share.

/// True if the tests run under a simulator and must be tiny.
pub fn small() -> bool {
    std::env::var_os("LATTICE_CL_TEST_SMALL").is_some_and(|v| !v.is_empty() && v != "0")
}

/// Tridiagonal matrices of LAPACK's kinds, with their names.
pub fn matrices(n: usize) -> Vec<(&'static str, Vec<f64>, Vec<f64>)> {
    let make = |f: &dyn Fn(f64) -> f64, g: &dyn Fn(f64) -> f64| {
        ((0..n).map(|k| f(k as f64)).collect(), (0..n).map(|k| g(k as f64)).collect())
    };
    [
        ("second difference", make(&|_| 2.0, &|_| -1.0)),
        ("Wilkinson", make(&|k| (k - (n as f64 - 1.0) / 2.0).abs(), &|_| 1.0)),
        ("no pattern", make(&|k| (k * k * 0.7).cos(), &|k| (k * k * 1.3).sin())),
        ("glued", make(&|k| (k % 21.0 - 10.0).abs(), &|k| if k % 21.0 == 20.0 { 1e-9 } else { 1.0 })),
        ("graded", make(&|k| 10.0_f64.powf(-k / 9.0), &|k| 0.3 * 10.0_f64.powf(-k / 9.0))),
        ("identity", make(&|_| 1.0, &|_| 0.0)),
        ("zero", make(&|_| 0.0, &|_| 0.0)),
        ("small", make(&|k| 1e-200 * k, &|_| 1e-200)),
    ]
    .map(|(name, (d, e))| (name, d, e))
    .into()
}
