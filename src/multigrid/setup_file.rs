//! The near-null vectors of a set-up in a file.
//!
//! The file serves other jobs on the same configuration.

use super::params::{Blocking, MultigridParams};
use super::setup::Vectors;
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
    /// The byte order of the numbers, which are complex and in single precision.
    little_endian: bool,
}

const VERSION: u32 = 1;

/// The things that a set-up is bound to.
pub(super) struct Binding<'a> {
    pub lattice: &'a Lattice,
    /// The text that tells the configuration from others.
    pub configuration: &'a str,
    /// The other properties of the links.
    pub links: String,
    pub params: &'a MultigridParams,
    pub blockings: &'a [Blocking],
}

impl Binding<'_> {
    fn about(&self) -> About {
        About {
            multigrid_setup: VERSION,
            lattice: self.lattice.dims().to_string(),
            configuration: self.configuration.to_owned(),
            links: self.links.clone(),
            setup_iterations: self.params.setup_iterations,
            levels: self.blockings.to_vec(),
            little_endian: cfg!(target_endian = "little"),
        }
    }

    /// Numbers of a vector of each level.
    fn counts(&self) -> Vec<usize> {
        let mut extents = self.lattice.dims().extents();
        let mut of_site = Spinor::<f32>::COMPONENTS;
        let count = |blocking: &Blocking| {
            let numbers = extents.iter().product::<usize>() * of_site;
            extents = std::array::from_fn::<_, NDIM, _>(|mu| extents[mu] / blocking.block.0[mu]);
            of_site = 2 * blocking.vectors;
            numbers
        };
        self.blockings.iter().map(count).collect()
    }

    /// Keeps vectors.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path, vectors: &Vectors<f32>) -> Result<(), SetupFileError> {
        let about = serde_json::to_string(&self.about()).expect("text and numbers are JSON");
        let mut writer = CheckpointWriter::create(path, &about)?;
        for vector in vectors.iter().flatten() {
            writer.block(bytemuck::cast_slice(vector))?;
        }
        Ok(writer.finish()?)
    }

    /// Takes kept vectors back.
    ///
    /// # Errors
    /// When the file cannot be read or believed, or is of another configuration, lattice or levels.
    pub fn read(&self, path: &Path) -> Result<Vectors<f32>, SetupFileError> {
        let file = read_checkpoint(path)?;
        let of_another_kind = || SetupFileError::OfAnotherKind { path: path.to_owned() };
        let found: About = serde_json::from_str(&file.about).map_err(|_| of_another_kind())?;
        let here = self.about();
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
        let mut vectors = Vec::new();
        for (blocking, count) in self.blockings.iter().zip(self.counts()) {
            let mut level = Vec::with_capacity(blocking.vectors);
            for _ in 0..blocking.vectors {
                let block = blocks.next().filter(|block| block.len() == count * size_of::<Complex<f32>>());
                let block = block.ok_or_else(of_another_kind)?;
                // The block need not lie as numbers must.
                let mut vector = vec![Complex::<f32>::default(); count];
                bytemuck::cast_slice_mut(&mut vector).copy_from_slice(&block);
                level.push(vector);
            }
            vectors.push(level);
        }
        Ok(vectors)
    }
}
