//! `cr-solve generate`: a quenched SU(3) configuration.

use super::links_output::{Output, help_on_format};
use lattice_cl::gauge::{GenerateParams, Plaquette, Start, generate_watched, plaquette};
use lattice_cl::geometry::Dims;
use lattice_cl::host::GaugeConfiguration;
use lattice_cl::io::Format;
use lattice_cl::scalar::Precision;
use lattice_cli::choices::word;
use lattice_cli::destinations::{ANY, Destinations, Overwriting};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::interrupt::Interrupt;
use lattice_cli::lattice::input::Input;
use lattice_cli::numbers::finite;
use lattice_cli::report::{Report, Table, path_text, path_texts};
use serde::Serialize;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Instant;

/// The command line of `generate`.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Extents in x, y, z, t: 8x8x8x16 or four words [default: those of --start FILE]
    #[arg(long, value_name = "EXTENTS", required_unless_present = "start")]
    dims: Option<Dims>,
    /// The inverse coupling 6/g² of the Wilson gauge action
    #[arg(long)]
    beta: f64,
    /// Sweeps: in each a heat-bath update of every link, then the over-relaxation
    #[arg(long, value_name = "N")]
    sweeps: usize,
    /// Over-relaxation updates of every link in each sweep
    #[arg(long, value_name = "N", default_value_t = GenerateParams::default().overrelaxation)]
    overrelaxation: usize,
    /// Seed of the random numbers
    #[arg(long, default_value_t = GenerateParams::default().seed)]
    seed: u64,
    /// Start: cold, hot, weak:EPS (unit + EPS·noise) or a file with a configuration
    #[arg(long, value_name = "START", default_value = "cold")]
    start: StartChoice,
    /// The file of the configuration after the last sweep
    ///
    /// After Ctrl-C the current sweep is the last.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Write every N-th configuration too
    ///
    /// Its name has the number of the sweep: conf.000100.ildg for --output conf.ildg.
    #[arg(long, value_name = "N")]
    every: Option<NonZeroUsize>,
    #[command(flatten)]
    overwriting: Overwriting,
    #[arg(long, help = help_on_format())]
    format: Option<Format>,
    /// Precision of the file: double or single [default: double if the format has it]
    #[arg(long, value_parser = word::<Precision>(), hide_possible_values = true)]
    precision: Option<Precision>,
    /// The logical file name of an ILDG file; by default the name of the output
    #[arg(long, value_name = "NAME")]
    lfn: Option<String>,
}

/// The start, as the command line names it.
#[derive(Clone, Debug, PartialEq)]
enum StartChoice {
    Cold,
    Hot,
    Weak(f64),
    File(PathBuf),
}

impl FromStr for StartChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("weak:")) {
            ("cold", _) => Ok(Self::Cold),
            ("hot", _) => Ok(Self::Hot),
            (_, Some(epsilon)) => match finite(epsilon) {
                Some(epsilon) => Ok(Self::Weak(epsilon)),
                None => Err(format!("`{epsilon}` is not a number; write for example weak:0.1")),
            },
            ("weak", _) => Err("a weak start needs its strength; write for example weak:0.1".to_owned()),
            (file, _) => Ok(Self::File(file.into())),
        }
    }
}

impl StartChoice {
    fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            _ => None,
        }
    }
}

impl std::fmt::Display for StartChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cold => f.write_str("cold"),
            Self::Hot => f.write_str("hot"),
            Self::Weak(epsilon) => write!(f, "weak:{epsilon}"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

#[derive(Serialize)]
struct GenerateResult {
    schema_version: u32,
    dims: [usize; 4],
    beta: f64,
    /// Number of sweeps that were done.
    sweeps: usize,
    /// `false` if Ctrl-C came before the last sweep.
    complete: bool,
    overrelaxation: usize,
    seed: u64,
    start: String,
    plaquette: Plaquette,
    plaquette_history: Vec<f64>,
    #[serde(serialize_with = "path_text")]
    output: PathBuf,
    /// Configurations that were written on the way.
    #[serde(serialize_with = "path_texts", skip_serializing_if = "Vec::is_empty")]
    series: Vec<PathBuf>,
    format: Format,
    precision: u32,
    seconds: f64,
}

/// Generates a configuration and writes it.
///
/// Ctrl-C makes the sweep under way the last.
///
/// # Errors
/// When an argument is out of its range, the start cannot be read or the output cannot be written.
/// These conditions are checked before the first sweep.
pub fn run(arguments: &Arguments, report: &Report) -> Result<Status, Failure> {
    let began = Instant::now();
    let prepare = |path: &Path, lfn: Option<String>| {
        let Arguments { format, precision, overwriting, .. } = arguments;
        Output::prepare(arguments.start.file(), path, *format, *precision, *overwriting)?.with_lfn(lfn)
    };
    let output = prepare(&arguments.output, arguments.lfn.clone())?;
    // One stands for all that do not exist: a long run keeps too many to try each.
    let on_the_way = arguments.kept_sweeps().map(|sweep| numbered(&arguments.output, sweep));
    let on_the_way = on_the_way.enumerate().filter(|(k, path)| *k == 0 || path.symlink_metadata().is_ok());
    let on_the_way = on_the_way.map(|(_, path)| path);
    Destinations::reading(arguments.start.file())
        .writing("--every", ANY, on_the_way)
        .check(arguments.overwriting)?;
    let (dims, start) = starting_point(arguments, report)?;
    let params = GenerateParams::default()
        .with_beta(arguments.beta)
        .with_sweeps(arguments.sweeps)
        .with_overrelaxation(arguments.overrelaxation)
        .with_seed(arguments.seed);

    let interrupt = Interrupt::listen();
    let bar = report.progress("sweep", params.sweeps as u64);
    let (mut history, mut series, mut failure) = (Vec::new(), Vec::new(), None);
    let mut watch = |sweep: usize, configuration: &GaugeConfiguration| {
        let plaquette = plaquette(configuration).average;
        history.push(plaquette);
        bar.set_position(sweep as u64);
        bar.set_message(format!("plaquette {plaquette:.5}"));
        tracing::info!(sweep, plaquette);
        if arguments.every.is_some_and(|every| sweep.is_multiple_of(every.get())) {
            let path = numbered(&arguments.output, sweep);
            let description = Some(arguments.description(sweep));
            match prepare(&path, arguments.numbered_lfn(sweep))
                .and_then(|output| output.write(configuration, None, description, report))
            {
                Ok(()) => series.push(path),
                Err(error) => {
                    failure = Some(error);
                    return ControlFlow::Break(());
                }
            }
        }
        if interrupt.pressed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let generated = generate_watched(dims, start, &params, &mut watch);
    bar.finish_and_clear();
    let configuration = generated?;
    // The sweeps are not lost, whatever else failed.
    let sweeps = history.len();
    output.write(&configuration, None, Some(arguments.description(sweeps)), report)?;
    if let Some(failure) = failure {
        let hint = format!("{} holds the configuration after {sweeps} sweeps", output.path.display());
        return Err(failure.hint(hint));
    }

    let complete = sweeps == params.sweeps;
    if !complete {
        report.warning(format_args!(
            "interrupted: {} holds the configuration after {sweeps} of {} sweeps; go on with --start {} and another --seed",
            output.path.display(),
            params.sweeps,
            output.path.display()
        ));
    }
    let outcome = GenerateResult {
        schema_version: 1,
        dims: dims.extents(),
        beta: params.beta,
        sweeps,
        complete,
        overrelaxation: params.overrelaxation,
        seed: params.seed,
        start: arguments.start.to_string(),
        plaquette: plaquette(&configuration),
        plaquette_history: history,
        format: output.format,
        precision: output.precision_of(configuration.precision()).bits(),
        output: output.path,
        series,
        seconds: began.elapsed().as_secs_f64(),
    };
    report.result(table(&outcome, dims), &outcome)?;
    Ok(if complete { Status::Fine } else { interrupt.status() })
}

impl Arguments {
    /// Returns the sweeps after which a configuration is kept on the way.
    ///
    /// There are at most a million.
    fn kept_sweeps(&self) -> impl Iterator<Item = usize> {
        let every = self.every.map(NonZeroUsize::get);
        let count = every.map_or(0, |every| self.sweeps / every).min(1_000_000);
        (1..=count).map(move |k| k * every.unwrap_or(1))
    }

    /// Returns the logical name of a configuration on the way, if one was given.
    fn numbered_lfn(&self, sweep: usize) -> Option<String> {
        self.lfn.as_ref().map(|lfn| format!("{lfn}.{sweep:06}"))
    }

    /// Returns the description of a configuration after `sweeps` sweeps.
    fn description(&self, sweeps: usize) -> String {
        format!(
            "quenched SU(3), Wilson gauge action, beta {}, {sweeps} sweeps with {} over-relaxation updates each from a {} \
             start, seed {}",
            self.beta, self.overrelaxation, self.start, self.seed
        )
    }
}

/// Returns the name of a configuration on the way: `conf.000100.ildg`.
fn numbered(output: &Path, sweep: usize) -> PathBuf {
    let mut name = output.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{sweep:06}"));
    if let Some(ending) = output.extension() {
        name.push(".");
        name.push(ending);
    }
    output.with_file_name(name)
}

fn starting_point(arguments: &Arguments, report: &Report) -> Result<(Dims, Start), Failure> {
    let start = match &arguments.start {
        StartChoice::Cold => Start::Cold,
        StartChoice::Hot => Start::Hot,
        StartChoice::Weak(epsilon) => Start::Weak(*epsilon),
        StartChoice::File(path) => {
            let read = Input::default().read(path, report).or_else(|failure| {
                // The file may not tell its extents.
                let input = Input { dims: arguments.dims, ..Input::default() };
                if arguments.dims.is_some() {
                    input.read(path, report).map_err(|_| failure)
                } else {
                    Err(failure)
                }
            });
            let is_there = path.exists();
            let file = read.map_err(|failure| match is_there {
                true => failure,
                false => failure.hint("a start is cold, hot, weak:EPS or the name of a file"),
            })?;
            let dims = arguments.dims.unwrap_or(file.configuration.dims());
            return Ok((dims, Start::From(file.configuration)));
        }
    };
    match arguments.dims {
        Some(dims) => Ok((dims, start)),
        None => {
            Err(Failure::usage(format!("a {} start needs --dims, for example 8x8x8x16", arguments.start)))
        }
    }
}

fn table(outcome: &GenerateResult, dims: Dims) -> Table {
    let Plaquette { average, spatial, temporal } = outcome.plaquette;
    let mut table = Table::default();
    table.line("extents", dims);
    table.line("beta", outcome.beta);
    table.line("sweeps", format_args!("{} (over-relaxation {})", outcome.sweeps, outcome.overrelaxation));
    table.line("start", format_args!("{}, seed {}", outcome.start, outcome.seed));
    table.line("plaquette", format_args!("{average:.8} (spatial {spatial:.8}, temporal {temporal:.8})"));
    table.line(
        "output",
        format_args!("{} ({}, {} bits)", outcome.output.display(), outcome.format, outcome.precision),
    );
    if let (Some(first), Some(last)) = (outcome.series.first(), outcome.series.last()) {
        let (first, last, count) = (first.display(), last.display(), outcome.series.len());
        table.line("series", format_args!("{count} files, {first} to {last}"));
    }
    table.line("seconds", format_args!("{:.2}", outcome.seconds));
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_before_the_ending() {
        for (output, wanted) in [
            ("conf.ildg", "conf.000100.ildg"),
            ("a.b/run.1.nersc", "a.b/run.1.000100.nersc"),
            ("a.b/conf", "a.b/conf.000100"),
        ] {
            assert_eq!(numbered(Path::new(output), 100), Path::new(wanted));
        }
    }
}
