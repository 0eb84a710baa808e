//! `cr-solve tune`: finds and keeps the fastest variants of a device's kernels.

mod fft;
mod gemm;
mod list;
mod md;
mod progress;
mod search;
mod sparse;
mod stencil;

use lattice_bench::no_device;
use lattice_cl::compute::{Profiling, SearchObserver, Selector, Team};
use lattice_cl::tuning::TuningFile;
use lattice_cli::common::Common;
use lattice_cli::failure::{Failure, Status};
use lattice_cli::lattice::variants::short_options;
use lattice_cli::report::{Report, align_right, plain_table};
use list::{clear, kept_in, list, wrap};
use progress::Progress;
use search::{Budget, Row, Search};
use serde::Serialize;
use std::sync::Arc;

/// The command line of `tune`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    family: Option<Family>,
    /// Show what is kept, of all devices, and tune nothing
    #[arg(long, conflicts_with = "clear")]
    list: bool,
    /// Remove what is kept of this device, and tune nothing
    #[arg(long)]
    clear: bool,
    #[command(flatten)]
    stencil: stencil::Arguments,
}

/// Kernels that can be tuned, by what they compute.
#[derive(Debug, clap::Subcommand)]
enum Family {
    /// Tune the Wilson operator and its hop from parity to parity, as without a name
    Stencil(stencil::Arguments),
    /// Tune products of matrices
    Gemm(gemm::Arguments),
    /// Tune Fourier transforms, by their axes
    Fft(fft::Arguments),
    /// Tune pair forces of argon, by the formula and a table of the derivative
    Md(md::Arguments),
    /// Tune formats of sparse matrices, by their products
    Sparse(sparse::Arguments),
}

impl Arguments {
    fn budget(&self) -> Budget {
        match &self.family {
            None => self.stencil.budget,
            Some(Family::Stencil(options)) => options.budget,
            Some(Family::Gemm(options)) => options.budget,
            Some(Family::Fft(options)) => options.budget,
            Some(Family::Md(options)) => options.budget,
            Some(Family::Sparse(options)) => options.budget,
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
    let progress = Arc::new(Progress::new(report, arguments.budget().of_kernel()));
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
    let mut search = Search { team: &team, device, report, progress: &progress, rows: Vec::new() };
    match &arguments.family {
        None => arguments.stencil.tune(&mut search)?,
        Some(Family::Stencil(options)) => options.tune(&mut search)?,
        Some(Family::Gemm(options)) => options.tune(&mut search)?,
        Some(Family::Fft(options)) => options.tune(&mut search)?,
        Some(Family::Md(options)) => options.tune(&mut search)?,
        Some(Family::Sparse(options)) => options.tune(&mut search)?,
    }
    let rows = search.rows;
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
    let options = common.device_options(Profiling::Off).with_observer(observer);
    Ok(Team::select_with(selectors, &options)?)
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
