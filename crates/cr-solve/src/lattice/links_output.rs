//! Gauge configurations that are written, and help about their files.

use lattice_cl::host::GaugeConfiguration;
use lattice_cl::io::{self, ErrorKind, Format, WriteOptions};
use lattice_cl::scalar::Precision;
use lattice_cli::destinations::{ANY, Destinations, Overwriting};
use lattice_cli::failure::Failure;
use lattice_cli::report::Report;
use std::path::{Path, PathBuf};

/// The entry with the logical file name of an ILDG file.
pub const LOGICAL_FILE_NAME: &str = "lfn";
/// The entry with a description in free text.
pub const DESCRIPTION: &str = "description";

/// A gauge configuration to be written.
///
/// Everything about the file is decided and checked before the work.
#[derive(Debug)]
pub struct Output {
    /// The file.
    pub path: PathBuf,
    /// Its format.
    pub format: Format,
    /// The precision asked for.
    ///
    /// `None` selects the precision of the links, if the format has it.
    pub precision: Option<Precision>,
    /// The logical file name of an ILDG file, if one was given.
    lfn: Option<String>,
}

impl Output {
    /// Decides on the format.
    ///
    /// The ending of the name decides if `format` is `None`.
    ///
    /// # Errors
    /// * When the format is not clear or does not have this precision.
    /// * The errors of [`Destinations::check`].
    pub fn prepare(
        input: Option<&Path>,
        path: &Path,
        format: Option<Format>,
        precision: Option<Precision>,
        overwriting: Overwriting,
    ) -> Result<Self, Failure> {
        let Some(format) = format.or_else(|| Format::of_file_name(path)) else {
            let message = format!("the name {} does not tell the format to write", path.display());
            let names = Format::names_written();
            return Err(Failure::usage(message)
                .hint(format!("give --format {names}, or a name that ends in one of them")));
        };
        expect_held(&WriteOptions::new(format).with_precision(precision))?;
        Destinations::reading(input).writing("the output", ANY, [path]).check(overwriting)?;
        Ok(Self { path: path.to_owned(), format, precision, lfn: None })
    }

    /// Sets the logical file name of `--lfn`.
    ///
    /// # Errors
    /// When the format has no place for a logical file name.
    pub fn with_lfn(self, lfn: Option<String>) -> Result<Self, Failure> {
        expect_held(&WriteOptions::new(self.format).with_lfn(lfn.clone()))?;
        Ok(Self { lfn, ..self })
    }

    /// Returns the precision that links of the precision `links` get in the file.
    pub fn precision_of(&self, links: Precision) -> Precision {
        let asked = self.precision.unwrap_or(links);
        let other = match asked {
            Precision::Double => Precision::Single,
            Precision::Single => Precision::Double,
        };
        if self.format.holds(asked) { asked } else { other }
    }

    /// Writes the file, with a progress bar.
    ///
    /// The format may have no place for the logical file name or the description.
    pub fn write(
        &self,
        configuration: &GaugeConfiguration,
        lfn: Option<String>,
        description: Option<String>,
        report: &Report,
    ) -> Result<(), Failure> {
        let bar = report.progress_of_bytes("writing");
        let progress = |done, total| {
            bar.set_length(total);
            bar.set_position(done);
        };
        let options = WriteOptions::new(self.format)
            .with_precision(self.precision)
            .with_lfn(self.lfn.clone().or(lfn))
            .with_description(description)
            .with_progress(Some(&progress));
        let written = io::write_gauge(&self.path, configuration, &options);
        bar.finish_and_clear();
        Ok(written?)
    }
}

/// Refuses options that the format cannot hold.
fn expect_held(options: &WriteOptions) -> Result<(), Failure> {
    options.check().map_err(|kind| match kind {
        ErrorKind::NotInFormat { format, what, remedy } => {
            Failure::usage(format!("the {format} format has no {what}")).hint(remedy)
        }
        other => Failure::usage(other.to_string()),
    })
}

/// Returns the help of `--format`.
pub fn help_on_format() -> String {
    format!("The format to write: {}; by default what the name of the file ends in", Format::names_written())
}

/// Returns the help of an argument that is a gauge configuration to be read.
pub fn help_on_configuration() -> String {
    format!("The gauge configuration: {}", Format::titles_read())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_tells_the_format() {
        let format = |name: &str| Format::of_file_name(Path::new(name));
        assert_eq!(format("a/conf.ildg"), Some(Format::Ildg));
        assert_eq!(format("conf.LIME"), Some(Format::Ildg));
        assert_eq!(format("conf.10.nersc"), Some(Format::Nersc));
        assert_eq!(format("conf.milc"), Some(Format::Milc));
        assert_eq!(format("conf.scidac"), Some(Format::SciDac));
        for unclear in ["conf", "conf.10", "ildg", "milc/conf.dat"] {
            assert_eq!(format(unclear), None);
        }
    }
}
