//! The features that options may ask for and some formats lack.

use super::registry::Format;
use crate::io::links::Rows;
use crate::io::numbers::ByteOrder;
use crate::io::write_options::WriteOptions;
use crate::scalar::Precision;
use lattice_files::words::sentence;
use std::sync::LazyLock;

/// A feature that a format may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::io) enum Feature {
    SinglePrecision,
    DoublePrecision,
    BigEndian,
    LittleEndian,
    TwoRows,
    LogicalFileName,
}

impl Feature {
    /// All features, in the order in which they are checked.
    pub(super) const ALL: [Self; 6] = [
        Self::SinglePrecision,
        Self::DoublePrecision,
        Self::BigEndian,
        Self::LittleEndian,
        Self::TwoRows,
        Self::LogicalFileName,
    ];

    /// Tells whether the options ask for the feature.
    pub(super) fn is_asked_for(self, options: &WriteOptions) -> bool {
        match self {
            Self::SinglePrecision => options.precision == Some(Precision::Single),
            Self::DoublePrecision => options.precision == Some(Precision::Double),
            Self::BigEndian => options.byte_order == Some(ByteOrder::Big),
            Self::LittleEndian => options.byte_order == Some(ByteOrder::Little),
            Self::TwoRows => options.rows == Rows::Two,
            Self::LogicalFileName => options.lfn.is_some(),
        }
    }

    /// Returns the name of the feature: the end of the sentence "the format has no".
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::SinglePrecision => "single precision",
            Self::DoublePrecision => "double precision",
            Self::BigEndian => "big-endian form",
            Self::LittleEndian => "little-endian form",
            Self::TwoRows => "form with two rows",
            Self::LogicalFileName => "logical file name",
        }
    }

    /// Returns the remedy if a format lacks the feature.
    ///
    /// The remedy names the formats that have the feature.
    pub(super) fn remedy(self) -> &'static str {
        static REMEDIES: LazyLock<[String; 6]> = LazyLock::new(|| {
            Feature::ALL.map(|feature| {
                let without = match feature {
                    Feature::SinglePrecision | Feature::DoublePrecision => "leave the precision out",
                    Feature::BigEndian | Feature::LittleEndian => "leave the byte order out",
                    Feature::TwoRows => "write all three",
                    Feature::LogicalFileName => "leave it out",
                };
                let with = Format::ALL.into_iter().filter(|format| format.has(feature));
                let names: Vec<&str> = with.map(Format::name).collect();
                format!("{without}, or choose {}", sentence(&names, "or"))
            })
        });
        &REMEDIES[self as usize]
    }
}
