//! `cr-solve tune`: finds the fastest variants of the kernels on a device, and keeps them.

use super::Common;
use super::arguments::{is_wanted, path_text};
use super::extents::Extents;
use super::failure::{Failure, Status};
use super::report::{Report, align_right, plain_table};
use lattice_cl::blas::gemm::{Arithmetic, TunedGemm, tune_gemm};
use lattice_cl::blas::{BlasError, Op};
use lattice_cl::device::{Device, Profiling, Team};
use lattice_cl::dirac::{Tuned, tune_stencil};
use lattice_cl::host::{Boundary, Dims, GaugeConfiguration, Reconstruction, random};
use lattice_cl::lattice::Lattice;
use lattice_cl::scalar::{Half, Storage, StoragePrecision};
use lattice_cl::tuning::{self, Entry, Found, Key, RenewError, TuningFile, TuningFileError};
use num_complex::Complex;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;

use std::time::Duration;

/// The command line of `tune`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The kernels to tune
    #[arg(value_enum, value_name = "KERNELS", default_value = "stencil")]
    family: Family,
    /// Stencil: extents in x, y, z, t of what one device holds; several times for several lattices
    #[arg(long, value_name = "EXTENTS", default_values = ["16x16x16x32"])]
    dims: Vec<Dims>,
    /// Precisions: double, single, half or all; gemm has no half
    #[arg(long, value_name = "PRECISION,…", value_delimiter = ',', default_value = "all", value_parser = ["all", "double", "single", "half"])]
    precision: Vec<String>,
    /// Gemm: m, n and k of the products, N for NxNxN; one product stands for all up to the next powers of two
    #[arg(long, value_name = "MxNxK,…", value_delimiter = ',', default_values = ["1024"], value_parser = Extents::parse)]
    sizes: Vec<Extents>,
    /// Gemm: which factors are transposed, in column-major order: nn, nt, tn, tt
    #[arg(long, value_name = "FORM,…", value_delimiter = ',', default_values = ["nn"], value_parser = ["nn", "nt", "tn", "tt"])]
    forms: Vec<String>,
    /// Gemm: elements are real, complex or all
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', default_value = "all", value_parser = ["all", "real", "complex"])]
    elements: Vec<String>,
    /// Gemm: single precision as three products of TF32 parts, too
    #[arg(long)]
    three_tf32: bool,
    /// Stencil: reals stored for each link: 18, 12, 8 or all
    #[arg(long, value_name = "REALS,…", value_delimiter = ',', default_value = "all", value_parser = ["all", "18", "12", "8"])]
    links: Vec<String>,
    /// Stencil: right-hand sides: fields that the operators are applied to at once; several numbers for several kernels
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1", value_parser = clap::value_parser!(u8).range(1..=64))]
    rhs: Vec<u8>,
    /// Most seconds for one kernel
    #[arg(long, value_name = "SECONDS", default_value_t = tuning::BUDGET.as_secs())]
    budget: u64,
    /// Show what is kept, of all devices, and tune nothing
    #[arg(long, conflicts_with = "clear")]
    list: bool,
    /// Remove what is kept of this device, and tune nothing
    #[arg(long)]
    clear: bool,
}

/// Kernels that can be tuned, by what they compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Family {
    /// The Wilson operator and its hop from parity to parity
    Stencil,
    /// Products of matrices
    Gemm,
}

/// What was found, what is kept, or how much was removed.
///
/// # Errors
/// When there is no such device, it fails, or the tuning file cannot be used.
pub fn run(arguments: &Arguments, common: &Common, report: &Report) -> Result<Status, Failure> {
    if common.no_tune {
        return Err(Failure::usage("--no-tune leaves nothing for tune to do".to_owned()));
    }
    let file = common.cache().tuning_file().map(TuningFile::new);
    if arguments.list {
        return list(&kept_in(file)?, report);
    }
    let team = common.team(Profiling::Off, report)?;
    let [device] = team.devices() else {
        let message = "tune works on one OpenCL device; name it with --device".to_owned();
        return Err(Failure::usage(message)
            .hint("devices of a team are alike or are tuned one by one, with the extents of one's share"));
    };
    if arguments.clear {
        return clear(&kept_in(file)?, device, report);
    }
    // Before the work: nothing should be searched for in vain.
    match &file {
        Some(file) => file.check_writable()?,
        None => report.warning("there is no cache, so nothing of this is kept"),
    }
    let mut rows = Vec::new();
    match arguments.family {
        Family::Stencil => tune_lattices(arguments, &team, report, &mut rows)?,
        Family::Gemm => tune_products(arguments, device, report, &mut rows)?,
    }
    let info = device.info();
    let outcome = Outcome {
        schema_version: 1,
        device: info.name.clone(),
        driver: info.driver_version.clone(),
        file: file.map(|file| file.path().display().to_string()),
        rows,
    };
    report.result(table(&outcome), &outcome)?;
    Ok(Status::Fine)
}

#[derive(Serialize)]
struct Outcome {
    schema_version: u32,
    device: String,
    driver: String,
    /// Where it is kept; null if nowhere.
    file: Option<String>,
    rows: Vec<Row>,
}

/// One kernel.
#[derive(Serialize)]
struct Row {
    kernel: String,
    options: String,
    extents: String,
    shipped: Value,
    shipped_microseconds: f64,
    variant: Value,
    microseconds: f64,
    /// How many times as fast as the shipped variant the fastest one is.
    gain: f64,
    variants_tried: usize,
}

impl Row {
    fn new<V: Serialize>(key: &Key, shipped: &V, found: &Found<V>) -> Self {
        // Variants are plain structures: they are kept as JSON.
        let value = |variant: &V| serde_json::to_value(variant).unwrap_or_default();
        Self {
            kernel: key.kernel().to_owned(),
            options: key.options().to_owned(),
            extents: key.extents().to_owned(),
            shipped: value(shipped),
            shipped_microseconds: found.shipped_time.as_secs_f64() * 1e6,
            variant: value(&found.variant),
            microseconds: found.time.as_secs_f64() * 1e6,
            gain: found.gain(),
            variants_tried: found.tried,
        }
    }

    /// What the fastest variant has that the shipped one has not.
    fn changes(&self) -> String {
        match (&self.variant, &self.shipped) {
            (variant, shipped) if variant == shipped => "default".to_owned(),
            (Value::Object(variant), Value::Object(shipped)) => {
                let changed = variant.iter().filter(|(name, value)| shipped.get(*name) != Some(value));
                tuning::text_of(&changed.collect::<BTreeMap<_, _>>())
            }
            (variant, _) => tuning::text_of(variant),
        }
    }
}

/// The kernels of the stencil, in every storage that is asked for, on random links.
fn tune_lattices(
    arguments: &Arguments,
    team: &Team,
    report: &Report,
    rows: &mut Vec<Row>,
) -> Result<(), Failure> {
    let budget = Duration::from_secs(arguments.budget);
    for &dims in &arguments.dims {
        report.note(format_args!("{dims}: random links and spinors"));
        let configuration = random::hot(dims, 1);
        let lattice = Lattice::new(team, dims)?;
        let links: Vec<Reconstruction> =
            Reconstruction::ALL.into_iter().filter(|links| is_wanted(&arguments.links, links)).collect();
        for precision in StoragePrecision::ALL {
            if !is_wanted(&arguments.precision, precision) {
                continue;
            }
            for &links in &links {
                for &sources in &arguments.rhs {
                    let tune = match precision {
                        StoragePrecision::Double => tune_links::<f64>,
                        StoragePrecision::Single => tune_links::<f32>,
                        StoragePrecision::Half => tune_links::<Half>,
                    };
                    let tuned = tune(&lattice, &configuration, links, sources.into(), budget)?;
                    rows.extend(tuned.iter().map(|tuned| Row::new(&tuned.key, &tuned.shipped, &tuned.found)));
                }
            }
        }
    }
    Ok(())
}

fn tune_links<T: Storage>(
    lattice: &Lattice,
    configuration: &GaugeConfiguration,
    reconstruction: Reconstruction,
    sources: usize,
    budget: Duration,
) -> Result<Vec<Tuned>, Failure> {
    let links = lattice.gauge_in::<T>(configuration, Boundary::antiperiodic_t(), reconstruction)?;
    Ok(tune_stencil(&links, sources, budget)?)
}

/// The products in every element type, arithmetic and form that is asked for.
fn tune_products(
    arguments: &Arguments,
    device: &Device,
    report: &Report,
    rows: &mut Vec<Row>,
) -> Result<(), Failure> {
    type Tune =
        fn(&Device, Arithmetic, [Op; 2], [usize; 3], Duration) -> Result<TunedGemm, RenewError<BlasError>>;
    let budget = Duration::from_secs(arguments.budget);
    let elements: [(&str, &str, Tune); 4] = [
        ("single", "real", tune_gemm::<f32>),
        ("double", "real", tune_gemm::<f64>),
        ("single", "complex", tune_gemm::<Complex<f32>>),
        ("double", "complex", tune_gemm::<Complex<f64>>),
    ];
    for (precision, kind, tune) in elements {
        if !is_wanted(&arguments.precision, precision) || !is_wanted(&arguments.elements, kind) {
            continue;
        }
        let mut arithmetics = vec![Arithmetic::Ieee];
        if arguments.three_tf32 && precision == "single" {
            arithmetics.push(Arithmetic::ThreeTf32);
        }
        for &extents in &arguments.sizes {
            report.note(format_args!("{precision} {kind} elements, {extents}"));
            for form in &arguments.forms {
                let op = |place| if form.as_bytes()[place] == b't' { Op::T } else { Op::N };
                for &arithmetic in &arithmetics {
                    let TunedGemm { key, shipped, found } =
                        tune(device, arithmetic, [op(0), op(1)], extents.0, budget)?;
                    rows.push(Row::new(&key, &shipped, &found));
                }
            }
        }
    }
    Ok(())
}

fn table(outcome: &Outcome) -> String {
    let mut table = plain_table(["kernel", "extents", "variant", "µs", "default µs", "gain", "tried"]);
    for row in &outcome.rows {
        table.add_row([
            format!("{} {}", row.kernel, row.options),
            row.extents.clone(),
            row.changes(),
            format!("{:.1}", row.microseconds),
            format!("{:.1}", row.shipped_microseconds),
            format!("{:.2}", row.gain),
            row.variants_tried.to_string(),
        ]);
    }
    align_right(&mut table, &[3, 4, 5, 6]);
    let kept = match &outcome.file {
        Some(path) => format!("kept in {path}"),
        None => "not kept".to_owned(),
    };
    format!(
        "{}, driver {}: median time of a launch by the wall clock; {kept}\n{table}",
        outcome.device, outcome.driver
    )
}

#[derive(Serialize)]
struct Kept<'a> {
    schema_version: u32,
    #[serde(serialize_with = "path_text")]
    file: &'a std::path::Path,
    entries: Vec<Entry>,
}

/// Microseconds, or nothing where there was no time for a search.
fn micro(microseconds: Option<f64>) -> String {
    microseconds.map(|time| format!("{time:.1}")).unwrap_or_default()
}

fn list(file: &TuningFile, report: &Report) -> Result<Status, Failure> {
    let kept = Kept { schema_version: 1, file: file.path(), entries: file.entries()? };
    let mut table = plain_table([
        "device",
        "driver",
        "version",
        "kernel",
        "extents",
        "variant",
        "µs",
        "default µs",
        "tried",
        "date",
    ]);
    for entry in &kept.entries {
        let of = &entry.identity;
        table.add_row([
            of.device.clone(),
            of.driver.clone(),
            of.version.clone(),
            format!("{} {}", of.kernel, of.options),
            of.extents.clone(),
            tuning::text_of(&entry.variant),
            micro(entry.microseconds),
            micro(entry.shipped_microseconds),
            entry.variants_tried.to_string(),
            entry.date.clone(),
        ]);
    }
    align_right(&mut table, &[6, 7, 8]);
    let count = kept.entries.len();
    report.result(format_args!("{}: {count} kernel variants\n{table}", file.path().display()), &kept)?;
    Ok(Status::Fine)
}

#[derive(Serialize)]
struct Cleared<'a> {
    schema_version: u32,
    #[serde(serialize_with = "path_text")]
    file: &'a std::path::Path,
    device: &'a str,
    removed: usize,
}

fn clear(file: &TuningFile, device: &Device, report: &Report) -> Result<Status, Failure> {
    let name = &device.info().name;
    let removed = file.remove_device(name)?;
    let cleared = Cleared { schema_version: 1, file: file.path(), device: name, removed };
    let text = format!("{}: {removed} kernel variants of {name} removed", file.path().display());
    report.result(text, &cleared)?;
    Ok(Status::Fine)
}

fn kept_in(file: Option<TuningFile>) -> Result<TuningFile, Failure> {
    file.ok_or_else(|| {
        Failure::usage("without a cache nothing is kept".to_owned())
            .hint("leave out --no-cache, and LATTICE_CL_NO_CACHE from the environment")
    })
}

impl From<TuningFileError> for Failure {
    fn from(error: TuningFileError) -> Self {
        Self::new(Status::File, error)
    }
}

impl<E: Error + Into<Failure>> From<RenewError<E>> for Failure {
    fn from(error: RenewError<E>) -> Self {
        match error {
            RenewError::Kernel(error) => error.into(),
            RenewError::File(error) => error.into(),
        }
    }
}
