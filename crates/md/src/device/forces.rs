//! Forces on one device.

use super::atoms::Atoms;
use super::constants::{constants, rows};
use super::neighbours::{Neighbourhood, Neighbours};
use super::places::PairPrecision;
use super::program::{Makes, force_kernel, program, program_of_atoms};
use super::rungs::Rung;
use super::table::Samples;
use crate::error::MdResult;
use crate::evaluation::{Evaluation, Lists, SUMS, Sums};
use crate::host::Pairs;
use crate::options::{Fetch, List, Options, PairTuning};
use lattice_compute::{Argument, ArgumentList, Buffer, Device, Kernel, Program, Range};
use std::sync::Arc;

/// A potential and atoms on one device, with pairs of type `T`.
pub(crate) struct OnDevice<T: PairPrecision> {
    tuning: PairTuning,
    types: u32,
    samples: Samples<T>,
    constants: Buffer<T>,
    rows: Buffer<T>,
    pub(super) edges: Buffer<f64>,
    pub(super) atom_types: Buffer<u32>,
    pub(super) atoms: Atoms,
    /// Room for the atoms in another order.
    spare: Atoms,
    pub(super) places: Buffer<T::Coordinate>,
    /// Forces that come with sums: looking at them changes nothing of the atoms.
    looked_at: Buffer<f64>,
    parts: Buffer<f64>,
    /// Pairs below a table's first sample, in all launches of forces alone: two words of one number.
    below: Buffer<u32>,
    pub(super) neighbours: Option<Neighbours>,
    /// The program of places, lists and motion.
    pub(super) program: Arc<Program>,
    pack: Kernel,
    curve: Kernel,
    rung: Rung<T>,
    alone: Kernel,
    with_sums: Kernel,
}

impl<T: PairPrecision> OnDevice<T> {
    /// Brings everything but positions to a device.
    pub fn new(device: &Device, pairs: &Pairs<'_>, options: &Options, tuning: PairTuning) -> MdResult<Self> {
        let group = tuning.group;
        let samples = Samples::<T>::new(device, pairs.potential, tuning.image)?;
        let build = |makes| program(device, pairs, &samples, options, group, makes);
        let (with_sums, alone) = (build(Makes::SumsToo)?, build(Makes::ForcesAlone)?);
        let of_atoms = program_of_atoms::<T>(device, group)?;
        let atoms = pairs.types.len();
        let neighbours = match options.list {
            List::AllPairs | List::Matrix => None,
            List::Cells { .. } | List::HalfCells { .. } => {
                let of_list = Neighbourhood {
                    radius: options.list_radius(),
                    reach: tuning.reach,
                    once: matches!(options.list, List::HalfCells { .. }),
                };
                Some(Neighbours::new(device, &of_atoms, group, pairs.edges, of_list, atoms)?)
            }
        };
        let pack = of_atoms.kernel("md_pack")?;
        Ok(Self {
            tuning,
            types: pairs.potential.types() as u32,
            constants: Buffer::from_slice(device, &constants(pairs, options.list_radius()))?,
            rows: Buffer::from_slice(device, &rows(pairs))?,
            edges: Buffer::from_slice(device, &pairs.edges)?,
            atom_types: Buffer::from_slice(device, pairs.types)?,
            atoms: Atoms::new(device, atoms)?,
            spare: Atoms::new(device, atoms)?,
            places: Buffer::zeroed(device, 4 * atoms)?,
            looked_at: Buffer::zeroed(device, 3 * atoms)?,
            parts: Buffer::zeroed(device, SUMS * atoms.div_ceil(group))?,
            below: Buffer::zeroed(device, 2)?,
            neighbours,
            pack,
            curve: with_sums.kernel("md_curve")?,
            rung: Rung::new(device, &alone, options.list, atoms)?,
            alone: force_kernel(&alone, options.list)?,
            with_sums: force_kernel(&with_sums, options.list)?,
            program: of_atoms,
            samples,
        })
    }

    /// Returns how the table is read; `None` if there is no table.
    pub fn fetch(&self) -> Option<Fetch> {
        self.samples.fetch()
    }

    /// Returns the variant of the kernels.
    pub fn tuning(&self) -> PairTuning {
        self.tuning
    }

    /// Tells about the lists of neighbours; `None` if there are none.
    pub fn lists(&self) -> MdResult<Option<Lists>> {
        Ok(self.neighbours.as_ref().map(Neighbours::lists).transpose()?)
    }

    pub(super) fn count(&self) -> usize {
        self.atom_types.len()
    }

    pub(super) fn range(&self) -> Range {
        Range::covering(self.count(), self.tuning.group)
    }

    /// Takes positions in the order of the system, and sorts and lists them.
    pub(super) fn take(&mut self, positions: &[[f64; 3]]) -> MdResult<()> {
        let order: Vec<u32> = (0..self.count() as u32).collect();
        self.atoms.order.write(&order)?;
        self.atoms.positions.write(bytemuck::cast_slice(positions))?;
        self.rebuild()
    }

    /// Sorts and lists the atoms where they are, and packs their places.
    pub(super) fn rebuild(&mut self) -> MdResult<()> {
        if let Some(neighbours) = &mut self.neighbours {
            neighbours.sort(&self.edges, &self.atoms, &mut self.spare)?;
            std::mem::swap(&mut self.atoms, &mut self.spare);
        }
        self.pack()?;
        match &mut self.neighbours {
            Some(neighbours) => neighbours.list(&self.places, &self.constants),
            None => Ok(()),
        }
    }

    /// Packs the places of the atoms.
    pub(super) fn pack(&mut self) -> MdResult<()> {
        let range = self.range();
        let arguments = [
            (&self.atoms.positions).into(),
            (&self.atom_types).into(),
            (&self.atoms.order).into(),
            (&self.edges).into(),
            Argument::value(self.count() as u32),
            (&mut self.places).into(),
        ];
        self.pack.launch(range, &arguments)?;
        Ok(())
    }

    /// Starts to compute the forces of the packed places, without sums.
    pub(super) fn start(&mut self) -> MdResult<()> {
        self.launch(Makes::ForcesAlone)
    }

    fn launch(&mut self, makes: Makes) -> MdResult<()> {
        let (range, count) = (self.range(), self.count());
        let atoms = Argument::value(count as u32);
        let (kernel, forces) = match makes {
            Makes::ForcesAlone => (&self.alone, &mut self.atoms.forces),
            Makes::SumsToo => (&self.with_sums, &mut self.looked_at),
        };
        self.rung.begin(count, &self.places, &self.constants)?;
        let first = [
            (&self.places).into(),
            (&self.constants).into(),
            (&self.rows).into(),
            Argument::value(self.types),
        ];
        let mut arguments = ArgumentList::new(first);
        let listed = self.neighbours.as_ref().map(Neighbours::arguments);
        match (listed, &mut self.rung) {
            (Some(listed), Rung::Half { scattered, .. }) => {
                arguments.extend(listed);
                arguments.extend([scattered.into()]);
            }
            (Some(listed), _) => {
                arguments.extend(listed);
                arguments.extend([(&mut *forces).into()]);
            }
            (None, Rung::Matrix { squares, .. }) => {
                arguments.extend([(&*squares).into(), atoms, (&mut *forces).into()]);
            }
            (None, _) => arguments.extend([atoms, (&mut *forces).into()]),
        }
        arguments.extend(self.samples.arguments());
        match makes {
            Makes::SumsToo => arguments.extend([(&mut self.parts).into()]),
            Makes::ForcesAlone if self.samples.fetch().is_some() => {
                arguments.extend([(&mut self.below).into()]);
            }
            Makes::ForcesAlone => {}
        }
        kernel.start(range, arguments.as_slice())?;
        self.rung.finish(count, range, forces)
    }

    /// Returns the pairs below a table's first sample since the last call, in all forces without sums.
    pub(super) fn take_below(&mut self) -> MdResult<u64> {
        if self.samples.fetch().is_none() {
            return Ok(0);
        }
        let words = self.below.to_vec()?;
        self.below.fill(0)?;
        let count = u64::from(words[0]) | u64::from(words[1]) << 32;
        // Lists that have each pair once count it once.
        Ok(if matches!(self.rung, Rung::Half { .. }) { count } else { count / 2 })
    }

    /// Computes the sums of the packed places. Groups are added in their order.
    pub(super) fn sums(&mut self) -> MdResult<Sums> {
        self.launch(Makes::SumsToo)?;
        let mut sums = [0.0; SUMS];
        for part in self.parts.to_vec()?.chunks(SUMS) {
            sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        Ok(Sums::of_doubled(sums))
    }

    /// Evaluates positions in the order of the system.
    pub fn evaluate(&mut self, positions: &[[f64; 3]]) -> MdResult<Evaluation> {
        self.take(positions)?;
        Ok(Evaluation { sums: self.sums()?, forces: self.atoms.read(&self.looked_at)? })
    }

    /// Returns E and E′ of a pair of types at many distances.
    pub fn curve(&self, row: usize, distances: &[f64]) -> MdResult<Vec<[f64; 2]>> {
        if distances.is_empty() {
            return Ok(Vec::new());
        }
        let device = self.edges.device();
        let given = Buffer::from_slice(device, distances)?;
        let mut values = Buffer::<f64>::zeroed(device, 2 * distances.len())?;
        let first = [
            (&given).into(),
            Argument::value(row as u32),
            (&self.constants).into(),
            (&self.rows).into(),
            Argument::value(distances.len() as u32),
            (&mut values).into(),
        ];
        let arguments = ArgumentList::new(first).and(self.samples.arguments());
        self.curve.launch(Range::covering(distances.len(), self.tuning.group), arguments.as_slice())?;
        Ok(values.to_vec()?.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect())
    }
}
