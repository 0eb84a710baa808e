//! The NERSC archive format: a text header, then links, four to a site, x fastest.
//!
//! The header is a row of lines `KEYWORD = value` between `BEGIN_HEADER` and `END_HEADER`. `DATATYPE` tells whether
//! two rows of each link are stored (`4D_SU3_GAUGE`) or three (`4D_SU3_GAUGE_3x3`), `FLOATING_POINT` precision and
//! byte order. `CHECKSUM`, `PLAQUETTE` and `LINK_TRACE` (Re tr / 3, averaged) are checked where they are there.
//!
//! `BOUNDARY_1` … `BOUNDARY_4` describe the fermions of the simulation; the stored links have no boundary condition in
//! them. A file that has one in its links nevertheless fails the check of the determinant.

use super::checksum::{Checksum, Method, Sums};
use super::error::{Error, ErrorKind, Place};
use super::format::Format;
use super::input::{Input, printable};
use super::links::{LinkLayout, Rows};
use super::numbers::ByteOrder;
use super::output::Output;
use super::read::{GaugeFile, HeaderCheck, ReadOptions, extents};
use super::write::WriteOptions;
use crate::host::{Dims, DimsError, GaugeConfiguration, NDIM, link_trace, plaquette};
use crate::scalar::Precision;

/// The first line of every file.
pub(super) const FIRST_LINE: &[u8] = b"BEGIN_HEADER";

const LAST_LINE: &str = "END_HEADER";

/// Headers are a few hundred bytes long; no more than this is searched for the end of one.
const LONGEST_HEADER: u64 = 64 << 10;

/// Reads a NERSC file. Its checksum, plaquette and link trace are compared, not judged.
pub(super) fn read(input: &mut Input, options: &ReadOptions) -> Result<GaugeFile, Error> {
    let header = Header::read(input)?;
    let rows = header.rows(input)?;
    let (precision, orders) = header.floating_point(input)?;
    let dims = extents(input, header.dims(input), options.dims)?;
    let stored = match header.checksum(input) {
        Err(_) if options.ignore_checksum => None,
        stored => stored?,
    };

    options.tell_extents(dims);
    let read = |input: &mut Input, order| -> Result<_, Error> {
        let method = Method::Nersc(order);
        let layout = LinkLayout { precision, order, rows };
        let payload = layout.payload(dims, stored.map(|_| method), options.progress);
        let (links, computed) = layout.read(input, &payload, header.bytes)?;
        Ok((links, stored.map(|stored| Checksum::new(method, stored, computed))))
    };
    let agrees = |checksum: &Option<Checksum>| checksum.as_ref().is_none_or(|checksum| checksum.ok);
    let mut order = orders[0];
    let (mut links, mut checksum) = read(input, order)?;
    if orders.len() > 1 && !agrees(&checksum) {
        // The other order; and the first again if that is no better. One copy of the links at a time.
        drop(links);
        order = orders[1];
        (links, checksum) = read(input, order)?;
        if !agrees(&checksum) {
            drop(links);
            order = orders[0];
            (links, checksum) = read(input, order)?;
        }
    }
    let configuration = GaugeConfiguration::new(dims, links);
    let header_checks = header.checks(input, &configuration, options)?;
    let mut facts = header.facts();
    facts.push(("byte order".into(), order.to_string()));
    Ok(GaugeFile { configuration, format: Format::Nersc, checksum, header_checks, fields: 1, facts })
}

/// One line `KEYWORD = value` of a header.
struct Entry {
    line: usize,
    text: String,
    keyword: String,
    value: String,
}

impl Entry {
    fn error(&self, input: &Input, problem: impl Into<String>) -> Error {
        let text = printable(&self.text);
        input.error(ErrorKind::BadLine { line: self.line, text, problem: problem.into() })
    }
}

struct Header {
    entries: Vec<Entry>,
    lines: usize,
    /// Its length; the links follow.
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

    /// The precision, and the byte order. Where the name does not tell the order, as in `IEEE32`, writers differ:
    /// big-endian is the custom, little-endian occurs, and the checksum decides.
    fn floating_point(&self, input: &Input) -> Result<(Precision, Vec<ByteOrder>), Error> {
        use {ByteOrder::*, Precision::*};
        let entry = self.require(input, "FLOATING_POINT")?;
        Ok(match entry.value.to_ascii_uppercase().as_str() {
            "IEEE32BIG" => (Single, vec![Big]),
            "IEEE32LITTLE" => (Single, vec![Little]),
            "IEEE32" => (Single, vec![Big, Little]),
            "IEEE64BIG" => (Double, vec![Big]),
            "IEEE64LITTLE" => (Double, vec![Little]),
            "IEEE64" => (Double, vec![Big, Little]),
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
            input.error(ErrorKind::BadExtents { place: Place::Line(lines[mu]), source })
        })
    }

    fn checksum(&self, input: &Input) -> Result<Option<Sums>, Error> {
        let Some(entry) = self.find("CHECKSUM") else {
            return Ok(None);
        };
        let digits = entry.value.trim_start_matches("0x");
        u32::from_str_radix(digits, 16)
            .map(|sum| Some([sum, 0]))
            .map_err(|_| entry.error(input, "the value is not a hexadecimal number of 32 bits"))
    }

    /// Plaquette and link trace in the header beside those of the links.
    fn checks(
        &self,
        input: &Input,
        config: &GaugeConfiguration,
        options: &ReadOptions,
    ) -> Result<Vec<HeaderCheck>, Error> {
        let mut checks = Vec::new();
        for (keyword, quantity) in [("PLAQUETTE", "plaquette"), ("LINK_TRACE", "link trace")] {
            let Some(entry) = self.find(keyword) else { continue };
            let Ok(stored) = entry.value.parse::<f64>() else {
                if options.ignore_checksum {
                    continue;
                }
                return Err(entry.error(input, "the value is not a number"));
            };
            let computed =
                if keyword == "PLAQUETTE" { plaquette(config).average } else { link_trace(config) };
            let tolerance = last_digit(&entry.value) + rounding(config.precision());
            let ok = (stored - computed).abs() <= tolerance;
            checks.push(HeaderCheck { quantity, stored, computed, tolerance, ok });
        }
        Ok(checks)
    }

    fn facts(&self) -> Vec<(String, String)> {
        self.entries.iter().map(|entry| (printable(&entry.keyword), printable(&entry.value))).collect()
    }
}

/// The value of one unit in the last printed digit of a number: 0.01 for `0.59`, 0.001 for `5.9e-2`.
fn last_digit(number: &str) -> f64 {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len()) as i32;
    10f64.powi(exponent.parse::<i32>().unwrap_or(0).saturating_sub(decimals))
}

/// How far averages differ that were computed in this precision, in another order and before the links were rounded.
fn rounding(precision: Precision) -> f64 {
    match precision {
        Precision::Single => 1e-5,
        Precision::Double => 1e-8,
    }
}

/// Writes a configuration as a NERSC file.
pub(super) fn write(
    output: &mut Output,
    config: &GaugeConfiguration,
    options: &WriteOptions,
) -> Result<(), Error> {
    let precision = options.precision.unwrap_or(config.precision());
    let order = options.byte_order.unwrap_or(ByteOrder::Big);
    let (trace, plaquette) = (link_trace(config), plaquette(config).average);
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
        if let Some(description) = &options.description {
            line("ENSEMBLE_LABEL", printable(description).trim());
        }
        line("CREATOR", concat!("lattice-cl ", env!("CARGO_PKG_VERSION")));
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

#[cfg(test)]
mod tests {
    use super::last_digit;

    #[test]
    fn the_last_printed_digit() {
        for (number, wanted) in [("0.0382422893", 1e-10), ("3.82e-02", 1e-4), ("1", 1.0), ("5.E-1", 0.1)] {
            assert!((last_digit(number) / wanted - 1.0).abs() < 1e-12, "{number}: {}", last_digit(number));
        }
    }
}
