//! Everything that the program says.
//!
//! Results go to standard output, the rest goes to standard error.

use super::failure::{Failure, Status};
use super::progress::Compiling;
use crate::choices::word;
use clap::{ArgAction, Args};
use comfy_table::{CellAlignment, presets};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use lattice_compute::sync::lock;
use lattice_compute::{CompileClock, SearchObserver, Stopwatch};
use lattice_files::text::printable_lines;
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use tracing_subscriber::filter::LevelFilter;

/// Use of colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ColourChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

lattice_files::words! {
    ColourChoice, "use of colour":
    Auto = "auto", "On a terminal, unless `NO_COLOR` is set";
    Always = "always", "Always";
    Never = "never", "Never"
}

/// The outlet of everything that the program says.
#[derive(Debug)]
pub struct Report {
    json: bool,
    /// `true` if another process speaks for this one, unless this one fails alone.
    silent: bool,
    quiet: bool,
    verbose: bool,
    colour: bool,
    /// All bars, so that each one leaves the places of the others alone.
    bars: MultiProgress,
    compiling: Compiling,
    /// Entries that the result as JSON has beside those of the subcommand.
    additions: Mutex<BTreeMap<&'static str, Value>>,
    /// Files that the next result is written to.
    results: Mutex<Vec<PathBuf>>,
    /// The treatment of the next result.
    keeping: Mutex<Keeping>,
}

/// The treatment of a result.
#[derive(Debug, Default)]
enum Keeping {
    /// The result is printed.
    #[default]
    No,
    /// The result is to be kept for a comparison.
    Wanted,
    /// The result was kept.
    Kept(Value),
}

/// A result, with the entries beside it in the same object.
#[derive(Serialize)]
struct Extended<'a, T: Serialize> {
    #[serde(flatten)]
    result: &'a T,
    #[serde(flatten)]
    additions: &'a BTreeMap<&'static str, Value>,
}

/// Options about what the program prints.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Common options")]
pub struct Output {
    /// Print the result as one JSON object
    #[arg(long, global = true)]
    pub json: bool,
    /// Print nothing but results and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say more; twice for even more
    #[arg(short, long, global = true, action = ArgAction::Count)]
    verbose: u8,
    /// Colour of messages: auto (the default, honours NO_COLOR), always or never
    #[arg(long, global = true, value_parser = word::<ColourChoice>(), value_name = "WHEN", default_value_t)]
    #[arg(hide_possible_values = true, hide_default_value = true, hide_short_help = true)]
    color: ColourChoice,
    /// No colour in messages: the same as --color never
    #[arg(long, global = true, hide_short_help = true)]
    no_color: bool,
}

impl Report {
    /// Creates a report as the options ask for.
    ///
    /// The library's log goes to standard error. Only the first of several processes speaks.
    pub fn new(output: &Output, is_first: bool) -> Self {
        // Movement and colour are for terminals that can do more than print.
        let terminal = io::stderr().is_terminal() && !is_dumb();
        let colour = match if output.no_color { ColourChoice::Never } else { output.color } {
            ColourChoice::Always => true,
            ColourChoice::Never => false,
            ColourChoice::Auto => terminal && !colour_is_unwanted(),
        };
        let quiet = output.quiet || !is_first;
        let level = match (quiet, output.verbose) {
            (true, _) => LevelFilter::ERROR,
            (false, 0) => LevelFilter::WARN,
            (false, 1) => LevelFilter::INFO,
            (false, 2) => LevelFilter::DEBUG,
            (false, _) => LevelFilter::TRACE,
        };
        let progress = terminal && !quiet;
        let target = if progress { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bars = MultiProgress::with_draw_target(target);
        let log = bars.clone();
        // A log that a caller of the library has set up is left alone.
        let _ = tracing_subscriber::fmt()
            .with_max_level(level)
            .with_ansi(colour)
            .with_writer(move || BesideBars(log.clone()))
            .without_time()
            .try_init();
        Self {
            json: output.json,
            silent: !is_first,
            quiet,
            verbose: output.verbose > 0 && is_first,
            colour,
            compiling: Compiling::new(bars.clone(), progress),
            bars,
            additions: Mutex::default(),
            results: Mutex::default(),
            keeping: Mutex::default(),
        }
    }

    /// Adds an entry to all later results as JSON.
    ///
    /// `name` must be none of the results' own keys.
    pub fn add_to_result(&self, name: &'static str, value: Value) {
        lock(&self.additions).insert(name, value);
    }

    /// Adds an entry like [`Report::add_to_result`], if there is none of the name.
    pub fn add_if_missing(&self, name: &'static str, value: impl FnOnce() -> Value) {
        lock(&self.additions).entry(name).or_insert_with(value);
    }

    /// Writes the next result to these files too.
    pub fn write_results_to(&self, files: Vec<PathBuf>) {
        *lock(&self.results) = files;
    }

    /// Keeps the next result for [`Report::take_result`], and does not print it.
    pub fn keep_result(&self) {
        *lock(&self.keeping) = Keeping::Wanted;
    }

    /// Returns the result that was kept. Later results are printed.
    pub fn take_result(&self) -> Option<Value> {
        match std::mem::take(&mut *lock(&self.keeping)) {
            Keeping::Kept(value) => Some(value),
            Keeping::No | Keeping::Wanted => None,
        }
    }

    /// Prints the result on standard output.
    ///
    /// The result is `text` for people, or `json` with `--json`. If nobody reads the result, this
    /// is no failure.
    ///
    /// # Errors
    /// When the result cannot be printed, or written to the files of
    /// [`Report::write_results_to`].
    pub fn result(&self, text: impl Display, json: &impl Serialize) -> Result<(), Failure> {
        let files = std::mem::take(&mut *lock(&self.results));
        let is_kept = matches!(*lock(&self.keeping), Keeping::Wanted);
        if is_kept || !(files.is_empty() || self.silent) {
            let additions = lock(&self.additions);
            let result = Extended { result: json, additions: &additions };
            let value = serde_json::to_value(&result).map_err(|error| Failure::new(Status::Failed, error))?;
            if !self.silent {
                files.iter().try_for_each(|file| lattice_cl::io::write_results(file, &value))?;
            }
            if is_kept {
                *lock(&self.keeping) = Keeping::Kept(value);
                return Ok(());
            }
        }
        let written = if self.silent {
            Ok(())
        } else if self.json {
            let additions = lock(&self.additions);
            let result = Extended { result: json, additions: &additions };
            serde_json::to_string(&result).map_err(io::Error::other).and_then(|json| print(&json))
        } else {
            print(&printable_lines(&text.to_string()))
        };
        outcome_of_print(written)
    }

    /// Prints a text that is the result in every form, on standard output.
    ///
    /// # Errors
    /// When the text cannot be written.
    pub fn text(&self, text: impl Display) -> Result<(), Failure> {
        outcome_of_print(if self.silent { Ok(()) } else { print(&text) })
    }

    /// Says something worth knowing beside the result.
    pub fn note(&self, text: impl Display) {
        if !self.quiet {
            self.say("", text);
        }
    }

    /// Says how something is done, to users who asked for it with `--verbose`.
    pub fn detail(&self, text: impl Display) {
        if self.verbose {
            self.say("", text);
        }
    }

    /// Says something that the user should look at, though the work goes on.
    pub fn warning(&self, text: impl Display) {
        if !self.quiet {
            self.say(&format!("{}: ", self.label("warning", "33")), text);
        }
    }

    /// Warns of failures beside another failure that matters more.
    pub fn also<const COUNT: usize>(&self, results: [Result<(), Failure>; COUNT]) {
        results.into_iter().filter_map(Result::err).for_each(|failure| self.warning(failure.error));
    }

    /// Says why there is no result.
    pub fn failure(&self, failure: &Failure) {
        let mut said = failure.error.to_string();
        self.say(&format!("{}: ", self.label("error", "31")), &said);
        for cause in failure.error.chain().skip(1) {
            // Some errors already say their cause.
            let cause = cause.to_string();
            if !said.contains(&cause) {
                self.say(&format!("  {}: ", self.label("cause", "31")), &cause);
            }
            said = cause;
        }
        for hint in &failure.hints {
            self.say(&format!("{}: ", self.label("hint", "36")), hint);
        }
    }

    /// Says why one rank has failed although the first one has not.
    pub fn failure_of_rank(&self, rank: usize, failure: &Failure) {
        self.say("", format_args!("rank {rank}:"));
        self.failure(failure);
    }

    /// Tells whether `-v` asks for more.
    pub fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// Returns a bar of `length` steps.
    ///
    /// The bar shows only on a terminal and without `--quiet`.
    pub fn progress(&self, what: &'static str, length: u64) -> ProgressBar {
        self.bar(what, Some(length), "{prefix} {pos}/{len} {wide_bar} {msg} {eta} left")
    }

    /// Returns a sign of life for work of unknown length.
    pub fn spinner(&self, what: &'static str) -> ProgressBar {
        let bar = self.bar(what, None, "{prefix} {spinner} {elapsed}");
        bar.enable_steady_tick(std::time::Duration::from_millis(200));
        bar
    }

    /// Returns a bar with text on both sides, which shows once it has text.
    pub fn wide_bar(&self, steps: u64) -> ProgressBar {
        self.bar("", Some(steps), "{prefix}  {wide_bar}  {msg}")
    }

    /// Returns a line that changes in place.
    ///
    /// The line is cut off where the terminal ends. The line shows only on a terminal and without
    /// `--quiet`.
    pub fn line(&self) -> ProgressBar {
        self.bar("", None, "{wide_msg}")
    }

    /// Returns a bar that counts bytes, of a length that is set later.
    pub fn progress_of_bytes(&self, what: &'static str) -> ProgressBar {
        self.bar(what, None, "{prefix} {bytes}/{total_bytes} {wide_bar} {bytes_per_sec} {eta} left")
    }

    /// Returns a clock for devices, which shows a bar while their compilers work.
    pub(crate) fn compile_clock(&self) -> CompileClock {
        self.compiling.clock().clone()
    }

    /// Starts a stopwatch that stands still while the compilers of devices work.
    pub fn stopwatch(&self) -> Stopwatch {
        self.compiling.clock().stopwatch()
    }

    /// Returns the seconds that the compilers of devices have taken so far.
    pub fn compile_seconds(&self) -> f64 {
        self.compiling.clock().time().as_secs_f64()
    }

    /// Sets the lattice that kernels are compiled for.
    pub fn compiles_for(&self, lattice: impl Display) {
        self.compiling.on_lattice(lattice);
    }

    /// Returns an observer that shows each search for a variant as a bar of its own.
    pub(crate) fn search_observer(&self) -> SearchObserver {
        let bars = self.bars.clone();
        let current: Mutex<Option<ProgressBar>> = Mutex::new(None);
        SearchObserver::new(move |progress| {
            let mut current = lock(&current);
            if progress.finished {
                if let Some(bar) = current.take() {
                    bar.finish_and_clear();
                }
                return;
            }
            let template = "{prefix} {pos}/{len} {wide_bar} {msg}";
            let planned = progress.planned as u64;
            let bar = current.get_or_insert_with(|| bars.add(bar("tuning", Some(planned), template)));
            bar.set_length(planned);
            bar.set_message(progress.kernel.to_owned());
            bar.set_position(progress.done as u64);
        })
    }

    fn bar(&self, what: &'static str, length: Option<u64>, template: &str) -> ProgressBar {
        self.bars.add(bar(what, length, template))
    }

    fn label(&self, label: &str, colour: &str) -> String {
        if self.colour { format!("\x1b[1;{colour}m{label}\x1b[0m") } else { label.to_owned() }
    }

    /// Writes a line to standard error: a label, and a text without control characters.
    ///
    /// Names and words of files are in the text. If standard error is closed, there is nobody to
    /// tell.
    fn say(&self, label: &str, text: impl Display) {
        let text = printable_lines(&text.to_string());
        let _ = BesideBars(self.bars.clone()).write_all(format!("{label}{text}\n").as_bytes());
    }
}

/// Tells whether `TERM` names a terminal that can only print.
pub fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb")
}

/// Tells whether `NO_COLOR` is set (no-color.org).
pub fn colour_is_unwanted() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Standard error, with all bars out of the way of every line.
struct BesideBars(MultiProgress);

impl Write for BesideBars {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.suspend(|| io::stderr().lock().write_all(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns a bar that shows once it is among the bars of a report.
fn bar(what: &'static str, length: Option<u64>, template: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::hidden()).with_prefix(what);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Returns the outcome of printing a result.
///
/// If nobody reads the result, this is no failure.
fn outcome_of_print(written: io::Result<()>) -> Result<(), Failure> {
    match written {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let error = anyhow::Error::new(error).context("the result cannot be written to standard output");
            Err(Failure::new(Status::File, error))
        }
        _ => Ok(()),
    }
}

fn print(text: &impl Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

/// Lines of a name and a value, the values below each other.
#[derive(Debug, Default)]
pub struct Table(Vec<(&'static str, String)>);

impl Table {
    /// Adds a line.
    pub fn line(&mut self, name: &'static str, value: impl Display) {
        self.0.push((name, value.to_string()));
    }
}

impl Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = self.0.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
        let lines: Vec<_> = self.0.iter().map(|(name, value)| format!("{name:width$}  {value}")).collect();
        f.write_str(&lines.join("\n"))
    }
}

/// Formats a number with this many digits behind the point.
///
/// Numbers from 1e12 on are written as [`scientific`] does.
pub fn decimal(number: f64, digits: usize) -> String {
    if number.abs() < 1e12 { format!("{number:.digits$}") } else { scientific(number, digits) }
}

/// Formats a number like C and Fortran: `1.58e+01`. Zero has no sign.
pub fn scientific(number: f64, digits: usize) -> String {
    let text = format!("{:.digits$e}", number + 0.0);
    match text.split_once('e') {
        Some((mantissa, exponent)) => {
            let (sign, exponent) = match exponent.strip_prefix('-') {
                Some(exponent) => ('-', exponent),
                None => ('+', exponent),
            };
            format!("{mantissa}e{sign}{exponent:0>2}")
        }
        None => text,
    }
}

/// Formats a number with so many decimals: `-0.250`. What rounds to zero has no sign.
pub fn fixed(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    match text.strip_prefix('-') {
        Some(size) if size.bytes().all(|byte| matches!(byte, b'0' | b'.')) => size.to_owned(),
        _ => text,
    }
}

/// Formats a number with at most so many digits that count: `16.92`, `-0.25`, `1e+300`.
pub fn rounded(number: f64, digits: usize) -> String {
    let places = digits.saturating_sub(1);
    let text = scientific(number, places);
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    match exponent.parse::<i32>() {
        Ok(exponent) if exponent >= -5 && exponent < digits as i32 => {
            trimmed(&fixed(number, (places as i32 - exponent) as usize))
        }
        _ => format!("{}e{exponent}", trimmed(mantissa)),
    }
}

/// Formats a number with its error in brackets, in units of the last digit: `0.1234(56)`.
///
/// The error has two digits. An error of 1 or more has its point: `12.3(4.5)`. Without a positive
/// error the number stands alone.
pub fn with_error(number: f64, error: f64) -> String {
    if !(number.is_finite() && error > 0.0 && error.is_finite()) {
        return rounded(number, 6);
    }
    let exponent =
        |number: f64| scientific(number, 1).split_once('e').map_or(0, |(_, e)| e.parse().unwrap_or(0));
    let largest: i32 = exponent(number.abs().max(error));
    if !(-5..12).contains(&largest) {
        let unit = 10f64.powi(largest / 2);
        let mantissa = |number: f64| number / unit / 10f64.powi(largest - largest / 2);
        return format!("{}e{largest}", with_error(mantissa(number), mantissa(error)));
    }
    let of_error: i32 = exponent(error);
    let decimals = (1 - of_error).max(0) as usize;
    let digits = match of_error {
        0.. => fixed(error, decimals),
        _ => fixed(error * 10f64.powi(1 - of_error), 0),
    };
    format!("{}({digits})", fixed(number, decimals))
}

/// Returns a table without lines, with the header as its first row.
pub fn plain_table(header: impl Into<comfy_table::Row>) -> comfy_table::Table {
    let mut table = comfy_table::Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    table
}

/// Aligns the cells of some columns on the right, as is usual for numbers.
pub fn align_right(table: &mut comfy_table::Table, columns: &[usize]) {
    for &column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// Serializes a path of a result as text.
///
/// JSON has text only. A path that is not UTF-8 becomes the text that a person sees.
pub fn path_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

/// Serializes paths of a result as [`path_text`] does.
pub fn path_texts<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(paths.iter().map(|path| path.display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_have_a_sign_and_two_digits() {
        for (number, text) in [
            (15.78479680426, "1.578e+01"),
            (0.0, "0.000e+00"),
            (-2.5e-7, "-2.500e-07"),
            (1e300, "1.000e+300"),
            (1e-310, "1.000e-310"),
            (f64::NAN, "NaN"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(scientific(number, 3), text);
        }
    }

    #[test]
    fn errors_stand_in_brackets() {
        for (number, error, text) in [
            (0.123_41, 0.005_6, "0.1234(56)"),
            (-0.5, 0.099_96, "-0.50(10)"),
            (12.34, 4.52, "12.3(4.5)"),
            (1234.5, 56.4, "1234(56)"),
            (1234.5, 564.0, "1234(564)"),
            (0.5, 0.0, "0.5"),
            (0.5, f64::NAN, "0.5"),
            (1.5e-300, 2e-302, "1.500(20)e-300"),
            (1e-7, 0.25, "0.00(25)"),
            (3e20, 1e19, "3.00(10)e20"),
        ] {
            assert_eq!(with_error(number, error), text);
        }
    }

    #[test]
    fn decimals_are_never_hundreds_of_digits() {
        for (number, text) in
            [(15.75, "15.750"), (-1e-300, "-0.000"), (-2.5e300, "-2.500e+300"), (f64::NAN, "NaN")]
        {
            assert_eq!(decimal(number, 3), text);
        }
    }

    #[test]
    fn numbers_for_people_have_no_noise() {
        for (number, text) in [
            (16.919999999999998, "16.92"),
            (9.18, "9.18"),
            (-0.0, "0"),
            (-0.25, "-0.25"),
            (100.0, "100"),
            (123456.0, "123456"),
            (999_999_999_999.5, "1e+12"),
            (1e300, "1e+300"),
            (-2.5e-7, "-2.5e-07"),
            (0.000123, "0.000123"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(rounded(number, 12), text);
        }
        for (number, text) in [(-0.0004, "0.000"), (-0.0006, "-0.001"), (-0.0, "0.000"), (2.0, "2.000")] {
            assert_eq!(fixed(number, 3), text);
        }
        assert_eq!(scientific(-0.0, 2), "0.00e+00");
    }
}
