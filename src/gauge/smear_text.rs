//! Smearing of links as text, for example `stout:0.1,3`.
//!
//! Directions follow unless they are the usual ones.

use super::directions::Directions;
use super::projection::Projection;
use super::smear::{SmearParams, Smearing};
use std::fmt;

/// Parses `ape:ALPHA,N`, `stout:RHO,N` or `hyp:A1,A2,A3,N`.
///
/// Directions may follow, for example `stout:0.1,3,xyz`.
///
/// # Errors
/// If the text has another form, or a parameter is out of its range. The message tells the forms.
pub(crate) fn parse(text: &str, usual: Directions) -> Result<SmearParams, String> {
    let wanted = || {
        format!(
            "`{text}` is no smearing of links; write ape:ALPHA,N, stout:RHO,N or hyp:A1,A2,A3,N, for example stout:0.1,3"
        )
    };
    let (kind, words) = text.split_once(':').ok_or_else(wanted)?;
    let mut words: Vec<&str> = words.split(',').map(str::trim).collect();
    let mut directions = usual;
    if let Some(last) = words.last().filter(|word| word.starts_with(['x', 'y', 'z', 't'])) {
        directions = last.parse().map_err(|error| format!("`{text}`: {error}"))?;
        words.pop();
    }
    let steps = words.pop().and_then(|word| word.parse().ok()).ok_or_else(wanted)?;
    let numbers: Result<Vec<f64>, _> = words.iter().map(|word| word.parse()).collect();
    let smearing = match (kind, &numbers.map_err(|_| wanted())?[..]) {
        ("ape", &[alpha]) => Smearing::Ape { alpha },
        ("stout", &[rho]) => Smearing::Stout { rho },
        ("hyp", &[outer, middle, inner]) => Smearing::Hyp { alphas: [outer, middle, inner] },
        _ => return Err(wanted()),
    };
    let params = SmearParams { smearing, steps, directions, projection: Projection::Trace };
    params.check().map_err(|error| error.to_string())?;
    Ok(params)
}

/// Writes the text that [`parse`] reads.
pub(crate) fn write(f: &mut fmt::Formatter<'_>, params: &SmearParams, usual: Directions) -> fmt::Result {
    let SmearParams { smearing, steps, directions, .. } = *params;
    match smearing {
        Smearing::Ape { alpha } => write!(f, "ape:{alpha:?}")?,
        Smearing::Stout { rho } => write!(f, "stout:{rho:?}")?,
        Smearing::Hyp { alphas: [outer, middle, inner] } => write!(f, "hyp:{outer:?},{middle:?},{inner:?}")?,
    }
    write!(f, ",{steps}")?;
    if directions == usual { Ok(()) } else { write!(f, ",{directions}") }
}
