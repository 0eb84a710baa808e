//! Writing a gauge configuration.

use super::error::Error;
use super::formats::writer_for;
use super::links::Rows;
use super::output::Output;
use super::validate;
use super::write_options::WriteOptions;
use crate::host::GaugeConfiguration;
use std::path::Path;

/// Writes a gauge configuration.
///
/// The file has a temporary name beside `path`, and is renamed when it is complete and on disk.
///
/// Reading the file gives the same links bit for bit, if their precision is kept and all rows are
/// written.
///
/// # Errors
/// * The format cannot hold what the options ask for.
/// * Two rows are to be written of links that are not in SU(3). The third row could not be rebuilt.
/// * The system refuses.
pub fn write_gauge(
    path: impl AsRef<Path>,
    config: &GaugeConfiguration,
    options: &WriteOptions,
) -> Result<(), Error> {
    let path = path.as_ref();
    let refused = |kind| Error::new(path, kind);
    let writer = writer_for(options).map_err(refused)?;
    if options.rows == Rows::Two {
        validate::check_finite(config).map_err(refused)?;
        validate::check_special_unitary(config).map_err(refused)?;
    }
    let mut output = Output::create(path)?;
    writer.write(&mut output, config, options)?;
    output.finish()
}
