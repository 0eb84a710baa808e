//! A set-up in a file: near-null vectors, and all that was made of them for one operator.
//!
//! The vectors serve other jobs on the same configuration, the rest those with the same fine operator.
//! Numbers are kept as devices have them, so that they have the same bits when they come back.

use super::coarse_lattice::CoarseLattice;
use super::kept::{KeptOnHost, numbers_of_bytes};
use super::kept_setup::{KeptCoarse, KeptMeans, KeptOperator, KeptSetup};
use super::params::{Blocking, MultigridParams};
use crate::device::DeviceError;
use crate::geometry::{Lattice, NDIM};
use crate::host::Spinor;
use crate::host::multigrid::BLOCKS;
use crate::io::{self, CheckpointWriter, read_checkpoint};
use bytemuck::Pod;
use lattice_solvers::Polynomial;
use num_complex::{Complex, Complex64};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The reason why a file of a set-up is of no use.
#[derive(Debug, thiserror::Error)]
pub enum SetupFileError {
    /// The file cannot be read or written, or is damaged.
    #[error(transparent)]
    File(#[from] io::Error),
    /// A device failed that has the numbers.
    #[error(transparent)]
    Device(#[from] DeviceError),
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
    /// Whether numbers are kept in 16 bits, with units. Otherwise they are in single precision.
    fixed: bool,
    /// The operator whose smoothers and coarse operators are behind the vectors.
    operator: String,
    /// Whether the inverse of the coarsest system is there, instead of a smoother.
    inverse: bool,
    /// The byte order of the numbers.
    little_endian: bool,
}

const VERSION: u32 = 3;

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
    fn about(&self, fixed: bool, inverse: bool) -> About {
        About {
            multigrid_setup: VERSION,
            lattice: self.lattice.dims().to_string(),
            configuration: self.configuration.to_owned(),
            links: self.links.clone(),
            setup_iterations: self.params.setup_iterations,
            levels: self.blockings.to_vec(),
            fixed,
            operator: self.operator.clone(),
            inverse,
            little_endian: cfg!(target_endian = "little"),
        }
    }

    /// Numbers of each level, finest first.
    fn counts(&self) -> Vec<Counts> {
        let mut extents = self.lattice.dims().extents();
        let mut components = Spinor::<f32>::COMPONENTS;
        let count = |blocking: &Blocking| {
            let columns = 2 * blocking.vectors;
            let rows = extents.iter().product::<usize>() * components / 2;
            extents = std::array::from_fn::<_, NDIM, _>(|mu| extents[mu] / blocking.block.0[mu]);
            components = columns;
            let lattice = CoarseLattice::new(extents);
            let inverse = lattice.evens() * columns;
            Counts {
                vectors: [rows * columns, rows],
                blocks: [lattice.volume() * BLOCKS * columns * columns, lattice.volume() * BLOCKS],
                inverse: [inverse * inverse, 1],
            }
        };
        self.blockings.iter().map(count).collect()
    }

    /// Keeps a set-up.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path, setup: &KeptSetup<f32>) -> Result<(), SetupFileError> {
        let KeptSetup { vectors, of_operator } = setup;
        let fixed = vectors.iter().any(|vectors| matches!(vectors, KeptOnHost::Fixed { .. }));
        let coarse = of_operator.iter().flat_map(|of_operator| &of_operator.coarse);
        let inverse = coarse.clone().any(|level| matches!(level.means, KeptMeans::Inverse(_)));
        let about = serde_json::to_string(&self.about(fixed, inverse)).expect("text and numbers are JSON");
        let mut writer = CheckpointWriter::create(path, &about)?;
        for vectors in vectors {
            write_numbers(&mut writer, vectors)?;
        }
        if let Some(of_operator) = of_operator {
            writer.block(bytemuck::cast_slice(of_operator.smoother.roots()))?;
        }
        for KeptCoarse { blocks, means } in coarse {
            write_numbers(&mut writer, blocks)?;
            match means {
                KeptMeans::Smoother(smoother) => writer.block(bytemuck::cast_slice(smoother.roots()))?,
                KeptMeans::Inverse(inverse) => write_numbers(&mut writer, inverse)?,
            }
        }
        Ok(writer.finish()?)
    }

    /// Takes a kept set-up back. What belongs to an operator is left out if that is not this one.
    ///
    /// # Errors
    /// When the file cannot be read or believed, or is of another configuration, lattice or levels.
    pub fn read(&self, path: &Path) -> Result<KeptSetup<f32>, SetupFileError> {
        let file = read_checkpoint(path)?;
        let of_another_kind = || SetupFileError::OfAnotherKind { path: path.to_owned() };
        let head: Head = serde_json::from_str(&file.about).map_err(|_| of_another_kind())?;
        let refused = |(what, found, here): (&'static str, String, String)| {
            if found == here {
                return Ok(());
            }
            Err(SetupFileError::Other { path: path.to_owned(), what, found, here })
        };
        refused(("version", head.multigrid_setup.to_string(), VERSION.to_string()))?;
        let found: About = serde_json::from_str(&file.about).map_err(|_| of_another_kind())?;
        let here = self.about(found.fixed, found.inverse);
        let levels = |about: &About| {
            let level = |blocking: &Blocking| format!("{} vectors on {}", blocking.vectors, blocking.block);
            about.levels.iter().map(level).collect::<Vec<_>>().join(", ")
        };
        let differing: [(&'static str, String, String); 5] = [
            ("lattice", found.lattice.clone(), here.lattice.clone()),
            ("configuration", found.configuration.clone(), here.configuration.clone()),
            ("links", found.links.clone(), here.links.clone()),
            ("set of levels", levels(&found), levels(&here)),
            ("byte order", found.little_endian.to_string(), here.little_endian.to_string()),
        ];
        differing.into_iter().try_for_each(refused)?;
        let counts = self.counts();
        let mut numbers = Numbers { blocks: file.blocks.into_iter(), fixed: found.fixed };
        let mut read = || {
            let vectors = counts.iter().map(|counts| numbers.next(counts.vectors)).collect::<Option<_>>()?;
            if found.operator != here.operator {
                return Some(KeptSetup { vectors, of_operator: None });
            }
            let smoother = numbers.smoother()?;
            let of_level = |(level, of_level): (usize, &Counts)| {
                let blocks = numbers.next(of_level.blocks)?;
                let means = if found.inverse && level + 1 == counts.len() {
                    KeptMeans::Inverse(numbers.next(of_level.inverse)?)
                } else {
                    KeptMeans::Smoother(numbers.smoother()?)
                };
                Some(KeptCoarse { blocks, means })
            };
            let coarse = counts.iter().enumerate().map(of_level).collect::<Option<_>>()?;
            Some(KeptSetup { vectors, of_operator: Some(KeptOperator { smoother, coarse }) })
        };
        read().ok_or_else(of_another_kind)
    }
}

/// The version alone, which every file of a set-up begins with.
#[derive(Deserialize)]
struct Head {
    multigrid_setup: u32,
}

/// Numbers of a level, each with the number of its units.
struct Counts {
    vectors: [usize; 2],
    blocks: [usize; 2],
    inverse: [usize; 2],
}

fn write_numbers(writer: &mut CheckpointWriter, kept: &KeptOnHost<f32>) -> Result<(), io::Error> {
    match kept {
        KeptOnHost::Whole(numbers) => writer.block(bytemuck::cast_slice(numbers)),
        KeptOnHost::Fixed { numbers, units } => {
            writer.block(bytemuck::cast_slice(numbers))?;
            writer.block(bytemuck::cast_slice(units))
        }
    }
}

/// The blocks of a file that are left.
struct Numbers {
    blocks: std::vec::IntoIter<Vec<u8>>,
    fixed: bool,
}

impl Numbers {
    /// Takes the next block, if it has this length.
    fn values<T: Pod + Send>(&mut self, count: usize) -> Option<Vec<T>> {
        let block = self.blocks.next().filter(|block| block.len() == count * size_of::<T>())?;
        Some(numbers_of_bytes(&block))
    }

    fn next(&mut self, [count, units]: [usize; 2]) -> Option<KeptOnHost<f32>> {
        if !self.fixed {
            return Some(KeptOnHost::Whole(self.values::<Complex<f32>>(count)?));
        }
        Some(KeptOnHost::Fixed { numbers: self.values(count)?, units: self.values(units)? })
    }

    fn smoother(&mut self) -> Option<Polynomial> {
        let count = self.blocks.as_slice().first()?.len() / size_of::<Complex64>();
        Polynomial::with_roots_in_order(self.values(count)?)
    }
}
