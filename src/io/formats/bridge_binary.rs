//! Bridge++ binary: the links of ILDG without anything around them.
//!
//! The numbers are big-endian, x fastest, then y, z, t, four links to a site, row-major. The caller
//! names the format and gives the extents. The size tells the precision.

use super::feature::Feature;
use super::gauge_format::{About, GaugeFormat, UncheckedGaugeFile, WrittenFormat};
use super::registry::Format;
use crate::host::GaugeConfiguration;
use crate::io::error::{Error, ErrorKind};
use crate::io::gauge_file::GaugeFile;
use crate::io::input::Input;
use crate::io::links::LinkLayout;
use crate::io::numbers::ByteOrder;
use crate::io::output::Output;
use crate::io::read_options::{ReadOptions, unchecked_extents};
use crate::io::write_options::WriteOptions;
use crate::scalar::Precision;

pub(super) struct BridgeBinary;

impl GaugeFormat for BridgeBinary {
    fn about(&self) -> About {
        About {
            name: "bridge-binary",
            title: "Bridge++ binary",
            beginning: "any number, so that the format must be named",
            reads: "with its name and `--dims`, 32 and 64 bits",
            endings: &["bridge-binary"],
            provenance: &[],
            takes_over: &[],
        }
    }

    fn recognise(&self, _start: &[u8], _length: u64) -> bool {
        false
    }

    fn is_known_by_name_alone(&self) -> bool {
        true
    }

    fn read(&self, input: &mut Input, options: &ReadOptions) -> Result<UncheckedGaugeFile, Error> {
        let Some(dims) = options.dims else {
            let reason = "files of the format bridge-binary are numbers without a header".to_owned();
            return Err(input.error(ErrorKind::MissingExtents { reason }));
        };
        let payload =
            |precision| LinkLayout::full(precision, ByteOrder::Big).payload(dims, None, options.progress);
        let [single, double] =
            [Precision::Single, Precision::Double].map(|precision| payload(precision).bytes());
        let precision = match input.length() {
            length if length == single => Precision::Single,
            length if length == double => Precision::Double,
            found => {
                let content = "the links";
                let declared = None;
                return Err(input.error(ErrorKind::PayloadSize {
                    byte: 0,
                    found,
                    content,
                    dims,
                    single,
                    double,
                    declared,
                }));
            }
        };
        options.tell_extents(input, dims)?;
        let layout = LinkLayout::full(precision, ByteOrder::Big);
        let (configuration, _) = layout.read(input, dims, None, 0, options)?;
        Ok(UncheckedGaugeFile::from(GaugeFile {
            warnings: vec![unchecked_extents(dims)],
            ..GaugeFile::new(configuration, Format::BridgeBinary)
        }))
    }
}

impl WrittenFormat for BridgeBinary {
    fn cannot_hold(&self) -> &'static [Feature] {
        &[Feature::LittleEndian, Feature::TwoRows, Feature::LogicalFileName]
    }

    fn write(
        &self,
        output: &mut Output,
        configuration: &GaugeConfiguration,
        options: &WriteOptions,
    ) -> Result<(), Error> {
        let precision = options.precision.unwrap_or(configuration.precision());
        let layout = LinkLayout::full(precision, ByteOrder::Big);
        let payload = layout.payload(configuration.dims(), None, options.progress);
        layout.write(output, &payload, configuration).map(drop)
    }
}
