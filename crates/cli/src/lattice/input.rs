//! Gauge configurations and propagators that are read.

use crate::failure::Failure;
use crate::report::Report;
use lattice_cl::geometry::Dims;
use lattice_cl::io::{self, Contents, Format, GaugeFile, Parts, Propagator, ReadOptions, SignsInLinks};
use lattice_cl::job::Configuration;
use std::path::{Path, PathBuf};

/// Options for reading a gauge configuration.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct Input {
    /// The format of the file, for one that does not tell it, as Bridge++ binary files
    #[arg(long, value_name = "FORMAT", hide_short_help = true)]
    pub input_format: Option<Format>,
    /// Extents in x, y, z, t of a file that does not tell them: 8x8x8x16 or four words
    #[arg(long, value_name = "EXTENTS", hide_short_help = true)]
    pub dims: Option<Dims>,
    /// Take a file whose checksum, plaquette or link trace is not that of its links
    #[arg(long, hide_short_help = true)]
    pub ignore_checksum: bool,
    /// Take links that are far from SU(3)
    #[arg(long, hide_short_help = true)]
    pub ignore_unitarity: bool,
    /// Treatment of a boundary sign in a file's links: refuse, remove or keep
    #[arg(long, value_name = "CHOICE", default_value_t, hide_default_value = true)]
    pub signs_in_links: SignsInLinks,
}

impl Input {
    /// Takes the options from a job's configuration.
    pub fn of(configuration: &Configuration) -> Self {
        let &Configuration { input_format, dims, ignore_checksum, ignore_unitarity, signs_in_links, .. } =
            configuration;
        Self { input_format, dims, ignore_checksum, ignore_unitarity, signs_in_links }
    }

    /// Reads and verifies a gauge configuration, with a progress bar.
    ///
    /// The path `-` is standard input.
    pub fn read(&self, path: &Path, report: &Report) -> Result<GaugeFile, Failure> {
        self.read_and_tell(path, report, &drop, None)
    }

    /// Reads like [`Input::read`], but tells `extents` the extents of the lattice.
    ///
    /// `extents` is called before the links are read. `parts` are those of several processes.
    pub fn read_and_tell(
        &self,
        path: &Path,
        report: &Report,
        extents: &dyn Fn(Dims),
        parts: Option<Parts<'_>>,
    ) -> Result<GaugeFile, Failure> {
        let read = |path, options: &ReadOptions| io::read_gauge_with(path, &options.with_parts(parts));
        let file = self.showing_progress(path, report, extents, read)?;
        warn(path, &file.warnings, report);
        Ok(file)
    }

    /// Reads and verifies a configuration or a propagator.
    ///
    /// Returns the contents even if they fail a check.
    pub fn inspect(&self, path: &Path, report: &Report) -> Result<Contents, Failure> {
        let contents = self.showing_progress(path, report, &drop, io::inspect)?;
        warn(
            path,
            match &contents {
                Contents::Configuration(inspection) => &inspection.file.warnings,
                Contents::Propagator(summary) => &summary.warnings,
            },
            report,
        );
        Ok(contents)
    }

    /// Reads and verifies a propagator, with a progress bar.
    pub fn read_propagator(&self, path: &Path, report: &Report) -> Result<Propagator, Failure> {
        let propagator = self.showing_progress(path, report, &drop, io::read_propagator_with)?;
        warn(path, &propagator.warnings, report);
        Ok(propagator)
    }

    fn showing_progress<T>(
        &self,
        path: &Path,
        report: &Report,
        extents: &dyn Fn(Dims),
        read: impl FnOnce(PathBuf, &ReadOptions) -> Result<T, io::Error>,
    ) -> Result<T, Failure> {
        let bar = report.progress_of_bytes("reading");
        let progress = |done, total| {
            bar.set_length(total);
            bar.set_position(done);
        };
        let options = ReadOptions::default()
            .with_format(self.input_format)
            .with_dims(self.dims)
            .with_ignore_checksum(self.ignore_checksum)
            .with_ignore_unitarity(self.ignore_unitarity)
            .with_signs_in_links(self.signs_in_links)
            .with_progress(Some(&progress))
            .with_extents(Some(extents));
        let path = if path == Path::new("-") { Path::new(STANDARD_INPUT) } else { path };
        let read = read(path.to_owned(), &options);
        bar.finish_and_clear();
        Ok(read?)
    }
}

/// Path of standard input.
const STANDARD_INPUT: &str = "/dev/stdin";

fn warn(path: &Path, warnings: &[String], report: &Report) {
    for warning in warnings {
        report.warning(format_args!("{}: {warning}", path.display()));
    }
}
