//! The result of `cr-solve xc`.

use lattice_cl::io::NumberArray;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::molecule::{Input, Source};
use lattice_cli::report::{Table, decimal, fixed, rounded, scientific};
use lattice_solvers::range::larger;
use lattice_xc::{Density, Plan, PlanInfo, Spread, Xc};
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Serialize)]
pub struct MoleculeSummary {
    atoms: usize,
    functions: usize,
    electrons_expected: f64,
}

#[derive(Serialize)]
pub struct GridSummary {
    points: usize,
    /// Points with a weight, where functions are significant.
    kept: usize,
    radial: Option<usize>,
    angular: Option<usize>,
    /// The file of the grid; null for one that was made.
    source: Option<PathBuf>,
}

#[derive(Serialize)]
struct SpreadSummary {
    least: usize,
    median: usize,
    most: usize,
}

#[derive(Serialize)]
pub struct GroupsSummary {
    count: usize,
    spheres: usize,
    split: usize,
    points: SpreadSummary,
    functions: SpreadSummary,
}

#[derive(Serialize)]
pub struct MatrixSummary {
    pub file: Option<PathBuf>,
    /// The root of the sum of all squares.
    pub frobenius: f64,
}

#[derive(Serialize)]
pub struct GflopSummary {
    /// Of the groups' products.
    grouped: f64,
    /// If all functions were significant everywhere.
    dense: f64,
}

#[derive(Serialize)]
pub struct CacheSummary {
    budget_bytes: u64,
    used_bytes: u64,
    groups_kept: usize,
}

#[derive(Serialize)]
struct ShareSummary {
    label: String,
    groups: usize,
    seconds: f64,
    /// Its part of all devices' time.
    share: f64,
}

/// A group that goes to another device.
#[derive(Serialize)]
struct MoveSummary {
    group: usize,
    points: usize,
    functions: usize,
    /// Devices by their places in `devices`.
    from: usize,
    to: usize,
}

#[derive(Serialize)]
pub struct Iteration {
    seconds: f64,
    devices: Vec<ShareSummary>,
    /// The longest time of a device over the shortest, less 1.
    imbalance: f64,
    /// Groups that went to another device afterwards.
    moves: usize,
    moved: Vec<MoveSummary>,
}

#[derive(Serialize)]
pub struct Verification {
    pub array: String,
    /// The largest difference.
    pub difference: f64,
    pub tolerance: f64,
    pub passed: bool,
}

#[derive(Serialize)]
pub struct XcResult {
    pub schema_version: u32,
    pub device: Vec<String>,
    pub functional: &'static str,
    pub precision: &'static str,
    pub molecule: MoleculeSummary,
    pub grid: GridSummary,
    pub groups: GroupsSummary,
    /// Of both spins, or of each.
    pub electrons: Vec<f64>,
    pub energy: f64,
    pub trace_dv: f64,
    pub gradient: Option<Vec<[f64; 3]>>,
    pub gradient_sum: Option<[f64; 3]>,
    pub matrix: MatrixSummary,
    pub gflop: GflopSummary,
    pub cache: CacheSummary,
    /// Seconds of compiling kernels, or loading them; the other times do not include them.
    pub compile_seconds: f64,
    /// Seconds to make the plan.
    pub setup_seconds: f64,
    pub iterations: Vec<Iteration>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub verification: Vec<Verification>,
    pub warnings: Vec<String>,
}

impl From<Spread> for SpreadSummary {
    fn from(Spread { least, median, most }: Spread) -> Self {
        Self { least, median, most }
    }
}

impl GridSummary {
    /// Describes a grid and where it comes from.
    pub fn new(info: &PlanInfo, source: Source) -> Self {
        let (points, kept) = (info.points, info.kept_points);
        match source {
            Source::File(path) => Self { points, kept, radial: None, angular: None, source: Some(path) },
            Source::Made(made) => {
                Self { points, kept, radial: Some(made.radial), angular: Some(made.angular), source: None }
            }
        }
    }
}

impl GroupsSummary {
    /// Describes the groups of a plan.
    pub fn new(info: &PlanInfo) -> Self {
        Self {
            count: info.groups,
            spheres: info.spheres,
            split: info.cuts,
            points: info.points_of_groups.into(),
            functions: info.functions_of_groups.into(),
        }
    }
}

impl MoleculeSummary {
    /// Describes a molecule.
    pub fn new(input: &Input) -> Self {
        let (atoms, functions) = (input.basis.atoms().len(), input.basis.functions());
        Self { atoms, functions, electrons_expected: input.electrons }
    }
}

impl GflopSummary {
    /// Tells the operations of a plan's products.
    pub fn new(info: &PlanInfo) -> Self {
        Self { grouped: info.gflop, dense: info.gflop_dense }
    }
}

impl CacheSummary {
    /// Tells what a plan keeps.
    pub fn new(info: &PlanInfo) -> Self {
        Self { budget_bytes: info.budget_bytes, used_bytes: info.kept_bytes, groups_kept: info.kept_groups }
    }
}

impl Iteration {
    /// Describes an evaluation that took so many seconds.
    pub fn new(seconds: f64, found: &Xc, plan: &Plan) -> Self {
        let all: f64 = found.shares.iter().map(|share| share.seconds).sum();
        let devices = found.shares.iter().map(|share| ShareSummary {
            label: share.label.clone(),
            groups: share.groups,
            seconds: share.seconds,
            share: share.seconds / all,
        });
        let devices = devices.collect();
        let moved = found.moves.iter().filter_map(|step| {
            let [points, functions] = plan.size_of_group(step.job)?;
            Some(MoveSummary { group: step.job, points, functions, from: step.from, to: step.to })
        });
        let moved = moved.collect();
        Self { seconds, devices, imbalance: found.imbalance(), moves: found.moves.len(), moved }
    }
}

/// Returns the number that a device's label begins with.
fn number_of(label: &str) -> &str {
    label.split_whitespace().next().unwrap_or(label)
}

/// Returns tr(D V) of all spins.
pub fn trace(density: &Density, found: &Xc) -> f64 {
    let of = |(d, v): (&Vec<f64>, &Vec<f64>)| d.iter().zip(v).map(|(d, v)| d * v).sum::<f64>();
    density.spins().iter().zip(&found.matrices).map(of).sum()
}

/// Returns the largest difference from an array of a file.
///
/// # Errors
/// When the array has another number of values.
pub fn largest(name: &str, path: &Path, found: &[f64], wanted: &NumberArray) -> Result<f64, Failure> {
    if found.len() != wanted.values.len() {
        let problem =
            format!("the array `{name}` has {} values, {} wanted", wanted.values.len(), found.len());
        return Err(Failure::new(Status::File, anyhow::anyhow!("{}: {problem}", path.display())));
    }
    let apart = found.iter().zip(&wanted.values).map(|(a, b)| (a - b).abs());
    // A value that is none makes the largest difference none, which is no success.
    Ok(apart.fold(0.0, larger))
}

impl XcResult {
    /// Returns the result as text.
    pub fn table(&self) -> Table {
        let mut table = Table::default();
        let spread =
            |spread: &SpreadSummary| format!("{} to {}, median {}", spread.least, spread.most, spread.median);
        table.line("functional", format_args!("{}, {}", self.functional, self.precision));
        table.line(
            "molecule",
            format_args!("{} atoms, {} functions", self.molecule.atoms, self.molecule.functions),
        );
        table.line("device", self.device.join(", "));
        table.line("grid", format_args!("{} points, {} in groups", self.grid.points, self.grid.kept));
        let GroupsSummary { count, points, functions, .. } = &self.groups;
        table.line(
            "groups",
            format_args!("{count}, of {} points and {} functions", spread(points), spread(functions)),
        );
        let electrons: Vec<String> = self.electrons.iter().map(|n| format!("{n:.9}")).collect();
        table.line(
            "electrons",
            format_args!(
                "{}, {} expected",
                electrons.join(" and "),
                rounded(self.molecule.electrons_expected, 12)
            ),
        );
        table.line("energy", format_args!("{} hartree", decimal(self.energy, 12)));
        table.line("tr(D V)", format_args!("{} hartree", fixed(self.trace_dv, 12)));
        if let (Some(gradient), Some(sum)) = (&self.gradient, &self.gradient_sum) {
            for (number, row) in gradient.iter().enumerate() {
                let text = row.map(|x| format!("{:>18}", fixed(x, 12))).join(" ");
                table.line("gradient", format_args!("{text} hartree/bohr, atom {}", number + 1));
            }
            table.line("gradient's sum", sum.map(|x| scientific(x, 3)).join(" "));
        }
        let GflopSummary { grouped, dense } = self.gflop;
        table.line("operations", format_args!("{grouped:.3} GFLOP in products, {dense:.3} without groups"));
        let CacheSummary { budget_bytes, used_bytes, groups_kept } = self.cache;
        if budget_bytes > 0 {
            let [used, budget] = [used_bytes, budget_bytes].map(|bytes| bytes as f64 / 1e9);
            table.line(
                "kept functions",
                format_args!("{used:.3} GB of at most {budget:.3} GB, {groups_kept} of {count} groups"),
            );
        }
        for (number, iteration) in self.iterations.iter().enumerate() {
            let devices =
                iteration.devices.iter().map(|d| format!("{:.4} s in {} groups", d.seconds, d.groups));
            let devices: Vec<String> = devices.collect();
            table.line(
                "evaluation",
                format_args!(
                    "{}: {:.4} s; {}; imbalance {:.1} %, {} moves",
                    number + 1,
                    iteration.seconds,
                    devices.join(", "),
                    100.0 * iteration.imbalance,
                    iteration.moves
                ),
            );
            for step in &iteration.moved {
                let MoveSummary { group, points, functions, from, to } = step;
                let [from, to] = [from, to].map(|&device| number_of(&self.device[device]));
                table.line(
                    "moved",
                    format_args!(
                        "group {group}, {points} points and {functions} functions, from {from} to {to}"
                    ),
                );
            }
        }
        table.line(
            "seconds",
            format_args!("compile {:.3}, set-up {:.3}", self.compile_seconds, self.setup_seconds),
        );
        for check in &self.verification {
            let verdict = if check.passed { "passed" } else { "failed" };
            let (difference, tolerance) = (scientific(check.difference, 2), scientific(check.tolerance, 0));
            table.line(
                "verification",
                format_args!("{verdict}: {} {difference}, {tolerance} allowed", check.array),
            );
        }
        table
    }
}
