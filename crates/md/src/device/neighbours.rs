//! Lists of neighbours, made by cells.

use super::atoms::Atoms;
use super::places::PairPrecision;
use crate::error::MdResult;
use crate::evaluation::Lists;
use lattice_compute::{Argument, Buffer, Device, Kernel, Program, Range, Result};

/// Which pairs are listed.
#[derive(Clone, Copy)]
pub(super) struct Neighbourhood {
    /// Pairs that are nearer than this.
    pub radius: f64,
    /// Cells in that distance along an axis: small cells have less around them to be tested.
    pub reach: u32,
    /// Whether a pair is listed once, with its first atom.
    pub once: bool,
}

/// What lists are made of.
pub(super) struct Neighbours {
    group: usize,
    of_list: Neighbourhood,
    grid: [u32; 4],
    cells: usize,
    capacity: usize,
    cell_of: Buffer<u32>,
    sorted_cell_of: Buffer<u32>,
    slots: Buffer<u32>,
    counts: Buffer<u32>,
    starts: Buffer<u32>,
    members: Buffer<u32>,
    listed: Buffer<u32>,
    lengths: Buffer<u32>,
    most: Buffer<u32>,
    count: Kernel,
    starting: Kernel,
    fill: Kernel,
    sort: Kernel,
    gather: Kernel,
    list: Kernel,
}

/// Returns how many cells there are along each axis.
///
/// They are as small as `reach` of them may be, and not many more than atoms.
fn grid(edges: [f64; 3], radius: f64, reach: u32, atoms: usize) -> [u32; 3] {
    let mut grid = edges.map(|edge| (edge * f64::from(reach) / radius).clamp(1.0, 1024.0) as u32);
    let too_many = |grid: &[u32; 3]| grid.iter().map(|&n| n as usize).product::<usize>() > 4 * atoms + 64;
    while too_many(&grid) {
        let largest = (0..3).max_by_key(|&axis| grid[axis]).unwrap_or(0);
        grid[largest] = grid[largest].div_ceil(2);
    }
    grid
}

impl Neighbours {
    /// Makes room for lists.
    pub fn new(
        device: &Device,
        program: &Program,
        group: usize,
        edges: [f64; 3],
        of_list: Neighbourhood,
        atoms: usize,
    ) -> Result<Self> {
        let Neighbourhood { radius, reach, once } = of_list;
        let [nx, ny, nz] = grid(edges, radius, reach, atoms);
        let cells = nx as usize * ny as usize * nz as usize;
        let density = atoms as f64 / edges.iter().product::<f64>();
        let expected = if once { 2.1 } else { 4.2 } * radius.powi(3) * density;
        let capacity = ((1.3 * expected) as usize + 8).min(atoms);
        let numbers = |count: usize| Buffer::<u32>::zeroed(device, count);
        Ok(Self {
            group,
            of_list,
            grid: [nx, ny, nz, 0],
            cells,
            capacity,
            cell_of: numbers(atoms)?,
            sorted_cell_of: numbers(atoms)?,
            slots: numbers(atoms)?,
            counts: numbers(cells)?,
            starts: numbers(cells + 1)?,
            members: numbers(atoms)?,
            listed: numbers(atoms * capacity)?,
            lengths: numbers(atoms)?,
            most: numbers(1)?,
            count: program.kernel("md_cell_count")?,
            starting: program.kernel("md_cell_starts")?,
            fill: program.kernel("md_cell_fill")?,
            sort: program.kernel("md_cell_sort")?,
            gather: program.kernel("md_cell_gather")?,
            list: program.kernel("md_neighbours")?,
        })
    }

    /// Sorts atoms by cells: from `atoms` into `sorted`.
    pub fn sort(&mut self, edges: &Buffer<f64>, atoms: &Atoms, sorted: &mut Atoms) -> Result<()> {
        let count = Argument::value(self.lengths.len() as u32);
        let range = Range::covering(self.lengths.len(), self.group);
        let [shape, cells] = [Argument::value(self.grid), Argument::value(self.cells as u32)];
        self.counts.fill(0)?;
        self.count.launch(
            range,
            &[
                (&atoms.positions).into(),
                edges.into(),
                shape,
                count,
                (&mut self.cell_of).into(),
                (&mut self.slots).into(),
                (&mut self.counts).into(),
            ],
        )?;
        let one = Range::groups(1, self.group);
        self.starting.launch(one, &[(&self.counts).into(), cells, (&mut self.starts).into()])?;
        let [cell_of, slots, starts] = [&self.cell_of, &self.slots, &self.starts].map(Argument::from);
        self.fill.launch(range, &[cell_of, slots, starts, count, (&mut self.members).into()])?;
        self.sort.launch(
            Range::covering(self.cells, self.group),
            &[starts, (&atoms.order).into(), cells, (&mut self.members).into()],
        )?;
        self.gather.launch(
            range,
            &[
                (&self.members).into(),
                cell_of,
                count,
                (&atoms.order).into(),
                (&atoms.positions).into(),
                (&atoms.velocities).into(),
                (&atoms.forces).into(),
                (&mut sorted.order).into(),
                (&mut sorted.positions).into(),
                (&mut sorted.velocities).into(),
                (&mut sorted.forces).into(),
                (&mut self.sorted_cell_of).into(),
            ],
        )?;
        Ok(())
    }

    /// Lists the neighbours of sorted atoms, and makes lists longer if they do not hold them.
    pub fn list<T: PairPrecision>(
        &mut self,
        places: &Buffer<T::Coordinate>,
        constants: &Buffer<T>,
    ) -> MdResult<()> {
        let atoms = self.lengths.len();
        loop {
            self.most.fill(0)?;
            let [count, capacity] = [atoms, self.capacity].map(|n| Argument::value(n as u32));
            self.list.launch(
                Range::covering(atoms, self.group),
                &[
                    places.into(),
                    constants.into(),
                    (&self.sorted_cell_of).into(),
                    (&self.starts).into(),
                    Argument::value(self.grid),
                    Argument::value(self.of_list.reach),
                    Argument::value(u32::from(self.of_list.once)),
                    count,
                    capacity,
                    (&mut self.listed).into(),
                    (&mut self.lengths).into(),
                    (&mut self.most).into(),
                ],
            )?;
            let most = self.most.to_vec()?[0] as usize;
            if most <= self.capacity {
                return Ok(());
            }
            self.capacity = (most + most / 8).min(atoms);
            self.listed = Buffer::zeroed(self.listed.device(), atoms * self.capacity)?;
        }
    }

    /// Returns lists, lengths and capacity, for kernels of forces.
    pub fn arguments(&self) -> [Argument<'_>; 4] {
        let [count, capacity] = [self.lengths.len(), self.capacity].map(|n| Argument::value(n as u32));
        [(&self.listed).into(), (&self.lengths).into(), count, capacity]
    }

    /// Tells about the lists that there are.
    pub fn lists(&self) -> Result<Lists> {
        let lengths = self.lengths.to_vec()?;
        let listed: u64 = lengths.iter().map(|&length| u64::from(length)).sum();
        let [x, y, z, _] = self.grid.map(|n| n as usize);
        Ok(Lists { cells: [x, y, z], neighbours_mean: listed as f64 / lengths.len() as f64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_large_enough_and_not_too_many() {
        assert_eq!(grid([27.0, 27.0, 40.0], 9.5, 2, 500), [5, 5, 8]);
        assert_eq!(grid([27.0, 27.0, 40.0], 9.5, 1, 500), [2, 2, 4]);
        assert_eq!(grid([5.0, 5.0, 5.0], 19.0, 2, 500), [1, 1, 1]);
        let sparse = grid([1e5, 1e4, 1e4], 9.5, 2, 10);
        assert!(sparse.iter().product::<u32>() <= 104, "{sparse:?}");
    }
}
