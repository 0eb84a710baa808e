//! The part of the hop that crosses faces of a domain.
//!
//! Its kernels are in `cl/stencil/halo.cl`.

use super::boundary::{parts, phase_of_leaving};
use super::ending::{Ending, Makes};
use super::{Cost, KernelPart};
use crate::compute::{
    Argument, Buffer, DeviceError, FLAG_SOURCE, KernelKey, MAILBOX_SOURCE, Meeting, PeerWay, Range, TeamSums,
};
use crate::field::{Halo, LinkFormat, Received};
use crate::geometry::{Layout, NDIM, Shard};
use crate::scalar::Storage;
use num_complex::Complex64;

/// The work-groups of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LaunchGroups {
    /// The groups that need no data of other domains.
    Inside,
    /// The groups that need data of other domains.
    AtFaces,
    /// All groups.
    All,
}

/// The work-groups of a stencil in two parts.
///
/// Groups with a block on a face of the domain are one part, all others the other part.
pub(crate) struct GroupParts {
    /// The numbers of all groups, then of groups inside, then of groups at faces.
    numbers: Buffer<u32>,
    all: usize,
    inside: usize,
}

impl GroupParts {
    /// Returns the number of these groups.
    pub fn count(&self, groups: LaunchGroups) -> usize {
        match groups {
            LaunchGroups::All => self.all,
            LaunchGroups::Inside => self.inside,
            LaunchGroups::AtFaces => self.all - self.inside,
        }
    }

    /// Returns the arguments for the last parameters of [`HaloPart`].
    pub fn arguments(&self, groups: LaunchGroups) -> [Argument<'_>; 2] {
        let first = match groups {
            LaunchGroups::All => 0,
            LaunchGroups::Inside => self.all,
            LaunchGroups::AtFaces => self.all + self.inside,
        };
        [(&self.numbers).into(), Argument::value([first as u32, self.all as u32])]
    }
}

/// The directions in which a domain is cut, and its number of lanes along t.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HaloPart {
    cut: [bool; NDIM],
    lanes_in_t: usize,
    /// `true` if packing raises flags and the stencil waits for the neighbours' flags.
    flags: bool,
    /// `true` if the first groups of the stencil may pack.
    packs: bool,
    /// `true` if the stencil may add its sums over all devices.
    meets: bool,
}

/// The first groups of a launch of the stencil, which pack faces or are idle.
pub(crate) struct Packers<'a> {
    pub groups: usize,
    /// The blocks that the groups pack in this launch; 0 if they are idle.
    pub units: usize,
    /// The arguments of the phase in each cut direction.
    pub phases: &'a [Complex64],
}

impl HaloPart {
    /// Makes the part for a domain with fields of this layout, for launches of `groups` groups with sites.
    ///
    /// Groups that wait may keep a processor busy that other devices need. So on such devices the stencil
    /// packs only if it has a single group that waits.
    pub fn of(shard: &Shard, layout: &Layout, groups: usize, ending: Ending) -> Self {
        let cut = std::array::from_fn(|mu| layout.domain().is_cut(mu));
        let waits = |way: PeerWay| way.waits_beside_work() || groups == 1;
        let packs = cut.contains(&true) && shard.flags.is_some_and(waits);
        let meets = packs && ending.row().makes == Makes::Numbers && shard.team <= TeamSums::MOST_MEETING;
        Self { cut, lanes_in_t: layout.cuts()[NDIM - 1], flags: shard.flags.is_some(), packs, meets }
    }

    /// Tells whether the stencil may add its sums over all devices.
    pub fn meets(self) -> bool {
        self.meets
    }

    /// Returns the directions that are cut.
    pub fn directions(self) -> impl Iterator<Item = usize> {
        (0..NDIM).filter(move |&mu| self.cut[mu])
    }

    /// Returns the phase of packed faces across direction `mu`.
    pub fn phase(shard: &Shard, links: &LinkFormat, mu: usize) -> Complex64 {
        phase_of_leaving(shard, links, mu)
    }

    /// Returns the arguments for the parameters of this part.
    ///
    /// They are, in each cut direction, the faces from ahead and from behind, and the neighbours if
    /// there are flags. The flags follow, then the arguments of packing and of a sum over all devices.
    ///
    /// # Errors
    /// When a driver refuses what a test wants.
    pub fn arguments<'a, T: Storage>(
        halo: &'a mut Halo<T>,
        domain: usize,
        packers: Option<Packers<'_>>,
        meeting: Option<&'a Meeting<'_>>,
    ) -> Result<Vec<Argument<'a>>, DeviceError> {
        let (faces, flags) = halo.of_launch(domain);
        let (mut arguments, mut packing) = (Vec::with_capacity(MOST_ARGUMENTS), Vec::new());
        for (place, (Received { ahead, behind, beside }, sent)) in faces.enumerate() {
            arguments.extend([ahead, behind].map(Argument::from));
            arguments.extend(beside.map(Argument::value));
            if let (Some(packers), Some(flags), Some(beside)) = (&packers, &flags, beside) {
                packing.extend(sent.map(Argument::from));
                packing.extend(parts::<T>(packers.phases[place]));
                let [ahead, behind] = beside.map(|domain| domain as usize);
                packing.extend(flags.told([behind, ahead]));
            }
        }
        if let Some(flags) = flags {
            arguments.extend(flags.wait_arguments());
            if let Some(Packers { groups, units, .. }) = packers {
                packing.extend(if units > 0 { flags.meeting_arguments()? } else { flags.raise_arguments() });
                packing.push(Argument::value([groups, units].map(|count| count as u32)));
            }
        }
        arguments.extend(packing);
        if let Some(meeting) = meeting {
            arguments.extend(meeting.arguments(domain)?);
        }
        Ok(arguments)
    }

    /// Returns the groups in parts, if launches may have some of the groups.
    ///
    /// `at_faces` tells for each group whether one of its blocks is on a face across these directions.
    pub fn group_parts(
        self,
        shard: &Shard,
        at_faces: impl FnOnce([bool; NDIM]) -> Vec<bool>,
    ) -> Result<Option<GroupParts>, DeviceError> {
        if !self.has_parts() {
            return Ok(None);
        }
        let at_faces = at_faces(self.cut);
        let numbers = |of_faces: bool| {
            let groups = at_faces.iter().enumerate();
            groups.filter(move |&(_, &at_face)| at_face == of_faces).map(|(number, _)| number as u32)
        };
        let all = at_faces.len();
        let listed: Vec<u32> = (0..all as u32).chain(numbers(false)).chain(numbers(true)).collect();
        let numbers_there = Buffer::from_slice(&shard.device, &listed)?;
        Ok(Some(GroupParts { numbers: numbers_there, all, inside: numbers(false).count() }))
    }

    /// Tells whether a launch may have a part of the groups.
    fn has_parts(self) -> bool {
        !self.flags && self.cut.contains(&true)
    }

    /// Returns the number of work-items that pack.
    ///
    /// Each has a block of one right-hand side on one side of a direction.
    pub fn packed_units(self, layout: &Layout, parities: usize, columns: usize) -> usize {
        2 * columns * parities * self.directions().map(|mu| layout.face_blocks(mu)).sum::<usize>()
    }

    /// Returns the range of the packing kernel.
    ///
    /// Groups have at least [`SMALLEST_GROUP`] blocks.
    pub fn packing_range(units: usize, work_group: usize) -> Range {
        Range::covering(units, work_group.max(SMALLEST_GROUP))
    }

    /// Returns the number of groups of a stencil that pack, if they may.
    ///
    /// `items` are the work-items of a group. A group waits for its writes into other memory, and takes the
    /// place of a group that computes. So each compute unit has one at most.
    pub fn packing_groups(self, shard: &Shard, units: usize, items: usize) -> Option<usize> {
        self.packs.then(|| units.div_ceil(items).min(shard.device.info().compute_units))
    }
}

/// Room for the arguments of most launches.
const MOST_ARGUMENTS: usize = 48;

/// Least number of blocks that a work-group packs.
///
/// A work-group of the stencil may have a single block.
const SMALLEST_GROUP: usize = 8;

impl KernelPart for HaloPart {
    fn add_to(&self, key: KernelKey) -> KernelKey {
        let mask: usize = self.directions().map(|mu| 1 << mu).sum();
        let flags = self.flags && mask != 0;
        let key = key.define("HALO", mask);
        let key = if flags { key.define("FLAGS", 1).part("flags", FLAG_SOURCE) } else { key };
        let key = if self.packs { key.define("PACKS", 1) } else { key };
        let key = if self.meets { key.define("MEETS", 1).part("mailboxes", MAILBOX_SOURCE) } else { key };
        let key = key.part("halo", include_str!("../../../../cl/stencil/halo.cl"));
        if mask == 0 { key } else { key.define("NT", self.lanes_in_t) }
    }

    /// Returns no cost, because faces are few compared with sites.
    fn cost(&self, _: usize) -> Cost {
        Cost { flops: 0, spinors: 0, blocks: Vec::new() }
    }
}
