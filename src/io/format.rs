//! The formats of gauge configurations.

use std::fmt;
use std::str::FromStr;

/// A format of gauge configurations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// ILDG: LIME records `ildg-format` and `ildg-binary-data`, big-endian, with a SciDAC checksum.
    #[default]
    Ildg,
    /// SciDAC (QIO): LIME record `scidac-binary-data`, big-endian, with a SciDAC checksum.
    SciDac,
    /// NERSC archive: a text header and three or two rows of each link.
    Nersc,
    /// MILC version 5: a binary header and links in single precision.
    Milc,
    /// openQCD ("universal"): the links around odd points, little-endian. It is read, not written.
    OpenQcd,
    /// DDalphaAMG: all links with t slowest, little-endian. It is read, not written.
    DdAlphaAmg,
    /// One number a line, t slowest, without a header (Bridge++). It is read, not written.
    Text,
}

impl Format {
    /// Every format that is written.
    pub const ALL: [Format; 4] = [Format::Ildg, Format::SciDac, Format::Nersc, Format::Milc];

    /// The name in lower case, as the program takes and prints it.
    pub fn name(self) -> &'static str {
        match self {
            Format::Ildg => "ildg",
            Format::SciDac => "scidac",
            Format::Nersc => "nersc",
            Format::Milc => "milc",
            Format::OpenQcd => "openqcd",
            Format::DdAlphaAmg => "ddalphaamg",
            Format::Text => "text",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The name is not that of a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a format to write; these are ildg, scidac, nersc and milc")]
pub struct UnknownFormatName(pub String);

impl FromStr for Format {
    type Err = UnknownFormatName;

    fn from_str(name: &str) -> Result<Self, UnknownFormatName> {
        Format::ALL
            .into_iter()
            .find(|format| format.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| UnknownFormatName(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse(), Ok(format));
            assert_eq!(format.name().to_uppercase().parse(), Ok(format));
        }
        assert_eq!("hdf5".parse::<Format>(), Err(UnknownFormatName("hdf5".into())));
    }
}
