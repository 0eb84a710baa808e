//! A set-up in a file: near-null vectors, and all that was made of them for one operator.
//!
//! The vectors serve other jobs on the same configuration, the rest those with the same fine operator.
//! Numbers are kept as devices have them, so that they have the same bits when they come back.

use super::coarse_lattice::CoarseLattice;
use super::error::SetupFileError;
use super::kept::HostNumbers;
use super::kept_setup::{KeptCoarse, KeptMeans, KeptOperator, KeptSetup, Known};
use super::params::{Blocking, MultigridParams};
use crate::geometry::{Lattice, NDIM};
use crate::host::Spinor;
use crate::host::multigrid::BLOCKS;
use crate::io::{self, CheckpointReader, CheckpointWriter};
use bytemuck::Pod;
use lattice_solvers::Polynomial;
use num_complex::{Complex, Complex64};
use serde::{Deserialize, Serialize};
use std::path::Path;

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
    /// The number of vectors made at a time, if the set-up was interrupted.
    ///
    /// The file then has vectors of the finest level as they are made, one block for each group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unfinished: Option<usize>,
}

const VERSION: u32 = 4;

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
            unfinished: None,
        }
    }

    /// Begins a file for the vectors of an interrupted set-up, `sources` in each block.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn begin_unfinished(&self, path: &Path, sources: usize) -> Result<CheckpointWriter, io::Error> {
        let about = About { unfinished: Some(sources), ..self.about(false, false) };
        CheckpointWriter::create(path, &serde_json::to_string(&about).expect("text and numbers are JSON"))
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
        let fixed = vectors.iter().any(|vectors| matches!(vectors, HostNumbers::Fixed { .. }));
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

    /// Takes a kept set-up back, with what belongs to an operator if that is this one.
    ///
    /// An interrupted set-up serves the same operator alone, with `sources` vectors made at a time.
    ///
    /// # Errors
    /// When the file cannot be read or believed, or is of another configuration, lattice or levels.
    pub fn read(&self, path: &Path, sources: usize) -> Result<Known<f32>, SetupFileError> {
        let reader = CheckpointReader::open(path)?;
        let of_another_kind = || SetupFileError::OfAnotherKind { path: path.to_owned() };
        let head: Head = serde_json::from_str(reader.about()).map_err(|_| of_another_kind())?;
        let refused = |(what, found, here): (&'static str, String, String)| {
            if found == here {
                return Ok(());
            }
            Err(SetupFileError::Other { path: path.to_owned(), what, found, here })
        };
        refused(("version", head.multigrid_setup.to_string(), VERSION.to_string()))?;
        let found: About = serde_json::from_str(reader.about()).map_err(|_| of_another_kind())?;
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
        let mut numbers = Numbers { reader, fixed: found.fixed };
        let kept = match found.unfinished {
            None => self.kept(&mut numbers, &found).map(|kept| kept.map(Known::Kept)),
            Some(_)
                if (&found.operator, found.setup_iterations) != (&here.operator, here.setup_iterations) =>
            {
                Ok(Some(Known::Nothing))
            }
            Some(at_a_time) if at_a_time != sources => Ok(Some(Known::Nothing)),
            Some(_) => self.groups(&mut numbers, sources).map(|groups| groups.map(Known::Unfinished)),
        };
        // The sum tells whether the file is damaged, or of another kind.
        numbers.reader.finish()?;
        kept?.ok_or_else(of_another_kind)
    }

    /// Reads the groups of vectors of an interrupted set-up.
    fn groups(
        &self,
        numbers: &mut Numbers,
        sources: usize,
    ) -> Result<Option<Vec<Vec<Complex<f32>>>>, io::Error> {
        let count = sources * self.lattice.dims().volume() * Spinor::<f32>::COMPONENTS;
        let mut groups = Vec::new();
        while numbers.reader.next_length().is_some() {
            let Some(group) = numbers.values(count)? else { return Ok(None) };
            groups.push(group);
        }
        Ok(Some(groups))
    }

    /// Reads the numbers. `None` if their counts are others.
    fn kept(&self, numbers: &mut Numbers, found: &About) -> Result<Option<KeptSetup<f32>>, io::Error> {
        let counts = self.counts();
        let mut vectors = Vec::new();
        for of_level in &counts {
            let Some(of_level) = numbers.next(of_level.vectors)? else { return Ok(None) };
            vectors.push(of_level);
        }
        if found.operator != self.operator {
            return Ok(Some(KeptSetup { vectors, of_operator: None }));
        }
        let Some(smoother) = numbers.smoother()? else { return Ok(None) };
        let mut coarse = Vec::new();
        for (level, of_level) in counts.iter().enumerate() {
            let Some(blocks) = numbers.next(of_level.blocks)? else { return Ok(None) };
            let means = if found.inverse && level + 1 == counts.len() {
                numbers.next(of_level.inverse)?.map(KeptMeans::Inverse)
            } else {
                numbers.smoother()?.map(KeptMeans::Smoother)
            };
            let Some(means) = means else { return Ok(None) };
            coarse.push(KeptCoarse { blocks, means });
        }
        Ok(Some(KeptSetup { vectors, of_operator: Some(KeptOperator { smoother, coarse }) }))
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

fn write_numbers(writer: &mut CheckpointWriter, kept: &HostNumbers<f32>) -> Result<(), io::Error> {
    match kept {
        HostNumbers::Whole(numbers) => writer.block(bytemuck::cast_slice(numbers)),
        HostNumbers::Fixed { numbers, units } => {
            writer.block(bytemuck::cast_slice(numbers))?;
            writer.block(bytemuck::cast_slice(units))
        }
    }
}

/// The blocks of a file that are left.
struct Numbers {
    reader: CheckpointReader,
    fixed: bool,
}

impl Numbers {
    /// Takes the next block, if it has this length.
    fn values<T: Pod>(&mut self, count: usize) -> Result<Option<Vec<T>>, io::Error> {
        let wanted = (count * size_of::<T>()) as u64;
        if self.reader.next_length() == Some(wanted) { self.reader.block() } else { Ok(None) }
    }

    fn next(&mut self, [count, units]: [usize; 2]) -> Result<Option<HostNumbers<f32>>, io::Error> {
        if !self.fixed {
            return Ok(self.values(count)?.map(HostNumbers::Whole));
        }
        let Some(numbers) = self.values(count)? else { return Ok(None) };
        Ok(self.values(units)?.map(|units| HostNumbers::Fixed { numbers, units }))
    }

    fn smoother(&mut self) -> Result<Option<Polynomial>, io::Error> {
        let bytes = self.reader.next_length().unwrap_or(0);
        let roots = self.values::<Complex64>(bytes as usize / size_of::<Complex64>())?;
        Ok(roots.and_then(Polynomial::with_roots_in_order))
    }
}
