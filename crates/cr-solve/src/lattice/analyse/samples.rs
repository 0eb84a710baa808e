//! What results have, gathered over configurations.

use super::configurations::{Configurations, Duplicate};
use super::correlators::{Correlator, correlators_of, equal};
use super::flow_rows::FlowRows;
use lattice_cl::io;
use lattice_cli::failure::{Failure, Status};
use lattice_files::text;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub const ONE_ENSEMBLE: &str = "analyse results of one ensemble at a time";

/// The samples of a correlator, one of each file that has it.
pub struct Samples {
    pub is_baryon: bool,
    pub rank: Option<usize>,
    /// The extents of the lattice, if the result has them.
    dims: Option<Value>,
    pub configurations: Configurations,
}

/// The samples of the energy along the flow.
pub struct FlowSamples {
    /// The rows of the first file.
    pub first: FlowRows,
    dims: Option<Value>,
    /// The clover energy at each flow time.
    pub energies: Configurations,
}

/// What the files have.
pub struct Gathered {
    /// Correlators by their names.
    pub correlators: BTreeMap<String, Samples>,
    /// Flows, if the files are results of `flow`.
    pub flows: Option<FlowSamples>,
}

pub fn failure(message: String) -> Failure {
    Failure::new(Status::File, anyhow::Error::msg(message))
}

/// Reads all files.
///
/// # Errors
/// When a file is no result, a copy of another, or that of another lattice. When some of the files
/// are flows.
pub fn read(files: &[PathBuf]) -> Result<Gathered, Failure> {
    let mut correlators: BTreeMap<String, Samples> = BTreeMap::new();
    let mut flows: Option<FlowSamples> = None;
    for (file, path) in files.iter().enumerate() {
        let result = io::read_results(path)?;
        let links = result.pointer("/configuration/blake3").and_then(|sum| sum.as_str()).map(Arc::from);
        let dims = result.get("dims");
        let refused = |name: &str, duplicate| copies(name, files, path, &duplicate);
        if let Some(rows) = FlowRows::of(&result) {
            let FlowRows { times, energies, .. } = &rows;
            let (times, energies) = (times.clone(), energies.clone());
            let flows = flows.get_or_insert_with(|| {
                let energies = Configurations::default();
                FlowSamples { first: rows, dims: dims.cloned(), energies }
            });
            if let Some(&first) = flows.energies.files.first() {
                expect_one_lattice(flows.dims.as_ref(), dims, [&files[first], path])?;
                expect_one_flow(&flows.first.times, &times, [&files[first], path])?;
            }
            flows.energies.add(file, links, energies).map_err(|duplicate| refused("the flow", duplicate))?;
            continue;
        }
        for (name, Correlator { values, is_baryon, rank }) in correlators_of(&result) {
            let entry = correlators.entry(name.clone()).or_insert_with(|| {
                let configurations = Configurations::default();
                Samples { is_baryon, rank, dims: dims.cloned(), configurations }
            });
            if let Some(&first) = entry.configurations.files.first() {
                expect_one_lattice(entry.dims.as_ref(), dims, [&files[first], path])?;
            }
            let added = entry.configurations.add(file, links.clone(), values);
            added.map_err(|duplicate| refused(&name, duplicate))?;
        }
    }
    let is_flow = |file: usize| flows.as_ref().is_some_and(|flows| flows.energies.files.contains(&file));
    if flows.is_some()
        && let Some(other) = (0..files.len()).find(|&file| !is_flow(file))
    {
        let message = format!("{} is no result of flow, and others are", text::path(&files[other]));
        return Err(failure(message).hint(ONE_ENSEMBLE));
    }
    Ok(Gathered { correlators, flows })
}

/// Returns the refusal of two results of one configuration.
fn copies(name: &str, files: &[PathBuf], path: &Path, duplicate: &Duplicate) -> Failure {
    let (one, other) = (text::path(&files[duplicate.file]), text::path(path));
    let message = format!("{one} and {other} have {name} of one configuration ({})", duplicate.same);
    failure(message).hint("name one result of each configuration: copies would make the errors too small")
}

/// Refuses results of lattices whose extents are told and differ.
fn expect_one_lattice(first: Option<&Value>, own: Option<&Value>, paths: [&Path; 2]) -> Result<(), Failure> {
    match (first, own) {
        (Some(first), Some(own)) if !equal(own, first) => {
            let [one, other] = paths.map(text::path);
            let message = format!("{one} and {other} are results of lattices of other extents");
            Err(failure(message).hint(ONE_ENSEMBLE))
        }
        _ => Ok(()),
    }
}

/// Refuses flows with rows at other times.
fn expect_one_flow(first: &[f64], own: &[f64], paths: [&Path; 2]) -> Result<(), Failure> {
    if first == own {
        return Ok(());
    }
    let [one, other] = paths.map(text::path);
    let end = |times: &[f64]| lattice_files::number::shown(times.last().unwrap_or(&0.0));
    let message = format!(
        "{one} has {} flow times up to {}, and {other} has {} up to {}",
        first.len(),
        end(first),
        own.len(),
        end(own)
    );
    Err(failure(message).hint("give all configurations the same --time, --step and --every of flow"))
}
