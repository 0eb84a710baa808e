//! The correlators of results, gathered over configurations.

use super::correlators::{Correlator, correlators_of, equal};
use lattice_cl::io;
use lattice_cli::failure::{Failure, Status};
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

pub const ONE_ENSEMBLE: &str = "analyse results of one ensemble at a time";

/// The samples of a correlator, one of each file that has it.
pub struct Samples {
    pub is_baryon: bool,
    pub rank: Option<usize>,
    /// The extents of the lattice, if the result has them.
    dims: Option<serde_json::Value>,
    pub values: Vec<Vec<f64>>,
    /// Places in the list of files.
    pub files: Vec<usize>,
    /// Samples by the sums of their links.
    by_links: HashMap<String, usize>,
    /// Samples by the hash of their values.
    by_values: HashMap<u64, Vec<usize>>,
}

pub fn failure(message: String) -> Failure {
    Failure::new(Status::File, anyhow::Error::msg(message))
}

/// Reads the correlators of all files.
///
/// # Errors
/// When a file is no result, a copy of another, or that of another lattice.
pub fn read(files: &[PathBuf]) -> Result<BTreeMap<String, Samples>, Failure> {
    let mut samples: BTreeMap<String, Samples> = BTreeMap::new();
    let mut fingerprints: Vec<Option<String>> = Vec::new();
    for (file, path) in files.iter().enumerate() {
        let result = io::read_results(path)?;
        let fingerprint = result.pointer("/configuration/blake3").and_then(|sum| sum.as_str());
        fingerprints.push(fingerprint.map(str::to_owned));
        for (name, Correlator { values, is_baryon, rank }) in correlators_of(&result) {
            let entry = samples.entry(name.clone()).or_insert_with(|| Samples {
                is_baryon,
                rank,
                dims: result.get("dims").cloned(),
                values: Vec::new(),
                files: Vec::new(),
                by_links: HashMap::new(),
                by_values: HashMap::new(),
            });
            let unlike = |dims: &serde_json::Value| result.get("dims").is_some_and(|own| !equal(own, dims));
            if entry.dims.as_ref().is_some_and(unlike) {
                return Err(unlike_lattices(&files[entry.files[0]], path));
            }
            // Zeros are alike whatever the links are.
            let is_measured = values.iter().any(|value| *value != 0.0);
            let bits = bits_of(&values);
            let alike = entry.by_values.get(&bits).into_iter().flatten();
            let of_links = fingerprints[file].as_ref().and_then(|own| entry.by_links.get(own));
            for &sample in alike.chain(of_links) {
                let other = entry.files[sample];
                let same = match (&fingerprints[other], &fingerprints[file]) {
                    (Some(other), Some(own)) => (other == own).then(|| format!("BLAKE3 {}", shortened(own))),
                    _ => (entry.values[sample] == values).then(|| "the same numbers".to_owned()),
                };
                if let Some(same) = same {
                    return Err(copies(&name, &files[other], path, &same));
                }
            }
            let sample = entry.files.len();
            if is_measured {
                entry.by_values.entry(bits).or_default().push(sample);
            }
            if let Some(own) = &fingerprints[file] {
                entry.by_links.insert(own.clone(), sample);
            }
            entry.values.push(values);
            entry.files.push(file);
        }
    }
    Ok(samples)
}

/// Returns a hash of the bits of values.
fn bits_of(values: &[f64]) -> u64 {
    let mut hasher = DefaultHasher::new();
    // Zero has one sign.
    values.iter().for_each(|value| (value + 0.0).to_bits().hash(&mut hasher));
    hasher.finish()
}

/// Returns the beginning of a sum in hexadecimal.
fn shortened(sum: &str) -> &str {
    sum.get(..16).unwrap_or(sum)
}

/// Returns the refusal of two results of one configuration.
fn copies(name: &str, one: &Path, other: &Path, same: &str) -> Failure {
    let shown = lattice_files::text::path;
    let message = format!("{} and {} have {name} of one configuration ({same})", shown(one), shown(other));
    failure(message).hint("name one result of each configuration: copies would make the errors too small")
}

fn unlike_lattices(one: &Path, other: &Path) -> Failure {
    let shown = lattice_files::text::path;
    let message = format!("{} and {} are results of lattices of other extents", shown(one), shown(other));
    failure(message).hint(ONE_ENSEMBLE)
}
