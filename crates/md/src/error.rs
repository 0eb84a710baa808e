//! Errors of pair forces and of motion.

use lattice_compute::{DeviceError, NoRoom};
use lattice_files::number::shown;
use lattice_files::text::quoted;

/// Most edges of the box between it and an atom: a ten-millionth of an edge is told apart there.
pub(crate) const MOST_BOXES: f64 = 1e9;

/// Result of everything about pair forces.
pub type MdResult<T> = Result<T, MdError>;

/// Forces that were not computed, or motion that ended, and why.
///
/// Atoms are counted from 1, as in files.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MdError {
    /// There is nothing to compute.
    #[error("there are no atoms; give at least one")]
    NoAtoms,

    /// An edge of the box is no length.
    #[error(
        "edge {} of the box is {edge}; edges must be positive and finite",
        axis + 1, edge = shown(.edge)
    )]
    Edge {
        /// The axis, from 0.
        axis: usize,
        /// Its edge.
        edge: f64,
    },

    /// A list does not have an entry for each atom.
    #[error("{found} {what} are given for {wanted} atoms; give one for each atom")]
    Length {
        /// What the list has.
        what: &'static str,
        /// Number of atoms.
        wanted: usize,
        /// Number of entries.
        found: usize,
    },

    /// A type of an atom has no name.
    #[error("atom {atom} is of type {of_type}, but there are {types} types")]
    NoSuchType {
        /// The atom.
        atom: usize,
        /// Its type, from 0.
        of_type: u32,
        /// The number of types.
        types: usize,
    },

    /// A coordinate is infinite or none.
    #[error("{what} of atom {atom} is {value}; all must be finite", value = shown(.value))]
    NotFinite {
        /// Position, velocity, force.
        what: &'static str,
        /// The atom.
        atom: usize,
        /// The value.
        value: f64,
    },

    /// The energy is infinite or none.
    #[error("the energy is {number}: atoms are too near to each other", number = shown(.0))]
    Energy(f64),

    /// The cutoff is no length.
    #[error("the cutoff is {number}; it must be positive and finite", number = shown(.0))]
    Cutoff(f64),

    /// The skin of lists is too thin.
    #[error(
        "the skin of lists is {skin}; it must be finite and at least {least}, a thousandth of the cutoff",
        skin = shown(.skin), least = shown(.least)
    )]
    Skin {
        /// The skin.
        skin: f64,
        /// The least skin.
        least: f64,
    },

    /// The cutoff is too long for the box.
    #[error(
        "the cutoff {cutoff} exceeds half the shortest edge of the box, {half}; take a larger box or a shorter cutoff",
        cutoff = shown(.cutoff), half = shown(.half)
    )]
    BoxTooSmall {
        /// The cutoff.
        cutoff: f64,
        /// Half the shortest edge.
        half: f64,
    },

    /// A potential is for another number of types.
    #[error("the potential is for {found} types, the system has {wanted}")]
    Types {
        /// Types of the system.
        wanted: usize,
        /// Types of the potential.
        found: usize,
    },

    /// A parameter of a formula is out of range.
    #[error(
        "the {name} of a pair potential is {value}; it must be finite{}",
        if *positive { " and positive" } else { "" }, value = shown(.value)
    )]
    Parameter {
        /// The parameter.
        name: &'static str,
        /// Its value.
        value: f64,
        /// `true` if it must be positive.
        positive: bool,
    },

    /// A table has too few samples.
    #[error("a table of {0} samples is too short; take at least 4")]
    Samples(usize),

    /// The range of a table is none.
    #[error(
        "a table cannot reach from {rmin} to {rmax}; give 0 <= RMIN < RMAX",
        rmin = shown(.rmin), rmax = shown(.rmax)
    )]
    TableRange {
        /// The beginning.
        rmin: f64,
        /// The end.
        rmax: f64,
    },

    /// A potential has no value where a table samples it.
    #[error(
        "the potential is {value} at r = {distance}, where the table has a sample; begin the table at a larger r",
        distance = shown(.distance), value = shown(.value)
    )]
    Sample {
        /// The distance.
        distance: f64,
        /// The value.
        value: f64,
    },

    /// A table ends before the cutoff.
    #[error(
        "the table ends at {rmax}, but a cutoff of {cutoff} needs it to {needed}; take a longer table or a shorter cutoff",
        cutoff = shown(.cutoff), rmax = shown(.rmax), needed = shown(.needed)
    )]
    TableTooShort {
        /// The cutoff.
        cutoff: f64,
        /// The end of the table.
        rmax: f64,
        /// Where it has to end.
        needed: f64,
    },

    /// An atom is so far from the box that its digits do not tell where in the box it is.
    #[error(
        "a coordinate of atom {atom} is {value}, more than {MOST_BOXES:e} edges of {edge} from the box; move the atom into the box",
        value = shown(.value), edge = shown(.edge)
    )]
    TooFar {
        /// The atom.
        atom: usize,
        /// Its coordinate.
        value: f64,
        /// The edge of the box along it.
        edge: f64,
    },

    /// Two atoms are at one place.
    #[error(
        "atoms {first} and {second} overlap: their distance is {distance}{}; move one of them{}",
        range.map_or(String::new(), |[rmin, rmax]| {
            format!(", and the table reaches from {} to {}", shown(&rmin), shown(&rmax))
        }),
        if range.is_some() { ", or correct the table's units" } else { "" },
        distance = shown(.distance)
    )]
    Overlap {
        /// An atom.
        first: usize,
        /// Another atom.
        second: usize,
        /// Their distance.
        distance: f64,
        /// The first and the last distance of the potential's table, if it has one.
        range: Option<[f64; 2]>,
    },

    /// Two atoms are nearer than a table begins.
    #[error(
        "atoms {} and {} are {distance} apart{}, nearer than {rmin}, where the table begins; begin it at a smaller r, or let its energy go on in a line",
        atoms[0], atoms[1], step.map_or(String::new(), |step| format!(" at step {step}")),
        distance = with_digits(*distance, 6), rmin = shown(.rmin)
    )]
    BelowRange {
        /// The atoms.
        atoms: [usize; 2],
        /// Their distance.
        distance: f64,
        /// The first sample.
        rmin: f64,
        /// The steps that were taken; `None` without motion.
        step: Option<u64>,
    },

    /// A step has no duration.
    #[error("the step is {number}; it must be positive and finite", number = shown(.0))]
    Duration(f64),

    /// A temperature is none.
    #[error(
        "the temperature is {number}; it must be finite and not negative",
        number = shown(.0)
    )]
    Temperature(f64),

    /// The mass of a type is unknown.
    #[error("the mass of {} is not known; give it", quoted(.0))]
    NoMass(String),

    /// An atom moves too far in one step.
    #[error(
        "atom {atom} moves {distance} in one step, more than the {allowed} that lists allow; take a shorter step",
        distance = with_digits(*distance, 3), allowed = shown(.allowed)
    )]
    TooFast {
        /// The atom.
        atom: usize,
        /// How far it moves.
        distance: f64,
        /// How far it may move: half the skin.
        allowed: f64,
    },

    /// The device does not interpolate in images.
    #[error("device {0} has no images with a linear filter for this table; take buffers")]
    NoImages(String),

    /// There are more atoms than numbers of 32 bits count.
    #[error("{0} atoms are too many; at most 2^28 are possible")]
    TooManyAtoms(usize),

    /// The host has not the memory.
    #[error(transparent)]
    Room(#[from] NoRoom),

    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Writes a distance with so many digits behind the point, if they tell it.
fn with_digits(distance: f64, digits: usize) -> String {
    if (1e-3..1e6).contains(&distance) { format!("{distance:.digits$}") } else { shown(&distance) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_are_short_in_messages() {
        for x in [1e300, 1e-300, 3.5, 0.0] {
            for error in [
                MdError::TooFast { atom: 1, distance: x, allowed: x },
                MdError::BelowRange { atoms: [1, 2], distance: x, rmin: x, step: Some(1) },
                MdError::Overlap { first: 1, second: 2, distance: x, range: Some([x, x]) },
                MdError::TooFar { atom: 1, value: -x, edge: x },
                MdError::NotFinite { what: "the mass", atom: 1, value: -x },
                MdError::BoxTooSmall { cutoff: x, half: x },
            ] {
                let said = error.to_string();
                assert!(said.len() < 200 && !said.contains("e0"), "{said}");
            }
        }
    }
}
