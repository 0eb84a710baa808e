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
//! in `usqcdPropFile` is `DiracFermion_Sink`.
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
use crate::io::lime::{self, Position};
use crate::io::lime_file::{ILDG_DATA, LimeFile, SCIDAC_DATA, precision_of};
use crate::io::metadata::{self, Content, PropagatorInfo, ScidacRecord};
use crate::io::numbers::ByteOrder;
use crate::io::output::Output;
use crate::io::payload::{Payload, contiguous};
use crate::io::read_options::{ReadOptions, extents};
use crate::scalar::Precision;
use lattice_files::text::printable;

/// Spin and colour of a source.
type Source = (usize, usize);

/// Begins a file with solutions of a lattice.
pub(super) fn write_head(output: &mut Output, dims: Dims, info: &str) -> Result<(), Error> {
    lime::write_text(output, "scidac-private-file-xml", Position::First, &metadata::scidac_file(dims))?;
    lime::write_text(output, "scidac-file-xml", Position::Last, &metadata::propagator_file(info))
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

    pub(super) fn propagator_facts(&self, input: &mut Input) -> Vec<(String, String)> {
        let mut facts = Vec::new();
        let mut texts = |kind: &str| {
            let record = self.records.iter().find(|record| record.kind == kind)?;
            lime::text(input, record).ok()
        };
        let (file, first) = (texts("scidac-file-xml"), texts("scidac-record-xml"));
        if let Some(date) = texts("scidac-private-record-xml")
            .and_then(|text| metadata::parse_scidac_record(&text).ok()?.date)
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
pub(super) fn for_each_solution(
    input: &mut Input,
    file: &LimeFile,
    options: &ReadOptions,
    take: &mut dyn FnMut(Dims, PropagatorRecord),
) -> Result<Dims, Error> {
    let dims = file.propagator_dims(input, options)?;
    let in_order = twelve_without_sources(input, file)?;
    let mut last_source = None;
    let mut none = true;
    for data in file.scidac_data() {
        let known = in_order.iter().position(|&place| place == data);
        let known = known.map(|column| (column / 3, column % 3));
        for record in read_record(input, file, data, dims, options, (known, &mut last_source))? {
            none = false;
            take(dims, record);
        }
    }
    if none {
        let wanted = "solution of the Dirac equation (scidac-binary-data of Dirac spinors)";
        return Err(input.error(ErrorKind::NoSuchRecord { wanted, records: file.kinds() }));
    }
    Ok(dims)
}

/// Returns the places of twelve spinors that say nothing of their sources.
///
/// Other files have none.
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
    Ok(if places.len() == COLUMNS { places } else { Vec::new() })
}

/// Reads the solutions of one record: none, one, or the twelve of a propagator.
///
/// The source may be known, or be that of an earlier record.
fn read_record(
    input: &mut Input,
    file: &LimeFile,
    data: usize,
    dims: Dims,
    options: &ReadOptions,
    (known, last_source): (Option<Source>, &mut Option<Source>),
) -> Result<Vec<PropagatorRecord>, Error> {
    let Some(description) = file.scidac_record(input, data)? else {
        return Ok(Vec::new());
    };
    let content = match description.content {
        Some(Content::Propagator) => Content::Propagator,
        _ => Content::Spinor,
    };
    let sources = match (content, known) {
        (Content::Propagator, _) => columns::sources().to_vec(),
        (_, Some(source)) => vec![source],
        _ => Vec::from_iter(source_of(input, file, data, &description, last_source)?),
    };
    if sources.is_empty() {
        return Ok(Vec::new());
    }
    let record = &file.records[data];
    let precision = precision_of(input, record, content, dims, description.precision)?;
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

/// Returns spin and colour of the source of a solution.
///
/// The result is `None` if the record is something else.
fn source_of(
    input: &mut Input,
    file: &LimeFile,
    data: usize,
    description: &ScidacRecord,
    last_source: &mut Option<(usize, usize)>,
) -> Result<Option<(usize, usize)>, Error> {
    let Some(info) = file.describing("scidac-record-xml", data) else {
        return Ok(None);
    };
    let bad = |input: &Input, problem| lime::bad_record(input, info, problem);
    let text = lime::text(input, info)?;
    let told = metadata::parse_propagator_info(&text).map_err(|problem| bad(input, problem));
    if description.content != Some(Content::Spinor) {
        if let Ok(PropagatorInfo::Source(spin, colour)) = told {
            *last_source = Some((spin, colour));
        }
        return Ok(None);
    }
    match told? {
        PropagatorInfo::Solution(spin, colour) => Ok(Some((spin, colour))),
        PropagatorInfo::SolutionOfLastSource => last_source.map(Some).ok_or_else(|| {
            bad(input, "it has no elements <spin> and <color>, nor has a source before it".to_owned())
        }),
        PropagatorInfo::Source(spin, colour) => {
            *last_source = Some((spin, colour));
            Ok(None)
        }
        PropagatorInfo::Other => Ok(None),
    }
}
