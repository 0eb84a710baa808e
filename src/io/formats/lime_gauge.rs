//! Gauge fields in LIME files, the common part of ILDG and SciDAC.
//!
//! Links are big-endian, x fastest, then y, z, t; four to a site, row-major. A file with the record
//! `ildg-binary-data` is ILDG.

use super::gauge_format::UncheckedGaugeFile;
use super::registry::Format;
use crate::geometry::Dims;
use crate::host::GaugeConfiguration;
use crate::io::checksum::Method;
use crate::io::error::{Error, ErrorKind};
use crate::io::gauge_file::GaugeFile;
use crate::io::header_check::{HeaderCheck, Observable};
use crate::io::input::Input;
use crate::io::lime::{self, Position};
use crate::io::lime_file::{ILDG_DATA, LimeFile, SCIDAC_DATA, bad_extents, precision_of};
use crate::io::links::LinkLayout;
use crate::io::metadata::{self, Content, IldgFormat, Problem, ScidacRecord};
use crate::io::numbers::ByteOrder;
use crate::io::output::Output;
use crate::io::read_options::{ReadOptions, extents, unchecked_extents};
use crate::io::write_options::WriteOptions;
use crate::scalar::Precision;
use lattice_files::text::{printable, quoted};

/// The beginning of files, for messages.
pub(super) const BEGINNING: &str = "the bytes 45 67 89 ab of LIME";

/// The name of the fact with the logical file name.
pub(super) const LOGICAL_FILE_NAME: &str = "lfn";

/// The name of the fact with a description in free text.
pub(super) const DESCRIPTION: &str = "description";

/// Facts of these files that tell the origin of a configuration.
pub(super) const PROVENANCE: &[&str] = &[LOGICAL_FILE_NAME, DESCRIPTION, "date", "xlf-info"];

/// Tells whether a file begins with a LIME record.
pub(super) fn recognise(start: &[u8]) -> bool {
    start.starts_with(&lime::MAGIC_BYTES)
}

/// Reads the first gauge field of a LIME file.
///
/// If the file's checksum cannot be read, the result has the reason. The checksum is compared here,
/// and judged by the caller.
pub(super) fn read(input: &mut Input, options: &ReadOptions) -> Result<UncheckedGaugeFile, Error> {
    let file = LimeFile::scan(input)?;
    let mut warnings = Vec::from_iter(file.rest_warning(input));
    warnings.extend(file.stray_warnings(|_| true));
    let (format, data) = file.find_gauge_field(input)?;
    let (dims, declared) = file.dims_and_precision(input, format, data, options.dims, &mut warnings)?;
    let record = &file.records[data];
    let precision = precision_of(input, record, Content::Gauge, dims, declared)?;

    let stored = file.stored_sums(input, data)?;
    options.tell_extents(input, dims)?;
    let layout = LinkLayout::full(precision, ByteOrder::Big);
    let method = stored.as_ref().map(|_| Method::SciDac);
    let (configuration, computed) = layout.read(input, dims, method, record.byte, options)?;
    let mut facts = vec![("records".into(), file.kinds().join(", "))];
    facts.extend(file.facts(input, data)?);
    let (checksum, unreadable_checksum) = match stored {
        None => (None, None),
        Some(stored) => stored.compared(computed),
    };
    let file = GaugeFile {
        header_checks: file.header_checks(input, data, &configuration, options)?,
        configuration,
        format,
        checksum,
        fields: file.records.iter().filter(|other| other.kind == record.kind).count(),
        facts,
        signs: Vec::new(),
        warnings,
    };
    Ok(UncheckedGaugeFile { file, unreadable_checksum })
}

/// Allowed difference of averages that programs state, besides that of rounding.
///
/// Some programs add up the averages in single precision.
const STATED_TOLERANCE: f64 = 1e-6;

impl LimeFile {
    /// Compares plaquette and link trace that the file states with those of the links.
    ///
    /// tmLQCD states the plaquette in `xlf-info`; MILC, QIO and Grid state both in `usqcdInfo`.
    fn header_checks(
        &self,
        input: &mut Input,
        data: usize,
        configuration: &GaugeConfiguration,
        options: &ReadOptions,
    ) -> Result<Vec<HeaderCheck>, Error> {
        let mut checks = Vec::new();
        let mut notes = self.records.iter().filter(|record| record.kind == "xlf-info");
        // In a file with several fields, a note is about the field right behind it.
        let alone = self.records.iter().filter(|record| Self::is_data(record)).count() == 1;
        let note = self.describing("xlf-info", data).or_else(|| notes.next().filter(|_| alone));
        if let Some(text) = note.and_then(|record| lime::text(input, record).ok())
            && let Some(stated) = metadata::noted_plaquette(&text)
        {
            checks.extend(Observable::Plaquette.check_text(stated, STATED_TOLERANCE, configuration));
        }
        if let Some(record) = self.describing("scidac-record-xml", data)
            && let Ok(text) = lime::text(input, record)
        {
            let stated = metadata::usqcd_observables(&text);
            for (observable, stated) in [Observable::Plaquette, Observable::LinkTrace].into_iter().zip(stated)
            {
                let Some(stated) = stated else { continue };
                match observable.check_text(&stated, STATED_TOLERANCE, configuration) {
                    Some(check) => checks.push(check),
                    None if options.ignore_checksum => {}
                    None => {
                        let problem = format!("`{stated}` is not a number");
                        return Err(lime::bad_record(input, record, problem));
                    }
                }
            }
        }
        Ok(checks)
    }

    /// Finds the data of the first gauge field: ILDG data if there are any.
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
                remedy: "a gauge field has 288 or 576 bytes to a site, typesize times datacount",
            },
            None => ErrorKind::NoSuchRecord {
                wanted: "gauge field (a record ildg-binary-data or scidac-binary-data)",
                records: self.kinds(),
            },
        }))
    }

    /// Returns the extents, and the precision if the file declares it.
    ///
    /// ILDG files have extents and precision in the record `ildg-format`. SciDAC files, and ILDG
    /// files whose record lacks them, have them in the records of SciDAC. Extents that the caller gives
    /// are compared with all of these that can be understood.
    fn dims_and_precision(
        &self,
        input: &mut Input,
        format: Format,
        data: usize,
        given: Option<Dims>,
        warnings: &mut Vec<String>,
    ) -> Result<(Dims, Option<Precision>), Error> {
        let record = self.describing("ildg-format", data).or_else(|| {
            // Some files have this record at their end.
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
                    (Ok(IldgFormat { dims: Some(dims), precision }), _) => (Ok(dims), precision),
                    (Ok(IldgFormat { dims: None, precision }), _) => (self.scidac_dims(input), precision),
                    // The rest of the file may still contradict extents from elsewhere.
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
            warnings.push(unchecked_extents(given));
        }
        Ok((extents(input, stored, given)?, declared))
    }

    /// Returns other facts in the file about the origin of the configuration.
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
                facts.push((DESCRIPTION.into(), printable(&description)));
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
            facts.push((LOGICAL_FILE_NAME.into(), printable(&text)));
        }
        Ok(facts)
    }
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
