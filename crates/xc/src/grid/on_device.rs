//! Cells of atoms on a device.

use super::molecular::{Balls, Cells};
use crate::error::XcResult;
use lattice_compute::{Argument, Buffer, Device, KernelFamily, KernelKey, Range};

const CELLS: KernelFamily = KernelFamily::new("xc_cells", &[include_str!("../../cl/xc_cells.cl")]);

/// Work-items of a group.
const ITEMS: usize = 64;

/// Groups of work-items for each unit of a device.
const GROUPS: usize = 64;

impl Cells {
    /// Multiplies the weight of each point by the part of the point that belongs to its atom.
    pub(super) fn cut_on(&self, device: &Device, balls: &mut Balls) -> XcResult<()> {
        let program = device.program(&KernelKey::of_real::<f64>(CELLS))?;
        let kernel = program.kernel("xc_cells")?;
        let atoms = self.positions.len();
        let pairs: Vec<[f64; 2]> = (0..atoms * atoms).map(|k| self.pair(k / atoms, k % atoms)).collect();
        let centres = Buffer::from_slice(device, self.positions.as_flattened())?;
        let pairs = Buffer::from_slice(device, pairs.as_flattened())?;
        let points = Buffer::from_slice(device, balls.points.as_flattened())?;
        let mut weights = Buffer::from_slice(device, &balls.weights)?;
        let info = device.info();
        let local = info.max_work_group_size.min(ITEMS);
        let groups = balls.points.len().div_ceil(local).min(GROUPS * info.compute_units.max(1));
        let arguments = [
            (&centres).into(),
            (&pairs).into(),
            Argument::value(atoms as u32),
            Argument::value((balls.points.len() / atoms) as u64),
            (&points).into(),
            (&mut weights).into(),
        ];
        kernel.launch(Range::groups(groups, local), &arguments)?;
        weights.read(&mut balls.weights)?;
        Ok(())
    }
}
