//! MILC version 5: a binary header, then links in single precision.
//!
//! The links come four to a site, x fastest.
//!
//! | byte | holds |
//! |---|---|
//! | 0 | the number 20103, 32 bits, which also tells the byte order |
//! | 4 | the extents x, y, z, t, 32 bits each |
//! | 20 | a time stamp of 64 characters |
//! | 84 | the order of the sites, 32 bits: 0 is lexicographic |
//! | 88 | the sums modulo 29 and 31, 32 bits each |
//! | 96 | the links |

use super::feature::Feature;
use super::gauge_format::{About, GaugeFormat, UncheckedGaugeFile, WrittenFormat};
use super::registry::Format;
use crate::geometry::Dims;
use crate::host::GaugeConfiguration;
use crate::io::checksum::{Checksum, Method, Sums};
use crate::io::error::{Error, ErrorKind, Position};
use crate::io::gauge_file::GaugeFile;
use crate::io::input::Input;
use crate::io::links::LinkLayout;
use crate::io::numbers::ByteOrder;
use crate::io::output::Output;
use crate::io::read_options::{ReadOptions, extents};
use crate::io::write_options::WriteOptions;
use crate::scalar::Precision;
use lattice_files::text::printable;

const MAGIC: u32 = 20103;
const HEADER: usize = 96;
const TIME_STAMP: std::ops::Range<usize> = 20..84;
const SITE_ORDER: usize = 84;
const SUMS: usize = 88;

pub(super) struct Milc;

impl GaugeFormat for Milc {
    fn about(&self) -> About {
        About {
            name: "milc",
            title: "MILC",
            beginning: "the number 20103",
            reads: "32 bits, both byte orders",
            endings: &["milc"],
            provenance: &["date"],
            takes_over: &[],
        }
    }

    fn recognise(&self, start: &[u8], _length: u64) -> bool {
        byte_order(start).is_some()
    }

    fn read(&self, input: &mut Input, options: &ReadOptions) -> Result<UncheckedGaugeFile, Error> {
        let header: [u8; HEADER] = input.array("the header of a MILC file", 0)?;
        let order = byte_order(&header).unwrap_or(ByteOrder::Big);
        let word = |at: usize| order.u32(&header[at..]);
        let stored = Dims::new([4, 8, 12, 16].map(|at| word(at) as usize))
            .map_err(|source| input.error(ErrorKind::BadExtents { position: Position::Byte(4), source }));
        let dims = extents(input, stored, options.dims)?;
        if word(SITE_ORDER) != 0 {
            return Err(input.error(ErrorKind::Unsupported {
                what: format!("the site order {} (byte {SITE_ORDER}) of MILC files", word(SITE_ORDER)),
                remedy: "write the file again in serial order, with MILC itself",
            }));
        }
        options.tell_extents(input, dims)?;
        let method = Method::Milc(order);
        let layout = LinkLayout::full(Precision::Single, order);
        let payload = layout.payload(dims, Some(method), options.progress);
        let (configuration, computed) = layout.read(input, dims, Some(method), HEADER as u64, options)?;
        let stamp = String::from_utf8_lossy(&header[TIME_STAMP]);
        Ok(UncheckedGaugeFile::from(GaugeFile {
            checksum: Some(Checksum::new(method, [word(SUMS), word(SUMS + 4)], computed)),
            facts: vec![
                ("byte order".into(), order.to_string()),
                ("date".into(), printable(stamp.trim_matches(|c: char| c == '\0' || c.is_whitespace()))),
            ],
            warnings: Vec::from_iter(input.rest_after(HEADER as u64 + payload.bytes())),
            ..GaugeFile::new(configuration, Format::Milc)
        }))
    }
}

impl WrittenFormat for Milc {
    fn cannot_hold(&self) -> &'static [Feature] {
        &[Feature::DoublePrecision, Feature::TwoRows, Feature::LogicalFileName]
    }

    fn write(
        &self,
        output: &mut Output,
        config: &GaugeConfiguration,
        options: &WriteOptions,
    ) -> Result<(), Error> {
        let order = options.byte_order.unwrap_or(ByteOrder::Little);
        let header = |sums: Sums| {
            let mut header = [0; HEADER];
            let mut put = |at: usize, value: u32| header[at..at + 4].copy_from_slice(&order.u32_bytes(value));
            put(0, MAGIC);
            for (mu, extent) in config.dims().extents().into_iter().enumerate() {
                // A lattice that fits in memory has no extent beyond 32 bits.
                put(4 + 4 * mu, extent as u32);
            }
            put(SUMS, sums[0]);
            put(SUMS + 4, sums[1]);
            let description = options.description.as_deref().unwrap_or_default();
            // The last byte stays zero, because readers take the text for a C string.
            for (to, from) in header[TIME_STAMP][..63].iter_mut().zip(description.bytes()) {
                *to = from;
            }
            header
        };
        output.write(&header(Method::NOTHING))?;
        let layout = LinkLayout::full(Precision::Single, order);
        let payload = layout.payload(config.dims(), Some(Method::Milc(order)), options.progress);
        let sums = layout.write(output, &payload, config)?;
        output.seek(0)?;
        output.write(&header(sums))
    }
}

/// Returns the byte order of a MILC file that begins with these bytes.
///
/// The result is `None` if the bytes do not begin a MILC file.
fn byte_order(start: &[u8]) -> Option<ByteOrder> {
    let first: [u8; 4] = start.first_chunk().copied()?;
    [ByteOrder::Big, ByteOrder::Little].into_iter().find(|order| order.u32(&first) == MAGIC)
}
