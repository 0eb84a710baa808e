//! One solution of a propagator, and its verification.

use crate::geometry::Dims;
use crate::host::{Spinor, first_index};
use crate::io::checksum::Checksum;
use crate::io::error::{Error, ErrorKind};
use crate::io::input::Input;
use crate::io::read_options::ReadOptions;
use crate::scalar::Precision;

/// Number of columns of a propagator: spins and colours of the source.
pub(super) const COLUMNS: usize = 12;

/// One solution of the Dirac equation.
#[derive(Clone, Debug, PartialEq)]
pub struct PropagatorRecord {
    /// The spin of its source, 0 to 3.
    pub spin: usize,
    /// The colour of its source, 0 to 2.
    pub colour: usize,
    /// The precision in which the solution is stored.
    pub precision: Precision,
    /// The checksum of the solution's record, if the record has one.
    pub checksum: Option<Checksum>,
    /// One spinor for each site, in lexicographic order.
    pub field: Vec<Spinor<f64>>,
}

/// Makes the records of fields that were read together.
///
/// They are in the order of their sources.
pub(super) fn records(
    sources: impl IntoIterator<Item = (usize, usize)>,
    fields: Vec<Vec<Spinor<f64>>>,
    precision: Precision,
    checksum: Option<&Checksum>,
) -> Vec<PropagatorRecord> {
    let record = |((spin, colour), field)| PropagatorRecord {
        spin,
        colour,
        precision,
        checksum: checksum.cloned(),
        field,
    };
    sources.into_iter().zip(fields).map(record).collect()
}

/// Refuses solutions with infinities or NaN, and checksums that disagree.
///
/// Options may allow such checksums.
pub(super) fn verify(
    input: &Input,
    dims: Dims,
    records: &[PropagatorRecord],
    options: &ReadOptions,
) -> Result<(), Error> {
    let checksum = records.first().and_then(|record| record.checksum.as_ref());
    if let Some(Checksum { kind, stored, computed, ok: false }) = checksum
        && !options.ignore_checksum
    {
        let (stored, computed) = (stored.clone(), computed.clone());
        return Err(input.error(ErrorKind::ChecksumMismatch { kind, stored, computed }));
    }
    let finite = |spinor: &Spinor<f64>| spinor.0.iter().flatten().all(|z| z.is_finite());
    for PropagatorRecord { spin, colour, field, .. } in records {
        if let Some(site) = first_index(field, |spinor| !finite(spinor)) {
            let (spin, colour, coordinates) = (*spin, *colour, dims.coordinates(site));
            return Err(input.error(ErrorKind::SpinorNotFinite { spin, colour, coordinates }));
        }
    }
    Ok(())
}
