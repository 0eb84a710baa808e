//! `cr-solve bench md`: steps of the motion of a liquid, by formulas and tables.

use super::outcome::{Benchmark, Subject};
use super::session::{How, Session, wrong};
use lattice_cl::compute::{Device, Team};
use lattice_cli::choices::{bare_word_of, word};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::forces::{ForceMode, TableKinds};
use lattice_md::{
    Fetch, Forces, Formula, Grid, Interpolation, List, Mixing, Mode, Motion, Options, Potential, Precision,
    Shift, Spacing, System, Table, Units,
};
use std::time::Instant;

/// The command line of `bench md`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Numbers of atoms, of which the nearest 4 n³ with n from 4 on are taken [default: 4000,32000, on GPUs 256000 too; with --quick 500]
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    atoms: Vec<u64>,
    /// Where forces come from: the formula, or tables of 4096 samples
    #[arg(
        long,
        value_name = "MODE,…",
        value_parser = bare_word_of(&ForceMode::ALL),
        value_delimiter = ',',
        default_value = "direct,potential,derivative"
    )]
    mode: Vec<ForceMode>,
    /// How pairs are found; all pairs up to 32000 atoms, the matrix of distances up to 8000
    #[arg(long, value_name = "LIST,…", value_parser = word::<ListKind>())]
    #[arg(value_delimiter = ',', default_value = "cells")]
    list: Vec<ListKind>,
    /// How tables are read
    #[arg(long, value_name = "FETCH,…", value_parser = bare_word_of(&[Fetch::Buffer, Fetch::Image]))]
    #[arg(value_delimiter = ',', default_value = "buffer,image")]
    fetch: Vec<Fetch>,
    /// Precisions of forces
    #[arg(long, value_name = "PRECISION,…", value_parser = bare_word_of(&Precision::ALL))]
    #[arg(value_delimiter = ',', default_value = "mixed")]
    precision: Vec<Precision>,
    #[command(flatten)]
    kinds: TableKinds,
    /// The formula
    #[arg(long, value_parser = word::<Formula>(), default_value_t = Formula::LennardJones)]
    formula: Formula,
    /// How it is measured, and where results go.
    #[command(flatten)]
    pub how: How,
}

/// How pairs are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListKind {
    Cells,
    HalfCells,
    AllPairs,
    Matrix,
}

lattice_files::words! {
    ListKind, "way to find pairs":
    Cells = "cells";
    HalfCells = "half-cells", "Lists have each pair once, and forces are scattered";
    AllPairs = "all-pairs";
    Matrix = "matrix", "All distances are stored first"
}

/// Edge of a cell of four atoms, in Å: liquid argon's density.
const EDGE: f64 = 5.4;

const CUTOFF: f64 = 8.5;

/// Steps of a call.
const STEPS: u64 = 50;

/// Most atoms of which all pairs are computed.
const MOST_PAIRED: usize = 32_000;

/// Most atoms whose distances are stored.
const MOST_STORED: usize = 8000;

/// Largest relative error of an energy: that of tables.
const TOLERANCE: f64 = 1e-4;

/// Checks and times steps of 2 fs, of all sizes and ways on each device.
///
/// # Errors
/// When a device fails, or computes something wrong.
pub fn measure(arguments: &Arguments, session: &mut Session<'_>) -> Result<(), Failure> {
    let formula = match arguments.formula {
        Formula::LennardJones => argon()?,
        Formula::Morse => Potential::of_formula(Formula::Morse, vec![[0.238, 1.6, 3.82, 0.0]])?,
    };
    // Each atom of a crystal has the same energy, whatever the crystal's size.
    let crystal = crystal(4)?;
    let options = Options::new(CUTOFF).with_shift(Shift::Force);
    let exact = Forces::new(&Team::host(), &crystal, &formula, options)?.evaluate(crystal.positions())?;
    let of_atom = exact.sums.energy / crystal.atoms() as f64;
    for (number, device) in session.opencl_devices("md")?.iter().enumerate() {
        let team = Team::of([device.clone()]);
        let sizes = match &arguments.atoms[..] {
            [] if arguments.how.quick => vec![500],
            [] if device.info().kind == lattice_cl::compute::DeviceKind::Gpu => vec![4000, 32_000, 256_000],
            [] => vec![4000, 32_000],
            given => given.to_vec(),
        };
        for &atoms in &sizes {
            for (table, fetch) in arguments.tables(device) {
                for &list in &arguments.list {
                    for &precision in &arguments.precision {
                        if session.interrupted() {
                            return Ok(());
                        }
                        let case = ForceCase { number, atoms, table, fetch, list, precision };
                        case.measure(&team, &formula, of_atom, session)?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// A table.
#[derive(Clone, Copy)]
struct Kind {
    mode: Mode,
    spacing: Spacing,
    interpolation: Interpolation,
}

impl Arguments {
    /// Returns every table that is asked for, with every way to read it that the device has, and the
    /// formula as `None`.
    fn tables(&self, device: &Device) -> Vec<(Option<Kind>, Fetch)> {
        let mut tables = Vec::new();
        for &mode in &self.mode {
            let Some(mode) = mode.of_table() else {
                tables.push((None, Fetch::Buffer));
                continue;
            };
            for (spacing, interpolation) in self.kinds.all() {
                for &fetch in &self.fetch {
                    if fetch == Fetch::Buffer || device.supports_linear_images() {
                        tables.push((Some(Kind { mode, spacing, interpolation }), fetch));
                    }
                }
            }
        }
        tables
    }
}

/// A case of one row.
struct ForceCase {
    number: usize,
    atoms: u64,
    /// The table, or `None` for the formula.
    table: Option<Kind>,
    fetch: Fetch,
    list: ListKind,
    precision: Precision,
}

impl ForceCase {
    fn measure(
        &self,
        team: &Team,
        formula: &Potential,
        of_atom: f64,
        session: &mut Session<'_>,
    ) -> Result<(), Failure> {
        let cells = cells(self.atoms as usize);
        let most = match self.list {
            ListKind::Cells | ListKind::HalfCells => usize::MAX,
            ListKind::AllPairs => MOST_PAIRED,
            ListKind::Matrix => MOST_STORED,
        };
        if 4 * cells.pow(3) > most {
            return Ok(());
        }
        let system = crystal(cells)?.with_temperature(90.0, 1, Units::Real)?;
        let potential = match self.table {
            None => formula.clone(),
            Some(Kind { mode, spacing, interpolation }) => {
                let grid = grid()?.spaced(spacing);
                let table = Table::sampled(1, grid, |row, r| formula.energy_and_slope(row, r))?;
                Potential::Table { table: table.interpolated(interpolation), mode }
            }
        };
        let options = Options::new(CUTOFF)
            .with_shift(Shift::Force)
            .with_precision(self.precision)
            .with_fetch(self.fetch)
            .with_list(match self.list {
                ListKind::Cells => List::default(),
                ListKind::HalfCells => List::HalfCells { skin: List::SKIN },
                ListKind::AllPairs => List::AllPairs,
                ListKind::Matrix => List::Matrix,
            });
        let mut motion = Motion::new(team, &system, &potential, options, Units::Real, 2.0)?;
        let sums = motion.frame()?.sums;
        let error = (sums.energy / (of_atom * system.atoms() as f64) - 1.0).abs();
        // An image of 8 bits errs by more, which is not wrong.
        if error.is_nan() || (error > TOLERANCE && self.fetch == Fetch::Buffer) {
            let what = format!("{}: {} of {} atoms", team.labels().join(", "), self.name(), system.atoms());
            return Err(wrong(what, "the energy of a crystal", format_args!("one that is {error:e} apart")));
        }
        let mut subject = Subject::new(Benchmark::Md, self.name())
            .on(self.number)
            .with("precision", self.precision.name())
            .with("atoms", system.atoms())
            .with("list", self.list.name());
        if let Some(table) = self.table {
            subject = subject.with("fetch", self.fetch.name());
            subject = subject
                .with("spacing", table.spacing.name())
                .with("interpolation", table.interpolation.name());
        }
        let samples = session.samples(|_| {
            let begun = Instant::now();
            motion.advance(STEPS)?;
            Ok((begun.elapsed() / STEPS as u32, None))
        })?;
        let mut walls = samples.wall.clone();
        walls.sort_by(f64::total_cmp);
        if let Some(&middle) = walls.get(walls.len() / 2) {
            subject = subject
                .unlimited()
                .by_the_wall()
                .found("pairs", sums.pairs)
                .found("steps_per_second", 1.0 / middle)
                .found("pairs_per_second", sums.pairs as f64 / middle);
            session.push(subject, samples);
        }
        Ok(())
    }
}

impl ForceCase {
    fn name(&self) -> &'static str {
        self.table.map_or(ForceMode::Direct.name(), |table| table.mode.name())
    }
}

fn argon() -> Result<Potential, Failure> {
    Ok(Potential::lennard_jones(&[[0.238, 3.405]], Mixing::default())?)
}

/// Where the tables have their samples.
fn grid() -> Result<Grid, Failure> {
    Ok(Grid::for_cutoff(4096, 2.4, CUTOFF)?)
}

/// Returns the formula of argon, and its table.
pub fn potentials() -> Result<[Potential; 2], Failure> {
    let formula = argon()?;
    let table = formula.tabulated(grid()?, Mode::Derivative)?;
    Ok([formula, table])
}

/// Returns the options of the timed forces.
pub fn options(precision: Precision) -> Options {
    Options::new(CUTOFF).with_shift(Shift::Force).with_precision(precision)
}

/// Returns how many cubes along each axis have about so many atoms.
pub fn cells(atoms: usize) -> usize {
    (atoms as f64 / 4.0).cbrt().round().clamp(4.0, 400.0) as usize
}

/// Argon in `cells` cubes of four atoms along each axis.
pub fn crystal(cells: usize) -> Result<System, Failure> {
    let corners = [[0.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]];
    let cube = |i: usize| [i % cells, i / cells % cells, i / cells / cells].map(|i| i as f64);
    let positions: Vec<[f64; 3]> = (0..4 * cells.pow(3))
        .map(|i| {
            let (cube, corner) = (cube(i / 4), corners[i % 4]);
            std::array::from_fn(|axis| EDGE * (cube[axis] + corner[axis]))
        })
        .collect();
    let types = vec![0; positions.len()];
    System::new([EDGE * cells as f64; 3], vec!["Ar".to_owned()], types, positions)
        .map_err(|error| Failure::new(Status::Failed, error))
}
