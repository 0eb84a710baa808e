//! The particles and the potential of `cr-solve md`, by options and files.

use super::words::{LennardJones, ListKind, Mass, Pair, Range};
use lattice_cl::compute::Team;
use lattice_cli::choices::word;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::forces::ForceMode;
use lattice_cli::report::scientific;
use lattice_files::text::quoted;
use lattice_md::{
    BelowRange, Conventions, Curve, Fetch, Forces, Grid, Interpolation, List, Mixing, Options, Potential,
    Precision, Shift, Spacing, System, Table, TableFile, Units, read_amber, read_xyz_by,
};
use serde::Serialize;
use std::path::PathBuf;

/// Largest |F + E′| of a file over the largest |F| without a warning.
const CONSISTENT: f64 = 1e-3;

/// Distances at which the error of a table is measured.
const MEASURED: usize = 4001;

/// The beginning of a table of Lennard-Jones potentials, in units of the smallest σ.
const BEGIN: f64 = 0.7;

#[derive(Debug, clap::Args)]
pub struct ModelArguments {
    /// The particles: an extended XYZ file, or Amber's prmtop and inpcrd
    #[arg(value_name = "FILE", num_args = 1..=2, required = true)]
    files: Vec<PathBuf>,
    /// Lennard-Jones ε and σ of a species, in kcal/mol and Å; once for each
    #[arg(long, value_name = "NAME=EPSILON,SIGMA", conflicts_with = "potential")]
    lj: Vec<LennardJones>,
    /// A file of LAMMPS tables, whose sections --pair names
    #[arg(long, value_name = "FILE", requires = "pair")]
    potential: Option<PathBuf>,
    /// The section for a pair of species; once for each pair
    #[arg(long, value_name = "A-B=SECTION", requires = "potential")]
    pair: Vec<Pair>,
    /// The distance from which on pairs do not interact, at most half the shortest edge of the box
    #[arg(long, value_name = "R")]
    pub cutoff: f64,
    /// Where forces come from [default: direct, and derivative with --potential]
    #[arg(long, value_parser = word::<ForceMode>())]
    mode: Option<ForceMode>,
    /// The number of samples of a table [default: 4096, and that of the file with --potential]
    #[arg(long, value_name = "M")]
    table: Option<usize>,
    /// The first and the last distance of a table [default: as the cutoff and the potential need]
    #[arg(long, value_name = "RMIN,RMAX")]
    range: Option<Range>,
    /// The variable in which a table has equal distances: r, or its square, which needs no root
    #[arg(long, value_parser = word::<Spacing>())]
    spacing: Option<Spacing>,
    /// What is between the samples of a table
    #[arg(long, value_parser = word::<Interpolation>())]
    interpolation: Option<Interpolation>,
    /// What happens to pairs nearer than a table begins [default: warn]
    #[arg(long, value_parser = word::<BelowRange>())]
    below_range: Option<BelowRange>,
    /// How a table is read on devices
    #[arg(long, value_parser = word::<Fetch>(), default_value_t)]
    fetch: Fetch,
    /// The precision on devices; the host computes in double
    #[arg(long, value_parser = word::<Precision>(), default_value_t)]
    precision: Precision,
    /// How pairs are found on devices; the host takes all pairs
    #[arg(long, value_parser = word::<ListKind>(), default_value_t = ListKind::Cells)]
    list: ListKind,
    /// How much further than the cutoff lists reach
    #[arg(long, value_name = "R", default_value_t = List::SKIN)]
    skin: f64,
    /// What happens at the cutoff
    #[arg(long, value_parser = word::<Shift>(), default_value_t)]
    shift: Shift,
    /// How ε and σ of unlike species follow
    #[arg(long, value_parser = word::<Mixing>(), default_value_t)]
    mixing: Mixing,
    /// Ignore charges and bonded terms of a prmtop file
    #[arg(long)]
    lj_only: bool,
    /// The units of files and results
    #[arg(long, value_parser = word::<Units>(), default_value_t)]
    units: Units,
    /// The mass of a species that is no element
    #[arg(long, value_name = "NAME=MASS")]
    mass: Vec<Mass>,
}

/// A potential without a table.
enum Exact {
    Formula(Potential),
    /// A curve for each pair of types.
    Curves(Vec<Curve>),
}

impl Exact {
    fn energy_and_slope(&self, row: usize, r: f64) -> [f64; 2] {
        match self {
            Self::Formula(potential) => potential.energy_and_slope(row, r),
            Self::Curves(curves) => curves[row].energy_and_slope(r),
        }
    }
}

/// What a command computes with.
pub struct Model {
    pub system: System,
    pub potential: Potential,
    pub options: Options,
    pub units: Units,
    pub mode: ForceMode,
    pub precision: Precision,
    pub warnings: Vec<String>,
    exact: Exact,
}

/// A table in results. Errors are the largest ones between the first sample and the cutoff.
#[derive(Serialize)]
pub struct TableSummary {
    samples: usize,
    pub rmin: f64,
    rmax: f64,
    /// The step of samples, in r or in its square.
    h: f64,
    spacing: &'static str,
    interpolation: &'static str,
    error: TableError,
}

/// The largest errors of E and E′.
#[derive(Clone, Copy, Serialize)]
pub struct TableError {
    pub energy: f64,
    pub force: f64,
}

impl std::fmt::Display for TableSummary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { samples, rmin, rmax, h, spacing, interpolation, error } = self;
        let [energy, force] = [error.energy, error.force].map(|error| scientific(error, 2));
        write!(
            f,
            "{samples} samples from {rmin:.4} to {rmax:.4}, {h:.6} apart in {spacing}, {interpolation}; errors {energy} of energies, {force} of forces"
        )
    }
}

impl ModelArguments {
    /// Returns the files that are read.
    pub fn inputs(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().chain(&self.potential)
    }

    /// Reads the files, and makes the potential.
    ///
    /// # Errors
    /// When a file cannot be read, a species has no parameters, or options do not fit each other.
    pub fn load(&self) -> Result<Model, Failure> {
        let mut warnings = Vec::new();
        let (system, exact) = match &self.files[..] {
            [prmtop, inpcrd] => {
                if self.potential.is_some() || !self.lj.is_empty() {
                    return Err(Failure::usage("a prmtop file has its own potentials".to_owned())
                        .hint("leave out --lj and --potential"));
                }
                let files = read_amber(prmtop, inpcrd, self.lj_only)?;
                if files.ignored_charges > 0 {
                    warnings.push(format!("the charges of {} atoms are ignored", files.ignored_charges));
                }
                if files.ignored_bonded > 0 {
                    warnings
                        .push(format!("{} bonded terms and exclusions are ignored", files.ignored_bonded));
                }
                (files.system, Exact::Formula(files.potential))
            }
            [path, ..] => {
                if self.lj_only {
                    return Err(Failure::usage("--lj-only is for prmtop files".to_owned()));
                }
                let masses: Vec<_> = self.mass.iter().map(|given| (given.name.clone(), given.mass)).collect();
                let system =
                    read_xyz_by(path, &Conventions::default().with_units(self.units).with_masses(&masses))?;
                warnings.extend(system.notes().iter().cloned());
                let exact = match &self.potential {
                    Some(path) => Exact::Curves(self.curves(
                        &TableFile::read_in(path, self.units)?,
                        &system,
                        &mut warnings,
                    )?),
                    None => Exact::Formula(self.lennard_jones(&system)?),
                };
                (system, exact)
            }
            [] => return Err(Failure::usage("give a file with particles".to_owned())),
        };
        let system = self.with_masses(system)?;
        let mode = self.mode.unwrap_or(match exact {
            Exact::Formula(_) => ForceMode::Direct,
            Exact::Curves(_) => ForceMode::Derivative,
        });
        let potential = match (mode.of_table(), &exact) {
            (None, Exact::Formula(potential)) => {
                let of_tables = [
                    self.table.is_some(),
                    self.range.is_some(),
                    self.spacing.is_some(),
                    self.interpolation.is_some(),
                    self.below_range.is_some(),
                ];
                if of_tables.contains(&true) {
                    let message =
                        "--table, --range, --spacing, --interpolation and --below-range are for tables";
                    return Err(
                        Failure::usage(message.to_owned()).hint("give --mode derivative or --mode potential")
                    );
                }
                potential.clone()
            }
            (None, Exact::Curves(_)) => {
                return Err(Failure::usage("--mode direct needs a formula, not a table".to_owned())
                    .hint("give --mode derivative or --mode potential"));
            }
            (Some(mode), exact) => {
                let grid = self.grid(exact)?;
                let types = system.names().len();
                let grid = grid.spaced(self.spacing.unwrap_or_default());
                let table = Table::sampled(types, grid, |row, r| exact.energy_and_slope(row, r))?;
                let table = table.interpolated(self.interpolation.unwrap_or_default());
                Potential::Table { table, mode }
            }
        };
        let list = match self.list {
            ListKind::Cells => List::Cells { skin: self.skin },
            ListKind::AllPairs => List::AllPairs,
        };
        let options = Options::new(self.cutoff)
            .with_shift(self.shift)
            .with_precision(self.precision)
            .with_fetch(self.fetch)
            .with_list(list)
            .with_below_range(self.below_range.unwrap_or_default());
        let Self { units, precision, .. } = *self;
        Ok(Model { system, potential, options, units, mode, precision, warnings, exact })
    }

    /// Returns Lennard-Jones potentials of all species.
    fn lennard_jones(&self, system: &System) -> Result<Potential, Failure> {
        let of =
            |name: &String| self.lj.iter().rfind(|given| given.name == *name).map(|given| given.parameters);
        let missing: Vec<&str> =
            system.names().iter().filter(|name| of(name).is_none()).map(String::as_str).collect();
        if !missing.is_empty() {
            let (all, first) = (quoted(&missing.join(", ")), quoted(missing[0]));
            return Err(Failure::usage(format!("no potential is given for {all}"))
                .hint(format!("give --lj {first}=EPSILON,SIGMA, or --potential FILE with --pair")));
        }
        let types: Vec<[f64; 2]> = system.names().iter().filter_map(of).collect();
        Ok(Potential::lennard_jones(&types, self.mixing)?)
    }

    /// Returns the section of each pair of types.
    fn curves(
        &self,
        file: &TableFile,
        system: &System,
        warnings: &mut Vec<String>,
    ) -> Result<Vec<Curve>, Failure> {
        let names = system.names();
        let given = |a: &String, b: &String| {
            let is =
                |pair: &&Pair| pair.names == [a.clone(), b.clone()] || pair.names == [b.clone(), a.clone()];
            self.pair.iter().rfind(is)
        };
        let mut missing = Vec::new();
        let mut curves = Vec::new();
        for (i, a) in names.iter().enumerate() {
            for (j, b) in names.iter().enumerate() {
                match given(a, b) {
                    Some(pair) => {
                        let curve = file.section(&pair.section)?;
                        if j >= i && curve.inconsistency() > CONSISTENT {
                            warnings.push(format!(
                                "section {}: F differs from -dE/dr by {:.1e} of the largest force",
                                pair.section,
                                curve.inconsistency()
                            ));
                        }
                        curves.push(curve.clone());
                    }
                    None if j >= i => missing.push(format!("{a}-{b}")),
                    None => {}
                }
            }
        }
        if !missing.is_empty() {
            let (all, first) = (quoted(&missing.join(", ")), quoted(&missing[0]));
            let sections = quoted(&file.names().join(", "));
            return Err(Failure::usage(format!("no section is given for {all}"))
                .hint(format!("give --pair {first}=SECTION; sections are {sections}")));
        }
        Ok(curves)
    }

    /// Returns where a table has its samples.
    fn grid(&self, exact: &Exact) -> Result<Grid, Failure> {
        match exact {
            Exact::Formula(potential) => {
                let samples = self.table.unwrap_or(4096);
                if let Some(Range([low, high])) = self.range {
                    return Ok(Grid::new(samples, low, high)?);
                }
                let begin = BEGIN * potential.smallest_length().unwrap_or(0.5 * self.cutoff);
                Ok(Grid::for_cutoff(samples, begin, self.cutoff)?)
            }
            Exact::Curves(curves) => {
                let first = curves.iter().map(|curve| curve.range()[0]).fold(0.0, f64::max);
                let last = curves.iter().map(|curve| curve.range()[1]).fold(f64::INFINITY, f64::min);
                let rows = curves.iter().map(Curve::rows).max().unwrap_or_default();
                let [low, high] = self.range.map_or([first, last], |Range(range)| range);
                if low < first || high > last {
                    let message = format!("--range {low},{high} is not within the file's {first} to {last}");
                    return Err(
                        Failure::usage(message).hint("tables have no values beyond those of the file")
                    );
                }
                Ok(Grid::new(self.table.unwrap_or(rows), low, high)?)
            }
        }
    }

    /// Gives the masses of --mass to their species.
    fn with_masses(&self, system: System) -> Result<System, Failure> {
        for given in &self.mass {
            if !system.names().contains(&given.name) {
                let message = format!("--mass {}: there is no such species", given.name);
                return Err(Failure::usage(message)
                    .hint(format!("species are {}", quoted(&system.names().join(", ")))));
            }
        }
        let of_type: Vec<Option<f64>> = system
            .names()
            .iter()
            .map(|name| self.mass.iter().rfind(|given| given.name == *name).map(|given| given.mass))
            .collect();
        let reduced = matches!(self.units, Units::Reduced).then_some(1.0);
        let masses: Option<Vec<f64>> = system
            .masses()
            .iter()
            .zip(system.types())
            .map(|(mass, &of)| of_type[of as usize].or(reduced).or(*mass))
            .collect();
        match masses {
            Some(masses) => Ok(system.with_masses(&masses)?),
            None => Ok(system),
        }
    }
}

impl Model {
    /// Tells about the table, with its error on this device; `None` without a table.
    ///
    /// # Errors
    /// When the device fails.
    pub fn table(&self, team: &Team) -> Result<Option<TableSummary>, Failure> {
        let Potential::Table { table, .. } = &self.potential else { return Ok(None) };
        let grid = table.grid();
        let forces = Forces::new(team, &self.system, &self.potential, self.options)?;
        let types = self.system.names().len();
        let exact = |row: usize, r: f64| self.exact.energy_and_slope(row, r);
        let mut error = TableError { energy: 0.0, force: 0.0 };
        for row in 0..types * types {
            let found =
                error_of(&forces, [row / types, row % types], [grid.rmin, self.options.cutoff], |r| {
                    exact(row, r)
                })?;
            error =
                TableError { energy: error.energy.max(found.energy), force: error.force.max(found.force) };
        }
        let Grid { samples, rmin, rmax, spacing } = grid;
        Ok(Some(TableSummary {
            samples,
            rmin,
            rmax,
            h: grid.step(),
            spacing: spacing.name(),
            interpolation: table.interpolation().name(),
            error,
        }))
    }
}

/// Returns the largest errors of forces between two distances.
///
/// # Errors
/// When the device fails.
pub fn error_of(
    forces: &Forces,
    types: [usize; 2],
    [from, to]: [f64; 2],
    exact: impl Fn(f64) -> [f64; 2],
) -> Result<TableError, Failure> {
    let distance = |i: usize| from + (to - from) * (i as f64 + 0.5) / MEASURED as f64;
    let distances: Vec<f64> = (0..MEASURED).map(distance).collect();
    let mut error = TableError { energy: 0.0, force: 0.0 };
    for (&r, [energy, slope]) in distances.iter().zip(forces.curve(types, &distances)?) {
        let [wanted_energy, wanted_slope] = exact(r);
        error.energy = error.energy.max((energy - wanted_energy).abs());
        error.force = error.force.max((slope - wanted_slope).abs());
    }
    Ok(error)
}

/// Returns the word for how a table is read, or why there is none.
pub fn fetch_of(found: Option<Fetch>, team: &Team, mode: ForceMode) -> Option<&'static str> {
    match (found, mode) {
        (_, ForceMode::Direct) => None,
        (Some(fetch), _) => Some(fetch.name()),
        (None, _) => team.is_host().then_some("host"),
    }
}

/// Returns the failure of a file that a command would write, but cannot make.
pub fn unwritten(path: &std::path::Path, error: std::io::Error) -> Failure {
    let context = format!("{}: cannot be written", path.display());
    Failure::new(Status::File, anyhow::Error::new(error).context(context))
}
