//! The records of LIME files with fields, and their relations.
//!
//! | record | holds |
//! |---|---|
//! | `scidac-private-file-xml` | the extents |
//! | `scidac-private-record-xml` | data type and precision of the data that follow |
//! | `ildg-format` | extents and precision (ILDG) |
//! | `ildg-binary-data`, `scidac-binary-data` | links; spinors in the latter too |
//! | `scidac-checksum` | the checksum of the data before |
//! | `ildg-data-lfn` | the logical file name (ILDG) |
//!
//! Only the data are indispensable. The caller may give the extents, and the precision follows from
//! them.

use super::checkpoint;
use super::checksum::{Checksum, Method, Sums};
use super::error::{Error, ErrorKind, Position};
use super::input::{Input, ignored};
use super::lime::{self, Record, Records};
use super::metadata::{self, Content, Problem, ScidacRecord};
use crate::geometry::Dims;
use crate::scalar::Precision;
use lattice_files::text::quoted;

/// The type of records with the links of an ILDG file.
pub(super) const ILDG_DATA: &str = "ildg-binary-data";
/// The type of records with SciDAC data.
pub(super) const SCIDAC_DATA: &str = "scidac-binary-data";
/// The type of records that describe the SciDAC data behind them.
pub(super) const RECORD_HEAD: &str = "scidac-private-record-xml";
/// The type of records with the sums of the data before them.
pub(super) const CHECKSUM: &str = "scidac-checksum";

/// The sums that a file carries for some data, or the problem with reading them.
pub(super) enum StoredSums {
    Sums(Sums),
    Unreadable { text: String, problem: ErrorKind },
}

impl StoredSums {
    /// Compares the sums with those of the data.
    pub(super) fn compared(self, computed: Sums) -> (Option<Checksum>, Option<ErrorKind>) {
        match self {
            Self::Sums(stored) => (Some(Checksum::new(Method::SciDac, stored, computed)), None),
            Self::Unreadable { text, problem } => {
                (Some(Checksum::unreadable(Method::SciDac, &text, computed)), Some(problem))
            }
        }
    }
}

/// Finds the precision of a record's data by their length.
///
/// The length must be that of the lattice.
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

/// The records of a LIME file, and their relations.
pub(super) struct LimeFile {
    pub(super) records: Vec<Record>,
    rest: Option<u64>,
}

impl LimeFile {
    /// Lists the records of a file with fields.
    ///
    /// # Errors
    /// When the file is no LIME file, or holds the state of a solve.
    pub(super) fn scan(input: &mut Input) -> Result<Self, Error> {
        let Records { records, rest } = lime::records(input)?;
        if records.first().is_some_and(|record| record.kind == checkpoint::ABOUT) {
            return Err(input.error(ErrorKind::OtherFormat {
                what: "a checkpoint, or a file of modes or of a multigrid set-up",
                remedy: "name a file with links or solutions",
            }));
        }
        Ok(Self { records, rest })
    }

    /// Makes the file of these records, for tests.
    #[cfg(test)]
    pub(super) fn of_records(records: Vec<Record>) -> Self {
        Self { records, rest: None }
    }

    /// Lists the records of a file; `None` if it does not begin like a LIME file.
    pub(super) fn scan_if_lime(input: &mut Input) -> Result<Option<Self>, Error> {
        let count = input.length().min(lime::MAGIC_BYTES.len() as u64) as usize;
        match input.bytes("the beginning of the file", 0, count)? == lime::MAGIC_BYTES {
            true => Self::scan(input).map(Some),
            false => Ok(None),
        }
    }

    /// Returns a warning about bytes behind the last record, if there are some.
    pub(super) fn rest_warning(&self, input: &Input) -> Option<String> {
        self.rest.map(|byte| ignored(input.length() - byte, "the last record"))
    }

    pub(super) fn kinds(&self) -> Vec<String> {
        self.records.iter().map(|record| record.kind.clone()).collect()
    }

    /// Returns the places of the records with SciDAC data.
    pub(super) fn scidac_data(&self) -> impl Iterator<Item = usize> {
        (0..self.records.len()).filter(|&place| self.records[place].kind == SCIDAC_DATA)
    }

    pub(super) fn is_data(record: &Record) -> bool {
        record.kind == ILDG_DATA || record.kind == SCIDAC_DATA
    }

    /// Finds the nearest record of this type before the data.
    ///
    /// Records before other data are not considered.
    pub(super) fn describing(&self, kind: &str, data: usize) -> Option<&Record> {
        let before = self.records[..data].iter().rev();
        before.take_while(|record| !Self::is_data(record)).find(|record| record.kind == kind)
    }

    /// Reads the description of the data in `scidac-private-record-xml`.
    ///
    /// The result is `None` if the record is missing or cannot be understood.
    pub(super) fn scidac_record(
        &self,
        input: &mut Input,
        data: usize,
    ) -> Result<Option<ScidacRecord>, Error> {
        match self.description(input, data) {
            Err(Error { kind: ErrorKind::BadRecord { .. }, .. }) => Ok(None),
            other => other,
        }
    }

    /// Reads the description of the data in `scidac-private-record-xml`.
    ///
    /// The result is `None` if the record is missing.
    ///
    /// # Errors
    /// When the record cannot be understood.
    pub(super) fn description(&self, input: &mut Input, data: usize) -> Result<Option<ScidacRecord>, Error> {
        let Some(record) = self.describing(RECORD_HEAD, data) else {
            return Ok(None);
        };
        let text = lime::text(input, record)?;
        let bytes = self.records[data].length;
        let volume = self.scidac_dims(input).ok().map(|dims| dims.volume() as u64);
        let site_bytes = volume.filter(|volume| bytes.is_multiple_of(*volume)).map(|volume| bytes / volume);
        let description = metadata::parse_scidac_record(&text, site_bytes);
        description.map(Some).map_err(|problem| lime::bad_record(input, record, problem))
    }

    /// Reads the sums that the file carries for the data, in the record behind them.
    ///
    /// For the first data of a file, the sums may also come before: no other data can be meant.
    pub(super) fn stored_sums(&self, input: &mut Input, data: usize) -> Result<Option<StoredSums>, Error> {
        let after = self.records[data + 1..].iter().take_while(|record| !Self::is_data(record));
        let is_first = !self.records[..data].iter().any(Self::is_data);
        let before = self.records[..data].iter().rev().filter(|_| is_first);
        let Some(record) = after.chain(before).find(|record| record.kind == CHECKSUM) else {
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

    /// Reads the extents in `scidac-private-file-xml`.
    pub(super) fn scidac_dims(&self, input: &mut Input) -> Result<Dims, Error> {
        let Some(record) = self.records.iter().find(|record| record.kind == "scidac-private-file-xml") else {
            let reason = "no record ildg-format or scidac-private-file-xml says them".to_owned();
            return Err(input.error(ErrorKind::MissingExtents { reason }));
        };
        let text = lime::text(input, record)?;
        metadata::parse_scidac_file(&text).map_err(|problem| bad_extents(input, record, problem))
    }
}

/// Makes the error that a record does not tell the extents.
pub(super) fn bad_extents(input: &Input, record: &Record, problem: Problem) -> Error {
    input.error(match problem {
        Problem::Extents(source) => ErrorKind::BadExtents { position: Position::Byte(record.byte), source },
        Problem::Text(problem) => {
            let Record { kind, byte, .. } = record;
            let reason = format!("the record {kind} at byte {byte} is malformed: {}", quoted(&problem));
            ErrorKind::MissingExtents { reason }
        }
    })
}
