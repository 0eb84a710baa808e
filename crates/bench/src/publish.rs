//! Results on standard output, and as a page.

use crate::joined::Joined;
use crate::outcome::BenchmarkRun;
use crate::page;
use lattice_cl::io;
use lattice_cli::failure::Failure;
use lattice_cli::report::Report;
use std::path::Path;

/// Shows results in the requested form, and then writes the page.
///
/// The results come first because they count more.
pub fn publish(
    runs: &[BenchmarkRun],
    csv: bool,
    page: Option<&Path>,
    report: &Report,
) -> Result<(), Failure> {
    let Some(Joined { outcome, .. }) = Joined::of(runs) else { return Ok(()) };
    let text = if csv { outcome.csv() } else { outcome.tables() };
    let shown = report.result(text, &outcome);
    if let Some(file) = page {
        io::write_file(file, page::page(runs).as_bytes())?;
        report.note(format_args!("{}: tables and plots", file.display()));
    }
    shown
}
