//! ILDG: a LIME file with links in the record `ildg-binary-data`.
//!
//! The file also has the records `ildg-format` and `ildg-data-lfn`.

use super::feature::Feature;
use super::gauge_format::{About, GaugeFormat, UncheckedGaugeFile, WrittenFormat};
use super::lime_gauge::{self, DESCRIPTION, LOGICAL_FILE_NAME};
use crate::host::GaugeConfiguration;
use crate::io::error::Error;
use crate::io::input::Input;
use crate::io::output::Output;
use crate::io::read_options::ReadOptions;
use crate::io::write_options::WriteOptions;

pub(super) struct Ildg;

impl GaugeFormat for Ildg {
    fn about(&self) -> About {
        About {
            name: "ildg",
            title: "ILDG",
            beginning: lime_gauge::BEGINNING,
            reads: "32 and 64 bits, SciDAC checksum, `usqcdInfo` and tmLQCD's `xlf-info`",
            endings: &["ildg", "lime"],
            provenance: lime_gauge::PROVENANCE,
            takes_over: &[LOGICAL_FILE_NAME, DESCRIPTION],
        }
    }

    fn recognise(&self, start: &[u8], _length: u64) -> bool {
        lime_gauge::recognise(start)
    }

    fn read(&self, input: &mut Input, options: &ReadOptions) -> Result<UncheckedGaugeFile, Error> {
        lime_gauge::read(input, options)
    }
}

impl WrittenFormat for Ildg {
    fn cannot_hold(&self) -> &'static [Feature] {
        &[Feature::LittleEndian, Feature::TwoRows]
    }

    fn write(
        &self,
        output: &mut Output,
        configuration: &GaugeConfiguration,
        options: &WriteOptions,
    ) -> Result<(), Error> {
        lime_gauge::write(output, configuration, options)
    }
}
