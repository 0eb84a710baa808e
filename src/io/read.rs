//! Reading a gauge configuration of any format.

use super::checksum::Checksum;
use super::error::{Error, ErrorKind};
use super::formats::{UncheckedGaugeFile, recognise};
use super::gauge_file::GaugeFile;
use super::header_check::HeaderCheck;
use super::input::Input;
use super::propagators::{self, PropagatorSummary};
use super::read_options::ReadOptions;
use super::same_file::expect_same_file;
use super::signs::{self, SignsInLinks};
use super::validate;
use super::validate::Signs;
use crate::geometry::{Dims, NDIM};
use crate::host::GaugeConfiguration;
use std::path::Path;

/// A file that was read, and the reason why it is refused nevertheless.
#[derive(Debug)]
pub struct Inspection {
    /// The file, as far as it could be read.
    pub file: GaugeFile,
    /// The first check that the file fails.
    pub problem: Option<Error>,
}

/// Reads and verifies a gauge configuration of any [`Format`](super::Format).
///
/// The content of the file tells its format.
///
/// # Errors
/// Fails like [`read_gauge_with`].
pub fn read_gauge(path: impl AsRef<Path>) -> Result<GaugeConfiguration, Error> {
    read_gauge_with(path, &ReadOptions::default()).map(|file| file.configuration)
}

/// Reads a gauge configuration with options.
///
/// The file is streamed. The links take as much memory as they do in the file. If the file holds
/// two rows of each link, the links take one and a half times as much.
///
/// # Errors
/// The first problem in this order:
/// 1. the structure of the file;
/// 2. the checksum;
/// 3. links that are not finite;
/// 4. the plaquette and link trace in the header;
/// 5. links that are further than [`UNITARITY_LIMIT`](super::UNITARITY_LIMIT) from SU(3).
pub fn read_gauge_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<GaugeFile, Error> {
    let Inspection { file, problem } = inspect_gauge(path, options)?;
    problem.map_or(Ok(file), Err)
}

/// Returns the extents of a gauge configuration.
///
/// The links are not read, unless the file has its extents behind them.
///
/// # Errors
/// When the beginning of the file is no sound beginning of a configuration.
pub fn read_extents(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Dims, Error> {
    let mut input = Input::open(path.as_ref())?;
    let options = ReadOptions { extents_alone: true, ..*options };
    match read_links(&mut input, &options) {
        Ok(found) => Ok(found.file.configuration.dims()),
        Err(Error { kind: ErrorKind::ExtentsAlone(dims), .. }) => Ok(dims),
        Err(error) => Err(error),
    }
}

/// Reads and verifies a gauge configuration, and returns it even if a check fails.
///
/// The failed check is [`Inspection::problem`].
///
/// # Errors
/// When there are no links to return: the structure of the file is wrong, or a link is not finite.
pub fn inspect_gauge(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Inspection, Error> {
    let mut input = Input::open(path.as_ref())?;
    inspect_configuration(&mut input, options)
}

/// The contents of a file.
#[derive(Debug)]
pub enum Contents {
    /// A gauge configuration.
    Configuration(Box<Inspection>),
    /// Solutions of the Dirac equation.
    Propagator(Box<PropagatorSummary>),
}

/// Reads and verifies a file with links or solutions.
///
/// # Errors
/// Fails like [`inspect_gauge`].
pub fn inspect(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Contents, Error> {
    let mut input = Input::open(path.as_ref())?;
    if options.format.is_none()
        && let Some(file) = propagators::File::recognise(&mut input)?
    {
        return file.summarise(&mut input, options).map(Box::new).map(Contents::Propagator);
    }
    let inspection = inspect_configuration(&mut input, options)?;
    Ok(Contents::Configuration(Box::new(inspection)))
}

/// Tells whether a file holds solutions of the Dirac equation.
///
/// # Errors
/// When the file cannot be read, or its structure is wrong.
pub fn holds_propagator(path: impl AsRef<Path>) -> Result<bool, Error> {
    let mut input = Input::open(path.as_ref())?;
    Ok(propagators::File::recognise(&mut input)?.is_some())
}

/// Reads a configuration, or a part of it for one of several processes.
///
/// If one of the processes finds something wrong, each reads all. So all report the same problem,
/// like one process. If only one copy of the file is wrong, the others report that.
fn inspect_configuration(input: &mut Input, options: &ReadOptions) -> Result<Inspection, Error> {
    let Some(parts) = options.parts else { return inspect_links(input, options) };
    expect_same_file(input, parts.company)?;
    let found = inspect_links(input, options);
    let is_right = found.as_ref().is_ok_and(|found| found.problem.is_none());
    if parts.company.all(is_right.then_some(&[])).is_some() {
        return found;
    }
    drop(found);
    let found = inspect_links(input, &ReadOptions { parts: None, ..*options });
    let own = found.as_ref().map_or_else(Some, |found| found.problem.as_ref());
    let own = own.map_or_else(String::new, |error| error.kind.to_string());
    let all = parts.company.all_again(own.as_bytes());
    match all.iter().position(|reason| !reason.is_empty()) {
        Some(rank) if own.is_empty() => {
            let reason = String::from_utf8_lossy(&all[rank]).into_owned();
            Err(input.error(ErrorKind::OtherCopy { rank, reason }))
        }
        _ => found,
    }
}

fn inspect_links(input: &mut Input, options: &ReadOptions) -> Result<Inspection, Error> {
    let UncheckedGaugeFile { mut file, unreadable_checksum } = read_links(input, options)?;
    if let Some(named) = options.format.filter(|&named| named != file.format) {
        return Err(input.error(ErrorKind::NotOfFormat { named, found: file.format }));
    }
    let problem = verify(&mut file, unreadable_checksum, options)
        .map_err(|kind| input.error(kind))?
        .map(|kind| input.error(kind));
    Ok(Inspection { file, problem })
}

/// Reads the links of a file, without judging them.
fn read_links(input: &mut Input, options: &ReadOptions) -> Result<UncheckedGaugeFile, Error> {
    let read = recognise(input, options.format).and_then(|format| format.reader().read(input, options));
    read.map_err(|error| {
        // The reader of links names what it misses. What the file is says more.
        let misses_links = matches!(
            error.kind,
            ErrorKind::NoSuchRecord { .. } | ErrorKind::NoSuchArray { .. } | ErrorKind::Unsupported { .. }
        );
        match misses_links.then(|| propagators::File::recognise(input)) {
            Some(Ok(Some(file))) => input.error(ErrorKind::IsPropagator { format: file.format() }),
            _ => error,
        }
    })
}

/// Returns the first check that a file fails.
///
/// The check becomes an error if it leaves no links to show.
fn verify(
    file: &mut GaugeFile,
    unreadable_checksum: Option<ErrorKind>,
    options: &ReadOptions,
) -> Result<Option<ErrorKind>, ErrorKind> {
    let checksum = checksum_problem(file, unreadable_checksum).filter(|_| !options.ignore_checksum);
    // Finite links are checked before the plaquette: a NaN spoils the plaquette too, and its place
    // says more.
    if let Err(not_finite) = validate::check_finite(&file.configuration) {
        return Err(checksum.unwrap_or(not_finite));
    }
    let header = header_problem(file).filter(|_| !options.ignore_checksum);
    let unitarity = unitarity_problem(file, options);
    Ok(checksum.or(header).or(unitarity))
}

fn checksum_problem(file: &GaugeFile, unreadable: Option<ErrorKind>) -> Option<ErrorKind> {
    unreadable.or_else(|| match &file.checksum {
        Some(Checksum { kind, stored, computed, ok: false }) => {
            let (stored, computed) = (stored.clone(), computed.clone());
            Some(ErrorKind::ChecksumMismatch { kind, stored, computed })
        }
        _ => None,
    })
}

/// Finds an observable in the header that is not that of the links.
fn header_problem(file: &GaugeFile) -> Option<ErrorKind> {
    let &HeaderCheck { quantity, stored, computed, tolerance, .. } =
        file.header_checks.iter().find(|check| !check.ok)?;
    Some(ErrorKind::HeaderMismatch { quantity, stored, computed, tolerance })
}

/// Finds links that are not in SU(3).
///
/// Boundary signs are found, and removed if the options say so.
fn unitarity_problem(file: &mut GaugeFile, options: &ReadOptions) -> Option<ErrorKind> {
    let problem = validate::check_special_unitary(&file.configuration).err()?;
    if file.configuration.part().is_some() {
        // Signs show on whole slices only.
        return Some(problem);
    }
    file.signs = match validate::signs(&file.configuration) {
        Signs::Slices(signs) => signs,
        Signs::None => return Some(problem).filter(|_| !options.ignore_unitarity),
        Signs::Others(count) => {
            let links = NDIM * file.configuration.dims().volume();
            let problem = ErrorKind::OtherSigns { count, links };
            return Some(problem).filter(|_| !options.ignore_unitarity);
        }
    };
    let listed = signs::listed(&file.signs);
    validate::change_signs(&mut file.configuration, &file.signs);
    let rest = validate::check_special_unitary(&file.configuration).err();
    match options.signs_in_links {
        SignsInLinks::Remove => file.warnings.push(format!("a boundary sign was taken out of {listed}")),
        SignsInLinks::Keep | SignsInLinks::Refuse => {
            validate::change_signs(&mut file.configuration, &file.signs);
        }
    }
    for &sign in &file.signs {
        if let Some([here, elsewhere]) = validate::odd_plaquettes(&file.configuration, sign) {
            file.warnings.push(format!(
                "{sign} have more than a sign: plaquettes there average {here:.4}, on other slices {elsewhere:.4}"
            ));
        }
    }
    match options.signs_in_links {
        SignsInLinks::Refuse => return Some(ErrorKind::SignsInLinks { signs: file.signs.clone() }),
        SignsInLinks::Keep => file.warnings.push(format!(
            "a boundary sign stays in {listed}; a periodic solver then has antiperiodic fermions, and an antiperiodic \
             one periodic fermions"
        )),
        SignsInLinks::Remove => {}
    }
    rest.filter(|_| !options.ignore_unitarity)
}
