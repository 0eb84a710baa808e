//! SciDAC (QIO): a LIME file with the record `scidac-binary-data`.

use super::feature::Feature;
use super::gauge_format::{About, GaugeFormat, UncheckedGaugeFile, WrittenFormat};
use super::lime_gauge::{self, DESCRIPTION};
use crate::host::GaugeConfiguration;
use crate::io::error::Error;
use crate::io::input::Input;
use crate::io::output::Output;
use crate::io::read_options::ReadOptions;
use crate::io::write_options::WriteOptions;

pub(super) struct SciDac;

impl GaugeFormat for SciDac {
    fn about(&self) -> About {
        About {
            name: "scidac",
            title: "SciDAC",
            beginning: lime_gauge::BEGINNING,
            reads: "32 and 64 bits, also QUDA's and old QDP++'s data types, `usqcdInfo`",
            endings: &["scidac"],
            provenance: lime_gauge::PROVENANCE,
            takes_over: &[DESCRIPTION],
        }
    }

    fn recognise(&self, start: &[u8], _length: u64) -> bool {
        lime_gauge::recognise(start)
    }

    fn read(&self, input: &mut Input, options: &ReadOptions) -> Result<UncheckedGaugeFile, Error> {
        lime_gauge::read(input, options)
    }
}

impl WrittenFormat for SciDac {
    fn cannot_hold(&self) -> &'static [Feature] {
        &[Feature::LittleEndian, Feature::TwoRows, Feature::LogicalFileName]
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
