//! What results of solves call things.

use crate::plot;
use lattice_cl::geometry::NDIM;
use lattice_cl::job::Solver;
use lattice_cl::solve::SolveParams;
use std::fmt;
use std::path::Path;

/// κ and the mass as text, short for any number.
pub fn coupling_text(kappa: f64, mass: f64) -> String {
    if mass.abs() < 1e6 {
        format!("{kappa:?} (mass {mass:.6})")
    } else {
        format!("{kappa:?} (mass {mass:.6e})")
    }
}

/// The method that found a solution: of the automatic choice the one that it chose.
pub fn method_text(solver: Solver, params: &SolveParams) -> String {
    match solver {
        Solver::Auto => params.method().to_owned(),
        named => named.to_string(),
    }
}

/// The method as it was asked for, and what became of it.
pub fn solver_words(solver: Solver, method: &str) -> String {
    match solver {
        Solver::Auto => format!("auto: {method}"),
        named => named.to_string(),
    }
}

/// The title of a plot: which configuration, which mass, which lattice.
pub fn plot_title(file: &Path, kappa: f64, dims: [usize; NDIM]) -> String {
    let extents = dims.map(|extent| extent.to_string()).join("x");
    format!("{}, κ = {kappa:?}, {extents}", plot::short_name(file))
}

/// Who solved what, as results say it.
pub fn solver_text(
    solver: impl fmt::Display,
    system: &str,
    preconditioning: &str,
    precision: &str,
) -> String {
    let preconditioned = match preconditioning {
        "none" => String::new(),
        _ => format!("{preconditioning} "),
    };
    format!("{solver} on the {preconditioned}{system} system, {precision}")
}
