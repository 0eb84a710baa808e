//! The NERSC archive format: a text header, then links, four to a site, x fastest.
//!
//! The header is a row of lines `KEYWORD = value` between `BEGIN_HEADER` and `END_HEADER`:
//! * `DATATYPE` tells whether two rows of each link are stored (`4D_SU3_GAUGE`) or three
//!   (`4D_SU3_GAUGE_3x3`).
//! * `FLOATING_POINT` tells precision and byte order.
//! * `CHECKSUM`, `PLAQUETTE` and `LINK_TRACE` (Re tr / 3, averaged) are checked if they are
//!   present.
//! * `BOUNDARY_1` … `BOUNDARY_4` describe the fermions of the simulation.
//!
//! A header that is written has all keywords of the archive. Grid's reader asks for some of them.
//!
//! The stored links have no boundary condition in them. A file that has one in its links
//! nevertheless fails the check of the determinant.

use super::feature::Feature;
use super::gauge_format::{About, GaugeFormat, UncheckedGaugeFile, WrittenFormat};
use super::registry::Format;
use crate::gauge::{link_trace, plaquette};
use crate::geometry::{Dims, DimsError, NDIM};
use crate::host::GaugeConfiguration;
use crate::io::checksum::{Checksum, Method, Sums, hexadecimal};
use crate::io::error::{Error, ErrorKind, Position};
use crate::io::gauge_file::GaugeFile;
use crate::io::header_check::{HeaderCheck, Observable};
use crate::io::input::Input;
use crate::io::links::{LinkLayout, Rows, given_up};
use crate::io::numbers::ByteOrder;
use crate::io::output::Output;
use crate::io::read_options::{ReadOptions, extents};
use crate::io::validate;
use crate::io::write_options::WriteOptions;
use crate::scalar::Precision;
use crate::tuning::date;
use lattice_files::text::{printable, quoted};

/// The first line of every file.
const FIRST_LINE: &[u8] = b"BEGIN_HEADER";

const LAST_LINE: &str = "END_HEADER";

/// Most bytes that are searched for the end of a header.
///
/// Headers are a few hundred bytes long.
const LONGEST_HEADER: u64 = 64 << 10;

/// The value of keywords about which a configuration says nothing.
const UNKNOWN: &str = "unknown";

pub(super) struct Nersc;

impl GaugeFormat for Nersc {
    fn about(&self) -> About {
        About {
            name: "nersc",
            title: "NERSC",
            beginning: "`BEGIN_HEADER`",
            reads: "2 or 3 rows, 32 and 64 bits, both byte orders",
            endings: &["nersc"],
            provenance: &[
                "ENSEMBLE_ID",
                "ENSEMBLE_LABEL",
                "SEQUENCE_NUMBER",
                "CREATOR",
                "CREATOR_HARDWARE",
                "CREATION_DATE",
                "ARCHIVE_DATE",
            ],
            takes_over: &[],
        }
    }

    fn recognise(&self, start: &[u8], _length: u64) -> bool {
        start.starts_with(FIRST_LINE)
    }

    fn read(&self, input: &mut Input, options: &ReadOptions) -> Result<UncheckedGaugeFile, Error> {
        let header = Header::read(input)?;
        let rows = header.rows(input)?;
        let (precision, declared) = header.floating_point(input)?;
        let dims = extents(input, header.dims(input), options.dims)?;
        let stored = header.checksum();
        let mut warnings = Vec::new();

        options.tell_extents(input, dims)?;
        let layout = |order| LinkLayout { precision, order, rows };
        let read = |input: &mut Input, order| -> Result<_, Error> {
            let method = stored.as_ref().map(|_| Method::Nersc(order));
            let (configuration, computed) = layout(order).read(input, dims, method, header.bytes, options)?;
            let checksum = stored.as_ref().map(|stored| match *stored {
                Ok(stored) => Checksum::new(Method::Nersc(order), stored, computed),
                Err(entry) => Checksum::unreadable(Method::Nersc(order), &entry.value, computed),
            });
            Ok((configuration, checksum))
        };
        // Without a sum to go by, bytes in the wrong order are far from SU(3).
        let agrees =
            |(configuration, checksum): &(GaugeConfiguration, Option<Checksum>)| match (checksum, &stored) {
                (Some(checksum), Some(Ok(_))) => checksum.ok,
                _ => {
                    validate::check_finite(configuration).is_ok()
                        && validate::check_special_unitary(configuration).is_ok()
                }
            };
        let mut order = declared.unwrap_or(ByteOrder::Big);
        let mut found = read(input, order)?;
        if !agrees(&found) && options.parts.is_some() {
            // Processes with parts may not all see it.
            return Err(given_up(input));
        }
        if !agrees(&found) {
            // The other order is tried, and the first again if the other is no better. Only one
            // copy of the links is in memory at a time.
            drop(found);
            found = read(input, order.other())?;
            if agrees(&found) {
                order = order.other();
            } else {
                drop(found);
                found = read(input, order)?;
            }
        }
        if let Some(declared) = declared.filter(|declared| *declared != order) {
            warnings.push(format!(
                "the header says {declared}-endian, but only as {order}-endian the links are right"
            ));
        }
        warnings.extend(input.rest_after(header.bytes + layout(order).payload(dims, None, None).bytes()));
        let (configuration, checksum) = found;
        let header_checks = header.checks(input, &configuration, options)?;
        let mut facts = header.facts();
        facts.push(("byte order".into(), order.to_string()));
        let unreadable_checksum = match stored {
            Some(Err(entry)) => Some(entry.problem("the value is not a hexadecimal number of 32 bits")),
            _ => None,
        };
        let file = GaugeFile {
            checksum,
            header_checks,
            facts,
            warnings,
            ..GaugeFile::new(configuration, Format::Nersc)
        };
        Ok(UncheckedGaugeFile { file, unreadable_checksum })
    }
}

impl WrittenFormat for Nersc {
    fn cannot_hold(&self) -> &'static [Feature] {
        &[Feature::LogicalFileName]
    }

    fn write(
        &self,
        output: &mut Output,
        config: &GaugeConfiguration,
        options: &WriteOptions,
    ) -> Result<(), Error> {
        let precision = options.precision.unwrap_or(config.precision());
        let order = options.byte_order.unwrap_or(ByteOrder::Big);
        let (trace, plaquette) = (link_trace(config), plaquette(config).average);
        let date = date::today();
        let header = |checksum: u32| {
            let mut header = String::from("BEGIN_HEADER\nHDR_VERSION = 1.0\n");
            let mut line = |keyword: &str, value: &str| header.push_str(&format!("{keyword} = {value}\n"));
            line(
                "DATATYPE",
                match options.rows {
                    Rows::Two => "4D_SU3_GAUGE",
                    Rows::Three => "4D_SU3_GAUGE_3x3",
                },
            );
            line("STORAGE_FORMAT", "1.0");
            for (mu, extent) in config.dims().extents().into_iter().enumerate() {
                line(&format!("DIMENSION_{}", mu + 1), &extent.to_string());
            }
            line("CHECKSUM", &format!("{checksum:08x}"));
            line("LINK_TRACE", &format!("{trace:.12}"));
            line("PLAQUETTE", &format!("{plaquette:.12}"));
            for mu in 1..=NDIM {
                line(&format!("BOUNDARY_{mu}"), "PERIODIC");
            }
            let description = options.description.as_deref().map(printable).unwrap_or_default();
            // Grid reads no file without a number in the sequence, and the archive asks for the
            // other lines.
            line("ENSEMBLE_ID", UNKNOWN);
            line(
                "ENSEMBLE_LABEL",
                Some(description.trim()).filter(|text| !text.is_empty()).unwrap_or(UNKNOWN),
            );
            line("SEQUENCE_NUMBER", "1");
            line("CREATOR", concat!("lattice-cl ", env!("CARGO_PKG_VERSION")));
            line("CREATOR_HARDWARE", std::env::consts::ARCH);
            line("CREATION_DATE", &date);
            line("ARCHIVE_DATE", &date);
            line("FLOATING_POINT", &format!("IEEE{}{}", precision.bits(), order.to_string().to_uppercase()));
            header.push_str("END_HEADER\n");
            header
        };
        output.write(header(0).as_bytes())?;
        let layout = LinkLayout { precision, order, rows: options.rows };
        let payload = layout.payload(config.dims(), Some(Method::Nersc(order)), options.progress);
        let [checksum, _] = layout.write(output, &payload, config)?;
        // The checksum has a fixed width: the header is as long as before.
        output.seek(0)?;
        output.write(header(checksum).as_bytes())
    }
}

/// One line `KEYWORD = value` of a header.
struct Entry {
    line: usize,
    text: String,
    keyword: String,
    value: String,
}

impl Entry {
    fn problem(&self, problem: impl Into<String>) -> ErrorKind {
        ErrorKind::BadLine { line: self.line, text: quoted(&self.text), problem: problem.into() }
    }

    fn error(&self, input: &Input, problem: impl Into<String>) -> Error {
        input.error(self.problem(problem))
    }
}

struct Header {
    entries: Vec<Entry>,
    lines: usize,
    /// The length of the header, in front of the links.
    bytes: u64,
}

impl Header {
    fn read(input: &mut Input) -> Result<Self, Error> {
        let searched = input.length().min(LONGEST_HEADER);
        let bytes = input.bytes("the header of a NERSC file", 0, searched as usize)?;
        let mut header = Header { entries: Vec::new(), lines: 0, bytes: 0 };
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            header.lines += 1;
            header.bytes += line.len() as u64;
            let text = String::from_utf8_lossy(line).trim().to_owned();
            if text == LAST_LINE && line.ends_with(b"\n") {
                return Ok(header);
            }
            if let Some((keyword, value)) = text.split_once('=') {
                let (keyword, value) = (keyword.trim().to_owned(), value.trim().to_owned());
                header.entries.push(Entry { line: header.lines, text, keyword, value });
            }
        }
        Err(input.error(ErrorKind::MissingKeyword { keyword: LAST_LINE.into(), lines: header.lines }))
    }

    fn find(&self, keyword: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.keyword == keyword)
    }

    fn require(&self, input: &Input, keyword: &str) -> Result<&Entry, Error> {
        self.find(keyword).ok_or_else(|| {
            input.error(ErrorKind::MissingKeyword { keyword: keyword.to_owned(), lines: self.lines })
        })
    }

    fn rows(&self, input: &Input) -> Result<Rows, Error> {
        let entry = self.require(input, "DATATYPE")?;
        match entry.value.as_str() {
            "4D_SU3_GAUGE" => Ok(Rows::Two),
            "4D_SU3_GAUGE_3x3" | "4D_SU3_GAUGE_3X3" => Ok(Rows::Three),
            _ => Err(entry.error(input, "the data types known are 4D_SU3_GAUGE and 4D_SU3_GAUGE_3x3")),
        }
    }

    /// Reads the precision, and the byte order if the name tells it.
    ///
    /// `IEEE32` and `IEEE64` do not tell the byte order. Big-endian is the custom. Little-endian
    /// data and wrong names occur too, so the data decide.
    fn floating_point(&self, input: &Input) -> Result<(Precision, Option<ByteOrder>), Error> {
        use {ByteOrder::*, Precision::*};
        let entry = self.require(input, "FLOATING_POINT")?;
        Ok(match entry.value.to_ascii_uppercase().as_str() {
            "IEEE32BIG" => (Single, Some(Big)),
            "IEEE32LITTLE" => (Single, Some(Little)),
            "IEEE32" => (Single, None),
            "IEEE64BIG" => (Double, Some(Big)),
            "IEEE64LITTLE" => (Double, Some(Little)),
            "IEEE64" => (Double, None),
            _ => {
                let known = "the formats known are IEEE32 and IEEE64, each also with BIG or LITTLE";
                return Err(entry.error(input, known));
            }
        })
    }

    fn dims(&self, input: &Input) -> Result<Dims, Error> {
        let mut extents = [0; NDIM];
        let mut lines = [0; NDIM];
        for mu in 0..NDIM {
            let keyword = format!("DIMENSION_{}", mu + 1);
            let Some(entry) = self.find(&keyword) else {
                let reason = format!("its header has no {keyword}");
                return Err(input.error(ErrorKind::MissingExtents { reason }));
            };
            extents[mu] =
                entry.value.parse().map_err(|_| entry.error(input, "the value is not a whole number"))?;
            lines[mu] = entry.line;
        }
        Dims::new(extents).map_err(|source| {
            let mu = match source {
                DimsError::NotEven { direction, .. } => {
                    (0..NDIM).find(|&mu| Dims::direction_name(mu) == direction).unwrap_or(0)
                }
                _ => 0,
            };
            input.error(ErrorKind::BadExtents { position: Position::Line(lines[mu]), source })
        })
    }

    /// Returns the sum, or the entry that should hold it.
    fn checksum(&self) -> Option<Result<Sums, &Entry>> {
        let entry = self.find("CHECKSUM")?;
        Some(hexadecimal(&entry.value).map(|sum| [sum, 0]).ok_or(entry))
    }

    /// Compares plaquette and link trace in the header with those of the links.
    fn checks(
        &self,
        input: &Input,
        config: &GaugeConfiguration,
        options: &ReadOptions,
    ) -> Result<Vec<HeaderCheck>, Error> {
        let mut checks = Vec::new();
        for (keyword, observable) in
            [("PLAQUETTE", Observable::Plaquette), ("LINK_TRACE", Observable::LinkTrace)]
        {
            let Some(entry) = self.find(keyword) else { continue };
            match observable.check_text(&entry.value, 0.0, config) {
                Some(check) => checks.push(check),
                None if options.ignore_checksum => {}
                None => return Err(entry.error(input, "the value is not a number")),
            }
        }
        Ok(checks)
    }

    fn facts(&self) -> Vec<(String, String)> {
        let told = self.entries.iter().filter(|entry| entry.value != UNKNOWN);
        told.map(|entry| (printable(&entry.keyword), printable(&entry.value))).collect()
    }
}
