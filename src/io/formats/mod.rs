//! The formats of gauge configurations, one file for each.
//!
//! A format implements [`GaugeFormat`], and [`WrittenFormat`] if it can be written. [`registry`]
//! has a line for each format. Recognition, the names on the command line, help, messages and the
//! table in `docs/conventions.md` follow from that line.
//!
//! Some things do not fit, and stay apart:
//! * A LIME file may hold solutions of the Dirac equation instead of links.
//!   [`inspect`](super::inspect) asks that first.
//! * ILDG and SciDAC are one container (`lime_gauge`). openQCD and DDalphaAMG have the same header
//!   (`universal`). The first format of each pair recognises and reads both.
//! * NPY and PyQUDA's HDF5 have the links of one direction after the other (`by_direction`).
//! * Pipes do not depend on formats: [`Input`](super::input::Input) makes files of them.

mod bridge_binary;
mod bridge_text;
mod by_direction;
mod ddalphaamg;
mod feature;
mod gauge_format;
mod ildg;
mod lime_gauge;
mod milc;
mod names;
mod nersc;
mod npy;
mod openqcd;
mod pyquda_hdf5;
mod recognition;
mod registry;
mod scidac;
mod universal;

pub use names::UnknownFormatName;
pub use registry::Format;

pub(super) use gauge_format::UncheckedGaugeFile;
pub(super) use recognition::{holds_configuration, other_kind, recognise};

use super::error::ErrorKind;
use super::write_options::WriteOptions;
use feature::Feature;
use gauge_format::{GaugeFormat, WrittenFormat};
use registry::every_format;

macro_rules! implementations {
    (
        written { $($(#[$about:meta])* $written:ident = $file:ident,)* }
        only_read { $($(#[$about_read:meta])* $read:ident = $file_read:ident,)* }
    ) => {
        impl Format {
            /// Returns the reader of the format.
            pub(super) fn reader(self) -> &'static dyn GaugeFormat {
                match self {
                    $(Format::$written => &$file::$written,)*
                    $(Format::$read => &$file_read::$read,)*
                }
            }

            /// Returns the writer of the format, if the format is written.
            pub(super) fn writer(self) -> Option<&'static dyn WrittenFormat> {
                match self {
                    $(Format::$written => Some(&$file::$written),)*
                    $(Format::$read => None,)*
                }
            }
        }
    };
}

every_format!(implementations);

impl Format {
    /// Tells whether files of this format can have the feature.
    fn has(self, feature: Feature) -> bool {
        self.writer().is_some_and(|writer| !writer.cannot_hold().contains(&feature))
    }
}

/// Returns the writer for the options.
///
/// # Errors
/// [`ErrorKind::NotInFormat`] with the first thing that the format cannot hold.
pub(super) fn writer_for(options: &WriteOptions) -> Result<&'static dyn WrittenFormat, ErrorKind> {
    let format = options.format;
    let refused = |what, remedy| ErrorKind::NotInFormat { format, what, remedy };
    let writer = format.writer().ok_or_else(|| refused("writer", names::choose_another()))?;
    let mut asked_for = Feature::ALL.into_iter().filter(|feature| feature.is_asked_for(options));
    match asked_for.find(|&feature| !format.has(feature)) {
        Some(lacking) => Err(refused(lacking.name(), lacking.remedy())),
        None => Ok(writer),
    }
}

impl WriteOptions<'_> {
    /// Checks that the format can hold what the options ask for.
    ///
    /// # Errors
    /// [`ErrorKind::NotInFormat`] with the first thing that the format cannot hold.
    pub fn check(&self) -> Result<(), ErrorKind> {
        writer_for(self).map(drop)
    }
}
