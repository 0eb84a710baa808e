//! Forces of positions that the host has.

use super::constants::{constants, rows};
use super::places::Place;
use super::program::{group, program};
use super::table::Samples;
use crate::error::MdResult;
use crate::evaluation::{Evaluation, SUMS, Sums};
use crate::host::Pairs;
use crate::options::{Fetch, Options};
use lattice_compute::{Argument, ArgumentList, Buffer, Device, Kernel, Parameter, Range};

/// A potential and a number of atoms on one device, with pairs of type `T`.
pub(crate) struct OnDevice<T: Place> {
    group: usize,
    atoms: usize,
    types: u32,
    samples: Samples<T>,
    constants: Buffer<T>,
    rows: Buffer<T>,
    edges: Buffer<f64>,
    atom_types: Buffer<u32>,
    order: Buffer<u32>,
    positions: Buffer<f64>,
    places: Buffer<T::Coordinate>,
    forces: Buffer<f64>,
    parts: Buffer<f64>,
    pack: Kernel,
    all_pairs: Kernel,
    curve: Kernel,
}

impl<T: Place> OnDevice<T> {
    /// Brings everything but positions to a device.
    pub fn new(device: &Device, pairs: &Pairs<'_>, options: &Options) -> MdResult<Self> {
        let samples = Samples::<T>::new(device, pairs.potential, options.fetch)?;
        let program = program(device, pairs, &samples, options.precision)?;
        let (atoms, group) = (pairs.types.len(), group(device));
        let [constant, row] = ["constants", "rows"].map(Parameter::input::<T>);
        let [types, count, number] = ["types", "atoms", "number"].map(Parameter::value::<u32>);
        let pack = program.kernel(
            "md_pack",
            &[
                Parameter::input::<f64>("positions"),
                Parameter::input::<u32>("atom_types"),
                Parameter::input::<u32>("order"),
                Parameter::input::<f64>("edges"),
                count,
                Parameter::output::<T::Coordinate>("places"),
            ],
        )?;
        let all_pairs = [
            Parameter::input::<T::Coordinate>("places"),
            constant,
            row,
            types,
            count,
            Parameter::output::<f64>("forces"),
        ];
        let sums = [Parameter::output::<f64>("parts")];
        let all_pairs = [&all_pairs[..], &samples.parameters(), &sums].concat();
        let curve = [
            Parameter::input::<f64>("distances"),
            number,
            constant,
            row,
            Parameter::value::<u32>("count"),
            Parameter::output::<f64>("values"),
        ];
        let curve = [&curve[..], &samples.parameters()].concat();
        let order: Vec<u32> = (0..atoms as u32).collect();
        Ok(Self {
            group,
            atoms,
            types: pairs.potential.types() as u32,
            constants: Buffer::from_slice(device, &constants(pairs))?,
            rows: Buffer::from_slice(device, &rows(pairs))?,
            edges: Buffer::from_slice(device, &pairs.edges)?,
            atom_types: Buffer::from_slice(device, pairs.types)?,
            order: Buffer::from_slice(device, &order)?,
            positions: Buffer::zeroed(device, 3 * atoms)?,
            places: Buffer::zeroed(device, 4 * atoms)?,
            forces: Buffer::zeroed(device, 3 * atoms)?,
            parts: Buffer::zeroed(device, SUMS * atoms.div_ceil(group))?,
            pack,
            all_pairs: program.kernel("md_all_pairs", &all_pairs)?,
            curve: program.kernel("md_curve", &curve)?,
            samples,
        })
    }

    /// Returns how the table is read; `None` if there is no table.
    pub fn fetch(&self) -> Option<Fetch> {
        self.samples.fetch()
    }

    /// Evaluates all pairs.
    pub fn evaluate(&mut self, positions: &[[f64; 3]]) -> MdResult<Evaluation> {
        self.positions.write(bytemuck::cast_slice(positions))?;
        let range = Range::covering(self.atoms, self.group);
        let atoms = Argument::value(self.atoms as u32);
        let pack = [
            (&self.positions).into(),
            (&self.atom_types).into(),
            (&self.order).into(),
            (&self.edges).into(),
            atoms,
            (&mut self.places).into(),
        ];
        self.pack.launch(range, &pack)?;
        let first = [
            (&self.places).into(),
            (&self.constants).into(),
            (&self.rows).into(),
            Argument::value(self.types),
            atoms,
            (&mut self.forces).into(),
        ];
        let arguments =
            ArgumentList::new(first).and(self.samples.arguments()).and([(&mut self.parts).into()]);
        self.all_pairs.launch(range, arguments.as_slice())?;
        // Groups are added in their order.
        let mut sums = [0.0; SUMS];
        for part in self.parts.to_vec()?.chunks(SUMS) {
            sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        let mut forces = vec![[0.0; 3]; self.atoms];
        self.forces.read(bytemuck::cast_slice_mut(&mut forces))?;
        Ok(Evaluation { sums: Sums::of_doubled(sums), forces })
    }

    /// Returns E and E′ of a pair of types at many distances.
    pub fn curve(&self, row: usize, distances: &[f64]) -> MdResult<Vec<[f64; 2]>> {
        if distances.is_empty() {
            return Ok(Vec::new());
        }
        let device = self.positions.device();
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
        self.curve.launch(Range::covering(distances.len(), self.group), arguments.as_slice())?;
        Ok(values.to_vec()?.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect())
    }
}
