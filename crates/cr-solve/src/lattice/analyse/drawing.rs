//! Plots and pages of an analysis.

use lattice_cli::destinations::{Destinations, HTML, SVG};
use lattice_cli::failure::{Failure, Status};
use lattice_cli::page::Page;
use lattice_cli::plot::{self, Plot, PlotError};
use lattice_cli::report::Report;
use std::path::{Path, PathBuf};

/// The files that plots go to.
#[derive(Clone, Copy, Debug)]
pub struct Drawing<'a> {
    /// The file of the first plot.
    pub plot: Option<&'a Path>,
    /// The page with all plots.
    pub report: Option<&'a Path>,
}

/// A table of a page: its title, header and rows.
pub struct PageTable {
    pub title: String,
    pub header: Vec<&'static str>,
    pub rows: Vec<Vec<String>>,
}

impl Drawing<'_> {
    /// Returns the files that are read, and those that plots go to.
    pub fn destinations(self, inputs: &[PathBuf]) -> Destinations {
        Destinations::reading(inputs).writing("--plot", SVG, self.plot).writing("--report", HTML, self.report)
    }

    /// Draws the first plot, and writes the page of all plots and tables.
    ///
    /// # Errors
    /// When a plot cannot be drawn, or a file cannot be written.
    pub fn write(
        self,
        title: &str,
        facts: &[(&str, String)],
        plots: impl IntoIterator<Item = Result<Plot, PlotError>>,
        tables: impl IntoIterator<Item = PageTable>,
        report: &Report,
    ) -> Result<(), Failure> {
        let mut shown = Vec::new();
        for (k, plot) in plots.into_iter().enumerate() {
            let Some(plot) = plot::shown(plot, report)? else { continue };
            if let Some(path) = self.plot.filter(|_| k == 0) {
                plot.save(path).map_err(|error| Failure::new(Status::File, error))?;
            }
            shown.push(plot);
        }
        let Some(path) = self.report else { return Ok(()) };
        let mut page = Page::new(title);
        page.facts(facts);
        page.plots(&shown);
        for PageTable { title, header, rows } in tables {
            page.table(&title, &header, rows);
        }
        page.save(format_args!("cr-solve {}, analyse", env!("CARGO_PKG_VERSION")), path)
    }

    /// Tells whether all plots are asked for.
    pub fn wants_all(self) -> bool {
        self.report.is_some()
    }

    /// Tells whether a plot is asked for.
    pub fn wants_one(self) -> bool {
        self.plot.is_some() || self.report.is_some()
    }
}
