//! Arguments that several subcommands share.

use super::destinations::{ANY, Destinations, Overwriting};
use super::failure::Failure;
use super::report::Report;
use lattice_cl::geometry::Dims;
use lattice_cl::host::GaugeConfiguration;
use lattice_cl::io::{
    self, Contents, ErrorKind, Format, GaugeFile, Parts, Propagator, ReadOptions, SignsInLinks, WriteOptions,
};
use lattice_cl::job::Configuration;
use lattice_cl::scalar::Precision;
use serde::Serializer;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Joins the extents of a lattice that are separate words.
///
/// `--dims 8 8 8 16` becomes `--dims 8x8x8x16`. The words are joined before parsing. An option that
/// takes one to four words would swallow the file after it.
pub fn join_extents(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = arguments.into_iter().collect();
    let is_number = |word: &OsString| {
        word.to_str().is_some_and(|word| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut from = 0;
    while let Some(option) = joined[from..].iter().position(|word| word == "--dims") {
        let first = from + option + 1;
        let count = joined[first..].iter().take(4).take_while(|word| is_number(word)).count();
        let extents = joined[first..first + count].join(&OsString::from("x"));
        if count > 1 {
            joined.splice(first..first + count, [extents]);
        }
        from = first;
    }
    joined
}

/// Renames `--color 2`, the colour of a source, to `--colour 2`.
///
/// `--color` with a word is about the terminal.
pub fn tell_colours_apart(arguments: Vec<OsString>) -> Vec<OsString> {
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let next_is_number: Vec<bool> =
        arguments.iter().skip(1).map(|word| word.to_str().is_some_and(is_number)).chain([false]).collect();
    let renamed =
        arguments.into_iter().zip(next_is_number).map(|(word, next_is_number)| match word.to_str() {
            Some("--color") if next_is_number => "--colour".into(),
            Some(text) => match text.strip_prefix("--color=") {
                Some(value) if is_number(value) => format!("--colour={value}").into(),
                _ => word,
            },
            None => word,
        });
    renamed.collect()
}

/// Tells whether the words of an option contain `found` or `all`.
pub fn is_wanted(asked: &[String], found: impl Display) -> bool {
    let found = found.to_string();
    asked.iter().any(|asked| *asked == "all" || *asked == found)
}

/// Serializes a path of a result as text.
///
/// JSON has text only. A path that is not UTF-8 becomes the text that a person sees.
pub fn path_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

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
        let read =
            |path, options: &ReadOptions| io::read_gauge_with(path, &ReadOptions { parts, ..*options });
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
        let options = ReadOptions {
            format: self.input_format,
            dims: self.dims,
            ignore_checksum: self.ignore_checksum,
            ignore_unitarity: self.ignore_unitarity,
            signs_in_links: self.signs_in_links,
            progress: Some(&progress),
            extents: Some(extents),
            ..ReadOptions::default()
        };
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
        expect_held(&WriteOptions { precision, ..WriteOptions::new(format) })?;
        Destinations::reading(input).writing("the output", ANY, [path]).check(overwriting)?;
        Ok(Self { path: path.to_owned(), format, precision, lfn: None })
    }

    /// Sets the logical file name of `--lfn`.
    ///
    /// # Errors
    /// When the format has no place for a logical file name.
    pub fn with_lfn(self, lfn: Option<String>) -> Result<Self, Failure> {
        expect_held(&WriteOptions { lfn: lfn.clone(), ..WriteOptions::new(self.format) })?;
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
        let options = WriteOptions {
            precision: self.precision,
            lfn: self.lfn.clone().or(lfn),
            description,
            progress: Some(&progress),
            ..WriteOptions::new(self.format)
        };
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

    fn joined(line: &str) -> String {
        let words = join_extents(line.split(' ').map(OsString::from));
        words.join(&OsString::from(" ")).into_string().unwrap()
    }

    #[test]
    fn words_of_digits_are_joined_and_nothing_else_is() {
        assert_eq!(joined("p generate --dims 8 8 8 16 --beta 6"), "p generate --dims 8x8x8x16 --beta 6");
        assert_eq!(joined("p info --dims 4 4 4 4 8"), "p info --dims 4x4x4x4 8");
        assert_eq!(joined("p tune --dims 8 8 8 8 --dims 4 4 4 4"), "p tune --dims 8x8x8x8 --dims 4x4x4x4");
        // Too few words are joined too. The message is then about extents.
        assert_eq!(joined("p --dims 8 8 8 -v"), "p --dims 8x8x8 -v");
        for same in ["p info --dims 8x8x8x16 conf", "p --dims 8 conf", "p --dims", "p"] {
            assert_eq!(joined(same), same);
        }
    }

    #[test]
    fn a_colour_with_a_number_is_that_of_the_source() {
        let told = |line: &str| {
            let words = tell_colours_apart(line.split(' ').map(OsString::from).collect());
            words.join(&OsString::from(" ")).into_string().unwrap()
        };
        assert_eq!(told("p invert --color 2 conf"), "p invert --colour 2 conf");
        assert_eq!(told("p invert --color=1"), "p invert --colour=1");
        for same in ["p --color never info 2", "p --color=auto", "p --color", "p --colour 2"] {
            assert_eq!(told(same), same);
        }
    }

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
