//! What a motion needs to go on: the same bits as without a break.

use super::error::{MdError, MdResult};
use super::system::{System, expect_finite, expect_length};

/// The state of a motion behind a step. Vectors are in the order of the system.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionState {
    /// Steps that were taken.
    pub step: u64,
    /// Steps until the next look at how far atoms have moved.
    pub next: u64,
    /// `true` if lists were made at this step.
    pub fresh: bool,
    /// How often lists were made anew.
    pub rebuilds: u64,
    /// Pairs below the first sample of a table, in the forces of all steps.
    pub below: u64,
    /// Positions, not moved into the box.
    pub positions: Vec<[f64; 3]>,
    /// Velocities behind the whole step.
    pub velocities: Vec<[f64; 3]>,
    /// Forces at these positions.
    pub forces: Vec<[f64; 3]>,
    /// Positions by which atoms are sorted and listed.
    pub sorted_at: Vec<[f64; 3]>,
}

impl MotionState {
    /// Returns the state of a system before its first step, with forces that are to be computed.
    pub(crate) fn beginning(system: &System) -> Self {
        let still = || vec![[0.0; 3]; system.atoms()];
        Self {
            step: 0,
            next: 1,
            fresh: true,
            rebuilds: 0,
            below: 0,
            positions: system.positions().to_vec(),
            velocities: system.velocities().map_or_else(still, <[_]>::to_vec),
            forces: still(),
            sorted_at: system.positions().to_vec(),
        }
    }

    /// Returns the state as blocks of bytes, in the order of this machine.
    pub fn to_blocks(&self) -> Vec<Vec<u8>> {
        let counts = [self.step, self.next, u64::from(self.fresh), self.rebuilds, self.below];
        let mut blocks = vec![bytemuck::cast_slice(&counts).to_vec()];
        for vectors in [&self.positions, &self.velocities, &self.forces, &self.sorted_at] {
            blocks.push(bytemuck::cast_slice(vectors).to_vec());
        }
        blocks
    }

    /// Reads the state of so many atoms from blocks of [`to_blocks`](Self::to_blocks).
    ///
    /// # Errors
    /// [`MdError::Length`] if the blocks are of another system; [`MdError::NotFinite`].
    pub fn from_blocks(atoms: usize, blocks: &[Vec<u8>]) -> MdResult<Self> {
        expect_length("blocks of a checkpoint", 5, blocks.len())?;
        let counts = words(&blocks[0]);
        expect_length("counts of a checkpoint", 5, counts.len())?;
        let vectors = |block: usize, what: &'static str| -> MdResult<Vec<[f64; 3]>> {
            expect_length("bytes of a checkpoint", 24 * atoms, blocks[block].len())?;
            let vectors: Vec<[f64; 3]> = words(&blocks[block])
                .chunks_exact(3)
                .map(|xyz| [xyz[0], xyz[1], xyz[2]].map(f64::from_bits))
                .collect();
            expect_finite(what, &vectors)?;
            Ok(vectors)
        };
        if counts[1] == 0 {
            return Err(MdError::Length { what: "steps to the next look", wanted: 1, found: 0 });
        }
        Ok(Self {
            step: counts[0],
            next: counts[1],
            fresh: counts[2] != 0,
            rebuilds: counts[3],
            below: counts[4],
            positions: vectors(1, "the position")?,
            velocities: vectors(2, "the velocity")?,
            forces: vectors(3, "the force")?,
            sorted_at: vectors(4, "the position")?,
        })
    }
}

/// Reads words in the order of this machine.
fn words(bytes: &[u8]) -> Vec<u64> {
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_ne_bytes);
    bytes.chunks_exact(size_of::<u64>()).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_comes_back_from_its_blocks_and_from_no_others() {
        let of = |x: f64| vec![[x, -x, 0.1 * x]; 3];
        let state = MotionState {
            step: 7,
            next: 3,
            fresh: true,
            rebuilds: 2,
            below: 11,
            positions: of(1.0),
            velocities: of(0.3),
            forces: of(-4.0),
            sorted_at: of(1.5),
        };
        let blocks = state.to_blocks();
        assert_eq!(MotionState::from_blocks(3, &blocks), Ok(state));
        assert!(MotionState::from_blocks(4, &blocks).is_err());
        assert!(MotionState::from_blocks(3, &blocks[..4]).is_err());
        let mut damaged = blocks.clone();
        damaged[2][..8].copy_from_slice(&f64::NAN.to_ne_bytes());
        assert!(matches!(MotionState::from_blocks(3, &damaged), Err(MdError::NotFinite { atom: 1, .. })));
    }
}
