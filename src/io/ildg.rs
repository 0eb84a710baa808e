//! Gauge fields in LIME files: ILDG and SciDAC.
//!
//! Both hold big-endian links, x fastest, then y, z, t; four to a site, row-major. Their records:
//!
//! | record | holds |
//! |---|---|
//! | `scidac-private-file-xml` | the extents |
//! | `scidac-private-record-xml` | data type and precision of the data that follow |
//! | `ildg-format` | extents and precision (ILDG) |
//! | `ildg-binary-data`, `scidac-binary-data` | the links |
//! | `scidac-checksum` | the checksum of the data before |
//! | `ildg-data-lfn` | the logical file name (ILDG) |
//!
//! Only the data are indispensable: the extents may be given by the caller, and the precision follows from them.

use super::checksum::{Checksum, Method, Sums};
use super::error::{Error, ErrorKind, Place};
use super::format::Format;
use super::gauge_file::{GaugeFile, HeaderCheck};
use super::input::{Input, ignored, printable, quoted};
use super::lime::{self, Position, Record, Records};
use super::links::LinkLayout;
use super::metadata::{self, Content, Problem, ScidacRecord};
use super::numbers::ByteOrder;
use super::output::Output;
use super::read_options::{ReadOptions, extents};
use super::text;
use super::write_options::WriteOptions;
use crate::geometry::Dims;
use crate::host::{GaugeConfiguration, plaquette};
use crate::scalar::Precision;

/// The type of records with the links of an ILDG file.
pub(super) const ILDG_DATA: &str = "ildg-binary-data";
/// The type of records with SciDAC data.
pub(super) const SCIDAC_DATA: &str = "scidac-binary-data";

/// Reads the first gauge field of a LIME file, and why its checksum cannot be read, if so.
///
/// The checksum is compared here, and judged by the caller.
pub(super) fn read(
    input: &mut Input,
    file: &LimeFile,
    options: &ReadOptions,
) -> Result<(GaugeFile, Option<ErrorKind>), Error> {
    let mut warnings = Vec::from_iter(file.warning(input));
    let (format, data) = file.find_gauge_field(input)?;
    let (dims, declared) = file.dims_and_precision(input, format, data, options.dims, &mut warnings)?;
    let record = &file.records[data];
    let precision = precision_of(input, record, Content::Gauge, dims, declared)?;

    let stored = file.stored_sums(input, data)?;
    options.tell_extents(dims);
    let layout = LinkLayout::full(precision, ByteOrder::Big);
    let method = stored.as_ref().map(|_| Method::SciDac);
    let payload = layout.payload(dims, method, options.progress);
    let (links, computed) = layout.read(input, &payload, record.byte)?;
    let configuration = GaugeConfiguration::new(dims, links);
    let mut facts = vec![("records".into(), file.kinds().join(", "))];
    facts.extend(file.facts(input, data)?);
    let (checksum, unreadable) = match stored {
        None => (None, None),
        Some(stored) => stored.compared(computed),
    };
    let gauge_file = GaugeFile {
        header_checks: Vec::from_iter(file.plaquette_check(input, data, &configuration)),
        configuration,
        format,
        checksum,
        fields: file.records.iter().filter(|other| other.kind == record.kind).count(),
        facts,
        signs: Vec::new(),
        warnings,
    };
    Ok((gauge_file, unreadable))
}

/// The sums that a file carries for some data, or why they cannot be read.
pub(super) enum StoredSums {
    Sums(Sums),
    Unreadable { text: String, problem: ErrorKind },
}

impl StoredSums {
    /// Beside those of the data.
    pub(super) fn compared(self, computed: Sums) -> (Option<Checksum>, Option<ErrorKind>) {
        match self {
            Self::Sums(stored) => (Some(Checksum::new(Method::SciDac, stored, computed)), None),
            Self::Unreadable { text, problem } => {
                (Some(Checksum::unreadable(Method::SciDac, &text, computed)), Some(problem))
            }
        }
    }
}

/// How far a plaquette that tmLQCD notes may be from that of the links.
const NOTED_PLAQUETTE_TOLERANCE: f64 = 1e-6;

/// The precision of the data of a record: by their length, which must be that of the lattice.
pub(super) fn precision_of(
    input: &Input,
    record: &Record,
    content: Content,
    dims: Dims,
    declared: Option<Precision>,
) -> Result<Precision, Error> {
    let bytes = |precision| dims.volume() as u64 * content.site_bytes(precision) as u64;
    [Precision::Single, Precision::Double]
        .into_iter()
        .find(|&precision| bytes(precision) == record.length && declared.is_none_or(|d| d == precision))
        .ok_or_else(|| {
            input.error(ErrorKind::PayloadSize {
                byte: record.byte,
                found: record.length,
                content: content.description(),
                dims,
                single: bytes(Precision::Single),
                double: bytes(Precision::Double),
                declared,
            })
        })
}

/// The records of a LIME file, and what they say about each other.
pub(super) struct LimeFile {
    pub(super) records: Vec<Record>,
    rest: Option<u64>,
}

impl LimeFile {
    pub(super) fn scan(input: &mut Input) -> Result<Self, Error> {
        let Records { records, rest } = lime::records(input)?;
        Ok(Self { records, rest })
    }

    /// What is odd about the file as a whole.
    pub(super) fn warning(&self, input: &Input) -> Option<String> {
        self.rest.map(|byte| ignored(input.length() - byte, "the last record"))
    }

    pub(super) fn kinds(&self) -> Vec<String> {
        self.records.iter().map(|record| record.kind.clone()).collect()
    }

    /// The places of the records with SciDAC data.
    pub(super) fn scidac_data(&self) -> impl Iterator<Item = usize> {
        (0..self.records.len()).filter(|&place| self.records[place].kind == SCIDAC_DATA)
    }

    fn is_data(record: &Record) -> bool {
        record.kind == ILDG_DATA || record.kind == SCIDAC_DATA
    }

    /// The nearest record of this type before the data, though not before other data.
    pub(super) fn describing(&self, kind: &str, data: usize) -> Option<&Record> {
        let before = self.records[..data].iter().rev();
        before.take_while(|record| !Self::is_data(record)).find(|record| record.kind == kind)
    }

    /// What `scidac-private-record-xml` says of the data, if it is there and can be understood.
    pub(super) fn scidac_record(
        &self,
        input: &mut Input,
        data: usize,
    ) -> Result<Option<ScidacRecord>, Error> {
        let Some(record) = self.describing("scidac-private-record-xml", data) else {
            return Ok(None);
        };
        Ok(metadata::parse_scidac_record(&lime::text(input, record)?).ok())
    }

    /// The sums that the file carries for the data, in the record behind them.
    ///
    /// For the first data of a file they may also stand before: no other data can be meant.
    pub(super) fn stored_sums(&self, input: &mut Input, data: usize) -> Result<Option<StoredSums>, Error> {
        let after = self.records[data + 1..].iter().take_while(|record| !Self::is_data(record));
        let is_first = !self.records[..data].iter().any(Self::is_data);
        let before = self.records[..data].iter().rev().filter(|_| is_first);
        let Some(record) = after.chain(before).find(|record| record.kind == "scidac-checksum") else {
            return Ok(None);
        };
        let unreadable = |text: &str, problem: Error| StoredSums::Unreadable {
            text: text.to_owned(),
            problem: problem.kind,
        };
        Ok(Some(match lime::text(input, record) {
            Err(problem) => unreadable("unreadable", problem),
            Ok(text) => match metadata::parse_scidac_checksum(&text) {
                Ok(sums) => StoredSums::Sums(sums),
                Err(problem) => unreadable(&text, lime::bad_record(input, record, problem)),
            },
        }))
    }

    /// The plaquette that tmLQCD notes beside that of the links.
    fn plaquette_check(
        &self,
        input: &mut Input,
        data: usize,
        configuration: &GaugeConfiguration,
    ) -> Option<HeaderCheck> {
        let mut notes = self.records.iter().filter(|record| record.kind == "xlf-info");
        // Beside several fields, a note is about the one right behind it.
        let alone = self.records.iter().filter(|record| Self::is_data(record)).count() == 1;
        let record = self.describing("xlf-info", data).or_else(|| notes.next().filter(|_| alone))?;
        let text = lime::text(input, record).ok()?;
        let stored: f64 = metadata::noted_plaquette(&text)?.parse().ok()?;
        let computed = plaquette(configuration).average;
        let tolerance = NOTED_PLAQUETTE_TOLERANCE;
        let ok = (computed - stored).abs() <= tolerance;
        Some(HeaderCheck { quantity: "plaquette", stored, computed, tolerance, ok })
    }

    /// The extents in `scidac-private-file-xml`.
    pub(super) fn scidac_dims(&self, input: &mut Input) -> Result<Dims, Error> {
        let Some(record) = self.records.iter().find(|record| record.kind == "scidac-private-file-xml") else {
            let reason = "it has no record ildg-format or scidac-private-file-xml".to_owned();
            return Err(input.error(ErrorKind::MissingExtents { reason }));
        };
        let text = lime::text(input, record)?;
        metadata::parse_scidac_file(&text).map_err(|problem| bad_extents(input, record, problem))
    }

    /// The data of the first gauge field: ILDG's if there are any.
    fn find_gauge_field(&self, input: &mut Input) -> Result<(Format, usize), Error> {
        if let Some(data) = self.records.iter().position(|record| record.kind == ILDG_DATA) {
            return Ok((Format::Ildg, data));
        }
        let mut other = None;
        for data in self.scidac_data() {
            match self.scidac_record(input, data)? {
                Some(ScidacRecord { content, datatype, .. }) if content != Some(Content::Gauge) => {
                    other.get_or_insert(datatype);
                }
                _ => return Ok((Format::SciDac, data)),
            }
        }
        Err(input.error(match other {
            Some(datatype) => ErrorKind::Unsupported {
                what: format!("SciDAC data of the type {}", quoted(&datatype)),
                remedy: "a gauge field has four QDP_F3_ColorMatrix or QDP_D3_ColorMatrix to a site; so have the types \
                         QUDA_FNc3_GaugeField, QUDA_DNc3_GaugeField and Lattice",
            },
            None => ErrorKind::NoSuchRecord {
                wanted: "gauge field (a record ildg-binary-data or scidac-binary-data)",
                records: self.kinds(),
            },
        }))
    }

    /// The extents, and the precision where the file declares it.
    ///
    /// They stand in `ildg-format`. SciDAC files, and ILDG files without that record, have them in those of SciDAC.
    /// Extents that the caller gives are compared with whatever of this can be understood.
    fn dims_and_precision(
        &self,
        input: &mut Input,
        format: Format,
        data: usize,
        given: Option<Dims>,
        warnings: &mut Vec<String>,
    ) -> Result<(Dims, Option<Precision>), Error> {
        let record = self.describing("ildg-format", data).or_else(|| {
            // Some files have it at their end.
            self.records.iter().find(|record| record.kind == "ildg-format")
        });
        let (stored, declared) = match record.filter(|_| format == Format::Ildg) {
            None => {
                let declared = self.scidac_record(input, data)?.and_then(|record| record.precision);
                (self.scidac_dims(input), declared)
            }
            Some(record) => {
                let text = lime::text(input, record);
                let told = text.as_deref().map_err(|_| None).and_then(|text| {
                    metadata::parse_ildg_format(text).map_err(|_| metadata::salvaged_extents(text))
                });
                match (told, given) {
                    (Ok((dims, precision)), _) => (Ok(dims), Some(precision)),
                    // With extents from elsewhere the rest of the file may still contradict them.
                    (Err(Some(salvaged)), Some(_)) => (Ok(salvaged), None),
                    (Err(None), Some(_)) => (self.scidac_dims(input), None),
                    (Err(_), None) => {
                        let problem = metadata::parse_ildg_format(&text?).map(drop);
                        let problem = problem.err().unwrap_or_else(|| Problem::Text(String::new()));
                        return Err(bad_extents(input, record, problem));
                    }
                }
            }
        };
        if let (Err(_), Some(given)) = (&stored, given) {
            warnings.push(text::unchecked_extents(given));
        }
        Ok((extents(input, stored, given)?, declared))
    }

    /// What else the file says, for those who want to know where it comes from.
    fn facts(&self, input: &mut Input, data: usize) -> Result<Vec<(String, String)>, Error> {
        let mut facts = Vec::new();
        if let Some(date) = self.scidac_record(input, data)?.and_then(|record| record.date) {
            facts.push(("date".into(), printable(&date)));
        }
        if let Some(record) = self.describing("scidac-record-xml", data)
            && let Ok(text) = lime::text(input, record)
        {
            let description = metadata::noted(&text);
            if !description.is_empty() {
                facts.push(("description".into(), printable(&description)));
            }
        }
        if let Some(record) = self.records.iter().find(|record| record.kind == "xlf-info")
            && let Ok(text) = lime::text(input, record)
        {
            let words: Vec<_> = text.split_whitespace().collect();
            facts.push(("xlf-info".into(), printable(&words.join(" "))));
        }
        if let Some(record) = self.records.iter().find(|record| record.kind == "ildg-data-lfn")
            && let Ok(text) = lime::text(input, record)
        {
            facts.push(("lfn".into(), printable(&text)));
        }
        Ok(facts)
    }
}

/// The error that a record does not tell the extents.
fn bad_extents(input: &Input, record: &Record, problem: Problem) -> Error {
    input.error(match problem {
        Problem::Extents(source) => ErrorKind::BadExtents { place: Place::Byte(record.byte), source },
        Problem::Text(problem) => {
            let Record { kind, byte, .. } = record;
            let reason = format!("the record {kind} at byte {byte} is malformed: {}", quoted(&problem));
            ErrorKind::MissingExtents { reason }
        }
    })
}

/// Writes a configuration as ILDG or SciDAC.
pub(super) fn write(
    output: &mut Output,
    config: &GaugeConfiguration,
    options: &WriteOptions,
) -> Result<(), Error> {
    let dims = config.dims();
    let precision = options.precision.unwrap_or(config.precision());
    let is_ildg = options.format == Format::Ildg;
    let description = options.description.as_deref().unwrap_or_default();

    lime::write_text(output, "scidac-private-file-xml", Position::First, &metadata::scidac_file(dims))?;
    lime::write_text(
        output,
        "scidac-file-xml",
        Position::Last,
        &metadata::note("title", "gauge configuration"),
    )?;
    let record = metadata::scidac_record(Content::Gauge, precision);
    lime::write_text(output, "scidac-private-record-xml", Position::First, &record)?;
    lime::write_text(output, "scidac-record-xml", Position::Middle, &metadata::note("info", description))?;
    if is_ildg {
        let format = metadata::ildg_format(dims, precision);
        lime::write_text(output, "ildg-format", Position::Middle, &format)?;
    }
    let layout = LinkLayout::full(precision, ByteOrder::Big);
    let payload = layout.payload(dims, Some(Method::SciDac), options.progress);
    let kind = if is_ildg { ILDG_DATA } else { SCIDAC_DATA };
    lime::write_header(output, kind, Position::Middle, payload.bytes())?;
    let sums = layout.write(output, &payload, config)?;
    lime::write_padding(output, payload.bytes())?;
    let last = if is_ildg { Position::Middle } else { Position::Last };
    lime::write_text(output, "scidac-checksum", last, &metadata::scidac_checksum(sums))?;
    if is_ildg {
        // ILDG asks for the record, and Grid reads no file without.
        let name = || output.file_name();
        let lfn = options.lfn.clone().unwrap_or_else(name);
        lime::write_text(output, "ildg-data-lfn", Position::Last, &lfn)?;
    }
    Ok(())
}
