//! The parts of results that `md forces` and `md run` share.

use super::model::{Model, TableSummary, fetch_of};
use lattice_cl::compute::Team;
use lattice_cli::report::Table;
use lattice_cli::team::device_names;
use lattice_md::{Fetch, Lists, PairTuning, Sums, Units};
use serde::Serialize;

/// What is computed, and how: the first keys of a result.
#[derive(Serialize)]
pub struct Subject {
    schema_version: u32,
    pub device: Vec<String>,
    pub atoms: usize,
    types: Vec<String>,
    #[serde(rename = "box")]
    pub edges: [f64; 3],
    pub cutoff: f64,
    mode: &'static str,
    fetch: Option<&'static str>,
    precision: &'static str,
    /// The variant of the device's kernels; null on the host.
    variant: Option<PairTuning>,
    pub table: Option<TableSummary>,
}

/// What was found: the keys of a configuration.
#[derive(Serialize)]
pub struct Findings {
    pub pairs: u64,
    pub energy: f64,
    pub virial: [f64; 6],
    /// In energy per volume; of the virial alone if nothing moves.
    pub pressure: f64,
    /// In atmospheres; null in reduced units.
    pub pressure_atm: Option<f64>,
    pub force: ForceSummary,
    list: ListSummary,
    /// Pairs nearer than a table begins, in all forces that were computed.
    below_range: u64,
}

#[derive(Serialize)]
pub struct ForceSummary {
    pub rms: f64,
    pub largest: f64,
    /// The atom with the largest force, from 1.
    pub atom: usize,
    sum: [f64; 3],
}

#[derive(Serialize)]
struct ListSummary {
    kind: &'static str,
    cells: Option<[usize; 3]>,
    neighbours_mean: Option<f64>,
}

impl Subject {
    /// Describes forces of a model. `fetch` and `variant` are those of the device.
    pub fn new(
        model: &Model,
        team: &Team,
        fetch: Option<Fetch>,
        variant: Option<PairTuning>,
        table: Option<TableSummary>,
    ) -> Self {
        Self {
            schema_version: 1,
            device: device_names(team),
            atoms: model.system.atoms(),
            types: model.system.names().to_vec(),
            edges: model.system.edges(),
            cutoff: model.options.cutoff,
            mode: model.mode.name(),
            fetch: fetch_of(fetch, team, model.mode),
            precision: if team.is_host() { "double" } else { model.precision.name() },
            variant,
            table,
        }
    }

    /// Adds the lines about the device, forces and the table.
    pub fn lines(&self, table: &mut Table) {
        table.line("device", format_args!("{}, {}", self.device.join(", "), self.precision));
        let fetch = self.fetch.map_or(String::new(), |fetch| format!(", by {fetch}"));
        let variant = self.variant.map_or(String::new(), |variant| format!(", {variant}"));
        table.line("forces", format_args!("{}{fetch}{variant}", self.mode));
        if let Some(found) = &self.table {
            table.line("table", found);
        }
    }
}

impl Findings {
    /// Describes a configuration with this kinetic energy.
    ///
    /// `below` counts pairs nearer than a table begins, at all steps of a motion.
    pub fn new(
        model: &Model,
        sums: &Sums,
        kinetic: f64,
        forces: &[[f64; 3]],
        lists: Option<Lists>,
        below: u64,
    ) -> Self {
        let pressure = sums.pressure(kinetic, model.system.volume());
        Self {
            pairs: sums.pairs,
            energy: sums.energy,
            virial: sums.virial,
            pressure,
            pressure_atm: model.units.atmospheres().map(|unit| unit * pressure),
            force: summary(forces),
            list: list_summary(lists),
            below_range: below,
        }
    }
}

/// Warns of so many pairs below the first sample of a table. `when` tells of which steps, if any.
pub fn below_warning(count: u64, when: &str, table: Option<&TableSummary>) -> Option<String> {
    let begin = table.filter(|_| count > 0)?.rmin;
    Some(format!(
        "{count} pairs{when} were nearer than {begin}, where the table begins: their energy is a line with the slope there; begin the table at a smaller r, or take --below-range stop"
    ))
}

/// Returns the names of the units of energy and length.
pub fn unit_names(units: Units) -> [&'static str; 2] {
    match units {
        Units::Real => ["kcal/mol", "Å"],
        Units::Reduced => ["ε", "σ"],
    }
}

fn list_summary(lists: Option<Lists>) -> ListSummary {
    match lists {
        Some(lists) => ListSummary {
            kind: "cells",
            cells: Some(lists.cells),
            neighbours_mean: Some(lists.neighbours_mean),
        },
        None => ListSummary { kind: "all-pairs", cells: None, neighbours_mean: None },
    }
}

fn summary(forces: &[[f64; 3]]) -> ForceSummary {
    let squares: Vec<f64> = forces.iter().map(|force| force.iter().map(|f| f * f).sum()).collect();
    let atom = (0..squares.len()).max_by(|&a, &b| squares[a].total_cmp(&squares[b])).unwrap_or(0);
    ForceSummary {
        rms: (squares.iter().sum::<f64>() / squares.len() as f64).sqrt(),
        largest: squares[atom].sqrt(),
        atom: atom + 1,
        sum: std::array::from_fn(|axis| forces.iter().map(|force| force[axis]).sum()),
    }
}
