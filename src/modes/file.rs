//! Modes in a file, with the operator that they belong to.
//!
//! A file is a checkpoint (see [`CheckpointWriter`]) with a BLAKE3 sum. Its first block has the
//! eigenvalues, and the residuals behind them. The modes follow, one block each. Their sites are in
//! lexicographic order, so that every device reads the file.

use super::field::ModeField;
use super::search::{DiracModes, Fields};
use crate::geometry::{Lattice, LatticeError};
use crate::io::{self, CheckpointWriter, read_checkpoint};
use crate::operator::{Dirac, System};
use crate::solve::Preconditioning;
use lattice_solvers::Mode;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The reason why a file of modes is of no use.
#[derive(Debug, thiserror::Error)]
pub enum ModesFileError {
    /// The file cannot be read or written, or is damaged.
    #[error(transparent)]
    File(#[from] io::Error),
    /// A field or a device failed.
    #[error(transparent)]
    Lattice(#[from] LatticeError),
    /// The file is of another kind.
    #[error(
        "{}: this is no file of modes; name one that `cr-solve modes` has written",
        lattice_files::text::path(path)
    )]
    OfAnotherKind {
        /// The file.
        path: PathBuf,
    },
    /// The modes belong to another operator.
    #[error(
        "{}: its {what} is {found}, here it is {here}; name the modes of this operator, or compute them anew", lattice_files::text::path(path), found = lattice_files::text::quoted(found)
    )]
    Other {
        /// The file.
        path: PathBuf,
        /// The part that differs.
        what: &'static str,
        /// In the file.
        found: String,
        /// Here.
        here: String,
    },
}

const VERSION: u32 = 1;

/// The version alone, which every file of modes begins with.
#[derive(Deserialize)]
struct Head {
    dirac_modes: u32,
}

/// The description of modes at the head of their file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    dirac_modes: u32,
    /// The program or person that made the file.
    made_by: String,
    lattice: String,
    configuration: String,
    /// Phases of the boundary, anisotropy: they are part of the links.
    links: String,
    /// Mass and site term.
    operator: String,
    system: System,
    preconditioning: Preconditioning,
    tolerance: f64,
    count: usize,
    /// The byte order of the numbers.
    little_endian: bool,
}

impl DiracModes {
    /// Writes the modes to a file.
    ///
    /// `configuration` tells the links from others, and `made_by` says where the file comes from. All
    /// ranks call this together, and the first one writes.
    ///
    /// # Errors
    /// When the file cannot be written, or a device fails.
    pub fn write(
        &self,
        path: &Path,
        dirac: &Dirac<f64>,
        configuration: &str,
        made_by: &str,
    ) -> Result<(), ModesFileError> {
        let about = About {
            dirac_modes: VERSION,
            made_by: made_by.to_owned(),
            lattice: dirac.lattice().dims().to_string(),
            configuration: configuration.to_owned(),
            links: dirac.links_text(),
            operator: operator_text(dirac),
            system: self.system,
            preconditioning: self.preconditioning,
            tolerance: self.tolerance,
            count: self.count(),
            little_endian: cfg!(target_endian = "little"),
        };
        let about = serde_json::to_string(&about).expect("text and finite numbers are JSON");
        let is_first = dirac.lattice().ranks().is_none_or(|world| world.rank() == 0);
        let mut writer = is_first.then(|| CheckpointWriter::create(path, &about)).transpose()?;
        if let Some(writer) = &mut writer {
            writer.block(bytemuck::cast_slice(&[self.values(), self.residuals()].concat()))?;
        }
        match &self.fields {
            Fields::All(modes) => write_fields(modes, &mut writer)?,
            Fields::Even(modes) => write_fields(modes, &mut writer)?,
        }
        writer.map_or(Ok(()), |writer| Ok(writer.finish()?))
    }

    /// Reads the modes of an operator from a file.
    ///
    /// # Errors
    /// When the file cannot be read or believed, or has modes of another operator or configuration.
    pub fn read(path: &Path, dirac: &Dirac<f64>, configuration: &str) -> Result<Self, ModesFileError> {
        let file = read_checkpoint(path)?;
        let of_another_kind = || ModesFileError::OfAnotherKind { path: path.to_owned() };
        let refuse = |(what, found, here): (&'static str, String, String)| {
            if found == here {
                return Ok(());
            }
            Err(ModesFileError::Other { path: path.to_owned(), what, found, here })
        };
        let head: Head = serde_json::from_str(&file.about).map_err(|_| of_another_kind())?;
        refuse(("version", head.dirac_modes.to_string(), VERSION.to_string()))?;
        let about: About = serde_json::from_str(&file.about).map_err(|_| of_another_kind())?;
        let little_endian = cfg!(target_endian = "little");
        let differing = [
            ("lattice", about.lattice, dirac.lattice().dims().to_string()),
            ("configuration", about.configuration, configuration.to_owned()),
            ("boundary or anisotropy", about.links, dirac.links_text()),
            ("operator", about.operator, operator_text(dirac)),
            ("byte order", about.little_endian.to_string(), little_endian.to_string()),
        ];
        differing.into_iter().try_for_each(refuse)?;
        let mut blocks = file.blocks.into_iter();
        let numbers = blocks.next().and_then(|block| numbers_of(&block)).ok_or_else(of_another_kind)?;
        let usable = numbers.iter().all(|[value, residual]| value.is_normal() && residual.is_finite());
        if !usable || [blocks.len(), about.count] != [numbers.len(); 2] {
            return Err(of_another_kind());
        }
        let lattice = dirac.lattice();
        let fields = match about.preconditioning {
            Preconditioning::None => fields_of(lattice, &numbers, blocks)?.map(Fields::All),
            _ => fields_of(lattice, &numbers, blocks)?.map(Fields::Even),
        };
        let fields = fields.ok_or_else(of_another_kind)?;
        let About { system, preconditioning, tolerance, .. } = about;
        Ok(Self { system, preconditioning, tolerance, fields })
    }
}

fn operator_text(dirac: &Dirac<f64>) -> String {
    format!("{:?}, {:?}", dirac.coupling(), dirac.site_term())
}

fn write_fields<F: ModeField>(
    modes: &[Mode<F>],
    writer: &mut Option<CheckpointWriter>,
) -> Result<(), ModesFileError> {
    for mode in modes {
        let numbers = mode.vector.to_numbers()?;
        if let Some(writer) = writer {
            writer.block(&numbers)?;
        }
    }
    Ok(())
}

fn fields_of<F: ModeField>(
    lattice: &Lattice,
    numbers: &[[f64; 2]],
    blocks: impl Iterator<Item = Vec<u8>>,
) -> Result<Option<Vec<Mode<F>>>, LatticeError> {
    let mut modes = Vec::with_capacity(numbers.len());
    for (&[value, residual], block) in numbers.iter().zip(blocks) {
        let Some(vector) = F::of_numbers(lattice, &block)? else { return Ok(None) };
        modes.push(Mode { value, vector, residual });
    }
    Ok(Some(modes))
}

/// Returns the eigenvalues with their residuals.
fn numbers_of(block: &[u8]) -> Option<Vec<[f64; 2]>> {
    let (numbers, []) = block.as_chunks::<8>() else { return None };
    let numbers: Vec<f64> = numbers.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect();
    let (values, residuals) = numbers.split_at(numbers.len() / 2);
    (values.len() == residuals.len())
        .then(|| values.iter().zip(residuals).map(|(value, residual)| [*value, *residual]).collect())
}
