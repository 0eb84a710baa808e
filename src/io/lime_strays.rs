//! Records of LIME files that belong to nothing.
//!
//! A bit that flips in the header of a record makes another record of it, and takes it from the
//! data that it belongs to. So each record is either understood or named.

use super::lime::Record;
use super::lime_file::{CHECKSUM, ILDG_DATA, LimeFile, RECORD_HEAD, SCIDAC_DATA};

/// Types of records that are read, or known to say nothing about the numbers of a field.
///
/// QIO, Grid and tmLQCD write them.
const KNOWN: [&str; 24] = [
    "scidac-private-file-xml",
    "scidac-file-xml",
    RECORD_HEAD,
    "scidac-record-xml",
    "scidac-sitelist",
    SCIDAC_DATA,
    CHECKSUM,
    "ildg-format",
    ILDG_DATA,
    "ildg-data-lfn",
    "xlf-info",
    "grid-format",
    "FieldNormMetaData",
    "propagator-type",
    "source-type",
    "inverter-info",
    "creation-info",
    "propagator-info",
    "source-info",
    "etmc-propagator-type",
    "etmc-propagator-format",
    "etmc-source-type",
    "etmc-source-format",
    "propagator-format",
];

/// Most records that warnings name.
const MOST_NAMED: usize = 8;

/// A record that belongs to nothing.
pub(super) struct Stray<'a> {
    pub(super) record: &'a Record,
    pub(super) why: Why,
}

/// The reason why a record belongs to nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    UnknownType,
    DataWithoutHead,
    HeadWithoutData,
    SumWithoutData,
    EndsTooEarly,
}

impl Why {
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::UnknownType => "its type is not known, and it is not read",
            Self::DataWithoutHead => "no record scidac-private-record-xml before it describes its data",
            Self::HeadWithoutData => "no record with the data that it describes follows it",
            Self::SumWithoutData => "no data are before it whose sum it could be",
            Self::EndsTooEarly => {
                "bytes other than zeros fill the space behind it, so its length may be wrong"
            }
        }
    }

    /// Tells whether data may be missing for this reason.
    pub(super) fn concerns_data(self) -> bool {
        matches!(self, Self::DataWithoutHead | Self::HeadWithoutData)
    }
}

impl LimeFile {
    /// Lists the records that belong to nothing, in the order of the file.
    pub(super) fn strays(&self) -> Vec<Stray<'_>> {
        let mut strays = Vec::new();
        let mut head: Option<&Record> = None;
        let (mut some_data, mut early_sum, mut lacks_sum) = (false, false, false);
        for record in &self.records {
            let mut add = |record, why| strays.push(Stray { record, why });
            if record.is_longer {
                add(record, Why::EndsTooEarly);
            }
            let kind = record.kind.as_str();
            if Self::is_data(record) {
                if kind == SCIDAC_DATA && head.is_none() {
                    add(record, Why::DataWithoutHead);
                }
                head = None;
                lacks_sum = some_data || !early_sum;
                some_data = true;
            } else if kind == RECORD_HEAD {
                if let Some(earlier) = head.replace(record) {
                    add(earlier, Why::HeadWithoutData);
                }
            } else if kind == CHECKSUM {
                match (some_data, lacks_sum, early_sum) {
                    (true, true, _) => lacks_sum = false,
                    (false, _, false) => early_sum = true,
                    _ => add(record, Why::SumWithoutData),
                }
            } else if !KNOWN.contains(&kind) {
                add(record, Why::UnknownType);
            }
        }
        strays.extend(head.map(|record| Stray { record, why: Why::HeadWithoutData }));
        strays
    }

    /// Returns warnings about records that belong to nothing.
    pub(super) fn stray_warnings(&self, concern: impl Fn(Why) -> bool) -> Vec<String> {
        let mut strays = self.strays();
        strays.retain(|stray| concern(stray.why));
        let named = strays.iter().take(MOST_NAMED).map(|Stray { record, why }| {
            format!("the record {} at byte {} may be damaged: {}", record.kind, record.byte, why.text())
        });
        let more = strays.len().checked_sub(MOST_NAMED).filter(|&more| more > 0);
        named.chain(more.map(|more| format!("{more} more records may be damaged"))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strays(kinds: &[&str]) -> Vec<(usize, &'static str)> {
        let records = kinds.iter().enumerate().map(|(place, kind)| Record {
            kind: (*kind).to_owned(),
            byte: place as u64,
            length: 0,
            is_longer: false,
        });
        let file = LimeFile::of_records(records.collect());
        let strays = file.strays();
        strays.iter().map(|stray| (stray.record.byte as usize, stray.why.text())).collect()
    }

    #[test]
    fn whole_messages_have_no_strays() {
        let message = [RECORD_HEAD, "scidac-record-xml", SCIDAC_DATA, CHECKSUM];
        let ildg = ["ildg-format", "ildg-binary-data", CHECKSUM, "ildg-data-lfn"];
        for kinds in [
            vec![],
            message.to_vec(),
            [message, message].concat(),
            ildg.to_vec(),
            [&[CHECKSUM], &ildg[..2]].concat(),
            [&[CHECKSUM], &ildg[..2], &message[..]].concat(),
            [&message[..3], &message[..]].concat(),
        ] {
            assert_eq!(strays(&kinds), [], "{kinds:?}");
        }
    }

    #[test]
    fn records_without_their_partners_are_named() {
        for (kinds, place, why) in [
            (vec![SCIDAC_DATA, CHECKSUM], 0, Why::DataWithoutHead),
            (vec![RECORD_HEAD], 0, Why::HeadWithoutData),
            (vec![RECORD_HEAD, RECORD_HEAD, SCIDAC_DATA], 0, Why::HeadWithoutData),
            (vec![RECORD_HEAD, SCIDAC_DATA, CHECKSUM, CHECKSUM], 3, Why::SumWithoutData),
            (vec![CHECKSUM, RECORD_HEAD, SCIDAC_DATA, CHECKSUM], 3, Why::SumWithoutData),
            (vec![CHECKSUM, CHECKSUM], 1, Why::SumWithoutData),
            (vec!["ildg-formau"], 0, Why::UnknownType),
        ] {
            assert_eq!(strays(&kinds), [(place, why.text())], "{kinds:?}");
        }
    }
}
