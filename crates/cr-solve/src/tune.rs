//! `cr-solve tune`: finds and keeps the fastest variants of a device's kernels.

use super::arguments::{is_wanted, path_text};
use super::common::Common;
use super::extents::Extents;
use super::failure::{Failure, Status};
use super::report::{Report, align_right, plain_table};
use crate::bench::{fft, md, no_device, sparse};
use crate::matrix_source::Matrix;
use crate::memory::Need;
use crate::precisions;
use crate::tune_progress::Progress;
use crate::variants::{short, short_options};
use comfy_table::{ContentArrangement, Table};
use lattice_cl::blas::fft::{FftError, FftKind, Shape, TunedFft, tune_fft};
use lattice_cl::blas::gemm::{Arithmetic, TunedGemm, tune_gemm};
use lattice_cl::blas::sparse::market::AnyCsr;
use lattice_cl::blas::sparse::{Csr, MatrixOptions, TunedFormat, tune_format};
use lattice_cl::blas::{BlasError, Op};
use lattice_cl::device::{Device, DeviceOptions, Profiling, SearchObserver, Selector, Team};
use lattice_cl::geometry::{Boundary, Dims, Lattice};
use lattice_cl::host::{GaugeConfiguration, Reconstruction, random};
use lattice_cl::operator::{SiteTerm, Tuned, kernels_to_tune, tune_stencil};
use lattice_cl::scalar::{Half, Storage, StoragePrecision};
use lattice_cl::tuning::{self, Entry, Key, RenewError, TuningFile, TuningFileError, TuningResult};
use lattice_md::{Precision, tune_pairs};
use num_complex::Complex;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

/// The command line of `tune`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The kernels to tune
    #[arg(value_enum, value_name = "KERNELS", default_value = "stencil")]
    family: Family,
    /// Sparse: Matrix Market files, or model problems as those of solve [default: those of bench sparse]
    ///
    /// Formats are timed, and the fastest is kept for all matrices with entries at the same places.
    #[arg(value_name = "MATRIX")]
    matrices: Vec<String>,
    /// Stencil: extents in x, y, z, t of one device's domain; may be repeated
    #[arg(long, value_name = "EXTENTS", default_value = "16x16x16x32")]
    dims: Vec<Dims>,
    /// Precisions: double, single, half (or d, s, h) or all; only the stencil has half; single of md is mixed
    #[arg(long, value_name = "PRECISION,…", value_delimiter = ',', default_value = "all", value_parser = precisions::of_fields())]
    precision: Vec<String>,
    /// Gemm: m, n and k of the products, N for NxNxN [default: 1024]; fft: one to four extents [default: those of bench fft]; md: numbers of atoms [default: 500,4000,32000]
    ///
    /// One product stands for all sizes up to the next powers of two, one axis for all of its length.
    #[arg(long, value_name = "SIZE,…", value_delimiter = ',')]
    sizes: Vec<String>,
    /// Fft: complex to complex, real to complex, complex to real
    #[arg(long, value_enum, value_name = "KIND,…", value_delimiter = ',', default_value = "c2c,r2c,c2r")]
    kind: Vec<fft::Kind>,
    /// Gemm: which factors are transposed, in column-major order: nn, nt, tn, tt
    #[arg(long, value_name = "FORM,…", value_delimiter = ',', default_value = "nn", value_parser = ["nn", "nt", "tn", "tt"])]
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
    /// Stencil and sparse: numbers of right-hand sides that the operators are applied to at once
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1", value_parser = clap::value_parser!(u8).range(1..=64))]
    rhs: Vec<u8>,
    /// Stencil: the operators
    ///
    /// Operators with a twisted mass use the variants of operators without one.
    #[arg(long, value_enum, value_name = "OPERATOR,…", value_delimiter = ',', default_value = "wilson")]
    operator: Vec<Operator>,
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
    /// Fourier transforms, by their axes
    Fft,
    /// Pair forces of argon, by the formula and a table of the derivative
    Md,
    /// Formats of sparse matrices, by their products
    Sparse,
}

/// Operators whose kernels have variants of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Operator {
    Wilson,
    Clover,
}

impl Operator {
    /// Returns the site term that kernels are tuned with.
    ///
    /// Blocks of random links stay positive with so small a coefficient.
    fn site_term(self) -> SiteTerm {
        match self {
            Self::Wilson => SiteTerm::Scalar,
            Self::Clover => SiteTerm::Clover { csw: 0.5, mu: 0.0 },
        }
    }
}

/// Tunes kernels, shows the kept variants, or removes them.
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
    if arguments.family != Family::Sparse && !arguments.matrices.is_empty() {
        return Err(Failure::usage(format!("{}: only tune sparse takes matrices", arguments.matrices[0])));
    }
    let progress = Arc::new(Progress::new(report, Duration::from_secs(arguments.budget)));
    let team = team(common, &progress)?;
    let [device] = team.devices() else {
        if team.is_host() {
            return Err(no_device(&team, "tune"));
        }
        let message = "tune works on one OpenCL device; name it with --device".to_owned();
        return Err(Failure::usage(message)
            .hint("devices of a team are alike or are tuned one by one, with the extents of one's share"));
    };
    if arguments.clear {
        return clear(&kept_in(file)?, device, report);
    }
    // The check comes before the work, because no search should be in vain.
    match &file {
        Some(file) => file.check_writable()?,
        None => report.warning("there is no cache, so nothing of this is kept"),
    }
    let mut rows = Vec::new();
    match arguments.family {
        Family::Stencil => {
            let lattices = Lattices::new(arguments);
            progress.plan(lattices.kernels());
            lattices.tune(&team, report, &mut rows)?;
        }
        Family::Gemm => {
            let products = products(arguments)?;
            progress.plan(products.len());
            tune_products(arguments, &products, device, report, &mut rows)?;
        }
        Family::Fft => tune_transforms(arguments, device, report, &progress, &mut rows)?,
        Family::Md => tune_forces(arguments, device, report, &progress, &mut rows)?,
        Family::Sparse => tune_formats(arguments, device, report, &progress, &mut rows)?,
    }
    progress.finish();
    let info = device.info();
    let outcome = TuneResult {
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
struct TuneResult {
    schema_version: u32,
    device: String,
    driver: String,
    /// File that keeps the variants, `null` if there is none.
    file: Option<String>,
    rows: Vec<Row>,
}

/// The result for one kernel.
#[derive(Serialize)]
struct Row {
    kernel: String,
    options: String,
    extents: String,
    shipped: Value,
    shipped_microseconds: f64,
    variant: Value,
    microseconds: f64,
    /// Speed of the fastest variant as a multiple of the shipped variant's speed.
    gain: f64,
    variants_tried: usize,
}

impl Row {
    fn new<V: Serialize>(key: &Key, shipped: &V, found: &TuningResult<V>) -> Self {
        // Variants are plain structures, and are kept as JSON.
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

    /// Says what the fastest variant has and the shipped one lacks.
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

/// Opens one OpenCL device, whose searches are watched.
fn team(common: &Common, progress: &Arc<Progress>) -> Result<Team, Failure> {
    let selectors = common.device.iter().map(|text| match text.parse::<Selector>() {
        Ok(selector) => selector,
        Err(impossible) => match impossible {},
    });
    let observer = SearchObserver::new({
        let progress = Arc::clone(progress);
        move |of_kernel| progress.tell(of_kernel)
    });
    let options = DeviceOptions { observer, ..common.device_options(Profiling::Off) };
    Ok(Team::select_with(selectors, &options)?)
}

/// The kernels of the stencil, in every storage asked for, on random links.
struct Lattices<'a> {
    arguments: &'a Arguments,
    precisions: Vec<StoragePrecision>,
    links: Vec<Reconstruction>,
}

impl<'a> Lattices<'a> {
    fn new(arguments: &'a Arguments) -> Self {
        let precisions = StoragePrecision::ALL.into_iter();
        let links = Reconstruction::ALL.into_iter();
        Self {
            arguments,
            precisions: precisions.filter(|found| is_wanted(&arguments.precision, found)).collect(),
            links: links.filter(|found| is_wanted(&arguments.links, found)).collect(),
        }
    }

    fn kernels(&self) -> usize {
        let of_links: usize = self.arguments.rhs.iter().map(|&sources| kernels_to_tune(sources.into())).sum();
        let of_operator = self.arguments.dims.len() * self.precisions.len() * self.links.len() * of_links;
        self.arguments.operator.len() * of_operator
    }

    fn tune(&self, team: &Team, report: &Report, rows: &mut Vec<Row>) -> Result<(), Failure> {
        let Self { arguments, precisions, links } = self;
        let budget = Duration::from_secs(arguments.budget);
        let most = arguments.rhs.iter().copied().max().unwrap_or(1);
        for &dims in &arguments.dims {
            let need = Need::of_stencil(dims, most.into());
            let what = format_args!("random links and spinors of a lattice of {dims}");
            need.expect_room(what, team.devices().first())?;
            report.note(format_args!("{dims}: random links and spinors"));
            let configuration = Arc::new(random::hot(dims, 1));
            let lattice = Lattice::new(team, dims)?;
            for precision in precisions {
                let tune = match precision {
                    StoragePrecision::Double => tune_links::<f64>,
                    StoragePrecision::Single => tune_links::<f32>,
                    StoragePrecision::Half => tune_links::<Half>,
                };
                for &links in links {
                    for &operator in &arguments.operator {
                        for &sources in &arguments.rhs {
                            let kernels = (links, operator, sources.into());
                            let tuned = tune(&lattice, &configuration, kernels, budget)?;
                            rows.extend(
                                tuned.iter().map(|tuned| Row::new(&tuned.key, &tuned.shipped, &tuned.found)),
                            );
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

fn tune_links<T: Storage>(
    lattice: &Lattice,
    configuration: &Arc<GaugeConfiguration>,
    (reconstruction, operator, sources): (Reconstruction, Operator, usize),
    budget: Duration,
) -> Result<Vec<Tuned>, Failure> {
    let links = lattice.gauge_in::<T>(configuration, Boundary::antiperiodic_t(), reconstruction)?;
    let links = links.with_clover(Arc::clone(configuration))?;
    Ok(tune_stencil(&links, operator.site_term(), sources, budget)?)
}

type TuneFft = fn(&Device, &Shape, FftKind, Duration) -> Result<Vec<TunedFft>, RenewError<FftError>>;

type TuneProduct =
    fn(&Device, Arithmetic, [Op; 2], [usize; 3], Duration) -> Result<TunedGemm, RenewError<BlasError>>;

/// Products of one class.
struct Product {
    elements: String,
    extents: Extents,
    ops: [Op; 2],
    arithmetic: Arithmetic,
    tune: TuneProduct,
}

/// Returns the requested products.
///
/// There is one for each element type, arithmetic and pair of ops.
///
/// # Errors
/// If sizes are not those of products.
fn products(arguments: &Arguments) -> Result<Vec<Product>, Failure> {
    let elements: [(&str, &str, TuneProduct); 4] = [
        ("single", "real", tune_gemm::<f32>),
        ("double", "real", tune_gemm::<f64>),
        ("single", "complex", tune_gemm::<Complex<f32>>),
        ("double", "complex", tune_gemm::<Complex<f64>>),
    ];
    let default = ["1024".to_owned()];
    let sizes = if arguments.sizes.is_empty() { &default[..] } else { &arguments.sizes[..] };
    let sizes = sizes.iter().map(|text| size_of_text(text, Extents::parse)).collect::<Result<Vec<_>, _>>()?;
    let mut products = Vec::new();
    for (precision, kind, tune) in elements {
        if !is_wanted(&arguments.precision, precision) || !is_wanted(&arguments.elements, kind) {
            continue;
        }
        let mut arithmetics = vec![Arithmetic::Ieee];
        if arguments.three_tf32 && precision == "single" {
            arithmetics.push(Arithmetic::ThreeTf32);
        }
        for &extents in &sizes {
            for form in &arguments.forms {
                let op = |place| if form.as_bytes()[place] == b't' { Op::T } else { Op::N };
                let product = |&arithmetic: &Arithmetic| {
                    let (elements, ops) = (format!("{precision} {kind} elements"), [op(0), op(1)]);
                    Product { elements, extents, ops, arithmetic, tune }
                };
                products.extend(arithmetics.iter().map(product));
            }
        }
    }
    Ok(products)
}

/// Parses a size of `--sizes`.
fn size_of_text<S>(text: &str, parse: impl Fn(&str) -> Result<S, String>) -> Result<S, Failure> {
    parse(text).map_err(|message| Failure::usage(format!("--sizes {text}: {message}")))
}

/// Tunes the axes of transforms, each length and kind of lines once.
fn tune_transforms(
    arguments: &Arguments,
    device: &Device,
    report: &Report,
    progress: &Progress,
    rows: &mut Vec<Row>,
) -> Result<(), Failure> {
    let sizes = if arguments.sizes.is_empty() {
        fft::default_sizes(device.info().kind)
    } else {
        let sizes = arguments.sizes.iter().map(|text| size_of_text(text, str::parse::<fft::Extents>));
        sizes.collect::<Result<Vec<_>, _>>()?
    };
    let budget = Duration::from_secs(arguments.budget);
    let precisions: [(&str, TuneFft); 2] = [("single", tune_fft::<f32>), ("double", tune_fft::<f64>)];
    let precisions = precisions.into_iter().filter(|(name, _)| is_wanted(&arguments.precision, name));
    let precisions: Vec<_> = precisions.collect();
    // Rows and columns of each kind: at most as many as there are axes, and most axes are alike.
    progress.plan(2 * sizes.len() * precisions.len() * arguments.kind.len());
    for fft::Extents(extents) in &sizes {
        for (precision, tune) in &precisions {
            for &kind in &arguments.kind {
                let points = extents.iter().fold(1_u128, |points, &n| points.saturating_mul(n as u128));
                let need = Need { on_host: 0, on_device: points.saturating_mul(64) };
                need.expect_room(format_args!("arrays of {points} points"), Some(device))?;
                let text = extents.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
                report.note(format_args!("{precision}, {kind:?}, {text}"));
                let kind = match kind {
                    fft::Kind::C2c => FftKind::ComplexToComplex,
                    fft::Kind::R2c => FftKind::RealToComplex,
                    fft::Kind::C2r => FftKind::ComplexToReal,
                };
                for TunedFft { key, shipped, found } in tune(device, &Shape::new(extents), kind, budget)? {
                    rows.push(Row::new(&key, &shipped, &found));
                }
            }
        }
    }
    Ok(())
}

fn tune_forces(
    arguments: &Arguments,
    device: &Device,
    report: &Report,
    progress: &Progress,
    rows: &mut Vec<Row>,
) -> Result<(), Failure> {
    let sizes = if arguments.sizes.is_empty() {
        vec![500, 4000, 32_000]
    } else {
        let count = |text: &str| text.parse::<usize>().map_err(|error| error.to_string());
        arguments.sizes.iter().map(|text| size_of_text(text, count)).collect::<Result<Vec<_>, _>>()?
    };
    let precisions = [("double", Precision::Double), ("single", Precision::Mixed)].into_iter();
    let precisions: Vec<_> = precisions.filter(|(name, _)| is_wanted(&arguments.precision, name)).collect();
    let [formula, table] = md::potentials()?;
    progress.plan(2 * sizes.len() * precisions.len());
    for &atoms in &sizes {
        let system = md::crystal(md::cells(atoms))?;
        for &(_, precision) in &precisions {
            for potential in [&formula, &table] {
                let options = md::options(precision);
                let budget = Duration::from_secs(arguments.budget);
                let (key, shipped, found) = tune_pairs(device, &system, potential, options, budget)?;
                report.note(&key);
                rows.push(Row::new(&key, &shipped, &found));
            }
        }
    }
    Ok(())
}

/// Tunes the formats of matrices, for each precision and number of vectors.
fn tune_formats(
    arguments: &Arguments,
    device: &Device,
    report: &Report,
    progress: &Progress,
    rows: &mut Vec<Row>,
) -> Result<(), Failure> {
    let named: Vec<&str> = if arguments.matrices.is_empty() {
        sparse::default_problems(device.info().kind).to_vec()
    } else {
        arguments.matrices.iter().map(String::as_str).collect()
    };
    let of_precision = |precision: &str| is_wanted(&arguments.precision, precision);
    let precisions = ["double", "single"].into_iter().filter(|&name| of_precision(name)).count();
    progress.plan(named.len() * precisions * arguments.rhs.len());
    for name in named {
        report.note(format_args!("{name}: products in each format"));
        match Matrix::of(name)?.matrix {
            AnyCsr::Real(matrix) => {
                let matrix = Arc::new(matrix);
                if of_precision("single") {
                    tune_matrix::<f32>(arguments, device, &Arc::new(matrix.cast()), rows)?;
                }
                if of_precision("double") {
                    tune_matrix::<f64>(arguments, device, &matrix, rows)?;
                }
            }
            AnyCsr::Complex(matrix) => {
                let matrix = Arc::new(matrix);
                if of_precision("single") {
                    tune_matrix::<Complex<f32>>(arguments, device, &Arc::new(matrix.cast()), rows)?;
                }
                if of_precision("double") {
                    tune_matrix::<Complex<f64>>(arguments, device, &matrix, rows)?;
                }
            }
        }
    }
    Ok(())
}

fn tune_matrix<T: lattice_cl::blas::host::level1::Arithmetic>(
    arguments: &Arguments,
    device: &Device,
    matrix: &Arc<Csr<T>>,
    rows: &mut Vec<Row>,
) -> Result<(), Failure> {
    for &vectors in &arguments.rhs {
        let options = MatrixOptions { vectors: usize::from(vectors), ..MatrixOptions::default() };
        let budget = Duration::from_secs(arguments.budget);
        let TunedFormat { key, shipped, found } = tune_format(device, matrix, options, budget)?;
        rows.push(Row::new(&key, &shipped, &found));
    }
    Ok(())
}

fn tune_products(
    arguments: &Arguments,
    products: &[Product],
    device: &Device,
    report: &Report,
    rows: &mut Vec<Row>,
) -> Result<(), Failure> {
    let budget = Duration::from_secs(arguments.budget);
    let mut announced = None;
    for Product { elements, extents, ops, arithmetic, tune } in products {
        if announced.replace((elements, extents.0)) != Some((elements, extents.0)) {
            report.note(format_args!("{elements}, {extents}"));
        }
        let TunedGemm { key, shipped, found } = tune(device, *arithmetic, *ops, extents.0, budget)?;
        rows.push(Row::new(&key, &shipped, &found));
    }
    Ok(())
}

fn table(outcome: &TuneResult) -> String {
    let mut table = plain_table(["kernel", "extents", "variant", "µs", "default µs", "gain", "tried"]);
    wrap(&mut table);
    for row in &outcome.rows {
        table.add_row([
            format!("{} {}", row.kernel, short_options(&row.options)),
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
        "{}, driver {}: median time of a launch by the wall clock\n{kept}\n{table}",
        outcome.device, outcome.driver
    )
}

/// The content of the tuning file, as JSON.
#[derive(Serialize)]
struct TuningList<'a> {
    schema_version: u32,
    #[serde(serialize_with = "path_text")]
    file: &'a std::path::Path,
    entries: Vec<Entry>,
}

/// Formats microseconds, or nothing if there was no time for a search.
fn micro(microseconds: Option<f64>) -> String {
    microseconds.map(|time| format!("{time:.1}")).unwrap_or_default()
}

/// Prints a table for each device, driver and version.
///
/// The JSON has everything about an entry.
fn list(file: &TuningFile, report: &Report) -> Result<Status, Failure> {
    let all = TuningList { schema_version: 1, file: file.path(), entries: file.entries()? };
    let mut devices: Vec<([&str; 3], Vec<&Entry>)> = Vec::new();
    for entry in &all.entries {
        let of = &entry.identity;
        let device = [of.device.as_str(), &of.driver, &of.version];
        match devices.iter_mut().find(|(other, _)| *other == device) {
            Some((_, entries)) => entries.push(entry),
            None => devices.push((device, vec![entry])),
        }
    }
    let mut text = format!("{}: {} kernel variants", file.path().display(), all.entries.len());
    for ([device, driver, version], entries) in devices {
        text += &format!("\n\n{device}, driver {driver}, version {version}\n{}", list_of_device(&entries));
    }
    report.result(text, &all)?;
    Ok(Status::Fine)
}

fn list_of_device(entries: &[&Entry]) -> Table {
    let mut table = plain_table(["kernel", "extents", "variant", "µs", "default µs"]);
    wrap(&mut table);
    for entry in entries {
        let of = &entry.identity;
        table.add_row([
            format!("{} {}", of.kernel, short_options(&of.options)),
            of.extents.clone(),
            short(&of.kernel, &entry.variant),
            micro(entry.microseconds),
            micro(entry.shipped_microseconds),
        ]);
    }
    align_right(&mut table, &[3, 4]);
    table
}

/// Width of a usual terminal.
///
/// Longer text goes on in the next line.
const MOST_COLUMNS: u16 = 100;

fn wrap(table: &mut Table) {
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(MOST_COLUMNS);
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_fit_into_a_terminal_whatever_is_kept() {
        let entry = |kernel: &str, options: &str, variant: Value| -> Entry {
            let identity = json!({
                "device": "d".repeat(50), "driver": "580.159.04", "version": "0.1.0", "kernel": kernel,
                "options": options, "extents": "m<=2^16 n<=2^16 k<=2^16", "variant": variant,
                "microseconds": 1_234_567.8, "shipped_microseconds": 1_234_567.8, "gain": 1.0,
                "variants_tried": 12, "date": "2026-11-25"
            });
            serde_json::from_value(identity).unwrap()
        };
        let everything = json!({
            "work_group": 1024, "sources_per_item": 12, "share_links": true, "max_registers": 255,
            "stream_links": true, "stream_output": true, "tile_z": 16, "boxes": true, "rounds": 16, "prefetch": 4
        });
        let options = "region=parity+shift precision=double links=18 sources=12 product=true";
        let entries =
            [entry("wilson", options, everything), entry("other", "a=b", json!({ "word": "w".repeat(300) }))];
        let text = list_of_device(&entries.iter().collect::<Vec<_>>()).to_string();
        assert!(text.contains("wilson parity+shift") && text.contains("prefetch 4"), "{text}");
        for line in text.lines() {
            assert!(line.chars().count() <= MOST_COLUMNS.into(), "{line}");
        }
    }
}
