//! Words for the results of solves.

use lattice_cl::geometry::NDIM;
use lattice_cl::job::Solver;
use lattice_cl::solve::SolveParams;
use lattice_cli::plot;
use lattice_cli::report::scientific;
use std::fmt;
use std::path::Path;

/// Returns κ and the mass as text, short for any number.
pub fn coupling_text(kappa: f64, mass: f64) -> String {
    if mass.abs() < 1e6 {
        format!("{kappa:?} (mass {mass:.6})")
    } else {
        format!("{kappa:?} (mass {})", scientific(mass, 6))
    }
}

/// Returns the name of the method that found a solution.
///
/// For an automatic choice it is the method that was chosen. If cycles of a multigrid method gave
/// up, it is the method that went on.
pub fn method_text(solver: Solver, params: &SolveParams) -> String {
    match (solver, params) {
        // Neither solves by GCR otherwise.
        (Solver::Auto | Solver::Multigrid, SolveParams::Gcr(_)) => Solver::Multigrid.to_string(),
        (Solver::Auto | Solver::Multigrid, params) => params.method().to_owned(),
        (named, _) => named.to_string(),
    }
}

/// Returns the method as it was asked for, and the method that was used.
pub fn solver_words(solver: Solver, method: &str) -> String {
    match solver {
        Solver::Auto => format!("auto: {method}"),
        Solver::Multigrid if method != Solver::Multigrid.name() => format!("multigrid: {method}"),
        named => named.to_string(),
    }
}

/// Returns the title of a plot: configuration, mass and lattice.
pub fn plot_title(file: &Path, kappa: f64, dims: [usize; NDIM]) -> String {
    let extents = dims.map(|extent| extent.to_string()).join("x");
    format!("{}, κ = {kappa:?}, {extents}", plot::short_name(file))
}

/// Says which method solved which system, for results.
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
