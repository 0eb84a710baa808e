//! A set-up in a file: near-null vectors and the coarse operators made of them.
//!
//! The vectors serve other jobs on the same configuration, the coarse operators those with the same
//! fine operator.

use super::coarse_operator::{RAW_BLOCKS, RawBlocks};
use super::params::{Blocking, MultigridParams};
use super::setup::{Known, Made};
use crate::geometry::{Lattice, NDIM};
use crate::host::Spinor;
use crate::io::{self, CheckpointWriter, read_checkpoint};
use num_complex::Complex;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The reason why a file of a set-up is of no use.
#[derive(Debug, thiserror::Error)]
pub enum SetupFileError {
    /// The file cannot be read or written, or is damaged.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The file is of another kind.
    #[error("{}: this is no set-up of a multigrid method; name another file with --multigrid-setup", path.display())]
    OfAnotherKind {
        /// The file.
        path: PathBuf,
    },
    /// The set-up belongs to another job.
    #[error(
        "{}: its {what} is {found}, here it is {here}; leave out --multigrid-setup, or name another file for this job", path.display()
    )]
    Other {
        /// The file.
        path: PathBuf,
        /// The part that differs.
        what: &'static str,
        /// In the file.
        found: String,
        /// In this job.
        here: String,
    },
}

/// The description of a set-up at the head of its file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct About {
    multigrid_setup: u32,
    lattice: String,
    configuration: String,
    /// Phases of the boundary, anisotropy: they are part of the links.
    links: String,
    setup_iterations: usize,
    levels: Vec<Blocking>,
    /// `true` if the vectors are orthonormal within blocks.
    orthonormal: bool,
    /// The operator whose coarse operators are behind the vectors.
    operator: String,
    /// The byte order of the numbers, which are complex and in single precision.
    little_endian: bool,
}

const VERSION: u32 = 2;

/// The things that a set-up is bound to.
pub(super) struct Binding<'a> {
    pub lattice: &'a Lattice,
    /// The text that tells the configuration from others.
    pub configuration: &'a str,
    /// The other properties of the links.
    pub links: String,
    /// The text that tells operators on these links apart.
    pub operator: String,
    pub params: &'a MultigridParams,
    pub blockings: &'a [Blocking],
}

impl Binding<'_> {
    fn about(&self, orthonormal: bool) -> About {
        About {
            multigrid_setup: VERSION,
            lattice: self.lattice.dims().to_string(),
            configuration: self.configuration.to_owned(),
            links: self.links.clone(),
            setup_iterations: self.params.setup_iterations,
            levels: self.blockings.to_vec(),
            orthonormal,
            operator: self.operator.clone(),
            little_endian: cfg!(target_endian = "little"),
        }
    }

    /// Numbers of a vector of each level, and of the coarse operator below it.
    fn counts(&self) -> Vec<[usize; 2]> {
        let mut extents = self.lattice.dims().extents();
        let mut of_site = Spinor::<f32>::COMPONENTS;
        let count = |blocking: &Blocking| {
            let numbers = extents.iter().product::<usize>() * of_site;
            extents = std::array::from_fn::<_, NDIM, _>(|mu| extents[mu] / blocking.block.0[mu]);
            of_site = 2 * blocking.vectors;
            [numbers, extents.iter().product::<usize>() * RAW_BLOCKS * of_site * of_site]
        };
        self.blockings.iter().map(count).collect()
    }

    /// Keeps a set-up.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path, levels: &[Made<f32>]) -> Result<(), SetupFileError> {
        let orthonormal = levels.iter().all(|level| level.are_orthonormal);
        let about = serde_json::to_string(&self.about(orthonormal)).expect("text and numbers are JSON");
        let mut writer = CheckpointWriter::create(path, &about)?;
        for vector in levels.iter().flat_map(|level| &level.vectors) {
            writer.block(bytemuck::cast_slice(vector))?;
        }
        for level in levels {
            writer.block(bytemuck::cast_slice(&level.blocks.blocks))?;
        }
        Ok(writer.finish()?)
    }

    /// Reads a kept set-up, with coarse operators if they belong to this operator.
    ///
    /// # Errors
    /// If the file cannot be read or believed, or if it belongs to another configuration, lattice
    /// or levels.
    pub fn read(&self, path: &Path) -> Result<Vec<Known<f32>>, SetupFileError> {
        let file = read_checkpoint(path)?;
        let of_another_kind = || SetupFileError::OfAnotherKind { path: path.to_owned() };
        let found: About = serde_json::from_str(&file.about).map_err(|_| of_another_kind())?;
        let here = self.about(found.orthonormal);
        let levels = |about: &About| {
            let level = |blocking: &Blocking| format!("{} vectors on {}", blocking.vectors, blocking.block);
            about.levels.iter().map(level).collect::<Vec<_>>().join(", ")
        };
        let differing: [(&'static str, String, String); 6] = [
            ("version", found.multigrid_setup.to_string(), here.multigrid_setup.to_string()),
            ("lattice", found.lattice.clone(), here.lattice.clone()),
            ("configuration", found.configuration.clone(), here.configuration.clone()),
            ("links", found.links.clone(), here.links.clone()),
            ("set of levels", levels(&found), levels(&here)),
            ("byte order", found.little_endian.to_string(), here.little_endian.to_string()),
        ];
        for (what, found, here) in differing {
            if found != here {
                return Err(SetupFileError::Other { path: path.to_owned(), what, found, here });
            }
        }
        let mut blocks = file.blocks.into_iter();
        let mut next = |count: usize| {
            let block = blocks.next().filter(|block| block.len() == count * size_of::<Complex<f32>>());
            let block = block.ok_or_else(of_another_kind)?;
            // The block need not lie as numbers must.
            let mut numbers = vec![Complex::<f32>::default(); count];
            bytemuck::cast_slice_mut(&mut numbers).copy_from_slice(&block);
            Ok::<_, SetupFileError>(numbers)
        };
        let counts = self.counts();
        let mut known = Vec::new();
        for (blocking, [count, _]) in self.blockings.iter().zip(&counts) {
            let vectors = (0..blocking.vectors).map(|_| next(*count)).collect::<Result<_, _>>()?;
            known.push(Known { vectors, are_orthonormal: found.orthonormal, transfer: None, blocks: None });
        }
        if found.operator == here.operator {
            for (known, [_, count]) in known.iter_mut().zip(counts) {
                let columns = 2 * known.vectors.len();
                known.blocks = Some(RawBlocks { columns, blocks: next(count)? });
            }
        }
        Ok(known)
    }
}
