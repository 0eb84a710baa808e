//! Motion on one device.

use super::atoms::Atoms;
use super::forces::OnDevice;
use super::places::PairPrecision;
use super::tuning::PairsToTune;
use crate::error::{MdError, MdResult};
use crate::evaluation::{Lists, Sums};
use crate::host::Pairs;
use crate::options::{BelowRange, Fetch, Options, PairTuning};
use crate::state::MotionState;
use crate::system::{below_range, expect_finite};
use lattice_compute::{Argument, Buffer, Device, Kernel};

/// Most steps between two looks at how far atoms have moved.
const MOST_STEPS: f64 = 100.0;

/// The part of half a skin that atoms may move before lists are made anew.
const USED: f64 = 0.9;

/// How much faster than so far atoms may become between two looks, before steps are taken again.
const FASTER: f64 = 1.05;

/// Atoms that move on one device.
///
/// Lists of neighbours hold as long as no atom has moved by half a skin. How far atoms move is
/// looked at every few steps: as many as the fastest atom needs for the rest of the way. If an atom
/// was faster, the steps since the last look are taken again, with new lists. So forces are never
/// those of lists that did not hold.
pub(crate) struct MovingOnDevice<T: PairPrecision> {
    pairs: OnDevice<T>,
    /// Half the skin, or `None` without lists.
    allowed: Option<f64>,
    duration: f64,
    accelerations: Buffer<f64>,
    moved: Buffer<u32>,
    /// The atoms at the last look.
    kept: Atoms,
    /// Steps until the next look.
    next: u64,
    /// `true` if lists were made at the last look.
    fresh: bool,
    rebuilds: u64,
    edges: [f64; 3],
    /// The first sample of a table.
    rmin: f64,
    /// Pairs below it, in the forces of all steps.
    below: u64,
    /// `true` if such a pair ends the motion.
    stops: bool,
    drift: Kernel,
    kick: Kernel,
    /// Positions by which atoms are sorted; those of the lists, if there are some.
    sorted_at: Buffer<f64>,
}

impl<T: PairPrecision> MovingOnDevice<T> {
    /// Prepares motion with these accelerations by a unit of force.
    pub fn new(
        device: &Device,
        pairs: &Pairs<'_>,
        options: &Options,
        accelerations: &[f64],
        duration: f64,
    ) -> MdResult<Self> {
        let (edges, rmin) = (pairs.edges, pairs.potential.rmin());
        let pairs = PairsToTune::<T>::new(device, pairs, options)?.prepared()?;
        let atoms = pairs.count();
        let drift = pairs.program.kernel("md_drift")?;
        let kick = pairs.program.kernel("md_kick")?;
        Ok(Self {
            allowed: options.skin().map(|skin| 0.5 * skin),
            duration,
            accelerations: Buffer::from_slice(device, accelerations)?,
            moved: Buffer::zeroed(device, 2)?,
            kept: Atoms::new(device, atoms)?,
            next: 1,
            fresh: true,
            rebuilds: 0,
            edges,
            rmin,
            below: 0,
            stops: options.below_range == BelowRange::Stop,
            drift,
            kick,
            sorted_at: Buffer::zeroed(device, 3 * atoms)?,
            pairs,
        })
    }

    /// Returns how the table is read; `None` if there is no table.
    pub fn fetch(&self) -> Option<Fetch> {
        self.pairs.fetch()
    }

    /// Returns the variant of the kernels.
    pub fn tuning(&self) -> PairTuning {
        self.pairs.tuning()
    }

    /// Tells about the lists of neighbours; `None` if there are none.
    pub fn lists(&self) -> MdResult<Option<Lists>> {
        self.pairs.lists()
    }

    /// Takes the state of a motion, or that of its beginning, whose forces are computed.
    pub fn take(&mut self, state: &MotionState, has_forces: bool) -> MdResult<()> {
        self.pairs.take(&state.sorted_at)?;
        let sorted = |vectors: &[[f64; 3]]| self.pairs.atoms.sorted(vectors);
        let vectors = [&state.positions, &state.velocities, &state.forces, &state.sorted_at];
        let [positions, velocities, forces, sorted_at] = vectors.map(|vectors| sorted(vectors));
        self.sorted_at.write(&sorted_at?)?;
        let (positions, velocities, forces) = (positions?, velocities?, forces?);
        let atoms = &mut self.pairs.atoms;
        atoms.positions.write(&positions)?;
        atoms.velocities.write(&velocities)?;
        atoms.forces.write(&forces)?;
        self.pairs.pack()?;
        if !has_forces {
            self.pairs.start()?;
        }
        let below = self.pairs.take_below()?;
        if self.stops && below > 0 {
            return Err(self.nearer(state.step)?);
        }
        (self.next, self.fresh, self.rebuilds) = (state.next, state.fresh, state.rebuilds);
        self.below = state.below + below;
        self.moved.fill(0)?;
        self.kept.copy_from(&self.pairs.atoms)?;
        Ok(())
    }

    /// Returns the state at the last look, behind so many steps.
    pub fn state(&self, step: u64) -> MdResult<MotionState> {
        let atoms = &self.pairs.atoms;
        Ok(MotionState {
            step,
            next: self.next,
            fresh: self.fresh,
            rebuilds: self.rebuilds,
            below: self.below,
            positions: atoms.read(&atoms.positions)?,
            velocities: atoms.read(&atoms.velocities)?,
            forces: atoms.read(&atoms.forces)?,
            sorted_at: atoms.read(&self.sorted_at)?,
        })
    }

    /// Computes energy, virial and counts at the last look.
    pub fn sums(&mut self) -> MdResult<Sums> {
        self.pairs.sums()
    }

    /// Returns the pairs below a table's first sample, in the forces of all steps.
    pub fn below(&self) -> u64 {
        self.below
    }

    /// Takes so many steps behind step `from`, and looks at the last one.
    pub fn advance(&mut self, from: u64, steps: u64) -> MdResult<()> {
        let mut done = 0;
        while done < steps {
            let count = self.next.min(steps - done);
            self.run(count)?;
            done += self.look(from + done, count)?;
        }
        Ok(())
    }

    /// Starts so many steps. The last one is whole: it ends with its second half kick.
    fn run(&mut self, count: u64) -> MdResult<()> {
        let (range, atoms) = (self.pairs.range(), Argument::value(self.pairs.count() as u32));
        let duration = Argument::value(self.duration);
        for step in 0..count {
            let pairs = &mut self.pairs;
            let kicks = Argument::value(if step == 0 { 1_u32 } else { 2 });
            let drift = [
                (&mut pairs.atoms.positions).into(),
                (&mut pairs.atoms.velocities).into(),
                (&pairs.atoms.forces).into(),
                (&self.accelerations).into(),
                (&pairs.atoms.order).into(),
                (&pairs.atom_types).into(),
                (&pairs.edges).into(),
                (&self.sorted_at).into(),
                duration,
                kicks,
                atoms,
                (&mut pairs.places).into(),
                (&mut self.moved).into(),
            ];
            self.drift.start(range, &drift)?;
            pairs.start()?;
        }
        let pairs = &mut self.pairs;
        let kick = [
            (&mut pairs.atoms.velocities).into(),
            (&pairs.atoms.forces).into(),
            (&self.accelerations).into(),
            (&pairs.atoms.order).into(),
            duration,
            atoms,
        ];
        self.kick.start(range, &kick)?;
        Ok(())
    }

    /// Looks at how far atoms have moved in the last `count` steps behind `from`. Returns the steps that count.
    fn look(&mut self, from: u64, count: u64) -> MdResult<u64> {
        let moved = self.moved.to_vec()?;
        self.moved.fill(0)?;
        let below = self.pairs.take_below()?;
        let [distance, stride] = [moved[0], moved[1]].map(|bits| f64::from(f32::from_bits(bits)).sqrt());
        let Some(allowed) = self.allowed else {
            self.next = MOST_STEPS as u64;
            if !stride.is_finite() {
                self.pairs.atoms.copy_from(&self.kept)?;
                return Err(self.runaway()?);
            }
            if !self.may_be_below(below, from, count)? {
                return Ok(0);
            }
            self.kept.copy_from(&self.pairs.atoms)?;
            return Ok(count);
        };
        // Squares are rounded to single.
        if distance.is_nan() || distance > 0.999 * allowed {
            self.pairs.atoms.copy_from(&self.kept)?;
            self.next = (count / 2).max(1);
            match (self.fresh, count) {
                (true, 1) => return Err(self.runaway()?),
                (true, _) => self.pairs.pack()?,
                (false, _) => self.rebuild()?,
            }
            return Ok(0);
        }
        if !self.may_be_below(below, from, count)? {
            return Ok(0);
        }
        let steps = |left: f64| (left / (FASTER * stride)).clamp(0.0, MOST_STEPS) as u64;
        self.fresh = false;
        self.next = steps(USED * allowed - distance);
        if self.next == 0 {
            self.rebuild()?;
            self.next = steps(USED * allowed).max(1);
        }
        self.kept.copy_from(&self.pairs.atoms)?;
        Ok(count)
    }

    /// Counts pairs below a table, which `count` steps behind `from` had, unless they end the motion.
    ///
    /// To end at the step of the first such pair, steps are taken again by half as many. `false` says
    /// that the atoms are those of the last look.
    fn may_be_below(&mut self, pairs: u64, from: u64, count: u64) -> MdResult<bool> {
        if self.stops && pairs > 0 {
            if count == 1 {
                return Err(self.nearer(from + 1)?);
            }
            self.pairs.atoms.copy_from(&self.kept)?;
            self.pairs.pack()?;
            self.next = count / 2;
            return Ok(false);
        }
        self.below += pairs;
        Ok(true)
    }

    /// Says which atoms are nearer than a table begins.
    fn nearer(&self, step: u64) -> MdResult<MdError> {
        let atoms = &self.pairs.atoms;
        Ok(below_range(&atoms.read(&atoms.positions)?, self.edges, self.rmin, Some(step)))
    }

    /// Sorts and lists the atoms where they are.
    fn rebuild(&mut self) -> MdResult<()> {
        self.pairs.rebuild()?;
        self.sorted_at.copy_from(&self.pairs.atoms.positions)?;
        self.kept.copy_from(&self.pairs.atoms)?;
        self.fresh = true;
        self.rebuilds += 1;
        Ok(())
    }

    /// Says which atom is too fast. The atoms are those of the last look.
    fn runaway(&self) -> MdResult<MdError> {
        let atoms = &self.pairs.atoms;
        let (velocities, forces) = (atoms.read(&atoms.velocities)?, atoms.read(&atoms.forces)?);
        expect_finite("the force", &forces)?;
        expect_finite("the velocity", &velocities)?;
        let accelerations = self.accelerations.to_vec()?;
        let half = 0.5 * self.duration;
        let stride = |atom: usize| {
            let along = |axis: usize| {
                self.duration * (velocities[atom][axis] + half * accelerations[atom] * forces[atom][axis])
            };
            (0..3).map(|axis| along(axis).powi(2)).sum::<f64>().sqrt()
        };
        let fastest = (0..velocities.len()).max_by(|&a, &b| stride(a).total_cmp(&stride(b))).unwrap_or(0);
        let allowed = self.allowed.unwrap_or(f64::INFINITY);
        Ok(MdError::TooFast { atom: fastest + 1, distance: stride(fastest), allowed })
    }
}
