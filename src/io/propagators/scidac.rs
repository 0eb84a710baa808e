//! Propagators in SciDAC (LIME) files.
//!
//! A file that is written follows the USQCD propagator format. The first message has these records:
//! * `scidac-private-file-xml`, with the extents;
//! * `scidac-file-xml` (`usqcdPropFile`).
//!
//! Each solution has a message with these records:
//! * `scidac-private-record-xml`;
//! * `scidac-record-xml` (`usqcdPropInfo`), with spin and colour of the source;
//! * `scidac-binary-data`;
//! * `scidac-checksum`.
//!
//! Numbers are big-endian. In a spinor, spin runs slower than colour. No sources are stored: the type
//! in `usqcdPropFile` is `DiracFermion_Sink`. Its element `solutions` is the number of solutions.
//!
//! Chroma writes all twelve solutions into one record. Some programs write twelve records that say
//! nothing of their sources, source spin slowest.

use super::columns::{self, Layout};
use super::record::{COLUMNS, PropagatorRecord, records, verify};
use crate::geometry::Dims;
use crate::host::Spinor;
use crate::io::checksum::Method;
use crate::io::error::{Error, ErrorKind};
use crate::io::input::Input;
use crate::io::lime::{self, Position, Record};
use crate::io::lime_file::{ILDG_DATA, LimeFile, SCIDAC_DATA, precision_of};
use crate::io::metadata::{self, Content, PropagatorInfo, ScidacRecord, SolutionCount};
use crate::io::numbers::ByteOrder;
use crate::io::output::Output;
use crate::io::payload::{Payload, contiguous};
use crate::io::read_options::{ReadOptions, extents};
use crate::scalar::Precision;
use lattice_files::text::{printable, quoted};

/// Spin and colour of a source.
type Source = (usize, usize);

/// Writes the head of a file with so many solutions of a lattice.
///
/// The head has the same length for any number of them.
pub(super) fn write_head(output: &mut Output, dims: Dims, info: &str, solutions: usize) -> Result<(), Error> {
    lime::write_text(output, "scidac-private-file-xml", Position::First, &metadata::scidac_file(dims))?;
    lime::write_text(output, "scidac-file-xml", Position::Last, &metadata::propagator_file(info, solutions))
}

/// Appends the solution for a source with this spin and colour.
pub(super) fn write_solution(
    output: &mut Output,
    precision: Precision,
    (spin, colour): (usize, usize),
    field: &[Spinor<f64>],
) -> Result<(), Error> {
    let record = metadata::scidac_record(Content::Spinor, precision);
    lime::write_text(output, "scidac-private-record-xml", Position::First, &record)?;
    let info = metadata::propagator_info(spin, colour);
    lime::write_text(output, "scidac-record-xml", Position::Middle, &info)?;
    let payload = Payload {
        sites: field.len(),
        site_bytes: Content::Spinor.site_bytes(precision),
        method: Some(Method::SciDac),
        progress: None,
    };
    lime::write_header(output, SCIDAC_DATA, Position::Middle, payload.bytes())?;
    let layout = Layout { precision, order: ByteOrder::Big };
    let sums = payload.write(output, |site, bytes| layout.encode(&field[site], bytes))?;
    lime::write_padding(output, payload.bytes())?;
    lime::write_text(output, "scidac-checksum", Position::Last, &metadata::scidac_checksum(sums))
}

/// Tells whether a LIME file has spinors and no links.
pub(super) fn is_propagator(input: &mut Input, file: &LimeFile) -> Result<bool, Error> {
    let mut found = false;
    if file.records.iter().any(|record| record.kind == ILDG_DATA) {
        return Ok(false);
    }
    for data in file.scidac_data() {
        match file.scidac_record(input, data)?.and_then(|record| record.content) {
            Some(Content::Spinor | Content::Propagator) => found = true,
            Some(Content::Gauge) => return Ok(false),
            None => {}
        }
    }
    Ok(found)
}

impl LimeFile {
    pub(super) fn propagator_dims(&self, input: &mut Input, options: &ReadOptions) -> Result<Dims, Error> {
        let stored = self.scidac_dims(input);
        extents(input, stored, options.dims)
    }

    /// Returns the text of the first record of a type, if it can be read.
    fn text_of_first(&self, input: &mut Input, kind: &str) -> Option<String> {
        let record = self.records.iter().find(|record| record.kind == kind)?;
        lime::text(input, record).ok()
    }

    pub(super) fn propagator_facts(&self, input: &mut Input) -> Vec<(String, String)> {
        let mut facts = Vec::new();
        let mut texts = |kind: &str| self.text_of_first(input, kind);
        let (file, first) = (texts("scidac-file-xml"), texts("scidac-record-xml"));
        if let Some(date) = texts("scidac-private-record-xml")
            .and_then(|text| metadata::parse_scidac_record(&text, None).ok()?.date)
        {
            facts.push(("date".to_owned(), printable(&date)));
        }
        let description = file.as_deref().map(metadata::described).unwrap_or_default();
        if !description.is_empty() {
            facts.push(("description".to_owned(), printable(&description)));
        }
        for text in [file, first].iter().flatten() {
            facts.extend(
                metadata::parameters(text).into_iter().map(|(name, value)| (name, printable(&value))),
            );
        }
        facts
    }
}

/// Hands on every solution in turn, and returns the extents.
///
/// Data that are no solutions are named in `warnings`.
///
/// # Errors
/// * A record cannot be used.
/// * Data and their description are not together, so that a solution may be missing.
/// * There are fewer solutions than the file says.
pub(super) fn for_each_solution(
    input: &mut Input,
    file: &LimeFile,
    options: &ReadOptions,
    warnings: &mut Vec<String>,
    take: &mut dyn FnMut(Dims, PropagatorRecord),
) -> Result<Dims, Error> {
    let dims = file.propagator_dims(input, options)?;
    let in_order = twelve_without_sources(input, file)?;
    let mut last_source = None;
    let mut counts = [0; COLUMNS];
    for data in file.scidac_data() {
        let known = in_order.iter().position(|&place| place == data);
        let known = known.map(|column| (column / 3, column % 3));
        let Some(solutions) = solutions_of(input, file, data, (known, &mut last_source), warnings)? else {
            continue;
        };
        for record in read_record(input, file, data, dims, options, solutions)? {
            counts[3 * record.spin + record.colour] += 1;
            take(dims, record);
        }
    }
    warnings.extend(file.rest_warning(input));
    warnings.extend(file.stray_warnings(|why| !why.concerns_data()));
    if let Some(stray) = file.strays().iter().find(|stray| stray.why.concerns_data()) {
        return Err(lime::bad_record(input, stray.record, stray.why.text().to_owned()));
    }
    judge_count(input, file, &counts, warnings)?;
    Ok(dims)
}

/// Compares the number of solutions with the number that the file says, or else with twelve.
fn judge_count(
    input: &mut Input,
    file: &LimeFile,
    counts: &[usize; COLUMNS],
    warnings: &mut Vec<String>,
) -> Result<(), Error> {
    let solutions: usize = counts.iter().sum();
    if solutions == 0 {
        let wanted = "solution of the Dirac equation (scidac-binary-data of Dirac spinors)";
        return Err(input.error(ErrorKind::NoSuchRecord { wanted, records: file.kinds() }));
    }
    let text = file.text_of_first(input, "scidac-file-xml").unwrap_or_default();
    let stated = metadata::solutions_of_file(&text);
    if let SolutionCount::Exactly(stated) = stated
        && solutions != stated
    {
        return Err(input.error(ErrorKind::OtherSolutionCount { solutions, stated }));
    }
    if stated == SolutionCount::NotStated && solutions < COLUMNS {
        warnings.push(format!("has {solutions} of the {COLUMNS} solutions of a propagator"));
    }
    for (column, count) in counts.iter().enumerate().filter(|(_, count)| **count > 1) {
        let (spin, colour) = (column / 3, column % 3);
        warnings.push(format!("has {count} solutions for spin {spin}, colour {colour}"));
    }
    Ok(())
}

/// Returns the places of twelve spinors that say nothing of their sources.
///
/// In other files spinors say their sources, and the result is empty.
///
/// # Errors
/// When spinors say nothing, and are not twelve.
fn twelve_without_sources(input: &mut Input, file: &LimeFile) -> Result<Vec<usize>, Error> {
    let mut places = Vec::new();
    for data in file.scidac_data() {
        if file.scidac_record(input, data)?.is_none_or(|record| record.content != Some(Content::Spinor)) {
            continue;
        }
        let told = match file.describing("scidac-record-xml", data) {
            None => Ok(PropagatorInfo::Other),
            Some(record) => metadata::parse_propagator_info(&lime::text(input, record)?),
        };
        if !matches!(told, Ok(PropagatorInfo::Other) | Err(_)) {
            return Ok(Vec::new());
        }
        places.push(data);
    }
    match places.len() {
        0 | COLUMNS => Ok(places),
        count => Err(input.error(ErrorKind::UntoldSources { count })),
    }
}

/// The solutions of some data.
struct Solutions {
    content: Content,
    /// The precision that the file declares.
    declared: Option<Precision>,
    sources: Vec<Source>,
}

/// Finds the solutions of some data; `None` if there are none.
///
/// The source may be known, or be that of an earlier record.
fn solutions_of(
    input: &mut Input,
    file: &LimeFile,
    data: usize,
    (known, last_source): (Option<Source>, &mut Option<Source>),
    warnings: &mut Vec<String>,
) -> Result<Option<Solutions>, Error> {
    // Data without a description are named with the other records that belong to nothing.
    let Some(description) = file.description(input, data)? else { return Ok(None) };
    let info = file.describing("scidac-record-xml", data);
    let told = match info {
        None => None,
        Some(record) => Some(metadata::parse_propagator_info(&lime::text(input, record)?)),
    };
    let declared = description.precision;
    let of = |content, sources| Ok(Some(Solutions { content, declared, sources }));
    match description.content {
        Some(Content::Propagator) => return of(Content::Propagator, columns::sources().to_vec()),
        Some(Content::Spinor) if known.is_some() => return of(Content::Spinor, Vec::from_iter(known)),
        _ => {}
    }
    let Record { kind, byte, .. } = &file.records[data];
    let (Some(info), Some(told)) = (info, told) else {
        if description.content == Some(Content::Spinor) {
            let problem = "no record scidac-record-xml before it says the source of its solution";
            return Err(lime::bad_record(input, &file.records[data], problem.to_owned()));
        }
        warnings.push(not_read(kind, *byte, &description));
        return Ok(None);
    };
    let bad = |input: &Input, problem| lime::bad_record(input, info, problem);
    let is_spinor = description.content == Some(Content::Spinor);
    match told {
        Ok(PropagatorInfo::Source(source)) => {
            *last_source = source.or(*last_source);
            Ok(None)
        }
        Ok(PropagatorInfo::Solution(..) | PropagatorInfo::SolutionOfLastSource) if !is_spinor => {
            let problem = format!(
                "it is that of a solution, but the data are {}, not Dirac spinors of 96 or 192 bytes to a site",
                quoted(&description.datatype)
            );
            Err(bad(input, problem))
        }
        Ok(PropagatorInfo::Solution(spin, colour)) => of(Content::Spinor, vec![(spin, colour)]),
        Ok(PropagatorInfo::SolutionOfLastSource) => match *last_source {
            Some(source) => of(Content::Spinor, vec![source]),
            None => {
                let problem = "it has no elements <spin> and <color>, nor has a source before it";
                Err(bad(input, problem.to_owned()))
            }
        },
        Err(problem) if is_spinor => Err(bad(input, problem)),
        Ok(PropagatorInfo::Other) | Err(_) => {
            warnings.push(not_read(kind, *byte, &description));
            Ok(None)
        }
    }
}

/// Returns the warning that data are passed over.
fn not_read(kind: &str, byte: u64, description: &ScidacRecord) -> String {
    let datatype = quoted(&description.datatype);
    format!(
        "the record {kind} at byte {byte} is not read: its data ({datatype}) are neither solution nor source"
    )
}

/// Reads the solutions of one record: one, or the twelve of a propagator.
fn read_record(
    input: &mut Input,
    file: &LimeFile,
    data: usize,
    dims: Dims,
    options: &ReadOptions,
    Solutions { content, declared, sources }: Solutions,
) -> Result<Vec<PropagatorRecord>, Error> {
    let record = &file.records[data];
    let precision = precision_of(input, record, content, dims, declared)?;
    let stored = file.stored_sums(input, data)?;
    let payload = Payload {
        sites: dims.volume(),
        site_bytes: content.site_bytes(precision),
        method: stored.as_ref().map(|_| Method::SciDac),
        progress: options.progress,
    };
    input.expect("the spinors", record.byte, payload.bytes())?;
    let layout = Layout { precision, order: ByteOrder::Big };
    let (fields, computed) = layout.read(input, &payload, &mut contiguous(record.byte), sources.len())?;
    let (checksum, unreadable) = match stored {
        None => (None, None),
        Some(stored) => stored.compared(computed),
    };
    if let Some(problem) = unreadable.filter(|_| !options.ignore_checksum) {
        return Err(input.error(problem));
    }
    let records = records(sources, fields, precision, checksum.as_ref());
    verify(input, dims, &records, options)?;
    Ok(records)
}
